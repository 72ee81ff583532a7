//! The forms NFC and NFD of texts: é as one character, and as e with a mark. In one place, because the library compiles its work anew for
//! each kind of iterator that it is given.

use unicode_normalization::UnicodeNormalization;

/// The text in the form NFC: letters and their marks are one character where there is one.
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// The text in the form NFD: letters and their marks are characters of their own.
pub fn decomposed(text: &str) -> String {
    text.nfd().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_and_its_mark_are_composed_and_taken_apart() {
        assert_eq!(
            (&composed("cafe\u{301}")[..], &decomposed("caf\u{e9}")[..]),
            ("caf\u{e9}", "cafe\u{301}")
        );
        assert_eq!((&composed("a\u{328}\u{301}")[..], &composed("가")[..]), ("ą\u{301}", "가"));
    }
}
