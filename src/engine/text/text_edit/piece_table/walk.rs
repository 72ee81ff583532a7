//! Ways about in the text: from a spot to others, to bytes, to addresses, and back.

use super::segment::{NOWHERE, Segment};
use super::{Cursor, HEAD, Leaf, PieceTable, TAIL};
use crate::engine::text::text_edit::work;

/// What it takes to get at bytes, in bytes compared.
const GET_AT: usize = 16;

/// Bytes that are compared at once, so that a difference at the start of a long text is seen at the start.
const BLOCK: usize = 1024;

/// What is from a spot to the end of its segment.
pub(in crate::engine::text::text_edit) struct Stretch<'t> {
    pub(in crate::engine::text::text_edit) bytes: &'t [u8],
    /// The start of the next segment.
    pub(in crate::engine::text::text_edit) next: Cursor,
    /// The address of the first byte, if it has one.
    pub(in crate::engine::text::text_edit) address: Option<u32>,
    /// Which edit put it in; none for the old text.
    pub(in crate::engine::text::text_edit) edit: Option<u32>,
}

impl<'t> PieceTable<'t> {
    /// Whether no edit has changed the text yet.
    pub(in crate::engine::text::text_edit) fn is_untouched(&self) -> bool {
        !self.edited
    }

    /// The start of the text.
    pub(in crate::engine::text::text_edit) fn start(&self) -> Cursor {
        Cursor { leaf: self.leaf(HEAD).next, offset: 0 }
    }

    /// The end of the text.
    pub(in crate::engine::text::text_edit) fn end(&self) -> Cursor {
        Cursor { leaf: TAIL, offset: 0 }
    }

    /// Where the byte with this address is, if it is still in the text.
    pub(in crate::engine::text::text_edit) fn spot(&self, address: u32) -> Option<Cursor> {
        let starts = if (address as usize) < self.old.len() { &self.old_starts } else { &self.new_starts };
        let (_, &leaf) = starts.range(..=address).next_back()?;
        let offset = self.unfold(leaf, |segments, ends| {
            let at = segments.iter().position(|segment| segment.holds(address))?;
            Some(ends[at] - segments[at].len + (address - segments[at].address))
        })?;
        Some(Cursor { leaf, offset })
    }

    /// What sorts spots as they stand in the text.
    pub(in crate::engine::text::text_edit) fn order(&self, spot: Cursor) -> (u64, u32) {
        (self.leaf(spot.leaf).label, spot.offset)
    }

    /// The place in the old text of a spot; where the spot is in text that an edit put in, the place where it did that,
    /// and the edit.
    pub(in crate::engine::text::text_edit) fn origin(&self, spot: Cursor) -> (usize, Option<u32>) {
        if let Some((segment, start)) = self.segment_after(spot) {
            return match segment.edit() {
                None => ((segment.old_at + spot.offset - start) as usize, None),
                put_in => (segment.old_at as usize, put_in),
            };
        }
        // What ends the text stands behind the last segment, whatever that is.
        let last = self.segment_before(spot).map(|(segment, _)| match segment.edit() {
            None => segment.old_at + segment.len,
            Some(_) => segment.old_at,
        });
        (last.unwrap_or(self.first) as usize, None)
    }

    /// The segment with the byte at a spot, and where in its leaf it starts. Nothing at the end of a leaf.
    fn segment_after(&self, spot: Cursor) -> Option<(Segment, u32)> {
        self.unfold(spot.leaf, |segments, ends| {
            let at = ends.partition_point(|&end| end <= spot.offset);
            segments.get(at).map(|segment| (*segment, ends[at] - segment.len))
        })
    }

    /// The segment with the byte before a spot, and where in its leaf it starts; at the start of a leaf that in the leaf
    /// before it.
    fn segment_before(&self, spot: Cursor) -> Option<(Segment, u32)> {
        let spot = self.behind(spot);
        let byte = Cursor { offset: spot.offset.checked_sub(1)?, ..spot };
        self.segment_after(byte)
    }

    /// The bytes from a spot to the end of its segment, and the start of the next one. Nothing at the end.
    pub(in crate::engine::text::text_edit) fn forward(&self, spot: Cursor) -> Option<(&'t [u8], Cursor)> {
        self.stretch(spot).map(|stretch| (stretch.bytes, stretch.next))
    }

    /// What is from a spot to the end of its segment. Nothing at the end.
    pub(in crate::engine::text::text_edit) fn stretch(&self, spot: Cursor) -> Option<Stretch<'t>> {
        let mut at = spot;
        loop {
            if at.leaf == TAIL {
                return None;
            }
            if let Some((segment, start)) = self.segment_after(at) {
                let rest = segment.behind(at.offset - start);
                let end = start + segment.len;
                let leaf = self.leaf(at.leaf);
                let next = match end == leaf.len {
                    true => Cursor { leaf: leaf.next, offset: 0 },
                    false => Cursor { offset: end, ..at },
                };
                let address = (rest.address != NOWHERE).then_some(rest.address);
                return Some(Stretch { bytes: self.bytes(&rest), next, address, edit: rest.edit() });
            }
            at = Cursor { leaf: self.leaf(at.leaf).next, offset: 0 };
        }
    }

    /// The bytes from the start of a spot's segment to the spot, or if these are none, the segment before it; and where
    /// they start. Nothing at the start.
    pub(in crate::engine::text::text_edit) fn backward(&self, spot: Cursor) -> Option<(&'t [u8], Cursor)> {
        let spot = self.behind(spot);
        let (segment, start) = self.segment_before(spot)?;
        Some((&self.bytes(&segment)[..(spot.offset - start) as usize], Cursor { offset: start, ..spot }))
    }

    /// The byte behind a spot.
    pub(in crate::engine::text::text_edit) fn byte_after(&self, spot: Cursor) -> Option<u8> {
        self.forward(spot).map(|(rest, _)| rest[0])
    }

    /// The byte before a spot.
    pub(in crate::engine::text::text_edit) fn byte_before(&self, spot: Cursor) -> Option<u8> {
        self.backward(spot).and_then(|(before, _)| before.last().copied())
    }

    /// The spot `skipped` bytes into `rest`, which [`PieceTable::forward`] gave with `next`.
    fn inside(&self, rest: &[u8], next: Cursor, skipped: usize) -> Cursor {
        let end = match next.offset {
            0 => {
                let leaf = self.leaf(next.leaf).previous;
                Cursor { leaf, offset: self.leaf(leaf).len }
            }
            _ => next,
        };
        Cursor { offset: end.offset - (rest.len() - skipped) as u32, ..end }
    }

    /// The spot `bytes` further on, or the end.
    pub(in crate::engine::text::text_edit) fn advance(&self, spot: Cursor, bytes: usize) -> Cursor {
        let (mut leaf, mut offset) = (spot.leaf, spot.offset as usize + bytes);
        while leaf != TAIL {
            let Leaf { len, next, .. } = self.leaf(leaf);
            if offset < *len as usize {
                return Cursor { leaf, offset: offset as u32 };
            }
            (leaf, offset) = (*next, offset - *len as usize);
        }
        self.end()
    }

    /// The spot `bytes` further back, or the start; and how far back that is.
    pub(in crate::engine::text::text_edit) fn retreat(&self, spot: Cursor, bytes: usize) -> (Cursor, usize) {
        let (mut leaf, mut offset, mut left) = (spot.leaf, spot.offset as usize, bytes);
        while offset < left {
            left -= offset;
            leaf = self.leaf(leaf).previous;
            if leaf == HEAD {
                return (self.start(), bytes - left);
            }
            offset = self.leaf(leaf).len as usize;
        }
        (Cursor { leaf, offset: (offset - left) as u32 }, bytes)
    }

    /// Puts the text from a spot on behind `out`, segment by segment, up to the first of which `room` admits only a part.
    pub(in crate::engine::text::text_edit) fn copy(
        &self,
        from: Cursor,
        out: &mut Vec<u8>,
        mut room: impl FnMut(&Vec<u8>, usize) -> usize,
    ) {
        let (mut leaf, mut skip) = (from.leaf, from.offset);
        while leaf != TAIL {
            for segment in self.segments(leaf) {
                let skipped = skip.min(segment.len);
                skip -= skipped;
                let rest = &self.bytes(&segment)[skipped as usize..];
                if rest.is_empty() {
                    continue;
                }
                let taken = room(out, rest.len()).min(rest.len());
                out.extend_from_slice(&rest[..taken]);
                if taken < rest.len() {
                    return;
                }
            }
            leaf = self.leaf(leaf).next;
        }
    }

    /// Whether all blocks are the same. Counts the bytes compared, and what it takes to get at them.
    fn same<'b>(&self, mut blocks: impl Iterator<Item = (&'b [u8], &'b [u8])>) -> bool {
        blocks.all(|(one, other)| {
            self.compared.set(self.compared.get() + (one.len() + GET_AT) as u64);
            work::count(one.len() + GET_AT);
            one == other
        })
    }

    /// Bytes that were compared so far.
    pub(in crate::engine::text::text_edit) fn compared(&self) -> u64 {
        self.compared.get()
    }

    /// The end of `text`, if the text goes on with it at `spot`.
    pub(in crate::engine::text::text_edit) fn after(&self, spot: Cursor, mut text: &[u8]) -> Option<Cursor> {
        let mut at = spot;
        while !text.is_empty() {
            let (rest, next) = self.forward(at)?;
            let common = rest.len().min(text.len());
            if !self.same(rest[..common].chunks(BLOCK).zip(text[..common].chunks(BLOCK))) {
                return None;
            }
            if text.len() == common {
                return Some(self.inside(rest, next, common));
            }
            text = &text[common..];
            at = next;
        }
        Some(at)
    }

    /// The start of `text`, if the text before `spot` ends with it.
    pub(in crate::engine::text::text_edit) fn before(&self, spot: Cursor, mut text: &[u8]) -> Option<Cursor> {
        let mut at = spot;
        while !text.is_empty() {
            let (before, start) = self.backward(at)?;
            let common = before.len().min(text.len());
            let rest = text.len() - common;
            if !self.same(before[before.len() - common..].rchunks(BLOCK).zip(text[rest..].rchunks(BLOCK))) {
                return None;
            }
            at = Cursor { offset: start.offset + (before.len() - common) as u32, ..start };
            text = &text[..rest];
        }
        Some(at)
    }

    /// The same place, said by the byte before it: at the end of a leaf, not at the start of the next one.
    pub(in crate::engine::text::text_edit) fn behind(&self, spot: Cursor) -> Cursor {
        let previous = self.leaf(spot.leaf).previous;
        if spot.offset > 0 || previous == HEAD {
            return spot;
        }
        Cursor { leaf: previous, offset: self.leaf(previous).len }
    }

    /// The text from one spot to another, segment by segment.
    pub(in crate::engine::text::text_edit) fn between(
        &self,
        from: Cursor,
        to: Cursor,
    ) -> impl Iterator<Item = &'t [u8]> {
        self.segments_from(from).map_while(move |(segment, start)| {
            let room = if start.leaf == to.leaf { to.offset.saturating_sub(start.offset) } else { u32::MAX };
            let is_before = start.leaf != TAIL && self.order(start) < self.order(to);
            is_before.then(|| self.bytes(&segment.first(segment.len.min(room))))
        })
    }

    /// The next place from a spot on that `find` finds in a segment.
    pub(in crate::engine::text::text_edit) fn find(
        &self,
        from: Cursor,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<Cursor> {
        self.segments_from(from).find_map(|(segment, start)| {
            let at = find(self.bytes(&segment));
            work::count(at.unwrap_or(segment.len as usize));
            Some(Cursor { offset: start.offset + at? as u32, ..start })
        })
    }

    /// The last place before a spot that `find` finds in a segment.
    pub(in crate::engine::text::text_edit) fn find_back(
        &self,
        from: Cursor,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<Cursor> {
        let (mut leaf, mut end) = (from.leaf, from.offset);
        while leaf != HEAD {
            let found = self.unfold(leaf, |segments, ends| {
                let last = ends.partition_point(|&before| before < end);
                let before = segments.iter().zip(ends).take(last + 1).rev();
                before.into_iter().find_map(|(segment, segment_end)| {
                    let start = segment_end - segment.len;
                    let bytes =
                        &self.bytes(segment)[..(end.min(*segment_end).saturating_sub(start)) as usize];
                    find(bytes).map(|at| start + at as u32)
                })
            });
            if let Some(offset) = found {
                return Some(Cursor { leaf, offset });
            }
            leaf = self.leaf(leaf).previous;
            end = self.leaf(leaf).len;
        }
        None
    }

    /// The segments from a spot on, the first without what is before it, and where they start.
    fn segments_from(&self, from: Cursor) -> impl Iterator<Item = (Segment, Cursor)> {
        let leaves = std::iter::successors(Some(from.leaf), |&leaf| Some(self.leaf(leaf).next));
        leaves.take_while(|&leaf| leaf != TAIL).flat_map(move |leaf| {
            let skip = if leaf == from.leaf { from.offset } else { 0 };
            let mut end = 0;
            self.segments(leaf).filter_map(move |segment| {
                let start = end;
                end += segment.len;
                let skipped = skip.saturating_sub(start);
                (skipped < segment.len)
                    .then(|| (segment.behind(skipped), Cursor { leaf, offset: start + skipped }))
            })
        })
    }

    /// What edits put in: where each segment starts, and its length.
    pub(in crate::engine::text::text_edit) fn put_in(&self) -> impl Iterator<Item = (Cursor, usize)> {
        self.segments_from(self.start())
            .filter_map(|(segment, start)| segment.edit().map(|_| (start, segment.len as usize)))
    }

    /// Puts into `seams` where `edit` has changed one of the leaves that its replacements returned, and how many bytes it put
    /// in there. Of an edit that put in nothing, all places where what stood apart may have come together.
    pub(in crate::engine::text::text_edit) fn seams(
        &self,
        edit: u32,
        leaf: u32,
        seams: &mut Vec<(Cursor, usize)>,
    ) {
        let deletes = self.texts[edit as usize].is_empty();
        seams.clear();
        self.unfold(leaf, |segments, ends| {
            for (segment, end) in segments.iter().zip(ends) {
                let put_in = segment.edit() == Some(edit);
                if put_in || deletes {
                    let len = if put_in { segment.len as usize } else { 0 };
                    seams.push((Cursor { leaf, offset: end - segment.len }, len));
                }
            }
        });
    }

    /// Counts what it took to get at bytes so many times.
    pub(in crate::engine::text::text_edit) fn count(&self, times: usize) {
        self.compared.set(self.compared.get() + (times * GET_AT) as u64);
        work::count(times * GET_AT);
    }
}
