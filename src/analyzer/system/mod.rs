//! What differs by system: what the process gives up before it reads the first text (files, sockets, processes, memory beyond
//! a bound), and the clock of a thread.
//!
//! What the system lacks is left out and not named: the server tells users what is missing (`--doctor`).

use std::time::Duration;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(windows)]
use windows::limit_memory;

/// The stack on which texts are analysed, in bytes: the library frees its memory by recursion. Only what is used of it takes
/// memory.
pub(super) const STACK_BYTES: usize = 256 << 20;

/// Memory that texts may take beside the stack, in bytes. An ordinary text of 1 MiB takes up to 300 MiB.
const MEMORY: usize = 384 << 20;

/// Gives up all files and sockets, for all threads that start later. Returns what enforces it.
pub(super) fn close_files() -> Vec<&'static str> {
    #[cfg(target_os = "linux")]
    if linux::forbid_files() {
        return vec!["landlock"];
    }
    Vec::new()
}

/// Limits the process, then gives up all system calls but those that analysing needs. Runs on the last thread that the process
/// starts. Returns what enforces it.
pub(super) fn close_process() -> Vec<&'static str> {
    let mut by = Vec::new();
    if limit_memory() {
        by.push("memory limit");
    }
    #[cfg(target_os = "linux")]
    if linux::forbid_calls() {
        by.push("seccomp");
    }
    by
}

#[cfg(unix)]
fn limit_memory() -> bool {
    use rustix::process::{Resource, Rlimit, setrlimit};

    let to = |most: usize| Rlimit { current: Some(most as u64), maximum: Some(most as u64) };
    for resource in [Resource::Core, Resource::Nofile, Resource::Nproc] {
        // A limit of the caller's that is lower stays.
        let _ = setrlimit(resource, to(0));
    }
    setrlimit(Resource::Data, to(MEMORY + STACK_BYTES)).is_ok() && cfg!(target_os = "linux")
}

/// Time that the calling thread has run. Where the system does not count it, time that has passed.
#[cfg(unix)]
pub(super) fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Time that the calling thread has run. Where the system does not count it, time that has passed.
#[cfg(windows)]
pub(super) fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
