//! Each encoding against Python's codecs, at any borders of blocks.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;

use self::python::Python;

mod few_words;
mod python;
mod repeated;
mod samples;

/// Decodes in blocks whose lengths repeat `cuts`.
fn in_blocks(encoding: Encoding, bytes: &[u8], cuts: &[usize]) -> (String, Result<(), DecodeError>) {
    let (mut decoder, mut out, mut rest) = (Decoder::new(encoding), String::new(), bytes);
    for cut in cuts.iter().cycle().take(bytes.len() + 1) {
        let (block, after) = rest.split_at((*cut).clamp(1, 9).min(rest.len()));
        if let Err(error) = decoder.push(block, &mut out) {
            return (out, Err(error));
        }
        rest = after;
    }
    let ended = decoder.finish(&mut out);
    (out, ended)
}

/// Bytes that are often characters: text in some encoding with some bytes changed, or any bytes but NUL.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let text = proptest::string::string_regex("[a-zа-яЁ€éŠ\u{80}-\u{9f}漢😀\r\n ]{0,40}").unwrap();
    let encoded = (text, 0..Encoding::ALL.len(), proptest::collection::vec((any::<u16>(), 1..=255u8), 0..2));
    let encoded = encoded.prop_map(|(text, number, changes)| {
        let mut out = Vec::new();
        let encoding = Encoding::ALL[number];
        let has = |c: &char| encoding.encode(&c.to_string(), &mut Vec::new()).is_ok();
        encoding.encode(&text.chars().filter(has).collect::<String>(), &mut out).unwrap();
        for (at, byte) in changes {
            if !out.is_empty() {
                let at = usize::from(at) % out.len();
                out[at] = byte;
            }
        }
        out
    });
    prop_oneof![encoded, proptest::collection::vec(1..=255u8, 0..40)]
}

#[test]
fn every_encoding_decodes_as_python_does_at_any_borders_of_blocks() {
    let Some(mut python) = Python::start() else { return };
    // Of the others, the web's tables differ in some bytes; see the next test.
    let same: Vec<Encoding> = Encoding::ALL
        .iter()
        .copied()
        .filter(|encoding| !encoding.is_multibyte() && OWN.iter().all(|(own, _)| own != encoding))
        .collect();
    let strategy = (bytes(), proptest::sample::select(same), proptest::collection::vec(1..9usize, 1..4));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(3_000));
    let python = std::cell::RefCell::new(&mut python);
    let check = |(bytes, encoding, cuts): (Vec<u8>, Encoding, Vec<usize>)| {
        let expected = python.borrow_mut().ask('d', encoding, &bytes);
        let (text, result) = in_blocks(encoding, &bytes, &cuts);
        let whole = encoding.decode(&bytes);
        match (result, expected) {
            (Ok(()), Ok(expected)) => {
                prop_assert_eq!(text.as_bytes(), &expected);
                prop_assert_eq!(whole.as_ref(), Ok(&text));
                let mut again = Vec::new();
                prop_assert_eq!(encoding.encode(&text, &mut again), Ok(()));
                prop_assert_eq!(again.len() as u64, encoding.len_of(text.as_bytes()));
                prop_assert_eq!(again, bytes);
            }
            (Err(DecodeError::Nul), _) => prop_assert!(whole == Err(DecodeError::Nul)),
            (Err(DecodeError::Undecodable(error)), Err(at)) => {
                prop_assert_eq!(error.at, at as u64, "{:?}", error);
                prop_assert!(bytes[at..].starts_with(&error.bytes) && !error.bytes.is_empty());
                prop_assert_eq!(whole, Err(DecodeError::Undecodable(error)));
                prop_assert_eq!(encoding.decode(&bytes[..at]), Ok(text));
            }
            (result, expected) => prop_assert!(false, "{result:?}, expected {expected:?}"),
        }
        Ok(())
    };
    runner.run(&strategy, check).unwrap();
}

/// Bytes of single-byte encodings that the web has as other characters than Python.
const OWN: [(Encoding, &[u8]); 2] = [(Encoding::Koi8U, b"\xAE\xBE"), (Encoding::Windows1255, b"\xCA")];

#[test]
fn every_byte_and_every_character_is_what_python_says() {
    let Some(mut python) = Python::start() else { return };
    for encoding in Encoding::ALL.iter().copied() {
        if encoding.unit() == 2 || encoding.is_multibyte() || encoding == Encoding::Utf8 {
            continue;
        }
        let own = OWN.iter().find(|(own, _)| *own == encoding).map_or(&b""[..], |(_, own)| own);
        for byte in (1..=255u8).filter(|byte| !own.contains(byte)) {
            let expected = python.ask('d', encoding, &[byte]).ok();
            let decoded = encoding.decode(&[byte]).ok().map(String::into_bytes);
            assert_eq!(decoded, expected, "{encoding:?} {byte:02x}");
            if let Some(text) = decoded {
                let mut out = Vec::new();
                encoding.encode(std::str::from_utf8(&text).unwrap(), &mut out).unwrap();
                assert_eq!(encoding.decode(&out).unwrap().into_bytes(), text, "{encoding:?} {byte:02x}");
            }
        }
    }
}

#[test]
fn a_character_is_encoded_as_by_python() {
    let Some(mut python) = Python::start() else { return };
    for encoding in [
        Encoding::Windows1251,
        Encoding::Windows1252,
        Encoding::Iso8859_1,
        Encoding::Iso8859_15,
        Encoding::Koi8R,
    ] {
        for character in (1..0x2_200).filter_map(char::from_u32).chain(['😀', '\u{fffd}']) {
            let (text, mut out) = (character.to_string(), Vec::new());
            let expected = python.ask('e', encoding, text.as_bytes()).ok();
            let encoded = encoding.encode(&text, &mut out).ok().map(|()| out);
            assert_eq!(encoded, expected, "{encoding:?} {character:?}");
        }
    }
}

/// Texts of characters that every table of their encoding has.
const TEXTS: [(Encoding, &str); 8] = [
    (Encoding::ShiftJis, "日本語のテキスト、ｶﾀｶﾅ。表示能力ソ十～ABC\\\r\n予算は未定。"),
    (Encoding::EucJp, "日本語のテキスト、ｶﾀｶﾅ。表示能力ソ十ABC\\\r\n予算は未定。"),
    (Encoding::Iso2022Jp, "日本語のテキスト、表示能力ソ十ABC\\\r\n予算は未定。\n"),
    (Encoding::Gbk, "简体中文文本，测试。锟斤拷ABC{}\r\n第二行：编码。"),
    (Encoding::Gb18030, "简体中文，𠀀😀éß。ABC{}\r\n第二行：编码。"),
    (Encoding::Big5, "繁體中文文本，測試。功許蓋ABC{}|\r\n第二行：編碼。"),
    (Encoding::EucKr, "한국어 글, 시험. 똠방각하 펲시콜라ABC{}\r\n둘째 줄."),
    (Encoding::Utf8, "é😀\r\n"),
];

#[test]
fn texts_of_characters_of_several_bytes_are_those_of_python_at_any_borders_of_blocks() {
    let mut python = Python::start();
    for (encoding, text) in TEXTS {
        let mut bytes = Vec::new();
        encoding.encode(text, &mut bytes).unwrap();
        if let Some(python) = &mut python {
            assert_eq!(python.ask('e', encoding, text.as_bytes()), Ok(bytes.clone()), "{encoding:?}");
            assert_eq!(python.ask('d', encoding, &bytes), Ok(text.as_bytes().to_vec()), "{encoding:?}");
        }
        for cut in 1..6 {
            assert_eq!(in_blocks(encoding, &bytes, &[cut]), (text.to_owned(), Ok(())), "{encoding:?} {cut}");
            let mut count = CharacterCount::new(encoding);
            bytes.chunks(cut).for_each(|block| count.push(block));
            assert_eq!(count.finish(), text.chars().count() as u64, "{encoding:?} {cut}");
        }
        // A page that ends behind any character goes on at the byte behind it.
        for (len, _) in text.char_indices() {
            let (taken, kept) = encoding.source_len(&bytes, len);
            assert_eq!(kept, len, "{encoding:?} {len}");
            let mut start = Vec::new();
            encoding.encode(&text[..len], &mut start).unwrap();
            let is_same = encoding.is_stateful() || start.len() == taken;
            assert!(is_same, "{encoding:?} {len}");
        }
        let end = bytes.len() - 1;
        if encoding != Encoding::Iso2022Jp && !bytes[end].is_ascii() {
            let cut = encoding.decode(&bytes[..end]).unwrap_err();
            assert!(
                matches!(&cut, DecodeError::Undecodable(Undecodable { why: Malformed::Incomplete, .. })),
                "{cut:?}"
            );
        }
    }
}

#[test]
fn an_error_names_the_bytes_and_what_is_wrong_with_them() {
    type Case = (Encoding, &'static [u8], u64, &'static [u8], Malformed);
    let cases: [Case; 8] = [
        (Encoding::Windows1251, b"ab\x98", 2, b"\x98", Malformed::Undefined),
        (Encoding::Windows1252, b"\x80\x9D", 1, b"\x9D", Malformed::Undefined),
        (Encoding::Utf8, b"a\xC3(", 1, b"\xC3", Malformed::Undefined),
        (Encoding::Utf8, b"a\xE6\xBC", 1, b"\xE6\xBC", Malformed::Incomplete),
        (Encoding::Utf16Le, b"a\0b", 2, b"b", Malformed::Incomplete),
        (Encoding::Utf16Le, b"a\0\x00\xD8b\0", 2, b"\x00\xD8", Malformed::LoneSurrogate),
        (Encoding::Utf16Be, b"\xDC\x01", 0, b"\xDC\x01", Malformed::LoneSurrogate),
        (Encoding::Utf16Be, b"\0a\xD8\x01\xD8", 2, b"\xD8\x01", Malformed::LoneSurrogate),
    ];
    for (encoding, bytes, at, wrong, why) in cases {
        let expected = DecodeError::Undecodable(Undecodable { at, bytes: wrong.to_vec(), why });
        for cut in 1..4 {
            assert_eq!(in_blocks(encoding, bytes, &[cut]).1, Err(expected.clone()), "{encoding:?} {bytes:?}");
        }
        assert_eq!(encoding.decode(bytes), Err(expected), "{encoding:?} {bytes:?}");
    }
    assert_eq!(Encoding::Iso8859_1.decode(b"a\0"), Err(DecodeError::Nul));
    assert_eq!(Encoding::Utf16Le.decode(b"a\0\0\0"), Err(DecodeError::Nul));
}

#[test]
fn a_character_that_an_encoding_lacks_is_named_with_its_line_and_column() {
    let mut out = b"before".to_vec();
    let lacking = Encoding::Windows1251.encode("где\r\nэто é", &mut out);
    assert_eq!(lacking, Err(Unencodable { line: 1, column: 5, character: 'é' }));
    assert_eq!(out, b"before");
    let control = Encoding::Windows1252.encode("é\u{81}漢", &mut out);
    assert_eq!(control, Err(Unencodable { line: 0, column: 2, character: '\u{81}' }));
    assert_eq!(
        Encoding::Iso8859_1.encode("\r\r\n€", &mut out),
        Err(Unencodable { line: 2, column: 1, character: '€' })
    );
    assert_eq!(
        Encoding::Iso2022Jp.encode("\u{1b}日", &mut out),
        Err(Unencodable { line: 0, column: 1, character: '\u{1b}' })
    );
    assert_eq!(Encoding::Iso8859_15.encode("€é", &mut out), Ok(()));
    assert_eq!(out, b"before\xA4\xE9");
}

#[test]
fn names_are_taken_in_many_spellings_and_rows_stand_in_order() {
    for (number, row) in ROWS.iter().enumerate() {
        assert_eq!((row.encoding as usize, row.encoding.name()), (number, row.name));
        for name in [row.name, row.name.to_uppercase().as_str(), &row.name.replace('-', "_")] {
            assert_eq!(EncodingChoice::parse(name), Some(EncodingChoice::Is(row.encoding)), "{name}");
        }
    }
    let is = |encoding| Some(EncodingChoice::Is(encoding));
    for (name, choice) in [
        ("utf8", is(Encoding::Utf8)),
        ("UTF-16LE", is(Encoding::Utf16Le)),
        ("cp1251", is(Encoding::Windows1251)),
        ("latin1", is(Encoding::Iso8859_1)),
        ("ISO8859-15", is(Encoding::Iso8859_15)),
        ("UTF-16", Some(EncodingChoice::Utf16)),
        ("Auto", Some(EncodingChoice::Auto)),
        ("koi8-r", is(Encoding::Koi8R)),
        ("SJIS", is(Encoding::ShiftJis)),
        ("cp932", is(Encoding::ShiftJis)),
        ("gb2312", is(Encoding::Gbk)),
        ("ISO_8859-9", is(Encoding::Windows1254)),
        ("latin2", is(Encoding::Iso8859_2)),
        ("mac-roman", is(Encoding::Macintosh)),
        ("ks_c_5601-1987", is(Encoding::EucKr)),
        ("x-user-defined", None),
        ("replacement", None),
        ("hz-gb-2312", None),
        ("", None),
    ] {
        assert_eq!(EncodingChoice::parse(name), choice, "{name}");
    }
    assert_eq!(EncodingChoice::near("shift-jiss")[0], "shift_jis");
    assert!(EncodingChoice::near("klingon").is_empty());
    assert!(
        EncodingChoice::COMMON.split(", ").all(|name| EncodingChoice::names().any(|known| known == name))
    );
    for name in EncodingChoice::names() {
        assert_eq!(EncodingChoice::parse(name).map(EncodingChoice::name), Some(name));
    }
}

#[test]
fn the_likely_encoding_is_that_of_the_text() {
    let text = "Съешь ещё этих мягких французских булок, да выпей чаю.\r\n";
    let is = |likely: Option<Likely>, wanted| matches!(likely, Some(Likely::Text { choice, .. }) if choice == wanted);
    for encoding in [Encoding::Windows1251, Encoding::Utf16Le, Encoding::Utf16Be] {
        let mut bytes = Vec::new();
        encoding.encode(text, &mut bytes).unwrap();
        assert!(is(likely(&bytes, &bytes), EncodingChoice::Is(encoding)), "{encoding:?}");
        if encoding.unit() == 2 {
            let marked = [encoding.mark(), &bytes].concat();
            assert!(is(likely(&marked, &marked), EncodingChoice::Utf16), "{encoding:?}");
        }
    }
    let french = b"Un \xE9t\xE9 \xE0 la for\xEAt, o\xF9 l'on s'amusait \x80 5\n";
    assert!(is(likely(french, french), EncodingChoice::Is(Encoding::Windows1252)));
    let koi =
        b"\xF3\xDF\xC5\xDB\xD8 \xC5\xDD\xA3 \xDC\xD4\xC9\xC8 \xCD\xD1\xC7\xCB\xC9\xC8 \xC2\xD5\xCC\xCF\xCB";
    assert!(is(likely(koi, koi), EncodingChoice::Is(Encoding::Koi8U)));
    let japanese = b"\x1b$B$3$s\x1b(B a\n";
    assert!(is(likely(japanese, japanese), EncodingChoice::Is(Encoding::Iso2022Jp)));
    let colours = b"\x1b[31mred\x1b[0m caf\xE9\n";
    assert!(!is(likely(colours, colours), EncodingChoice::Is(Encoding::Iso2022Jp)));
    // Chinese in the other order of bytes.
    for (text, sure) in [("N", false), ("text", false), ("text\n", true), ("some text", true)] {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let mut bytes = Vec::new();
            encoding.encode(text, &mut bytes).unwrap();
            let Some(Likely::Text { is_sure, .. }) = likely(&bytes, &bytes) else { panic!("{text}") };
            assert_eq!(is_sure, sure, "{text}");
        }
    }
    // Damaged UTF-8, binary files, UTF-32.
    for bytes in [&"ещё \u{1}".as_bytes()[..6], b"a\0b", b"\xFF\xFE\0\0a\0\0\0"] {
        assert_eq!(likely(bytes, bytes), None, "{bytes:?}");
    }
    // Text in ASCII with a few NULs.
    for bytes in
        [&b"line one\nline two\0\nline three\n"[..], b"ine one\nline two\0\nline three\n\n", b"abc\0def\0"]
    {
        assert_eq!((bytes.len() % 2, likely(bytes, bytes)), (0, None), "{bytes:?}");
    }
    let program = b"\x7fELF\x02\x01\0\0\0\0\0\0";
    assert!(matches!(likely(program, program), Some(Likely::NoText(_))));
}

#[test]
fn escape_sequences_far_from_the_beginning_say_the_encoding() {
    let japanese = [&b"a line in ASCII\n".repeat(8 << 10)[..], b"\x1b$B$3$s\x1b(B\n"].concat();
    assert_eq!(readings(&japanese).encodings, [Encoding::Iso2022Jp]);
}

#[test]
fn characters_of_four_bytes_make_gbk_gb18030() {
    let (mut long, mut short) = (Vec::new(), Vec::new());
    let text = "简体中文文本，测试。今天天气很好，我们去学校读书。1a2\n".repeat(4);
    Encoding::Gbk.encode(&text, &mut short).unwrap();
    Encoding::Gb18030.encode(&(text + "𠀀\n"), &mut long).unwrap();
    let is = |encoding| Some(Likely::sure(encoding));
    assert_eq!((likely(&short, &short), likely(&long, &long)), (is(Encoding::Gbk), is(Encoding::Gb18030)));
    // Of a long text, all of it counts.
    let far = [short.repeat(2_000), long].concat();
    let found = EncodingChoice::Auto.of_text(&far, || Ok::<(), ()>(())).unwrap();
    assert_eq!(found.map(|text| text.encoding), Ok(Encoding::Gb18030));
}

#[test]
fn no_encoding_of_single_bytes_is_sure_for_lines_of_longer_characters() {
    let text = "// 這個功能許可使用者開啟檔案，並且設定閱讀的路徑。\n// 如果成功，回傳一個字串；否則餐廳會關閉連線。\n";
    for repeat in [1, 4, 16] {
        let mut lines = Vec::new();
        Encoding::Big5.encode(&text.repeat(repeat), &mut lines).unwrap();
        for bytes in [[&b"\x80\n"[..], &lines].concat(), [&b"\x80\n"[..], &lines, b"\x80\n"].concat()] {
            let source = likely(&bytes, &bytes).and_then(Likely::encoding).map(|(_, source)| source);
            assert_ne!(source, Some(EncodingSource::Guess), "{repeat}");
        }
    }
}

#[test]
fn a_word_of_longer_characters_that_stands_again_and_again_makes_no_encoding_of_single_bytes_sure() {
    let texts = [("x = \"な要素があり\"\n", Encoding::ShiftJis), ("x = \"共有\"\n", Encoding::Big5)];
    for (line, encoding) in texts {
        for repeat in [2, 9, 40] {
            let mut bytes = Vec::new();
            encoding.encode(&line.repeat(repeat), &mut bytes).unwrap();
            let found = likely(&bytes, &bytes).and_then(Likely::encoding);
            let is_wrong =
                found.is_some_and(|(found, source)| !found.is_multibyte() && source == EncodingSource::Guess);
            assert!(!is_wrong, "{line} {repeat}: {found:?}");
        }
    }
}

proptest! {
    #[test]
    fn lines_are_counted_in_bytes_as_in_the_text(
        text in "(a|й|\n|\r\n|\r|😀|\u{a0a}|\u{d0d}){0,30}",
        cuts in proptest::collection::vec(1..9usize, 1..4),
        first in 0..6u64,
        more in 0..6u64,
    ) {
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            let mut bytes = Vec::new();
            encoding.encode(&text, &mut bytes).unwrap();
            let mut scan = LineScan::new(encoding, 0).noting(first, first + more);
            let mut rest = &bytes[..];
            for cut in cuts.iter().cycle().take(bytes.len() + 1) {
                let (block, after) = rest.split_at((cut * encoding.unit()).min(rest.len()));
                scan.push(block);
                rest = after;
            }
            let flat = text.replace("\r\n", "\n").replace('\r', "\n");
            let lines: Vec<&str> = flat.split_terminator('\n').collect();
            prop_assert_eq!(scan.total(), lines.len() as u64);
            let mut count = CharacterCount::new(encoding);
            count.push(&bytes);
            prop_assert_eq!(count.finish(), text.chars().count() as u64);
            if (first as usize) < lines.len() {
                let place = scan.place();
                let shown = encoding.decode(&bytes[place.start as usize..place.end as usize]).unwrap();
                let end = lines.len().min((first + more) as usize + 1);
                let shown = shown.replace("\r\n", "\n").replace('\r', "\n");
                prop_assert_eq!(shown, lines[first as usize..end].join("\n"));
            }
        }
    }
}
