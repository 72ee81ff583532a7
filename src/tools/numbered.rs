//! Lines as a model sees them: their breaks, and their numbers (contract 3, 11).

use std::borrow::Cow;

/// Number of line breaks. A CRLF is one.
pub(super) fn count_breaks(bytes: &[u8]) -> usize {
    let ends = |at: &usize| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n');
    memchr::memchr2_iter(b'\n', b'\r', bytes).filter(ends).count()
}

/// The text with each break as `\n`.
pub(super) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The lines of `text`, joined by `\n`, each behind its number and a tab. The first has the number `first`. `is_cut`: the
/// text ends in the break of its last line, which starts no further one.
pub(super) fn numbered(text: &str, first: u64, is_cut: bool) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 8);
    let (mut number, mut rest) = (first, text);
    loop {
        out.push_str(itoa::Buffer::new().format(number));
        out.push('\t');
        number += 1;
        let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) else {
            out.push_str(rest);
            return out;
        };
        out.push_str(&rest[..at]);
        rest = &rest[at + if rest[at..].starts_with("\r\n") { 2 } else { 1 }..];
        if rest.is_empty() && is_cut {
            return out;
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::{count_breaks, numbered, with_lf};

    #[test]
    fn each_break_is_one_whatever_its_kind() {
        let text = "a\rb\r\n\nc\r";
        assert_eq!((count_breaks(text.as_bytes()), &*with_lf(text)), (4, "a\nb\n\nc\n"));
        assert_eq!((count_breaks(b""), &*with_lf("a")), (0, "a"));
    }

    #[test]
    fn each_line_has_its_number_whatever_its_break() {
        assert_eq!(numbered("a\rb\r\n\nc", 9, false), "9\ta\n10\tb\n11\t\n12\tc");
        assert_eq!(numbered("", 0, false), "0\t");
        assert_eq!(numbered("a\n", 0, false), "0\ta\n1\t");
        assert_eq!(numbered("a\n", 0, true), "0\ta");
    }
}
