//! Searches many short needles in one pass over a text.
//!
//! Pure over `&[u8]`; knows no edits. Needles of one or two bytes are looked up at every position. For
//! others, the pass skips bytes. For a needle of at least `2q - 1` bytes, the grams of `q` bytes at its first
//! `q` positions are stored. Wherever the needle occurs, exactly one of them is at a multiple of `q` in the
//! text. So only these positions are looked up, in one table. A hit is then compared with a hash of the
//! needle's start (of the length of the shortest needle), and last looked up in the sorted needles, where all
//! needles that start at one position form one chain.

use crate::order;
use crate::text_edit::work;

/// Maximum length of a needle in bytes; a longer text is found by a stretch of it.
pub(crate) const MAX_NEEDLE: usize = 64;

/// Shorter needles have a table of their own, because almost every gram of theirs is in any text.
const MIN_NEEDLE: usize = 3;

/// The lengths `q` of grams. Each is a class of needles: those of at least `2q - 1` bytes.
const GRAMS: [usize; 3] = [8, 4, 2];

/// Minimum and maximum number of bits of a table index.
const TABLE_BITS: std::ops::RangeInclusive<u32> = 16..=20;

/// All needles of one call.
#[derive(Debug)]
pub(crate) struct MultiPattern<'n> {
    short: Option<Short>,
    classes: Vec<Class<'n>>,
}

/// Needles of one or two bytes; a single byte is stored twice.
#[derive(Debug)]
struct Short {
    /// Bit set of the byte pairs that are a needle or start with one.
    pairs: Box<[u64]>,
    /// Both sorted, with the needles' numbers in the call.
    ones: Vec<(u16, u32)>,
    twos: Vec<(u16, u32)>,
}

#[derive(Debug)]
struct Class<'n> {
    gram: usize,
    /// Length of the shortest needle.
    shortest: usize,
    /// The needles with their numbers in the call. Invariant: sorted, without duplicates.
    sorted: Vec<(&'n [u8], u32)>,
    /// For each needle, the longest other needle that is a prefix of it.
    shorter: Vec<Option<u32>>,
    /// Bit set of the first two bytes of all needles.
    firsts: Box<[u64]>,
    /// The shift that turns a hash into a table index.
    shift: u32,
    /// By hash of a gram: bit set of its positions in needles.
    places: Box<[u8]>,
    /// Bit sets by hash: of the first `shortest` bytes of each needle, and of the last gram in these bytes.
    heads: Box<[u64]>,
    tails: Box<[u64]>,
}

impl<'n> MultiPattern<'n> {
    /// Takes `needles` of 1 to [`MAX_NEEDLE`] bytes, all different, each with its number.
    pub(crate) fn new(needles: impl Iterator<Item = (&'n [u8], u32)>) -> MultiPattern<'n> {
        let mut by_gram: [Vec<(&[u8], u32)>; GRAMS.len()] = Default::default();
        let (mut ones, mut twos) = (Vec::new(), Vec::new());
        for (needle, number) in needles {
            debug_assert!((1..=MAX_NEEDLE).contains(&needle.len()));
            if needle.len() < MIN_NEEDLE {
                // Compares bytes: with slice patterns, rustc 1.95 stores a wrong number (opt-level 3).
                let of = if needle.len() == 1 { &mut ones } else { &mut twos };
                of.push((u16::from_le_bytes([needle[0], needle[needle.len() - 1]]), number));
            } else if let Some(class) = GRAMS.iter().position(|gram| needle.len() >= 2 * gram - 1) {
                by_gram[class].push((needle, number));
            }
        }
        let classes = GRAMS.into_iter().zip(by_gram).filter(|(_, needles)| !needles.is_empty());
        let classes = classes.map(|(gram, needles)| Class::new(gram, needles)).collect();
        let short = (!ones.is_empty() || !twos.is_empty()).then(|| Short::new(ones, twos));
        MultiPattern { short, classes }
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        let class = |class: &Class| {
            let needle = size_of::<(&[u8], u32)>() + size_of::<Option<u32>>();
            class.sorted.capacity() * needle
                + class.places.len()
                + (2 * class.heads.len() + class.firsts.len()) * 8
        };
        let short = self.short.as_ref().map_or(0, |short| short.pairs.len() * 8);
        self.classes.iter().map(class).sum::<usize>() + short
    }

    /// Whether there are no needles.
    pub(crate) fn is_empty(&self) -> bool {
        self.short.is_none() && self.classes.is_empty()
    }

    /// Calls `found` with the number and position of every occurrence in `text`, for each needle in order.
    /// Returns how many comparisons with needles of three bytes or more failed.
    pub(crate) fn find(&self, text: &[u8], found: &mut impl FnMut(u32, usize)) -> usize {
        self.short.iter().for_each(|short| short.find(text, found));
        let classes = self.classes.iter().map(|class| match class.gram {
            8 => class.find(text, |text, at| u64::from_le_bytes(load(text, at)), found),
            4 => class.find(text, |text, at| u32::from_le_bytes(load(text, at)).into(), found),
            _ => class.find(text, |text, at| u16::from_le_bytes(load(text, at)).into(), found),
        });
        classes.sum()
    }
}

impl Short {
    fn new(mut ones: Vec<(u16, u32)>, mut twos: Vec<(u16, u32)>) -> Short {
        order::sort_by(&mut ones, Ord::cmp);
        order::sort_by(&mut twos, Ord::cmp);
        let mut pairs = vec![0u64; (1 << 16) / 64].into_boxed_slice();
        let mut set = |pair: u16| pairs[usize::from(pair) / 64] |= 1 << (pair % 64);
        twos.iter().for_each(|(two, _)| set(*two));
        for (one, _) in &ones {
            (0..=u8::MAX).for_each(|next| set(u16::from_le_bytes([one.to_le_bytes()[0], next])));
        }
        Short { pairs, ones, twos }
    }

    fn find(&self, text: &[u8], found: &mut impl FnMut(u32, usize)) {
        let number = |all: &[(u16, u32)], pair: u16| {
            let at = all.binary_search_by_key(&pair, |(other, _)| *other).ok()?;
            Some(all[at].1)
        };
        let one = |byte: u8| number(&self.ones, u16::from_le_bytes([byte, byte]));
        for (at, bytes) in text.windows(2).enumerate() {
            let pair = u16::from_le_bytes([bytes[0], bytes[1]]);
            if self.pairs[usize::from(pair) / 64] >> (pair % 64) & 1 == 1 {
                one(bytes[0]).into_iter().for_each(|one| found(one, at));
                number(&self.twos, pair).into_iter().for_each(|two| found(two, at));
            }
        }
        // The last byte starts no pair.
        let last = text.last().and_then(|&byte| one(byte));
        last.into_iter().for_each(|last| found(last, text.len() - 1));
    }
}

/// `N` bytes at `at`, which must exist.
#[inline]
fn load<const N: usize>(text: &[u8], at: usize) -> [u8; N] {
    text[at..].first_chunk().copied().unwrap_or([0; N])
}

/// Uses the upper bits of the product, which are well mixed.
#[inline]
fn slot(gram: u64, shift: u32) -> usize {
    (gram.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) as usize
}

fn slot_of_head(head: &[u8], shift: u32) -> usize {
    let mut hash = 0u64;
    for chunk in head.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    (hash >> shift) as usize
}

impl<'n> Class<'n> {
    fn new(gram: usize, mut sorted: Vec<(&'n [u8], u32)>) -> Class<'n> {
        order::sort_by(&mut sorted, Ord::cmp);
        let shortest = sorted.iter().map(|(needle, _)| needle.len()).min().unwrap_or(0);
        // Large enough that most grams of the text that are in no needle hit an empty entry.
        let bits = (sorted.len() * gram * 8).ilog2().clamp(*TABLE_BITS.start(), *TABLE_BITS.end());
        let shift = 64 - bits;
        let mut places = vec![0u8; 1 << bits].into_boxed_slice();
        let mut heads = vec![0u64; (1 << bits) / 64].into_boxed_slice();
        let mut tails = heads.clone();
        let mut firsts = vec![0u64; (1 << 16) / 64].into_boxed_slice();
        for (needle, _) in &sorted {
            let first = u16::from_le_bytes([needle[0], needle[1]]);
            firsts[usize::from(first) / 64] |= 1 << (first % 64);
            let slot_at = |at: usize| {
                let mut bytes = [0; 8];
                bytes[..gram].copy_from_slice(&needle[at..at + gram]);
                slot(u64::from_le_bytes(bytes), shift)
            };
            (0..gram).for_each(|at| places[slot_at(at)] |= 1 << at);
            let tail = slot_at(shortest - gram);
            tails[tail / 64] |= 1 << (tail % 64);
            let head = slot_of_head(&needle[..shortest], shift);
            heads[head / 64] |= 1 << (head % 64);
        }
        let shorter = chains(&sorted);
        Class { gram, shortest, sorted, shorter, firsts, shift, places, heads, tails }
    }

    #[inline]
    fn find(
        &self,
        text: &[u8],
        load: impl Fn(&[u8], usize) -> u64,
        found: &mut impl FnMut(u32, usize),
    ) -> usize {
        let Some(last) = text.len().checked_sub(self.gram) else { return 0 };
        let mut looks = 0;
        for at in (0..=last).step_by(self.gram) {
            let places = self.places[slot(load(text, at), self.shift)];
            if places != 0 {
                looks += self.look_closer(text, at, places, &load, found);
            }
        }
        looks
    }

    /// Checks which needles have the gram at `at` at one of `places`. Takes the places in descending order,
    /// so that occurrences come in text order.
    fn look_closer(
        &self,
        text: &[u8],
        at: usize,
        places: u8,
        load: &impl Fn(&[u8], usize) -> u64,
        found: &mut impl FnMut(u32, usize),
    ) -> usize {
        let mut looks = 0;
        for place in (0..self.gram.min(at + 1)).rev().filter(|place| places >> place & 1 == 1) {
            let start = at - place;
            let Some(head) = text.get(start..start + self.shortest) else { continue };
            let first = u16::from_le_bytes([head[0], head[1]]);
            if self.firsts[usize::from(first) / 64] >> (first % 64) & 1 == 0 {
                continue;
            }
            let tail = slot(load(text, start + self.shortest - self.gram), self.shift);
            if self.tails[tail / 64] >> (tail % 64) & 1 == 0 {
                continue;
            }
            work::count(head.len());
            let head = slot_of_head(head, self.shift);
            if self.heads[head / 64] >> (head % 64) & 1 == 1 {
                looks += self.tell(text, start, found);
            }
        }
        looks
    }

    fn tell(&self, text: &[u8], start: usize, found: &mut impl FnMut(u32, usize)) -> usize {
        // Counts the needles compared in the binary search.
        work::count(self.shortest * (1 + self.sorted.len().ilog2() as usize));
        let here = &text[start..text.len().min(start + MAX_NEEDLE)];
        let mut in_vain = 0;
        // Every needle that matches is the last one that is not greater than the text, or a prefix of it.
        let after = self.sorted.partition_point(|(needle, _)| *needle <= here);
        let mut next = after.checked_sub(1);
        while let Some(at) = next {
            let (needle, number) = self.sorted[at];
            work::count(needle.len());
            if here.starts_with(needle) {
                found(number, start);
            } else {
                in_vain += 1;
            }
            next = self.shorter[at].map(|at| at as usize);
        }
        in_vain + usize::from(after == 0)
    }
}

/// For each of the sorted needles, the longest other needle that is a prefix of it.
fn chains(sorted: &[(&[u8], u32)]) -> Vec<Option<u32>> {
    let mut open: Vec<u32> = Vec::new();
    let mut chains = Vec::with_capacity(sorted.len());
    for (at, (needle, _)) in sorted.iter().enumerate() {
        while open.last().is_some_and(|&last| !needle.starts_with(sorted[last as usize].0)) {
            open.pop();
        }
        chains.push(open.last().copied());
        // A call has at most a thousand needles.
        open.push(at as u32);
    }
    chains
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(needles: &[&str], text: &str) -> Vec<(u32, usize)> {
        let numbered = needles.iter().enumerate().map(|(number, needle)| (needle.as_bytes(), number as u32));
        let mut all = Vec::new();
        MultiPattern::new(numbered).find(text.as_bytes(), &mut |number, at| all.push((number, at)));
        for number in 0..needles.len() as u32 {
            let places: Vec<_> = all.iter().filter(|(other, _)| *other == number).collect();
            assert!(places.is_sorted(), "{places:?}");
        }
        all.sort_unstable();
        all
    }

    fn naive(needles: &[&str], text: &str) -> Vec<(u32, usize)> {
        let starts = |needle: &str| {
            (0..text.len()).filter(|&at| text.as_bytes()[at..].starts_with(needle.as_bytes())).collect()
        };
        let of = |(number, needle): (usize, &&str)| {
            let places: Vec<usize> = starts(needle);
            places.into_iter().map(move |at| (number as u32, at)).collect::<Vec<_>>()
        };
        needles.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn needles_that_begin_with_others_are_all_found() {
        let needles = ["abc", "abcd", "abcdabcd", "abcdabcdabcdabcdabcd", "bcd"];
        let text = "abcd".repeat(9);
        assert_eq!(found(&needles, &text), naive(&needles, &text));
    }

    proptest! {
        #[test]
        fn every_occurrence_of_every_needle_is_found_once(
            text in "[ab]{0,200}",
            mut needles in prop::collection::vec("[ab]{1,24}", 1..12),
        ) {
            needles.sort();
            needles.dedup();
            let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&needles, &text), naive(&needles, &text));
        }
    }
}
