//! The reply if a text was not found: the most similar passages, and the differences.

use std::fmt::Write;

use super::data::{FilePreview, MatchLocation, SimilarContent, StringDiff, SuggestedFix, ValidationError};
use super::failure_text::{edited, fix, location, metadata, searched, start_of, suggestions};
use super::format::{self, EditNames, Reading, lines_call, read_call, read_call_behind};
use crate::tools::Members;
use text::text_edit::{Diagnosis, InputError, Placeholder, Similar, Unmatched};

/// Maximum number of bytes shown of a line that stands for text left out.
const SHOWN: usize = 100;

pub(super) fn no_match(
    path: &str,
    unmatched: &Unmatched,
    miss: &Diagnosis,
    reading: Reading,
) -> (String, Members) {
    let Unmatched { edit, edits, old_text, expected, total_lines, .. } = unmatched;
    let message = format!("Could not find exact text in {path}");
    let mut text = format!("Edit {} of {edits} failed: {message}.\n\n{}", edit + 1, searched(old_text));
    let EditNames { old_text: old, new_text: new, creates, .. } = *reading.names;
    // A write to a String cannot fail.
    if old_text.is_empty() {
        let empty = if creates { "an empty or missing file" } else { "an empty file" };
        let _ = writeln!(text, "An empty {old} matches only {empty}, and this one has text.\n");
    }
    if let Some(placeholder) = &miss.placeholder {
        tell_placeholder(&mut text, placeholder, reading);
    }
    if !miss.already_applied.is_empty() {
        let _ = writeln!(
            text,
            "This edit seems to be already applied: {new} already stands where {old} would have been, if this is the place that you mean:"
        );
        miss.already_applied.iter().for_each(|passage| location(&mut text, passage, reading));
        text.push('\n');
    }
    if let Some(line) = miss.before_edits {
        let start = line + reading.base.first() as usize;
        let call = reading
            .reader
            .map(|reader| format!(" ({})", lines_call(reader, start, None)))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "The text stands in line {}{call} of the file as it is, but an earlier edit of this call changes it before.\n",
            line + 1
        );
    }
    if !miss.similar.is_empty() {
        text.push_str("File contains similar content that might be what you're looking for:\n\n");
        miss.similar.iter().for_each(|similar| tell_similar(&mut text, similar, reading));
    } else if !old_text.is_empty() && miss.already_applied.is_empty() {
        text.push_str("Nothing in the file is similar to it.\n\n");
    }
    if miss.stopped_early {
        text.push_str("The search for similar content stopped early: the file is large, and its end was not searched.\n\n");
    }
    let fixes = fixes(old_text, miss, reading);
    text.push_str(&suggestions(&fixes));
    let error = ValidationError {
        kind: "NO_MATCH",
        edit_index: *edit,
        total_edits: *edits,
        message,
        expected_occurrences: Some(*expected),
        actual_occurrences: Some(0),
        search_text: Some(start_of(old_text)),
        similar_content: miss.similar.iter().map(|similar| similar_content(similar, reading)).collect(),
        stopped_early: miss.stopped_early,
        already_applied: miss
            .already_applied
            .iter()
            .map(|passage| MatchLocation::of(passage, reading))
            .collect(),
        ..Default::default()
    };
    let shown = miss.similar.first().map(|similar| &similar.passage).or(miss.already_applied.first());
    let preview = FilePreview::of(shown.unwrap_or(&miss.head), *total_lines, shown.is_some());
    (text, metadata(path, error, fixes, Some(preview)))
}

/// What a line such as `# ... existing code ...` stands for.
pub(super) fn tell_placeholder(text: &mut String, placeholder: &Placeholder, reading: Reading) {
    let Placeholder { line, before, after } = placeholder;
    let (line, old) = (start_of_line(line), reading.names.old_text);
    // A write to a String cannot fail.
    let _ = write!(
        text,
        "The line `{line}` of {old} is not in the file: it stands for text that {old} leaves out."
    );
    for (side, part) in [("before", before), ("after", after)] {
        if let Some(part) = part {
            let at = lines(part.line + 1, part.line + part.further_lines + 1);
            let call = read_call_behind(part, reading);
            let _ = write!(text, " What is {side} it in {old} is in {at}{call}, and nowhere else.");
        }
    }
    if let (Some(before), Some(after)) = (before, after)
        && !before.is_edited
        && !after.is_edited
    {
        let (first, last) = (before.line + before.further_lines + 2, after.line);
        if first <= last {
            let _ = write!(text, " It stands for {}.", lines(first, last));
        }
    }
    text.push_str("\n\n");
}

fn lines(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

fn start_of_line(line: &str) -> &str {
    &line[..text::lines::char_boundary(line.as_bytes(), SHOWN)]
}

fn tell_similar(text: &mut String, similar: &Similar, reading: Reading) {
    let Similar { passage, differences, more, .. } = similar;
    let (line, percent) = (passage.line + 1, (similar.score * 100.0).floor());
    // A write to a String cannot fail.
    let state = edited(passage);
    let at = lines(line, line + passage.further_lines).replacen('l', "L", 1);
    let _ = match passage.text.contains('\n') {
        false => writeln!(text, "{at}{state}: {}", passage.text),
        true => {
            let lines: String = passage.text.split('\n').map(|line| format!("    |{line}\n")).collect();
            write!(text, "{at}{state}:\n{lines}")
        }
    };
    let _ = writeln!(
        text,
        "  Column {}, {percent}% similar{}",
        passage.column + 1,
        read_call_behind(passage, reading)
    );
    if let Some(explanation) = format::explanation(similar, reading.names) {
        let _ = writeln!(text, "  Difference: {explanation}");
    }
    if similar.mistake.is_none() {
        for difference in differences {
            let _ = writeln!(
                text,
                "  Difference ({}): {}",
                format::kind(difference),
                format::difference(difference, reading.names)
            );
        }
        if *more > 0 {
            let _ = writeln!(text, "  And {more} differences more");
        }
    }
    text.push('\n');
}

fn similar_content(similar: &Similar, reading: Reading) -> SimilarContent<'_> {
    let differences = similar.differences.iter().map(|difference| StringDiff {
        kind: format::kind(difference),
        expected: &difference.expected,
        found: &difference.found,
        note: format::difference(difference, reading.names),
    });
    SimilarContent {
        line_number: similar.passage.line + 1,
        column_start: similar.passage.column + 1,
        content: &similar.exact,
        similarity_score: (similar.score * 100.0).floor() / 100.0,
        differences: differences.collect(),
        read: read_call(&similar.passage, reading),
    }
}

fn fixes(old_text: &str, miss: &Diagnosis, reading: Reading) -> Vec<SuggestedFix> {
    let Reading { names, reader, .. } = reading;
    let EditNames { old_text: old, new_text: new, .. } = *names;
    let mut fixes = Vec::new();
    if old_text.is_empty() {
        let insert = format!("To insert text, give a line beside the place as {old} and repeat it in {new}");
        fixes.push(fix("USE_EXACT_TEXT", &insert, None));
    }
    if let Some(Placeholder { line, .. }) = miss.placeholder.as_deref() {
        let line = start_of_line(line);
        let parts = format!(
            "Write out the lines for which `{line}` stands, or give one edit for each part of {old}, without that line"
        );
        fixes.push(fix("USE_EXACT_TEXT", &parts, None));
    }
    if !miss.already_applied.is_empty() {
        fixes.push(fix("USE_EXACT_TEXT", "If the file is as it should be, leave this edit out", None));
    }
    if let Some(best) = miss.similar.first() {
        let whitespace =
            |similar: &Similar| similar.differences.iter().any(|one| format::kind(one) == "whitespace");
        if let Some(explanation) = format::explanation(best, names) {
            let kind = if best.mistake.is_some() { "ESCAPE_SPECIAL" } else { "CHECK_WHITESPACE" };
            fixes.push(fix(kind, &format!("Correct {old}: {explanation}"), Some(best.exact.clone())));
        } else if whitespace(best) {
            let suggestion =
                "Check tabs, spaces and other blanks: use those of the file, as the differences say";
            fixes.push(fix("CHECK_WHITESPACE", suggestion, Some(best.exact.clone())));
        }
        let example = (fixes.is_empty()).then(|| best.exact.clone());
        fixes.push(fix(
            "USE_EXACT_TEXT",
            &format!("Copy the text of the passage above exactly into {old}, if it is the one"),
            example,
        ));
    }
    if let Some(breaks) = breaks_around(old_text, miss) {
        fixes.push(fix("CHECK_WHITESPACE", &format!("{old} {breaks}"), None));
    }
    if let Some(reader) = reader {
        let read = format!("Use {reader} to see the exact content, then copy it precisely");
        fixes.push(fix("USE_EXACT_TEXT", &read, None));
    }
    if old_text.contains('\n') {
        let all = format!(
            "Ensure that all lines and line breaks of a multi-line {old} are included, or search for a shorter text"
        );
        fixes.push(fix("USE_EXACT_TEXT", &all, None));
    }
    fixes
}

/// What to say of the line breaks at the ends of an old_text, if no passage explains them.
pub(super) fn breaks_around(old_text: &str, miss: &Diagnosis) -> Option<&'static str> {
    let is_explained = |similar: &Similar| matches!(similar.mistake, Some(InputError::BlanksAround { .. }));
    if old_text.trim().is_empty() || miss.similar.first().is_some_and(is_explained) {
        return None;
    }
    match (old_text.starts_with(['\n', '\r']), old_text.ends_with(['\n', '\r'])) {
        (true, true) => Some(
            "begins and ends with a line break, and both must be in the file; leave them out if in doubt",
        ),
        (true, false) => {
            Some("begins with a line break, which must be in the file; leave it out if in doubt")
        }
        (false, true) => Some("ends with a line break, which must be in the file; leave it out if in doubt"),
        (false, false) => None,
    }
}
