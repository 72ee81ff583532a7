//! For each block of a text, how many line breaks end before it: four bytes a block, whatever the numbers are.

/// See the module. Invariant: starts with 0, never decreases, grows by less than 2^32 from one block to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockCounts {
    /// The low 32 bits of each number.
    low: Vec<u32>,
    /// The blocks at which the bits above grow by one. Empty up to 2^32 breaks.
    carries: Vec<usize>,
}

impl BlockCounts {
    /// Of the first block only; `blocks` are expected.
    pub(super) fn new(blocks: usize) -> BlockCounts {
        let mut low = Vec::with_capacity(blocks.max(1));
        low.push(0);
        BlockCounts { low, carries: Vec::new() }
    }

    /// Number of blocks, at least one.
    pub(super) fn len(&self) -> usize {
        self.low.len()
    }

    /// Adds a block that `breaks` breaks end before.
    pub(super) fn push(&mut self, breaks: usize) {
        if breaks >> 32 > self.carries.len() {
            self.carries.push(self.low.len());
        }
        self.low.push(breaks as u32);
    }

    /// Number of breaks that end before `block`.
    pub(super) fn before(&self, block: usize) -> usize {
        let high = self.carries.partition_point(|&carry| carry <= block);
        high << 32 | self.low[block] as usize
    }

    /// All numbers, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).map(|block| self.before(block))
    }

    /// The last block that fewer than `breaks` breaks end before; the first one if there is none.
    pub(super) fn last_before(&self, breaks: usize) -> usize {
        // The blocks whose numbers have the same high bits.
        let high = breaks >> 32;
        let start = if high == 0 { 0 } else { self.carries.get(high - 1).copied().unwrap_or(self.len()) };
        let end = self.carries.get(high).copied().unwrap_or(self.len());
        let fewer = self.low[start..end].partition_point(|&low| low < breaks as u32);
        (start + fewer).saturating_sub(1)
    }

    /// Gives back the memory that was expected and is not needed.
    pub(super) fn fit(&mut self) {
        self.low.shrink_to_fit();
    }

    /// Memory in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.low.len() * size_of::<u32>() + self.carries.len() * size_of::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_past_32_bits_come_back_and_are_searched() {
        let step = (1 << 31) + 12_345;
        let numbers: Vec<usize> = (0..20).map(|nth| nth * step).collect();
        let mut counts = BlockCounts::new(0);
        numbers[1..].iter().for_each(|&number| counts.push(number));
        assert_eq!(counts.iter().collect::<Vec<_>>(), numbers);
        let near = |number: usize| number.saturating_sub(2)..number + 3;
        let borders = (0..12).map(|high: usize| high << 32).chain(numbers.iter().copied()).flat_map(near);
        for breaks in borders {
            let expected = numbers.partition_point(|&number| number < breaks).saturating_sub(1);
            assert_eq!(counts.last_before(breaks), expected, "{breaks}");
        }
        assert_eq!(counts.heap_bytes(), 20 * 4 + 9 * 8);
    }

    #[test]
    fn small_numbers_take_four_bytes_each() {
        let mut counts = BlockCounts::new(3);
        [5, 5, 7].iter().for_each(|&number| counts.push(number));
        assert_eq!((counts.heap_bytes(), counts.last_before(5), counts.last_before(6)), (16, 0, 2));
    }
}
