//! The answers `files_with_matches` and `count` of `grep`: files, and how many of their lines match.

use crate::engine::FoundFile;

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
        let (modified_ns, folder, count) = (file.stamp.mtime_ns, file.folder, file.count);
        MatchedFile { modified_ns, folder, path, whole_path, shown, count, state }
    }

    /// Where it stands in a list, newest first.
    fn by_time(&self) -> (std::cmp::Reverse<i128>, usize, &[u8]) {
        (std::cmp::Reverse(self.modified_ns), self.folder, &self.path)
    }

    /// Whether it comes behind this place in a list, newest first.
    pub(super) fn is_behind(&self, modified_ns: i128, folder: usize, path: &[u8]) -> bool {
        self.by_time() > (std::cmp::Reverse(modified_ns), folder, path)
    }

    /// Bytes of its line.
    fn len(&self) -> usize {
        self.shown.len() + 4
    }
}

/// The files with matches that are changed last; only as many as an answer can hold.
#[derive(Debug)]
pub(super) struct NewestFiles {
    files: Vec<MatchedFile>,
    /// Files that are wanted at most.
    limit: usize,
    /// Bytes of their lines that are wanted at most.
    room: usize,
    bytes: usize,
}

impl NewestFiles {
    pub(super) fn new(limit: usize, room: usize) -> NewestFiles {
        NewestFiles { files: Vec::new(), limit, room, bytes: 0 }
    }

    pub(super) fn push(&mut self, file: MatchedFile) {
        self.bytes += file.len();
        self.files.push(file);
        let is_much = self.files.len() / 2 > self.limit || self.bytes / 2 > self.room;
        if is_much && self.files.len() > 64 {
            self.shorten();
        }
    }

    /// Drops what an answer cannot hold.
    fn shorten(&mut self) {
        self.files.sort_unstable_by(|one, other| one.by_time().cmp(&other.by_time()));
        let mut bytes = 0;
        let fits = |file: &&MatchedFile| {
            bytes += file.len();
            bytes <= self.room
        };
        let count = self.files.iter().take_while(fits).count().clamp(1, self.limit.max(1));
        self.files.truncate(count.max(64).min(self.files.len()));
        self.bytes = self.files.iter().map(MatchedFile::len).sum();
    }

    /// The files, newest first.
    pub(super) fn finish(mut self) -> Vec<MatchedFile> {
        self.files.sort_unstable_by(|one, other| one.by_time().cmp(&other.by_time()));
        self.files
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
    fn the_newest_files_come_first_and_no_more_than_an_answer_holds_are_kept() {
        let mut newest = NewestFiles::new(10, 1 << 20);
        for time in 0..10_000 {
            newest.push(file(time * 7_919 % 10_000, "a"));
            assert!(newest.files.len() <= 65);
        }
        let times: Vec<i128> = newest.finish().iter().map(|file| file.modified_ns).take(10).collect();
        assert_eq!(times, (9_990..10_000).rev().collect::<Vec<_>>());
    }

    #[test]
    fn files_of_one_time_come_by_their_paths() {
        let mut newest = NewestFiles::new(10, 1 << 20);
        ["b", "a", "c"].iter().for_each(|path| newest.push(file(1, path)));
        let files = newest.finish();
        assert_eq!(files.iter().map(|file| &file.path[..]).collect::<Vec<_>>(), [b"a", b"b", b"c"]);
        assert!(
            files[1].is_behind(1, 0, b"a")
                && !files[1].is_behind(1, 0, b"b")
                && files[1].is_behind(2, 0, b"z")
        );
    }
}
