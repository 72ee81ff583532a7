//! Finds an old text whose lines differ from the file's only in the blanks at their starts and ends.
//!
//! Pure; knows no files. It looks where the reference file system server looks when an old text is not found exactly
//! (contract 13), in one place only: several places are reported instead. Blanks are what JavaScript trims. Unlike the
//! reference, it maps the indentation of the block as a whole ([`indentation`]), or does not edit.
//!
//! Lines are separated by `\n`, `\r\n` or a lone `\r`, in all texts. Unlike in the reference, a break at the end of an old
//! text is that of its last line, and a break at its start is that of the line before the place. So the lines around a
//! place do not tell it from another one.

mod blanks;
mod hanging;
mod indentation;
mod levels;
mod plan;
#[cfg(test)]
mod tests;
mod unmoved;

pub use self::plan::{TolerantEdits, plan};
use std::borrow::Cow;
use std::ops::Range;

use self::blanks::{Line, Pieces, trim};
use self::hanging::{keeps_continuations, keeps_levels, keeps_marks, keeps_texts};
use self::indentation::{Block, Mapping};
use self::levels::Strings;
use self::unmoved::fits_unmoved;
use super::line_diff::{kept_lines, line_changes};
use super::lines::BreakKinds;
use super::splice::Splice;

/// Number of places that are reported.
const REPORTED: usize = 20;

/// Number of lines of the old and the new text together beyond which they are not mapped.
const MAPPED: usize = 1 << 18;

/// Where an old text fits, blanks aside.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tolerant {
    /// Nowhere, or where its indentation does not tell how the new text is to be indented.
    None,
    /// In one place.
    One {
        /// The bytes of the lines, with the break of the last one, or of the line before them, if the old text has it.
        range: Range<usize>,
        /// What replaces them: the new text, indented like the file. Lines that both texts have keep the file's bytes.
        /// If it is empty or starts with a break, a lone `\r` in front of the range may come to stand before a `\n`.
        new_text: Vec<u8>,
    },
    /// In several places, which may overlap.
    Several {
        /// The numbers of the first lines, counted from 0, at most 20.
        lines: Vec<usize>,
        /// Number of places.
        total: usize,
    },
    /// In one place, but the new text, once indented, is longer than allowed.
    TooLong,
}

/// Looks for `old` in `text`, whose line breaks are of these `kinds`: if there is one kind, new lines get it. The indented
/// `new` text may have at most `most` bytes.
///
/// The time is linear in the texts, but for the bounded search for the lines that both texts have. A byte order mark at
/// the start of `text` belongs to no line.
fn tolerant(text: &[u8], old: &str, new: &str, kinds: BreakKinds, most: usize) -> Tolerant {
    let edges = Edges::of(old.as_bytes());
    let places = Places::find(text, old.as_bytes(), &edges);
    match (places.total, places.lines.first()) {
        (0, _) | (_, None) => Tolerant::None,
        (1, Some(&line)) => Place { text, line, edges }.replaced(old, new, kinds, most),
        _ => Tolerant::Several { lines: places.lines, total: places.total },
    }
}

/// The change of a place by the lines that differ, so that the other lines keep their bytes in a text of another encoding.
fn changed_lines(text: &[u8], range: Range<usize>, new_text: &[u8]) -> Vec<Splice<'static>> {
    let moved = |Splice { at, text }: Splice| Splice {
        at: range.start + at.start..range.start + at.end,
        text: Cow::Owned(text.into_owned()),
    };
    line_changes(&text[range.clone()], new_text).into_iter().map(moved).collect()
}

/// What an old text has of the lines around its own: a break, with blanks outside of it or none.
struct Edges {
    /// Number of lines between the edges.
    count: usize,
    /// The end of the blanks before a break at the start, if there is one.
    before: Option<usize>,
    /// The start of the blanks behind a break at the end, if there is one.
    behind: Option<usize>,
}

impl Edges {
    /// A text of breaks and blanks keeps one line.
    fn of(old: &[u8]) -> Edges {
        let (mut count, mut first, mut last) = (0, 0..0, 0..0);
        for line in Pieces::of(old) {
            first = if count == 0 { line.clone() } else { first };
            (count, last) = (count + 1, line);
        }
        let behind = (count > 1 && trim(&old[last.clone()]).is_empty()).then_some(last.start);
        count -= usize::from(behind.is_some());
        let before = (count > 1 && trim(&old[first.clone()]).is_empty()).then_some(first.end);
        count -= usize::from(before.is_some());
        Edges { count, before, behind }
    }

    /// Whether the new text leaves the lines around it as they are: it has the same edges, with a break between them.
    fn stay(&self, old: &[u8], new: &[u8]) -> bool {
        let (mut lines, mut count) = (Pieces::of(new), 1);
        let first = lines.next().unwrap_or_default();
        let last = lines.inspect(|_| count += 1).last().unwrap_or(first.clone());
        self.before.is_none_or(|end| old[..end] == new[first])
            && self.behind.is_none_or(|start| old[start..] == new[last])
            && (count > 1 || self.before.is_none() || self.behind.is_none())
    }

    /// The edges of the new text are those of the old one, which has `count` lines, and no blank line beside them.
    fn keep(&self, kept: &mut [Option<usize>], count: usize) {
        if let (Some(_), Some(first)) = (self.before, kept.first_mut()) {
            *first = Some(0);
        }
        if let (Some(_), Some(last)) = (self.behind, kept.last_mut()) {
            *last = Some(count - 1);
        }
    }

    /// Takes the blanks of the edges from the lines.
    fn cut(&self, lines: &mut [Range<usize>]) {
        if let (Some(_), Some(first)) = (self.before, lines.first_mut()) {
            first.start = first.end;
        }
        if let (Some(_), Some(last)) = (self.behind, lines.last_mut()) {
            last.end = last.start;
        }
    }
}

/// The one place where all lines fit.
struct Place<'t> {
    text: &'t [u8],
    /// The number of its first line.
    line: usize,
    edges: Edges,
}

impl Place<'_> {
    fn replaced(&self, old: &str, new: &str, kinds: BreakKinds, most: usize) -> Tolerant {
        let mut old_at: Vec<Range<usize>> = Pieces::of(old.as_bytes()).take(MAPPED).collect();
        let mut new_at: Vec<Range<usize>> = Pieces::of(new.as_bytes()).take(MAPPED).collect();
        if MAPPED <= old_at.len() + new_at.len() || !self.edges.stay(old.as_bytes(), new.as_bytes()) {
            return Tolerant::None;
        }
        let first = self.line - usize::from(self.edges.before.is_some());
        let mut found_at: Vec<Range<usize>> =
            Pieces::of_file(self.text).skip(first).take(old_at.len()).collect();
        for lines in [&mut old_at, &mut new_at, &mut found_at] {
            self.edges.cut(lines);
        }
        let mut strings = Strings::default();
        // With the line whose break only is in the old text.
        Pieces::of_file(self.text)
            .take(self.line)
            .for_each(|line| _ = strings.pass_text(trim(&self.text[line])));
        let block = Block {
            strings,
            old: lines(old.as_bytes(), &old_at),
            found: lines(self.text, &found_at),
            new: lines(new.as_bytes(), &new_at),
        };
        let Some(mapping) = Mapping::of(&block, self.text) else { return Tolerant::None };
        let (mut kept, only) = (kept(&block), kinds.only());
        self.edges.keep(&mut kept, old_at.len());
        let (Some(first), Some(last)) = (found_at.first(), found_at.last()) else { return Tolerant::None };
        let (range, text) = (first.start..last.end, self.text);
        let breaks = |nth: usize| match (kept[nth - 1].filter(|&at| at + 1 < found_at.len()), only) {
            (Some(at), _) => &text[found_at[at].end..found_at[at + 1].start],
            (None, Some(only)) => only.as_bytes(),
            (None, None) => &new.as_bytes()[new_at[nth - 1].end..new_at[nth].start],
        };
        // First, because it bounds what the mapped lines take together.
        let mut out = match composed(&block, &mapping, &kept, breaks, most) {
            Ok(out) => out,
            Err(refused) => return refused,
        };
        if !switches::is_off("tolerant-marks") && !keeps_marks(&block, &mapping, most) {
            return Tolerant::None;
        }
        if !keeps_levels(&block, &mapping, &kept) {
            return Tolerant::None;
        }
        if !keeps_continuations(&block, &mapping, &kept, most) || !keeps_texts(&block, &mapping, &kept, most)
        {
            return Tolerant::None;
        }
        if !switches::is_off("tolerant-unmoved")
            && fits_unmoved(&block, &mapping, &kept, (text, range.clone()), most)
        {
            return Tolerant::None;
        }
        // What follows may begin with a `\n` only if the place has its last break.
        if out.ends_with(b"\r") && text[range.end..].starts_with(b"\n") {
            out.push(b'\n');
        }
        Tolerant::One { range, new_text: out }
    }
}

/// The new text with the blanks and breaks of its place. `break_before` has the break in front of the line with this number.
fn composed<'b>(
    block: &Block,
    mapping: &Mapping,
    kept: &[Option<usize>],
    break_before: impl Fn(usize) -> &'b [u8],
    most: usize,
) -> Result<Vec<u8>, Tolerant> {
    let mut out = Vec::new();
    for (nth, line) in block.new.iter().enumerate() {
        if nth > 0 {
            let brk = break_before(nth);
            // A `\r` and a `\n` of two breaks would become one break.
            out.extend_from_slice(if brk == b"\n" && out.ends_with(b"\r") { b"\r\n" } else { brk });
        }
        let left = most.saturating_sub(out.len());
        let Some(line) = put(block, kept[nth], line, |line| mapping.map(line, nth == 0, left)) else {
            return Err(Tolerant::None);
        };
        out.extend(line.concat());
        if out.len() > most {
            return Err(Tolerant::TooLong);
        }
    }
    Ok(out)
}

fn lines<'t>(text: &'t [u8], at: &[Range<usize>]) -> Vec<Line<'t>> {
    at.iter().map(|at| Line::of(&text[at.clone()])).collect()
}

/// A line of the new text with the blanks of its place. `kept` is the line of the old text that it is, blanks aside. Blanks
/// that the edit leaves as they are stay those of the file. None if the indentation is not known.
fn put<'t>(
    block: &Block<'t>,
    kept: Option<usize>,
    line: &Line<'t>,
    map: impl Fn(&Line) -> Option<Vec<u8>>,
) -> Option<[Vec<u8>; 3]> {
    let (old, found) = kept.map(|at| (block.old[at], block.found[at])).unzip();
    let head = match found.filter(|_| old == Some(*line)) {
        Some(found) => found.head.to_vec(),
        None if line.is_blank() => line.head.to_vec(),
        None => map(line)?,
    };
    let tail =
        found.filter(|_| old.is_some_and(|old| old.tail == line.tail)).map_or(line.tail, |found| found.tail);
    Some([head, line.core.to_vec(), tail.to_vec()])
}

/// For each line of the new text, the line of the old one that it is, blanks aside.
fn kept(block: &Block) -> Vec<Option<usize>> {
    kept_lines(block.old.iter().map(|line| line.core), block.new.iter().map(|line| line.core))
}

/// The places where all lines fit.
#[derive(Default)]
struct Places {
    /// The numbers of their first lines, as many as are reported.
    lines: Vec<usize>,
    total: usize,
}

impl Places {
    /// Knuth, Morris and Pratt over trimmed lines, so that many blank lines take linear time.
    fn find(text: &[u8], old: &[u8], edges: &Edges) -> Places {
        let mut places = Places::default();
        let (count, before) = (edges.count, usize::from(edges.before.is_some()));
        if Pieces::of_file(text).nth(count - 1).is_none() {
            return places;
        }
        let sought: Vec<&[u8]> =
            Pieces::of(old).skip(before).take(count).map(|line| trim(&old[line])).collect();
        let borders = borders(&sought);
        let mut fit = 0;
        for (number, line) in Pieces::of_file(text).enumerate() {
            fit = next_fit(&sought, &borders, fit, trim(&text[line.clone()]));
            if fit == count {
                let (first, has_break) = (number + 1 - count, line.end < text.len());
                if before <= first && (has_break || edges.behind.is_none()) {
                    if places.lines.len() < REPORTED {
                        places.lines.push(first);
                    }
                    places.total += 1;
                }
                fit = borders[fit - 1] as usize;
            }
        }
        places
    }
}

/// For each number of first lines, less one: how many of them, but not all, are also the last of them.
fn borders(sought: &[&[u8]]) -> Vec<u32> {
    let mut borders = vec![0];
    for &line in &sought[1..] {
        let fit = borders.last().map_or(0, |&fit| fit as usize);
        borders.push(next_fit(sought, &borders, fit, line) as u32);
    }
    borders
}

/// How many of the first lines sought fit, up to `line`, if `fit` of them did before it.
fn next_fit(sought: &[&[u8]], borders: &[u32], mut fit: usize, line: &[u8]) -> usize {
    while sought[fit] != line {
        if fit == 0 {
            return 0;
        }
        fit = borders[fit - 1] as usize;
    }
    fit + 1
}
