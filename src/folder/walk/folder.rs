//! The folder of the entries that a walk meets. One whose names were known without a look is opened when something in it is.
//!
//! Knows no names but its own.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use sys::fd::OwnedFd;
use sys::fs::OFlags;
use sys::io::Errno;
use sys::watch::{FolderId, folder_id};

/// See the module.
#[derive(Debug)]
pub struct WalkedFolder {
    opened: OnceLock<Result<Arc<OwnedFd>, Errno>>,
    /// Of one that was not opened.
    place: Option<Place>,
}

/// Where a folder was when its names were known.
#[derive(Debug)]
struct Place {
    /// The folder in which the walk began.
    start: Arc<OwnedFd>,
    /// Its path below that.
    path: PathBuf,
    id: FolderId,
}

impl From<Arc<OwnedFd>> for WalkedFolder {
    fn from(handle: Arc<OwnedFd>) -> WalkedFolder {
        WalkedFolder { opened: OnceLock::from(Ok(handle)), place: None }
    }
}

impl WalkedFolder {
    /// The folder at `path` below `start`, as it was known.
    pub(super) fn unopened(start: Arc<OwnedFd>, path: PathBuf, id: FolderId) -> WalkedFolder {
        WalkedFolder { opened: OnceLock::new(), place: Some(Place { start, path, id }) }
    }

    /// Its handle. NOENT if another folder, or nothing, has its path by now.
    pub fn handle(&self) -> Result<&Arc<OwnedFd>, Errno> {
        let opened = self.opened.get_or_init(|| self.place.as_ref().map_or(Err(Errno::NOENT), Place::open));
        opened.as_ref().map_err(|errno| *errno)
    }

    /// Whether nothing in it was needed so far.
    #[cfg(test)]
    pub(super) fn is_unopened(&self) -> bool {
        self.opened.get().is_none()
    }
}

impl Place {
    fn open(&self) -> Result<Arc<OwnedFd>, Errno> {
        let flags =
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let opened = match sys::fs::open_beneath(&self.start, &self.path, flags) {
            Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => Err(Errno::NOENT),
            opened => opened,
        }?;
        let is_it = switches::is_off("live-same-folder") || folder_id(&opened) == Some(self.id);
        if is_it { Ok(Arc::new(opened)) } else { Err(Errno::NOENT) }
    }
}
