//! The addresses of the stretches of old_texts in the text, as many as memory allows.
//!
//! Pure; knows needles and pieces, not edits. A stretch that occurs too often is given up: its addresses are
//! dropped, and it is no longer searched.

use crate::order;
use crate::packed::Packed;
use crate::text_edit::search::multi_pattern::{MAX_NEEDLE, MultiPattern};
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::piece_table::{PieceTable, Stretch};
use crate::text_edit::work;
use crate::{Result, Stop};

/// Limits of the addresses kept for all stretches: in all, and one for each so many bytes of the text.
const ALL_KEPT: usize = 1 << 20;
const BYTES_EACH: usize = 4;

/// Addresses kept even for a short text.
const FEW: usize = 4 * 1024;

/// Failed comparisons allowed for any text, and one more per this many bytes of it. If there are more, the
/// stretches resemble each other and the text almost everywhere; then each edit searches for itself.
const LOOKS: usize = 16 * 1024;
const BYTES_A_LOOK: usize = 32;

/// Bytes searched before the next check which stretches to give up.
const BLOCK: usize = 8 * 1024;

/// Bytes searched before the next check of the deadline.
const UNTIL_CHECK: usize = 256 * 1024;

/// Bytes searched at once around inserted text.
const AROUND: usize = 4 * 1024;

/// Matches of stretches that were given up, after which the search is rebuilt without these stretches.
const IN_VAIN: usize = 16 * 1024;

/// One stretch.
#[derive(Debug)]
pub(crate) struct NeedleOccurrences<'e> {
    pub(crate) needle: &'e [u8],
    /// Whether an edit still needs it.
    pub(crate) wanted: bool,
    /// Maximum number of addresses kept.
    pub(crate) most: usize,
    /// Number of addresses kept; `addresses` stores for each its signed distance from the one before.
    len: usize,
    addresses: Packed,
    last: usize,
    given_up: bool,
}

#[derive(Debug)]
pub(crate) struct Occurrences<'e> {
    kept: Vec<NeedleOccurrences<'e>>,
    needles: MultiPattern<'e>,
    /// Number of addresses that fit in all, and that still fit.
    all_room: usize,
    room: usize,
    in_vain: usize,
    /// Number of failed comparisons so far, and their maximum.
    looks: usize,
    most_looks: usize,
    /// Reused buffer for the search around inserted text.
    around: Around,
    seams: Vec<(Cursor, usize)>,
}

impl<'e> NeedleOccurrences<'e> {
    pub(crate) fn new(needle: &'e [u8], most: usize) -> NeedleOccurrences<'e> {
        let addresses = Packed::default();
        NeedleOccurrences { needle, wanted: true, most, len: 0, addresses, last: 0, given_up: false }
    }

    fn is_kept(&self) -> bool {
        self.wanted && !self.given_up
    }

    /// Number of addresses; `None` if not all of them were kept.
    pub(crate) fn len(&self) -> Option<usize> {
        (!self.given_up).then_some(self.len)
    }

    fn push(&mut self, address: usize) {
        let by = address as i64 - self.last as i64;
        self.addresses.push((by << 1 ^ by >> 63) as u64);
        (self.last, self.len) = (address, self.len + 1);
    }

    fn addresses(&self) -> impl Iterator<Item = usize> {
        self.addresses.read().scan(0, |last, number| {
            *last += (number >> 1) as i64 ^ -((number & 1) as i64);
            Some(*last as usize)
        })
    }

    /// Drops all addresses. Returns their number.
    fn clear(&mut self) -> usize {
        self.addresses = Packed::default();
        std::mem::take(&mut self.len)
    }
}

impl<'e> Occurrences<'e> {
    /// Takes stretches, which must all differ, for a text of `len` bytes.
    pub(crate) fn new(kept: Vec<NeedleOccurrences<'e>>, len: usize) -> Occurrences<'e> {
        let room = (len / BYTES_EACH).clamp(FEW, ALL_KEPT);
        let needles = MultiPattern::new(std::iter::empty());
        let most_looks = len / BYTES_A_LOOK + LOOKS;
        let (around, seams) = (Around::default(), Vec::new());
        let (all_room, in_vain, looks) = (room, 0, 0);
        let mut all =
            Occurrences { kept, needles, all_room, room, in_vain, looks, most_looks, around, seams };
        all.prepare();
        all
    }

    /// Approximate memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        // Memory of one address: its distance from the one before, and unused capacity.
        const ADDRESS: usize = 4;
        (self.all_room - self.room) * ADDRESS
            + self.kept.len() * size_of::<NeedleOccurrences>()
            + self.needles.memory()
    }

    pub(crate) fn of(&self, stretch: usize) -> &NeedleOccurrences<'e> {
        &self.kept[stretch]
    }

    /// Limits the search to the stretches for which `wanted` returns true.
    pub(crate) fn keep_only(&mut self, wanted: impl Fn(usize) -> bool) {
        for (number, kept) in self.kept.iter_mut().enumerate() {
            kept.wanted &= wanted(number);
            if !kept.wanted {
                self.room += kept.clear();
            }
        }
        self.prepare();
    }

    /// Gives up all stretches after too many failed comparisons; stops searching given-up ones.
    fn give_up_more(&mut self) {
        if self.most_looks < self.looks {
            self.kept.iter_mut().for_each(|kept| give_up(kept, &mut self.room));
            self.prepare();
        } else if IN_VAIN < self.in_vain {
            self.prepare();
        }
    }

    /// Builds the search for the stretches that were not given up.
    fn prepare(&mut self) {
        let live = self.kept.iter().enumerate().filter(|(_, kept)| kept.wanted && !kept.given_up);
        self.needles = MultiPattern::new(live.map(|(number, kept)| (kept.needle, number as u32)));
        self.in_vain = 0;
    }

    /// Searches the whole text before any edit has changed it.
    pub(crate) fn search(&mut self, pieces: &PieceTable, control: &dyn Stop) -> Result<()> {
        let Some(Stretch { bytes: text, address, .. }) = pieces.stretch(pieces.start()) else {
            return Ok(());
        };
        let first = address.unwrap_or_default();
        for at in (0..text.len()).step_by(BLOCK) {
            if at % UNTIL_CHECK == 0 {
                control.check()?;
            }
            self.give_up_more();
            if self.needles.is_empty() {
                break;
            }
            let block = &text[at..text.len().min(at + BLOCK + MAX_NEEDLE - 1)];
            work::count(block.len());
            let Occurrences { kept, needles, room, in_vain, looks, .. } = self;
            *looks += needles.find(block, &mut |number, start| {
                if !kept[number as usize].is_kept() {
                    *in_vain += 1;
                } else if start < BLOCK {
                    keep(kept, number as usize, first + at + start, room);
                }
            });
        }
        Ok(())
    }

    /// Searches the text that `edit` inserted into `leaves`, and its surroundings.
    pub(crate) fn search_around(
        &mut self,
        edit: u32,
        pieces: &PieceTable,
        leaves: &[u32],
        control: &dyn Stop,
    ) -> Result<()> {
        for (number, &leaf) in leaves.iter().enumerate() {
            if self.needles.is_empty() {
                break;
            }
            if number % 256 == 255 {
                control.check()?;
            }
            let mut seams = std::mem::take(&mut self.seams);
            pieces.seams(edit, leaf, &mut seams);
            let mut touched: Option<(Cursor, usize)> = None;
            for &(start, len) in &seams {
                let apart = |(from, len): &(Cursor, usize)| start.offset - from.offset - len;
                match &mut touched {
                    // The surroundings overlap, so both are searched at once.
                    Some(touched) if apart(touched) < MAX_NEEDLE => touched.1 += apart(touched) + len,
                    _ => {
                        let before = touched.replace((start, len));
                        before.into_iter().for_each(|before| self.search_touched(edit, pieces, before));
                    }
                }
            }
            touched.into_iter().for_each(|touched| self.search_touched(edit, pieces, touched));
            self.seams = seams;
            self.give_up_more();
        }
        Ok(())
    }

    /// Searches the `len` bytes from a cursor on, and their surroundings.
    fn search_touched(&mut self, edit: u32, pieces: &PieceTable, (start, len): (Cursor, usize)) {
        let (mut from, before) = pieces.retreat(start, MAX_NEEDLE - 1);
        for at in (0..before + len).step_by(AROUND) {
            let starts = AROUND.min(before + len - at);
            self.around.read(edit, pieces, from, starts + MAX_NEEDLE - 1);
            work::count(self.around.bytes.len());
            let Occurrences { kept, needles, room, in_vain, looks, around: window, .. } = self;
            *looks += needles.find(&window.bytes, &mut |number, found| {
                let len = kept[number as usize].needle.len();
                if !kept[number as usize].is_kept() {
                    *in_vain += 1;
                } else if found < starts && before < at + found + len && !window.was_there(found, len) {
                    match window.address(found) {
                        Some(address) => keep(kept, number as usize, address, room),
                        None => give_up(&mut kept[number as usize], room),
                    }
                }
            });
            from = pieces.advance(from, starts);
        }
    }

    /// The cursors of the stretch now, in text order; `None` if it was given up.
    pub(crate) fn cursors(&self, stretch: usize, pieces: &PieceTable) -> Option<Vec<Cursor>> {
        let kept = &self.kept[stretch];
        if kept.given_up || !kept.wanted {
            return None;
        }
        // Deleted bytes never return to the text.
        let mut cursors: Vec<Cursor> =
            kept.addresses().filter_map(|address| pieces.cursor_at(address)).collect();
        if !cursors.is_sorted_by_key(|&cursor| pieces.order(cursor)) {
            order::sort_by_key(&mut cursors, |&cursor| pieces.order(cursor));
        }
        cursors.dedup();
        Some(cursors)
    }

    /// Drops a stretch that no edit needs any more.
    pub(crate) fn forget(&mut self, stretch: usize) {
        let kept = &mut self.kept[stretch];
        kept.wanted = false;
        self.room += kept.clear();
    }
}

/// Keeps one more address of a stretch. If nothing fits any more, gives up the most frequent stretch first.
fn keep(kept: &mut [NeedleOccurrences], stretch: usize, address: usize, room: &mut usize) {
    if *room == 0 {
        kept.iter_mut().max_by_key(|kept| kept.len).into_iter().for_each(|most| give_up(most, room));
    }
    let kept = &mut kept[stretch];
    if kept.len == kept.most {
        give_up(kept, room);
    } else if !kept.given_up && 0 < *room {
        kept.push(address);
        *room -= 1;
    }
}

fn give_up(kept: &mut NeedleOccurrences, room: &mut usize) {
    *room += kept.clear();
    kept.given_up = true;
}

/// Some bytes around inserted text. For each segment: its start, its address, and whether the current edit
/// inserted it.
#[derive(Debug, Default)]
struct Around {
    bytes: Vec<u8>,
    segments: Vec<(usize, Option<usize>, bool)>,
}

impl Around {
    fn read(&mut self, edit: u32, pieces: &PieceTable, from: Cursor, len: usize) {
        self.bytes.clear();
        self.segments.clear();
        let mut at = from;
        while let Some(stretch) = pieces.stretch(at).filter(|_| self.bytes.len() < len) {
            self.segments.push((self.bytes.len(), stretch.address, stretch.edit == Some(edit)));
            let room = len - self.bytes.len();
            self.bytes.extend_from_slice(&stretch.bytes[..stretch.bytes.len().min(room)]);
            at = stretch.next;
        }
    }

    fn segment(&self, at: usize) -> (usize, (usize, Option<usize>, bool)) {
        let segment = self.segments.partition_point(|(start, ..)| *start <= at).saturating_sub(1);
        (segment, self.segments[segment])
    }

    /// Whether these bytes are in one segment that the edit did not insert, so were adjacent before.
    fn was_there(&self, at: usize, len: usize) -> bool {
        let (segment, (.., put_in)) = self.segment(at);
        !put_in && self.segments.get(segment + 1).is_none_or(|(next, ..)| at + len <= *next)
    }

    fn address(&self, at: usize) -> Option<usize> {
        let (_, (start, address, _)) = self.segment(at);
        Some(address? + (at - start))
    }
}
