//! Explains why an edit found nothing: similar passages, their positions, and the differences.
//!
//! Joins the search for similar passages with the edited text. Changes nothing.

mod around;
mod candidates;
mod edit_distance;
pub(crate) mod input_errors;
mod normalize;
mod placeholder;
mod similar;
pub(crate) mod word_diff;
use std::ops::Range;

use crate::order;
use crate::text_edit::TextEdit;
use crate::text_edit::diagnose::around::{too_much_around, with_ends};
use crate::text_edit::diagnose::candidates::{COMPARED, body, near_cursors, widened};
use crate::text_edit::diagnose::edit_distance::distances;
use crate::text_edit::diagnose::input_errors::{AROUND, InputError, undone};
use crate::text_edit::diagnose::similar::{Regions, regions};
use crate::text_edit::diagnose::word_diff::{Difference, differences, shift};
use crate::text_edit::search::pattern::Pattern;
use crate::text_edit::search::{occurrences, unless_too_costly};
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::matches::Sought;
use crate::text_edit::table::piece_table::PieceTable;
use crate::text_edit::table::snippet::{Snippet, TextLines};
use crate::text_edit::table::window::Window;
use crate::{Result, Stop};

pub use self::placeholder::Placeholder;

/// Maximum number of passages of each kind.
const TOLD: usize = 3;

/// Maximum length, in bytes, of an old_text in which corruptions are undone.
const UNDONE: usize = 64 * 1024;

/// Maximum size, in bytes, of a text that is searched completely for an undone old_text, not by regions.
const SEARCHED_WHOLE: usize = 1 << 20;

/// Maximum number of anchors compared in one region.
const ANCHORS: usize = 1_000;

/// A passage with at least this score counts as the intended one.
const MEANT: f64 = 0.8;

/// Number of characters used for a score.
const SCORED: usize = 4 * 1024;

/// Why an edit found nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Passages similar to the text searched for, best first.
    pub similar: Vec<Similar>,
    /// The search for them stopped before the end of the text.
    pub stopped_early: bool,
    /// Places where the new text already is instead of the old text.
    pub already_applied: Vec<Snippet>,
    /// The line of the text in the old text, 0-based, if earlier edits of the call changed it.
    pub before_edits: Option<usize>,
    /// A line of the old text that stands for text that it leaves out.
    pub placeholder: Option<Box<Placeholder>>,
    /// The start of the text.
    pub head: Box<Snippet>,
}

/// A passage similar to the text searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// The passage.
    pub passage: Snippet,
    /// Its exact text, with the file's line breaks; cut if it is long.
    pub exact: String,
    /// The similarity, from 0 to 1.
    pub score: f64,
    /// The differences.
    pub differences: Vec<Difference>,
    /// Number of further differences.
    pub more: usize,
    /// The change of the indent in columns, if that is the only difference.
    pub shift: Option<i64>,
    /// The corruption of the text searched for, if that explains the differences.
    pub mistake: Option<InputError>,
}

/// A similar passage with its position.
struct SimilarPlace {
    start: Cursor,
    end: Cursor,
    similar: Similar,
}

/// Explains why `edit`, whose index is `number`, found nothing.
pub(crate) fn miss(
    edit: &TextEdit,
    number: usize,
    lines: &TextLines,
    control: &dyn Stop,
) -> Result<Diagnosis> {
    let needle = edit.old_text.as_str();
    let undone = if needle.len() <= UNDONE { undone(needle) } else { Vec::new() };
    let regions = regions(body(lines), needle);
    let mut places = explained(needle, &undone, &regions, lines, control)?;
    let (near, stopped_early) = near_cursors(needle, &regions, lines);
    for (start, end) in near {
        let Some((start, end)) = widened(lines, start, end, needle) else { continue };
        let place = described(lines, needle, start, end, None);
        if places.iter().all(|other| !overlap(lines, other, start, end)) && place.similar.exact != needle {
            places.push(place);
        }
    }
    order::sort_by(&mut places, |one, other| {
        let rank = |place: &SimilarPlace| (place.similar.mistake.is_some(), place.similar.score);
        rank(other).partial_cmp(&rank(one)).unwrap_or(std::cmp::Ordering::Equal)
    });
    places.truncate(TOLD);
    let already_applied = already_applied(edit, &places, lines, control)?;
    let before_edits =
        if number == 0 || needle.is_empty() { None } else { before_edits(needle, lines, control)? };
    let placeholder =
        if needle.len() <= UNDONE { placeholder::placeholder(needle, lines, control)? } else { None };
    let head = Box::new(lines.passage(lines.pieces.start(), lines.pieces.start()));
    let similar = places.into_iter().map(|place| place.similar).collect();
    Ok(Diagnosis {
        similar,
        stopped_early,
        already_applied,
        before_edits,
        placeholder: placeholder.map(Box::new),
        head,
    })
}

fn overlap(lines: &TextLines, place: &SimilarPlace, start: Cursor, end: Cursor) -> bool {
    let order = |cursor| lines.pieces.order(cursor);
    order(place.start) < order(end) && order(start) < order(place.end)
}

/// Passages that equal the text searched for after a known corruption is undone.
fn explained(
    needle: &str,
    undone: &[(InputError, String)],
    regions: &Regions,
    lines: &TextLines,
    control: &dyn Stop,
) -> Result<Vec<SimilarPlace>> {
    for (mistake, text) in undone {
        let sought = if lines.pieces.len() <= SEARCHED_WHOLE {
            occurrences(text, lines.pieces, TOLD, control)?
        } else {
            // The undone text is similar to the needle, so only similar regions can hold it.
            let pattern = Pattern::new(text.as_bytes());
            pattern.find(Some(&anchors_in(&pattern, regions, lines)), lines.pieces, TOLD, control)?
        };
        if !sought.matches.is_empty() {
            let place = |(start, end)| match *mistake {
                AROUND => described_with_ends(lines, needle, text, start, end),
                mistake => described(lines, needle, start, end, Some(mistake)),
            };
            return Ok(sought.matches.iter().map(place).collect());
        }
    }
    Ok(Vec::new())
}

/// The cursors of the pattern's anchor in these regions of the old text, as far as it is still in the text.
fn anchors_in(pattern: &Pattern, regions: &Regions, lines: &TextLines) -> Vec<Cursor> {
    let anchor = memchr::memmem::Finder::new(pattern.anchor());
    let first = lines.index.first_byte();
    let found = |region: &Range<usize>| {
        let found = anchor.find_iter(&body(lines)[region.clone()]).take(ANCHORS);
        found.map(|at| first + region.start + at).collect::<Vec<_>>()
    };
    let mut addresses: Vec<usize> = regions.at.iter().flat_map(found).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.into_iter().filter_map(|address| lines.pieces.cursor_at(address)).collect()
}

/// The line of the old text in which the needle was before any edit.
pub(super) fn before_edits(needle: &str, lines: &TextLines, control: &dyn Stop) -> Result<Option<usize>> {
    let Some(old) = PieceTable::new(lines.old, lines.index.first_byte()) else { return Ok(None) };
    let sought = occurrences(needle, &old, 1, control)?;
    let first = sought.matches.first();
    Ok(first.map(|(start, _)| TextLines::new(&old, lines.index, lines.old).line(start).0))
}

fn described(
    lines: &TextLines,
    needle: &str,
    start: Cursor,
    end: Cursor,
    mistake: Option<InputError>,
) -> SimilarPlace {
    let exact = lines.exact(start, end, COMPARED);
    let shown = &needle[..crate::lines::char_boundary(needle.as_bytes(), COMPARED)];
    let (differences, more) = differences(shown, &exact);
    let (score, shift) = (score(shown, &exact), shift(shown, &exact));
    let passage = lines.passage(start, end);
    SimilarPlace { start, end, similar: Similar { passage, exact, score, differences, more, shift, mistake } }
}

/// Describes the passage of `inner`, the needle without the blanks and line breaks around it.
fn described_with_ends(
    lines: &TextLines,
    needle: &str,
    inner: &str,
    start: Cursor,
    end: Cursor,
) -> SimilarPlace {
    let (from, to) = with_ends(lines, start, end, needle);
    let found = (lines.exact(from, start, COMPARED), lines.exact(end, to, COMPARED));
    let given = needle.split_once(inner).unwrap_or_default();
    described(lines, needle, from, to, too_much_around(given, (&found.0, &found.1)))
}

/// The share of both that is equal, from 0 to 1.
fn score(one: &str, other: &str) -> f64 {
    let one: Vec<char> = one.chars().take(SCORED).collect();
    let len = one.len().max(other.chars().take(SCORED).count());
    if one.is_empty() {
        return 0.0;
    }
    let distance = distances(&one, other.chars().take(SCORED), true).last().copied().unwrap_or(len as u32);
    (1.0 - f64::from(distance) / len as f64).clamp(0.0, 1.0)
}

/// Where the new text already is: exactly as often as the edit was to insert it, if no passage counts as the
/// intended one; and at similar passages that are more like the new text than like the old one.
fn already_applied(
    edit: &TextEdit,
    places: &[SimilarPlace],
    lines: &TextLines,
    control: &dyn Stop,
) -> Result<Vec<Snippet>> {
    let new_text = edit.new_text.as_str();
    if new_text.trim().is_empty() || new_text == edit.old_text {
        return Ok(Vec::new());
    }
    let pattern = Pattern::new(new_text.as_bytes());
    let meant = |place: &SimilarPlace| place.similar.mistake.is_some() || MEANT <= place.similar.score;
    if !places.iter().any(meant) && new_text.trim().chars().nth(2).is_some() {
        let sought = pattern.find_up_to(edit.occurrences, None, lines.pieces, TOLD, control);
        let sought = unless_too_costly(sought)?;
        if edit.is_met_by(sought.count) {
            return Ok(told(&sought, lines));
        }
    }
    let mut passages = Vec::new();
    for place in places.iter().filter(|place| place.similar.score < score(new_text, &place.similar.exact)) {
        let (from, before) = lines.pieces.retreat(place.start, new_text.len().min(COMPARED));
        let len = before + place.similar.exact.len() + new_text.len().min(COMPARED);
        let window = Window::of(lines.pieces, from, len);
        let anchors = memchr::memmem::find_iter(window.bytes(), pattern.anchor()).take(ANCHORS);
        let cursors: Vec<Cursor> = anchors.map(|at| window.cursor_at(at)).collect();
        let sought = unless_too_costly(pattern.find(Some(&cursors), lines.pieces, ANCHORS, control))?;
        let here = sought.matches.iter().filter(|&(start, end)| overlap(lines, place, start, end));
        passages.extend(here.take(TOLD).map(|(start, end)| lines.passage(start, end)));
    }
    passages.truncate(TOLD);
    Ok(passages)
}

fn told(sought: &Sought, lines: &TextLines) -> Vec<Snippet> {
    sought.matches.iter().take(TOLD).map(|(start, end)| lines.passage(start, end)).collect()
}
