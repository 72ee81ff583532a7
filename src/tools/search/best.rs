//! The first files of a list in an order, of any number of files: keeps as many as an answer can show, counts the others.

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

/// See the module.
#[derive(Debug)]
pub(super) struct Best {
    /// The last of them on top.
    heap: BinaryHeap<Place>,
    /// Bytes of their lines.
    bytes: usize,
    /// Bytes that an answer can show.
    room: usize,
    /// Files that an answer can show.
    most: usize,
    /// Files that were offered.
    total: u64,
    /// A number for all files that were offered, whatever their order.
    state: u64,
}

impl Best {
    pub(super) fn new(room: Option<usize>, most: Option<u64>) -> Best {
        let most = most.and_then(|most| usize::try_from(most).ok());
        Best {
            heap: BinaryHeap::new(),
            bytes: 0,
            room: room.unwrap_or(usize::MAX),
            most: most.unwrap_or(usize::MAX),
            total: 0,
            state: 0,
        }
    }

    /// Takes a file that was shown before into account for [`Best::state`] only.
    pub(super) fn pass(&mut self, key: i128, path: &[u8]) {
        self.state = self.state.wrapping_add(xxh3_64_with_seed(path, key as u64));
    }

    /// Counts a file, and keeps it while it is among the first.
    pub(super) fn offer(&mut self, key: i128, path: &[u8]) {
        self.pass(key, path);
        self.total += 1;
        let is_full = self.bytes >= self.room || self.heap.len() >= self.most;
        if is_full && self.heap.peek().is_none_or(|last| last.cmp_to(key, path).is_lt()) {
            return;
        }
        self.heap.push(Place { key, path: path.to_vec() });
        self.bytes += path.len() + 1;
        while let Some(last) = self.heap.peek() {
            let len = last.path.len() + 1;
            // Those before it fill the answer.
            if self.bytes - len < self.room && self.heap.len() <= self.most {
                break;
            }
            self.bytes -= len;
            self.heap.pop();
        }
    }

    /// Number of files that were offered.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// A number for all files that were offered or passed, and their keys.
    pub(super) fn state(&self) -> u64 {
        self.state
    }

    /// The first files, in order.
    pub(super) fn into_sorted(self) -> Vec<Place> {
        self.heap.into_sorted_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(best: Best) -> Vec<(i128, String)> {
        let text = |place: Place| (place.key, String::from_utf8(place.path).unwrap());
        best.into_sorted().into_iter().map(text).collect()
    }

    #[test]
    fn the_first_files_are_kept_whatever_the_order_in_which_they_come() {
        for turn in 0..7 {
            let mut best = Best::new(None, Some(3));
            for n in 0..7 {
                let n = (n * 3 + turn) % 7;
                best.offer(n / 2, format!("f{n}").as_bytes());
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
            best.offer(0, format!("file-{n:05}").as_bytes());
            assert!(best.bytes < 100 + 11 && best.heap.len() <= 10);
        }
        let kept = places(best);
        assert_eq!((kept.len(), kept[0].1.as_str()), (10, "file-00000"));
    }

    #[test]
    fn the_state_tells_another_set_of_files_but_not_another_order() {
        let state = |files: &[(i128, &str)]| {
            let mut best = Best::new(None, Some(1));
            files.iter().for_each(|(key, path)| best.offer(*key, path.as_bytes()));
            best.state()
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
