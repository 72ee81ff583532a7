//! The set `exact`: `file_edit` replaces exact text by text, one edit after the other (contract 5).
//!
//! Parses and runs the call. The replies are in [`success`], [`error`] and [`no_match`].

mod brief;
mod data;
mod error;
mod failure_text;
mod format;
mod no_match;
mod success;

pub(super) use self::format::EditNames;

use std::path::Path;

use crate::tools::arguments::{Argument, Count, List, Request, Takes, Text, Value, arguments, name_as_sent};
use crate::tools::diff_text::MAX_DIFF;
use crate::tools::rewritten::omission_note;
use crate::tools::{Call, Guide, Members, OutputKinds, ParseOptions, Reply, Tool};
use engine::{ChangeOptions, Workspace};
use folder::{Control, Error, FilePath, NamePolicy, NameProblem, NameRule, Result};
use sys::path::{is_absolute, with_slashes};
use text::diff::{Diff, unified};
use text::encoded_edit::InParts;
use text::encoding::{Encoding, EncodingChoice};
use text::omission::omission;
use text::text_edit::{TextEdit, TextEdits, TextLimits, Unmatched, plan as plan_text_edits};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

/// Maximum number of passages that a dry run shows.
const PREVIEWS: usize = 200;

/// The names of this tool.
const NAMES: EditNames = EditNames {
    old_text: "old_text",
    new_text: "new_text",
    count: ("occurrences", "replace_all"),
    reader: "read_file",
    creates: true,
};

/// The contract's message for a call without edits (contract 5).
const NO_EDITS: &str = "No edits provided";

pub(super) static TOOL: Tool = Tool {
    name: "file_edit",
    title: "Edit file by text",
    description: "Replace exact text in a text file, without line numbers. old_text must be in the file to the letter (blanks, \
        indentation and case included; no patterns) exactly `occurrences` times, by default once: give enough of the \
        lines around it to make it unique. Edits apply in order, each to the result of those before it; all happen or \
        none. A \\n stands for a line break of any kind; new text gets the file's own breaks. To create a file, or to fill \
        an empty one, give an empty old_text. dry_run shows the diff and changes nothing. A failure lists every match, or the \
        most similar passages and what differs, with lines and columns counted from 1. Example: \
        {\"path\":\"notes.txt\",\"edits\":[{\"old_text\":\"colour = red\",\"new_text\":\"colour = blue\"}]}",
    instructions: "",
    takes: Takes::of::<EditArguments>(),
    output_schema: Some(data::SCHEMA),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: false,
};

arguments! {
    struct EditArguments {
        /// Name of the file
        path: Place,
        /// Edits, each applied to the result of those before it
        edits: Edits,
        /// Only say what would happen
        dry_run: bool = false,
    }
}

arguments! {
    struct OneEdit {
        /// Exact text to find; empty only for a missing or empty file
        old_text: Text,
        /// Text to put in its place; may be empty
        new_text: Text,
        /// How often old_text must be found; all are replaced
        occurrences: Occurrences,
        /// Replace all
        replace_all as "replace_all" or "replaceAll": Option<bool>,
    }
}

/// How often a text must be found; 1 unless the call says otherwise.
#[derive(Debug)]
struct Occurrences(Option<Count>);

impl Argument for Occurrences {
    const REQUIRED: bool = false;

    fn expected() -> String {
        Count::expected()
    }

    fn schema(out: &mut String) {
        Count::schema(out);
        out.push_str(r#","default":1"#);
    }

    fn is_empty(value: &Value) -> bool {
        Count::is_empty(value)
    }

    fn read(value: &Value) -> Result<Occurrences> {
        Count::read(value).map(|count| Occurrences(Some(count)))
    }

    fn absent() -> Option<Occurrences> {
        Some(Occurrences(None))
    }
}

impl Argument for TextEdit {
    fn expected() -> String {
        OneEdit::expected()
    }

    fn schema(out: &mut String) {
        OneEdit::schema(out);
    }

    fn read(value: &Value) -> Result<TextEdit> {
        let OneEdit { old_text, new_text, occurrences, replace_all } = OneEdit::read(value)?;
        let occurrences = match (occurrences.0, replace_all.unwrap_or(false)) {
            (Some(_), true) => {
                let problem = "it excludes occurrences; give one of them";
                return Err(value.refuse_member("replace_all", problem));
            }
            (None, true) => TextEdit::ALL,
            (count, false) => count.map_or(1, |count| count.0),
        };
        Ok(TextEdit { old_text: old_text.0, new_text: new_text.0, occurrences })
    }
}

/// Its edits. Nothing in its set writes another encoding than UTF-8.
const OF_TEXTS: InParts = InParts {
    at: "path",
    of_lines: false,
    instead: "convert the file to UTF-8 with another program first, such as iconv",
};

/// A name, `./name`, or an absolute path, whose folder must be the one that is served.
#[derive(Debug)]
struct Place {
    sent: String,
    folder: Option<String>,
    name: FilePath,
}

impl Argument for Place {
    fn expected() -> String {
        String::expected()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<Place> {
        let path = value.string()?;
        if value.options().names == NamePolicy::Paths {
            let name = value.options().path(&path)?;
            return Ok(Place { sent: path, folder: None, name });
        }
        let slashed = with_slashes(&path).into_owned();
        let (folder, name) = match slashed.rsplit_once('/') {
            None => (None, slashed.as_str()),
            Some((".", name)) => (None, name),
            Some(("", name)) => (Some("/".to_owned()), name),
            // With the slash, because a drive without one is another folder.
            Some((folder, name)) if is_absolute(&slashed) => (Some(format!("{folder}/")), name),
            Some(_) => return Err(not_in_folder()),
        };
        let name = value.options().path(name)?;
        Ok(Place { sent: path, folder, name })
    }
}

fn not_in_folder() -> Error {
    Error::InvalidName { problem: NameProblem::Policy(NameRule::NoPath) }
}

/// The edits of one call. A call without edits has a message of its own (contract 5).
#[derive(Debug)]
struct Edits(Vec<TextEdit>);

type EditList = List<TextEdit, 1, MAX_EDITS>;

impl Argument for Edits {
    fn expected() -> String {
        EditList::expected()
    }

    fn schema(out: &mut String) {
        EditList::schema(out);
    }

    fn read(value: &Value) -> Result<Edits> {
        Ok(Edits(List::<TextEdit, 0, MAX_EDITS>::read(value)?.0))
    }

    fn absent() -> Option<Edits> {
        Some(Edits(Vec::new()))
    }
}

/// A parsed call.
#[derive(Debug)]
struct FileEdit {
    place: Place,
    edits: TextEdits,
    dry_run: bool,
    guide: Guide,
}

/// A call whose arguments were refused. It runs only to fail in the same form as other calls of this tool.
#[derive(Debug)]
struct RejectedEdit {
    path: String,
    edits: usize,
    guide: Guide,
    /// The only run takes it.
    error: std::sync::Mutex<Option<Error>>,
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let (EditArguments { path, edits, dry_run }, guide) = (self, options.guide());
        if edits.0.is_empty() {
            let error = Error::InvalidArguments { at: "edits".into(), problem: NO_EDITS.into() };
            return Ok(Box::new(RejectedEdit::new(path.sent, 0, guide, error)));
        }
        Ok(Box::new(FileEdit { place: path, edits: TextEdits::new(edits.0), dry_run, guide }))
    }

    fn refused(arguments: &Value, error: Error) -> Result<Box<dyn Call>> {
        let path = name_as_sent(arguments.json()).unwrap_or_default();
        let (edits, guide) = (arguments.items_of("edits"), arguments.options().guide());
        Ok(Box::new(RejectedEdit::new(path, edits, guide, error)))
    }
}

impl RejectedEdit {
    fn new(path: String, edits: usize, guide: Guide, error: Error) -> RejectedEdit {
        RejectedEdit { path, edits, guide, error: Some(error).into() }
    }
}

impl Call for RejectedEdit {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, _: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let error = self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let error = error.unwrap_or(Error::Cancelled);
        error::reply(&self.path, self.edits, error, wanted, (self.guide, EncodingChoice::default(), &NAMES))
    }
}

impl Call for FileEdit {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.place.name)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let name = self.place.name.as_str();
        // A name that must not be created gets no advice to create it.
        let edited = self.edit(workspace, control).map_err(|error| match error {
            Error::NotFound { .. } => workspace.refusal_to_create(&self.place.name).unwrap_or(error),
            error => error,
        });
        match edited {
            Ok(done) => Ok(success::reply(name, &self.edits, &done, self.dry_run, wanted)),
            Err(error) => error::reply(
                name,
                self.edits.edits().len(),
                error,
                wanted,
                (self.guide, EncodingChoice::default(), &NAMES),
            ),
        }
    }
}

/// The reply to a call that failed, in the form that explains what was not found, with the names of the tool called.
pub(super) fn explain(
    path: &str,
    edits: usize,
    error: Error,
    wanted: OutputKinds,
    (guide, encoding, names): (Guide, EncodingChoice, &'static EditNames),
) -> Result<Reply> {
    let encoding = match &error {
        Error::Unmatched(unmatched) => searched_in(unmatched, encoding),
        _ => encoding,
    };
    error::reply(path, edits, error, wanted, (guide, encoding, names))
}

/// Why a text was not found as often as it must be, in few words, with the names of the tool called.
pub(super) fn explain_briefly(
    path: &str,
    unmatched: &Unmatched,
    (guide, encoding, names): (Guide, EncodingChoice, &'static EditNames),
) -> String {
    let (encoding, reader) = (searched_in(unmatched, encoding), guide.line_reader(names.reader));
    brief::explain(path, unmatched, format::Reading { names, base: guide.base, encoding, reader })
}

/// The encoding in which a text is read: that in which it was searched.
fn searched_in(unmatched: &Unmatched, asked: EncodingChoice) -> EncodingChoice {
    let is_open = asked == EncodingChoice::default();
    unmatched.encoding.filter(|_| is_open).map_or(asked, EncodingChoice::Is)
}

/// The result of a call, or of a dry run.
struct Done {
    applied: Vec<text::text_edit::Applied>,
    diff: Diff,
    changed: bool,
    created: bool,
    /// What to say of a line that may stand for text left out.
    omission: Option<String>,
}

impl FileEdit {
    fn edit(&self, workspace: &Workspace, control: &Control) -> Result<Done> {
        if self.place.folder.as_ref().is_some_and(|folder| !workspace.is_at(Path::new(folder))) {
            return Err(not_in_folder());
        }
        let (name, create) = (&self.place.name, self.edits.create());
        let passages = if self.dry_run { PREVIEWS } else { 0 };
        let memory = workspace.plan_memory();
        let limits = TextLimits { passages, max_bytes: workspace.options().max_bytes, memory };
        let plan = |index: &_, old: &[u8]| {
            let Some(planned) = plan_text_edits(index, old, &self.edits, limits, control)? else {
                return Ok(None);
            };
            let diff = unified(index, old, &planned.plan, name.as_str(), MAX_DIFF);
            let omission = self.edits.edits().iter().find_map(|edit| {
                let (new, replaced) = (&edit.new_text, Some(&*edit.old_text));
                omission(new, replaced, old, Encoding::Utf8, control).ok().flatten().map(omission_note)
            });
            let changed = !planned.plan.changes_nothing();
            Ok(Some((planned.plan, (planned.applied, diff, changed, omission, planned.held))))
        };
        let options = ChangeOptions { create, in_parts: Some(OF_TEXTS), ..ChangeOptions::default() };
        let done = match self.dry_run {
            true => workspace.dry_run(name, &options, control, plan)?,
            false => workspace.change(name, &options, control, plan)?,
        };
        let ((applied, diff, changed, omission, _held), created) = (done.report, done.created);
        Ok(Done { applied, diff, changed, created, omission })
    }
}
