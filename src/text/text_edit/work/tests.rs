//! The cost of any call, counted in bytes, compared with a failed search for a short text.

use super::DONE;
use crate::text_edit::*;

const MB: usize = 1 << 20;

static MEMORY: std::sync::LazyLock<Budget> = std::sync::LazyLock::new(|| Budget::new(usize::MAX));

fn edit(old_text: impl Into<String>, occurrences: usize) -> TextEdit {
    TextEdit { old_text: old_text.into(), new_text: "y".into(), occurrences: occurrences as u64 }
}

/// The number of matches of the call's last edit, and the bytes processed.
fn call(text: &str, edits: Vec<TextEdit>) -> (u64, u64) {
    let index = LineIndex::build(text.as_bytes()).unwrap();
    let edits = TextEdits::new(edits);
    let limits = TextLimits { passages: 20, max_bytes: u64::MAX, memory: &MEMORY };
    let before = DONE.get();
    let planned = plan(&index, text.as_bytes(), &edits, limits, &crate::Unstopped);
    let work = DONE.get() - before;
    let found = match planned {
        Ok(planned) => planned.unwrap().applied.last().unwrap().replaced,
        Err(Error::Unmatched(unmatched)) => match unmatched.found {
            Found::Count { actual, .. } => actual,
            Found::Nothing(_) => 0,
        },
        Err(error) => panic!("{error:?}"),
    };
    (found, work)
}

/// Checks that the call finds `found` matches, and processes at most twenty times the bytes of a simple
/// failed search in a text of the same size.
#[track_caller]
fn check(text: &str, edits: Vec<TextEdit>, found: u64) {
    let plain = "some line or other of a text\n".repeat(text.len() / 29);
    let (nothing, miss) = call(&plain, vec![edit("zqxj unlike kvw", 1)]);
    assert_eq!(nothing, 0);
    let (actual, work) = call(text, edits);
    assert_eq!(actual, found);
    assert!(work <= 20 * miss, "{work} bytes, {} times as many as a plain miss", work / miss);
}

fn lines(count: usize) -> String {
    "====\n".repeat(count)
}

#[test]
fn lines_that_are_all_the_same_and_another() {
    let text = lines(MB / 5);
    let last = lines(2_000) + "other line\n";
    let middle = format!("{}other line\n{}", lines(1_000), lines(1_000));
    for old_text in
        [&last, &middle, &last.replace('\n', "\r\n"), &format!("\n{last}"), &last.replace("other ", "=")]
    {
        check(&text, vec![edit(old_text, 1)], 0);
        check(&text.replace('\n', "\r\n"), vec![edit(old_text, 1)], 0);
        check(&text.replace('\n', "\r"), vec![edit(old_text, 1)], 0);
    }
    for brk in ["\n", "\r\n", "\r"] {
        let found = format!("{text}{middle}{text}").replace('\n', brk);
        check(&found, vec![edit(&middle, 1)], 1);
    }
}

#[test]
fn one_letter_again_and_again() {
    let (text, long) = ("a".repeat(MB), "a".repeat(64_000));
    check(&text, vec![edit(&long, 1)], 16);
    check(&text, vec![edit(&long, 16)], 16);
    for old_text in [format!("{long}b"), format!("b{long}"), format!("{long}b{long}")] {
        check(&text, vec![edit(old_text, 1)], 0);
    }
}

#[test]
fn a_period_and_a_difference_at_an_end_of_it() {
    for period in ["ab", "abc", "aab", "\n", "a\n", "\n\na"] {
        let text = period.repeat(MB / period.len());
        let long = period.repeat(64_000 / period.len());
        let times = text.len() / long.len();
        check(&text, vec![edit(&long, times)], times as u64);
        for old_text in [format!("{long}x"), format!("x{long}"), format!("{long}x{long}")] {
            for brk in ["\n", "\r\n", "\r"] {
                check(&text.replace('\n', brk), vec![edit(&old_text, 1)], 0);
            }
        }
    }
}

#[test]
fn breaks_of_all_kinds() {
    let text = "\r\n".repeat(MB / 2);
    // The first search fails only at the half break at the start; the second one matches any break.
    check(&text, vec![edit(format!("\n{}", "\r\n".repeat(32_000)), 1)], 16);
    let text = format!("{}\n", "\r".repeat(30_000)).repeat(MB / 30_001);
    check(&text, vec![edit(format!("\n{}", "\r".repeat(30_001)), 1)], 0);
    check(&text, vec![edit(format!("\n{}", "\r".repeat(29_999)), 1)], 33);
    let text = "\r\r\n\n\r\n".repeat(MB / 6);
    check(&text, vec![edit("\r\r\n\n\n".repeat(10_000), 1)], 17);
}

#[test]
fn carriage_returns_among_other_breaks() {
    let text = format!("{}{}", "=\r\n".repeat(1_000), "=\r=\r\n".repeat(100));
    check(&text, vec![edit("=\r=\n".repeat(100), 1)], 1);
    let text = "=\r\n".repeat(1_000);
    check(&text, vec![TextEdit { new_text: "=\r=\n".repeat(100), ..edit("zq", 1) }], 0);
}

#[test]
fn lines_of_two_kinds_in_no_order() {
    let mut state = 1_u64;
    let mut line = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if state >> 63 == 0 { "aaaa\n" } else { "bbbb\n" }
    };
    let text: String = std::iter::repeat_with(&mut line).take(MB / 5).collect();
    let part = &text[500_000..564_000];
    check(&text, vec![edit(part, 1)], 1);
    check(&text, vec![edit(format!("{part}cccc\n"), 1)], 0);
    check(
        &text,
        (0..1_000).map(|nth| edit(format!("{}q", &text[nth * 1_000..nth * 1_000 + 40]), 1)).collect(),
        0,
    );
}

#[test]
fn several_edits_of_the_same_kind() {
    let text = lines(MB / 5);
    let other = |nth: usize| format!("{}other {nth}\n", lines(2_000));
    check(&text, (0..5).map(|nth| edit(other(nth), 1)).collect(), 0);
    let with_others = text.clone() + &(0..4).map(other).collect::<String>();
    check(&with_others, (0..5).map(|nth| edit(other(nth), 1)).collect(), 0);
    check(&with_others, (0..4).map(|nth| edit(other(nth), 1)).collect(), 1);
    let text = "a".repeat(MB);
    check(&text, ["b", "c", "d"].map(|end| edit("a".repeat(64_000) + end, 1)).into(), 0);
    check(&text, (1..1_000).map(|len| edit("a".repeat(len) + "b", 1)).collect(), 0);
    check(&text, (1..64).rev().map(|len| edit("a".repeat(len), 1)).collect(), MB as u64 / 63);
}

#[test]
fn what_is_said_of_a_miss() {
    let (text, letters) = (lines(MB / 5), "a".repeat(MB));
    let with_new_text = |new_text: String| TextEdit { new_text, ..edit("nothing\n", 1) };
    check(&text, vec![with_new_text(lines(2_000) + "other line\n")], 0);
    check(&letters, vec![with_new_text("a".repeat(64_000) + "b")], 0);
    // The old_text with a corruption undone.
    check(&letters, vec![edit("a".repeat(60_000) + "\\n", 1)], 0);
    let numbered: String = (0..5_000).map(|nth| format!("{nth}: ====\n")).collect();
    check(&text, vec![edit(numbered + "5000: x\n", 1)], 0);
    check(&text, vec![edit(lines(10_000) + " x\n", 1)], 0);
    check(&text, vec![edit(format!("```\n{}x\n```", lines(10_000)), 1)], 0);
    check(&text, vec![edit(lines(4), MB / 20 + 1)], (MB / 20) as u64);
}

#[test]
fn a_text_in_small_segments() {
    let text = "a.".repeat(MB / 2);
    let first = || TextEdit { new_text: "b".into(), ..edit("a", MB / 2) };
    check(&text, vec![first(), edit("b.".repeat(20_000) + "c", 1)], 0);
    check(&text, vec![first(), edit("b.".repeat(20_000), 26)], 26);
}
