//! Lines as a model sees them: their breaks, and their numbers (contract 3, 11).

use std::borrow::Cow;

/// Bytes in which breaks are counted at a time: while they are in the processor's cache.
const COUNTED: usize = 16 << 10;

/// Number of line breaks. A CRLF is one.
pub(super) fn count_breaks(bytes: &[u8]) -> usize {
    let mut breaks = 0;
    for (number, part) in bytes.chunks(COUNTED).enumerate() {
        breaks += memchr::memchr_iter(b'\n', part).count();
        let alone = |at: &usize| bytes.get(number * COUNTED + at + 1) != Some(&b'\n');
        breaks += memchr::memchr_iter(b'\r', part).filter(alone).count();
    }
    breaks
}

/// The text with each break as `\n`.
pub(super) fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Where a text that is numbered stands among the lines of a file.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Numbering {
    /// The number of the first line.
    pub(super) first: u64,
    /// The first line began on an earlier page, and had its number there.
    pub(super) goes_on: bool,
    /// The text ends in the break of its last line, which starts no further one.
    pub(super) is_cut: bool,
}

/// The lines of `text`, joined by `\n`, each behind its number and a tab.
pub(super) fn numbered(text: &str, numbering: Numbering) -> String {
    let Numbering { first, goes_on, is_cut } = numbering;
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 8);
    let (mut number, mut rest, mut has_number) = (first, text, !goes_on);
    loop {
        if std::mem::replace(&mut has_number, true) {
            out.push_str(itoa::Buffer::new().format(number));
            out.push('\t');
        }
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

/// The bytes of `text` that take at most `room` bytes with their numbers: whole lines, or else a part of the first one.
pub(super) fn fitting(text: &[u8], numbering: Numbering, room: usize) -> usize {
    let (mut at, mut used, mut number) = (0, 0, numbering.first);
    let digits = |number: u64| itoa::Buffer::new().format(number).len() + 1;
    let mut last = 0;
    while at < text.len() {
        let is_numbered = at > 0 || !numbering.goes_on;
        used += if is_numbered { digits(number) } else { 0 };
        let (len, break_len) = match memchr::memchr2(b'\n', b'\r', &text[at..]) {
            Some(len) => (len, if text[at + len..].starts_with(b"\r\n") { 2 } else { 1 }),
            None => (text.len() - at, 0),
        };
        if used + len > room {
            // At least a character.
            return if at > 0 { at } else { room.saturating_sub(used).max(4).min(len) };
        }
        last = if at > 0 { at } else { len };
        (at, used, number) = (at + len + break_len, used + len + 1, number + 1);
    }
    // The empty line behind the last break has a number, too.
    let has_empty_line = !numbering.is_cut && matches!(text.last(), Some(b'\n' | b'\r'));
    if has_empty_line && used + digits(number) > room { last } else { text.len() }
}

#[cfg(test)]
mod tests {
    use super::{COUNTED, Numbering, count_breaks, fitting, numbered, with_lf};

    #[test]
    fn each_break_is_one_whatever_its_kind() {
        let text = "a\rb\r\n\nc\r";
        assert_eq!((count_breaks(text.as_bytes()), &*with_lf(text)), (4, "a\nb\n\nc\n"));
        assert_eq!((count_breaks(b""), &*with_lf("a")), (0, "a"));
        // Also over the border of two parts.
        for before in COUNTED - 3..=COUNTED {
            assert_eq!(count_breaks(("x".repeat(before) + text).as_bytes()), 4, "{before}");
        }
    }

    #[test]
    fn each_line_has_its_number_whatever_its_break() {
        let from = |first| Numbering { first, ..Numbering::default() };
        assert_eq!(numbered("a\rb\r\n\nc", from(9)), "9\ta\n10\tb\n11\t\n12\tc");
        assert_eq!(numbered("", from(0)), "0\t");
        assert_eq!(numbered("a\n", from(0)), "0\ta\n1\t");
        assert_eq!(numbered("a\n", Numbering { is_cut: true, ..from(0) }), "0\ta");
        assert_eq!(numbered("a\nb", Numbering { goes_on: true, ..from(8) }), "a\n9\tb");
    }

    #[test]
    fn what_fits_is_whole_lines_with_their_numbers_or_a_part_of_one() {
        let text = "ab\r\ncd\ref\n";
        for goes_on in [false, true] {
            let numbering = Numbering { first: 9, goes_on, is_cut: true };
            for room in 4..30 {
                let fits = fitting(text.as_bytes(), numbering, room);
                assert!(numbered(&text[..fits], numbering).len() <= room, "{room}: {fits}");
                assert!([2, 4, 7, 10].contains(&fits), "{room}: {fits}");
            }
        }
        for room in 12..30 {
            let numbering = Numbering { first: 9, ..Numbering::default() };
            let fits = fitting(text.as_bytes(), numbering, room);
            let page = Numbering { is_cut: fits < text.len(), ..numbering };
            assert!(numbered(&text[..fits], page).len() <= room, "{room}: {fits}");
        }
        assert_eq!(fitting(b"ab\n", Numbering { first: 9, ..Numbering::default() }, 6), 2);
        assert_eq!(fitting(b"abcdefgh", Numbering::default(), 7), 5);
        assert_eq!(fitting(text.as_bytes(), Numbering { first: 9, ..Numbering::default() }, 20), 10);
    }
}
