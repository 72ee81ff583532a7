//! The answers `files_with_matches` and `count` of `grep`: files, and how many of their lines match.

use std::cmp::{Ordering, Reverse};

use crate::tools::search::best::Entry;
use engine::FoundFile;

/// A file with matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchedFile {
    pub(super) modified_ns: i128,
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
    pub(super) fn new(file: &FoundFile, shown: String, state: u64) -> MatchedFile {
        let (path, whole_path) = (file.path[file.base..].to_vec(), file.path.clone());
        let (modified_ns, folder, count) = (file.stamp.mtime_ns, file.folder, file.matches);
        MatchedFile { modified_ns, folder, path, whole_path, shown, count, state }
    }

    /// Whether it comes behind this place in a list, newest first.
    pub(super) fn is_behind(&self, modified_ns: i128, folder: usize, path: &[u8]) -> bool {
        self.by_time() > (Reverse(modified_ns), folder, path)
    }

    /// Where it stands in such a list.
    fn by_time(&self) -> (Reverse<i128>, usize, &[u8]) {
        (Reverse(self.modified_ns), self.folder, &self.path)
    }
}

impl Ord for MatchedFile {
    /// The file that was changed last comes first.
    fn cmp(&self, other: &MatchedFile) -> Ordering {
        self.by_time().cmp(&other.by_time())
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

    fn file(time: i128, path: &str) -> MatchedFile {
        let path = path.as_bytes().to_vec();
        MatchedFile {
            modified_ns: time,
            folder: 0,
            whole_path: path.clone(),
            path,
            shown: "name".into(),
            count: 1,
            state: 0,
        }
    }

    #[test]
    fn the_newest_files_come_first_and_those_of_one_time_by_their_paths() {
        let mut files = [file(1, "b"), file(1, "a"), file(2, "c"), file(1, "c")];
        files.sort();
        let paths: Vec<_> = files.iter().map(|file| (file.modified_ns, &file.path[..])).collect();
        assert_eq!(paths, [(2, &b"c"[..]), (1, b"a"), (1, b"b"), (1, b"c")]);
        assert!(
            files[2].is_behind(1, 0, b"a")
                && !files[2].is_behind(1, 0, b"b")
                && files[2].is_behind(2, 0, b"z")
        );
    }
}
