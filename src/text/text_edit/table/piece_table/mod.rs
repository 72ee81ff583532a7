//! An edited text: a sequence of segments of texts that never move (the old text and the inserted texts).
//!
//! Pure; knows neither lines nor the search. Copies no text; a segment takes a few bytes. The sequence is
//! divided into leaves of a few dozen segments; a replacement rewrites the leaves that it touches. Bytes have
//! permanent addresses: an old byte its position in the old text; a byte inserted by an edit with few matches
//! a number past its end. So a position found before an edit can be looked up after it, as long as the byte
//! still exists.

mod rebuild;
mod segment;
mod walk;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;

use self::segment::{NOWHERE, Segment, SegmentReader, Writer};
pub(crate) use self::walk::Stretch;
use crate::splice::Change;
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::matches::Matches;
use crate::text_edit::table::memory::Full;
use crate::text_edit::work;

/// A few segments in order.
#[derive(Debug)]
struct Leaf {
    segments: Box<[u8]>,
    /// The position of its first segment in the old text.
    old: usize,
    /// The address of its first byte of the old text, or [`NOWHERE`].
    first_old: usize,
    /// Length of its text in bytes.
    len: usize,
    previous: u32,
    next: u32,
    /// Increases along the text.
    label: u64,
}

/// The leaves before the first and after the last one; both empty.
const HEAD: u32 = 0;
const TAIL: u32 = 1;

/// Maximum length of a text, in bytes: that of the largest file (`--max-file`).
const LONGEST: u64 = 1 << 40;

/// The segments of the leaf used last, and their ends in it.
#[derive(Debug, Default)]
struct Unfolded {
    leaf: u32,
    segments: Vec<Segment>,
    ends: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct PieceTable<'t> {
    old: &'t [u8],
    /// The inserted text of each edit.
    texts: Vec<&'t [u8]>,
    /// The start of the text in the old text.
    first: usize,
    /// Invariant: linked in both directions from [`HEAD`] to [`TAIL`], with increasing labels. Only these two
    /// are empty. Positions in the old text never decrease.
    leaves: Vec<Leaf>,
    /// Leaves that are not in the text.
    free: Vec<u32>,
    /// For each leaf with bytes of the old text: the address of its first such byte, and the leaf.
    old_starts: BTreeMap<usize, u32>,
    /// For each segment of an edit with an address: the address, and the leaf. May hold removed segments.
    new_starts: BTreeMap<usize, u32>,
    next_address: usize,
    len: usize,
    /// Bytes of the segments of all leaves.
    folded: usize,
    edited: bool,
    /// Reused buffer for writing a leaf.
    tokens: Vec<u8>,
    ready: rebuild::Ready,
    unfolded: RefCell<Unfolded>,
    compared: Cell<u64>,
}

impl<'t> PieceTable<'t> {
    /// The text `old` from `first` on. Returns `None` if it is too long for 32-bit addresses.
    pub(crate) fn new(old: &'t [u8], first: usize) -> Option<PieceTable<'t>> {
        let len = old.get(first..)?.len();
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
            next_address: old.len(),
            len,
            folded: 0,
            edited: false,
            tokens: Vec::new(),
            ready: rebuild::Ready::default(),
            unfolded: RefCell::default(),
            compared: Cell::default(),
        };
        if 0 < len {
            pieces.add_leaf(HEAD, &[Segment::old(first, len)]);
            pieces.label_between(HEAD, TAIL, 1);
        }
        Some(pieces)
    }

    /// Length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        // Bytes of a tree entry with a small key and value, and overhead of an allocation.
        const ENTRY: usize = 28;
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
        &source[segment.from..segment.from + segment.len]
    }

    fn segments(&self, leaf: u32) -> impl Iterator<Item = Segment> {
        let leaf = self.leaf(leaf);
        SegmentReader::new(&leaf.segments, leaf.old)
    }

    /// Calls `look` with the segments of a leaf, and their ends in it.
    fn unfold<R>(&self, leaf: u32, look: impl FnOnce(&[Segment], &[usize]) -> R) -> R {
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

    /// Replaces each of `matches`, which are in order and do not overlap, by the `text` of `edit`. Returns
    /// the leaves that hold it, in order. Fails if the text becomes too long, or if the table takes more than
    /// `most` bytes of memory; then the table must not be used any more.
    pub(crate) fn replace_all(
        &mut self,
        matches: &Matches,
        text: &'t [u8],
        edit: u32,
        most: usize,
    ) -> Result<Vec<u32>, Full> {
        let put_in = (text.len() as u64).saturating_mul(matches.len());
        if LONGEST < put_in.saturating_add(self.len as u64) {
            return Err(Full::Text);
        }
        self.texts.resize(self.texts.len().max(edit as usize + 1), b"");
        self.texts[edit as usize] = text;
        self.edited = true;
        *self.unfolded.get_mut() = Unfolded::default();
        rebuild::replace_all(self, matches, edit, most)
    }

    /// Adds a leaf with these segments after `before`, without a label. Returns its number.
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
        // There are at most as many leaves as replacements, whose number is limited far below 2^31.
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

    /// Removes a leaf from the text. Returns a reader of its segments.
    fn take_leaf(&mut self, leaf: u32) -> SegmentReader<Box<[u8]>> {
        let Leaf { previous, next, first_old, old, .. } = *self.leaf(leaf);
        self.leaves[previous as usize].next = next;
        self.leaves[next as usize].previous = previous;
        self.old_starts.remove(&first_old);
        self.free.push(leaf);
        let segments = std::mem::take(&mut self.leaves[leaf as usize].segments);
        self.folded -= segments.len();
        SegmentReader::new(segments, old)
    }

    /// Labels the `count` leaves between two labelled ones.
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

    /// Relabels all leaves at equal distances.
    fn label_anew(&mut self) {
        self.label_between(HEAD, TAIL, self.leaves.len() as u64);
    }

    /// The text as changes of the old one, with the edits' numbers. Frees each leaf after reading it.
    pub(crate) fn into_changes(self) -> impl Iterator<Item = Change> {
        let end = (self.old.len(), None);
        let mut done = self.first;
        let segments = self.into_segments().map(|segment| (segment.old_at, Some(segment))).chain([end]);
        let mut segments = segments.peekable();
        std::iter::from_fn(move || {
            loop {
                let (old_at, segment) = segments.next()?;
                let change = |at: Range<usize>, text: u32, part: Range<usize>| Change {
                    at,
                    text: text as usize,
                    part,
                };
                match segment.and_then(|segment| Some((segment.edit()?, segment))) {
                    // Inserted text replaces all bytes deleted before the next segment.
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
            (leaf != TAIL).then(|| SegmentReader::new(std::mem::take(&mut here.segments), here.old))
        })
        .flatten()
    }
}

#[cfg(test)]
mod tests;
