//! Which encoding a text that is not UTF-8 probably has.

use std::collections::HashSet;

use chardetng::EncodingDetector;

use super::escapes::{by_escapes, has_escapes};
use super::rivals::{is_told_by_characters, may_be_longer};
use super::singles::is_told_by_words;
use super::wide::{by_high_bytes, by_units, has_controls};
use super::{DecodeError, Decoder, Encoding, EncodingChoice, EncodingSource};
use crate::file_kind::{FileKind, kind_of};

/// Bytes at the beginning of a text that a guess looks at.
pub const LOOKED_AT: usize = 1 << 20;

/// Bytes of a text that are given to the detector.
const SAMPLE: usize = 64 << 10;

/// Bytes of a sample that are not ASCII, without which a guess is never sure.
const EVIDENCE: usize = 16;

/// Bytes of a text of UTF-16 that may be in either order.
const FEW_BYTES: usize = 16;

/// Different words of a sample that are not ASCII, without which no encoding of single bytes is sure.
const WORDS: usize = 4;

/// Letters that are not ASCII to each capital behind a small letter from which on an encoding is not sure.
const CAPITALS: usize = 60;

/// Bytes of a sample in which wrong bytes are looked for.
const REPAIRED: usize = 16 << 10;

/// Bytes that are not ASCII for each wrong one from which on a text is one with few wrong bytes.
const FEW: usize = 16;

/// Characters of UTF-8 for each wrong stretch up to which short text of another encoding may have them by chance.
pub(super) const BY_CHANCE: usize = 4;

/// The last high byte of the characters of alphabets in UTF-16, which are below U+2000.
const ALPHABETS: u8 = 0x1F;

/// What bytes probably are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likely {
    /// A text.
    Text {
        /// Its encoding.
        choice: EncodingChoice,
        /// Whether parts of the text say the same, and there is enough of it to tell.
        is_sure: bool,
    },
    /// A text in this encoding, but for a few bytes that are no character of it.
    Damaged(Encoding),
    /// No text, but this.
    NoText(FileKind),
}

impl Likely {
    /// The encoding of a text without a mark, and how it is known.
    pub fn encoding(self) -> Option<(Encoding, EncodingSource)> {
        match self {
            Likely::Text { choice: EncodingChoice::Is(encoding), is_sure } => {
                Some((encoding, if is_sure { EncodingSource::Guess } else { EncodingSource::WeakGuess }))
            }
            _ => None,
        }
    }

    /// This encoding, for certain.
    pub fn sure(encoding: Encoding) -> Likely {
        Likely::Text { choice: EncodingChoice::Is(encoding), is_sure: true }
    }
}

/// The likely encoding of a text that begins with `first`, and of which `sample` is a part that is not ASCII. `None` if it
/// is probably no text, or UTF-8 with some wrong bytes.
pub fn likely(first: &[u8], sample: &[u8]) -> Option<Likely> {
    if let Some(kind) = kind_of(first) {
        return Some(Likely::NoText(kind));
    }
    if let Some(encoding) = Encoding::of_mark(first).filter(|encoding| encoding.unit() == 2) {
        let is_text = is_plain(encoding, &first[encoding.mark().len()..]);
        return is_text.then_some(Likely::Text { choice: EncodingChoice::Utf16, is_sure: true });
    }
    if memchr::memchr(0, first).is_some() || memchr::memchr(0, sample).is_some() {
        let by_nuls = by_nuls(first).map(|encoding| of_units((encoding, !may_be_swapped(first))));
        return by_nuls.or_else(|| by_units(first).map(of_units));
    }
    if let Some(encoding) = by_escapes(first).or_else(|| by_escapes(sample)) {
        return Some(Likely::sure(encoding));
    }
    if let Some(encoding) = by_high_bytes(first) {
        return Some(of_units((encoding, false)));
    }
    let (right, wrong) = in_utf_8(sample);
    // A mark says it: nothing else begins with these bytes.
    if right > wrong || Encoding::of_mark(first) == Some(Encoding::Utf8) {
        return None;
    }
    let wide = by_units(first);
    if let Some(wide) = wide.filter(|_| has_controls(first)) {
        return Some(of_units(wide));
    }
    let sample = beginning(sample, SAMPLE);
    let found = by_detector(sample);
    match found {
        Some(Likely::Text { choice: choice @ EncodingChoice::Is(single), is_sure: true })
            if wide.is_some() && !single.is_multibyte() =>
        {
            Some(Likely::Text { choice, is_sure: false })
        }
        None => damaged(sample).map(Likely::Damaged),
        // By half of a character before a line break, say, the detector takes a text for one of single bytes.
        Some(Likely::Text { choice: EncodingChoice::Is(encoding), is_sure: false })
            if !encoding.is_multibyte() && has_evidence(sample) =>
        {
            but_for_few(sample).filter(|damaged| damaged.is_multibyte()).map(Likely::Damaged).or(found)
        }
        found => found,
    }
}

/// A text in UTF-16 by its units.
fn of_units((encoding, is_sure): (Encoding, bool)) -> Likely {
    Likely::Text { choice: EncodingChoice::Is(encoding), is_sure }
}

/// Numbers of characters that are not ASCII, and of wrong stretches, of a sample taken as UTF-8.
fn in_utf_8(sample: &[u8]) -> (usize, usize) {
    sample.utf8_chunks().fold((0, 0), |(right, wrong), chunk| {
        let more = chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        (right + more, wrong + usize::from(!chunk.invalid().is_empty()))
    })
}

/// Whether a text whose first wrong bytes are at `wrong` has so many characters of UTF-8 around them that they are none by
/// chance.
pub fn is_mostly_utf_8(bytes: &[u8], wrong: usize) -> bool {
    let (right, wrong) = in_utf_8(sample_of(bytes, wrong));
    right > BY_CHANCE * wrong
}

/// Whether a text whose first wrong bytes are at `wrong` has more characters of UTF-8 than wrong stretches around them.
pub(super) fn is_rather_utf_8(bytes: &[u8], wrong: usize) -> bool {
    let (right, wrong) = in_utf_8(sample_of(bytes, wrong));
    right > wrong
}

/// The part of a text to give to the detector: around its first wrong bytes.
pub(super) fn sample_of(bytes: &[u8], wrong: usize) -> &[u8] {
    let from = wrong.saturating_sub(SAMPLE / 2);
    &bytes[from..bytes.len().min(from + SAMPLE)]
}

/// The same for all bytes of a text.
pub(super) fn likely_of_all(bytes: &[u8], wrong: usize) -> Option<Likely> {
    by_escapes(bytes).map(Likely::sure).or_else(|| likely(sample_of(bytes, 0), sample_of(bytes, wrong)))
}

/// By the bytes of a sample that are not ASCII.
fn by_detector(sample: &[u8]) -> Option<Likely> {
    let encoding = detected(sample)?;
    // It may end inside a character, because it is a part.
    Decoder::new(encoding).push(sample, &mut String::new()).ok()?;
    let is_sure = has_evidence(sample) && is_alone(encoding, sample) && {
        let places: Vec<usize> = (0..sample.len()).filter(|at| !sample[*at].is_ascii()).collect();
        let middle = places[places.len() / 2];
        let (one, other) = sample.split_at(beginning(sample, middle).len());
        let says_so = |part: &[u8]| detected(part) == Some(encoding);
        says_so(one) && says_so(other)
    };
    Some(Likely::Text { choice: EncodingChoice::Is(wide_enough(encoding, sample)), is_sure })
}

/// At most so many first bytes of a sample, which end behind a character if they do not end the sample: the detector takes half of one
/// for another encoding. No byte below the digits is in a character of several bytes.
pub(super) fn beginning(sample: &[u8], most: usize) -> &[u8] {
    let Some(part) = sample.get(..most) else { return sample };
    let cut = part.iter().rposition(|byte| *byte < b'0');
    &part[..cut.map_or(most, |at| at + 1)]
}

/// GB18030 in the place of GBK for a text with characters of four bytes, which GBK lacks. No other character has a digit behind its
/// first byte.
pub(super) fn wide_enough(encoding: Encoding, text: &[u8]) -> Encoding {
    let is_long = |bytes: &[u8]| matches!(bytes, [0x81..=0xFE, b'0'..=b'9', 0x81..=0xFE, b'0'..=b'9']);
    match encoding {
        Encoding::Gbk if text.windows(4).any(is_long) => Encoding::Gb18030,
        encoding => encoding,
    }
}

/// Whether a line of a text has characters of several bytes, or all of it but for a few bytes. The detector takes such a text for another
/// one by one wrong byte.
fn has_longer(sample: &[u8]) -> bool {
    let lines = sample.split(|byte| *byte == b'\n');
    let mut long = lines.filter(|line| has_evidence(line));
    long.any(|line| detected(line).is_some_and(Encoding::is_multibyte))
        || repaired(sample, has_longer_characters).is_some()
}

/// Whether characters of an encoding take several bytes, without escape sequences.
fn has_longer_characters(encoding: Encoding) -> bool {
    encoding.is_multibyte() && !encoding.is_stateful()
}

/// Whether a text has so many bytes that are not ASCII that a guess may be sure.
fn has_evidence(text: &[u8]) -> bool {
    text.iter().filter(|byte| !byte.is_ascii()).take(EVIDENCE).count() == EVIDENCE
}

/// Whether a sample in an encoding is probably no text in one of the others whose characters take several bytes.
fn is_alone(encoding: Encoding, sample: &[u8]) -> bool {
    match encoding.is_multibyte() {
        true => is_told_by_characters(encoding, sample),
        false => {
            is_varied(sample)
                && !may_be_longer(sample)
                && !has_longer(sample)
                && !is_rather_older(encoding, sample)
                && !has_inner_capitals(encoding, sample)
                && is_told_by_words(encoding, sample)
        }
    }
}

/// Whether a text of Latin letters rather is in an encoding of DOS or of old Macs, which the detector does not know: most of its letters
/// are at 0x80 to 0x9F, where the others have signs and rare letters.
fn is_rather_older(encoding: Encoding, sample: &[u8]) -> bool {
    use Encoding::{Windows1250, Windows1252, Windows1254, Windows1257, Windows1258};
    let is_latin = [Windows1250, Windows1252, Windows1254, Windows1257, Windows1258].contains(&encoding);
    let is_letter = |at: usize| sample.get(at).is_some_and(u8::is_ascii_alphabetic);
    let in_words = (0..sample.len())
        .filter(|at| !sample[*at].is_ascii() && (is_letter(at + 1) || *at > 0 && is_letter(at - 1)));
    let (low, all) = in_words.fold((0, 0), |(low, all), at| (low + usize::from(sample[at] < 0xA0), all + 1));
    is_latin && low * 2 > all
}

/// Whether words have capitals behind small letters, as where a Cyrillic text is read in a wrong encoding.
fn has_inner_capitals(encoding: Encoding, sample: &[u8]) -> bool {
    let Ok(text) = encoding.decode(sample) else { return false };
    let (mut letters, mut inner, mut before) = (0, 0, ' ');
    for char in text.chars() {
        letters += usize::from(!char.is_ascii() && char.is_alphabetic());
        inner += usize::from(!char.is_ascii() && char.is_uppercase() && before.is_lowercase());
        before = char;
    }
    inner * CAPITALS > letters
}

/// Whether these bytes are of so many different words that an encoding of single bytes may be sure: a word of longer characters that
/// stands again and again looks the same in each wrong reading.
fn is_varied(text: &[u8]) -> bool {
    let is_between = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    let (mut words, mut bytes) = (HashSet::new(), 0);
    text.split(is_between).filter(|word| !word.is_ascii()).any(|word| {
        if words.insert(word) {
            bytes += word.iter().filter(|byte| !byte.is_ascii()).count();
        }
        words.len() >= WORDS || bytes >= 2 * EVIDENCE
    })
}

pub(super) fn detected(sample: &[u8]) -> Option<Encoding> {
    let mut detector = EncodingDetector::new();
    detector.feed(sample, true);
    match Encoding::of_tables(detector.guess(None, false))? {
        Encoding::Windows1252 if is_hungarian(sample) => Some(Encoding::Windows1250),
        encoding => Some(encoding),
    }
}

/// The encoding of a sample that the detector takes for none without wrong bytes.
fn damaged(sample: &[u8]) -> Option<Encoding> {
    let is_such = |encoding: &Encoding| without_wrong(*encoding, sample).is_some();
    but_for_few(sample).or_else(|| detected(sample).filter(is_such))
}

/// The encoding that the detector finds once the bytes are left out that are no character of it, if these are few: by one such
/// byte it takes the text for another one.
pub(super) fn but_for_few(sample: &[u8]) -> Option<Encoding> {
    let is_table =
        |encoding: Encoding| encoding.unit() == 1 && encoding != Encoding::Utf8 && !encoding.is_stateful();
    // The wrong bytes may lie behind this part.
    let behind = || detected(beginning(sample, REPAIRED)).filter(|encoding| encoding.is_multibyte());
    repaired(sample, is_table).or_else(behind)
}

/// The first of these encodings that the detector finds once the bytes are left out that are no character of it.
fn repaired(sample: &[u8], of: impl Fn(Encoding) -> bool) -> Option<Encoding> {
    let sample = beginning(sample, REPAIRED);
    let is_found = |encoding: &Encoding| {
        let repaired = without_wrong(*encoding, sample);
        repaired.is_some_and(|rest| rest.len() < sample.len() && detected(&rest) == Some(*encoding))
    };
    Encoding::ALL.iter().copied().filter(|encoding| of(*encoding)).find(is_found)
}

/// The bytes of a sample without those that are no character. `None` if these are not few.
fn without_wrong(encoding: Encoding, sample: &[u8]) -> Option<Vec<u8>> {
    let mut most = 1 + sample.iter().filter(|byte| !byte.is_ascii()).count() / FEW;
    let (mut kept, mut rest) = (Vec::new(), sample);
    loop {
        match encoding.decode(rest) {
            Ok(_) => {
                kept.extend_from_slice(rest);
                return Some(kept);
            }
            Err(DecodeError::Nul) => return None,
            Err(DecodeError::Undecodable(wrong)) => {
                most = most.checked_sub(1)?;
                let (right, from) = rest.split_at(wrong.at as usize);
                kept.extend_from_slice(right);
                rest = &from[wrong.bytes.len().clamp(1, from.len())..];
            }
        }
    }
}

/// Whether the letters of a text are those of Hungarian in windows-1250, which the detector takes for Western European ones.
fn is_hungarian(sample: &[u8]) -> bool {
    // Upper case becomes lower case.
    let lower = |byte: u8| byte | 0x20;
    let letters = || sample.iter().filter(|byte| **byte >= 0xC0).map(|byte| lower(*byte));
    let has = |some: &[u8]| letters().any(|letter| some.contains(&letter));
    let is_own = |letter: u8| matches!(letter, 0xE1 | 0xE9 | 0xED | 0xF3 | 0xF5 | 0xF6 | 0xFA | 0xFB | 0xFC);
    letters().all(is_own) && has(b"\xF5\xFB") && has(b"\xF6\xFC") && has(b"\xE1")
}

/// Whether bytes are text in UTF-8 without escape sequences of another encoding.
pub fn is_utf_8(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok() && !has_escapes(bytes) && by_high_bytes(bytes).is_none()
}

/// What bytes are that may be all ASCII, and are text in another encoding: by escape sequences, or UTF-16 of an alphabet.
pub fn hidden(bytes: &[u8]) -> Option<Likely> {
    by_escapes(bytes).map(Likely::sure).or_else(|| by_high_bytes(bytes).map(|wide| of_units((wide, false))))
}

/// UTF-16 without a mark, by its bytes that are 0: those of one half of the units only. Most characters are of alphabets,
/// whose high byte no text in ASCII has: a few NULs in such a text are no UTF-16.
fn by_nuls(text: &[u8]) -> Option<Encoding> {
    let such =
        |half: usize, most: u8| text.iter().skip(half).step_by(2).filter(|byte| **byte <= most).count();
    let (encoding, high) = match (such(0, 0), such(1, 0)) {
        (0, 1..) => (Encoding::Utf16Le, 1),
        (1.., 0) => (Encoding::Utf16Be, 0),
        _ => return None,
    };
    let is_text = 2 * such(high, ALPHABETS) > text.len() / 2 && is_plain(encoding, text);
    is_text.then_some(encoding)
}

/// Whether few units of a letter of ASCII are Chinese characters in the other order of bytes.
fn may_be_swapped(text: &[u8]) -> bool {
    text.len() < FEW_BYTES && text.iter().all(|byte| matches!(byte, 0 | 0x4E..))
}

/// Whether bytes are text without controls.
fn is_plain(encoding: Encoding, bytes: &[u8]) -> bool {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    // It may end inside a character, because it is a part.
    let mut text = String::new();
    let decoded = Decoder::new(encoding).push(bytes, &mut text);
    bytes.len().is_multiple_of(encoding.unit()) && decoded.is_ok() && !text.chars().any(is_odd)
}
