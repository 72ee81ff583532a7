//! Standard input, output and error.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, Result, read, write};
pub use rustix::stdio::*;

use crate::event::Wake;
use crate::stdio::InputWait;
use crate::system::fs::set_pipe_size;

/// Waits until standard input has bytes or has ended, somebody has called [`Wake::wake`], or the time is over; without one,
/// for ever. If several are true, the wake-up counts.
pub fn wait_for_input(wake: &Wake, time: Option<Duration>) -> InputWait {
    let stdin = stdin();
    let time =
        time.map(|time| Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() });
    loop {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        return match poll(&mut ready, time.as_ref()) {
            Ok(0) => InputWait::TimedOut,
            Ok(_) if !ready[1].revents().is_empty() => InputWait::Woken,
            Err(Errno::INTR) => continue,
            Ok(_) => InputWait::Ready,
            // Input that cannot be polled is read directly.
            Err(_) => InputWait::Ready,
        };
    }
}

/// Other systems need a start.
#[inline]
pub fn start_input() -> io::Result<()> {
    Ok(())
}

/// Takes the bytes of standard input that have arrived, at most as many as the buffer has. 0 at the end of input; `None` if
/// there are none yet.
#[inline]
pub fn read_input(buffer: &mut [u8]) -> Option<usize> {
    match read(stdin(), buffer) {
        Ok(len) => Some(len),
        Err(Errno::INTR | Errno::AGAIN) => None,
        Err(_) => Some(0),
    }
}

/// Sets the size of the pipe that standard output is, in bytes. Ignores errors: it may be no pipe, or one that cannot grow.
pub fn grow_output(size: usize) {
    let _ = set_pipe_size(stdout(), size);
}

/// Writes bytes to standard output, and waits until it has taken some. Returns how many it has.
#[inline]
pub fn write_output(bytes: &[u8]) -> Result<usize> {
    let stdout = stdout();
    loop {
        match write(stdout, bytes) {
            Err(Errno::INTR) => {}
            // The client made the pipe non-blocking.
            Err(Errno::AGAIN) if !switches::is_off("output-again") => {
                let _ = poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None);
            }
            done => return done,
        }
    }
}

/// Writes bytes to standard error. Waits until it has taken them, and allocates nothing.
pub fn write_error(bytes: &[u8]) {
    let _ = write(stderr(), bytes);
}

/// Writes bytes to standard error, no more than a ready pipe accepts (`PIPE_BUF`). Does not wait: if standard error accepts
/// none now, they are lost.
pub fn write_error_if_ready(bytes: &[u8]) {
    let stderr = stderr();
    let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if matches!(poll(&mut ready, Some(&now)), Ok(1)) {
        let _ = write(stderr, bytes);
    }
}
