//! Runs a `replace`: searches, makes a job of what was found, and puts the answer together.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::listed::List;
use super::planned::{File, Planned, PlannedFile, Request};
use super::told::{self, Found};
use super::{EMPTY_GROUP, Replace, TOOL, has_empty_group};
use crate::tools::Reply;
use crate::tools::agent::changed::Told;
use crate::tools::pattern_text::WaysOut;
use crate::tools::search::grep::{Fruitless, WantedFiles};
use crate::tools::walking::path_line_in;
use engine::{ChangeOptions, FoundFile, JobChange, JobDone, JobError, JobNote, JobOptions, Operation};
use engine::{SearchStop, Searched, Workspace};
use folder::{Control, Error, FilePath, Result};
use search::{Finished, LineMatcher, Pattern, Replacement, UnknownGroup};
use sys::process::open_file_limit;
use text::budget::Share;
use text::encoded_edit::{InParts, MAX_PLACES, Replacing, SearchedText, check_new_text};
use text::shown::shown_line;
use text::splice::EditPlan;

/// What to send instead of a pattern that cannot be used.
const WAYS_OUT: WaysOut = WaysOut {
    not_linear: "match what is around the place, too, and put it back by a group: (before)x with $1y",
    syntax: "escape the character with \\, or pass \"fixed_strings\": true to replace the text itself",
    line_break: "pass \"multiline\": true",
};

/// Descriptors that are left for everything else.
const SPARE_FILES: u64 = 256;

/// A call that runs.
pub(super) struct Run<'r> {
    call: &'r Replace,
    request: &'r Arc<Request>,
    workspace: &'r Workspace,
    control: &'r Control,
    started: Instant,
    pattern: Pattern,
    replacement: Replacement,
}

/// What has become of one file.
#[derive(Default)]
struct Outcome {
    /// The number of its first place, from 1, and how many it has.
    first: u64,
    count: u64,
    /// How many of them are replaced.
    replaced: u64,
    hash: u64,
    held: Option<Share>,
}

/// What is known while a job is planned.
struct State<'s> {
    scan: LineMatcher<'s>,
    outcomes: Vec<Outcome>,
    /// What a dry run lists.
    list: Option<List>,
}

impl<'r> Run<'r> {
    pub(super) fn new(
        call: &'r Replace,
        request: &'r Arc<Request>,
        workspace: &'r Workspace,
        control: &'r Control,
        started: Instant,
    ) -> Result<Run<'r>> {
        let pattern = request.scope.read_pattern(&WAYS_OUT)?;
        if !request.scope.how.fixed && has_empty_group(&request.scope.pattern) {
            return Err(refused(EMPTY_GROUP.into()));
        }
        let replacement = match request.scope.how.fixed {
            true => Replacement::text(&request.replacement),
            false => Replacement::new(&request.replacement, &pattern).map_err(unknown_group)?,
        };
        Ok(Run { call, request, workspace, control, started, pattern, replacement })
    }

    /// Replaces what a search finds.
    pub(super) fn found(&self) -> Result<Reply> {
        let wants = self.request.scope.files()?;
        let (files, searched) = self.search(&wants)?;
        let notes = told::notes(self.request, &searched);
        if files.is_empty() {
            let Run { workspace, control, started, .. } = *self;
            let run = Fruitless { scope: &self.request.scope, workspace, wants: &wants, control, started };
            return Ok(told::nothing(run, self.call.expected, &searched, notes));
        }
        self.check_count(&files)?;
        let state = self.state(files.len());
        let job = self.job(&files, &state, |_| None);
        let state = state.into_inner();
        let job = match job {
            Ok(job) => job,
            Err(JobError::Failed(error)) => return Err(error),
            Err(JobError::Refused(errors)) => {
                return Ok(told::refused(&files, errors, None, self.call.guide));
            }
        };
        let found = Found {
            places: state.replaced(),
            files: state.files(),
            of_all: state.places(),
            is_last_call: self.call.handles.are_off(),
        };
        let plan = if self.call.dry_run { self.keep(&files, &state) } else { None };
        let list = state.list.map(|list| (list, plan));
        Ok(told::done(job, found, list, notes, self.call.limit))
    }

    /// Replaces places of a dry run. Also returns whether it is done.
    pub(super) fn planned(&self, planned: &Planned) -> Result<(Reply, bool)> {
        let only = self.call.only.as_ref();
        if let Some(number) = only.and_then(|only| only.beyond(planned.last())) {
            let problem = format!("there is no place {number}; the plan has the places 1-{}", planned.last());
            return Err(Error::InvalidArguments { at: "only".into(), problem });
        }
        let is_wanted = |file: &&PlannedFile| {
            only.is_none_or(|only| only.has_one_of(file.first..=file.first + file.count - 1))
        };
        let wanted: Vec<&PlannedFile> = planned.files.iter().filter(is_wanted).collect();
        let files: Vec<File> = wanted.iter().map(|planned| planned.file.clone()).collect();
        self.check_count(&files)?;
        let state = self.state(files.len());
        let job = self.job(&files, &state, |number| wanted.get(number).copied());
        let state = state.into_inner();
        let job = match job {
            Ok(job) => job,
            Err(JobError::Failed(error)) => return Err(error),
            Err(JobError::Refused(errors)) => {
                return Ok((told::refused(&files, errors, Some(&wanted), self.call.guide), false));
            }
        };
        let found = Found {
            places: state.replaced(),
            files: state.files(),
            of_all: planned.last(),
            is_last_call: self.call.handles.are_off(),
        };
        let name = match &self.call.what {
            super::What::Plan(name, _) => Some(name.clone()),
            super::What::Found(_) => None,
        };
        let list = state.list.map(|list| (list, name));
        let reply = told::done(job, found, list, Vec::new(), self.call.limit);
        Ok((reply, !self.call.dry_run))
    }

    /// Refuses more files than a job has descriptors for.
    fn check_count(&self, files: &[File]) -> Result<()> {
        let folder_of =
            |file: &'_ File| (file.path.folder(), Path::new(file.path.as_str()).parent().map(Path::to_owned));
        let folders: HashSet<_> = files.iter().map(folder_of).collect();
        let limit = open_file_limit();
        let needed = self.workspace.descriptors_of_job(files.len(), folders.len(), self.call.dry_run);
        if needed <= limit.saturating_sub(SPARE_FILES) {
            return Ok(());
        }
        let problem = format!(
            "it matches in {} files of {} folders, for which a change needs {needed} open files at once, more than the {limit} that the \
             system lets the server have; replace in parts, by path, glob or type",
            files.len(),
            folders.len()
        );
        Err(Error::InvalidArguments { at: "pattern".into(), problem })
    }

    fn state(&self, files: usize) -> RefCell<State<'_>> {
        let list = self.call.dry_run.then(|| List::new(self.call.limit));
        let outcomes = (0..files).map(|_| Outcome::default()).collect();
        RefCell::new(State { scan: LineMatcher::new(&self.pattern, self.control), outcomes, list })
    }

    /// The files in which something matches.
    fn search(&self, wants: &WantedFiles) -> Result<(Vec<File>, Searched)> {
        let (scope, folders) = (&self.request.scope, self.workspace.folder_paths().folders());
        let wants =
            |path: &Path, from_start: &Path, is_folder: bool| wants.wants(path, from_start, is_folder);
        let mut files = Vec::new();
        let mut receiver = |found: FoundFile| {
            files.push(File {
                path: FilePath::known(found.folder, &shown_line(&found.path)),
                shown: path_line_in(folders, found.folder, &found.path),
                read_as: found.read_as,
            });
            true
        };
        let searched =
            self.workspace.search(&self.pattern, scope.options(&wants), &mut receiver, self.control);
        let searched = match searched {
            Err(error @ Error::NotFound { .. }) => {
                return Err(scope.glob_in_path(self.workspace, self.control)?.unwrap_or(error));
            }
            searched => searched?,
        };
        // What was not looked into may match, too.
        if searched.stop == Some(SearchStop::Time) && !switches::is_off("replace-all-searched") {
            return Err(Error::TimedOut);
        }
        Ok((files, searched))
    }

    /// Carries out the job, or finds out what it would do.
    fn job<'j, 's>(
        &'j self,
        files: &'j [File],
        state: &'j RefCell<State<'s>>,
        planned: impl Fn(usize) -> Option<&'j PlannedFile> + Copy + 'j,
    ) -> Result<JobDone<Told>, JobError> {
        let call = self.call;
        let operation = |(number, file): (usize, &'j File)| Operation::Write {
            path: file.path.clone(),
            options: write_options(),
            plan: Box::new(move |_: &_, old: &[u8]| {
                self.plan(number, file, planned(number), old, &mut state.borrow_mut()).map(Some)
            }),
        };
        let mut operations: Vec<Operation> = files.iter().enumerate().map(operation).collect();
        let note = JobNote { author: &call.author, tool: TOOL.name, message: &call.message, undoes: None };
        let options = JobOptions { dry_run: call.dry_run, note: Some(note) };
        let described = |change: JobChange| Told::of(change, false);
        let allow = || {
            let (state, counts) = (state.borrow(), |outcome: &Outcome| outcome.replaced);
            match call.expected {
                Some(expected) if expected != state.replaced() && !switches::is_off("replace-expected") => {
                    let counts = files.iter().zip(state.outcomes.iter().map(counts));
                    Err(told::not_as_expected(expected, state.replaced(), counts))
                }
                _ => Ok(()),
            }
        };
        self.workspace.run_job_if(&mut operations, options, self.control, described, allow)
    }

    /// The plan for the file of this number with these bytes. `planned`: what it was in the dry run.
    fn plan(
        &self,
        number: usize,
        file: &File,
        planned: Option<&PlannedFile>,
        old: &[u8],
        state: &mut State,
    ) -> Result<EditPlan<'static>> {
        let needs_hash = self.call.dry_run || planned.is_some();
        let hash = if needs_hash { journal::hash(old) } else { 0 };
        if planned.is_some_and(|planned| planned.hash != hash) && !switches::is_off("plan-unchanged") {
            let problem = "it has changed since the dry run; make another one";
            return Err(Error::InvalidArguments { at: "plan".into(), problem: problem.into() });
        }
        let first = match (planned, number.checked_sub(1).and_then(|before| state.outcomes.get(before))) {
            (Some(planned), _) => planned.first,
            (None, Some(before)) => before.first + before.count,
            (None, None) => 1,
        };
        let is_ascii = self.request.scope.pattern.is_ascii() && self.replacement.is_ascii();
        let memory = self.workspace.plan_memory();
        // With what this call holds already.
        let busy = |held: usize, error: text::Error| match error {
            text::Error::Busy if held > memory.total() => too_large(memory.total()),
            error => error.into(),
        };
        let held_before = state.held();
        check_new_text(&file.read_as, (&file.shown, old), self.replacement.is_ascii(), self.control)?;
        let text = SearchedText::new(file.read_as, (&file.shown, old), is_ascii, memory, self.control)
            .map_err(|error| busy(held_before + SearchedText::memory_for(old.len()), error))?;
        let (mut replacing, mut count, mut replaced) = (text.replacing(), 0, 0);
        if let Some(list) = &mut state.list {
            list.begin(number, &file.shown);
        }
        let (bytes, preserve_case) = (text.bytes(), self.request.preserve_case);
        let finished =
            state.scan.places(bytes, self.replacement.has_groups(), &mut |groups| -> Result<()> {
                let Some(Some(at)) = groups.first().cloned() else { return Ok(()) };
                let place = first + count;
                count += 1;
                if self.call.only.as_ref().is_some_and(|only| !only.has(place)) {
                    return Ok(());
                }
                let new = self.replacement.of(bytes, groups, preserve_case);
                if let Some(list) = &mut state.list {
                    list.add(place, bytes, at.clone(), &new);
                }
                replaced += 1;
                if first + count > MAX_PLACES {
                    return Err(too_many());
                }
                Ok(replacing.add(at, new)?)
            })?;
        if finished == Finished::TooLong {
            let problem = "the file has a line of more than 64 MB, or has more and the pattern is multiline; leave it out by path or glob";
            return Err(Error::InvalidArguments { at: "pattern".into(), problem: problem.into() });
        }
        if let Some(list) = &mut state.list {
            list.end(bytes);
        }
        if text.may_be_halves() && self.call.only.is_none() {
            self.check_halves(&replacing, old, state)?;
        }
        let held = held_before + text.held.size() + replacing.held;
        let (plan, held) = replacing.finish(memory).map_err(|error| busy(held, error))?;
        state.outcomes[number] = Outcome { first, count, replaced, hash, held: Some(held) };
        Ok(plan)
    }

    /// Refuses places that are others where the characters of the file are single bytes.
    fn check_halves(&self, replacing: &Replacing, old: &[u8], state: &mut State) -> Result<()> {
        let mut in_bytes = Vec::new();
        state.scan.places(old, false, &mut |groups| -> Result<()> {
            in_bytes.extend(groups.first().cloned().flatten().filter(|at| !at.is_empty()));
            if in_bytes.len() as u64 > MAX_PLACES { Err(too_many()) } else { Ok(()) }
        })?;
        Ok(replacing.check_halves(&in_bytes)?)
    }

    /// Keeps the places of a dry run. Returns the name of the plan.
    fn keep(&self, files: &[File], state: &State) -> Option<String> {
        let outcomes = state.outcomes.iter().zip(files).filter(|(outcome, _)| outcome.count > 0);
        let planned = |(outcome, file): (&Outcome, &File)| PlannedFile {
            file: file.clone(),
            hash: outcome.hash,
            first: outcome.first,
            count: outcome.count,
        };
        let files: Vec<PlannedFile> = outcomes.map(planned).collect();
        if files.is_empty() {
            return None;
        }
        let planned = Planned { request: self.request.clone(), files };
        self.call.handles.keep('p', &self.call.author.session, planned.bytes(), planned)
    }
}

impl State<'_> {
    fn replaced(&self) -> u64 {
        self.outcomes.iter().map(|outcome| outcome.replaced).sum()
    }

    fn places(&self) -> u64 {
        self.outcomes.iter().map(|outcome| outcome.count).sum()
    }

    /// Memory that is held for the plans of files so far.
    fn held(&self) -> usize {
        self.outcomes.iter().filter_map(|outcome| outcome.held.as_ref()).map(Share::size).sum()
    }

    fn files(&self) -> u64 {
        self.outcomes.iter().filter(|outcome| outcome.replaced > 0).count() as u64
    }
}

fn write_options() -> ChangeOptions {
    ChangeOptions {
        any_bytes: true,
        makes_any_bytes: true,
        any_size: true,
        in_parts: Some(InParts::OF_TEXTS),
        ..ChangeOptions::default()
    }
}

fn too_many() -> Error {
    refused(format!("it is in more than 1,000,000 places; {IN_PARTS}"))
}

fn too_large(memory: usize) -> Error {
    refused(format!("its places need more memory than the {} MB for all changes; {IN_PARTS}", memory >> 20))
}

const IN_PARTS: &str = "replace in parts, by path, glob or type, or with a pattern that is in fewer places";

fn refused(problem: String) -> Error {
    Error::InvalidArguments { at: "pattern".into(), problem }
}

fn unknown_group(UnknownGroup { group, groups }: UnknownGroup) -> Error {
    let problem = format!(
        "there is no group {group} in pattern; there {} {}, and $$ stands for $",
        if groups.len() == 1 { "is" } else { "are" },
        groups.join(", ")
    );
    Error::InvalidArguments { at: "replacement".into(), problem }
}
