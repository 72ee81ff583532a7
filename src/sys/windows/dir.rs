//! Reads the entries of a folder.

use std::ffi::{CStr, CString, OsString};
use std::os::windows::ffi::OsStringExt;

use windows_sys::Wdk::Storage::FileSystem::{FILE_DIRECTORY_FILE, FILE_OPEN};
use windows_sys::Win32::Storage::FileSystem::{FILE_LIST_DIRECTORY, SYNCHRONIZE};

use super::fd::{AsFd, OwnedFd};
use super::file_info::kind_of;
use super::flags::FileType;
use super::io::{Errno, Result};
use super::listing::Entries;
use super::lookup::Open;

/// The entries of a folder, in the order of the file system; `.` and `..` may be among them.
#[derive(Debug)]
pub struct Dir {
    folder: OwnedFd,
    entries: Entries,
    /// Where the next entry is in the buffer, in bytes; `None` if the buffer must be filled.
    next: Option<usize>,
    has_begun: bool,
    has_ended: bool,
}

/// One entry.
#[derive(Debug)]
pub struct DirEntry {
    name: CString,
    kind: FileType,
    ino: u64,
}

impl DirEntry {
    pub fn file_name(&self) -> &CStr {
        &self.name
    }

    pub fn file_type(&self) -> FileType {
        self.kind
    }

    /// The number of the file in its volume.
    pub fn ino(&self) -> u64 {
        self.ino
    }
}

impl Dir {
    /// Reads the folder from its beginning. Does not move the position of `folder`.
    pub fn read_from(folder: impl AsFd) -> Result<Dir> {
        let access = FILE_LIST_DIRECTORY | SYNCHRONIZE;
        let own = Open { access, disposition: FILE_OPEN, options: FILE_DIRECTORY_FILE };
        Dir::new(own.at(folder.as_fd(), &[])?)
    }

    /// Reads the folder.
    pub fn new(folder: OwnedFd) -> Result<Dir> {
        Ok(Dir { folder, entries: Entries::new(), next: None, has_begun: false, has_ended: false })
    }

    fn take(&mut self) -> Result<Option<DirEntry>> {
        let at = match self.next {
            Some(at) => at,
            None => {
                let begin = !std::mem::replace(&mut self.has_begun, true);
                match self.entries.read(self.folder.as_fd(), &[], begin)? {
                    true => 0,
                    false => return Ok(None),
                }
            }
        };
        let entry = self.entries.at(at)?;
        self.next = entry.next;
        let name = CString::new(OsString::from_wide(entry.name).into_encoded_bytes());
        let name = name.map_err(|_| Errno::IO)?;
        Ok(Some(DirEntry { name, kind: kind_of(entry.attributes), ino: entry.number }))
    }
}

impl Iterator for Dir {
    type Item = Result<DirEntry>;

    fn next(&mut self) -> Option<Result<DirEntry>> {
        if self.has_ended {
            return None;
        }
        let entry = self.take().transpose();
        self.has_ended = !matches!(entry, Some(Ok(_)));
        entry
    }
}
