//! Whether bytes that are not UTF-8 are so but for wrong ones, or text in another encoding that holds some characters of UTF-8 by chance.
//!
//! Pure over bytes. What is put into a text has to be in its encoding: ASCII is in all of them, and shows nothing.

use super::guess::{BY_CHANCE, detected, sample_of};
use super::rivals::{is_text, plausible};
use super::{Encoding, Likely};
use crate::encoding::EncodingChoice;

/// Bytes of a word from which on it is no character of UTF-8 that looks like letters of Thai.
const THAI_WORD: usize = 5;

/// Whether a text whose first wrong bytes are at `wrong` is UTF-8 around them: it has more real characters of it than wrong stretches, and
/// is likely in no other encoding.
pub(crate) fn is_really_utf_8(bytes: &[u8], wrong: usize) -> bool {
    let sample = sample_of(bytes, wrong);
    let (real, wrong) = characters(sample);
    real > BY_CHANCE * wrong || real > wrong && other(sample).is_none()
}

/// What such a text likely is otherwise.
pub(crate) fn other_than_utf_8(bytes: &[u8], wrong: usize) -> Option<Likely> {
    let choice = EncodingChoice::Is(other(sample_of(bytes, wrong))?);
    Some(Likely::Text { choice, is_sure: false })
}

/// Numbers of the characters that are hardly there by chance, and of the wrong stretches. Two bytes of other encodings are a character of
/// UTF-8 easily, but not all those of a word.
fn characters(sample: &[u8]) -> (usize, usize) {
    let (mut real, mut wrong) = (0, 0);
    for word in words(sample) {
        let is_valid = std::str::from_utf8(word).is_ok();
        for chunk in word.utf8_chunks() {
            real += chunk.valid().chars().filter(|char| is_valid || char.len_utf8() > 2).count();
            wrong += usize::from(!chunk.invalid().is_empty());
        }
    }
    (real, wrong)
}

/// The stretches that are not ASCII.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii).filter(|word| !word.is_empty())
}

/// The encoding that reads all of a sample as likely text.
fn other(sample: &[u8]) -> Option<Encoding> {
    let by_detector = || detected(sample).filter(|found| found.is_multibyte() && is_text(*found, sample));
    let thai = || is_thai(sample).then_some(Encoding::Windows874);
    plausible(sample).or_else(thai).or_else(by_detector)
}

/// Whether all words are of letters of Thai, and none begins with one that stands above or below another.
fn is_thai(sample: &[u8]) -> bool {
    let is_mark = |byte: u8| matches!(byte, 0xD1 | 0xD4..=0xDA | 0xE7..=0xEE);
    let begins = |word: &[u8]| word.first().is_some_and(|byte| !is_mark(*byte));
    let is_long = words(sample).any(|word| word.len() >= THAI_WORD);
    is_long && words(sample).all(begins) && is_text(Encoding::Windows874, sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_real(bytes: &[u8]) -> bool {
        let wrong = std::str::from_utf8(bytes).unwrap_err().valid_up_to();
        is_really_utf_8(bytes, wrong)
    }

    #[test]
    fn a_short_text_in_another_encoding_is_no_damaged_utf_8() {
        let code =
            |text: &str| format!("/* {text} */\nint main(void) {{\n    puts(\"ok\");\n    return 0;\n}}\n");
        for (encoding, texts) in [
            (Encoding::EucJp, ["パスワードリセットの確認", "この関数は値を返す", "設定を読み込む"]),
            (Encoding::ShiftJis, ["パスワードリセットの確認", "この関数は値を返す", "設定を読み込む"]),
            (Encoding::Gbk, ["这个函数返回值", "读取配置文件", "密码重置确认"]),
            (Encoding::Big5, ["這個函式傳回值", "讀取設定檔", "密碼重設確認"]),
            (Encoding::EucKr, ["이 함수는 값을 돌려준다", "설정을 읽는다", "암호 초기화 확인"]),
            (Encoding::Windows874, ["ยืนยันการตั้งรหัสผ่านใหม่", "อ่านการตั้งค่า", "คืนค่าของฟังก์ชัน"]),
        ] {
            for text in texts {
                let mut bytes = Vec::new();
                encoding.encode(&code(text), &mut bytes).unwrap();
                assert!(!is_real(&bytes), "{encoding:?} {text}");
            }
        }
    }

    #[test]
    fn utf_8_with_a_wrong_byte_is_such() {
        for text in ["grün und schön, süß\n", "日本語のテキスト\n", "Съешь ещё этих булок\n", "한국어 글\n"]
        {
            assert!(is_real(&[text.as_bytes(), b"x \xFF\n"].concat()), "{text}");
            assert!(is_real(&[b"x \xE9 y\n", text.as_bytes()].concat()), "{text}");
        }
        assert!(!is_real(b"caf\xE9\n"));
    }
}
