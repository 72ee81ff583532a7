//! Whether another program may be writing to an open file at this moment (SPEC 8).
//!
//! The system sets a file's times at the start of a write(2) and not again at its end. What was learned from the bytes
//! of a file while such a write is running is wrong afterwards, under a stamp that still looks right. So it is kept
//! only if one of these was shown *before* the bytes were read:
//!
//! - No program has the file open for writing: a read lease is granted only then. It is given back at once, or with
//!   a small file that is closed after its lines were counted.
//! - Somebody has (a log, say), or a lease is not for us to ask for (a file of another user): no write(2) is running,
//!   since a call that waits for its end has returned; and no page of the file is dirty, so that a program that writes
//!   through a map cannot do so without changing the file's times.
//!
//! A write with O_DIRECT to a place inside the file takes no such lock; one that is running is not seen.
//!
//! Every later write then changes the stamp, unless the clock is too coarse ([`FileStamp::is_racy`]).
//!
//! [`FileStamp::is_racy`]: super::version::FileStamp::is_racy
#![allow(unsafe_code)] // Three system calls that rustix does not have.

use std::fs::File;
use std::os::fd::AsRawFd;

use super::file_system::{FileSystem, WriteBarrier};

/// Which programs have a file open for writing, or mapped for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writers {
    /// None.
    None,
    /// At least one.
    Some,
    /// The system does not say: the file is another user's, or the file system has no leases.
    Unknown,
}

/// Which programs have `file` open for writing now. Never waits.
///
/// While the lease is held, for about a microsecond or `until_closed`, another program that opens the file for writing
/// waits (or, if it opens it with O_NONBLOCK, is refused).
pub(crate) fn of(file: &File, until_closed: bool) -> Writers {
    ignore_lease_breaks();
    let fd = file.as_raw_fd();
    // SAFETY: `fd` is open for the time of the calls, and they take plain numbers. The signal that the kernel sends
    // when a program opens the file meanwhile is ignored.
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

/// Ignores SIGIO, which the kernel sends when a program wants to open a file on which we have a lease: unless it is
/// ignored, it ends the process.
fn ignore_lease_breaks() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // SAFETY: no code of the process runs when a signal comes that is ignored.
    ONCE.call_once(|| unsafe {
        libc::signal(libc::SIGIO, libc::SIG_IGN);
    });
}

/// Waits for the end of a write(2) that is running on `file`, for as long as it takes.
pub(crate) fn wait_for_running_write(file: &File, system: FileSystem) {
    // Only that the calls return matters, not what they find.
    match system.write_barrier {
        WriteBarrier::Seek => drop(rustix::fs::seek(file, rustix::fs::SeekFrom::Data(0))),
        WriteBarrier::Read => drop(rustix::io::pread(file, &mut [0; 1], 0)),
        WriteBarrier::None => {}
    }
}

/// Whether a write to `file` from now on is sure to change its times, given that no write(2) was running a moment ago.
pub(crate) fn every_write_would_show(file: &File, system: FileSystem) -> bool {
    system.shows_writers && has_no_dirty_page(file)
}

/// cachestat(2), since Linux 6.5.
fn has_no_dirty_page(file: &File) -> bool {
    /// The system call's number: the same on every architecture.
    const SYS_CACHESTAT: libc::c_long = 451;
    /// Bytes from `offset` on; a length of 0 means to the end.
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
    // SAFETY: both structs are laid out as the kernel has them (include/uapi/linux/mman.h) and live during the call,
    // which writes only to `pages`.
    let done = unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut pages, 0) };
    done == 0 && pages.dirty == 0 && pages.written_back == 0
}

#[cfg(test)]
#[allow(clippy::print_stdout)] // What a test cannot show here, it says.
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;
    use crate::engine::fs::file_system;

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
        // SAFETY: nobody changes the file's length.
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
        rustix::fs::fsync(named.as_file().as_fd()).unwrap();
        wait_for_running_write(&file, system);
        if !every_write_would_show(&file, system) {
            return println!("skipped: the kernel has no cachestat(2), or refuses it");
        }
        named.as_file().write_all(b"more\n").unwrap();
        assert!(!every_write_would_show(&file, system));
    }
}
