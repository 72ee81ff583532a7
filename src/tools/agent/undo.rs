//! `undo`: takes a change back, as a change of its own (contract 20).

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;

use super::change_id::ChangeId;
use super::changed::{self, Told};
use crate::tools::arguments::{Request, Takes, arguments};
use crate::tools::{AnswerLimit, Call, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeLog, JobChange, JobDone, JobError, JobNote, JobOptions, UndoTurn, Unrecorded, Workspace};
use folder::{Control, Error, FilePath, Result};
use journal::{Author, Change};

pub(crate) static TOOL: Tool = Tool {
    name: "undo",
    title: "Undo Change",
    description: "Take a change back; without arguments, your last one that is not undone. What was changed elsewhere since stays. \
        Undo of an undo does it again. Example: {\"change\":\"c17\"}",
    instructions: "",
    takes: Takes::of::<UndoArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

/// The most changes that are passed over for the last one that did something at a path.
const MOST_PASSED_OVER: usize = 30;

/// The most paths of a refused change that are tried alone, and the most files that a refusal tells.
const MOST_TRIED: usize = 20;
const MOST_TOLD: usize = 3;

arguments! {
    struct UndoArguments {
        /// -
        change as "change" or "id": Option<ChangeId>,
        /// -
        path: Option<FilePath>,
        /// Only tell
        dry_run as "dry_run" or "dryRun": bool = false,
    }
}

/// A parsed call.
#[derive(Debug)]
struct Undo {
    change: Option<ChangeId>,
    path: Option<FilePath>,
    dry_run: bool,
    author: Arc<Author>,
    limit: AnswerLimit,
}

impl Request for UndoArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let UndoArguments { change, path, dry_run } = self;
        let (author, limit) = (options.author.clone(), options.limit);
        Ok(Box::new(Undo { change, path, dry_run, author, limit }))
    }
}

impl Call for Undo {
    fn file(&self) -> Option<&FilePath> {
        self.path.as_ref()
    }

    fn run(&self, workspace: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        // Which change is the last one is known only when no other undo is in work. Why there is no turn, the undo tells.
        let log = workspace.change_log().filter(|_| !self.dry_run && self.change.is_none());
        let turn = log.and_then(|log| log.hold_undos(control).ok());
        let turn = turn.as_ref();
        let mut number = match self.change {
            Some(ChangeId(number)) => number,
            None => self.last(workspace, control)?,
        };
        let mut done = self.undo(number, turn, workspace, control);
        let mut left = if self.change.is_some() { 0 } else { MOST_PASSED_OVER };
        while left > 0 && self.is_nothing(&done) {
            let Some(earlier) = self.before(number, workspace, control)? else { break };
            (number, done, left) = (earlier, self.undo(earlier, turn, workspace, control), left - 1);
        }
        if self.change.is_none() && done.is_err() && self.is_nothing(&done) {
            self.path.as_ref().map_or(Ok(()), |path| workspace.check_ever_there(path, control))?;
            let problem = "the last changes of this session did nothing that is left to undo there; `changes` with this path tells those that \
                changed it: give the id of one";
            return Err(Error::InvalidArguments { at: "path".into(), problem: problem.into() });
        }
        let job = done.map_err(|error| match error {
            Error::InvalidArguments { at, problem } => {
                let way_on = self.way_on(number, &at, workspace, control).unwrap_or_default();
                Error::InvalidArguments { at, problem: problem + &way_on }
            }
            error => error,
        })?;
        let verb = if self.dry_run { "Would undo" } else { "Undone" };
        let summary = match job.told[..] {
            [] if job.recorded.is_none() && !self.dry_run => {
                format!("Nothing changed: of c{number}, nothing is left to undo.")
            }
            // Folders alone.
            [] => format!("{verb}: c{number}."),
            _ => format!("{verb}: c{number}. {}", changed::summary(&job.told, self.dry_run)),
        };
        let damaged = workspace.change_log().map(ChangeLog::damaged).unwrap_or_default();
        let later = damaged.last().filter(|damaged| self.change.is_none() && **damaged > number);
        let note = later.map(|later| {
            format!("[c{later} came later, but its record is damaged: whose it was is not known, and it cannot be undone]")
        });
        Ok(changed::told(summary, job, self.limit, note.as_slice()))
    }
}

impl Undo {
    fn undo(
        &self,
        number: u64,
        turn: Option<&UndoTurn>,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<JobDone<Told>> {
        self.undo_or_try(number, self.path.as_ref(), turn, self.dry_run, workspace, control)
    }

    fn undo_or_try(
        &self,
        number: u64,
        path: Option<&FilePath>,
        turn: Option<&UndoTurn>,
        dry_run: bool,
        workspace: &Workspace,
        control: &Control,
    ) -> Result<JobDone<Told>> {
        let note = JobNote { author: &self.author, tool: TOOL.name, message: "", undoes: None };
        let options = JobOptions { dry_run, note: Some(note) };
        let told = |change: JobChange| Told::of(change, false);
        workspace.undo(number, path, turn, options, control, told).map_err(in_one)
    }

    /// Whether a change can be taken back, at a path or all of it.
    fn is_possible(
        &self,
        number: u64,
        path: Option<&FilePath>,
        workspace: &Workspace,
        control: &Control,
    ) -> bool {
        let tried = self.undo_or_try(number, path, None, true, workspace, control);
        tried.is_ok_and(|job| !job.told.is_empty())
    }

    /// What the refusal of a change adds: which paths of it can be undone alone, or, of a change that nobody named, which one before it
    /// can, or that nothing can. `at`: what the refusal names.
    fn way_on(&self, number: u64, at: &str, workspace: &Workspace, control: &Control) -> Option<String> {
        let change = workspace.change_log()?.read(number).ok()??;
        let is_undoable = change.not_undoable.is_empty();
        if is_undoable && matches!(at, "change" | "path") {
            return None;
        }
        if let Some(alone) = Some(&change)
            .filter(|_| is_undoable)
            .and_then(|change| self.alone(number, change, workspace, control))
        {
            return Some(alone);
        }
        if self.change.is_some() {
            return None;
        }
        Some(self.way_back(number, workspace, control))
    }

    /// Which change of the session before `number` can be taken back, or that none can.
    fn way_back(&self, number: u64, workspace: &Workspace, control: &Control) -> String {
        let there = if self.path.is_some() { " there" } else { "" };
        let Some(earlier) = self.earlier(number, workspace, control) else {
            return format!("; no earlier change of this session can be undone{there}");
        };
        let mut arguments = json!({ "change": format!("c{earlier}") });
        if let Some(path) = &self.path {
            arguments["path"] = path.sent().into();
        }
        format!(", or take back c{earlier}, which came before: undo {arguments}")
    }

    /// The paths of a change that is refused as a whole at which it can be taken back.
    fn alone(
        &self,
        number: u64,
        change: &Change,
        workspace: &Workspace,
        control: &Control,
    ) -> Option<String> {
        if self.path.is_some() {
            return None;
        }
        let paths = workspace.paths_of(change);
        let is_possible = |path: &&String| {
            let path = workspace.parse_path(path);
            path.is_ok_and(|path| self.is_possible(number, Some(&path), workspace, control))
        };
        let alone: Vec<&str> =
            paths.iter().take(MOST_TRIED).filter(is_possible).take(MOST_TOLD).map(String::as_str).collect();
        let arguments = json!({ "change": format!("c{number}"), "path": alone.first()? });
        Some(format!("; {} can be undone alone: undo {arguments}", alone.join(", ")))
    }

    /// The last change of the session before the change `number` that can be taken back.
    fn earlier(&self, mut number: u64, workspace: &Workspace, control: &Control) -> Option<u64> {
        for _ in 0..MOST_PASSED_OVER {
            number = workspace.change_log()?.last_of(&self.author.session, number).ok()??;
            if self.is_possible(number, self.path.as_ref(), workspace, control) {
                return Some(number);
            }
        }
        None
    }

    /// Whether it is no change to undo: of one only folders are left that hold something, or it did nothing at the path.
    fn is_nothing(&self, done: &Result<JobDone<Told>>) -> bool {
        match done {
            Ok(job) => job.told.is_empty() && job.recorded.is_none() && !self.dry_run,
            Err(Error::InvalidArguments { at, .. }) => self.path.is_some() && at == "path",
            Err(_) => false,
        }
    }

    /// The last change of the session.
    fn last(&self, workspace: &Workspace, control: &Control) -> Result<u64> {
        self.before(u64::MAX, workspace, control)?.ok_or_else(|| {
            let numbers = workspace.change_log().and_then(|log| log.numbers().ok());
            let way_on = match numbers.and_then(|numbers| numbers.last().copied()) {
                Some(known) => {
                    format!("name one by its id, such as c{known}, the last one (see `changes` with since)")
                }
                None => "the journal is empty: nothing can be undone".into(),
            };
            refuse(format!("this session has made no change that is not undone; {way_on}"))
        })
    }

    /// The last change of the session before the change `end`. An error if the journal lacks one behind it.
    fn before(&self, end: u64, workspace: &Workspace, control: &Control) -> Result<Option<u64>> {
        let no_journal =
            "there is no journal (--journal=off): nothing can be undone; take the change back by an edit";
        let log = workspace.change_log().ok_or_else(|| refuse(no_journal.into()))?;
        let last = log.last_of(&self.author.session, end);
        let lost = workspace.unrecorded(&self.author.session, self.path.as_ref());
        let is_last =
            |lost: &&Unrecorded| lost.behind < end && !matches!(last, Ok(Some(last)) if last > lost.behind);
        if let Some(lost) = lost.iter().rev().find(is_last) {
            let (paths, why) = (workspace.unrecorded_paths(lost), &lost.why);
            let way_back = self.way_back(lost.behind + 1, workspace, control);
            return Err(refuse(format!(
                "the last change of this session, of {paths}, is not in the journal, which could not be written ({why}): it cannot be \
                    undone; take it back by an edit{way_back}"
            )));
        }
        last.map_err(|source| Error::WriteFailed { source })
    }
}

fn refuse(problem: String) -> Error {
    Error::InvalidArguments { at: "change".into(), problem }
}

/// All that was refused in one error: a line for each file.
fn in_one(error: JobError) -> Error {
    let JobError::Refused(refused) = error else { return error.first() };
    let mut errors = refused.into_iter().map(|(_, error)| error);
    let (at, mut problem) = match errors.next() {
        Some(Error::InvalidArguments { at, problem }) => (at, problem),
        Some(error) => return error,
        None => return JobError::Refused(Vec::new()).first(),
    };
    let others: Vec<(String, String)> = errors
        .filter_map(|error| match error {
            Error::InvalidArguments { at, problem } => Some((at, problem)),
            _ => None,
        })
        .collect();
    for (at, other) in others.iter().take(MOST_TOLD - 1) {
        // A write to a String cannot fail.
        let _ = write!(problem, "\n{at}: {other}");
    }
    if others.len() >= MOST_TOLD {
        let _ = write!(problem, "\n{} more files are in the way", others.len() + 1 - MOST_TOLD);
    }
    Error::InvalidArguments { at, problem }
}
