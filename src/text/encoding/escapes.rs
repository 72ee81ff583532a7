//! The escape sequences of ISO-2022: whether a text has them, and the encoding that they say.
//!
//! Pure over bytes.

use super::{Decoder, Encoding, LOOKED_AT};

/// The first byte of the sequences that set the state of a text in ISO-2022.
pub const ESC: u8 = 0x1B;

/// What stands behind ESC for the sets of characters besides ASCII that ISO-2022-JP has, and that are decoded. [`selects_wide`] is
/// about other ones: the sets of all kinds of ISO-2022 in which bytes of ASCII are other characters, decoded or not. The Roman
/// set `(J` is only in the first list, because in it two characters differ from ASCII and no other byte.
const JAPANESE: [&[u8]; 4] = [b"$B", b"$@", b"(J", b"(I"];

/// Whether these bytes behind ESC select a set in which bytes of ASCII are other characters: `(I`, and all sets of several bytes,
/// such as `$B`, `$(D` and `$)C`.
pub fn selects_wide(behind: &[u8]) -> bool {
    matches!(behind, [b'(', b'I', ..] | [b'$', b'@' | b'A' | b'B', ..] | [b'$', b'('..=b'+', 0x30..=0x7E, ..])
}

fn selects_japanese(behind: &[u8]) -> bool {
    JAPANESE.iter().any(|set| behind.starts_with(set))
}

/// Whether bytes behind an ESC in the text are such.
fn any_escape(text: &[u8], is_such: impl Fn(&[u8]) -> bool) -> bool {
    memchr::memchr_iter(ESC, text).any(|at| is_such(&text[at + 1..]))
}

/// Whether a text has escape sequences of ISO-2022 that select other sets than ASCII, anywhere.
pub fn has_escapes(text: &[u8]) -> bool {
    any_escape(text, |behind| selects_wide(behind) || selects_japanese(behind))
}

/// Whether a text has sequences for sets in which bytes of ASCII are other characters.
pub fn has_wide(text: &[u8]) -> bool {
    any_escape(text, selects_wide)
}

/// Whether a text has sequences for sets that are not decoded.
pub(super) fn has_undecoded(text: &[u8]) -> bool {
    any_escape(text, |behind| selects_wide(behind) && !selects_japanese(behind))
}

/// The encoding that the escape sequences at the beginning of a text say: ISO-2022-JP, which is ASCII but for them. Most texts
/// are only searched for ESC.
pub fn by_escapes(text: &[u8]) -> Option<Encoding> {
    by_all_escapes(&text[..text.len().min(LOOKED_AT)])
}

/// The same for the sequences of the whole text.
pub fn by_all_escapes(text: &[u8]) -> Option<Encoding> {
    let is_japanese = any_escape(text, selects_japanese) && text.is_ascii();
    let is_text = || {
        let (mut decoder, mut out) = (Decoder::new(Encoding::Iso2022Jp), String::new());
        text.chunks(LOOKED_AT).all(|part| {
            out.clear();
            decoder.push(part, &mut out).is_ok()
        })
    };
    (is_japanese && is_text()).then_some(Encoding::Iso2022Jp)
}
