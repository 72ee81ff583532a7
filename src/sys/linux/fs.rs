//! Files, folders and pipes.
#![allow(unsafe_code)] // Leases, and a system call without a safe wrapper.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::event::EventfdFlags;
use rustix::fs::{
    Access, AtFlags, FileType, MemfdFlags, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags,
    StatxTimestamp,
};
pub use rustix::fs::{Stat, fdatasync, fstat, fsync, lstat, stat, statat};
use rustix::io::{Errno, ReadWriteFlags};
use rustix::path::Arg;

use crate::fs::{EntryFacts, milliseconds};

/// Asks the file system for the folder at `path`, also where a cache would know it.
pub fn ask(path: &Path) -> Result<(), Errno> {
    match rustix::fs::statx(rustix::fs::CWD, path, AtFlags::STATX_FORCE_SYNC, StatxFlags::MTIME) {
        // Before Linux 4.11 there is none.
        Err(Errno::NOSYS) => stat(path).map(drop),
        asked => asked.map(drop),
    }
}

/// As rustix has it. Where a sandbox forbids faccessat2(2), the older call decides, if it asks for the same user.
pub fn accessat(dir: impl AsFd, name: impl Arg + Copy, access: Access, flags: AtFlags) -> Result<(), Errno> {
    let forbidden =
        || rustix::fs::accessat(rustix::fs::CWD, "", Access::EXISTS, AtFlags::EACCESS) == Err(Errno::PERM);
    let dir = dir.as_fd();
    match rustix::fs::accessat(dir, name, access, flags) {
        Err(Errno::PERM) if flags == AtFlags::EACCESS && is_same_user() && forbidden() => {
            rustix::fs::accessat(dir, name, access, AtFlags::empty())
        }
        answer => answer,
    }
}

fn is_same_user() -> bool {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    getuid() == geteuid() && getgid() == getegid()
}

/// As rustix has it. ENOSYS also where a sandbox forbids renameat2(2): the system looks for an empty name before anything else, and
/// does not find it.
pub fn renameat_with(
    from: impl AsFd,
    old: impl Arg,
    to: impl AsFd,
    new: impl Arg,
    flags: RenameFlags,
) -> Result<(), Errno> {
    let cwd = rustix::fs::CWD;
    let forbidden = || rustix::fs::renameat_with(cwd, "", cwd, "", flags) == Err(Errno::PERM);
    match rustix::fs::renameat_with(from, old, to, new, flags) {
        Err(Errno::PERM) if forbidden() => Err(Errno::NOSYS),
        answer => answer,
    }
}

/// For a folder that is only passed through: it need not be readable.
pub const ONLY_PASS: OFlags = OFlags::PATH;

/// Opens the folder `path` below `root` if no component is a link and none leaves it. Before Linux 5.6: ENOSYS.
pub fn open_beneath(root: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(root, path, flags, Mode::empty(), beneath)
}

/// Opens the folder `name` in `parent`. `None` if another file system is mounted there, of a device other than `device`: that one
/// is not asked, because it may not answer.
pub fn open_on_device(
    parent: impl AsFd,
    name: impl Arg + Copy,
    flags: OFlags,
    device: u64,
) -> Result<Option<OwnedFd>, Errno> {
    let parent = parent.as_fd();
    let within =
        if switches::is_off("walk-asks-no-mount") { ResolveFlags::empty() } else { ResolveFlags::NO_XDEV };
    match rustix::fs::openat2(parent, name, flags, Mode::empty(), within) {
        Ok(folder) => return Ok(Some(folder)),
        Err(Errno::XDEV) => {
            let known = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
            let found = rustix::fs::statx(parent, name, known, StatxFlags::TYPE)?;
            if rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor) != device {
                return Ok(None);
            }
        }
        // Before Linux 5.6 there is none, and some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM) => {}
        Err(errno) => return Err(errno),
    }
    rustix::fs::openat(parent, name, flags, Mode::empty()).map(Some)
}

/// Reads bytes that are in the page cache; never waits for a disk. `None` if the first is not, or the file system does
/// not say.
pub fn read_if_cached(file: &File, buffer: &mut [u8], at: u64) -> Option<usize> {
    let buffers = &mut [io::IoSliceMut::new(buffer)];
    let flags =
        if switches::is_off("view-nowait") { ReadWriteFlags::empty() } else { ReadWriteFlags::NOWAIT };
    rustix::io::preadv2(file, buffers, at, flags).ok()
}

/// Copies the bytes `range` of `source` to the current position of `target`. Returns how many were copied: fewer if the
/// system cannot copy between these files, or if `source` is shorter now.
pub fn copy_range(source: &File, range: Range<usize>, target: &File) -> io::Result<usize> {
    let (mut at, end) = (range.start as u64, range.end as u64);
    while at < end {
        let left = (end - at) as usize;
        match rustix::fs::copy_file_range(source, Some(&mut at), target, None, left) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM)
                if !switches::is_off("edit-not-in-kernel") =>
            {
                break;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok((at - range.start as u64) as usize)
}

/// Copies what the calls for owners, modes and extended attributes do not reach: there is nothing else here.
pub fn copy_system_attributes(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

/// An empty file in memory without a name below any folder.
pub fn memory_file(name: &str) -> io::Result<File> {
    Ok(File::from(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?))
}

/// Wakes a thread that waits for this handle among others. One descriptor.
#[derive(Debug)]
pub struct Wake(OwnedFd);

impl Wake {
    /// A handle that is not ready.
    pub fn new() -> Result<Wake, Errno> {
        rustix::event::eventfd(0, EventfdFlags::CLOEXEC).map(Wake)
    }

    /// The handle is ready to be read from now on.
    pub fn wake(&self) -> Result<(), Errno> {
        rustix::io::write(&self.0, &1_u64.to_ne_bytes()).map(drop)
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sets the size of a pipe, in bytes.
pub(crate) fn set_pipe_size(pipe: impl AsFd, size: usize) -> Result<(), Errno> {
    rustix::pipe::fcntl_setpipe_size(pipe, size).map(drop)
}

/// The kind of entry in a mode of stat(2).
pub fn file_type(mode: u32) -> FileType {
    FileType::from_raw_mode(mode)
}

/// The permissions in a mode of stat(2).
pub fn mode(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}

/// The bits of permissions.
pub fn mode_bits(mode: Mode) -> u32 {
    mode.as_raw_mode()
}

/// What the entry `name` of a folder is; of a link, the link itself.
pub fn entry_facts(dir: impl AsFd, name: impl Arg) -> Result<EntryFacts, Errno> {
    let fields = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
    let stat = rustix::fs::statx(dir, name, AtFlags::SYMLINK_NOFOLLOW, fields)?;
    let rounded = |time: StatxTimestamp| milliseconds(time.tv_sec, time.tv_nsec);
    let has_birth = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    Ok(EntryFacts {
        mode: stat.stx_mode.into(),
        size: stat.stx_size,
        created_ms: has_birth.then(|| rounded(stat.stx_btime)),
        modified_ms: rounded(stat.stx_mtime),
        accessed_ms: rounded(stat.stx_atime),
    })
}

/// Takes a read lease on a file, which is granted only while no program has it open or mapped for writing. Never blocks. WouldBlock
/// if a program has; another error if the kernel refuses leases on this file. While it is held, a program that opens the
/// file for writing waits (with O_NONBLOCK, its open fails).
pub fn take_lease(file: &File) -> io::Result<()> {
    ignore_lease_breaks();
    // SAFETY: the file is open during the call, which takes plain numbers. If a program opens the file meanwhile, the kernel
    // sends a signal, which is ignored.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Begins to write what a file holds to the disk, and does not wait for it. A hint: where the file system does not take it, nothing happens.
pub fn start_writeback(file: &File) {
    // SAFETY: the file is open during the call, which takes plain numbers. A length of 0 reaches to the end.
    unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
}

/// Gives a lease back.
pub fn release_lease(file: &File) {
    // SAFETY: as above.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
}

/// Ignores SIGIO. The kernel sends it when a program wants to open a file on which this process has a lease; its default
/// action ends the process.
fn ignore_lease_breaks() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: an ignored signal runs no code in this process.
    ONCE.call_once(|| unsafe {
        if !switches::is_off("lease-signal") {
            libc::signal(libc::SIGIO, libc::SIG_IGN);
        }
    });
}

/// Whether no page of the file waits to be written to the disk; false if the system does not say.
pub fn has_no_dirty_page(file: &File) -> bool {
    cached_pages(file).is_some_and(|pages| pages.dirty == 0 && pages.written_back == 0)
}

/// Pages of a file in memory, as the kernel counts them.
#[repr(C)]
#[derive(Default)]
pub(super) struct Pages {
    cached: u64,
    dirty: u64,
    written_back: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Calls cachestat(2), which exists since Linux 6.5. `None` if the system does not say.
pub(super) fn cached_pages(file: &File) -> Option<Pages> {
    /// The number of the system call, the same on every architecture.
    const SYS_CACHESTAT: libc::c_long = 451;
    /// Bytes from `offset` on; a length of 0 means up to the end.
    #[repr(C)]
    struct Range {
        offset: u64,
        len: u64,
    }
    let (range, mut pages) = (Range { offset: 0, len: 0 }, Pages::default());
    // SAFETY: both structs have the kernel's layout (include/uapi/linux/mman.h) and live during the call,
    // which writes only to `pages`.
    let done = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut pages, 0) };
    (done == 0).then_some(pages)
}
