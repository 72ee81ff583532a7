//! Parts of texts in other encodings are those of the same texts in UTF-8.

use proptest::prelude::*;

use super::*;
use text::encoding::{Encoding, EncodingChoice, EncodingSource, Malformed};

/// A folder with a file `a`.
fn folder(bytes: &[u8]) -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), bytes).unwrap();
    let workspace = open_with(dir.path(), Durability::None);
    (dir, workspace)
}

fn read(
    workspace: &Workspace,
    part: TextPart,
    choice: EncodingChoice,
    limit: Option<usize>,
) -> Result<PartRead> {
    let path = workspace.parse_path("a").unwrap();
    workspace.read_part(&path, part, choice, limit, &control())
}

/// What a client sees of a part.
fn seen(read: Result<PartRead>) -> String {
    read.map_or_else(
        |error| format!("{error:?}"),
        |read| {
            let text = read.excerpt.text("a").unwrap();
            // Lines of a part that is not cut need not be counted.
            let total = read.total_lines.filter(|_| read.is_cut);
            let first = total.and(read.first_line);
            format!("{text:?} {} {first:?} {total:?}", read.is_cut)
        },
    )
}

fn encoded(encoding: Encoding, with_mark: bool, text: &str) -> Vec<u8> {
    let mut bytes = if with_mark { encoding.mark().to_vec() } else { Vec::new() };
    encoding.encode(text, &mut bytes).unwrap();
    bytes
}

fn parts() -> impl Strategy<Value = TextPart> {
    let range = (proptest::option::of(0..6u64), proptest::option::of(0..6u64));
    prop_oneof![
        Just(TextPart::Whole),
        (0..5u64).prop_map(TextPart::Head),
        (0..5u64).prop_map(TextPart::Tail),
        (1..5u64).prop_map(TextPart::LastLines),
        range.prop_map(|(start, end)| TextPart::Lines(LineRange { start, end })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_part_in_any_encoding_is_that_of_the_same_text_in_utf_8(
        text in "(ab|Ж|й|\n|\r\n|\r){0,20}",
        with_mark in any::<bool>(),
        part in parts(),
        limit in proptest::option::of(4..20usize),
    ) {
        let (_dir, workspace) = folder(&encoded(Encoding::Utf8, with_mark, &text));
        let expected = seen(read(&workspace, part, EncodingChoice::default(), limit));
        for encoding in [
            Encoding::Utf16Le,
            Encoding::Utf16Be,
            Encoding::Windows1251,
            Encoding::ShiftJis,
            Encoding::Gb18030,
            Encoding::Iso2022Jp,
        ] {
            let (_dir, workspace) = folder(&encoded(encoding, with_mark, &text));
            let given = seen(read(&workspace, part, EncodingChoice::Is(encoding), limit));
            prop_assert_eq!(&given, &expected, "{:?}", encoding);
            if with_mark && encoding.unit() == 2 {
                for choice in [EncodingChoice::Utf16, EncodingChoice::Auto] {
                    let found = seen(read(&workspace, part, choice, limit));
                    prop_assert_eq!(&found, &expected, "{:?} {:?}", encoding, choice);
                }
            }
        }
    }

    #[test]
    fn a_limited_part_goes_on_where_it_was_cut(
        text in "(abc|\n|\r\n|\r|é漢😀){0,40}",
        limit in 4..20usize,
        with_lines in any::<bool>(),
        encoding in proptest::sample::select(vec![
            Encoding::Utf16Be, Encoding::Gb18030, Encoding::ShiftJis, Encoding::EucJp, Encoding::Iso2022Jp,
        ]),
    ) {
        let is_utf_16 = encoding.unit() == 2;
        let choice = if is_utf_16 { EncodingChoice::Utf16 } else { EncodingChoice::Is(encoding) };
        let has_all = is_utf_16 || encoding == Encoding::Gb18030;
        let text = if has_all { text } else { text.replace('é', "ソ").replace('😀', "表") };
        let (_dir, workspace) = folder(&encoded(encoding, true, &text));
        let (mut all, mut part) = (String::new(), TextPart::Whole);
        loop {
            let read = read(&workspace, part, choice, Some(limit)).unwrap();
            prop_assert!(read.excerpt.bytes().len() <= limit);
            all += std::str::from_utf8(read.excerpt.bytes()).unwrap();
            if !read.is_cut {
                break;
            }
            prop_assert!(!read.excerpt.bytes().is_empty());
            let (byte, range) = (read.at.end, LineRange { start: Some(0), end: None });
            part = match with_lines {
                true => TextPart::LinesFrom { range, byte },
                false => TextPart::From { byte, pieces: None },
            };
        }
        let end = if with_lines && part != TextPart::Whole { text.trim_end_matches(['\r', '\n']) } else { &text };
        prop_assert!(all.starts_with(end) && text.starts_with(&all), "{:?} {:?}", all, text);
    }
}

#[test]
fn texts_of_many_blocks_are_read_as_in_utf_8() {
    let text = "строка текста Ж😀\r\n".repeat(30_000);
    let (_dir, utf_8) = folder(text.as_bytes());
    let (_dir2, other) = folder(&encoded(Encoding::Utf16Le, true, &text));
    let (_dir3, chinese) = folder(&encoded(Encoding::Gb18030, false, &text));
    let range = |start, end| TextPart::Lines(LineRange { start: Some(start), end: Some(end) });
    for part in [
        TextPart::Whole,
        TextPart::Head(20_000),
        TextPart::Tail(20_000),
        TextPart::LastLines(20_000),
        range(4_000, 29_000),
        range(29_999, 90_000),
    ] {
        for limit in [None, Some(100), Some(200_000)] {
            let expected = seen(read(&utf_8, part, EncodingChoice::default(), limit));
            assert!(seen(read(&other, part, EncodingChoice::Auto, limit)) == expected, "{part:?} {limit:?}");
            let choice = EncodingChoice::Is(Encoding::Gb18030);
            assert!(seen(read(&chinese, part, choice, limit)) == expected, "{part:?} {limit:?}");
        }
    }
}

#[test]
fn an_error_is_told_by_its_line_and_column_in_the_file_wherever_the_part_begins() {
    let line = "строка\r\n";
    let mut bytes = encoded(Encoding::Utf16Le, true, &line.repeat(20_000));
    bytes.extend_from_slice(b"a\0b\0\x01\xDCc\0");
    let (_dir, workspace) = folder(&bytes);
    let last = TextPart::Tail(1);
    for part in [TextPart::Whole, last, TextPart::LastLines(3), TextPart::From { byte: 40_002, pieces: None }]
    {
        let Err(Error::Undecodable { encoding, line, column, bytes, why }) =
            read(&workspace, part, EncodingChoice::Auto, None)
        else {
            panic!("{part:?} is no error");
        };
        assert_eq!((encoding, line, column), (Encoding::Utf16Le, 20_000, 3), "{part:?}");
        assert_eq!((&bytes[..], why), (&b"\x01\xDC"[..], Malformed::LoneSurrogate));
    }
    // What lies behind the part that is shown is not looked at.
    assert!(read(&workspace, TextPart::Whole, EncodingChoice::Auto, Some(1_000)).is_ok());
}

#[test]
fn auto_takes_utf_8_where_it_is_valid_and_else_the_likely_encoding() {
    let text = "Съешь ещё этих мягких французских булок.\n".repeat(9);
    let (_dir, workspace) = folder(text.as_bytes());
    let found = read(&workspace, TextPart::Whole, EncodingChoice::Auto, None).unwrap();
    assert_eq!((found.encoding, found.encoding_source), (Encoding::Utf8, EncodingSource::Given));
    // The part that is not ASCII is far from the beginning.
    let text = "x\n".repeat(100_000) + &text;
    let (_dir, workspace) = folder(&encoded(Encoding::Windows1251, false, &text));
    let found = read(&workspace, TextPart::Whole, EncodingChoice::Auto, None).unwrap();
    assert_eq!((found.encoding, found.encoding_source), (Encoding::Windows1251, EncodingSource::Guess));
    assert_eq!(found.excerpt.bytes(), text.as_bytes());
    let (_dir, workspace) = folder(b"\x7fELF\x02\x01\0\0\0\0");
    let binary = read(&workspace, TextPart::Whole, EncodingChoice::Auto, None);
    assert!(matches!(binary, Err(Error::NotText { .. })));
}
