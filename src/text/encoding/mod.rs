//! Encodings of text: their names, from bytes to UTF-8 and back.
//!
//! One row of a table for each encoding. Pure over bytes: knows no file and no tool. A text can be decoded from the first
//! byte of any character on, but in the one encoding that keeps a state between characters. ASCII means ASCII in all but
//! that one and UTF-16, and no byte of a longer character is a line break.

mod alphabets;
mod breaks;
mod content;
mod decoder;
mod encoder;
mod escapes;
mod guess;
mod lossy;
mod names;
mod readings;
mod real_utf_8;
mod rivals;
mod singles;
mod table;
#[cfg(test)]
mod tests;
mod wide;

pub use self::breaks::LineScan;
pub use self::breaks::{CharacterCount, before_character, breaks_in, newlines_in};
pub(super) use self::content::first_wrong;
pub use self::content::{FoundEncoding, TextEncoding};
pub use self::decoder::{DecodeError, Decoder, Malformed, Undecodable};
pub use self::encoder::Unencodable;
pub use self::escapes::{ESC, by_all_escapes, by_escapes, has_escapes, has_wide, selects_wide};
use self::guess::likely_of_all;
pub use self::guess::{LOOKED_AT, hidden, is_mostly_utf_8, is_utf_8};
pub use self::guess::{Likely, likely};
pub use self::readings::{ReadingDoubt, Readings, readings, unmarked, with_replacements};
pub(super) use self::real_utf_8::{is_really_utf_8, other_than_utf_8};
pub use self::table::Encoding;
use self::table::{ROWS, Row};
pub use self::wide::by_high_bytes;
pub(super) use self::wide::may_be_wide;

/// What a client asks for: an encoding, or how to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingChoice {
    /// This one.
    Is(Encoding),
    /// UTF-16 in the order that the byte order mark says; without a mark the low byte first.
    Utf16,
    /// By the byte order mark; else UTF-8; else the likely one.
    Auto,
}

impl Default for EncodingChoice {
    fn default() -> EncodingChoice {
        EncodingChoice::Is(Encoding::Utf8)
    }
}

/// How the encoding of a file is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncodingSource {
    /// The client gave it, or it is UTF-8 because nothing speaks against it.
    Given,
    /// The byte order mark says it.
    Mark,
    /// It is the likely one.
    Guess,
    /// It is the likely one, but others are nearly as likely.
    WeakGuess,
}

impl Encoding {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its name for clients.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its byte order mark; empty if it has none.
    pub fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 => b"\xEF\xBB\xBF",
            Encoding::Utf16Le => b"\xFF\xFE",
            Encoding::Utf16Be => b"\xFE\xFF",
            _ => b"",
        }
    }

    /// Bytes of its smallest character: all characters begin at a multiple of them.
    pub fn unit(self) -> usize {
        if matches!(self, Encoding::Utf16Le | Encoding::Utf16Be) { 2 } else { 1 }
    }

    /// Whether a character takes one or more bytes, and where one begins is known only from those before it.
    pub fn is_multibyte(self) -> bool {
        use Encoding::*;
        matches!(self, Gbk | Gb18030 | Big5 | ShiftJis | EucJp | Iso2022Jp | EucKr)
    }

    /// Whether what bytes mean depends on escape sequences anywhere before them.
    pub fn is_stateful(self) -> bool {
        self == Encoding::Iso2022Jp
    }

    /// The encoding that has these tables.
    fn of_tables(tables: &'static encoding_rs::Encoding) -> Option<Encoding> {
        ROWS.iter().find(|row| row.tables == Some(tables)).map(|row| row.encoding)
    }

    /// The encoding that the byte order mark at the beginning of a text says.
    pub fn of_mark(text: &[u8]) -> Option<Encoding> {
        let marked = [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be];
        marked.into_iter().find(|encoding| text.starts_with(encoding.mark()))
    }

    /// Bytes that a text in UTF-8 takes in this encoding, which has all its characters and is not
    /// [multibyte](Encoding::is_multibyte).
    pub fn len_of(self, text: &[u8]) -> u64 {
        let characters = || count(text, |byte| byte & 0xC0 != 0x80);
        match self {
            Encoding::Utf8 => text.len() as u64,
            // A character of four bytes takes two units.
            Encoding::Utf16Le | Encoding::Utf16Be => 2 * (characters() + count(text, |byte| byte >= 0xF0)),
            _ => characters(),
        }
    }
}

impl EncodingChoice {
    /// The encoding that is chosen, or that a mark of UTF-16 at the beginning of a text says, and how it is known. `None`: it is
    /// to be guessed.
    pub fn of_beginning(self, first: &[u8]) -> Option<(Encoding, EncodingSource)> {
        let marked = Encoding::of_mark(first).filter(|encoding| encoding.unit() == 2);
        match self {
            EncodingChoice::Is(encoding) => Some((encoding, EncodingSource::Given)),
            EncodingChoice::Utf16 => Some((marked.unwrap_or(Encoding::Utf16Le), EncodingSource::Given)),
            EncodingChoice::Auto => marked.map(|encoding| (encoding, EncodingSource::Mark)),
        }
    }

    /// The encoding to decode a file from before it is searched. `None`: it is searched as UTF-8 or by its [`readings`](fn@readings). A mark of
    /// UTF-16 decides over what is chosen, because nothing else begins with it.
    pub fn to_decode(self, bytes: &[u8]) -> Option<Encoding> {
        let marked = Encoding::of_mark(bytes).filter(|encoding| encoding.unit() == 2);
        marked.or_else(|| match self {
            EncodingChoice::Is(Encoding::Utf8) => None,
            EncodingChoice::Is(encoding) => Some(encoding),
            EncodingChoice::Utf16 => Some(Encoding::Utf16Le),
            EncodingChoice::Auto => guessed(bytes),
        })
    }
}

/// The likely encoding of a text that is no text in bytes: UTF-16 without a mark.
fn guessed(bytes: &[u8]) -> Option<Encoding> {
    let first = &bytes[..bytes.len().min(LOOKED_AT)];
    let nul = memchr::memchr(0, first)?;
    let (encoding, source) = likely_of_all(first, nul)?.encoding()?;
    (source == EncodingSource::Guess).then_some(encoding)
}

/// Number of such bytes. Small counters let the compiler count many bytes at once.
fn count(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> u64 {
    let in_chunk = |chunk: &[u8]| chunk.iter().map(|byte| u8::from(is_such(*byte))).sum::<u8>();
    bytes.chunks(255).map(|chunk| u64::from(in_chunk(chunk))).sum()
}
