//! The content of files: reads and writes at positions, copies, flushes.
#![allow(unsafe_code)] // A system call.

use std::fs::File;
use std::io::{self, Seek};
use std::ops::Range;
use std::os::windows::fs::FileExt as _;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ADD_FILE, FILE_STANDARD_INFO, FileStandardInfo, FlushFileBuffers,
};

use super::fd::{AsFd, BorrowedFd};
use super::file_info::query;
use super::io::{Errno, Result};
use super::lookup::Open;
use super::replace::patiently;

/// Reads and writes at a position. They move the position of the handle, too, which nothing here relies on.
pub trait FileExt {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize>;
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize>;

    fn read_exact_at(&self, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, at) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => (buffer, at) = (&mut buffer[len..], at + len as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_all_at(&self, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(bytes, at) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => (bytes, at) = (&bytes[len..], at + len as u64),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<usize> {
        self.seek_read(buffer, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.seek_write(bytes, at)
    }
}

/// A position in a file.
#[derive(Debug, Clone, Copy)]
pub enum SeekFrom {
    Start(u64),
    /// The first data from here on. The system knows no such search.
    #[allow(dead_code)]
    Data(u64),
}

/// Moves the position of a handle.
pub fn seek(mut file: &File, to: SeekFrom) -> Result<u64> {
    match to {
        SeekFrom::Start(at) => file
            .seek(io::SeekFrom::Start(at))
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        SeekFrom::Data(_) => Err(Errno::NOSYS),
    }
}

/// The system copies no ranges: the caller copies them.
pub fn copy_range(_: &File, _: Range<usize>, _: &File) -> io::Result<usize> {
    Ok(0)
}

/// A hint that the system does not take.
pub fn start_writeback(_: &File) {}

/// Flushes a file.
pub fn fdatasync(file: impl AsFd) -> Result<()> {
    fsync(file)
}

/// Flushes a file or a folder. Of a folder it does nothing where that is refused ([`flushes_folders`]): NTFS writes changes of
/// names to its log itself, in their order, so that after a loss of power either the old or the new name is there.
pub fn fsync(file: impl AsFd) -> Result<()> {
    let file = file.as_fd();
    // Not by its attributes: a folder on which a volume is mounted, or which is kept in a cloud, looks like a link there.
    flush(file).or_else(|errno| match query::<FILE_STANDARD_INFO>(file, FileStandardInfo) {
        Ok(info) if info.Directory => flush_folder(file).map(drop),
        _ => Err(errno),
    })
}

/// Whether a folder can be flushed: by its file system, and with the rights of this user, who must be allowed to add files.
pub fn flushes_folders(folder: impl AsFd) -> bool {
    flush_folder(folder.as_fd()) == Ok(true)
}

/// Flushes a folder by a handle of its own, because the system asks for one that may write. False if that is refused.
fn flush_folder(folder: BorrowedFd) -> Result<bool> {
    let done = patiently(|| Open::existing(FILE_ADD_FILE).at(folder, &[])).and_then(|own| flush(own.as_fd()));
    match done {
        Ok(()) => Ok(true),
        Err(Errno::ACCESS | Errno::BADF | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(errno) => Err(errno),
    }
}

fn flush(file: BorrowedFd) -> Result<()> {
    // SAFETY: the handle is open.
    let done = unsafe { FlushFileBuffers(file.as_raw_handle()) };
    if done == 0 { Err(Errno::last()) } else { Ok(()) }
}

/// There are no leases: who has a file open for writing is not known.
pub fn take_lease(_: &File) -> io::Result<()> {
    Err(Errno::NOTSUP.into())
}

/// There are no leases.
pub fn release_lease(_: &File) {}

/// The system does not say.
pub fn has_no_dirty_page(_: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_flushed_by_a_handle_that_only_lists_it_and_a_file_by_one_that_writes() {
        let dir = tempfile::tempdir().unwrap();
        let folder = crate::testing::open_folder(dir.path());
        assert!(flush(folder.as_fd()).is_err(), "there is no need of another handle");
        assert!(flushes_folders(&folder));
        assert_eq!(fsync(&folder), Ok(()));
        std::fs::write(dir.path().join("a"), "a").unwrap();
        assert!(fsync(File::open(dir.path().join("a")).unwrap()).is_err());
    }
}
