//! Makes one plan of two that are carried out one after the other.
//!
//! Pure, like all of [`super`].

use std::borrow::Cow;
use std::ops::Range;

use super::{EditPlan, Piece, Splice};

impl EditPlan<'_> {
    /// The plan that makes of the text `old` at once what this plan and then `next`, a plan for the result of this one, make of it.
    pub fn then(&self, next: &EditPlan, old: &[u8]) -> EditPlan<'static> {
        let (mut composed, mut at) = (Composed::default(), 0);
        let mut result = PartsOf { pieces: self.pieces(old.len()), rest: None };
        for piece in next.pieces(self.len_after(old.len())) {
            match piece {
                Piece::New(text) => composed.text.extend_from_slice(&text),
                Piece::Kept(range) => {
                    result.take(range.start - at, |_| {});
                    at = range.end;
                    result.take(range.len(), |part| composed.push(part));
                }
            }
        }
        composed.keep(old.len()..old.len());
        let plan = EditPlan::new(composed.splices, old).unwrap_or_default();
        let plan = plan.for_places(self.places + next.places);
        EditPlan { is_other_encoding: next.is_other_encoding, ..plan }
    }
}

/// The splices of [`EditPlan::then`], as far as they are known.
#[derive(Default)]
struct Composed {
    splices: Vec<Splice<'static>>,
    /// The end of the last part of the old text that is kept.
    kept_to: usize,
    /// The new bytes behind it.
    text: Vec<u8>,
}

impl Composed {
    fn push(&mut self, piece: Piece) {
        match piece {
            Piece::New(text) => self.text.extend_from_slice(&text),
            Piece::Kept(range) if range.is_empty() => {}
            Piece::Kept(range) => self.keep(range),
        }
    }

    fn keep(&mut self, range: Range<usize>) {
        let at = self.kept_to..range.start;
        if !at.is_empty() || !self.text.is_empty() {
            self.splices.push(Splice { at, text: Cow::Owned(std::mem::take(&mut self.text)) });
        }
        self.kept_to = range.end;
    }
}

/// The pieces of a result, which are taken in parts.
struct PartsOf<'p, I> {
    pieces: I,
    /// What is left of the piece that was taken last.
    rest: Option<Piece<'p>>,
}

impl<'p, I: Iterator<Item = Piece<'p>>> PartsOf<'p, I> {
    /// Takes the next `len` bytes, and gives each part of a piece to `part`.
    fn take(&mut self, mut len: usize, mut part: impl FnMut(Piece<'p>)) {
        while len > 0 {
            let Some(piece) = self.rest.take().or_else(|| self.pieces.next()) else { return };
            let (first, rest) = piece.split_at(len);
            len -= first.len();
            part(first);
            self.rest = rest;
        }
    }
}

impl<'p> Piece<'p> {
    fn len(&self) -> usize {
        match self {
            Piece::Kept(range) => range.len(),
            Piece::New(text) => text.len(),
        }
    }

    /// Its first bytes, at most `len`, and the others if there are any.
    fn split_at(self, len: usize) -> (Piece<'p>, Option<Piece<'p>>) {
        if self.len() <= len {
            return (self, None);
        }
        match self {
            Piece::Kept(range) => {
                let middle = range.start + len;
                (Piece::Kept(range.start..middle), Some(Piece::Kept(middle..range.end)))
            }
            Piece::New(Cow::Borrowed(text)) => {
                let (first, rest) = text.split_at(len);
                (Piece::New(first.into()), Some(Piece::New(rest.into())))
            }
            Piece::New(Cow::Owned(mut text)) => {
                let rest = text.split_off(len);
                (Piece::New(text.into()), Some(Piece::New(rest.into())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn two_plans_composed_make_the_same_text_as_one_after_the_other(
            old in "[ab]{0,12}",
            first in proptest::collection::vec((0usize..13, 0usize..4, "[xy]{0,3}"), 0..4),
            next in proptest::collection::vec((0usize..20, 0usize..4, "[ab]{0,3}"), 0..4),
        ) {
            let plan = |mut wanted: Vec<(usize, usize, String)>, old: &[u8]| {
                wanted.sort();
                let mut end = 0;
                let splices = wanted.into_iter().filter_map(|(at, len, text)| {
                    let (start, stop) = (at.max(end), (at + len).max(end));
                    let fits = stop <= old.len();
                    end = if fits { stop } else { end };
                    fits.then(|| Splice { at: start..stop, text: text.into_bytes().into() })
                });
                EditPlan::new(splices.collect(), old).unwrap()
            };
            let apply = |plan: &EditPlan, old: &[u8]| {
                let mut out = Vec::new();
                plan.write_to(old, &mut out).unwrap();
                out
            };
            let first = plan(first, old.as_bytes());
            let between = apply(&first, old.as_bytes());
            let next = plan(next, &between);
            let composed = first.then(&next, old.as_bytes());
            proptest::prop_assert_eq!(apply(&composed, old.as_bytes()), apply(&next, &between));
        }
    }
}
