//! Builds a unified diff from the changes alone.
//!
//! Pure; reads only those parts of the old text that the hunks show. As in `diff` and `patch`, only `\n` ends
//! a line here, unlike in the rest of the engine, so that `patch -p1` accepts the diff.

use std::ops::Range;

use super::lines::LineIndex;
use super::splice::{EditPlan, Splice, Splices};

/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// A unified diff, or as much of it as fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// The diff; empty if nothing changes. It ends with a hunk.
    pub text: String,
    /// Number of hunks in it.
    pub hunks: usize,
    /// Number of hunks that did not fit.
    pub more: usize,
}

/// The diff of `plan` on the text `old` of the file `name`, at most `most` bytes.
pub fn unified(index: &LineIndex, old: &[u8], plan: &EditPlan, name: &str, most: usize) -> Diff {
    let mut diff = Diff::default();
    let lines = OldLines { old, index: (!index.break_kinds().cr).then_some(index) };
    let (mut at, mut number) = (0, 0);
    let mut moved = 0i64;
    let mut hunks = lines.hunks(plan.splices(), most).peekable();
    if hunks.peek().is_some() {
        // A tab ends a name with spaces; without it, patch ends the name at the first space.
        let tab = if name.contains(' ') { "\t" } else { "" };
        diff.text = format!("--- a/{name}{tab}\n+++ b/{name}{tab}\n");
    }
    for hunk in hunks {
        if diff.more > 0 || hunk.groups.is_none() || hunk.len() > most {
            diff.more += 1;
            continue;
        }
        if hunk.at.start < at {
            // The text is changing during the diff. The commit of the plan detects that.
            break;
        }
        number += lines.count(at..hunk.at.start);
        at = hunk.at.start;
        let mut body = hunk.body(old);
        if body.added + body.removed == 0 {
            // The changes in this hunk undo each other.
            continue;
        }
        let cut = body.cut_context() as i64;
        let added = body.added as i64 - body.removed as i64;
        let start = |first: i64, len: usize| first + i64::from(len > 0);
        let (old_len, new_len) = (body.removed + body.kept, body.added + body.kept);
        let head = format!(
            "@@ -{},{old_len} +{},{new_len} @@\n",
            start(number as i64 + cut, old_len),
            start(number as i64 + cut + moved, new_len)
        );
        if diff.text.len() + head.len() + body.text.len() > most {
            diff.more += 1;
            continue;
        }
        moved += added;
        diff.text += &head;
        diff.text += &body.text;
        diff.hunks += 1;
    }
    if diff.hunks == 0 {
        diff.text.clear();
    }
    diff
}

/// The old text, in lines that end with `\n`.
struct OldLines<'o> {
    old: &'o [u8],
    /// The index, if every line break in the text is or ends with `\n`.
    index: Option<&'o LineIndex>,
}

/// Changes whose context lines touch or overlap.
struct Hunk<'p> {
    /// The whole lines of the old text.
    at: Range<usize>,
    /// The lines that the last change touches, with earlier changes that share lines with it.
    last: Range<usize>,
    /// Number of inserted bytes.
    put_in: usize,
    /// The changes from the first one of this hunk on.
    splices: Splices<'p>,
    /// Ranges of lines that changes share, with the number of changes. `None` if the hunk is too large.
    groups: Option<Vec<(Range<usize>, usize)>>,
}

/// The text of a hunk and its line counts.
#[derive(Default)]
struct HunkBody {
    text: String,
    kept: usize,
    removed: usize,
    added: usize,
}

impl OldLines<'_> {
    /// Number of lines that start in `range`, which must start at a line start.
    fn count(&self, range: Range<usize>) -> usize {
        match self.index {
            Some(index) => index.line_at(range.end, self.old) - index.line_at(range.start, self.old),
            None => memchr::memchr_iter(b'\n', &self.old[range]).count(),
        }
    }

    fn start(&self, at: usize) -> usize {
        memchr::memrchr(b'\n', &self.old[..at]).map_or(0, |brk| brk + 1)
    }

    fn end(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.old[at..]).map_or(self.old.len(), |brk| at + brk + 1)
    }

    fn back(&self, at: usize, lines: usize) -> usize {
        (0..lines).fold(at, |at, _| if at == 0 { 0 } else { self.start(at - 1) })
    }

    fn forth(&self, at: usize, lines: usize) -> usize {
        (0..lines).fold(at, |at, _| self.end(at))
    }

    /// Whether a line starts at `at`.
    fn starts(&self, at: usize) -> bool {
        at == 0 || self.old[at - 1] == b'\n'
    }

    /// The lines of the old text that a change touches; `known` are those of the change before it. Does not
    /// search inside `known` again, because a line can be as long as the text.
    fn touched(&self, splice: &Splice, known: Option<&Range<usize>>) -> Range<usize> {
        let inside = known.filter(|known| splice.at.start < known.end);
        let start = inside.map_or_else(|| self.start(splice.at.start), |known| known.start);
        let new_ends_line = splice.text.last().is_none_or(|&byte| byte == b'\n');
        let whole = self.starts(splice.at.start) && self.starts(splice.at.end) && new_ends_line;
        // A change of whole lines does not touch the line after it.
        let end = match inside {
            Some(known) if splice.at.end < known.end => known.end,
            _ if whole => splice.at.end,
            _ => self.end(splice.at.end),
        };
        start..end
    }

    /// The hunks. A hunk of more than `most` bytes has no `groups`.
    fn hunks<'p>(&self, mut splices: Splices<'p>, most: usize) -> impl Iterator<Item = Hunk<'p>> {
        std::iter::from_fn(move || {
            let mut rest = splices;
            let first = rest.next()?;
            let mut hunk = Hunk::of(self.touched(&first, None), splices);
            hunk.add(hunk.last.clone(), first.text.len(), most);
            splices = rest;
            while let Some(splice) = rest.next() {
                let lines = self.touched(&splice, Some(&hunk.last));
                if hunk.at.end < lines.start
                    && self.back(lines.start, CONTEXT) > self.forth(hunk.at.end, CONTEXT)
                {
                    break;
                }
                hunk.add(lines, splice.text.len(), most);
                splices = rest;
            }
            hunk.at = self.back(hunk.at.start, CONTEXT)..self.forth(hunk.at.end, CONTEXT);
            Some(hunk)
        })
    }
}

impl<'p> Hunk<'p> {
    /// An empty hunk that starts with the first of `splices`, a change of `lines`.
    fn of(lines: Range<usize>, splices: Splices<'p>) -> Hunk<'p> {
        Hunk { at: lines.clone(), last: lines, put_in: 0, splices, groups: Some(Vec::new()) }
    }

    /// Adds the next change, which touches `lines` and inserts `put_in` bytes.
    fn add(&mut self, lines: Range<usize>, put_in: usize, most: usize) {
        self.put_in += put_in;
        self.at.end = self.at.end.max(lines.end);
        let is_first = self.groups.as_ref().is_some_and(Vec::is_empty);
        let shares = !is_first && lines.start < self.last.end;
        self.last = if shares { self.last.start..self.last.end.max(lines.end) } else { lines };
        let Some(groups) = &mut self.groups else { return };
        match groups.last_mut().filter(|_| shares) {
            Some((lines, count)) => (lines.end, *count) = (self.last.end, *count + 1),
            None => groups.push((self.last.clone(), 1)),
        }
        if self.len() > most {
            self.groups = None;
        }
    }

    /// Minimum length in bytes: each group has at least one line with a mark in front.
    fn len(&self) -> usize {
        self.at.len() + self.put_in + self.groups.as_ref().map_or(0, Vec::len)
    }

    fn body(&self, old: &[u8]) -> HunkBody {
        let mut body = HunkBody::default();
        let (mut done, mut splices) = (self.at.start, self.splices);
        for (lines, count) in self.groups.iter().flatten() {
            body.kept += body.put(' ', &old[done..lines.start]);
            let (mut new, mut copied) = (Vec::new(), lines.start);
            for splice in splices.by_ref().take(*count) {
                new.extend_from_slice(&old[copied..splice.at.start]);
                new.extend_from_slice(&splice.text);
                copied = splice.at.end;
            }
            new.extend_from_slice(&old[copied..lines.end]);
            body.change(&old[lines.clone()], &new);
            done = lines.end;
        }
        body.kept += body.put(' ', &old[done..self.at.end]);
        body
    }
}

impl HunkBody {
    /// Replaces old lines by new ones; keeps the lines that both begin or end with.
    fn change(&mut self, old: &[u8], new: &[u8]) {
        let (old, new) = (lines_of(old), lines_of(new));
        let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - head;
        let tail =
            old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        self.kept += self.put(' ', &old[..head].concat());
        self.removed += self.put('-', &old[head..old.len() - tail].concat());
        self.added += self.put('+', &new[head..new.len() - tail].concat());
        self.kept += self.put(' ', &old[old.len() - tail..].concat());
    }

    /// Cuts surplus context, which unchanged lines at the start or end of a change cause: with more context
    /// on one side, patch assumes an end of the file. Returns the number of lines cut in front.
    fn cut_context(&mut self) -> usize {
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let is_context = |line: &&&str| line.starts_with(' ');
        let front = lines.iter().take_while(is_context).count().saturating_sub(CONTEXT);
        let back = lines.iter().rev().take_while(is_context).count().saturating_sub(CONTEXT);
        let text = lines[front..lines.len() - back].concat();
        self.kept -= front + back;
        self.text = text;
        front
    }

    /// Adds lines of one kind. Returns their number.
    fn put(&mut self, kind: char, bytes: &[u8]) -> usize {
        let lines = lines_of(bytes);
        for line in &lines {
            self.text.push(kind);
            self.text += &String::from_utf8_lossy(line);
            if !line.ends_with(b"\n") {
                self.text += "\n\\ No newline at end of file\n";
            }
        }
        lines.len()
    }
}

fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}
