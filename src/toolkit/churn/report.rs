//! The result of an analysis of churn.

use std::sync::Arc;

use super::git::commit::Author;

/// See the module.
#[derive(Debug)]
pub struct Churn {
    /// The commit of `HEAD`, as hexadecimal digits.
    pub head: String,
    /// The begin of the period, in seconds since 1970.
    pub since: i64,
    /// Commits of the period, merges among them.
    pub commits: u64,
    /// Those of them with several parents. They add no lines.
    pub merges: u64,
    /// Who wrote the commits, by their number of commits.
    pub authors: Vec<AuthorCommits>,
    /// Lines added in all files.
    pub added: u64,
    /// Lines deleted in all files.
    pub deleted: u64,
    /// The files, those with the most changed lines first.
    pub files: Vec<FileChurn>,
    /// Commits that changed more files than are analysed; their files are left out.
    pub oversized: Vec<String>,
    /// The walk ended before the first commit of the history.
    pub is_cut: bool,
    /// If the time was up: what was not counted of the period, the oldest commits.
    pub late: Option<Uncounted>,
}

/// The commits that were not counted because the time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncounted {
    /// Those that were met.
    pub commits: usize,
    /// There may be older ones that were not met.
    pub has_unseen: bool,
}

/// One author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorCommits {
    /// Name and address.
    pub author: Arc<Author>,
    /// Commits.
    pub commits: u64,
}

/// The churn of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChurn {
    /// Its present path below the project; of a removed file, the last one.
    pub path: Box<[u8]>,
    /// Whether the tree of `HEAD` has it.
    pub exists: bool,
    /// Commits that changed it.
    pub commits: u64,
    /// Who wrote them, by their number of commits.
    pub authors: Vec<AuthorCommits>,
    /// Lines added.
    pub added: u64,
    /// Lines deleted.
    pub deleted: u64,
    /// Changes whose lines were not counted because the file is binary.
    pub binary: u64,
    /// Changes whose lines were not counted because the file is too large.
    pub too_large: u64,
    /// The date of the last commit that changed it, in seconds since 1970.
    pub last: i64,
}

impl FileChurn {
    /// Lines added and deleted.
    pub fn lines(&self) -> u64 {
        self.added + self.deleted
    }
}
