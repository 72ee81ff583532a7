//! A text under edit as a sequence of pieces of texts that never move: the old text, and what edits put in.
//!
//! Pure; knows neither lines nor what is searched for. Nothing is copied per edit: a replacement cuts at most two
//! pieces and puts one between them. Every byte that was ever in the text has an address of its own for good: an old
//! byte its place in the old text, an inserted one a number past its end. So a place that was found before an edit can
//! be looked up after it, and it is known whether it is still there.

mod walk;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::engine::Splice;

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
    /// Where in the old text the edit put it in.
    put_in_at: u32,
    previous: u32,
    next: u32,
    /// Rises along the text.
    label: u64,
}

/// Where a piece comes from.
#[derive(Debug, Clone, Copy)]
struct Source {
    edit: Option<u32>,
    skipped: u32,
    put_in_at: u32,
}

impl Source {
    const OLD: Source = Source { edit: None, skipped: 0, put_in_at: 0 };
}

/// The pieces before the first and behind the last; both empty.
const HEAD: u32 = 0;
const TAIL: u32 = 1;

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
            address: first as u32,
            edit: None,
            skipped: 0,
            put_in_at: 0,
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
        pieces.link(HEAD, old.get(first..)?, first as u32, Source::OLD, 0);
        Some(pieces)
    }

    /// Bytes of the text.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn piece(&self, piece: u32) -> &Piece<'t> {
        &self.pieces[piece as usize]
    }

    /// Puts `text` of `edit` in the place of each of `matches`, which stand in order and do not overlap. Returns where the
    /// new text starts each time; nothing if there are no addresses left for it.
    pub(super) fn replace_all(
        &mut self,
        matches: &[(Spot, Spot)],
        text: &'t [u8],
        edit: u32,
    ) -> Option<Vec<Spot>> {
        // From the last on: what is replaced leaves the spots before it as they are.
        let places = matches.iter().enumerate().rev();
        places.map(|(before, &(from, to))| self.replace(from, to, text, edit, before as u64)).collect()
    }

    /// One replacement, before which as many as `ahead` will follow.
    fn replace(&mut self, from: Spot, to: Spot, text: &'t [u8], edit: u32, ahead: u64) -> Option<Spot> {
        let address = self.next_address;
        self.next_address = address.checked_add(u32::try_from(text.len()).ok()?)?;
        // Each adds two pieces at most.
        let after = self.cut(to, 2 * ahead + 2);
        let mut piece = self.cut(from, 2 * ahead + 1);
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
        let put_in_at = match self.piece(before) {
            Piece { edit: Some(_), put_in_at, .. } => *put_in_at,
            Piece { address, bytes, .. } => address + bytes.len() as u32,
        };
        self.link(before, text, address, Source { edit: Some(edit), skipped: 0, put_in_at }, 2 * ahead);
        Some(Spot { piece: self.piece(before).next, offset: 0 })
    }

    /// The piece that starts at the spot, after cutting the one that it is in.
    fn cut(&mut self, spot: Spot, ahead: u64) -> u32 {
        let piece = self.piece(spot.piece);
        let (bytes, address, next) = (piece.bytes, piece.address, piece.next);
        let (edit, put_in_at) = (piece.edit, piece.put_in_at);
        let source = Source { edit, skipped: piece.skipped + spot.offset, put_in_at };
        if spot.offset == 0 {
            return spot.piece;
        }
        let (left, right) = bytes.split_at(spot.offset as usize);
        if right.is_empty() {
            return next;
        }
        self.pieces[spot.piece as usize].bytes = left;
        self.len -= right.len();
        self.link(spot.piece, right, address + spot.offset, source, ahead);
        self.piece(spot.piece).next
    }

    /// Puts a piece behind `before`, between which two as many as `ahead` may follow.
    fn link(&mut self, before: u32, bytes: &'t [u8], address: u32, source: Source, ahead: u64) {
        if bytes.is_empty() {
            return;
        }
        let next = self.piece(before).next;
        if self.piece(next).label - self.piece(before).label < ahead + 2 {
            self.number_anew();
        }
        let (low, high) = (self.piece(before).label, self.piece(next).label);
        let label = high - ((high - low) / (ahead + 2)).max(1);
        // Each replacement adds at most two pieces, and their number is limited far below 2^31.
        let new = self.pieces.len() as u32;
        let Source { edit, skipped, put_in_at } = source;
        self.pieces.push(Piece { bytes, address, edit, skipped, put_in_at, previous: before, next, label });
        self.pieces[before as usize].next = new;
        self.pieces[next as usize].previous = new;
        self.starts.insert(address, new);
        self.len += bytes.len();
    }

    /// Gives all pieces labels that leave as much room everywhere.
    fn number_anew(&mut self) {
        let step = u64::MAX / (self.pieces.len() as u64 + 1);
        let (mut piece, mut label) = (self.piece(HEAD).next, 0);
        while piece != TAIL {
            label += step;
            self.pieces[piece as usize].label = label;
            piece = self.piece(piece).next;
        }
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
        pieces.replace(from, to, b"abc", 0, 0).unwrap();
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
            pieces.replace(from, to, b"xEND", 0, 0).unwrap();
        }
        assert_eq!(text(&pieces), format!("{}END", "x".repeat(1000)));
        let labels: Vec<_> = pieces.iter().map(|(_, spot)| pieces.order(spot)).collect();
        assert!(labels.is_sorted());
    }

    #[test]
    fn many_replacements_at_once_stay_in_order() {
        let old = "ab".repeat(100_000);
        let mut pieces = Pieces::new(old.as_bytes(), 0).unwrap();
        let spots = |at: u32, to: u32| (pieces.spot(at).unwrap(), pieces.spot(to).unwrap());
        let matches: Vec<_> = (0..100_000).map(|n| spots(2 * n, 2 * n + 1)).collect();
        pieces.replace_all(&matches, b"x", 0).unwrap();
        assert_eq!(text(&pieces), "xb".repeat(100_000));
        let labels: Vec<_> = pieces.iter().map(|(_, spot)| pieces.order(spot)).collect();
        assert!(labels.is_sorted_by(|one, other| one < other));
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
                pieces.replace(start, end, new.as_bytes(), number as u32, 0).unwrap();
                expected.replace_range(from..to, new);
                prop_assert_eq!(&text(&pieces), &expected);
            }
            let splices = pieces.splices(old.as_bytes(), 0, &texts);
            let plan = crate::engine::EditPlan::new(splices, old.as_bytes()).unwrap();
            let mut out = Vec::new();
            plan.write_to(old.as_bytes(), &mut out).unwrap();
            prop_assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
