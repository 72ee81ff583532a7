//! The answers `files_with_matches` and `count` of `grep`: files, and how many of their lines match.

use std::cmp::{Ordering, Reverse};

use crate::tools::search::best::Entry;
use engine::FoundFile;

/// A file with matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchedFile {
    /// Files of a larger rank come first: the time of the last change, or the relevance.
    pub(super) rank: i128,
    pub(super) folder: usize,
    /// Below the folder that is searched.
    pub(super) path: Vec<u8>,
    /// Below its served folder.
    pub(super) whole_path: Vec<u8>,
    /// As it is told.
    pub(super) shown: String,
    pub(super) count: u64,
    pub(super) state: u64,
}

impl MatchedFile {
    pub(super) fn new(file: &FoundFile, rank: i128, shown: String, state: u64) -> MatchedFile {
        let (path, whole_path) = (file.path[file.base..].to_vec(), file.path.clone());
        let (folder, count) = (file.folder, file.matches);
        MatchedFile { rank, folder, path, whole_path, shown, count, state }
    }

    /// Whether it comes behind this place in a list by rank.
    pub(super) fn is_behind(&self, rank: i128, folder: usize, path: &[u8]) -> bool {
        self.by_rank() > (Reverse(rank), folder, path)
    }

    /// Where it stands in such a list.
    fn by_rank(&self) -> (Reverse<i128>, usize, &[u8]) {
        (Reverse(self.rank), self.folder, &self.path)
    }
}

impl Ord for MatchedFile {
    /// The file of the largest rank comes first.
    fn cmp(&self, other: &MatchedFile) -> Ordering {
        self.by_rank().cmp(&other.by_rank())
    }
}

impl PartialOrd for MatchedFile {
    fn partial_cmp(&self, other: &MatchedFile) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Entry for MatchedFile {
    fn line_len(&self) -> usize {
        self.shown.len() + 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(rank: i128, path: &str) -> MatchedFile {
        let path = path.as_bytes().to_vec();
        MatchedFile {
            rank,
            folder: 0,
            whole_path: path.clone(),
            path,
            shown: "name".into(),
            count: 1,
            state: 0,
        }
    }

    #[test]
    fn files_of_a_larger_rank_come_first_and_those_of_one_rank_by_their_paths() {
        let mut files = [file(1, "b"), file(1, "a"), file(2, "c"), file(1, "c")];
        files.sort();
        let paths: Vec<_> = files.iter().map(|file| (file.rank, &file.path[..])).collect();
        assert_eq!(paths, [(2, &b"c"[..]), (1, b"a"), (1, b"b"), (1, b"c")]);
        assert!(
            files[2].is_behind(1, 0, b"a")
                && !files[2].is_behind(1, 0, b"b")
                && files[2].is_behind(2, 0, b"z")
        );
    }
}
