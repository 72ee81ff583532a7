//! Gives the lines of new text the breaks of their places, in a text with several kinds of line breaks (contract 5).
//!
//! Pure. A line that the new text has from the replaced one keeps its break. A changed line has the break of the line in
//! whose place it stands, and a new line that of the line before it, at the top that of the line behind it.

use std::borrow::Cow;
use std::ops::Range;

use crate::line_diff::kept_lines;
use crate::splice::{EditPlan, Splice};
use crate::{Result, Stop};

/// The plan of `splices` of the text `old`, in order, with these breaks. Splices that touch each other are one change.
/// `None` if they are not of `old`.
pub(super) fn plan_in_place<'s>(
    splices: impl Iterator<Item = Splice<'s>>,
    old: &[u8],
    control: &dyn Stop,
) -> Result<Option<EditPlan<'static>>> {
    let (mut splices, mut breaks) = (splices.peekable(), Breaks::new(old));
    let placed = std::iter::from_fn(|| {
        let Splice { mut at, text } = splices.next()?;
        let mut text = text.into_owned();
        while let Some(more) = splices.next_if(|more| more.at.start == at.end) {
            at.end = more.at.end;
            text.extend_from_slice(&more.text);
        }
        Some(control.check().map(|()| {
            let text = breaks.placed(at.clone(), &text)?;
            Some(Splice { at, text: Cow::Owned(text) })
        }))
    });
    Ok(EditPlan::of_repeated(placed, old)?)
}

/// `new` with these breaks, if it replaces the bytes `at` of the text `old`. `None` if there are no such bytes.
pub(crate) fn in_place(old: &[u8], at: Range<usize>, new: &[u8]) -> Option<Vec<u8>> {
    Breaks::new(old).placed(at, new)
}

/// Finds the breaks around changes, which are asked for in order.
#[derive(Debug)]
pub(crate) struct Breaks<'t> {
    old: &'t [u8],
    /// The start of the first break behind the change asked for last, or the end of the text.
    next: Option<usize>,
    /// The last break of the text.
    last: &'t [u8],
}

impl<'t> Breaks<'t> {
    pub(crate) fn new(old: &'t [u8]) -> Breaks<'t> {
        Breaks { old, next: None, last: last_break(old).unwrap_or(b"\n") }
    }

    fn placed(&mut self, at: Range<usize>, new: &[u8]) -> Option<Vec<u8>> {
        let (before, gone) = (self.old.get(..at.start)?, self.old.get(at.clone())?);
        let next = self.old.get(at.end);
        if new.is_empty() && !gone.is_empty() && before.ends_with(b"\r") && next == Some(&b'\n') {
            // The two breaks would become one.
            return Some(if switches::is_off("breaks-stay-two") { Vec::new() } else { b"\n".to_vec() });
        }
        if switches::is_off("breaks-of-place") || memchr::memchr2(b'\n', b'\r', new).is_none() {
            return Some(new.to_vec());
        }
        let (gone, new, behind) = (lines(gone), lines(new), self.behind(at.end));
        let place = |nth: usize| gone.get(nth).and_then(|line| line.brk).unwrap_or(behind);
        let kept = kept_lines(gone.iter().map(|line| line.text), new.iter().map(|line| line.text));
        let mut until = kept.clone();
        // For each line, the old line before which it stands.
        until.iter_mut().rev().fold(gone.len(), |next, kept| *kept.insert(kept.unwrap_or(next)));
        let last_two = &before[before.len().saturating_sub(2)..];
        let above = last_break(last_two).filter(|brk| before.ends_with(brk));
        let mut brk = above.unwrap_or(place(0));
        let (mut out, mut done) = (Vec::new(), 0);
        for ((line, kept), until) in new.iter().zip(kept).zip(until) {
            if let Some(own) = kept.or((Some(done) < until).then_some(done)) {
                (done, brk) = (own + 1, place(own));
            }
            out.extend_from_slice(line.text);
            if line.brk.is_some() {
                let follows_return = out.last().or(before.last()) == Some(&b'\r');
                // A `\r` and a `\n` of two breaks would become one break.
                out.extend_from_slice(if brk == b"\n" && follows_return { b"\r\n" } else { brk });
            }
        }
        if out.ends_with(b"\r") && next == Some(&b'\n') {
            out.push(b'\n');
        }
        Some(out)
    }

    /// The break of the line at `from`; of a last line without one, that of the line before it.
    pub(crate) fn behind(&mut self, from: usize) -> &'t [u8] {
        let rest = self.old.get(from..).unwrap_or_default();
        let find = || memchr::memchr2(b'\n', b'\r', rest).map_or(self.old.len(), |at| from + at);
        let next = self.next.filter(|next| from <= *next).unwrap_or_else(find);
        self.next = Some(next);
        let behind = self.old.get(next..).unwrap_or_default();
        if behind.is_empty() { self.last } else { &behind[..break_at(behind)] }
    }
}

/// A line without its break, and that.
struct Line<'t> {
    text: &'t [u8],
    brk: Option<&'t [u8]>,
}

fn lines(text: &[u8]) -> Vec<Line<'_>> {
    let (mut lines, mut rest) = (Vec::new(), text);
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let (text, behind) = rest.split_at(at);
        let (brk, behind) = behind.split_at(break_at(behind));
        lines.push(Line { text, brk: Some(brk) });
        rest = behind;
    }
    if !rest.is_empty() {
        lines.push(Line { text: rest, brk: None });
    }
    lines
}

/// The length of the break at the start of `text`.
fn break_at(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

fn last_break(text: &[u8]) -> Option<&[u8]> {
    let at = memchr::memrchr2(b'\n', b'\r', text)?;
    let start = if text[..=at].ends_with(b"\r\n") { at - 1 } else { at };
    Some(&text[start..=at])
}

#[cfg(test)]
mod tests {
    use crate::budget::Budget;
    use crate::lines::LineIndex;
    use crate::text_edit::{TextEdit, TextEdits, TextLimits, plan};

    fn edited(text: &str, edits: &[(&str, &str)]) -> String {
        let edit = |(old, new): &(&str, &str)| TextEdit {
            old_text: (*old).into(),
            new_text: (*new).into(),
            occurrences: TextEdit::ALL,
        };
        let edits = TextEdits::new(edits.iter().map(edit).collect());
        let memory = Budget::new(usize::MAX);
        let limits = TextLimits { passages: 0, max_bytes: 1 << 20, memory: &memory };
        let index = LineIndex::build(text.as_bytes()).unwrap();
        let planned = plan(&index, text.as_bytes(), &edits, limits, &crate::Unstopped).unwrap().unwrap();
        let mut out = Vec::new();
        planned.plan.write_to(text.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_keeps_its_break_and_a_new_one_has_that_of_its_place() {
        let text = "one\r\ntwo\r\nthree\r\nfour\nfive\rsix";
        for (old, new, expected) in [
            ("one\ntwo\nthree", "one\ntwo\nTHREE", "one\r\ntwo\r\nTHREE\r\nfour\nfive\rsix"),
            ("two", "two a\ntwo b", "one\r\ntwo a\r\ntwo b\r\nthree\r\nfour\nfive\rsix"),
            ("three\nfour\n", "three\nfour\nx\n", "one\r\ntwo\r\nthree\r\nfour\nx\nfive\rsix"),
            ("one\ntwo\nthree\nfour\n", "four\none\n", "four\none\nfive\rsix"),
            ("three\nfour\nfive\n", "four\nfive\n", "one\r\ntwo\r\nfour\nfive\rsix"),
            ("two\nthree\nfour\nfive\n", "x\nfour\ny\nz\n", "one\r\nx\r\nfour\ny\rz\rsix"),
            ("one\n", "zero\none\n", "zero\r\none\r\ntwo\r\nthree\r\nfour\nfive\rsix"),
            ("five\n", "four b\nfive\n", "one\r\ntwo\r\nthree\r\nfour\nfour b\nfive\rsix"),
            ("e\nfour", "E\nfour", "one\r\ntwo\r\nthreE\r\nfour\nfive\rsix"),
            ("six", "six\r\nseven\n", "one\r\ntwo\r\nthree\r\nfour\nfive\rsix\rseven\r"),
            ("four\nfive", "four\n\nfive", "one\r\ntwo\r\nthree\r\nfour\n\nfive\rsix"),
            ("five\nsix", "five\n\nsix", "one\r\ntwo\r\nthree\r\nfour\nfive\r\rsix"),
            ("two\nthree\n", "", "one\r\nfour\nfive\rsix"),
        ] {
            assert_eq!(edited(text, &[(old, new)]), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn edits_of_one_place_count_as_one() {
        let edits = [("b\nc\n", "b\nx\nc\n"), ("x\n", "y\nz\n"), ("a", "A")];
        assert_eq!(edited("a\r\nb\r\nc\nd", &edits), "A\r\nb\r\ny\r\nz\r\nc\nd");
    }

    #[test]
    fn a_newline_finds_any_break_of_a_text_with_several_kinds() {
        assert_eq!(edited("a\nb\r\na\r\nb\ra\rb", &[("a\nb", "c")]), "c\r\nc\rc");
        // One that has another break says which one it means.
        assert_eq!(edited("a\nb\na\r\nb", &[("a\r\nb", "c")]), "a\nb\nc");
    }

    #[test]
    fn no_line_disappears_between_two_breaks() {
        assert_eq!(edited("a\rb\nc", &[("b\n", "\n")]), "a\r\r\nc");
        assert_eq!(edited("b\na\rc\nd", &[("b\na\nc", "a\n")]), "a\r\n\nd");
        assert_eq!(edited("a\rXX\nb", &[("XX", "")]), "a\r\n\nb");
        assert_eq!(edited("a\rXYZ\n\nb", &[("X", ""), ("Z\n", ""), ("Y", "")]), "a\r\n\nb");
        assert_eq!(edited("a\r\nXX\nb", &[("XX", "")]), "a\r\n\nb");
    }

    #[test]
    fn a_new_text_may_be_longer_than_the_file() {
        let new = "line\n".repeat(200_000);
        assert_eq!(edited("a\r\nb\nc", &[("b\n", &new)]), format!("a\r\n{new}c"));
    }

    #[test]
    fn many_places_have_few_texts() {
        let places = "a\r\nb\nc\n".repeat(100_000);
        assert_eq!(edited(&places, &[("a\nb", "x\ny\nb")]), "x\r\ny\r\nb\nc\n".repeat(100_000));
    }
}
