//! Where lines begin and end: at `\n`, `\r\n` or `\r` (contract 3). The text may change meanwhile: then the result is void.

use std::ops::Range;

use text::{Stop, Stopped};

/// Bytes between two looks whether a search goes on.
const STEP: usize = 256 << 10;

/// Where the line of the byte `range.end` begins, if one begins at `range.start`.
pub(super) fn line_start(text: &[u8], range: Range<usize>) -> usize {
    let start = range.start;
    text.get(range)
        .and_then(|before| memchr::memrchr2(b'\n', b'\r', before))
        .map_or(start, |at| start + at + 1)
}

/// Where the line of the byte `range.start` ends, before its break; at the end of the range if no break is in it.
pub fn line_end(text: &[u8], range: Range<usize>) -> usize {
    let (start, end) = (range.start, range.end);
    text.get(range).and_then(|behind| memchr::memchr2(b'\n', b'\r', behind)).map_or(end, |at| start + at)
}

/// Where the line behind the break at `end` begins.
pub fn behind_break(text: &[u8], end: usize) -> usize {
    match text.get(end..) {
        Some([b'\r', b'\n', ..]) => end + 2,
        Some([_, ..]) => end + 1,
        _ => text.len(),
    }
}

/// Where the line before the one that begins at `start` begins. `None` for the first line.
pub fn line_before(text: &[u8], start: usize) -> Option<usize> {
    let break_len = match text.get(..start)? {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n' | b'\r'] => 1,
        _ => return None,
    };
    Some(line_start(text, 0..start - break_len))
}

/// Where the first line at or behind the byte `at` begins, or the end of the text.
pub fn line_at(text: &[u8], at: usize) -> usize {
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    // A break that ends at `at` counts; the CR of a CRLF does not.
    let from = if is_inside_crlf(text, at) { at } else { at - 1 };
    behind_break(text, line_end(text, from..text.len()))
}

/// The same, but the search for the line's end can be stopped.
pub fn find_line(text: &[u8], at: usize, control: &dyn Stop) -> Result<usize, Stopped> {
    let mut line = at.min(text.len());
    loop {
        let step = text.len().min(line.saturating_add(STEP));
        line = line_at(&text[..step], line);
        if line < step || step == text.len() {
            return Ok(line);
        }
        control.check()?;
    }
}

/// The parts of `text` that hold all lines of which a byte is in one of the sorted `ranges`, where lines end in `\n` only.
/// They are sorted and apart, and begin and end where a line does. What lies before the line at `from` is left out.
pub fn whole_lines(
    text: &[u8],
    ranges: impl Iterator<Item = Range<usize>>,
    from: usize,
) -> Vec<Range<usize>> {
    let from = line_at(text, from);
    let mut parts: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        let range = range.start.min(text.len())..range.end.min(text.len());
        let start = memchr::memrchr(b'\n', &text[..range.start]).map_or(0, |at| at + 1).max(from);
        // A range that ends in a break ends with its line.
        let last = range.end.saturating_sub(1).max(start).min(text.len());
        let end = memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |at| last + at + 1);
        match parts.last_mut() {
            Some(before) if start <= before.end => before.end = before.end.max(end),
            _ if start < end && start < range.end => parts.push(start..end),
            _ => {}
        }
    }
    parts
}

pub(super) fn is_inside_crlf(text: &[u8], at: usize) -> bool {
    at > 0 && text.get(at - 1..=at) == Some(b"\r\n")
}

/// The first byte of the last character of `range`.
pub(super) fn last_char(text: &[u8], range: &Range<usize>) -> usize {
    (range.start..range.end).rev().find(|at| text[*at] & 0xC0 != 0x80).unwrap_or(range.start)
}

/// The first byte of the character behind `at`.
pub(super) fn next_char(text: &[u8], at: usize) -> usize {
    let more = text.get(at + 1..).unwrap_or_default().iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
    at + 1 + more
}
