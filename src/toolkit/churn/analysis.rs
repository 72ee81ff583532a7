//! The analysis of one project: from its repository to the churn of each file.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::fault::{Fault, Result};
use super::file_counts::{CommitCounts, FileCounts};
use super::git::commit::Author;
use super::git::objects::Objects;
use super::git::repository::Repository;
use super::ledger::{Ledger, Row};
use super::present::present;
use super::report::{AuthorCommits, Churn, FileChurn, Uncounted};
use super::threads::count_all;
use super::walk::{PeriodCommit, Walked, walk};
use engine::Workspace;
use folder::{Control, Error, FilePath};
use sys::ffi::OsStrExt;
use text::order;

/// Commits whose changes are held at a time: at first few, so that a short time is enough for some.
const AT_A_TIME: usize = 1_024;
const FIRST: usize = 4;

/// Shares of the time that the walk through the history leaves to count changes, and that the counting leaves for the rest.
const WALK_LEAVES: u32 = 5;
const COUNTING_LEAVES: u32 = 3;

/// Memory for what is known of all files, in bytes: half a million files and more.
const MOST_BYTES: usize = 256 << 20;

/// Threads beside the calling one.
const MOST_HELPERS: usize = 3;

/// The churn of the folder `project` since a time in seconds since 1970.
///
/// [`Fault`] if there is no repository that can be read, if an object of it is damaged, or if the operation must stop.
pub fn analyze(workspace: &Workspace, project: &FilePath, since: i64, control: &Control) -> Result<Churn> {
    let repository = Repository::open(workspace, project, control)?;
    if repository.is_shallow {
        let problem = "the repository is a shallow clone, whose history is cut; expected all of it: run 'git fetch --unshallow'";
        return Err(Fault::Unsuitable(problem.into()));
    }
    let mut objects = Objects::new(repository.store.clone(), control);
    let walked = control.leaving_time(WALK_LEAVES, || walk(&mut objects, &repository.head, since))?;
    let mut sum = Sum::new(workspace, &repository, &walked);
    let (mut objects, uncounted) = control.leaving_time(COUNTING_LEAVES, || {
        each_commit(workspace, objects, &walked, |commit, counts| sum.add(commit, counts))
    })?;
    sum.churn(&mut objects, since, uncounted)
}

/// Calls `commit` with each commit and its counts, in the order of the walk, until the end or until the time is up. Returns the
/// number of commits that are left.
fn each_commit<'c>(
    workspace: &Workspace,
    objects: Objects<'c>,
    walked: &Walked,
    mut commit: impl FnMut(&PeriodCommit, Option<CommitCounts>) -> Result<()>,
) -> Result<(Objects<'c>, usize)> {
    let (store, control) = (objects.shared_store(), objects.control());
    let helpers = workspace.helper_threads(MOST_HELPERS.min(walked.commits.len() / 64));
    let others = (0..helpers.size()).map(|_| Objects::new(store.clone(), control));
    let mut readers: Vec<Objects> = [objects].into_iter().chain(others).collect();
    let mut left = walked.commits.as_slice();
    let mut at_a_time = FIRST;
    while let Some((commits, rest)) = left.split_at_checked(at_a_time.min(left.len()))
        && !commits.is_empty()
    {
        let counts = match count_all(&mut readers, commits) {
            Err(Fault::Engine(Error::TimedOut)) => break,
            counts => counts?,
        };
        commits.iter().zip(counts).try_for_each(|(of, counts)| commit(of, counts))?;
        (left, at_a_time) = (rest, AT_A_TIME.min(2 * at_a_time));
        let all = walked.commits.len();
        control.progress((all - left.len()) as u64, Some(all as u64));
    }
    Ok((readers.swap_remove(0), left.len()))
}

/// What has been added up.
struct Sum<'a> {
    workspace: &'a Workspace,
    repository: &'a Repository,
    walked: &'a Walked,
    ledger: Ledger,
    commits: u64,
    merges: u64,
    /// Commits per author.
    authors: Vec<u64>,
    oversized: Vec<String>,
}

impl<'a> Sum<'a> {
    fn new(workspace: &'a Workspace, repository: &'a Repository, walked: &'a Walked) -> Sum<'a> {
        Sum {
            workspace,
            repository,
            walked,
            ledger: Ledger::default(),
            commits: 0,
            merges: 0,
            authors: vec![0; walked.authors.len()],
            oversized: Vec::new(),
        }
    }

    /// Adds a commit. One that changes no visible file of the project counts only if the project is the whole repository and
    /// it changes no file at all, as merges do. Fails if the files of all commits take too much memory.
    fn add(&mut self, commit: &PeriodCommit, counts: Option<CommitCounts>) -> Result<()> {
        let is_merge = counts.is_none();
        let files = match counts {
            Some(CommitCounts::Files(files)) => files,
            Some(CommitCounts::TooMany) => {
                self.oversized.push(commit.id.to_string());
                Vec::new()
            }
            None => Vec::new(),
        };
        let is_empty = files.is_empty();
        let visible: Vec<FileCounts> = files.into_iter().filter(|file| !self.is_hidden(&file.path)).collect();
        let below = self.repository.below.as_bytes();
        // All files are added, not only those up to the first one in the project.
        let in_project = self.ledger.add(&visible, commit.author, commit.date);
        let is_in_project = in_project.filter(|path| path.starts_with(below)).count() > 0;
        if is_in_project || is_empty && below.is_empty() {
            self.commits += 1;
            self.merges += u64::from(is_merge);
            self.authors[commit.author] += 1;
        }
        if self.ledger.bytes() > MOST_BYTES {
            let problem = "the commits of the period changed too many files; expected a smaller period_days";
            return Err(Fault::Unsuitable(problem.into()));
        }
        Ok(())
    }

    fn is_hidden(&self, path: &[u8]) -> bool {
        self.workspace.hides(&self.repository.top, as_path(path))
    }

    fn churn(self, objects: &mut Objects, since: i64, uncounted: usize) -> Result<Churn> {
        let has_unseen = self.walked.is_late;
        let tree = objects.tree_of(&self.repository.head)?;
        let paths: Vec<&[u8]> = self.ledger.paths().collect();
        let exists = present(objects, &tree, &paths)?;
        let below = self.repository.below.as_bytes();
        let rows = self.ledger.into_rows(&exists).into_iter();
        let mut files: Vec<FileChurn> = rows
            .filter_map(|(row, exists)| {
                let path = row.path.strip_prefix(below)?.into();
                Some(file_churn(row, path, exists, &self.walked.authors))
            })
            .collect();
        order::sort_by(&mut files, |one, other| {
            let key = |file: &FileChurn| std::cmp::Reverse((file.lines(), file.commits));
            key(one).cmp(&key(other)).then_with(|| one.path.cmp(&other.path))
        });
        Ok(Churn {
            head: self.repository.head.to_string(),
            since,
            commits: self.commits,
            merges: self.merges,
            authors: ranked(self.authors.into_iter().enumerate(), &self.walked.authors),
            added: files.iter().map(|file| file.added).sum(),
            deleted: files.iter().map(|file| file.deleted).sum(),
            files,
            oversized: self.oversized,
            is_cut: self.walked.is_cut,
            late: (uncounted > 0 || has_unseen).then_some(Uncounted { commits: uncounted, has_unseen }),
        })
    }
}

fn file_churn(row: Row, path: Box<[u8]>, exists: bool, authors: &[Arc<Author>]) -> FileChurn {
    let Row { commits, added, deleted, binary, too_large, last, authors: of_row, .. } = row;
    let authors = ranked(of_row.into_iter(), authors);
    FileChurn { path, exists, commits, authors, added, deleted, binary, too_large, last }
}

/// Authors by their numbers of commits, the first of the alphabet first where these are equal.
fn ranked(commits: impl Iterator<Item = (usize, u64)>, authors: &[Arc<Author>]) -> Vec<AuthorCommits> {
    let named = commits.filter(|(_, commits)| *commits > 0);
    let mut list: Vec<AuthorCommits> =
        named.map(|(author, commits)| AuthorCommits { author: authors[author].clone(), commits }).collect();
    order::sort_by(&mut list, |one, other| {
        other.commits.cmp(&one.commits).then_with(|| one.author.cmp(&other.author))
    });
    list
}

/// A path in a repository, which may have any bytes.
fn as_path(path: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(path))
}
