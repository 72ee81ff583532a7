//! Encodings of text: their names, from bytes to UTF-8 and back.
//!
//! One row of a table for each encoding. Pure over bytes: knows no file and no tool. Every encoding here keeps no state
//! between characters, so a text can be decoded from the first byte of any character on.

mod breaks;
mod content;
mod decoder;
mod encoder;
mod guess;
mod lossy;
#[cfg(test)]
mod tests;

pub use self::breaks::LineScan;
pub(super) use self::breaks::{before_character, breaks_in, characters_in, newlines_in};
pub use self::content::TextEncoding;
pub use self::decoder::{DecodeError, Decoder, Malformed, Undecodable};
pub use self::encoder::Unencodable;
pub use self::guess::{Likely, likely};

/// An encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// Cyrillic of Windows.
    Windows1251,
    /// Western European of Windows.
    Windows1252,
    /// The first 256 characters of Unicode.
    Iso8859_1,
    /// The same with the euro sign.
    Iso8859_15,
}

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
}

/// What is known of an encoding.
struct Row {
    encoding: Encoding,
    name: &'static str,
    /// Other names, as [`plain`] makes them.
    labels: &'static [&'static str],
    /// The tables; `None` if bytes are characters.
    tables: Option<&'static encoding_rs::Encoding>,
    /// Bytes that are no character. The tables of the web have controls there.
    undefined: &'static [u8],
    mark: &'static [u8],
    /// Bytes of the smallest character.
    unit: usize,
}

/// In the order of [`Encoding`].
#[rustfmt::skip]
static ROWS: [Row; 7] = [
    Row { encoding: Encoding::Utf8, name: "utf-8", labels: &["ascii", "usascii", "utf8bom", "utf8sig"],
        tables: Some(&encoding_rs::UTF_8_INIT), undefined: &[], mark: b"\xEF\xBB\xBF", unit: 1 },
    Row { encoding: Encoding::Utf16Le, name: "utf-16le", labels: &[],
        tables: Some(&encoding_rs::UTF_16LE_INIT), undefined: &[], mark: b"\xFF\xFE", unit: 2 },
    Row { encoding: Encoding::Utf16Be, name: "utf-16be", labels: &[],
        tables: Some(&encoding_rs::UTF_16BE_INIT), undefined: &[], mark: b"\xFE\xFF", unit: 2 },
    Row { encoding: Encoding::Windows1251, name: "windows-1251", labels: &["cp1251", "win1251", "1251"],
        tables: Some(&encoding_rs::WINDOWS_1251_INIT), undefined: b"\x98", mark: b"", unit: 1 },
    Row { encoding: Encoding::Windows1252, name: "windows-1252", labels: &["cp1252", "win1252", "1252"],
        tables: Some(&encoding_rs::WINDOWS_1252_INIT), undefined: b"\x81\x8D\x8F\x90\x9D", mark: b"", unit: 1 },
    Row { encoding: Encoding::Iso8859_1, name: "iso-8859-1", labels: &["latin1", "l1", "88591"],
        tables: None, undefined: &[], mark: b"", unit: 1 },
    Row { encoding: Encoding::Iso8859_15, name: "iso-8859-15", labels: &["latin9", "latin0", "l9", "885915"],
        tables: Some(&encoding_rs::ISO_8859_15_INIT), undefined: &[], mark: b"", unit: 1 },
];

/// Bytes that are looked at for a guess.
const GUESSED: usize = 64 << 10;

/// Other names of UTF-16 in the order of its mark.
const UTF_16: [&str; 3] = ["utf16", "ucs2", "unicode"];

impl Encoding {
    /// All of them.
    pub const ALL: [Encoding; 7] = [
        Encoding::Utf8,
        Encoding::Utf16Le,
        Encoding::Utf16Be,
        Encoding::Windows1251,
        Encoding::Windows1252,
        Encoding::Iso8859_1,
        Encoding::Iso8859_15,
    ];

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Its name for clients.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its byte order mark; empty if it has none.
    pub fn mark(self) -> &'static [u8] {
        self.row().mark
    }

    /// Bytes of its smallest character: all characters begin at a multiple of them.
    pub fn unit(self) -> usize {
        self.row().unit
    }

    /// The encoding that the byte order mark at the beginning of a text says.
    pub fn of_mark(text: &[u8]) -> Option<Encoding> {
        let says = |row: &&Row| !row.mark.is_empty() && text.starts_with(row.mark);
        ROWS.iter().find(says).map(|row| row.encoding)
    }

    /// Bytes that a text in UTF-8 takes in this encoding, which has all its characters.
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
    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let (utf_8, others) = ROWS.split_at(1);
        let names = |rows: &'static [Row]| rows.iter().map(|row| row.name);
        names(utf_8).chain(["utf-16"]).chain(names(others)).chain(["auto"])
    }

    /// Its name for clients.
    pub fn name(self) -> &'static str {
        match self {
            EncodingChoice::Is(encoding) => encoding.name(),
            EncodingChoice::Utf16 => "utf-16",
            EncodingChoice::Auto => "auto",
        }
    }

    /// The encoding to decode a file from before it is searched. `None`: it is searched as UTF-8. A mark of UTF-16 decides
    /// over what is chosen, because nothing else begins with it.
    pub fn to_decode(self, bytes: &[u8]) -> Option<Encoding> {
        let marked = Encoding::of_mark(bytes).filter(|encoding| encoding.unit() == 2);
        marked.or_else(|| match self {
            EncodingChoice::Is(Encoding::Utf8) => None,
            EncodingChoice::Is(encoding) => Some(encoding),
            EncodingChoice::Utf16 => Some(Encoding::Utf16Le),
            EncodingChoice::Auto => guessed(bytes),
        })
    }

    /// The choice of this name, in any case, with or without `-` and `_`, or by another well-known name.
    pub fn parse(name: &str) -> Option<EncodingChoice> {
        let name = plain(name);
        if name == "auto" {
            return Some(EncodingChoice::Auto);
        }
        if UTF_16.contains(&&*name) {
            return Some(EncodingChoice::Utf16);
        }
        let is_named = |row: &&Row| plain(row.name) == name || row.labels.contains(&&*name);
        ROWS.iter().find(is_named).map(|row| EncodingChoice::Is(row.encoding))
    }
}

/// The likely encoding of a text that is not UTF-8.
fn guessed(bytes: &[u8]) -> Option<Encoding> {
    let wrong = simdutf8::compat::from_utf8(bytes).err()?.valid_up_to();
    let part = |from: usize| &bytes[from..bytes.len().min(from + GUESSED)];
    match likely(part(0), part(wrong.saturating_sub(GUESSED / 2)))? {
        Likely::Known(EncodingChoice::Is(encoding)) => Some(encoding),
        _ => None,
    }
}

/// Number of such bytes. Small counters let the compiler count many bytes at once.
fn count(bytes: &[u8], is_such: impl Fn(u8) -> bool) -> u64 {
    let in_chunk = |chunk: &[u8]| chunk.iter().map(|byte| u8::from(is_such(*byte))).sum::<u8>();
    bytes.chunks(255).map(|chunk| u64::from(in_chunk(chunk))).sum()
}

/// The letters and digits of a name, in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}
