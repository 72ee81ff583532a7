//! Lines and blanks as the reference file system server has them: those of JavaScript.
//!
//! Pure. Knows no edits.

use std::ops::Range;

use crate::lines::BOM;

/// Iterates over the lines of a text, without their breaks.
pub(super) struct Pieces<'t> {
    text: &'t [u8],
    /// The start of the next line; none after the last one.
    at: Option<usize>,
}

impl<'t> Pieces<'t> {
    pub(super) fn of(text: &'t [u8]) -> Pieces<'t> {
        Pieces { text, at: Some(0) }
    }

    pub(super) fn of_file(text: &'t [u8]) -> Pieces<'t> {
        Pieces { text, at: Some(if text.starts_with(BOM) { BOM.len() } else { 0 }) }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at?;
        let rest = &self.text[start..];
        let len = memchr::memchr2(b'\n', b'\r', rest);
        self.at = len.map(|len| start + len + if rest[len..].starts_with(b"\r\n") { 2 } else { 1 });
        Some(start..start + len.unwrap_or(rest.len()))
    }
}

/// A line in three parts. A line of blanks is all `head`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The blanks at its start.
    pub(super) head: &'t [u8],
    /// What is between them; empty in a line of blanks.
    pub(super) core: &'t [u8],
    /// The blanks at its end.
    pub(super) tail: &'t [u8],
}

impl<'t> Line<'t> {
    pub(super) fn of(line: &'t [u8]) -> Line<'t> {
        let (head, rest) = line.split_at(blank_head(line));
        let (core, tail) = rest.split_at(trim(rest).len());
        Line { head, core, tail }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.core.is_empty()
    }
}

/// The line without the blanks at its ends.
pub(super) fn trim(line: &[u8]) -> &[u8] {
    let line = &line[blank_head(line)..];
    let mut end = line.len();
    while let Some(len) = last_blank(&line[..end]) {
        end -= len;
    }
    &line[..end]
}

/// Length of the blanks at the start.
pub(super) fn blank_head(line: &[u8]) -> usize {
    let mut at = 0;
    while let Some(len) = first_blank(&line[at..]) {
        at += len;
    }
    at
}

fn first_blank(text: &[u8]) -> Option<usize> {
    match text.first()? {
        first if first.is_ascii() => is_blank(&text[..1]).then_some(1),
        _ => (2..=3).find(|&len| text.get(..len).is_some_and(is_blank)),
    }
}

fn last_blank(text: &[u8]) -> Option<usize> {
    match text.last()? {
        last if last.is_ascii() => is_blank(&text[text.len() - 1..]).then_some(1),
        _ => (2..=3).find(|&len| len <= text.len() && is_blank(&text[text.len() - len..])),
    }
}

/// Whether `char` is one character of JavaScript's white space and line terminators, in UTF-8. Unlike in Rust,
/// U+FEFF is, and U+0085 is not.
fn is_blank(char: &[u8]) -> bool {
    matches!(
        char,
        [b'\t'..=b'\r' | b' ']
            | [0xC2, 0xA0]
            | [0xE1, 0x9A, 0x80]
            | [0xE2, 0x80, 0x80..=0x8A | 0xA8 | 0xA9 | 0xAF]
            | [0xE2, 0x81, 0x9F]
            | [0xE3, 0x80, 0x80]
            | [0xEF, 0xBB, 0xBF]
    )
}
