//! Creates the missing directories of a path, and removes them again if nothing comes of it (contract 12).
//!
//! Knows no files.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

use super::atomic::Durability;
use super::failpoint;
use super::resolve::ResolvedPath;
use sys::fd::{AsFd, OwnedFd};
use sys::fs::{AtFlags, Mode, OFlags};
use sys::io::Errno;

/// Directories that were created, outermost first, each with the directory that it is in.
#[derive(Debug, Default)]
pub struct Parents(Vec<(Arc<OwnedFd>, OsString)>);

impl Parents {
    /// Creates the missing directories of `place` with this mode. Directories that came meanwhile are used. Each one is
    /// flushed into its parent if `durability` is full.
    pub fn create(place: &ResolvedPath, mode: Mode, durability: Durability) -> io::Result<Parents> {
        let mut created = Parents::default();
        let mut here = place.dir.clone();
        for name in &place.missing {
            match created.enter(&here, name, mode, durability) {
                Ok(next) => here = next,
                Err(errno) => {
                    created.remove();
                    return Err(errno.into());
                }
            }
        }
        Ok(created)
    }

    fn enter(
        &mut self,
        here: &Arc<OwnedFd>,
        name: &OsStr,
        mode: Mode,
        durability: Durability,
    ) -> Result<Arc<OwnedFd>, Errno> {
        match sys::fs::mkdirat(here, name, mode) {
            Ok(()) => self.0.push((here.clone(), name.to_owned())),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        failpoint::taken().map_err(|_| Errno::IO)?;
        if durability == Durability::Full {
            failpoint::fsync(&open(here, OsStr::new("."), OFlags::RDONLY)?)?;
        }
        // A link that came meanwhile is not followed.
        Ok(Arc::new(open(here, name, sys::fs::ONLY_PASS)?))
    }

    /// Removes the directories, as far as they are empty.
    pub fn remove(self) {
        if failpoint::crashed() {
            return;
        }
        for (dir, name) in self.0.iter().rev() {
            if sys::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }
}

fn open(dir: impl AsFd, name: &OsStr, access: OFlags) -> Result<OwnedFd, Errno> {
    let flags = access | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    sys::fs::openat(dir, name, flags, Mode::empty())
}
