//! Removes everything in a folder, without following a link or entering another file system.
//!
//! Knows no paths of clients. The caller checks first with [`check_tree`], so that a refusal removes nothing.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

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

/// Checks that everything in `folder`, whose path is `base`, may be removed.
pub(crate) fn check_tree(
    folder: BorrowedFd,
    base: &Path,
    excludes: &Excludes,
    control: &Control,
) -> Result<(), Refused> {
    let device = device_of(folder)?;
    visit(folder, control, |here, path, is_folder| {
        let name = path.file_name().unwrap_or_default();
        if is_git(name.as_bytes()) {
            return Err(Refused::Git);
        }
        // A temporary file may be another process's edit in progress.
        if excludes.hides(&base.join(path), is_folder)
            || temporary::is_temporary(name.as_bytes()) && !is_removed_leftover(here, name)
        {
            return Err(Refused::Protected);
        }
        match is_folder && device_of(open_folder(here, name).map_err(protected)?.as_fd())? != device {
            true => Err(Refused::Protected),
            false => Ok(()),
        }
    })
}

/// Checks that nothing in `folder` is excluded, neither at its path `from` nor if the folder had the path `to`.
pub(crate) fn check_nothing_excluded(
    folder: BorrowedFd,
    from: &Path,
    to: &Path,
    excludes: &Excludes,
    control: &Control,
) -> Result<(), Refused> {
    visit(folder, control, |_, path, is_folder| {
        match [from, to].iter().any(|base| excludes.hides(&base.join(path), is_folder)) {
            true => Err(Refused::Protected),
            false => Ok(()),
        }
    })
}

/// Calls `check` with each entry in `folder`: the folder that holds it, its path below `folder`, and whether it is a folder.
/// It holds one handle for each level.
fn visit(
    folder: BorrowedFd,
    control: &Control,
    mut check: impl FnMut(BorrowedFd, &Path, bool) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let enter = |here: BorrowedFd, name: &OsStr| {
        let inner = open_folder(here, name)?;
        let names = names(inner.as_fd())?;
        Ok((inner, names))
    };
    let mut path = PathBuf::new();
    let mut levels = vec![enter(folder, OsStr::new(".")).map_err(protected)?];
    while let Some((here, left)) = levels.last_mut() {
        control.check().map_err(Refused::Stopped)?;
        let Some((name, is_folder)) = left.pop() else {
            levels.pop();
            path.pop();
            continue;
        };
        path.push(&name);
        check(here.as_fd(), &path, is_folder)?;
        if is_folder {
            let inner = enter(here.as_fd(), &name).map_err(protected)?;
            levels.push(inner);
        } else {
            path.pop();
        }
    }
    Ok(())
}

fn device_of(folder: BorrowedFd) -> Result<u64, Refused> {
    Ok(rustix::fs::fstat(folder).map_err(protected)?.st_dev)
}

/// The error for what cannot be read, unless the system is short of descriptors or memory.
fn protected(errno: Errno) -> Refused {
    match errno {
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
            Refused::Stopped(Error::ReadFailed { source: errno.into() })
        }
        _ => Refused::Protected,
    }
}

/// Removes what dead processes left in `here`. Returns whether `name` is gone then.
fn is_removed_leftover(here: BorrowedFd, name: &OsStr) -> bool {
    let _ = temporary::remove_leftovers(here);
    rustix::fs::statat(here, name, AtFlags::SYMLINK_NOFOLLOW).is_err_and(|errno| errno == Errno::NOENT)
}

/// Removes everything in `folder`, the deepest first. Counts in `removed` what is gone, also if it fails.
pub(crate) fn remove_tree(folder: BorrowedFd, removed: &mut u64, control: &Control) -> Result<(), Errno> {
    // Each level: a folder, its name in the level above, and the entries that are left.
    let mut levels = vec![(open_folder(folder, OsStr::new("."))?, None, names(folder)?)];
    while let Some((here, _, left)) = levels.last_mut() {
        control.progress(*removed, None);
        if let Some((name, is_folder)) = left.pop() {
            if is_folder {
                let inner = open_folder(here.as_fd(), &name)?;
                let left = names(inner.as_fd())?;
                levels.push((inner, Some(name), left));
            } else {
                rustix::fs::unlinkat(&*here, &name, AtFlags::empty())?;
                *removed += 1;
            }
            continue;
        }
        let emptied = levels.pop().and_then(|(_, name, _)| name);
        if let (Some(name), Some((above, _, _))) = (emptied, levels.last()) {
            rustix::fs::unlinkat(above, &name, AtFlags::REMOVEDIR)?;
            *removed += 1;
        }
    }
    Ok(())
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
