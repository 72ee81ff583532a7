//! Describes a passage of the edited text by lines and columns, and quotes it.
//!
//! Knows line breaks and the lines of the old text, not the search. Lines have their number in the old text.
//! A line of context before and after helps to recognize a passage.

use std::cell::RefCell;
use std::ops::Range;

use crate::lines::LineIndex;
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::piece_table::PieceTable;
use crate::text_edit::work;

/// Maximum number of bytes quoted of one line.
const QUOTED: usize = 400;

/// Maximum number of bytes quoted of a passage of several lines.
const QUOTED_LINES: usize = 4_000;

/// One passage, located in the old text if possible. Lines and columns are 0-based; columns are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The line in which it starts.
    pub line: usize,
    /// Number of its lines, less one: 0 if it ends in the line in which it starts.
    pub further_lines: usize,
    /// The column of its start in its first line.
    pub column: usize,
    /// The column of its end in its last line.
    pub column_end: usize,
    /// The column of its start after the earlier edits of the call, if that differs.
    pub column_now: Option<usize>,
    /// The edit of the call that inserted its start, 0-based. Then `line` is where that text was inserted.
    pub put_in_by: Option<usize>,
    /// Whether it is not so in the old text: earlier edits of the call changed it or put it in. Then it has as many lines as there are
    /// in the old text from its start to its end.
    pub is_edited: bool,
    /// Its whole lines, joined by `\n`; of a long line, the part around it.
    pub text: String,
    /// The range of the passage in `text`.
    pub at: Range<usize>,
    /// The line before it, if there is one.
    pub before: Option<String>,
    /// The line after it, if there is one.
    pub after: Option<String>,
}

/// An edited text, and the lines of the old text.
#[derive(Debug)]
pub(crate) struct TextLines<'s, 't> {
    pub(crate) pieces: &'s PieceTable<'t>,
    pub(crate) index: &'s LineIndex,
    pub(crate) old: &'t [u8],
    /// The results for the last line, because a line can be as long as the text.
    known: RefCell<Option<KnownLine>>,
}

/// A line, and the last results for it.
#[derive(Debug, Clone)]
struct KnownLine {
    start: Cursor,
    end: Cursor,
    /// A cursor, its column, and the number of bytes of the line before it.
    at: Cursor,
    column: usize,
    bytes: usize,
    before: Option<String>,
    after: Option<String>,
    /// A position in the old text and its column there.
    old: Option<(usize, usize)>,
}

impl<'s, 't> TextLines<'s, 't> {
    pub(crate) fn new(pieces: &'s PieceTable<'t>, index: &'s LineIndex, old: &'t [u8]) -> TextLines<'s, 't> {
        TextLines { pieces, index, old, known: RefCell::new(None) }
    }

    /// The passage from `start` to `end`.
    pub(crate) fn passage(&self, start: Cursor, end: Cursor) -> Snippet {
        let (line, put_in_by) = self.line(start);
        let known = self.line_of(start);
        let order = |cursor| self.pieces.order(cursor);
        // A passage that ends with a line break ends in the line of that break.
        let last_from = match break_before(self.pieces, end) {
            Some(brk) if order(brk) >= order(start) => brk,
            _ => end,
        };
        let shown_to = if order(end) <= order(last_from) { end } else { last_from };
        let one_line = order(last_from) <= order(known.end);
        let now = known.column;
        let (further_lines, column_end, close, after) = if one_line {
            let (len, _) = self.measure(start, shown_to);
            (0, now + len, known.end, known.after.clone())
        } else {
            let (last, close) = (self.line_start(last_from), self.line_end(last_from));
            (self.breaks(known.start, last), self.measure(last, shown_to).0, close, self.line_after(close))
        };
        let is_edited = put_in_by.is_some() || !self.is_in_old(start, shown_to);
        let further_lines =
            if is_edited { self.line(last_from).0.saturating_sub(line) } else { further_lines };
        // The column in the old text differs if edits changed the line before this position.
        let column = if put_in_by.is_none() { self.old_column(start).unwrap_or(now) } else { now };
        let moved = if one_line { column_end + column - now } else { column_end };
        let (text, at) = self.quote_around(&known, start, shown_to, close);
        let column_now = (column != now).then_some(now);
        let before = known.before;
        Snippet {
            line,
            further_lines,
            column,
            column_end: moved,
            column_now,
            put_in_by,
            is_edited,
            text,
            at,
            before,
            after,
        }
    }

    /// The line of a cursor, and the cursor's column.
    fn line_of(&self, cursor: Cursor) -> KnownLine {
        let order = |cursor| self.pieces.order(cursor);
        let known = self.known.borrow_mut().take();
        let mut known = match known {
            Some(known) if (order(known.start)..=order(known.end)).contains(&order(cursor)) => known,
            _ => {
                let (start, end) = (self.line_start(cursor), self.line_end(cursor));
                let before =
                    break_before(self.pieces, start).map(|brk| self.quote(self.line_start(brk), brk, QUOTED));
                let (after, old) = (self.line_after(end), None);
                KnownLine { start, end, at: start, column: 0, bytes: 0, before, after, old }
            }
        };
        if order(cursor) < order(known.at) {
            (known.at, known.column, known.bytes) = (known.start, 0, 0);
        }
        let (characters, bytes) = self.measure(known.at, cursor);
        (known.at, known.column, known.bytes) = (cursor, known.column + characters, known.bytes + bytes);
        *self.known.borrow_mut() = Some(known.clone());
        known
    }

    /// The column of a cursor in the old text. `None` if no edit has changed the text.
    fn old_column(&self, cursor: Cursor) -> Option<usize> {
        let at = self.pieces.origin(cursor).0;
        if self.pieces.is_untouched() {
            return None;
        }
        let count = |range: Range<usize>| characters(self.old.get(range).unwrap_or_default());
        let mut known = self.known.borrow_mut();
        let last = known.as_ref().and_then(|known| known.old).filter(|(last, _)| *last <= at);
        let column = match last {
            Some((last, column)) => column + count(last..at),
            None => {
                let first = self.index.first_byte();
                let before = self.old.get(first..at).unwrap_or_default();
                count(memchr::memrchr2(b'\n', b'\r', before).map_or(first, |brk| first + brk + 1)..at)
            }
        };
        known.iter_mut().for_each(|known| known.old = Some((at, column)));
        Some(column)
    }

    /// Whether the old text has the same bytes at the place of these.
    fn is_in_old(&self, from: Cursor, to: Cursor) -> bool {
        if self.pieces.is_untouched() {
            return true;
        }
        let mut at = self.pieces.origin(from).0;
        self.pieces.between(from, to).all(|part| {
            work::count(part.len());
            at += part.len();
            self.old.get(at - part.len()..at) == Some(part)
        })
    }

    fn line_after(&self, close: Cursor) -> Option<String> {
        break_after(self.pieces, close)
            .filter(|&next| self.pieces.forward(next).is_some())
            .map(|next| self.quote(next, self.line_end(next), QUOTED))
    }

    /// The line number of a cursor in the old text, and the edit that inserted the text there, if any.
    pub(crate) fn line(&self, cursor: Cursor) -> (usize, Option<usize>) {
        let (at, put_in_by) = self.pieces.origin(cursor);
        (self.index.line_at(at, self.old), put_in_by.map(|edit| edit as usize))
    }

    /// Like [`TextLines::exact`], with every line break as `\n`.
    fn quote(&self, from: Cursor, to: Cursor, most: usize) -> String {
        self.exact(from, to, most).replace("\r\n", "\n").replace('\r', "\n")
    }

    /// The text from `from` to `to`, cut after `most` bytes.
    pub(crate) fn exact(&self, from: Cursor, to: Cursor, most: usize) -> String {
        let (mut bytes, mut more) = (Vec::new(), false);
        for part in self.pieces.between(from, to) {
            let room = most - bytes.len();
            bytes.extend_from_slice(&part[..part.len().min(room)]);
            if room < part.len() {
                more = true;
                break;
            }
        }
        if more {
            bytes.truncate(crate::lines::char_boundary(&bytes, bytes.len().saturating_sub(3)));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if more { text + "…" } else { text }
    }

    /// The lines of a passage (of a long line, the part around it), and the range of the passage in them.
    fn quote_around(
        &self,
        line: &KnownLine,
        start: Cursor,
        end: Cursor,
        close: Cursor,
    ) -> (String, Range<usize>) {
        let (mut from, mut text) = (line.start, String::new());
        if QUOTED < line.bytes {
            text.push('…');
            from = self.pieces.retreat(start, QUOTED / 2).0;
            while self.pieces.byte_after(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
                from = self.pieces.advance(from, 1);
            }
        }
        text += &self.quote(from, start, QUOTED);
        let at = text.len();
        text += &self.quote(start, end, QUOTED_LINES);
        let at = at..text.len();
        text += &self.quote(end, close, QUOTED / 2);
        (text, at)
    }

    /// The start of the line of a cursor.
    pub(crate) fn line_start(&self, cursor: Cursor) -> Cursor {
        let brk = self.pieces.find_back(cursor, |bytes| memchr::memrchr2(b'\n', b'\r', bytes));
        brk.map_or(self.pieces.start(), |brk| self.pieces.advance(brk, 1))
    }

    /// The end of the line of a cursor, before its line break.
    pub(crate) fn line_end(&self, cursor: Cursor) -> Cursor {
        let brk = self.pieces.find(cursor, |bytes| memchr::memchr2(b'\n', b'\r', bytes));
        brk.unwrap_or(self.pieces.end())
    }

    /// Number of characters and bytes between two cursors.
    fn measure(&self, from: Cursor, to: Cursor) -> (usize, usize) {
        self.pieces.between(from, to).fold((0, 0), |(count, len), bytes| {
            work::count(bytes.len());
            (count + characters(bytes), len + bytes.len())
        })
    }

    /// Number of line breaks between two cursors, neither of which is inside a break.
    fn breaks(&self, from: Cursor, to: Cursor) -> usize {
        let count = |byte: u8, bytes: &[u8]| memchr::memchr_iter(byte, bytes).count();
        let (mut breaks, mut open) = (0, false);
        for bytes in self.pieces.between(from, to) {
            work::count(bytes.len());
            let carriage_returns = count(b'\r', bytes);
            // The `\r` of a `\r\n` is counted with its `\n`.
            let in_both =
                if carriage_returns == 0 { 0 } else { memchr::memmem::find_iter(bytes, b"\r\n").count() };
            breaks += count(b'\n', bytes) + carriage_returns - in_both;
            breaks -= usize::from(open && bytes.starts_with(b"\n"));
            open = bytes.ends_with(b"\r");
        }
        breaks
    }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// The end of the line break that starts at the cursor. No break starts inside a `\r\n`.
pub(crate) fn break_after(pieces: &PieceTable, cursor: Cursor) -> Option<Cursor> {
    match pieces.byte_after(cursor)? {
        b'\n' if pieces.byte_before(cursor) == Some(b'\r') => None,
        b'\n' => Some(pieces.advance(cursor, 1)),
        b'\r' => Some(pieces.after(cursor, b"\r\n").unwrap_or_else(|| pieces.advance(cursor, 1))),
        _ => None,
    }
}

/// The start of the line break that ends at the cursor. No break ends inside a `\r\n`.
pub(crate) fn break_before(pieces: &PieceTable, cursor: Cursor) -> Option<Cursor> {
    match pieces.byte_before(cursor)? {
        b'\r' if pieces.byte_after(cursor) == Some(b'\n') => None,
        b'\n' => Some(pieces.before(cursor, b"\r\n").unwrap_or_else(|| pieces.retreat(cursor, 1).0)),
        b'\r' => Some(pieces.retreat(cursor, 1).0),
        _ => None,
    }
}
