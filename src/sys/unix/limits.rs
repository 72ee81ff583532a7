//! The limits of the process, its CPU time, and its end.
#![allow(unsafe_code)] // A call of the C library without a safe wrapper.

use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::system::process::most_open_files;

/// Commands of clients can run here (the tool `exec`).
pub const RUNS_COMMANDS: bool = true;

/// How many files and sockets the process may have open at once; `u64::MAX` without a limit.
pub fn open_file_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises that limit as far as the system lets this process. Returns the limit from now on.
pub fn raise_open_file_limit() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = raised(limit.maximum, most_open_files());
    if is_more(wanted, limit.current) {
        limit.current = wanted;
        // If the system refuses, the limit stays.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    open_file_limit()
}

/// The highest limit that the system accepts below `maximum`. `None` is no limit.
fn raised(maximum: Option<u64>, most: u64) -> Option<u64> {
    let wanted = maximum.unwrap_or(u64::MAX).min(most);
    (wanted != u64::MAX).then_some(wanted)
}

/// Whether the first limit allows more than the second one.
fn is_more(wanted: Option<u64>, current: Option<u64>) -> bool {
    current.is_some_and(|current| wanted.is_none_or(|wanted| current < wanted))
}

/// How many bytes of address space the process may have; `u64::MAX` without a limit.
pub fn address_space_limit() -> u64 {
    getrlimit(Resource::As).current.unwrap_or(u64::MAX)
}

/// CPU time of all threads since the start of the process.
#[inline]
pub fn cpu_time() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

/// CPU time of the calling thread.
pub fn thread_cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Ends the process with this exit code, and runs no more of its code.
pub fn exit_at_once(code: i32) -> ! {
    // SAFETY: the call ends the process without running any more of its code.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_to_what_the_system_accepts_and_never_lowered() {
        assert_eq!(raised(None, 61_440), Some(61_440), "no limit, which macOS refuses");
        assert_eq!(raised(Some(4_096), 61_440), Some(4_096));
        assert_eq!((raised(Some(4_096), u64::MAX), raised(None, u64::MAX)), (Some(4_096), None));
        assert!(is_more(Some(2), Some(1)) && is_more(None, Some(1)));
        assert!(!is_more(Some(1), Some(1)) && !is_more(Some(1), Some(2)) && !is_more(Some(1), None));
    }
}
