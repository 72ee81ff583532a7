//! Bytes of a file as bytes of a JSON string, block by block.
//!
//! Works on bytes, never on `str`: the source may be a map that another program changes meanwhile. What was written to
//! the block is checked instead, because nobody else can write there; the tail of a cut character moves to the next
//! block. Knows no file and no envelope.

use std::hint::black_box;
use std::ops::Range;

use wide::u8x32;

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

/// Source bytes judged in one step.
const STEP: usize = 32;

/// Source bytes copied at once.
const STAGE: usize = 1024;

/// Bytes that one step may write: every byte escaped, and then a whole step of plain ones.
const ROOM: usize = 6 * STEP + STEP;

/// A copied piece of the source, and behind it what a step may look at but does not take.
type Stage = [u8; STAGE + 2 * STEP];

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
        // One look at the source: what is written must be what was judged, also if the file changes in between, or a
        // quote could slip through and end the string.
        let mut stage: Stage = [0; _];
        while taken < source.len() {
            let len = (source.len() - taken).min(STAGE);
            stage[..len].copy_from_slice(&source[taken..taken + len]);
            // `black_box` keeps the compiler from looking at the source again.
            let used = self.escape(black_box(&stage), len, block, &mut end);
            taken += used;
            if used < len {
                break;
            }
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

    /// Escapes the first `len` bytes of `stage` as far as there is room; returns how many were taken.
    #[inline]
    fn escape(&mut self, stage: &Stage, len: usize, block: &mut [u8], end: &mut usize) -> usize {
        let mut at = 0;
        while at < len
            && let Some(window) = stage[at..].first_chunk::<{ 2 * STEP }>()
            && let Some(out) = block[*end..].first_chunk_mut::<ROOM>()
        {
            let step = (len - at).min(STEP);
            *end += self.step(window, step, out);
            at += step;
        }
        at
    }

    /// Escapes the first `step` bytes of `window`; returns how many bytes that made.
    #[inline]
    fn step(&mut self, window: &[u8; 2 * STEP], step: usize, out: &mut [u8; ROOM]) -> usize {
        let (mut from, mut end) = (0, 0);
        let mut specials = specials(window) & (u32::MAX >> (STEP - step));
        while specials != 0 {
            let special = specials.trailing_zeros() as usize;
            specials &= specials - 1;
            self.plain(window, from..special, out, &mut end);
            self.special(window[special], out, &mut end);
            from = special + 1;
        }
        self.plain(window, from..step, out, &mut end);
        end
    }

    /// Writes plain bytes. A whole step is written whatever their number, which is faster than the exact number; what
    /// lies behind them is overwritten next.
    #[inline]
    fn plain(&mut self, window: &[u8; 2 * STEP], at: Range<usize>, out: &mut [u8; ROOM], end: &mut usize) {
        out[*end..*end + STEP].copy_from_slice(&window[at.start..at.start + STEP]);
        *end += at.len();
        self.after_cr &= at.is_empty();
    }

    /// Writes a byte that cannot stand in a JSON string as it is.
    #[inline]
    fn special(&mut self, byte: u8, out: &mut [u8; ROOM], end: &mut usize) {
        if std::mem::take(&mut self.after_cr) && byte == b'\n' {
            return;
        }
        let as_lf = byte == b'\r' && self.breaks == Breaks::AsLf;
        self.after_cr = as_lf;
        let escape = &ESCAPES[usize::from(if as_lf { b'\n' } else { byte })];
        out[*end..*end + ESCAPE].copy_from_slice(escape);
        *end += if escape[1] == b'u' { 6 } else { 2 };
    }
}

/// Bytes of an entry of [`ESCAPES`].
const ESCAPE: usize = 8;

/// What stands for a byte that cannot stand as it is: 2 bytes, or 6 if the second is `u`; the rest is filled up.
static ESCAPES: [[u8; ESCAPE]; 256] = {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut escapes = [*b"\\u0000  "; 256];
    let mut byte = 0;
    while byte < 256 {
        escapes[byte][4] = HEX[byte >> 4];
        escapes[byte][5] = HEX[byte & 15];
        byte += 1;
    }
    let short =
        [(b'\n', b'n'), (b'\r', b'r'), (b'\t', b't'), (8, b'b'), (12, b'f'), (b'"', b'"'), (b'\\', b'\\')];
    let mut at = 0;
    while at < short.len() {
        escapes[short[at].0 as usize] = [b'\\', short[at].1, b' ', b' ', b' ', b' ', b' ', b' '];
        at += 1;
    }
    escapes
};

/// One bit for each of the first [`STEP`] bytes that cannot stand as it is.
#[inline]
fn specials(window: &[u8; 2 * STEP]) -> u32 {
    let bytes = u8x32::new(std::array::from_fn(|at| window[at]));
    let is = |byte: u8| bytes.simd_eq(u8x32::splat(byte));
    let is_control = bytes.min(u8x32::splat(0x1F)).simd_eq(bytes);
    (is_control | is(b'"') | is(b'\\')).to_bitmask()
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
