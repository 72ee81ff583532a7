//! Processes: what they are, how they start, and what they inherit.
#![allow(unsafe_code)] // Calls of the C library without a safe wrapper.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::process::ProcessInfo;

/// The folder that lists the open descriptors of this process, by their numbers.
pub const DESCRIPTORS: &str = "/dev/fd";

/// The number of the last signal.
const LAST_SIGNAL: i32 = 31;

/// Reads a parameter of the system into `value`. Returns its length in bytes.
pub(super) fn read_parameter(name: &CStr, value: &mut [u8]) -> io::Result<usize> {
    let mut len = value.len();
    // SAFETY: the name ends with NUL, and the call writes at most `len` bytes to `value`, and their number to `len`.
    let done = unsafe {
        libc::sysctlbyname(name.as_ptr(), value.as_mut_ptr().cast(), &raw mut len, std::ptr::null_mut(), 0)
    };
    if done == 0 { Ok(len) } else { Err(io::Error::last_os_error()) }
}

/// How many files and sockets one process may have open at once, whatever its limit says: setrlimit(2) refuses more.
pub(crate) fn most_open_files() -> u64 {
    /// OPEN_MAX of sys/syslimits.h, which is always accepted.
    const ACCEPTED: u64 = 10_240;
    let mut bytes = [0; 4];
    let read = read_parameter(c"kern.maxfilesperproc", &mut bytes);
    let most = read.ok().filter(|len| *len == bytes.len()).map(|_| i32::from_ne_bytes(bytes));
    most.and_then(|most| u64::try_from(most).ok()).unwrap_or(ACCEPTED)
}

/// The identity of this run of the system: 36 characters, which are others after a restart.
pub fn boot_id() -> io::Result<String> {
    // With the NUL at its end.
    let mut id = [0; 37];
    read_parameter(c"kern.bootsessionuuid", &mut id)?;
    let id = CStr::from_bytes_until_nul(&id).map_err(io::Error::other)?;
    id.to_str().map(str::to_owned).map_err(io::Error::other)
}

/// nice(2) would concern the whole process.
pub fn lower_thread_priority(_: i32) {}

/// The file of the running program, by its path: if it was replaced, the new one.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Makes the process that `program` starts begin in the folder `dir`, wherever its path leads by now.
pub fn start_in(program: &mut Command, dir: &OwnedFd) -> io::Result<()> {
    let dir = dir.try_clone()?;
    // SAFETY: between the two programs of the process runs one system call; nothing is allocated, and no lock is taken.
    unsafe { program.pre_exec(move || Ok(rustix::process::fchdir(&dir)?)) };
    Ok(())
}

/// Sets every ignored signal back to its default, but SIGPIPE: programs of the standard library ignore it, and set it back
/// for the processes that they start.
pub fn restore_signals() {
    for signal in (1..=LAST_SIGNAL).filter(|signal| *signal != libc::SIGPIPE) {
        // SAFETY: all zeros is a valid sigaction, which the call fills. No function becomes a handler.
        unsafe {
            let mut now: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut now) == 0
                && now.sa_sigaction == libc::SIG_IGN
            {
                libc::signal(signal, libc::SIG_DFL);
            }
        }
    }
}

/// There is no such signal: a supervisor that its command has stopped stays stopped when the server is killed.
pub fn go_on_without_parent() -> Result<(), Errno> {
    Ok(())
}

/// Orphans become children of the first process, which takes their ends.
pub fn adopt_orphans() -> Result<(), Errno> {
    Ok(())
}

/// There are no handles of processes.
pub fn open_process(_: Pid) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// There are no handles of processes.
pub fn signal_open_process(_: &OwnedFd, _: Signal) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// All processes that this one can see.
pub fn all_processes() -> Vec<Pid> {
    /// Processes that may start between the two calls.
    const MORE: usize = 64;
    // SAFETY: without a buffer the call only counts.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let mut numbers = vec![0; usize::try_from(count).unwrap_or(0) + MORE];
    let bytes = i32::try_from(size_of_val(numbers.as_slice())).unwrap_or(i32::MAX);
    // SAFETY: the call writes at most `bytes` bytes, which the vector has.
    let found = unsafe { libc::proc_listallpids(numbers.as_mut_ptr().cast(), bytes) };
    numbers.truncate(usize::try_from(found).unwrap_or(0));
    numbers.into_iter().filter_map(Pid::from_raw).collect()
}

/// The session and the group of a process. `None` if there is no such process, or if it has ended.
pub fn process_info(process: Pid) -> Option<ProcessInfo> {
    let session = rustix::process::getsid(Some(process)).ok()?.as_raw_pid();
    let group = rustix::process::getpgid(Some(process)).ok()?.as_raw_pid();
    Some(ProcessInfo { session, group, has_ended: false })
}
