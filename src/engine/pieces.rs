//! A text under edit as a sequence of pieces of texts that never move: the old text, and what edits put in.
//!
//! Pure; knows neither lines nor what is searched for. Nothing is copied per edit: a replacement cuts at most two
//! pieces and puts one between them. Every byte that was ever in the text has an address of its own for good: an old
//! byte its place in the old text, an inserted one a number past its end. So a place that was found before an edit can
//! be looked up after it, and it is known whether it is still there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::splice::Splice;

/// A byte of the text, or the end of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    piece: u32,
    offset: u32,
}

/// Bytes of one text that stand together.
#[derive(Debug)]
struct Piece<'t> {
    bytes: &'t [u8],
    /// The address of the first byte.
    address: u32,
    /// Which edit put it in; none for the old text.
    edit: Option<u32>,
    /// Where it starts in the text that the edit put in.
    skipped: u32,
    previous: u32,
    next: u32,
    /// Rises along the text.
    label: u64,
}

/// The pieces before the first and behind the last; both empty.
const HEAD: u32 = 0;
const TAIL: u32 = 1;

/// Distance of two neighbours' labels where there is room.
const STEP: u64 = 1 << 32;

/// See the module.
#[derive(Debug)]
pub(super) struct Pieces<'t> {
    /// Invariant: linked both ways from [`HEAD`] to [`TAIL`], labels rising; none but these two is empty; the old
    /// text's pieces stand in its order.
    pieces: Vec<Piece<'t>>,
    /// The piece that starts at an address, for those that are in the text.
    starts: BTreeMap<u32, u32>,
    next_address: u32,
    len: usize,
}

impl<'t> Pieces<'t> {
    /// The text `old` from `first` on. Nothing if it is too long for addresses of 32 bits.
    pub(super) fn new(old: &'t [u8], first: usize) -> Option<Pieces<'t>> {
        let next_address = u32::try_from(old.len()).ok()?;
        let end = |label, previous, next| Piece {
            bytes: b"",
            address: 0,
            edit: None,
            skipped: 0,
            previous,
            next,
            label,
        };
        let mut pieces = Pieces {
            pieces: vec![end(0, HEAD, TAIL), end(u64::MAX, HEAD, TAIL)],
            starts: BTreeMap::new(),
            next_address,
            len: 0,
        };
        pieces.link(HEAD, old.get(first..)?, first as u32, (None, 0));
        Some(pieces)
    }

    /// Bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn piece(&self, piece: u32) -> &Piece<'t> {
        &self.pieces[piece as usize]
    }

    /// The start of the text.
    pub(super) fn start(&self) -> Spot {
        Spot { piece: self.piece(HEAD).next, offset: 0 }
    }

    /// The end of the text.
    pub(super) fn end(&self) -> Spot {
        Spot { piece: TAIL, offset: 0 }
    }

    /// Where the byte with this address is, if it is still in the text.
    pub(super) fn spot(&self, address: u32) -> Option<Spot> {
        let (&start, &piece) = self.starts.range(..=address).next_back()?;
        let offset = address - start;
        ((offset as usize) < self.piece(piece).bytes.len()).then_some(Spot { piece, offset })
    }

    /// The address of the byte at a spot.
    pub(super) fn address(&self, spot: Spot) -> u32 {
        self.piece(spot.piece).address + spot.offset
    }

    /// What sorts spots as they stand in the text.
    pub(super) fn order(&self, spot: Spot) -> (u64, u32) {
        (self.piece(spot.piece).label, spot.offset)
    }

    /// The place in the old text of a spot; where the spot is in text that an edit put in, the place of what stands
    /// before that, and the edit.
    pub(super) fn origin(&self, spot: Spot) -> (usize, Option<u32>) {
        let piece = self.piece(spot.piece);
        let put_in = piece.edit;
        if spot.piece != TAIL && put_in.is_none() {
            return (piece.address as usize + spot.offset as usize, None);
        }
        let mut before = piece.previous;
        while before != HEAD && self.piece(before).edit.is_some() {
            before = self.piece(before).previous;
        }
        let before = self.piece(before);
        (before.address as usize + before.bytes.len(), put_in)
    }

    /// The bytes from a spot to the end of its piece, and the start of the next piece. Nothing at the end.
    pub(super) fn forward(&self, spot: Spot) -> Option<(&'t [u8], Spot)> {
        let mut at = spot;
        loop {
            let piece = self.piece(at.piece);
            if at.piece == TAIL {
                return None;
            }
            let next = Spot { piece: piece.next, offset: 0 };
            match &piece.bytes[at.offset as usize..] {
                b"" => at = next,
                rest => return Some((rest, next)),
            }
        }
    }

    /// The bytes from the start of a spot's piece to the spot, or if these are none, the piece before it; and where
    /// they start. Nothing at the start.
    pub(super) fn backward(&self, spot: Spot) -> Option<(&'t [u8], Spot)> {
        let mut at = spot;
        while at.offset == 0 {
            at.piece = self.piece(at.piece).previous;
            at.offset = self.piece(at.piece).bytes.len() as u32;
            if at.piece == HEAD {
                return None;
            }
        }
        let before = &self.piece(at.piece).bytes[..at.offset as usize];
        Some((before, Spot { piece: at.piece, offset: 0 }))
    }

    /// The byte behind a spot.
    pub(super) fn byte_after(&self, spot: Spot) -> Option<u8> {
        self.forward(spot).map(|(rest, _)| rest[0])
    }

    /// The byte before a spot.
    pub(super) fn byte_before(&self, spot: Spot) -> Option<u8> {
        self.backward(spot).and_then(|(before, _)| before.last().copied())
    }

    /// The spot `skipped` bytes into `rest`, which [`Pieces::forward`] gave with `next`.
    fn inside(&self, rest: &[u8], next: Spot, skipped: usize) -> Spot {
        let piece = self.piece(next.piece).previous;
        let offset = self.piece(piece).bytes.len() - rest.len() + skipped;
        Spot { piece, offset: offset as u32 }
    }

    /// The spot `bytes` further on, or the end.
    pub(super) fn advance(&self, spot: Spot, mut bytes: usize) -> Spot {
        let mut at = spot;
        while let Some((rest, next)) = self.forward(at) {
            if bytes < rest.len() {
                return self.inside(rest, next, bytes);
            }
            bytes -= rest.len();
            at = next;
        }
        self.end()
    }

    /// The spot `bytes` further back, or the start; and how far back that is.
    pub(super) fn retreat(&self, spot: Spot, bytes: usize) -> (Spot, usize) {
        let (mut at, mut left) = (spot, bytes);
        while let Some((before, start)) = self.backward(at) {
            if left <= before.len() {
                return (Spot { offset: (before.len() - left) as u32, ..start }, bytes);
            }
            left -= before.len();
            at = start;
        }
        (self.start(), bytes - left)
    }

    /// The end of `text`, if the text goes on with it at `spot`.
    pub(super) fn after(&self, spot: Spot, mut text: &[u8]) -> Option<Spot> {
        let mut at = spot;
        while !text.is_empty() {
            let (rest, next) = self.forward(at)?;
            let common = rest.len().min(text.len());
            if rest[..common] != text[..common] {
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
    pub(super) fn before(&self, spot: Spot, mut text: &[u8]) -> Option<Spot> {
        let mut at = spot;
        while !text.is_empty() {
            let (before, start) = self.backward(at)?;
            let common = before.len().min(text.len());
            let rest = text.len() - common;
            if before[before.len() - common..] != text[rest..] {
                return None;
            }
            at = Spot { offset: (before.len() - common) as u32, ..start };
            text = &text[..rest];
        }
        Some(at)
    }

    /// The same place, said by the byte before it: so it outlives a replacement of what is behind it.
    pub(super) fn behind(&self, spot: Spot) -> Spot {
        let previous = self.piece(spot.piece).previous;
        if spot.offset > 0 || previous == HEAD {
            return spot;
        }
        Spot { piece: previous, offset: self.piece(previous).bytes.len() as u32 }
    }

    /// Puts `text` of `edit` in the place of what stands from `from` to `to`. Spots before `from` stay good. Returns
    /// where the new text starts; nothing if there are no addresses left for it.
    pub(super) fn replace(&mut self, from: Spot, to: Spot, text: &'t [u8], edit: u32) -> Option<Spot> {
        let address = self.next_address;
        self.next_address = address.checked_add(u32::try_from(text.len()).ok()?)?;
        let after = self.cut(to);
        let mut piece = self.cut(from);
        let before = self.piece(piece).previous;
        while piece != after {
            let gone = self.piece(piece);
            let (start, len, next) = (gone.address, gone.bytes.len(), gone.next);
            self.starts.remove(&start);
            self.len -= len;
            piece = next;
        }
        self.pieces[before as usize].next = after;
        self.pieces[after as usize].previous = before;
        self.link(before, text, address, (Some(edit), 0));
        Some(Spot { piece: self.piece(before).next, offset: 0 })
    }

    /// The piece that starts at the spot, after cutting the one that it is in.
    fn cut(&mut self, spot: Spot) -> u32 {
        let piece = self.piece(spot.piece);
        let (bytes, address, next) = (piece.bytes, piece.address, piece.next);
        let source = (piece.edit, piece.skipped + spot.offset);
        if spot.offset == 0 {
            return spot.piece;
        }
        let (left, right) = bytes.split_at(spot.offset as usize);
        if right.is_empty() {
            return next;
        }
        self.pieces[spot.piece as usize].bytes = left;
        self.len -= right.len();
        self.link(spot.piece, right, address + spot.offset, source);
        self.piece(spot.piece).next
    }

    /// Puts a piece behind `before`.
    fn link(&mut self, before: u32, bytes: &'t [u8], address: u32, (edit, skipped): (Option<u32>, u32)) {
        if bytes.is_empty() {
            return;
        }
        let next = self.piece(before).next;
        if self.piece(next).label - self.piece(before).label < 2 {
            self.number_anew();
        }
        let (low, high) = (self.piece(before).label, self.piece(next).label);
        let label = low + ((high - low) / 2).min(STEP);
        // Each replacement adds at most two pieces, and their number is limited far below 2^31.
        let new = self.pieces.len() as u32;
        self.pieces.push(Piece { bytes, address, edit, skipped, previous: before, next, label });
        self.pieces[before as usize].next = new;
        self.pieces[next as usize].previous = new;
        self.starts.insert(address, new);
        self.len += bytes.len();
    }

    /// Gives all pieces labels that leave room.
    fn number_anew(&mut self) {
        let (mut piece, mut label) = (self.piece(HEAD).next, 0);
        while piece != TAIL {
            label += STEP;
            self.pieces[piece as usize].label = label;
            piece = self.piece(piece).next;
        }
    }

    /// All pieces from the start on: their bytes, and where they start.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'t [u8], Spot)> {
        let mut piece = self.piece(HEAD).next;
        std::iter::from_fn(move || {
            let here = (piece != TAIL).then_some((self.piece(piece).bytes, Spot { piece, offset: 0 }))?;
            piece = self.piece(piece).next;
            Some(here)
        })
    }

    /// The text as changes of the old one, of which it has left out the bytes before `first`. `texts` are what the
    /// edits put in.
    pub(super) fn splices<'e>(&self, old: &[u8], first: usize, texts: &[&'e [u8]]) -> Vec<Splice<'e>> {
        let mut splices = Vec::new();
        let (mut done, mut new) = (first, Cow::Borrowed(&b""[..]));
        let mut piece = self.piece(HEAD).next;
        loop {
            let here = self.piece(piece);
            if let Some(edit) = here.edit {
                let skipped = here.skipped as usize;
                let bytes = &texts[edit as usize][skipped..skipped + here.bytes.len()];
                match new.is_empty() {
                    true => new = Cow::Borrowed(bytes),
                    false => new.to_mut().extend_from_slice(bytes),
                }
            } else {
                let at = if piece == TAIL { old.len() } else { here.address as usize };
                if done < at || !new.is_empty() {
                    splices.push(Splice { at: done..at, text: std::mem::take(&mut new) });
                }
                done = at + here.bytes.len();
            }
            if piece == TAIL {
                return splices;
            }
            piece = here.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(pieces: &Pieces) -> String {
        let bytes: Vec<u8> = pieces.iter().flat_map(|(bytes, _)| bytes.to_vec()).collect();
        assert_eq!(bytes.len(), pieces.len());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_address_names_the_same_byte_for_good() {
        let mut pieces = Pieces::new(b"0123456789", 0).unwrap();
        let (from, to) = (pieces.spot(3).unwrap(), pieces.spot(5).unwrap());
        pieces.replace(from, to, b"abc", 0).unwrap();
        assert_eq!(text(&pieces), "012abc56789");
        assert_eq!((pieces.spot(3), pieces.spot(4)), (None, None));
        for (address, byte) in [(2, b'2'), (5, b'5'), (10, b'a'), (12, b'c')] {
            assert_eq!(pieces.byte_after(pieces.spot(address).unwrap()), Some(byte));
        }
        let inner = pieces.spot(11).unwrap();
        assert_eq!(pieces.origin(inner), (3, Some(0)));
        let after = pieces.after(pieces.spot(1).unwrap(), b"12abc5").unwrap();
        assert_eq!(pieces.byte_after(after), Some(b'6'));
        assert_eq!(pieces.before(after, b"2abc5"), pieces.spot(2));
    }

    #[test]
    fn a_thousand_changes_at_one_spot_stay_in_order() {
        let mut pieces = Pieces::new(b"END", 0).unwrap();
        for _ in 0..1000 {
            let to = pieces.end();
            let from = pieces.before(to, b"END").unwrap();
            pieces.replace(from, to, b"xEND", 0).unwrap();
        }
        assert_eq!(text(&pieces), format!("{}END", "x".repeat(1000)));
        let labels: Vec<_> = pieces.iter().map(|(_, spot)| pieces.order(spot)).collect();
        assert!(labels.is_sorted());
    }

    proptest! {
        #[test]
        fn any_replacements_give_what_they_give_in_a_string(
            old in "[a-z]{0,40}",
            edits in prop::collection::vec((any::<u16>(), any::<u16>(), "[A-Z]{0,5}"), 0..30),
        ) {
            let mut expected = old.clone();
            let mut pieces = Pieces::new(old.as_bytes(), 0).unwrap();
            let texts: Vec<&[u8]> = edits.iter().map(|(.., new)| new.as_bytes()).collect();
            for (number, (at, len, new)) in edits.iter().enumerate() {
                let from = *at as usize % (expected.len() + 1);
                let to = from + *len as usize % (expected.len() - from + 1).min(6);
                let (start, end) =
                    (pieces.advance(pieces.start(), from), pieces.advance(pieces.start(), to));
                prop_assert_eq!(pieces.after(start, &expected.as_bytes()[from..to]).is_some(), true);
                prop_assert_eq!(pieces.before(end, &expected.as_bytes()[from..to]).is_some(), true);
                pieces.replace(start, end, new.as_bytes(), number as u32).unwrap();
                expected.replace_range(from..to, new);
                prop_assert_eq!(&text(&pieces), &expected);
            }
            let splices = pieces.splices(old.as_bytes(), 0, &texts);
            let plan = super::super::EditPlan::new(splices, old.as_bytes()).unwrap();
            let mut out = Vec::new();
            plan.write_to(old.as_bytes(), &mut out).unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
