//! The state of a file as the system reports it, and how reliable that report is.
//!
//! Every cache is keyed by a [`FileStamp`]. Two contents of one file must never have the same stamp, or a
//! cache returns a wrong result. The system permits that in two cases: its clock is coarse, so two writes
//! within one tick get the same time ([`FileStamp::is_racy`]); and it sets the times at the start of a
//! write(2), not at its end, so a running write leaves no later stamp (`writers.rs`). Knows no bytes and no
//! names.

use std::time::{SystemTime, UNIX_EPOCH};

use sys::fs::Stat;

/// Longer than a tick of any kernel's coarse clock.
const TICK_NS: i128 = 20_000_000;

/// Longer than a tick of file systems that store whole or even seconds only.
const COARSE_TICK_NS: i128 = 2_000_000_000;

/// Device and inode: which entry this is, whatever its name.
pub fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

/// Identity and version of one state of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileStamp {
    /// Device.
    pub dev: u64,
    /// Inode.
    pub ino: u64,
    /// Size in bytes.
    pub len: u64,
    /// Time of the last write, in nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Time of the last change of content, mode, owner or links, in nanoseconds since 1970.
    pub ctime_ns: i128,
}

impl FileStamp {
    /// The stamp of the file with this status.
    pub fn of(stat: &Stat) -> FileStamp {
        // The types differ between platforms; all of them fit.
        let nanos = |secs, nanos| i128::from(secs) * 1_000_000_000 + nanos as i128;
        FileStamp {
            dev: stat.st_dev,
            ino: stat.st_ino,
            len: stat.st_size as u64,
            mtime_ns: nanos(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanos(stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Whether a write at the time `at`, or soon after, could leave this stamp unchanged, because the clock
    /// of the file system has not advanced since the last change. (git calls such files racily clean.)
    pub fn is_racy(&self, at: SystemTime) -> bool {
        let at = at.duration_since(UNIX_EPOCH).map_or(0, |at| at.as_nanos() as i128);
        let tick = if self.ctime_ns % 1_000_000_000 == 0 { COARSE_TICK_NS } else { TICK_NS };
        at - self.ctime_ns <= tick
    }

    /// Whether both stamps are of the same file, in any state.
    pub fn same_file(&self, other: &FileStamp) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    /// Whether both stamps are of the same file with equal size and time of last write. A program may set
    /// that time back; only the change time shows it.
    pub fn same_content(&self, other: &FileStamp) -> bool {
        self.same_file(other) && (self.len, self.mtime_ns) == (other.len, other.mtime_ns)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn changed_at(ctime_ns: i128) -> FileStamp {
        FileStamp { dev: 1, ino: 1, len: 1, mtime_ns: 0, ctime_ns }
    }

    #[test]
    fn a_stamp_is_racy_for_a_tick_and_one_of_whole_seconds_for_longer() {
        let at = |ns| UNIX_EPOCH + Duration::from_nanos(ns);
        let changed = 5_000_000_001;
        let fine = changed_at(changed.into());
        assert!(fine.is_racy(at(changed)) && fine.is_racy(at(changed + 20_000_000)));
        assert!(!fine.is_racy(at(changed + 20_000_100)));
        let whole = changed_at(5_000_000_000);
        assert!(whole.is_racy(at(6_900_000_000)) && !whole.is_racy(at(7_000_000_100)));
    }

    #[test]
    fn a_stamp_from_the_future_is_racy() {
        assert!(changed_at(i128::MAX).is_racy(SystemTime::now()));
    }
}
