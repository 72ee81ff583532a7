//! How the text of a file is encoded, and the bytes of a new text for it (contract 15).
//!
//! Pure over bytes, like the rest of this folder.

use super::{Encoding, EncodingChoice, EncodingSource, GUESSED, Likely, Unencodable, likely};

/// A byte order mark as a character.
const MARK: char = '\u{feff}';

/// How the text of one file is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextEncoding {
    /// Its encoding.
    pub encoding: Encoding,
    /// How that is known.
    pub source: EncodingSource,
    /// Whether the text has, or gets, a byte order mark in front.
    pub has_mark: bool,
}

impl EncodingChoice {
    /// How a text is encoded that is all bytes of a file. It need not be valid in the encoding that is given.
    ///
    /// # Errors
    ///
    /// For [`EncodingChoice::Auto`] if the bytes are no text in an encoding of the table: what they probably are.
    pub fn of_text(self, bytes: &[u8]) -> Result<TextEncoding, Option<Likely>> {
        let by_mark = Encoding::of_mark(bytes).filter(|encoding| encoding.unit() == 2);
        let (encoding, source) = match (self, by_mark) {
            (EncodingChoice::Is(encoding), _) => (encoding, EncodingSource::Given),
            (EncodingChoice::Utf16, by_mark) => (by_mark.unwrap_or(Encoding::Utf16Le), EncodingSource::Given),
            (EncodingChoice::Auto, Some(encoding)) => (encoding, EncodingSource::Mark),
            (EncodingChoice::Auto, None) => found(bytes)?,
        };
        let mark = encoding.mark();
        let has_mark = !mark.is_empty() && bytes.starts_with(mark);
        Ok(TextEncoding { encoding, source, has_mark })
    }

    /// How a new text is encoded that takes the place of all bytes of a file, `old`, which are none for a new file. A mark
    /// stays, also if the order of the bytes becomes another. UTF-16 whose order is not given always gets one.
    ///
    /// # Errors
    ///
    /// As of [`EncodingChoice::of_text`].
    pub fn for_content(self, old: &[u8]) -> Result<TextEncoding, Option<Likely>> {
        let of_text = self.of_text(old)?;
        let encoding = of_text.encoding;
        let had_mark = Encoding::of_mark(old).is_some_and(|marked| marked.unit() == encoding.unit());
        let has_mark = !encoding.mark().is_empty() && (had_mark || self == EncodingChoice::Utf16);
        Ok(TextEncoding { has_mark, ..of_text })
    }
}

/// The encoding of a text without a mark of UTF-16: UTF-8 if it is valid, else the likely one.
fn found(bytes: &[u8]) -> Result<(Encoding, EncodingSource), Option<Likely>> {
    if memchr::memchr(0, bytes).is_none() && simdutf8::basic::from_utf8(bytes).is_ok() {
        return Ok((Encoding::Utf8, EncodingSource::Given));
    }
    // The same blocks as where a file is read.
    let blocks = || bytes.chunks(GUESSED);
    let sample = blocks().find(|block| !block.is_ascii()).or_else(|| blocks().last());
    let first = blocks().next().unwrap_or_default();
    match likely(first, sample.unwrap_or_default()) {
        Some(Likely::Known(EncodingChoice::Is(encoding))) => Ok((encoding, EncodingSource::Guess)),
        other => Err(other),
    }
}

impl TextEncoding {
    /// The mark of the text in bytes; empty if it has none.
    pub fn mark(&self) -> &'static [u8] {
        if self.has_mark { self.encoding.mark() } else { b"" }
    }

    /// The encoding of the file before, if its mark says another one than this.
    pub fn before(&self, old: &[u8]) -> Option<Encoding> {
        Encoding::of_mark(old).filter(|before| *before != self.encoding)
    }

    /// The bytes of a whole text, with the mark. A mark that `text` itself begins with is not doubled.
    ///
    /// # Errors
    ///
    /// A character that the encoding lacks.
    pub fn encode_whole(&self, text: &str) -> Result<Vec<u8>, Unencodable> {
        let mark = if text.starts_with(MARK) { b"" } else { self.mark() };
        let mut bytes = mark.to_vec();
        self.encoding.encode(text, &mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(choice: EncodingChoice, old: &[u8], text: &str) -> Vec<u8> {
        choice.for_content(old).unwrap().encode_whole(text).unwrap()
    }

    #[test]
    fn a_mark_stays_and_utf_16_of_no_given_order_gets_one() {
        let is = EncodingChoice::Is;
        let (utf_8, utf_16) = (is(Encoding::Utf8), EncodingChoice::Utf16);
        for (choice, old, expected) in [
            (utf_8, &b""[..], &b"a"[..]),
            (utf_8, b"\xEF\xBB\xBFold", b"\xEF\xBB\xBFa"),
            (utf_8, b"\xFF\xFEo\0", b"a"),
            (utf_16, b"", b"\xFF\xFEa\0"),
            (utf_16, b"o\0", b"\xFF\xFEa\0"),
            (utf_16, b"\xFE\xFF\0o", b"\xFE\xFF\0a"),
            (is(Encoding::Utf16Le), b"", b"a\0"),
            (is(Encoding::Utf16Le), b"\xFF\xFEo\0", b"\xFF\xFEa\0"),
            (is(Encoding::Utf16Le), b"\xFE\xFF\0o", b"\xFF\xFEa\0"),
            (is(Encoding::Windows1251), b"\xEF\xBB\xBFold", b"a"),
            (EncodingChoice::Auto, b"", b"a"),
            (EncodingChoice::Auto, b"\xFE\xFF\0o", b"\xFE\xFF\0a"),
            (EncodingChoice::Auto, b"\xEF\xBB\xBFold", b"\xEF\xBB\xBFa"),
        ] {
            assert_eq!(written(choice, old, "a"), expected, "{choice:?} {old:?}");
        }
        assert_eq!(written(utf_16, b"", "\u{feff}a"), b"\xFF\xFEa\0");
    }

    #[test]
    fn auto_takes_the_encoding_that_a_read_finds() {
        let mut cyrillic = Vec::new();
        let text = "Съешь ещё этих мягких французских булок.\n".repeat(9);
        Encoding::Windows1251.encode(&text, &mut cyrillic).unwrap();
        let found = EncodingChoice::Auto.of_text(&cyrillic).unwrap();
        let expected =
            TextEncoding { encoding: Encoding::Windows1251, source: EncodingSource::Guess, has_mark: false };
        assert_eq!(found, expected);
        assert_eq!(found.encode_whole("ещё").unwrap(), b"\xE5\xF9\xB8");
        assert_eq!(EncodingChoice::Auto.of_text(b"\x7fELF\x02\x01\0\0\0\0"), Err(None));
        assert_eq!(EncodingChoice::Auto.of_text("ещё".as_bytes()).unwrap().encoding, Encoding::Utf8);
    }

    #[test]
    fn a_character_that_is_lacking_is_told_by_its_place() {
        let encoding = EncodingChoice::Is(Encoding::Windows1251).for_content(b"").unwrap();
        let error = encoding.encode_whole("раз\r\nдва 漢").unwrap_err();
        assert_eq!(error, Unencodable { line: 1, column: 5, character: '漢' });
    }
}
