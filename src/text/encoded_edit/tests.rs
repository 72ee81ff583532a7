//! Changes in every encoding: places, costs, and what is refused.

use super::*;
use crate::budget::Budget;
use crate::text_edit::Found;

mod against_model;
mod several_bytes;
mod unsure;

/// What a change makes of a file, and what it says.
fn changed(
    choice: EncodingChoice,
    old: &[u8],
    change: &TextChange,
    budget: &Budget,
) -> Result<(Vec<u8>, TextDone)> {
    let index = LineIndex::build(old).unwrap_or_else(|_| LineIndex::build(b"").unwrap());
    let limits = TextLimits { passages: 0, max_bytes: 1 << 40, memory: budget };
    let scope = ChangeScope { name: "f", max_diff: 1 << 20, limits };
    let plan = || {
        let planned = plan(Some(choice), (&index, old), change, scope, &crate::Unstopped)?;
        Ok::<_, Error>(planned.map(|planned| (planned.plan, planned.done)))
    };
    let planned = if change.is_whole() { plan()? } else { InParts::OF_TEXTS.checked(old, plan)? };
    let (plan, done) = planned.expect("the file does not change");
    let mut new = Vec::new();
    plan.write_to(old, &mut new).unwrap();
    Ok((new, done))
}

fn change(encoding: Encoding, old: &[u8], change: &TextChange) -> Result<(Vec<u8>, TextDone)> {
    changed(EncodingChoice::Is(encoding), old, change, &Budget::new(usize::MAX))
}

fn every(old_text: &str, new_text: &str, missing: IfMissing) -> TextChange {
    TextChange::every(old_text.into(), new_text.into(), missing)
}

fn encoded(encoding: Encoding, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    encoding.encode(text, &mut out).unwrap();
    out
}

#[test]
fn a_text_that_lies_across_units_is_no_place_however_often_it_does() {
    // In UTF-16 the bytes of the old_text are in the file at every odd place, and at no even one.
    let old = encoded(Encoding::Utf16Le, &"\u{4241}".repeat(400_000));
    let needle = "\u{4142}".repeat(50_000);
    let (new, done) = change(Encoding::Utf16Le, &old, &every(&needle, "", IfMissing::Keep)).unwrap();
    assert!(new == old && done == TextDone::Missed);
    let old = [&old[..], &encoded(Encoding::Utf16Le, &needle)].concat();
    let (new, done) = change(Encoding::Utf16Le, &old, &every(&needle, "", IfMissing::Keep)).unwrap();
    assert!(new.len() == 800_000 && matches!(done, TextDone::Replaced { count: 1, .. }));
}

#[test]
fn breaks_and_nothing_else_are_found_at_a_cost_that_does_not_depend_on_them() {
    let old = encoded(Encoding::Windows1251, &"\r\n".repeat(500_000));
    let (new, done) =
        change(Encoding::Windows1251, &old, &every(&"\n".repeat(1_000), "\n", IfMissing::Keep)).unwrap();
    assert_eq!((new.len(), matches!(done, TextDone::Replaced { count: 500, .. })), (1_000, true));
    let mixed = encoded(Encoding::Windows1251, &"\r\n\n".repeat(200_000));
    let needle = "\n".repeat(300_001);
    let (_, done) = change(Encoding::Windows1251, &mixed, &every(&needle, "", IfMissing::Keep)).unwrap();
    assert!(matches!(done, TextDone::Replaced { count: 1, .. }));
}

#[test]
fn a_million_places_take_a_few_bytes_each_and_more_are_refused() {
    let old = encoded(Encoding::Windows1251, &"я ".repeat(1_000_000));
    let removal = every("я", "", IfMissing::Keep);
    let choice = EncodingChoice::Is(Encoding::Windows1251);
    let (new, done) = changed(choice, &old, &removal, &Budget::new(8 << 20)).unwrap();
    assert!(new == " ".repeat(1_000_000).as_bytes());
    let TextDone::Replaced { count, lines } = done else { panic!("{done:?}") };
    assert_eq!((count, lines), (1_000_000, vec![0..=0; 20]));
    assert!(matches!(changed(choice, &old, &removal, &Budget::new(1 << 20)), Err(Error::Busy)));
    let more = [&old[..], &old[..2]].concat();
    assert!(matches!(change(Encoding::Windows1251, &more, &removal), Err(Error::InvalidArguments { .. })));
}

#[test]
fn an_old_text_that_is_not_there_is_explained_in_the_decoded_text() {
    let old = [&encoded(Encoding::Windows1251, "раз\nдва три\n")[..], b"\x98\n"].concat();
    let error = change(Encoding::Windows1251, &old, &every("два  три", "x", IfMissing::Fail)).unwrap_err();
    let Error::Unmatched(unmatched) = error else { panic!("{error:?}") };
    let Found::Nothing(diagnosis) = unmatched.found else { panic!("{unmatched:?}") };
    assert_eq!((diagnosis.similar[0].passage.line, &*diagnosis.similar[0].exact), (1, "два три"));
    // What is no character is shown as U+FFFD, and is not found as such.
    let half = b"a\0\x3D\xD8";
    let error = change(Encoding::Utf16Le, half, &every("\u{fffd}", "x", IfMissing::Fail)).unwrap_err();
    assert!(matches!(error, Error::InvalidArguments { .. }), "{error:?}");
}

#[test]
fn what_would_be_written_wrong_is_told_by_line_column_and_value() {
    let replaced = |old: &[u8], new: &str| {
        format!("{:?}", change(Encoding::Windows1251, old, &every("a", new, IfMissing::Append)).unwrap_err())
    };
    let lacking = "Unencodable { encoding: Windows1251, lacking: Unencodable { line: 1, column: 2, character: '漢' }, in_part: true }";
    assert_eq!(replaced(b"a", "б\nx漢"), lacking);
    assert_eq!(replaced(b"b", "б\nx漢"), lacking);
    for missing in [IfMissing::Append, IfMissing::Keep, IfMissing::Fail] {
        let sought = change(Encoding::Windows1251, b"a", &every("б\nx漢", "a", missing)).unwrap_err();
        assert_eq!(format!("{sought:?}"), lacking);
    }
    let append = TextChange::Append("x".into());
    let odd = change(Encoding::Utf16Be, b"\0a\0\n\0b\0", &append).unwrap_err();
    let Error::Undecodable { line: 1, column: 2, bytes, why: Malformed::Incomplete, .. } = odd else {
        panic!("{odd:?}")
    };
    assert_eq!(bytes, b"\0");
    let binary = change(Encoding::Utf16Be, b"\0a\0\0", &append).unwrap_err();
    assert!(matches!(binary, Error::NotText { .. }), "{binary:?}");
}

#[test]
fn the_first_text_of_utf_16_whose_order_is_not_given_gets_a_mark() {
    let first = |old: &[u8], change: &TextChange| {
        changed(EncodingChoice::Utf16, old, change, &Budget::new(usize::MAX)).unwrap().0
    };
    for change in [
        every("x", "a", IfMissing::Append),
        every("", "a", IfMissing::Append),
        TextChange::Append("a".into()),
        TextChange::Whole("a".into()),
    ] {
        assert_eq!(first(b"", &change), b"\xFF\xFEa\0", "{change:?}");
        assert_eq!(first(b"\xFE\xFF", &change), b"\xFE\xFF\0a", "{change:?}");
    }
    assert_eq!(first(b"b\0", &TextChange::Append("a".into())), b"b\0a\0");
}

#[test]
fn a_miss_is_added_only_if_it_is_one_line_and_nothing_is_like_it() {
    for encoding in [Encoding::Utf8, Encoding::Windows1251] {
        let missed = |old: &str, old_text: &str, new_text: &str| {
            let old = encoded(encoding, old);
            change(encoding, &old, &every(old_text, new_text, IfMissing::AppendIfUnlike))
        };
        let (new, done) = missed("раз\nдва три\n", "qwerty 12345\n", "x").unwrap();
        assert_eq!(new, encoded(encoding, "раз\nдва три\nx"));
        assert_eq!(done, TextDone::Appended { line: 2, goes_on: false });
        for (old_text, new_text) in [
            ("два  три", "x"),
            ("qwerty\n12345", "x"),
            ("qwerty\r12345", "x"),
            // Several lines that are blank are several lines.
            ("\n\n\n", "x"),
        ] {
            let error = missed("раз\nдва три\n", old_text, new_text).unwrap_err();
            assert!(matches!(error, Error::Unmatched(_)), "{error:?}");
        }
        let (new, done) = missed("раз\n", "раз", "два").unwrap();
        assert_eq!(
            (new, matches!(done, TextDone::Replaced { count: 1, .. })),
            (encoded(encoding, "два\n"), true)
        );
    }
}

#[test]
fn a_line_sent_with_more_around_it_is_like_it_however_much_the_text_has_of_its_parts() {
    // Each block holds more of the old texts than the line does, but nowhere together.
    let far = "x".repeat(30);
    let noise = |nth: usize| {
        format!("# {}the class_{far} _CallL{far}List(li{far}ist):{far}e clas\n", "x".repeat(nth % 4))
    };
    let noise = |from: usize| (from..from + 300).map(noise).collect::<String>();
    let old = [noise(0), "class _CallList(list):\n".into(), noise(300)].concat();
    for encoding in [Encoding::Utf8, Encoding::Utf16Le] {
        let old = encoded(encoding, &old);
        for old_text in [
            "the class _CallList(list):",
            "class _CallList(list): extra",
            "class _CallList(list):;;",
            "a class _CallList(list): x",
        ] {
            let changed = change(encoding, &old, &every(old_text, "x", IfMissing::AppendIfUnlike));
            assert!(matches!(changed, Err(Error::Unmatched(_))), "{encoding:?} {old_text:?}");
        }
    }
}

#[test]
fn a_star_means_everything_only_where_the_text_has_none() {
    for encoding in Encoding::ALL.iter().copied() {
        let everything =
            |old: &str| change(encoding, &encoded(encoding, old), &TextChange::Everything("new".into()));
        assert_eq!(everything("old\n").unwrap().0, encoded(encoding, "new"));
        assert_eq!(everything("").unwrap().0, encoded(encoding, "new"));
        let Error::InvalidArguments { at, problem } = everything("* one\n* two\n").unwrap_err() else {
            panic!()
        };
        assert!(
            at == "old_text" && problem.contains("2 times") && problem.contains("expected content"),
            "{problem}"
        );
    }
}
