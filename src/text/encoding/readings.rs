//! As which encodings a search reads bytes that are not UTF-8, so that what it does not find is not there.
//!
//! Pure over bytes.

use super::escapes::{by_all_escapes, has_escapes, has_undecoded, has_wide};
use super::guess::{but_for_few, is_mostly_utf_8, is_rather_utf_8, likely_of_all, sample_of};
use super::{Encoding, EncodingSource, Likely};

/// See the module.
#[derive(Debug, PartialEq, Eq)]
pub struct Readings {
    /// The encodings, the likeliest first.
    pub encodings: Vec<Encoding>,
    /// What the text may hold besides, if it has other characters than ASCII.
    pub doubt: ReadingDoubt,
}

/// What a text may hold that none of its readings shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadingDoubt {
    /// Nothing.
    None,
    /// Characters of another encoding than the likely one.
    OtherEncoding,
    /// Characters of sets of ISO-2022 that are not decoded.
    OtherSets,
}

/// Where it is unsure whether characters take several bytes, they are also taken as single bytes, so that no place of a text in
/// ASCII is missed. A text with escape sequences that is not all ISO-2022-JP is also taken as it is.
pub fn readings(bytes: &[u8]) -> Readings {
    if has_escapes(bytes) {
        return of_escapes(bytes);
    }
    let wrong = simdutf8::compat::from_utf8(bytes).err().map_or(0, |wrong| wrong.valid_up_to());
    let guess = likely_of_all(bytes, wrong);
    let likely = guess.and_then(Likely::encoding);
    let unless = |is_certain| if is_certain { ReadingDoubt::None } else { ReadingDoubt::OtherEncoding };
    if let Some((encoding, EncodingSource::Guess)) = likely {
        return Readings { encodings: vec![encoding], doubt: unless(encoding.is_multibyte()) };
    }
    let is_utf_8 = likely.is_none() && is_mostly_utf_8(bytes, wrong);
    let repaired = match guess {
        Some(Likely::Damaged(encoding)) => Some(encoding),
        _ if is_utf_8 => None,
        _ => but_for_few(sample_of(bytes, wrong)),
    };
    let is_marked = Encoding::of_mark(bytes) == Some(Encoding::Utf8);
    let is_rather_utf_8 = is_marked || likely.is_none() && is_rather_utf_8(bytes, wrong);
    let mut encodings: Vec<Encoding> =
        is_rather_utf_8.then_some(Encoding::Utf8).into_iter().chain(repaired).collect();
    encodings.extend(likely.map(|(encoding, _)| encoding).filter(|encoding| repaired != Some(*encoding)));
    if encodings.iter().any(|encoding| encoding.is_multibyte()) {
        encodings.push(Encoding::Windows1252);
    }
    if encodings.is_empty() {
        encodings.push(Encoding::Utf8);
    }
    Readings { encodings, doubt: unless(is_utf_8) }
}

/// The part of the bytes that is text in this encoding: behind its mark, if they have that.
pub fn unmarked(encoding: Encoding, bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(encoding.mark()).unwrap_or(bytes)
}

fn of_escapes(bytes: &[u8]) -> Readings {
    use Encoding::{Iso2022Jp, Utf8};
    let is_japanese = by_all_escapes(bytes).is_some();
    let encodings = match (is_japanese, has_wide(bytes)) {
        (true, true) => vec![Iso2022Jp],
        // What is shown looks as in a read.
        _ if !bytes.is_ascii() && simdutf8::basic::from_utf8(bytes).is_ok() => vec![Utf8, Iso2022Jp],
        _ => vec![Iso2022Jp, Utf8],
    };
    let doubt = if has_undecoded(bytes) { ReadingDoubt::OtherSets } else { ReadingDoubt::None };
    Readings { encodings, doubt }
}

/// The text of bytes that the caller says are in this encoding, with U+FFFD for wrong ones, if it may be so: they are neither UTF-8
/// nor binary, and have more other characters than wrong ones.
pub fn with_replacements(encoding: Encoding, bytes: &[u8]) -> Option<String> {
    let wrong = simdutf8::compat::from_utf8(bytes).err().map(|wrong| wrong.valid_up_to());
    let is_utf_8 = wrong.is_none_or(|wrong| is_mostly_utf_8(bytes, wrong));
    let is_wide = encoding.unit() == 2;
    let says_other =
        (is_wide && memchr::memchr(0, bytes).is_some()) || (encoding.is_stateful() && has_escapes(bytes));
    if is_utf_8 && !says_other {
        return None;
    }
    let text = encoding.decode_lossy(bytes).into_owned();
    let wrong = text.matches(char::REPLACEMENT_CHARACTER).count();
    let right = text.chars().filter(|c| is_wide || !c.is_ascii()).count() - wrong;
    (right > wrong && memchr::memchr(0, text.as_bytes()).is_none()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encoding.encode(text, &mut out).unwrap();
        out
    }

    /// Encodings, a text in each, and bytes that are no character of it.
    const TEXTS: [(Encoding, &str, &[u8]); 9] = [
        (Encoding::Gbk, "中文文本，测试一下编码。我们今天去学校读书写字，天气很好。\n", b"\xFF"),
        (Encoding::Big5, "這個功能許可使用者開啟檔案，並且設定閱讀的路徑，如果成功。\n", b"\xFF"),
        (Encoding::ShiftJis, "日本語のテキスト、表示能力を確認する。予算は未定であります。\n", b"\xFF"),
        (Encoding::EucJp, "日本語のテキスト、表示能力を確認する。予算は未定であります。\n", b"\xFF"),
        (Encoding::EucKr, "한국어 글을 시험합니다. 우리는 오늘 학교에 가서 공부합니다.\n", b"\xFF"),
        (Encoding::Windows1251, "Съешь ещё этих мягких французских булок, да выпей чаю.\n", b"\x98"),
        (
            Encoding::Windows1252,
            "Les élèves français sont déjà arrivés à l'école, où ils ont mangé.\n",
            b"\x81",
        ),
        (Encoding::Windows1253, "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και πηγαίνω στο σχολείο.\n", b"\xD2"),
        (Encoding::Windows874, "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน\n", b"\xDB"),
    ];

    #[test]
    fn a_wrong_byte_anywhere_leaves_the_reading_of_a_text() {
        for (encoding, text, wrong) in TEXTS {
            let lines = encoded(encoding, &text.repeat(6));
            let middle = encoded(encoding, &text.repeat(3)).len();
            let cut = [&lines[..], &encoded(encoding, text)[..3]].concat();
            let texts = [0, middle, lines.len()].map(|at| [&lines[..at], wrong, &lines[at..]].concat());
            for bytes in texts.into_iter().chain(encoding.is_multibyte().then_some(cut)) {
                let first = readings(&bytes).encodings[0];
                let shown = first.decode_lossy(&bytes).replace('\u{fffd}', "");
                assert!(shown.contains(&text.repeat(2)), "{encoding:?} {first:?}: {shown}");
            }
        }
    }

    #[test]
    fn half_of_a_character_before_a_line_break_leaves_the_encoding_of_the_rest() {
        for (encoding, text, _) in TEXTS.into_iter().filter(|(encoding, ..)| encoding.is_multibyte()) {
            let (line, first) = (encoded(encoding, text), text.chars().next().unwrap().to_string());
            let cut = [&line[..line.len() - 1], &encoded(encoding, &first)[..1], b"\n"].concat();
            for (before, behind) in [(0, 5), (3, 3), (5, 0), (40, 40)] {
                let bytes = [&line.repeat(before)[..], &cut, &line.repeat(behind)].concat();
                let wrong = std::str::from_utf8(&bytes).unwrap_err().valid_up_to();
                assert_eq!(
                    likely_of_all(&bytes, wrong),
                    Some(Likely::Damaged(encoding)),
                    "{before} {behind}"
                );
                assert_eq!(readings(&bytes).encodings[0], encoding, "{before} {behind}");
            }
        }
    }

    #[test]
    fn a_guess_names_the_encoding_but_for_a_wrong_byte_or_is_unsure() {
        for (encoding, text, wrong) in TEXTS {
            for times in [3, 20, 200] {
                let lines = encoded(encoding, &text.repeat(2 * times));
                for at in [0, lines.len() / 2, lines.len()] {
                    let bytes = [&lines[..at], wrong, &lines[at..]].concat();
                    let first = std::str::from_utf8(&bytes).unwrap_err().valid_up_to();
                    match likely_of_all(&bytes, first) {
                        Some(Likely::Damaged(but_for)) => assert_eq!(but_for, encoding, "{times} {at}"),
                        Some(Likely::Text { is_sure: false, .. }) => assert!(!encoding.is_multibyte()),
                        other => panic!("{encoding:?} {times} {at}: {other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn one_line_of_longer_characters_with_a_wrong_byte_is_no_sure_text_of_single_bytes() {
        for (encoding, text, wrong) in TEXTS.into_iter().filter(|(encoding, ..)| encoding.is_multibyte()) {
            let line = encoded(encoding, text);
            for at in 0..line.len() {
                let bytes = [&line[..at], wrong, &line[at..]].concat();
                let first = std::str::from_utf8(&bytes).unwrap_err().valid_up_to();
                let found = likely_of_all(&bytes, first).and_then(Likely::encoding);
                assert!(
                    !matches!(found, Some((other, EncodingSource::Guess)) if other != encoding),
                    "{encoding:?} {at}"
                );
            }
        }
    }

    #[test]
    fn a_long_text_is_read_alike_wherever_its_sample_ends() {
        for (encoding, text, wrong) in TEXTS {
            for more in 0..4 {
                let front = encoded(encoding, &format!("{}\n", "a".repeat(more)));
                let lines = encoded(encoding, &text.repeat(1_200));
                for bytes in [[&front[..], &lines].concat(), [&front[..], &lines, wrong].concat()] {
                    assert_eq!(readings(&bytes).encodings[0], encoding, "{more}");
                }
            }
        }
    }

    #[test]
    fn what_a_caller_names_is_read_with_wrong_bytes_unless_it_is_something_else() {
        for (encoding, text, wrong) in TEXTS {
            let bytes = [&encoded(encoding, text)[..], wrong].concat();
            assert_eq!(with_replacements(encoding, &bytes), Some(format!("{text}\u{fffd}")), "{encoding:?}");
            let damaged = [text.as_bytes(), b"\xFF"].concat();
            for other in [text.as_bytes(), &damaged, &[b"ab", wrong].concat(), &[b"a\0", wrong].concat()] {
                assert_eq!(with_replacements(encoding, other), None, "{encoding:?} {other:?}");
            }
        }
        let odd = [&encoded(Encoding::Utf16Le, "ещё\n")[..], b"!"].concat();
        assert_eq!(with_replacements(Encoding::Utf16Le, &odd).as_deref(), Some("ещё\n\u{fffd}"));
        assert_eq!(with_replacements(Encoding::Utf16Le, b"a\0\0\0\0\0!"), None);
    }

    #[test]
    fn a_text_with_the_mark_of_utf_8_is_such_with_wrong_bytes() {
        for rest in [&b"abc = 1\nc\xC3\xA9 text \xFF\nend\n"[..], b"abc\n\xFF\n", b"caf\xE9 \xE8 \xE0\n"] {
            let bytes = [Encoding::Utf8.mark(), rest].concat();
            assert_eq!(readings(&bytes).encodings[0], Encoding::Utf8, "{rest:x?}");
            assert_eq!(unmarked(Encoding::Utf8, &bytes), rest);
            assert_eq!(likely_of_all(&bytes, 3), None, "{rest:x?}");
        }
    }

    #[test]
    fn only_a_reading_that_shows_all_characters_is_without_doubt() {
        use Encoding::{Iso2022Jp, Utf8, Windows1252};
        let japanese = b"K\n\x1b$BF|K\\\x1b(B\n";
        let with = |more: &[u8]| [&japanese[..], more].concat();
        let roman = b"\x1b(Ja~b\x1b(B\n".to_vec();
        let macintosh = encoded(Encoding::Macintosh, &TEXTS[6].1.repeat(6));
        for (bytes, encodings, doubt) in [
            (japanese.to_vec(), &[Iso2022Jp][..], ReadingDoubt::None),
            (with(&roman), &[Iso2022Jp], ReadingDoubt::None),
            (roman, &[Iso2022Jp, Utf8], ReadingDoubt::None),
            (with(b"\xFF"), &[Iso2022Jp, Utf8], ReadingDoubt::None),
            (with("é".as_bytes()), &[Utf8, Iso2022Jp], ReadingDoubt::None),
            (with(b"\x1b$(D00\x1b(B"), &[Iso2022Jp, Utf8], ReadingDoubt::OtherSets),
            (b"\x1b$)C\n\x0e0!\x0f\n".to_vec(), &[Iso2022Jp, Utf8], ReadingDoubt::OtherSets),
            (encoded(TEXTS[0].0, &TEXTS[0].1.repeat(6)), &[Encoding::Gbk], ReadingDoubt::None),
            (encoded(Windows1252, &TEXTS[6].1.repeat(6)), &[Windows1252], ReadingDoubt::OtherEncoding),
            ([TEXTS[0].1.as_bytes(), b"\xFF"].concat(), &[Utf8], ReadingDoubt::None),
        ] {
            assert_eq!(readings(&bytes), Readings { encodings: encodings.to_vec(), doubt }, "{bytes:?}");
        }
        assert_eq!(readings(&macintosh).doubt, ReadingDoubt::OtherEncoding);
    }
}
