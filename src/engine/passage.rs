//! Where a passage of a text under edit stands, said in lines and columns, and quoted.
//!
//! Knows breaks and the old text's lines, and nothing of what is searched for. Lines that the old text has are named by
//! their number there; a line or two of context makes a passage known again.

use super::lines::LineIndex;
use super::pieces::{Pieces, Spot};

/// Bytes of one line that are quoted.
const QUOTED: usize = 400;

/// Bytes of a passage of several lines that are quoted.
const QUOTED_LINES: usize = 4_000;

/// One passage, named in the old text where it stands there. Lines and columns count from 0; columns are characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The line in which it starts.
    pub line: usize,
    /// Its lines, less one: 0 if it ends in the line in which it starts.
    pub further_lines: usize,
    /// Where it starts in its first line.
    pub column: usize,
    /// Where it ends in its last line.
    pub column_end: usize,
    /// The edit of the same call that put its start there: then `line` is where that text stands in the old text.
    pub put_in_by: Option<usize>,
    /// Its lines as a whole, joined by `\n`, cut if they are long.
    pub text: String,
    /// The line before it, if there is one.
    pub before: Option<String>,
    /// The line after it, if there is one.
    pub after: Option<String>,
}

/// A text under edit, and the lines of the old one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines<'s, 't> {
    pub(super) pieces: &'s Pieces<'t>,
    pub(super) index: &'s LineIndex,
    pub(super) old: &'t [u8],
}

impl Lines<'_, '_> {
    /// The passage from `start` to `end`.
    pub(super) fn passage(&self, start: Spot, end: Spot) -> Passage {
        let (line, put_in_by) = self.line(start);
        let first = self.line_start(start);
        // A passage that ends with a break ends in the line of that break.
        let last_line_from = match break_before(self.pieces, end) {
            Some(brk) if self.pieces.order(brk) >= self.pieces.order(start) => brk,
            _ => end,
        };
        let last = self.line_start(last_line_from);
        let close = self.line_end(last_line_from);
        let before =
            break_before(self.pieces, first).map(|brk| self.quote(self.line_start(brk), brk, QUOTED));
        let after = break_after(self.pieces, close)
            .filter(|&next| self.pieces.forward(next).is_some())
            .map(|next| self.quote(next, self.line_end(next), QUOTED));
        Passage {
            line,
            further_lines: self.breaks(first, last),
            column: self.characters(first, start),
            column_end: self.characters(last, end.min_by_order(last_line_from, self.pieces)),
            put_in_by,
            text: self.quote_around(first, start, close),
            before,
            after,
        }
    }

    /// The number of the line, and the edit that put the spot there.
    pub(super) fn line(&self, spot: Spot) -> (usize, Option<usize>) {
        let (at, put_in_by) = self.pieces.origin(spot);
        (self.index.line_at(at, self.old), put_in_by.map(|edit| edit as usize))
    }

    /// As [`Lines::exact`], with every break as `\n`.
    fn quote(&self, from: Spot, to: Spot, most: usize) -> String {
        self.exact(from, to, most).replace("\r\n", "\n").replace('\r', "\n")
    }

    /// The text from `from` to `to`, without what is beyond `most` bytes.
    pub(super) fn exact(&self, from: Spot, to: Spot, most: usize) -> String {
        let mut bytes = Vec::new();
        let mut at = from;
        let more = loop {
            let Some((rest, next)) = self.stretch(at, to) else { break false };
            let room = most - bytes.len();
            bytes.extend_from_slice(&rest[..rest.len().min(room)]);
            if rest.len() > room {
                break true;
            }
            at = next;
        };
        if more {
            bytes.truncate(super::char_boundary(&bytes, bytes.len().saturating_sub(3)));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if more { text + "…" } else { text }
    }

    /// The lines from `first` to `close`; of long ones, what is around `start`.
    fn quote_around(&self, first: Spot, start: Spot, close: Spot) -> String {
        let column: usize = self.stretches(first, start).map(<[u8]>::len).sum();
        if column <= QUOTED {
            return self.quote(first, close, QUOTED_LINES);
        }
        let mut from = self.pieces.retreat(start, QUOTED / 2).0;
        while self.pieces.byte_after(from).is_some_and(|byte| byte & 0xC0 == 0x80) {
            from = self.pieces.advance(from, 1);
        }
        format!("…{}", self.quote(from, close, QUOTED_LINES))
    }

    /// Where the line starts in which the spot is.
    pub(super) fn line_start(&self, spot: Spot) -> Spot {
        let mut at = spot;
        while let Some((before, start)) = self.pieces.backward(at) {
            if let Some(brk) = memchr::memrchr2(b'\n', b'\r', before) {
                return self.pieces.advance(start, brk + 1);
            }
            at = start;
        }
        self.pieces.start()
    }

    /// Where the line ends in which the spot is: before its break.
    pub(super) fn line_end(&self, spot: Spot) -> Spot {
        let mut at = spot;
        while let Some((rest, next)) = self.pieces.forward(at) {
            if let Some(brk) = memchr::memchr2(b'\n', b'\r', rest) {
                return self.pieces.advance(at, brk);
            }
            at = next;
        }
        self.pieces.end()
    }

    /// The bytes from `at` to the end of its piece or to `to`, and where they go on. Nothing if there are none.
    fn stretch(&self, at: Spot, to: Spot) -> Option<(&[u8], Spot)> {
        let (rest, next) = self.pieces.forward(at)?;
        let here = self.pieces.advance(at, 0);
        let (from, until) = (self.pieces.order(here), self.pieces.order(to));
        if from >= until {
            return None;
        }
        // Spots in one piece have one label.
        let len = if from.0 == until.0 { (until.1 - from.1) as usize } else { rest.len() };
        Some((&rest[..len.min(rest.len())], if len < rest.len() { to } else { next }))
    }

    fn stretches(&self, from: Spot, to: Spot) -> impl Iterator<Item = &[u8]> {
        let mut at = from;
        std::iter::from_fn(move || {
            let (bytes, next) = self.stretch(at, to)?;
            at = next;
            Some(bytes)
        })
    }

    fn characters(&self, from: Spot, to: Spot) -> usize {
        self.stretches(from, to).map(|bytes| bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()).sum()
    }

    fn breaks(&self, from: Spot, to: Spot) -> usize {
        let (mut at, mut count) = (from, 0);
        loop {
            let end = self.line_end(at);
            let Some(next) = break_after(self.pieces, end) else { return count };
            if self.pieces.order(next) > self.pieces.order(to) {
                return count;
            }
            count += 1;
            at = next;
        }
    }
}

impl Spot {
    fn min_by_order(self, other: Spot, pieces: &Pieces) -> Spot {
        if pieces.order(self) <= pieces.order(other) { self } else { other }
    }
}

/// The end of the break that starts at the spot; none starts inside a `\r\n`.
pub(super) fn break_after(pieces: &Pieces, spot: Spot) -> Option<Spot> {
    match pieces.byte_after(spot)? {
        b'\n' if pieces.byte_before(spot) == Some(b'\r') => None,
        b'\n' => Some(pieces.advance(spot, 1)),
        b'\r' => Some(pieces.after(spot, b"\r\n").unwrap_or_else(|| pieces.advance(spot, 1))),
        _ => None,
    }
}

/// The start of the break that ends at the spot; none ends inside a `\r\n`.
pub(super) fn break_before(pieces: &Pieces, spot: Spot) -> Option<Spot> {
    match pieces.byte_before(spot)? {
        b'\r' if pieces.byte_after(spot) == Some(b'\n') => None,
        b'\n' => Some(pieces.before(spot, b"\r\n").unwrap_or_else(|| pieces.retreat(spot, 1).0)),
        b'\r' => Some(pieces.retreat(spot, 1).0),
        _ => None,
    }
}
