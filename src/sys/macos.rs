//! macOS, where types differ from those of Linux: here they get the same form. Nothing of this file has run on a Mac yet.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

pub(crate) use libc::__error as errno_location;
use memmap2::MmapMut;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

/// For a folder that is only passed through: here it must be readable.
pub(crate) const ONLY_PASS: OFlags = OFlags::empty();

/// There is no such call: the way step by step finds the folder.
pub(crate) fn open_beneath(_: impl AsFd, _: &Path, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// The system does not say what is cached.
pub(crate) fn read_if_cached(_: &File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}

/// The system copies no ranges: the caller copies them.
pub(crate) fn copy_range(_: &File, _: Range<usize>, _: &File) -> io::Result<usize> {
    Ok(0)
}

/// An empty file without a name; on the disk, because there are none in memory.
pub(crate) fn memory_file(name: &str) -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("file-editor-{name}-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// The size of a pipe cannot be set.
pub(crate) fn set_pipe_size(_: impl AsFd, _: usize) -> Result<()> {
    Err(Errno::NOSYS)
}

/// nice(2) would concern the whole process.
pub(crate) fn lower_thread_priority(_: i32) {}

/// Anonymous maps have small pages.
pub(crate) fn no_huge_pages(_: &MmapMut) {}

/// The C library has no such option.
pub(crate) fn limit_arenas() {}

/// What stat(2) tells, with the types of Linux.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    pub(crate) st_dev: u64,
    pub(crate) st_ino: u64,
    pub(crate) st_mode: u32,
    pub(crate) st_nlink: u64,
    pub(crate) st_uid: u32,
    pub(crate) st_gid: u32,
    pub(crate) st_size: i64,
    pub(crate) st_mtime: i64,
    pub(crate) st_mtime_nsec: i64,
    pub(crate) st_ctime: i64,
    pub(crate) st_ctime_nsec: i64,
}

fn of(stat: rustix::fs::Stat) -> Stat {
    Stat {
        st_dev: stat.st_dev as u64,
        st_ino: stat.st_ino,
        st_mode: stat.st_mode.into(),
        st_nlink: stat.st_nlink.into(),
        st_uid: stat.st_uid,
        st_gid: stat.st_gid,
        st_size: stat.st_size,
        st_mtime: stat.st_mtime,
        st_mtime_nsec: stat.st_mtime_nsec,
        st_ctime: stat.st_ctime,
        st_ctime_nsec: stat.st_ctime_nsec,
    }
}

/// fstat(2).
pub(crate) fn fstat(file: impl AsFd) -> Result<Stat> {
    rustix::fs::fstat(file).map(of)
}

/// stat(2).
pub(crate) fn stat(path: impl Arg) -> Result<Stat> {
    rustix::fs::stat(path).map(of)
}

/// lstat(2).
pub(crate) fn lstat(path: impl Arg) -> Result<Stat> {
    rustix::fs::lstat(path).map(of)
}

/// fstatat(2).
pub(crate) fn statat(dir: impl AsFd, path: impl Arg, flags: AtFlags) -> Result<Stat> {
    rustix::fs::statat(dir, path, flags).map(of)
}

/// Flushes a file, and the cache of its disk: fsync(2) alone does not reach the disk here.
pub(crate) fn fdatasync(file: impl AsFd) -> Result<()> {
    fsync(file)
}

/// Flushes a file or a folder, and the cache of the disk. A file system without F_FULLFSYNC gets fsync(2).
pub(crate) fn fsync(file: impl AsFd) -> Result<()> {
    let file = file.as_fd();
    rustix::fs::fcntl_fullfsync(file).or_else(|_| rustix::fs::fsync(file))
}

/// The kind of entry in a mode of stat(2).
pub(crate) fn file_type(mode: u32) -> FileType {
    FileType::from_raw_mode(mode as u16)
}

/// The permissions in a mode of stat(2).
pub(crate) fn mode(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as u16)
}
