//! `edit_file`: changes by line number, and appended text (contract 4).

use std::sync::Arc;

use crate::tools::arguments::{Argument, Keyword, Later, Line, List, Request, Takes, Text, Value, arguments};
use crate::tools::diff_text::{MAX_DIFF, push_diff};
use crate::tools::rewritten::omission_note;
use crate::tools::{Call, ErrorText, Guide, Members, OutputKinds, ParseOptions, Reply, Tool, shortened};
use engine::{Edited, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::diff::{Diff, unified};
use text::encoding::Encoding;
use text::line_edit::{LineEdit, LineEdits, Operation};
use text::omission::omission;

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

pub(crate) static TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit file",
    description: "Change lines of a text file, or create it. Lines count from {first} and always name lines of the file as it \
        was before this call, whatever the order of the edits. replace: content takes the line's place; insert: content \
        comes before the line (line = number of lines: at the end); delete: the line goes. With end_line, replace and delete \
        take all lines to end_line, included. content may hold several lines; a line break at its end adds no empty line. \
        append adds text after all edits. Give `expect` (the present text of the line or range, or with insert of the line \
        after it): if it differs, nothing is changed and the answer shows what it is now. All edits happen or none. A \
        missing file is created unless create_if_missing is false. Example: \
        {\"name\":\"notes.txt\",\"edits\":[{\"line\":2,\"operation\":\"replace\",\"expect\":\"old\",\"content\":\"new\"}]}",
    instructions: "Use edit_file to change lines or create a file; line numbers change with every edit, so read again \
        before the next, or give expect.",
    takes: Takes::of::<EditArguments>(),
    output_schema: Some(concat!(
        r#"{"type":"object","properties":{"#,
        r#""success":{"type":"boolean"},"#,
        r#""lines_modified":{"type":"integer"},"#,
        r#""file_created":{"type":"boolean"},"#,
        r#""new_total_lines":{"type":"integer"},"#,
        r#""diff":{"type":"string","description":"If it was asked for"}"#,
        r#"},"required":["success","lines_modified","file_created","new_total_lines"]}"#
    )),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: true,
};

arguments! {
    struct EditArguments {
        /// Name of the file{?list_files|, as list_files gives it}
        name: FilePath,
        /// Changes of lines
        edits: Option<List<LineEdit, 0, MAX_EDITS>>,
        /// Text to add at the end, after all edits
        append: Option<Text>,
        /// Create a missing file (default: true)
        create_if_missing: Option<bool>,
        /// Show what changed
        diff: Option<bool>,
    }
}

arguments! {
    struct OneEdit {
        /// Line, counted from {first}, as before the call
        line: Line,
        /// Last line of a range, included
        end_line: Later<Option<Line>>,
        /// What to do with it
        operation: Verb,
        /// New text for replace and insert; may hold several lines
        content: Later<Option<Text>>,
        /// Present text of the line or range (recommended)
        expect: Later<Option<Text<true>>>,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Replace,
    Insert,
    Delete,
}

impl Keyword for Verb {
    const WORDS: &'static [(&'static str, Verb)] =
        &[("replace", Verb::Replace), ("insert", Verb::Insert), ("delete", Verb::Delete)];

    fn unknown(_: &Value, word: &str) -> Error {
        Error::UnknownOperation { operation: shortened(word) }
    }
}

impl Argument for LineEdit {
    fn expected() -> String {
        OneEdit::expected()
    }

    fn schema(out: &mut String) {
        OneEdit::schema(out);
    }

    /// Finds errors in contract 4's order: line, operation, content given to delete, content missing; then those of
    /// end_line.
    fn read(value: &Value) -> Result<LineEdit> {
        let OneEdit { line, end_line, operation, content, expect } = OneEdit::read(value)?;
        let says_something =
            !matches!(&content.0, Ok(None)) && !matches!(&content.0, Ok(Some(text)) if text.0.is_empty());
        if operation == Verb::Delete && says_something {
            return Err(Error::DeleteWithContent);
        }
        let (content, expect) = (content.0?, expect.0?.map(|Text(text)| text));
        let operation = match (operation, content) {
            (Verb::Delete, _) => Operation::Delete { expect },
            (Verb::Replace, Some(Text(content))) => Operation::Replace { content, expect },
            (Verb::Insert, Some(Text(content))) => Operation::Insert { content, expect },
            (_, None) => {
                return Err(
                    value.refuse_member("content", "it is missing; expected the new text as a string")
                );
            }
        };
        let end_line = end_line.0?.map(|line| line.0);
        match end_line {
            Some(_) if matches!(operation, Operation::Insert { .. }) => {
                let problem = "an insert replaces no lines; expected only with replace and delete";
                Err(value.refuse_member("end_line", problem))
            }
            Some(end) if end < line.0 => Err(Error::InvalidRange { start: line.0, end }),
            end_line => Ok(LineEdit { line: line.0, end_line, operation }),
        }
    }
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let edits = self.edits.map(|edits| edits.0).unwrap_or_default();
        let edits = LineEdits { edits, append: self.append.map(|text| text.0) };
        let create = self.create_if_missing.unwrap_or(options.create_if_missing);
        let (diff, guide) = (self.diff.unwrap_or(false), options.guide());
        Ok(Box::new(EditFile { name: self.name, edits, create, diff, guide }))
    }
}

#[derive(Debug)]
struct EditFile {
    name: FilePath,
    edits: LineEdits,
    create: bool,
    diff: bool,
    guide: Guide,
}

/// What to do if a file that is not there is to be made.
const CREATES: &str = "\nTo create the file, pass create_if_missing: true.";

impl Call for EditFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.name)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        match self.edit(workspace, wanted, control) {
            Err(error @ Error::NotFound { .. }) if !self.create && workspace.may_be_created(&self.name) => {
                let text = ErrorText::of(&error, self.guide, 0).text() + CREATES;
                Ok(Reply { text, failure: Some(Arc::new(error)), ..Reply::default() })
            }
            reply => reply,
        }
    }
}

impl EditFile {
    fn edit(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let EditFile { name, edits, create, diff, .. } = self;
        let (edited, (diff, omission)) =
            workspace.edit_lines_and(name, edits, *create, control, |index, old, plan| {
                let diff = diff.then(|| unified(index, old, plan, name.as_str(), MAX_DIFF));
                let note = |text: &str| {
                    omission(text, Some(""), old, Encoding::Utf8, control).ok().flatten().map(omission_note)
                };
                (diff, edits.edits.iter().find_map(|edit| note(new_text(edit)?)))
            })?;
        let mut text = if wanted.text { self.text(&edited, diff.as_ref()) } else { String::new() };
        if let Some(note) = omission.filter(|_| wanted.text) {
            text.push('\n');
            text.push_str(note.trim_end());
        }
        let data = if wanted.data { data(&edited, diff.as_ref()) } else { Members::default() };
        Ok(Reply { text, data, ..Reply::default() })
    }

    fn text(&self, edited: &Edited, diff: Option<&Diff>) -> String {
        let Edited { lines_modified, total_lines, created } = edited;
        let mut text = format!(
            "File edited successfully: {}\nLines modified: {lines_modified}\nTotal lines: {total_lines}\nFile created: {created}",
            self.name.as_str()
        );
        if self.edits.edits.iter().any(ends_in_break) {
            text.push_str("\ncontent ended in a line break, which adds no empty line");
        }
        if diff.is_some_and(|diff| diff.text.is_empty() && diff.more == 0 && !created) {
            text.push_str("\nThe text is the same as before.");
        }
        if let Some(diff) = diff {
            push_diff(&mut text, diff);
        }
        text
    }
}

/// Whether the content of an edit ends in a line break. A model may think that the break adds an empty line.
fn ends_in_break(edit: &LineEdit) -> bool {
    new_text(edit).is_some_and(|text| text.ends_with(['\n', '\r']))
}

fn new_text(edit: &LineEdit) -> Option<&str> {
    match &edit.operation {
        Operation::Replace { content, .. } | Operation::Insert { content, .. } => Some(content),
        Operation::Delete { .. } => None,
    }
}

fn data(edited: &Edited, diff: Option<&Diff>) -> Members {
    Members::default()
        .with("success", &true)
        .with("lines_modified", &edited.lines_modified)
        .with("file_created", &edited.created)
        .with("new_total_lines", &edited.total_lines)
        .with_some("diff", diff.map(|diff| &diff.text))
}
