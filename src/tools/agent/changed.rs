//! The answer to a job that was done: how many places in how many files, and on which lines (contract 19).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::tools::balance::several;
use crate::tools::limited::{content, within_tokens};
use crate::tools::numbered::with_lf;
use crate::tools::{AnswerLimit, OutputKinds, Reply};
use engine::{JobChange, JobDone, Recorded};
use text::encoding::Encoding;
use text::line_diff::{DiffSize, MAX_LINE_EDITS, line_changes, plan_diff};
use text::shown::shown_line;
use text::splice::{EditPlan, Splice};

/// Room for the last line of an answer that was cut, in bytes.
const LAST_LINE: usize = 64;

/// The most places whose new lines are shown, and the most of these lines.
const SHOWN_PLACES: usize = 3;
const SHOWN_LINES: usize = 12;

/// The longest line that is shown, in bytes.
const SHOWN_BYTES: usize = 400;

/// The most files that are told one by one.
const TOLD_FILES: usize = 10;

/// The most ranges of lines that are told of a file.
const TOLD_RANGES: usize = 20;

/// The longest diff of a file, in bytes.
const MAX_DIFF: usize = 16 << 10;

/// Lines around the changes of a diff.
const CONTEXT: usize = 4;

/// What is told of one change.
#[derive(Debug)]
pub(super) struct Told {
    path: String,
    /// Places that changed.
    places: usize,
    is_file: bool,
    /// The line of the change, behind the path.
    what: String,
    /// The new lines of its places, each with its number, if there are few.
    lines: Option<Vec<(usize, String)>>,
    /// Its diff, if that is wanted.
    diff: Option<String>,
}

impl Told {
    pub(super) fn of(change: JobChange, with_diff: bool) -> Told {
        let name = |path: &str, what: String| Told {
            path: path.into(),
            places: 1,
            is_file: false,
            what,
            lines: None,
            diff: None,
        };
        match change {
            JobChange::Moved { from, to } => name(from, format!("moved to {to}")),
            JobChange::Deleted { path } => name(path, "deleted".into()),
            JobChange::Content { path, is_new: true, old, plan } => {
                let mut text = Vec::new();
                // A write to memory cannot fail.
                let _ = plan.write_to(old, &mut text);
                if let Some(wide) = decoded(&text) {
                    text = wide.into_bytes();
                }
                Told {
                    is_file: true,
                    ..name(path, format!("new, {}", several(count_lines(&text) as u64, "line")))
                }
            }
            JobChange::Content { path, is_new: false, old, plan } => {
                let places = plan.count();
                let wide = as_utf_8(old, plan);
                let rewritten = wide.as_ref().map(|(old, new)| line_plan(old.as_bytes(), new.as_bytes()));
                let (old, plan) = match (&wide, &rewritten) {
                    (Some((old, _)), Some(rewritten)) => (old.as_bytes(), rewritten),
                    _ => (old, plan),
                };
                let ranges = ranges(old, plan);
                let diff = with_diff.then(|| hunks(path, old, plan, CONTEXT));
                let (lines, what) = (shown_lines(old, plan, &ranges), told_ranges(&ranges));
                Told { path: path.into(), places, is_file: true, what, lines, diff }
            }
        }
    }
}

/// The reply for what `told` says of all changes.
pub(super) fn done(job: JobDone<Told>, edits: usize, dry_run: bool, limit: AnswerLimit) -> Reply {
    let summary = match job.told[..] {
        [] if edits == 1 => "Nothing changed: the edit leaves everything as it is.".to_owned(),
        [] => "Nothing changed: the edits leave everything as it is.".to_owned(),
        _ => summary(&job.told, dry_run),
    };
    told(summary, job, limit, &[])
}

/// The reply for a job, with its first line, and with `notes` as its last ones.
pub(super) fn told(mut text: String, job: JobDone<Told>, limit: AnswerLimit, notes: &[String]) -> Reply {
    let told = job.told;
    match job.recorded {
        None => {}
        Some(Recorded::Change(number)) => _ = write!(text, " (change c{number})"),
        Some(Recorded::NotUndoable(why)) => _ = write!(text, "\n[It cannot be undone: {why}]"),
    }
    let places: usize = told.iter().map(|told| told.places).sum();
    let few_lines = |told: &Told| told.lines.as_ref().map_or(0, Vec::len);
    let shows_lines = places <= SHOWN_PLACES && told.iter().map(few_lines).sum::<usize>() <= SHOWN_LINES;
    if told.iter().any(|told| told.diff.is_some()) {
        told.iter().for_each(|told| told.push_diff(&mut text));
    } else if told.len() > TOLD_FILES {
        push_sums(&mut text, &told);
    } else {
        told.iter().for_each(|told| told.push(&mut text, shows_lines));
    }
    let notes: String = notes.iter().map(|note| format!("\n{note}")).collect();
    cut(&mut text, limit.without(&notes), "");
    text.push_str(&notes);
    content(text, OutputKinds { text: true, data: false })
}

pub(super) fn summary(told: &[Told], dry_run: bool) -> String {
    let files: Vec<&Told> = told.iter().filter(|told| told.is_file).collect();
    let others = told.len() - files.len();
    let verb = if dry_run { "Would change" } else { "Changed" };
    let places: usize = files.iter().map(|told| told.places).sum();
    let contents = || {
        let (places, files) = (several(places as u64, "place"), several(files.len() as u64, "file"));
        format!("{verb} {places} in {files}")
    };
    let names = || {
        let count = |is: &dyn Fn(&Told) -> bool| told.iter().filter(|told| is(told)).count() as u64;
        let moved = count(&|told: &Told| told.what.starts_with("moved to"));
        let deleted = others as u64 - moved;
        let parts = [(moved, "moved"), (deleted, "deleted")].into_iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, verb)| format!("{number} {verb}")).collect::<Vec<_>>().join(", ")
    };
    match (files.is_empty(), others) {
        (false, 0) => contents(),
        (false, _) => format!("{}, {}", contents(), names()),
        (true, _) if dry_run => format!("Would change names: {}", names()),
        (true, _) => format!("Changed names: {}", names()),
    }
}

impl Told {
    fn push(&self, text: &mut String, shows_lines: bool) {
        // A write to a String cannot fail.
        match &self.lines {
            Some(lines) if shows_lines => {
                for (number, line) in lines {
                    let _ = write!(text, "\n{}:{number}: {line}", self.path);
                }
            }
            _ => _ = write!(text, "\n{}: {}", self.path, self.what),
        }
    }

    fn push_diff(&self, text: &mut String) {
        match &self.diff {
            Some(diff) => _ = write!(text, "\n{}\n{}", self.path, diff.trim_end_matches('\n')),
            None => self.push(text, false),
        }
    }
}

/// One line a folder.
fn push_sums(text: &mut String, told: &[Told]) {
    let mut folders: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for one in told {
        let folder = one.path.rfind('/').map_or("./", |at| &one.path[..=at]);
        let (files, places) = folders.entry(folder).or_default();
        (*files, *places) = (*files + 1, *places + one.places as u64);
    }
    for (folder, (files, places)) in folders {
        let _ = write!(text, "\n{folder}: {} in {}", several(places, "place"), several(files, "file"));
    }
}

/// Cuts a text that is longer than answers may be at the end of a line, and says so, and how to see the rest.
pub(super) fn cut(text: &mut String, limit: AnswerLimit, way_on: &str) {
    let Some(most) = limit.bytes else { return };
    if text.len() <= most && within_tokens(text.as_bytes(), limit.tokens) == text.len() {
        return;
    }
    let last_line = LAST_LINE + way_on.len();
    let most = most.min(within_tokens(text.as_bytes(), limit.tokens_without(last_line)));
    let end = text::lines::char_boundary(text.as_bytes(), most.saturating_sub(last_line));
    let end = text[..end].rfind('\n').unwrap_or(end);
    let left = count_lines(&text.as_bytes()[end..]);
    text.truncate(end);
    let _ = write!(text, "\n[{} more are not shown{way_on}]", several(left as u64, "line"));
}

/// Lines of the new text, from 1, that a change has made. None are left of what was only removed.
#[derive(Debug)]
struct Lines {
    first: usize,
    last: usize,
    is_removed: bool,
    /// The replaced bytes of the old text, and the line where they begin in the new one.
    at: Range<usize>,
    line: usize,
}

/// The lines of each change in the new text; changes on one line are one.
fn ranges(old: &[u8], plan: &EditPlan) -> Vec<Lines> {
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
    if put_in.is_empty() {
        // Whole lines: with the break behind them, or with that before them.
        let from_start = begins_line && (behind.is_empty() || gone.last().is_some_and(is_break));
        let from_break = leading_break(gone) > 0 && behind.first().is_none_or(is_break);
        let first = first + usize::from(!from_start && from_break);
        return Some(Lines { first, last: first, is_removed: from_start || from_break, at, line });
    }
    // A break at its start, behind the text of a line, is that line's; one at its end is that of the last new line.
    let leading = if begins_line { 0 } else { leading_break(put_in) };
    let first = first + usize::from(leading > 0 && leading < put_in.len());
    let last = first + breaks(without_last_break(&put_in[leading.min(put_in.len() - 1)..]));
    Some(Lines { first, last, is_removed: false, at, line })
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
fn shown_lines(old: &[u8], plan: &EditPlan, ranges: &[Lines]) -> Option<Vec<(usize, String)>> {
    let wanted: usize = ranges.iter().map(|range| range.last - range.first + 1).sum();
    let removes = ranges.iter().any(|range| range.is_removed);
    if ranges.len() > SHOWN_PLACES || wanted > SHOWN_LINES || removes || plan.is_other_encoding() {
        return None;
    }
    let (mut shown, mut done) = (Vec::new(), 0);
    for (number, Lines { first, last, at, line, .. }) in ranges.iter().enumerate() {
        let until = ranges.get(number + 1).map_or(old.len(), |next| next.at.start);
        let text = new_text(old, plan, at, done..until)?;
        let lines = with_lf(std::str::from_utf8(&text).ok()?).into_owned();
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

fn told_ranges(ranges: &[Lines]) -> String {
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

/// The text before and after a change of a file in UTF-16, both in UTF-8. `None`: it is in another encoding.
fn as_utf_8(old: &[u8], plan: &EditPlan) -> Option<(String, String)> {
    let old_text = decoded(old)?;
    let mut new = Vec::with_capacity(plan.len_after(old.len()));
    // A write to memory cannot fail.
    let _ = plan.write_to(old, &mut new);
    Some((old_text, decoded(&new)?))
}

/// The text of bytes that begin with a mark of UTF-16, without it.
fn decoded(bytes: &[u8]) -> Option<String> {
    let encoding = Encoding::of_mark(bytes).filter(|encoding| encoding.unit() > 1)?;
    Some(encoding.decode_lossy(&bytes[encoding.mark().len()..]).into_owned())
}

/// The change of whole lines that makes the one text of the other.
fn line_plan(old: &[u8], new: &[u8]) -> EditPlan<'static> {
    let owned = |splice: Splice| Splice { at: splice.at, text: splice.text.into_owned().into() };
    EditPlan::new(line_changes(old, new).into_iter().map(owned).collect(), old).unwrap_or_default()
}

/// The hunks of the diff of two texts, with so many lines around the changes.
pub(super) fn diff_of(path: &str, old: &[u8], new: &[u8], context: usize) -> String {
    let wide = decoded(old).zip(decoded(new));
    let (old, new) = wide.as_ref().map_or((old, new), |(old, new)| (old.as_bytes(), new.as_bytes()));
    let whole = vec![Splice { at: 0..old.len(), text: new.into() }];
    hunks(path, old, &EditPlan::new(whole, old).unwrap_or_default(), context)
}

/// The hunks of the diff, with so many lines around the changes.
fn hunks(path: &str, old: &[u8], plan: &EditPlan, context: usize) -> String {
    let size = DiffSize { bytes: MAX_DIFF, context };
    let Some(diff) = plan_diff(path, old, plan, MAX_LINE_EDITS, size) else {
        return "[The text is not UTF-8: no diff is shown]".into();
    };
    let mut hunks = diff.text.find("@@").map_or(String::new(), |at| diff.text[at..].to_owned());
    let shown = memchr::memchr_iter(b'\n', diff.text.as_bytes()).count();
    let lines = diff.lines.saturating_sub(shown);
    if lines > 0 {
        let lines = several(lines as u64, "line");
        let _ = writeln!(
            hunks,
            "[{lines} more of this diff are not shown: it is longer than {} KB]",
            MAX_DIFF >> 10
        );
    }
    if diff.left_out > 0 {
        let _ = writeln!(hunks, "[{} changes more are not shown]", diff.left_out);
    }
    hunks
}

/// Line breaks, each of any kind.
fn breaks(text: &[u8]) -> usize {
    let feeds = memchr::memchr_iter(b'\n', text).count();
    let lone = |at: &usize| text.get(at + 1) != Some(&b'\n');
    feeds + memchr::memchr_iter(b'\r', text).filter(lone).count()
}

fn count_lines(text: &[u8]) -> usize {
    breaks(text) + usize::from(!text.is_empty() && !text.ends_with(b"\n") && !text.ends_with(b"\r"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            check(old, &splices, expected);
        }
    }

    #[test]
    fn a_diff_that_is_cut_says_so() {
        let lines =
            |word: &str| (0..1_000).map(|number| format!("line {number} {word}\n")).collect::<String>();
        let diff = diff_of("f", lines("foo").as_bytes(), lines("qux").as_bytes(), 1);
        assert!(
            diff.ends_with("lines more of this diff are not shown: it is longer than 16 KB]\n"),
            "{diff}"
        );
    }

    #[test]
    fn a_text_in_utf_16_has_its_own_lines() {
        let wide = |text: &str| {
            [&b"\xff\xfe"[..], &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat()
        };
        let diff = diff_of("f", &wide("\u{10d}\u{a0a}a\nb\nc\n"), &wide("\u{10d}\u{a0a}a\nb\nd\n"), 1);
        assert_eq!(diff, "@@ -2,2 +2,2 @@\n b\n-c\n+d\n");
    }
}
