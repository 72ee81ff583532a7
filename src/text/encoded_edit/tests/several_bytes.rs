//! Encodings whose characters take several bytes, and texts whose encoding is not given.

use proptest::prelude::*;
use proptest::sample::Index;

use super::against_model::tokens;
use super::*;

/// The result of edits of a text that is decoded whole.
fn in_parts(choice: EncodingChoice, old: &[u8], edits: &[(&str, &str)]) -> Result<Vec<u8>> {
    in_little(usize::MAX, choice, old, edits)
}

/// The same with so many bytes of memory.
fn in_little(memory: usize, choice: EncodingChoice, old: &[u8], edits: &[(&str, &str)]) -> Result<Vec<u8>> {
    let edit = |(old_text, new_text): &(&str, &str)| TextEdit {
        old_text: (*old_text).into(),
        new_text: (*new_text).into(),
        occurrences: TextEdit::ALL,
    };
    let texts: Vec<&str> = edits.iter().flat_map(|(old_text, new_text)| [*old_text, new_text]).collect();
    let edits = TextEdits::new(edits.iter().map(edit).collect());
    let budget = Budget::new(memory);
    let limits = TextLimits { passages: 0, max_bytes: 1 << 40, memory: &budget };
    let plan = || {
        let texts = EditTexts { in_turn: &texts, others_are_ascii: true };
        let planned = plan_decoded(choice, ("f", old), texts, limits, &crate::Unstopped, |index, text| {
            Ok(text_edit::plan(index, text, &edits, limits, &crate::Unstopped)?
                .map(|planned| (planned.plan, ())))
        })?;
        Ok::<_, Error>(planned.map(|planned| (planned.plan, ())))
    };
    let (plan, ()) = InParts::OF_TEXTS.checked(old, plan)?.expect("the file does not change");
    let mut new = Vec::new();
    plan.write_to(old, &mut new).unwrap();
    Ok(new)
}

#[test]
fn a_place_that_may_be_half_of_a_character_is_refused_however_it_was_found() {
    let (unasked, auto) = (EncodingChoice::default(), EncodingChoice::Auto);
    for (choice, old, old_text, new_text) in [
        (auto, &b"'\x8e\x9e\x8d\\\x93\\ y\n"[..], "\\", "/"),
        (unasked, b"'\x8e\x9e\x8d\\\x93\\ y\n", "\\", "/"),
        (unasked, b"x \x96\\\r\nfoo\r\n", "\\\nfoo", "bar"),
        (auto, b"x \x96\\\r\nfoo\r\n", "\\\nfoo", "bar"),
        // The bytes in front of the backslash are a character of UTF-8 by chance.
        (unasked, b"'\x82\xdc\x90\xdd\x97\\ y\n", "\\", "/"),
        // A character at the end of the place may go on.
        (auto, b"caf\xE9tat\n", "caf\u{e9}", "x"),
    ] {
        let change_of = every(old_text, new_text, IfMissing::Fail);
        let error = changed(choice, old, &change_of, &Budget::new(usize::MAX)).unwrap_err();
        let is_refused = matches!(&error, Error::InvalidArguments { at, .. } if at == "old_text");
        assert!(is_refused, "{choice:?} {old:?}: {error:?}");
        let error = in_parts(choice, old, &[(old_text, new_text)]).unwrap_err();
        let is_refused = matches!(&error, Error::InvalidArguments { at, .. } if at == "old_text");
        assert!(is_refused, "{choice:?} {old:?}: {error:?}");
    }
    // One wrong byte makes no half of the characters of UTF-8.
    let old = ["\u{e9}x \u{e9}l\u{e8}ve d\u{e9}j\u{e0} ".as_bytes(), b"\xFF\n"].concat();
    let expected = [&b"\xC3\xA9y"[..], &old[3..]].concat();
    assert_eq!(change(Encoding::Utf8, &old, &every("x", "y", IfMissing::Fail)).unwrap().0, expected);
    assert_eq!(in_parts(unasked, &old, &[("x", "y")]).unwrap(), expected);
}

#[test]
fn a_long_text_is_edited_in_its_own_bytes_with_no_copy_of_it() {
    let unasked = EncodingChoice::default();
    let edited = |old: &[u8], edits: &[(&str, &str)]| in_little(1 << 20, unasked, old, edits);
    let (long, end) = (|line: &[u8]| line.repeat(80_000), b"needle end\n");
    let latin = [&long(b"caf\xE9 ok 12345\r\n")[..], end].concat();
    let marked = [Encoding::Utf8.mark(), &long("caf\u{e9} ok 12345\n".as_bytes()), b"\xFF\n", end].concat();
    for old in [latin, marked] {
        let expected = [&old[..old.len() - end.len()], b"nadel end\n"].concat();
        assert!(edited(&old, &[("needle", "nadel")]).unwrap() == expected);
        let again = edited(&old, &[("needle", "nadel"), ("nadel", "x\ny"), ("x\ny", "nadel")]).unwrap();
        assert!(again == expected);
    }
    // In UTF-8, other texts are the same bytes, too.
    let german = long("gr\u{fc}n \u{df} 12345\n".as_bytes());
    let old = [&german[..], "\u{fc}x\n".as_bytes(), b"\xFF\n"].concat();
    let expected = [&german[..], "\u{e4}y\n".as_bytes(), b"\xFF\n"].concat();
    assert!(edited(&old, &[("\u{fc}x", "\u{e4}y")]).unwrap() == expected);
    // Two wrong parts do not become a character.
    let halves = [&german[..], b"x \xC3--\xA9\n"].concat();
    assert!(edited(&halves, &[("--", "")]).is_err());
    // What takes a copy says how much there is for it.
    let wide = encoded(Encoding::Utf16Le, &"caf ok 12345\n".repeat(1 << 16));
    let choice = EncodingChoice::Is(Encoding::Utf16Le);
    let refused = in_little(1 << 20, choice, &wide, &[("ok", "OK")]);
    let Err(Error::InvalidArguments { at, problem }) = refused else { panic!("{refused:?}") };
    assert!(at == "path" && problem.contains("utf-16"), "{at}: {problem}");
}

#[test]
fn no_text_of_utf_8_is_written_into_bytes_that_hold_more_wrong_bytes_than_characters_of_it() {
    let unasked = EncodingChoice::default();
    let wrong_gbk = [&encoded(Encoding::Gbk, "// \u{6ce8}\u{91ca}\n"), &b"\xFF\n"[..]].concat();
    for (old, old_text, new_text) in [
        (&b"// Gr\x94\xE1e f\x81r die L\x81ge\nint a = 1;\n"[..], "int a", "int \u{fc}"),
        (&wrong_gbk, "\u{6ce8}\u{91ca}", "\u{8bf4}\u{660e}"),
        (&wrong_gbk, "\u{6ce8}\u{91ca}", "a"),
    ] {
        for missing in [IfMissing::Fail, IfMissing::AppendIfUnlike, IfMissing::Append] {
            let error = changed(unasked, old, &every(old_text, new_text, missing), &Budget::new(usize::MAX));
            assert!(
                matches!(error, Err(Error::InvalidUtf8 | Error::OtherEncoding { .. })),
                "{old:?}: {error:?}"
            );
        }
        let error = in_parts(unasked, old, &[(old_text, new_text)]);
        assert!(matches!(error, Err(Error::InvalidUtf8 | Error::OtherEncoding { .. })), "{old:?}: {error:?}");
        let append = TextChange::Append("\u{fc}".into());
        let error = changed(unasked, old, &append, &Budget::new(usize::MAX));
        assert!(matches!(error, Err(Error::InvalidUtf8 | Error::OtherEncoding { .. })), "{old:?}: {error:?}");
        let append = TextChange::Append("a".into());
        assert_eq!(changed(unasked, old, &append, &Budget::new(usize::MAX)).unwrap().0, [old, b"a"].concat());
    }
    let old = b"// Gr\x94\xE1e f\x81r\nint a = 1;\n";
    let expected = b"// Gr\x94\xE1e f\x81r\nint b = 1;\n";
    assert_eq!(in_parts(unasked, old, &[("int a", "int b")]).unwrap(), expected);
}

#[test]
fn escape_sequences_are_not_edited_as_ascii() {
    let old = b"\x1b$BF|K\\\x1b(B K\n";
    for choice in [EncodingChoice::default(), EncodingChoice::Auto] {
        let error = changed(choice, old, &every("F", "G", IfMissing::Fail), &Budget::new(usize::MAX));
        let errors = [error.unwrap_err(), in_parts(choice, old, &[("F", "G")]).unwrap_err()];
        for error in errors {
            let is_told = matches!(error, Error::NotInParts { edits: InParts::OF_TEXTS, line: None });
            assert!(is_told, "{error:?}");
        }
    }
    let is_allowed = |old: &[u8]| {
        InParts::OF_TEXTS.checked(old, || Ok::<_, Error>(Some((EditPlan::default(), ())))).is_ok()
    };
    assert!(!is_allowed(old) && is_allowed(b"\x1b[1mbold\n"));
}

#[test]
fn halves_of_characters_between_escape_sequences_are_left_alone_whatever_else_the_file_holds() {
    let escaped = b"\x1b$BF|K\\\x1b(B F K\x1b[1m F\n";
    for beside in [&b"\xFF\n"[..], "\u{e9}\n".as_bytes(), b"\x1b$(D00\x1b(B\n", b"\x1b$B$\x1b(B\n"] {
        for old in [[escaped, beside].concat(), [beside, escaped].concat()] {
            let unasked = EncodingChoice::default();
            for (old_text, is_half) in
                [("F|", true), ("K\\", true), ("F", true), ("(B F", true), (" F K", false), ("[1m F", false)]
            {
                let every = every(old_text, "x", IfMissing::Fail);
                let error = changed(unasked, &old, &every, &Budget::new(usize::MAX));
                assert_eq!(error.is_err(), is_half, "{old:?} {old_text}: {error:?}");
                if std::str::from_utf8(&old).is_err() {
                    let error = in_parts(unasked, &old, &[(old_text, "x")]);
                    assert_eq!(error.is_err(), is_half, "{old:?} {old_text}: {error:?}");
                }
            }
        }
    }
}

#[test]
fn halves_of_characters_between_shifts_are_left_alone() {
    let old = b"\x1b$)C\nK \x0e0!Kb\x0f K\n";
    for (old_text, is_half) in [("Kb", true), ("0!", true), (" K", false), ("C\nK", true), ("\nK", false)] {
        let edited = changed(
            EncodingChoice::default(),
            old,
            &every(old_text, "x", IfMissing::Fail),
            &Budget::new(usize::MAX),
        );
        assert_eq!(edited.is_err(), is_half, "{old_text}: {edited:?}");
        let line = u64::from(old_text != "C\nK");
        let is_told =
            |error: &Error| matches!(error, Error::NotInParts { line: Some(at), .. } if *at == line);
        assert!(edited.as_ref().err().is_none_or(is_told), "{old_text}: {edited:?}");
    }
}

#[test]
fn a_character_that_is_decoded_and_not_encoded_is_found() {
    for (encoding, old, held) in [
        (Encoding::Big5, &b"\x87\x40 a\n"[..], "\u{43f0}"),
        (Encoding::EucJp, b"\x8F\xA2\xAF a\n", "\u{2d8}"),
    ] {
        let (new, _) = change(encoding, old, &every(held, "x", IfMissing::Fail)).unwrap();
        assert_eq!(new, b"x a\n");
        for new_text in [held, "\u{1f600}"] {
            let error = change(encoding, old, &every("a", new_text, IfMissing::Fail)).unwrap_err();
            assert!(matches!(error, Error::Unencodable { .. }), "{error:?}");
        }
        let error = change(encoding, old, &every("\u{1f600}", "x", IfMissing::Fail)).unwrap_err();
        assert!(matches!(error, Error::Unencodable { .. }), "{error:?}");
    }
}

/// Encodings with characters of two bytes, many of which end in ASCII.
const TWO_BYTES: [(Encoding, &str); 4] = [
    (Encoding::ShiftJis, "\u{8868}\u{30bd}\u{80fd}\u{69cb}\u{6642}\u{8a2d}\u{65e5}\u{8a9e}\u{30a1}\u{5341}"),
    (Encoding::Big5, "\u{529f}\u{8a31}\u{84cb}\u{4e2d}\u{6587}\u{5b57}\u{4e00}"),
    (Encoding::Gbk, "\u{4e57}\u{6730}\u{9555}\u{4e2d}\u{6587}\u{6578}\u{64da}"),
    (Encoding::EucKr, "\u{b620}\u{ac02}\u{d55c}\u{ad6d}\u{c5b4}\u{b894}"),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_in_ascii_keeps_all_characters_of_a_text_whose_encoding_is_not_given(
        (encoding, old) in proptest::sample::select(TWO_BYTES.to_vec()).prop_flat_map(|(encoding, characters)| {
            let characters: Vec<String> = characters.chars().map(String::from).collect();
            let part = prop_oneof![proptest::sample::select(characters), "[ -~]", Just("\r\n".to_owned())];
            let text = proptest::collection::vec(part, 1..8);
            (Just(encoding), text.prop_map(move |parts| encoded(encoding, &parts.concat())))
        }),
        (at, len) in (any::<Index>(), 1..4_usize),
        new_text in "(|/|zz|\n)",
        choice in proptest::sample::select(vec![EncodingChoice::default(), EncodingChoice::Auto]),
    ) {
        // Part of the bytes, as ASCII; a break as clients send it.
        let ascii: Vec<usize> = (0..old.len()).filter(|at| old[*at].is_ascii()).collect();
        prop_assume!(!ascii.is_empty());
        let from = ascii[at.index(ascii.len())];
        let part = old[from..].iter().take_while(|byte| byte.is_ascii()).take(len);
        let old_text: String = part.map(|byte| char::from(*byte)).collect();
        let old_text = old_text.replace('\r', "");
        prop_assume!(!old_text.is_empty());
        let characters = |bytes: &[u8]| {
            let all = tokens(encoding, bytes).into_iter();
            all.filter(|token| !token.text.is_ascii()).map(|token| token.bytes).collect::<Vec<_>>()
        };
        let change_of = every(&old_text, &new_text, IfMissing::Keep);
        if let Ok((new, _)) = changed(choice, &old, &change_of, &Budget::new(usize::MAX)) {
            prop_assert_eq!(characters(&new), characters(&old), "{:?} {:?}", old_text, old);
        }
        if let Ok(new) = in_parts(choice, &old, &[(&old_text, &new_text)]) {
            prop_assert_eq!(characters(&new), characters(&old), "{:?} {:?}", old_text, old);
        }
    }
}

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
        assert!(matches!(error, Error::NotInParts { .. }), "{error:?}");
    }
    let (new, _) = change(Encoding::Iso2022Jp, &japanese, &TextChange::Whole("本".into())).unwrap();
    assert_eq!(new, encoded(Encoding::Iso2022Jp, "本"));
}

#[test]
fn texts_in_ascii_are_edited_in_any_bytes_in_which_ascii_means_ascii() {
    let prose = "Les élèves français sont déjà arrivés à l'école. ".repeat(9);
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
        assert!(matches!(&other, Error::OtherEncoding(other) if other.likely.is_some()), "{other:?}");
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
