//! The exact message of an error, by contract 7. Says nothing of what to do.

use super::BUSY_SECONDS;
use crate::tools::{LineBase, command_failure, encoding_failure};
use folder::Error;
use text::encoding::{Encoding, Unencodable};
use text::text_edit::{Found, Unmatched};

/// The message of `error`. `timeout` is `--timeout` in seconds.
pub(super) fn message(error: &Error, base: LineBase, timeout: u64) -> String {
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
        Error::NotFound(missing) => format!("File '{}' not found", missing.name),
        Error::PermissionDenied { name }
        | Error::Excluded { name }
        | Error::HoldsKept { name }
        | Error::ServedFolder { name }
        | Error::RefusedLink { name }
        | Error::IsAFolder { name }
        | Error::GitFolder { name }
        | Error::KeptByGit { name }
        | Error::UnsafeLocks { name, .. } => {
            format!("Permission denied accessing '{name}'")
        }
        Error::Ambiguous { name, .. } => format!("'{name}' is in several served folders"),
        Error::Exists { name, .. } => format!("'{name}' exists already"),
        Error::NoParent(missing) if missing.inside.is_some() => {
            format!("There is no folder '{}'", missing.name)
        }
        Error::NoParent(missing) => format!("The folder of '{}' does not exist", missing.name),
        Error::NotEmpty { name, .. } => format!("Folder '{name}' is not empty"),
        Error::NotAFolder { name, .. } => format!("'{name}' is a file, not a folder"),
        Error::OtherVersion { name, .. } => format!("File '{name}' does not have the expected version"),
        Error::TooLarge { size, max, .. } | Error::ReplacesTooLarge { size, max, .. } => {
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
        Error::Unencodable { encoding, lacking: Unencodable { line, column, character }, .. } => {
            let (name, line, value) = (encoding.name(), line + first, u32::from(*character));
            format!(
                "Text holds a character that {name} lacks: line {line}, column {column}: '{character}' (U+{value:04X})"
            )
        }
        Error::LongLine { line, max } => {
            format!("Line {} is longer than {}MB, which filters do not take", line + first, megabytes(*max))
        }
        Error::OtherEncoding(other) => message(&other.error, base, timeout),
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
        Error::FolderGone | Error::OneFolderGone { .. } | Error::FolderSwitched => {
            "Cannot access working directory".into()
        }
        Error::ListingFailed { source } => format!("Filesystem error during directory listing: {source}"),
        Error::CannotRun { why } => format!("Cannot run the command: {}", command_failure::message(why)),
        Error::OfTool(failure) => failure.message.clone(),
        Error::NotInParts { edits, line } => {
            format!(
                "Invalid arguments: {}: {}",
                edits.at,
                encoding_failure::not_in_parts(edits, *line, first)
            )
        }
        Error::InvalidArguments { at, problem } => format!("Invalid arguments: {at}: {problem}"),
    }
}

/// Megabytes of 1,048,576 bytes, rounded up to two decimal places, without trailing zeros.
pub(super) fn megabytes(bytes: u64) -> String {
    let hundredths = (u128::from(bytes) * 100).div_ceil(1 << 20);
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').into()
}
