//! Where each edit of a call finds its text, at its turn.
//!
//! Pure; knows pieces and needles, and what a break is. Cost: the old text is searched once for all edits, for one
//! stretch of each old_text without a break in it, its anchor. After each edit only what it put in is searched again,
//! with its surroundings, for the anchors of later edits. An anchor that is still in the text at an edit's turn was
//! found when its last byte came in, and its address is kept since; so at the edit's turn it is enough to look what
//! stands around the addresses kept. Where anchors stand so often that keeping them would take too much memory, the
//! edit searches the whole text at its turn.
//!
//! A break is one thing: no match begins or ends inside a `\r\n`.

use std::collections::HashMap;

use super::needles::{MAX_NEEDLE, MIN_NEEDLE, Needles};
use super::passage::{break_after, break_before};
use super::pieces::{Pieces, Spot};
use super::text_edit::TextEdit;
use super::{Control, Result};

/// With fewer edits, each searches the whole text.
const FEW: usize = 3;

/// Addresses kept for one anchor beyond twice what its edits are to find, and for all anchors together.
const KEPT: usize = 1_000;
const ALL_KEPT: usize = 1 << 20;

/// Anchors looked at between two looks at the clock.
const UNTIL_CHECK: usize = 4_096;

/// What an edit found.
#[derive(Debug, Default)]
pub(super) struct Sought {
    /// How often, counted from the left without overlap.
    pub(super) count: u64,
    /// Start and end of the first of them.
    pub(super) matches: Vec<(Spot, Spot)>,
}

/// Addresses at which one anchor was found.
#[derive(Debug)]
struct Kept {
    len: usize,
    /// The last edit that asks for it.
    last: usize,
    most: usize,
    addresses: Vec<u32>,
    /// There were too many.
    spilt: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Search<'e> {
    patterns: Vec<Pattern<'e>>,
    /// For each pattern, its place in `kept`.
    anchors: Vec<Option<u32>>,
    needles: Option<Needles<'e>>,
    kept: Vec<Kept>,
}

/// One old_text, and the stretch of it by which it is found.
#[derive(Debug)]
struct Pattern<'e> {
    text: &'e [u8],
    anchor: std::ops::Range<usize>,
}

/// How a pattern's breaks are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Breaks {
    AsGiven,
    /// Each `\n` or `\r\n` is any break.
    Any,
}

/// What is found of `text`, which is not empty; at most `keep` matches are told.
pub(super) fn occurrences(text: &str, pieces: &Pieces, keep: usize, control: &Control) -> Result<Sought> {
    Pattern::new(text.as_bytes()).find(None, pieces, keep, control)
}

impl<'e> Search<'e> {
    /// Prepares the search for `edits` in the text `old`, whose first byte has the address `first`.
    pub(super) fn new(edits: &'e [TextEdit], old: &[u8], first: usize) -> Search<'e> {
        let patterns: Vec<Pattern> =
            edits.iter().map(|edit| Pattern::new(edit.old_text.as_bytes())).collect();
        let mut search =
            Search { anchors: vec![None; patterns.len()], patterns, needles: None, kept: Vec::new() };
        if edits.len() >= FEW {
            search.index(edits, old, first);
        }
        search
    }

    fn index(&mut self, edits: &'e [TextEdit], old: &[u8], first: usize) {
        let mut numbers: HashMap<&[u8], u32> = HashMap::new();
        for (number, edit) in edits.iter().enumerate() {
            let anchor = self.patterns[number].anchor();
            if anchor.len() < MIN_NEEDLE {
                continue;
            }
            let kept = *numbers.entry(anchor).or_insert(self.kept.len() as u32);
            self.anchors[number] = Some(kept);
            if kept as usize == self.kept.len() {
                let (len, addresses) = (anchor.len(), Vec::new());
                self.kept.push(Kept { len, last: number, most: KEPT, addresses, spilt: false });
            }
            let kept = &mut self.kept[kept as usize];
            kept.last = number;
            kept.most = kept.most.saturating_add(edit.occurrences.min(ALL_KEPT as u64) as usize * 2);
        }
        let needles = Needles::new(numbers.into_iter());
        let (kept, mut room) = (&mut self.kept, ALL_KEPT);
        needles.find(old, &mut |number, at| {
            kept[number as usize].keep((first + at) as u32, &mut room);
            true
        });
        self.needles = Some(needles);
    }

    /// What the edit `number` finds now; at most `keep` matches are told.
    pub(super) fn find(
        &mut self,
        number: usize,
        pieces: &Pieces,
        keep: usize,
        control: &Control,
    ) -> Result<Sought> {
        let pattern = &self.patterns[number];
        if pattern.text.is_empty() {
            let matches = vec![(pieces.start(), pieces.end())];
            return Ok(if pieces.len() == 0 { Sought { count: 1, matches } } else { Sought::default() });
        }
        let kept = self.anchors[number].map(|kept| &self.kept[kept as usize]).filter(|kept| !kept.spilt);
        let known = kept.map(|kept| kept.spots(pieces));
        pattern.find(known.as_deref(), pieces, keep, control)
    }

    /// Searches what the edit `number` put in at the `seams`, `len` bytes each, for the anchors of later edits.
    pub(super) fn search_around(&mut self, number: usize, pieces: &Pieces, seams: &[Spot], len: usize) {
        let Some(needles) = &self.needles else { return };
        if self.kept.iter().all(|kept| kept.last <= number || kept.spilt) {
            return;
        }
        let held: usize = self.kept.iter().map(|kept| kept.addresses.len()).sum();
        let mut room = ALL_KEPT.saturating_sub(held);
        let (kept, mut around) = (&mut self.kept, Window::default());
        for &seam in seams {
            let (from, before) = pieces.retreat(seam, MAX_NEEDLE - 1);
            around.copy(pieces, from, before + len + MAX_NEEDLE - 1);
            needles.find(&around.bytes, &mut |needle, at| {
                let kept = &mut kept[needle as usize];
                if kept.last > number && at < before + len && at + kept.len > before {
                    kept.keep(around.address(at), &mut room);
                }
                true
            });
        }
    }
}

impl Kept {
    fn keep(&mut self, address: u32, room: &mut usize) {
        if self.spilt {
        } else if self.addresses.len() < self.most && *room > 0 {
            self.addresses.push(address);
            *room -= 1;
        } else {
            *room += self.addresses.len();
            self.spilt = true;
            self.addresses = Vec::new();
        }
    }

    /// Where the addresses are that are still in the text, in its order.
    fn spots(&self, pieces: &Pieces) -> Vec<Spot> {
        let mut spots: Vec<Spot> =
            self.addresses.iter().filter_map(|&address| pieces.spot(address)).collect();
        spots.sort_unstable_by_key(|&spot| pieces.order(spot));
        spots.dedup();
        spots
    }
}

/// A copy of some bytes, and where they are.
#[derive(Default)]
struct Window {
    bytes: Vec<u8>,
    /// For each stretch, where it starts in the copy and its address.
    addresses: Vec<(usize, u32)>,
}

impl Window {
    fn copy(&mut self, pieces: &Pieces, from: Spot, mut len: usize) {
        self.bytes.clear();
        self.addresses.clear();
        let mut at = from;
        while let Some((rest, next)) = pieces.forward(at).filter(|_| len > 0) {
            self.addresses.push((self.bytes.len(), pieces.address(pieces.advance(at, 0))));
            let taken = &rest[..rest.len().min(len)];
            self.bytes.extend_from_slice(taken);
            len -= taken.len();
            at = next;
        }
    }

    fn address(&self, at: usize) -> u32 {
        let stretch = self.addresses.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        let (start, address) = self.addresses[stretch];
        address + (at - start) as u32
    }
}

impl<'e> Pattern<'e> {
    /// The anchor is the start of the longest line, without the blanks that it starts with.
    fn new(text: &'e [u8]) -> Pattern<'e> {
        let mut anchor = 0..0;
        let mut start = 0;
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let blanks = if blanks < line.len() { blanks } else { 0 };
            let found = start + blanks..start + line.len();
            if found.len() > anchor.len() {
                anchor = found;
            }
            start += line.len() + 1;
        }
        anchor.end = anchor.end.min(anchor.start + MAX_NEEDLE);
        Pattern { text, anchor }
    }

    fn anchor(&self) -> &'e [u8] {
        &self.text[self.anchor.clone()]
    }

    /// What is found now, around the anchors that are `known`, or in the whole text; at most `keep` matches are told.
    fn find(
        &self,
        known: Option<&[Spot]>,
        pieces: &Pieces,
        keep: usize,
        control: &Control,
    ) -> Result<Sought> {
        let mut sought = Sought::default();
        for breaks in [Breaks::AsGiven, Breaks::Any] {
            if breaks == Breaks::AsGiven || self.text.contains(&b'\n') {
                let mut greedy =
                    Greedy { pattern: self, breaks, pieces, keep, sought: Sought::default(), end: None };
                match known {
                    Some(spots) => spots.iter().for_each(|&anchor| {
                        greedy.offer(anchor);
                    }),
                    None => greedy.search_whole(control)?,
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
}

impl Greedy<'_, '_> {
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

    /// Offers every anchor in the text.
    fn search_whole(&mut self, control: &Control) -> Result<()> {
        let anchor = self.pattern.anchor();
        let finder = memchr::memmem::Finder::new(anchor);
        let mut rejected = 0;
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
                rejected += usize::from(!taken);
                if rejected % UNTIL_CHECK == UNTIL_CHECK - 1 {
                    control.check()?;
                }
            }
        }
        Ok(())
    }
}
