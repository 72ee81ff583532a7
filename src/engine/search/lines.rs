//! Finds the lines of a text that hold matches of a pattern.
//!
//! A line ends in `\n`, `\r\n` or `\r` (contract 3). What follows the last break is a line if it is not empty. Text
//! that may change while it is read, in a map, is searched for single lines only, in a way that cannot fail: then the result
//! is void.

use std::ops::Range;

use regex_automata::meta::Cache;
use regex_automata::{Input, Span};

use super::Pattern;

/// The lines of one match: one line, unless matches span lines. Bytes of the text, without the last break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// Where the first line begins.
    pub start: usize,
    /// Where the last line ends, before its break.
    pub end: usize,
}

/// A pattern and the memory that one thread needs to match it.
#[derive(Debug)]
pub struct LineMatcher<'p> {
    pattern: &'p Pattern,
    cache: Cache,
}

impl<'p> LineMatcher<'p> {
    /// For one thread.
    pub fn new(pattern: &'p Pattern) -> LineMatcher<'p> {
        LineMatcher { pattern, cache: pattern.regex().create_cache() }
    }

    /// Counts the lines of `range` with a match, and adds the first ones to `hits` until there are `keep`. The range
    /// begins and ends where a line begins, or at the end of the text. Lines of a match that spans lines count together,
    /// once.
    pub(crate) fn scan(&mut self, text: &[u8], range: Range<usize>, keep: usize, hits: &mut Vec<Hit>) -> u64 {
        let (mut from, mut count) = (range.start, 0);
        while from < range.end {
            let is_kept = hits.len() < keep;
            let hit = match self.pattern.is_multiline() {
                true => self.next_spanning(text, from..range.end),
                false => self.next_line(text, from..range.end, is_kept),
            };
            let Some((hit, next)) = hit else { break };
            count += 1;
            if is_kept {
                hits.push(hit);
            }
            // A map that changed may give anything; the scan must end.
            if next <= from {
                break;
            }
            from = next;
        }
        count
    }

    /// The next line with a match, and where the line behind it begins. Where the line begins is looked for if `with_start`.
    fn next_line(&mut self, text: &[u8], range: Range<usize>, with_start: bool) -> Option<(Hit, usize)> {
        let mut from = range.start;
        while from < range.end {
            let input = Input::new(text).span(Span::from(from..range.end)).earliest(true);
            let at = self.pattern.regex().search_half_with(&mut self.cache, &input)?.offset();
            // A match of nothing between the two bytes of a CRLF is in no line.
            if is_inside_crlf(text, at) {
                from = at + 1;
                continue;
            }
            let start = if with_start || at == range.end { line_start(text, from..at) } else { from };
            if start == range.end {
                return None;
            }
            let end = line_end(text, at..range.end);
            return Some((Hit { start, end }, behind_break(text, end)));
        }
        None
    }

    /// The lines of the next match and of those that begin in them.
    fn next_spanning(&mut self, text: &[u8], range: Range<usize>) -> Option<(Hit, usize)> {
        let mut hit: Option<Hit> = None;
        let mut from = range.start;
        while from <= range.end {
            let input = Input::new(text).span(Span::from(from..range.end));
            let Some(found) = self.pattern.regex().search_with(&mut self.cache, &input) else { break };
            from = if found.is_empty() { next_char(text, found.end()) } else { found.end() };
            let is_inside = is_inside_crlf(text, found.start());
            if is_inside && found.is_empty() {
                continue;
            }
            // The two bytes of a CRLF are of one line.
            let start = line_start(text, range.start..found.start() - usize::from(is_inside));
            if start == range.end {
                continue;
            }
            // A match that ends in a break does not reach into the line behind it.
            let last = if found.is_empty() { found.end() } else { last_char(text, &found.range()) };
            let last = last - usize::from(is_inside_crlf(text, last));
            let end = line_end(text, last..range.end);
            match &mut hit {
                Some(hit) if start > hit.end => break,
                Some(hit) => hit.end = end.max(hit.end),
                None => hit = Some(Hit { start, end }),
            }
        }
        hit.map(|hit| (hit, behind_break(text, hit.end)))
    }

    /// Where the first match in a line begins. Its bytes must not change meanwhile.
    pub fn first_match(&mut self, line: &[u8]) -> Option<usize> {
        self.pattern.regex().search_with(&mut self.cache, &Input::new(line)).map(|found| found.start())
    }

    /// The first hits from the byte `from` on, where a line begins: at most `count`, behind the first `skip`.
    pub fn hits_behind(&mut self, text: &[u8], from: usize, mut skip: u64, count: usize) -> Vec<Hit> {
        let (mut hits, mut from) = (Vec::new(), from);
        while from < text.len() && hits.len() < count {
            let next = match self.pattern.is_multiline() {
                true => self.next_spanning(text, from..text.len()),
                false => self.next_line(text, from..text.len(), true),
            };
            let Some((hit, next)) = next.filter(|(_, next)| *next > from) else { break };
            match skip {
                0 => hits.push(hit),
                _ => skip -= 1,
            }
            from = next;
        }
        hits
    }

    /// Calls `found` with each match in `lines`, the bytes of the lines of a hit with their last break, until it returns
    /// false. Matches of nothing are left out. The bytes must not change meanwhile.
    pub fn matches(&mut self, lines: &[u8], mut found: impl FnMut(Range<usize>) -> bool) {
        let mut from = 0;
        while from <= lines.len() {
            let input = Input::new(lines).span(Span::from(from..lines.len()));
            let Some(next) = self.pattern.regex().search_with(&mut self.cache, &input) else { return };
            from = if next.is_empty() { next_char(lines, next.end()) } else { next.end() };
            if !next.is_empty() && !found(next.range()) {
                return;
            }
        }
    }
}

/// Where the line of the byte `range.end` begins, if one begins at `range.start`.
fn line_start(text: &[u8], range: Range<usize>) -> usize {
    let start = range.start;
    text.get(range)
        .and_then(|before| memchr::memrchr2(b'\n', b'\r', before))
        .map_or(start, |at| start + at + 1)
}

/// Where the line of the byte `range.start` ends, before its break; at the end of the range if no break is in it.
pub fn line_end(text: &[u8], range: Range<usize>) -> usize {
    let (start, end) = (range.start, range.end);
    text.get(range).and_then(|behind| memchr::memchr2(b'\n', b'\r', behind)).map_or(end, |at| start + at)
}

/// Where the line behind the break at `end` begins.
pub fn behind_break(text: &[u8], end: usize) -> usize {
    match text.get(end..) {
        Some([b'\r', b'\n', ..]) => end + 2,
        Some([_, ..]) => end + 1,
        _ => text.len(),
    }
}

/// Where the line before the one that begins at `start` begins. `None` for the first line.
pub fn line_before(text: &[u8], start: usize) -> Option<usize> {
    let break_len = match text.get(..start)? {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n' | b'\r'] => 1,
        _ => return None,
    };
    Some(line_start(text, 0..start - break_len))
}

/// Where the first line at or behind the byte `at` begins, or the end of the text.
pub fn line_at(text: &[u8], at: usize) -> usize {
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    // A break that ends at `at` counts; the CR of a CRLF does not.
    let from = if is_inside_crlf(text, at) { at } else { at - 1 };
    behind_break(text, line_end(text, from..text.len()))
}

/// The parts of `text` that hold all lines of which a byte is in one of the sorted `ranges`, where lines end in `\n` only.
/// They are sorted and apart, and begin and end where a line does. What lies before the line at `from` is left out.
pub(crate) fn whole_lines(
    text: &[u8],
    ranges: impl Iterator<Item = Range<usize>>,
    from: usize,
) -> Vec<Range<usize>> {
    let from = line_at(text, from);
    let mut parts: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        let range = range.start.min(text.len())..range.end.min(text.len());
        let start = memchr::memrchr(b'\n', &text[..range.start]).map_or(0, |at| at + 1).max(from);
        // A range that ends in a break ends with its line.
        let last = range.end.saturating_sub(1).max(start).min(text.len());
        let end = memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |at| last + at + 1);
        match parts.last_mut() {
            Some(before) if start <= before.end => before.end = before.end.max(end),
            _ if start < end && start < range.end => parts.push(start..end),
            _ => {}
        }
    }
    parts
}

fn is_inside_crlf(text: &[u8], at: usize) -> bool {
    at > 0 && text.get(at - 1..=at) == Some(b"\r\n")
}

/// The first byte of the last character of `range`.
fn last_char(text: &[u8], range: &Range<usize>) -> usize {
    (range.start..range.end).rev().find(|at| text[*at] & 0xC0 != 0x80).unwrap_or(range.start)
}

/// The first byte of the character behind `at`.
fn next_char(text: &[u8], at: usize) -> usize {
    let more = text.get(at + 1..).unwrap_or_default().iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
    at + 1 + more
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::engine::PatternOptions;

    fn hits(pattern: &str, options: PatternOptions, text: &str) -> Vec<String> {
        let pattern = Pattern::new(pattern, options).unwrap();
        let mut hits = Vec::new();
        let count = LineMatcher::new(&pattern).scan(text.as_bytes(), 0..text.len(), usize::MAX, &mut hits);
        assert_eq!(
            LineMatcher::new(&pattern).scan(text.as_bytes(), 0..text.len(), 0, &mut Vec::new()),
            count
        );
        assert_eq!(hits.len() as u64, count);
        hits.into_iter().map(|hit| text[hit.start..hit.end].to_owned()).collect()
    }

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        hits(pattern, PatternOptions::default(), text)
    }

    fn spanning(pattern: &str, text: &str) -> Vec<String> {
        hits(pattern, PatternOptions { multiline: true, ..PatternOptions::default() }, text)
    }

    #[test]
    fn each_line_with_a_match_comes_once_whatever_its_break() {
        assert_eq!(lines("a", "a a\nb\r\nca\rx\nä a"), ["a a", "ca", "ä a"]);
        assert_eq!(lines("^", "a\r\n\r\nb\n"), ["a", "", "b"]);
        assert_eq!(lines("^$", "\n\na\n"), ["", ""]);
        assert_eq!(lines("x*", "a\nb"), ["a", "b"]);
        assert_eq!(lines("a$", "ba\r\nab\na"), ["ba", "a"]);
        assert_eq!(lines("a", ""), [""; 0]);
    }

    #[test]
    fn nothing_is_found_between_the_bytes_of_a_crlf_or_behind_the_last_break() {
        assert_eq!(lines(r"\B", "a\r\nb\r\n"), [""; 0]);
        assert_eq!(lines("$", "a\r\n"), ["a"]);
        assert_eq!(spanning("$", "a\r\nb\n"), ["a", "b"]);
        assert_eq!(spanning(r"\B", "a\r\nb\r\n"), [""; 0]);
    }

    #[test]
    fn lines_of_matches_that_span_lines_come_together() {
        assert_eq!(spanning(r"b\nc", "a\nxb\ncy\nd"), ["xb\ncy"]);
        assert_eq!(spanning(r"b\nc|y\nd", "a\nxb\ncy\nd\ne"), ["xb\ncy\nd"]);
        assert_eq!(spanning("a\n", "a\nb\na\nc"), ["a", "a"]);
        assert_eq!(spanning("(?s)a.*c", "x\na\nb\nc\nd"), ["a\nb\nc"]);
        assert_eq!(spanning("b", "b b\nb\nc"), ["b b", "b"]);
        assert_eq!(spanning("\\n", "a\r\nb\r\n"), ["a", "b"], "the LF of a CRLF is of its line");
        assert_eq!(spanning("a\\nb", "a\r\nb\rc"), ["a\r\nb"], "a break of any kind");
        assert_eq!(spanning("b\\nc", "a\r\nb\rc"), ["b\rc"]);
    }

    #[test]
    fn a_part_of_a_text_is_scanned_as_in_the_whole() {
        let (text, pattern) = ("ab\nb\nxb\n", Pattern::new(r"^b|\Bb", PatternOptions::default()).unwrap());
        let mut found = Vec::new();
        let mut scan = LineMatcher::new(&pattern);
        for range in [0..3, 3..5, 5..8] {
            scan.scan(text.as_bytes(), range, usize::MAX, &mut found);
        }
        let found: Vec<_> = found.iter().map(|hit| (hit.start, hit.end)).collect();
        assert_eq!(found, [(0, 2), (3, 4), (5, 7)]);
    }

    #[test]
    fn matches_in_a_line_are_told_without_those_of_nothing() {
        let pattern = Pattern::new("a*", PatternOptions::default()).unwrap();
        let mut found = Vec::new();
        LineMatcher::new(&pattern).matches(b"aa b a\n", |range| {
            found.push(range);
            true
        });
        assert_eq!(found, [0..2, 5..6]);
    }

    #[test]
    fn the_line_that_begins_next_is_found_from_any_byte() {
        let text = b"a\r\nbb\rc\n\nd";
        let starts: Vec<_> = (0..=11).map(|at| line_at(text, at)).collect();
        assert_eq!(starts, [0, 3, 3, 3, 6, 6, 6, 8, 8, 9, 10, 10]);
    }

    #[test]
    fn ranges_become_the_whole_lines_around_them() {
        let text = b"ab\ncd\ref\n\ngh";
        let whole = |ranges: &[Range<usize>], from| whole_lines(text, ranges.iter().cloned(), from);
        assert_eq!(whole(&[0..1], 0), [0..3]);
        assert_eq!(whole(&[1..4], 0), [0..9]);
        assert_eq!(whole(&[0..1, 7..8], 0), [0..9]);
        assert_eq!(whole(&[0..3, 10..99], 0), [0..3, 10..12]);
        assert_eq!(whole(&[7..8], 5), [6..9], "from the line behind the byte");
        assert_eq!(whole(&[0..3, 9..10], 5), [9..10]);
        assert_eq!(whole(&[0..12], 0), [0..12]);
    }

    #[test]
    fn the_line_before_is_found_over_any_break() {
        let text = b"a\r\nbb\rc\n\nd";
        let starts: Vec<_> = std::iter::successors(Some(9), |start| line_before(text, *start)).collect();
        assert_eq!(starts, [9, 8, 6, 3, 0]);
    }

    /// The lines with a match, each looked at alone by an expression whose text is one line.
    fn naive(pattern: &str, options: PatternOptions, text: &str) -> Vec<String> {
        let pattern = if options.fixed { regex_syntax::escape(pattern) } else { pattern.to_owned() };
        let pattern = match options.whole_words {
            true => format!(r"\b{{start-half}}(?:{pattern})\b{{end-half}}"),
            false => pattern,
        };
        let syntax = regex_automata::util::syntax::Config::new().case_insensitive(options.ignore_case);
        let regex = regex_automata::meta::Regex::builder().syntax(syntax).build(&pattern).unwrap();
        let (mut lines, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
            if regex.is_match(&rest[..end]) {
                lines.push(rest[..end].to_owned());
            }
            rest = &rest[behind_break(rest.as_bytes(), end)..];
        }
        lines
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

        #[test]
        fn the_lines_found_are_those_in_which_the_pattern_matches(
            text in "([abBx \u{e4}_]{0,4}(\n|\r\n|\r)){0,10}[abx]{0,3}",
            pattern in r"(\^|)(a|b|B|x|\.|\\s|\\w|\\W|\\b|\\B|\[\^a\]|\(a\|bx\)|\(\?:b\|\)|\(\?s:\.\))(\*|\+|\?|)(a|b|\\S|\u{e4}|)(\$|)",
            [fixed, ignore_case, whole_words] in any::<[bool; 3]>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let options = PatternOptions { fixed, ignore_case, whole_words, multiline: false };
            let expected = naive(&pattern, options, &text);
            prop_assert_eq!(&hits(&pattern, options, &text), &expected);
            // In two parts.
            let (compiled, at) = (Pattern::new(&pattern, options).unwrap(), line_at(text.as_bytes(), cut.index(text.len() + 1)));
            let (mut scan, mut found) = (LineMatcher::new(&compiled), Vec::new());
            for range in [0..at, at..text.len()] {
                scan.scan(text.as_bytes(), range, usize::MAX, &mut found);
            }
            let found: Vec<_> = found.iter().map(|hit| text[hit.start..hit.end].to_owned()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
