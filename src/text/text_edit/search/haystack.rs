//! Splits an edited text into a few long slices in which a needle can be searched.
//!
//! Pure. Every range as long as the needle is completely in one of the slices. A long segment is a slice of
//! its own; short ones are copied together.

use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::piece_table::PieceTable;
use crate::text_edit::work;

/// A segment of at least this length is a slice of its own, if the needle is much shorter.
const LONG: usize = 4 * 1024;

/// Bytes, less the overlap, that are copied into one slice, if the needle is not longer.
const BLOCK: usize = 64 * 1024;

pub(crate) struct Haystacks<'s, 't> {
    pieces: &'s PieceTable<'t>,
    needle: usize,
    at: Option<Cursor>,
    copied: Vec<u8>,
}

/// One slice.
pub(crate) struct Haystack<'h, 's, 't> {
    pieces: &'s PieceTable<'t>,
    pub(crate) bytes: &'h [u8],
    /// How many positions at its start belong to this slice; a needle that starts later is in the next slice.
    pub(crate) starts: usize,
    /// A position in the slice and its cursor in the text.
    known: (usize, Cursor),
    /// The slice is one segment.
    whole: bool,
}

impl<'s, 't> Haystacks<'s, 't> {
    /// Slices of the text for a needle of `needle` bytes, which must not be 0.
    pub(crate) fn new(pieces: &'s PieceTable<'t>, needle: usize) -> Haystacks<'s, 't> {
        Haystacks { pieces, needle, at: Some(pieces.start()), copied: Vec::new() }
    }

    /// The next slice.
    pub(crate) fn next(&mut self) -> Option<Haystack<'_, 's, 't>> {
        let start = self.at.take()?;
        let (rest, next) = self.pieces.forward(start)?;
        let (overlap, long) = (self.needle - 1, self.long());
        let whole = long <= rest.len() || next == self.pieces.end();
        let bytes = if whole {
            rest
        } else {
            self.copy(start);
            work::count(self.copied.len());
            &self.copied
        };
        // No needle reaches beyond the last slice.
        let end = self.pieces.advance(start, bytes.len());
        let starts = if end == self.pieces.end() { bytes.len() } else { bytes.len() - overlap };
        self.at =
            (starts < bytes.len() || end != self.pieces.end()).then(|| self.pieces.advance(start, starts));
        Some(Haystack {
            pieces: self.pieces,
            bytes,
            starts,
            known: (0, self.pieces.advance(start, 0)),
            whole,
        })
    }

    fn long(&self) -> usize {
        LONG.max(4 * self.needle)
    }

    /// Copies segments from `start` on, up to the first bytes of a long one.
    fn copy(&mut self, start: Cursor) {
        let (overlap, long) = (self.needle - 1, self.long());
        let most = BLOCK.max(self.needle / 2) + overlap;
        self.copied.clear();
        self.pieces.copy(start, &mut self.copied, |copied, len| {
            let wanted = if long <= len { overlap } else { len };
            wanted.min(most - copied.len())
        });
    }
}

impl Haystack<'_, '_, '_> {
    /// The cursor of a position in the slice. Positions must be passed in order.
    pub(crate) fn cursor_at(&mut self, at: usize) -> Cursor {
        let (known, cursor) = self.known;
        if self.whole {
            return Cursor { offset: cursor.offset + (at - known), ..cursor };
        }
        let cursor = self.pieces.advance(cursor, at - known);
        self.known = (at, cursor);
        cursor
    }

    /// The start and end cursors of the `len` bytes at a position; all of them must be in the slice.
    pub(crate) fn match_at(&mut self, at: usize, len: usize) -> (Cursor, Cursor) {
        let start = self.cursor_at(at);
        let end = match self.whole {
            true => Cursor { offset: start.offset + len, ..start },
            false => self.pieces.behind(self.pieces.advance(start, len)),
        };
        (start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_edit::table::matches::Matches;

    /// A text of one long segment, many short ones, and another long one.
    fn with_pieces(look: impl Fn(&PieceTable, &str)) {
        let old = format!("{}{}{}", "x".repeat(50_000), "ab".repeat(50_000), "y".repeat(50_000));
        let mut pieces = PieceTable::new(old.as_bytes(), 0).unwrap();
        let cursor = |at: usize| pieces.cursor_at(at).unwrap();
        let matches: Matches =
            (0..50_000).map(|nth| (cursor(50_000 + 2 * nth), cursor(50_001 + 2 * nth))).collect();
        pieces.replace_all(&matches, b"cde", 0, usize::MAX).unwrap();
        look(&pieces, &format!("{}{}{}", "x".repeat(50_000), "cdeb".repeat(50_000), "y".repeat(50_000)));
    }

    #[test]
    fn every_stretch_as_long_as_the_needle_lies_in_exactly_one_slice() {
        with_pieces(|pieces, text| {
            for needle in [1, 2, 63, 5_000, 70_000, text.len()] {
                let mut haystacks = Haystacks::new(pieces, needle);
                let (mut at, mut copied) = (0, 0);
                while let Some(haystack) = haystacks.next() {
                    assert_eq!(haystack.bytes, &text.as_bytes()[at..at + haystack.bytes.len()]);
                    let last = text.len() == at + haystack.bytes.len();
                    assert!(last || haystack.starts + needle - 1 == haystack.bytes.len(), "{needle} at {at}");
                    (at, copied) = (at + haystack.starts, copied + haystack.bytes.len());
                }
                assert_eq!(at, text.len(), "{needle}");
                assert!(copied <= 4 * text.len(), "{needle}: {copied}");
            }
        });
    }

    #[test]
    fn places_are_spots_of_the_text() {
        with_pieces(|pieces, text| {
            let mut haystacks = Haystacks::new(pieces, 3);
            let mut at = 0;
            while let Some(mut haystack) = haystacks.next() {
                for place in (0..haystack.starts).step_by(997) {
                    let byte = pieces.byte_after(haystack.cursor_at(place));
                    assert_eq!(byte, text.as_bytes().get(at + place).copied());
                }
                at += haystack.starts;
            }
        });
    }
}
