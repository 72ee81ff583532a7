//! Which parts of a file a search must scan.

use std::ops::Range;

use crate::filter::blocks::FileFilter;
use crate::filter::query::{LiteralSet, Query};

impl FileFilter {
    /// The byte ranges that a search must scan: sorted, apart from each other. None: nothing in the file matches.
    ///
    /// With `lines_only`, a match must lie within one line, its line feed included. Then every match lies in a line
    /// of which a byte is in one of the ranges: the search extends each range to whole lines. Else the range is the
    /// whole file, or there is none.
    pub fn candidates(&self, query: &Query, lines_only: bool) -> Vec<Range<u64>> {
        let mut ranges = Ranges::default();
        if query.is_empty() || self.is_empty() {
            ranges.add(0..self.len);
        } else if lines_only {
            self.add_lines(query, &mut ranges);
        } else if self.may_match_anywhere(query) {
            ranges.add(0..self.len);
        }
        ranges.0
    }

    fn may_match_anywhere(&self, query: &Query) -> bool {
        if !self.is_complete() {
            return true;
        }
        let mut contained = LiteralSet::default();
        for number in 0..self.known_blocks() {
            let literals = self.literals(number, query);
            contained.add_all(&literals.within);
            contained.add_all(&literals.across);
        }
        query.admits(&contained)
    }

    /// Adds the ranges of single lines that may match.
    ///
    /// A line lies within a block, or crosses the borders of some blocks. The lines within a block are admitted
    /// together. A line that crosses borders is admitted for itself: all blocks between its first and its last are
    /// without a line feed.
    fn add_lines(&self, query: &Query, ranges: &mut Ranges) {
        let block_bytes = u64::from(self.block_bytes);
        let mut crossing = Crossing { start: 0, contained: LiteralSet::default() };
        for number in 0..self.known_blocks() {
            let Some(block) = self.block(number) else { break };
            let literals = self.literals(number, query);
            let (start, end) = (number as u64 * block_bytes, (number as u64 + 1) * block_bytes);
            crossing.contained.add_all(&literals.within);
            if block.has_break {
                if start > 0 && query.admits(&crossing.contained) {
                    ranges.add(crossing.start..start + 1);
                }
                if query.admits(&literals.within) {
                    ranges.add(start..end.min(self.len));
                }
                crossing = Crossing { start: end - 1, contained: literals.within };
            }
            crossing.contained.add_all(&literals.across);
        }
        // The file's last line, and all that is not known.
        if crossing.start < self.len && (!self.is_complete() || query.admits(&crossing.contained)) {
            ranges.add(crossing.start..self.len);
        }
    }

    /// The literals that may begin in a block.
    fn literals(&self, number: usize, query: &Query) -> Literals {
        let mut literals = Literals::default();
        let Some(block) = self.block(number) else {
            return Literals { within: LiteralSet::ALL, across: LiteralSet::ALL };
        };
        for (literal, bits) in query.literals().iter().enumerate() {
            let first = bits.iter().take_while(|bit| block.may_have(**bit)).count();
            if first == bits.len() {
                literals.within.add(literal);
            } else if first > 0 && self.may_end_in(number + 1, &bits[first..]) {
                literals.across.add(literal);
            }
        }
        literals
    }

    /// Whether n-grams with these bits may begin in a block.
    fn may_end_in(&self, number: usize, bits: &[u16]) -> bool {
        match self.block(number) {
            Some(block) => bits.iter().rev().all(|bit| block.may_have(*bit)),
            // Not known, or behind the end.
            None => number < self.all_blocks(),
        }
    }
}

/// The numbers of literals that may begin in a block.
#[derive(Default)]
struct Literals {
    /// All their n-grams may begin in the block.
    within: LiteralSet,
    /// Not all of them: the first ones may begin in this block and the others in the next.
    across: LiteralSet,
}

/// The line that crosses the next border of blocks, if there is one.
struct Crossing {
    /// A byte of it: the last one before the first border that it crosses, or the file's first.
    start: u64,
    /// What it may contain, as far as was looked.
    contained: LiteralSet,
}

/// Sorted ranges that do not touch.
#[derive(Default)]
struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Adds a range that begins at or behind the start of the last one.
    fn add(&mut self, range: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if range.start <= last.end => {
                last.start = last.start.min(range.start);
                last.end = last.end.max(range.end);
            }
            _ if range.is_empty() => {}
            _ => self.0.push(range),
        }
    }
}
