//! The handle of the served folder, kept up to date with the folder's path (contract 8).
//!
//! All access goes through a handle, so that no process can exchange the folder between a check and a use.
//! But a handle keeps a folder that was moved or removed, and stops working if its mount dies. The path
//! decides which folder is served. It is compared with the handle before every edit, when a file is missing,
//! and for other reads once for all requests that arrived together. A link that the operator gave is followed once, at the start: while it leads
//! elsewhere, which every look-up checks, no folder is served. Knows no files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::file_system::{self, FileSystem, is_local_mount};
use super::liveness::{Liveness, is_mounted_at};
use super::lost::is_lost;
use super::repository;
use crate::{Error, Result};
use sys::fd::{AsFd, BorrowedFd, OwnedFd};
use sys::fs::{Mode, Mount, OFlags, Stat};
use sys::io::Errno;

/// Maximum number of mounts below a folder that are watched.
const MOST_INNER: usize = 64;

/// How long reads use a handle before the path is checked again.
const TRUSTED: Duration = Duration::from_secs(1);

/// A folder that the operator gave, which may come, go and be replaced while the server runs.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    /// The path that the operator gave, if it leads to the folder through a link. The link may be switched at any time.
    link: Option<PathBuf>,
    state: Mutex<State>,
    /// Where the folder's file system was mounted at the start: the path, or a folder above it. While nothing is mounted
    /// there, the path names nothing, or what lies below the mount.
    mount: Option<PathBuf>,
    /// The file system at the start.
    file_system: FileSystem,
    /// Whether that is one of this machine.
    is_local: bool,
    liveness: Liveness,
    inner: Vec<InnerMount>,
    /// Counts when requests arrive.
    arrivals: AtomicU64,
}

/// A file system of others that was mounted below the folder at the start.
#[derive(Debug)]
pub struct InnerMount {
    /// Its path.
    pub path: PathBuf,
    /// What is mounted there.
    pub mount: Mount,
    liveness: Liveness,
}

#[derive(Debug)]
struct State {
    /// `None` while the path names no folder.
    folder: Option<Folder>,
    looked: Instant,
    /// [`Root::arrivals`] before that look.
    arrivals: u64,
}

/// A folder that the path named at some time.
#[derive(Debug, Clone)]
pub struct Folder {
    handle: Arc<OwnedFd>,
    dev: u64,
    ino: u64,
    file_system: FileSystem,
    in_git: bool,
}

impl Folder {
    fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = sys::fs::open(path, flags, Mode::empty())?;
        let stat = sys::fs::fstat(&handle)?;
        let file_system = file_system::of(&handle);
        let in_git = repository::is_within(path);
        Ok(Folder { handle: Arc::new(handle), dev: stat.st_dev, ino: stat.st_ino, file_system, in_git })
    }

    fn is(&self, stat: &Stat) -> bool {
        (self.dev, self.ino) == (stat.st_dev, stat.st_ino)
    }

    /// Its handle.
    pub fn handle(&self) -> &Arc<OwnedFd> {
        &self.handle
    }

    /// Its device and inode.
    pub fn id(&self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// Whether it is `.git`, or in a folder of git.
    pub fn is_in_git(&self) -> bool {
        self.in_git
    }

    /// Its device.
    pub fn device(&self) -> u64 {
        self.dev
    }

    /// The file system of the device `dev`, if it is the folder's own device.
    pub fn file_system(&self, dev: u64) -> Option<FileSystem> {
        (dev == self.dev).then_some(self.file_system)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Root {
    /// Opens the folder at `path`, which must be canonical. The operator has given the path `given`.
    pub fn open(path: PathBuf, given: &Path) -> io::Result<Root> {
        let link = std::path::absolute(given)?;
        let link = (link != path).then_some(link);
        let folder = Folder::open(&path)?;
        let (mount, file_system) = (mount_of(&path, &folder), folder.file_system);
        let is_local = file_system::is_local(&folder);
        let state = Mutex::new(State { folder: Some(folder), looked: Instant::now(), arrivals: 0 });
        let liveness = if is_local { Liveness::default() } else { Liveness::of(&path, mount.clone()) };
        let watched = |(path, mount): (PathBuf, Mount)| {
            let liveness = Liveness::of(&path, None);
            InnerMount { path, mount, liveness }
        };
        let inner = sys::fs::mounts_below(&path).into_iter().filter(|(_, mount)| !is_local_mount(mount));
        let inner = inner.take(MOST_INNER).map(watched).collect();
        let arrivals = AtomicU64::new(0);
        Ok(Root { path, link, state, mount, file_system, is_local, liveness, inner, arrivals })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path below the mount of its file system. It is the same on all machines that have the file system mounted as a whole,
    /// wherever that is. On the system's own file system, the path.
    pub fn path_in_mount(&self) -> &Path {
        let below = self.mount.as_ref().and_then(|mount| self.path.strip_prefix(mount).ok());
        below.unwrap_or(&self.path)
    }

    /// Whether its file system answers.
    pub fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// Whether the path names a folder whose file system answers. Only a local disk is asked now.
    pub fn is_there(&self) -> bool {
        self.liveness.is_there() && (!self.is_local || self.folder_now().is_ok())
    }

    /// The file systems of others below the folder.
    pub fn inner(&self) -> &[InnerMount] {
        &self.inner
    }

    /// How many of those do not answer.
    pub fn silent_inner(&self) -> usize {
        self.inner.iter().filter(|inner| inner.liveness.is_silent()).count()
    }

    /// [`Error::FolderGone`] if `path`, which is below the folder, is in a mount that does not answer.
    pub fn check_answers_at(&self, path: &Path) -> Result<()> {
        // Without such mounts, no path is made.
        let is_silent =
            |inner: &InnerMount| inner.liveness.is_silent() && self.path.join(path).starts_with(&inner.path);
        if self.inner.iter().any(is_silent) { Err(Error::FolderGone) } else { Ok(()) }
    }

    /// Says that requests have arrived: the path is checked again before they read.
    pub fn requests_arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::AcqRel);
    }

    /// The folder for a read, checked since the last request arrived and at most a second ago; of another machine, at most a second ago,
    /// as long as systems themselves believe a name there; if the operator gave a link to it, now. [`Error::FolderGone`] if the path
    /// names none, or its file system does not answer.
    pub fn folder(&self) -> Result<Folder> {
        self.check_answers()?;
        {
            let state = self.lock();
            if let Some(folder) = &state.folder
                && self.link.is_none()
                && (!self.is_local || state.arrivals == self.arrivals.load(Ordering::Acquire))
                && state.looked.elapsed() < TRUSTED
            {
                return Ok(folder.clone());
            }
        }
        self.folder_now()
    }

    /// The folder for an edit: the one that the path names now. [`Error::FolderGone`] as above.
    pub fn folder_now(&self) -> Result<Folder> {
        self.check_answers()?;
        let (known, arrivals) = (self.lock().folder.clone(), self.arrivals.load(Ordering::Acquire));
        match known {
            Some(folder) if self.names(&folder) == Ok(true) => {
                let mut state = self.lock();
                (state.looked, state.arrivals) = (Instant::now(), arrivals);
                Ok(folder)
            }
            _ => self.reopen(),
        }
    }

    fn check_answers(&self) -> Result<()> {
        if self.liveness.is_silent() { Err(Error::FolderGone) } else { Ok(()) }
    }

    /// Checks the path because a file is missing in `folder`. Returns another folder if it names one now.
    pub fn other_than(&self, folder: &Folder) -> Result<Option<Folder>> {
        if self.names(folder) == Ok(true) { Ok(None) } else { self.reopen().map(Some) }
    }

    /// Opens the path again, without a check of the known folder: for a handle that no longer works.
    pub fn reopen(&self) -> Result<Folder> {
        let arrivals = self.arrivals.load(Ordering::Acquire);
        // Without the mutex, because this may wait for another machine.
        let opened = Folder::open(&self.path).ok();
        // In this order: what was opened before a mount came is not what the path names after that.
        let folder = opened.filter(|folder| self.is_mounted() && self.names(folder) == Ok(true));
        *self.lock() = State { folder: folder.clone(), looked: Instant::now(), arrivals };
        folder.ok_or_else(|| if self.leads_elsewhere() { Error::FolderSwitched } else { Error::FolderGone })
    }

    /// Whether the path names `folder` now, the operator's link leads to it, and its file system is mounted.
    pub fn names(&self, folder: &Folder) -> Result<bool, Errno> {
        let leads = |path: &PathBuf| match sys::fs::stat(path) {
            Ok(stat) => Ok(switches::is_off("folder-again") || folder.is(&stat)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(false),
            Err(errno) => Err(errno),
        };
        for path in [Some(&self.path), self.link.as_ref()].into_iter().flatten() {
            if !leads(path)? {
                return Ok(false);
            }
        }
        Ok(self.is_local || self.is_mounted())
    }

    /// Whether the operator's link leads to another folder now.
    fn leads_elsewhere(&self) -> bool {
        let now = self.link.as_ref().and_then(|link| link.canonicalize().ok());
        now.is_some_and(|now| now != self.path)
    }

    /// What its file system can be relied on for.
    pub fn file_system(&self) -> FileSystem {
        self.file_system
    }

    /// Whether its file system is one of this machine.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// The file system of the device `dev`, if the folder is on it. The handle keeps the number from being given to another.
    pub fn file_system_of(&self, dev: u64) -> Option<FileSystem> {
        self.lock().folder.as_ref()?.file_system(dev)
    }

    /// Whether the folder may be there again soon: its file system does not answer, or is not mounted.
    pub fn is_lost(&self) -> bool {
        if self.liveness.is_silent() {
            return true;
        }
        match Folder::open(&self.path) {
            Ok(_) => !self.is_mounted(),
            Err(error) => is_lost(&error, self.is_local) || !self.is_mounted(),
        }
    }

    /// Whether a file system is mounted where one was at the start.
    fn is_mounted(&self) -> bool {
        self.mount.as_deref().is_none_or(is_mounted_at)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every critical section leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder at which the file system of `folder` is mounted, if that is at `path`, which names it, or above.
fn mount_of(path: &Path, folder: &Folder) -> Option<PathBuf> {
    let is_other = |above: &Path| sys::fs::stat(above).is_ok_and(|stat| stat.st_dev != folder.dev);
    path.ancestors().find(|at| at.parent().is_some_and(is_other)).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_path_decides_which_folder_is_served() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("folder");
        fs::create_dir(&path).unwrap();
        let root = Root::open(path.clone(), &path).unwrap();
        let first = root.folder_now().unwrap();
        assert!(root.names(&first) == Ok(true) && root.other_than(&first).unwrap().is_none());
        fs::rename(&path, dir.path().join("moved")).unwrap();
        assert!(matches!(root.folder_now(), Err(Error::FolderGone)));
        assert!(
            matches!(root.folder(), Err(Error::FolderGone)),
            "it is not forgotten that the folder is gone"
        );
        fs::create_dir(&path).unwrap();
        let second = root.folder().unwrap();
        assert!(root.names(&second) == Ok(true) && root.names(&first) == Ok(false));
        assert!(root.other_than(&first).unwrap().is_some_and(|other| other.ino == second.ino));
        fs::rename(&path, dir.path().join("moved, too")).unwrap();
        fs::rename(dir.path().join("moved"), &path).unwrap();
        assert_eq!(root.folder_now().unwrap().ino, first.ino);
    }

    #[test]
    fn a_folder_is_served_only_while_the_link_that_was_given_for_it_leads_there() {
        use sys::testing::symlink;
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let (one, link) = (top.join("one"), top.join("link"));
        let switch = |target: &str| {
            let _ = fs::remove_file(&link);
            symlink(target, &link).unwrap();
        };
        for name in ["one", "two"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        switch("one");
        let root = Root::open(one, &link).unwrap();
        let first = root.folder().unwrap();
        switch("two");
        assert!(matches!(root.folder(), Err(Error::FolderSwitched)), "at once");
        assert!(matches!(root.folder_now(), Err(Error::FolderSwitched)));
        assert!(matches!(root.other_than(&first), Err(Error::FolderSwitched)));
        fs::remove_file(&link).unwrap();
        assert!(matches!(root.folder(), Err(Error::FolderGone)));
        switch("link");
        assert!(root.folder().is_err(), "a link to itself");
        switch("one");
        assert_eq!(root.folder().unwrap().ino, first.ino);
        fs::remove_dir(top.join("one")).unwrap();
        fs::create_dir(top.join("one")).unwrap();
        assert!(root.folder().is_ok(), "the folder may be made again");
    }

    #[test]
    fn a_read_looks_at_the_path_again_after_a_second() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join("folder");
        fs::create_dir(&path).unwrap();
        let root = Root::open(path.clone(), &path).unwrap();
        let first = root.folder().unwrap();
        fs::rename(&path, dir.path().join("moved")).unwrap();
        fs::create_dir(&path).unwrap();
        root.lock().looked = Instant::now();
        assert_eq!(root.folder().unwrap().ino, first.ino);
        root.lock().looked -= TRUSTED;
        assert_ne!(root.folder().unwrap().ino, first.ino);
    }
}
