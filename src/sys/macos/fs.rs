//! Files, folders and pipes.

use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
pub use rustix::fs::{accessat, renameat_with};
use rustix::io::{Errno, Result};
use rustix::path::Arg;

pub use super::rights::copy_system_attributes;
use crate::fs::{EntryFacts, milliseconds};
pub use crate::stat::Stat;

/// Random names that are tried for a file.
const NAMES_TRIED: usize = 16;

/// For a folder that is only passed through: it need not be readable.
pub const ONLY_PASS: OFlags = OFlags::from_bits_retain(libc::O_SEARCH as u32);

/// There is no such call: the way step by step finds the folder.
pub fn open_beneath(_: impl AsFd, _: &Path, _: OFlags) -> Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// The system does not say what is cached.
pub fn read_if_cached(_: &File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}

/// The system copies no ranges: the caller copies them.
pub fn copy_range(_: &File, _: Range<usize>, _: &File) -> io::Result<usize> {
    Ok(0)
}

/// An empty file without a name; on the disk, because there are none in memory. Nobody else can open it meanwhile.
pub fn memory_file(name: &str) -> io::Result<File> {
    for _ in 0..NAMES_TRIED {
        let random = RandomState::new().build_hasher().finish();
        let path = std::env::temp_dir().join(format!("file-editor-{name}-{random:016x}"));
        match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.and_then(|file| std::fs::remove_file(&path).map(|()| file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Wakes a thread that waits for this handle among others. A pipe: two descriptors.
#[derive(Debug)]
pub struct Wake {
    reader: io::PipeReader,
    writer: io::PipeWriter,
}

impl Wake {
    /// A handle that is not ready.
    pub fn new() -> io::Result<Wake> {
        let (reader, writer) = io::pipe()?;
        Ok(Wake { reader, writer })
    }

    /// The handle is ready to be read from now on.
    pub fn wake(&self) -> Result<()> {
        rustix::io::write(&self.writer, b"!").map(drop)
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// The size of a pipe cannot be set.
pub(crate) fn set_pipe_size(_: impl AsFd, _: usize) -> Result<()> {
    Err(Errno::NOSYS)
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
pub fn fstat(file: impl AsFd) -> Result<Stat> {
    rustix::fs::fstat(file).map(of)
}

/// Asks the file system for the folder at a path.
pub use self::stat as ask;

/// stat(2).
pub fn stat(path: impl Arg) -> Result<Stat> {
    rustix::fs::stat(path).map(of)
}

/// lstat(2).
pub fn lstat(path: impl Arg) -> Result<Stat> {
    rustix::fs::lstat(path).map(of)
}

/// fstatat(2).
pub fn statat(dir: impl AsFd, path: impl Arg, flags: AtFlags) -> Result<Stat> {
    rustix::fs::statat(dir, path, flags).map(of)
}

/// A hint that the system does not take.
pub fn start_writeback(_: &File) {}

/// Flushes a file, and the cache of its disk: fsync(2) alone does not reach the disk here.
pub fn fdatasync(file: impl AsFd) -> Result<()> {
    fsync(file)
}

/// Flushes a file or a folder, and the cache of the disk. A file system without F_FULLFSYNC gets fsync(2).
pub fn fsync(file: impl AsFd) -> Result<()> {
    let file = file.as_fd();
    match rustix::fs::fcntl_fullfsync(file) {
        Err(Errno::NOTSUP | Errno::INVAL | Errno::NOTTY) => rustix::fs::fsync(file),
        done => done,
    }
}

/// The kind of entry in a mode of stat(2).
pub fn file_type(mode: u32) -> FileType {
    FileType::from_raw_mode(mode as u16)
}

/// The permissions in a mode of stat(2).
pub fn mode(mode: u32) -> Mode {
    Mode::from_raw_mode(mode as u16)
}

/// The bits of permissions.
pub fn mode_bits(mode: Mode) -> u32 {
    mode.as_raw_mode().into()
}

/// What the entry `name` of a folder is; of a link, the link itself.
pub fn entry_facts(dir: impl AsFd, name: impl Arg) -> Result<EntryFacts> {
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let rounded = |seconds, nanoseconds| milliseconds(seconds, u32::try_from(nanoseconds).unwrap_or(0));
    Ok(EntryFacts {
        mode: stat.st_mode.into(),
        size: stat.st_size as u64,
        created_ms: Some(rounded(stat.st_birthtime, stat.st_birthtime_nsec)),
        modified_ms: rounded(stat.st_mtime, stat.st_mtime_nsec),
        accessed_ms: rounded(stat.st_atime, stat.st_atime_nsec),
    })
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
