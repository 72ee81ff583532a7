//! `edit`: changes of any kind in any number of files, all or none (contract 19).

use std::sync::Arc;

use super::changed::{Told, done};
use super::one_edit::{Kind, OneEdit};
use super::patched;
use super::planned::{FailedEdits, Planned, planned};
use super::refused::refused;
use super::shapes::as_list;
use super::texts::TextJob;
use crate::tools::arguments::{Argument, List, Request, Takes, Text, Value, arguments, is_object};
use crate::tools::handles::Handles;
use crate::tools::{AnswerLimit, Call, Guide, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Deletion, JobError, JobNote, JobOptions, Operation, Workspace};
use folder::{Control, Error, FilePath, Result};
use journal::Author;
use text::encoded_edit::InParts;
use text::encoding::EncodingChoice;

/// So many numbers of edits are told one by one.
const FEW_NUMBERS: usize = 10;

/// The most numbers, or ranges of numbers, of edits that an answer names.
const TOLD_NUMBERS: usize = 40;

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

/// A single edit of fewer bytes is sent again as a whole.
const WORTH_KEEPING: usize = 1_500;

pub(crate) static TOOL: Tool = Tool {
    name: "edit",
    title: "Edit Files",
    description: "Change any number of files, all or none. Edits apply in order, each to the result of those before it, also of a \
        moved file. Example: {\"edits\":[{\"path\":\"a.rs\",\"old\":\"foo()\",\"new\":\"bar()\"},{\"lines\":\"12-14\",\"new\":\"\"},{\"path\":\"b\",\"move_to\":\"c/b\"}]}",
    instructions: "",
    takes: Takes::of::<EditArguments>(),
    output_schema: None,
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct EditArguments {
        /// Changes, each of one kind
        edits: Option<Edits>,
        /// In place of edits: a unified diff, or *** Begin Patch
        patch: Option<Text>,
        /// Only say what would change
        dry_run as "dry_run" or "dryRun": bool = false,
        /// Show a diff
        diff: bool = false,
        /// What it is for, kept with the change
        message: Option<Text>,
        /// Of a failed call: edits has only corrected ones
        retry: Option<String>,
    }
}

/// The edits of a call: a list, or a single one in its place.
#[derive(Debug)]
struct Edits(Vec<OneEdit>);

type EditList = List<OneEdit, 1, MAX_EDITS>;

impl Argument for Edits {
    fn expected() -> String {
        EditList::expected()
    }

    fn schema(out: &mut String) {
        EditList::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        EditList::is_empty(value)
    }

    fn read(value: &Value) -> Result<Edits> {
        if is_object(value.json()) {
            return Ok(Edits(vec![OneEdit::read(value)?]));
        }
        if value.string().is_ok_and(|text| is_patch(&text)) {
            let problem = "it is a patch; give it as patch, in place of edits".into();
            return Err(Error::InvalidArguments { at: "edits".into(), problem });
        }
        EditList::read(value).map(|list| Edits(list.0))
    }
}

/// Whether a text looks like a patch.
fn is_patch(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches("```diff").trim_start();
    ["--- ", "diff --git ", "*** Begin Patch", "@@ "].iter().any(|start| text.starts_with(start))
}

/// A parsed call.
#[derive(Debug)]
struct Edit {
    edits: Vec<Planned>,
    /// The argument that the edits stand in.
    is_patch: bool,
    dry_run: bool,
    with_diff: bool,
    message: String,
    /// The name of the failed call that it goes on with.
    retry: Option<String>,
    author: Arc<Author>,
    handles: Arc<Handles>,
    guide: Guide,
    limit: AnswerLimit,
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let EditArguments { edits, patch, dry_run, diff: with_diff, message, retry } = self;
        let patch = patch.filter(|patch| !patch.0.is_empty());
        let failed = match &retry {
            None => None,
            Some(name) => {
                let failed = options.handles.look::<FailedEdits>(name, &options.author.session);
                Some(failed.ok_or_else(|| unknown_retry(name))?)
            }
        };
        let is_patch = failed.as_ref().map_or(patch.is_some(), |failed| failed.is_patch);
        let refuse =
            |at: &str, problem: &str| Error::InvalidArguments { at: at.into(), problem: problem.into() };
        let edits = match (edits, patch, &failed) {
            (Some(_), Some(_), _) => return Err(refuse("patch", "it is beside edits; give one of them")),
            (None, None, None) => return Err(refuse("edits", "it is missing; expected edits, or a patch")),
            (None, None, Some(_)) => {
                return Err(refuse("edits", "it is missing; expected the corrected edits, each with its n"));
            }
            (Some(Edits(given)), None, None) => planned(given)?,
            (Some(Edits(given)), None, Some(failed)) => failed.corrected(given)?,
            (None, Some(patch), None) => {
                patched::edits(&patch.0, options)?.into_iter().map(Planned::from).collect()
            }
            (None, Some(patch), Some(failed)) => failed.patched(patched::edits(&patch.0, options)?)?,
        };
        let (guide, limit, author) = (options.guide(), options.limit, options.author.clone());
        let kept = failed.map(|failed| failed.message.clone()).unwrap_or_default();
        let message = message.map_or(kept, |message| message.0);
        let handles = options.handles.clone();
        Ok(Box::new(Edit {
            edits,
            is_patch,
            dry_run,
            with_diff,
            message,
            retry,
            author,
            handles,
            guide,
            limit,
        }))
    }

    /// Edits may be given in other shapes than a list.
    fn refused(arguments: &Value, error: Error) -> Result<Box<dyn Call>> {
        let Some(json) = as_list(arguments.json()) else { return Err(error) };
        EditArguments::read(&Value::arguments(&json, arguments.options())?)?.into_call(arguments.options())
    }
}

fn unknown_retry(name: &str) -> Error {
    let problem = format!(
        "there is no failed call {name} (any more): it is of this session, lives ten minutes, and is used up by success; send all edits"
    );
    Error::InvalidArguments { at: "retry".into(), problem }
}

impl Call for Edit {
    fn file(&self) -> Option<&FilePath> {
        self.edits.first().map(|edit| &edit.path)
    }

    fn other_files(&self) -> Vec<&FilePath> {
        let others = self.edits.iter().flat_map(|Planned { path, kind, .. }| {
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
                Some(claimed.ok_or_else(|| unknown_retry(name))?)
            }
        };
        let mut operations: Vec<Operation> = self.operations(workspace, control);
        let told = |change: engine::JobChange| Told::of(change, self.with_diff);
        let note = JobNote { author: &self.author, tool: TOOL.name, message: &self.message, undoes: None };
        let options = JobOptions { dry_run: self.dry_run, note: Some(note) };
        match workspace.run_job(&mut operations, options, control, told) {
            Ok(job) => {
                if let Some(claimed) = claimed.filter(|_| !self.dry_run) {
                    claimed.use_up();
                }
                Ok(done(job, self.edits.len(), self.dry_run, self.limit))
            }
            Err(JobError::Failed(error)) => Err(error),
            Err(JobError::Refused(errors)) => {
                let edit = |number: usize| {
                    let Planned { path, encoding, .. } = &self.edits[number];
                    (path.sent(), encoding.unwrap_or_default(), self.is_after_others(number))
                };
                let failed: Vec<usize> = errors.iter().map(|(number, _)| *number).collect();
                let errors =
                    errors.into_iter().map(|(number, error)| (number, self.in_its_words(number, error)));
                let total = (self.edits.len(), self.is_patch);
                let mut reply = refused(errors.collect(), total, (self.guide, self.limit), edit)?;
                reply.text.extend(self.keep(failed));
                Ok(reply)
            }
        }
    }
}

impl Edit {
    /// The error of an edit in the names of its arguments.
    fn in_its_words(&self, number: usize, error: Error) -> Error {
        match (&error, &*self.edits[number].kind) {
            (Error::Exists { name, .. }, Kind::Content { create_only: true, .. }) if !self.is_patch => {
                let problem = format!(
                    "'{name}' exists already; leave create_only out to replace its content, or give another path"
                );
                Error::InvalidArguments { at: "create_only".into(), problem }
            }
            _ => error,
        }
    }

    /// Keeps the edits for a call that corrects those that do not fit. Returns what is said of that. Of a short call nothing is kept.
    fn keep(&self, failed: Vec<usize>) -> Option<String> {
        let numbers = told_numbers(&failed);
        let (edits, is_patch, message) = (self.edits.clone(), self.is_patch, self.message.clone());
        let kept = FailedEdits { edits, failed, is_patch, message };
        let bytes = kept.bytes();
        if self.edits.len() == 1 && bytes < WORTH_KEEPING {
            return None;
        }
        let name = self.handles.keep('r', &self.author.session, bytes, kept)?;
        Some(match self.is_patch {
            true => format!("\n\n[Send only the corrected files: \"retry\": \"{name}\" with patch]"),
            false => format!(
                "\n\n[Send only the corrected edits: \"retry\": \"{name}\", each with its \"n\" ({numbers})]"
            ),
        })
    }

    /// Whether edits before the one of this number change the text of the same file.
    fn is_after_others(&self, number: usize) -> bool {
        let mut path = &self.edits[number].path;
        self.edits[..number].iter().rev().any(|edit| match &*edit.kind {
            Kind::Move(to) | Kind::Copy(to) => {
                path = if to == path { &edit.path } else { path };
                false
            }
            _ => edit.path == *path,
        })
    }

    fn operations<'o>(&'o self, workspace: &'o Workspace, control: &'o Control) -> Vec<Operation<'o>> {
        let operation = |edit: &'o Planned| match &*edit.kind {
            Kind::Move(to) => Operation::Move { path: edit.meant(workspace), to: to.clone() },
            Kind::Copy(to) => Operation::Copy { path: edit.meant(workspace), to: to.clone() },
            Kind::Delete { recursive } => {
                let only = if *recursive { Deletion::Recursive } else { Deletion::Entry };
                Operation::Delete { path: edit.meant(workspace), only }
            }
            kind @ (Kind::Text(_) | Kind::Lines(_) | Kind::Patch { .. } | Kind::Content { .. }) => {
                let (encoding, first_line) = (edit.encoding, self.guide.base.first());
                let path = &edit.path;
                let job = TextJob { kind, name: path.sent(), encoding, first_line, workspace, control };
                let plan = Box::new(move |_: &_, old: &[u8]| job.plan(old));
                Operation::Write { path: edit.meant(workspace), options: write_options(kind, encoding), plan }
            }
        };
        self.edits.iter().map(operation).collect()
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
