//! Computes the edit distance of a needle from parts of a text, 64 characters at a time.
//!
//! Myers' bit-vector algorithm in blocks, in Hyyrö's form. Pure.

use std::collections::HashMap;

use crate::text_edit::work;

/// One column of the matrix: for each block, the rows where the distance rises and where it falls.
struct Column {
    rises: Vec<u64>,
    falls: Vec<u64>,
}

/// For each prefix of `text` of at least one character: the distance of `needle` from the nearest part that
/// ends there, or, if `anchored`, from the whole prefix. The needle must not be empty.
pub(crate) fn distances(needle: &[char], text: impl Iterator<Item = char>, anchored: bool) -> Vec<u32> {
    let blocks = needle.len().div_ceil(64);
    // The positions of each character in the needle. Most characters are ASCII and need no hashing.
    let mut ascii = vec![0u64; 128 * blocks];
    let mut others: HashMap<char, Vec<u64>> = HashMap::new();
    for (at, &c) in needle.iter().enumerate() {
        let places = match c.is_ascii() {
            true => &mut ascii[c as usize * blocks..][..blocks],
            false => &mut others.entry(c).or_insert_with(|| vec![0; blocks])[..],
        };
        places[at / 64] |= 1 << (at % 64);
    }
    let nowhere = vec![0; blocks];
    let mut column = Column { rises: vec![u64::MAX; blocks], falls: vec![0; blocks] };
    let last_bit = (needle.len() - 1) % 64;
    let mut distance = needle.len() as i64;
    let step = |c: char| {
        let places = match c.is_ascii() {
            true => &ascii[c as usize * blocks..][..blocks],
            false => others.get(&c).map_or(&nowhere[..], Vec::as_slice),
        };
        let mut carry = i64::from(anchored);
        work::count(blocks);
        for (block, &places) in places.iter().enumerate() {
            let bit = if block + 1 == blocks { last_bit } else { 63 };
            carry = column.advance(block, places, carry, bit);
        }
        distance += carry;
        distance as u32
    };
    text.map(step).collect()
}

impl Column {
    /// Moves one block to the next character. `carry` is the change of the distance above the block; returns
    /// the change at `bit`.
    fn advance(&mut self, block: usize, places: u64, carry: i64, bit: usize) -> i64 {
        let (rises, falls) = (self.rises[block], self.falls[block]);
        let vertical = places | falls;
        let places = places | u64::from(carry < 0);
        let horizontal = ((places & rises).wrapping_add(rises) ^ rises) | places;
        let up = falls | !(horizontal | rises);
        let down = rises & horizontal;
        let out = (up >> bit & 1) as i64 - (down >> bit & 1) as i64;
        let up = up << 1 | u64::from(carry > 0);
        let down = down << 1 | u64::from(carry < 0);
        self.rises[block] = down | !(vertical | up);
        self.falls[block] = up & vertical;
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn naive(needle: &[char], text: &[char], anchored: bool) -> Vec<u32> {
        let mut column: Vec<u32> = (0..=needle.len() as u32).collect();
        let mut all = Vec::new();
        for (at, c) in text.iter().enumerate() {
            let mut next = vec![if anchored { at as u32 + 1 } else { 0 }];
            for (row, n) in needle.iter().enumerate() {
                let replaced = column[row] + u32::from(n != c);
                next.push(replaced.min(column[row + 1] + 1).min(next[row] + 1));
            }
            all.push(next[needle.len()]);
            column = next;
        }
        all
    }

    proptest! {
        #[test]
        fn distances_are_those_of_the_matrix(
            needle in "[abc]{1,150}",
            text in "[abc]{0,200}",
            anchored in any::<bool>(),
        ) {
            let (needle, text): (Vec<char>, Vec<char>) = (needle.chars().collect(), text.chars().collect());
            prop_assert_eq!(distances(&needle, text.iter().copied(), anchored), naive(&needle, &text, anchored));
        }
    }
}
