//! The answer to a job that was done: how many places in how many files, and on which lines (contract 19).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use crate::tools::balance::several;
use crate::tools::limited::{content, within_tokens};
use crate::tools::numbered::with_lf;
use crate::tools::{AnswerLimit, OutputKinds, Reply};
use engine::{JobChange, JobDone, Recorded};
use text::line_diff::{DiffSize, MAX_LINE_EDITS, plan_diff};
use text::shown::shown_line;
use text::splice::EditPlan;

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
                Told {
                    is_file: true,
                    ..name(path, format!("new, {}", several(count_lines(&text) as u64, "line")))
                }
            }
            JobChange::Content { path, is_new: false, old, plan } => {
                let ranges = ranges(old, plan);
                let diff = with_diff.then(|| hunks(path, old, plan, CONTEXT));
                let (lines, what) = (shown_lines(old, plan, &ranges), told_ranges(&ranges));
                Told { path: path.into(), places: plan.count(), is_file: true, what, lines, diff }
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
    cut(&mut text, limit.without(&notes));
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

/// Cuts a text that is longer than answers may be at the end of a line, and says so.
pub(super) fn cut(text: &mut String, limit: AnswerLimit) {
    let Some(most) = limit.bytes else { return };
    if text.len() <= most && within_tokens(text.as_bytes(), limit.tokens) == text.len() {
        return;
    }
    let most = most.min(within_tokens(text.as_bytes(), limit.tokens_without(LAST_LINE)));
    let end = text::lines::char_boundary(text.as_bytes(), most.saturating_sub(LAST_LINE));
    let end = text[..end].rfind('\n').unwrap_or(end);
    let left = count_lines(&text.as_bytes()[end..]);
    text.truncate(end);
    let _ = write!(text, "\n[{} more are not shown]", several(left as u64, "line"));
}

/// Lines of the new text, from 1, that a change has made. None are left of what was only removed.
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
        let (gone, new) = (&old[splice.at.clone()], &*splice.text);
        // A break before which a text is put in, or behind which one is added, is no change of its line.
        let same = gone.iter().zip(new).take_while(|(gone, new)| gone == new).count();
        let is_behind_line = splice.at.start > 0 && !matches!(old[splice.at.start - 1], b'\n' | b'\r');
        let leading = if gone.is_empty() && is_behind_line { leading_break(new) } else { 0 };
        let first = line + breaks(&new[..same.max(leading)]);
        let last = line + breaks(new.strip_suffix(b"\n").unwrap_or(new));
        match ranges.last_mut() {
            Some(before) if before.last == first && !before.is_removed => {
                (before.last, before.at.end) = (last.max(first), splice.at.end);
            }
            _ => {
                let (last, is_removed) = (last.max(first), new.len() == same);
                ranges.push(Lines { first, last, is_removed, at: splice.at.clone(), line });
            }
        }
        line += breaks(new);
    }
    ranges
}

/// The length of the line break at the start of a text.
fn leading_break(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
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

/// The hunks of the diff, with so many lines around the changes.
pub(super) fn hunks(path: &str, old: &[u8], plan: &EditPlan, context: usize) -> String {
    let size = DiffSize { bytes: MAX_DIFF, context };
    let Some(diff) = plan_diff(path, old, plan, MAX_LINE_EDITS, size) else {
        return "[The text is not UTF-8: no diff is shown]".into();
    };
    let mut hunks = diff.text.find("@@").map_or(String::new(), |at| diff.text[at..].to_owned());
    if diff.left_out > 0 {
        let _ = write!(hunks, "[{} changes more are not shown]", diff.left_out);
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
