//! Writes the bytes of a file inside a JSON string, block by block: as text, decoded if they are in another encoding than
//! UTF-8, or as base64.
//!
//! Knows no file and no envelope.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use text::encoding::Decoder;
use text::escape::{Breaks, Escaper, NotUtf8};

/// How the bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As text, with these breaks.
    Text(Breaks),
    /// As base64.
    Base64,
}

/// See the module.
#[derive(Debug)]
pub(super) enum Encoder {
    Text(Escaper),
    Decoded(Box<Decoded>),
    Base64,
}

/// Text of another encoding, which is decoded step by step.
#[derive(Debug)]
pub(super) struct Decoded {
    decoder: Decoder,
    escaper: Escaper,
    /// A copy of the bytes of the step: those of the file may change while they are decoded.
    bytes: Vec<u8>,
    /// Its text, and how much of that is written.
    text: String,
    written: usize,
}

/// Bytes that are decoded at once.
const STEP: usize = 32 * 1024;

impl Encoder {
    /// An encoder at the start of the bytes, which are a text of the encoding `of`.
    pub(super) fn new(encoding: Encoding, of: text::encoding::Encoding) -> Encoder {
        match (encoding, of) {
            (Encoding::Text(breaks), text::encoding::Encoding::Utf8) => Encoder::Text(Escaper::new(breaks)),
            (Encoding::Text(breaks), of) => Encoder::Decoded(Box::new(Decoded {
                decoder: Decoder::new(of),
                escaper: Escaper::new(breaks),
                bytes: Vec::new(),
                text: String::new(),
                written: 0,
            })),
            (Encoding::Base64, _) => Encoder::Base64,
        }
    }

    /// An estimate of the bytes that `len` bytes become.
    pub(super) fn room(&self, len: usize) -> usize {
        match self {
            Encoder::Text(_) | Encoder::Decoded(_) => len + len / 8,
            Encoder::Base64 => len.div_ceil(3) * 4,
        }
    }

    /// Writes from the front of `rest`, all bytes that are left, into `block`. Returns the number of bytes read and of block
    /// bytes ready.
    pub(super) fn fill(&mut self, rest: &[u8], block: &mut [u8]) -> Result<(usize, usize), NotUtf8> {
        match self {
            Encoder::Text(escaper) => escaper.fill(rest, block),
            Encoder::Decoded(decoded) => decoded.fill(rest, block),
            Encoder::Base64 => {
                // Whole groups of three bytes; only the last one may be shorter.
                let taken = rest.len().min(block.len() / 4 * 3);
                // Cannot fail: the block has room.
                let ready = STANDARD.encode_slice(&rest[..taken], block).unwrap_or(0);
                Ok((taken, ready))
            }
        }
    }

    /// Ends the bytes. An error if a text ends inside a character.
    pub(super) fn finish(&self) -> Result<(), NotUtf8> {
        match self {
            Encoder::Text(escaper) => escaper.finish(),
            Encoder::Decoded(decoded) => decoded.escaper.finish(),
            Encoder::Base64 => Ok(()),
        }
    }
}

impl Decoded {
    /// As [`Encoder::fill`]. The bytes of a step count as read when all of its text is written. Bytes that are no character
    /// are told as bytes that are no UTF-8: the file has changed since it was checked.
    fn fill(&mut self, rest: &[u8], block: &mut [u8]) -> Result<(usize, usize), NotUtf8> {
        if self.bytes.is_empty() {
            self.bytes.extend_from_slice(&rest[..rest.len().min(STEP)]);
            self.text.clear();
            self.written = 0;
            self.decoder.push(&self.bytes, &mut self.text).map_err(|_| NotUtf8)?;
        }
        let (taken, ready) = self.escaper.fill(&self.text.as_bytes()[self.written..], block)?;
        self.written += taken;
        if self.written < self.text.len() {
            return Ok((0, ready));
        }
        let read = self.bytes.len();
        self.bytes.clear();
        Ok((read, ready))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::escape::MIN_BLOCK;

    fn new(encoding: Encoding) -> Encoder {
        Encoder::new(encoding, text::encoding::Encoding::Utf8)
    }

    #[test]
    fn a_text_of_another_encoding_in_blocks_is_that_of_the_whole() {
        let text = "Ещё \"\n\r\nстрока\\ ".repeat(5_000);
        for (of, size) in [
            (text::encoding::Encoding::Windows1251, MIN_BLOCK),
            (text::encoding::Encoding::Utf16Le, 5_001),
            (text::encoding::Encoding::Utf16Be, 100_000),
        ] {
            let mut bytes = Vec::new();
            of.encode(&text, &mut bytes).unwrap();
            let (mut encoder, mut json) = (Encoder::new(Encoding::Text(Breaks::Kept), of), b"\"".to_vec());
            let mut sent = 0;
            while sent < bytes.len() {
                let mut block = vec![0; size];
                let (taken, ready) = encoder.fill(&bytes[sent..], &mut block).unwrap();
                json.extend_from_slice(&block[..ready]);
                sent += taken;
            }
            encoder.finish().unwrap();
            json.push(b'"');
            assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text, "{of:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_character_any_more_are_not_told() {
        let mut encoder = Encoder::new(Encoding::Text(Breaks::Kept), text::encoding::Encoding::Windows1251);
        assert_eq!(encoder.fill(b"a\x98b", &mut [0; MIN_BLOCK]), Err(NotUtf8));
    }

    #[test]
    fn base64_in_blocks_is_that_of_the_whole() {
        for len in [0, 1, 2, 3, 4, 299, 300, 301, 1_000] {
            let bytes: Vec<u8> = (0..len).map(|n| (n * 7 % 256) as u8).collect();
            for size in [4, 5, 7, 399, 400, 401, 5_000] {
                let (mut encoder, mut text, mut sent) = (new(Encoding::Base64), Vec::new(), 0);
                loop {
                    let mut block = vec![0; size];
                    let (taken, ready) = encoder.fill(&bytes[sent..], &mut block).unwrap();
                    text.extend_from_slice(&block[..ready]);
                    sent += taken;
                    if sent == bytes.len() {
                        break;
                    }
                }
                assert_eq!(String::from_utf8(text).unwrap(), STANDARD.encode(&bytes), "{len} {size}");
            }
        }
    }
}
