//! Which file system a file is on, and whether it shows other programs' writes (contract 8).
//!
//! The table describes the Linux kernel's own file systems. On any other file system, a write by another
//! program may leave no trace, so nothing that was read from a file is cached. NFS, SMB, 9p and FUSE have
//! writers on another machine or in another process that the kernel does not see; tmpfs does not set a file's
//! times on a write through a map; overlayfs does not count a program that has a file mapped. Uses a file
//! only to ask for its file system.

use crate::sys::fd::AsFd;

/// How to wait for the end of a running write(2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteBarrier {
    /// A search for data takes the lock that a write holds.
    Seek,
    /// A read takes the lock that a write holds.
    Read,
    /// No way is known.
    None,
}

/// The kernel's guarantees for files on one file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileSystem {
    /// How to wait for a running write(2).
    pub(crate) write_barrier: WriteBarrier,
    /// All access goes through this kernel, so leases count every program that has a file open or mapped for
    /// writing. A write through a map first changes the file's times, for each page that was clean.
    pub(crate) shows_writers: bool,
}

/// Keys are the file system types of statfs(2).
const TABLE: [(u32, FileSystem); 6] = [
    (0x0000_ef53, with(WriteBarrier::Seek, true)), // ext2, ext3, ext4
    (0x5846_5342, with(WriteBarrier::Read, true)), // XFS
    (0x9123_683e, with(WriteBarrier::Seek, true)), // Btrfs
    (0xf2f5_2010, with(WriteBarrier::Seek, true)), // F2FS
    (0x0102_1994, with(WriteBarrier::Seek, false)), // tmpfs
    (0x794c_7630, with(WriteBarrier::Seek, false)), // overlayfs
];

const fn with(write_barrier: WriteBarrier, shows_writers: bool) -> FileSystem {
    FileSystem { write_barrier, shows_writers }
}

/// The file system of an open file or folder. May wait for another machine.
pub(crate) fn of(file: impl AsFd) -> FileSystem {
    let number = crate::sys::fs::fstatfs(file).map_or(0, |statfs| statfs.f_type as u32);
    let known = TABLE.iter().find(|(known, _)| *known == number);
    known.map_or(with(WriteBarrier::None, false), |(_, system)| *system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_system_that_is_not_in_the_table_nothing_is_known() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        assert_eq!(of(&file), with(WriteBarrier::None, false));
    }
}
