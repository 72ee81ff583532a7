//! Why an edit does not fit, in few words: for a tool whose caller pays for each of them. Has what contract 5 asks for but the text that
//! was searched for, which the caller knows, and general advice.

use std::fmt::Write;

use serde_json::json;

use super::failure_text::edited;
use super::format::{self, EditNames, Reading};
use super::no_match::{breaks_around, tell_placeholder};
use crate::tools::balance::several;
use text::encoded_edit::MAX_PLACES;
use text::text_edit::{Diagnosis, Found, Similar, Snippet, Unmatched};

/// The most passages that are shown.
const SHOWN_PLACES: usize = 6;
const SHOWN_SIMILAR: usize = 3;

/// A passage is shown beside the best one if it is as similar as this part of it.
const NEARLY: f64 = 0.9;

/// The explanation, which ends without a line break.
pub(super) fn explain(path: &str, unmatched: &Unmatched, reading: Reading) -> String {
    let Unmatched { edit, edits, old_text, expected, found, .. } = unmatched;
    let mut text = format!("Edit {} of {edits} failed: ", edit + 1);
    // A write to a String cannot fail.
    let _ = match found {
        Found::Count { actual, .. } => {
            let times = if *expected == 1 { "occurrence" } else { "occurrences" };
            write!(text, "Expected {expected} {times} but found {actual} in {path}.")
        }
        Found::Nothing(_) => write!(text, "Could not find exact text in {path}."),
    };
    match found {
        Found::Count { actual, passages } => wrong_count(&mut text, *actual, passages, reading),
        Found::Nothing(miss) => no_match(&mut text, (path, old_text), miss, reading),
    }
    text.truncate(text.trim_end().len());
    text
}

fn wrong_count(text: &mut String, actual: u64, passages: &[Snippet], reading: Reading) {
    let EditNames { old_text: old, count: (count, all), .. } = *reading.names;
    let _ = match actual {
        0 => writeln!(text),
        // More than one call replaces.
        actual if actual > MAX_PLACES => writeln!(text, " Give {old} with more of the text around:"),
        _ => writeln!(text, " Give {old} with more of the text around, {all}, or {count} {actual}:"),
    };
    // Places in the same lines are told once.
    let mut told: Vec<&Snippet> = passages.iter().collect();
    told.dedup_by(|one, before| (one.line, &one.text) == (before.line, &before.text));
    told.iter().take(SHOWN_PLACES).for_each(|passage| show(text, passage, reading));
    let rest: Vec<String> =
        told.iter().skip(SHOWN_PLACES).map(|passage| number(passage, 0, reading).to_string()).collect();
    match &rest[..] {
        [] => {}
        [line] => _ = writeln!(text, "also in line {line}"),
        lines => _ = writeln!(text, "also in lines {}", lines.join(", ")),
    }
    match actual.saturating_sub(passages.len() as u64) {
        0 => {}
        more => _ = writeln!(text, "and {} more", several(more, "place")),
    }
}

fn no_match(text: &mut String, (path, old_text): (&str, &str), miss: &Diagnosis, reading: Reading) {
    let EditNames { old_text: old, new_text: new, .. } = *reading.names;
    text.push('\n');
    if old_text.is_empty() {
        let _ = writeln!(
            text,
            "An empty {old} matches only an empty file, and this one has text; to add text, use append."
        );
    }
    if let Some(placeholder) = &miss.placeholder {
        tell_placeholder(text, placeholder, reading);
    }
    if !miss.already_applied.is_empty() {
        let _ = writeln!(
            text,
            "{new} stands here already; leave this edit out only if this is the place that you mean:"
        );
        miss.already_applied.iter().take(SHOWN_SIMILAR).for_each(|passage| show(text, passage, reading));
    }
    if let Some(line) = miss.before_edits {
        let line = line + reading.base.first() as usize;
        let _ = writeln!(
            text,
            "It is in line {line} of the file as it is, but an earlier edit of this call changes it before."
        );
    }
    let best = miss.similar.first().map_or(0.0, |best| best.score);
    let near = miss.similar.iter().filter(|similar| similar.score >= NEARLY * best);
    near.take(SHOWN_SIMILAR).for_each(|similar| tell_similar(text, similar, reading));
    if miss.similar.is_empty() && !old_text.is_empty() && miss.already_applied.is_empty() {
        text.push_str("Nothing in the file is similar to it.");
        let call = |reader| format!(" See what it holds with {reader} {}.", json!({ "path": path }));
        text.push_str(&reading.reader.map(call).unwrap_or_default());
        text.push('\n');
    }
    if miss.stopped_early {
        text.push_str("The end of the file was not searched for similar text: it is large.\n");
    }
    if let Some(breaks) = breaks_around(old_text, miss) {
        let _ = writeln!(text, "{old} {breaks}.");
    }
}

fn tell_similar(text: &mut String, similar: &Similar, reading: Reading) {
    let _ = writeln!(text, "Similar ({}%):", (similar.score * 100.0).floor());
    show(text, &similar.passage, reading);
    if let Some(explanation) = format::explanation(similar, reading.names) {
        let _ = writeln!(text, "Difference: {explanation}");
        return;
    }
    // Others are seen in the lines.
    let unseen = similar.differences.iter().filter(|difference| format::kind(difference) != "content");
    for difference in unseen {
        let _ = writeln!(text, "Difference: {}", format::difference(difference, reading.names));
    }
}

/// The lines of a passage with their numbers.
fn show(text: &mut String, passage: &Snippet, reading: Reading) {
    for (nth, line) in passage.text.split('\n').enumerate() {
        let _ = writeln!(text, "{}: {line}", number(passage, nth, reading));
    }
    let edited = edited(passage);
    if !edited.is_empty() {
        let _ = writeln!(text, "({})", edited.trim_start_matches(", "));
    }
}

fn number(passage: &Snippet, nth: usize, reading: Reading) -> usize {
    passage.line + nth + reading.base.first() as usize
}
