//! A text under edit: a sequence of segments of texts that never move, the old text and what edits put in.
//!
//! Pure; knows neither lines nor what is searched for. No text is copied, and a segment takes a few bytes: the
//! sequence is cut into leaves, each of which holds the next few dozen segments in a row; a replacement writes the
//! leaves anew that it touches. Bytes have addresses of their own for good: an old byte its place in the old text, one of
//! an edit with few matches a number past its end. So a place that was found before an edit can be looked up after it,
//! and it is known whether it is still there.

mod rebuild;
mod segment;
mod walk;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use self::segment::{NOWHERE, Reader, Segment, Writer};
pub(super) use self::walk::Stretch;
use super::cursor::Cursor;
use super::matches::Matches;
use super::memory::Full;
use super::work;
use crate::engine::text::splice::Change;

/// Some segments in a row.
#[derive(Debug)]
struct Leaf {
    segments: Box<[u8]>,
    /// Where in the old text its first segment is.
    old: u32,
    /// The address of its first byte of the old text, or [`NOWHERE`].
    first_old: u32,
    /// Bytes of its text.
    len: u32,
    previous: u32,
    next: u32,
    /// Rises along the text.
    label: u64,
}

/// The leaves before the first and behind the last; both empty.
const HEAD: u32 = 0;
const TAIL: u32 = 1;

/// The segments of the leaf that was looked at last, and where in it each ends.
#[derive(Debug, Default)]
struct Unfolded {
    leaf: u32,
    segments: Vec<Segment>,
    ends: Vec<u32>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct PieceTable<'t> {
    old: &'t [u8],
    /// What each edit put in.
    texts: Vec<&'t [u8]>,
    /// Where the text starts in the old one.
    first: u32,
    /// Invariant: linked both ways from [`HEAD`] to [`TAIL`], labels rising; none but these two is empty; the places in
    /// the old text never fall.
    leaves: Vec<Leaf>,
    /// Leaves that are not in the text.
    free: Vec<u32>,
    /// The leaf that holds the first old byte at or behind an address, for each leaf that holds one.
    old_starts: BTreeMap<u32, u32>,
    /// The leaf in which the segment is that starts at an address of an edit's. What is gone may still be in it.
    new_starts: BTreeMap<u32, u32>,
    next_address: u32,
    len: usize,
    /// Bytes that all leaves' segments take.
    folded: usize,
    edited: bool,
    /// Room for what a leaf is written with.
    tokens: Vec<u8>,
    ready: rebuild::Ready,
    unfolded: RefCell<Unfolded>,
    compared: Cell<u64>,
}

impl<'t> PieceTable<'t> {
    /// The text `old` from `first` on. Nothing if it is too long for addresses of 32 bits.
    pub(super) fn new(old: &'t [u8], first: usize) -> Option<PieceTable<'t>> {
        let next_address = u32::try_from(old.len()).ok().filter(|&len| len < NOWHERE / 2)?;
        let (first, len) = (first as u32, old.get(first..)?.len());
        let end = |label, previous, next| Leaf {
            segments: Box::default(),
            old: first,
            first_old: NOWHERE,
            len: 0,
            previous,
            next,
            label,
        };
        let mut pieces = PieceTable {
            old,
            texts: Vec::new(),
            first,
            leaves: vec![end(0, HEAD, TAIL), end(u64::MAX, HEAD, TAIL)],
            free: Vec::new(),
            old_starts: BTreeMap::new(),
            new_starts: BTreeMap::new(),
            next_address,
            len,
            folded: 0,
            edited: false,
            tokens: Vec::new(),
            ready: rebuild::Ready::default(),
            unfolded: RefCell::default(),
            compared: Cell::default(),
        };
        if 0 < len {
            pieces.add_leaf(HEAD, &[Segment::old(first, len as u32)]);
            pieces.label_between(HEAD, TAIL, 1);
        }
        Some(pieces)
    }

    /// Bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes of memory.
    pub(super) fn memory(&self) -> usize {
        // Of trees of small keys and values, with what allocators add.
        const ENTRY: usize = 20;
        const ALLOCATED: usize = 16;
        self.folded
            + self.leaves.capacity() * (size_of::<Leaf>() + ALLOCATED)
            + (self.old_starts.len() + self.new_starts.len()) * ENTRY
    }

    fn leaf(&self, leaf: u32) -> &Leaf {
        &self.leaves[leaf as usize]
    }

    fn bytes(&self, segment: &Segment) -> &'t [u8] {
        let source = segment.edit().map_or(self.old, |edit| self.texts[edit as usize]);
        &source[segment.from as usize..(segment.from + segment.len) as usize]
    }

    fn segments(&self, leaf: u32) -> impl Iterator<Item = Segment> {
        let leaf = self.leaf(leaf);
        Reader::new(&leaf.segments, leaf.old)
    }

    /// Looks at the segments of a leaf, and where in it each ends.
    fn unfold<R>(&self, leaf: u32, look: impl FnOnce(&[Segment], &[u32]) -> R) -> R {
        let mut unfolded = self.unfolded.borrow_mut();
        let Unfolded { leaf: last, segments, ends } = &mut *unfolded;
        if *last != leaf || segments.is_empty() {
            *last = leaf;
            segments.clear();
            ends.clear();
            let mut end = 0;
            for segment in self.segments(leaf) {
                end += segment.len;
                segments.push(segment);
                ends.push(end);
                work::count(1);
            }
        }
        look(segments, ends)
    }

    /// Puts `text` of `edit` in the place of each of `matches`, which stand in order and do not overlap. Returns the leaves
    /// that hold it, in order. If the text grows too long, or what is held takes more than `most` bytes of memory, the
    /// pieces are of no use any more.
    pub(super) fn replace_all(
        &mut self,
        matches: &Matches,
        text: &'t [u8],
        edit: u32,
        most: usize,
    ) -> Result<Vec<u32>, Full> {
        let put_in = (text.len() as u64).saturating_mul(matches.len());
        if u64::from(NOWHERE) < put_in.saturating_add(self.len as u64) {
            return Err(Full::Text);
        }
        self.texts.resize(self.texts.len().max(edit as usize + 1), b"");
        self.texts[edit as usize] = text;
        self.edited = true;
        *self.unfolded.get_mut() = Unfolded::default();
        rebuild::replace_all(self, matches, edit, most)
    }

    /// Puts a leaf with these segments behind `before`, still without a label. Returns its number.
    fn add_leaf(&mut self, before: u32, segments: &[Segment]) -> u32 {
        let old = segments.first().map_or(0, |first| first.old_at);
        let mut writer = Writer::new(std::mem::take(&mut self.tokens), old);
        segments.iter().for_each(|segment| writer.push(segment));
        let tokens = writer.finish();
        let first_old = segments.iter().find(|segment| segment.edit().is_none());
        let (previous, next) = (before, self.leaf(before).next);
        let leaf = Leaf {
            segments: tokens.as_slice().into(),
            old,
            first_old: first_old.map_or(NOWHERE, |first| first.address),
            len: segments.iter().map(|segment| segment.len).sum(),
            previous,
            next,
            label: 0,
        };
        self.tokens = tokens;
        self.folded += leaf.segments.len();
        let first_old = leaf.first_old;
        // There are at most as many as replacements, whose number is limited far below 2^31.
        let number = self.free.pop().unwrap_or(self.leaves.len() as u32);
        match self.leaves.get_mut(number as usize) {
            Some(free) => *free = leaf,
            None => self.leaves.push(leaf),
        }
        self.leaves[previous as usize].next = number;
        self.leaves[next as usize].previous = number;
        if first_old != NOWHERE {
            self.old_starts.insert(first_old, number);
        }
        number
    }

    /// Takes a leaf out of the text. Returns what reads its segments.
    fn take_leaf(&mut self, leaf: u32) -> Reader<Box<[u8]>> {
        let Leaf { previous, next, first_old, old, .. } = *self.leaf(leaf);
        self.leaves[previous as usize].next = next;
        self.leaves[next as usize].previous = previous;
        self.old_starts.remove(&first_old);
        self.free.push(leaf);
        let segments = std::mem::take(&mut self.leaves[leaf as usize].segments);
        self.folded -= segments.len();
        Reader::new(segments, old)
    }

    /// Labels the `count` leaves between two that have labels.
    fn label_between(&mut self, before: u32, after: u32, count: u64) {
        let (low, high) = (self.leaf(before).label, self.leaf(after).label);
        let step = (high - low) / (count + 1);
        if step == 0 {
            return self.label_anew();
        }
        let (mut leaf, mut label) = (self.leaf(before).next, low);
        while leaf != after {
            label += step;
            self.leaves[leaf as usize].label = label;
            leaf = self.leaf(leaf).next;
        }
    }

    /// Gives all leaves labels that leave as much room everywhere.
    fn label_anew(&mut self) {
        self.label_between(HEAD, TAIL, self.leaves.len() as u64);
    }

    /// The text as changes of the old one, by the numbers of the edits. Each leaf is let go of when it has been read.
    pub(super) fn into_changes(self) -> impl Iterator<Item = Change> {
        let end = (self.old.len() as u32, None);
        let mut done = self.first;
        let segments = self.into_segments().map(|segment| (segment.old_at, Some(segment))).chain([end]);
        let mut segments = segments.peekable();
        std::iter::from_fn(move || {
            loop {
                let (old_at, segment) = segments.next()?;
                let change = |at: std::ops::Range<u32>, text: u32, part: std::ops::Range<u32>| {
                    let range = |range: std::ops::Range<u32>| range.start as usize..range.end as usize;
                    Change { at: range(at), text: text as usize, part: range(part) }
                };
                match segment.and_then(|segment| Some((segment.edit()?, segment))) {
                    // What was put in takes the place of all that is gone before the next segment.
                    Some((edit, segment)) => {
                        let next = segments.peek().map_or(old_at, |(next, _)| *next);
                        let from = done.min(old_at);
                        done = next.max(from);
                        return Some(change(from..done, edit, segment.from..segment.from + segment.len));
                    }
                    None => {
                        let gone = done..old_at.max(done);
                        done = old_at + segment.map_or(0, |segment| segment.len);
                        if !gone.is_empty() {
                            return Some(change(gone, 0, 0..0));
                        }
                    }
                }
            }
        })
    }

    fn into_segments(self) -> impl Iterator<Item = Segment> {
        let (mut leaves, mut leaf) = (self.leaves, HEAD);
        std::iter::from_fn(move || {
            leaf = leaves[leaf as usize].next;
            let here = &mut leaves[leaf as usize];
            (leaf != TAIL).then(|| Reader::new(std::mem::take(&mut here.segments), here.old))
        })
        .flatten()
    }
}

#[cfg(test)]
mod tests;
