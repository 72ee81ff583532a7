//! Text that all failures share: what was searched, where it was found, and what to do next.

use std::fmt::Write;

use super::data::{FilePreview, SuggestedFix, ValidationError};
use super::format::{Reading, read_call_behind};
use crate::tools::Members;
use text::text_edit::Snippet;

/// Maximum number of bytes shown of the text searched for.
const SEARCHED: usize = 4_000;

/// The part of an old_text that is shown; the client has the rest.
pub(super) fn start_of(old_text: &str) -> &str {
    &old_text[..text::lines::char_boundary(old_text.as_bytes(), SEARCHED)]
}

pub(super) fn searched(old_text: &str) -> String {
    let shown = start_of(old_text);
    let more = match old_text.len() - shown.len() {
        0 => String::new(),
        more => format!("\n({more} bytes more)"),
    };
    format!("Searched for (between >>>markers<<<):\n>>>{shown}<<<{more}\n\n")
}

/// What earlier edits of the call did to a passage, so that it is not so in the file.
pub(super) fn edited(passage: &Snippet) -> String {
    match passage.put_in_by {
        Some(edit) => format!(", in text that edit {} put in", edit + 1),
        None if passage.is_edited => ", as the edits before this one leave it".into(),
        None => String::new(),
    }
}

/// A match with its lines and one line before and after, each behind a bar.
pub(super) fn location(text: &mut String, passage: &Snippet, reading: Reading) {
    let (line, column) = (passage.line + 1, passage.column + 1);
    let now = passage.column_now.map(|now| format!(", now column {}", now + 1)).unwrap_or_default();
    // A write to a String cannot fail.
    let call = read_call_behind(passage, reading);
    let _ = writeln!(text, "  Line {line}, column {column}{now}{}{call}", edited(passage));
    let before = passage.before.iter().map(String::as_str);
    for line in before.chain(passage.text.split('\n')).chain(passage.after.as_deref()) {
        let _ = writeln!(text, "    |{line}");
    }
}

pub(super) fn fix(kind: &'static str, suggestion: &str, example: Option<String>) -> SuggestedFix {
    SuggestedFix { kind, suggestion: suggestion.into(), example }
}

pub(super) fn suggestions(fixes: &[SuggestedFix]) -> String {
    let lines = fixes.iter().enumerate().map(|(number, fix)| format!("\n{}. {}", number + 1, fix.suggestion));
    format!("Suggestions:{}", lines.collect::<String>())
}

pub(super) fn metadata(
    path: &str,
    error: ValidationError,
    suggested_fixes: Vec<SuggestedFix>,
    file_preview: Option<FilePreview>,
) -> Members {
    let fixes = (!suggested_fixes.is_empty()).then_some(suggested_fixes);
    Members::default()
        .with("path", &path)
        .with("validation_error", &error)
        .with_some("suggested_fixes", fixes.as_ref())
        .with_some("file_preview", file_preview.as_ref())
}
