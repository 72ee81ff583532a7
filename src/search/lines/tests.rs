use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use text::Unstopped;

use super::*;
use crate::PatternOptions;

/// Stops the work when it is set.
#[derive(Default)]
struct Cancelled(AtomicBool);

impl Stop for Cancelled {
    fn check(&self) -> Result<(), Stopped> {
        if self.0.load(Ordering::Relaxed) { Err(Stopped::Cancelled) } else { Ok(()) }
    }
}

/// The lines of the hits.
fn hits(pattern: &str, options: PatternOptions, text: &str) -> Vec<String> {
    counted(pattern, options, text).into_iter().map(|(lines, _)| lines).collect()
}

/// The same, each with the number of its matches.
fn counted(pattern: &str, options: PatternOptions, text: &str) -> Vec<(String, u64)> {
    let pattern = Pattern::new(pattern, options).unwrap();
    let (control, mut hits) = (Unstopped, Vec::new());
    let scan = |long, keep, hits: &mut Vec<Hit>| {
        let mut scan = LineMatcher { long, ..LineMatcher::new(&pattern, &control) };
        scan.scan(text.as_bytes(), 0..text.len(), keep, hits).unwrap()
    };
    let count = scan(LONG, usize::MAX, &mut hits);
    assert_eq!(scan(LONG, 0, &mut Vec::new()), count);
    assert_eq!((hits.len() as u64, hits.iter().map(|hit| hit.matches).sum()), (count.hits, count.matches));
    let mut in_steps = Vec::new();
    assert_eq!(scan(0, usize::MAX, &mut in_steps), count, "in steps");
    assert_eq!(in_steps, hits, "in steps");
    hits.into_iter().map(|hit| (text[hit.start..hit.end].to_owned(), hit.matches)).collect()
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
fn each_match_counts_where_matches_share_lines() {
    let matches = |pattern: &str, text: &str| {
        let options = PatternOptions { multiline: true, ..PatternOptions::default() };
        counted(pattern, options, text).into_iter().map(|(_, matches)| matches).collect::<Vec<u64>>()
    };
    assert_eq!(matches(r"b\nc|y\nd", "a\nxb\ncy\nd\ne"), [2]);
    assert_eq!(matches(r"b\nc|y\r?\nd", "b\r\ncy\r\nd b\r\nc"), [3]);
    assert_eq!(matches("b", "b b\nb\nc"), [2, 1]);
    assert_eq!(matches("a\n", "a\nb\na\nc"), [1, 1]);
    assert_eq!(matches("x*", "abc\nax x\n"), [1, 2], "those of nothing count only where there are no others");
    assert_eq!(counted("b", PatternOptions::default(), "b b\n"), [("b b".into(), 1)], "lines count");
}

#[test]
fn a_part_of_a_text_is_scanned_as_in_the_whole() {
    let (text, pattern) = ("ab\nb\nxb\n", Pattern::new(r"^b|\Bb", PatternOptions::default()).unwrap());
    let (control, mut found) = (Unstopped, Vec::new());
    let mut scan = LineMatcher::new(&pattern, &control);
    for range in [0..3, 3..5, 5..8] {
        scan.scan(text.as_bytes(), range, usize::MAX, &mut found).unwrap();
    }
    let found: Vec<_> = found.iter().map(|hit| (hit.start, hit.end)).collect();
    assert_eq!(found, [(0, 2), (3, 4), (5, 7)]);
}

#[test]
fn matches_in_a_line_are_told_without_those_of_nothing() {
    let pattern = Pattern::new("a*", PatternOptions::default()).unwrap();
    let mut found = Vec::new();
    let all = LineMatcher::new(&pattern, &Unstopped).matches(b"aa b a\n", |range| {
        found.push(range);
        true
    });
    assert!(all.is_ok());
    assert_eq!(found, [0..2, 5..6]);
}

#[test]
fn hits_are_found_on_both_sides_of_where_a_look_ends() {
    for size in [WINDOW - 2, WINDOW - 1, WINDOW, 2 * WINDOW, LONG, LONG + 1] {
        for filler in ["b", "b\n", "b\r\n"] {
            let filler = filler.repeat(size / filler.len());
            let text = format!("a\r\n{filler}a\r\n{filler}\na");
            assert_eq!(lines("a", &text).len(), 3, "{size}");
            let breaks = text.replace("\r\n", "\n").lines().filter(|line| line.is_empty()).count();
            assert_eq!(lines("^$", &text).len(), breaks, "{size}");
        }
    }
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

/// `hits` compares a search in steps with one in one go.
#[test]
fn a_text_that_is_searched_in_steps_has_the_same_hits_over_their_ends() {
    let word = PatternOptions { whole_words: true, ..PatternOptions::default() };
    let long = "b".repeat(70_000);
    for options in [PatternOptions::default(), PatternOptions { multiline: true, ..word }] {
        for filler in ["b", "bä", "a\n"] {
            for size in [65_534, 65_535, 65_536, 131_071] {
                let text = format!("{}needle {long}\n\nb needle", filler.repeat(size / filler.len()));
                for pattern in ["needle", r"\bneedle", "needle|b+\\s", "(?s)n.*n", "x*", "[^b]e"] {
                    hits(pattern, options, &text);
                }
            }
        }
    }
}

#[test]
fn a_search_in_a_long_text_can_be_stopped() {
    let (text, control) = (b"b".repeat(LONG + 2), Cancelled::default());
    let pattern = Pattern::new("a", PatternOptions::default()).unwrap();
    let stoppable = pattern.stoppable().unwrap();
    let mut states = stoppable.states();
    let mut find = || stoppable.find(&mut states, &text, 0..text.len(), &control);
    assert!(matches!(find(), Ok(Step::Found(None))));
    control.0.store(true, Ordering::Relaxed);
    assert!(matches!(find(), Err(Stopped::Cancelled)));
    let mut scan = LineMatcher::new(&pattern, &control);
    let stopped = scan.scan(&text, 0..text.len(), 1, &mut Vec::new());
    assert!(matches!(stopped, Err(Stopped::Cancelled)));
}

/// The lines with a match of a text whose lines end in `\n`, looked for by an expression that knows no other break, with the number of matches.
fn naive_spanning(pattern: &str, text: &str) -> Vec<(String, u64)> {
    let syntax = regex_automata::util::syntax::Config::new().multi_line(true);
    let regex = regex_automata::meta::Regex::builder().syntax(syntax).build(pattern).unwrap();
    let (mut hits, mut from): (Vec<(Range<usize>, u64)>, usize) = (Vec::new(), 0);
    while from <= text.len() {
        let Some(found) = regex.search(&Input::new(text).span(Span::from(from..text.len()))) else { break };
        from = if found.is_empty() { next_char(text.as_bytes(), found.end()) } else { found.end() };
        let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
        if start == text.len() {
            continue;
        }
        let last = if found.is_empty() { found.end() } else { last_char(text.as_bytes(), &found.range()) };
        let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        let is_match = u64::from(!found.is_empty());
        match hits.last_mut() {
            Some((hit, matches)) if start <= hit.end => {
                (hit.end, *matches) = (end.max(hit.end), *matches + is_match);
            }
            _ => hits.push((start..end, is_match)),
        }
    }
    hits.into_iter().map(|(hit, matches)| (text[hit].to_owned(), matches.max(1))).collect()
}

#[test]
fn one_crlf_is_one_break_and_no_match_holds_half_of_it() {
    assert_eq!(spanning(r"\}\n\nfn", "}\r\n\r\nfn\r\n"), ["}\r\n\r\nfn"]);
    for text in ["}\r\nfn\r\n", "}\nfn\n", "}\rfn"] {
        assert_eq!(spanning(r"\}\n\nfn", text), [""; 0], "{text:?}");
    }
    assert_eq!(spanning(r"\}\n\nfn", "}\r\rfn"), ["}\r\rfn"]);
    for pattern in [r"a\s\sb", r"a[^x]{2}b", r"(?s)a..b", r"a\r\n\r\nb"] {
        assert_eq!(spanning(pattern, "a\r\nb"), [""; 0], "{pattern}");
        assert_eq!(spanning(pattern, "a\r\n\r\nb"), ["a\r\n\r\nb"], "{pattern}");
    }
    assert_eq!(spanning(r"a[^\n]b|c[^\n]", "a\rb\nc\r\n"), [""; 0]);
    assert_eq!(spanning(r"a[^\S\n]", "a\r\n"), [""; 0]);
    assert_eq!(spanning(r"a\r?\nb", "a\r\nb\na\nb"), ["a\r\nb", "a\nb"]);
}

#[test]
fn a_class_that_names_a_carriage_return_finds_it_as_the_byte_by_itself_does() {
    for pattern in [r"\r", r"[\r\t]", r"\r|\t", r"[\x0c\r]", r"[\r-\x1f]"] {
        assert_eq!(spanning(pattern, "a\r\nb\nc\r\n"), ["a", "c"], "{pattern}");
    }
}

#[test]
fn a_heavy_pattern_is_searched_in_steps_and_only_where_a_match_may_end() {
    let filler = "\u{e9}\u{65e5}\u{1f642}".repeat(3_000);
    let ends = |text: String| lines(".{1000}z", &text).iter().map(String::len).collect::<Vec<_>>();
    assert!(Pattern::new(".{1000}z", PatternOptions::default()).unwrap().is_heavy());
    assert_eq!(ends(filler.clone()), [0; 0]);
    assert_eq!(ends(format!("{filler}z\nz{filler}\n{filler}z{filler}z")), [27_001, 54_002]);
    assert_eq!(ends(format!("{}z", "\u{e9}".repeat(999))), [0; 0]);
    assert_eq!(ends(format!("z{}z", "\u{e9}".repeat(999))), [2_000]);
    let words = PatternOptions { whole_words: true, ..PatternOptions::default() };
    let text = format!("x {}z", "\u{e9}b".repeat(30));
    assert_eq!(hits(r"\w{60}z", words, &text).len(), 1, "borders of words beyond ASCII");
}

/// Stops work after so many checks.
struct Checks(AtomicUsize, usize);

impl Stop for Checks {
    fn check(&self) -> Result<(), Stopped> {
        if self.0.fetch_add(1, Ordering::Relaxed) < self.1 { Ok(()) } else { Err(Stopped::TimedOut) }
    }
}

#[test]
fn a_search_for_matches_that_span_lines_goes_on_where_its_time_was_up() {
    let filler = "some words in a line\r\n".repeat(900);
    let text =
        ["start\nof it\n", &filler, "x\n\ny x\n", &filler, &filler, "begin\n", &filler, &filler, "end\nx\ny"];
    let text = text.concat();
    let pages = |pattern: &str, checks: usize| {
        let options = PatternOptions { multiline: true, ..PatternOptions::default() };
        let compiled = Pattern::new(pattern, options).unwrap();
        let (mut found, mut from, mut pages) = (Vec::new(), 0, 0);
        loop {
            let (stop, mut hits) = (Checks(AtomicUsize::new(0), checks), Vec::new());
            let mut scan = LineMatcher::new(&compiled, &stop);
            let scanned = scan.scan_map(text.as_bytes(), from..text.len(), usize::MAX, &mut hits).unwrap();
            let MapScan { count, rest } = scanned.expect("no copy is needed");
            assert_eq!(count.hits, hits.len() as u64);
            found.extend(hits.iter().map(|hit| text[hit.start..hit.end].to_owned()));
            pages += 1;
            match rest {
                Some(rest) if rest > from => from = rest,
                rest => return (found, rest, pages),
            }
        }
    };
    for pattern in [r"x\s+y", r"of it\n", r"\bx\n", r"(?s)e(?:w[^z]){3,40}zz|x\ny", "absent"] {
        for checks in [4, 6, 99] {
            let (found, rest, pages) = pages(pattern, checks);
            assert_eq!((found, rest), (spanning(pattern, &text), None), "{pattern} {checks}");
            assert_eq!(pages > 1, checks < 99, "{pattern} {checks}");
        }
    }
    // A match that takes longer than the time is where the search ends.
    let (_, rest, _) = pages(r"begin(?s:.)*?end", 4);
    assert!(text[rest.unwrap()..].contains("begin"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn with_matches_that_span_lines_any_text_has_the_hits_of_the_text_with_line_feeds(
        text in "([abx \u{e4}]{0,3}(\n|\r\n|\r)){0,8}[abx]{0,2}",
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "a", "b", "x", "\\n", "\\n\\n", "\\s", "\\S", "\\W", "[^a]", "[^\\n]", "[\\nx]", "(?s:.)", ".", "^", "$",
                "(?:\\nb|x)", "\u{e4}",
            ]),
            1..5,
        ),
        repeats in prop::collection::vec(prop::sample::select(vec!["", "", "*", "+", "?", "{2}", "*?"]), 5),
    ) {
        let pattern: String = parts.iter().zip(&repeats).map(|(part, repeat)| format!("(?:{part}){repeat}")).collect();
        let with_lf = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
        let multiline = PatternOptions { multiline: true, ..PatternOptions::default() };
        let found: Vec<(String, u64)> =
            counted(&pattern, multiline, &text).iter().map(|(hit, matches)| (with_lf(hit), *matches)).collect();
        prop_assert_eq!(found, naive_spanning(&pattern, &with_lf(&text)), "{}", pattern);
        // As in a map.
        let options = PatternOptions { multiline: true, ..PatternOptions::default() };
        let (compiled, control, mut hits) = (Pattern::new(&pattern, options).unwrap(), Unstopped, Vec::new());
        let mut scan = LineMatcher::new(&compiled, &control);
        let count = scan.scan_map(text.as_bytes(), 0..text.len(), usize::MAX, &mut hits).unwrap();
        if count.is_some_and(|scan| scan.rest.is_none()) {
            let hits: Vec<&str> = hits.iter().map(|hit| &text[hit.start..hit.end]).collect();
            prop_assert_eq!(hits, spanning(&pattern, &text), "{}", pattern);
        }
    }
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
        // Compares a search in steps with one in one go.
        hits(&pattern, PatternOptions { multiline: true, ..options }, &text);
        let expected = naive(&pattern, options, &text);
        prop_assert_eq!(&hits(&pattern, options, &text), &expected);
        // In two parts.
        let control = Unstopped;
        let (compiled, at) = (Pattern::new(&pattern, options).unwrap(), line_at(text.as_bytes(), cut.index(text.len() + 1)));
        let (mut scan, mut found) = (LineMatcher::new(&compiled, &control), Vec::new());
        for range in [0..at, at..text.len()] {
            scan.scan(text.as_bytes(), range, usize::MAX, &mut found).unwrap();
        }
        let found: Vec<_> = found.iter().map(|hit| text[hit.start..hit.end].to_owned()).collect();
        prop_assert_eq!(found, expected);
    }
}
