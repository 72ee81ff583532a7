//! Standard output: whole answers, one a line, however many threads have one.
//!
//! Short answers gather in a buffer until the reader has nothing more to do; a long one goes out block by block while
//! the others wait. A reader that went away is not an error.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::protocol::{Answer, BLOCK, Pulled};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Output(Mutex<Buffer>);

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    closed: bool,
}

impl Output {
    /// Adds an answer; it may stay in the buffer until [`Output::flush`].
    pub(super) fn push(&self, answer: Answer) {
        self.lock().push(answer);
    }

    /// Sends an answer and all before it.
    pub(super) fn send(&self, answer: Answer) {
        let mut buffer = self.lock();
        buffer.push(answer);
        buffer.flush();
    }

    /// Sends what is in the buffer.
    pub(super) fn flush(&self) {
        self.lock().flush();
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// What waits to be flushed, instead of writing it.
    #[cfg(test)]
    pub(super) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.lock().bytes)).unwrap()
    }

    /// An output whose reader went away.
    #[cfg(test)]
    pub(super) fn closed() -> Output {
        Output(Mutex::new(Buffer { bytes: Vec::new(), closed: true }))
    }

    fn lock(&self) -> MutexGuard<'_, Buffer> {
        // A panic between two answers leaves whole lines; one within an answer is caught where it is pushed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffer {
    /// A panic on the way ends the line where it is, so that the next message is whole again.
    fn push(&mut self, mut answer: Answer) {
        let pushed = catch_unwind(AssertUnwindSafe(|| {
            while answer.pull(&mut self.bytes) == Pulled::More {
                self.flush();
            }
        }));
        if pushed.is_err() {
            tracing::error!("an answer broke off");
        }
        self.bytes.push(b'\n');
        if self.bytes.len() >= BLOCK {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut rest = &self.bytes[..];
        let stdout = rustix::stdio::stdout();
        while !rest.is_empty() && !self.closed {
            match rustix::io::write(stdout, rest) {
                Ok(written) => rest = &rest[written..],
                Err(Errno::INTR) => {}
                // The client made the pipe non-blocking.
                Err(Errno::AGAIN) => {
                    let _ = poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None);
                }
                Err(_) => self.closed = true,
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(2 * BLOCK);
    }
}
