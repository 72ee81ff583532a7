//! Changes against a naive reading: decode, edit, encode.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::text_edit::in_place;

/// A character, a whole `\r\n`, or half of a pair, with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) text: String,
    half: Option<u16>,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn tokens(encoding: Encoding, bytes: &[u8]) -> Vec<Token> {
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
    let is_any = old_text.contains('\n') && (as_given.is_empty() || !old_text.contains('\r'));
    (if is_any { find(true) } else { as_given }, needle.len())
}

/// The kinds of breaks of a text.
fn kinds(all: &[Token]) -> Vec<&str> {
    let mut kinds: Vec<&str> =
        all.iter().map(|token| &*token.text).filter(|text| text.ends_with(['\n', '\r'])).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// The new text in place of these tokens as it is written: with the file's own breaks, if they are of one kind. If they are of
/// several, the breaks are those that it gets in the same text in UTF-8.
fn naive_new(all: &[Token], gone: Range<usize>, new_text: &str) -> String {
    let text = |tokens: &[Token]| tokens.iter().map(|token| &*token.text).collect::<String>();
    match kinds(all)[..] {
        [] => new_text.into(),
        [only] => new_text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', only),
        _ => {
            let start = text(&all[..gone.start]).len();
            let at = start..start + text(&all[gone]).len();
            let placed = in_place(text(all).as_bytes(), at, new_text.as_bytes()).unwrap();
            String::from_utf8(placed).unwrap()
        }
    }
}

/// The bytes behind the mark after every place is replaced. None: it would make a character of two halves.
fn naive(encoding: Encoding, all: &[Token], old_text: &str, new_text: &str) -> Option<(Vec<u8>, u64)> {
    let (places, len) = naive_places(all, old_text);
    let (mut out, mut last, mut at) = (Vec::new(), None, 0);
    while at < all.len() {
        if places.contains(&at) {
            // Places that touch each other are one change.
            let count = (1..).take_while(|nth| nth == &1 || places.contains(&(at + (nth - 1) * len))).count();
            let gone = at..at + count * len;
            at = gone.end;
            out.extend(encoded(encoding, &naive_new(all, gone, &new_text.repeat(count))));
            last = if new_text.is_empty() { last } else { None };
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

/// Whether bytes may be those of a file in UTF-8, or of one that is not UTF-16, in which no text in this encoding is put.
fn is_other(encoding: Encoding, old: &[u8]) -> bool {
    (std::str::from_utf8(old).is_ok() || encoding.unit() == 2) && !old.contains(&0) && !old.is_empty()
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
        new_text in "(|a|xy\n|\r\n|b\r|(a|b|\n){1,4})",
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
            (_, Err(Error::InvalidArguments { at, .. })) if at == "encoding" => {
                prop_assert!(is_other(encoding, &old));
            }
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
            Err(Error::InvalidArguments { at, .. }) if at == "encoding" => prop_assert!(is_other(encoding, &old)),
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
