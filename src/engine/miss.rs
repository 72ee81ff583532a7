//! Why an edit found nothing: what it may have meant, where that stands, and what differs.
//!
//! Joins the search for similar passages with the text under edit. Nothing here changes anything.

use super::difference::{Difference, differences, shift};
use super::distance::distances;
use super::lines::LineIndex;
use super::mistake::{Mistake, undone};
use super::passage::{Lines, Passage};
use super::pieces::Spot;
use super::similar::nearest;
use super::text_edit::TextEdit;
use super::text_search::occurrences;
use super::{Control, Result};

/// Passages told of each kind.
const TOLD: usize = 3;

/// Bytes of a passage that are compared to the end.
const COMPARED: usize = 16 * 1024;

/// Lines that an edit may have left out at most, so that its last line is still found.
const LEFT_OUT: usize = 8;

/// Characters that a score is computed from.
const SCORED: usize = 4 * 1024;

/// Why an edit found nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// Passages like the text that was searched for, best first.
    pub similar: Vec<Similar>,
    /// The search for them stopped before the end of the text.
    pub stopped_early: bool,
    /// The new text stands already where the old text would have been.
    pub already_applied: Vec<Passage>,
    /// Where the text stood before earlier edits of the call changed it, as a line of the old text.
    pub before_edits: Option<usize>,
    /// The start of the text.
    pub head: Passage,
}

/// A passage like the one that was searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// Where it is.
    pub passage: Passage,
    /// What it is, to the letter, with the file's own breaks; cut if it is long.
    pub exact: String,
    /// How similar, from 0 to 1.
    pub score: f64,
    /// What differs.
    pub differences: Vec<Difference>,
    /// How many differences more there are.
    pub more: usize,
    /// By how many columns it is further in, if that is all.
    pub shift: Option<i64>,
    /// What happened to the text that was searched for, if that explains it.
    pub mistake: Option<Mistake>,
}

/// Says why `edit` found nothing.
pub(super) fn miss(edit: &TextEdit, lines: &Lines, control: &Control) -> Result<Miss> {
    let needle = edit.old_text.as_str();
    let mut similar = explained(needle, lines, control)?;
    let (near, stopped_early) =
        nearest(lines.old.get(lines.index.first_byte()..).unwrap_or_default(), needle);
    for near in near {
        let at = near.at.start + lines.index.first_byte()..near.at.end + lines.index.first_byte();
        let Some((start, end)) = widened(lines, at, needle) else { continue };
        let found = described(lines, needle, start, end, None);
        if similar.iter().all(|other: &Similar| !overlap(&other.passage, &found.passage))
            && found.exact != needle
        {
            similar.push(found);
        }
    }
    similar.sort_by(|one, other| {
        (other.mistake.is_some(), other.score)
            .partial_cmp(&(one.mistake.is_some(), one.score))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    similar.truncate(TOLD);
    let already_applied = already_applied(edit, &similar, lines, control)?;
    let before_edits = (!needle.is_empty())
        .then(|| memchr::memmem::find(lines.old, needle.as_bytes()))
        .flatten()
        .map(|at| LineIndex::line_at(lines.index, at, lines.old));
    let head = lines.passage(lines.pieces.start(), lines.pieces.start());
    Ok(Miss { similar, stopped_early, already_applied, before_edits, head })
}

fn overlap(one: &Passage, other: &Passage) -> bool {
    one.line <= other.line + other.further_lines && other.line <= one.line + one.further_lines
}

/// Passages that are what was searched for, but for a mistake that is known.
fn explained(needle: &str, lines: &Lines, control: &Control) -> Result<Vec<Similar>> {
    for (mistake, text) in undone(needle) {
        let sought = occurrences(&text, lines.pieces, TOLD, control)?;
        if !sought.matches.is_empty() {
            let found = sought.matches.iter();
            return Ok(found
                .map(|&(start, end)| described(lines, needle, start, end, Some(mistake)))
                .collect());
        }
    }
    Ok(Vec::new())
}

/// The spots of a passage of the old text that is still there, with as much blank around it as the needle has.
fn widened(lines: &Lines, at: std::ops::Range<usize>, needle: &str) -> Option<(Spot, Spot)> {
    let mut start = lines.pieces.spot(at.start as u32)?;
    let end = lines.pieces.spot(at.end.checked_sub(1)? as u32)?;
    let mut end = lines.pieces.advance(end, 1);
    let blank = |byte: Option<u8>| matches!(byte, Some(b' ' | b'\t'));
    if needle.starts_with([' ', '\t']) {
        while blank(lines.pieces.byte_before(start)) {
            start = lines.pieces.retreat(start, 1).0;
        }
    }
    if needle.ends_with([' ', '\t', '\n']) {
        while blank(lines.pieces.byte_after(end)) {
            end = lines.pieces.advance(end, 1);
        }
    }
    if needle.ends_with('\n') {
        end = super::passage::break_after(lines.pieces, end).unwrap_or(end);
    }
    let end = to_last_line(lines, end, needle).unwrap_or(end);
    (lines.pieces.order(start) < lines.pieces.order(end)).then_some((start, end))
}

/// Where the needle's last line ends, if it is one of the next lines: then lines before it were left out.
fn to_last_line(lines: &Lines, end: Spot, needle: &str) -> Option<Spot> {
    let (_, last) = needle.trim_end().rsplit_once('\n')?;
    let mut at = end;
    for _ in 0..LEFT_OUT {
        let (from, to) = (lines.line_start(at), lines.line_end(at));
        let line = lines.exact(from, to, COMPARED);
        if line.trim() == last.trim() {
            let to = lines.pieces.advance(from, line.trim_end().len());
            return (lines.pieces.order(to) > lines.pieces.order(end)).then_some(to);
        }
        at = super::passage::break_after(lines.pieces, to)?;
    }
    None
}

fn described(lines: &Lines, needle: &str, start: Spot, end: Spot, mistake: Option<Mistake>) -> Similar {
    let exact = lines.exact(start, end, COMPARED);
    let shown = &needle[..super::char_boundary(needle.as_bytes(), COMPARED)];
    let (differences, more) = differences(shown, &exact);
    let score = score(shown, &exact);
    Similar {
        passage: lines.passage(start, end),
        shift: shift(shown, &exact),
        exact,
        score,
        differences,
        more,
        mistake,
    }
}

/// How much of both is the same, from 0 to 1.
fn score(one: &str, other: &str) -> f64 {
    let one: Vec<char> = one.chars().take(SCORED).collect();
    let len = one.len().max(other.chars().take(SCORED).count());
    if one.is_empty() {
        return 0.0;
    }
    let distance = distances(&one, other.chars().take(SCORED), true).last().copied().unwrap_or(len as u32);
    (1.0 - f64::from(distance) / len as f64).clamp(0.0, 1.0)
}

/// Where the new text stands already: as often as the edit was to put it there, or where the most similar passage is.
fn already_applied(
    edit: &TextEdit,
    similar: &[Similar],
    lines: &Lines,
    control: &Control,
) -> Result<Vec<Passage>> {
    if edit.new_text.trim().is_empty() || edit.new_text == edit.old_text {
        return Ok(Vec::new());
    }
    let sought = occurrences(&edit.new_text, lines.pieces, 100, control)?;
    let as_often = sought.count == edit.occurrences;
    let passages = sought.matches.iter().map(|&(start, end)| lines.passage(start, end));
    let there =
        |passage: &Passage| as_often || similar.iter().any(|similar| overlap(&similar.passage, passage));
    Ok(passages.filter(there).take(TOLD).collect())
}
