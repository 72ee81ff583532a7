//! Replacements: reads the affected leaves segment by segment and writes them again.

use super::segment::{NOWHERE, Segment, SegmentReader};
use super::{Cursor, Full, HEAD, Matches, PieceTable, TAIL};

/// Segments of a leaf: with many replacements (`DENSE`), and with few, which may soon be rewritten
/// (`SPARSE`). While there are only a `FEW` leaves, `SMALL` instead of `SPARSE`.
const DENSE: usize = 256;
const SPARSE: usize = 96;
const SMALL: usize = 16;
const FEW: usize = 4096;

/// Maximum number of replacements of one edit, and of all edits, whose inserted bytes get addresses.
const ADDRESSED: u64 = 64;
const ALL_ADDRESSED: usize = 64 * 1024;

/// The home of a segment that was in no leaf as it is.
const NO_LEAF: u32 = u32::MAX;

struct Rebuild<'p, 't> {
    pieces: &'p mut PieceTable<'t>,
    edit: u32,
    /// Length of the inserted text in bytes.
    len: usize,
    /// The inserted bytes get addresses.
    addressed: bool,
    /// The leaf that is being read.
    open: Option<Open>,
    /// Segments that were read or inserted, and are not yet in a leaf.
    ready: Ready,
    /// How many of these were inserted.
    put_in: usize,
    /// The last labelled leaf before those being written, and the last leaf written.
    before: u32,
    last: u32,
    written: u64,
    changed: Vec<u32>,
}

/// Segments, each with the leaf from which it was read, if its length is unchanged.
#[derive(Debug, Default)]
pub(super) struct Ready {
    segments: Vec<Segment>,
    homes: Vec<u32>,
}

struct Open {
    leaf: u32,
    next: u32,
    reader: SegmentReader<Box<[u8]>>,
    /// The rest of the current segment, and whether nothing of it has been read.
    rest: Option<Segment>,
    whole: bool,
    /// Number of bytes of the leaf before that.
    offset: usize,
}

/// Replaces the matches by the text of `edit`. Returns the leaves that hold it; if it is empty, the leaves
/// with the text around the matches.
pub(super) fn replace_all(
    pieces: &mut PieceTable,
    matches: &Matches,
    edit: u32,
    most: usize,
) -> Result<Vec<u32>, Full> {
    let len = pieces.texts[edit as usize].len();
    let addressed = matches.len() <= ADDRESSED && pieces.new_starts.len() < ALL_ADDRESSED;
    let ready = std::mem::take(&mut pieces.ready);
    let mut rebuild = Rebuild {
        pieces,
        edit,
        len,
        addressed,
        open: None,
        ready,
        put_in: 0,
        before: HEAD,
        last: HEAD,
        written: 0,
        changed: Vec::new(),
    };
    for (number, (start, end)) in matches.iter().enumerate() {
        rebuild.replace(start, end);
        if number % DENSE == 0 && most < rebuild.pieces.memory() {
            return Err(Full::Memory);
        }
    }
    rebuild.close();
    let Rebuild { pieces, ready, changed, .. } = rebuild;
    pieces.ready = ready;
    Ok(changed)
}

impl Rebuild<'_, '_> {
    fn replace(&mut self, start: Cursor, end: Cursor) {
        if start.leaf == TAIL {
            // Only an empty text is replaced there.
            if self.pieces.len == 0 && self.open.is_none() {
                self.begin_behind(HEAD);
                self.put(self.pieces.first);
            }
            return;
        }
        self.open(start.leaf);
        self.move_to(start.offset, true);
        let Some(rest) = self.open.as_ref().and_then(|open| open.rest) else { return };
        self.put(rest.old_at);
        while let Some(next) = self.open.as_ref().filter(|open| open.leaf != end.leaf).map(|open| open.next) {
            if next == TAIL {
                break;
            }
            self.move_to(usize::MAX, false);
            self.read_leaf(next);
        }
        self.move_to(end.offset, false);
    }

    /// Inserts the new text here, at the position `old_at` of the old text.
    fn put(&mut self, old_at: usize) {
        if self.len == 0 {
            return;
        }
        let address = if self.addressed { self.pieces.next_address } else { NOWHERE };
        if self.addressed {
            self.pieces.next_address += self.len;
        }
        self.pieces.len += self.len;
        self.put_in += 1;
        self.push(Segment::new(self.edit, old_at, self.len, address), NO_LEAF);
    }

    fn push(&mut self, segment: Segment, home: u32) {
        self.ready.segments.push(segment);
        self.ready.homes.push(home);
        if self.ready.segments.len() == 2 * DENSE {
            self.write(DENSE);
        }
    }

    /// Makes `leaf` the one that is read.
    fn open(&mut self, leaf: u32) {
        match &self.open {
            Some(open) if open.leaf == leaf => {}
            Some(open) if open.next == leaf => {
                self.move_to(usize::MAX, true);
                self.read_leaf(leaf);
            }
            _ => {
                self.close();
                self.begin_behind(self.pieces.leaf(leaf).previous);
                self.read_leaf(leaf);
            }
        }
    }

    fn begin_behind(&mut self, before: u32) {
        (self.before, self.last, self.written) = (before, before, 0);
    }

    fn read_leaf(&mut self, leaf: u32) {
        let next = self.pieces.leaf(leaf).next;
        let reader = self.pieces.take_leaf(leaf);
        self.open = Some(Open { leaf, next, reader, rest: None, whole: true, offset: 0 });
        self.read_segment();
    }

    fn read_segment(&mut self) {
        if let Some(open) = &mut self.open {
            (open.rest, open.whole) = (open.reader.next(), true);
        }
    }

    /// Reads up to `offset` or the end of the leaf. Keeps or deletes what it reads.
    fn move_to(&mut self, offset: usize, keep: bool) {
        while let Some(open) = &mut self.open
            && let Some(rest) = open.rest
            && open.offset < offset
        {
            let len = rest.len.min(offset - open.offset);
            let home = if open.whole && len == rest.len { open.leaf } else { NO_LEAF };
            open.offset += len;
            if len < rest.len {
                (open.rest, open.whole) = (Some(rest.behind(len)), false);
            } else {
                self.read_segment();
            }
            match keep {
                true => self.push(rest.first(len), home),
                false => self.pieces.len -= len,
            }
        }
    }

    /// Keeps the rest of the current leaf, and writes all segments that are ready.
    fn close(&mut self) {
        self.move_to(usize::MAX, true);
        if self.open.take().is_none() && self.ready.segments.is_empty() {
            return;
        }
        let count = self.ready.segments.len();
        let most = match self.put_in * 4 < count {
            true if self.pieces.leaves.len() < FEW => SMALL,
            true => SPARSE,
            false => DENSE,
        };
        let leaves = count.div_ceil(most);
        for left in (1..=leaves).rev() {
            self.write(self.ready.segments.len().div_ceil(left));
        }
        let after = self.pieces.leaf(self.last).next;
        if 0 < self.written {
            self.pieces.label_between(self.before, after, self.written);
        }
        if self.len == 0 {
            // Its first byte now follows another byte.
            self.changed.push(after);
        }
        self.begin_behind(self.last);
    }

    /// Writes a leaf of the first `count` segments that are ready.
    fn write(&mut self, count: usize) {
        let Ready { segments, homes } = &mut self.ready;
        let leaf = self.pieces.add_leaf(self.last, &segments[..count]);
        let (mut put_in, edit) = (0, Some(self.edit));
        for (segment, home) in segments.drain(..count).zip(homes.drain(..count)) {
            if segment.edit() == edit && home == NO_LEAF {
                put_in += 1;
            }
            if segment.edit().is_some() && segment.address != NOWHERE && home != leaf {
                self.pieces.new_starts.insert(segment.address, leaf);
            }
        }
        if 0 < put_in || self.len == 0 {
            self.changed.push(leaf);
        }
        self.put_in -= put_in;
        (self.last, self.written) = (leaf, self.written + 1);
    }
}
