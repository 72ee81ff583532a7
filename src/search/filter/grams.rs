//! Which n-grams a text has, and the bit of each.
//!
//! Two n-grams begin at each character: a short one of four letters, a long one of six (as many letters of two bytes
//! as eight bytes hold, or of three). Which of them count follows from their own bytes alone, so the n-grams of a
//! literal are n-grams of every text that contains it:
//!
//! - the long one, if it has only letters, digits and `_`. Few blocks contain all of a word's by chance;
//! - the short one, too, so that short words have one;
//! - every second of the other short ones. There are far more of them, and most patterns have words.
//!
//! None begins at a continuation byte of UTF-8. All other bytes from 0x80 on count as letters.

/// The most bytes of an n-gram behind its first byte.
pub(super) const OVERLAP: usize = 7;

/// A bit for each value of the upper 16 bits of a hash.
pub(super) type Bitmap = [u64; BITMAP_WORDS];

pub(super) const BITMAP_WORDS: usize = 1 << 10;

/// An n-gram.
#[derive(Debug, Clone, Copy)]
struct Gram {
    /// Its bit in the bitmap.
    bit: u16,
    /// Whether it counts.
    counts: bool,
}

impl Gram {
    /// Sets its bit, if it counts. Without a branch, because which n-grams count is not predictable.
    #[inline(always)]
    fn mark(self, bitmap: &mut Bitmap) {
        bitmap[usize::from(self.bit >> 6)] |= u64::from(self.counts) << (self.bit & 63);
    }
}

/// The n-grams that begin with a kind of byte: bytes of the short and of the long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lengths {
    short: u32,
    long: u32,
}

const ASCII: Lengths = Lengths { short: 4, long: 6 };

/// Mostly a Latin letter with an accent; the letters that follow have one byte.
const LATIN: Lengths = Lengths { short: 5, long: 7 };

const OTHER: Lengths = Lengths { short: 6, long: 8 };

impl Lengths {
    /// `None`: no n-gram begins with this byte.
    #[inline(always)]
    const fn from(first: u8) -> Option<Lengths> {
        match first {
            0..0x80 => Some(ASCII),
            0x80..0xC0 => None,
            0xC0..0xCE => Some(LATIN),
            0xCE.. => Some(OTHER),
        }
    }
}

/// 1 for letters, digits, `_` and all that is not ASCII, in folded text; else 0.
pub(super) fn letter(byte: u8) -> u8 {
    let is_letter = byte.wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    u8::from(is_letter | is_digit | (byte == b'_') | (byte >= 0x80))
}

/// The short and the long n-gram at the start of eight bytes, where `letters` has a 1 for each byte that is a letter.
#[inline(always)]
fn grams(bytes: u64, letters: u64, lengths: Lengths) -> [Gram; 2] {
    let part = |len: u32| u64::MAX >> (64 - 8 * len);
    // Multiplied by an odd number, the upper bits depend on every byte.
    let hash = |len: u32| (bytes & part(len)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let all_letters = |len: u32| !letters & part(len) & 0x0101_0101_0101_0101 == 0;
    let (short, long) = (hash(lengths.short), hash(lengths.long));
    let sampled = short & 1 << 40 == 0;
    [
        Gram { bit: (short >> 48) as u16, counts: all_letters(lengths.short) | sampled },
        Gram { bit: (long >> 48) as u16, counts: all_letters(lengths.long) },
    ]
}

/// Sets the bits of the n-grams that begin in the first eight bytes of `text`.
#[inline(always)]
pub(super) fn mark_eight(text: &[u8; 16], letters: &[u8; 16], bitmap: &mut Bitmap) {
    let eight = |bytes: &[u8; 16], at: usize| -> u64 {
        bytes[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight))
    };
    let ascii = eight(text, 0) & 0x8080_8080_8080_8080 == 0;
    for at in 0..8 {
        let lengths = if ascii { Some(ASCII) } else { Lengths::from(text[at]) };
        if let Some(lengths) = lengths {
            let both = grams(eight(text, at), eight(letters, at), lengths);
            both.into_iter().for_each(|gram| gram.mark(bitmap));
        }
    }
}

/// The bits of the n-grams that begin in the first `starts` bytes of a folded text, in the order in which they begin.
pub(super) fn bits(text: &[u8], starts: usize) -> impl Iterator<Item = u16> {
    (0..starts.min(text.len())).flat_map(|at| {
        let rest = &text[at..];
        let (mut bytes, mut letters) = ([0; 8], [0; 8]);
        for (index, byte) in rest.iter().take(8).enumerate() {
            (bytes[index], letters[index]) = (*byte, letter(*byte));
        }
        let (bytes, letters) = (u64::from_le_bytes(bytes), u64::from_le_bytes(letters));
        let whole = |lengths: Lengths| [lengths.short, lengths.long].map(|len| len as usize <= rest.len());
        let of = |lengths| grams(bytes, letters, lengths).into_iter().zip(whole(lengths));
        let both = Lengths::from(rest[0]).map(of).into_iter().flatten();
        both.filter(|(gram, whole)| gram.counts && *whole).map(|(gram, _)| gram.bit)
    })
}
