//! A line index without heap memory, for small texts.

use super::block_counts::BlockCounts;
use super::{BLOCK_SHIFT, BOM, BreakKinds, LineIndex};

/// The index of a text of one block, without its length.
#[derive(Debug, Clone, Copy)]
pub struct InlineIndex {
    breaks: u16,
    bom: bool,
    ends_in_break: bool,
    kinds: BreakKinds,
}

impl InlineIndex {
    /// Converts `index`. Returns `None` if its text has more than one block.
    pub fn of(index: &LineIndex) -> Option<InlineIndex> {
        if index.shift != BLOCK_SHIFT || index.breaks_before.len() > 1 {
            return None;
        }
        let (bom, ends_in_break, kinds) = (index.bom > 0, index.ends_in_break, index.kinds);
        Some(InlineIndex { breaks: index.breaks.try_into().ok()?, bom, ends_in_break, kinds })
    }

    /// Number of lines of the text, whose length is `len` bytes.
    pub fn len_lines(self, len: usize) -> usize {
        let unbroken = !self.ends_in_break && len > if self.bom { BOM.len() } else { 0 };
        usize::from(self.breaks) + usize::from(unbroken)
    }

    /// The full index of the text, whose length is `len` bytes.
    pub fn index(self, len: usize) -> LineIndex {
        LineIndex {
            shift: BLOCK_SHIFT,
            len,
            bom: if self.bom { BOM.len() } else { 0 },
            breaks: self.breaks.into(),
            ends_in_break: self.ends_in_break,
            kinds: self.kinds,
            breaks_before: BlockCounts::new(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_a_small_text_survives() {
        for text in ["", "a", "a\nb\r\nc\r", "\u{feff}", "\u{feff}a\n", &"\n".repeat(1 << BLOCK_SHIFT)] {
            let index = LineIndex::build(text.as_bytes()).unwrap();
            let brief = InlineIndex::of(&index).unwrap();
            assert_eq!(brief.index(text.len()), index, "{text:?}");
            assert_eq!(brief.len_lines(text.len()), index.len_lines(), "{text:?}");
        }
        let larger = LineIndex::build(&vec![b'a'; (1 << BLOCK_SHIFT) + 1]).unwrap();
        assert!(InlineIndex::of(&larger).is_none());
    }
}
