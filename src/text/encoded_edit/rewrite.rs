//! A new text for all bytes of a file: it keeps the encoding, the byte order mark and the kind of line break of the file as
//! far as it can, and reports what it keeps and what it changes (contract 25).
//!
//! Pure over bytes. Knows no file and no words.

use std::borrow::Cow;
use std::convert::Infallible;

use super::UTF_8;
use super::encoded::EncodedText;
use crate::encoding::{
    Encoding, EncodingChoice, EncodingSource, FoundEncoding, Likely, TextEncoding, Unencodable,
    by_all_escapes, has_escapes,
};
use crate::file_kind::FileKind;
use crate::lines::{BOM, Break, BreakKinds};
use crate::text_edit::with_breaks;
use crate::{Error, OtherEncoding, Result};

/// A new text for all bytes of a file.
#[derive(Debug)]
pub struct Rewrite<'t> {
    /// The text with the breaks that are written.
    pub content: Cow<'t, str>,
    /// The encoding of the old bytes, if they are text.
    pub was: Option<Encoding>,
    /// What it keeps and what it changes.
    pub report: Rewritten,
}

/// What a new text keeps and changes of a file besides its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewritten {
    /// How the new text is encoded.
    pub encoding: TextEncoding,
    /// How the old bytes were encoded, if that was different.
    pub before: Before,
    /// What becomes of the line breaks.
    pub breaks: Breaks,
}

/// How bytes were encoded that a text in another encoding replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// As the new text is, or there were none.
    Same,
    /// In another encoding. `lacking`: a character of the new text that it does not have.
    Other {
        /// The encoding.
        encoding: Encoding,
        /// The character because of which it is not kept.
        lacking: Option<Unencodable>,
    },
    /// Perhaps in this encoding.
    Unsure(Likely),
    /// In this one by its mark, or because nothing else is likely, but with bytes that are no character of it.
    Invalid(Encoding),
    /// In ASCII or UTF-8, but with escape sequences of ISO-2022. The new text has such, too, or not.
    Escapes {
        /// Whether it has.
        stay: bool,
    },
    /// They were no text, but such a file, if that is known, of so many bytes.
    NoText(Option<FileKind>, usize),
}

/// What becomes of the kind of line breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Nothing.
    Same,
    /// Those of the new text became those of the file.
    Kept(Break),
    /// The new text has others than the file had.
    Changed {
        /// Kinds before.
        before: BreakKinds,
        /// Kinds now.
        after: BreakKinds,
    },
}

/// The new text `content` for a file `name` that holds the bytes `old`. Without a choice, the encoding of the file is kept if
/// it is certain and has all characters of the new text; else the text is written as UTF-8.
///
/// # Errors
///
/// Those of a choice that is given: a character that it lacks, and for [`EncodingChoice::Auto`] bytes that are no text.
pub fn rewrite<'t>(
    choice: Option<EncodingChoice>,
    name: &str,
    old: &[u8],
    content: &'t str,
) -> Result<Rewrite<'t>> {
    let (text, before) = match choice {
        Some(choice) => given(choice, old, content).map_err(|likely| no_text(name, old, likely))?,
        None => kept(old, content),
    };
    let was = match before {
        Before::Same => Some(text.encoding),
        Before::Other { encoding, .. } => Some(encoding),
        Before::Unsure(Likely::Damaged(encoding)) => Some(encoding),
        Before::Unsure(likely) => likely.encoding().map(|(encoding, _)| encoding),
        Before::Invalid(encoding) => Some(encoding),
        Before::Escapes { .. } => Some(Encoding::Utf8),
        Before::NoText(..) => None,
    };
    let (content, breaks) = match was {
        Some(encoding) => with_breaks_of(encoding, old, content),
        None => (Cow::Borrowed(content), Breaks::Same),
    };
    Ok(Rewrite { content, was, report: Rewritten { encoding: text, before, breaks } })
}

/// The encoding that the caller has chosen. What the file was is told if it is certain: by its mark, because it is text in
/// UTF-8, or because it is no text in the encoding that is chosen.
fn given(
    choice: EncodingChoice,
    old: &[u8],
    content: &str,
) -> Result<(TextEncoding, Before), Option<Likely>> {
    let text = for_content(choice, old)?;
    let before = match kept(old, if has_escapes(content.as_bytes()) { content } else { "" }) {
        (was, Before::Same) if is_same(was, text.encoding, old) => Before::Same,
        (was, Before::Same) => Before::Other { encoding: was.encoding, lacking: None },
        (
            _,
            before
            @ (Before::Invalid(Encoding::Utf16Le | Encoding::Utf16Be) | Before::Escapes { stay: true }),
        ) => before,
        (_, before @ Before::Escapes { .. }) if choice == EncodingChoice::Auto => before,
        (_, before) if choice == EncodingChoice::Is(Encoding::Utf8) => before,
        _ => Before::Same,
    };
    Ok((text, before))
}

/// Whether a file that was found to be encoded like `was` may be text in the encoding that the caller has chosen, too.
fn is_same(was: TextEncoding, chosen: Encoding, old: &[u8]) -> bool {
    let is_ascii = || was.encoding == Encoding::Utf8 && old.is_ascii() && chosen.unit() == 1;
    // Bytes of ASCII are text in all others, too.
    let is_chosen =
        || was.source == EncodingSource::Guess && !was.encoding.is_stateful() && fits(chosen, old);
    old.is_empty() || was.encoding == chosen || is_ascii() || is_chosen()
}

/// The encoding of the file, or UTF-8 if it cannot be kept.
fn kept(old: &[u8], content: &str) -> (TextEncoding, Before) {
    let utf_8 = TextEncoding { has_mark: old.starts_with(BOM), ..UTF_8 };
    let kept = |text: TextEncoding| match text.encode_whole(content) {
        Ok(_) => (text, Before::Same),
        Err(lacking) => (utf_8, Before::Other { encoding: text.encoding, lacking: Some(lacking) }),
    };
    let found = for_content(EncodingChoice::Auto, old);
    if is_escaped(found, old) {
        return match by_all_escapes(old) {
            _ if has_escapes(content.as_bytes()) => (utf_8, Before::Escapes { stay: true }),
            Some(encoding) => kept(TextEncoding { encoding, source: EncodingSource::Guess, has_mark: false }),
            None => (utf_8, Before::Escapes { stay: false }),
        };
    }
    match found {
        Ok(text) if is_certain(text, old) => kept(text),
        Ok(text) if text.source == EncodingSource::Mark => (utf_8, Before::Invalid(text.encoding)),
        Ok(text) => {
            let choice = EncodingChoice::Is(text.encoding);
            (utf_8, Before::Unsure(Likely::Text { choice, is_sure: false }))
        }
        Err(Some(Likely::NoText(kind))) => (utf_8, Before::NoText(Some(kind), old.len())),
        Err(None) if memchr::memchr(0, old).is_some() => (utf_8, Before::NoText(None, old.len())),
        Err(likely) => (utf_8, likely.map_or(Before::Invalid(Encoding::Utf8), Before::Unsure)),
    }
}

/// Whether bytes are no certain text but for escape sequences.
fn is_escaped(found: FoundEncoding, old: &[u8]) -> bool {
    let is_other = match found {
        Ok(text) => {
            text.encoding.unit() == 2 || text.source == EncodingSource::Guess && !text.encoding.is_stateful()
        }
        Err(likely) => matches!(likely, Some(Likely::NoText(_))) || memchr::memchr(0, old).is_some(),
    };
    !is_other && has_escapes(old)
}

/// How a new text is encoded that takes the place of a file, which is found without a break.
fn for_content(choice: EncodingChoice, old: &[u8]) -> FoundEncoding {
    match choice.for_content(old, || Ok::<(), Infallible>(())) {
        Ok(found) => found,
        Err(never) => match never {},
    }
}

/// Whether no other encoding is nearly as likely, and the whole file is text in this one.
fn is_certain(text: TextEncoding, old: &[u8]) -> bool {
    match text.source {
        EncodingSource::Given => true,
        EncodingSource::Mark | EncodingSource::Guess => fits(text.encoding, &old[text.mark().len()..]),
        EncodingSource::WeakGuess => false,
    }
}

/// Whether the whole file is text in the encoding, not only what was looked at.
fn fits(encoding: Encoding, old: &[u8]) -> bool {
    encoding.decode(old).is_ok()
}

/// The text with the line breaks of the file, if that has one kind.
fn with_breaks_of<'t>(encoding: Encoding, old: &[u8], content: &'t str) -> (Cow<'t, str>, Breaks) {
    let kinds = |encoding: Encoding, bytes: &[u8]| {
        let start = if bytes.starts_with(encoding.mark()) { encoding.mark().len() } else { 0 };
        EncodedText { encoding, old: bytes, start }.break_kinds()
    };
    let (after, none) = (kinds(Encoding::Utf8, content.as_bytes()), BreakKinds::default());
    if after == none {
        return (Cow::Borrowed(content), Breaks::Same);
    }
    let before = kinds(encoding, old);
    match before.only() {
        // A lone CR in the text is meant, because no model sends it by chance.
        Some(kind @ (Break::CrLf | Break::Cr)) if after.lf && !after.cr => {
            let content = with_breaks(content, kind).map_or(Cow::Borrowed(content), Cow::Owned);
            (content, Breaks::Kept(kind))
        }
        _ if before == after || before == none => (Cow::Borrowed(content), Breaks::Same),
        _ => (Cow::Borrowed(content), Breaks::Changed { before, after }),
    }
}

/// The error for bytes whose encoding is not found.
pub(super) fn no_text(name: &str, old: &[u8], likely: Option<Likely>) -> Error {
    let error = match memchr::memchr(0, old) {
        Some(_) => Error::NotText { name: name.into() },
        None => Error::InvalidUtf8,
    };
    match (likely, error) {
        (None, error @ Error::NotText { .. }) => error,
        (likely, error) => {
            let name = name.into();
            Error::OtherEncoding(Box::new(OtherEncoding { name, error, likely }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(choice: Option<EncodingChoice>, old: &[u8], content: &str) -> (Vec<u8>, Before, Breaks) {
        let Rewrite { content, report, .. } = rewrite(choice, "f", old, content).unwrap();
        (report.encoding.encode_whole(&content).unwrap(), report.before, report.breaks)
    }

    #[test]
    fn encoding_mark_and_breaks_of_the_file_are_kept() {
        let latin =
            "Les élèves français sont déjà arrivés à l'école, où ils ont mangé des pâtes.\n".repeat(3);
        let latin: Vec<u8> = latin.chars().map(|c| c as u8).collect();
        let crlf = Breaks::Kept(Break::CrLf);
        for (old, content, expected, breaks) in [
            (&b""[..], "a\n", &b"a\n"[..], Breaks::Same),
            (b"\xFF\xFEo\0\r\0\n\0", "a\n", b"\xFF\xFEa\0\r\0\n\0", crlf),
            (b"\xFE\xFF\0o", "a\n", b"\xFE\xFF\0a\0\n", Breaks::Same),
            (b"\xEF\xBB\xBFo", "a", b"\xEF\xBB\xBFa", Breaks::Same),
            (b"o\r\n", "a\nb\r\nc", b"a\r\nb\r\nc", crlf),
            (b"o\r\n", "a\r\nb\r\n", b"a\r\nb\r\n", Breaks::Same),
            (b"o\r", "a\n", b"a\r", Breaks::Kept(Break::Cr)),
            (b"o", "a\n", b"a\n", Breaks::Same),
            (&latin, "à la\n", b"\xE0 la\n", Breaks::Same),
        ] {
            assert_eq!(rewritten(None, old, content), (expected.to_vec(), Before::Same, breaks), "{old:?}");
        }
    }

    #[test]
    fn the_breaks_of_a_text_with_a_wrong_byte_are_kept() {
        let mut old = Vec::new();
        Encoding::Gbk
            .encode(&"这是一个用来测试编码的文本文件，里面有一些常见的句子。\r\n".repeat(20), &mut old)
            .unwrap();
        old.splice(0..0, *b"\xff");
        let (bytes, before, breaks) = rewritten(None, &old, "a\nb\n");
        assert_eq!(before, Before::Unsure(Likely::Damaged(Encoding::Gbk)));
        assert_eq!((bytes.as_slice(), breaks), (&b"a\r\nb\r\n"[..], Breaks::Kept(Break::CrLf)));
    }

    #[test]
    fn what_is_not_kept_is_told() {
        let lf = BreakKinds { lf: true, ..BreakKinds::default() };
        let crlf = BreakKinds { crlf: true, ..BreakKinds::default() };
        let mixed = BreakKinds { lf: true, ..crlf };
        for (old, content, before, after) in [
            (&b"o\n"[..], "a\r\n", lf, crlf),
            (b"o\r\np\n", "a\n", mixed, lf),
            (b"o\r\n", "a\r", crlf, BreakKinds { cr: true, ..BreakKinds::default() }),
        ] {
            let (bytes, _, breaks) = rewritten(None, old, content);
            assert_eq!((bytes.as_slice(), breaks), (content.as_bytes(), Breaks::Changed { before, after }));
        }
        let latin: Vec<u8> =
            "Les élèves français sont déjà arrivés à l'école.\n".repeat(4).chars().map(|c| c as u8).collect();
        let (bytes, before, _) = rewritten(None, &latin, "жук\n");
        assert_eq!(bytes, "жук\n".as_bytes());
        assert!(matches!(before, Before::Other { lacking: Some(Unencodable { character: 'ж', .. }), .. }));
        let (bytes, before, _) = rewritten(None, b"%PDF-1.7\n\xE2\xE3\xCF\xD3\n", "x\n");
        assert_eq!((bytes.as_slice(), before), (&b"x\n"[..], Before::NoText(Some(FileKind::Pdf), 14)));
        assert_eq!(rewritten(None, b"\x01\0\0\x02", "x").1, Before::NoText(None, 4));
    }

    #[test]
    fn the_encoding_of_the_file_is_told_and_its_breaks_are_kept_whatever_encoding_is_given() {
        let wide = b"h\0i\0\r\0\n\0";
        for (given, old, was) in [
            (Encoding::Utf16Le, &b"hello\r\nworld\r\n"[..], Encoding::Utf8),
            (Encoding::Windows1251, wide, Encoding::Utf16Le),
            (Encoding::Windows1251, "\u{416}\r\n".as_bytes(), Encoding::Utf8),
        ] {
            let (bytes, before, breaks) = rewritten(Some(EncodingChoice::Is(given)), old, "a\nb\n");
            assert_eq!(given.decode(&bytes).unwrap(), "a\r\nb\r\n");
            assert_eq!(before, Before::Other { encoding: was, lacking: None });
            assert_eq!(breaks, Breaks::Kept(Break::CrLf));
        }
        // ASCII is text in these, and what a client names goes before a guess.
        for old in [&b""[..], b"a\n", b"caf\xE9\n"] {
            let given = Some(EncodingChoice::Is(Encoding::Windows1251));
            assert_eq!(rewritten(given, old, "b\n").1, Before::Same);
        }
    }

    #[test]
    fn a_mark_without_text_behind_it_keeps_no_encoding() {
        let invalid = Before::Invalid(Encoding::Utf16Le);
        // UTF-32, an odd byte, half of a pair.
        for old in [&b"\xFF\xFE\0\0a\0\0\0"[..], b"\xFF\xFEa\0b", b"\xFF\xFEa\0\0\xDC"] {
            let (bytes, before, _) = rewritten(None, old, "x");
            assert_eq!((bytes.as_slice(), before), (&b"x"[..], invalid), "{old:?}");
            let given = rewritten(Some(EncodingChoice::Auto), old, "x");
            assert_eq!((given.0.as_slice(), given.1), (&b"\xFF\xFEx\0"[..], invalid), "{old:?}");
        }
    }

    #[test]
    fn what_becomes_of_escape_sequences_is_told() {
        let pure = b"K \x1b$BF|K\\\x1b(B\n";
        let far = [&b"a line in ASCII\n".repeat(70_000)[..], pure].concat();
        for old in [&pure[..], &far] {
            assert_eq!(
                rewritten(None, old, "日\n"),
                (b"\x1b$BF|\x1b(B\n".to_vec(), Before::Same, Breaks::Same)
            );
        }
        let told = Before::Other { encoding: Encoding::Iso2022Jp, lacking: None };
        for choice in [EncodingChoice::Auto, EncodingChoice::default()] {
            assert_eq!(rewritten(Some(choice), &far, "x\n").1, told, "{choice:?}");
        }
        // One wrong byte, a character of UTF-8, a set that is not decoded.
        for more in [&b"\xFF\n"[..], "é\n".as_bytes(), b"\x1b$(D00\x1b(B\n"] {
            let old = [&pure[..], more].concat();
            let (bytes, before, _) = rewritten(None, &old, "é\n");
            assert_eq!((bytes.as_slice(), before), ("é\n".as_bytes(), Before::Escapes { stay: false }));
            assert_eq!(rewritten(Some(EncodingChoice::Auto), &old, "x\n").1, before, "{more:?}");
        }
        // The text as a read without an encoding shows it.
        let raw = std::str::from_utf8(pure).unwrap();
        for choice in [None, Some(EncodingChoice::default())] {
            let (bytes, before, _) = rewritten(choice, pure, raw);
            assert_eq!((bytes.as_slice(), before), (&pure[..], Before::Escapes { stay: true }));
        }
        // A binary file has such bytes by chance.
        assert_eq!(rewritten(None, b"\0\x1b$B\0", "x").1, Before::NoText(None, 5));
    }

    #[test]
    fn a_given_encoding_goes_before_that_of_the_file() {
        let utf_8 = Some(EncodingChoice::Is(Encoding::Utf8));
        let (bytes, before, breaks) = rewritten(utf_8, b"\xFF\xFEo\0\r\0\n\0", "é\n");
        assert_eq!(bytes, "é\r\n".as_bytes());
        assert_eq!(before, Before::Other { encoding: Encoding::Utf16Le, lacking: None });
        assert_eq!(breaks, Breaks::Kept(Break::CrLf));
        assert!(
            rewrite(Some(EncodingChoice::Is(Encoding::Windows1251)), "f", b"", "漢")
                .unwrap()
                .report
                .encoding
                .encode_whole("漢")
                .is_err()
        );
    }
}
