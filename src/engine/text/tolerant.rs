//! Finds an old text whose lines differ from the file's only in the blanks at their starts and ends.
//!
//! Pure; knows no files. It does what the reference file system server does when an old text is not found exactly
//! (contract 13), in one place only: several places are reported instead. Blanks are what JavaScript trims.
//!
//! Lines are separated by `\n`, `\r\n` or a lone `\r`, in all texts. As with JavaScript's `split`, a text that ends
//! with a break has an empty last line, so an old text that ends with a break fits only in front of a blank line or
//! of the end of the file.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::lines::BOM;

/// Number of places that are reported.
const REPORTED: usize = 20;

/// Where an old text fits, blanks aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tolerant {
    /// Nowhere.
    None,
    /// In one place.
    One {
        /// The bytes of the lines, without the break of the last one.
        range: Range<usize>,
        /// What replaces them: the new text, indented like the file where the reference indents it. Its breaks are
        /// `\n`. If it is empty or starts with a break, a lone `\r` in front of the range may come to stand before a
        /// `\n`, which the caller must prevent.
        new_text: String,
    },
    /// In several places, which may overlap.
    Several {
        /// The numbers of the first lines, counted from 0, at most 20.
        lines: Vec<usize>,
        /// Number of places.
        total: usize,
    },
    /// In one place, but the new text, once indented, is longer than allowed.
    TooLong,
}

/// Looks for `old` in `text`. The indented `new` text may have at most `most` bytes.
///
/// The time is linear in the texts. A byte order mark at the start of `text` belongs to no line.
pub fn tolerant(text: &[u8], old: &str, new: &str, most: usize) -> Tolerant {
    let places = Places::find(text, old.as_bytes());
    match (places.total, places.lines.first()) {
        (0, _) | (_, None) => Tolerant::None,
        (1, Some(&line)) => {
            let first = Pieces::of_file(text).nth(line).unwrap_or(0..0);
            let indent = &text[first.start..first.start + blank_head(&text[first.clone()])];
            match indented(new.as_bytes(), old.as_bytes(), indent, most) {
                Some(new_text) => Tolerant::One { range: first.start..places.end, new_text },
                None => Tolerant::TooLong,
            }
        }
        _ => Tolerant::Several { lines: places.lines, total: places.total },
    }
}

/// The places where all lines fit.
#[derive(Default)]
struct Places {
    /// The numbers of their first lines, as many as are reported.
    lines: Vec<usize>,
    total: usize,
    /// The end of the last place.
    end: usize,
}

impl Places {
    /// Knuth, Morris and Pratt over trimmed lines, so that many blank lines take linear time.
    fn find(text: &[u8], old: &[u8]) -> Places {
        let mut places = Places::default();
        let count = Pieces::of(old).count();
        if Pieces::of_file(text).nth(count - 1).is_none() {
            return places;
        }
        let sought: Vec<&[u8]> = Pieces::of(old).map(|line| trim(&old[line])).collect();
        let borders = borders(&sought);
        let mut fit = 0;
        for (number, line) in Pieces::of_file(text).enumerate() {
            fit = next_fit(&sought, &borders, fit, trim(&text[line.clone()]));
            if fit == count {
                if places.lines.len() < REPORTED {
                    places.lines.push(number + 1 - count);
                }
                (places.total, places.end) = (places.total + 1, line.end);
                fit = borders[fit - 1] as usize;
            }
        }
        places
    }
}

/// For each number of first lines, less one: how many of them, but not all, are also the last of them.
fn borders(sought: &[&[u8]]) -> Vec<u32> {
    let mut borders = vec![0];
    for &line in &sought[1..] {
        let fit = borders.last().map_or(0, |&fit| fit as usize);
        borders.push(next_fit(sought, &borders, fit, line) as u32);
    }
    borders
}

/// How many of the first lines sought fit, up to `line`, if `fit` of them did before it.
fn next_fit(sought: &[&[u8]], borders: &[u32], mut fit: usize, line: &[u8]) -> usize {
    while sought[fit] != line {
        if fit == 0 {
            return 0;
        }
        fit = borders[fit - 1] as usize;
    }
    fit + 1
}

/// The new text, indented as the reference does it: the first line like the first line found; another line too, plus
/// what it is indented more than the old line, but only if both are indented.
fn indented(new: &[u8], old: &[u8], indent: &[u8], most: usize) -> Option<String> {
    let mut out = Vec::new();
    let mut old_lines = Pieces::of(old);
    for (nth, line) in Pieces::of(new).enumerate() {
        let old_line = &old[old_lines.next().unwrap_or(0..0)];
        let line = &new[line];
        let (blanks, bare) = line.split_at(blank_head(line));
        let old_blanks = &old_line[..blank_head(old_line)];
        let (indent, deeper, rest) = match nth {
            0 => (indent, 0, bare),
            _ if blanks.is_empty() || old_blanks.is_empty() => (&[][..], 0, line),
            _ => (indent, chars(blanks).saturating_sub(chars(old_blanks)), bare),
        };
        let brk: &[u8] = if nth > 0 { b"\n" } else { b"" };
        if out.len() + brk.len() + indent.len() + deeper + rest.len() > most {
            return None;
        }
        out.extend_from_slice(brk);
        out.extend_from_slice(indent);
        out.resize(out.len() + deeper, b' ');
        out.extend_from_slice(rest);
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// Iterates over the lines of a text, without their breaks.
struct Pieces<'t> {
    text: &'t [u8],
    /// The start of the next line; none after the last one.
    at: Option<usize>,
}

impl<'t> Pieces<'t> {
    fn of(text: &'t [u8]) -> Pieces<'t> {
        Pieces { text, at: Some(0) }
    }

    fn of_file(text: &'t [u8]) -> Pieces<'t> {
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

fn trim(line: &[u8]) -> &[u8] {
    let line = &line[blank_head(line)..];
    let mut end = line.len();
    while let Some(len) = last_blank(&line[..end]) {
        end -= len;
    }
    &line[..end]
}

/// Length of the blanks at the start.
fn blank_head(line: &[u8]) -> usize {
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

/// Number of characters of valid UTF-8.
fn chars(text: &[u8]) -> usize {
    text.iter().filter(|&byte| byte & 0xC0 != 0x80).count()
}
