//! Decodes bytes to show them: what is no character becomes U+FFFD.

use std::borrow::Cow;

use super::Encoding;

const REPLACEMENT: &str = "\u{fffd}";

impl Encoding {
    /// The text of bytes that begin at a character, with U+FFFD for each byte, or half of a pair, that is no character. A
    /// byte order mark is a character like others. Never fails.
    pub fn decode_lossy(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Encoding::Utf8 => String::from_utf8_lossy(bytes),
            Encoding::Utf16Le => Cow::Owned(utf_16(bytes, u16::from_le_bytes)),
            Encoding::Utf16Be => Cow::Owned(utf_16(bytes, u16::from_be_bytes)),
            _ => self.by_table(bytes),
        }
    }

    fn by_table(self, bytes: &[u8]) -> Cow<'_, str> {
        let row = self.row();
        let Some(tables) = row.tables else { return encoding_rs::mem::decode_latin1(bytes) };
        let decoded = |bytes| tables.decode_without_bom_handling(bytes).0;
        // The tables of the web have controls in place of undefined bytes.
        let mut parts = bytes.split(|byte| row.undefined.contains(byte));
        let first = parts.next().map(decoded).unwrap_or_default();
        parts.fold(first, |text, part| text + REPLACEMENT + decoded(part))
    }
}

fn utf_16(bytes: &[u8], order: fn([u8; 2]) -> u16) -> String {
    let (units, rest) = bytes.as_chunks::<2>();
    let decoded = char::decode_utf16(units.iter().map(|unit| order(*unit)));
    let characters = decoded.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    characters.chain((!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_character_is_shown_as_such_and_the_rest_as_it_is() {
        for (encoding, bytes, expected) in [
            (Encoding::Utf8, &b"a\xFFb"[..], "a\u{fffd}b"),
            (Encoding::Windows1251, b"\x98\xE0\x98\x98", "\u{fffd}а\u{fffd}\u{fffd}"),
            (Encoding::Windows1252, b"\x81\x80", "\u{fffd}€"),
            (Encoding::Iso8859_1, b"\x81\xE9", "\u{81}é"),
            (Encoding::Iso8859_15, b"\xA4", "€"),
            (Encoding::Utf16Le, b"a\0\x01\xDCb\0c", "a\u{fffd}b\u{fffd}"),
            (Encoding::Utf16Be, b"\xD8\x3D\xDE\x00\0a", "😀a"),
        ] {
            assert_eq!(encoding.decode_lossy(bytes), expected, "{encoding:?} {bytes:?}");
        }
    }
}
