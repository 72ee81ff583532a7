//! The queue and the lock of a file that is changed, moved or deleted (contract 8).

use std::sync::Arc;
use std::time::Instant;

use super::Workspace;
use super::folders::Found;
use crate::engine::fs::lock::{LockTurn, Locked, PathKey, PathLock};
use crate::engine::fs::resolve::ResolvedPath;
use crate::engine::fs::view::OpenFile;
use crate::engine::path::FilePath;
use crate::engine::{Control, Error, Result};
use crate::sys::fs::Access;

impl Workspace {
    /// Opens and locks the existing file of `found`, which may have at most `max` bytes. `None` if the entry was replaced
    /// meanwhile: start over.
    pub(super) fn lock_file(
        &self,
        found: &Found,
        path: &FilePath,
        max: u64,
        until: Instant,
        control: &Control,
    ) -> Result<Option<(PathLock, Arc<OpenFile>)>> {
        let name = path.sent();
        let open = || self.open_within(&found.place, name, max, control);
        let Some(first) = open()? else { return Ok(None) };
        match found.place.allows(Access::WRITE_OK) {
            None => return Ok(None),
            Some(false) => return Err(Error::PermissionDenied { name: name.into() }),
            Some(true) => {}
        }
        let id = (first.stamp().dev, first.stamp().ino);
        let locked = control.wait_for_lock(|| self.locks.lock(first.file(), id, until, control))?;
        let lock = match locked.map_err(|error| Error::write(name, error))? {
            Locked::Held(lock) => lock,
            Locked::StartOver => return Ok(None),
            Locked::TooLate => return Err(control.locked_out(name)),
        };
        // Another process may have replaced the file before we got the lock; then we locked the old file.
        let Some(file) = open()? else { return Ok(None) };
        Ok(file.stamp().same_file(first.stamp()).then_some((lock, file)))
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
        let dir = crate::sys::fs::fstat(&place.dir).map_err(|errno| Error::read(name, errno))?;
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
