//! Which lines of the new text a change has made, and how they are told. Works on bytes of texts in which line breaks are single bytes.

use std::fmt::Write;
use std::ops::Range;

use super::{SHOWN_LINES, SHOWN_PLACES};
use crate::tools::balance::several;
use crate::tools::numbered::with_lf;
use text::shown::shown_line;
use text::splice::EditPlan;

/// The longest line that is shown, in bytes.
const SHOWN_BYTES: usize = 400;

/// The most ranges of lines that are told of a file.
const TOLD_RANGES: usize = 20;

/// Lines of the new text, from 1, that a change has made. None are left of what was only removed.
#[derive(Debug)]
pub(super) struct Lines {
    first: usize,
    last: usize,
    is_removed: bool,
    /// The replaced bytes of the old text, and the line where they begin in the new one.
    at: Range<usize>,
    line: usize,
}

/// The lines of each change in the new text; changes on one line are one.
pub(super) fn ranges(old: &[u8], plan: &EditPlan) -> Vec<Lines> {
    let (mut line, mut done) = (1, 0);
    let mut ranges: Vec<Lines> = Vec::new();
    for splice in plan.splices() {
        line += breaks(&old[done..splice.at.start]);
        done = splice.at.end;
        if let Some(lines) = changed_lines(old, splice.at.clone(), &splice.text, line) {
            match ranges.last_mut() {
                Some(before) if before.last == lines.first && !before.is_removed && !lines.is_removed => {
                    (before.last, before.at.end) = (lines.last, splice.at.end);
                }
                _ => ranges.push(lines),
            }
        }
        line += breaks(&splice.text);
    }
    ranges
}

/// The lines that `new` in the place of the bytes `at` changes; it begins in `line`. `None`: none.
fn changed_lines(old: &[u8], at: Range<usize>, new: &[u8], line: usize) -> Option<Lines> {
    // What is equal on both sides is no change.
    let gone = &old[at.clone()];
    let head = gone.iter().zip(new).take_while(|(gone, new)| gone == new).count();
    let (gone_rest, new_rest) = (&gone[head..], &new[head..]);
    let tail =
        gone_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(gone, new)| gone == new).count();
    let (gone, put_in) = (&gone_rest[..gone_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
    if gone.is_empty() && put_in.is_empty() {
        return None;
    }
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let start = at.start + head;
    let begins_line = old[..start].last().is_none_or(is_break);
    let behind = &old[start + gone.len()..];
    let first = line + breaks(&new[..head]);
    if put_in.is_empty() && is_half_break(gone, &old[..start], behind) {
        // The other half still ends the line. Before it, the first half was counted as a break.
        let first = first - usize::from(gone == b"\n");
        return Some(Lines { first, last: first, is_removed: false, at, line: first });
    }
    if put_in.is_empty() {
        // Whole lines: with the break behind them, or with that before them.
        let from_start = begins_line && (behind.is_empty() || gone.last().is_some_and(is_break));
        let ends_line = leading_break(gone);
        // The break of the last line alone is no line.
        let is_line = ends_line < gone.len() || !behind.is_empty();
        let from_break = ends_line > 0 && is_line && behind.first().is_none_or(is_break);
        let first = first + usize::from(!from_start && from_break);
        return Some(Lines { first, last: first, is_removed: from_start || from_break, at, line });
    }
    // A break at its start, behind the text of a line, is that line's; one at its end is that of the last new line.
    let leading = if begins_line { 0 } else { leading_break(put_in) };
    let first = first + usize::from(leading > 0 && leading < put_in.len());
    let last = first + breaks(without_last_break(&put_in[leading.min(put_in.len() - 1)..]));
    Some(Lines { first, last, is_removed: false, at, line })
}

/// Whether `gone` is the `\r` or the `\n` of a `\r\n` between `before` and `behind`.
fn is_half_break(gone: &[u8], before: &[u8], behind: &[u8]) -> bool {
    match gone {
        b"\r" => behind.starts_with(b"\n"),
        b"\n" => before.ends_with(b"\r"),
        _ => false,
    }
}

/// The length of the line break at the start of a text.
fn leading_break(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

fn without_last_break(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r\n")
        .or_else(|| text.strip_suffix(b"\n"))
        .or_else(|| text.strip_suffix(b"\r"))
        .unwrap_or(text)
}

/// The new lines of a text in UTF-8, if they are few.
pub(super) fn shown_lines(old: &[u8], plan: &EditPlan, ranges: &[Lines]) -> Option<Vec<(usize, String)>> {
    let wanted: usize = ranges.iter().map(|range| range.last - range.first + 1).sum();
    let removes = ranges.iter().any(|range| range.is_removed);
    if ranges.len() > SHOWN_PLACES || wanted > SHOWN_LINES || removes || plan.is_other_encoding() {
        return None;
    }
    let (mut shown, mut done) = (Vec::new(), 0);
    for (number, Lines { first, last, at, line, .. }) in ranges.iter().enumerate() {
        let until = ranges.get(number + 1).map_or(old.len(), |next| next.at.start);
        let text = new_text(old, plan, at, done..until)?;
        let mut text = std::str::from_utf8(&text).ok()?;
        if *line == 1 {
            // The mark of the file is no text.
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        let lines = with_lf(text).into_owned();
        let is_changed = |number: &usize| first <= number && number <= last;
        let numbered = (*line..).zip(lines.split('\n')).filter(|(number, _)| is_changed(number));
        shown.extend(numbered.map(|(number, line)| (number, shown_line(line.as_bytes()).into_owned())));
        done = at.end;
    }
    (!shown.is_empty() && shown.iter().all(|(_, line)| line.len() <= SHOWN_BYTES)).then_some(shown)
}

/// What the bytes `at` become, with the rest of their lines within `around`. `None`: that is long.
fn new_text(old: &[u8], plan: &EditPlan, at: &Range<usize>, around: Range<usize>) -> Option<Vec<u8>> {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let from = around.start.max(at.start.saturating_sub(SHOWN_BYTES));
    let until = around.end.min(at.end + SHOWN_BYTES);
    let start = match old[from..at.start].iter().rposition(is_break) {
        Some(found) => from + found + 1,
        None => (from == around.start).then_some(from)?,
    };
    let end = match old[at.end..until].iter().position(is_break) {
        Some(found) => at.end + found,
        None => (until == around.end).then_some(until)?,
    };
    let (mut text, mut done) = (Vec::new(), start);
    for splice in plan.splices().skip_while(|splice| splice.at.start < at.start) {
        if splice.at.end > at.end {
            break;
        }
        text.extend_from_slice(&old[done..splice.at.start]);
        text.extend_from_slice(&splice.text);
        done = splice.at.end;
    }
    text.extend_from_slice(&old[done..end]);
    Some(text)
}

pub(super) fn told_ranges(ranges: &[Lines]) -> String {
    let one = |Lines { first, last, is_removed, .. }: &Lines| match (first == last, is_removed) {
        (true, true) => format!("{first} (removed)"),
        (true, false) => first.to_string(),
        (false, _) => format!("{first}-{last}"),
    };
    let mut told = ranges.iter().take(TOLD_RANGES).map(one).collect::<Vec<_>>().join(", ");
    if ranges.len() > TOLD_RANGES {
        let _ = write!(told, " and {} more", several((ranges.len() - TOLD_RANGES) as u64, "place"));
    }
    told
}

/// Line breaks, each of any kind.
fn breaks(text: &[u8]) -> usize {
    let feeds = memchr::memchr_iter(b'\n', text).count();
    let lone = |at: &usize| text.get(at + 1) != Some(&b'\n');
    feeds + memchr::memchr_iter(b'\r', text).filter(lone).count()
}

pub(super) fn count_lines(text: &[u8]) -> usize {
    breaks(text) + usize::from(!text.is_empty() && !text.ends_with(b"\n") && !text.ends_with(b"\r"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::splice::Splice;

    /// The lines that are told of a change of `old`, which replaces the texts at these bytes.
    #[track_caller]
    fn check(old: &str, splices: &[(Range<usize>, &'static str)], expected: &str) {
        let splice = |(at, text): &(Range<usize>, &'static str)| Splice {
            at: at.clone(),
            text: text.as_bytes().into(),
        };
        let plan = EditPlan::new(splices.iter().map(splice).collect(), old.as_bytes()).unwrap();
        assert_eq!(told_ranges(&ranges(old.as_bytes(), &plan)), expected, "{old:?} {splices:?}");
    }

    #[test]
    fn a_change_is_told_by_the_lines_of_the_new_text_that_it_has_made() {
        for (old, splices, expected) in [
            ("a\nb\n", vec![(2..4, "B\n")], "2"),
            ("a\nb\n", vec![(2..4, "b\nc\n")], "3"),
            ("a\nb\nc\n", vec![(2..4, "q\n")], "2"),
            ("a\nb\nc\n", vec![(2..4, "")], "2 (removed)"),
            ("a\nb\nc", vec![(3..5, "")], "3 (removed)"),
            ("a\nb", vec![(1..3, "")], "2 (removed)"),
            ("a b c\n", vec![(2..4, "")], "1"),
            ("S2x\n", vec![(0..3, "S2")], "1"),
            ("a\r\nb", vec![(3..4, "b\r\nq")], "3"),
            ("a\r\n", vec![(3..3, "b")], "2"),
            ("a\r\nb\r\nc\r\n", vec![(3..6, "q\r\n")], "2"),
            ("abc\r\nx\r\n", vec![(0..3, "abc\r\nQ")], "2"),
            ("x", vec![(1..1, "\ny\n")], "2"),
            ("x\n", vec![(1..1, "\n")], "1"),
            ("a b\nc\n", vec![(0..1, "A"), (2..3, "B"), (4..5, "C")], "1, 2"),
            ("a\nb\n", vec![(0..0, "1\n2\n")], "1-2"),
            // A break that goes alone, or becomes a shorter one, removes no line.
            ("a\r\nb\r\n", vec![(1..2, ""), (4..5, "")], "1, 2"),
            ("a\r\nb\r\n", vec![(1..3, "\n"), (4..6, "\n")], "1, 2"),
            ("a\r\nb\r\n", vec![(2..3, ""), (5..6, "")], "1, 2"),
            ("x\n", vec![(1..2, "")], "1"),
            ("x\r\n", vec![(1..3, "")], "1"),
            ("x\ny\n", vec![(1..2, ""), (3..4, "")], "1"),
            // Empty lines are lines.
            ("x\n\n", vec![(2..3, "")], "2 (removed)"),
            ("a\n\nb\n", vec![(1..2, "")], "2 (removed)"),
        ] {
            check(old, &splices, expected);
        }
    }
}
