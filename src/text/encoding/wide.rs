//! UTF-16 without a mark of texts whose characters are in no alphabet: Chinese, Japanese, Korean.
//!
//! Pure over bytes. Read in the wrong order of bytes, or if they are no UTF-16, such bytes are characters of all kinds; in the right
//! one, nearly all are of the few blocks that texts are written in.

use std::ops::RangeInclusive;

use super::Encoding;

/// Units without which nothing is told, and without which nothing is sure.
const LEAST: usize = 8;
const SURE: usize = 16;

/// The same of a text in an alphabet, and bytes at its beginning that are looked at.
const LEAST_ALPHABET: usize = 6;
const BEGINNING: usize = 4 << 10;

/// Blocks of characters that texts are written in.
const BLOCKS: [RangeInclusive<u32>; 12] = [
    0x20..=0x7E,
    0xA0..=0x24F,
    0x370..=0x52F,
    0x2010..=0x2026,
    0x2030..=0x203B,
    0x2100..=0x22FF,
    0x2500..=0x26FF,
    0x3000..=0x30FF,
    0x4E00..=0x9FA5,
    0xAC00..=0xD7A3,
    0xFF01..=0xFF9F,
    0x1F300..=0x1FAFF,
];

/// Those of the texts that are told here, with their marks.
const ASIAN: [RangeInclusive<u32>; 4] = [0x3000..=0x30FF, 0x4E00..=0x9FA5, 0xAC00..=0xD7A3, 0xFF01..=0xFF9F];

/// All blocks of alphabets, and that of rare Chinese characters.
const RARE: [RangeInclusive<u32>; 2] = [0xA0..=0x1FFF, 0x3400..=0x4DBF];

/// Bytes of a text that are looked at to tell whether it may be UTF-16.
const LOOKED_AT: usize = 64 << 10;

/// The order of bytes of a text, if its units are characters of such a text in one order alone, and whether there is enough of it to be
/// sure.
pub(super) fn by_units(text: &[u8]) -> Option<(Encoding, bool)> {
    let units = text.len() / 2;
    // Two letters of ASCII are one of these characters as well.
    let has_others = text.iter().filter(|byte| !byte.is_ascii()).count() * 5 >= text.len();
    if units < LEAST || !has_others || switches::is_off("wide-without-mark") {
        return None;
    }
    let (little, big) = (Characters::of(text, u16::from_le_bytes), Characters::of(text, u16::from_be_bytes));
    let encoding = match (little.are_text(), big.are_text()) {
        (true, false) if big.are_unlike_text() => Encoding::Utf16Le,
        (false, true) if little.are_unlike_text() => Encoding::Utf16Be,
        _ => return None,
    };
    Some((encoding, units >= SURE))
}

/// The order of bytes of a text in an alphabet without blanks and breaks: it has no NUL, and half of its bytes are the same control. It
/// may be all ASCII, so that it looks like plain text. Never sure.
pub fn by_high_bytes(text: &[u8]) -> Option<Encoding> {
    let text = &text[..text.len().min(BEGINNING) & !1];
    let units = text.len() / 2;
    let controls = text.iter().filter(|byte| is_odd(**byte)).count();
    if units < LEAST_ALPHABET || controls * 8 < text.len() || memchr::memchr(0, text).is_some() {
        return None;
    }
    let dominates = |half: usize| {
        let mut counts = [0; 0x20];
        let controls = text.iter().skip(half).step_by(2).filter(|byte| **byte < 0x20);
        controls.for_each(|byte| counts[usize::from(*byte)] += 1);
        counts.iter().any(|count| count * 4 >= units * 3)
    };
    let (encoding, unit): (_, fn([u8; 2]) -> u16) = match (dominates(0), dominates(1)) {
        (false, true) => (Encoding::Utf16Le, u16::from_le_bytes),
        (true, false) => (Encoding::Utf16Be, u16::from_be_bytes),
        _ => return None,
    };
    (Characters::of(text, unit).controls == 0).then_some(encoding)
}

/// Whether a byte is a control that plain text has not.
fn is_odd(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0C | 0x1A | 0x1B)
}

/// Whether bytes without NUL may be text in this encoding of UTF-16: nearly all characters are of blocks of texts.
pub(crate) fn may_be_wide(encoding: Encoding, text: &[u8]) -> bool {
    let unit = if encoding == Encoding::Utf16Be { u16::from_be_bytes } else { u16::from_le_bytes };
    let found = Characters::of(&text[..text.len().min(LOOKED_AT)], unit);
    found.controls == 0 && (found.usual + found.rare) * 50 >= found.all * 49
}

/// Whether bytes are no text in which ASCII means ASCII: they have controls.
pub(super) fn has_controls(text: &[u8]) -> bool {
    text.iter().any(|byte| is_odd(*byte))
}

/// What the characters are.
#[derive(Default)]
struct Characters {
    all: usize,
    usual: usize,
    asian: usize,
    /// Those of other alphabets and rare ones.
    rare: usize,
    controls: usize,
}

impl Characters {
    fn of(text: &[u8], unit: fn([u8; 2]) -> u16) -> Characters {
        let units = text.chunks_exact(2).map(|two| unit([two[0], two[1]]));
        let mut found = Characters::default();
        for char in char::decode_utf16(units) {
            found.all += 1;
            let Ok(char) = char else { continue };
            let value = u32::from(char);
            let is_break = matches!(char, '\t' | '\n' | '\r');
            let is_usual = is_break || BLOCKS.iter().any(|block| block.contains(&value));
            found.usual += usize::from(is_usual);
            found.rare += usize::from(!is_usual && RARE.iter().any(|block| block.contains(&value)));
            found.asian += usize::from(ASIAN.iter().any(|block| block.contains(&value)));
            found.controls += usize::from(char.is_control() && !is_break);
        }
        found
    }

    fn are_text(&self) -> bool {
        self.controls == 0 && self.usual * 50 >= self.all * 49 && self.asian * 2 >= self.all
    }

    /// Texts of few words have some unusual characters by chance.
    fn are_unlike_text(&self) -> bool {
        self.controls > 0 || self.usual * 10 < self.all * 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 3] = [
        "上海不是一个小城市，它在中国的东部。\n我们今天去学校读书写字。\n",
        "日本語のテキスト、表示能力を確認する。\n予算は未定であります。\n",
        "한국어 글을 시험합니다. 우리는 오늘 학교에 가서 공부합니다.\n",
    ];

    fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encoding.encode(text, &mut out).unwrap();
        out
    }

    #[test]
    fn the_order_of_bytes_of_such_a_text_is_told() {
        for text in TEXTS {
            for wide in [Encoding::Utf16Le, Encoding::Utf16Be] {
                assert_eq!(by_units(&encoded(wide, text)), Some((wide, true)), "{text}");
            }
        }
    }

    #[test]
    fn a_word_of_an_alphabet_without_blanks_is_told() {
        for text in ["ความสุขของประเทศไทย", "Привет", "здравствуйте", "Καλημέρα"]
        {
            for wide in [Encoding::Utf16Le, Encoding::Utf16Be] {
                for times in [1, 500] {
                    assert_eq!(by_high_bytes(&encoded(wide, &text.repeat(times))), Some(wide), "{text}");
                }
            }
        }
        for other in [
            &b"x\n".repeat(100)[..],
            b"\tx\ty\tz\tx\ty\tz",
            b"\x1b[1m\x1b[0m text \x08\x08",
            b"\x01\x02\x01\x02\x01\x02\x01\x02\x01\x02\x01\x02",
            b"plain text",
        ] {
            assert_eq!(by_high_bytes(other), None, "{other:?}");
        }
    }

    #[test]
    fn other_bytes_are_none() {
        for text in
            ["plain text in English, some lines of it\n", "Les élèves français sont déjà arrivés ici\n"]
        {
            assert_eq!(by_units(text.as_bytes()), None);
            assert_eq!(by_units(&encoded(Encoding::Windows1252, text)), None);
        }
        assert_eq!(by_units(&b"x\n".repeat(100)), None);
        let binary: Vec<u8> = (0..4_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        assert_eq!(by_units(&binary), None);
    }
}
