//! The last bytes of an output of any length, in memory for no more than those.

use std::collections::VecDeque;

/// See the module.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
    received: u64,
}

/// What was kept of an output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Its last bytes. If bytes before them were dropped, they begin with a whole character of UTF-8.
    pub bytes: Vec<u8>,
    /// Number of bytes before them.
    pub dropped: u64,
}

impl Tail {
    /// Keeps the last `most` bytes.
    pub(super) fn new(most: usize) -> Tail {
        Tail { bytes: VecDeque::new(), most, received: 0 }
    }

    /// Adds bytes at the end.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.received += bytes.len() as u64;
        let last = &bytes[bytes.len().saturating_sub(self.most)..];
        let over = (self.bytes.len() + last.len()).saturating_sub(self.most);
        if !switches::is_off("exec-tail") {
            self.bytes.drain(..over);
        }
        self.bytes.extend(last);
    }

    /// Number of bytes added.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    /// The bytes kept.
    pub(super) fn into_output(self) -> Output {
        let mut output =
            Output { dropped: self.received - self.bytes.len() as u64, bytes: self.bytes.into() };
        if output.dropped > 0 {
            output.begin_with_a_character();
        }
        output
    }
}

impl Output {
    /// Drops the first `count` bytes, and the rest of a character that is cut by that.
    pub fn drop_first(&mut self, count: usize) {
        if count > 0 {
            self.bytes.drain(..count);
            self.dropped += count as u64;
            self.begin_with_a_character();
        }
    }

    /// Drops the rest of a character whose beginning was dropped.
    fn begin_with_a_character(&mut self) {
        let is_rest = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
        // A character of UTF-8 has at most 3 bytes after its first. More of them are no character.
        let rest = self.bytes.iter().take(3).take_while(is_rest).count();
        self.bytes.drain(..rest);
        self.dropped += rest as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(most: usize, pushed: &[&[u8]]) -> (Vec<u8>, u64) {
        let mut tail = Tail::new(most);
        pushed.iter().for_each(|bytes| tail.push(bytes));
        assert_eq!(tail.received(), pushed.iter().map(|bytes| bytes.len() as u64).sum::<u64>());
        let Output { bytes, dropped } = tail.into_output();
        (bytes, dropped)
    }

    #[test]
    fn the_last_bytes_are_kept_wherever_the_reads_cut_them() {
        let text = b"abcdefghij";
        for most in 0..=text.len() + 1 {
            for size in 1..=text.len() {
                let reads: Vec<&[u8]> = text.chunks(size).collect();
                let dropped = text.len().saturating_sub(most);
                assert_eq!(kept(most, &reads), (text[dropped..].to_vec(), dropped as u64), "{most} {size}");
            }
        }
    }

    #[test]
    fn what_is_kept_begins_with_a_whole_character() {
        assert_eq!(kept(4, &["aéüß".as_bytes()]), ("üß".as_bytes().to_vec(), 3));
        assert_eq!(kept(3, &["aéüß".as_bytes()]), ("ß".as_bytes().to_vec(), 5));
        assert_eq!(kept(5, &["a\u{1f600}b".as_bytes()]), ("\u{1f600}b".as_bytes().to_vec(), 1));
        assert_eq!(kept(4, &["a\u{1f600}b".as_bytes()]), (b"b".to_vec(), 5));
        // Nothing was dropped, so these bytes were written.
        assert_eq!(kept(4, &[b"\x80\x80"]), (b"\x80\x80".to_vec(), 0));
    }
}
