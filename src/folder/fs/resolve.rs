//! Resolves a path to a directory entry, never outside the folder (contract 8, 12).
//!
//! No component is followed on trust. Parents without links are opened by one openat2(2), which refuses links. Where that
//! fails, `steps` resolves each by itself. Links that are absolute, dangling, cyclic, or lead above the folder are refused.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

mod steps;

use super::file_system;
use super::version::identity;
use super::view::OpenFile;
use sys::fd::{AsFd, OwnedFd};
use sys::fs::{AtFlags, FileType, Mode, OFlags, ONLY_PASS, Stat};
use sys::io::Errno;

/// Lookups of a path on which other programs keep moving entries.
const ATTEMPTS: usize = 16;

/// How often a listed name that is not found is looked for again.
pub const LOOKS_AGAIN: usize = 3;
/// The time between two looks.
pub const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Flags for opening a file. NONBLOCK and NOCTTY matter only if a FIFO or a device has replaced the entry
/// since it was found.
const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Flags for a directory that is only passed through.
pub(super) const PASS: OFlags =
    ONLY_PASS.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The directory entry of a path, after all links are resolved.
#[derive(Debug, Clone)]
pub struct ResolvedPath {
    /// The directory of the entry. If parents are missing: the directory of the first of them.
    pub dir: Arc<OwnedFd>,
    /// The name in its directory; `.` for the served folder itself.
    pub name: OsString,
    /// The entry that was there, or `None` if nothing was.
    pub stat: Option<Stat>,
    /// The directories between `dir` and the entry that do not exist, outermost first.
    pub missing: Vec<OsString>,
    /// The path below the served folder, if links were followed. Otherwise the path is as requested.
    pub real: Option<PathBuf>,
}

/// What a path leads through, or where its resolution ended: a link, a folder that `..` left, or what refused it.
#[derive(Debug)]
pub struct PassedEntry {
    /// The path below the served folder, after the links before it.
    pub(crate) real: PathBuf,
    /// It was passed as a folder.
    pub(crate) as_folder: bool,
}

/// What to do if the last component of a path is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLink {
    /// Resolve it.
    Follow,
    /// The link itself is the entry.
    Keep,
}

/// Why a path cannot be resolved.
#[derive(Debug, PartialEq, Eq)]
pub enum ResolveError {
    /// A link leads out of the folder, in a circle, or to nothing.
    Forbidden,
    /// It leads to a special file.
    Special,
    /// It leads to a folder where a file is wanted.
    Folder,
    /// Other programs keep moving or replacing entries on the way.
    Moved,
    /// A system call failed.
    System(Errno),
}

impl From<Errno> for ResolveError {
    fn from(errno: Errno) -> ResolveError {
        ResolveError::System(errno)
    }
}

impl ResolvedPath {
    /// Resolves `path` to an entry of any kind below `root`. A missing entry resolves too (`stat` is `None`); a link to nothing does not.
    pub fn find_entry(
        root: &Arc<OwnedFd>,
        path: &Path,
        last: LastLink,
    ) -> Result<ResolvedPath, ResolveError> {
        ResolvedPath::follow(root, path, last).0
    }

    /// The same, with what was passed on the way.
    pub fn follow(
        root: &Arc<OwnedFd>,
        path: &Path,
        last: LastLink,
    ) -> (Result<ResolvedPath, ResolveError>, Vec<PassedEntry>) {
        let mut passed = Vec::new();
        for _ in 0..ATTEMPTS {
            passed.clear();
            let found = ResolvedPath::look_up(root, path, last, &mut passed);
            if !matches!(found, Err(ResolveError::Moved)) {
                return (found, passed);
            }
        }
        (Err(ResolveError::Moved), passed)
    }

    fn look_up(
        root: &Arc<OwnedFd>,
        path: &Path,
        last: LastLink,
        passed: &mut Vec<PassedEntry>,
    ) -> Result<ResolvedPath, ResolveError> {
        let mut by_steps = || steps::resolve(root, path, last, passed);
        let Some(name) = path.file_name() else { return by_steps() };
        let parent = path.parent().unwrap_or(Path::new(""));
        let Some(dir) = open_parent(root, parent) else { return by_steps() };
        let stat = match stat_entry(&dir, name) {
            Ok(stat) if file_type(&stat) == FileType::Symlink && last == LastLink::Follow => {
                return by_steps();
            }
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        Ok(ResolvedPath { dir, name: name.to_owned(), stat, missing: Vec::new(), real: None })
    }

    /// Itself, unless it is there and no regular file.
    pub fn regular(self) -> Result<ResolvedPath, ResolveError> {
        match self.stat.as_ref().map(file_type) {
            None | Some(FileType::RegularFile) => Ok(self),
            Some(FileType::Directory) => Err(ResolveError::Folder),
            Some(_) => Err(ResolveError::Special),
        }
    }

    /// Whether it is a folder.
    pub fn is_directory(&self) -> bool {
        self.stat.as_ref().is_some_and(|stat| file_type(stat) == FileType::Directory)
    }

    /// The entry `name` of the directory `dir`, which was found as `stat`.
    pub fn in_folder(dir: &Arc<OwnedFd>, name: &OsStr, stat: Stat) -> ResolvedPath {
        let (dir, name) = (dir.clone(), name.to_owned());
        ResolvedPath { dir, name, stat: Some(stat), missing: Vec::new(), real: None }
    }

    /// The place of an entry that does not exist, whatever is at `path`.
    pub fn nowhere(root: &Arc<OwnedFd>, path: &Path) -> ResolvedPath {
        let mut missing: Vec<OsString> = path.iter().map(OsStr::to_owned).collect();
        let name = missing.pop().unwrap_or_default();
        ResolvedPath { dir: root.clone(), name, stat: None, missing, real: None }
    }

    /// Opens the entry, which must be a directory, for reading.
    pub fn open_folder(&self) -> Result<OwnedFd, ResolveError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match sys::fs::openat(&self.dir, &self.name, flags, Mode::empty()) {
            Ok(fd) => Ok(fd),
            Err(Errno::LOOP) => Err(ResolveError::Forbidden),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens the file for reading, and assumes that it is unchanged since it was found. The caller must check
    /// that after reading, before it uses the bytes ([`OpenFile::unchanged`] compares with the state found).
    pub fn open_as_found(&self) -> Option<OpenFile> {
        open_as_found(&self.dir, &self.name, self.stat?).ok()
    }

    /// Opens the file for reading. `None` if the entry has changed since it was found: resolve it again.
    pub fn open(&self) -> Result<Option<OpenFile>, ResolveError> {
        let file = match sys::fs::openat(&self.dir, &self.name, OPEN, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP | Errno::NOENT | Errno::NXIO) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let stat = sys::fs::fstat(&file)?;
        Ok((switches::is_off("place-kind") || file_type(&stat) == FileType::RegularFile)
            .then(|| OpenFile::new(file, stat)))
    }

    /// Opens the file for writing, only to lock it. `None` if the entry is no longer the file `known`.
    pub fn open_to_lock(&self, known: &OpenFile) -> Result<Option<File>, Errno> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match sys::fs::openat(&self.dir, &self.name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP | Errno::NOENT | Errno::NXIO) => return Ok(None),
            Err(errno) => return Err(errno),
        };
        let stat = sys::fs::fstat(&file)?;
        let is_known = identity(&stat) == (known.stamp().dev, known.stamp().ino);
        Ok(is_known.then_some(file))
    }

    /// The state of the entry now; `None` if it does not exist any more.
    pub fn restat(&self) -> Result<Option<Stat>, Errno> {
        match stat_entry(&self.dir, &self.name) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether the process has this access to the file. `None` if the entry does not exist any more.
    pub fn allows(&self, access: sys::fs::Access) -> Result<Option<bool>, Errno> {
        match sys::fs::accessat(&self.dir, &self.name, access, AtFlags::EACCESS) {
            Ok(()) => Ok(Some(true)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Ok(Some(false)),
            Err(errno) => Err(errno),
        }
    }
}

/// The state of the regular file `name` in `root`; `None` if there is none, or a link or any other entry.
///
/// # Errors
///
/// What the system says: the file may be there.
pub fn regular_file(root: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, Errno> {
    Ok(entry(root, name)?.filter(|stat| file_type(stat) == FileType::RegularFile))
}

/// The state of the entry `name`, which `root` has listed; `None` if there is none any more.
///
/// # Errors
///
/// As above.
pub(crate) fn entry(root: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, Errno> {
    let is_missing = |found: &Result<Option<Stat>, Errno>| matches!(found, Ok(None));
    let found = entry_now(root, name);
    if switches::is_off("looks-again") || !is_missing(&found) || file_system::is_local(root) {
        return found;
    }
    // Some file systems in user space do not find a name in the moment in which another file is put in its place.
    let look_again = |_| {
        thread::sleep(BETWEEN_LOOKS);
        entry_now(root, name)
    };
    (0..LOOKS_AGAIN).map(look_again).find(|found| !is_missing(found)).unwrap_or(Ok(None))
}

fn entry_now(root: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, Errno> {
    match stat_entry(root, name) {
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(_) if switches::is_off("stat-gone") => Ok(None),
        stat => stat.map(Some),
    }
}

/// What kind of entry this is.
pub fn file_type(stat: &Stat) -> FileType {
    sys::fs::file_type(stat.st_mode)
}

pub(super) fn stat_entry(dir: impl AsFd, name: &OsStr) -> Result<Stat, Errno> {
    sys::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Opens the directory `parent` below `root` if no component is a link. `None` for any problem, and if the kernel has no
/// openat2(2): the way step by step finds out more.
fn open_parent(root: &Arc<OwnedFd>, parent: &Path) -> Option<Arc<OwnedFd>> {
    static NO_OPENAT2: AtomicBool = AtomicBool::new(false);
    if parent.as_os_str().is_empty() {
        return Some(root.clone());
    }
    if NO_OPENAT2.load(Ordering::Relaxed) {
        return None;
    }
    match sys::fs::open_beneath(root, parent, PASS) {
        Ok(fd) => Some(Arc::new(fd)),
        Err(errno) => {
            // Before Linux 5.6 there is none; some sandboxes refuse it.
            if matches!(errno, Errno::NOSYS | Errno::PERM) {
                NO_OPENAT2.store(true, Ordering::Relaxed);
            }
            None
        }
    }
}

/// Like [`ResolvedPath::open_as_found`], for an entry of `dir` that was found as `stat`.
pub fn open_as_found(dir: impl AsFd, name: &OsStr, stat: Stat) -> Result<OpenFile, Errno> {
    let file = sys::fs::openat(dir, name, OPEN, Mode::empty())?;
    Ok(OpenFile::new(File::from(file), stat))
}

#[cfg(test)]
mod tests;
