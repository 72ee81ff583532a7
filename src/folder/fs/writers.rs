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

use std::fs::File;
use std::io;

use super::file_system::{FileSystem, WriteBarrier};

/// Whether programs have a file open or mapped for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
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
pub fn of(file: &File, until_closed: bool) -> Writers {
    match sys::fs::take_lease(file) {
        Ok(()) if until_closed => Writers::None,
        Ok(()) => {
            sys::fs::release_lease(file);
            Writers::None
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Writers::Some,
        Err(_) => Writers::Unknown,
    }
}

/// Waits for the end of a write(2) that is running on `file`, without a time limit.
pub(crate) fn wait_for_running_write(file: &File, system: FileSystem) {
    // Only the return of the calls matters, not their results.
    match system.write_barrier {
        WriteBarrier::Seek => drop(sys::fs::seek(file, sys::fs::SeekFrom::Data(0))),
        WriteBarrier::Read => drop(sys::io::pread(file, &mut [0; 1], 0)),
        WriteBarrier::None => {}
    }
}

/// Whether every write to `file` from now on changes its times, if no write(2) was running just before.
pub fn every_write_would_show(file: &File, system: FileSystem) -> bool {
    system.shows_writers && sys::fs::has_no_dirty_page(file)
}

#[allow(unsafe_code, clippy::print_stdout)] // A map; and tests print what they skip.
#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::fs::file_system;
    use sys::fd::AsFd;

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
        sys::fs::fsync(named.as_file().as_fd()).unwrap();
        wait_for_running_write(&file, system);
        if !every_write_would_show(&file, system) {
            return println!("skipped: the kernel has no cachestat(2), or refuses it");
        }
        named.as_file().write_all(b"more\n").unwrap();
        assert!(!every_write_would_show(&file, system));
    }
}
