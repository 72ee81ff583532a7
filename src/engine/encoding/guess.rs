//! Which encoding a text that is not UTF-8 probably has.

use chardetng::EncodingDetector;

use super::{Decoder, Encoding, EncodingChoice, ROWS};
use crate::engine::file_kind::{FileKind, kind_of};

/// The encoding that a text probably has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likely {
    /// One that can be read.
    Known(EncodingChoice),
    /// One of this name that cannot.
    Other(&'static str),
    /// None: the file is no text, but this.
    NoText(FileKind),
}

/// The likely encoding of a text that begins with `first`, and of which `sample` is a part that is not ASCII. `None` if it
/// is probably no text, or UTF-8 with some wrong bytes.
pub fn likely(first: &[u8], sample: &[u8]) -> Option<Likely> {
    if let Some(kind) = kind_of(first) {
        return Some(Likely::NoText(kind));
    }
    if let Some(encoding) = Encoding::of_mark(first).filter(|encoding| encoding.unit() == 2) {
        let is_text = is_plain(encoding, &first[encoding.mark().len()..]);
        return is_text.then_some(Likely::Known(EncodingChoice::Utf16));
    }
    if memchr::memchr(0, first).is_some() || memchr::memchr(0, sample).is_some() {
        return by_nuls(first).map(|encoding| Likely::Known(EncodingChoice::Is(encoding)));
    }
    let (mut right, mut wrong) = (0, 0);
    for chunk in sample.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    if right > wrong {
        return None;
    }
    let mut detector = EncodingDetector::new();
    detector.feed(sample, true);
    let guess = detector.guess(None, false);
    match ROWS.iter().find(|row| row.tables.is_some_and(|tables| std::ptr::eq(tables, guess))) {
        None => Some(Likely::Other(guess.name())),
        Some(row) => {
            let is_text = row.encoding.decode(sample).is_ok();
            is_text.then_some(Likely::Known(EncodingChoice::Is(row.encoding)))
        }
    }
}

/// UTF-16 without a mark, by its bytes that are 0: those of one half of the units only.
fn by_nuls(text: &[u8]) -> Option<Encoding> {
    let nuls = |half: usize| text.iter().skip(half).step_by(2).filter(|byte| **byte == 0).count();
    let encoding = match (nuls(0), nuls(1)) {
        (0, 1..) => Encoding::Utf16Le,
        (1.., 0) => Encoding::Utf16Be,
        _ => return None,
    };
    is_plain(encoding, text).then_some(encoding)
}

/// Whether bytes are text without controls.
fn is_plain(encoding: Encoding, bytes: &[u8]) -> bool {
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    // It may end inside a character, because it is a part.
    let mut text = String::new();
    let decoded = Decoder::new(encoding).push(bytes, &mut text);
    bytes.len().is_multiple_of(encoding.unit()) && decoded.is_ok() && !text.chars().any(is_odd)
}
