//! Finds passages of the edited text that are similar to a needle, with their exact start and end.
//!
//! Joins the search in the old text with the search in the inserted texts.

use crate::text_edit::diagnose::around::with_ends;
use crate::text_edit::diagnose::similar::{Near, Regions, nearest, regions};
use crate::text_edit::table::cursor::Cursor;
use crate::text_edit::table::snippet::{TextLines, break_after};
use crate::text_edit::table::window::Window;

/// Maximum number of bytes of a passage that are compared.
pub(crate) const COMPARED: usize = 16 * 1024;

/// Maximum number of lines that an old_text may have left out so that its last line is still found.
const LEFT_OUT: usize = 8;

/// Maximum number of bytes, inserted by edits and around them, that are searched for similar passages.
const PUT_IN: usize = 256 * 1024;

/// Bytes at the end of a long old_text that are searched to find where it ends.
const TAIL: usize = 512;

/// The old text without its byte order mark.
pub(crate) fn body<'t>(lines: &TextLines<'_, 't>) -> &'t [u8] {
    lines.old.get(lines.index.first_byte()..).unwrap_or_default()
}

/// Passages similar to the needle, in old and inserted text; and whether the search stopped early.
pub(crate) fn near_cursors(
    needle: &str,
    within: &Regions,
    lines: &TextLines,
) -> (Vec<(Cursor, Cursor)>, bool) {
    let first = lines.index.first_byte();
    let (near, mut early) = (nearest(body(lines), within, needle), within.early);
    let cursor = |address: usize| lines.pieces.cursor_at(address);
    // Found through the last byte, because the byte after it may have been deleted.
    let behind = |last: Cursor| lines.pieces.advance(last, 1);
    let old = |near: &Near| {
        let (from, last) = (first + near.at.start, first + near.at.end.max(1) - 1);
        Some((cursor(from)?, behind(cursor(last)?)))
    };
    let mut found: Vec<_> = near.iter().filter_map(old).collect();
    let around = needle.len().min(PUT_IN / 8) * 2 + 64;
    let (mut left, mut done) = (PUT_IN, lines.pieces.start());
    for (start, put_in) in lines.pieces.put_in() {
        let end = lines.pieces.advance(start, put_in);
        if lines.pieces.order(end) <= lines.pieces.order(done) {
            continue;
        }
        let (from, before) = lines.pieces.retreat(start, around);
        let len = before + put_in + around;
        if left < len {
            early = true;
            break;
        }
        left -= len;
        done = lines.pieces.advance(from, len);
        let window = Window::of(lines.pieces, from, len);
        // A window may start or end inside a character.
        let is_inner = |byte: &&u8| **byte & 0xC0 == 0x80;
        let head = window.bytes().iter().take_while(is_inner).count();
        let text = whole_characters(&window.bytes()[head..]);
        for near in nearest(text, &regions(text, needle), needle) {
            let last = head + near.at.end.max(1) - 1;
            found.push((window.cursor_at(head + near.at.start), behind(window.cursor_at(last))));
        }
    }
    (found, early)
}

/// Extends a passage to the end of a long needle, its last line, and the blanks and breaks at its ends.
pub(crate) fn widened(
    lines: &TextLines,
    start: Cursor,
    mut end: Cursor,
    needle: &str,
) -> Option<(Cursor, Cursor)> {
    end = to_end_of_long(lines, start, end, needle).unwrap_or(end);
    end = to_last_line(lines, end, needle).unwrap_or(end);
    let (start, end) = with_ends(lines, start, end, needle);
    (lines.pieces.order(start) < lines.pieces.order(end)).then_some((start, end))
}

/// The end of a long needle, of which only the start was compared: where its last bytes match best.
fn to_end_of_long(lines: &TextLines, start: Cursor, end: Cursor, needle: &str) -> Option<Cursor> {
    let tail_from = crate::lines::char_boundary(needle.as_bytes(), needle.len().checked_sub(TAIL)?);
    if needle.chars().nth(crate::text_edit::diagnose::similar::COMPARED).is_none() || COMPARED < needle.len()
    {
        return None;
    }
    let window = Window::of(lines.pieces, start, needle.len() * 3 / 2 + TAIL);
    let text = whole_characters(window.bytes());
    let tail = &needle[tail_from..];
    let near = nearest(text, &regions(text, tail), tail);
    let last = window.cursor_at(near.first()?.at.end.checked_sub(1)?);
    let tail_end = lines.pieces.advance(last, 1);
    (lines.pieces.order(end) < lines.pieces.order(tail_end)).then_some(tail_end)
}

/// The end of the needle's last line, if it is one of the next lines: the needle left out lines before it.
fn to_last_line(lines: &TextLines, end: Cursor, needle: &str) -> Option<Cursor> {
    let (_, last) = needle.trim_end().rsplit_once('\n')?;
    let mut at = end;
    for _ in 0..LEFT_OUT {
        let (from, to) = (lines.line_start(at), lines.line_end(at));
        let line = lines.exact(from, to, COMPARED);
        if line.trim() == last.trim() {
            let to = lines.pieces.advance(from, line.trim_end().len());
            return (lines.pieces.order(to) > lines.pieces.order(end)).then_some(to);
        }
        at = break_after(lines.pieces, to)?;
    }
    None
}

/// `bytes` without an incomplete character at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(_) => bytes,
        Err(error) => &bytes[..error.valid_up_to()],
    }
}
