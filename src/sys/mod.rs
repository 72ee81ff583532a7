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

/// Files and folders, by handles.
pub(crate) mod fs {
    pub(crate) use super::system::{
        ONLY_PASS, Stat, copy_range, fdatasync, file_type, fstat, fsync, lstat, memory_file, mode,
        open_beneath, stat, statat,
    };
    pub(crate) use rustix::fs::*;
    pub(crate) use std::os::unix::fs::{DirBuilderExt, FileExt};
}

/// Handles of open files.
pub(crate) mod fd {
    pub(crate) use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
}

/// Names of files as bytes.
pub(crate) mod ffi {
    pub(crate) use std::os::unix::ffi::{OsStrExt, OsStringExt};
}

/// Reading, writing, and errors of system calls.
pub(crate) mod io {
    pub(crate) use super::system::read_if_cached;
    pub(crate) use rustix::io::*;
}

/// Space of a vector that a call fills.
pub(crate) mod buffer {
    pub(crate) use rustix::buffer::spare_capacity;
}

/// Waiting for several handles.
pub(crate) mod event {
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
    pub(crate) use super::system::{errno_location, limit_arenas, no_huge_pages};
}

/// What a machine is like.
pub(crate) mod param {
    pub(crate) use rustix::param::page_size;
}

/// Pipes.
pub(crate) mod pipe {
    pub(crate) use super::system::set_pipe_size as set_size;
}

/// Processes and their limits.
pub(crate) mod process {
    pub(crate) use super::system::lower_thread_priority;
    pub(crate) use rustix::process::*;
    pub(crate) use std::os::unix::process::CommandExt;
}

/// Standard input, output and error.
pub(crate) mod stdio {
    pub(crate) use rustix::stdio::*;
}

/// Clocks.
pub(crate) mod time {
    pub(crate) use rustix::time::{ClockId, clock_gettime};
}
