//! A bounded search for passages similar to a text that was not found.
//!
//! Pure over `&[u8]`; knows no edits and no messages. The bound is the work, not the time, so that the same
//! call has the same result. One pass over the text counts for each block how many parts of the needle it
//! holds, with one lookup every four bytes. Only the best blocks are compared with the needle by character,
//! both folded.

use std::ops::Range;

use crate::order;
use crate::text_edit::diagnose::edit_distance::distances;
use crate::text_edit::diagnose::normalize::Normalized;
use crate::text_edit::work;

/// Maximum number of passages returned.
const TOLD: usize = 3;

/// Number of blocks compared by character.
const BLOCKS: usize = 12;

/// Number of characters compared, from the start of a needle.
pub(crate) const COMPARED: usize = 1_024;

/// A shorter text is one block.
const SMALL: usize = 16 * 1024;

/// Number of places that are looked at for a half of a needle, and the fewest bytes of one that is looked for.
const PLACES: usize = 1_000;
const LEAST_HALF: usize = 6;

/// Bytes searched for a short needle, which needs a lookup for every byte.
const SEARCHED_BYTEWISE: usize = 32 << 20;

/// Minimum score of a passage that is returned.
const LEAST: f64 = 0.55;

/// A passage similar to the needle.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Near {
    /// Its range in the text.
    pub(crate) at: Range<usize>,
    /// The share of the needle found in it, from 0 to 1; blanks, case and typographic marks are folded.
    pub(crate) score: f64,
}

/// The parts of a text that are similar to a needle, and whether the search for them stopped before its end.
#[derive(Debug)]
pub(crate) struct Regions {
    pub(crate) at: Vec<Range<usize>>,
    pub(crate) early: bool,
}

/// The parts of `text` that hold most of the grams at the start of `needle`.
pub(crate) fn regions(text: &[u8], needle: &str) -> Regions {
    if text.len() <= SMALL {
        return Regions { at: std::iter::once(0..text.len()).collect(), early: false };
    }
    let needle = start_of(needle).as_bytes();
    let short = needle.len() < 16;
    let (step, searched) = if short { (1, text.len().min(SEARCHED_BYTEWISE)) } else { (4, text.len()) };
    let grams = Grams::new(needle, if short { 3 } else { 4 });
    let block = needle.len().next_power_of_two().clamp(256, 4 * COMPARED);
    let mut best: Vec<(u32, usize)> = Vec::new();
    let (mut least, mut before) = (2, 0u64);
    for (number, bytes) in text[..searched].chunks(block).enumerate() {
        let here = grams.held(bytes, step);
        work::count(bytes.len());
        let count = (here | before).count_ones();
        before = here;
        if count < least {
            continue;
        }
        best.push((count, number));
        if best.len() == 2 * BLOCKS {
            // Of equal blocks, the first stay.
            order::sort_by_key(&mut best, |&(count, number)| (std::cmp::Reverse(count), number));
            best.truncate(BLOCKS);
            least = best[BLOCKS - 1].0 + 1;
        }
    }
    order::sort_by_key(&mut best, |&(count, number)| (std::cmp::Reverse(count), number));
    best.truncate(BLOCKS);
    let around = needle.len() * 3 / 2 + 128;
    let region = |&(_, number): &(u32, usize)| {
        let (start, end) = ((number.max(1) - 1) * block, (number + 1) * block);
        let from = crate::lines::char_boundary(text, start.saturating_sub(around));
        from..crate::lines::char_boundary(text, (end + around).min(text.len()))
    };
    let parts = standing_parts(text, needle).into_iter().map(|at| {
        let from = crate::lines::char_boundary(text, at.saturating_sub(around));
        from..crate::lines::char_boundary(text, (at + needle.len() + around).min(text.len()))
    });
    Regions { at: best.iter().map(region).chain(parts).collect(), early: searched < text.len() }
}

/// Where the needle would begin, in the places that hold the longest part of it to the letter: at least one of its halves. The
/// grams alone miss such a place where many blocks hold more of them, each somewhere else.
fn standing_parts(text: &[u8], needle: &[u8]) -> Vec<usize> {
    let half = needle.len() / 2;
    if half < LEAST_HALF {
        return Vec::new();
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for from in [0, half / 2, needle.len() - half] {
        work::count(text.len());
        let places = memchr::memmem::find_iter(text, &needle[from..from + half]).take(PLACES);
        found.extend(places.map(|at| {
            let before = needle[..from].iter().rev().zip(text[..at].iter().rev());
            let behind = needle[from + half..].iter().zip(&text[at + half..]);
            let equal = before.take_while(|(one, other)| one == other).count()
                + behind.take_while(|(one, other)| one == other).count();
            (equal, at.saturating_sub(from))
        }));
    }
    order::sort_by_key(&mut found, |&(equal, at)| (std::cmp::Reverse(equal), at));
    found.dedup();
    found.into_iter().take(BLOCKS).map(|(_, at)| at).collect()
}

/// The passages of `text` within `regions` that are most similar to `needle`, best first.
pub(crate) fn nearest(text: &[u8], regions: &Regions, needle: &str) -> Vec<Near> {
    let folded = Normalized::new(start_of(needle));
    let compared = &folded.trimmed()[..folded.trimmed().len().min(COMPARED)];
    if compared.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<Near> =
        regions.at.iter().flat_map(|region| closest(text, region.clone(), compared)).collect();
    order::sort_by(&mut found, |one, other| {
        other.score.total_cmp(&one.score).then(one.at.start.cmp(&other.at.start))
    });
    let mut told: Vec<Near> = Vec::new();
    for near in found {
        if told.iter().all(|other| near.at.end <= other.at.start || other.at.end <= near.at.start) {
            told.push(near);
        }
        if told.len() == TOLD {
            break;
        }
    }
    told
}

/// The start of a needle, which is the only part used.
fn start_of(needle: &str) -> &str {
    &needle[..crate::lines::char_boundary(needle.as_bytes(), needle.len().min(4 * COMPARED))]
}

/// The grams of a needle, in lower case, each mapped to one of 64 bits.
struct Grams {
    len: usize,
    bits: Box<[u8]>,
}

impl Grams {
    fn new(needle: &[u8], len: usize) -> Grams {
        let mut bits = vec![0u8; 1 << 16].into_boxed_slice();
        let count = needle.len().saturating_sub(len) + 1;
        for at in 0..count {
            let Some(gram) = needle.get(at..at + len) else { break };
            // Grams of blanks only are too frequent.
            if gram.iter().all(|byte| byte.is_ascii_whitespace()) {
                continue;
            }
            let mut bytes = [0; 4];
            bytes[..len].copy_from_slice(gram);
            let bit = 1 + (at * 63 / count) as u8;
            bits[slot(u32::from_le_bytes(bytes), len)] = bit;
        }
        Grams { len, bits }
    }

    /// The bits of the grams at every `step`th position of `bytes`.
    fn held(&self, bytes: &[u8], step: usize) -> u64 {
        let places = bytes.len().saturating_sub(3);
        let held = (0..places).step_by(step).fold(0u64, |held, at| {
            let gram = bytes[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            held | 1 << self.bits[slot(gram, self.len)]
        });
        // Bit 0 stands for grams that are not in the needle.
        held & !1
    }
}

/// Bytes that differ only in case have the same slot.
fn slot(gram: u32, len: usize) -> usize {
    let mask = if len < 4 { 0x00FF_FFFF } else { u32::MAX };
    (((gram | 0x2020_2020) & mask).wrapping_mul(0x9E37_79B1) >> 16) as usize
}

/// The last place of the word from `at` on that is as near: a letter in the place of another one belongs to the passage.
fn last_as_near(distances: &[u32], mut at: usize, char_at: impl Fn(usize) -> char) -> usize {
    while distances.get(at + 1) == Some(&distances[at]) && !char_at(at + 1).is_whitespace() {
        at += 1;
    }
    at
}

/// The passages of one region that are most similar to the needle, without overlap.
fn closest(text: &[u8], region: Range<usize>, needle: &[char]) -> Vec<Near> {
    let raw = String::from_utf8_lossy(&text[region.clone()]);
    if raw.len() != region.len() {
        // The bytes do not match the index.
        return Vec::new();
    }
    let folded = Normalized::new(&raw);
    let mut ends = distances(needle, folded.chars.iter().copied(), false);
    let mut found = Vec::new();
    while found.len() < TOLD {
        let Some((end, distance)) = ends.iter().copied().enumerate().min_by_key(|&(_, distance)| distance)
        else {
            break;
        };
        let end = last_as_near(&ends, end, |at| folded.chars[at]);
        let score = 1.0 - f64::from(distance) / needle.len() as f64;
        if score < LEAST {
            break;
        }
        // Compares backwards from the end to find the start of the passage.
        let backwards: Vec<char> = needle.iter().rev().copied().collect();
        let most = (end + 1).min(needle.len() * 2 + 8);
        let lengths = distances(&backwards, folded.chars[..=end].iter().rev().take(most).copied(), true);
        let shortest = lengths.iter().enumerate().min_by_key(|&(_, distance)| distance);
        let len = shortest
            .map_or(1, |(at, _)| 1 + last_as_near(&lengths, at, |at| folded.chars[end.saturating_sub(at)]));
        let start = end + 1 - len;
        let at = folded.range(start..end + 1);
        found.push(Near { at: region.start + at.start..region.start + at.end, score });
        let taken = start..(end + needle.len().div_ceil(2)).min(ends.len());
        ends[taken].fill(u32::MAX);
        if distance == u32::MAX {
            break;
        }
    }
    found
}
