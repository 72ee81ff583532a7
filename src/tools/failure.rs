//! Formats an error as in contract 7: first the exact message, then help for a model or a person.
//!
//! Knows no codes and statuses; those belong to the interfaces.

mod hint;
mod message;
mod names;
#[cfg(test)]
mod tests;

use serde_json::json;

use self::hint::{first_line, hint};
use self::message::message;
use super::{LineBase, ToolNames};
use folder::Error;
use sys::path::{told, with_slashes};
use text::shown::in_lines;

/// After how many seconds a call may be sent again that the server was too busy for.
pub const BUSY_SECONDS: u64 = 5;

/// What the text of an error may refer to.
#[derive(Debug, Clone, Copy)]
pub struct Guide {
    /// The number of the first line.
    pub base: LineBase,
    /// The tools that the client is offered.
    pub offered: ToolNames,
    /// Whether the failed tool takes paths.
    pub paths: bool,
}

impl Guide {
    /// A call of this tool for the path `name`, if the client is offered the tool and paths are what the failed one takes.
    fn call(&self, tool: &str, name: &str) -> Option<String> {
        let is_offered = self.paths && self.offered.has(tool);
        is_offered.then(|| call(tool, name))
    }

    /// A call that reads the file `name`.
    pub(super) fn reader(&self, name: &str) -> Option<String> {
        let several = || {
            let is_offered = self.paths && self.offered.has("read_multiple_files");
            is_offered.then(|| format!("read_multiple_files {}", json!({ "paths": [name] })))
        };
        ["read_text_file", "view", "read"].into_iter().find_map(|tool| self.call(tool, name)).or_else(several)
    }

    /// The same for a text that is not UTF-8.
    pub(super) fn reader_of_any(&self, name: &str) -> Option<String> {
        let is_offered = |tool: &&str| self.paths && self.offered.has(tool);
        let tool = ["read_text_file", "view", "read"].into_iter().find(is_offered)?;
        Some(format!("{tool} {}", json!({ path_argument(tool): name, "encoding": "auto" })))
    }

    /// A tool that reads lines of files: `usual` if it is offered.
    pub(super) fn line_reader(&self, usual: &'static str) -> Option<&'static str> {
        [usual, "read_text_file", "view", "read", "read_file"].into_iter().find(|tool| self.offered.has(tool))
    }

    /// How the file `name`, which is too large for that, is replaced by a whole content.
    pub(super) fn replacer(&self, name: &str) -> String {
        let is_offered = |tool: &str| self.paths && self.offered.has(tool);
        let way = match self.call("delete_file", name) {
            Some(delete) => format!("delete it with {delete}, then send the same call again"),
            None if is_offered("edit") => {
                format!(
                    "delete it with edit {}, then send the same call again",
                    json!({ "path": name, "delete": true })
                )
            }
            // Only of the set `text`, it takes a star.
            None if is_offered("view") && is_offered("edit_file") => {
                let file = json!(name);
                format!(
                    "give the content as new_text: edit_file {{\"filename\":{file},\"old_text\":\"*\",\"new_text\":…}}"
                )
            }
            None => return "Nothing was changed. The operator can raise the limit with --max-file.".into(),
        };
        format!("Nothing was changed. To replace a file of this size, {way}.")
    }

    /// The calls that take a part of a file that is too large as a whole.
    fn parts(&self) -> Option<String> {
        let is_offered = |tool: &str| self.paths && self.offered.has(tool);
        let readers = [
            ("read_text_file", "read_text_file with head, tail, or start_line and end_line"),
            ("view", "view with start_line and end_line"),
            ("read", "read with lines or tail"),
        ];
        let reader = readers.into_iter().find(|(tool, _)| is_offered(tool)).unwrap_or(readers[0]);
        let editors =
            [("edit_file", "edit_file with the text of a part"), ("edit", "edit with the text of a part")];
        let tools = [reader, ("grep", "grep")].into_iter().chain(editors);
        let calls: Vec<&str> = tools.filter(|(tool, _)| is_offered(tool)).map(|(_, call)| call).collect();
        (!calls.is_empty()).then(|| format!("Files of any size are taken in parts, by {}.", calls.join("; ")))
    }

    /// How to see which files there are, near the missing path `name`; `above` is the nearest folder if that is known.
    pub(super) fn lister(&self, name: &str, above: Option<&str>) -> Option<String> {
        let name = with_slashes(name);
        let parent = || name.trim_end_matches('/').rsplit_once('/').map_or(".", |(folder, _)| folder);
        let folder = above.unwrap_or_else(parent);
        let folder = &*told(if folder.is_empty() { "/" } else { folder });
        match (self.offered.has("list_files"), self.offered.has("list_directory")) {
            (true, other) if !(self.paths && other) => Some("list_files".into()),
            (_, true) => Some(call("list_directory", folder)),
            _ if self.paths && self.offered.has("view") => Some(call("view", folder)),
            _ if self.paths && self.offered.has("files") => Some(call("files", folder)),
            _ => None,
        }
    }
}

fn call(tool: &str, path: &str) -> String {
    format!("{tool} {}", json!({ path_argument(tool): path }))
}

/// The argument of this tool that takes a path.
fn path_argument(tool: &str) -> &'static str {
    match tool {
        "view" => "filename",
        // Of the set `lines`: the others have a better one.
        "read_file" => "name",
        _ => "path",
    }
}

/// The message of a failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorText {
    /// The line of contract 7, without `Error: `.
    pub message: String,
    /// How to correct the call, if known.
    pub hint: Option<String>,
}

impl ErrorText {
    /// Describes `error`. `timeout` is `--timeout` in seconds.
    pub fn of(error: &Error, guide: Guide, timeout: u64) -> ErrorText {
        let base = guide.base;
        let hints: Vec<String> = hint(error, guide).into_iter().chain(first_line(error, base)).collect();
        let hint = (!hints.is_empty()).then(|| hints.join("\n"));
        let message = message(error, base, timeout);
        // Text of a file is told as it is.
        match error {
            Error::NotAsExpected { .. } | Error::Unmatched(_) => ErrorText { message, hint },
            _ => ErrorText {
                message: in_lines(&message).into_owned(),
                hint: hint.map(|hint| in_lines(&hint).into_owned()),
            },
        }
    }

    /// The full text for a model.
    pub fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("Error: {}\n{hint}", self.message),
            None => format!("Error: {}", self.message),
        }
    }
}
