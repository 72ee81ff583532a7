//! One old_text: the stretches by which it can be found, and the definition of a match.
//!
//! Pure; knows pieces and line breaks. A `\r\n` is one break: no match starts or ends inside it. Candidates
//! are found by an anchor, the stretch of the old_text that is probably rarest in the text. If there are so
//! many anchors that comparing around them costs more than a few passes over the text, the search starts
//! again with [`linear`], whose cost does not depend on them.

use std::collections::HashMap;
use std::ops::Range;

use crate::order;
use crate::text_edit::search::haystack::Haystacks;
use crate::text_edit::search::linear::{self, LineBreaks};
use crate::text_edit::search::multi_pattern::MAX_NEEDLE;
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::matches::Sought;
use crate::text_edit::table::piece_table::PieceTable;
use crate::text_edit::table::snippet::{break_after, break_before};
use crate::text_edit::work;
use crate::{Result, Stop};

/// Bytes compared before the next check of the deadline.
const UNTIL_CHECK: u64 = 16 << 20;

/// Cost limit of failed comparisons around anchors, as a number of passes over the text and the old_text; and
/// the cost of each anchor, as a number of bytes compared.
const PASSES: u64 = 4;
const EACH: u64 = 128;

/// Failed anchors allowed in any text.
const ANCHORS: u64 = 8;

/// Cost of finding one line break, as a number of accesses ([`PieceTable::count`]).
const BREAK: usize = 4;

/// Maximum number of stretches of an old_text, and of different ones to choose them from.
const STRETCHES: usize = 32;
const DIFFERENT: usize = 1_024;

/// Occurrences counted in a sample at most; beyond that, stretches count as equally frequent.
const MANY: usize = 1_000;

/// Distance between the stretches of one long line, in bytes.
const STRIDE: usize = MAX_NEEDLE * 3 / 4;

/// One old_text, and the stretch of it that serves as anchor.
#[derive(Debug)]
pub(crate) struct Pattern<'e> {
    text: &'e [u8],
    anchor: Range<usize>,
    /// Each `\n` of it matches any break, also where one is as given.
    any_break: bool,
}

impl<'e> Pattern<'e> {
    /// `text` with its longest stretch among the least repeated ones as the anchor.
    pub(crate) fn new(text: &'e [u8]) -> Pattern<'e> {
        let anchor = stretches(text).first().cloned().unwrap_or(0..0);
        Pattern { text, anchor, any_break: false }
    }

    /// Makes each `\n` match any break. One that also has a `\r` says which breaks it means.
    pub(crate) fn match_any_break(&mut self) {
        self.any_break = self.text.contains(&b'\n') && !self.text.contains(&b'\r');
    }

    pub(crate) fn text(&self) -> &'e [u8] {
        self.text
    }

    pub(crate) fn anchor(&self) -> &'e [u8] {
        &self.text[self.anchor.clone()]
    }

    /// Sets the anchor to one of its [`stretches`].
    pub(crate) fn set_anchor(&mut self, stretch: Range<usize>) {
        self.anchor = stretch;
    }

    /// Sets the anchor to the stretch that occurs least often in a sample of the text. For a line of equal
    /// letters with another one at its end, that is the end.
    pub(crate) fn choose_by(&mut self, sample: &[u8]) {
        let count =
            |at: &Range<usize>| memchr::memmem::find_iter(sample, &self.text[at.clone()]).take(MANY).count();
        if let Some(rarest) = stretches(self.text).into_iter().min_by_key(count) {
            self.anchor = rarest;
        }
    }

    /// The matches now, around the `known` anchors or in the whole text; at most `keep` of them are returned.
    pub(crate) fn find(
        &self,
        known: Option<&[Cursor]>,
        pieces: &PieceTable,
        keep: usize,
        control: &dyn Stop,
    ) -> Result<Sought> {
        self.find_up_to(u64::MAX, known, pieces, keep, control)
    }

    /// Like [`Pattern::find`], but a search of the whole text ends after more than `enough` matches.
    pub(crate) fn find_up_to(
        &self,
        enough: u64,
        known: Option<&[Cursor]>,
        pieces: &PieceTable,
        keep: usize,
        control: &dyn Stop,
    ) -> Result<Sought> {
        if !self.any_break {
            let sought = self.find_with(LineBreaks::AsGiven, enough, known, pieces, keep, control)?;
            if sought.count > 0 || !self.text.contains(&b'\n') {
                return Ok(sought);
            }
        }
        self.find_with(LineBreaks::Any, enough, known, pieces, keep, control)
    }

    fn find_with(
        &self,
        breaks: LineBreaks,
        enough: u64,
        known: Option<&[Cursor]>,
        pieces: &PieceTable,
        keep: usize,
        control: &dyn Stop,
    ) -> Result<Sought> {
        let wanted = linear::Wanted { enough, keep };
        let is_anchor = self.anchor.len() == self.text.len() && !self.text.is_empty();
        if is_anchor && known.is_none() {
            return linear::search_bytes(self.text, pieces, wanted, control);
        }
        let mut greedy = Greedy {
            pattern: self,
            breaks,
            pieces,
            keep,
            sought: Sought::default(),
            end: None,
            in_vain: 0,
            unchecked: 0,
        };
        let found = match known {
            Some(cursors) => greedy.offer_all(cursors, control)?,
            None => greedy.search_whole(enough, control)?,
        };
        if found {
            return Ok(greedy.sought);
        }
        linear::search(self.text, breaks, pieces, wanted, control)
    }

    /// The start and end of the match whose anchor is at `anchor`, if there is one.
    fn matches(&self, breaks: LineBreaks, anchor: Cursor, pieces: &PieceTable) -> Option<(Cursor, Cursor)> {
        let (head, tail) = self.text.split_at(self.anchor.start);
        let (start, end) = match breaks {
            LineBreaks::AsGiven => (pieces.before(anchor, head)?, pieces.after(anchor, tail)?),
            LineBreaks::Any => (before_any(anchor, head, pieces)?, after_any(anchor, tail, pieces)?),
        };
        let cuts = |at: Cursor| pieces.byte_before(at) == Some(b'\r') && pieces.byte_after(at) == Some(b'\n');
        let cut = self.text.starts_with(b"\n") && cuts(start) || self.text.ends_with(b"\r") && cuts(end);
        (!cut).then(|| (start, pieces.behind(end)))
    }
}

/// Stretches of `text` without line breaks, by which it can be found: the least repeated ones first, then the
/// longest, then the first. Excludes blanks at the start of a line, because they are frequent. Empty if the
/// text holds only breaks.
pub(crate) fn stretches(text: &[u8]) -> Vec<Range<usize>> {
    let mut all: Vec<(u32, Range<usize>)> = Vec::new();
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    each_stretch(text, |stretch| match known.get(&text[stretch.clone()]) {
        Some(&at) => all[at].0 += 1,
        None if all.len() < DIFFERENT => {
            known.insert(&text[stretch.clone()], all.len());
            all.push((1, stretch));
        }
        None => {}
    });
    order::sort_by_key(&mut all, |(count, stretch)| {
        (*count, std::cmp::Reverse(stretch.len()), stretch.start)
    });
    all.truncate(STRETCHES);
    all.into_iter().map(|(_, stretch)| stretch).collect()
}

/// Calls `each` with the stretches of `text`, line by line.
fn each_stretch(text: &[u8], mut each: impl FnMut(Range<usize>)) {
    let mut start = 0;
    for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let from = start + if blanks < line.len() { blanks } else { 0 };
        let end = start + line.len();
        start = end + 1;
        match end - from {
            0 => {}
            1..=MAX_NEEDLE => each(from..end),
            _ => {
                (from..=end - MAX_NEEDLE).step_by(STRIDE).for_each(|at| each(at..at + MAX_NEEDLE));
                each(end - MAX_NEEDLE..end);
            }
        }
    }
}

/// The lines of `text`, split at `\n` and `\r\n`.
fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line)))
        .chain(text.is_empty().then_some(text))
        .chain(text.ends_with(b"\n").then_some(&b""[..]))
}

/// Like [`PieceTable::after`], but each `\n` or `\r\n` in `text` matches any line break.
fn after_any(cursor: Cursor, text: &[u8], pieces: &PieceTable) -> Option<Cursor> {
    let mut lines = lines(text);
    let first = pieces.after(cursor, lines.next()?)?;
    lines.try_fold(first, |at, line| {
        pieces.count(BREAK);
        pieces.after(break_after(pieces, at)?, line)
    })
}

/// Like [`PieceTable::before`], but each `\n` or `\r\n` in `text` matches any line break.
fn before_any(cursor: Cursor, text: &[u8], pieces: &PieceTable) -> Option<Cursor> {
    let mut lines = lines(text).rev();
    let last = pieces.before(cursor, lines.next()?)?;
    lines.try_fold(last, |at, line| {
        pieces.count(BREAK);
        pieces.before(break_before(pieces, at)?, line)
    })
}

/// Collects matches from the start of the text, without overlap.
struct Greedy<'g, 'e> {
    pattern: &'g Pattern<'e>,
    breaks: LineBreaks,
    pieces: &'g PieceTable<'g>,
    keep: usize,
    sought: Sought,
    /// The end of the last match.
    end: Option<Cursor>,
    /// Cost of the anchors that are not in a match.
    in_vain: u64,
    /// Cost of all anchors since the last check of the deadline.
    unchecked: u64,
}

impl Greedy<'_, '_> {
    /// Whether the search by anchors may continue. Sometimes checks the deadline.
    fn go_on(&mut self, control: &dyn Stop) -> Result<bool> {
        if UNTIL_CHECK < self.unchecked {
            self.unchecked = 0;
            control.check()?;
        }
        let pass = (self.pieces.len() + self.pattern.text.len()) as u64;
        Ok(self.in_vain <= PASSES * pass + ANCHORS * EACH)
    }

    /// Adds the match around this anchor, if there is one. Anchors must be passed in order.
    fn offer(&mut self, anchor: Cursor) -> bool {
        let order = |cursor| self.pieces.order(cursor);
        let before = self.pieces.compared();
        let behind_last = |start| self.end.is_none_or(|end| order(end) <= order(start));
        let found = match behind_last(anchor) {
            true => self.pattern.matches(self.breaks, anchor, self.pieces),
            false => None,
        };
        let found = found.filter(|&(start, _)| behind_last(start));
        let cost = self.pieces.compared() - before + EACH;
        self.unchecked += cost;
        // The cost of a match itself is not wasted, because its bytes are in no other match.
        let own = if found.is_some() { self.pattern.text.len() as u64 + EACH } else { 0 };
        self.in_vain += cost.saturating_sub(own);
        let Some((start, end)) = found else { return false };
        self.sought.add(start, end, self.keep);
        self.end = Some(end);
        true
    }

    /// Offers these anchors. Returns false if the search stopped before the last one.
    fn offer_all(&mut self, anchors: &[Cursor], control: &dyn Stop) -> Result<bool> {
        for &anchor in anchors {
            self.offer(anchor);
            if !self.go_on(control)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Offers every anchor until there are more than `enough` matches. False if that costs too much.
    fn search_whole(&mut self, enough: u64, control: &dyn Stop) -> Result<bool> {
        let anchor = self.pattern.anchor();
        let finder = memchr::memmem::Finder::new(anchor);
        let mut haystacks = Haystacks::new(self.pieces, anchor.len().max(1));
        while let Some(mut haystack) = haystacks.next() {
            control.check()?;
            let mut at = 0;
            while at < haystack.starts {
                let rest = &haystack.bytes[at..];
                let next = match anchor {
                    b"" => memchr::memchr2(b'\n', b'\r', rest),
                    _ => finder.find(rest),
                };
                work::count(next.map_or(rest.len(), |skipped| skipped + anchor.len()));
                let Some(place) = next.map(|skipped| at + skipped).filter(|&at| at < haystack.starts) else {
                    break;
                };
                let taken = self.offer(haystack.cursor_at(place));
                at = place + if taken { anchor.len().max(1) } else { 1 };
                if enough < self.sought.count {
                    return Ok(true);
                }
                if !self.go_on(control)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_least_often_in_a_text_comes_first_and_of_that_the_longest() {
        let text = format!(
            "{}    short\n{}the only long line\n",
            "====\n".repeat(2_000),
            "===========\n".repeat(2_000)
        );
        let all: Vec<&str> = stretches(text.as_bytes()).into_iter().map(|at| &text[at]).collect();
        assert_eq!(all, ["the only long line", "short", "===========", "===="]);
        assert!(stretches(b"\n\r\n").is_empty());
    }
}
