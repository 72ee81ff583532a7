//! How much of one file is in another, as git measures it: by the bytes of equal lines, long ones in pieces of 64 bytes.

use crate::churn::diff::is_binary;

/// The similarity of equal files.
pub(super) const MAX_SCORE: u64 = 60_000;

/// The longest piece of a line, in bytes.
const PIECE: u32 = 64;

/// Pieces have numbers below this.
const NUMBERS: u32 = 107_927;

/// From this size on, in bytes, pieces are counted in a table.
const LARGE: usize = 256 << 10;

/// The pieces of a file: how many bytes it has of each number, in the order of the numbers.
#[derive(Debug, Default)]
pub(super) struct Pieces(Vec<(u32, u32)>);

impl Pieces {
    /// The pieces of a file.
    pub(super) fn of(file: &[u8]) -> Pieces {
        let mut pieces = Vec::new();
        if file.len() < LARGE {
            each_piece(file, |number, len| pieces.push((number, len)));
            pieces.sort_unstable();
            pieces.dedup_by(|one, kept| {
                let is_same = one.0 == kept.0;
                kept.1 += if is_same { one.1 } else { 0 };
                is_same
            });
        } else {
            // A table of all numbers: a list of all pieces might be many times as large as the file.
            let mut table = vec![0; NUMBERS as usize];
            each_piece(file, |number, len| table[number as usize] += len);
            pieces.extend((0..NUMBERS).zip(table).filter(|(_, len)| *len > 0));
        }
        pieces.shrink_to_fit();
        Pieces(pieces)
    }

    /// Bytes that it takes.
    pub(super) fn len_bytes(&self) -> usize {
        self.0.len() * size_of::<(u32, u32)>()
    }

    /// The bytes that two files have in common.
    fn common(&self, other: &Pieces) -> u64 {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut common = 0;
        while let (Some(&&(one, bytes)), Some(&&(two, others))) = (left.peek(), right.peek()) {
            if one == two {
                common += u64::from(bytes.min(others));
            }
            if one <= two {
                left.next();
            }
            if two <= one {
                right.next();
            }
        }
        common
    }
}

/// Calls `piece` with the number and the length of each piece of a file.
fn each_piece(file: &[u8], mut piece: impl FnMut(u32, u32)) {
    let is_text = !is_binary(file);
    let mut hash = Hash::default();
    for (at, &byte) in file.iter().enumerate() {
        // The CR of a CRLF does not count in a text.
        if is_text && byte == b'\r' && file.get(at + 1) == Some(&b'\n') {
            continue;
        }
        hash.add(byte);
        if hash.len == PIECE || byte == b'\n' {
            let (number, len) = hash.take();
            piece(number, len);
        }
    }
    if hash.len > 0 {
        let (number, len) = hash.take();
        piece(number, len);
    }
}

/// The number of a piece: two words that are rotated together, to which each byte is added.
#[derive(Debug, Default)]
struct Hash {
    low: u32,
    high: u32,
    len: u32,
}

impl Hash {
    fn add(&mut self, byte: u8) {
        let (low, high) = (self.low, self.high);
        self.low = ((low << 7) ^ (high >> 25)).wrapping_add(u32::from(byte));
        self.high = (high << 7) ^ (low >> 25);
        self.len += 1;
    }

    /// The number of the piece and its length; begins the next one.
    fn take(&mut self) -> (u32, u32) {
        let Hash { low, high, len } = std::mem::take(self);
        (low.wrapping_add(high.wrapping_mul(0x61)) % NUMBERS, len)
    }
}

/// Whether two files may have this similarity by their sizes alone, in bytes.
pub(super) fn sizes_allow(old: u64, new: u64, least: u64) -> bool {
    let (small, large) = (old.min(new), old.max(new));
    large * (MAX_SCORE - least) >= (large - small) * MAX_SCORE
}

/// The similarity of two files with these sizes in bytes: how much of the larger one they have in common.
pub(super) fn similarity((old, old_size): (&Pieces, u64), (new, new_size): (&Pieces, u64)) -> u64 {
    if new_size == 0 { 0 } else { old.common(new) * MAX_SCORE / old_size.max(new_size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(old: &str, new: &str) -> u64 {
        let pieces = [old, new].map(|text| Pieces::of(text.as_bytes()));
        similarity((&pieces[0], old.len() as u64), (&pieces[1], new.len() as u64))
    }

    #[test]
    fn similarity_is_the_share_of_equal_lines() {
        assert_eq!(score("a\nb\n", "a\nb\n"), MAX_SCORE);
        assert_eq!(score("a\nb\n", "b\na\n"), MAX_SCORE, "their order does not matter");
        assert_eq!(score("aaaa\nbbbb\n", "aaaa\ncccc\n"), MAX_SCORE / 2);
        assert_eq!(score("a\n", "a\na\na\na\n"), MAX_SCORE / 4);
        assert_eq!(score("a\n", ""), 0);
        assert_eq!(score("a\nlast", "b\nlast"), 4 * MAX_SCORE / 6, "a last line without a break counts");
        assert_eq!(score("a\r\nb\r\n", "a\nb\n"), 4 * MAX_SCORE / 6, "CR counts for the size alone");
    }

    #[test]
    fn long_lines_are_compared_in_pieces() {
        let line: String = (0..160).map(|n| format!("{n:04}")).collect();
        let other = format!("{}{}{}", &line[..128], &line[128..192].replace('0', "x"), &line[192..]);
        assert_eq!(score(&line, &other), MAX_SCORE * 9 / 10);
    }

    #[test]
    fn pieces_of_large_files_are_those_of_small_ones() {
        let small: Vec<u8> =
            (0..LARGE as u32 / 64).flat_map(|n| format!("{:03}\n", n % 777).into_bytes()).collect();
        let large = small.repeat(16);
        let (few, many) = (Pieces::of(&small), Pieces::of(&large));
        let times: Vec<(u32, u32)> = few.0.iter().map(|(number, len)| (*number, 16 * len)).collect();
        assert!(small.len() < LARGE && large.len() >= LARGE && many.0 == times);
    }

    #[test]
    fn sizes_that_differ_too_much_rule_a_similarity_out() {
        assert!(sizes_allow(100, 200, 30_000) && !sizes_allow(100, 201, 30_000));
        assert!(!sizes_allow(0, 1, 30_000) && sizes_allow(0, 0, 30_000));
    }
}
