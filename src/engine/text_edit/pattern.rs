//! One old_text: by which stretches it may be found, and what counts as a match of it.
//!
//! Pure; knows pieces, and what a break is. A break is one thing: no match begins or ends inside a `\r\n`.

use std::ops::Range;

use super::needles::MAX_NEEDLE;
use super::passage::{break_after, break_before};
use super::pieces::{Pieces, Spot};
use crate::engine::{Control, Result};

/// Bytes that may be compared between two looks at the clock, and what an anchor costs beside its comparison.
const UNTIL_CHECK: usize = 16 << 20;
const EACH: usize = 4_096;

/// Bytes of an old_text in which stretches are sought, and how many there may be.
const LOOKED_AT: usize = 4_096;
const STRETCHES: usize = 32;

/// A stretch that stands more often in a sample is like any other that does.
const MANY: usize = 1_000;

/// Distance of the stretches of one long line.
const STRIDE: usize = MAX_NEEDLE * 3 / 4;

/// What an edit found.
#[derive(Debug, Default)]
pub(super) struct Sought {
    /// How often, counted from the left without overlap.
    pub(super) count: u64,
    /// Start and end of the first of them.
    pub(super) matches: Vec<(Spot, Spot)>,
}

/// One old_text, and the stretch of it by which it is found.
#[derive(Debug)]
pub(super) struct Pattern<'e> {
    text: &'e [u8],
    anchor: Range<usize>,
}

/// How a pattern's breaks are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Breaks {
    AsGiven,
    /// Each `\n` or `\r\n` is any break.
    Any,
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
        known: Option<&[Spot]>,
        pieces: &Pieces,
        keep: usize,
        control: &Control,
    ) -> Result<Sought> {
        self.find_up_to(u64::MAX, known, pieces, keep, control)
    }

    /// As [`Pattern::find`], but a search of the whole text ends when there are more than `enough`.
    pub(super) fn find_up_to(
        &self,
        enough: u64,
        known: Option<&[Spot]>,
        pieces: &Pieces,
        keep: usize,
        control: &Control,
    ) -> Result<Sought> {
        let mut sought = Sought::default();
        for breaks in [Breaks::AsGiven, Breaks::Any] {
            if breaks == Breaks::AsGiven || self.text.contains(&b'\n') {
                let mut greedy = Greedy {
                    pattern: self,
                    breaks,
                    pieces,
                    keep,
                    sought: Sought::default(),
                    end: None,
                    compared: 0,
                };
                match known {
                    Some(spots) => {
                        for &anchor in spots {
                            greedy.offer(anchor);
                            greedy.check(control)?;
                        }
                    }
                    None => greedy.search_whole(enough, control)?,
                }
                sought = greedy.sought;
            }
            if sought.count > 0 {
                break;
            }
        }
        Ok(sought)
    }

    /// Start and end of the match that has its anchor at `anchor`, if it is one.
    fn matches(&self, breaks: Breaks, anchor: Spot, pieces: &Pieces) -> Option<(Spot, Spot)> {
        let (head, tail) = self.text.split_at(self.anchor.start);
        let (start, end) = match breaks {
            Breaks::AsGiven => (pieces.before(anchor, head)?, pieces.after(anchor, tail)?),
            Breaks::Any => (before_any(anchor, head, pieces)?, after_any(anchor, tail, pieces)?),
        };
        let cuts = |at: Spot| pieces.byte_before(at) == Some(b'\r') && pieces.byte_after(at) == Some(b'\n');
        let cut = self.text.starts_with(b"\n") && cuts(start) || self.text.ends_with(b"\r") && cuts(end);
        (!cut).then(|| (start, pieces.behind(end)))
    }
}

/// Stretches of `text` without a break in them, by any of which it can be found, the longest first; of equals the first.
/// The blanks that a line starts with are left out: they are everywhere. None if the text is nothing but breaks.
pub(super) fn stretches(text: &[u8]) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut start = 0;
    for line in text[..text.len().min(LOOKED_AT)].split(|byte| matches!(byte, b'\n' | b'\r')) {
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let from = start + if blanks < line.len() { blanks } else { 0 };
        let end = start + line.len();
        start = end + 1;
        match end - from {
            0 => {}
            1..=MAX_NEEDLE => all.push(from..end),
            _ => {
                all.extend((from..=end - MAX_NEEDLE).step_by(STRIDE).map(|at| at..at + MAX_NEEDLE));
                all.push(end - MAX_NEEDLE..end);
            }
        }
    }
    all.sort_by_key(|stretch| std::cmp::Reverse(stretch.len()));
    all.truncate(STRETCHES);
    all
}

/// The lines of `text`, between breaks that are `\n` or `\r\n`.
fn lines(text: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
        .map(|line| line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line)))
        .chain(text.is_empty().then_some(text))
        .chain(text.ends_with(b"\n").then_some(&b""[..]))
}

/// As [`Pieces::after`], each `\n` or `\r\n` in `text` taken for any break.
fn after_any(spot: Spot, text: &[u8], pieces: &Pieces) -> Option<Spot> {
    let mut lines = lines(text);
    let first = pieces.after(spot, lines.next()?)?;
    lines.try_fold(first, |at, line| pieces.after(break_after(pieces, at)?, line))
}

/// As [`Pieces::before`], each `\n` or `\r\n` in `text` taken for any break.
fn before_any(spot: Spot, text: &[u8], pieces: &Pieces) -> Option<Spot> {
    let mut lines = lines(text).rev();
    let last = pieces.before(spot, lines.next()?)?;
    lines.try_fold(last, |at, line| pieces.before(break_before(pieces, at)?, line))
}

/// Takes matches from the left, without overlap.
struct Greedy<'g, 'e> {
    pattern: &'g Pattern<'e>,
    breaks: Breaks,
    pieces: &'g Pieces<'g>,
    keep: usize,
    sought: Sought,
    /// Where the last match ends.
    end: Option<Spot>,
    /// Bytes that may have been compared since the deadline was looked at.
    compared: usize,
}

impl Greedy<'_, '_> {
    /// Looks at the deadline every now and then, however many or long the comparisons are.
    fn check(&mut self, control: &Control) -> Result<()> {
        self.compared += self.pattern.text.len() + EACH;
        if self.compared < UNTIL_CHECK {
            return Ok(());
        }
        self.compared = 0;
        control.check()
    }

    /// Takes the match that has its anchor here, if it is one. The anchors come in order.
    fn offer(&mut self, anchor: Spot) -> bool {
        let order = |spot| self.pieces.order(spot);
        let found = self.pattern.matches(self.breaks, anchor, self.pieces);
        let Some((start, end)) =
            found.filter(|(start, _)| self.end.is_none_or(|end| order(end) <= order(*start)))
        else {
            return false;
        };
        self.sought.count += 1;
        if self.sought.matches.len() < self.keep {
            self.sought.matches.push((start, end));
        }
        self.end = Some(end);
        true
    }

    /// Offers every anchor in the text, until there are more matches than `enough`.
    fn search_whole(&mut self, enough: u64, control: &Control) -> Result<()> {
        let anchor = self.pattern.anchor();
        let finder = memchr::memmem::Finder::new(anchor);
        for (bytes, start) in self.pieces.iter() {
            let mut at = 0;
            while at < bytes.len() {
                let next = match anchor {
                    b"" => memchr::memchr2(b'\n', b'\r', &bytes[at..]),
                    anchor => finder.find(&bytes[at..]).or_else(|| {
                        // One that begins here and ends in a later piece.
                        let from = (bytes.len() + 1).saturating_sub(anchor.len()).max(at);
                        let crosses =
                            |&at: &usize| self.pieces.after(self.pieces.advance(start, at), anchor).is_some();
                        (from..bytes.len()).find(crosses).map(|place| place - at)
                    }),
                };
                let Some(skipped) = next else { break };
                let taken = self.offer(self.pieces.advance(start, at + skipped));
                at += skipped + if taken { anchor.len().max(1) } else { 1 };
                if enough < self.sought.count {
                    return Ok(());
                }
                self.check(control)?;
            }
        }
        Ok(())
    }
}
