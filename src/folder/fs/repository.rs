//! Folders of git by what is in them, whatever they are called: what a link or a file `.git` leads to, and a bare repository.
//!
//! Git takes a folder for one that has `HEAD` beside `objects` and `refs`, or beside `commondir` (gitrepository-layout(5)); it runs
//! programs that the folder names, and keeps credentials there. So such a folder is treated as `.git` (contract 12). Knows no clients.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::resolve::{LastLink, ResolveError, ResolvedPath, stat_entry};
use crate::path::is_taken_for;
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::io::Errno;
use sys::path::FOLDS_NAMES;

/// The one entry of such a folder that clients read: it names a branch or a commit.
pub const HEAD: &str = "HEAD";

/// The names by which git knows its folders.
const MARKS: [&str; 4] = [HEAD, "objects", "refs", "commondir"];

/// How long a folder that was looked at counts as none of git's, for reads.
const TRUSTED: Duration = Duration::from_secs(1);

/// Most folders that are kept for that.
const KEPT: usize = 8_192;

/// Which of these names a folder has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks([bool; MARKS.len()]);

impl Marks {
    /// Notes the name of an entry of the folder.
    pub fn note(&mut self, name: &[u8]) {
        let is = |mark: &&str| match FOLDS_NAMES {
            true => mark.as_bytes().eq_ignore_ascii_case(name),
            false => mark.as_bytes() == name,
        };
        for (has, mark) in self.0.iter_mut().zip(MARKS) {
            *has |= is(&mark);
        }
    }

    /// Whether git takes the folder for its own.
    pub fn are_of_git(self) -> bool {
        let [head, objects, refs, common] = self.0;
        head && (objects && refs || common)
    }

    /// Those of an open folder.
    fn of(folder: &OwnedFd) -> Marks {
        Marks(MARKS.map(|mark| stat_entry(folder, OsStr::new(mark)).is_ok()))
    }
}

/// Whether git would take `folder` for its own if it had an entry `name`, or what some file system makes of that name.
pub fn would_be_of_git(folder: &OwnedFd, name: &OsStr) -> bool {
    let new = MARKS.map(|mark| is_taken_for(name.as_bytes(), &mark.to_ascii_lowercase()));
    if !new.contains(&true) {
        return false;
    }
    let Marks(mut marks) = Marks::of(folder);
    marks.iter_mut().zip(new).for_each(|(has, is_new)| *has |= is_new);
    Marks(marks).are_of_git()
}

/// The outermost folder of git on `path`, which goes through no link: `root` itself, a folder on the way, or the end of the path.
///
/// # Errors
///
/// Why that cannot be told, as where descriptors are used up.
pub fn outermost<'p>(root: &Arc<OwnedFd>, path: &'p Path) -> Result<Option<&'p Path>, ResolveError> {
    let mut folders: Vec<&Path> = path.ancestors().collect();
    if folders.last().is_none_or(|top| !top.as_os_str().is_empty()) {
        folders.push(Path::new(""));
    }
    for folder in folders.into_iter().rev() {
        // Most folders have no HEAD: one look at each is enough.
        let head = match ResolvedPath::find_entry(root, &folder.join(HEAD), LastLink::Keep) {
            Ok(head) => head,
            // Nobody reads or writes there either.
            Err(ResolveError::System(Errno::ACCESS | Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG)) => {
                return Ok(None);
            }
            Err(unknown) => return Err(unknown),
        };
        if !head.missing.is_empty() {
            return Ok(None);
        }
        if head.stat.is_some() && Marks::of(&head.dir).are_of_git() {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Whether `path`, which goes through no link, is in a folder of git, or is one, and is not its `HEAD`.
///
/// # Errors
///
/// Those of [`outermost`].
pub fn is_kept(root: &Arc<OwnedFd>, path: &Path) -> Result<bool, ResolveError> {
    let rest = outermost(root, path)?.and_then(|folder| path.strip_prefix(folder).ok());
    Ok(rest.is_some_and(|rest| rest != Path::new(HEAD)))
}

/// Folders that were none of git's and in none when they were looked at, so that reads of their files need no look.
#[derive(Debug, Default)]
pub struct Ordinary(Mutex<Looks>);

/// Folders by their paths: in which served folder, by device and inode, and when they were looked at.
type Looks = HashMap<PathBuf, ((u64, u64), Instant)>;

impl Ordinary {
    /// The same as [`is_kept`] for `path` in `root`, a folder with this device and inode; a folder that is not git's is looked at once a
    /// second.
    ///
    /// # Errors
    ///
    /// Those of [`outermost`].
    pub fn keeps(
        &self,
        (root, id): (&Arc<OwnedFd>, (u64, u64)),
        path: &Path,
        is_directory: bool,
    ) -> Result<bool, ResolveError> {
        let folder = if is_directory { path } else { path.parent().unwrap_or(Path::new("")) };
        let known = |(of, looked): &((u64, u64), Instant)| *of == id && looked.elapsed() < TRUSTED;
        if self.lock().get(folder).is_some_and(known) {
            return Ok(false);
        }
        let looked = Instant::now();
        if outermost(root, folder)?.is_some() {
            return is_kept(root, path);
        }
        let mut folders = self.lock();
        if folders.len() >= KEPT {
            folders.retain(|_, (_, looked)| looked.elapsed() < TRUSTED);
        }
        if folders.len() >= KEPT {
            folders.clear();
        }
        folders.insert(folder.into(), (id, looked));
        Ok(false)
    }

    fn lock(&self) -> MutexGuard<'_, Looks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fs::version::identity;

    fn folder(entries: &[&str]) -> (tempfile::TempDir, Arc<OwnedFd>) {
        let dir = tempfile::tempdir().unwrap();
        for path in entries {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        (dir, root)
    }

    #[test]
    fn a_folder_is_gits_by_what_is_in_it() {
        let (_dir, root) = folder(&[
            "a/gg/HEAD",
            "a/gg/objects/x",
            "a/gg/refs/x",
            "a/gg/hooks/pre-commit",
            "tree/HEAD",
            "tree/commondir",
            "plain/HEAD",
            "plain/objects/x",
            "plain/x",
        ]);
        for (path, outer) in [
            ("a/gg", "a/gg"),
            ("a/gg/config", "a/gg"),
            ("a/gg/hooks/pre-commit", "a/gg"),
            ("a/gg/new/in/x", "a/gg"),
            ("tree/config", "tree"),
        ] {
            assert_eq!(outermost(&root, Path::new(path)), Ok(Some(Path::new(outer))), "{path}");
            assert_eq!(is_kept(&root, Path::new(path)), Ok(true), "{path}");
        }
        for path in ["", "a", "a/x", "plain/x", "plain/HEAD", "plain/x/y", "none/x"] {
            assert_eq!(outermost(&root, Path::new(path)), Ok(None), "{path}");
        }
        let kept = |path: &str| is_kept(&root, Path::new(path)).unwrap();
        assert!(!kept("a/gg/HEAD") && kept("a/gg/hooks/HEAD"));
    }

    #[test]
    fn the_last_entry_that_makes_a_folder_one_of_git_is_known() {
        let (dir, _root) =
            folder(&["one/HEAD", "one/objects/x", "two/objects/x", "two/refs/x", "three/HEAD"]);
        let would = |path: &str, name: &str| {
            would_be_of_git(&sys::testing::open_folder(dir.path().join(path)), OsStr::new(name))
        };
        assert!(would("one", "refs") && would("two", "HEAD") && would("three", "commondir"));
        for name in ["Head", "HEAD.", "HE\u{200c}AD ", "head:x"] {
            assert!(would("two", name), "{name}");
        }
        assert!(
            !would("one", "config")
                && !would("two", "HEADS")
                && !would("three", "refs")
                && !would("two", "commondir")
        );
    }

    #[test]
    fn a_read_knows_the_folder_for_a_second_and_another_served_folder_at_once() {
        let (dir, root) = folder(&["a/x"]);
        let (other, other_root) = folder(&["a/HEAD", "a/commondir", "a/x"]);
        let of = |root: &Arc<OwnedFd>| identity(&sys::fs::fstat(root).unwrap());
        let ordinary = Ordinary::default();
        assert_eq!(ordinary.keeps((&root, of(&root)), Path::new("a/x"), false), Ok(false));
        fs::write(dir.path().join("a/HEAD"), "").unwrap();
        fs::write(dir.path().join("a/commondir"), "").unwrap();
        assert_eq!(
            ordinary.keeps((&root, of(&root)), Path::new("a/x"), false),
            Ok(false),
            "it was looked at just now"
        );
        let keeps = |path: &str, is_directory| {
            ordinary.keeps((&other_root, of(&other_root)), Path::new(path), is_directory).unwrap()
        };
        assert!(keeps("a/x", false) && !keeps("a/HEAD", false) && keeps("a", true));
        drop(other);
    }
}
