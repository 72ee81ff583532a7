//! The `metadata` of `file_edit` as data, with the names of the contract (contract 5).

use serde::Serialize;

use super::format::Reading;
use text::text_edit::Snippet;

/// The JSON Schema of the members that a program may rely on.
pub(super) const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""path":{"type":"string"},"#,
    r#""diff":{"type":"string"},"#,
    r#""edits_applied":{"type":"array","items":{"type":"object","properties":{"#,
    r#""edit_index":{"type":"integer"},"occurrences_replaced":{"type":"integer"},"line":{"type":"integer"}"#,
    r#"},"required":["edit_index","occurrences_replaced","line"]}},"#,
    r#""total_replacements":{"type":"integer"},"#,
    r#""dry_run":{"type":"boolean"},"would_modify":{"type":"boolean"},"#,
    r#""preview":{"type":"array","items":{"type":"object","properties":{}}},"#,
    r#""validation_error":{"type":"object","properties":{}},"#,
    r#""suggested_fixes":{"type":"array","items":{"type":"object","properties":{}}},"#,
    r#""file_preview":{"type":"object","properties":{}}"#,
    r#"},"required":["path"]}"#
);

#[derive(Serialize)]
pub(super) struct EditApplied {
    pub(super) edit_index: usize,
    pub(super) occurrences_replaced: u64,
    pub(super) line: usize,
}

#[derive(Serialize)]
pub(super) struct Preview {
    pub(super) edit_index: usize,
    pub(super) line: usize,
    pub(super) before: String,
    pub(super) after: String,
}

#[derive(Serialize, Default)]
pub(super) struct ValidationError<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) edit_index: usize,
    pub(super) total_edits: usize,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expected_occurrences: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) actual_occurrences: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) match_locations: Vec<MatchLocation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) search_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) similar_content: Vec<SimilarContent<'a>>,
    /// The search for similar content stopped before the end of the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stopped_early: bool,
    /// Where new_text already is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) already_applied: Vec<MatchLocation<'a>>,
}

#[derive(Serialize)]
pub(super) struct MatchLocation<'a> {
    pub(super) line_number: usize,
    pub(super) column_start: usize,
    pub(super) column_end: usize,
    pub(super) line_content: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_after: Option<&'a str>,
    /// The last line of a passage with several lines; column_end refers to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_line_number: Option<usize>,
    /// The start in line_content, if earlier edits of the call moved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) column_now: Option<usize>,
    /// The call that reads these lines, if a tool for it is offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<String>,
    /// The edit of the same call that inserted this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) put_in_by_edit: Option<usize>,
}

impl<'a> MatchLocation<'a> {
    pub(super) fn of(passage: &'a Snippet, reading: Reading) -> MatchLocation<'a> {
        MatchLocation {
            line_number: passage.line + 1,
            column_start: passage.column + 1,
            column_end: passage.column_end + 1,
            line_content: &passage.text,
            context_before: passage.before.as_deref(),
            context_after: passage.after.as_deref(),
            last_line_number: (0 < passage.further_lines).then(|| passage.line + passage.further_lines + 1),
            column_now: passage.column_now.map(|column| column + 1),
            read: super::format::read_call(passage, reading),
            put_in_by_edit: passage.put_in_by,
        }
    }
}

#[derive(Serialize)]
pub(super) struct SimilarContent<'a> {
    pub(super) line_number: usize,
    pub(super) column_start: usize,
    pub(super) content: &'a str,
    pub(super) similarity_score: f64,
    pub(super) differences: Vec<StringDiff<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) read: Option<String>,
}

#[derive(Serialize)]
pub(super) struct StringDiff<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) expected: &'a str,
    pub(super) found: &'a str,
    /// The difference described in words, with code points.
    pub(super) note: String,
}

#[derive(Serialize)]
pub(super) struct SuggestedFix {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) suggestion: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) example: Option<String>,
}

#[derive(Serialize)]
pub(super) struct FilePreview {
    pub(super) total_lines: usize,
    pub(super) preview_start_line: usize,
    pub(super) preview_end_line: usize,
    pub(super) content: String,
    pub(super) highlights: Vec<LineHighlight>,
}

#[derive(Serialize)]
pub(super) struct LineHighlight {
    pub(super) line: usize,
    pub(super) column_start: usize,
    pub(super) column_end: usize,
}

impl FilePreview {
    pub(super) fn of(passage: &Snippet, total_lines: usize, highlight: bool) -> FilePreview {
        let first = passage.line + 1 - usize::from(passage.before.is_some() && passage.line > 0);
        let lines = [passage.before.as_deref(), Some(&*passage.text), passage.after.as_deref()];
        let content = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
        let highlights = if highlight { highlights(passage) } else { Vec::new() };
        let last = (passage.line + 1 + passage.further_lines + usize::from(passage.after.is_some()))
            .min(total_lines);
        FilePreview { total_lines, preview_start_line: first, preview_end_line: last, content, highlights }
    }
}

/// The ranges of a passage in its lines.
fn highlights(passage: &Snippet) -> Vec<LineHighlight> {
    let mut column_start = passage.column + 1;
    let last = memchr::memchr_iter(b'\n', passage.text[passage.at.clone()].as_bytes()).count();
    let lines = passage.text[passage.at.clone()].split('\n').enumerate();
    let highlight = |(number, line): (usize, &str)| {
        let len = line.chars().count();
        let column_end = if number == last { passage.column_end + 1 } else { column_start + len };
        let highlight = LineHighlight { line: passage.line + 1 + number, column_start, column_end };
        column_start = 1;
        highlight
    };
    lines.map(highlight).collect()
}
