//! The reply to a successful `edit_file`: what happened, on which lines, and the diff (contract 15).

use std::fmt::Write;
use std::ops::RangeInclusive;

use serde_json::json;

use crate::tools::diff_text::push_diff;
use crate::tools::filesystem::version_meta;
use crate::tools::limited::content;
use crate::tools::rewritten::{done_line, rewritten_note};
use crate::tools::text_page::found_encoding;
use crate::tools::{LineBase, OutputKinds, Reply};
use folder::FileVersion;
use text::diff::Diff;
use text::encoded_edit::{Rewritten, TextDone};
use text::encoding::TextEncoding;

/// What became of a call.
pub(super) struct Edited<'e> {
    pub(super) path: &'e str,
    pub(super) done: TextDone,
    /// Whether the file is new.
    pub(super) created: bool,
    /// Whether every place was to be removed, not replaced.
    pub(super) removes: bool,
    /// Whether an old_text was looked for.
    pub(super) was_sought: bool,
    /// Whether no byte of the file has changed.
    pub(super) is_same: bool,
    pub(super) diff: Diff,
    pub(super) encoding: TextEncoding,
    /// What a text for the whole file keeps and changes of it.
    pub(super) rewritten: Option<Rewritten>,
    pub(super) version: Option<FileVersion>,
    pub(super) base: LineBase,
}

impl Edited<'_> {
    pub(super) fn reply(&self, wanted: OutputKinds) -> Reply {
        let first = self.first_line();
        let mut text = match &self.rewritten {
            Some(rewritten) => done_line(first, rewritten),
            None => first,
        };
        if let Some(lines) = self.lines() {
            text.push('\n');
            text.push_str(&lines);
        }
        if self.is_same && !self.created && self.done != TextDone::Missed {
            text.push_str("\nThe text is the same as before.");
        }
        push_diff(&mut text, &self.diff);
        let Diff { hunks, more, .. } = self.diff;
        let truncated = (more > 0).then(|| json!({ "shown": hunks, "of": hunks + more, "next": null }));
        let TextEncoding { encoding, source, .. } = self.encoding;
        let encoding_note = found_encoding(encoding, source);
        let found = encoding_note.as_ref().map(|_| encoding.name());
        let note = self.rewritten.as_ref().map_or(encoding_note, rewritten_note);
        let meta = self.version.as_ref().map(version_meta).unwrap_or_default();
        let meta = meta
            .with_some("file-editor/encoding", found.as_ref())
            .with_some("file-editor/truncated", truncated.as_ref());
        Reply { note, meta, ..content(text, wanted) }
    }

    fn first_line(&self) -> String {
        let path = self.path;
        match &self.done {
            _ if self.created => format!("File created: {path}"),
            TextDone::Written { .. } => format!("File written: {path}"),
            TextDone::Replaced { count, .. } if self.removes => format!("Removed {count} from {path}"),
            TextDone::Replaced { count, .. } => format!("Replaced {count} in {path}"),
            TextDone::Appended { .. } if self.was_sought => format!(
                "Not found in {path}; appended: old_text is not there, so new_text was APPENDED at the end and nothing was replaced"
            ),
            TextDone::Appended { .. } => format!("Appended to {path}"),
            TextDone::Missed => format!("Not found in {path}; nothing changed"),
        }
    }

    /// The lines concerned, as they were before the change.
    fn lines(&self) -> Option<String> {
        let first = self.base.first();
        match &self.done {
            _ if self.created && self.was_sought => Some(
                "There was no such file, so old_text was not found; the file now holds new_text alone".into(),
            ),
            _ if self.created => None,
            TextDone::Written { before, after } => Some(format!("Lines: {before} before, {after} now")),
            TextDone::Replaced { count, lines } => Some(places(lines, *count, first)),
            TextDone::Appended { line, goes_on: true } => Some(format!(
                "Line {}: the text went on there, because it had no line break at its end",
                line + first
            )),
            TextDone::Appended { line, goes_on: false } => Some(format!("From line {} on", line + first)),
            TextDone::Missed => None,
        }
    }
}

/// The lines of the first places of `count`.
fn places(lines: &[RangeInclusive<u64>], count: u64, first: u64) -> String {
    let mut told: Vec<String> = Vec::new();
    let mut last = None;
    for range in lines.iter().filter(|range| last.replace((*range).clone()).as_ref() != Some(*range)) {
        let (start, end) = (range.start() + first, range.end() + first);
        told.push(if start == end { start.to_string() } else { format!("{start}-{end}") });
    }
    let is_one = told.len() == 1 && lines.iter().all(|range| range.start() == range.end());
    let mut text = if is_one { "Line ".to_owned() } else { "Lines ".to_owned() };
    text.push_str(&told.join(", "));
    if count > lines.len() as u64 {
        // A write to a String cannot fail.
        let _ = write!(text, " (the first {} of {count} places)", lines.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_told_once_and_the_first_ones_of_many() {
        for (lines, count, expected) in [
            (vec![0..=0], 1, "Line 1"),
            (vec![4..=4, 4..=4], 2, "Line 5"),
            (vec![0..=1], 1, "Lines 1-2"),
            (vec![0..=0, 0..=0, 2..=3, 8..=8], 4, "Lines 1, 3-4, 9"),
            (vec![0..=0, 1..=1], 900, "Lines 1, 2 (the first 2 of 900 places)"),
        ] {
            assert_eq!(places(&lines, count, 1), expected);
        }
    }
}
