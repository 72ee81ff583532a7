//! The diff, applied by a naive reading of it, makes the new text of the old one.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;

/// A line of a text, or of a hunk: with its `\n` if it has one.
type Lines = Vec<String>;

/// Applies a diff and checks all its numbers.
fn apply(old: &str, diff: &str) -> String {
    let old: Lines = old.split_inclusive('\n').map(str::to_owned).collect();
    let (mut new, mut done): (Lines, usize) = (Vec::new(), 0);
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(head) = lines.next() {
        let numbers: Vec<usize> =
            head.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
        let [start, len, new_start, new_len] = numbers[..] else { panic!("{head}") };
        let start = if len == 0 { start } else { start - 1 };
        new.extend_from_slice(&old[done..start]);
        done = start;
        assert_eq!(new_start, new.len() + usize::from(new_len > 0), "{head}");
        let before = new.len();
        while let Some(line) = lines.next_if(|line| !line.starts_with("@@")) {
            let (kind, text) = line.split_at(1);
            let is_last = lines.next_if(|line| line.starts_with('\\')).is_some();
            let text = if is_last { text.strip_suffix('\n').unwrap() } else { text };
            if kind != "+" {
                assert_eq!(old[done], text, "{diff}");
                done += 1;
            }
            if kind != "-" {
                assert!(new.last().is_none_or(|last| last.ends_with('\n')), "{diff}");
                new.push(text.into());
            }
        }
        assert_eq!((done - start, new.len() - before), (len, new_len), "{diff}");
    }
    new.extend_from_slice(&old[done..]);
    new.concat()
}

/// Changes of a text: after so many kept characters, so many are replaced by a text.
fn changed(encoding: Encoding, old: &str, changes: &[(usize, usize, String)]) -> (Vec<u8>, Vec<u8>, Diff) {
    let encoded = |text: &str| {
        let mut out = Vec::new();
        encoding.encode(text, &mut out).unwrap();
        out
    };
    let bytes = encoded(old);
    let characters: Vec<String> = old.chars().map(String::from).collect();
    let place = |at: usize| encoded(&characters[..at.min(characters.len())].concat()).len();
    let mut at = 0;
    let splices = changes.iter().map(|(kept, gone, text)| {
        let start = at + kept;
        at = start + gone;
        Splice { at: place(start)..place(at), text: Cow::Owned(encoded(text)) }
    });
    let plan = EditPlan::new(splices.collect(), &bytes).unwrap();
    let mut new = Vec::new();
    plan.write_to(&bytes, &mut new).unwrap();
    let diff = unified_in(encoding, &bytes, &plan, "f", 1 << 20);
    (bytes, new, diff)
}

fn changes() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
    proptest::collection::vec((0..6usize, 0..4usize, "(a|é|\n|\n|\r\n){0,3}"), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_old_text_and_the_diff_make_the_new_text(
        old in "(a|b|é|\n|\n|\r\n){0,40}",
        changes in changes(),
    ) {
        let (_, new, diff) = changed(Encoding::Utf8, &old, &changes);
        let new = String::from_utf8(new).unwrap();
        prop_assert_eq!(apply(&old, &diff.text), &new[..], "{}", diff.text);
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Windows1252] {
            let (_, encoded, other) = changed(encoding, &old, &changes);
            prop_assert_eq!(encoding.decode_lossy(&encoded), &new[..]);
            prop_assert_eq!(&other, &diff, "{:?}", encoding);
        }
    }
}

#[test]
fn a_deletion_behind_one_that_took_the_break_takes_the_next_line_along() {
    let delete = |kept, gone| (kept, gone, String::new());
    let (_, new, diff) = changed(Encoding::Utf8, "a\nb\nc\nd\n", &[delete(1, 1), delete(0, 2)]);
    assert_eq!(new, b"ac\nd\n");
    assert_eq!(diff.text, "--- a/f\n+++ b/f\n@@ -1,4 +1,2 @@\n-a\n-b\n-c\n+ac\n d\n");
}

#[test]
fn bytes_that_are_no_character_are_shown_as_such() {
    let old = b"\x98\n\xE0\n";
    let splice = Splice { at: 2..3, text: Cow::Borrowed(&b"\xE1"[..]) };
    let plan = EditPlan::new(vec![splice], old).unwrap();
    let diff = unified_in(Encoding::Windows1251, old, &plan, "f", 1_000);
    assert_eq!(diff.text, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n \u{fffd}\n-а\n+б\n");
}
