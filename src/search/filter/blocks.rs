//! The filter of one state of a file: for each block, a set of bits.

use crate::filter::grams::{BITMAP_WORDS, Bitmap};
use crate::literals::MAX_LITERAL;

/// The size of blocks, and of their filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a block; no fewer than a literal may have.
    block_bytes: u32,
    /// The most bytes of filter for 100 bytes of text.
    percent: u32,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::new(64 * 1024, 3)
    }
}

impl Shape {
    /// Blocks of about `block_bytes` bytes, with at most `percent` % of them as filter. For tests; else
    /// [`Shape::default`].
    pub const fn new(block_bytes: u32, percent: u32) -> Shape {
        let least = MAX_LITERAL as u32;
        Shape { block_bytes: if block_bytes < least { least } else { block_bytes }, percent }
    }

    pub(super) fn block_bytes(self) -> usize {
        self.block_bytes as usize
    }

    /// The most words for the bits of a block of `bytes` bytes.
    fn max_words(self, bytes: usize) -> usize {
        let bytes = bytes * self.percent as usize / 100;
        (bytes.saturating_sub(size_of::<Block>()) / size_of::<u64>()).min(BITMAP_WORDS)
    }
}

/// The most n-grams for each word of a filter; about two fifths of its bits are then set. Of a block with more n-grams
/// than its largest filter takes, not all are stored: with more bits set, each n-gram would tell less than is won.
const GRAMS_PER_WORD: usize = 34;

/// The filter of one state of a file. See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFilter {
    /// Length of the file in bytes.
    pub(super) len: u64,
    pub(super) block_bytes: u32,
    /// The blocks that are known: all of them, or the first ones.
    blocks: Box<[Block]>,
    words: Box<[u64]>,
}

/// Where the bits of a block are.
///
/// A bitmap with a bit for each n-gram's hash is cut after its first `limit` words, which are laid over each other
/// so that `words` remain: word `w` of the bitmap is part of word `w % words`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// The position behind its last word.
    end: u32,
    /// n-grams of the words behind are not stored. At most [`BITMAP_WORDS`].
    limit: u16,
    /// Whether the block contains a line feed.
    has_break: bool,
}

impl FileFilter {
    /// Whether it excludes nothing, as the file is too small or no block of it is known.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Length of the file in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.len
    }

    /// Whether all blocks of the file are known.
    pub fn is_complete(&self) -> bool {
        self.blocks.len() == self.all_blocks()
    }

    /// Bytes of memory it takes.
    pub fn bytes(&self) -> usize {
        size_of::<FileFilter>() + size_of_val(&*self.blocks) + size_of_val(&*self.words)
    }

    /// The filter as bytes. `records.rs` numbers their format.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = u64::from(self.block_bytes) << 32 | self.blocks.len() as u64;
        let blocks = self.blocks.iter().map(|block| block.to_number());
        let numbers = [self.len, counts].into_iter().chain(blocks).chain(self.words.iter().copied());
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    /// The filter that has become these bytes. `None`: none has.
    pub fn from_bytes(bytes: &[u8]) -> Option<FileFilter> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let ([len, counts], numbers) = numbers.split_first_chunk()?;
        let (len, counts) = (number(len), number(counts));
        let (block_bytes, count) = ((counts >> 32) as u32, counts as u32 as usize);
        let (blocks, words) = numbers.split_at_checked(count)?;
        let blocks = blocks.iter().map(|bytes| Block::of_number(number(bytes))).collect();
        let filter = FileFilter { len, block_bytes, blocks, words: words.iter().map(number).collect() };
        filter.is_sound().then_some(filter)
    }

    /// Whether its parts fit together, so that asking it does not fail.
    fn is_sound(&self) -> bool {
        let mut ends = self.blocks.iter().map(|block| block.end as usize);
        self.block_bytes >= MAX_LITERAL as u32
            && self.blocks.len() as u64 <= self.len.div_ceil(u64::from(self.block_bytes))
            && ends.clone().is_sorted()
            && ends.next_back().unwrap_or(0) == self.words.len()
    }

    /// The number of blocks that the file has.
    pub(super) fn all_blocks(&self) -> usize {
        self.len.div_ceil(u64::from(self.block_bytes)) as usize
    }

    /// The number of known blocks.
    pub(super) fn known_blocks(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn block(&self, number: usize) -> Option<KnownBlock<'_>> {
        let block = self.blocks.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.blocks[before].end);
        let words = self.words.get(start as usize..block.end as usize)?;
        Some(KnownBlock { limit: usize::from(block.limit), has_break: block.has_break, words })
    }
}

impl Block {
    fn to_number(self) -> u64 {
        u64::from(self.end) | u64::from(self.limit) << 32 | u64::from(self.has_break) << 48
    }

    fn of_number(number: u64) -> Block {
        Block { end: number as u32, limit: (number >> 32) as u16, has_break: number >> 48 & 1 != 0 }
    }
}

/// What is known of a block.
pub(super) struct KnownBlock<'f> {
    limit: usize,
    /// Whether it contains a line feed.
    pub(super) has_break: bool,
    words: &'f [u64],
}

impl KnownBlock<'_> {
    /// Whether an n-gram with this bit may begin in the block.
    pub(super) fn may_have(&self, bit: u16) -> bool {
        let word = usize::from(bit >> 6);
        self.words.is_empty()
            || word >= self.limit
            || self.words[word % self.words.len()] & 1 << (bit & 63) != 0
    }
}

/// The filter of a file whose blocks are added one after the other.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    words: Vec<u64>,
}

impl Blocks {
    /// Adds a block of `bytes` bytes with the n-grams in `bitmap`.
    pub(super) fn add(&mut self, bitmap: &Bitmap, bytes: usize, has_break: bool, shape: Shape) {
        let grams: usize = bitmap.iter().map(|word| word.count_ones() as usize).sum();
        let (words, limit) = match (grams.div_ceil(GRAMS_PER_WORD), shape.max_words(bytes)) {
            (wanted, max) if wanted <= max => (wanted, BITMAP_WORDS),
            (wanted, max) => (max, (BITMAP_WORDS * max / wanted).max(max)),
        };
        let start = self.words.len();
        self.words.resize(start + words, 0);
        if words > 0 {
            for part in bitmap[..limit].chunks(words) {
                self.words[start..].iter_mut().zip(part).for_each(|(word, bits)| *word |= bits);
            }
        }
        self.blocks.push(Block { end: self.words.len() as u32, limit: limit as u16, has_break });
    }

    pub(super) fn is_full(&self) -> bool {
        self.words.len() + BITMAP_WORDS > u32::MAX as usize
    }

    pub(super) fn finish(self, len: u64, shape: Shape) -> FileFilter {
        let (blocks, words) = (self.blocks.into_boxed_slice(), self.words.into_boxed_slice());
        FileFilter { len, block_bytes: shape.block_bytes, blocks, words }
    }
}
