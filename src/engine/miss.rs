//! Why an edit found nothing: what it may have meant, where that stands, and what differs.
//!
//! Joins the search for similar passages with the text under edit. Nothing here changes anything.

use std::ops::Range;

use super::addresses::Window;
use super::difference::{Difference, differences, shift};
use super::distance::distances;
use super::mistake::{Mistake, undone};
use super::passage::{Lines, Passage};
use super::pattern::Pattern;
use super::pieces::{Pieces, Spot};
use super::similar::{Regions, nearest, regions};
use super::text_edit::TextEdit;
use super::text_search::occurrences;
use super::{Control, Result};

/// Passages told of each kind.
const TOLD: usize = 3;

/// Bytes of a passage that are compared to the end.
const COMPARED: usize = 16 * 1024;

/// Lines that an edit may have left out at most, so that its last line is still found.
const LEFT_OUT: usize = 8;

/// Bytes of an old_text in which mistakes are undone.
const UNDONE: usize = 64 * 1024;

/// Bytes of a text that is searched as a whole for what an old_text may have been; of a longer one what is like it.
const SEARCHED_WHOLE: usize = 1 << 20;

/// Anchors that are looked at in one region.
const ANCHORS: usize = 1_000;

/// Bytes of what edits put in, and around it, that are searched for similar passages.
const PUT_IN: usize = 256 * 1024;

/// Bytes at the end of a long old_text by which its end is found.
const TAIL: usize = 512;

/// A passage as similar as this is taken for the one that was meant.
const MEANT: f64 = 0.8;

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

/// A passage like the one that was searched for, and where it is.
struct Place {
    start: Spot,
    end: Spot,
    similar: Similar,
}

/// Says why `edit`, the one with this number, found nothing.
pub(super) fn miss(edit: &TextEdit, number: usize, lines: &Lines, control: &Control) -> Result<Miss> {
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
    Ok(Miss { similar, stopped_early, already_applied, before_edits, head })
}

/// `bytes` without a character of which the end is missing.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes,
        Err(error) => &bytes[..error.valid_up_to()],
    }
}

fn overlap(lines: &Lines, place: &Place, start: Spot, end: Spot) -> bool {
    let order = |spot| lines.pieces.order(spot);
    order(place.start) < order(end) && order(start) < order(place.end)
}

/// The old text without its byte order mark.
fn body<'t>(lines: &Lines<'_, 't>) -> &'t [u8] {
    lines.old.get(lines.index.first_byte()..).unwrap_or_default()
}

/// Passages that are what was searched for, but for a mistake that is known.
fn explained(
    needle: &str,
    undone: &[(Mistake, String)],
    regions: &Regions,
    lines: &Lines,
    control: &Control,
) -> Result<Vec<Place>> {
    for (mistake, text) in undone {
        let sought = if lines.pieces.len() <= SEARCHED_WHOLE {
            occurrences(&[text], lines.pieces, TOLD, control)?.pop().unwrap_or_default()
        } else {
            // What is the needle but for a mistake stands where the text is like the needle.
            let pattern = Pattern::new(text.as_bytes());
            pattern.find(Some(&anchors_in(&pattern, regions, lines)), lines.pieces, TOLD, control)?
        };
        if !sought.matches.is_empty() {
            let found = sought.matches.iter();
            return Ok(found
                .map(|&(start, end)| described(lines, needle, start, end, Some(*mistake)))
                .collect());
        }
    }
    Ok(Vec::new())
}

/// Where the pattern's anchor stands in some regions of the old text, if it is still there.
fn anchors_in(pattern: &Pattern, regions: &Regions, lines: &Lines) -> Vec<Spot> {
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
    let Some(old) = Pieces::new(lines.old, lines.index.first_byte()) else { return Ok(None) };
    let sought = occurrences(&[needle], &old, 1, control)?;
    let first = sought.first().and_then(|sought| sought.matches.first());
    Ok(first.map(|&(start, _)| Lines::new(&old, lines.index, lines.old).line(start).0))
}

/// Passages near to the needle, in the old text and in what edits put in; and whether the search stopped early.
fn near_spots(needle: &str, within: &Regions, lines: &Lines) -> (Vec<(Spot, Spot)>, bool) {
    let first = lines.index.first_byte();
    let (near, mut early) = (nearest(body(lines), within, needle), within.early);
    let spot = |address: usize| lines.pieces.spot(address as u32);
    // The last byte, for what is behind it may be gone.
    let spots = |from: usize, last: usize| Some((spot(from)?, lines.pieces.advance(spot(last)?, 1)));
    let mut found: Vec<_> =
        near.iter().filter_map(|near| spots(first + near.at.start, first + near.at.end.max(1) - 1)).collect();
    let around = needle.len().min(PUT_IN / 8) * 2 + 64;
    let (mut window, mut left, mut done) = (Window::default(), PUT_IN, lines.pieces.start());
    for (bytes, start) in lines.pieces.iter() {
        let end = lines.pieces.advance(start, bytes.len());
        let put_in = lines.pieces.origin(start).1.is_some();
        if !put_in || lines.pieces.order(end) <= lines.pieces.order(done) {
            continue;
        }
        let (from, before) = lines.pieces.retreat(start, around);
        let len = before + bytes.len() + around;
        if left < len {
            early = true;
            break;
        }
        left -= len;
        done = lines.pieces.advance(from, len);
        let window = window.of(lines.pieces, from, len);
        // A window may begin or end inside a character.
        let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
        let head = window.bytes().iter().take_while(is_inner).count();
        let text = whole_characters(&window.bytes()[head..]);
        let address = |at: usize| window.address(head + at) as usize;
        let near = nearest(text, &regions(text, needle), needle);
        found.extend(
            near.iter().filter_map(|near| spots(address(near.at.start), address(near.at.end.max(1) - 1))),
        );
    }
    (found, early)
}

/// A passage with as much blank around it as the needle has, and to where a long needle ends.
fn widened(lines: &Lines, mut start: Spot, mut end: Spot, needle: &str) -> Option<(Spot, Spot)> {
    end = to_end_of_long(lines, start, end, needle).unwrap_or(end);
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

/// Where a needle ends of which only the start was compared: behind what is nearest to its end, about as far on.
fn to_end_of_long(lines: &Lines, start: Spot, end: Spot, needle: &str) -> Option<Spot> {
    let tail_from = super::char_boundary(needle.as_bytes(), needle.len().checked_sub(TAIL)?);
    if needle.chars().nth(super::similar::COMPARED).is_none() || COMPARED < needle.len() {
        return None;
    }
    let mut window = Window::default();
    let window = window.of(lines.pieces, start, needle.len() * 3 / 2 + TAIL);
    let text = whole_characters(window.bytes());
    let tail = &needle[tail_from..];
    let near = nearest(text, &regions(text, tail), tail);
    let last = window.address(near.first()?.at.end.checked_sub(1)?);
    let tail_end = lines.pieces.advance(lines.pieces.spot(last)?, 1);
    (lines.pieces.order(end) < lines.pieces.order(tail_end)).then_some(tail_end)
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

fn described(lines: &Lines, needle: &str, start: Spot, end: Spot, mistake: Option<Mistake>) -> Place {
    let exact = lines.exact(start, end, COMPARED);
    let shown = &needle[..super::char_boundary(needle.as_bytes(), COMPARED)];
    let (differences, more) = differences(shown, &exact);
    let (score, shift) = (score(shown, &exact), shift(shown, &exact));
    let passage = lines.passage(start, end);
    Place { start, end, similar: Similar { passage, exact, score, differences, more, shift, mistake } }
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
) -> Result<Vec<Passage>> {
    let new_text = edit.new_text.as_str();
    if new_text.trim().is_empty() || new_text == edit.old_text {
        return Ok(Vec::new());
    }
    let sought = occurrences(&[new_text], lines.pieces, 100, control)?.pop().unwrap_or_default();
    let meant = |place: &Place| place.similar.mistake.is_some() || MEANT <= place.similar.score;
    let as_often = sought.count == edit.occurrences
        && new_text.trim().chars().nth(2).is_some()
        && !places.iter().any(meant);
    let there = |start: Spot, end: Spot| {
        places.iter().any(|place| {
            overlap(lines, place, start, end) && place.similar.score < score(new_text, &place.similar.exact)
        })
    };
    let told = sought.matches.iter().filter(|&&(start, end)| as_often || there(start, end));
    Ok(told.take(TOLD).map(|&(start, end)| lines.passage(start, end)).collect())
}
