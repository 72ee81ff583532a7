//! Standard input: waits for bytes, and splits them into lines wherever reads divide them. Knows no protocol.

use std::time::Duration;

use crate::transport::net::body_buffer::BodyBuffer;
use crate::transport::net::traffic::TRAFFIC;
use sys::event::Wake;
use sys::stdio::{InputWait, read_input, wait_for_input};
use text::lines::BOM;

/// The result of a wait for input.
pub(super) enum ReadResult {
    /// The number of bytes read; 0 at the end of input.
    Bytes(usize),
    /// A signal: no more input is read.
    Woken,
}

/// Reads the bytes that have arrived. While there are none, calls `idle` every `idle_after` until it returns
/// true.
pub(super) fn read(
    buffer: &mut [u8],
    wake: &Wake,
    idle_after: Duration,
    mut idle: impl FnMut() -> bool,
) -> ReadResult {
    let mut done = false;
    loop {
        match wait_for_input(wake, (!done).then_some(idle_after)) {
            InputWait::TimedOut => done = idle(),
            InputWait::Woken => return ReadResult::Woken,
            InputWait::Ready => {
                if let Some(len) = read_input(buffer) {
                    TRAFFIC.read(len);
                    return ReadResult::Bytes(len);
                }
            }
        }
    }
}

/// Splits bytes into lines.
pub(super) struct LineSplitter {
    partial: BodyBuffer,
    max: usize,
    /// The line is too long and was refused; its rest is skipped.
    skipping: bool,
    first: bool,
}

pub(super) enum InputLine<'a> {
    Whole(&'a [u8]),
    TooLong,
}

impl LineSplitter {
    pub(super) fn new(max: usize) -> LineSplitter {
        LineSplitter { partial: BodyBuffer::new(max), max, skipping: false, first: true }
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(InputLine)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if !switches::is_off("stdio-line") && self.partial.len() + line.len() > self.max {
                each(InputLine::TooLong);
            } else if self.partial.is_empty() {
                each(InputLine::Whole(trimmed(line, &mut self.first)));
            } else {
                self.partial.push(line);
                each(InputLine::Whole(trimmed(&self.partial, &mut self.first)));
            }
            self.partial.clear();
        }
        if self.skipping {
            return;
        }
        if self.partial.len() + bytes.len() > self.max {
            self.skipping = true;
            self.partial.clear();
            each(InputLine::TooLong);
        } else {
            self.partial.push(bytes);
        }
    }

    /// The end of input also ends the last line.
    pub(super) fn end(&mut self, mut each: impl FnMut(InputLine)) {
        if !self.partial.is_empty() && !self.skipping {
            each(InputLine::Whole(trimmed(&self.partial, &mut self.first)));
        }
    }
}

/// Removes the final `\r`, and the byte order mark of the first line.
fn trimmed<'a>(line: &'a [u8], first: &mut bool) -> &'a [u8] {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if std::mem::take(first) { line.strip_prefix(BOM).unwrap_or(line) } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(max: usize, reads: &[&[u8]]) -> Vec<String> {
        let mut lines = LineSplitter::new(max);
        let mut seen = Vec::new();
        let mut each = |line: InputLine| {
            seen.push(match line {
                InputLine::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                InputLine::TooLong => "TOO LONG".into(),
            });
        };
        for read in reads {
            lines.feed(read, &mut each);
        }
        lines.end(&mut each);
        seen
    }

    #[test]
    fn lines_are_whole_wherever_the_reads_cut_them() {
        let input = b"\xEF\xBB\xBFone\r\n\ntwo\nthree";
        for cut in 0..=input.len() {
            assert_eq!(lines(100, &[&input[..cut], &input[cut..]]), ["one", "", "two", "three"]);
        }
        let single: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(lines(100, &single), ["one", "", "two", "three"]);
    }

    #[test]
    fn a_line_too_long_is_refused_once_and_the_next_is_read() {
        let input = b"12345\n123456\n1\n1234567890123\n12345\n";
        let expected = ["12345", "TOO LONG", "1", "TOO LONG", "12345"];
        for size in 1..input.len() {
            let reads: Vec<&[u8]> = input.chunks(size).collect();
            assert_eq!(lines(5, &reads), expected, "{size}");
        }
        assert_eq!(lines(3, &[b"1234"]), ["TOO LONG"]);
    }
}
