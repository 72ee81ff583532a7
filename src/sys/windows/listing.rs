//! Asks an open folder what it lists, with the names as they are kept.
#![allow(unsafe_code)] // A system call.

use std::os::windows::io::AsRawHandle;
use std::ptr::{null, null_mut};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_ID_BOTH_DIR_INFORMATION, FileIdBothDirectoryInformation, NtQueryDirectoryFile,
};
use windows_sys::Win32::Foundation::{STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE, UNICODE_STRING};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::fd::BorrowedFd;
use super::io::{Errno, Result, checked};

/// Bytes read at once.
const BUFFER: usize = 32 * 1024;

/// Some entries of a folder, as the system tells them. Of 8 bytes each, for their alignment.
#[derive(Debug)]
pub(super) struct Entries(Vec<u64>);

/// One of them.
pub(super) struct Entry<'e> {
    /// The units of its name.
    pub(super) name: &'e [u16],
    pub(super) attributes: u32,
    /// Its number in the volume.
    pub(super) number: u64,
    /// Where the next one is.
    pub(super) next: Option<usize>,
}

impl Entries {
    pub(super) fn new() -> Entries {
        // The rest is for the end of a struct behind the last entry.
        Entries(vec![0; BUFFER / 8 + 2])
    }

    /// Reads the next entries of a folder that is open for it, or the first if it is to begin again. False at the end. The first
    /// call for a handle says which names are read: those that have these units, in any case, or all if there are none.
    pub(super) fn read(&mut self, folder: BorrowedFd, only: &[u16], begin: bool) -> Result<bool> {
        let len = u16::try_from(size_of_val(only)).map_err(|_| Errno::NAMETOOLONG)?;
        let pattern = UNICODE_STRING { Length: len, MaximumLength: len, Buffer: only.as_ptr().cast_mut() };
        let mut status = IO_STATUS_BLOCK::default();
        // SAFETY: the call writes at most `BUFFER` bytes, which the vector has, and the status. It only reads the pattern, which
        // lives as long. It waits, because the handle is a synchronous one, and calls nothing back.
        let done = unsafe {
            NtQueryDirectoryFile(
                folder.as_raw_handle(),
                null_mut(),
                None,
                null(),
                &raw mut status,
                self.0.as_mut_ptr().cast(),
                BUFFER as u32,
                FileIdBothDirectoryInformation,
                false,
                if only.is_empty() { null() } else { &raw const pattern },
                begin,
            )
        };
        match done {
            STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE => Ok(false),
            done => checked(done).map(|()| true),
        }
    }

    /// The entry at `at`: 0, or what the one before calls the next.
    pub(super) fn at(&self, at: usize) -> Result<Entry<'_>> {
        const HEAD: usize = std::mem::offset_of!(FILE_ID_BOTH_DIR_INFORMATION, FileName);
        let size = size_of_val(&*self.0);
        if !at.is_multiple_of(8) || at + size_of::<FILE_ID_BOTH_DIR_INFORMATION>() > size {
            return Err(Errno::IO);
        }
        // SAFETY: the struct is inside the buffer and aligned, and its fields are numbers, valid with any bytes.
        let (entry, first) = unsafe {
            let start = self.0.as_ptr().cast::<u8>().add(at);
            (&*start.cast::<FILE_ID_BOTH_DIR_INFORMATION>(), start.add(HEAD).cast::<u16>())
        };
        let len = entry.FileNameLength as usize;
        if at + HEAD + len > size {
            return Err(Errno::IO);
        }
        // SAFETY: the units are inside the buffer, too.
        let name = unsafe { std::slice::from_raw_parts(first, len / 2) };
        let next = (entry.NextEntryOffset != 0).then(|| at + entry.NextEntryOffset as usize);
        Ok(Entry { name, attributes: entry.FileAttributes, number: entry.FileId.cast_unsigned(), next })
    }
}

/// Whether a folder that is open for it lists exactly this name.
pub(super) fn lists(folder: BorrowedFd, name: &[u16]) -> Result<bool> {
    let mut entries = Entries::new();
    let mut begin = true;
    while entries.read(folder, name, std::mem::take(&mut begin))? {
        let mut at = Some(0);
        while let Some(entry) = at.map(|at| entries.at(at)).transpose()? {
            if entry.name == name {
                return Ok(true);
            }
            at = entry.next;
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::super::fd::AsFd;
    use super::*;

    #[test]
    fn a_folder_lists_a_name_only_as_it_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["A long name.txt", "other"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        for (name, expected) in
            [("A long name.txt", true), ("a long name.txt", false), ("ALONGN~1.TXT", false), ("none", false)]
        {
            let folder = crate::testing::open_folder(dir.path());
            let units: Vec<u16> = name.encode_utf16().collect();
            assert_eq!(lists(folder.as_fd(), &units), Ok(expected), "{name}");
        }
    }
}
