//! `file_edit`: replaces exact text by text, one edit after the other (contract 5).
//!
//! Parses and runs the call. The replies are in [`success`], [`error`] and [`no_match`].

mod data;
mod error;
mod failure_text;
mod format;
mod no_match;
mod success;

use std::path::Path;

use super::{Arguments, Call, Members, OutputKinds, ParseOptions, Reply, Tool};
use crate::engine::{
    ChangeOptions, Control, Diff, Error, FilePath, NamePolicy, NameProblem, Result, TextEdit, TextEdits,
    TextLimits, Workspace, plan_text_edits, unified,
};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

/// Maximum size of a diff in bytes.
const MAX_DIFF: usize = 16 * 1024;

/// Maximum number of passages that a dry run shows.
const PREVIEWS: usize = 200;

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
    input_schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""path":{"type":"string","description":"Name of the file, as list_files gives it"},"#,
        r#""edits":{"type":"array","minItems":1,"maxItems":1000,"items":{"type":"object","properties":{"#,
        r#""old_text":{"type":"string","description":"Exact text to find; empty only for a missing or empty file"},"#,
        r#""new_text":{"type":"string","description":"Text to put in its place; may be empty"},"#,
        r#""occurrences":{"type":"integer","minimum":1,"default":1,"description":"How often old_text must be found; all are replaced"}"#,
        r#"},"required":["old_text","new_text"],"additionalProperties":false}},"#,
        r#""dry_run":{"type":"boolean","default":false,"description":"Only say what would happen"}"#,
        r#"},"required":["path","edits"],"additionalProperties":false}"#
    ),
    output_schema: Some(data::SCHEMA),
    writes: true,
    direct: false,
    parse,
};

/// A parsed call.
#[derive(Debug)]
struct FileEdit {
    name: FilePath,
    /// The folder in the path, if the path is absolute.
    folder: Option<String>,
    edits: TextEdits,
    dry_run: bool,
}

/// A call whose arguments were refused. It runs only to fail in the same form as other calls of this tool.
#[derive(Debug)]
struct RejectedEdit {
    path: String,
    edits: usize,
    /// The only run takes it.
    error: std::sync::Mutex<Option<Error>>,
}

fn parse(arguments: &mut Arguments, dialect: ParseOptions) -> Result<Box<dyn Call>> {
    let mut path = String::new();
    let mut count = 0;
    match parse_call(arguments, dialect, &mut path, &mut count) {
        Ok(call) => Ok(Box::new(call)),
        Err(error) => {
            arguments.give_up();
            Ok(Box::new(RejectedEdit { path, edits: count, error: Some(error).into() }))
        }
    }
}

fn parse_call(
    arguments: &mut Arguments,
    dialect: ParseOptions,
    path: &mut String,
    count: &mut usize,
) -> Result<FileEdit> {
    *path = arguments.required_string("path")?;
    let (folder, name) = match dialect.names {
        NamePolicy::Paths => (None, path.as_str()),
        _ => split_folder(path)?,
    };
    let name = FilePath::parse(name, dialect.names, dialect.folders)?;
    let items = arguments.objects("edits", MAX_EDITS)?;
    *count = items.len();
    if items.is_empty() {
        return Err(arguments.refuse("edits", NO_EDITS));
    }
    let edits = items.into_iter().map(parse_edit).collect::<Result<_>>()?;
    let dry_run = arguments.flag("dry_run")?.unwrap_or(false);
    arguments.refuse_unknown()?;
    Ok(FileEdit { name, folder, edits: TextEdits::new(edits), dry_run })
}

/// Splits an absolute path of a file in the folder, or `./name`, where only names are allowed.
fn split_folder(path: &str) -> Result<(Option<String>, &str)> {
    match path.rsplit_once('/') {
        None => Ok((None, path)),
        Some((".", name)) => Ok((None, name)),
        Some(("", name)) => Ok((Some("/".to_owned()), name)),
        Some((folder, name)) if folder.starts_with('/') => Ok((Some(folder.to_owned()), name)),
        Some(_) => Err(Error::InvalidName { problem: NameProblem::Policy }),
    }
}

fn parse_edit(mut edit: Arguments) -> Result<TextEdit> {
    let missing = |edit: &Arguments, key| edit.refuse(key, "it is missing; expected a string");
    let old_text = edit.text("old_text")?.ok_or_else(|| missing(&edit, "old_text"))?;
    let new_text = edit.text("new_text")?.ok_or_else(|| missing(&edit, "new_text"))?;
    let occurrences = edit.count("occurrences")?.unwrap_or(1);
    edit.finish()?;
    Ok(TextEdit { old_text, new_text, occurrences })
}

impl Call for RejectedEdit {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, _: &Workspace, wanted: OutputKinds, _: &Control) -> Result<Reply> {
        let error = self.error.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let error = error.unwrap_or(Error::Cancelled);
        error::reply(&self.path, self.edits, error, wanted)
    }
}

impl Call for FileEdit {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.name)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let name = self.name.as_str();
        match self.edit(workspace, control) {
            Ok(done) => Ok(success::reply(name, &self.edits, &done, self.dry_run, wanted)),
            Err(error) => error::reply(name, self.edits.edits().len(), error, wanted),
        }
    }
}

/// The result of a call, or of a dry run.
struct Done {
    applied: Vec<crate::engine::Applied>,
    diff: Diff,
    changed: bool,
    created: bool,
}

impl FileEdit {
    fn edit(&self, workspace: &Workspace, control: &Control) -> Result<Done> {
        if self.folder.as_ref().is_some_and(|folder| !workspace.is_at(Path::new(folder))) {
            return Err(Error::InvalidName { problem: NameProblem::Policy });
        }
        let (name, create) = (&self.name, self.edits.create());
        let passages = if self.dry_run { PREVIEWS } else { 0 };
        let memory = workspace.plan_memory();
        let limits = TextLimits { passages, max_bytes: workspace.options().max_bytes, memory };
        let plan = |index: &_, old: &[u8]| {
            let Some(planned) = plan_text_edits(index, old, &self.edits, limits, control)? else {
                return Ok(None);
            };
            let diff = unified(index, old, &planned.plan, name.as_str(), MAX_DIFF);
            let changed = !planned.plan.changes_nothing();
            Ok(Some((planned.plan, (planned.applied, diff, changed, planned.held))))
        };
        let options = ChangeOptions { create, ..ChangeOptions::default() };
        let done = match self.dry_run {
            true => workspace.dry_run(name, &options, control, plan)?,
            false => workspace.change(name, &options, control, plan)?,
        };
        let ((applied, diff, changed, _held), created) = (done.report, done.created);
        Ok(Done { applied, diff, changed, created })
    }
}
