//! The list of a dry run: each place with its number, its lines before and after. Knows no files and no patterns.

use std::fmt::Write;
use std::ops::Range;

use crate::tools::AnswerLimit;
use crate::tools::limited::tokens_of;
use crate::tools::numbered::{count_breaks, with_lf};
use text::encoded_edit::NewPart;

/// Characters around a place that are shown of its line, in bytes.
const AROUND: usize = 160;

/// The most bytes of lines that are shown as one, before and after.
const LONGEST: usize = 1_600;

/// Estimated tokens that are kept free for the lines around the list.
const LAST_LINES: usize = 600;

/// The most bytes of a list, whatever the limit of answers.
const MOST: usize = 48 << 10;

/// See the module.
#[derive(Debug)]
pub(super) struct List {
    pub(super) text: String,
    most: usize,
    /// Estimated tokens that are left.
    left: usize,
    all: usize,
    /// The number of the first place that is not shown.
    pub(super) not_shown: Option<u64>,
    path: String,
    has_path: bool,
    /// Bytes of the text whose lines are counted, and their number.
    counted: usize,
    line: u64,
    /// Places in lines that are shown together.
    group: Option<Group>,
}

#[derive(Debug)]
struct Group {
    places: (u64, u64),
    /// The bytes that are shown.
    shown: Range<usize>,
    /// What they become, up to the end of the last place.
    new: String,
    end: usize,
}

impl List {
    pub(super) fn new(limit: AnswerLimit) -> List {
        let most = limit.bytes.unwrap_or(MOST).min(MOST) * 3 / 4;
        // The last lines that are shown may be long.
        let all = limit.tokens_without(LAST_LINES) * 9 / 10;
        let (text, path) = (String::new(), String::new());
        List {
            text,
            most,
            left: all,
            all,
            not_shown: None,
            path,
            has_path: false,
            counted: 0,
            line: 1,
            group: None,
        }
    }

    /// Begins a file. The first one begins a list anew.
    pub(super) fn begin(&mut self, number: usize, path: &str) {
        if number == 0 {
            self.text.clear();
            (self.left, self.not_shown) = (self.all, None);
        }
        (self.path, self.has_path, self.counted, self.line, self.group) = (path.into(), false, 0, 1, None);
    }

    /// Adds the place of this number, bytes of `text`, behind all before, which is replaced by `new`.
    pub(super) fn add(&mut self, place: u64, text: &[u8], at: Range<usize>, new: &[NewPart]) {
        if self.not_shown.is_some() {
            return;
        }
        let around = around(text, &at);
        let joins =
            |group: &Group| around.start < group.shown.end && around.end - group.shown.start <= LONGEST;
        if !self.group.as_ref().is_some_and(joins) {
            self.end(text);
            if self.text.len() > self.most || self.left == 0 {
                self.not_shown = Some(place);
                return;
            }
            let (places, end) = ((place, place), around.start);
            self.group = Some(Group { places, shown: around.clone(), new: String::new(), end });
        }
        let Some(group) = &mut self.group else { return };
        group.places.1 = place;
        group.shown.end = group.shown.end.max(around.end);
        let kept = &text[group.end.min(at.start)..at.start];
        group.new.push_str(&String::from_utf8_lossy(kept));
        for part in new {
            match part {
                NewPart::Text(text) => group.new.push_str(text),
                NewPart::Kept(range) => group.new.push_str(&String::from_utf8_lossy(&text[range.clone()])),
            }
        }
        group.end = at.end;
    }

    /// Shows what was added last.
    pub(super) fn end(&mut self, text: &[u8]) {
        let Some(Group { places: (first, last), shown, mut new, end }) = self.group.take() else { return };
        new.push_str(&String::from_utf8_lossy(&text[end.min(shown.end)..shown.end]));
        self.line += count_breaks(&text[self.counted..shown.start]) as u64;
        self.counted = shown.start;
        let before = self.text.len();
        if !std::mem::replace(&mut self.has_path, true) {
            // A write to a String cannot fail.
            let _ = writeln!(self.text, "{}", self.path);
        }
        let _ = match first == last {
            true => write!(self.text, "{first}) {}", self.line),
            false => write!(self.text, "{first}-{last}) {}", self.line),
        };
        push_lines(&mut self.text, '-', &String::from_utf8_lossy(&text[shown]));
        push_lines(&mut self.text, '+', &new);
        self.left = self.left.saturating_sub(tokens_of(&self.text.as_bytes()[before..]));
    }
}

/// The lines of a place, cut around it. Without the last break.
fn around(text: &[u8], at: &Range<usize>) -> Range<usize> {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let from = at.start.saturating_sub(AROUND);
    let before = text[from..at.start].iter().rposition(is_break).map(|found| from + found + 1);
    let is_first = |at: usize| text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let start = before.or_else(|| (from..=at.start).find(|at| is_first(*at))).unwrap_or(at.start);
    // A place that ends in a break does not reach into the next line.
    let has_break = at.end > at.start && is_break(&text[at.end - 1]);
    let last = if has_break { at.end - 1 } else { at.end };
    let until = text.len().min(last + AROUND);
    let behind = text[last..until].iter().position(is_break).map(|found| last + found);
    let end = behind.or_else(|| (last..=until).rev().find(|at| is_first(*at))).unwrap_or(last);
    start..end.max(last)
}

fn push_lines(out: &mut String, sign: char, lines: &str) {
    let end = text::lines::char_boundary(lines.as_bytes(), lines.len().min(LONGEST));
    let lines = with_lf(&lines[..end]);
    for (number, line) in lines.trim_end_matches('\n').split('\n').enumerate() {
        let indent = if sign == '-' && number == 0 { " " } else { "  " };
        // A write to a String cannot fail.
        let _ = writeln!(out, "{indent}{sign}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str, places: &[(Range<usize>, &str)]) -> String {
        let mut list = List::new(None.into());
        list.begin(0, "a.rs");
        for (number, (at, new)) in places.iter().enumerate() {
            list.add(number as u64 + 1, text.as_bytes(), at.clone(), &[NewPart::Text((*new).into())]);
        }
        list.end(text.as_bytes());
        list.text
    }

    #[test]
    fn each_place_is_shown_with_its_lines_before_and_after() {
        let text = "x\nfoo(foo)\ny\r\nfoo\nbar\n";
        assert_eq!(
            listed(text, &[(2..5, "bar"), (6..9, "bar"), (14..21, "z"), (22..22, "!")]),
            "a.rs\n1-2) 2 -foo(foo)\n  +bar(bar)\n3) 4 -foo\n  -bar\n  +z\n4) 6 -\n  +!\n"
        );
        assert_eq!(listed("foo\nx\n", &[(0..4, "")]), "a.rs\n1) 1 -foo\n  +\n");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let line = format!("{}é{}", "x".repeat(5_000), "y".repeat(5_000));
        let shown = listed(&line, &[(5_000..5_002, "e"), (9_000..9_001, "z")]);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines.len(), lines[1].len()), (5, 4 + 2 + 160 + 2 + 160), "{shown}");
    }
}
