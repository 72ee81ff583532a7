//! Edits of a text whose encoding is unsure: they make no character of two halves, and skip no place.

use super::*;

fn refused(old: &[u8], change_of: &TextChange) -> Option<String> {
    match change(Encoding::Utf8, old, change_of) {
        Err(Error::InvalidArguments { at, problem }) if problem.contains("pass encoding") => Some(at),
        Err(Error::Undecodable { why: Malformed::Incomplete, .. }) => Some("incomplete".into()),
        other => panic!("{old:x?} {change_of:?}: {other:?}"),
    }
}

#[test]
fn bytes_that_an_edit_puts_beside_each_other_become_no_character() {
    for (old, old_text, new_text) in [
        (&b"\xD6 ab\n"[..], " ab", "ab"),
        (b"\x95 b\n", " b", "\\b"),
        (b"\xC3 \xA9\n", " ", ""),
        (b"\xD6 \xD0\n", " ", ""),
        (b"\x81 0\n", " ", ""),
        (b"\xD6 . b\n", " . ", ""),
    ] {
        assert!(refused(old, &every(old_text, new_text, IfMissing::Fail)).is_some());
    }
    // A blank stays between them.
    for (old, old_text, new_text, expected) in [
        (&b"\xD6 ab\n"[..], "ab", "c", &b"\xD6 c\n"[..]),
        (b"\xD6 ab\n", " ab", " c", b"\xD6 c\n"),
        (b"\xD6 ab\n", " ab", "", b"\xD6\n"),
    ] {
        let (new, _) = change(Encoding::Utf8, old, &every(old_text, new_text, IfMissing::Fail)).unwrap();
        assert_eq!(new, expected, "{old:x?}");
    }
}

#[test]
fn nothing_is_added_to_half_of_a_character_at_the_end() {
    for (encoding, text) in [
        (Encoding::Gbk, "中文文本，测试一下编码。我们今天去学校读书写字，天气很好。"),
        (Encoding::Big5, "這個功能許可使用者開啟檔案，並且設定閱讀的路徑，如果成功。"),
        (Encoding::ShiftJis, "日本語のテキスト、表示能力を確認する。予算は未定であります。"),
        (Encoding::EucJp, "日本語のテキスト、表示能力を確認する。予算は未定であります。"),
        (Encoding::EucKr, "한국어 글을 시험합니다. 우리는 오늘 학교에 가서 공부합니다."),
    ] {
        for times in [1, 9] {
            let whole = encoded(encoding, &format!("{}\n", text).repeat(times));
            let cut = [&whole[..], &encoded(encoding, text)[..1]].concat();
            for change_of in [TextChange::Append("bar".into()), every("zzz", "bar", IfMissing::Append)] {
                assert!(refused(&cut, &change_of).is_some());
            }
            let (new, _) = change(Encoding::Utf8, &cut, &TextChange::Append("\nbar".into())).unwrap();
            assert_eq!(new, [&cut[..], b"\nbar"].concat());
        }
    }
}

#[test]
fn a_place_that_may_be_half_of_a_character_is_not_skipped() {
    let old = b"\xC5\xCC\xDB\xCC\xD3A A\n";
    assert_eq!(refused(old, &every("A", "B", IfMissing::Keep)).as_deref(), Some("old_text"));
    assert_eq!(refused(old, &every("A A", "B", IfMissing::Keep)).as_deref(), Some("old_text"));
    let missed = every("A", "B", IfMissing::Append);
    assert_eq!(refused(b"\xC5\xCC\xDB\xCC\xD3A\n", &missed).as_deref(), Some("old_text"));
    let (new, _) = change(Encoding::Utf8, old, &every(" A", " B", IfMissing::Keep)).unwrap();
    assert_eq!(new, b"\xC5\xCC\xDB\xCC\xD3A B\n");
}
