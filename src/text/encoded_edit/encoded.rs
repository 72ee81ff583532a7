//! The bytes of a text in an encoding, looked at unit by unit.
//!
//! Pure. A *unit* is the smallest character: one byte, or two in UTF-16.

use std::ops::Range;

use crate::encoding::Unencodable;
use crate::encoding::{CharacterCount, Encoding, LineScan, Malformed, breaks_in};
use crate::lines::BreakKinds;
use crate::{Error, Result, Stop};

/// Bytes searched for NUL at once.
const STEP: usize = 16 << 10;

/// Bytes searched for NUL before the next check of the deadline.
const CHECKED: usize = 4 << 20;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct EncodedText<'o> {
    pub(super) encoding: Encoding,
    /// All bytes of the file.
    pub(super) old: &'o [u8],
    /// Where the text begins: behind its byte order mark.
    pub(super) start: usize,
}

impl EncodedText<'_> {
    /// The value of the unit at this byte of the file; `None` behind the last whole one.
    pub(super) fn unit(&self, at: usize) -> Option<u16> {
        match (self.encoding, self.old.get(at..at + self.encoding.unit())?) {
            (Encoding::Utf16Le, &[low, high]) | (Encoding::Utf16Be, &[high, low]) => {
                Some(u16::from_be_bytes([high, low]))
            }
            (_, unit) => unit.first().map(|byte| u16::from(*byte)),
        }
    }

    /// The value of the unit that ends at this byte.
    pub(super) fn unit_before(&self, at: usize) -> Option<u16> {
        let before = at.checked_sub(self.encoding.unit()).filter(|before| *before >= self.start)?;
        self.unit(before)
    }

    /// Whether this byte is inside a `\r\n`.
    pub(super) fn cuts_break(&self, at: usize) -> bool {
        self.unit(at) == Some(u16::from(b'\n')) && self.unit_before(at) == Some(u16::from(b'\r'))
    }

    /// The bytes of UTF-8 before this one that begin a character and do not end it.
    pub(super) fn open_character(&self, at: usize) -> Option<Range<usize>> {
        let is_open = |part: &Range<usize>| {
            let bytes = self.old.get(part.clone()).unwrap_or_default();
            std::str::from_utf8(bytes)
                .is_err_and(|wrong| wrong.valid_up_to() == 0 && wrong.error_len().is_none())
        };
        let starts = (1..=3).filter_map(|len| at.checked_sub(len)).filter(|from| *from >= self.start);
        starts.map(|from| from..at).find(is_open).filter(|_| self.encoding == Encoding::Utf8)
    }

    /// Whether a byte of UTF-8 continues a character.
    pub(super) fn is_inside_character(&self, at: usize) -> bool {
        self.old.get(at).is_some_and(|byte| byte & 0xC0 == 0x80)
    }

    /// Whether the text holds a NUL character.
    pub(super) fn has_nul(&self, control: &dyn Stop) -> Result<bool> {
        for step in self.old[self.start..].chunks(CHECKED) {
            control.check()?;
            let is_found = match self.encoding.unit() {
                1 => memchr::memchr(0, step).is_some(),
                // All units of a chunk are looked at, which the compiler does for many at once.
                _ => step.chunks(STEP).any(|chunk| {
                    let (units, _) = chunk.as_chunks::<2>();
                    units.iter().fold(false, |found, unit| found | (u16::from_ne_bytes(*unit) == 0))
                }),
            };
            if is_found {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The kinds of its line breaks; those after a second kind are not looked for.
    pub(super) fn break_kinds(&self) -> BreakKinds {
        let (mut kinds, mut open) = (BreakKinds::default(), None);
        for (at, byte) in breaks_in(self.encoding, &self.old[self.start..]) {
            let is_crlf = byte == b'\n' && open == Some(at);
            kinds.crlf |= is_crlf;
            kinds.lf |= byte == b'\n' && !is_crlf;
            kinds.cr |= open.is_some() && !is_crlf;
            open = (byte == b'\r').then_some(at + self.encoding.unit());
            if [kinds.lf, kinds.crlf, kinds.cr].into_iter().filter(|found| *found).count() > 1 {
                return kinds;
            }
        }
        kinds.cr |= open.is_some();
        kinds
    }

    /// Where a text that is added begins: the line, and whether that line has text before it. An odd byte or half of a pair
    /// at the end of the text is an error, because it would become part of what is added.
    pub(super) fn end(&self) -> Result<(u64, bool)> {
        let (len, unit) = (self.old.len() - self.start, self.encoding.unit());
        let rest = len % unit;
        if rest > 0 {
            return Err(self.malformed(self.old.len() - rest..self.old.len(), Malformed::Incomplete));
        }
        if unit == 2 && self.unit_before(self.old.len()).is_some_and(is_first_half) {
            return Err(self.malformed(self.old.len() - unit..self.old.len(), Malformed::LoneSurrogate));
        }
        let mut lines = LineScan::new(self.encoding, self.start as u64);
        let (line, begins) = lines.line_at(&self.old[self.start..]);
        Ok((line, begins < self.old.len() as u64))
    }

    /// The error for bytes of the file that are no character.
    pub(super) fn malformed(&self, at: Range<usize>, why: Malformed) -> Error {
        let mut lines = LineScan::new(self.encoding, self.start as u64);
        let (line, begins) = lines.line_at(&self.old[self.start..at.start]);
        let before = &self.old[(begins as usize).min(at.start)..at.start];
        let mut count = CharacterCount::new(self.encoding);
        count.push(before);
        let column = 1 + count.finish();
        let bytes = self.old[at].to_vec();
        Error::Undecodable { encoding: self.encoding, line, column, bytes, why }
    }
}

/// Whether a unit of UTF-16 is the first half of a pair.
pub(super) fn is_first_half(unit: u16) -> bool {
    unit & 0xFC00 == 0xD800
}

/// Whether a unit of UTF-16 is the second half of a pair.
pub(super) fn is_second_half(unit: u16) -> bool {
    unit & 0xFC00 == 0xDC00
}

/// The error for a text for a part of a file that has a character which the encoding of the file lacks.
pub(super) fn lacking_in_part(encoding: Encoding, lacking: Unencodable) -> Error {
    Error::Unencodable { encoding, lacking, in_part: true }
}
