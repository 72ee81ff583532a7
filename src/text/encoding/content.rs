//! How the text of a file is encoded, and the bytes of a new text for it (contract 15).
//!
//! Pure over bytes, like the rest of this folder.

use super::guess::{hidden, likely_of_all, wide_enough};
use super::{Encoding, EncodingChoice, EncodingSource, Likely, Unencodable};

/// Bytes looked at between two checks.
const STEP: usize = 4 << 20;

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

/// How a text is encoded; or why that is not known: what it probably is.
pub type FoundEncoding = Result<TextEncoding, Option<Likely>>;

impl EncodingChoice {
    /// How a text is encoded that is all bytes of a file. It need not be valid in the encoding that is given. For
    /// [`EncodingChoice::Auto`], `check` is called between steps of the work, which ends with its error.
    pub fn of_text<E>(self, bytes: &[u8], check: impl FnMut() -> Result<(), E>) -> Result<FoundEncoding, E> {
        let (encoding, source) =
            match self.of_beginning(bytes).map_or_else(|| found(bytes, check), |is| Ok(Ok(is)))? {
                Ok(found) => found,
                Err(likely) => return Ok(Err(likely)),
            };
        let mark = encoding.mark();
        let has_mark = !mark.is_empty() && bytes.starts_with(mark);
        Ok(Ok(TextEncoding { encoding, source, has_mark }))
    }

    /// How a new text is encoded that takes the place of all bytes of a file, `old`, which are none for a new file. A mark
    /// stays, also if the order of the bytes becomes another. UTF-16 whose order is not given always gets one.
    pub fn for_content<E>(
        self,
        old: &[u8],
        check: impl FnMut() -> Result<(), E>,
    ) -> Result<FoundEncoding, E> {
        let with_mark = |of_text: TextEncoding| {
            let encoding = of_text.encoding;
            let had_mark = Encoding::of_mark(old).is_some_and(|marked| marked.unit() == encoding.unit());
            let has_mark = !encoding.mark().is_empty() && (had_mark || self == EncodingChoice::Utf16);
            TextEncoding { has_mark, ..of_text }
        };
        Ok(self.of_text(old, check)?.map(with_mark))
    }
}

/// The encoding of a text without a mark of UTF-16: UTF-8 if it is valid, else the likely one.
#[allow(clippy::type_complexity)]
fn found<E>(
    bytes: &[u8],
    check: impl FnMut() -> Result<(), E>,
) -> Result<Result<(Encoding, EncodingSource), Option<Likely>>, E> {
    let wrong = first_wrong(bytes, check)?;
    if let Some(found) = hidden(bytes).and_then(Likely::encoding) {
        return Ok(Ok(found));
    }
    if wrong.is_none() {
        return Ok(Ok((Encoding::Utf8, EncodingSource::Given)));
    }
    let likely = likely_of_all(bytes, wrong.unwrap_or(0));
    let found = likely.and_then(Likely::encoding);
    Ok(found.map(|(encoding, source)| (wide_enough(encoding, bytes), source)).ok_or(likely))
}

/// Where the first bytes are that are not text in UTF-8, if there are any. `check` is called between steps of the work.
pub(crate) fn first_wrong<E>(
    bytes: &[u8],
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<Option<usize>, E> {
    let mut at = 0;
    while at < bytes.len() {
        check()?;
        let step = &bytes[at..bytes.len().min(at + STEP)];
        let nul = memchr::memchr(0, step);
        let valid = match simdutf8::compat::from_utf8(&step[..nul.unwrap_or(step.len())]) {
            Ok(text) if nul.is_some() => return Ok(Some(at + text.len())),
            Ok(text) => text.len(),
            // The step ends inside a character.
            Err(wrong) if wrong.error_len().is_none() && nul.is_none() && at + step.len() < bytes.len() => {
                wrong.valid_up_to()
            }
            Err(wrong) => return Ok(Some(at + wrong.valid_up_to())),
        };
        at += valid;
    }
    Ok(None)
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

    fn on() -> Result<(), std::convert::Infallible> {
        Ok(())
    }

    fn of_text(choice: EncodingChoice, bytes: &[u8]) -> FoundEncoding {
        choice.of_text(bytes, on).unwrap()
    }

    fn written(choice: EncodingChoice, old: &[u8], text: &str) -> Vec<u8> {
        choice.for_content(old, on).unwrap().unwrap().encode_whole(text).unwrap()
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
        let found = of_text(EncodingChoice::Auto, &cyrillic).unwrap();
        let expected =
            TextEncoding { encoding: Encoding::Windows1251, source: EncodingSource::Guess, has_mark: false };
        assert_eq!(found, expected);
        assert_eq!(found.encode_whole("ещё").unwrap(), b"\xE5\xF9\xB8");
        let program = of_text(EncodingChoice::Auto, b"\x7fELF\x02\x01\0\0\0\0");
        assert!(matches!(program, Err(Some(Likely::NoText(_)))), "{program:?}");
        assert_eq!(of_text(EncodingChoice::Auto, "ещё".as_bytes()).unwrap().encoding, Encoding::Utf8);
    }

    #[test]
    fn a_character_that_is_lacking_is_told_by_its_place() {
        let encoding = EncodingChoice::Is(Encoding::Windows1251).for_content(b"", on).unwrap().unwrap();
        let error = encoding.encode_whole("раз\r\nдва 漢").unwrap_err();
        assert_eq!(error, Unencodable { line: 1, column: 5, character: '漢' });
    }

    #[test]
    fn the_first_wrong_byte_is_found_in_steps_and_the_work_can_be_ended() {
        let long = "é".repeat(STEP);
        let wrong = |bytes: &[u8]| first_wrong(bytes, on).unwrap();
        assert_eq!((wrong(b""), wrong(b"a\0b"), wrong(b"a\xC3")), (None, Some(1), Some(1)));
        assert_eq!(wrong([b"a", long.as_bytes()].concat().as_slice()), None);
        assert_eq!(wrong([b"a", long.as_bytes(), b"\xFF"].concat().as_slice()), Some(1 + 2 * STEP));
        assert_eq!(wrong([b"a", &b"\xC3"[..], long.as_bytes()].concat().as_slice()), Some(1));
        let mut left = 2;
        let ended = first_wrong(long.as_bytes(), || {
            left -= 1;
            if left == 0 { Err("ended") } else { Ok(()) }
        });
        assert_eq!(ended, Err("ended"));
    }
}
