//! Formats an error as in contract 7: first the exact message, then help for a model or a person.
//!
//! Knows no codes and statuses; those belong to the interfaces.

#[cfg(test)]
mod tests;

use serde_json::json;

use super::{LineBase, ToolNames, command_failure, encoding_failure};
use crate::engine::{
    Encoding, EncodingChoice, Error, Found, Likely, MAX_COMPONENTS, MAX_PATH, MissingFile, NameProblem,
    Occupant, Unencodable, Unmatched,
};
use crate::sys::path::{told, with_slashes};

/// After how many seconds a call may be sent again that the server was too busy for.
pub const BUSY_SECONDS: u64 = 5;

/// Maximum number of characters of a line that an error quotes.
const QUOTED: usize = 500;

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
        self.call("read_text_file", name).or_else(|| self.call("view", name))
    }

    /// The calls that take a part of a file that is too large as a whole.
    fn parts(&self) -> Option<String> {
        let is_offered = |tool: &str| self.paths && self.offered.has(tool);
        let reader = match is_offered("read_text_file") {
            true => ("read_text_file", "read_text_file with head, tail, or start_line and end_line"),
            false => ("view", "view with start_line and end_line"),
        };
        let tools = [reader, ("grep", "grep"), ("edit_file", "edit_file with the text of a part")];
        let calls: Vec<&str> =
            tools.into_iter().filter(|(tool, _)| is_offered(tool)).map(|(_, call)| call).collect();
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
            _ if self.paths && self.offered.has("view") => {
                Some(format!("view {}", json!({ "filename": folder })))
            }
            _ => None,
        }
    }
}

fn call(tool: &str, path: &str) -> String {
    format!("{tool} {}", json!({ "path": path }))
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
        ErrorText { message: message(error, base, timeout), hint }
    }

    /// The full text for a model.
    pub fn text(&self) -> String {
        match &self.hint {
            Some(hint) => format!("Error: {}\n{hint}", self.message),
            None => format!("Error: {}", self.message),
        }
    }
}

fn message(error: &Error, base: LineBase, timeout: u64) -> String {
    let first = base.first();
    match error {
        Error::InvalidName { .. } => "Invalid filename format".into(),
        Error::NegativeLine => match base {
            LineBase::Zero => "Line numbers must be non-negative integers".into(),
            LineBase::One => "Line numbers must be positive integers".into(),
        },
        Error::InvalidRange { start, end } => {
            format!("Invalid line range: start {} > end {}", start + first, end + first)
        }
        Error::StartPastEnd { start, total } => {
            format!("Start line {} exceeds file length {total}", start.saturating_add(first))
        }
        Error::NotFound { name, .. } => format!("File '{name}' not found"),
        Error::PermissionDenied { name }
        | Error::IsAFolder { name }
        | Error::GitFolder { name }
        | Error::KeptByGit { name }
        | Error::UnsafeLocks { name, .. } => {
            format!("Permission denied accessing '{name}'")
        }
        Error::Exists { name, .. } => format!("'{name}' exists already"),
        Error::NoParent { name, .. } => format!("The folder of '{name}' does not exist"),
        Error::NotEmpty { name, .. } => format!("Folder '{name}' is not empty"),
        Error::NotAFolder { name } => format!("'{name}' is a file, not a folder"),
        Error::OtherVersion { name, .. } => format!("File '{name}' does not have the expected version"),
        Error::TooLarge { size, max, .. } => {
            format!("File size {}MB exceeds maximum limit {}MB", megabytes(*size), megabytes(*max))
        }
        Error::InvalidUtf8 => "File contains invalid UTF-8 encoding".into(),
        Error::NotText { name } => format!("File '{name}' is not a text file"),
        Error::Undecodable { encoding, line, column, bytes, why } => {
            let (name, line) = (encoding.name(), line + first);
            let name = if *encoding == Encoding::Utf8 { "UTF-8" } else { name };
            format!(
                "File contains invalid {name} encoding: line {line}, column {column}: {}",
                encoding_failure::undecodable(bytes, *why)
            )
        }
        Error::Unencodable { encoding, lacking: Unencodable { line, column, character } } => {
            let (name, line, value) = (encoding.name(), line + first, u32::from(*character));
            format!(
                "Text holds a character that {name} lacks: line {line}, column {column}: '{character}' (U+{value:04X})"
            )
        }
        Error::LongLine { line, max } => {
            format!("Line {} is longer than {}MB, which filters do not take", line + first, megabytes(*max))
        }
        Error::OtherEncoding { error, .. } => message(error, base, timeout),
        Error::UnknownOperation { operation } => format!("Invalid edit operation: {operation}"),
        Error::DeleteWithContent => "Delete operation cannot specify content".into(),
        Error::LineOutOfRange { line, operation, .. } => {
            format!("Line {} out of range for {operation} operation", line.saturating_add(first))
        }
        Error::NotAsExpected { line, .. } => format!("Line {} is not as expected", line + first),
        Error::Conflict { line } => format!("Conflicting edits on line {}", line + first),
        Error::Unmatched(unmatched) => {
            let Unmatched { edit, edits, expected, found, .. } = &**unmatched;
            let problem = match found {
                Found::Nothing(_) => "could not find exact text".into(),
                Found::Count { actual, .. } => format!("expected {expected} occurrences but found {actual}"),
            };
            format!("Edit {} of {edits} failed: {problem}", edit + 1)
        }
        Error::Changed { name } => format!("File '{name}' was changed by another program; read it again"),
        Error::Locked { name } => format!("File '{name}' is locked by another process"),
        Error::Busy => "The edits in work hold all memory that there is for them".into(),
        Error::NoSearchMemory => {
            format!("Busy with other searches and analyses; try again in {BUSY_SECONDS} s")
        }
        Error::NoReadMemory => {
            format!("Busy: others hold all memory that there is for this; try again in {BUSY_SECONDS} s")
        }
        Error::NoThread => "Too many calls wait for files that do not answer".into(),
        Error::TimedOut => format!("Operation timed out after {timeout}s"),
        Error::OutcomeUnknown => {
            format!("Operation timed out after {timeout}s while its change was put in place")
        }
        Error::Cancelled => "Operation cancelled".into(),
        Error::ReadFailed { source } => format!("Failed to read file: {source}"),
        Error::WriteFailed { source } => format!("Failed to write file: {source}"),
        Error::FolderGone | Error::FolderSwitched => "Cannot access working directory".into(),
        Error::ListingFailed { source } => format!("Filesystem error during directory listing: {source}"),
        Error::CannotRun { why } => format!("Cannot run the command: {}", command_failure::message(why)),
        Error::OfTool(failure) => failure.message.clone(),
        Error::InvalidArguments { at, problem } => format!("Invalid arguments: {at}: {problem}"),
    }
}

/// A reminder that lines count from 1, for errors about a line where the first line is not 0.
fn first_line(error: &Error, base: LineBase) -> Option<String> {
    let names_a_line = matches!(
        error,
        Error::NegativeLine
            | Error::InvalidRange { .. }
            | Error::StartPastEnd { .. }
            | Error::LineOutOfRange { .. }
            | Error::NotAsExpected { .. }
    );
    (names_a_line && base == LineBase::One).then(|| "Lines count from 1.".into())
}

fn hint(error: &Error, guide: Guide) -> Option<String> {
    let base = guide.base;
    match error {
        Error::LineOutOfRange { missing: Some(MissingFile { name, similar }), .. } => {
            let near =
                near_names(name, similar, None, guide).map(|near| format!(" {near}")).unwrap_or_default();
            Some(format!("There is no file '{name}'.{near}"))
        }
        Error::OfTool(failure) => failure.hint.clone(),
        Error::StartPastEnd { total, .. } | Error::LineOutOfRange { total, .. } => {
            Some(lines_there_are(*total, base))
        }
        Error::InvalidName { problem } => name_hint(problem),
        Error::GitFolder { .. } => {
            Some("Nothing in a folder .git is written, because git runs programs that it names.".into())
        }
        Error::KeptByGit { .. } => Some(
            "Of a folder .git only HEAD is read, because its other files can hold credentials. The operator can allow it with \
             --allow-git."
                .into(),
        ),
        Error::UnsafeLocks { why, .. } => {
            Some(format!("Nothing is written there: {why}. The operator can allow it with --unsafe-locks."))
        }
        Error::NoParent { parent, .. } => {
            Some(format!("Create it first with {}.", guide.call("create_directory", parent)?))
        }
        Error::Exists { name, occupant } => Some(occupied(name, occupant, guide)),
        Error::NotAFolder { name } => Some(format!("Read it with {}.", guide.reader(name)?)),
        Error::IsAFolder { name } => {
            let (what, name) = if matches!(&**name, "" | ".") { ("the served", ".") } else { ("a", &**name) };
            let list = guide.lister(name, Some(name)).filter(|_| guide.paths);
            let list = list.map(|list| format!(" See what is in it with {list}.")).unwrap_or_default();
            Some(format!("It is {what} folder, not a file.{list}"))
        }
        Error::PermissionDenied { name } if matches!(&**name, "" | ".") => {
            Some("It is the served folder itself, which is neither deleted nor replaced.".into())
        }
        Error::PermissionDenied { name } => {
            Some(format!("See what it is with {}.", guide.call("get_file_info", name)?))
        }
        Error::NotText { name } => {
            Some(format!("Get its bytes with {}.", guide.call("read_media_file", name)?))
        }
        Error::TooLarge { is_result: false, .. } => guide.parts(),
        Error::TooLarge { is_result: true, .. } if guide.paths => {
            Some("Nothing was changed. Make the change in several calls that add less text each.".into())
        }
        Error::LongLine { .. } => {
            Some("Read it with start_line and end_line alone, which take lines of any length.".into())
        }
        Error::Unencodable { .. } => {
            Some("Nothing was written. Replace it, or use an encoding that has it, such as utf-8.".into())
        }
        Error::Undecodable { .. } => {
            let such = EncodingChoice::COMMON;
            Some(format!("If it has another encoding, pass \"encoding\", such as {such}, or auto."))
        }
        Error::OtherEncoding { name, likely: Some(Likely::NoText(kind)), .. } => {
            let media = guide.call("read_media_file", name);
            let media = media.map(|call| format!(" Get its bytes with {call}.")).unwrap_or_default();
            Some(format!("It is {}, not text.{media}", kind.name()))
        }
        Error::OtherEncoding { likely, .. } => Some(encoding_failure::hint(*likely)),
        Error::NotEmpty { removed: 0, .. } => {
            Some("Nothing was deleted. Pass recursive: true to delete what is in it.".into())
        }
        Error::NotEmpty { removed, .. } => {
            Some(format!("{removed} entries in it were deleted; others came meanwhile. Delete it again."))
        }
        Error::OtherVersion { name, expected, actual } => Some(match actual {
            Some(actual) => {
                let again = guide.reader(name);
                let again = again.map_or("read the file again".into(), |call| format!("see it with {call}"));
                format!("Expected {expected}, but it is {actual}. Nothing was changed; {again}.")
            }
            None => format!("Expected {expected}, but there is no such state now. Nothing was changed."),
        }),
        Error::NotFound { name, similar, above } => near_names(name, similar, above.as_deref(), guide),
        Error::NotAsExpected { actual, stands_at, .. } => {
            let now = format!("It is now: {}", quoted(actual));
            let first = base.first();
            Some(match stands_at {
                None => now,
                Some((at, last)) if at == last => format!("{now}\nThe expected text is line {}.", at + first),
                Some((at, last)) => {
                    format!("{now}\nThe expected text is lines {}-{}.", at + first, last + first)
                }
            })
        }
        Error::Conflict { .. } => {
            Some("Give one edit for the line; its content may hold several lines.".into())
        }
        Error::UnknownOperation { .. } => Some("Use replace, insert or delete.".into()),
        Error::Busy => Some(
            "Nothing was changed. Send the same call again in a moment. If it fails while no other edit is in work, the file is \
             too large for this edit."
                .into(),
        ),
        Error::NoThread => Some(
            "Nothing was changed. Look at the mounts in the served folder, and send the call again later."
                .into(),
        ),
        Error::FolderSwitched => Some(
            "The server was started with a link that leads to another folder now. The operator can restart the server to serve \
             that one, or switch the link back."
                .into(),
        ),
        Error::TimedOut => Some("Nothing was changed.".into()),
        Error::OutcomeUnknown => Some(
            "The change may have been made, or be made later. Read what it changes before you send it again."
                .into(),
        ),
        Error::CannotRun { why } => command_failure::hint(why),
        _ => None,
    }
}

/// What to do about what stands at the path of a new file or folder. What the call was not asked to replace is not deleted.
fn occupied(name: &str, occupant: &Occupant, guide: Guide) -> String {
    let way_out = match occupant {
        Occupant::File => guide
            .call("delete_file", name)
            .map(|delete| format!("Give another path, or remove what is there with {delete}.")),
        Occupant::Folder { inside } => {
            Some(format!("It is a folder. To put it in there, give the destination {}.", json!(inside)))
        }
        Occupant::Source => Some("It is the source itself; give another destination.".into()),
        Occupant::Kept => None,
    };
    format!("Nothing was changed. {}", way_out.as_deref().unwrap_or("Give another path."))
}

fn name_hint(problem: &NameProblem) -> Option<String> {
    match problem {
        NameProblem::Policy => None,
        NameProblem::Parent => {
            Some("Give the path without '..': relative to the folder, or absolute.".into())
        }
        NameProblem::TooLong => {
            Some(format!("A path has at most {MAX_PATH} bytes and {MAX_COMPONENTS} components."))
        }
        NameProblem::Outside { folders, meant } => {
            let folders: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
            let outside = format!("The path is in none of the served folders: {}", folders.join(", "));
            Some(match meant {
                Some(meant) => format!("{outside}\nPerhaps it is '{meant}' here."),
                None => outside,
            })
        }
        NameProblem::Foreign { meant } => {
            let rule = "Nothing was created: names are divided by '/', with no drive, variable or '~' before them \
                and no quotes, blanks, '@' or line number around them.";
            Some(match meant {
                Some(meant) => format!("{rule} Give '{meant}' instead."),
                None => format!("{rule} Give a path relative to the folder, such as 'src/main.rs'."),
            })
        }
    }
}

/// Names like the missing `name`, or else how to see which there are.
fn near_names(name: &str, similar: &[String], above: Option<&str>, guide: Guide) -> Option<String> {
    match similar {
        [] => Some(format!("Use {} to see which files there are.", guide.lister(name, above)?)),
        similar => Some(format!("Files with a similar name: {}", similar.join(", "))),
    }
}

fn lines_there_are(total: usize, base: LineBase) -> String {
    let first = base.first();
    match total as u64 {
        0 => "The file has no lines.".into(),
        1 => format!("The file has 1 line, {first}."),
        lines => format!("The file has {lines} lines, {first}-{}.", lines - 1 + first),
    }
}

/// The line in quotes, cut if it is long.
fn quoted(line: &str) -> String {
    let shown: String = line.chars().take(QUOTED).collect();
    match line.chars().count() - shown.chars().count() {
        0 => format!("\"{shown}\""),
        more => format!("\"{shown}\" and {more} characters more"),
    }
}

/// Megabytes of 1,048,576 bytes, rounded up to two decimal places, without trailing zeros.
fn megabytes(bytes: u64) -> String {
    let hundredths = (u128::from(bytes) * 100).div_ceil(1 << 20);
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').into()
}
