//! Why an edit found nothing: what it may have meant, where that stands, and what differs.
//!
//! Joins the search for similar passages with the text under edit. Nothing here changes anything.

use std::ops::Range;

use super::TextEdit;
use super::around::{too_much_around, with_ends};
use super::candidates::{COMPARED, body, near_spots, widened};
use super::cursor::Cursor;
use super::edit_distance::distances;
use super::input_errors::{AROUND, InputError, undone};
use super::matches::Sought;
use super::pattern::Pattern;
use super::piece_table::PieceTable;
use super::search::{occurrences, unless_too_costly};
use super::similar::{Regions, regions};
use super::snippet::{Lines, Snippet};
use super::window::Window;
use super::word_diff::{Difference, differences, shift};
use crate::engine::{Control, Result};

/// Passages told of each kind.
const TOLD: usize = 3;

/// Bytes of an old_text in which mistakes are undone.
const UNDONE: usize = 64 * 1024;

/// Bytes of a text that is searched as a whole for what an old_text may have been; of a longer one what is like it.
const SEARCHED_WHOLE: usize = 1 << 20;

/// Anchors that are looked at in one region.
const ANCHORS: usize = 1_000;

/// A passage as similar as this is taken for the one that was meant.
const MEANT: f64 = 0.8;

/// Characters that a score is computed from.
const SCORED: usize = 4 * 1024;

/// Why an edit found nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// Passages like the text that was searched for, best first.
    pub similar: Vec<Similar>,
    /// The search for them stopped before the end of the text.
    pub stopped_early: bool,
    /// The new text stands already where the old text would have been.
    pub already_applied: Vec<Snippet>,
    /// Where the text stood before earlier edits of the call changed it, as a line of the old text.
    pub before_edits: Option<usize>,
    /// The start of the text.
    pub head: Snippet,
}

/// A passage like the one that was searched for.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// Where it is.
    pub passage: Snippet,
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
    pub mistake: Option<InputError>,
}

/// A passage like the one that was searched for, and where it is.
struct Place {
    start: Cursor,
    end: Cursor,
    similar: Similar,
}

/// Says why `edit`, the one with this number, found nothing.
pub(super) fn miss(edit: &TextEdit, number: usize, lines: &Lines, control: &Control) -> Result<Diagnosis> {
    let needle = edit.old_text.as_str();
    let undone = if needle.len() <= UNDONE { undone(needle) } else { Vec::new() };
    let regions = regions(body(lines), needle);
    let mut places = explained(needle, &undone, &regions, lines, control)?;
    let (near, stopped_early) = near_spots(needle, &regions, lines);
    for (start, end) in near {
        let Some((start, end)) = widened(lines, start, end, needle) else { continue };
        let place = described(lines, needle, start, end, None);
        if places.iter().all(|other| !overlap(lines, other, start, end)) && place.similar.exact != needle {
            places.push(place);
        }
    }
    places.sort_by(|one, other| {
        let rank = |place: &Place| (place.similar.mistake.is_some(), place.similar.score);
        rank(other).partial_cmp(&rank(one)).unwrap_or(std::cmp::Ordering::Equal)
    });
    places.truncate(TOLD);
    let already_applied = already_applied(edit, &places, lines, control)?;
    let before_edits =
        if number == 0 || needle.is_empty() { None } else { before_edits(needle, lines, control)? };
    let head = lines.passage(lines.pieces.start(), lines.pieces.start());
    let similar = places.into_iter().map(|place| place.similar).collect();
    Ok(Diagnosis { similar, stopped_early, already_applied, before_edits, head })
}

fn overlap(lines: &Lines, place: &Place, start: Cursor, end: Cursor) -> bool {
    let order = |spot| lines.pieces.order(spot);
    order(place.start) < order(end) && order(start) < order(place.end)
}

/// Passages that are what was searched for, but for a mistake that is known.
fn explained(
    needle: &str,
    undone: &[(InputError, String)],
    regions: &Regions,
    lines: &Lines,
    control: &Control,
) -> Result<Vec<Place>> {
    for (mistake, text) in undone {
        let sought = if lines.pieces.len() <= SEARCHED_WHOLE {
            occurrences(text, lines.pieces, TOLD, control)?
        } else {
            // What is the needle but for a mistake stands where the text is like the needle.
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

/// Where the pattern's anchor stands in some regions of the old text, if it is still there.
fn anchors_in(pattern: &Pattern, regions: &Regions, lines: &Lines) -> Vec<Cursor> {
    let anchor = memchr::memmem::Finder::new(pattern.anchor());
    let first = lines.index.first_byte();
    let found = |region: &Range<usize>| {
        let found = anchor.find_iter(&body(lines)[region.clone()]).take(ANCHORS);
        found.map(|at| (first + region.start + at) as u32).collect::<Vec<_>>()
    };
    let mut addresses: Vec<u32> = regions.at.iter().flat_map(found).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.into_iter().filter_map(|address| lines.pieces.spot(address)).collect()
}

/// The line of the old text in which the needle stood before any edit.
fn before_edits(needle: &str, lines: &Lines, control: &Control) -> Result<Option<usize>> {
    let Some(old) = PieceTable::new(lines.old, lines.index.first_byte()) else { return Ok(None) };
    let sought = occurrences(needle, &old, 1, control)?;
    let first = sought.matches.first();
    Ok(first.map(|(start, _)| Lines::new(&old, lines.index, lines.old).line(start).0))
}

fn described(lines: &Lines, needle: &str, start: Cursor, end: Cursor, mistake: Option<InputError>) -> Place {
    let exact = lines.exact(start, end, COMPARED);
    let shown = &needle[..crate::engine::char_boundary(needle.as_bytes(), COMPARED)];
    let (differences, more) = differences(shown, &exact);
    let (score, shift) = (score(shown, &exact), shift(shown, &exact));
    let passage = lines.passage(start, end);
    Place { start, end, similar: Similar { passage, exact, score, differences, more, shift, mistake } }
}

/// The passage from `start` to `end`, which is `inner`: the needle without the blanks and breaks around it.
fn described_with_ends(lines: &Lines, needle: &str, inner: &str, start: Cursor, end: Cursor) -> Place {
    let (from, to) = with_ends(lines, start, end, needle);
    let found = (lines.exact(from, start, COMPARED), lines.exact(end, to, COMPARED));
    let given = needle.split_once(inner).unwrap_or_default();
    described(lines, needle, from, to, too_much_around(given, (&found.0, &found.1)))
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

/// Where the new text stands already: where a passage like the old one is that is more like the new one, or as often as
/// the edit was to put it there, if no passage looks like what was meant.
fn already_applied(
    edit: &TextEdit,
    places: &[Place],
    lines: &Lines,
    control: &Control,
) -> Result<Vec<Snippet>> {
    let new_text = edit.new_text.as_str();
    if new_text.trim().is_empty() || new_text == edit.old_text {
        return Ok(Vec::new());
    }
    let pattern = Pattern::new(new_text.as_bytes());
    let meant = |place: &Place| place.similar.mistake.is_some() || MEANT <= place.similar.score;
    if !places.iter().any(meant) && new_text.trim().chars().nth(2).is_some() {
        let sought = pattern.find_up_to(edit.occurrences, None, lines.pieces, TOLD, control);
        let sought = unless_too_costly(sought)?;
        if sought.count == edit.occurrences {
            return Ok(told(&sought, lines));
        }
    }
    let mut passages = Vec::new();
    for place in places.iter().filter(|place| place.similar.score < score(new_text, &place.similar.exact)) {
        let (from, before) = lines.pieces.retreat(place.start, new_text.len().min(COMPARED));
        let len = before + place.similar.exact.len() + new_text.len().min(COMPARED);
        let window = Window::of(lines.pieces, from, len);
        let anchors = memchr::memmem::find_iter(window.bytes(), pattern.anchor()).take(ANCHORS);
        let spots: Vec<Cursor> = anchors.map(|at| window.spot(at)).collect();
        let sought = unless_too_costly(pattern.find(Some(&spots), lines.pieces, ANCHORS, control))?;
        let here = sought.matches.iter().filter(|&(start, end)| overlap(lines, place, start, end));
        passages.extend(here.take(TOLD).map(|(start, end)| lines.passage(start, end)));
    }
    passages.truncate(TOLD);
    Ok(passages)
}

fn told(sought: &Sought, lines: &Lines) -> Vec<Snippet> {
    sought.matches.iter().take(TOLD).map(|(start, end)| lines.passage(start, end)).collect()
}
