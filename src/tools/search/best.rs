//! The first entries of a list in an order, of any number of files: keeps as many as an answer can show, counts the others.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::tools::walking::{kept, path_kept};

/// The place of a file in the order: those with a larger key come first, then by the bytes of their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) key: i128,
    pub(super) path: Vec<u8>,
}

impl Place {
    /// How this place is ordered to that of another file.
    pub(super) fn cmp_to(&self, key: i128, path: &[u8]) -> Ordering {
        key.cmp(&self.key).then_with(|| self.path.as_slice().cmp(path))
    }

    /// The place as a cursor keeps it.
    pub(super) fn text(&self) -> String {
        format!("{} {}", self.key, kept(&self.path))
    }

    /// The place that [`Place::text`] gave.
    pub(super) fn parse(text: &str) -> Option<Place> {
        let (key, path) = text.split_once(' ')?;
        Some(Place { key: key.parse().ok()?, path: path_kept(path).into_owned() })
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        self.cmp_to(other.key, &other.path)
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A number for a file and its key: the sum over files is one for all of them, whatever their order.
pub(super) fn state_of_file(key: i128, path: &[u8]) -> u64 {
    xxh3_64_with_seed(path, key as u64)
}

/// What an answer lists: entries are ordered as the list is.
pub(super) trait Entry: Ord {
    /// Bytes of its line.
    fn line_len(&self) -> usize;
}

impl Entry for Place {
    fn line_len(&self) -> usize {
        self.path.len() + 1
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Best<E> {
    /// The last of them on top.
    heap: BinaryHeap<E>,
    /// Bytes of their lines.
    bytes: usize,
    /// Bytes that an answer can show.
    room: usize,
    /// Entries that an answer can show.
    most: usize,
    /// Entries that were offered.
    total: u64,
}

impl<E: Entry> Best<E> {
    pub(super) fn new(room: Option<usize>, most: Option<u64>) -> Best<E> {
        let most = most.and_then(|most| usize::try_from(most).ok());
        Best {
            heap: BinaryHeap::new(),
            bytes: 0,
            room: room.unwrap_or(usize::MAX),
            most: most.unwrap_or(usize::MAX),
            total: 0,
        }
    }

    /// Counts an entry, and keeps it while it is among the first: unless the answer is full and it comes behind the last.
    pub(super) fn offer(&mut self, is_behind: impl FnOnce(&E) -> bool, entry: impl FnOnce() -> E) {
        self.total += 1;
        let is_full = self.bytes >= self.room || self.heap.len() >= self.most;
        if is_full && self.heap.peek().is_none_or(is_behind) {
            return;
        }
        let entry = entry();
        self.bytes += entry.line_len();
        self.heap.push(entry);
        while let Some(last) = self.heap.peek() {
            let len = last.line_len();
            // Those before it fill the answer.
            if switches::is_off("search-bounded")
                || self.bytes - len < self.room && self.heap.len() <= self.most
            {
                break;
            }
            self.bytes -= len;
            self.heap.pop();
        }
    }

    /// Number of entries that were offered.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The first entries, in order.
    pub(super) fn into_sorted(self) -> Vec<E> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(best: &mut Best<Place>, key: i128, path: &str) {
        let place = Place { key, path: path.into() };
        best.offer(|last| place > *last, || place.clone());
    }

    fn places(best: Best<Place>) -> Vec<(i128, String)> {
        let text = |place: Place| (place.key, String::from_utf8(place.path).unwrap());
        best.into_sorted().into_iter().map(text).collect()
    }

    #[test]
    fn the_first_files_are_kept_whatever_the_order_in_which_they_come() {
        for turn in 0..7 {
            let mut best = Best::new(None, Some(3));
            for n in 0..7 {
                let n = (n * 3 + turn) % 7;
                offer(&mut best, n / 2, &format!("f{n}"));
            }
            assert_eq!(best.total(), 7);
            let expected = [(3, "f6"), (2, "f4"), (2, "f5")].map(|(key, path)| (key, path.to_owned()));
            assert_eq!(places(best), expected, "{turn}");
        }
    }

    #[test]
    fn no_more_is_kept_than_an_answer_shows() {
        let mut best = Best::new(Some(100), None);
        for n in (0..10_000).rev() {
            offer(&mut best, 0, &format!("file-{n:05}"));
            assert!(best.bytes < 100 + 11 && best.heap.len() <= 10);
        }
        let kept = places(best);
        assert_eq!((kept.len(), kept[0].1.as_str()), (10, "file-00000"));
    }

    #[test]
    fn the_state_tells_another_set_of_files_but_not_another_order() {
        let state = |files: &[(i128, &str)]| {
            files
                .iter()
                .fold(0, |sum: u64, (key, path)| sum.wrapping_add(state_of_file(*key, path.as_bytes())))
        };
        assert_eq!(state(&[(1, "a"), (2, "b")]), state(&[(2, "b"), (1, "a")]));
        assert_ne!(state(&[(1, "a"), (2, "b")]), state(&[(1, "b"), (2, "a")]));
        assert_ne!(state(&[(1, "a")]), state(&[]));
    }

    #[test]
    fn a_place_is_read_back_whatever_the_path() {
        for path in [&b"a b"[..], "ä".as_bytes(), b"\xff 1", b""] {
            let place = Place { key: -7, path: path.to_vec() };
            assert_eq!(Place::parse(&place.text()), Some(place));
        }
        assert!(["", "7", "x y"].iter().all(|text| Place::parse(text).is_none()));
    }
}
