//! A list of numbers, a byte or two for a small one (LEB128), in blocks, so that growth copies nothing.

/// Bytes of a block; the first one starts smaller.
const BLOCK: usize = 16 * 1024;

/// Maximum number of bytes of one number.
const LONGEST: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    blocks: Vec<Vec<u8>>,
}

impl Packed {
    /// Appends a number.
    pub(crate) fn push(&mut self, number: u64) {
        match self.blocks.last_mut() {
            Some(last) if last.len() + LONGEST <= BLOCK => write(last, number),
            _ => {
                let mut block = Vec::with_capacity(if self.blocks.is_empty() { 2 * LONGEST } else { BLOCK });
                write(&mut block, number);
                self.blocks.push(block);
            }
        }
    }

    /// Iterates over the numbers in order.
    pub(crate) fn read(&self) -> PackedReader<'_> {
        PackedReader { blocks: &self.blocks, at: 0 }
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.blocks.iter().map(|block| block.capacity() + size_of::<Vec<u8>>()).sum()
    }
}

/// Reads the numbers one by one. A copy continues where the original was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PackedReader<'p> {
    blocks: &'p [Vec<u8>],
    at: usize,
}

impl Iterator for PackedReader<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let (block, rest) = self.blocks.split_first()?;
        match read(block, &mut self.at) {
            Some(number) => Some(number),
            None => {
                (self.blocks, self.at) = (rest, 0);
                self.next()
            }
        }
    }
}

/// Appends `number` to `out`.
pub(crate) fn write(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads the number that starts at `at`, and moves `at` behind it. Returns `None` at the end.
pub(crate) fn read(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_in_their_order_at_a_byte_each_while_they_are_small() {
        let mut packed = Packed::default();
        let number = |at: u64| if at.is_multiple_of(1000) { u64::MAX - at } else { at % 128 };
        (0..100_000).for_each(|at| packed.push(number(at)));
        assert!(packed.read().eq((0..100_000).map(number)));
        assert!(packed.memory() < 100_000 + 100 * 10 + 3 * BLOCK, "{}", packed.memory());
        let mut reader = packed.read();
        reader.by_ref().take(50_000).for_each(drop);
        assert!(reader.eq((50_000..100_000).map(number)), "a copy goes on where the original was");
        assert_eq!(Packed::default().read().next(), None);
    }
}
