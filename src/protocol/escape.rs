//! Bytes of a file as bytes of a JSON string, block by block.
//!
//! Works on bytes, never on `str`: the source may be a map that another program changes meanwhile. What was written to
//! the block is checked instead, because nobody else can write there; the tail of a cut character moves to the next
//! block. Knows no file and no envelope.

use std::hint::black_box;
use std::ops::Range;

use crate::engine::char_boundary;

/// What becomes of line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Every break reads as `\n` (SPEC 3, read).
    AsLf,
    /// As they stand in the file.
    Kept,
}

/// The bytes cannot be told truthfully: they are not UTF-8, so they are not what was indexed.
#[derive(Debug, PartialEq, Eq)]
pub struct NotUtf8;

/// Escapes one text that comes in any number of pieces.
#[derive(Debug)]
pub struct Escaper {
    breaks: Breaks,
    /// The last byte was a `\r` that has been written as a break: a `\n` right behind it belongs to it.
    after_cr: bool,
    /// Bytes of a character that the last block cut.
    tail: [u8; 3],
    tail_len: usize,
}

/// Source bytes looked at in one step.
const STEP: usize = 16;

/// Room that one step may need: every byte as `\u00XX`, and what a whole step writes at once.
const ROOM: usize = 6 * STEP + STEP;

/// The smallest block that [`Escaper::fill`] makes progress with.
pub const MIN_BLOCK: usize = ROOM + 3;

impl Escaper {
    /// At the start of a text.
    pub fn new(breaks: Breaks) -> Escaper {
        Escaper { breaks, after_cr: false, tail: [0; 3], tail_len: 0 }
    }

    /// Escapes from the front of `source` into `block` until either is used up. Returns how many source bytes were
    /// taken and how many block bytes are ready; those are whole characters.
    pub fn fill(&mut self, source: &[u8], block: &mut [u8]) -> Result<(usize, usize), NotUtf8> {
        block[..self.tail_len].copy_from_slice(&self.tail[..self.tail_len]);
        let (mut taken, mut end) = (0, self.tail_len);
        while taken < source.len() && end + ROOM <= block.len() {
            taken += self.step(&source[taken..], block, &mut end);
        }
        let ready = incomplete_tail(&block[..end]);
        simdutf8::basic::from_utf8(&block[..ready]).map_err(|_| NotUtf8)?;
        self.tail_len = end - ready;
        self.tail[..self.tail_len].copy_from_slice(&block[ready..end]);
        Ok((taken, ready))
    }

    /// Ends the text: an error if it ends inside a character.
    pub fn finish(&self) -> Result<(), NotUtf8> {
        if self.tail_len == 0 { Ok(()) } else { Err(NotUtf8) }
    }

    /// Takes [`STEP`] bytes, or what is left if that is little.
    #[inline]
    fn step(&mut self, source: &[u8], block: &mut [u8], end: &mut usize) -> usize {
        let Some(window) = source.first_chunk::<{ 2 * STEP }>() else {
            return self.step_bytewise(&source[..source.len().min(STEP)], block, end);
        };
        // One look at the source: what is copied must be what was judged, also if the file changes in between, or a
        // quote could slip through and end the string. `black_box` keeps the compiler from looking twice.
        let window = &black_box(*window);
        let mut specials = specials(window);
        let mut at = 0;
        while specials != 0 {
            let special = specials.trailing_zeros() as usize;
            specials &= specials - 1;
            self.plain(window, at..special, block, end);
            self.special(window[special], block, end);
            at = special + 1;
        }
        self.plain(window, at..STEP, block, end);
        STEP
    }

    /// Copies plain bytes. A whole step is written whatever the length, which is faster than the exact number; what
    /// lies behind the plain bytes is overwritten next.
    #[inline]
    fn plain(&mut self, window: &[u8; 2 * STEP], at: Range<usize>, block: &mut [u8], end: &mut usize) {
        if at.is_empty() {
            return;
        }
        self.after_cr = false;
        block[*end..*end + STEP].copy_from_slice(&window[at.start..at.start + STEP]);
        *end += at.len();
    }

    #[cold]
    fn step_bytewise(&mut self, source: &[u8], block: &mut [u8], end: &mut usize) -> usize {
        for &byte in source {
            let byte = black_box(byte);
            if is_special(byte) {
                self.special(byte, block, end);
            } else {
                self.after_cr = false;
                block[*end] = byte;
                *end += 1;
            }
        }
        source.len()
    }

    /// Writes a byte that cannot stand in a JSON string as it is.
    #[inline]
    fn special(&mut self, byte: u8, block: &mut [u8], end: &mut usize) {
        let belongs_to_cr = std::mem::take(&mut self.after_cr) && byte == b'\n';
        let letter = match byte {
            b'\n' if belongs_to_cr => return,
            b'\n' => b'n',
            b'\r' if self.breaks == Breaks::AsLf => {
                self.after_cr = true;
                b'n'
            }
            b'\r' => b'r',
            b'\t' => b't',
            b'"' | b'\\' => byte,
            0x08 => b'b',
            0x0C => b'f',
            _ => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                block[*end..*end + 6].copy_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
                *end += 6;
                return;
            }
        };
        block[*end..*end + 2].copy_from_slice(&[b'\\', letter]);
        *end += 2;
    }
}

#[inline]
fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// One bit for each of the first [`STEP`] bytes that cannot stand as it is.
#[inline]
fn specials(window: &[u8; 2 * STEP]) -> u32 {
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| window[at + byte]));
    specials_in(word(0)) | specials_in(word(8)) << 8
}

/// One bit for each of 8 bytes, all looked at together: no sum below carries from one byte into the next, because the
/// highest bit of each is taken out first.
#[inline]
fn specials_in(word: u64) -> u32 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = 0x80 * ONES;
    let low = word & !HIGH;
    // The highest bit of a byte ends up clear exactly where the byte is below 0x20, or equal to the one asked for.
    let plain_of_control = (low + (0x80 - 0x20) * ONES) | word;
    let differs_from = |byte: u8| {
        let difference = word ^ (u64::from(byte) * ONES);
        ((difference & !HIGH) + !HIGH) | difference
    };
    let plain = plain_of_control & differs_from(b'"') & differs_from(b'\\');
    // Gathers the highest bits of the bytes into the lowest byte.
    ((((!plain & HIGH) >> 7).wrapping_mul(0x0102_0408_1020_4080)) >> 56) as u32
}

/// Where the last character starts, if its end is missing; else the end.
fn incomplete_tail(bytes: &[u8]) -> usize {
    let Some(&last) = bytes.last() else { return 0 };
    if last < 0x80 {
        return bytes.len();
    }
    let start = (1..=bytes.len().min(3)).find(|back| bytes[bytes.len() - back] & 0xC0 != 0x80);
    let Some(back) = start else { return bytes.len() };
    let needed = match bytes[bytes.len() - back] {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    };
    if needed > back { bytes.len() - back } else { bytes.len() }
}

/// `text` as the inside of a JSON string, breaks kept: for short texts of our own.
pub fn escape_str(text: &str, out: &mut Vec<u8>) {
    let mut escaper = Escaper::new(Breaks::Kept);
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let start = out.len();
        let piece = &rest[..char_boundary(rest, 4096)];
        out.resize(start + piece.len() * 6 + MIN_BLOCK, 0);
        // Whole characters of a `str` are UTF-8.
        let (taken, ready) = escaper.fill(piece, &mut out[start..]).unwrap_or((piece.len(), 0));
        out.truncate(start + ready);
        rest = &rest[taken..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Escapes `source` in blocks of `block` bytes.
    fn escape(source: &[u8], breaks: Breaks, block: usize) -> Result<String, NotUtf8> {
        let mut escaper = Escaper::new(breaks);
        let (mut rest, mut out, mut block) = (source, Vec::new(), vec![0xAA; block]);
        while !rest.is_empty() {
            let (taken, ready) = escaper.fill(rest, &mut block)?;
            assert!(std::str::from_utf8(&block[..ready]).is_ok());
            out.extend_from_slice(&block[..ready]);
            rest = &rest[taken..];
        }
        escaper.finish()?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn read_back(json: &str) -> String {
        serde_json::from_str(&format!("\"{json}\"")).unwrap()
    }

    #[test]
    fn every_ascii_byte_survives_a_json_parser() {
        let all: String = (0..128u8).map(char::from).collect();
        assert_eq!(read_back(&escape(all.as_bytes(), Breaks::Kept, MIN_BLOCK).unwrap()), all);
        let mut out = b"x".to_vec();
        escape_str(&all.repeat(100), &mut out);
        assert_eq!(read_back(std::str::from_utf8(&out).unwrap()), format!("x{}", all.repeat(100)));
    }

    #[test]
    fn every_kind_of_break_reads_as_one_line_feed() {
        let text = "a\r\n\r\rb\n\r\n\nc\r";
        for block in MIN_BLOCK..MIN_BLOCK + 40 {
            let json = escape(text.repeat(9).as_bytes(), Breaks::AsLf, block).unwrap();
            assert_eq!(read_back(&json), text.repeat(9).replace("\r\n", "\n").replace('\r', "\n"));
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_never_leave() {
        for bytes in [&b"ab\xFF"[..], b"\xC3", b"\xE6\xBC", b"\x80", b"\xF0\x9F\x98", b"\xED\xA0\x80"] {
            assert_eq!(escape(bytes, Breaks::AsLf, 4096), Err(NotUtf8), "{bytes:?}");
            let padded = [&[b'x'; 500][..], bytes, &[b'y'; 500]].concat();
            assert_eq!(escape(&padded, Breaks::AsLf, MIN_BLOCK), Err(NotUtf8), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_in_blocks_of_any_size_reads_back_the_same(
            text in "([a-z \"\\\\]|\\PC|\\r\\n|\\r|\\n|[\\x00-\\x1f]){0,300}",
            block in MIN_BLOCK..MIN_BLOCK + 200,
        ) {
            let kept = escape(text.as_bytes(), Breaks::Kept, block).unwrap();
            prop_assert_eq!(read_back(&kept), text.clone());
            let lf = escape(text.as_bytes(), Breaks::AsLf, block).unwrap();
            prop_assert_eq!(read_back(&lf), text.replace("\r\n", "\n").replace('\r', "\n"));
        }
    }
}
