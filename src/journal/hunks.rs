//! The lines that a change touched, as they can be found again in a text that has changed since.
//!
//! A hunk keeps the bytes that were replaced, and hashes of its lines and of the lines around: few bytes, whatever the length of
//! the file.

use std::collections::HashMap;
use std::ops::Range;

use super::hash;
use serde::{Deserialize, Serialize};
use text::line_diff::line_changes;
use text::splice::{EditPlan, Splice};

/// The longest texts whose lines are compared, in bytes.
const MOST_COMPARED: usize = 4 << 20;

/// The most places in a text that are looked at for one hunk. Beyond, its lines are not unique.
const MOST_CANDIDATES: usize = 1_000;

/// How far away lines are looked for only to be shown, and the longest ones, in bytes.
const MOST_AWAY: usize = 4 << 10;

/// Lines that a change made, with what they were made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The bytes in the new text that hold all of these lines. Empty if lines were only removed.
    pub at: Range<usize>,
    /// [`hash`] of these bytes.
    pub hash: u64,
    /// The line before, and the line behind.
    pub around: [Neighbour; 2],
    /// Whether the new text had these lines, between these neighbours, once.
    pub is_unique: bool,
    /// What was replaced in these lines, in order.
    pub replaced: Vec<Replaced>,
}

/// A replacement: where, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// Where the new bytes begin, in bytes behind the start of the hunk.
    pub start: usize,
    /// The bytes before.
    pub old: Vec<u8>,
    /// The bytes after.
    pub new: Vec<u8>,
}

/// A line beside a hunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Neighbour {
    /// Its length in bytes; 0 at the border of the text.
    pub len: usize,
    /// The lower half of its [`hash`].
    pub hash: u32,
}

/// The marks of encodings at the beginning of a text in which a line break is the last byte of a line.
const MARKS: [&[u8]; 2] = [b"\xef\xbb\xbf", b"\xfe\xff"];

impl Neighbour {
    /// A mark is no text of the line behind it: it stays where it is when lines are put in there.
    fn of(line: &[u8]) -> Neighbour {
        let line = MARKS.iter().find_map(|mark| line.strip_prefix(*mark)).unwrap_or(line);
        Neighbour { len: line.len(), hash: hash(line) as u32 }
    }
}

impl Hunk {
    /// These lines and their neighbours in the new text.
    pub(crate) fn region(&self) -> Range<usize> {
        let [before, behind] = self.around;
        self.at.start.saturating_sub(before.len)..self.at.end.saturating_add(behind.len)
    }

    /// Where its lines are in `now`, if there are any: the place that is nearest to `start`.
    pub(crate) fn nearest(&self, now: &[u8], start: usize) -> Option<Range<usize>> {
        let len = self.at.len();
        let (from, to) = (start.saturating_sub(MOST_AWAY), start.saturating_add(MOST_AWAY).min(now.len()));
        if len == 0 || len > MOST_AWAY || from >= to {
            return None;
        }
        let starts = memchr::memchr_iter(b'\n', &now[from..to]).map(|feed| from + feed + 1);
        let lines = starts.chain((from == 0).then_some(0)).map(|at| at..at + len);
        let is_there =
            |lines: &Range<usize>| now.get(lines.clone()).is_some_and(|lines| hash(lines) == self.hash);
        lines.filter(is_there).min_by_key(|lines| lines.start.abs_diff(start))
    }

    /// Whether the text begins with these lines, and whether it ends with them.
    pub(crate) fn is_at_border(&self) -> [bool; 2] {
        self.around.map(|neighbour| neighbour.len == 0)
    }
}

/// Each change of `plan` as a hunk of its own bytes, which is not found by its lines.
pub(super) fn by_bytes(plan: &EditPlan, old: &[u8]) -> Vec<Hunk> {
    let len = plan.len_after(old.len());
    // Each has a byte for a neighbour, where there is one.
    let beside = |is_there: bool| Neighbour { len: usize::from(is_there), hash: 0 };
    let hunk = |(at, replaced): (Range<usize>, Replaced)| Hunk {
        around: [beside(at.start > 0), beside(at.end < len)],
        at,
        hash: 0,
        is_unique: false,
        replaced: vec![replaced],
    };
    replacements(plan, old).map(hunk).collect()
}

/// The hunks of `plan`, which makes `new` of `old`. Changes of lines that touch are of one hunk.
pub(super) fn of(plan: &EditPlan, old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let mut hunks = Vec::<Hunk>::new();
    for (at, replaced) in replacements(plan, old) {
        // Of many changes in one line, its ends are looked for once.
        if let Some(last) = hunks.last_mut().filter(|last| at.end < last.at.end) {
            last.replaced.push(Replaced { start: at.start - last.at.start, ..replaced });
            continue;
        }
        let lines = whole_lines(new, at.clone());
        let (hash, around, is_unique) = (0, [Neighbour::default(); 2], false);
        match hunks.last_mut() {
            Some(last) if last.at.end >= lines.start => {
                last.replaced.push(Replaced { start: at.start - last.at.start, ..replaced });
                last.at.end = last.at.end.max(lines.end);
            }
            _ => {
                let replaced = vec![Replaced { start: at.start - lines.start, ..replaced }];
                hunks.push(Hunk { at: lines, hash, around, is_unique, replaced });
            }
        }
    }
    for hunk in &mut hunks {
        hunk.hash = hash(&new[hunk.at.clone()]);
        hunk.around = [
            Neighbour::of(&new[line_start(new, hunk.at.start.saturating_sub(1))..hunk.at.start]),
            Neighbour::of(&new[hunk.at.end..line_end(new, hunk.at.end)]),
        ];
    }
    let lines = Lines::of(new, &hunks);
    let is_unique: Vec<bool> = hunks.iter().map(|hunk| lines.find(hunk) == Some(hunk.at.start)).collect();
    hunks.iter_mut().zip(is_unique).for_each(|(hunk, is_unique)| hunk.is_unique = is_unique);
    hunks
}

/// The changes of `plan`, with their bytes in the new text.
fn replacements<'p>(
    plan: &'p EditPlan,
    old: &'p [u8],
) -> impl Iterator<Item = (Range<usize>, Replaced)> + 'p {
    let (mut shift, mut splices, mut done) = (0_isize, plan.splices().peekable(), 0);
    let lines = std::iter::from_fn(move || {
        let splice = splices.next()?;
        let free = done..splices.peek().map_or(old.len(), |next| next.at.start);
        done = splice.at.end;
        Some(by_lines(splice, old, free))
    });
    lines.flatten().map(move |(at, new)| {
        let start = at.start.saturating_add_signed(shift);
        shift += new.len() as isize - at.len() as isize;
        let old = old[at].to_vec();
        (start..start + new.len(), Replaced { start: 0, old, new })
    })
}

/// A change of many lines as those of the lines that differ: of the old bytes, by the new ones. `free`: where nothing else changes.
fn by_lines(splice: Splice, old: &[u8], free: Range<usize>) -> Vec<(Range<usize>, Vec<u8>)> {
    let Splice { at, text } = splice;
    let gone = &old[at.clone()];
    let has_lines = |text: &[u8]| memchr::memchr(b'\n', text).is_some();
    let touched =
        if has_lines(gone) || has_lines(&text) { touched_lines(old, &at, &text, free) } else { None };
    let Some(lines) = touched.filter(|lines| lines.len() <= MOST_COMPARED && text.len() <= MOST_COMPARED)
    else {
        return vec![(at, text.into_owned())];
    };
    let (head, tail) = (&old[lines.start..at.start], &old[at.end..lines.end]);
    let (gone, new) = (&old[lines.clone()], [head, &text, tail].concat());
    if !has_lines(gone) || !has_lines(&new) {
        return vec![(at, text.into_owned())];
    }
    let of_lines = |change: Splice| {
        let Splice { at: Range { mut start, mut end }, text } = change;
        let (mut from, mut to) = (0, text.len());
        // Of the first and the last line, only what was changed.
        let replaces = start < end && !text.is_empty();
        if replaces && end == gone.len() {
            (end, to) = (end - tail.len(), to - tail.len());
        }
        if replaces && start == 0 {
            (start, from) = (head.len(), head.len());
        }
        (lines.start + start..lines.start + end, text[from..to].to_vec())
    };
    line_changes(gone, &new).into_iter().map(of_lines).collect()
}

/// The whole lines in `free` that a change of the bytes `at` touches. `None`: another change is in them, too.
fn touched_lines(old: &[u8], at: &Range<usize>, new: &[u8], free: Range<usize>) -> Option<Range<usize>> {
    let before = memchr::memrchr(b'\n', &old[free.start..at.start]).map(|feed| free.start + feed + 1);
    let is_start = |at: usize| at == 0 || old[at - 1] == b'\n';
    let start = before.or_else(|| is_start(free.start).then_some(free.start))?;
    // Whole lines that end there, or are put in there.
    if is_start(at.end) && (new.is_empty() || new.ends_with(b"\n")) {
        return Some(start..at.end);
    }
    let behind = memchr::memchr(b'\n', &old[at.end..free.end]).map(|feed| at.end + feed + 1);
    Some(start..behind.or_else(|| (free.end == old.len()).then_some(free.end))?)
}

/// The range of the whole lines that `range` touches. Between two lines it touches none.
fn whole_lines(text: &[u8], range: Range<usize>) -> Range<usize> {
    let start = line_start(text, range.start);
    let is_whole = match range.is_empty() {
        true => start == range.start,
        false => text[..range.end].ends_with(b"\n"),
    };
    start..if is_whole { range.end } else { line_end(text, range.end) }
}

/// A range of whole lines with the line before and the line behind, without its last break.
pub(super) fn with_neighbours(text: &[u8], lines: Range<usize>) -> Range<usize> {
    let (start, end) = (line_start(text, lines.start.saturating_sub(1)), line_end(text, lines.end));
    start..if text[start..end].ends_with(b"\n") { end - 1 } else { end }
}

/// The start of the line in which `at` is, or which begins there.
fn line_start(text: &[u8], at: usize) -> usize {
    memchr::memrchr(b'\n', &text[..at]).map_or(0, |feed| feed + 1)
}

/// The end of the line in which `at` is, behind its break.
fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |feed| at + feed + 1)
}

/// The lines of a text that some hunks may stand behind.
pub(super) struct Lines<'t> {
    text: &'t [u8],
    /// The ends of all that are equal.
    ends: HashMap<Neighbour, Vec<usize>>,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t [u8], hunks: &[Hunk]) -> Lines<'t> {
        let mut ends: HashMap<Neighbour, Vec<usize>> =
            hunks.iter().map(|hunk| (hunk.around[0], Vec::new())).collect();
        ends.entry(Neighbour::of(b"")).or_default().push(0);
        let mut start = 0;
        while start < text.len() {
            let end = line_end(text, start);
            let wanted = ends.get_mut(&Neighbour::of(&text[start..end]));
            if let Some(known) = wanted.filter(|known| known.len() <= MOST_CANDIDATES) {
                known.push(end);
            }
            start = end;
        }
        Lines { text, ends }
    }

    /// Where the lines of `hunk` are between their neighbours, if they are there once.
    pub(super) fn find(&self, hunk: &Hunk) -> Option<usize> {
        let [before, behind] = hunk.around;
        let candidates = self.ends.get(&before).filter(|ends| ends.len() <= MOST_CANDIDATES)?;
        let is_there = |start: usize| {
            let end = start.saturating_add(hunk.at.len());
            let Some(lines) = self.text.get(start..end) else { return false };
            hash(lines) == hunk.hash && Neighbour::of(&self.text[end..line_end(self.text, end)]) == behind
        };
        let mut found = candidates.iter().copied().filter(|start| is_there(*start));
        found.next().filter(|_| found.next().is_none())
    }
}
