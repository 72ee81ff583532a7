//! Which file system a file is on, and what that tells of other programs' writes to it (SPEC 8).
//!
//! The facts are those of the Linux kernel's own file systems. A file system that is not in the table may be on another
//! machine or in another process (NFS, SMB, 9p, FUSE): there other writers are not seen from here, so nothing that was
//! learned from a file is kept. Knows no files but to ask where they are.

use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

/// How to wait for the end of a write(2) that is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteBarrier {
    /// A search for data takes the lock that a write holds.
    Seek,
    /// A read takes the lock that a write holds.
    Read,
    /// There is no known way.
    None,
}

/// What the kernel promises about files of one file system. The default: nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// All access is through this kernel: its leases count every program that has a file open for writing, and its
    /// times show every change.
    pub(crate) is_local: bool,
    /// How to wait for a running write(2).
    pub(crate) write_barrier: WriteBarrier,
    /// A program that writes through a shared map makes a clean page dirty first, and that changes the file's times:
    /// while no page is dirty, no write can go unseen.
    pub(crate) tracks_dirty_pages: bool,
}

const UNKNOWN: FileSystem =
    FileSystem { is_local: false, write_barrier: WriteBarrier::None, tracks_dirty_pages: false };

const fn local(write_barrier: WriteBarrier, tracks_dirty_pages: bool) -> FileSystem {
    FileSystem { is_local: true, write_barrier, tracks_dirty_pages }
}

/// By the numbers that statfs(2) gives.
const TABLE: [(u32, FileSystem); 8] = [
    (0x0000_ef53, local(WriteBarrier::Seek, true)), // ext2, ext3, ext4
    (0x5846_5342, local(WriteBarrier::Read, true)), // XFS
    (0x9123_683e, local(WriteBarrier::Seek, true)), // Btrfs
    (0xf2f5_2010, local(WriteBarrier::Seek, true)), // F2FS
    (0x0102_1994, local(WriteBarrier::Seek, false)), // tmpfs
    (0x794c_7630, local(WriteBarrier::Seek, false)), // overlayfs
    (0x2fc1_2fc1, local(WriteBarrier::None, false)), // ZFS
    (0xca45_1a4e, local(WriteBarrier::None, false)), // bcachefs
];

/// Remembers the file system of the device that was asked about last: one folder is most often on one device.
#[derive(Debug, Default)]
pub(crate) struct FileSystems {
    last: Mutex<Option<(u64, FileSystem)>>,
}

impl FileSystems {
    /// The file system of the device `dev`, if that is known without asking the system.
    pub(crate) fn known(&self, dev: u64) -> Option<FileSystem> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(known, _)| *known == dev).map(|(_, system)| system)
    }

    /// The file system of `file` (or folder), which is on the device `dev`. May wait for another machine.
    pub(crate) fn of(&self, file: impl AsFd, dev: u64) -> FileSystem {
        if let Some(known) = self.known(dev) {
            return known;
        }
        // Outside the lock: a file system that hangs must not hold up requests for others.
        let Ok(statfs) = rustix::fs::fstatfs(file) else { return UNKNOWN };
        let number = statfs.f_type as u32;
        let system = TABLE.iter().find(|(known, _)| *known == number).map_or(UNKNOWN, |(_, system)| *system);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((dev, system));
        system
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_for_no_files_is_unknown_and_is_remembered() {
        let systems = FileSystems::default();
        let file = std::fs::File::open("/proc/self/status").unwrap();
        assert_eq!(systems.known(7), None);
        assert_eq!(systems.of(&file, 7), UNKNOWN);
        assert_eq!(systems.known(7), Some(UNKNOWN));
        assert_eq!(systems.known(8), None);
    }
}
