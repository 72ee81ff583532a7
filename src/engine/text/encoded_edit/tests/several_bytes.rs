//! Encodings whose characters take several bytes, and texts whose encoding is not given.

use super::*;

#[test]
fn a_place_never_begins_inside_a_character_whose_second_byte_is_ascii() {
    // The second bytes of these characters are backslashes, brackets, letters and digits.
    for (encoding, text, inside) in [
        (Encoding::ShiftJis, "表示ソ十", "\\"),
        (Encoding::ShiftJis, "A表ァA", "@"),
        (Encoding::Big5, "功許蓋", "\\"),
        (Encoding::Gbk, "乗朰", "\\"),
        (Encoding::Gb18030, "é€", "0"),
    ] {
        let old = encoded(encoding, text);
        let (new, done) = change(encoding, &old, &every(inside, "!", IfMissing::Keep)).unwrap();
        assert_eq!((new, done), (old, TextDone::Missed), "{encoding:?}");
    }
}

#[test]
fn bytes_that_have_two_forms_or_none_stay_as_they_are() {
    // 0x80 is another form of the euro sign, whose own is A2 E3; FF is no character.
    let old = b"a \x80 \xA2\xE3 \xFF b";
    let (new, _) = change(Encoding::Gb18030, old, &every("b", "\u{20ac}", IfMissing::Keep)).unwrap();
    assert_eq!(new, b"a \x80 \xA2\xE3 \xFF \xA2\xE3");
    let (new, done) = change(Encoding::Gb18030, old, &every("\u{20ac}", "x", IfMissing::Keep)).unwrap();
    assert_eq!(new, b"a x x \xFF b");
    assert!(matches!(done, TextDone::Replaced { count: 2, .. }));
    let error = change(Encoding::Gb18030, old, &every("\u{fffd}", "x", IfMissing::Keep)).unwrap_err();
    assert!(matches!(error, Error::InvalidArguments { .. }), "{error:?}");
}

#[test]
fn what_would_become_part_of_a_character_is_refused() {
    // A first byte without a second one.
    for (old, change_of) in [
        (&b"\x81\n0A"[..], every("\n0", "", IfMissing::Keep)),
        (b"\x81\n0A", every("\n", "A", IfMissing::Keep)),
        (b"a\x81", TextChange::Append("A".into())),
        (b"\x81\x30\x81\n", every("\n", "0", IfMissing::Keep)),
    ] {
        let error = change(Encoding::Gb18030, old, &change_of).unwrap_err();
        assert!(matches!(error, Error::Undecodable { why: Malformed::Incomplete, .. }), "{old:?}: {error:?}");
    }
    let (new, _) = change(Encoding::Gb18030, b"\x81\n0A", &every("0", "B", IfMissing::Keep)).unwrap();
    assert_eq!(new, b"\x81\nBA");
    let japanese = encoded(Encoding::Iso2022Jp, "日本");
    for change_of in [every("日", "x", IfMissing::Keep), TextChange::Append("x".into())] {
        let error = change(Encoding::Iso2022Jp, &japanese, &change_of).unwrap_err();
        assert!(matches!(error, Error::InvalidArguments { .. }), "{error:?}");
    }
    let (new, _) = change(Encoding::Iso2022Jp, &japanese, &TextChange::Whole("本".into())).unwrap();
    assert_eq!(new, encoded(Encoding::Iso2022Jp, "本"));
}

#[test]
fn texts_in_ascii_are_edited_in_any_bytes_in_which_ascii_means_ascii() {
    let prose = "Le café est fermé, l'été a été très sec à Orléans. ".repeat(9);
    let koi = encoded(Encoding::Koi8R, &"Съешь ещё этих мягких французских булок. ".repeat(9));
    let japanese = encoded(Encoding::ShiftJis, &"日本語の文章です。表示の能力を確認する。".repeat(9));
    for old in [encoded(Encoding::Windows1252, &prose), koi, japanese] {
        let old = [&old[..], b"\nx = 1\n"].concat();
        let (new, done) = change(Encoding::Utf8, &old, &every("x = 1", "y = \\", IfMissing::Fail)).unwrap();
        assert_eq!(new, [&old[..old.len() - 6], b"y = \\\n"].concat());
        assert!(matches!(done, TextDone::Replaced { count: 1, .. }));
        let (new, _) = change(Encoding::Utf8, &old, &TextChange::Append("z".into())).unwrap();
        assert_eq!(new, [&old[..], b"z"].concat());
        let other = change(Encoding::Utf8, &old, &every("x = 1", "é", IfMissing::Fail)).unwrap_err();
        assert!(matches!(other, Error::InvalidUtf8), "{other:?}");
    }
    // The backslash is half of a character.
    let japanese = encoded(Encoding::ShiftJis, &"日本語の文章です。表示の能力を確認する。".repeat(9));
    let (_, done) = change(Encoding::Utf8, &japanese, &every("\\", "/", IfMissing::Keep)).unwrap();
    assert_eq!(done, TextDone::Missed);
    // So few bytes may be anything.
    let error = change(Encoding::Utf8, b"caf\xE9tat\n", &every("tat", "x", IfMissing::Keep)).unwrap_err();
    assert!(matches!(error, Error::InvalidArguments { .. }), "{error:?}");
    let (new, _) = change(Encoding::Utf8, b"caf\xE9tat\n", &every("caf", "x", IfMissing::Keep)).unwrap();
    assert_eq!(new, b"x\xE9tat\n");
}
