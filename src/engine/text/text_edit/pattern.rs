//! One old_text: by which stretches it may be found, and what counts as a match of it.
//!
//! Pure; knows pieces, and what a break is. A break is one thing: no match begins or ends inside a `\r\n`. A match is looked
//! for around an anchor, the stretch of the text that is likely to stand least often. Where anchors stand so often that
//! this costs more than a few passes over the text, the search starts over in one that does not depend on them:
//! [`linear`].

use std::collections::HashMap;
use std::ops::Range;

use super::cursor::Cursor;
use super::haystack::Haystacks;
use super::linear::{self, Breaks};
use super::matches::Sought;
use super::multi_pattern::MAX_NEEDLE;
use super::piece_table::PieceTable;
use super::snippet::{break_after, break_before};
use super::work;
use crate::engine::{Control, Result};

/// Bytes that may be compared between two looks at the clock.
const UNTIL_CHECK: u64 = 16 << 20;

/// Passes over the text and the old_text that comparing around anchors may cost in vain, and what each anchor costs, in
/// bytes compared.
const PASSES: u64 = 4;
const EACH: u64 = 128;

/// Anchors in vain that any text may have.
const ANCHORS: u64 = 8;

/// How often it takes to get at bytes to see what break there is.
const BREAK: usize = 4;

/// How many stretches of an old_text there may be, of how many different ones they are chosen.
const STRETCHES: usize = 32;
const DIFFERENT: usize = 1_024;

/// A stretch that stands more often in a sample is like any other that does.
const MANY: usize = 1_000;

/// Distance of the stretches of one long line.
const STRIDE: usize = MAX_NEEDLE * 3 / 4;

/// One old_text, and the stretch of it by which it is found.
#[derive(Debug)]
pub(super) struct Pattern<'e> {
    text: &'e [u8],
    anchor: Range<usize>,
}

impl<'e> Pattern<'e> {
    /// `text` with its longest stretch as its anchor.
    pub(super) fn new(text: &'e [u8]) -> Pattern<'e> {
        let anchor = stretches(text).first().cloned().unwrap_or(0..0);
        Pattern { text, anchor }
    }

    pub(super) fn text(&self) -> &'e [u8] {
        self.text
    }

    pub(super) fn anchor(&self) -> &'e [u8] {
        &self.text[self.anchor.clone()]
    }

    /// Makes one of its [`stretches`] its anchor.
    pub(super) fn set_anchor(&mut self, stretch: Range<usize>) {
        self.anchor = stretch;
    }

    /// Makes the stretch its anchor that a sample of the text holds least often: of a line of one letter and another at
    /// its end, the end.
    pub(super) fn choose_by(&mut self, sample: &[u8]) {
        let count =
            |at: &Range<usize>| memchr::memmem::find_iter(sample, &self.text[at.clone()]).take(MANY).count();
        if let Some(rarest) = stretches(self.text).into_iter().min_by_key(count) {
            self.anchor = rarest;
        }
    }

    /// What is found now, around the anchors that are `known`, or in the whole text; at most `keep` matches are told.
    pub(super) fn find(
        &self,
        known: Option<&[Cursor]>,
        pieces: &PieceTable,
        keep: usize,
        control: &Control,
    ) -> Result<Sought> {
        self.find_up_to(u64::MAX, known, pieces, keep, control)
    }

    /// As [`Pattern::find`], but a search of the whole text ends when there are more matches than `enough`.
    pub(super) fn find_up_to(
        &self,
        enough: u64,
        known: Option<&[Cursor]>,
        pieces: &PieceTable,
        keep: usize,
        control: &Control,
    ) -> Result<Sought> {
        let sought = self.find_with(Breaks::AsGiven, enough, known, pieces, keep, control)?;
        if sought.count > 0 || !self.text.contains(&b'\n') {
            return Ok(sought);
        }
        self.find_with(Breaks::Any, enough, known, pieces, keep, control)
    }

    fn find_with(
        &self,
        breaks: Breaks,
        enough: u64,
        known: Option<&[Cursor]>,
        pieces: &PieceTable,
        keep: usize,
        control: &Control,
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
            Some(spots) => greedy.offer_all(spots, control)?,
            None => greedy.search_whole(enough, control)?,
        };
        if found {
            return Ok(greedy.sought);
        }
        linear::search(self.text, breaks, pieces, wanted, control)
    }

    /// Start and end of the match that has its anchor at `anchor`, if it is one.
    fn matches(&self, breaks: Breaks, anchor: Cursor, pieces: &PieceTable) -> Option<(Cursor, Cursor)> {
        let (head, tail) = self.text.split_at(self.anchor.start);
        let (start, end) = match breaks {
            Breaks::AsGiven => (pieces.before(anchor, head)?, pieces.after(anchor, tail)?),
            Breaks::Any => (before_any(anchor, head, pieces)?, after_any(anchor, tail, pieces)?),
        };
        let cuts = |at: Cursor| pieces.byte_before(at) == Some(b'\r') && pieces.byte_after(at) == Some(b'\n');
        let cut = self.text.starts_with(b"\n") && cuts(start) || self.text.ends_with(b"\r") && cuts(end);
        (!cut).then(|| (start, pieces.behind(end)))
    }
}

/// Stretches of `text` without a break in them, by any of which it can be found: those that stand least often in it first,
/// of these the longest, of equals the first. The blanks that a line starts with are left out: they are everywhere. None
/// if the text is nothing but breaks.
pub(super) fn stretches(text: &[u8]) -> Vec<Range<usize>> {
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
    all.sort_by_key(|(count, stretch)| (*count, std::cmp::Reverse(stretch.len())));
    all.truncate(STRETCHES);
    all.into_iter().map(|(_, stretch)| stretch).collect()
}

/// Tells `each` the stretches of `text`, line by line.
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

/// The lines of `text`, between breaks that are `\n` or `\r\n`.
fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line)))
        .chain(text.is_empty().then_some(text))
        .chain(text.ends_with(b"\n").then_some(&b""[..]))
}

/// As [`PieceTable::after`], each `\n` or `\r\n` in `text` taken for any break.
fn after_any(spot: Cursor, text: &[u8], pieces: &PieceTable) -> Option<Cursor> {
    let mut lines = lines(text);
    let first = pieces.after(spot, lines.next()?)?;
    lines.try_fold(first, |at, line| {
        pieces.count(BREAK);
        pieces.after(break_after(pieces, at)?, line)
    })
}

/// As [`PieceTable::before`], each `\n` or `\r\n` in `text` taken for any break.
fn before_any(spot: Cursor, text: &[u8], pieces: &PieceTable) -> Option<Cursor> {
    let mut lines = lines(text).rev();
    let last = pieces.before(spot, lines.next()?)?;
    lines.try_fold(last, |at, line| {
        pieces.count(BREAK);
        pieces.before(break_before(pieces, at)?, line)
    })
}

/// Takes matches from the left, without overlap.
struct Greedy<'g, 'e> {
    pattern: &'g Pattern<'e>,
    breaks: Breaks,
    pieces: &'g PieceTable<'g>,
    keep: usize,
    sought: Sought,
    /// Where the last match ends.
    end: Option<Cursor>,
    /// What anchors have cost that are in no match.
    in_vain: u64,
    /// The same for all anchors since the deadline was looked at.
    unchecked: u64,
}

impl Greedy<'_, '_> {
    /// Whether the search may go on by anchors. Looks at the deadline every now and then.
    fn go_on(&mut self, control: &Control) -> Result<bool> {
        if UNTIL_CHECK < self.unchecked {
            self.unchecked = 0;
            control.check()?;
        }
        let pass = (self.pieces.len() + self.pattern.text.len()) as u64;
        Ok(self.in_vain <= PASSES * pass + ANCHORS * EACH)
    }

    /// Takes the match that has its anchor here, if it is one. The anchors come in order.
    fn offer(&mut self, anchor: Cursor) -> bool {
        let order = |spot| self.pieces.order(spot);
        let before = self.pieces.compared();
        let behind_last = |start| self.end.is_none_or(|end| order(end) <= order(start));
        let found = match behind_last(anchor) {
            true => self.pattern.matches(self.breaks, anchor, self.pieces),
            false => None,
        };
        let found = found.filter(|&(start, _)| behind_last(start));
        let cost = self.pieces.compared() - before + EACH;
        self.unchecked += cost;
        // What is in a match is in no other.
        let own = if found.is_some() { self.pattern.text.len() as u64 + EACH } else { 0 };
        self.in_vain += cost.saturating_sub(own);
        let Some((start, end)) = found else { return false };
        self.sought.add(start, end, self.keep);
        self.end = Some(end);
        true
    }

    /// Offers these anchors. Whether these were all.
    fn offer_all(&mut self, anchors: &[Cursor], control: &Control) -> Result<bool> {
        for &anchor in anchors {
            self.offer(anchor);
            if !self.go_on(control)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Offers every anchor in the text, until there are more matches than `enough`. Whether these were all.
    fn search_whole(&mut self, enough: u64, control: &Control) -> Result<bool> {
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
                let taken = self.offer(haystack.spot(place));
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
