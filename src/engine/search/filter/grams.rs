//! Which n-grams a text has, and the bit of each.
//!
//! An n-gram begins at every byte that is not a continuation byte of UTF-8. At an ASCII byte it has [`ASCII`] bytes,
//! at another [`OTHER`]: three letters of two bytes, or two of three. So a text has at most one n-gram for each
//! character, and the n-grams of a literal are n-grams of every text that contains the literal.

/// Bytes of an n-gram that begins with an ASCII character.
const ASCII: usize = 4;

/// Bytes of another n-gram.
const OTHER: usize = 6;

/// The most bytes of an n-gram behind its first byte.
pub(super) const OVERLAP: usize = OTHER - 1;

/// Words of a bitmap with a bit for each value of [`bit_of`].
pub(super) const BITMAP_WORDS: usize = 1 << 10;

/// For each first byte: which of eight bytes, as a number in little-endian order, are the n-gram.
const MASKS: [u64; 256] = {
    let mut masks = [0; 256];
    let mut first = 0;
    while first < 256 {
        masks[first] = (1 << (8 * len_from(first as u8))) - 1;
        first += 1;
    }
    masks
};

/// The length of an n-gram with this first byte; 0: none begins with it.
const fn len_from(first: u8) -> usize {
    match first {
        0..0x80 => ASCII,
        0x80..0xC0 => 0,
        0xC0.. => OTHER,
    }
}

/// The bit, of the 2^16 of a bitmap, of the n-gram at the start of eight bytes. All that are no start of an n-gram
/// have bit 0.
pub(super) fn bit_of(bytes: u64) -> u16 {
    // Multiplied by an odd number, the upper bits depend on every byte.
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let gram = bytes & MASKS[(bytes & 0xFF) as usize];
    (gram.wrapping_mul(ODD) >> 48) as u16
}

/// The bits of the n-grams of a folded text, in their order.
pub(super) fn bits(text: &[u8]) -> impl Iterator<Item = u16> {
    (0..text.len()).filter_map(|at| {
        let rest = &text[at..];
        let len = len_from(rest[0]);
        let gram = rest.get(..len).filter(|gram| !gram.is_empty())?;
        let mut bytes = [0; 8];
        bytes[..len].copy_from_slice(gram);
        Some(bit_of(u64::from_le_bytes(bytes)))
    })
}
