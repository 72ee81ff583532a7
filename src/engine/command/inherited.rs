//! Takes from a process what it inherited and a command must not get: open descriptors and ignored signals. And runs a
//! function between the two programs of a process.
//!
//! The mask of signals is emptied by the standard library whenever it starts a process.
#![allow(unsafe_code)] // System calls without a safe wrapper.

use std::fs;
use std::io;
use std::process::Command;

use crate::sys::process::CommandExt;
use crate::sys::process::{Pid, getpid};

/// The number of the last signal.
const LAST_SIGNAL: i32 = 64;

/// Closes all descriptors but the first three at the start of another program. Needs /proc.
pub(super) fn close_on_exec() -> io::Result<()> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(descriptor) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if 2 < descriptor {
            // SAFETY: the call sets a flag of a descriptor. It touches no memory, and closes nothing in this process.
            unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Sets every ignored signal back to its default, but SIGPIPE: programs of the standard library ignore it, and set it back
/// for the processes that they start. By system calls, because the C library hides two signals, which it may ignore.
pub(super) fn restore_signals() {
    /// Bytes of a mask of signals.
    const MASK: usize = 8;
    // More words than the kernel's struct has. All zeros is the default handler, no flags, an empty mask.
    let default = [0_usize; 8];
    for signal in (1..=LAST_SIGNAL).filter(|signal| *signal != libc::SIGPIPE) {
        let mut now = [0_usize; 8];
        let (none, call) = (std::ptr::null_mut::<usize>(), libc::SYS_rt_sigaction);
        // SAFETY: the kernel reads and writes one struct behind each pointer that is not null; both arrays are larger. The
        // first word is the handler. No function becomes a handler.
        unsafe {
            if libc::syscall(call, signal, none, now.as_mut_ptr(), MASK) == 0 && now[0] == libc::SIG_IGN {
                libc::syscall(call, signal, default.as_ptr(), none, MASK);
            }
        }
    }
}

/// Makes the process that `command` starts call `tell` with its number before it becomes the program. `tell` must do nothing
/// but system calls.
pub(super) fn tell_before_exec(
    command: &mut Command,
    tell: impl Fn(Pid) -> io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: the supervisor has one thread, so that nothing is half done in the new process. `tell` neither allocates nor
    // takes locks.
    unsafe { command.pre_exec(move || tell(getpid())) };
}
