//! Finds out whether another program may be writing to an open file now (contract 8).
//!
//! The kernel sets a file's times at the start of a write(2), not at its end. A result computed from bytes
//! that were read during such a write is wrong afterwards, although the stamp still matches. So a result is
//! cached only if one of these was shown *before* the bytes were read:
//!
//! - No program has the file open for writing: the kernel grants a read lease only then. The lease is
//!   released at once, or with the close of a small file after its lines were counted.
//! - A program has it open for writing (a log, say), or the kernel refuses a lease (another user's file), but
//!   no write(2) is running, because a call that waits for its end has returned; and no page of the file is
//!   dirty, so a write through a map must change the file's times.
//!
//! A write with O_DIRECT inside the file does not take the lock that this call waits for; it is not detected.
//!
//! Every later write then changes the stamp, unless the clock is too coarse ([`FileStamp::is_racy`]).
//!
//! [`FileStamp::is_racy`]: super::version::FileStamp::is_racy
#![allow(unsafe_code)] // Three system calls without a safe wrapper.

use std::fs::File;

use super::file_system::{FileSystem, WriteBarrier};
use crate::sys::fd::AsRawFd;

/// Whether programs have a file open or mapped for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writers {
    /// None has.
    None,
    /// At least one has.
    Some,
    /// Unknown: the file belongs to another user, or the file system has no leases.
    Unknown,
}

/// Whether programs have `file` open for writing now. Never blocks.
///
/// Holds a lease for a moment, or until the file is closed if `until_closed` is set. Meanwhile, another
/// program that opens the file for writing waits (with O_NONBLOCK, its open fails).
pub(crate) fn of(file: &File, until_closed: bool) -> Writers {
    ignore_lease_breaks();
    let fd = file.as_raw_fd();
    // SAFETY: `fd` is open during the calls, and they take plain numbers. If a program opens the file
    // meanwhile, the kernel sends a signal, which is ignored.
    unsafe {
        if libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK) != 0 {
            let refused = std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock;
            return if refused { Writers::Some } else { Writers::Unknown };
        }
        if !until_closed {
            libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK);
        }
    }
    Writers::None
}

/// Ignores SIGIO. The kernel sends it when a program wants to open a file on which this process has a lease;
/// its default action ends the process.
fn ignore_lease_breaks() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: an ignored signal runs no code in this process.
    ONCE.call_once(|| unsafe {
        libc::signal(libc::SIGIO, libc::SIG_IGN);
    });
}

/// Waits for the end of a write(2) that is running on `file`, without a time limit.
pub(crate) fn wait_for_running_write(file: &File, system: FileSystem) {
    // Only the return of the calls matters, not their results.
    match system.write_barrier {
        WriteBarrier::Seek => drop(crate::sys::fs::seek(file, crate::sys::fs::SeekFrom::Data(0))),
        WriteBarrier::Read => drop(crate::sys::io::pread(file, &mut [0; 1], 0)),
        WriteBarrier::None => {}
    }
}

/// Whether every write to `file` from now on changes its times, if no write(2) was running just before.
pub(crate) fn every_write_would_show(file: &File, system: FileSystem) -> bool {
    system.shows_writers && has_no_dirty_page(file)
}

/// Calls cachestat(2), which exists since Linux 6.5.
fn has_no_dirty_page(file: &File) -> bool {
    /// The number of the system call, the same on every architecture.
    const SYS_CACHESTAT: libc::c_long = 451;
    /// Bytes from `offset` on; a length of 0 means up to the end.
    #[repr(C)]
    struct Range {
        offset: u64,
        len: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    struct Pages {
        cached: u64,
        dirty: u64,
        written_back: u64,
        evicted: u64,
        recently_evicted: u64,
    }
    let (range, mut pages) = (Range { offset: 0, len: 0 }, Pages::default());
    // SAFETY: both structs have the kernel's layout (include/uapi/linux/mman.h) and live during the call,
    // which writes only to `pages`.
    let done = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut pages, 0) };
    done == 0 && pages.dirty == 0 && pages.written_back == 0
}

#[cfg(test)]
#[allow(clippy::print_stdout)] // Tests print what they skip.
mod tests {
    use std::io::Write;

    use super::*;
    use crate::engine::fs::file_system;
    use crate::sys::fd::AsFd;

    fn file() -> (tempfile::NamedTempFile, File, FileSystem) {
        let mut named = tempfile::NamedTempFile::new().unwrap();
        named.write_all(b"text\n").unwrap();
        let file = File::open(named.path()).unwrap();
        let system = file_system::of(&file);
        (named, file, system)
    }

    #[test]
    fn a_file_that_somebody_has_open_or_mapped_for_writing_is_told_from_one_that_nobody_has() {
        let (named, file, system) = file();
        if !system.shows_writers {
            return println!("skipped: no leases are believed on this file system");
        }
        assert_eq!(of(&file, false), Writers::Some, "it is open");
        let (_, path) = named.into_parts();
        assert_eq!(of(&file, false), Writers::None);
        assert_eq!(of(&file, false), Writers::None, "the lease was given back");
        let writer = File::options().read(true).write(true).open(&path).unwrap();
        assert_eq!(of(&file, false), Writers::Some);
        // SAFETY: no process changes the file's length.
        let map = unsafe { memmap2::MmapMut::map_mut(&writer).unwrap() };
        drop(writer);
        assert_eq!(of(&file, false), Writers::Some, "it is mapped");
        drop(map);
        assert_eq!(of(&file, false), Writers::None);
    }

    #[test]
    fn programs_that_open_the_file_while_we_ask_do_not_harm_us_nor_we_them() {
        let (named, file, _) = file();
        let (_, path) = named.into_parts();
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..2)
                .map(|_| scope.spawn(|| (0..20_000).all(|_| File::options().write(true).open(&path).is_ok())))
                .collect();
            while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                of(&file, false);
            }
            assert!(writers.into_iter().all(|writer| writer.join().unwrap()));
        });
    }

    #[test]
    fn a_file_with_dirty_pages_may_be_written_to_unseen_and_a_clean_one_may_not() {
        let (named, file, system) = file();
        if !system.shows_writers {
            return println!("skipped: this file system does not show writers");
        }
        crate::sys::fs::fsync(named.as_file().as_fd()).unwrap();
        wait_for_running_write(&file, system);
        if !every_write_would_show(&file, system) {
            return println!("skipped: the kernel has no cachestat(2), or refuses it");
        }
        named.as_file().write_all(b"more\n").unwrap();
        assert!(!every_write_would_show(&file, system));
    }
}
