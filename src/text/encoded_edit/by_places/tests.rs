//! Places replaced in texts of several encodings.

use super::*;
use crate::Unstopped;

fn text(encoding: Encoding) -> TextEncoding {
    TextEncoding { encoding, source: EncodingSource::Given, has_mark: false }
}

/// Replaces each `old` of the text by the parts.
fn replaced(
    of: TextEncoding,
    bytes: &[u8],
    old: &str,
    parts: impl Fn(usize) -> Vec<NewPart<'static>>,
) -> Result<Vec<u8>> {
    let memory = Budget::new(usize::MAX);
    let searched = SearchedText::new(of, ("a", bytes), true, &memory, &Unstopped)?;
    let places: Vec<usize> = memchr::memmem::find_iter(searched.bytes(), old).collect();
    let mut replacing = searched.replacing();
    for at in places {
        replacing.add(at..at + old.len(), parts(at))?;
    }
    let (plan, _) = replacing.finish(&memory)?;
    let mut out = Vec::new();
    plan.write_to(bytes, &mut out).expect("a vector takes all");
    Ok(out)
}

fn new(text: &'static str) -> impl Fn(usize) -> Vec<NewPart<'static>> {
    move |_| vec![NewPart::Text(text.into())]
}

#[test]
fn bytes_that_are_in_no_place_stay_also_those_that_are_no_character() {
    let out = replaced(text(Encoding::Utf8), b"\xFF a\xC3\n a\xE4", "a", new("b")).unwrap();
    assert_eq!(out, b"\xFF b\xC3\n b\xE4");
    let gbk = |text: &str| {
        let mut out = Vec::new();
        Encoding::Gbk.encode(text, &mut out).unwrap();
        out
    };
    let old = [&gbk("中文 foo 中")[..], b"\xFF\nfoo\n"].concat();
    let out = replaced(text(Encoding::Gbk), &old, "foo", new("文")).unwrap();
    assert_eq!(out, [&gbk("中文 文 中")[..], b"\xFF\n", &gbk("文\n")].concat());
}

#[test]
fn parts_of_a_place_keep_their_bytes() {
    let turned = |lens: [usize; 3]| {
        move |at: usize| {
            let [first, second, third] = lens;
            let (second, third) =
                (at + first..at + first + second, at + first + second..at + first + second + third);
            vec![NewPart::Kept(third), NewPart::Kept(second), NewPart::Kept(at..at + first)]
        }
    };
    let out = replaced(text(Encoding::Utf8), b"x a\xFFb y\n", "a\u{fffd}b", turned([1, 3, 1])).unwrap();
    assert_eq!(out, b"x b\xFFa y\n");
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let out = replaced(text(Encoding::Utf16Le), &utf_16("x aé😀 y"), "aé😀", turned([1, 2, 4])).unwrap();
    assert_eq!(out, utf_16("x 😀éa y"));
}

#[test]
fn a_character_that_the_encoding_lacks_is_refused() {
    let error = replaced(text(Encoding::Windows1252), b"a", "a", new("中")).unwrap_err();
    assert!(
        matches!(error, Error::Unencodable { encoding: Encoding::Windows1252, lacking, .. } if lacking.character == '中')
    );
}

#[test]
fn a_break_in_new_text_has_the_kind_of_its_line() {
    let utf_8 = text(Encoding::Utf8);
    assert_eq!(replaced(utf_8, b"a\r\nb", "a", new("x\ny")).unwrap(), b"x\r\ny\r\nb");
    assert_eq!(replaced(utf_8, b"a\r\na\na", "a", new("x\ny")).unwrap(), b"x\r\ny\r\nx\ny\nx\ny");
    assert_eq!(replaced(utf_8, b"a", "a", new("x\r\ny")).unwrap(), b"x\r\ny");
    assert_eq!(replaced(utf_8, b"a\rb", "a", new("x\n")).unwrap(), b"x\r\rb");
}

#[test]
fn an_unsure_guess_is_enough_only_for_ascii() {
    let memory = Budget::new(usize::MAX);
    let guess = TextEncoding { source: EncodingSource::WeakGuess, ..text(Encoding::Windows1252) };
    let new = |is_ascii| SearchedText::new(guess, ("a", b"caf\xe9 a"), is_ascii, &memory, &Unstopped);
    assert!(new(true).is_ok() && matches!(new(false), Err(Error::OtherEncoding { .. })));
}
