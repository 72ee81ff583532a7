//! The tokens of functions, and Halstead's effort of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// Numbers of operands begin here; those of operators are the kinds of their nodes.
const OPERANDS: u32 = 1 << 16;

/// The tokens that were met, in order, without those of functions that are done.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    tokens: Vec<u32>,
    /// The numbers of operands by the hash of their texts.
    operands: HashMap<u64, u32, BuildHasherDefault<HashIsKey>>,
    /// For each number, the last count in which it was seen.
    seen: Vec<u32>,
    counts: u32,
}

/// Keys that are hashes already.
#[derive(Debug, Default)]
struct HashIsKey(u64);

impl Hasher for HashIsKey {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

impl Tokens {
    /// Forgets all tokens.
    pub(super) fn clear(&mut self) {
        self.tokens.clear();
        self.operands.clear();
    }

    /// The place behind the last token.
    pub(super) fn place(&self) -> usize {
        self.tokens.len()
    }

    /// Adds an operator, by the kind of its node.
    pub(super) fn operator(&mut self, kind: u16) {
        self.tokens.push(u32::from(kind));
    }

    /// Adds an operand with this text.
    pub(super) fn operand(&mut self, text: &[u8]) {
        let next = OPERANDS + self.operands.len() as u32;
        let number = *self.operands.entry(xxh3_64(text)).or_insert(next);
        self.tokens.push(number);
    }

    /// Removes the tokens from `start` on.
    pub(super) fn truncate(&mut self, start: usize) {
        self.tokens.truncate(start);
    }

    /// Removes the tokens in these ranges, which come in order. Takes time in proportion to the tokens behind the first.
    pub(super) fn remove(&mut self, ranges: &[Range<usize>]) {
        let Some(first) = ranges.first() else { return };
        let mut to = first.start;
        for (number, range) in ranges.iter().enumerate() {
            let end = ranges.get(number + 1).map_or(self.tokens.len(), |next| next.start);
            self.tokens.copy_within(range.end..end, to);
            to += end - range.end;
        }
        self.tokens.truncate(to);
    }

    /// Halstead's effort of the tokens from `start` to `end`.
    pub(super) fn effort(&mut self, start: usize, end: usize) -> f64 {
        self.counts = self.counts.wrapping_add(1);
        let mut counts = [(0u32, 0u32); 2];
        self.seen.resize(OPERANDS as usize + self.operands.len(), 0);
        for token in &self.tokens[start..end] {
            let (all, distinct) = &mut counts[usize::from(*token >= OPERANDS)];
            *all += 1;
            if std::mem::replace(&mut self.seen[*token as usize], self.counts) != self.counts {
                *distinct += 1;
            }
        }
        let [operators, operands] = counts;
        effort(operators, operands)
    }
}

/// Halstead's effort: difficulty × volume. Each pair is the number of all and of distinct ones.
fn effort(operators: (u32, u32), operands: (u32, u32)) -> f64 {
    let vocabulary = f64::from(operators.1) + f64::from(operands.1);
    if operands.1 == 0 {
        return 0.0;
    }
    let length = f64::from(operators.0) + f64::from(operands.0);
    let difficulty = f64::from(operators.1) / 2.0 * f64::from(operands.0) / f64::from(operands.1);
    difficulty * length * vocabulary.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_effort_is_that_of_halstead() {
        // a = b + b: operators = +; operands a b b. Length 5, vocabulary 4, volume 10, difficulty 2/2 * 3/2.
        let mut tokens = Tokens::default();
        tokens.operand(b"before");
        tokens.operand(b"a");
        tokens.operator(1);
        tokens.operand(b"b");
        tokens.operator(2);
        tokens.operand(b"b");
        assert_eq!(tokens.effort(1, 6), 15.0);
        assert_eq!(tokens.effort(1, 6), 15.0, "counted again");
        assert_eq!(tokens.effort(2, 3), 0.0, "without operands");
        assert_eq!(tokens.effort(0, 0), 0.0);
    }

    #[test]
    fn what_is_removed_leaves_the_rest_in_order() {
        let mut tokens = Tokens::default();
        (0..10).for_each(|kind| tokens.operator(kind));
        tokens.remove(&[1..3, 3..4, 6..9]);
        assert_eq!(tokens.tokens, [0, 4, 5, 9]);
        tokens.remove(&[2..4]);
        tokens.remove(&[]);
        tokens.truncate(1);
        assert_eq!(tokens.tokens, [0]);
    }
}
