//! A call of `edit`: carries out its edits, or explains all that do not fit, and keeps them for a call that corrects those.

use std::cell::RefCell;
use std::sync::Arc;

use super::{TOOL, unknown_retry};
use crate::tools::agent::changed::{Told, done};
use crate::tools::agent::failed::FailedEdits;
use crate::tools::agent::failed::counted::Counted;
use crate::tools::agent::failed::hunks::{FailedHunk, FailedHunks};
use crate::tools::agent::one_edit::Kind;
use crate::tools::agent::planned::Planned;
use crate::tools::agent::refused::{Reason, refused};
use crate::tools::agent::texts::{Broken, TextJob};
use crate::tools::agent::unread::Slot;
use crate::tools::handles::Handles;
use crate::tools::{AnswerLimit, Call, Guide, OutputKinds, Reply, memory};
use engine::{ChangeOptions, Deletion, JobError, JobNote, JobOptions, Operation, Workspace};
use folder::{Control, Error, FilePath, Result};
use journal::Author;
use text::encoded_edit::InParts;
use text::encoding::EncodingChoice;
use text::order;

/// So many numbers of edits are told one by one.
const FEW_NUMBERS: usize = 10;

/// The most numbers, or ranges of numbers, of edits that an answer names.
const TOLD_NUMBERS: usize = 40;

/// A single edit of fewer bytes is sent again as a whole.
const WORTH_KEEPING: usize = 1_500;

/// A parsed call.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) edits: Vec<Slot>,
    /// The argument that the edits stand in.
    pub(super) is_patch: bool,
    pub(super) dry_run: bool,
    pub(super) with_diff: bool,
    pub(super) message: String,
    /// The name of the failed call that it goes on with.
    pub(super) retry: Option<String>,
    pub(super) author: Arc<Author>,
    pub(super) handles: Arc<Handles>,
    pub(super) guide: Guide,
    pub(super) limit: AnswerLimit,
}

impl Call for Edit {
    fn memory(&self) -> usize {
        let names_definition = |(_, edit): (usize, &Planned)| matches!(*edit.kind, Kind::Symbol { .. });
        if self.planned().any(names_definition) { memory::ANALYSIS } else { 0 }
    }

    fn file(&self) -> Option<&FilePath> {
        self.planned().next().map(|(_, edit)| &edit.path)
    }

    fn other_files(&self) -> Vec<&FilePath> {
        let others = self.planned().flat_map(|(_, Planned { path, kind, .. })| {
            let other = match &**kind {
                Kind::Move(to) | Kind::Copy(to) => Some(to),
                _ => None,
            };
            [path].into_iter().chain(other)
        });
        others.skip(1).collect()
    }

    fn run(&self, workspace: &Workspace, _: OutputKinds, control: &Control) -> Result<Reply> {
        let claimed = match &self.retry {
            None => None,
            // Of two calls that go on with it, one does.
            Some(name) => {
                let claimed = self.handles.claim::<FailedEdits>(name, &self.author.session);
                let claimed = claimed.ok_or_else(|| unknown_retry(name))?;
                claimed.what.counted.check(self.counted(false), name, (workspace, control))?;
                Some(claimed)
            }
        };
        let (hunks, broken) = (RefCell::default(), Broken::default());
        let mut operations: Vec<Operation> = self
            .planned()
            .map(|(edit, planned)| {
                let told = (FailedHunks { edit, all: &hunks }, &broken);
                self.operation(planned, told, workspace, control)
            })
            .collect();
        let told = |change: engine::JobChange| Told::of(change, self.with_diff);
        let note = JobNote { author: &self.author, tool: TOOL.name, message: &self.message, undoes: None };
        let unread: Vec<(usize, Reason)> = self.unread().collect();
        // What cannot be read fails the call; the rest is only looked at.
        let dry_run = self.dry_run || !unread.is_empty();
        let options = JobOptions { dry_run, note: Some(note) };
        let errors = match workspace.run_job(&mut operations, options, control, told) {
            Ok(job) if unread.is_empty() => {
                if let Some(claimed) = claimed.filter(|_| !self.dry_run) {
                    claimed.use_up();
                }
                let mut reply = done(job, self.edits.len(), self.dry_run, self.limit);
                reply.text.push_str(&broken.told(self.dry_run));
                return Ok(reply);
            }
            Ok(_) => Vec::new(),
            Err(JobError::Failed(error)) => return Err(error),
            Err(JobError::Refused(errors)) => errors,
        };
        drop(operations);
        let numbers: Vec<usize> = self.planned().map(|(number, _)| number).collect();
        let fitting = |(at, error): (usize, Error)| {
            (numbers[at], Reason::DoesNotFit(self.in_its_words(numbers[at], error)))
        };
        let mut errors: Vec<(usize, Reason)> = errors.into_iter().map(fitting).chain(unread).collect();
        order::sort_by_key(&mut errors, |(number, _)| *number);
        let failed = errors.iter().map(|(number, _)| *number).collect();
        let edit = |number: usize| {
            let edit = self.edits[number].edit();
            let encoding = edit.and_then(|edit| edit.encoding).unwrap_or_default();
            (edit.map_or("", |edit| edit.path.sent()), encoding, self.is_after_others(number))
        };
        let total = (self.edits.len(), self.is_patch);
        let mut reply = refused(errors, total, (self.guide, self.limit), edit)?;
        let counted = Counted::of(self.counted(true), workspace, control);
        reply.text.extend(self.keep(failed, hunks.into_inner(), counted));
        Ok(reply)
    }
}

impl Edit {
    /// The edits that can be read, with their numbers.
    fn planned(&self) -> impl Iterator<Item = (usize, &Planned)> {
        self.edits.iter().enumerate().filter_map(|(number, slot)| Some((number, slot.edit()?)))
    }

    /// Why others cannot be read.
    fn unread(&self) -> impl Iterator<Item = (usize, Reason)> {
        self.edits.iter().enumerate().filter_map(|(number, slot)| match slot {
            Slot::Edit(_) => None,
            Slot::Unread(unread) => Some((number, Reason::Unread(unread.why.clone()))),
        })
    }

    /// The error of an edit in the names of its arguments.
    fn in_its_words(&self, number: usize, error: Error) -> Error {
        let kind = self.edits[number].edit().map(|edit| &*edit.kind);
        match (&error, kind) {
            (Error::Exists { name, .. }, Some(Kind::Content { create_only: true, .. })) if !self.is_patch => {
                let problem = format!(
                    "'{name}' exists already; leave create_only out to replace its content, or give another path"
                );
                Error::InvalidArguments { at: "create_only".into(), problem }
            }
            _ => error,
        }
    }

    /// Keeps the edits for a call that corrects those that do not fit. Returns what is said of that. Of a short call nothing is kept.
    fn keep(&self, failed: Vec<usize>, hunks: Vec<FailedHunk>, counted: Counted) -> Option<String> {
        let (numbers, first) = (told_numbers(&failed), failed.first()? + 1);
        let (mut edits, is_patch, message) = (self.edits.clone(), self.is_patch, self.message.clone());
        for slot in &mut edits {
            if let Slot::Edit(edit) = slot {
                edit.has_new_lines = false;
            }
        }
        let kept = FailedEdits { edits, failed, hunks, counted, is_patch, message };
        let bytes = kept.bytes();
        if self.edits.len() == 1 && bytes < WORTH_KEEPING {
            return None;
        }
        let name = self.handles.keep('r', &self.author.session, bytes, kept)?;
        Some(match self.is_patch {
            true => format!(
                "\n\n[Send only the corrected hunks, each under the right path: \"retry\": \"{name}\" with patch; \
                    {{\"n\": {first}, \"skip\": true}} in edits leaves out what does not fit]"
            ),
            false => format!(
                "\n\n[Send only the corrected edits: \"retry\": \"{name}\", each with its \"n\" ({numbers}), or with \"skip\": true to leave it out]"
            ),
        })
    }

    /// The files whose lines edits count. `with_new`: also those that a call with `retry` has counted.
    fn counted(&self, with_new: bool) -> impl Iterator<Item = &FilePath> + Clone {
        self.edits.iter().enumerate().filter_map(move |(number, slot)| match slot {
            Slot::Edit(edit) if !edit.kind.counts_lines() || (edit.has_new_lines && !with_new) => None,
            Slot::Edit(edit) => Some(self.before(&edit.path, number)),
            Slot::Unread(unread) => Some(self.before(unread.file.as_ref()?, number)),
        })
    }

    /// The path that the file at `path` has before the call, as the edits before the one of this number move it.
    fn before<'e>(&'e self, mut path: &'e FilePath, number: usize) -> &'e FilePath {
        for edit in self.edits[..number].iter().rev().filter_map(Slot::edit) {
            if let Kind::Move(to) | Kind::Copy(to) = &*edit.kind
                && to == path
            {
                path = &edit.path;
            }
        }
        path
    }

    /// Whether edits before the one of this number change the text of the same file.
    fn is_after_others(&self, number: usize) -> bool {
        let Some(edit) = self.edits[number].edit() else { return false };
        let mut path = &edit.path;
        self.edits[..number].iter().rev().filter_map(Slot::edit).any(|edit| match &*edit.kind {
            Kind::Move(to) | Kind::Copy(to) => {
                path = if to == path { &edit.path } else { path };
                false
            }
            _ => edit.path == *path,
        })
    }

    fn operation<'o>(
        &'o self,
        edit: &'o Planned,
        (failed, broken): (FailedHunks<'o>, &'o Broken),
        workspace: &'o Workspace,
        control: &'o Control,
    ) -> Operation<'o> {
        match &*edit.kind {
            Kind::Move(to) => Operation::Move { path: edit.meant(workspace), to: to.clone() },
            Kind::Copy(to) => Operation::Copy { path: edit.meant(workspace), to: to.clone() },
            Kind::Delete { recursive } => {
                let only = if *recursive { Deletion::Recursive } else { Deletion::Entry };
                Operation::Delete { path: edit.meant(workspace), only }
            }
            kind @ (Kind::Text(_)
            | Kind::Lines(_)
            | Kind::Symbol { .. }
            | Kind::Patch { .. }
            | Kind::Content { .. }) => {
                let (encoding, first_line) = (edit.encoding, self.guide.base.first());
                let path = &edit.path;
                let job = TextJob {
                    kind,
                    name: path.sent(),
                    encoding,
                    first_line,
                    workspace,
                    control,
                    failed,
                    broken,
                };
                let plan = Box::new(move |_: &_, old: &[u8]| job.plan(old));
                Operation::Write { path: edit.meant(workspace), options: write_options(kind, encoding), plan }
            }
        }
    }
}

fn write_options(kind: &Kind, encoding: Option<EncodingChoice>) -> ChangeOptions {
    let is_utf_8 = encoding.unwrap_or_default() == EncodingChoice::default();
    let (is_whole, create_only) = match kind {
        Kind::Content { create_only, .. } => (true, *create_only),
        _ => (false, false),
    };
    ChangeOptions {
        create: kind.creates(),
        create_only,
        any_bytes: !is_utf_8 || is_whole,
        makes_any_bytes: true,
        any_size: !is_whole,
        in_parts: (!is_whole).then_some(InParts::OF_TEXTS),
        ..ChangeOptions::default()
    }
}

/// Numbers of edits, from 1; those of a long list are told as ranges, and not all of them.
fn told_numbers(numbers: &[usize]) -> String {
    let runs: Vec<&[usize]> = numbers.chunk_by(|one, next| one + 1 == *next).collect();
    let told = |run: &&[usize]| match run {
        [first, _, .., last] if numbers.len() > FEW_NUMBERS => vec![format!("{}-{}", first + 1, last + 1)],
        few => few.iter().map(|number| (number + 1).to_string()).collect(),
    };
    let mut all: Vec<String> = runs.iter().flat_map(told).collect();
    if all.len() > TOLD_NUMBERS {
        all.truncate(TOLD_NUMBERS);
        all.push("…".into());
    }
    all.join(", ")
}
