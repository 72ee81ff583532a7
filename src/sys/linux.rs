//! Linux. The other systems give their types the form that they have here.
#![allow(unsafe_code)] // An option of the C library.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

pub(crate) use libc::__errno_location as errno_location;
use memmap2::MmapMut;
use rustix::fs::{FileType, MemfdFlags, Mode, OFlags, ResolveFlags};
pub(crate) use rustix::fs::{Stat, fdatasync, fstat, fsync, lstat, stat, statat};
use rustix::io::{Errno, ReadWriteFlags};

/// For a folder that is only passed through: it need not be readable.
pub(crate) const ONLY_PASS: OFlags = OFlags::PATH;

/// Opens the folder `path` below `root` if no component is a link and none leaves it. Before Linux 5.6: ENOSYS.
pub(crate) fn open_beneath(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, path, flags, Mode::empty(), beneath)
}

/// Reads bytes that are in the page cache; never waits for a disk. `None` if the first is not, or the file system does
/// not say.
pub(crate) fn read_if_cached(file: &File, buffer: &mut [u8], at: u64) -> Option<usize> {
    let buffers = &mut [io::IoSliceMut::new(buffer)];
    rustix::io::preadv2(file, buffers, at, ReadWriteFlags::NOWAIT).ok()
}

/// Copies the bytes `range` of `source` to the current position of `target`. Returns how many were copied: fewer if the
/// system cannot copy between these files, or if `source` is shorter now.
pub(crate) fn copy_range(source: &File, range: Range<usize>, target: &File) -> io::Result<usize> {
    let (mut at, end) = (range.start as u64, range.end as u64);
    while at < end {
        let left = (end - at) as usize;
        match rustix::fs::copy_file_range(source, Some(&mut at), target, None, left) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM) => break,
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok((at - range.start as u64) as usize)
}

/// An empty file in memory without a name below any folder.
pub(crate) fn memory_file(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// Sets the size of a pipe, in bytes.
pub(crate) fn set_pipe_size(pipe: impl AsFd, size: usize) -> Result<(), Errno> {
    rustix::pipe::fcntl_setpipe_size(pipe, size).map(drop)
}

/// Lowers the priority of the calling thread alone, as nice(2) counts it. Ignores errors.
pub(crate) fn lower_thread_priority(niceness: i32) {
    let _ = rustix::process::nice(niceness);
}

/// Asks for small pages, so that the first byte does not take 2 MB.
pub(crate) fn no_huge_pages(map: &MmapMut) {
    let _ = map.advise(memmap2::Advice::NoHugePage);
}

/// Limits the allocator of the C library to one arena. Call it once, before threads start.
pub(crate) fn limit_arenas() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no other thread runs yet, and the call only sets an option of the C library's allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// The kind of entry in a mode of stat(2).
pub(crate) fn file_type(mode: u32) -> FileType {
    FileType::from_raw_mode(mode)
}

/// The permissions in a mode of stat(2).
pub(crate) fn mode(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}
