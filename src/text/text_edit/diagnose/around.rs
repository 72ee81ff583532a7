//! Compares blanks and line breaks at the outer ends of a needle with those around a passage.
//!
//! Pure. The search for similar passages ignores them, so they are compared here: equal breaks are no
//! difference, and breaks that the text lacks are reported.

use crate::text_edit::diagnose::input_errors::InputError;
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::snippet::{TextLines, break_after, break_before};

/// The blanks and line breaks at the start and end of `needle`. If it has nothing else, all are the start.
fn ends(needle: &str) -> (&str, &str) {
    let is_outer = |c| matches!(c, ' ' | '\t' | '\n' | '\r');
    let inner = needle.trim_start_matches(is_outer);
    let (before, _) = needle.split_at(needle.len() - inner.len());
    (before, &inner[inner.trim_end_matches(is_outer).len()..])
}

/// The blanks between the line breaks of `outer`: one part more than there are breaks.
fn parts(outer: &str) -> Vec<&str> {
    let lines = outer
        .split_inclusive('\n')
        .map(|line| line.strip_suffix("\r\n").or(line.strip_suffix('\n')).unwrap_or(line));
    let last = (outer.is_empty() || outer.ends_with('\n')).then_some("");
    lines.chain(last).flat_map(|line| line.split('\r')).collect()
}

/// Extends the passage by the blanks and line breaks at the needle's ends, as far as the text has them.
pub(crate) fn with_ends(lines: &TextLines, start: Cursor, end: Cursor, needle: &str) -> (Cursor, Cursor) {
    let pieces = lines.pieces;
    let (before, after) = ends(needle);
    let blank = |byte: Option<u8>| matches!(byte, Some(b' ' | b'\t'));
    let back = |mut at: Cursor| {
        while blank(pieces.byte_before(at)) {
            at = pieces.retreat(at, 1).0;
        }
        at
    };
    let forth = |mut at: Cursor| {
        while blank(pieces.byte_after(at)) {
            at = pieces.advance(at, 1);
        }
        at
    };
    let from = extended(start, parts(before).iter().rev(), back, |at| break_before(pieces, at));
    let to = extended(end, parts(after).iter(), forth, |at| break_after(pieces, at));
    (from, to)
}

/// Moves `at` over blanks and line breaks: over at most one break less than there are `parts`. Includes
/// blanks only before a break, or where the needle has blanks too.
fn extended<'p>(
    mut at: Cursor,
    parts: impl ExactSizeIterator<Item = &'p &'p str>,
    over_blanks: impl Fn(Cursor) -> Cursor,
    over_break: impl Fn(Cursor) -> Option<Cursor>,
) -> Cursor {
    let mut breaks = parts.len() - 1;
    for part in parts {
        let behind_blanks = over_blanks(at);
        match over_break(behind_blanks).filter(|_| 0 < breaks) {
            Some(behind_break) => at = behind_break,
            None if part.is_empty() => return at,
            None => return behind_blanks,
        }
        breaks -= 1;
    }
    at
}

/// The error "needle with surplus line breaks or blanks around it", if nothing else differs. `given` is what
/// the needle has before and after the text, `found` what the file has there.
pub(crate) fn too_much_around(given: (&str, &str), found: (&str, &str)) -> Option<InputError> {
    let plain = |(before, after): (&str, &str)| {
        [before, after].map(|text| text.replace("\r\n", "\n").replace('\r', "\n"))
    };
    let ([before, after], [found_before, found_after]) = (plain(given), plain(found));
    let only_more = before.ends_with(&found_before) && after.starts_with(&found_after);
    let (before, after) = (found_before.len() < before.len(), found_after.len() < after.len());
    (only_more && (before || after)).then_some(InputError::BlanksAround { before, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_carriage_return_with_a_line_feed_is_one_break() {
        assert_eq!(parts("  \r\n\t\n \r"), ["  ", "\t", " ", ""]);
        assert_eq!(parts(""), [""]);
        assert_eq!(ends("\n  foo \r\n"), ("\n  ", " \r\n"));
        assert_eq!(ends("\n "), ("\n ", ""));
    }

    #[test]
    fn only_what_the_text_lacks_around_is_called_too_much() {
        let around = |before, after| Some(InputError::BlanksAround { before, after });
        assert_eq!(too_much_around(("\n", "\n"), ("", "\r\n")), around(true, false));
        assert_eq!(too_much_around(("", "  \n"), ("", "")), around(false, true));
        assert_eq!(too_much_around(("\n", "\n"), ("", "")), around(true, true));
        assert_eq!(too_much_around(("\n", ""), ("\n  ", "")), None);
        assert_eq!(too_much_around(("", "\n"), ("", "  \n")), None);
        assert_eq!(too_much_around(("\n", ""), ("\n", "")), None);
    }
}
