//! The two steps of an escape on any processor.
//!
//! Searches 32 bytes at a time for bytes that need an escape, and copies the bytes between them. Knows only
//! one stage.

use std::ops::Range;

use wide::u8x32;

use super::{Escaped, OVERRUN, STEP, Stage, chunk, chunk_mut, padding};

/// See [`super::escape`].
pub(super) fn escape(stage: &Stage, len: usize, out: &mut [u8]) -> Escaped {
    let mut end = 0;
    for at in (0..len).step_by(STEP) {
        end += step(chunk(stage, at), chunk_mut(out, end));
    }
    Escaped { made: end - padding(len), has_cr: memchr::memchr(b'\r', &stage[..len]).is_some() }
}

/// See [`super::join`].
pub(super) fn join(stage: &Stage, len: usize, after_cr: bool, joined: &mut Stage) -> usize {
    let mut from = usize::from(after_cr && stage[0] == b'\n');
    let mut end = 0;
    let mut copy = |piece: &[u8]| {
        joined[end..end + piece.len()].copy_from_slice(piece);
        end += piece.len();
    };
    while let Some(cr) = memchr::memchr(b'\r', &stage[from..len]) {
        copy(&stage[from..from + cr]);
        copy(b"\n");
        from += cr + 1;
        from += usize::from(from < len && stage[from] == b'\n');
    }
    copy(&stage[from..len]);
    end
}

/// Escapes the first [`STEP`] bytes of `window`. Returns the number of bytes written.
pub(super) fn step(window: &[u8; 2 * STEP], out: &mut [u8; OVERRUN]) -> usize {
    let (mut from, mut end) = (0, 0);
    let mut specials = specials(window);
    while specials != 0 {
        let special = specials.trailing_zeros() as usize;
        specials &= specials - 1;
        plain(window, from..special, out, &mut end);
        let escape = &ESCAPES[usize::from(window[special])];
        out[end..end + ESCAPE].copy_from_slice(escape);
        end += if escape[1] == b'u' { 6 } else { 2 };
        from = special + 1;
    }
    plain(window, from..STEP, out, &mut end);
    end
}

/// Writes plain bytes. Always writes a whole step, which is faster than the exact number; the next write
/// overwrites the rest.
#[inline]
fn plain(window: &[u8; 2 * STEP], at: Range<usize>, out: &mut [u8; OVERRUN], end: &mut usize) {
    out[*end..*end + STEP].copy_from_slice(&window[at.start..at.start + STEP]);
    *end += at.len();
}

/// One bit for each of the first [`STEP`] bytes; set if the byte needs an escape.
#[inline]
fn specials(window: &[u8; 2 * STEP]) -> u32 {
    let bytes = u8x32::new(std::array::from_fn(|at| window[at]));
    let is = |byte: u8| bytes.simd_eq(u8x32::splat(byte));
    let is_control = bytes.min(u8x32::splat(0x1F)).simd_eq(bytes);
    (is_control | is(b'"') | is(b'\\')).to_bitmask()
}

/// Bytes of an entry of [`ESCAPES`].
const ESCAPE: usize = 8;

/// The escape of each byte: 2 bytes, or 6 if the second is `u`; the rest is padding.
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
