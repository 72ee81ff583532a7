//! The operating system: the only layer that names a system, rustix, or `std::os`.
//!
//! One set of functions and types with POSIX names. Where systems agree, they are those of rustix and of the standard
//! library, at no cost. What differs stands in one file for each system, and its doc comment says what each one keeps.
//! Knows nothing of the server: no paths of clients, no texts, no locks of ours.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
use macos as system;

pub(crate) use system::features::features;

/// A part of the kernel that is used where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    /// A path is looked up beneath a folder in one call.
    OpenBeneath,
    /// Entries tell when they were created.
    Statx,
    /// What of a file waits to be written to the disk.
    CacheState,
    /// Who has a file open for writing.
    Leases,
    /// Files without a name, in memory.
    MemoryFiles,
    /// Processes, by handles.
    ProcessHandles,
}

/// Files and folders, by handles.
pub(crate) mod fs {
    pub(crate) use super::system::fs::{
        ONLY_PASS, Stat, copy_range, entry_facts, fdatasync, file_type, fstat, fsync, has_no_dirty_page,
        lstat, memory_file, mode, open_beneath, release_lease, stat, statat, take_lease,
    };
    pub(crate) use super::system::mounts::mount_of;
    pub(crate) use rustix::fs::*;
    pub(crate) use std::os::unix::fs::{DirBuilderExt, FileExt};

    /// A mounted file system.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Mount {
        /// Its type, as mount(8) has it: `ext4`, `nfs4`, `fuse.sshfs`.
        pub(crate) kind: String,
        /// What is mounted.
        pub(crate) source: String,
        /// The options of the mount and of the file system, comma-separated.
        pub(crate) options: String,
    }

    /// What an entry of a folder is. Times are in milliseconds since 1970.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct EntryFacts {
        /// As in stat(2).
        pub(crate) mode: u32,
        /// In bytes.
        pub(crate) size: u64,
        /// `None` if the file system does not say.
        pub(crate) created_ms: Option<i64>,
        pub(crate) modified_ms: i64,
        pub(crate) accessed_ms: i64,
    }

    /// Makes a FIFO that its owner may read and write. By the program, because macOS has no such call relative to a folder.
    #[cfg(test)]
    pub(crate) fn make_fifo(path: impl AsRef<std::ffi::OsStr>) {
        let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    }

    /// A time in milliseconds, rounded.
    pub(super) fn milliseconds(seconds: i64, nanoseconds: u32) -> i64 {
        seconds.saturating_mul(1_000).saturating_add(i64::from((nanoseconds + 500_000) / 1_000_000))
    }
}

/// Handles of open files.
pub(crate) mod fd {
    pub(crate) use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
}

/// Names of files as bytes.
pub(crate) mod ffi {
    pub(crate) use std::os::unix::ffi::{OsStrExt, OsStringExt};
}

/// Reading, writing, and errors of system calls.
pub(crate) mod io {
    pub(crate) use super::system::fs::read_if_cached;
    pub(crate) use rustix::io::*;
}

/// Space of a vector that a call fills.
pub(crate) mod buffer {
    pub(crate) use rustix::buffer::spare_capacity;
}

/// Waiting for several handles.
pub(crate) mod event {
    pub(crate) use super::system::fs::Wake;
    pub(crate) use rustix::event::*;
}

/// Sockets between processes of one machine.
pub(crate) mod net {
    #[cfg(test)]
    pub(crate) use std::os::unix::net::UnixListener;
    pub(crate) use std::os::unix::net::UnixStream;
}

/// Memory of the process.
pub(crate) mod memory {
    pub(crate) use super::system::memory::{
        FAULTS, errno_location, limit, limit_arenas, no_huge_pages, used,
    };

    /// Memory of the process, in bytes.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) struct MemoryUse {
        pub(crate) resident: u64,
        /// The resident memory that belongs to no file.
        pub(crate) anonymous: u64,
    }
}

/// What a machine is like.
pub(crate) mod param {
    pub(crate) use super::system::process::boot_id;
}

/// Pipes.
pub(crate) mod pipe {
    pub(crate) use super::system::fs::set_pipe_size as set_size;
}

/// Processes and their limits.
pub(crate) mod process {
    pub(crate) use super::system::process::{
        DESCRIPTORS, adopt_orphans, all_processes, go_on_without_parent, lower_thread_priority, open_process,
        own_program, process_info, restore_signals, signal_open_process, start_in,
    };
    pub(crate) use rustix::process::*;
    pub(crate) use std::os::unix::process::CommandExt;

    /// To what a process belongs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct ProcessInfo {
        pub(crate) session: i32,
        pub(crate) group: i32,
        /// It was not waited for yet.
        pub(crate) has_ended: bool,
    }
}

/// Standard input, output and error.
pub(crate) mod stdio {
    pub(crate) use rustix::stdio::*;
}

/// Clocks.
pub(crate) mod time {
    pub(crate) use rustix::time::{ClockId, clock_gettime};

    /// CPU time of the calling thread.
    pub(crate) fn thread_cpu_time() -> std::time::Duration {
        clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
    }
}
