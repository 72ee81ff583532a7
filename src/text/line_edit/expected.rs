//! The text that a client expects in lines: what is there now, and where the expected text is instead.
//!
//! Several lines are compared as one text, joined by `\n` whatever their line breaks are.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use memchr::memmem::Finder;

use super::Text;
use crate::lines::Break;

/// The text of lines that exist, joined by `\n`. Without lone `\r` and `\r\n` it is not copied.
pub(super) fn text_of<'o>(text: &Text<'o>, lines: &RangeInclusive<usize>) -> Cow<'o, [u8]> {
    let bytes = || {
        let (first, last) = (text.line(*lines.start())?, text.line(*lines.end())?);
        text.old.get(first.text.start..last.text.end)
    };
    let bytes = bytes().unwrap_or_default();
    if memchr::memchr(b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut joined = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        joined.extend_from_slice(&rest[..at]);
        joined.push(b'\n');
        rest = &rest[at + if rest[at..].starts_with(b"\r\n") { 2 } else { 1 }..];
    }
    joined.extend_from_slice(rest);
    Cow::Owned(joined)
}

/// The first and the last of the lines that hold `expected`, if exactly one place holds it. An empty text identifies no
/// line. Several lines are not searched in a text with line breaks of several kinds.
pub(super) fn only_place(text: &Text, expected: &str) -> Option<(u64, u64)> {
    if expected.is_empty() || expected.contains('\r') {
        return None;
    }
    let breaks = memchr::memchr_iter(b'\n', expected.as_bytes()).count();
    let sought = if breaks == 0 { Cow::Borrowed(expected) } else { with_own_breaks(text, expected)? };
    let body = text.old.get(text.index.first_byte()..)?;
    let finder = Finder::new(sought.as_bytes());
    let at = next_place(body, &finder, 0)?;
    if next_place(body, &finder, line_after(body, at)).is_some() {
        return None;
    }
    let line = text.index.line_at(text.index.first_byte() + at, text.old) as u64;
    Some((line, line + breaks as u64))
}

/// `expected` with the line breaks of the text; `None` if it has no breaks or several kinds.
fn with_own_breaks<'e>(text: &Text, expected: &'e str) -> Option<Cow<'e, str>> {
    let kinds = text.index.break_kinds();
    match (kinds.lf, kinds.crlf, kinds.cr) {
        (true, false, false) => Some(Cow::Borrowed(expected)),
        (false, true, false) => Some(Cow::Owned(expected.replace('\n', "\r\n"))),
        (false, false, true) => Some(Cow::Owned(expected.replace('\n', "\r"))),
        _ => None,
    }
}

/// The first place at or after `from` where whole lines are the text sought.
fn next_place(body: &[u8], finder: &Finder, mut from: usize) -> Option<usize> {
    let sought = finder.needle();
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r');
    // A final break starts no further line, so an empty last line must have its own break.
    let ends_empty = sought.last().is_some_and(|byte| is_break(*byte));
    loop {
        let at = from + finder.find(body.get(from..)?)?;
        let starts = at.checked_sub(1).is_none_or(|before| is_break(body[before]));
        let ends = body.get(at + sought.len()).map_or(!ends_empty, |after| is_break(*after));
        if starts && ends {
            return Some(at);
        }
        from = line_after(body, at);
    }
}

/// The start of the line after the one at `at`, or the end. Another match of whole lines does not start before.
fn line_after(body: &[u8], at: usize) -> usize {
    let Some(brk) = memchr::memchr2(b'\n', b'\r', &body[at..]) else { return body.len() };
    let brk = at + brk;
    brk + if body[brk..].starts_with(Break::CrLf.as_bytes()) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lines::LineIndex;

    fn places(old: &str, expected: &str) -> Option<(u64, u64)> {
        let index = LineIndex::build(old.as_bytes()).unwrap();
        only_place(&Text { index: &index, old: old.as_bytes() }, expected)
    }

    fn lines(old: &str) -> Vec<String> {
        let old = old.replace("\r\n", "\n").replace('\r', "\n");
        old.strip_suffix('\n').unwrap_or(&old).split('\n').map(str::to_owned).collect()
    }

    proptest! {
        #[test]
        fn the_only_place_is_the_one_that_a_naive_search_finds(
            old in "(a|b|\n){0,14}",
            brk in prop::sample::select(vec!["\n", "\r\n", "\r"]),
            bom in any::<bool>(),
            expected in "(a|b|\n){1,5}",
        ) {
            let all = if old.is_empty() { Vec::new() } else { lines(&old) };
            let count = expected.split('\n').count();
            let is_there = |at: &usize| all[*at..*at + count].join("\n") == expected;
            let found: Vec<usize> = (0..(all.len() + 1).saturating_sub(count)).filter(is_there).collect();
            let only = |at: &usize| (*at as u64, (*at + count - 1) as u64);
            let naive = if found.len() == 1 { found.first().map(only) } else { None };
            let mark = if bom { "\u{FEFF}" } else { "" };
            // Text without a break has no style, but then it has only one line.
            let naive = naive.filter(|_| count == 1 || old.contains('\n'));
            prop_assert_eq!(places(&(mark.to_owned() + &old.replace('\n', brk)), &expected), naive);
        }
    }

    #[test]
    fn several_lines_have_no_place_among_breaks_of_several_kinds() {
        assert_eq!(places("a\nb\r\nc\n", "a\nb"), None);
        assert_eq!(places("a\nb\r\nc\n", "b"), Some((1, 1)));
        assert_eq!(places("a\rb\r", "a\rb"), None);
    }

    #[test]
    fn lines_are_joined_whatever_their_breaks() {
        let index = LineIndex::build(b"a\rb\r\n\nc").unwrap();
        let text = Text { index: &index, old: b"a\rb\r\n\nc" };
        assert_eq!(text_of(&text, &(0..=3)).as_ref(), b"a\nb\n\nc");
        assert_eq!(text_of(&text, &(3..=3)).as_ref(), b"c");
    }
}
