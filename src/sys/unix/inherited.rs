//! Takes from a process the open descriptors that it inherited and a command must not get. And runs a function between the two
//! programs of a process.
//!
//! The mask of signals is emptied by the standard library whenever it starts a process.
#![allow(unsafe_code)] // System calls without a safe wrapper.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, getpid};

use crate::process::DESCRIPTORS;

/// Closes all descriptors but the first three at the start of another program. Needs /proc on Linux.
pub fn close_on_exec() -> io::Result<()> {
    for entry in fs::read_dir(DESCRIPTORS)? {
        let name = entry?.file_name();
        let Some(descriptor) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if 2 < descriptor {
            // SAFETY: the call sets a flag of a descriptor. It touches no memory, and closes nothing in this process.
            unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Makes the process that `command` starts call `tell` with its number before it becomes the program. `tell` must do nothing
/// but system calls.
pub fn tell_before_exec(command: &mut Command, tell: impl Fn(Pid) -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the supervisor has one thread, so that nothing is half done in the new process. `tell` neither allocates nor
    // takes locks.
    unsafe { command.pre_exec(move || tell(getpid())) };
}
