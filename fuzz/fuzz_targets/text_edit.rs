//! Compares exact-text edits with the naive model of contract 5 in `tests/text_model.rs`.
//!
//! Must hold for any text with any line breaks, any edits, and any block size of the index:
//! - a call fails exactly if the model fails, with the same count;
//! - otherwise the bytes written and the counts equal the model's; the plan knows the length of its result;
//! - the diff, applied line by line to the old text, gives the new one; a shortened diff ends with a hunk;
//! - an error report never panics, is bounded, and names passages that exist.
//!
//! Input: see `Input`. NUL, which the tools refuse before the engine, is omitted.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use text::budget::Budget;
use text::diff::{Diff, unified};
use text::lines::LineIndex;
use text::text_edit::{
    Found, Snippet, TextEdit, TextEdits, TextLimits, TextPlanned, Unmatched, plan as plan_text_edits,
};
use text::{Error, Unstopped};

#[path = "../../tests/text_model.rs"]
mod model;

use model::Edit;

const PLENTY: usize = 1 << 20;
const PASSAGES: usize = 30;

static MEMORY: std::sync::LazyLock<Budget> = std::sync::LazyLock::new(|| Budget::new(usize::MAX));

/// Maximum size, in bytes, of a text for the model.
const MODELLED: usize = 64 * 1024;

/// Maximum size, in bytes, of a quoted passage: its lines, and `…` at either end.
const QUOTED: usize = 5_000;

#[derive(Arbitrary, Debug)]
struct Input {
    shift: u8,
    bom: bool,
    file: Vec<Word>,
    edits: Vec<Wish>,
    /// Maximum size of the shortened diff.
    room: u16,
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Word {
    A,
    B,
    Ab,
    Blank,
    Tab,
    Lf,
    CrLf,
    Cr,
    Accent,
    Combined,
    Quote,
    Escape,
    Minus,
    Name,
    Long,
    Longer,
    Letters,
    Lines,
    Breaks,
}

#[derive(Arbitrary, Debug)]
struct Wish {
    old: Old,
    new: Vec<Word>,
    count: Count,
}

#[derive(Arbitrary, Debug)]
enum Old {
    Words(Vec<Word>),
    /// Start and length, in characters, of a part of the file, so that it is found.
    Taken(u8, u8),
}

#[derive(Arbitrary, Debug, Clone, Copy)]
enum Count {
    /// The actual number of occurrences, so that the call continues with the next edit.
    Right,
    Given(u8),
}

fuzz_target!(|input: Input| {
    let body = text(&input.file[..input.file.len().min(400)]);
    let file = if input.bom { format!("\u{FEFF}{body}") } else { body.clone() };
    let edits = edits(&file, &body, &input.edits);

    let index = LineIndex::build_with(file.as_bytes(), u32::from(input.shift % 7)).expect("text");
    let given = edits.iter().map(|edit| TextEdit {
        old_text: edit.old_text.clone(),
        new_text: edit.new_text.clone(),
        occurrences: edit.occurrences,
    });
    let given = TextEdits::new(given.collect());
    let limits = TextLimits { passages: PASSAGES, max_bytes: PLENTY as u64, memory: &MEMORY };
    let planned = plan_text_edits(&index, file.as_bytes(), &given, limits, &Unstopped);
    match (planned, model::edit(&file, &edits)) {
        (Ok(planned), Ok((text, counts))) => {
            let planned = planned.expect("the index fits");
            compare(&file, &planned, &text, &counts);
            let whole = unified(&index, file.as_bytes(), &planned.plan, "f", PLENTY);
            assert_eq!(patched(&file, &whole), text, "{file:?}\n{edits:?}\n{}", whole.text);
            let cut = unified(&index, file.as_bytes(), &planned.plan, "f", usize::from(input.room));
            assert!(cut.text.len() <= usize::from(input.room) && whole.text.starts_with(&cut.text));
            // Hunks that are not shown may change nothing.
            assert!(whole.more == 0 && whole.hunks <= cut.hunks + cut.more);
            patched(&file, &cut);
        }
        (Err(Error::Unmatched(unmatched)), Err((edit, count))) => {
            assert_eq!((unmatched.edit, count_of(&unmatched)), (edit, count), "{file:?}\n{edits:?}");
            assert_tells(&unmatched, edit == 0, &file);
        }
        (Err(Error::TooLarge { .. }), Ok((text, _))) => assert!(PLENTY < text.len()),
        (planned, expected) => panic!("{file:?}\n{edits:?}\n{planned:?}\nthe model: {expected:?}"),
    }
});

fn compare(file: &str, planned: &TextPlanned, text: &str, counts: &[u64]) {
    let mut bytes = Vec::new();
    planned.plan.write_to(file.as_bytes(), &mut bytes).expect("a vector takes all");
    assert_eq!(String::from_utf8_lossy(&bytes), text, "of {file:?}");
    assert_eq!(planned.plan.len_after(file.len()), text.len());
    assert_eq!(planned.plan.changes_nothing(), text == file);
    let replaced: Vec<u64> = planned.applied.iter().map(|applied| applied.replaced).collect();
    assert_eq!(replaced, counts, "of {file:?}");
    let passages = planned.applied.iter().flat_map(|applied| &applied.passages);
    assert!(passages.clone().count() <= PASSAGES);
    passages.for_each(assert_bounded);
}

/// Applies the hunks of `diff` to `old`. Fails if a line is not where a hunk says.
fn patched(old: &str, diff: &Diff) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut new, mut at, mut hunks) = (String::new(), 0, 0);
    let mut lines = diff.text.split_inclusive('\n').skip(2).peekable();
    while let Some(head) = lines.next() {
        hunks += 1;
        let range = |part: &str| -> (usize, usize) {
            let (start, len) = part[1..].split_once(',').expect("a start and a length");
            let (start, len) = (start.parse().expect("a line"), len.parse().expect("a count"));
            // For zero lines, the number is that of the line before.
            if len == 0 { (start, 0) } else { (start - 1, len) }
        };
        let parts: Vec<&str> = head.strip_prefix("@@ ").expect("a head").split(' ').collect();
        let (old_from, old_len) = range(parts[0]);
        let (new_from, mut new_left) = range(parts[1]);
        let old_end = old_from + old_len;
        new.extend(old[at..old_from].iter().copied());
        assert_eq!(new.split_inclusive('\n').count(), new_from, "{}", diff.text);
        at = old_from;
        while at < old_end || 0 < new_left {
            let line = lines.next().expect("a line of the hunk");
            let bare = lines.next_if(|next| next.starts_with('\\')).is_some();
            let text = if bare { line[1..].strip_suffix('\n').expect("a break") } else { &line[1..] };
            if !line.starts_with('+') {
                assert_eq!(old[at], text, "{}", diff.text);
                at += 1;
            }
            if !line.starts_with('-') {
                new.push_str(text);
                new_left -= 1;
            }
        }
        assert_eq!(at, old_end, "{}", diff.text);
    }
    assert_eq!(hunks, diff.hunks);
    new.extend(old[at..].iter().copied());
    new
}

fn count_of(unmatched: &Unmatched) -> u64 {
    match &unmatched.found {
        Found::Count { actual, .. } => *actual,
        Found::Nothing(_) => 0,
    }
}

fn assert_tells(unmatched: &Unmatched, is_first: bool, file: &str) {
    match &unmatched.found {
        Found::Count { actual, passages } => {
            assert_eq!(passages.len() as u64, (*actual).min(100));
            passages.iter().for_each(assert_bounded);
            let places: Vec<_> = passages.iter().map(|one| (one.line, one.column)).collect();
            assert!(!is_first || places.is_sorted_by(|one, other| one < other), "{places:?}");
        }
        Found::Nothing(miss) => {
            assert!(miss.similar.len() <= 3 && miss.already_applied.len() <= 3);
            assert!(!is_first || miss.before_edits.is_none());
            for similar in &miss.similar {
                assert_bounded(&similar.passage);
                assert!((0.0..=1.0).contains(&similar.score) && similar.differences.len() <= 8);
                // A byte order mark may precede it.
                assert!(!is_first || similar.exact.ends_with('…') || file.contains(&similar.exact));
            }
            miss.already_applied.iter().for_each(assert_bounded);
            assert_bounded(&miss.head);
        }
    }
}

fn assert_bounded(passage: &Snippet) {
    let Snippet { text, at, before, after, .. } = passage;
    assert!(text.get(at.clone()).is_some() && text.len() < QUOTED, "{passage:?}");
    assert!(before.iter().chain(after).all(|line| line.len() < QUOTED));
    // What earlier edits made has as many lines as there are in the old text.
    let breaks = text[..at.end].matches('\n').count();
    assert!(passage.is_edited || breaks <= passage.further_lines, "{passage:?}");
}

fn text(words: &[Word]) -> String {
    let word = |word: &Word| match word {
        Word::A => "a",
        Word::B => "b",
        Word::Ab => "ab",
        Word::Blank => " ",
        Word::Tab => "\t",
        Word::Lf => "\n",
        Word::CrLf => "\r\n",
        Word::Cr => "\r",
        Word::Accent => "é",
        Word::Combined => "e\u{301}",
        Word::Quote => "“",
        Word::Escape => "\\n",
        Word::Minus => "--- a\n",
        Word::Name => "some_name",
        Word::Long => "a stretch that is longer than a gram",
        Word::Longer => "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        // Such texts are searched in another way, because their parts are everywhere.
        Word::Letters => {
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        }
        Word::Lines => {
            "=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n=\n"
        }
        Word::Breaks => {
            "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n"
        }
    };
    words.iter().map(word).collect()
}

/// The edits of a call; those that must have the actual count get the model's.
fn edits(file: &str, body: &str, wishes: &[Wish]) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for wish in wishes.iter().take(24) {
        let old_text = match &wish.old {
            Old::Words(words) => text(&words[..words.len().min(12)]),
            Old::Taken(from, len) => {
                let from = usize::from(*from) % body.chars().count().max(1);
                body.chars().skip(from).take(usize::from(*len) % 120).collect()
            }
        };
        let new_text = text(&wish.new[..wish.new.len().min(12)]);
        let occurrences = if let Count::Given(count) = wish.count { u64::from(count % 8).max(1) } else { 1 };
        edits.push(Edit { old_text, new_text, occurrences });
        if let (Count::Right, Err((number, count))) = (wish.count, model::edit(file, &edits)) {
            if number + 1 == edits.len() && 0 < count {
                edits[number].occurrences = count;
            }
        }
        // The model copies everything for every edit, so a growing text would take too long.
        if model::edit(file, &edits).is_ok_and(|(text, _)| MODELLED < text.len()) {
            edits.pop();
            break;
        }
    }
    edits
}
