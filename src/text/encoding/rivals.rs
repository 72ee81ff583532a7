//! Whether the characters of a text tell its encoding from the others whose characters take several bytes.
//!
//! Each such encoding has most bytes of the others, too: `表示` in EUC-JP is two common characters of GBK. What tells them apart is how
//! many characters they have that are common: the different characters of a text are all among the few of the right one. Pure over bytes.

use super::{Decoder, Encoding};

/// Common characters of an encoding: their first bytes, their last ones, and how many there are.
struct Common(Encoding, std::ops::RangeInclusive<u8>, std::ops::RangeInclusive<u8>, f64);

/// Letters and the characters of few strokes, with which Big5 begins, are weighted: a text has many of them.
#[rustfmt::skip]
const COMMON: [Common; 21] = [
    Common(Encoding::Gbk, 0xA1..=0xA1, 0xA1..=0xFE, 100.0),
    Common(Encoding::Gbk, 0xA3..=0xA3, 0xA1..=0xFE, 100.0),
    Common(Encoding::Gbk, 0xB0..=0xD7, 0xA1..=0xFE, 3755.0),
    Common(Encoding::Big5, 0xA1..=0xA1, 0x40..=0xFE, 100.0),
    Common(Encoding::Big5, 0xA4..=0xA5, 0x40..=0xFE, 600.0),
    Common(Encoding::Big5, 0xA6..=0xC6, 0x40..=0xFE, 5401.0),
    Common(Encoding::ShiftJis, 0x81..=0x81, 0x40..=0xAC, 100.0),
    Common(Encoding::ShiftJis, 0x82..=0x82, 0x9F..=0xF1, 300.0),
    Common(Encoding::ShiftJis, 0x83..=0x83, 0x40..=0x96, 500.0),
    Common(Encoding::ShiftJis, 0x88..=0x88, 0x9F..=0xFC, 2965.0),
    Common(Encoding::ShiftJis, 0x89..=0x97, 0x40..=0xFC, 2965.0),
    Common(Encoding::ShiftJis, 0x98..=0x98, 0x40..=0x72, 2965.0),
    Common(Encoding::EucJp, 0x8E..=0x8E, 0xA1..=0xDF, 63.0),
    Common(Encoding::EucJp, 0xA1..=0xA1, 0xA1..=0xFE, 100.0),
    Common(Encoding::EucJp, 0xA3..=0xA3, 0xA1..=0xFE, 100.0),
    Common(Encoding::EucJp, 0xA4..=0xA4, 0xA1..=0xF3, 300.0),
    Common(Encoding::EucJp, 0xA5..=0xA5, 0xA1..=0xF6, 500.0),
    Common(Encoding::EucJp, 0xB0..=0xCF, 0xA1..=0xFE, 2965.0),
    Common(Encoding::EucKr, 0xA1..=0xA1, 0xA1..=0xFE, 100.0),
    Common(Encoding::EucKr, 0xA3..=0xA3, 0xA1..=0xFE, 100.0),
    Common(Encoding::EucKr, 0xB0..=0xC8, 0xA1..=0xFE, 2350.0),
];

/// The encodings that are compared.
const RIVALS: [Encoding; 5] =
    [Encoding::Gbk, Encoding::Big5, Encoding::ShiftJis, Encoding::EucJp, Encoding::EucKr];

/// Of so many characters is one that is not common.
const RARE: f64 = 400_000.0;

/// Of so many characters is one of no text.
const OF_NO_TEXT: f64 = 24_000.0;

/// How many times likelier an encoding must be than each other one, in bits.
const LIKELIER: f64 = 8.0;

/// Different characters without which nothing is told: a few are words of single bytes as well. Not so in Shift_JIS, whose first bytes are
/// no letters of most alphabets.
const LEAST: u32 = 12;

/// Characters of a text to each that is not common.
const MOST_COMMON: u32 = 8;

/// The bits of a character on average up to which most characters of a text are common.
const PLAUSIBLE: f64 = 14.0;

/// Whether a text in this encoding of longer characters has so many different ones that it is in no other such encoding.
pub(super) fn is_told_by_characters(encoding: Encoding, text: &[u8]) -> bool {
    let encoding = if encoding == Encoding::Gb18030 { Encoding::Gbk } else { encoding };
    if !RIVALS.contains(&encoding) {
        return true;
    }
    let own = Characters::of(encoding, text);
    let others = RIVALS.into_iter().filter(|other| *other != encoding && is_text(*other, text));
    let of_no_text = f64::from(own.count) * OF_NO_TEXT.log2();
    let mut bits = others.map(|other| Characters::of(other, text).bits).chain([of_no_text]);
    (own.count >= LEAST || encoding == Encoding::ShiftJis)
        && own.rare * MOST_COMMON <= own.count
        && bits.all(|other| other >= own.bits + LIKELIER)
}

/// Whether bytes are text of common characters in an encoding of longer ones.
pub(super) fn may_be_longer(text: &[u8]) -> bool {
    plausible(text).is_some()
}

/// The encoding of longer characters in which bytes are text of common ones, the likeliest.
pub(super) fn plausible(text: &[u8]) -> Option<Encoding> {
    let bits = |encoding: Encoding| {
        let characters = Characters::of(encoding, text);
        let is_plausible = characters.bits <= f64::from(characters.count) * PLAUSIBLE;
        (is_plausible && is_text(encoding, text)).then_some((encoding, characters.bits))
    };
    let likeliest = RIVALS.into_iter().filter_map(bits).min_by(|one, other| one.1.total_cmp(&other.1));
    likeliest.map(|(encoding, _)| encoding)
}

/// Whether these are characters of this encoding, but for the last one, which may end behind them.
pub(super) fn is_text(encoding: Encoding, text: &[u8]) -> bool {
    Decoder::new(encoding).push(text, &mut String::new()).is_ok()
}

/// The different characters of a text that are not ASCII.
struct Characters {
    count: u32,
    /// Those that are not common.
    rare: u32,
    /// How unlikely they are.
    bits: f64,
}

impl Characters {
    fn of(encoding: Encoding, text: &[u8]) -> Characters {
        let (mut seen, mut rest) = (vec![false; 1 << 16], text);
        let mut found = Characters { count: 0, rare: 0, bits: 0.0 };
        while let Some((&first, behind)) = rest.split_first() {
            if first.is_ascii() {
                rest = behind;
                continue;
            }
            let len = character_len(encoding, rest);
            let last = if len == 1 { 0 } else { rest[len - 1] };
            rest = &rest[len..];
            if !std::mem::replace(&mut seen[usize::from(u16::from_be_bytes([first, last]))], true) {
                found.count += 1;
                let common = common(encoding, first, last).filter(|_| len == 2);
                found.rare += u32::from(common.is_none());
                found.bits += common.unwrap_or(RARE).log2();
            }
        }
        found
    }
}

/// Of how many common characters one with these bytes is.
fn common(encoding: Encoding, first: u8, last: u8) -> Option<f64> {
    let is_it = |Common(of, firsts, lasts, _): &&Common| {
        *of == encoding && firsts.contains(&first) && lasts.contains(&last)
    };
    COMMON.iter().find(is_it).map(|common| common.3)
}

/// Bytes of the first character of a text, which is not ASCII.
fn character_len(encoding: Encoding, text: &[u8]) -> usize {
    let len = match (encoding, text) {
        (Encoding::ShiftJis, [0x80 | 0xA0..=0xDF | 0xFD.., ..]) => 1,
        (Encoding::EucJp, [0x8F, ..]) => 3,
        (Encoding::Gbk, [_, b'0'..=b'9', ..]) => 4,
        _ => 2,
    };
    len.min(text.len())
}
