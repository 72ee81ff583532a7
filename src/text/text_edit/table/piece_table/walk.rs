//! Navigation in the text: from a cursor to other cursors, to bytes, to addresses, and back.

use super::segment::{NOWHERE, Segment};
use super::{Cursor, HEAD, Leaf, PieceTable, TAIL};
use crate::text_edit::work;

/// Cost of an access to bytes, as a number of bytes compared.
const GET_AT: usize = 16;

/// Bytes compared at once, so that a difference at the start of a long text is found early.
const BLOCK: usize = 1024;

/// The rest of a segment, from a cursor on.
pub(crate) struct Stretch<'t> {
    pub(crate) bytes: &'t [u8],
    /// The start of the next segment.
    pub(crate) next: Cursor,
    /// The address of the first byte, if it has one.
    pub(crate) address: Option<usize>,
    /// The edit that inserted it; `None` for the old text.
    pub(crate) edit: Option<u32>,
}

impl<'t> PieceTable<'t> {
    /// Whether no edit has changed the text yet.
    pub(crate) fn is_untouched(&self) -> bool {
        !self.edited
    }

    /// The start of the text.
    pub(crate) fn start(&self) -> Cursor {
        Cursor { leaf: self.leaf(HEAD).next, offset: 0 }
    }

    /// The end of the text.
    pub(crate) fn end(&self) -> Cursor {
        Cursor { leaf: TAIL, offset: 0 }
    }

    /// The cursor of the byte with this address, if it is still in the text.
    pub(crate) fn cursor_at(&self, address: usize) -> Option<Cursor> {
        let starts = if address < self.old.len() { &self.old_starts } else { &self.new_starts };
        let (_, &leaf) = starts.range(..=address).next_back()?;
        let offset = self.unfold(leaf, |segments, ends| {
            let at = segments.iter().position(|segment| segment.holds(address))?;
            Some(ends[at] - segments[at].len + (address - segments[at].address))
        })?;
        Some(Cursor { leaf, offset })
    }

    /// A key that orders cursors by their position in the text.
    pub(crate) fn order(&self, cursor: Cursor) -> (u64, usize) {
        (self.leaf(cursor.leaf).label, cursor.offset)
    }

    /// The position of a cursor in the old text. In inserted text: the position where it was inserted, and
    /// the edit.
    pub(crate) fn origin(&self, cursor: Cursor) -> (usize, Option<u32>) {
        if let Some((segment, start)) = self.segment_after(cursor) {
            return match segment.edit() {
                None => (segment.old_at + cursor.offset - start, None),
                put_in => (segment.old_at, put_in),
            };
        }
        // The end of the text is the end of the last segment.
        let last = self.segment_before(cursor).map(|(segment, _)| match segment.edit() {
            None => segment.old_at + segment.len,
            Some(_) => segment.old_at,
        });
        (last.unwrap_or(self.first), None)
    }

    /// The segment of the byte at a cursor, and its start in its leaf. `None` at the end of a leaf.
    fn segment_after(&self, cursor: Cursor) -> Option<(Segment, usize)> {
        self.unfold(cursor.leaf, |segments, ends| {
            let at = ends.partition_point(|&end| end <= cursor.offset);
            segments.get(at).map(|segment| (*segment, ends[at] - segment.len))
        })
    }

    /// The segment of the byte before a cursor, and its start in its leaf. At the start of a leaf, that is in
    /// the leaf before.
    fn segment_before(&self, cursor: Cursor) -> Option<(Segment, usize)> {
        let cursor = self.behind(cursor);
        let byte = Cursor { offset: cursor.offset.checked_sub(1)?, ..cursor };
        self.segment_after(byte)
    }

    /// The bytes from a cursor to the end of its segment, and the start of the next one. `None` at the end.
    pub(crate) fn forward(&self, cursor: Cursor) -> Option<(&'t [u8], Cursor)> {
        self.stretch(cursor).map(|stretch| (stretch.bytes, stretch.next))
    }

    /// The rest of the segment at a cursor. `None` at the end.
    pub(crate) fn stretch(&self, cursor: Cursor) -> Option<Stretch<'t>> {
        let mut at = cursor;
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

    /// The bytes of a segment before a cursor, and their start. Takes the cursor's own segment, or the one
    /// before if the cursor is at its start. `None` at the start of the text.
    pub(crate) fn backward(&self, cursor: Cursor) -> Option<(&'t [u8], Cursor)> {
        let cursor = self.behind(cursor);
        let (segment, start) = self.segment_before(cursor)?;
        Some((&self.bytes(&segment)[..cursor.offset - start], Cursor { offset: start, ..cursor }))
    }

    /// The byte after a cursor.
    pub(crate) fn byte_after(&self, cursor: Cursor) -> Option<u8> {
        self.forward(cursor).map(|(rest, _)| rest[0])
    }

    /// The byte before a cursor.
    pub(crate) fn byte_before(&self, cursor: Cursor) -> Option<u8> {
        self.backward(cursor).and_then(|(before, _)| before.last().copied())
    }

    /// The cursor `skipped` bytes into `rest`, which [`PieceTable::forward`] returned with `next`.
    fn inside(&self, rest: &[u8], next: Cursor, skipped: usize) -> Cursor {
        let end = match next.offset {
            0 => {
                let leaf = self.leaf(next.leaf).previous;
                Cursor { leaf, offset: self.leaf(leaf).len }
            }
            _ => next,
        };
        Cursor { offset: end.offset - (rest.len() - skipped), ..end }
    }

    /// The cursor `bytes` further on, or the end.
    pub(crate) fn advance(&self, cursor: Cursor, bytes: usize) -> Cursor {
        let (mut leaf, mut offset) = (cursor.leaf, cursor.offset + bytes);
        while leaf != TAIL {
            let Leaf { len, next, .. } = self.leaf(leaf);
            if offset < *len {
                return Cursor { leaf, offset };
            }
            (leaf, offset) = (*next, offset - *len);
        }
        self.end()
    }

    /// The cursor `bytes` further back, or the start; and the actual distance.
    pub(crate) fn retreat(&self, cursor: Cursor, bytes: usize) -> (Cursor, usize) {
        let (mut leaf, mut offset, mut left) = (cursor.leaf, cursor.offset, bytes);
        while offset < left {
            left -= offset;
            leaf = self.leaf(leaf).previous;
            if leaf == HEAD {
                return (self.start(), bytes - left);
            }
            offset = self.leaf(leaf).len;
        }
        (Cursor { leaf, offset: offset - left }, bytes)
    }

    /// Appends the text from a cursor on to `out`, up to the first segment that `room` does not fully allow.
    pub(crate) fn copy(
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
                let rest = &self.bytes(&segment)[skipped..];
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

    /// Whether all pairs of blocks are equal. Counts the bytes compared, and the accesses.
    fn same<'b>(&self, mut blocks: impl Iterator<Item = (&'b [u8], &'b [u8])>) -> bool {
        blocks.all(|(one, other)| {
            self.compared.set(self.compared.get() + (one.len() + GET_AT) as u64);
            work::count(one.len() + GET_AT);
            one == other
        })
    }

    /// Number of bytes compared so far, with the cost of accesses.
    pub(crate) fn compared(&self) -> u64 {
        self.compared.get()
    }

    /// The end of `text`, if the text continues with it at `cursor`.
    pub(crate) fn after(&self, cursor: Cursor, mut text: &[u8]) -> Option<Cursor> {
        let mut at = cursor;
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

    /// The start of `text`, if the text before `cursor` ends with it.
    pub(crate) fn before(&self, cursor: Cursor, mut text: &[u8]) -> Option<Cursor> {
        let mut at = cursor;
        while !text.is_empty() {
            let (before, start) = self.backward(at)?;
            let common = before.len().min(text.len());
            let rest = text.len() - common;
            if !self.same(before[before.len() - common..].rchunks(BLOCK).zip(text[rest..].rchunks(BLOCK))) {
                return None;
            }
            at = Cursor { offset: start.offset + (before.len() - common), ..start };
            text = &text[..rest];
        }
        Some(at)
    }

    /// The same position as the end of a leaf, instead of the start of the next one.
    pub(crate) fn behind(&self, cursor: Cursor) -> Cursor {
        let previous = self.leaf(cursor.leaf).previous;
        if cursor.offset > 0 || previous == HEAD {
            return cursor;
        }
        Cursor { leaf: previous, offset: self.leaf(previous).len }
    }

    /// The text between two cursors, segment by segment.
    pub(crate) fn between(&self, from: Cursor, to: Cursor) -> impl Iterator<Item = &'t [u8]> {
        self.segments_from(from).map_while(move |(segment, start)| {
            let room =
                if start.leaf == to.leaf { to.offset.saturating_sub(start.offset) } else { usize::MAX };
            let is_before = start.leaf != TAIL && self.order(start) < self.order(to);
            is_before.then(|| self.bytes(&segment.first(segment.len.min(room))))
        })
    }

    /// The first position from a cursor on that `find` returns for a segment.
    pub(crate) fn find(&self, from: Cursor, find: impl Fn(&[u8]) -> Option<usize>) -> Option<Cursor> {
        self.segments_from(from).find_map(|(segment, start)| {
            let at = find(self.bytes(&segment));
            work::count(at.unwrap_or(segment.len));
            Some(Cursor { offset: start.offset + at?, ..start })
        })
    }

    /// The last position before a cursor that `find` returns for a segment.
    pub(crate) fn find_back(&self, from: Cursor, find: impl Fn(&[u8]) -> Option<usize>) -> Option<Cursor> {
        let (mut leaf, mut end) = (from.leaf, from.offset);
        while leaf != HEAD {
            let found = self.unfold(leaf, |segments, ends| {
                let last = ends.partition_point(|&before| before < end);
                let before = segments.iter().zip(ends).take(last + 1).rev();
                before.into_iter().find_map(|(segment, segment_end)| {
                    let start = segment_end - segment.len;
                    let bytes = &self.bytes(segment)[..end.min(*segment_end).saturating_sub(start)];
                    find(bytes).map(|at| start + at)
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

    /// The segments from a cursor on, with their starts. Cuts the bytes before the cursor from the first one.
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

    /// The segments that edits inserted: start and length.
    pub(crate) fn put_in(&self) -> impl Iterator<Item = (Cursor, usize)> {
        self.segments_from(self.start())
            .filter_map(|(segment, start)| segment.edit().map(|_| (start, segment.len)))
    }

    /// Writes to `seams` where `edit` has changed a leaf, and how many bytes it inserted there. For an edit
    /// that only deletes: all segment starts, because bytes may have become adjacent there.
    pub(crate) fn seams(&self, edit: u32, leaf: u32, seams: &mut Vec<(Cursor, usize)>) {
        let deletes = self.texts[edit as usize].is_empty();
        seams.clear();
        self.unfold(leaf, |segments, ends| {
            for (segment, end) in segments.iter().zip(ends) {
                let put_in = segment.edit() == Some(edit);
                if put_in || deletes {
                    let len = if put_in { segment.len } else { 0 };
                    seams.push((Cursor { leaf, offset: end - segment.len }, len));
                }
            }
        });
    }

    /// Counts `times` accesses to bytes.
    pub(crate) fn count(&self, times: usize) {
        self.compared.set(self.compared.get() + (times * GET_AT) as u64);
        work::count(times * GET_AT);
    }
}
