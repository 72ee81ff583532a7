//! Many short needles in one pass over a text.
//!
//! Pure over `&[u8]`; knows no edits. The pass does not look at every byte: of a needle of at least `2q - 1` bytes the
//! grams of `q` bytes at its first `q` places are known, and whatever its place in the text, exactly one of them stands
//! at a multiple of `q`. So only these places are looked at, with one load and one table each. What the table lets
//! through is held against a hash of the needles' common shortest length, and what passes that is looked up in the
//! sorted needles, where all needles that begin at one place form one chain.

/// Needles are at most this long; longer ones are found by a stretch of them.
pub(super) const MAX_NEEDLE: usize = 64;

/// Shorter needles are not worth a table: nearly every gram of theirs is in any text.
pub(super) const MIN_NEEDLE: usize = 3;

/// The lengths `q` of grams, and with them the classes of needles: those of at least `2q - 1` bytes.
const GRAMS: [usize; 3] = [8, 4, 2];

/// Bits of a table's index.
const TABLE_BITS: u32 = 16;

/// All needles of one call.
#[derive(Debug)]
pub(super) struct Needles<'n> {
    classes: Vec<Class<'n>>,
}

#[derive(Debug)]
struct Class<'n> {
    gram: usize,
    /// Length of the shortest needle.
    shortest: usize,
    /// Invariant: sorted, without duplicates; each with its number in the call.
    sorted: Vec<(&'n [u8], u32)>,
    /// For each needle, the longest other one that it begins with.
    shorter: Vec<Option<u32>>,
    /// By hash of a gram: at which places of needles it stands, as bits.
    places: Box<[u8]>,
    /// By hash of the first `shortest` bytes of needles: whether there is one.
    heads: Box<[u64]>,
}

impl<'n> Needles<'n> {
    /// Takes `needles`, of [`MIN_NEEDLE`] to [`MAX_NEEDLE`] bytes and all different; each is called by its number.
    pub(super) fn new(needles: impl Iterator<Item = (&'n [u8], u32)>) -> Needles<'n> {
        let mut by_gram: [Vec<(&[u8], u32)>; GRAMS.len()] = Default::default();
        for (needle, number) in needles {
            debug_assert!((MIN_NEEDLE..=MAX_NEEDLE).contains(&needle.len()));
            if let Some(class) = GRAMS.iter().position(|gram| needle.len() >= 2 * gram - 1) {
                by_gram[class].push((needle, number));
            }
        }
        let classes = GRAMS.into_iter().zip(by_gram).filter(|(_, needles)| !needles.is_empty());
        Needles { classes: classes.map(|(gram, needles)| Class::new(gram, needles)).collect() }
    }

    /// Tells `found` the number and the place of every occurrence in `text`, overlapping ones too, until it says no.
    /// The occurrences of one needle come in order. Returns whether all were told.
    pub(super) fn find(&self, text: &[u8], found: &mut impl FnMut(u32, usize) -> bool) -> bool {
        self.classes.iter().all(|class| match class.gram {
            8 => class.find(text, |text, at| u64::from_le_bytes(load(text, at)), found),
            4 => class.find(text, |text, at| u32::from_le_bytes(load(text, at)).into(), found),
            _ => class.find(text, |text, at| u16::from_le_bytes(load(text, at)).into(), found),
        })
    }
}

/// `N` bytes at `at`, which are there.
#[inline]
fn load<const N: usize>(text: &[u8], at: usize) -> [u8; N] {
    text[at..].first_chunk().copied().unwrap_or([0; N])
}

/// The upper bits of a product are well mixed.
#[inline]
fn slot(gram: u64) -> usize {
    (gram.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - TABLE_BITS)) as usize
}

fn slot_of_head(head: &[u8]) -> usize {
    let mut hash = 0u64;
    for chunk in head.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    (hash >> (64 - TABLE_BITS)) as usize
}

impl<'n> Class<'n> {
    fn new(gram: usize, mut sorted: Vec<(&'n [u8], u32)>) -> Class<'n> {
        sorted.sort_unstable();
        let shortest = sorted.iter().map(|(needle, _)| needle.len()).min().unwrap_or(0);
        let mut places = vec![0u8; 1 << TABLE_BITS].into_boxed_slice();
        let mut heads = vec![0u64; (1 << TABLE_BITS) / 64].into_boxed_slice();
        for (needle, _) in &sorted {
            for at in 0..gram {
                let mut bytes = [0; 8];
                bytes[..gram].copy_from_slice(&needle[at..at + gram]);
                places[slot(u64::from_le_bytes(bytes))] |= 1 << at;
            }
            let head = slot_of_head(&needle[..shortest]);
            heads[head / 64] |= 1 << (head % 64);
        }
        let shorter = chains(&sorted);
        Class { gram, shortest, sorted, shorter, places, heads }
    }

    #[inline]
    fn find(
        &self,
        text: &[u8],
        load: impl Fn(&[u8], usize) -> u64,
        found: &mut impl FnMut(u32, usize) -> bool,
    ) -> bool {
        let Some(last) = text.len().checked_sub(self.gram) else { return true };
        (0..=last).step_by(self.gram).all(|at| {
            let places = self.places[slot(load(text, at))];
            places == 0 || self.look_closer(text, at, places, found)
        })
    }

    /// Tells which needles have the gram at `at` at one of the `places`. The places are taken from the last on, so that
    /// what is found comes in the order of the text.
    fn look_closer(
        &self,
        text: &[u8],
        at: usize,
        places: u8,
        found: &mut impl FnMut(u32, usize) -> bool,
    ) -> bool {
        (0..self.gram.min(at + 1)).rev().filter(|place| places >> place & 1 == 1).all(|place| {
            let start = at - place;
            let Some(head) = text.get(start..start + self.shortest) else { return true };
            let head = slot_of_head(head);
            self.heads[head / 64] >> (head % 64) & 1 == 0 || self.tell(text, start, found)
        })
    }

    fn tell(&self, text: &[u8], start: usize, found: &mut impl FnMut(u32, usize) -> bool) -> bool {
        let here = &text[start..text.len().min(start + MAX_NEEDLE)];
        // Every needle that the text goes on with is the last one that is not greater, or one that it begins with.
        let after = self.sorted.partition_point(|(needle, _)| *needle <= here);
        let mut next = after.checked_sub(1);
        while let Some(at) = next {
            let (needle, number) = self.sorted[at];
            if here.starts_with(needle) && !found(number, start) {
                return false;
            }
            next = self.shorter[at].map(|at| at as usize);
        }
        true
    }
}

/// For each of the sorted needles, the longest other one that it begins with.
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
        assert!(Needles::new(numbered).find(text.as_bytes(), &mut |number, at| {
            all.push((number, at));
            true
        }));
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

    #[test]
    fn the_search_ends_when_it_is_told_to() {
        let needles = Needles::new([(&b"abc"[..], 0)].into_iter());
        let mut count = 0;
        let all = needles.find(&b"abc".repeat(10), &mut |_, _| {
            count += 1;
            count < 3
        });
        assert!(!all && count == 3);
    }

    proptest! {
        #[test]
        fn every_occurrence_of_every_needle_is_found_once(
            text in "[ab]{0,200}",
            mut needles in prop::collection::vec("[ab]{3,24}", 1..12),
        ) {
            needles.sort();
            needles.dedup();
            let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
            prop_assert_eq!(found(&needles, &text), naive(&needles, &text));
        }
    }
}
