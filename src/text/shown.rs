//! Names and paths as text that lists show, and that is taken back as a path.

use std::borrow::Cow;
use std::fmt::Write;

/// A name or path as text. Bytes that are not UTF-8 are written as `\xNN`.
pub fn shown(name: &[u8]) -> Cow<'_, str> {
    if let Ok(name) = std::str::from_utf8(name) {
        return Cow::Borrowed(name);
    }
    let mut text = String::with_capacity(name.len() + 8);
    for chunk in name.utf8_chunks() {
        text.push_str(chunk.valid());
        escape(&mut text, chunk.invalid());
    }
    Cow::Owned(text)
}

/// The same as one line that no other name has: the bytes of control characters are written as `\xNN`, too, and so is a backslash
/// that stands before what would read as such a byte.
pub fn shown_line(path: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(path)
        && !text.contains(char::is_control)
        && !has_escape(text)
    {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(path.len() + 8);
    for chunk in path.utf8_chunks() {
        let valid = chunk.valid();
        for (at, char) in valid.char_indices() {
            push(&mut line, char, char == '\\' && is_escape(&valid[at..]));
        }
        escape(&mut line, chunk.invalid());
    }
    Cow::Owned(line)
}

/// A text that is taken as a path as it is, as one line: control characters are written as `\xNN`.
pub fn in_one_line(text: &str) -> Cow<'_, str> {
    without_controls(text, |_| false)
}

/// A text of several lines as they are shown: control characters but line feeds and tabs are written as `\xNN`.
pub fn in_lines(text: &str) -> Cow<'_, str> {
    without_controls(text, |char| matches!(char, '\n' | '\t'))
}

fn without_controls(text: &str, is_kept: fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|char: char| char.is_control() && !is_kept(char)) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        if is_kept(char) { line.push(char) } else { push(&mut line, char, false) }
    }
    Cow::Owned(line)
}

/// A name with each of its bytes as `\xNN`, where [`shown_line`] writes some of them so. Another name may be what [`shown_line`]
/// makes of it, but hardly this.
pub fn shown_in_full(name: &[u8]) -> Option<String> {
    (*shown_line(name) != *String::from_utf8_lossy(name)).then(|| in_bytes(name))
}

/// A name with each of its bytes as `\xNN`.
pub fn in_bytes(name: &[u8]) -> String {
    let mut text = String::with_capacity(4 * name.len());
    escape(&mut text, name);
    text
}

/// Whether a text holds what reads as a byte in the form `\xNN`.
pub fn has_escape(text: &str) -> bool {
    text.match_indices('\\').any(|(at, _)| is_escape(&text[at..]))
}

/// A text that a client may send for what lists show: the digits of each `\xNN` in lower case, as lists write them.
pub fn in_lower_hex(text: &str) -> Cow<'_, str> {
    let is_sent =
        |at: &usize| text.get(*at..at + 4).is_some_and(|four| is_escape(&four.to_ascii_lowercase()));
    let escapes = text.match_indices("\\x").map(|(at, _)| at).filter(is_sent);
    let mut lower = Cow::Borrowed(text);
    for at in escapes {
        lower.to_mut().replace_range(at + 2..at + 4, &text[at + 2..at + 4].to_ascii_lowercase());
    }
    lower
}

/// The number of bytes of a name that is taken as it is or as [`shown_line`] shows it, whichever is less.
pub fn len_of_shown(name: &str) -> usize {
    let name = in_lower_hex(name);
    name.len() - 3 * name.match_indices('\\').filter(|(at, _)| is_escape(&name[*at..])).count()
}

/// Whether a text that begins with a backslash begins with `\xNN`.
pub(crate) fn is_escape(text: &str) -> bool {
    let digits = text.as_bytes().strip_prefix(b"\\x").and_then(|rest| rest.get(..2));
    digits.is_some_and(|digits| digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')))
}

fn push(line: &mut String, char: char, is_escaped: bool) {
    match is_escaped || char.is_control() {
        true => escape(line, char.encode_utf8(&mut [0; 4]).as_bytes()),
        false => line.push(char),
    }
}

fn escape(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // A write to a String cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_that_are_not_utf8_are_escaped() {
        assert_eq!(shown("ä".as_bytes()), "ä");
        assert_eq!(shown(b"caf\xe9-\xff"), "caf\\xe9-\\xff");
    }

    #[test]
    fn a_path_is_one_line_whatever_it_holds() {
        assert_eq!(shown_line(b"a\nb\x1b\xff"), "a\\x0ab\\x1b\\xff");
        assert_eq!(shown_line("ä b\u{85}".as_bytes()), "ä b\\xc2\\x85");
        assert_eq!(in_one_line("a\nb\\x0a"), "a\\x0ab\\x0a");
    }

    #[test]
    fn a_backslash_is_escaped_where_it_would_read_as_an_escape() {
        assert_eq!(shown_line(br"t\x09b"), r"t\x5cx09b");
        assert_eq!(shown_line(br"t\x5cx09b"), r"t\x5cx5cx09b");
        for name in [r"a\b", r"\x0", r"\xAB", r"\\", r"\xé0"] {
            assert_eq!(shown_line(name.as_bytes()), name);
        }
        assert_eq!(shown_in_full(b"t\tb").as_deref(), Some(r"\x74\x09\x62"));
        assert_eq!(shown_in_full(b".."), None);
    }

    #[test]
    fn the_digits_of_an_escape_may_be_sent_in_upper_case() {
        for (sent, shown) in [
            (r"ok\xE9f", r"ok\xe9f"),
            (r"\xC3\xA9\x0A", r"\xc3\xa9\x0a"),
            (r"\xFé", r"\xFé"),
            (r"\XE9 \xEG \x1", r"\XE9 \xEG \x1"),
            (r"\x", r"\x"),
        ] {
            assert_eq!(in_lower_hex(sent), shown, "{sent}");
        }
        assert_eq!(len_of_shown(r"a\xE9"), 2);
    }

    /// What a line shows, read as its description says.
    fn read_back(line: &str) -> Vec<u8> {
        let (mut bytes, mut rest) = (Vec::new(), line);
        while let Some(char) = rest.chars().next() {
            let len = if is_escape(rest) { 4 } else { char.len_utf8() };
            match is_escape(rest) {
                true => bytes.push(u8::from_str_radix(&rest[2..4], 16).unwrap()),
                false => bytes.extend_from_slice(&rest.as_bytes()[..len]),
            }
            rest = &rest[len..];
        }
        bytes
    }

    proptest! {
        #[test]
        fn no_two_names_are_shown_alike(
            name in proptest::collection::vec(
                prop_oneof![Just(b'\\'), Just(b'x'), Just(b'0'), Just(b'9'), Just(b'c'), Just(b'5'), any::<u8>()], 0..12
            )
        ) {
            let line = shown_line(&name);
            prop_assert!(!line.contains(char::is_control));
            prop_assert_eq!(read_back(&line), name);
        }
    }
}
