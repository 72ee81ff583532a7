//! The limits of the process, its CPU time, and its end.
#![allow(unsafe_code)] // A call of the C library without a safe wrapper.

use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// Commands of clients can run here (the tool `exec`).
pub(crate) const RUNS_COMMANDS: bool = true;

/// How many files and sockets the process may have open at once; `u64::MAX` without a limit.
pub(crate) fn open_file_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises that limit as far as the system lets this process. Returns the limit from now on.
pub(crate) fn raise_open_file_limit() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // If the system refuses, the limit stays.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    open_file_limit()
}

/// CPU time of all threads since the start of the process.
#[inline]
pub(crate) fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// CPU time of the calling thread.
pub(crate) fn thread_cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Ends the process with this exit code, and runs no more of its code.
pub(crate) fn exit_at_once(code: i32) -> ! {
    // SAFETY: the call ends the process without running any more of its code.
    unsafe { libc::_exit(code) }
}
