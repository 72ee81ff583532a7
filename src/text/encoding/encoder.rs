//! Encodes a text.

use encoding_rs::EncoderResult;

use super::Encoding;
use super::breaks::LineScan;

/// A character that an encoding lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unencodable {
    /// Its 0-based line.
    pub line: u64,
    /// Its column: characters from 1.
    pub column: u64,
    /// It.
    pub character: char,
}

impl Encoding {
    /// Adds the bytes of `text` to `out`, without a byte order mark. If there is an error, `out` is as it was.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let start = out.len();
        let lacking = match self {
            Encoding::Utf8 => {
                out.extend_from_slice(text.as_bytes());
                None
            }
            Encoding::Utf16Le => {
                out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
                None
            }
            Encoding::Utf16Be => {
                out.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
                None
            }
            _ => self.encode_bytes(text, out),
        };
        match lacking {
            None => Ok(()),
            Some(at) => {
                out.truncate(start);
                Err(unencodable(text, at))
            }
        }
    }

    /// Encodes as one byte for each character. Returns the place of a character that the encoding lacks.
    fn encode_bytes(self, text: &str, out: &mut Vec<u8>) -> Option<usize> {
        let start = out.len();
        let lacking = match self.row().tables {
            None => encode_latin1(text, out),
            Some(tables) => encode_by(tables, text, out),
        };
        // The tables encode some controls as bytes that the encoding does not define.
        let undefined = |byte: &u8| self.row().undefined.contains(byte);
        let position = out[start..].iter().position(undefined);
        let control = position.and_then(|number| text.char_indices().nth(number));
        control.map(|(at, _)| at).or(lacking)
    }
}

fn encode_by(tables: &'static encoding_rs::Encoding, text: &str, out: &mut Vec<u8>) -> Option<usize> {
    let mut encoder = tables.new_encoder();
    let mut read = 0;
    loop {
        let most = encoder.max_buffer_length_from_utf8_without_replacement(text.len() - read);
        out.reserve(most.unwrap_or(text.len()));
        let (result, more) = encoder.encode_from_utf8_to_vec_without_replacement(&text[read..], out, true);
        read += more;
        match result {
            EncoderResult::InputEmpty => return None,
            EncoderResult::OutputFull => {}
            // For controls of ISO-2022-JP it names another character than the one that it has read.
            EncoderResult::Unmappable(_) => {
                return text[..read].char_indices().next_back().map(|(at, _)| at);
            }
        }
    }
}

fn encode_latin1(text: &str, out: &mut Vec<u8>) -> Option<usize> {
    out.reserve(text.len());
    for (at, character) in text.char_indices() {
        match u8::try_from(character) {
            Ok(byte) => out.push(byte),
            Err(_) => return Some(at),
        }
    }
    None
}

/// The error for the character at the byte `at` of a text.
fn unencodable(text: &str, at: usize) -> Unencodable {
    let mut scan = LineScan::new(Encoding::Utf8, 0);
    let (line, start) = scan.line_at(&text.as_bytes()[..at]);
    let column = 1 + text[start as usize..at].chars().count() as u64;
    // A place in the text is one of a character.
    let character = text[at..].chars().next().unwrap_or_default();
    Unencodable { line, column, character }
}
