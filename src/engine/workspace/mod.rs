//! The served folder: list, read, edit. The only module that joins the engine's parts.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Access, Mode};
use rustix::io::Errno;

use crate::engine::cache::IndexCache;
use crate::engine::fs::atomic::Durability;
use crate::engine::fs::lease;
use crate::engine::fs::lock::Locks;
use crate::engine::fs::resolve::{ResolveError, ResolvedPath};
use crate::engine::fs::root::{Folder, Root};
use crate::engine::fs::temporary::Cleared;
use crate::engine::fs::version::FileStamp;
use crate::engine::fs::view::OpenFile;
use crate::engine::fs::write_wait::WriteWaits;
use crate::engine::name::{FileName, NamePolicy};
use crate::engine::{Budget, Control, Error, Result, list};

mod edit;
mod read;

pub use edit::Edited;
pub use read::{Excerpt, LineRange};

/// Attempts of a read or an edit on a file that other programs keep changing.
const ATTEMPTS: usize = 8;

/// Memory limit of the index cache, in bytes.
const CACHE_BYTES: usize = 16 << 20;

/// Memory limit of all edit plans together, as a multiple of the largest file size.
const PLANS_HELD: usize = 8;

/// Options of a workspace (contract 2).
#[derive(Debug, Clone)]
pub struct WorkspaceOptions {
    /// Which names are allowed.
    pub names: NamePolicy,
    /// Largest file, in bytes.
    pub max_bytes: u64,
    /// Whether every change on the disk is forbidden.
    pub read_only: bool,
    /// When an edit counts as done.
    pub durability: Durability,
}

/// Why a folder cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// It does not exist, is not a directory, or cannot be opened.
    Unusable(io::Error),
    /// It is not writable.
    NotWritable,
}

/// One served folder.
#[derive(Debug)]
pub struct Workspace {
    root: Root,
    options: WorkspaceOptions,
    new_file_mode: Mode,
    cache: IndexCache,
    locks: Locks,
    cleared: Cleared,
    plans: Budget,
    write_waits: WriteWaits,
}

/// The resolved path of a file that exists or may be created.
struct FoundFile {
    /// The served folder at the time of the lookup.
    folder: Folder,
    place: ResolvedPath,
}

impl Workspace {
    /// Opens the folder at `path` and removes temporary files that dead processes left in it.
    pub fn open(path: &Path, options: WorkspaceOptions) -> Result<Workspace, OpenError> {
        let path = path.canonicalize().map_err(OpenError::Unusable)?;
        let root = Root::open(path).map_err(OpenError::Unusable)?;
        let folder = root.folder().map_err(|_| OpenError::Unusable(io::ErrorKind::NotFound.into()))?;
        let cleared = Cleared::default();
        if !options.read_only {
            let access = Access::WRITE_OK | Access::EXEC_OK;
            rustix::fs::accessat(&folder, ".", access, rustix::fs::AtFlags::EACCESS)
                .map_err(|_| OpenError::NotWritable)?;
            cleared.clear_once(folder.handle());
        }
        let umask = rustix::process::umask(Mode::empty());
        rustix::process::umask(umask);
        Ok(Workspace {
            root,
            plans: Budget::new(PLANS_HELD * options.max_bytes as usize),
            write_waits: WriteWaits::default(),
            options,
            new_file_mode: Mode::from_raw_mode(0o666).difference(umask),
            cache: IndexCache::new(CACHE_BYTES),
            locks: Locks::default(),
            cleared,
        })
    }

    /// The folder's canonical path.
    pub fn path(&self) -> &Path {
        self.root.path()
    }

    /// Whether the path `folder` leads to this folder.
    pub fn is_at(&self, folder: &Path) -> bool {
        folder == self.path() || folder.canonicalize().is_ok_and(|folder| folder == self.path())
    }

    /// The options of the workspace.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// The memory limit of all edit plans.
    pub fn plan_memory(&self) -> &Budget {
        &self.plans
    }

    /// Moves cached indexes to the calling thread's heap, so that pages of ended threads can be freed.
    pub fn compact(&self) {
        self.cache.compact();
    }

    /// Parses a name under the workspace's policy.
    pub fn parse_name(&self, name: &str) -> Result<FileName> {
        FileName::parse(name, self.options.names)
    }

    /// All files of the folder (contract 4, `list_files`). `with_access` also asks for read and write permission.
    pub fn list(&self, with_access: bool, control: &Control) -> Result<list::Listing> {
        self.list_some(list::ListOptions { after: None, limit: usize::MAX, with_access }, control)
    }

    /// At most `limit` files, starting after the name `after` in byte order.
    pub fn list_page(&self, after: Option<&str>, limit: usize, control: &Control) -> Result<list::Listing> {
        self.list_some(list::ListOptions { after, limit, with_access: false }, control)
    }

    fn list_some(&self, options: list::ListOptions, control: &Control) -> Result<list::Listing> {
        let wait = |seen: &list::DirEntry| {
            let opened = lease::wait_out(control, || seen.place().open())?;
            opened.map(drop).map_err(|refusal| refused("", refusal))
        };
        let list = |folder: Folder| {
            let count = |seen: &list::DirEntry| self.count_lines(&folder, seen, control);
            list::list(folder.handle(), self.path(), self.options.names, options, count, wait)
        };
        let folder = self.root.folder()?;
        match list(folder.clone()) {
            Ok(listing) if listing.files.is_empty() => match self.root.other_than(&folder)? {
                Some(other) => list(other),
                None => Ok(listing),
            },
            Err(Error::FolderGone | Error::ListingFailed { .. }) => list(self.root.reopen()?),
            listing => listing,
        }
    }

    /// Resolves the name of an existing file.
    fn find(&self, name: &str) -> Result<ResolvedPath> {
        let found = self.find_or_missing(self.root.folder()?, name)?;
        if found.place.stat.is_none() { Err(self.not_found(&found.folder, name)) } else { Ok(found.place) }
    }

    /// Resolves a name in `folder`; if it is missing, in the folder that the path names now.
    fn find_or_missing(&self, folder: Folder, name: &str) -> Result<FoundFile> {
        let find = |folder: Folder| {
            ResolvedPath::find(folder.handle(), OsStr::new(name)).map(|place| FoundFile { folder, place })
        };
        let retried = match find(folder) {
            Ok(found) if found.place.stat.is_none() => match self.root.other_than(&found.folder)? {
                Some(other) => find(other),
                None => Ok(found),
            },
            // The file system behind the handle is gone.
            Err(ResolveError::System(Errno::NOTCONN | Errno::STALE)) => find(self.root.reopen()?),
            found => found,
        };
        retried.map_err(|refusal| refused(name, refusal))
    }

    fn not_found(&self, folder: &Folder, name: &str) -> Error {
        Error::NotFound { name: name.into(), similar: self.similar_names(folder, name) }
    }

    fn similar_names(&self, folder: &Folder, name: &str) -> Vec<String> {
        list::similar_names(folder.handle(), name, self.options.names)
    }

    /// Opens the file if it is not too large; waits for leases. `None` if the entry has changed meanwhile.
    fn open_place(
        &self,
        place: &ResolvedPath,
        name: &str,
        control: &Control,
    ) -> Result<Option<Arc<OpenFile>>> {
        let opened = lease::wait_out(control, || place.open())?;
        if matches!(opened, Err(ResolveError::System(Errno::AGAIN))) && control.broke_off().is_none() {
            return Err(control.locked_out(name));
        }
        self.admit(name, opened)
    }

    fn admit(
        &self,
        name: &str,
        opened: Result<Option<OpenFile>, ResolveError>,
    ) -> Result<Option<Arc<OpenFile>>> {
        let Some(file) = opened.map_err(|refusal| refused(name, refusal))? else { return Ok(None) };
        let (size, max) = (file.stamp().len, self.options.max_bytes);
        if size > max { Err(Error::TooLarge { size, max }) } else { Ok(Some(Arc::new(file))) }
    }

    /// The number of lines of a listed file; `None` if it is too large, not text or not readable. A cached
    /// number is returned even when the time is up. Returns [`Error::Locked`] if another program has a lease
    /// on the file, and [`Error::Changed`] if the file has changed since it was found.
    fn count_lines(
        &self,
        folder: &Folder,
        seen: &list::DirEntry,
        control: &Control,
    ) -> Result<Option<usize>> {
        let stamp = FileStamp::of(&seen.stat);
        if stamp.len > self.options.max_bytes {
            return Ok(None);
        }
        if let Some(lines) = self.cache.lines(&stamp) {
            return Ok(lines);
        }
        control.check()?;
        let changed = || Error::Changed { name: String::new() };
        let Some(file) = seen.open_as_found() else {
            return match seen.place().open().map_err(|refusal| refused("", refusal)) {
                Err(Error::Locked { name }) => Err(Error::Locked { name }),
                Err(_) => Ok(None),
                Ok(_) => Err(changed()),
            };
        };
        let file = Arc::new(file);
        match self.lines_of(file.clone(), folder) {
            Ok(Some(lines)) => Ok(Some(lines)),
            Err(_) if file.is_as_found() => Ok(None),
            Ok(None) | Err(_) => Err(changed()),
        }
    }
}

fn refused(name: &str, refusal: ResolveError) -> Error {
    match refusal {
        ResolveError::Forbidden => Error::PermissionDenied { name: name.into() },
        // Another program has a lease on it.
        ResolveError::System(Errno::AGAIN) => Error::Locked { name: name.into() },
        ResolveError::System(errno) => Error::read(name, errno),
    }
}

#[cfg(test)]
mod tests;
