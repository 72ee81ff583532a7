//! Deltas: objects that are told as copies of parts of another object and new bytes.

/// Why a delta cannot be applied.
pub type Problem = &'static str;

/// A delta names a part outside its base, or ends inside an instruction.
const CUT: Problem = "its delta is cut short or names what its base does not have";

/// The sizes at the beginning of a delta: of its base and of its result, in bytes. Also where the instructions begin.
pub fn sizes(delta: &[u8]) -> Option<(u64, u64, usize)> {
    let (base, first) = number(delta)?;
    let (result, second) = number(delta.get(first..)?)?;
    Some((base, result, first + second))
}

/// A number, seven bits a byte, low ones first, and its length in bytes.
fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (at, &byte) in bytes.iter().enumerate().take(9) {
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

/// The object that `delta` makes of `base`, if it has at most `most` bytes.
pub fn apply(base: &[u8], delta: &[u8], most: usize) -> Result<Vec<u8>, Problem> {
    let (base_size, size, mut at) = sizes(delta).ok_or(CUT)?;
    if base_size != base.len() as u64 {
        return Err("its delta is made for a base of another size");
    }
    if size > most as u64 {
        return Err("it is too large");
    }
    let mut result = Vec::with_capacity(size as usize);
    while let Some(&instruction) = delta.get(at) {
        at += 1;
        let part = match instruction {
            0 => return Err("its delta has an instruction that git does not know"),
            1..=0x7f => {
                let end = at + usize::from(instruction);
                let part = delta.get(at..end).ok_or(CUT)?;
                at = end;
                part
            }
            _ => {
                let (start, len) = copied(instruction, delta, &mut at).ok_or(CUT)?;
                base.get(start..start + len).ok_or(CUT)?
            }
        };
        if result.len() + part.len() > size as usize {
            return Err("its delta makes more than it says");
        }
        result.extend_from_slice(part);
    }
    if result.len() as u64 == size { Ok(result) } else { Err("its delta makes less than it says") }
}

/// The place of a copied part: the bits of the instruction say which bytes of the offset and the length follow.
fn copied(instruction: u8, delta: &[u8], at: &mut usize) -> Option<(usize, usize)> {
    let mut value = 0u64;
    for bit in 0..7 {
        if instruction & 1 << bit != 0 {
            value |= u64::from(*delta.get(*at)?) << (8 * bit);
            *at += 1;
        }
    }
    let (start, len) = ((value & 0xffff_ffff) as usize, (value >> 32) as usize);
    Some((start, if len == 0 { 0x1_0000 } else { len }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_new_bytes_make_the_object() {
        let base = b"0123456789";
        // Sizes 10 and 8, copy 4 from 2, insert "ab", copy 2 from 0.
        let delta = [10, 8, 0x91, 2, 4, 2, b'a', b'b', 0x90, 2];
        assert_eq!(apply(base, &delta, 8).as_deref(), Ok(&b"2345ab01"[..]));
        assert!(apply(base, &delta, 7).is_err(), "larger than allowed");
        assert!(apply(&base[1..], &delta, 8).is_err(), "another base");
        for cut in 0..delta.len() {
            assert!(apply(base, &delta[..cut], 8).is_err(), "{cut}");
        }
        for wrong in [&[10, 4, 0x91, 7, 4][..], &[10, 1, 0], &[10, 1, 0x90, 2], &[10, 9, 1, b'a']] {
            assert!(apply(base, wrong, 100).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_length_of_zero_means_64_kib() {
        let base = vec![7; 0x1_0000];
        let delta = [0x80, 0x80, 4, 0x80, 0x80, 4, 0x80];
        assert_eq!(apply(&base, &delta, base.len()), Ok(base.clone()));
    }

    #[test]
    fn a_size_without_an_end_is_refused() {
        assert_eq!(sizes(&[0xff; 20]), None);
        assert_eq!(sizes(&[0x81, 1, 3]), Some((129, 3, 3)));
    }
}
