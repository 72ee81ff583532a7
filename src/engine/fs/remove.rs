//! Removes everything in a folder, without following a link or entering another file system.
//!
//! Knows no paths of clients. The caller checks first with [`check_tree`], so that a refusal removes nothing.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::temporary;
use crate::engine::exclude::Excludes;
use crate::engine::path::is_git;
use crate::engine::{Control, Error};

/// Why a folder must not be removed.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It holds a folder of git.
    Git,
    /// It holds something that clients must not see, or another file system, or something that cannot be read.
    Protected,
    /// The operation was stopped.
    Stopped(Error),
}

/// Why the removal ended early.
#[derive(Debug)]
pub(crate) enum Failed {
    /// A system call failed.
    System(io::Error),
    /// The operation was stopped.
    Stopped(Error),
}

impl From<Errno> for Failed {
    fn from(errno: Errno) -> Failed {
        Failed::System(errno.into())
    }
}

/// Checks that everything in `folder`, whose path is `base`, may be removed.
pub(crate) fn check_tree(
    folder: BorrowedFd,
    base: &Path,
    excludes: &Excludes,
    control: &Control,
) -> Result<(), Refused> {
    let protected = |_| Refused::Protected;
    let device = rustix::fs::fstat(folder).map_err(protected)?.st_dev;
    let first = open_folder(folder, OsStr::new(".")).map_err(protected)?;
    let mut pending = vec![(first, base.to_owned())];
    while let Some((folder, path)) = pending.pop() {
        for entry in Dir::read_from(&folder).map_err(protected)? {
            control.check().map_err(Refused::Stopped)?;
            let entry = entry.map_err(protected)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if matches!(name.as_bytes(), b"." | b"..") {
                continue;
            }
            if is_git(name.as_bytes()) {
                return Err(Refused::Git);
            }
            let (is_folder, path) = (is_folder(folder.as_fd(), &entry), path.join(name));
            // A temporary file may be another process's edit in progress.
            if excludes.hides(&path, is_folder) || temporary::is_temporary(name.as_bytes()) {
                return Err(Refused::Protected);
            }
            if is_folder {
                let inner = open_folder(folder.as_fd(), name).map_err(protected)?;
                if rustix::fs::fstat(&inner).map_err(protected)?.st_dev != device {
                    return Err(Refused::Protected);
                }
                pending.push((inner, path));
            }
        }
    }
    Ok(())
}

/// Removes everything in `folder`, the deepest first. Returns the number of entries removed.
pub(crate) fn remove_tree(folder: BorrowedFd, control: &Control) -> Result<u64, Failed> {
    let mut removed = 0;
    // Each level: a folder, its name in the level above, and the entries that are left.
    let mut levels = vec![(open_folder(folder, OsStr::new("."))?, None, names(folder)?)];
    while let Some((here, _, left)) = levels.last_mut() {
        control.check().map_err(Failed::Stopped)?;
        if let Some((name, is_folder)) = left.pop() {
            if is_folder {
                let inner = open_folder(here.as_fd(), &name)?;
                let left = names(inner.as_fd())?;
                levels.push((inner, Some(name), left));
            } else {
                rustix::fs::unlinkat(&*here, &name, AtFlags::empty())?;
                removed += 1;
            }
            continue;
        }
        let emptied = levels.pop().and_then(|(_, name, _)| name);
        if let (Some(name), Some((above, _, _))) = (emptied, levels.last()) {
            rustix::fs::unlinkat(above, &name, AtFlags::REMOVEDIR)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The names in a folder, and which of them are folders.
fn names(folder: BorrowedFd) -> Result<Vec<(std::ffi::OsString, bool)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push((name.to_owned(), is_folder(folder, &entry)));
        }
    }
    Ok(names)
}

fn is_folder(folder: BorrowedFd, entry: &rustix::fs::DirEntry) -> bool {
    match entry.file_type() {
        FileType::Unknown => rustix::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory),
        kind => kind == FileType::Directory,
    }
}

fn open_folder(here: BorrowedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(here, name, flags, Mode::empty())
}
