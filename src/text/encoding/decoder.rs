//! Decodes a text block by block. The borders of blocks may be anywhere, also inside of characters.

use encoding_rs::DecoderResult;

use super::Encoding;

/// Bytes before a block that can be part of a character that is not valid.
const KEPT: usize = 8;

/// Why bytes are not text in an encoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeError {
    /// They hold a NUL character.
    Nul,
    /// They are no character.
    Undecodable(Undecodable),
}

/// Bytes that are no character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    /// Where they begin, counted from the first byte that was decoded.
    pub at: u64,
    /// They.
    pub bytes: Vec<u8>,
    /// What is wrong with them.
    pub why: Malformed,
}

/// What is wrong with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The encoding has no character there.
    Undefined,
    /// The text ends inside a character.
    Incomplete,
    /// Half of a pair of UTF-16 without the other half.
    LoneSurrogate,
}

/// See the module.
pub struct Decoder {
    encoding: Encoding,
    /// `None` if bytes are characters.
    tables: Option<encoding_rs::Decoder>,
    /// Bytes taken.
    taken: u64,
    /// The last of them.
    recent: Vec<u8>,
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_struct("Decoder").field("encoding", &self.encoding).field("taken", &self.taken).finish()
    }
}

impl Decoder {
    /// A decoder for a text from the first byte of a character on. A byte order mark is a character like others.
    pub fn new(encoding: Encoding) -> Decoder {
        let tables = encoding.row().tables.map(|tables| tables.new_decoder_without_bom_handling());
        Decoder { encoding, tables, taken: 0, recent: Vec::with_capacity(2 * KEPT) }
    }

    /// Adds the text of the next block to `out`. If there is an error, `out` has the text before it, and the decoder is of
    /// no more use.
    pub fn push(&mut self, block: &[u8], out: &mut String) -> Result<(), DecodeError> {
        let undefined = undefined_in(self.encoding.row().undefined, block)
            .filter(|_| !switches::is_off("encoding-undefined"));
        let start = out.len();
        let decoded = self.decode(&block[..undefined.unwrap_or(block.len())], false, out);
        if let Some(at) = memchr::memchr(0, &out.as_bytes()[start..]) {
            out.truncate(start + at);
            return Err(DecodeError::Nul);
        }
        decoded?;
        match undefined {
            None => Ok(()),
            Some(at) => Err(DecodeError::Undecodable(Undecodable {
                at: self.taken,
                bytes: vec![block[at]],
                why: Malformed::Undefined,
            })),
        }
    }

    /// Ends the text.
    pub fn finish(mut self, out: &mut String) -> Result<(), DecodeError> {
        self.decode(&[], true, out)
    }

    fn decode(&mut self, block: &[u8], is_last: bool, out: &mut String) -> Result<(), DecodeError> {
        let Some(tables) = &mut self.tables else {
            out.push_str(&encoding_rs::mem::decode_latin1(block));
            self.taken += block.len() as u64;
            return Ok(());
        };
        let mut read = 0;
        loop {
            let rest = &block[read..];
            let most = tables.max_utf8_buffer_length_without_replacement(rest.len());
            out.reserve(most.unwrap_or(rest.len()));
            let (result, more) = tables.decode_to_string_without_replacement(rest, out, is_last);
            read += more;
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    let (len, after) = (usize::from(len), usize::from(after));
                    return Err(DecodeError::Undecodable(self.malformed(
                        &block[..read],
                        len,
                        after,
                        is_last,
                    )));
                }
            }
        }
        self.taken += block.len() as u64;
        self.recent.extend_from_slice(&block[block.len().saturating_sub(KEPT)..]);
        self.recent.drain(..self.recent.len().saturating_sub(KEPT));
        Ok(())
    }

    /// The `len` bytes that are no character, `after` bytes before the end of what was read.
    fn malformed(&self, block: &[u8], len: usize, after: usize, is_last: bool) -> Undecodable {
        let seen = [&self.recent[..], block].concat();
        let start = seen.len().saturating_sub(len + after);
        let is_utf_16 = self.encoding.unit() == 2;
        // At the end, a lone half and an odd byte are told as one.
        let len = if is_utf_16 { len.min(2) } else { len };
        let why = match is_utf_16 {
            true if len == 2 => Malformed::LoneSurrogate,
            _ if is_last => Malformed::Incomplete,
            _ => Malformed::Undefined,
        };
        let at = self.taken + block.len() as u64 - (seen.len() - start) as u64;
        Undecodable { at, bytes: seen[start..start + len].to_vec(), why }
    }
}

/// The first of the `undefined` bytes.
fn undefined_in(undefined: &[u8], block: &[u8]) -> Option<usize> {
    match undefined {
        [] => None,
        [byte] => memchr::memchr(*byte, block),
        // All are where ISO 8859 has controls, which are rare.
        _ => block.iter().position(|byte| byte & 0xE0 == 0x80 && undefined.contains(byte)),
    }
}

impl Encoding {
    /// The text of these bytes, which are all of it. A byte order mark is a character like others.
    pub fn decode(self, bytes: &[u8]) -> Result<String, DecodeError> {
        let (mut decoder, mut out) = (Decoder::new(self), String::new());
        decoder.push(bytes, &mut out)?;
        decoder.finish(&mut out)?;
        Ok(out)
    }

    /// How many of the bytes `source`, which begin at a character, are the first `len` bytes of their text in UTF-8. A
    /// character that `len` cuts is not among them: also returns the length of the text without it.
    pub fn source_len(self, source: &[u8], len: usize) -> (usize, usize) {
        let (mut decoder, mut text, mut before) = (Decoder::new(self), String::new(), (0, 0));
        for (at, byte) in source.chunks(1).enumerate() {
            if text.len() >= len {
                break;
            }
            if decoder.push(byte, &mut text).is_err() || text.len() > len {
                return before;
            }
            before = if text.len() > before.1 { (at + 1, text.len()) } else { before };
        }
        before
    }
}
