//! The queue and the lock of a file that is changed, moved or deleted (contract 8).

use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

use super::Workspace;
use super::found::Found;
use folder::fs::lock::{LockTurn, Locked, PathKey, PathLock};
use folder::fs::resolve::ResolvedPath;
use folder::fs::view::OpenFile;
use folder::{Control, Error, FilePath, Result};
use sys::fd::OwnedFd;
use sys::fs::Access;
use sys::io::Errno;

impl Workspace {
    /// Opens and locks the existing file of `found`, which may be of any size if `any_size` is set. `None` if the entry was
    /// replaced meanwhile: start over.
    pub(super) fn lock_file(
        &self,
        found: &Found,
        path: &FilePath,
        any_size: bool,
        until: Instant,
        control: &Control,
    ) -> Result<Option<(PathLock, Arc<OpenFile>)>> {
        let name = path.sent();
        let open = || match any_size {
            true => self.open_place(&found.place, name, control),
            false => self.open_whole(&found.place, name, control),
        };
        let Some(first) = open()? else { return Ok(None) };
        match found.place.allows(Access::WRITE_OK).map_err(|errno| Error::write(name, errno))? {
            None => return Ok(None),
            Some(false) if !switches::is_off("edit-writable") => {
                return Err(Error::PermissionDenied { name: name.into() });
            }
            Some(_) => {}
        }
        let id = (first.stamp().dev, first.stamp().ino);
        let lock = |file: &File| control.wait_for_lock(|| self.locks.lock(file, id, until, control));
        let locked = match lock(first.file())? {
            // NFS locks only files that are open for writing.
            Err(error)
                if !switches::is_off("lock-open-for-writing")
                    && error.raw_os_error() == Some(Errno::BADF.raw_os_error()) =>
            {
                let Some(file) =
                    found.place.open_to_lock(&first).map_err(|error| Error::write(name, error))?
                else {
                    return Ok(None);
                };
                lock(&file)?
            }
            locked => locked,
        };
        let lock = match locked.map_err(|error| Error::write(name, error))? {
            Locked::Held(lock) => lock,
            Locked::StartOver => return Ok(None),
            Locked::TooLate => return Err(control.locked_out(name)),
        };
        // Another process may have replaced the file before we got the lock; then we locked the old file.
        let Some(file) = open()? else { return Ok(None) };
        let is_same = switches::is_off("edit-start-over") || file.stamp().same_file(first.stamp());
        Ok(is_same.then_some((lock, file)))
    }

    /// Refuses to change what is in the folder `dir` if locks there do not keep out other machines.
    pub(super) fn check_locks(&self, dir: &OwnedFd, name: &str) -> Result<()> {
        let stat = sys::fs::fstat(dir).map_err(|errno| Error::read(name, errno))?;
        self.check_mount(dir, stat.st_dev, name)
    }

    fn check_mount(&self, dir: &OwnedFd, device: u64, name: &str) -> Result<()> {
        let refused = |why| Error::UnsafeLocks { name: name.into(), why };
        self.mounts.check(dir, device).map_err(refused)
    }

    /// Waits in the queue of the path of `place`. A turn that is held already for that path is kept.
    pub(super) fn take_turn<'w>(
        &'w self,
        held: Option<LockTurn<'w>>,
        place: &ResolvedPath,
        name: &str,
        until: Instant,
        control: &Control,
    ) -> Result<LockTurn<'w>> {
        let dir = sys::fs::fstat(&place.dir).map_err(|errno| Error::read(name, errno))?;
        self.check_mount(&place.dir, dir.st_dev, name)?;
        let key: PathKey = (dir.st_dev, dir.st_ino, place.name.clone());
        if let Some(turn) = held.filter(|turn| *turn.key() == key) {
            return Ok(turn);
        }
        match control.wait_for_lock(|| self.locks.turn(key, until, control))? {
            Some(turn) => Ok(turn),
            None => Err(control.locked_out(name)),
        }
    }
}
