//! Every match of a pattern in a text, one after the other, with its groups: what a replacement takes the place of.
//!
//! The matches are those of crate `regex`, but for two matches of nothing that are in no line: between the two bytes of a CRLF, and
//! behind the last break of the text.

use std::ops::Range;

use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, Span};

use super::breaks::{is_inside_crlf, next_char};
use super::{LineMatcher, line_start};
use text::Stopped;

/// Bytes around a part of a text that say what the ends of the part are: no assertion of a pattern looks further.
const AROUND: usize = 4;

/// The longest part of a text that is copied: a line, or the whole where matches span lines. In bytes.
pub const MAX_COPIED: usize = 64 << 20;

/// Bytes of the groups of a match, the whole match first. `None`: a group that took no part in it.
pub type Groups = [Option<Range<usize>>];

/// Whether all matches were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finished {
    /// Yes.
    All,
    /// No: a line, or the text where matches span lines, is longer than [`MAX_COPIED`].
    TooLong,
}

impl LineMatcher<'_> {
    /// Calls `found` with each match in `text`, in order, and with its groups if `with_groups`. The text may change meanwhile: then the
    /// result is void.
    pub fn places<E: From<Stopped>>(
        &mut self,
        text: &[u8],
        with_groups: bool,
        found: &mut dyn FnMut(&Groups) -> Result<(), E>,
    ) -> Result<Finished, E> {
        let mut captures = with_groups.then(|| self.pattern.regex().create_captures());
        let (mut start, mut copy) = (0, Vec::new());
        while start < text.len() {
            let end = self.window_end(text, start..text.len())?.max(start + 1);
            if end - start > MAX_COPIED {
                return Ok(Finished::TooLong);
            }
            let before = start.saturating_sub(AROUND);
            copy.clear();
            copy.extend_from_slice(&text[before..text.len().min(end + AROUND)]);
            let window = start - before..end - before;
            self.places_in(&copy, window, before, captures.as_mut(), found)?;
            start = end;
        }
        Ok(Finished::All)
    }

    /// The same in the lines `window` of `text`, which is at the byte `offset` of the whole.
    fn places_in<E: From<Stopped>>(
        &mut self,
        text: &[u8],
        window: Range<usize>,
        offset: usize,
        mut captures: Option<&mut Captures>,
        found: &mut dyn FnMut(&Groups) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut from, mut last_end, mut groups) = (window.start, None, Vec::new());
        while from <= window.end {
            let Some(place) = self.next_match(text, from..window.end)? else { break };
            from = if place.is_empty() { next_char(text, place.end) } else { place.end };
            let is_in_no_line = || {
                is_inside_crlf(text, place.start)
                    || place.start == window.end && line_start(text, window.start..place.start) == window.end
            };
            if place.is_empty() && (last_end == Some(place.end) || is_in_no_line()) {
                continue;
            }
            last_end = Some(place.end);
            groups.clear();
            let in_whole = |range: Range<usize>| range.start + offset..range.end + offset;
            match &mut captures {
                None => groups.push(Some(in_whole(place))),
                Some(captures) => {
                    let input = Input::new(text).span(Span::from(place.clone())).anchored(Anchored::Yes);
                    self.pattern.regex().search_captures_with(&mut self.cache, &input, captures);
                    groups.extend(captures.iter().map(|span| span.map(|span| in_whole(span.range()))));
                    if groups.first() != Some(&Some(in_whole(place.clone()))) {
                        // The bytes of a text that does not change have the match that was found.
                        continue;
                    }
                }
            }
            found(&groups)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Pattern, PatternOptions};
    use text::{Stop, Unstopped};

    fn places(pattern: &str, how: PatternOptions, text: &str) -> Vec<Vec<Option<Range<usize>>>> {
        let pattern = Pattern::new(pattern, how).unwrap();
        let mut all = Vec::new();
        let mut matcher = LineMatcher::new(&pattern, &Unstopped);
        let finished = matcher.places(text.as_bytes(), true, &mut |groups| -> Result<(), Stopped> {
            all.push(groups.to_vec());
            Ok(())
        });
        assert!(matches!(finished, Ok(Finished::All)));
        all
    }

    /// The matches of crate `regex`, without those that are in no line.
    fn expected(pattern: &str, text: &str) -> Vec<Vec<Option<Range<usize>>>> {
        let regex = regex::RegexBuilder::new(pattern).multi_line(true).crlf(true).build().unwrap();
        let bytes = text.as_bytes();
        let all = regex.captures_iter(text).map(|captures| {
            captures.iter().map(|group| group.map(|group| group.range())).collect::<Vec<_>>()
        });
        let is_in_line = |groups: &Vec<Option<Range<usize>>>| {
            let at = groups[0].clone().unwrap();
            let is_behind = at.start == bytes.len() && bytes.last().is_none_or(|last| b"\r\n".contains(last));
            !at.is_empty() || !(is_inside_crlf(bytes, at.start) || is_behind)
        };
        all.filter(is_in_line).collect()
    }

    /// Patterns that match no line break, so that they mean the same to crate `regex`.
    const PATTERNS: [&str; 14] = [
        "a",
        "(a)(b)?",
        "a*",
        "",
        "^",
        "$",
        "^a|b$",
        r"\b",
        r"\bé",
        "(é+|a)c",
        "(?P<x>[ab]+)(c)?",
        "a|ab",
        r"\Aa",
        r"c\z",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn the_matches_are_those_of_crate_regex_that_are_in_lines(
            text in "([abcé ]{0,4}(\n|\r\n|\r)){0,6}[abcé]{0,3}",
            pattern in 0..PATTERNS.len(),
            repeated in prop_oneof![Just(1usize), Just(1), Just(3_000)],
        ) {
            let text = text.repeat(repeated);
            let found = places(PATTERNS[pattern], PatternOptions::default(), &text);
            prop_assert_eq!(found, expected(PATTERNS[pattern], &text), "{}", PATTERNS[pattern]);
        }
    }

    #[test]
    fn matches_span_lines_where_they_may() {
        let how = PatternOptions { multiline: true, ..PatternOptions::default() };
        let whole = |groups: &Vec<Option<Range<usize>>>| groups[0].clone().unwrap();
        let found = places(r"a(\s+)b", how, "a\r\nb\na b");
        assert_eq!(found.iter().map(whole).collect::<Vec<_>>(), [0..4, 5..8]);
        assert_eq!(found[0][1], Some(1..3));
        assert_eq!(places("$", how, "a\r\nb\n").iter().map(whole).collect::<Vec<_>>(), [1..1, 4..4]);
    }

    #[test]
    fn a_search_that_is_stopped_ends() {
        struct Ended;
        impl Stop for Ended {
            fn check(&self) -> Result<(), Stopped> {
                Err(Stopped::TimedOut)
            }
        }
        let pattern = Pattern::new("a", PatternOptions::default()).unwrap();
        let mut matcher = LineMatcher::new(&pattern, &Ended);
        assert!(matcher.places(b"a", false, &mut |_| -> Result<(), Stopped> { Ok(()) }).is_err());
    }
}
