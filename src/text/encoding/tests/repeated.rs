//! Short words of characters of several bytes that stand again and again.

use super::samples::LANGUAGES;
use super::*;

/// The encodings whose characters take several bytes, with a text for each.
fn pairs() -> Vec<(Encoding, &'static str)> {
    let of = |(names, text): &(&'static [&'static str], &'static str)| {
        let encodings = names.iter().filter_map(|name| match EncodingChoice::parse(name) {
            Some(EncodingChoice::Is(encoding)) if encoding.is_multibyte() && !encoding.is_stateful() => {
                Some(encoding)
            }
            _ => None,
        });
        let text = *text;
        encodings.map(move |encoding| (encoding, text)).collect::<Vec<_>>()
    };
    LANGUAGES.iter().flat_map(of).collect()
}

/// Some characters of a text that are neither blanks nor punctuation, from any one on.
fn word(text: &str, from: usize, len: usize) -> String {
    let letters: Vec<char> = text.chars().filter(|c| c.is_alphabetic()).collect();
    letters.iter().cycle().skip(from % letters.len()).take(len).collect()
}

/// Whether a guess of these bytes is unsure, or it reads them as `text`.
fn is_unsure_or_right(bytes: &[u8], text: &str) -> bool {
    match likely(bytes, bytes).and_then(Likely::encoding) {
        Some((encoding, EncodingSource::Guess)) => encoding.decode(bytes).is_ok_and(|read| read == text),
        _ => true,
    }
}

#[test]
fn each_encoding_of_several_bytes_has_a_text() {
    use Encoding::{Big5, EucJp, EucKr, Gb18030, Gbk, ShiftJis};
    let pairs = pairs();
    for encoding in [Gbk, Gb18030, Big5, ShiftJis, EucJp, EucKr] {
        assert!(pairs.iter().any(|(of, _)| *of == encoding), "{encoding:?}");
    }
}

#[test]
fn a_word_that_is_one_in_another_encoding_of_several_bytes_is_no_sure_guess_and_no_proof_of_absence() {
    use Encoding::{Big5, EucJp, EucKr, Gbk};
    for (encoding, word) in [
        (EucJp, "表示"),
        (EucJp, "削除"),
        (EucJp, "設定"),
        (Big5, "不支援"),
        (Gbk, "电脑"),
        (Gbk, "错误"),
        (EucKr, "공유"),
        (EucKr, "오류"),
    ] {
        for line in [format!("x = \"{word}\"\n"), format!("{word} "), format!("{word}\n")] {
            for repeat in [4, 10, 40, 400] {
                let mut bytes = Vec::new();
                encoding.encode(&line.repeat(repeat), &mut bytes).unwrap();
                assert!(is_unsure_or_right(&bytes, &line.repeat(repeat)), "{encoding:?} {line:?} {repeat}");
                assert_eq!(
                    readings(&bytes).doubt,
                    ReadingDoubt::OtherEncoding,
                    "{encoding:?} {line:?} {repeat}"
                );
            }
        }
    }
}

#[test]
fn one_word_of_shift_jis_whose_bytes_are_rare_in_the_other_encodings_is_sure() {
    for line in ["// 表示ソース x = 1\n", "// 表示ソース\npath = \"a\\b\";\n"] {
        let mut bytes = Vec::new();
        Encoding::ShiftJis.encode(&line.repeat(12), &mut bytes).unwrap();
        assert_eq!(likely(&bytes, &bytes), Some(Likely::sure(Encoding::ShiftJis)), "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_sure_guess_of_short_words_that_stand_again_and_again_is_never_wrong(
        which in any::<proptest::sample::Index>(),
        words in proptest::collection::vec((any::<u16>(), 1..7usize), 1..5),
        repeat in 1..60usize,
        around in proptest::sample::select(vec![("x = \"", "\"\n"), ("", " "), ("", "\n"), ("// ", ", abc "), ("", "")]),
    ) {
        let pairs = pairs();
        let (encoding, sample) = *which.get(&pairs);
        let has = |c: &char| encoding.encode(&c.to_string(), &mut Vec::new()).is_ok();
        let line: String = words
            .iter()
            .map(|(from, len)| [around.0, &word(sample, usize::from(*from), *len), around.1].concat())
            .collect();
        let text: String = (line + "\n").repeat(repeat).chars().filter(has).collect();
        let mut bytes = Vec::new();
        encoding.encode(&text, &mut bytes).unwrap();
        prop_assert!(is_unsure_or_right(&bytes, &text), "{:?} {:?} {:?}", encoding, text, likely(&bytes, &bytes));
    }
}

#[test]
fn half_width_letters_of_euc_jp_are_not_taken_for_shift_jis_without_doubt() {
    for text in ["ｴﾗｰﾕｰｻﾞｰ\n", "ﾃﾞｰﾀﾍﾞｰｽ ﾌｧｲﾙ ｻｰﾊﾞｰ ﾈｯﾄﾜｰｸ ｱﾌﾟﾘｹｰｼｮﾝ\n"]
    {
        for repeat in [1, 3, 40] {
            let text = text.repeat(repeat);
            let mut bytes = Vec::new();
            Encoding::EucJp.encode(&text, &mut bytes).unwrap();
            assert!(is_unsure_or_right(&bytes, &text), "{text:.40}");
        }
    }
}

#[test]
fn a_text_of_an_old_mac_is_not_taken_for_one_of_windows_without_doubt() {
    for (encoding, text) in [
        (Encoding::MacCyrillic, "слово время земля хорошая слово книга вода работа друг день\nx=1\n"),
        (Encoding::Macintosh, "für müssen können über fünf zwölf schön Bücher Straße\n"),
        (Encoding::Macintosh, "été déjà élève où français naïve Noël tête forêt\n"),
    ] {
        for repeat in [2, 6, 40] {
            let text = text.repeat(repeat);
            let mut bytes = Vec::new();
            encoding.encode(&text, &mut bytes).unwrap();
            assert!(is_unsure_or_right(&bytes, &text), "{text:.40}");
        }
    }
}
