//! The addresses at which stretches of old_texts were found, as many as there is memory for.
//!
//! Pure; knows needles and pieces, and nothing of edits. A stretch that stands too often is given up: of it nothing is
//! kept, and it is no longer searched for.

use super::needles::{MAX_NEEDLE, Needles};
use super::pieces::{Pieces, Spot};
use crate::engine::{Control, Result};

/// Addresses kept for all stretches together.
pub(super) const ALL_KEPT: usize = 1 << 20;

/// Bytes searched between two looks at the clock.
const BLOCK: usize = 256 * 1024;

/// Finds of stretches that were given up, until the search is prepared anew without them.
const IN_VAIN: usize = 16 * 1024;

/// One stretch.
#[derive(Debug)]
pub(super) struct Kept<'e> {
    pub(super) needle: &'e [u8],
    /// Whether there is still somebody who asks for it.
    pub(super) wanted: bool,
    /// Addresses kept at most.
    pub(super) most: usize,
    addresses: Vec<u32>,
    given_up: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Addresses<'e> {
    kept: Vec<Kept<'e>>,
    needles: Needles<'e>,
    room: usize,
    in_vain: usize,
}

impl<'e> Kept<'e> {
    pub(super) fn new(needle: &'e [u8], most: usize) -> Kept<'e> {
        Kept { needle, wanted: true, most, addresses: Vec::new(), given_up: false }
    }

    /// How many addresses there are; nothing if not all of them were kept.
    pub(super) fn len(&self) -> Option<usize> {
        (!self.given_up).then_some(self.addresses.len())
    }
}

impl<'e> Addresses<'e> {
    /// Takes stretches, which are all different.
    pub(super) fn new(kept: Vec<Kept<'e>>) -> Addresses<'e> {
        let mut all =
            Addresses { kept, needles: Needles::new(std::iter::empty()), room: ALL_KEPT, in_vain: 0 };
        all.prepare();
        all
    }

    pub(super) fn of(&self, stretch: usize) -> &Kept<'e> {
        &self.kept[stretch]
    }

    /// Searches from now on only for what is still asked for.
    pub(super) fn keep_only(&mut self, wanted: impl Fn(usize) -> bool) {
        for (number, kept) in self.kept.iter_mut().enumerate() {
            kept.wanted &= wanted(number);
            if !kept.wanted {
                self.room += kept.addresses.len();
                kept.addresses = Vec::new();
            }
        }
        self.prepare();
    }

    /// Prepares the search for what was not given up.
    fn prepare(&mut self) {
        let live = self.kept.iter().enumerate().filter(|(_, kept)| kept.wanted && !kept.given_up);
        self.needles = Needles::new(live.map(|(number, kept)| (kept.needle, number as u32)));
        self.in_vain = 0;
    }

    /// Searches the whole text.
    pub(super) fn search(&mut self, pieces: &Pieces, control: &Control) -> Result<()> {
        let (mut at, mut left) = (pieces.start(), pieces.len());
        let mut window = Window::default();
        while 0 < left {
            control.check()?;
            if IN_VAIN < self.in_vain {
                self.prepare();
            }
            if self.needles.is_empty() {
                break;
            }
            self.search_window(window.of(pieces, at, BLOCK + MAX_NEEDLE - 1), 0..BLOCK, |_| true);
            at = pieces.advance(at, BLOCK.min(left));
            left -= BLOCK.min(left);
        }
        Ok(())
    }

    /// Searches what an edit put in at the `seams`, `len` bytes each, with what stands around it.
    pub(super) fn search_around(
        &mut self,
        pieces: &Pieces,
        seams: &[Spot],
        len: usize,
        control: &Control,
    ) -> Result<()> {
        let (mut window, mut searched) = (Window::default(), 0);
        if self.needles.is_empty() {
            return Ok(());
        }
        for &seam in seams {
            let (from, before) = pieces.retreat(seam, MAX_NEEDLE - 1);
            let bytes = before + len + MAX_NEEDLE - 1;
            let touched = 0..before + len;
            self.search_window(window.of(pieces, from, bytes), touched, |end| before < end);
            searched += bytes;
            if BLOCK < searched {
                control.check()?;
                searched = 0;
            }
        }
        if IN_VAIN < self.in_vain {
            self.prepare();
        }
        Ok(())
    }

    /// Keeps what starts in `starts` and has an end that will do.
    fn search_window(
        &mut self,
        window: &Window,
        starts: std::ops::Range<usize>,
        end: impl Fn(usize) -> bool,
    ) {
        let Addresses { kept, needles, room, in_vain } = self;
        needles.find(window.bytes(), &mut |number, at| {
            let found = &kept[number as usize];
            if found.given_up {
                *in_vain += 1;
            } else if starts.contains(&at) && end(at + found.needle.len()) {
                keep(kept, number as usize, window.address(at), room);
            }
        });
    }

    /// Where the stretch stands now, in the order of the text; nothing if it was given up.
    pub(super) fn spots(&mut self, stretch: usize, pieces: &Pieces) -> Option<Vec<Spot>> {
        let kept = &mut self.kept[stretch];
        if kept.given_up || !kept.wanted {
            return None;
        }
        let before = kept.addresses.len();
        // What has left the text never comes back.
        kept.addresses.retain(|&address| pieces.spot(address).is_some());
        self.room += before - kept.addresses.len();
        let mut spots: Vec<Spot> =
            kept.addresses.iter().filter_map(|&address| pieces.spot(address)).collect();
        if !spots.is_sorted_by_key(|&spot| pieces.order(spot)) {
            spots.sort_unstable_by_key(|&spot| pieces.order(spot));
        }
        spots.dedup();
        Some(spots)
    }
}

/// Keeps one more address of a stretch. Where there is no room, the most frequent stretch is given up for it.
fn keep(kept: &mut [Kept], stretch: usize, address: u32, room: &mut usize) {
    let give_up = |kept: &mut Kept, room: &mut usize| {
        *room += kept.addresses.len();
        kept.addresses = Vec::new();
        kept.given_up = true;
    };
    if *room == 0 {
        kept.iter_mut()
            .max_by_key(|kept| kept.addresses.len())
            .into_iter()
            .for_each(|most| give_up(most, room));
    }
    let kept = &mut kept[stretch];
    if kept.addresses.len() == kept.most {
        give_up(kept, room);
    } else if !kept.given_up && 0 < *room {
        kept.addresses.push(address);
        *room -= 1;
    }
}

/// Some bytes that may stand in several pieces, and their addresses. Copied only where they do.
#[derive(Debug, Default)]
pub(super) struct Window<'t> {
    whole: &'t [u8],
    copied: Vec<u8>,
    /// For each stretch, where it starts and its address.
    addresses: Vec<(usize, u32)>,
}

impl<'t> Window<'t> {
    /// The `len` bytes from `from` on, or as many as there are.
    pub(super) fn of(&mut self, pieces: &Pieces<'t>, from: Spot, mut len: usize) -> &Window<'t> {
        self.whole = b"";
        self.copied.clear();
        self.addresses.clear();
        let mut at = from;
        while let Some((rest, next)) = pieces.forward(at).filter(|_| 0 < len) {
            self.addresses.push((self.copied.len(), pieces.address(pieces.advance(at, 0))));
            let taken = &rest[..rest.len().min(len)];
            if self.copied.is_empty() && taken.len() == len {
                self.whole = taken;
                break;
            }
            self.copied.extend_from_slice(taken);
            len -= taken.len();
            at = next;
        }
        self
    }

    pub(super) fn bytes(&self) -> &[u8] {
        if self.copied.is_empty() { self.whole } else { &self.copied }
    }

    pub(super) fn address(&self, at: usize) -> u32 {
        let stretch = self.addresses.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        let (start, address) = self.addresses[stretch];
        address + (at - start) as u32
    }
}
