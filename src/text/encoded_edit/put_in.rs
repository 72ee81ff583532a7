//! Whether text is put into a file in the encoding of the file: one rule for all edits.
//!
//! Pure. Where a client names another encoding than that of the file, or the file only looks like UTF-8, the new text would be wrong bytes
//! in it.

use super::by_places::first_wrong_character;
use super::no_text;
use crate::encoding::{
    Encoding, EncodingChoice, EncodingSource, Likely, TextEncoding, first_wrong, is_mostly_utf_8,
    is_really_utf_8, may_be_wide, other_than_utf_8,
};
use crate::{Error, Result, Stop};

/// Bytes of UTF-8 with blanks or line breaks and without NUL that are hardly UTF-16, and its characters that are hardly those of another
/// encoding.
const LEAST_BYTES: usize = 10;
const LEAST_CHARACTERS: usize = 4;

/// Fails if text that is not ASCII, or of UTF-16, would be put into the file `name` in another encoding than its own. `text` is how the
/// file is read.
///
/// # Errors
///
/// [`Error::InvalidArguments`] for an encoding that the file has not, [`Error::OtherEncoding`] for a file that only looks like UTF-8.
pub fn check_new_text(
    text: &TextEncoding,
    (name, old): (&str, &[u8]),
    is_ascii: bool,
    control: &dyn Stop,
) -> Result<()> {
    if text.encoding != Encoding::Utf8 {
        let is_given = text.source == EncodingSource::Given;
        return if is_given { check_given(text.encoding, old, is_ascii, control) } else { Ok(()) };
    }
    if is_ascii {
        return Ok(());
    }
    match first_wrong_character(old, control)? {
        Some(wrong) if !is_really_utf_8(old, wrong) => Err(no_text(name, old, other_than_utf_8(old, wrong))),
        _ => Ok(()),
    }
}

/// The same for an encoding that the client has named.
pub(super) fn check_given(given: Encoding, old: &[u8], is_ascii: bool, control: &dyn Stop) -> Result<()> {
    let Some(other) = sure_other(given, old, is_ascii, control)? else { return Ok(()) };
    let (given, would) = (given.name(), "and the edit would put text in");
    let problem = match other {
        Other::Is(other) => {
            let other = other.name();
            format!("the file is text in {other}, {would} {given} into it; expected {other}, or no encoding")
        }
        Other::NotWide => {
            format!(
                "the file is no text in {given}, {would} that into it; expected the encoding of the file, or none"
            )
        }
    };
    Err(Error::InvalidArguments { at: "encoding".into(), problem })
}

/// What a file is that is not in the encoding that was given.
#[derive(Debug, PartialEq, Eq)]
enum Other {
    /// This.
    Is(Encoding),
    /// No UTF-16.
    NotWide,
}

/// What a file certainly is, if that is something else than `given` and new text would not be the same bytes in it: by its mark, or
/// UTF-8 if so much of it is that this is no accident, or no UTF-16.
fn sure_other(given: Encoding, old: &[u8], is_ascii: bool, control: &dyn Stop) -> Result<Option<Other>> {
    let is_wide = given.unit() > 1;
    if given == Encoding::Utf8 || is_ascii && !is_wide || old.is_empty() || switches::is_off("sure-encoding")
    {
        return Ok(None);
    }
    let check = || control.check();
    let characters = || old.iter().filter(|byte| **byte >= 0xC0).count();
    let is_no_wide = || is_wide && memchr::memchr(0, old).is_none() && !may_be_wide(given, old);
    let utf_8 = Some(Other::Is(Encoding::Utf8));
    Ok(match EncodingChoice::Auto.of_text(old, check)? {
        Ok(found) if found.encoding == given => None,
        Ok(TextEncoding { source: EncodingSource::Mark, encoding, .. }) => Some(Other::Is(encoding)),
        Ok(TextEncoding { encoding: Encoding::Utf8, .. }) => {
            let is_sure = match given {
                _ if is_wide => {
                    is_no_wide()
                        || old.len() % 2 == 1
                        || old.len() >= LEAST_BYTES && memchr::memchr2(b' ', b'\n', old).is_some()
                }
                given if given.is_multibyte() => characters() >= LEAST_CHARACTERS,
                _ => characters() > 0,
            };
            utf_8.filter(|_| is_sure)
        }
        Ok(TextEncoding { source: EncodingSource::Guess, encoding, .. }) if is_no_wide() => {
            Some(Other::Is(encoding))
        }
        Err(None | Some(Likely::Damaged(_))) if !is_wide => {
            let wrong = first_wrong(old, check)?;
            utf_8.filter(|_| {
                wrong.is_some_and(|wrong| is_mostly_utf_8(old, wrong) && is_really_utf_8(old, wrong))
            })
        }
        _ => Some(Other::NotWide).filter(|_| is_no_wide()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unstopped;

    #[test]
    fn a_file_that_is_certainly_in_another_encoding_gets_no_text_in_the_given_one() {
        use Encoding::{Gbk, Utf8, Utf16Be, Utf16Le, Windows1252};
        let other =
            |given, old: &[u8], new: &str| sure_other(given, old, new.is_ascii(), &Unstopped).unwrap();
        for (given, old, new, expected) in [
            (Windows1252, "grün x".as_bytes(), "ö", Other::Is(Utf8)),
            (Gbk, "中文文件 x".as_bytes(), "中", Other::Is(Utf8)),
            (Utf16Le, b"plain text\n", "a", Other::Is(Utf8)),
            (Utf16Be, b"plain text\n", "a", Other::Is(Utf8)),
            (Utf16Le, b"ok\n", "a", Other::Is(Utf8)),
            (Utf16Le, b"caf\xE9 au lait\n", "a", Other::NotWide),
            (Utf16Le, b"\xFE\xFF\0a", "a", Other::Is(Utf16Be)),
            (Windows1252, "grün, schön, süß \u{fffd}".as_bytes(), "ö", Other::Is(Utf8)),
            (
                Windows1252,
                b"gr\xC3\xBCn sch\xC3\xB6n \xC3\x9F \xC3\xA4 \xC3\xA4 \xFF\n",
                "\u{f6}",
                Other::Is(Utf8),
            ),
        ] {
            assert_eq!(other(given, old, new), Some(expected), "{given:?} {old:x?}");
        }
        for (given, old, new) in [
            (Windows1252, "grün x".as_bytes(), "o"),
            (Windows1252, b"plain x", "ö"),
            (Windows1252, b"caf\xE9 x", "ö"),
            (Gbk, "中 x".as_bytes(), "中"),
            (Utf16Le, b"", "a"),
            (Utf16Le, b"ABABABABABAB", "a"),
            (Utf16Le, b"abababababab", "a"),
            (Utf16Le, b"a\0b\0\n\0", "a"),
            (Utf8, "grün x".as_bytes(), "ö"),
        ] {
            assert_eq!(other(given, old, new), None, "{given:?} {old:x?}");
        }
        for text in ["ความสุข", "Привет", "上海不是一个小城市"] {
            for wide in [Utf16Le, Utf16Be] {
                let mut old = Vec::new();
                wide.encode(text, &mut old).unwrap();
                assert_eq!(other(wide, &old, "a"), None, "{text}");
            }
        }
    }
}
