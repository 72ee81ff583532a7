//! What clients may not do in folders of git: the one rule for reads, writes, walks, lists and deletes (contract 12).
//!
//! Of such a folder they read `HEAD` alone, unless the operator allows more, and they change nothing there. What such a folder is, by its
//! name or by what is in it, is for `repository` to say.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::repository::{self, HEAD, HeadCounts, Marks};
use super::resolve::{ResolveError, ResolvedPath};
use crate::path::{is_git, is_in_git, is_kept_by_git};
use sys::fd::{AsFd, OwnedFd};

/// How long a folder that was looked at counts as none of git's, for reads.
const TRUSTED: Duration = Duration::from_secs(1);

/// Most folders that are kept for that, of each served folder.
const KEPT: usize = 8_192;

/// Most served folders of which some are kept. One that was exchanged is another one.
const KEPT_ROOTS: usize = 64;

/// Device and inode of a served folder.
type RootId = (u64, u64);

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct GitGuard {
    allows_reads: bool,
    ordinary: Arc<Ordinary>,
}

impl GitGuard {
    /// A guard that allows all reads, or those of `HEAD` alone.
    pub fn new(allows_reads: bool) -> GitGuard {
        GitGuard { allows_reads, ordinary: Arc::default() }
    }

    /// Whether all reads are allowed.
    pub fn allows_reads(&self) -> bool {
        self.allows_reads
    }

    /// Whether `path` may not be read, by its names alone.
    pub fn keeps_name(&self, path: &Path) -> bool {
        !self.allows_reads && !switches::is_off("git-read") && is_kept_by_git(path)
    }

    /// Whether `path`, which goes through no link, may not be read in `root`, a folder with this device and inode. A folder that is not
    /// git's is looked at once a second.
    ///
    /// # Errors
    ///
    /// Those of [`repository::outermost`].
    pub fn keeps(
        &self,
        (root, id): (&Arc<OwnedFd>, RootId),
        path: &Path,
        is_directory: bool,
    ) -> Result<bool, ResolveError> {
        if self.allows_reads {
            return Ok(false);
        }
        // A folder by the name of `HEAD` holds anything.
        if self.keeps_name(path) || is_directory && is_in_git(path) {
            return Ok(true);
        }
        let folder = if is_directory { path } else { path.parent().unwrap_or(Path::new("")) };
        let known = self.ordinary.nearest(id, folder);
        if known.is_some_and(|(known, _)| known == folder) {
            return Ok(false);
        }
        let (above, looked) =
            (known.map(|(above, _)| above), known.map_or_else(Instant::now, |(_, looked)| looked));
        match repository::outermost(root, folder, above, HeadCounts::AsItIs)? {
            Some(outer) => {
                Ok(is_directory || path.strip_prefix(outer).is_ok_and(|rest| rest != Path::new(HEAD)))
            }
            None => {
                self.ordinary.insert(id, folder, looked);
                Ok(false)
            }
        }
    }

    /// Whether a walk or a list may not look into `folder`, which lists these names.
    pub fn keeps_folder(&self, folder: impl AsFd, marks: Marks) -> bool {
        !self.allows_reads && !switches::is_off("git-by-content-walk") && marks.are_of_git(folder)
    }
}

/// Whether `path` leads into a folder of git below `root`, as far as that can be told.
pub fn is_below_git(root: &Arc<OwnedFd>, path: &Path) -> bool {
    repository::outermost(root, path, None, HeadCounts::AsAny).is_ok_and(|outer| outer.is_some())
}

/// Whether nothing may be changed, made or removed at `path` below `root`, which goes through no link and has its entry, or the place for
/// one, at `place`. A folder in which a write of `HEAD` may make it one of git's counts as such, and so does one that a new entry would
/// make one.
///
/// # Errors
///
/// Those of [`repository::outermost`].
pub fn forbids_change(root: &Arc<OwnedFd>, path: &Path, place: &ResolvedPath) -> Result<bool, ResolveError> {
    if is_in_git(path) {
        return Ok(true);
    }
    if switches::is_off("git-by-content-write") {
        return Ok(false);
    }
    let folder = if place.is_directory() { path } else { path.parent().unwrap_or(Path::new("")) };
    let new = place.missing.first().unwrap_or(&place.name);
    Ok(repository::outermost(root, folder, None, HeadCounts::AsAny)?.is_some()
        || place.stat.is_none() && repository::would_be_of_git(&place.dir, new))
}

/// Whether `folder`, which lists `names`, is one of git or holds its `.git`, so that it is not removed.
pub fn forbids_removal<'n>(folder: impl AsFd, names: impl Iterator<Item = &'n [u8]>) -> bool {
    let mut marks = Marks::default();
    for name in names {
        if is_git(name) && !switches::is_off("delete-again") {
            return true;
        }
        marks.note(name);
    }
    !switches::is_off("git-by-content-delete") && marks.are_of_git(folder)
}

/// Folders that were none of git's and in none when they were looked at.
#[derive(Debug, Default)]
struct Ordinary(Mutex<HashMap<RootId, HashMap<PathBuf, Instant>>>);

impl Ordinary {
    /// The nearest folder from `folder` up that was looked at within the last second, and when.
    fn nearest<'p>(&self, root: RootId, folder: &'p Path) -> Option<(&'p Path, Instant)> {
        let roots = self.lock();
        let folders = roots.get(&root)?;
        let known = |above: &'p Path| {
            folders.get(above).filter(|looked| looked.elapsed() < TRUSTED).map(|looked| (above, *looked))
        };
        folder.ancestors().find_map(known)
    }

    /// Keeps that `folder` and those above it were looked at since `looked`.
    fn insert(&self, root: RootId, folder: &Path, looked: Instant) {
        let mut roots = self.lock();
        if roots.len() >= KEPT_ROOTS && !roots.contains_key(&root) {
            roots.clear();
        }
        let folders = roots.entry(root).or_default();
        if folders.len() >= KEPT {
            folders.retain(|_, looked| looked.elapsed() < TRUSTED);
        }
        if folders.len() >= KEPT {
            folders.clear();
        }
        for above in folder.ancestors() {
            if folders.insert(above.into(), looked) == Some(looked) {
                break;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RootId, HashMap<PathBuf, Instant>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fs::version::identity;

    fn repository(dir: &Path) {
        for folder in ["objects", "refs"] {
            fs::create_dir_all(dir.join(folder)).unwrap();
        }
        fs::write(dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    fn served() -> (tempfile::TempDir, Arc<OwnedFd>, RootId) {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        let id = identity(&sys::fs::fstat(&root).unwrap());
        (dir, root, id)
    }

    #[test]
    fn of_a_folder_of_git_head_alone_is_read() {
        let (dir, root, id) = served();
        repository(&dir.path().join("a/gg"));
        let keeps = |guard: &GitGuard, path: &str| guard.keeps((&root, id), Path::new(path), false).unwrap();
        let guard = GitGuard::new(false);
        for path in ["a/gg/config", "a/gg/hooks/HEAD", "a/gg/none", ".git/config"] {
            assert!(keeps(&guard, path), "{path}");
        }
        assert!(guard.keeps((&root, id), Path::new("a/gg"), true).unwrap());
        for path in ["a/gg/HEAD", ".git/HEAD", "a/x", "x"] {
            assert!(!keeps(&guard, path), "{path}");
        }
        assert!(!keeps(&GitGuard::new(true), "a/gg/config"));
    }

    #[test]
    fn a_read_knows_a_folder_and_those_above_it_for_a_second_and_another_served_folder_at_once() {
        let (dir, root, id) = served();
        let (other, other_root, other_id) = served();
        let guard = GitGuard::new(false);
        let keeps = |path: &str| guard.keeps((&root, id), Path::new(path), false).unwrap();
        assert!(!keeps("a/b/c/x"));
        repository(&dir.path().join("a"));
        repository(&dir.path().join("a/b/c/d"));
        assert!(!keeps("a/b/x") && !keeps("a/b/c/x"), "they were looked at just now");
        assert!(keeps("a/b/c/d/config"), "this folder was not");
        repository(&other.path().join("a"));
        let elsewhere = |path: &str| guard.keeps((&other_root, other_id), Path::new(path), false).unwrap();
        assert!(elsewhere("a/x") && elsewhere("a/b/c/x") && !elsewhere("a/HEAD"));
    }
}
