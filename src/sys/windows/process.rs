//! The process itself: its limits, its CPU time, its end.
#![allow(unsafe_code)] // System calls.

use std::time::Duration;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessTimes, GetThreadTimes, SetThreadPriority,
    THREAD_PRIORITY_BELOW_NORMAL, TerminateProcess,
};

/// Commands of clients do not run here (the tool `exec`): there is neither a shell of that language nor a session whose
/// processes could be ended together.
pub const RUNS_COMMANDS: bool = false;

/// How many files and sockets the process may have open at once: there is no limit but memory.
pub fn open_file_limit() -> u64 {
    u64::MAX
}

/// How many bytes of address space the process may have: there is no limit.
pub fn address_space_limit() -> u64 {
    u64::MAX
}

/// There is no limit that could be raised.
pub fn raise_open_file_limit() -> u64 {
    open_file_limit()
}

/// Lowers the priority of the calling thread alone, by one step of the system. Ignores errors.
pub fn lower_thread_priority(_: i32) {
    // SAFETY: the handle means the calling thread, and needs no closing.
    unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL) };
}

/// CPU time of all threads since the start of the process.
pub fn cpu_time() -> Duration {
    let mut times = [FILETIME::default(); 4];
    let [start, end, kernel, user] = times.each_mut().map(|time| &raw mut *time);
    // SAFETY: the call fills the four structs, which live behind the pointers. The process is this one.
    let done = unsafe { GetProcessTimes(GetCurrentProcess(), start, end, kernel, user) };
    if done == 0 { Duration::ZERO } else { duration(times[2]) + duration(times[3]) }
}

/// CPU time of the calling thread.
pub fn thread_cpu_time() -> Duration {
    let mut times = [FILETIME::default(); 4];
    let [start, end, kernel, user] = times.each_mut().map(|time| &raw mut *time);
    // SAFETY: the call fills the four structs, which live behind the pointers. The thread is this one.
    let done = unsafe { GetThreadTimes(GetCurrentThread(), start, end, kernel, user) };
    if done == 0 { Duration::ZERO } else { duration(times[2]) + duration(times[3]) }
}

/// A length of time, which the system counts in units of 100 ns.
fn duration(time: FILETIME) -> Duration {
    let ticks = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    Duration::from_nanos(ticks.saturating_mul(100))
}

/// Ends the process with this exit code, and runs no more of its code.
pub fn exit_at_once(code: i32) -> ! {
    // SAFETY: the call ends this process.
    unsafe { TerminateProcess(GetCurrentProcess(), code as u32) };
    // Not reached: a process may end itself.
    std::process::abort()
}
