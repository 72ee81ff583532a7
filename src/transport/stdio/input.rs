//! Waits for standard input and for the signal that stops the server.

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// The result of a wait for input.
pub(super) enum Read {
    /// The number of bytes read; 0 at the end of input.
    Bytes(usize),
    /// A signal: no more input is read.
    Woken,
}

/// Reads the bytes that have arrived. While there are none, calls `idle` every `idle_after` until it returns
/// true.
pub(super) fn read(
    buffer: &mut [u8],
    wake: &OwnedFd,
    idle_after: Duration,
    mut idle: impl FnMut() -> bool,
) -> Read {
    let stdin = rustix::stdio::stdin();
    let timeout = Timespec { tv_sec: idle_after.as_secs() as i64, tv_nsec: 0 };
    let mut done = false;
    loop {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        match poll(&mut ready, (!done).then_some(&timeout)) {
            Ok(0) => {
                done = idle();
                continue;
            }
            Ok(_) if !ready[1].revents().is_empty() => return Read::Woken,
            Err(Errno::INTR) => continue,
            Ok(_) => {}
            // Input that cannot be polled is read directly.
            Err(_) => {}
        }
        match rustix::io::read(stdin, &mut *buffer) {
            Ok(len) => return Read::Bytes(len),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => return Read::Bytes(0),
        }
    }
}
