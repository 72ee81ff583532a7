//! Finds lines: one pass over the bytes builds an index, then each line is found by a short search.
//!
//! Pure over `&[u8]`; knows no file, no lock, no protocol. The crate's overview defines lines (contract 3).
//!
//! The index is a grid over the file's *bytes*, not its lines: for every block of 2^[`BLOCK_SHIFT`] bytes it
//! stores how many line breaks end before the block. A lookup finds the block by binary search and scans only
//! that block, so a block bounds its cost, however long the lines are. The build only counts. Very long texts have
//! larger blocks, so that no index takes more than about 4 MiB.

mod block_counts;
mod build;
mod builder;
mod inline_index;

use std::ops::Range;

use self::block_counts::BlockCounts;
pub use self::build::Watch;
pub use self::builder::IndexBuilder;
pub use self::inline_index::InlineIndex;

/// A block of a text of up to 8 GiB has `1 << BLOCK_SHIFT` bytes, and one number in the index.
pub const BLOCK_SHIFT: u32 = 13;

/// The UTF-8 byte order mark, which belongs to the file and to no line (contract 3).
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// A lone `\r`.
    Cr,
}

impl Break {
    /// The bytes of the break.
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Break::Lf => b"\n",
            Break::CrLf => b"\r\n",
            Break::Cr => b"\r",
        }
    }
}

/// Why bytes are not text (contract 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotText {
    /// They hold a NUL byte: the file is binary, whether or not it is valid UTF-8.
    Nul,
    /// They are not valid UTF-8.
    InvalidUtf8,
}

/// The kinds of line breaks in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BreakKinds {
    /// At least one `\n` that is not part of a `\r\n`.
    pub lf: bool,
    /// At least one `\r\n`.
    pub crlf: bool,
    /// At least one lone `\r`.
    pub cr: bool,
}

impl BreakKinds {
    fn and(self, other: BreakKinds) -> BreakKinds {
        BreakKinds { lf: self.lf | other.lf, crlf: self.crlf | other.crlf, cr: self.cr | other.cr }
    }

    /// Whether there are breaks of different kinds.
    pub(super) fn are_several(self) -> bool {
        self.only().is_none() && self != BreakKinds::default()
    }

    /// The kind of all breaks, if there is exactly one.
    pub(super) fn only(self) -> Option<Break> {
        match (self.lf, self.crlf, self.cr) {
            (true, false, false) => Some(Break::Lf),
            (false, true, false) => Some(Break::CrLf),
            (false, false, true) => Some(Break::Cr),
            _ => None,
        }
    }
}

/// The position of one line in the file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line without its break.
    pub text: Range<usize>,
    /// The start of the next line: `text.end` plus the length of the break, if there is one.
    pub next: usize,
}

/// The line index of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineIndex {
    shift: u32,
    len: usize,
    bom: usize,
    breaks: usize,
    ends_in_break: bool,
    kinds: BreakKinds,
    /// For each block, how many breaks end before it.
    breaks_before: BlockCounts,
}

impl LineIndex {
    /// Length of the text in bytes.
    pub fn len_bytes(&self) -> usize {
        self.len
    }

    /// Number of lines (contract 3: a final line break starts no further line, an empty text has no lines).
    pub fn len_lines(&self) -> usize {
        self.breaks + usize::from(!self.ends_in_break && self.len > self.bom)
    }

    /// The start of the first line: after the byte order mark, if there is one.
    pub fn first_byte(&self) -> usize {
        self.bom
    }

    /// Whether the last line ends with a break.
    pub fn ends_in_break(&self) -> bool {
        self.ends_in_break
    }

    /// The kinds of line breaks in the text.
    pub fn break_kinds(&self) -> BreakKinds {
        self.kinds
    }

    /// Approximate memory of this index, in bytes.
    pub fn heap_bytes(&self) -> usize {
        self.breaks_before.heap_bytes()
    }

    /// The bytes that a lookup of `lines` reads: from the block where the first line starts to the block
    /// where the last one ends, and one byte more.
    pub fn window(&self, lines: &Range<usize>) -> Range<usize> {
        let start = self.block_of(lines.start) << self.shift;
        let end = (self.block_of(lines.end) + 1) << self.shift;
        start..(end + 1).min(self.len)
    }

    /// The bytes of `lines` without the last one's break. `window` holds the text's bytes from `offset` on,
    /// and at least [`LineIndex::window`]. Returns `None` if the bytes do not match the index.
    pub fn byte_range(&self, lines: &Range<usize>, window: &[u8], offset: usize) -> Option<Range<usize>> {
        if lines.is_empty() {
            return Some(self.bom..self.bom);
        }
        let start = self.line_start(lines.start, window, offset)?;
        let end = self.text_end(lines.end, window, offset)?;
        (start <= end).then_some(start..end)
    }

    /// The position of one line in the whole text `bytes`. Returns `None` if there is no such line, or if the
    /// bytes do not match the index.
    pub fn line(&self, line: usize, bytes: &[u8]) -> Option<Line> {
        if line >= self.len_lines() {
            return None;
        }
        let start = self.line_start(line, bytes, 0)?;
        let rest = bytes.get(start..self.len)?;
        // A search from the start of the line is cheaper than a lookup of the next line.
        let end = memchr::memchr2(b'\n', b'\r', rest).map_or(self.len, |length| start + length);
        let brk = match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => 2,
            (Some(_), _) if end < self.len => 1,
            _ => 0,
        };
        Some(Line { text: start..end, next: end + brk })
    }

    /// The line of the byte `at`, its break included. At the end of the text, the line that would start.
    pub fn line_at(&self, at: usize, bytes: &[u8]) -> usize {
        let at = at.min(bytes.len());
        let block = (at >> self.shift).min(self.breaks_before.len() - 1);
        let before = self.breaks_before.before(block);
        let ends = |from: usize| {
            memchr::memchr2_iter(b'\n', b'\r', &bytes[from..at])
                .map(|place| from + place)
                .filter(|&place| bytes[place] == b'\n' || bytes.get(place + 1) != Some(&b'\n'))
                .count()
        };
        before + ends((block << self.shift).min(at))
    }

    /// The break of one line; `None` for a last line without one.
    pub fn line_break(line: &Line, bytes: &[u8]) -> Option<Break> {
        match bytes.get(line.text.end..line.next)? {
            b"\n" => Some(Break::Lf),
            b"\r\n" => Some(Break::CrLf),
            b"\r" => Some(Break::Cr),
            _ => None,
        }
    }

    /// The start of `line`; for the line after the last one, the end of the text.
    pub(crate) fn line_start(&self, line: usize, window: &[u8], offset: usize) -> Option<usize> {
        if line == 0 {
            return Some(self.bom);
        }
        if line > self.breaks {
            return Some(self.len);
        }
        let block = self.block_of(line);
        let nth = line - self.breaks_before.before(block);
        let from = (block << self.shift).checked_sub(offset)?;
        let end = ((block + 1) << self.shift).min(self.len).checked_sub(offset)?;
        nth_break_end(window, from..end.min(window.len()), nth).map(|at| at + offset)
    }

    /// The end of the line before `next_line`, without its break.
    fn text_end(&self, next_line: usize, window: &[u8], offset: usize) -> Option<usize> {
        let next = self.line_start(next_line, window, offset)?;
        if next_line > self.breaks {
            return Some(next);
        }
        match next.checked_sub(offset + 1).and_then(|at| window.get(at))? {
            b'\n' if next >= offset + 2 && window[next - offset - 2] == b'\r' => Some(next - 2),
            b'\n' | b'\r' => Some(next - 1),
            _ => None,
        }
    }

    /// The block in which the break before `line` ends; the first for line 0, the last for the text's end.
    fn block_of(&self, line: usize) -> usize {
        self.breaks_before.last_before(line)
    }

    /// Panics if the index differs from a simple scan of `bytes`: for unit, property and fuzz tests.
    #[doc(hidden)]
    pub fn assert_describes(&self, bytes: &[u8]) {
        let bom = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
        let mut lines = Vec::new();
        let (mut start, mut at) = (bom, bom);
        while at < bytes.len() {
            let brk = match (bytes[at], bytes.get(at + 1)) {
                (b'\r', Some(b'\n')) => 2,
                (b'\r' | b'\n', _) => 1,
                _ => 0,
            };
            if brk > 0 {
                lines.push(Line { text: start..at, next: at + brk });
                start = at + brk;
            }
            at += brk.max(1);
        }
        if start < bytes.len() {
            lines.push(Line { text: start..bytes.len(), next: bytes.len() });
        }
        assert_eq!(self.len_lines(), lines.len(), "line count");
        assert_eq!(self.first_byte(), bom);
        assert_eq!(
            self.ends_in_break(),
            bytes.len() > bom && bytes.ends_with(b"\n") | bytes.ends_with(b"\r")
        );
        for (number, line) in lines.iter().enumerate() {
            assert_eq!(self.line(number, bytes).as_ref(), Some(line), "line {number}");
            for at in line.text.start..line.next {
                assert_eq!(self.line_at(at, bytes), number, "byte {at}");
            }
            for last in [number, (number + 2).min(lines.len() - 1), lines.len() - 1] {
                let asked = number..last + 1;
                let window = self.window(&asked);
                let found = self.byte_range(&asked, &bytes[window.clone()], window.start);
                assert_eq!(found, Some(line.text.start..lines[last].text.end), "lines {asked:?}");
            }
        }
        assert_eq!(self.line(lines.len(), bytes), None);
    }
}

/// The end of the `nth` break (1-based) that ends within `range` of `bytes`. A `\r` at the end of the range
/// is a break only if the next byte is not `\n`.
fn nth_break_end(bytes: &[u8], range: Range<usize>, nth: usize) -> Option<usize> {
    let block = bytes.get(range.clone())?;
    if memchr::memchr(b'\r', block).is_none() {
        return memchr::memchr_iter(b'\n', block).nth(nth.checked_sub(1)?).map(|at| range.start + at + 1);
    }
    memchr::memchr2_iter(b'\n', b'\r', block)
        .map(|at| range.start + at)
        .filter(|&at| bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'))
        .nth(nth.checked_sub(1)?)
        .map(|at| at + 1)
}

/// The greatest character boundary up to `at`. Returns `at` itself if the bytes are not UTF-8, and the end of
/// the text if `at` is past it.
pub fn char_boundary(bytes: &[u8], at: usize) -> usize {
    if at >= bytes.len() {
        return bytes.len();
    }
    let back = (0..4).find(|back| at > *back && bytes[at - back] & 0xC0 != 0x80);
    at - back.unwrap_or(0)
}

#[cfg(test)]
mod tests;
