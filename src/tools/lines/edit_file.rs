//! `edit_file`: changes by line number, and appended text (contract 4).

use crate::engine::{Control, Edited, Error, FilePath, LineEdit, LineEdits, Operation, Result, Workspace};
use crate::tools::arguments::{Argument, Keyword, Later, Line, List, Request, Takes, Text, Value, arguments};
use crate::tools::{Call, Members, OutputKinds, ParseOptions, Reply, Tool, shortened};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

pub(crate) static TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit file",
    description: "Change lines of a text file, or create it. Lines count from {first} and always name lines of the file as it \
        was before this call, whatever the order of the edits. replace: content takes the line's place; insert: content \
        comes before the line (line = number of lines: at the end); delete: the line goes. content may hold several \
        lines. append adds text after all edits. Give `expect` (the line's present text) with replace and delete: if the \
        line differs, nothing is changed and the answer shows what it is now. All edits happen or none. A missing file is \
        created unless create_if_missing is false. Example: \
        {\"name\":\"notes.txt\",\"edits\":[{\"line\":2,\"operation\":\"replace\",\"expect\":\"old\",\"content\":\"new\"}]}",
    instructions: "Use edit_file to change lines or create a file; line numbers change with every edit, so read again \
        before the next, or give expect.",
    takes: Takes::of::<EditArguments>(),
    output_schema: Some(concat!(
        r#"{"type":"object","properties":{"#,
        r#""success":{"type":"boolean"},"#,
        r#""lines_modified":{"type":"integer"},"#,
        r#""file_created":{"type":"boolean"},"#,
        r#""new_total_lines":{"type":"integer"}"#,
        r#"},"required":["success","lines_modified","file_created","new_total_lines"]}"#
    )),
    writes: true,
    destructive: true,
    idempotent: false,
    direct: true,
};

arguments! {
    struct EditArguments {
        /// Name of the file, as list_files gives it
        name: FilePath,
        /// Changes of lines
        edits: Option<List<LineEdit, 0, MAX_EDITS>>,
        /// Text to add at the end, after all edits
        append: Option<Text>,
        /// Create a missing file (default: true)
        create_if_missing: Option<bool>,
    }
}

arguments! {
    struct OneEdit {
        /// Line, counted from {first}, as before the call
        line: Line,
        /// What to do with it
        operation: Verb,
        /// New text for replace and insert; may hold several lines
        content: Later<Option<Text>>,
        /// Present text of the line, for replace and delete (recommended)
        expect: Later<Option<String>>,
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

    /// Finds errors in contract 4's order: line, operation, content given to delete, content missing.
    fn read(value: &Value) -> Result<LineEdit> {
        let OneEdit { line, operation, content, expect } = OneEdit::read(value)?;
        if operation == Verb::Delete && !matches!(content.0, Ok(None)) {
            return Err(Error::DeleteWithContent);
        }
        let (content, expect) = (content.0?, expect.0?);
        let operation = match (operation, content) {
            (Verb::Delete, _) => Operation::Delete { expect },
            (Verb::Replace, Some(Text(content))) => Operation::Replace { content, expect },
            (Verb::Insert, Some(_)) if expect.is_some() => {
                let problem = "an insert replaces no line; expected only with replace and delete";
                return Err(value.refuse_member("expect", problem));
            }
            (Verb::Insert, Some(Text(content))) => Operation::Insert { content },
            (_, None) => {
                return Err(
                    value.refuse_member("content", "it is missing; expected the new text as a string")
                );
            }
        };
        Ok(LineEdit { line: line.0, operation })
    }
}

impl Request for EditArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let edits = self.edits.map(|edits| edits.0).unwrap_or_default();
        let edits = LineEdits { edits, append: self.append.map(|text| text.0) };
        let create = self.create_if_missing.unwrap_or(options.create_if_missing);
        Ok(Box::new(EditFile { name: self.name, edits, create }))
    }
}

#[derive(Debug)]
struct EditFile {
    name: FilePath,
    edits: LineEdits,
    create: bool,
}

impl Call for EditFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.name)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let edited = workspace.edit_lines(&self.name, &self.edits, self.create, control)?;
        let text = if wanted.text { text(&self.name, &edited) } else { String::new() };
        let data = if wanted.data { data(&edited) } else { Members::default() };
        Ok(Reply { text, data, ..Reply::default() })
    }
}

fn text(name: &FilePath, edited: &Edited) -> String {
    let Edited { lines_modified, total_lines, created } = edited;
    format!(
        "File edited successfully: {}\nLines modified: {lines_modified}\nTotal lines: {total_lines}\nFile created: {created}",
        name.as_str()
    )
}

fn data(edited: &Edited) -> Members {
    Members::default()
        .with("success", &true)
        .with("lines_modified", &edited.lines_modified)
        .with("file_created", &edited.created)
        .with("new_total_lines", &edited.total_lines)
}
