//! The reply to a failed call (contract 5): enough to correct the call in one retry.
//!
//! The text alone states every fact; the metadata has the structures of contract 5.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use super::data::{FilePreview, MatchLocation, ValidationError};
use super::failure_text::{fix, location, metadata, searched, start_of, suggestions};
use super::format::{EditNames, Reading};
use super::{Members, NO_EDITS, OutputKinds, Reply};
use crate::tools::{ErrorText, Guide, LineBase};
use folder::{Error, Result};
use text::encoded_edit::MAX_PLACES;
use text::encoding::EncodingChoice;
use text::text_edit::{Found, Snippet, Unmatched};

/// Maximum number of matches that the text shows with their lines.
const SHOWN: usize = 20;

/// Formats a failure as a reply. A timeout or a cancellation stays an error.
pub(super) fn reply(
    path: &str,
    edits: usize,
    error: Error,
    wanted: OutputKinds,
    (guide, encoding, names): (Guide, EncodingChoice, &'static EditNames),
) -> Result<Reply> {
    let reader = guide.line_reader(names.reader);
    let reading = Reading { names, base: guide.base, encoding, reader };
    if matches!(error, Error::TimedOut | Error::Cancelled) {
        return Err(error);
    }
    let (text, metadata) = match &error {
        Error::Unmatched(unmatched) => match &unmatched.found {
            Found::Count { actual, passages } => wrong_count(path, unmatched, (*actual, passages), reading),
            Found::Nothing(miss) => super::no_match::no_match(path, unmatched, miss, reading),
        },
        error => other(path, edits, error, guide),
    };
    let data = if wanted.data { metadata.clone() } else { Members::default() };
    Ok(Reply { text, data, metadata: Some(metadata), failure: Some(Arc::new(error)), ..Reply::default() })
}

fn kind(error: &Error) -> &'static str {
    match error {
        Error::NotFound { .. } => "FILE_NOT_FOUND",
        Error::NotText { .. } => "BINARY_FILE",
        Error::PermissionDenied { .. }
        | Error::Excluded { .. }
        | Error::HoldsKept { .. }
        | Error::RefusedLink { .. }
        | Error::IsAFolder { .. }
        | Error::GitFolder { .. }
        | Error::KeptByGit { .. }
        | Error::UnsafeLocks { .. } => "PERMISSION_DENIED",
        Error::InvalidUtf8 => "INVALID_UTF8",
        Error::TooLarge { .. } => "TOO_LARGE",
        Error::Locked { .. } => "LOCKED",
        Error::Changed { .. } => "CHANGED",
        Error::InvalidArguments { .. } | Error::NotInParts { .. } | Error::InvalidName { .. } => {
            "INVALID_ARGUMENTS"
        }
        _ => "IO_ERROR",
    }
}

/// What to do about an error that does not concern a match.
fn way_out(error: &Error, guide: Guide) -> Cow<'static, str> {
    Cow::Borrowed(match error {
        Error::NotFound(missing) => {
            let list = guide.lister(&missing.name, missing.above.as_deref());
            let list = list.map(|list| format!("Use {list} to see the names; "));
            let create = "to create the file, give an empty old_text in the first edit";
            return (list.unwrap_or_default() + create).into();
        }
        Error::NotText { .. } => {
            "The file holds NUL bytes, so it is binary and cannot be edited as text; choose a text file"
        }
        Error::IsAFolder { .. } => "Give the path of a file in the folder",
        Error::PermissionDenied { .. } | Error::Excluded { .. } | Error::RefusedLink { .. } => {
            "Ask for the permission to write the file, or edit another one"
        }
        Error::InvalidUtf8 => {
            "The file is in another encoding than UTF-8 and cannot be edited as text; convert it first"
        }
        Error::TooLarge { .. } => "Edit a smaller file, or have the limit raised (--max-size)",
        Error::Locked { .. } => "Another process is editing the file; send the same call again in a moment",
        Error::Changed { .. } => match guide.line_reader("read_file") {
            Some(reader) => {
                return format!("Use {reader} to see what the file is now, then send the call again").into();
            }
            None => "Send the call again with the text that the file has now",
        },
        Error::InvalidName { .. } if guide.paths => "Give the path of a file",
        Error::InvalidName { .. } if guide.offered.has("list_files") => {
            "Give the name of one file as list_files shows it"
        }
        Error::InvalidName { .. } => "Give the name of one file",
        Error::NotInParts { .. } => "Convert the file to UTF-8, then send the same call again",
        Error::InvalidArguments { .. } => {
            "Send path and edits: [{old_text, new_text, occurrences}], as the tool's schema says"
        }
        _ => "Nothing was changed; send the same call again, and if it fails again, tell the user",
    })
}

fn other(path: &str, edits: usize, error: &Error, guide: Guide) -> (String, Members) {
    let text = match error {
        Error::InvalidArguments { problem, .. } if problem == NO_EDITS => format!("Error: {NO_EDITS}"),
        // Such a call is one of a tool with another number of the first line.
        Error::InvalidName { .. } | Error::NotFound { .. } => ErrorText::of(error, guide, 0).text(),
        error => ErrorText::of(error, Guide { base: LineBase::One, ..guide }, 0).text(),
    };
    let message = text.lines().next().unwrap_or_default().trim_start_matches("Error: ").to_owned();
    let fixes = vec![fix("USE_EXACT_TEXT", &way_out(error, guide), None)];
    let text = format!("{text}\n\n{}", suggestions(&fixes));
    let index = match error {
        Error::InvalidArguments { at, .. } => index_in(at),
        _ => 0,
    };
    let kind = kind(error);
    let error =
        ValidationError { kind, edit_index: index, total_edits: edits, message, ..Default::default() };
    (text, metadata(path, error, fixes, None))
}

/// The index of the edit in a path such as `edits[3].new_text`.
fn index_in(at: &str) -> usize {
    let number = at.strip_prefix("edits[").and_then(|at| at.split(']').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn wrong_count(
    path: &str,
    unmatched: &Unmatched,
    (actual, passages): (u64, &[Snippet]),
    reading: Reading,
) -> (String, Members) {
    let Unmatched { edit, edits, old_text, expected, total_lines, .. } = unmatched;
    let times = if *expected == 1 { "occurrence" } else { "occurrences" };
    let message = format!("Expected {expected} {times} but found {actual} in {path}");
    let instances = if *expected == 1 { "1 instance".to_owned() } else { format!("{expected} instances") };
    let found = if actual == 1 { "1 instance".to_owned() } else { format!("{actual} instances") };
    let mut text = format!("Edit {} of {edits} failed: {message}.\n\n{}", edit + 1, searched(old_text));
    // A write to a String cannot fail.
    let quotable = old_text.len() <= 60 && !old_text.contains(['\n', '\r']);
    let of = if quotable { format!("'{old_text}'") } else { "it".to_owned() };
    let _ = writeln!(text, "Expected to replace {instances} of {of} but found {found} at:");
    for passage in passages.iter().take(SHOWN) {
        location(&mut text, passage, reading);
    }
    let rest: Vec<String> =
        passages.iter().skip(SHOWN).map(|p| format!("{}:{}", p.line + 1, p.column + 1)).collect();
    if !rest.is_empty() {
        let _ = writeln!(text, "  Also at (line:column) {}", rest.join(", "));
    }
    if actual > passages.len() as u64 {
        let _ = writeln!(text, "  And {} more", actual - passages.len() as u64);
    }
    let them = if *expected == 1 { "the 1".to_owned() } else { format!("just the {expected}") };
    let EditNames { old_text: old, count: (count, all), .. } = reading.names;
    let adjusted = fix(
        "ADJUST_COUNT",
        &format!("Update {count} to {actual}, or set {all}, if you want to replace all instances"),
        Some(format!("\"{count}\": {actual}")),
    );
    // One call replaces no more.
    let adjusted = Some(adjusted).filter(|_| actual <= MAX_PLACES);
    let others = [
        fix(
            "USE_EXACT_TEXT",
            &format!(
                "Add more context (the lines before and after, as shown) to make the {old} unique to {them} you want"
            ),
            None,
        ),
        fix("USE_EXACT_TEXT", &format!("Split into multiple edits with unique {old} for each target"), None),
    ];
    let fixes = adjusted.into_iter().chain(others).collect::<Vec<_>>();
    let _ = write!(text, "\n{}", suggestions(&fixes).replacen("Suggestions:", "Options to fix:", 1));
    let error = ValidationError {
        kind: "WRONG_COUNT",
        edit_index: *edit,
        total_edits: *edits,
        message,
        expected_occurrences: Some(*expected),
        actual_occurrences: Some(actual),
        match_locations: passages.iter().map(|passage| MatchLocation::of(passage, reading)).collect(),
        search_text: Some(start_of(old_text)),
        ..Default::default()
    };
    let preview = passages.first().map(|first| FilePreview::of(first, *total_lines, true));
    (text, metadata(path, error, fixes, preview))
}
