//! Processes: what they are, how they start, and what they inherit.
#![allow(unsafe_code)] // System calls without a safe wrapper.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::process::ProcessInfo;

/// The folder that lists the open descriptors of this process, by their numbers.
pub const DESCRIPTORS: &str = "/proc/self/fd";

/// The number of the last signal.
const LAST_SIGNAL: i32 = 64;

/// Where the kernel tells the identity of its run, and the length of that identity.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
const BOOT_ID_LEN: usize = 36;

/// How many files and sockets one process may have open at once, whatever its limit says. Here the limit alone counts.
pub(crate) fn most_open_files() -> u64 {
    u64::MAX
}

/// The identity of this run of the system: 36 characters, which are others after a restart.
pub fn boot_id() -> io::Result<String> {
    let text = fs::read_to_string(BOOT_ID).unwrap_or_default();
    let id = text.trim_end();
    if id.len() == BOOT_ID_LEN {
        Ok(id.into())
    } else {
        Err(io::Error::other(format!("{BOOT_ID} cannot be read")))
    }
}

/// Lowers the priority of the calling thread alone, as nice(2) counts it. Ignores errors.
pub fn lower_thread_priority(niceness: i32) {
    let _ = rustix::process::nice(niceness);
}

/// The running program, also after its file was replaced.
pub fn own_program() -> io::Result<PathBuf> {
    Ok("/proc/self/exe".into())
}

/// Makes the process that `program` starts begin in the folder `dir`, wherever its path leads by now. The folder must stay
/// open until the start.
pub fn start_in(program: &mut Command, dir: &OwnedFd) -> io::Result<()> {
    // The child has this descriptor, too, until it is the program.
    program.current_dir(format!("{DESCRIPTORS}/{}", dir.as_raw_fd()));
    Ok(())
}

/// Sets every ignored signal back to its default, but SIGPIPE: programs of the standard library ignore it, and set it back
/// for the processes that they start. By system calls, because the C library hides two signals, which it may ignore.
pub fn restore_signals() {
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

/// Makes the system send this process SIGCONT at the end of its parent, so that it goes on if it was stopped.
pub fn go_on_without_parent() -> Result<(), Errno> {
    rustix::process::set_parent_process_death_signal(Some(Signal::CONT))
}

/// Makes this process the parent of all processes below it whose parents end.
pub fn adopt_orphans() -> Result<(), Errno> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// A handle of a process, which can be read at its end. Before Linux 5.3: ENOSYS.
pub fn open_process(process: Pid) -> Result<OwnedFd, Errno> {
    rustix::process::pidfd_open(process, PidfdFlags::empty())
}

/// Sends a signal to an open process.
pub fn signal_open_process(process: &OwnedFd, signal: Signal) -> Result<(), Errno> {
    rustix::process::pidfd_send_signal(process, signal)
}

/// All processes that this one can see.
pub fn all_processes() -> Vec<Pid> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok().and_then(Pid::from_raw)).collect()
}

/// The session and the group of a process. `None` if there is no such process.
pub fn process_info(process: Pid) -> Option<ProcessInfo> {
    parse(&fs::read(format!("/proc/{}/stat", process.as_raw_pid())).ok()?)
}

/// Parses a file `stat`. The program's name in it can have any bytes.
fn parse(stat: &[u8]) -> Option<ProcessInfo> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[name_end + 1..]).ok()?.split_ascii_whitespace();
    let (state, _parent, group, session) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let has_ended = matches!(state, "Z" | "X");
    Some(ProcessInfo { session: session.parse().ok()?, group: group.parse().ok()?, has_ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_stat_whatever_its_name_is() {
        let info = |has_ended| Some(ProcessInfo { session: 4, group: 3, has_ended });
        assert_eq!(parse(b"1 (sleep) S 2 3 4 0 -1"), info(false));
        assert_eq!(parse(b"1 (a) S 7 8 9\xff) Z 2 3 4 0 -1"), info(true));
        assert_eq!(parse(b"1 (sleep) S 2 3"), None);
        assert_eq!(parse(b""), None);
    }
}
