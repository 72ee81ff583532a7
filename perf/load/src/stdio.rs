//! A client over a server's pipes.

use std::io::{Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::Outcome;

/// Larger than a pipe, small enough for the CPU cache.
const BUFFER: usize = 256 << 10;

pub(crate) struct Pipes {
    input: ChildStdin,
    output: ChildStdout,
    buffer: Vec<u8>,
}

/// The properties that are checked on every timed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) len: usize,
    /// Its start or its end says that the tool failed.
    pub(crate) failed: bool,
}

/// Whether a tool result is a failure. Its flag is near the start or the end.
pub(crate) fn says_failed(bytes: &[u8]) -> bool {
    let near = 512.min(bytes.len());
    [&bytes[..near], &bytes[bytes.len() - near..]]
        .iter()
        .any(|part| memchr::memmem::find(part, b"\"isError\":true").is_some())
}

impl Pipes {
    pub(crate) fn new(input: ChildStdin, output: ChildStdout) -> Pipes {
        Pipes { input, output, buffer: vec![0; BUFFER] }
    }

    pub(crate) fn send(&mut self, lines: &[u8]) -> Outcome<()> {
        self.input.write_all(lines).map_err(|why| format!("does not take the request: {why}"))
    }

    /// Reads the answer to the only request in flight. It ends at the first block that ends in a line break,
    /// because JSON contains no bare line breaks.
    pub(crate) fn receive(&mut self, mut keep: Option<&mut Vec<u8>>) -> Outcome<Seen> {
        let (mut len, mut failed) = (0, false);
        loop {
            let count = self.fill()?;
            let block = &self.buffer[..count];
            if let Some(keep) = &mut keep {
                keep.extend_from_slice(block);
            }
            len += count;
            failed |= says_failed(block);
            if block[count - 1] == b'\n' {
                return Ok(Seen { len, failed });
            }
        }
    }

    /// Reads this many answers. A block may hold parts of two answers.
    pub(crate) fn take(&mut self, count: usize) -> Outcome<()> {
        let mut left = count;
        while left > 0 {
            let count = self.fill()?;
            let block = &self.buffer[..count];
            if memchr::memmem::find(block, b"\"isError\":true").is_some() {
                return Err("an answer says that it failed".into());
            }
            left -= memchr::memchr_iter(b'\n', block).count();
        }
        Ok(())
    }

    fn fill(&mut self) -> Outcome<usize> {
        match self.output.read(&mut self.buffer) {
            Ok(0) => Err("ended, or was ended after 60 s, without an answer".into()),
            Ok(count) => Ok(count),
            Err(why) => Err(format!("gives no answer: {why}")),
        }
    }

    /// Keeps `window` requests in flight until the time is up, then reads the remaining answers. All requests
    /// in flight fit into a pipe, so client and server never block each other.
    pub(crate) fn pump(&mut self, requests: &Requests, window: usize, time: Duration) -> Outcome<Pumped> {
        let start = Instant::now();
        let (mut sent, mut answered, mut bytes) = (window, 0, 0);
        requests.run(0, window, |lines| self.send(lines))?;
        while answered < sent {
            let count = self.fill()?;
            bytes += count;
            let arrived = memchr::memchr_iter(b'\n', &self.buffer[..count]).count();
            answered += arrived;
            if arrived > 0 && start.elapsed() < time {
                requests.run(sent, arrived, |lines| self.send(lines))?;
                sent += arrived;
            }
        }
        Ok(Pumped { took: start.elapsed(), answered, bytes })
    }
}

/// The result of one turn of requests in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pumped {
    pub(crate) took: Duration,
    pub(crate) answered: usize,
    pub(crate) bytes: usize,
}

/// Concatenated requests, so that several of them are sent by one write.
pub(crate) struct Requests {
    lines: Vec<u8>,
    ends: Vec<usize>,
}

impl Requests {
    /// From lines with their breaks.
    pub(crate) fn new(requests: &[String]) -> Requests {
        let (mut lines, mut ends) = (Vec::new(), vec![0]);
        for request in requests {
            lines.extend_from_slice(request.as_bytes());
            ends.push(lines.len());
        }
        Requests { lines, ends }
    }

    /// Sends `count` requests from number `from` on, in a circle.
    fn run(&self, from: usize, count: usize, mut send: impl FnMut(&[u8]) -> Outcome<()>) -> Outcome<()> {
        let all = self.ends.len() - 1;
        let (mut from, mut left) = (from % all, count);
        while left > 0 {
            let now = left.min(all - from);
            send(&self.lines[self.ends[from]..self.ends[from + now]])?;
            left -= now;
            from = 0;
        }
        Ok(())
    }
}
