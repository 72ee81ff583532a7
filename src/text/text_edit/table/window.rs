//! A range of an edited text as one slice.

use std::cell::Cell;

use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::piece_table::PieceTable;

/// Bytes that may be in several segments. Copies them only if they are.
pub(crate) struct Window<'s, 't> {
    pieces: &'s PieceTable<'t>,
    whole: &'t [u8],
    copied: Vec<u8>,
    from: Cursor,
    /// A position in the window and its cursor in the text.
    known: Cell<(usize, Cursor)>,
}

impl<'s, 't> Window<'s, 't> {
    /// The `len` bytes from `from` on, or fewer at the end of the text.
    pub(crate) fn of(pieces: &'s PieceTable<'t>, from: Cursor, mut len: usize) -> Window<'s, 't> {
        let mut window = Window { pieces, whole: b"", copied: Vec::new(), from, known: Cell::new((0, from)) };
        let mut at = from;
        while let Some((rest, next)) = pieces.forward(at).filter(|_| 0 < len) {
            let taken = &rest[..rest.len().min(len)];
            if window.copied.is_empty() && taken.len() == len {
                window.whole = taken;
                break;
            }
            window.copied.extend_from_slice(taken);
            len -= taken.len();
            at = next;
        }
        window
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        if self.copied.is_empty() { self.whole } else { &self.copied }
    }

    /// The cursor of a position in the window. Fast if the positions are passed in order.
    pub(crate) fn cursor_at(&self, at: usize) -> Cursor {
        let (known, cursor) =
            Some(self.known.get()).filter(|(known, _)| *known <= at).unwrap_or((0, self.from));
        let cursor = self.pieces.advance(cursor, at - known);
        self.known.set((at, cursor));
        cursor
    }
}
