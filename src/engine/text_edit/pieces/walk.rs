//! Ways about in the text: from a spot to others, to bytes, to addresses, and back.

use super::{HEAD, Piece, Pieces, Spot, TAIL};

impl<'t> Pieces<'t> {
    /// Whether the text is the old one, as one piece.
    pub(in crate::engine::text_edit) fn is_untouched(&self) -> bool {
        let first = self.piece(self.piece(HEAD).next);
        first.edit.is_none() && first.next == TAIL && self.pieces.len() == 3
    }

    /// The start of the text.
    pub(in crate::engine::text_edit) fn start(&self) -> Spot {
        Spot { piece: self.piece(HEAD).next, offset: 0 }
    }

    /// The end of the text.
    pub(in crate::engine::text_edit) fn end(&self) -> Spot {
        Spot { piece: TAIL, offset: 0 }
    }

    /// Where the byte with this address is, if it is still in the text.
    pub(in crate::engine::text_edit) fn spot(&self, address: u32) -> Option<Spot> {
        let (&start, &piece) = self.starts.range(..=address).next_back()?;
        let offset = address - start;
        ((offset as usize) < self.piece(piece).bytes.len()).then_some(Spot { piece, offset })
    }

    /// The address of the byte at a spot.
    pub(in crate::engine::text_edit) fn address(&self, spot: Spot) -> u32 {
        self.piece(spot.piece).address + spot.offset
    }

    /// What sorts spots as they stand in the text.
    pub(in crate::engine::text_edit) fn order(&self, spot: Spot) -> (u64, u32) {
        (self.piece(spot.piece).label, spot.offset)
    }

    /// The place in the old text of a spot; where the spot is in text that an edit put in, the place where it did that,
    /// and the edit.
    pub(in crate::engine::text_edit) fn origin(&self, spot: Spot) -> (usize, Option<u32>) {
        let piece = self.piece(spot.piece);
        let put_in = piece.edit;
        if spot.piece != TAIL && put_in.is_none() {
            return (piece.address as usize + spot.offset as usize, None);
        }
        // What ends the text stands behind the last piece, whatever that is.
        let put_in_at = |piece: &Piece| match piece.edit {
            Some(_) => piece.put_in_at as usize,
            None => piece.address as usize + piece.bytes.len(),
        };
        match put_in {
            Some(_) => (put_in_at(piece), put_in),
            None => (put_in_at(self.piece(piece.previous)), None),
        }
    }

    /// The bytes from a spot to the end of its piece, and the start of the next piece. Nothing at the end.
    pub(in crate::engine::text_edit) fn forward(&self, spot: Spot) -> Option<(&'t [u8], Spot)> {
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
    pub(in crate::engine::text_edit) fn backward(&self, spot: Spot) -> Option<(&'t [u8], Spot)> {
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
    pub(in crate::engine::text_edit) fn byte_after(&self, spot: Spot) -> Option<u8> {
        self.forward(spot).map(|(rest, _)| rest[0])
    }

    /// The byte before a spot.
    pub(in crate::engine::text_edit) fn byte_before(&self, spot: Spot) -> Option<u8> {
        self.backward(spot).and_then(|(before, _)| before.last().copied())
    }

    /// The spot `skipped` bytes into `rest`, which [`Pieces::forward`] gave with `next`.
    fn inside(&self, rest: &[u8], next: Spot, skipped: usize) -> Spot {
        let piece = self.piece(next.piece).previous;
        let offset = self.piece(piece).bytes.len() - rest.len() + skipped;
        Spot { piece, offset: offset as u32 }
    }

    /// The spot `bytes` further on, or the end.
    pub(in crate::engine::text_edit) fn advance(&self, spot: Spot, mut bytes: usize) -> Spot {
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
    pub(in crate::engine::text_edit) fn retreat(&self, spot: Spot, bytes: usize) -> (Spot, usize) {
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
    pub(in crate::engine::text_edit) fn after(&self, spot: Spot, mut text: &[u8]) -> Option<Spot> {
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
    pub(in crate::engine::text_edit) fn before(&self, spot: Spot, mut text: &[u8]) -> Option<Spot> {
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
    pub(in crate::engine::text_edit) fn behind(&self, spot: Spot) -> Spot {
        let previous = self.piece(spot.piece).previous;
        if spot.offset > 0 || previous == HEAD {
            return spot;
        }
        Spot { piece: previous, offset: self.piece(previous).bytes.len() as u32 }
    }

    /// All pieces from the start on: their bytes, and where they start.
    pub(in crate::engine::text_edit) fn iter(&self) -> impl Iterator<Item = (&'t [u8], Spot)> {
        let mut piece = self.piece(HEAD).next;
        std::iter::from_fn(move || {
            let here = (piece != TAIL).then_some((self.piece(piece).bytes, Spot { piece, offset: 0 }))?;
            piece = self.piece(piece).next;
            Some(here)
        })
    }
}
