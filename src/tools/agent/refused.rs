//! The answer to edits that do not fit: every one of them is explained (contract 19), in the names of `edit`.

use std::sync::Arc;

use serde_json::json;

use super::changed::cut;
use crate::tools::balance::several;
use crate::tools::exact::{self, EditNames};
use crate::tools::limited::Room;
use crate::tools::{AnswerLimit, ErrorText, Guide, Reply};
use folder::{Error, Result};
use text::encoding::EncodingChoice;

/// The names of this tool.
const NAMES: EditNames =
    EditNames { old_text: "old", new_text: "new", count: ("count", "all"), reader: "read", creates: false };

/// Room for the lines behind the explanations, in bytes.
const LAST_LINES: usize = 512;

/// Why an edit does not fit.
pub(super) enum Reason {
    DoesNotFit(Error),
    /// It cannot be read.
    Unread(Arc<Error>),
}

/// The reply for `errors`, by the numbers of their edits from 0, of so many in all. `is_patch`: they are of a patch. `edit` gives the path
/// of an edit, its encoding, and whether edits before it change the same file.
pub(super) fn refused<'e>(
    errors: Vec<(usize, Reason)>,
    (edits, is_patch): (usize, bool),
    (guide, limit): (Guide, AnswerLimit),
    edit: impl Fn(usize) -> (&'e str, EncodingChoice, bool),
) -> Result<Reply> {
    let failed = errors.len();
    let mut text = match (failed, edits) {
        (1, 1) => "Nothing was changed.".to_owned(),
        (failed, edits) if failed == edits => format!("Nothing was changed: none of the {edits} edits fits."),
        (failed, edits) => {
            let (verb, fit) = if failed == 1 { ("does", edits - 1) } else { ("do", edits - failed) };
            let others = if fit == 1 { "the other one fits" } else { "the others fit" };
            format!("Nothing was changed: {failed} of {edits} edits {verb} not fit, {others}.")
        }
    };
    let (mut first, mut untold, mut room) = (None, 0, Room::new(limit, LAST_LINES));
    for (number, reason) in errors {
        let (path, encoding, is_after_others) = edit(number);
        let (told, error, names_lines) = match reason {
            Reason::Unread(error) => (told(&error, (number, edits), guide), error, false),
            Reason::DoesNotFit(Error::Unmatched(mut unmatched)) => {
                (unmatched.edit, unmatched.edits) = (number, edits);
                let told = exact::explain_briefly(path, &unmatched, (guide, encoding, &NAMES));
                (told, Arc::new(Error::Unmatched(unmatched)), false)
            }
            Reason::DoesNotFit(error) => {
                let names_lines = matches!(
                    error,
                    Error::NotAsExpected { .. }
                        | Error::LineOutOfRange { .. }
                        | Error::InvalidArguments { .. }
                );
                let error = match error {
                    Error::InvalidArguments { at, problem } => {
                        // The engine's name for it, in which it is the only edit.
                        let at = at.replace("old_text", NAMES.old_text).replace("new_text", NAMES.new_text);
                        let at = at.strip_prefix("edits[0]").map_or(format!(".{at}"), str::to_owned);
                        let at =
                            if is_patch { format!("patch: {path}") } else { format!("edits[{number}]{at}") };
                        Error::InvalidArguments { at, problem }
                    }
                    error => error,
                };
                let told = match &error {
                    Error::NotEmpty { name, .. } if is_patch => {
                        let call = json!({ "path": name, "delete": true, "recursive": true });
                        format!(
                            "Edit {} of {edits}: '{name}' is a folder that is not empty\nA patch deletes files. edit {call} deletes the folder with all in it.",
                            number + 1
                        )
                    }
                    error => told(error, (number, edits), guide),
                };
                (told, Arc::new(error), names_lines)
            }
        };
        let mut one = format!("\n\n{told}");
        if is_after_others && names_lines {
            one.push_str("\n(Line numbers here count as the edits before this one leave the file.)");
        }
        if first.is_some() && !room.has(&text, one.len()) {
            untold += 1;
        } else {
            text.push_str(&one);
        }
        first = first.or(Some(error));
    }
    if untold > 0 {
        text.push_str(&format!(
            "\n\n[{} more do not fit; they are explained when these fit]",
            several(untold, "edit")
        ));
    }
    cut(&mut text, AnswerLimit { tokens: limit.tokens_without(LAST_LINES), ..limit }, "");
    Ok(Reply { text, failure: first, ..Reply::default() })
}

/// The text of an error. One that names no argument begins with the number of the edit.
fn told(error: &Error, (number, edits): (usize, usize), guide: Guide) -> String {
    let told = ErrorText::of(error, guide, 0).text();
    let told = told.trim_start_matches("Error: ");
    match error {
        Error::InvalidArguments { .. } => told.to_owned(),
        _ => format!("Edit {} of {edits}: {told}", number + 1),
    }
}
