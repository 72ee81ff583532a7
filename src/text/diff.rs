//! Builds a unified diff from the changes alone.
//!
//! Pure; reads only those parts of the old text that the hunks show. As in `diff` and `patch`, only `\n` ends
//! a line here, unlike in the rest of the engine, so that `patch -p1` accepts the diff. The text may be in any encoding;
//! the diff is in UTF-8.

use std::ops::Range;

use super::lines::LineIndex;
use super::splice::{EditPlan, Splice, Splices};
use crate::encoding::{Encoding, newlines_in};

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
    let index = (!index.break_kinds().cr).then_some(index);
    OldLines { old, encoding: Encoding::Utf8, index }.diff(plan, name, most)
}

/// The same for a text in an encoding, all of whose changes begin and end at units of it. Bytes that are no character are
/// shown as U+FFFD.
pub fn unified_in(encoding: Encoding, old: &[u8], plan: &EditPlan, name: &str, most: usize) -> Diff {
    OldLines { old, encoding, index: None }.diff(plan, name, most)
}

/// The old text, in lines that end with `\n`.
struct OldLines<'o> {
    old: &'o [u8],
    encoding: Encoding,
    /// The index, if it is known and every line break in the text is or ends with `\n`.
    index: Option<&'o LineIndex>,
}

/// Where the last change ends in the old text, and whether the new text is inside a line there.
#[derive(Clone, Copy)]
struct Edge {
    at: usize,
    is_open: bool,
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
struct HunkBody {
    encoding: Encoding,
    text: String,
    kept: usize,
    removed: usize,
    added: usize,
}

impl OldLines<'_> {
    /// See [`unified`].
    fn diff(&self, plan: &EditPlan, name: &str, most: usize) -> Diff {
        let mut diff = Diff::default();
        let (mut at, mut number) = (0, 0);
        let mut moved = 0i64;
        // A character of several bytes may have one byte in UTF-8.
        let longest = most.saturating_mul(self.encoding.unit());
        let mut hunks = self.hunks(plan.splices(), longest).peekable();
        if hunks.peek().is_some() {
            // A tab ends a name with spaces; without it, patch ends the name at the first space.
            let tab = if name.contains(' ') { "\t" } else { "" };
            diff.text = format!("--- a/{name}{tab}\n+++ b/{name}{tab}\n");
        }
        for hunk in hunks {
            if diff.more > 0 || hunk.groups.is_none() || hunk.len() > longest {
                diff.more += 1;
                continue;
            }
            if hunk.at.start < at {
                // The text is changing during the diff. The commit of the plan detects that.
                break;
            }
            number += self.count(at..hunk.at.start);
            at = hunk.at.start;
            let mut body = hunk.body(self);
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

    /// Number of lines that start in `range`, which must start at a line start.
    fn count(&self, range: Range<usize>) -> usize {
        match (self.index, self.encoding.unit()) {
            (Some(index), _) => index.line_at(range.end, self.old) - index.line_at(range.start, self.old),
            (None, 1) => memchr::memchr_iter(b'\n', &self.old[range]).count(),
            (None, _) => newlines_in(self.encoding, &self.old[range]).count(),
        }
    }

    fn start(&self, at: usize) -> usize {
        let last = newlines_in(self.encoding, &self.old[..at]).next_back();
        last.map_or(0, |brk| brk + self.encoding.unit())
    }

    fn end(&self, at: usize) -> usize {
        let first = newlines_in(self.encoding, &self.old[at..]).next();
        first.map_or(self.old.len(), |brk| at + brk + self.encoding.unit())
    }

    fn back(&self, at: usize, lines: usize) -> usize {
        (0..lines).fold(at, |at, _| self.start(at.saturating_sub(self.encoding.unit())))
    }

    fn forth(&self, at: usize, lines: usize) -> usize {
        (0..lines).fold(at, |at, _| self.end(at))
    }

    /// Whether a line starts at `at`.
    fn starts(&self, at: usize) -> bool {
        at == 0 || ends_line(self.encoding, &self.old[..at])
    }

    /// The edge at the end of a change; `before` is that of the change before it.
    fn edge(&self, splice: &Splice, before: Option<Edge>) -> Edge {
        let is_open = match (&*splice.text, before) {
            (b"", Some(before)) if before.at == splice.at.start => before.is_open,
            (b"", _) => !self.starts(splice.at.start),
            (text, _) => !ends_line(self.encoding, text),
        };
        Edge { at: splice.at.end, is_open }
    }

    /// The lines of the old text that a change touches; `known` are those of the change before it, and its edge. Does not
    /// search inside `known` again, because a line can be as long as the text.
    fn touched(&self, splice: &Splice, edge: Edge, known: Option<(&Range<usize>, Edge)>) -> Range<usize> {
        // At the end of the text, an open change may touch no line, and the next one goes on with its own.
        let goes_on = |before: Edge| before.is_open && before.at == splice.at.start;
        let inside = known.filter(|(known, before)| splice.at.start < known.end || goes_on(*before));
        let inside = inside.map(|(known, _)| known);
        let start = inside.map_or_else(|| self.start(splice.at.start), |known| known.start);
        // The line after a change stays as it is if it is one in the old text and in the new one.
        let is_whole = !edge.is_open && self.starts(splice.at.end);
        let end = match inside {
            Some(known) if splice.at.end < known.end => known.end,
            _ if is_whole => splice.at.end,
            _ => self.end(splice.at.end),
        };
        start..end
    }

    /// The hunks. A hunk of more than `most` bytes has no `groups`.
    fn hunks<'p>(&self, mut splices: Splices<'p>, most: usize) -> impl Iterator<Item = Hunk<'p>> {
        let mut last = None;
        std::iter::from_fn(move || {
            let mut rest = splices;
            let first = rest.next()?;
            let mut edge = self.edge(&first, last);
            let mut hunk = Hunk::of(self.touched(&first, edge, None), splices);
            hunk.add(hunk.last.clone(), first.text.len(), most);
            splices = rest;
            while let Some(splice) = rest.next() {
                let next = self.edge(&splice, Some(edge));
                let lines = self.touched(&splice, next, Some((&hunk.last, edge)));
                if hunk.at.end < lines.start
                    && self.back(lines.start, CONTEXT) > self.forth(hunk.at.end, CONTEXT)
                {
                    break;
                }
                hunk.add(lines, splice.text.len(), most);
                (splices, edge) = (rest, next);
            }
            last = Some(edge);
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
        let shares = !is_first && (lines.start < self.last.end || lines.start == self.last.start);
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

    fn body(&self, lines: &OldLines) -> HunkBody {
        let OldLines { old, encoding, .. } = *lines;
        let mut body = HunkBody { encoding, text: String::new(), kept: 0, removed: 0, added: 0 };
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
        let (old, new) = (lines_of(self.encoding, old), lines_of(self.encoding, new));
        let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - head;
        let tail =
            old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        self.kept += self.put_lines(' ', &old[..head]);
        self.removed += self.put_lines('-', &old[head..old.len() - tail]);
        self.added += self.put_lines('+', &new[head..new.len() - tail]);
        self.kept += self.put_lines(' ', &old[old.len() - tail..]);
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
        self.put_lines(kind, &lines_of(self.encoding, bytes))
    }

    fn put_lines(&mut self, kind: char, lines: &[&[u8]]) -> usize {
        for line in lines {
            self.text.push(kind);
            self.text += &self.encoding.decode_lossy(line);
            if !ends_line(self.encoding, line) {
                self.text += "\n\\ No newline at end of file\n";
            }
        }
        lines.len()
    }
}

fn lines_of(encoding: Encoding, bytes: &[u8]) -> Vec<&[u8]> {
    let (mut lines, mut start) = (Vec::new(), 0);
    for at in newlines_in(encoding, bytes) {
        let end = at + encoding.unit();
        lines.push(&bytes[start..end]);
        start = end;
    }
    if start < bytes.len() {
        lines.push(&bytes[start..]);
    }
    lines
}

/// Whether a text, which begins at a unit, ends with `\n`.
fn ends_line(encoding: Encoding, text: &[u8]) -> bool {
    let unit = encoding.unit();
    let last = text.len().checked_sub(unit).filter(|last| last.is_multiple_of(unit));
    last.is_some_and(|last| newlines_in(encoding, &text[last..]).next().is_some())
}

#[cfg(test)]
mod tests;
