//! Writes the bytes of a file inside a JSON string, block by block: as text, or as base64.
//!
//! Knows no file and no envelope.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::escape::{Breaks, Escaper, NotUtf8};

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
    Base64,
}

impl Encoder {
    /// An encoder at the start of the bytes.
    pub(super) fn new(encoding: Encoding) -> Encoder {
        match encoding {
            Encoding::Text(breaks) => Encoder::Text(Escaper::new(breaks)),
            Encoding::Base64 => Encoder::Base64,
        }
    }

    /// An estimate of the bytes that `len` bytes become.
    pub(super) fn room(&self, len: usize) -> usize {
        match self {
            Encoder::Text(_) => len + len / 8,
            Encoder::Base64 => len.div_ceil(3) * 4,
        }
    }

    /// Writes from the front of `rest`, all bytes that are left, into `block`. Returns the number of bytes read and of block
    /// bytes ready.
    pub(super) fn fill(&mut self, rest: &[u8], block: &mut [u8]) -> Result<(usize, usize), NotUtf8> {
        match self {
            Encoder::Text(escaper) => escaper.fill(rest, block),
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
            Encoder::Base64 => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_in_blocks_is_that_of_the_whole() {
        for len in [0, 1, 2, 3, 4, 299, 300, 301, 1_000] {
            let bytes: Vec<u8> = (0..len).map(|n| (n * 7 % 256) as u8).collect();
            for size in [4, 5, 7, 399, 400, 401, 5_000] {
                let (mut encoder, mut text, mut sent) = (Encoder::new(Encoding::Base64), Vec::new(), 0);
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
