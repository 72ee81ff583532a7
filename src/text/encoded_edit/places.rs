//! Finds every place of a text in the bytes of another one, without decoding it.
//!
//! Pure. The old_text is encoded and searched by `memmem`. What it finds may be no place: it may begin inside a unit of
//! UTF-16, or cut a `\r\n`. If that costs more than a few passes over the text, or if each `\n` may be a break of any kind,
//! the search goes on symbol by symbol, at a cost that does not depend on the contents: a unit is a symbol, and so is a
//! whole break.

use std::ops::Range;

use memchr::memmem::Finder;

use super::encoded::{EncodedText, lacking_in_part};
use crate::packed::Packed;
use crate::text_edit::MAX_REPLACEMENTS;
use crate::{Error, Result, Stop};

/// Bytes searched before the next check of the deadline.
const STEP: usize = 4 << 20;

/// Symbols read before the next check of the deadline.
const SYMBOLS: usize = 1 << 16;

/// Limits of the work at what is no place: passes over the text, and bytes compared in any text.
const PASSES: usize = 4;
const LEAST: usize = 1 << 20;

/// Maximum number of places whose lines are told.
const TOLD: usize = 20;

const LF: u16 = b'\n' as u16;
const CR: u16 = b'\r' as u16;

/// The symbol of a `\r\n` where breaks differ. No text holds this unit.
const CRLF: u16 = 0;

/// Places in order, a few bytes each.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// For each place, the bytes before it that are in none, and its length.
    packed: Packed,
    pub(super) count: u64,
    /// The first of them.
    pub(super) first: Vec<Range<usize>>,
    end: usize,
}

impl Places {
    fn add(&mut self, at: Range<usize>) -> Result<()> {
        if self.count == MAX_REPLACEMENTS {
            let problem = "it is in more than 1,000,000 places; expected a text that is in fewer";
            return Err(Error::InvalidArguments { at: "old_text".into(), problem: problem.into() });
        }
        self.packed.push(at.start.saturating_sub(self.end) as u64);
        self.packed.push(at.len() as u64);
        self.count += 1;
        self.end = at.end;
        if self.first.len() < TOLD {
            self.first.push(at);
        }
        Ok(())
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        let (mut numbers, mut end) = (self.packed.read(), 0);
        std::iter::from_fn(move || {
            let start = end + numbers.next()? as usize;
            end = start + numbers.next()? as usize;
            Some(start..end)
        })
    }

    /// Memory in bytes.
    pub(super) fn memory(&self) -> usize {
        self.packed.memory()
    }
}

/// Every place of `old_text`, from left to right without overlap. A `\n` in it stands for a break of any kind if it is nowhere as
/// given, and in a text with several kinds of breaks if the old_text has no `\r`. A character that the encoding lacks is an error.
pub(super) fn find(text: &EncodedText, old_text: &str, control: &dyn Stop) -> Result<Places> {
    let (encoding, mut needle) = (text.encoding, Vec::new());
    let lacks = |lacking| lacking_in_part(encoding, lacking);
    encoding.encode(old_text, &mut needle).map_err(lacks)?;
    if needle.is_empty() {
        return Ok(Places::default());
    }
    let mut search = Search { text, needle: &needle, control, places: Places::default() };
    let is_plain = old_text.contains('\n') && !old_text.contains('\r');
    if !is_plain || !text.break_kinds().are_several() || switches::is_off("any-break-in-mixed") {
        search.as_given()?;
    }
    if search.places.count == 0 && old_text.contains('\n') {
        search.by_symbols(text.start, true)?;
    }
    Ok(search.places)
}

/// One search.
struct Search<'s> {
    text: &'s EncodedText<'s>,
    needle: &'s [u8],
    control: &'s dyn Stop,
    places: Places,
}

impl Search<'_> {
    fn as_given(&mut self) -> Result<()> {
        let (text, len) = (self.text, self.needle.len());
        let (finder, unit) = (Finder::new(self.needle), text.encoding.unit());
        let mut left = LEAST.max(PASSES * text.old.len());
        let mut at = text.start;
        while at + len <= text.old.len() {
            self.control.check()?;
            let end = text.old.len().min(at + STEP + len);
            while let Some(skipped) = text.old.get(at..end).and_then(|bytes| finder.find(bytes)) {
                let place = at + skipped..at + skipped + len;
                let is_whole = (place.start - text.start).is_multiple_of(unit)
                    && !text.cuts_break(place.start)
                    && !text.cuts_break(place.end);
                if is_whole {
                    at = place.end;
                    self.places.add(place)?;
                    continue;
                }
                at = place.start + 1;
                let Some(rest) = left.checked_sub(len) else {
                    let next = text.start + (at - text.start).next_multiple_of(unit);
                    return self.by_symbols(next + if text.cuts_break(next) { unit } else { 0 }, false);
                };
                left = rest;
            }
            // No place begins before the last bytes of what was searched.
            at = at.max(end + 1 - len);
        }
        Ok(())
    }

    /// Finds the places from a byte on. With `any`, each `\n` and `\r\n` of the needle stands for a break of any kind.
    fn by_symbols(&mut self, from: usize, any: bool) -> Result<()> {
        let code = Code { any };
        let whole = EncodedText { old: self.needle, start: 0, ..*self.text };
        let needle: Vec<u16> = Symbols { text: &whole, code, at: 0 }.collect();
        let fallback = fallbacks(&needle);
        let has_cr = any && Symbols { text: &whole, code: Code { any: false }, at: 0 }.any(|one| one == CR);
        let mut left = LEAST.max(16 * PASSES * self.text.old.len());
        let (mut symbols, mut matched, mut read) = (Symbols { text: self.text, code, at: from }, 0, 0);
        // The start of a match, and its number among the symbols.
        let (mut start, mut number) = (symbols, 0);
        while let Some(symbol) = symbols.next() {
            read += 1;
            if read % SYMBOLS == 0 {
                self.control.check()?;
            }
            while matched > 0 && needle[matched] != symbol {
                matched = fallback[matched - 1] as usize;
            }
            matched += usize::from(needle[matched] == symbol);
            if matched < needle.len() {
                continue;
            }
            start.by_ref().take(read - needle.len() - number).for_each(drop);
            number = read - needle.len();
            if has_cr && !self.has_same_carriage_returns(&whole, start.at) {
                left = left.checked_sub(self.needle.len()).ok_or_else(too_costly)?;
                matched = fallback[matched - 1] as usize;
                continue;
            }
            self.places.add(start.at..symbols.at)?;
            matched = 0;
        }
        Ok(())
    }

    /// Whether the text has a lone `\r` from this byte on wherever the needle has one.
    fn has_same_carriage_returns(&self, needle: &EncodedText, at: usize) -> bool {
        let kinds = Code { any: false };
        let here = Symbols { text: self.text, code: kinds, at };
        Symbols { text: needle, code: kinds, at: 0 }
            .zip(here)
            .all(|(wanted, found)| wanted != CR || found == CR)
    }
}

fn too_costly() -> Error {
    let problem = "its carriage returns stand among other line breaks so that it takes too long to look for; expected line \
        breaks of one kind, or a shorter text";
    Error::InvalidArguments { at: "old_text".into(), problem: problem.into() }
}

/// For each number of matched symbols less one, how many of them at their end match the start of the needle (Knuth, Morris
/// and Pratt).
fn fallbacks(needle: &[u16]) -> Vec<u32> {
    let mut out = vec![0u32; needle.len()];
    let mut matched = 0;
    for at in 1..needle.len() {
        while matched > 0 && needle[matched] != needle[at] {
            matched = out[matched - 1] as usize;
        }
        matched += usize::from(needle[matched] == needle[at]);
        out[at] = matched as u32;
    }
    out
}

/// How breaks become symbols.
#[derive(Debug, Clone, Copy)]
struct Code {
    /// All breaks are one symbol.
    any: bool,
}

/// The symbols of a text from a byte on, which begins at one.
#[derive(Debug, Clone, Copy)]
struct Symbols<'s> {
    text: &'s EncodedText<'s>,
    code: Code,
    at: usize,
}

impl Iterator for Symbols<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let (value, unit) = (self.text.unit(self.at)?, self.text.encoding.unit());
        self.at += unit;
        if value != CR {
            return Some(value);
        }
        let is_crlf = self.text.unit(self.at) == Some(LF);
        self.at += if is_crlf { unit } else { 0 };
        Some(match (self.code.any, is_crlf) {
            (true, _) => LF,
            (false, true) => CRLF,
            (false, false) => CR,
        })
    }
}
