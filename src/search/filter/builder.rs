//! Makes filters from bytes that come in pieces.

use memchr::memchr;

use crate::filter::blocks::{Blocks, FileFilter, Shape};
use crate::filter::grams::{self, BITMAP_WORDS, Bitmap, OVERLAP};

/// Makes the filters of files, one after the other. It keeps one block of text.
#[derive(Debug)]
pub struct FilterBuilder {
    shape: Shape,
    /// The folded bytes of the block that is not complete, and up to [`OVERLAP`] bytes of the next.
    text: Vec<u8>,
    /// Which bytes of the text are letters.
    letters: Vec<u8>,
    /// A bit for each n-gram of a block; 0 between blocks.
    bitmap: Box<Bitmap>,
    /// Bytes of the file in `blocks`.
    done: u64,
    blocks: Blocks,
}

impl Default for FilterBuilder {
    fn default() -> FilterBuilder {
        FilterBuilder::new(Shape::default())
    }
}

impl FilterBuilder {
    /// A builder for filters of this shape.
    pub fn new(shape: Shape) -> FilterBuilder {
        FilterBuilder {
            shape,
            text: Vec::new(),
            letters: Vec::new(),
            bitmap: Box::new([0; BITMAP_WORDS]),
            done: 0,
            blocks: Blocks::default(),
        }
    }

    /// Adds the next bytes of the file, any number of them.
    pub fn push(&mut self, mut bytes: &[u8]) {
        let full = self.shape.block_bytes() + OVERLAP;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(full - self.text.len()));
            let start = self.text.len();
            self.text.extend_from_slice(now);
            self.text[start..].make_ascii_lowercase();
            bytes = later;
            if self.text.len() == full {
                self.end_block(self.shape.block_bytes());
            }
        }
    }

    /// The filter of the file, which has `len` bytes. If fewer were pushed, its last blocks are not known; if more
    /// were pushed, none is. The builder is then ready for another file.
    pub fn finish(&mut self, len: u64) -> FileFilter {
        let pushed = self.done + self.text.len() as u64;
        while pushed == len && !self.text.is_empty() {
            self.end_block(self.text.len().min(self.shape.block_bytes()));
        }
        self.text.clear();
        self.done = 0;
        let blocks = std::mem::take(&mut self.blocks);
        let blocks = if pushed <= len { blocks } else { Blocks::default() };
        blocks.finish(len, self.shape)
    }

    /// Adds the first `len` bytes of the text as a block. All n-grams that begin in them must be in the text.
    fn end_block(&mut self, len: usize) {
        if !self.blocks.is_full() {
            self.mark(len);
            let has_break = memchr(b'\n', &self.text[..len]).is_some();
            self.blocks.add(&self.bitmap, len, has_break, self.shape);
            self.bitmap.fill(0);
        }
        self.text.drain(..len);
        self.done += len as u64;
    }

    /// Sets the bits of the n-grams that begin in the first `len` bytes of the text.
    fn mark(&mut self, len: usize) {
        self.letters.clear();
        self.letters.extend(self.text.iter().copied().map(grams::letter));
        let chunks = self.text.windows(16).step_by(8).zip(self.letters.windows(16).step_by(8)).take(len / 8);
        let mut marked = 0;
        for (text, letters) in chunks {
            let (Some(text), Some(letters)) = (text.first_chunk(), letters.first_chunk()) else { break };
            grams::mark_eight(text, letters, &mut self.bitmap);
            marked += 8;
        }
        let last = grams::bits(&self.text[marked..], len - marked);
        last.for_each(|bit| self.bitmap[usize::from(bit >> 6)] |= 1 << (bit & 63));
    }
}

impl FileFilter {
    /// The filter of a file with this content.
    pub fn build(text: &[u8]) -> FileFilter {
        let mut builder = FilterBuilder::default();
        builder.push(text);
        builder.finish(text.len() as u64)
    }
}
