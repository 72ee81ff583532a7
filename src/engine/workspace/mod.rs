//! The folder: list, read, edit. The only module that joins the engine's parts.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Access, Mode, OFlags};

use super::atomic::{self, Durability};
use super::cache::IndexCache;
use super::file_system::FileSystems;
use super::lock::Locks;
use super::name::{FileName, NamePolicy};
use super::open_files::OpenFiles;
use super::place::{Place, Refusal};
use super::version::FileStamp;
use super::view::OpenFile;
use super::{Control, Error, Result, list};

mod edit;
mod read;

pub use edit::Edited;
pub use read::{Excerpt, LineRange};

/// How often a read or an edit starts over on a file that others keep changing.
const ATTEMPTS: usize = 8;

/// Memory for indexes of files seen before.
const CACHE_BYTES: usize = 16 << 20;

/// What a workspace may do (SPEC 2).
#[derive(Debug, Clone)]
pub struct WorkspaceOptions {
    /// Which names are admitted.
    pub names: NamePolicy,
    /// Largest file, in bytes.
    pub max_bytes: u64,
    /// Whether nothing on the disk may change.
    pub read_only: bool,
    /// When an edit counts as done.
    pub durability: Durability,
}

/// Why a folder cannot be served.
#[derive(Debug)]
pub enum OpenError {
    /// It does not exist, is no directory, or cannot be opened.
    Unusable(io::Error),
    /// It cannot be written to.
    NotWritable,
}

/// One served folder.
#[derive(Debug)]
pub struct Workspace {
    path: PathBuf,
    root: Mutex<Arc<OwnedFd>>,
    options: WorkspaceOptions,
    new_file_mode: Mode,
    cache: IndexCache,
    file_systems: FileSystems,
    open_files: OpenFiles,
    locks: Locks,
}

impl Workspace {
    /// Opens the folder at `path` and removes what dead processes left in it.
    pub fn open(path: &Path, options: WorkspaceOptions) -> Result<Workspace, OpenError> {
        let path = path.canonicalize().map_err(OpenError::Unusable)?;
        let root = open_folder(&path).map_err(OpenError::Unusable)?;
        if !options.read_only {
            let access = Access::WRITE_OK | Access::EXEC_OK;
            rustix::fs::accessat(&root, ".", access, rustix::fs::AtFlags::EACCESS)
                .map_err(|_| OpenError::NotWritable)?;
            // A leftover that cannot be removed harms nobody: it is hidden and has no name.
            let _ = atomic::remove_leftovers(&root);
        }
        let umask = rustix::process::umask(Mode::empty());
        rustix::process::umask(umask);
        let file_systems = FileSystems::default();
        // Known from the start, so that a first small read need not wait.
        if let Ok(stat) = rustix::fs::fstat(&root) {
            file_systems.of(&root, stat.st_dev);
        }
        Ok(Workspace {
            path,
            root: Mutex::new(Arc::new(root)),
            options,
            new_file_mode: Mode::from_raw_mode(0o666).difference(umask),
            cache: IndexCache::new(CACHE_BYTES),
            file_systems,
            open_files: OpenFiles::new(),
            locks: Locks::default(),
        })
    }

    /// The folder's canonical path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether `folder` is a path of the folder.
    pub fn is_at(&self, folder: &Path) -> bool {
        folder == self.path || folder.canonicalize().is_ok_and(|folder| folder == self.path)
    }

    /// What the workspace may do.
    pub fn options(&self) -> &WorkspaceOptions {
        &self.options
    }

    /// For a thread that lasts, when nothing else is to do: holds what is known of files in its memory.
    pub fn gather(&self) {
        self.cache.gather();
    }

    /// For every few seconds: lets go of files that stay open for the next read, and of the space of those that were
    /// deleted.
    pub fn close_files(&self) {
        self.open_files.close_all();
    }

    /// Admits a name under the workspace's policy.
    pub fn parse_name(&self, name: &str) -> Result<FileName> {
        FileName::parse(name, self.options.names)
    }

    /// All files of the folder (SPEC 4, `list_files`); `with_access` asks the system what may be read and written.
    pub fn list(&self, with_access: bool, control: &Control) -> Result<list::Listing> {
        self.list_some(list::Wish { after: None, limit: usize::MAX, with_access }, control)
    }

    /// At most `limit` files, those behind the name `after` in byte order.
    pub fn list_page(&self, after: Option<&str>, limit: usize, control: &Control) -> Result<list::Listing> {
        self.list_some(list::Wish { after, limit, with_access: false }, control)
    }

    fn list_some(&self, wish: list::Wish, control: &Control) -> Result<list::Listing> {
        let list = || {
            list::list(&self.root(), &self.path, self.options.names, wish, |seen| {
                self.count_lines(seen, control)
            })
        };
        match list() {
            Ok(listing) if !listing.files.is_empty() => Ok(listing),
            nothing => {
                if self.renew_root()? {
                    list()
                } else {
                    nothing
                }
            }
        }
    }

    /// The folder's handle.
    fn root(&self) -> Arc<OwnedFd> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens a folder that was removed and made again anew; whether it did. For when something is missing: in a folder
    /// that was removed, everything is.
    fn renew_root(&self) -> Result<bool> {
        let mut root = self.root.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = rustix::fs::fstat(&*root).map_or(true, |stat| stat.st_nlink == 0);
        if gone {
            *root = Arc::new(open_folder(&self.path).map_err(|_| Error::FolderGone)?);
        }
        Ok(gone)
    }

    /// The place of an existing file.
    fn find(&self, name: &str) -> Result<Place> {
        let place = self.find_or_missing(name)?;
        if place.stat.is_none() { Err(self.not_found(name)) } else { Ok(place) }
    }

    fn find_or_missing(&self, name: &str) -> Result<Place> {
        let find = || Place::find(&self.root(), OsStr::new(name)).map_err(|refusal| refused(name, refusal));
        let place = find()?;
        if place.stat.is_none() && self.renew_root()? { find() } else { Ok(place) }
    }

    fn not_found(&self, name: &str) -> Error {
        let similar = list::similar_names(&self.root(), name, self.options.names);
        Error::NotFound { name: name.into(), similar }
    }

    /// Opens the file if it is within the limit. Nothing if it is no longer what was found.
    fn open_place(&self, place: &Place, name: &str) -> Result<Option<Arc<OpenFile>>> {
        let Some(file) = place.open().map_err(|refusal| refused(name, refusal))? else { return Ok(None) };
        let (size, max) = (file.stamp().len, self.options.max_bytes);
        if size > max { Err(Error::TooLarge { size, max }) } else { Ok(Some(Arc::new(file))) }
    }

    /// The lines of a listed file; nothing if it is too large, not text or not readable. What is known is told even
    /// when the time is up.
    fn count_lines(&self, seen: &list::Seen, control: &Control) -> Result<Option<usize>> {
        let stamp = FileStamp::of(&seen.stat);
        if stamp.len > self.options.max_bytes {
            return Ok(None);
        }
        if let Some(lines) = self.cache.lines(&stamp) {
            return Ok(lines);
        }
        control.check()?;
        let Ok(Some(file)) = self.open_place(&seen.place(), "") else { return Ok(None) };
        let whole = self.whole(file, "").ok().flatten();
        Ok(whole.map(|(_, index)| index.len_lines()))
    }
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn refused(name: &str, refusal: Refusal) -> Error {
    match refusal {
        Refusal::Forbidden => Error::PermissionDenied { name: name.into() },
        Refusal::System(errno) => Error::read(name, errno),
    }
}

#[cfg(test)]
mod tests;
