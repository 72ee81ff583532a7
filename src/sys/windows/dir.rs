//! Reads the entries of a folder.
#![allow(unsafe_code)] // A system call.

use std::ffi::{CStr, CString, OsString};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_ID_BOTH_DIR_INFORMATION, FILE_OPEN, FileIdBothDirectoryInformation,
    NtQueryDirectoryFile,
};
use windows_sys::Win32::Foundation::{STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE};
use windows_sys::Win32::Storage::FileSystem::{FILE_LIST_DIRECTORY, SYNCHRONIZE};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::fd::{AsFd, OwnedFd};
use super::file_info::kind_of;
use super::flags::FileType;
use super::io::{Errno, Result, checked};
use super::lookup::Open;

/// Bytes read at once.
const BUFFER: usize = 32 * 1024;

/// The entries of a folder, in the order of the file system; `.` and `..` may be among them.
#[derive(Debug)]
pub(crate) struct Dir {
    folder: OwnedFd,
    /// Of 8 bytes each, for the alignment of what the system writes.
    buffer: Vec<u64>,
    /// Where the next entry is in the buffer, in bytes; `None` if the buffer must be filled.
    next: Option<usize>,
    has_begun: bool,
    has_ended: bool,
}

/// One entry.
#[derive(Debug)]
pub(crate) struct DirEntry {
    name: CString,
    kind: FileType,
    ino: u64,
}

impl DirEntry {
    pub(crate) fn file_name(&self) -> &CStr {
        &self.name
    }

    pub(crate) fn file_type(&self) -> FileType {
        self.kind
    }

    /// The number of the file in its volume.
    pub(crate) fn ino(&self) -> u64 {
        self.ino
    }
}

impl Dir {
    /// Reads the folder from its beginning. Does not move the position of `folder`.
    pub(crate) fn read_from(folder: impl AsFd) -> Result<Dir> {
        let access = FILE_LIST_DIRECTORY | SYNCHRONIZE;
        let own = Open { access, disposition: FILE_OPEN, options: FILE_DIRECTORY_FILE };
        Dir::new(own.at(folder.as_fd(), &[])?)
    }

    /// Reads the folder.
    pub(crate) fn new(folder: OwnedFd) -> Result<Dir> {
        // The rest is for the end of a struct behind the last entry.
        let buffer = vec![0; BUFFER / 8 + 2];
        Ok(Dir { folder, buffer, next: None, has_begun: false, has_ended: false })
    }

    /// Reads the next entries. False at the end.
    fn fill(&mut self) -> Result<bool> {
        let restart = !std::mem::replace(&mut self.has_begun, true);
        let mut status = IO_STATUS_BLOCK::default();
        // SAFETY: the call writes at most `BUFFER` bytes, which the vector has, and the status. It waits, because the handle
        // is a synchronous one, and calls nothing back.
        let done = unsafe {
            NtQueryDirectoryFile(
                self.folder.as_raw_handle(),
                null_mut(),
                None,
                null(),
                &raw mut status,
                self.buffer.as_mut_ptr().cast(),
                BUFFER as u32,
                FileIdBothDirectoryInformation,
                false,
                null(),
                restart,
            )
        };
        match done {
            STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE => Ok(false),
            done => checked(done).map(|()| true),
        }
    }

    fn take(&mut self) -> Result<Option<DirEntry>> {
        const HEAD: usize = std::mem::offset_of!(FILE_ID_BOTH_DIR_INFORMATION, FileName);
        let at = match self.next {
            Some(at) => at,
            None => match self.fill()? {
                true => 0,
                false => return Ok(None),
            },
        };
        let size = size_of_val(&*self.buffer);
        if at % 8 != 0 || at + size_of::<FILE_ID_BOTH_DIR_INFORMATION>() > size {
            return Err(Errno::IO);
        }
        // SAFETY: the struct is inside the buffer and aligned, and its fields are numbers, valid with any bytes.
        let (entry, first) = unsafe {
            let start = self.buffer.as_ptr().cast::<u8>().add(at);
            (&*start.cast::<FILE_ID_BOTH_DIR_INFORMATION>(), start.add(HEAD).cast::<u16>())
        };
        let len = entry.FileNameLength as usize;
        if at + HEAD + len > size {
            return Err(Errno::IO);
        }
        // SAFETY: the units are inside the buffer, too.
        let units = unsafe { std::slice::from_raw_parts(first, len / 2) };
        let name = CString::new(OsString::from_wide(units).into_encoded_bytes()).map_err(|_| Errno::IO)?;
        let found = DirEntry { name, kind: kind_of(entry.FileAttributes), ino: entry.FileId.cast_unsigned() };
        self.next = (entry.NextEntryOffset != 0).then(|| at + entry.NextEntryOffset as usize);
        Ok(Some(found))
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
