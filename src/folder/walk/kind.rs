//! What kind of entry a walk meets, by its folder or by a look.

use crate::fs::resolve;
use std::ffi::OsStr;

use sys::fd::OwnedFd;
use sys::fs::FileType;
use sys::io::Errno;

/// What kind of entry a walk has met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, which the walk does not enter.
    Link,
    /// A FIFO, socket or device.
    Special,
}

impl EntryKind {
    /// The kind in a mode of stat(2).
    pub fn of_mode(mode: u32) -> EntryKind {
        kind_of(sys::fs::file_type(mode))
    }
}

/// The kind of an entry. An error: the system does not tell it.
pub(super) type KindResult = Result<EntryKind, Errno>;

/// The kind of an entry whose folder does not say it. `None`: the entry is gone.
pub(super) fn kind_by_look(folder: &OwnedFd, name: &OsStr) -> Result<Option<EntryKind>, Errno> {
    Ok(resolve::entry(folder, name)?.map(|stat| EntryKind::of_mode(stat.st_mode)))
}

pub(super) fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    }
}
