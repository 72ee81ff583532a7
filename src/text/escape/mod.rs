//! Escapes the bytes of a file for a JSON string, block by block.
//!
//! Works on bytes, never on `str`: the source may be a map that another program changes meanwhile. Checks the
//! written block instead, which only this thread can change. An incomplete character at the end of a block
//! moves to the next block. Knows no file and no envelope.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;

use std::hint::black_box;

use crate::lines::char_boundary;

/// How line breaks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Every break becomes `\n` (contract 3, read).
    AsLf,
    /// As in the file.
    Kept,
}

/// The bytes are not UTF-8, so the file has changed since it was indexed.
#[derive(Debug, PartialEq, Eq)]
pub struct NotUtf8;

/// Escapes one text, which arrives in any number of pieces.
#[derive(Debug)]
pub struct Escaper {
    breaks: Breaks,
    /// A `\r` that becomes `\n` was found: from now on, breaks are joined first.
    joins: bool,
    /// The last byte was such a `\r`: a `\n` directly after it belongs to the same break.
    after_cr: bool,
    /// The incomplete character at the end of the last block.
    tail: [u8; 3],
    tail_len: usize,
}

/// Source bytes examined in one step.
const STEP: usize = 32;

/// Source bytes copied at once.
const STAGE: usize = 1024;

/// A copied piece of the source, and plain bytes behind it that a step may read.
type Stage = [u8; STAGE + 2 * STEP];

/// Bytes of the longest escape.
const LONGEST: usize = 6;

/// The most bytes that one step writes: every byte escaped, then a whole step of plain bytes.
const OVERRUN: usize = LONGEST * STEP + STEP;

/// The smallest block in which [`Escaper::fill`] makes progress.
pub const MIN_BLOCK: usize = 3 + LONGEST * STEP + OVERRUN;

impl Escaper {
    /// An escaper at the start of a text.
    pub fn new(breaks: Breaks) -> Escaper {
        Escaper { breaks, joins: false, after_cr: false, tail: [0; 3], tail_len: 0 }
    }

    /// Escapes from the front of `source` into `block` until one of them is used up. Returns the number of
    /// source bytes read and of block bytes ready, which are whole characters.
    pub fn fill(&mut self, source: &[u8], block: &mut [u8]) -> Result<(usize, usize), NotUtf8> {
        block[..self.tail_len].copy_from_slice(&self.tail[..self.tail_len]);
        let (mut taken, mut end) = (0, self.tail_len);
        let mut stage: Stage = [b' '; _];
        loop {
            let room = block.len().saturating_sub(end + OVERRUN) / LONGEST;
            let len = (source.len() - taken).min(STAGE).min(room);
            if len == 0 || room < STEP {
                break;
            }
            // Reads the source only once: the bytes written must be the bytes examined, even if the file
            // changes meanwhile. Otherwise an unescaped quote could end the string.
            stage[..len].copy_from_slice(&source[taken..taken + len]);
            // `black_box` keeps the compiler from reading the source again.
            end += self.escape(black_box(&mut stage), len, &mut block[end..]);
            taken += len;
        }
        let ready = incomplete_tail(&block[..end]);
        if !switches::is_off("answer-utf8") {
            simdutf8::basic::from_utf8(&block[..ready]).map_err(|_| NotUtf8)?;
        }
        self.tail_len = end - ready;
        self.tail[..self.tail_len].copy_from_slice(&block[ready..end]);
        Ok((taken, ready))
    }

    /// Ends the text. An error if the text ends inside a character.
    pub fn finish(&self) -> Result<(), NotUtf8> {
        if self.tail_len == 0 || switches::is_off("answer-cut-character") { Ok(()) } else { Err(NotUtf8) }
    }

    /// Escapes the first `len` bytes of `stage`. Returns the number of bytes written.
    fn escape(&mut self, stage: &mut Stage, len: usize, out: &mut [u8]) -> usize {
        let stage = pad(stage, len);
        if !self.joins {
            let escaped = escape(stage, len, out);
            self.joins = escaped.has_cr && self.breaks == Breaks::AsLf;
            if !self.joins {
                return escaped.made;
            }
        }
        let after_cr = std::mem::replace(&mut self.after_cr, stage[len - 1] == b'\r');
        let mut joined: Stage = [b' '; _];
        let len = join(stage, len, after_cr, &mut joined);
        escape(pad(&mut joined, len), len, out).made
    }
}

/// The result of escaping a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Escaped {
    /// Bytes written.
    made: usize,
    /// The stage holds a `\r`.
    has_cr: bool,
}

/// Writes the first `len` bytes of a stage to the front of `out`, escaped for a JSON string. `out` has room
/// for the longest result and [`OVERRUN`] more bytes.
fn escape(stage: &Stage, len: usize, out: &mut [u8]) -> Escaped {
    #[cfg(target_arch = "x86_64")]
    if let Some(escaped) = avx2::escape(stage, len, out) {
        return escaped;
    }
    scalar::escape(stage, len, out)
}

/// Writes the first `len` bytes of a stage to `joined`, each break as one `\n`. Returns the number of bytes
/// written. If `after_cr`, a `\n` at the front belongs to the break before it.
fn join(stage: &Stage, len: usize, after_cr: bool, joined: &mut Stage) -> usize {
    #[cfg(target_arch = "x86_64")]
    if let Some(made) = avx2::join(stage, len, after_cr, joined) {
        return made;
    }
    scalar::join(stage, len, after_cr, joined)
}

/// Fills the bytes behind the first `len` with plain bytes, as far as a step reads.
fn pad(stage: &mut Stage, len: usize) -> &Stage {
    chunk_mut::<STEP>(stage, len).fill(b' ');
    stage
}

/// Bytes of the last step behind the first `len`. Each of them adds one byte to the result.
fn padding(len: usize) -> usize {
    len.next_multiple_of(STEP) - len
}

/// The `LEN` bytes from `start` on.
#[inline]
fn chunk<const LEN: usize>(bytes: &[u8], start: usize) -> &[u8; LEN] {
    bytes[start..].first_chunk().expect("room behind the last step")
}

/// The `LEN` bytes from `start` on.
#[inline]
fn chunk_mut<const LEN: usize>(bytes: &mut [u8], start: usize) -> &mut [u8; LEN] {
    bytes[start..].first_chunk_mut().expect("room behind the last step")
}

/// The start of the last character if it is incomplete; else the end.
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

/// Escapes `text` for a JSON string and keeps its breaks. For short texts of the server.
pub fn escape_str(text: &str, out: &mut Vec<u8>) {
    let mut escaper = Escaper::new(Breaks::Kept);
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let start = out.len();
        let piece = &rest[..char_boundary(rest, 4096)];
        out.resize(start + piece.len() * 6 + MIN_BLOCK, 0);
        // Cannot fail: a piece of a `str` ends between characters.
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

    /// The escapes of `bytes`, one byte after the other.
    fn escaped_by_the_model(bytes: &[u8]) -> Vec<u8> {
        let escape = |byte: &u8| match byte {
            b'"' | b'\\' => vec![b'\\', *byte],
            8 => b"\\b".to_vec(),
            b'\t' => b"\\t".to_vec(),
            b'\n' => b"\\n".to_vec(),
            12 => b"\\f".to_vec(),
            b'\r' => b"\\r".to_vec(),
            0..0x20 => format!("\\u{byte:04x}").into_bytes(),
            _ => vec![*byte],
        };
        bytes.iter().flat_map(escape).collect()
    }

    /// `bytes` with each break as one `\n`, one byte after the other.
    fn joined_by_the_model(bytes: &[u8], mut after_cr: bool) -> Vec<u8> {
        let mut joined = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if after_cr => {}
                b'\r' => joined.push(b'\n'),
                _ => joined.push(*byte),
            }
            after_cr = *byte == b'\r';
        }
        joined
    }

    /// Compares what this processor runs, and what any processor can run, with the model on one stage of `bytes`.
    fn is_as_the_model_says(bytes: &[u8], after_cr: bool) {
        let mut stage: Stage = [0xAA; _];
        stage[..bytes.len()].copy_from_slice(bytes);
        let stage = pad(&mut stage, bytes.len());
        let (wanted, has_cr) = (escaped_by_the_model(bytes), bytes.contains(&b'\r'));
        for escape in [super::escape, scalar::escape] {
            let mut out = vec![1; LONGEST * bytes.len() + OVERRUN];
            assert_eq!(escape(stage, bytes.len(), &mut out), Escaped { made: wanted.len(), has_cr });
            assert_eq!(out[..wanted.len()], wanted);
        }
        let wanted = joined_by_the_model(bytes, after_cr);
        for join in [join, scalar::join] {
            let mut joined: Stage = [1; _];
            assert_eq!(join(stage, bytes.len(), after_cr, &mut joined), wanted.len());
            assert_eq!(joined[..wanted.len()], wanted);
        }
    }

    #[test]
    fn every_byte_at_every_place_of_a_step_is_escaped_as_the_model_says() {
        for len in [1, STEP - 1, STEP, STEP + 1, 2 * STEP] {
            for (byte, place) in (0..=255).flat_map(|byte| (0..len).map(move |place| (byte, place))) {
                let mut bytes = vec![b'a'; len];
                bytes[(place + 1) % len] = b'\r';
                bytes[place] = byte;
                is_as_the_model_says(&bytes, byte % 2 == 0);
            }
        }
    }

    proptest! {
        #[test]
        fn any_stage_is_escaped_as_the_model_says(
            bytes in proptest::collection::vec(
                prop_oneof![8 => proptest::sample::select(&b"ab \"\\\r\n\t\x1b\xC3"[..]), 1 => any::<u8>()],
                1..=STAGE,
            ),
            after_cr: bool,
        ) {
            is_as_the_model_says(&bytes, after_cr);
        }

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
