//! The ends of orphans, where this process is the first one of a container: nobody else takes them, and they would stay.
//!
//! The ends of processes that were started here are left to those that wait for them.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sys::process::{Pid, WaitOptions, all_processes, getpid, process_info, waitpid};

/// Processes that were started here and are waited for.
static STARTED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Starts a process. Call [`waited_for`] after its end was taken.
///
/// # Errors
///
/// Those of the system.
pub fn start(program: &mut Command) -> io::Result<Child> {
    // Its end is not taken before it is known.
    let mut started = lock();
    let child = program.spawn()?;
    started.push(child.id());
    Ok(child)
}

/// The end of a process that was started here has been taken.
pub fn waited_for(child: &Child) {
    lock().retain(|id| *id != child.id());
}

/// Takes the ends of orphans, if this is the first process.
pub fn take_orphans() {
    if getpid().as_raw_pid() != 1 {
        return;
    }
    let started = lock();
    let is_started =
        |process: &Pid| u32::try_from(process.as_raw_pid()).is_ok_and(|id| started.contains(&id));
    let ended = |process: &Pid| process_info(*process).is_some_and(|info| info.has_ended);
    for process in all_processes().into_iter().filter(|process| !is_started(process)).filter(ended) {
        // An error says that it is the child of another process, which takes its end.
        let _ = waitpid(Some(process), WaitOptions::NOHANG);
    }
}

fn lock() -> MutexGuard<'static, Vec<u32>> {
    // The list is valid after every critical section.
    STARTED.lock().unwrap_or_else(PoisonError::into_inner)
}
