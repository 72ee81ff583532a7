//! Writes whole answers to standard output, one per line, from any number of threads.
//!
//! Short answers are buffered until the thread that reads requests has no more input. A long answer is
//! written block by block; other answers wait. A client that closed the pipe is not an error.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exec::{Notification, caught};
use crate::protocol::{Answer, BLOCK, Pulled};
use crate::transport::net::traffic::TRAFFIC;
use sys::stdio::write_output;

/// Bytes of a long answer that are written at once. Each write wakes the client; more bytes would not fit
/// into the CPU cache.
const LONG: usize = 4 * BLOCK;

/// Largest size of the buffer: short answers of less than a block, then the first block of a long one.
const MOST: usize = BLOCK + LONG;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct StdoutWriter(Mutex<Buffer>);

#[derive(Debug, Default)]
struct Buffer {
    /// The first `len` bytes are to be written; the rest is free.
    bytes: Vec<u8>,
    len: usize,
    closed: bool,
}

impl StdoutWriter {
    /// Adds an answer. It may stay in the buffer until [`StdoutWriter::flush`].
    pub(super) fn push(&self, answer: Answer) {
        self.lock().push(answer);
    }

    /// Writes an answer and all answers before it.
    pub(super) fn send(&self, answer: Answer) {
        let mut buffer = self.lock();
        buffer.push(answer);
        buffer.flush();
    }

    /// Writes a notification, unless its call has been answered. Answers take the same lock, so none can come
    /// between the check and the write.
    pub(super) fn notify(&self, notification: Notification) {
        let mut buffer = self.lock();
        if let Some(message) = notification.if_unanswered() {
            buffer.push(message);
            buffer.flush();
        }
    }

    /// Writes the buffer.
    pub(super) fn flush(&self) {
        self.lock().flush();
    }

    /// Frees the buffer if it is empty and no thread is writing. Returns whether it did.
    pub(super) fn free_if_idle(&self) -> bool {
        let Ok(mut buffer) = self.0.try_lock() else { return false };
        if buffer.len > 0 {
            return false;
        }
        buffer.bytes = Vec::new();
        true
    }

    /// Whether the client has closed the pipe.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes the bytes of the buffer instead of writing them.
    #[cfg(test)]
    pub(super) fn take(&self) -> String {
        let mut buffer = self.lock();
        let len = std::mem::take(&mut buffer.len);
        String::from_utf8(buffer.bytes[..len].to_vec()).unwrap()
    }

    /// A writer whose client has closed the pipe.
    #[cfg(test)]
    pub(super) fn closed() -> StdoutWriter {
        StdoutWriter(Mutex::new(Buffer { closed: true, ..Buffer::default() }))
    }

    fn lock(&self) -> MutexGuard<'_, Buffer> {
        // Between two answers, the buffer holds whole lines; `push` catches a panic within an answer.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffer {
    /// Adds an answer. If pulling it panics, its line ends there, so that the next line is whole.
    fn push(&mut self, mut answer: Answer) {
        let pushed = caught(|| {
            while self.pull(&mut answer) == Pulled::More {
                self.flush();
            }
        });
        if pushed.is_none() {
            tracing::error!("an answer broke off");
        }
        // The answer may end exactly at the end of the buffer.
        if self.len == MOST {
            self.flush();
        }
        self.make_room(1);
        self.bytes[self.len] = b'\n';
        self.len += 1;
        if self.len >= BLOCK {
            self.flush();
        }
    }

    fn pull(&mut self, answer: &mut Answer) -> Pulled {
        self.make_room(answer.room(LONG));
        let (len, pulled) = answer.pull(&mut self.bytes[self.len..]);
        self.len += len;
        pulled
    }

    /// Grows the buffer to what answers need. It never shrinks here, so new bytes are cleared once and not
    /// for each answer.
    fn make_room(&mut self, bytes: usize) {
        let needed = self.len + bytes;
        if self.bytes.len() < needed {
            self.bytes.resize(needed.max(2 * self.bytes.len()).min(MOST), 0);
        }
    }

    fn flush(&mut self) {
        let mut rest = &self.bytes[..self.len];
        while !rest.is_empty() && !self.closed {
            match write_output(rest) {
                Ok(written) => {
                    TRAFFIC.sent(written);
                    rest = &rest[written..];
                }
                Err(_) if switches::is_off("output-closed") => break,
                Err(_) => self.closed = true,
            }
        }
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_when_nothing_waits_to_be_written_and_nobody_writes() {
        let output = StdoutWriter::closed();
        output.push(Answer::ready(200, b"short".to_vec()));
        assert!(!output.free_if_idle());
        assert_eq!(output.take(), "short\n");
        let writing = output.lock();
        assert!(!output.free_if_idle());
        drop(writing);
        assert!(output.free_if_idle() && output.lock().bytes.capacity() == 0);
        output.push(Answer::ready(200, b"again".to_vec()));
        assert_eq!(output.take(), "again\n");
    }

    #[test]
    fn answers_of_any_length_around_the_ends_of_blocks_leave_whole_lines() {
        let around = |blocks: usize| blocks * BLOCK - 2..=blocks * BLOCK + 2;
        let lens = (1..=5).flat_map(around).chain((MOST - 2..=MOST + 2).chain(2 * LONG - 2..=2 * LONG + 2));
        for before in [0, 1, BLOCK - 2, BLOCK - 1] {
            for len in lens.clone() {
                let output = StdoutWriter::closed();
                // Grows the buffer to its largest size.
                output.push(Answer::ready(200, vec![b'a'; 3 * LONG]));
                output.flush();
                if before > 0 {
                    output.push(Answer::ready(200, vec![b'b'; before]));
                }
                output.push(Answer::ready(200, vec![b'c'; len]));
                output.push(Answer::ready(200, b"the next".to_vec()));
                let buffered = output.take();
                // Earlier answers were written; the rest are ends of whole lines.
                let whole = ["", "the next\n"].contains(&&*buffered) || buffered.ends_with("\nthe next\n");
                assert!(whole, "{before} {len}: {buffered:.40}");
            }
        }
    }
}
