//! `edit_file`: changes by line number, and appended text (contract 4).

use super::{Arguments, Call, Members, OutputKinds, ParseOptions, Reply, Tool, shortened};
use crate::engine::{Control, Edited, Error, FilePath, LineEdit, LineEdits, Operation, Result, Workspace};

/// Maximum number of edits in one call.
const MAX_EDITS: usize = 1_000;

pub(super) static TOOL: Tool = Tool {
    name: "edit_file",
    title: "Edit file",
    description: "Change lines of a text file, or create it. Lines count from 0 and always name lines of the file as it \
        was before this call, whatever the order of the edits. replace: content takes the line's place; insert: content \
        comes before the line (line = number of lines: at the end); delete: the line goes. content may hold several \
        lines. append adds text after all edits. Give `expect` (the line's present text) with replace and delete: if the \
        line differs, nothing is changed and the answer shows what it is now. All edits happen or none. A missing file is \
        created unless create_if_missing is false. Example: \
        {\"name\":\"notes.txt\",\"edits\":[{\"line\":2,\"operation\":\"replace\",\"expect\":\"old\",\"content\":\"new\"}]}",
    input_schema: concat!(
        r#"{"type":"object","properties":{"#,
        r#""name":{"type":"string","description":"Name of the file, as list_files gives it"},"#,
        r#""edits":{"type":"array","maxItems":1000,"items":{"type":"object","properties":{"#,
        r#""line":{"type":"integer","minimum":0,"description":"Line, counted from 0, as before the call"},"#,
        r#""operation":{"type":"string","enum":["replace","insert","delete"]},"#,
        r#""content":{"type":"string","description":"New text for replace and insert; may hold several lines"},"#,
        r#""expect":{"type":"string","description":"Present text of the line, for replace and delete (recommended)"}"#,
        r#"},"required":["line","operation"],"additionalProperties":false}},"#,
        r#""append":{"type":"string","description":"Text to add at the end, after all edits"},"#,
        r#""create_if_missing":{"type":"boolean","default":true}"#,
        r#"},"required":["name"],"additionalProperties":false}"#
    ),
    output_schema: Some(concat!(
        r#"{"type":"object","properties":{"#,
        r#""success":{"type":"boolean"},"#,
        r#""lines_modified":{"type":"integer"},"#,
        r#""file_created":{"type":"boolean"},"#,
        r#""new_total_lines":{"type":"integer"}"#,
        r#"},"required":["success","lines_modified","file_created","new_total_lines"]}"#
    )),
    writes: true,
    direct: true,
    parse,
};

fn parse(arguments: &mut Arguments, dialect: ParseOptions) -> Result<Box<dyn Call>> {
    let name = arguments.file_name("name", dialect)?;
    let items = arguments.objects("edits", MAX_EDITS)?;
    let edits = items.into_iter().map(|item| parse_edit(item, dialect)).collect::<Result<_>>()?;
    let append = arguments.text("append")?;
    let create = arguments.flag("create_if_missing")?.unwrap_or(dialect.create_if_missing);
    Ok(Box::new(EditFile { name, edits: LineEdits { edits, append }, create }))
}

/// Checks for errors in contract 4's order: line, operation, content given to delete, content missing.
fn parse_edit(mut edit: Arguments, dialect: ParseOptions) -> Result<LineEdit> {
    let line = edit.required_line("line", dialect.base)?;
    let operation = edit.required_string("operation")?;
    if !matches!(operation.as_str(), "replace" | "insert" | "delete") {
        return Err(Error::UnknownOperation { operation: shortened(&operation) });
    }
    if operation == "delete" && edit.has("content") {
        return Err(Error::DeleteWithContent);
    }
    let content = edit.text("content")?;
    let expect = edit.string("expect")?;
    let operation = match (operation.as_str(), content) {
        ("delete", _) => Operation::Delete { expect },
        ("replace", Some(content)) => Operation::Replace { content, expect },
        (_, Some(_)) if expect.is_some() => {
            return Err(
                edit.refuse("expect", "an insert replaces no line; expected only with replace and delete")
            );
        }
        (_, Some(content)) => Operation::Insert { content },
        (_, None) => {
            return Err(edit.refuse("content", "it is missing; expected the new text as a string"));
        }
    };
    edit.finish()?;
    Ok(LineEdit { line, operation })
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
