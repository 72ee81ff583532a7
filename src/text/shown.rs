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
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(text)
}

/// The same as one line: control characters are written as `\xNN`, too.
pub fn shown_line(path: &[u8]) -> Cow<'_, str> {
    let text = shown(path);
    if !text.contains(char::is_control) {
        return text;
    }
    let mut line = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char.is_control() {
            // A write to a String cannot fail.
            true => drop(write!(line, "\\x{:02x}", u32::from(char))),
            false => line.push(char),
        }
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_not_utf8_are_escaped() {
        assert_eq!(shown("ä".as_bytes()), "ä");
        assert_eq!(shown(b"caf\xe9-\xff"), "caf\\xe9-\\xff");
    }

    #[test]
    fn a_path_is_one_line_whatever_it_holds() {
        assert_eq!(shown_line(b"a\nb\x1b\xff"), "a\\x0ab\\x1b\\xff");
        assert_eq!(shown_line("ä b".as_bytes()), "ä b");
    }
}
