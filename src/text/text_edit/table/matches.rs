//! A compact list of matches: a byte or two each.
//!
//! Knows cursors, not texts. The matches are in text order and do not overlap.

use crate::packed::Packed;
use crate::text_edit::table::cursor::Cursor;

#[derive(Debug, Default)]
pub(crate) struct Matches {
    count: u64,
    /// For each match in the same leaf as the one before: the distance in bytes from the end of that one. The
    /// two lowest bits of the number say what follows: the length, or both cursors.
    packed: Packed,
    last: Last,
}

/// The previous match.
#[derive(Debug, Default, Clone, Copy)]
struct Last {
    end: Cursor,
    len: usize,
}

const SAME_LENGTH: u64 = 0;
const OTHER_LENGTH: u64 = 1;
const OTHER_LEAVES: u64 = 2;

impl Matches {
    /// Number of matches.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.packed.memory()
    }

    /// Appends a match.
    pub(crate) fn push(&mut self, start: Cursor, end: Cursor) {
        self.count += 1;
        let len = end.offset.wrapping_sub(start.offset);
        let in_one = start.leaf == self.last.end.leaf && start.leaf == end.leaf;
        if !in_one || start.offset < self.last.end.offset {
            self.packed.push(OTHER_LEAVES);
            let numbers = [start.leaf as usize, start.offset, end.leaf as usize, end.offset];
            numbers.iter().for_each(|&number| self.packed.push(number as u64));
            self.last = Last { end, len: 0 };
            return;
        }
        let gap = (start.offset - self.last.end.offset) as u64;
        if len == self.last.len {
            self.packed.push(gap << 2 | SAME_LENGTH);
        } else {
            self.packed.push(gap << 2 | OTHER_LENGTH);
            self.packed.push(len as u64);
        }
        self.last = Last { end, len };
    }

    /// Start and end of each match.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cursor, Cursor)> {
        let (mut numbers, mut last) = (self.packed.read(), Last::default());
        std::iter::from_fn(move || {
            let head = numbers.next()?;
            let mut number = || numbers.next().map(|number| number as usize);
            let (start, end, len);
            if head & 3 == OTHER_LEAVES {
                start = Cursor { leaf: number()? as u32, offset: number()? };
                end = Cursor { leaf: number()? as u32, offset: number()? };
                len = 0;
            } else {
                len = if head & 3 == OTHER_LENGTH { number()? } else { last.len };
                start = Cursor { leaf: last.end.leaf, offset: last.end.offset + (head >> 2) as usize };
                end = Cursor { offset: start.offset + len, ..start };
            }
            last = Last { end, len };
            Some((start, end))
        })
    }

    /// The first match.
    pub(crate) fn first(&self) -> Option<(Cursor, Cursor)> {
        self.iter().next()
    }
}

impl FromIterator<(Cursor, Cursor)> for Matches {
    fn from_iter<I: IntoIterator<Item = (Cursor, Cursor)>>(all: I) -> Matches {
        let mut matches = Matches::default();
        all.into_iter().for_each(|(start, end)| matches.push(start, end));
        matches
    }
}

/// The matches of an edit.
#[derive(Debug, Default)]
pub(crate) struct Sought {
    /// Number of matches, counted from the start without overlap.
    pub(crate) count: u64,
    /// Start and end of the first of them.
    pub(crate) matches: Matches,
}

impl Sought {
    /// Adds a match. Stores at most `keep` matches.
    pub(crate) fn add(&mut self, start: Cursor, end: Cursor, keep: usize) {
        self.count += 1;
        if self.matches.len() < keep as u64 {
            self.matches.push(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_million_like_matches_take_a_byte_each() {
        let cursor = |offset| Cursor { leaf: 2, offset };
        let matches: Matches = (0..1_000_000).map(|nth| (cursor(2 * nth), cursor(2 * nth + 1))).collect();
        assert_eq!(matches.len(), 1_000_000);
        assert!(matches.memory() < 1_050_000, "{}", matches.memory());
        assert_eq!(matches.iter().last(), Some((cursor(1_999_998), cursor(1_999_999))));
    }

    proptest! {
        #[test]
        fn matches_come_back_as_they_were_put(
            steps in prop::collection::vec((0..4u32, 0..200usize, 0..3u32, 0..200usize), 0..50),
        ) {
            let (mut at, mut all) = (Cursor { leaf: 2, offset: 0 }, Vec::new());
            let mut step = |leaves: u32, bytes: usize| {
                at = match leaves {
                    0 => Cursor { offset: at.offset + bytes, ..at },
                    leaves => Cursor { leaf: (at.leaf + leaves) % 7, offset: bytes },
                };
                at
            };
            for (apart, gap, across, len) in steps {
                let start = step(apart / 3, gap);
                all.push((start, step(across / 2, len)));
            }
            let matches: Matches = all.iter().copied().collect();
            prop_assert_eq!(matches.iter().collect::<Vec<_>>(), all);
        }
    }
}
