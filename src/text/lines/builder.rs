//! Builds an index from bytes that arrive in parts of any size, for readers and writers. Validates nothing.

use super::block_counts::BlockCounts;
use super::{BLOCK_SHIFT, BOM, BreakKinds, LineIndex};

/// A text has about `1 << MOST_BLOCKS_SHIFT` blocks at most: from 8 GiB on, its blocks are longer.
const MOST_BLOCKS_SHIFT: u32 = 20;

/// See the module.
#[derive(Debug)]
pub struct IndexBuilder {
    shift: u32,
    len: usize,
    breaks: usize,
    /// The last byte was a `\r`; the next byte decides whether it is a lone break.
    open_cr: bool,
    /// The byte before the next one.
    last: Option<u8>,
    head: [u8; 3],
    kinds: BreakKinds,
    breaks_before: BlockCounts,
}

impl IndexBuilder {
    /// An index of no bytes, with blocks of `1 << shift` bytes.
    pub fn new(shift: u32) -> IndexBuilder {
        IndexBuilder::of_part(shift, None, 0)
    }

    /// An index of no bytes, for a text of about `len` bytes. The longer it is, the longer are the blocks.
    pub fn of_len(len: usize) -> IndexBuilder {
        let shift = shift_for(len);
        IndexBuilder::of_part(shift, None, len)
    }

    /// An index of a part of `len` bytes, which starts where a block starts, behind the byte `before`.
    pub(super) fn of_part(shift: u32, before: Option<u8>, len: usize) -> IndexBuilder {
        IndexBuilder {
            shift,
            len: 0,
            breaks: 0,
            open_cr: false,
            last: before,
            head: [0; 3],
            kinds: BreakKinds::default(),
            breaks_before: BlockCounts::new(len.div_ceil(1 << shift)),
        }
    }

    /// Adds the part that comes next and starts where a block starts. `first` is its first byte.
    pub(super) fn append(&mut self, part: &IndexBuilder, first: u8) {
        if self.open_cr {
            self.close_cr(!switches::is_off("index-border") && first == b'\n');
        }
        for before in part.breaks_before.iter().skip(usize::from(self.len == 0)) {
            self.breaks_before.push(self.breaks + before);
        }
        self.add_head(&part.head[..part.len.min(BOM.len())]);
        self.breaks += part.breaks;
        self.len += part.len;
        self.kinds = self.kinds.and(part.kinds);
        (self.last, self.open_cr) = (part.last, part.open_cr);
    }

    /// Adds the next bytes of the text.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.add_head(bytes);
        while !bytes.is_empty() {
            let room = (1 << self.shift) - (self.len & ((1 << self.shift) - 1));
            let (part, rest) = bytes.split_at(room.min(bytes.len()));
            self.push_within_block(part);
            bytes = rest;
        }
    }

    /// Adds the next bytes to the first three.
    fn add_head(&mut self, bytes: &[u8]) {
        for (at, byte) in bytes.iter().take(BOM.len().saturating_sub(self.len)).enumerate() {
            self.head[self.len + at] = *byte;
        }
    }

    /// Adds `part`, which must not be empty and must not cross a block border.
    fn push_within_block(&mut self, part: &[u8]) {
        if self.open_cr {
            self.close_cr(part[0] == b'\n');
        }
        if self.len & ((1 << self.shift) - 1) == 0 && self.len > 0 {
            self.breaks_before.push(self.breaks);
        }
        let lf = memchr::memchr_iter(b'\n', part).count();
        let crlf_before = usize::from(part[0] == b'\n' && self.last == Some(b'\r'));
        self.breaks += lf;
        let mut crlf = crlf_before;
        if memchr::memchr(b'\r', part).is_some() {
            let (pairs, lone) = count_cr(part);
            crlf += pairs;
            self.breaks += lone;
            self.kinds.cr |= lone > 0;
        }
        self.kinds.crlf |= crlf > 0;
        self.kinds.lf |= lf > crlf;
        self.last = part.last().copied();
        self.open_cr = self.last == Some(b'\r');
        self.len += part.len();
    }

    fn close_cr(&mut self, followed_by_lf: bool) {
        self.open_cr = false;
        if !followed_by_lf {
            self.breaks += 1;
            self.kinds.cr = true;
        }
    }

    /// The index of all bytes added.
    pub fn finish(mut self) -> LineIndex {
        if self.open_cr {
            self.close_cr(false);
        }
        self.breaks_before.fit();
        let bom = if self.len >= BOM.len() && self.head == BOM { BOM.len() } else { 0 };
        LineIndex {
            shift: self.shift,
            len: self.len,
            bom,
            breaks: self.breaks,
            ends_in_break: matches!(self.last, Some(b'\n' | b'\r')),
            kinds: self.kinds,
            breaks_before: self.breaks_before,
        }
    }
}

/// The size of the blocks of a text of `len` bytes, as the exponent of a power of two.
pub(super) fn shift_for(len: usize) -> u32 {
    let most_blocks = 1 << MOST_BLOCKS_SHIFT;
    (BLOCK_SHIFT..usize::BITS).find(|shift| len >> shift <= most_blocks).unwrap_or(BLOCK_SHIFT)
}

/// Number of `\r\n` and of lone `\r`, without a final `\r`. The loop has no branch, so that it compiles to
/// vector code.
fn count_cr(part: &[u8]) -> (usize, usize) {
    let (body, after) = (&part[..part.len() - 1], &part[1..]);
    let mut pairs = 0;
    for (left, right) in body.chunks(128).zip(after.chunks(128)) {
        let found: u8 = left.iter().zip(right).map(|(&a, &b)| u8::from((a == b'\r') & (b == b'\n'))).sum();
        pairs += usize::from(found);
    }
    (pairs, memchr::memchr_iter(b'\r', body).count() - pairs)
}
