//! Changes in every encoding against a naive reading: decode, edit, encode.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::engine::Budget;
use crate::engine::text::text_edit::Found;

mod several_bytes;

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
    let control = Control::new(Duration::from_secs(60));
    let planned =
        plan(Some(choice), (&index, old), change, scope, &control)?.expect("the file does not change");
    let mut new = Vec::new();
    planned.plan.write_to(old, &mut new).unwrap();
    Ok((new, planned.done))
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

/// A character, a whole `\r\n`, or half of a pair, with its bytes.
#[derive(Debug, Clone, PartialEq)]
struct Token {
    text: String,
    half: Option<u16>,
    bytes: Vec<u8>,
}

fn tokens(encoding: Encoding, bytes: &[u8]) -> Vec<Token> {
    let mut all: Vec<Token> = Vec::new();
    let mut put = |text: String, half: Option<u16>, bytes: Vec<u8>| match all.last_mut() {
        Some(last) if last.text == "\r" && text == "\n" => {
            last.text.push('\n');
            last.bytes.extend(bytes);
        }
        _ => all.push(Token { text, half, bytes }),
    };
    match encoding {
        Encoding::Utf8 => std::str::from_utf8(bytes)
            .unwrap()
            .chars()
            .for_each(|c| put(c.into(), None, c.to_string().into_bytes())),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let is_le = encoding == Encoding::Utf16Le;
            let order =
                |unit: &[u8; 2]| if is_le { u16::from_le_bytes(*unit) } else { u16::from_be_bytes(*unit) };
            let (units, rest) = bytes.as_chunks::<2>();
            for unit in char::decode_utf16(units.iter().map(order)) {
                match unit {
                    Ok(c) => put(c.into(), None, encoded(encoding, &c.to_string())),
                    Err(half) => {
                        let half = half.unpaired_surrogate();
                        let bytes = if is_le { half.to_le_bytes() } else { half.to_be_bytes() };
                        put("\u{fffd}".into(), Some(half), bytes.to_vec());
                    }
                }
            }
            if !rest.is_empty() {
                put("\u{fffd}".into(), None, rest.to_vec());
            }
        }
        encoding if encoding.is_multibyte() => {
            let mut rest = bytes;
            while !rest.is_empty() {
                let decoded = |len: usize| encoding.decode(rest.get(..len)?).ok();
                let (len, text) = (1..=4)
                    .find_map(|len| Some((len, decoded(len).filter(|text| text.chars().count() == 1)?)))
                    .unwrap_or((1, "\u{fffd}".into()));
                put(text, None, rest[..len].to_vec());
                rest = &rest[len..];
            }
        }
        _ => bytes.iter().for_each(|byte| put(encoding.decode_lossy(&[*byte]).into(), None, vec![*byte])),
    }
    all
}

/// Whether a token of the text is what one of the old_text stands for.
fn fits(wanted: &str, found: &Token, any_break: bool) -> bool {
    let is_break = |text: &str| matches!(text, "\n" | "\r" | "\r\n");
    found.half.is_none()
        && (wanted == found.text || any_break && matches!(wanted, "\n" | "\r\n") && is_break(&found.text))
}

/// The first tokens of the places of an old_text, and its length in tokens.
fn naive_places(all: &[Token], old_text: &str) -> (Vec<usize>, usize) {
    let needle: Vec<String> =
        tokens(Encoding::Utf8, old_text.as_bytes()).into_iter().map(|one| one.text).collect();
    let find = |any_break| {
        let (mut found, mut at) = (Vec::new(), 0);
        while at + needle.len() <= all.len() {
            let is_here = needle.iter().zip(&all[at..]).all(|(wanted, found)| fits(wanted, found, any_break));
            if is_here {
                found.push(at);
            }
            at += if is_here { needle.len() } else { 1 };
        }
        found
    };
    let as_given = find(false);
    (if as_given.is_empty() && old_text.contains('\n') { find(true) } else { as_given }, needle.len())
}

/// The new text as it is written: with the file's own breaks, if they are of one kind.
fn naive_new(all: &[Token], new_text: &str) -> String {
    let mut kinds: Vec<&str> =
        all.iter().map(|token| &*token.text).filter(|text| text.ends_with(['\n', '\r'])).collect();
    kinds.sort_unstable();
    kinds.dedup();
    match kinds[..] {
        [only] => new_text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', only),
        _ => new_text.into(),
    }
}

/// The bytes behind the mark after every place is replaced. None: it would make a character of two halves.
fn naive(encoding: Encoding, all: &[Token], old_text: &str, new_text: &str) -> Option<(Vec<u8>, u64)> {
    let (places, len) = naive_places(all, old_text);
    let new = encoded(encoding, &naive_new(all, new_text));
    let (mut out, mut last, mut at) = (Vec::new(), None, 0);
    while at < all.len() {
        if places.contains(&at) {
            out.extend_from_slice(&new);
            last = if new.is_empty() { last } else { None };
            at += len;
            continue;
        }
        if let (Some(0xD800..=0xDBFF), Some(0xDC00..)) = (last, all[at].half) {
            return None;
        }
        out.extend_from_slice(&all[at].bytes);
        last = all[at].half;
        at += 1;
    }
    Some((out, places.len() as u64))
}

/// Bytes of a file: text with some that is no character.
fn file(encoding: Encoding) -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        8 => proptest::sample::select(vec![
            "a", "b", "ab", "é", "я", "\n", "\r\n", "\r", "😀", "\u{4141}", "€", "表", "ソ", "中", "한", "功", "0",
        ])
            .prop_map(move |text| {
                let mut out = Vec::new();
                let _ = encoding.encode(text, &mut out);
                out
            }),
        1 => proptest::sample::select(match encoding {
            Encoding::Utf8 => vec![&b"x"[..]],
            Encoding::Utf16Le => vec![&b"\x00\xD8"[..], b"\x00\xDC", b"\x41\x41", b"\x0A\x0A"],
            Encoding::Utf16Be => vec![&b"\xD8\x00"[..], b"\xDC\x00", b"\x41\x41", b"\x0A\x0A"],
            Encoding::Windows1251 => vec![&b"\x98"[..]],
            encoding if encoding.is_multibyte() => vec![&b"\xFF"[..]],
            _ => vec![&b"\x81"[..]],
        }).prop_map(<[u8]>::to_vec),
    ];
    let mark = proptest::sample::select(vec![&b""[..], encoding.mark()]);
    let odd = proptest::sample::select(vec![&b""[..], if encoding.unit() == 2 { b"a" } else { b"" }]);
    (mark, proptest::collection::vec(part, 0..24), odd)
        .prop_map(|(mark, parts, odd)| [mark, &parts.concat(), odd].concat())
}

/// All encodings that are edited in parts.
fn edited() -> Vec<Encoding> {
    Encoding::ALL.iter().copied().filter(|encoding| !encoding.is_stateful()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_place_is_replaced_as_in_the_decoded_text_and_no_other_byte_changes(
        (encoding, old) in proptest::sample::select(edited()).prop_flat_map(|one| (Just(one), file(one))),
        old_text in "(a|b|ab|é|я|\n|\n|\r\n|\r|😀|\u{4141}|表|ソ|中|한|功|0){1,3}",
        new_text in "(|a|xy\n|\r\n|b\r)",
    ) {
        let start = if old.starts_with(encoding.mark()) { encoding.mark().len() } else { 0 };
        let (mark, body) = old.split_at(start);
        let all = tokens(encoding, body);
        let result = change(encoding, &old, &every(&old_text, &new_text, IfMissing::Keep));
        if let Err(lacking) = encoding.encode(&old_text, &mut Vec::new()) {
            let is_told = matches!(result, Err(Error::Unencodable { lacking: told, .. }) if told == lacking);
            prop_assert!(is_told);
            return Ok(());
        }
        let expected = naive(encoding, &all, &old_text, &new_text);
        match (expected, result) {
            (None, Err(Error::Undecodable { why: Malformed::LoneSurrogate, .. })) => {}
            (Some((expected, count)), Ok((new, done))) => {
                prop_assert_eq!(new, [mark, &expected[..]].concat());
                match done {
                    TextDone::Replaced { count: found, lines } => {
                        prop_assert_eq!(found, count);
                        prop_assert_eq!(lines, naive_lines(&all, &old_text));
                    }
                    TextDone::Missed => prop_assert_eq!(count, 0),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            (expected, result) => prop_assert!(false, "{:?} {:?}", expected, result),
        }
    }

    #[test]
    fn a_text_is_added_at_the_end_as_it_is(
        (encoding, old) in proptest::sample::select(edited()).prop_flat_map(|one| (Just(one), file(one))),
        new_text in "(a|\n|é){0,4}",
    ) {
        let Ok(new) = ({ let mut out = Vec::new(); encoding.encode(&new_text, &mut out).map(|()| out) }) else {
            let result = change(encoding, b"a\0", &TextChange::Append(new_text));
            let is_refused = matches!(result, Err(Error::Unencodable { .. } | Error::NotText { .. }));
            prop_assert!(is_refused);
            return Ok(());
        };
        let start = if old.starts_with(encoding.mark()) { encoding.mark().len() } else { 0 };
        let all = tokens(encoding, &old[start..]);
        let is_odd = (old.len() - start) % encoding.unit() > 0;
        let is_half = all.last().is_some_and(|last| matches!(last.half, Some(..=0xDBFF)));
        match change(encoding, &old, &TextChange::Append(new_text)) {
            Err(Error::Undecodable { why, .. }) => {
                prop_assert!(is_odd && why == Malformed::Incomplete || is_half && why == Malformed::LoneSurrogate);
            }
            Ok((appended, done)) => {
                prop_assert!(!is_odd && !is_half);
                prop_assert_eq!(appended, [&old[..], &new].concat());
                let breaks = all.iter().filter(|token| token.text.ends_with(['\n', '\r'])).count() as u64;
                let goes_on = all.last().is_some_and(|last| !last.text.ends_with(['\n', '\r']));
                prop_assert_eq!(done, TextDone::Appended { line: breaks, goes_on });
            }
            Err(error) => prop_assert!(false, "{:?}", error),
        }
    }

    #[test]
    fn a_whole_text_is_what_was_given_behind_the_mark(
        (encoding, old) in proptest::sample::select(edited()).prop_flat_map(|one| (Just(one), file(one))),
        content in "(a|b\n|\r\n){0,6}",
    ) {
        let mark = Encoding::of_mark(&old).filter(|marked| marked.unit() == encoding.unit());
        let mark = if mark.is_some() { encoding.mark() } else { b"" };
        // Bytes that are text in UTF-8 are that, also if they may be UTF-16.
        let is_utf_8 = encoding.unit() == 2 && !old.contains(&0) && std::str::from_utf8(&old).is_ok();
        let was = Encoding::of_mark(&old).unwrap_or(if is_utf_8 { Encoding::Utf8 } else { encoding });
        let start = if old.starts_with(was.mark()) { was.mark().len() } else { 0 };
        let breaks: std::collections::BTreeSet<_> = tokens(was, &old[start..])
            .iter()
            .filter_map(|token| ["\r\n", "\n", "\r"].into_iter().find(|brk| token.text.ends_with(brk)))
            .collect();
        let only = breaks.first().filter(|_| breaks.len() == 1);
        let written = match only {
            Some(brk) if content.replace("\r\n", "").contains('\n') => {
                content.replace("\r\n", "\n").replace('\n', brk)
            }
            _ => content.clone(),
        };
        let written = if only == Some(&"\n") { content.clone() } else { written };
        let (new, _) = change(encoding, &old, &TextChange::Whole(content.clone())).unwrap();
        prop_assert_eq!(new, [mark, &encoded(encoding, &written)].concat());
    }
}

/// The lines of the first places.
fn naive_lines(all: &[Token], old_text: &str) -> Vec<RangeInclusive<u64>> {
    let (places, len) = naive_places(all, old_text);
    let breaks =
        |to: usize| all[..to].iter().filter(|token| token.text.ends_with(['\n', '\r'])).count() as u64;
    places.iter().take(20).map(|at| breaks(*at)..=breaks(at + len - 1)).collect()
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
    let lacking =
        "Unencodable { encoding: Windows1251, lacking: Unencodable { line: 1, column: 2, character: '漢' } }";
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
