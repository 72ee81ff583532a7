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

impl Neighbour {
    fn of(line: &[u8]) -> Neighbour {
        Neighbour { len: line.len(), hash: hash(line) as u32 }
    }
}

impl Hunk {
    /// These lines and their neighbours in the new text.
    pub(crate) fn region(&self) -> Range<usize> {
        let [before, behind] = self.around;
        self.at.start.saturating_sub(before.len)..self.at.end.saturating_add(behind.len)
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
    let mut shift = 0_isize;
    plan.splices().flat_map(|splice| by_lines(splice, old)).map(move |(at, new)| {
        let start = at.start.saturating_add_signed(shift);
        shift += new.len() as isize - at.len() as isize;
        let old = old[at].to_vec();
        (start..start + new.len(), Replaced { start: 0, old, new })
    })
}

/// A change of many lines as those of the lines that differ: of the old bytes, by the new ones.
fn by_lines(splice: Splice, old: &[u8]) -> Vec<(Range<usize>, Vec<u8>)> {
    let gone = &old[splice.at.clone()];
    let has_lines = |text: &[u8]| text.len() <= MOST_COMPARED && memchr::memchr(b'\n', text).is_some();
    if !has_lines(gone) || !has_lines(&splice.text) || line_start(old, splice.at.start) != splice.at.start {
        return vec![(splice.at, splice.text.into_owned())];
    }
    let changes = line_changes(gone, &splice.text).into_iter();
    let start = splice.at.start;
    changes.map(|inner| (start + inner.at.start..start + inner.at.end, inner.text.into_owned())).collect()
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
