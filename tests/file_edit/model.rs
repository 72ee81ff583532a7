//! Exact-text edits against the naive model of `text_model.rs`: what a call finds, and what it makes of the text.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use text::budget::Budget;
use text::lines::LineIndex;
use text::text_edit::{Found, TextEdit, TextEdits, TextLimits, plan as plan_text_edits};
use text::{Error, Unstopped};

use crate::text_model::{self, Edit};

static MEMORY: std::sync::LazyLock<Budget> = std::sync::LazyLock::new(|| Budget::new(usize::MAX));

fn limits() -> TextLimits<'static> {
    TextLimits { passages: 50, max_bytes: 1 << 20, memory: &MEMORY }
}

/// What the engine makes of a call, in the model's terms.
fn engine(text: &str, edits: &[Edit]) -> Result<(String, Vec<u64>), (usize, u64)> {
    let index = LineIndex::build_with(text.as_bytes(), 3).expect("text");
    let edits = edits.iter().map(|edit| TextEdit {
        old_text: edit.old_text.clone(),
        new_text: edit.new_text.clone(),
        occurrences: edit.occurrences,
    });
    let edits = TextEdits::new(edits.collect());
    match plan_text_edits(&index, text.as_bytes(), &edits, limits(), &Unstopped) {
        Ok(planned) => {
            let planned = planned.expect("the index fits");
            let mut out = Vec::new();
            planned.plan.write_to(text.as_bytes(), &mut out).expect("a vector takes all");
            let counts = planned.applied.iter().map(|applied| applied.replaced).collect();
            Ok((String::from_utf8(out).expect("text"), counts))
        }
        Err(Error::Unmatched(unmatched)) => match unmatched.found {
            Found::Count { actual, passages } => {
                assert_eq!(passages.len() as u64, actual.min(100));
                Err((unmatched.edit, actual))
            }
            Found::Nothing(_) => Err((unmatched.edit, 0)),
        },
        Err(error) => panic!("{error:?}"),
    }
}

/// Sets the counts of a call to what is found, edit by edit, so that it goes through as far as it can.
fn with_right_counts(text: &str, mut edits: Vec<Edit>) -> Vec<Edit> {
    while let Err((number, count)) = text_model::edit(text, &edits) {
        if count == 0 {
            edits.remove(number);
        } else {
            edits[number].occurrences = count;
        }
    }
    edits
}

fn edits(piece: impl Strategy<Value = String> + Clone, most: usize) -> impl Strategy<Value = Vec<Edit>> {
    let edit = (piece.clone(), piece, 1..3_u64).prop_map(|(old_text, new_text, occurrences)| Edit {
        old_text,
        new_text,
        occurrences,
    });
    vec(edit, 0..most)
}

fn text() -> impl Strategy<Value = String> + Clone {
    let pieces = vec!["a", "b", "ab", "aa", "\n", "\r\n", "\r", "é", "abcabcabcabcabcabc", "bcabc", " "];
    vec(select(pieces), 0..24).prop_map(|pieces| pieces.concat())
}

fn piece() -> impl Strategy<Value = String> + Clone {
    let pieces = vec!["a", "b", "ab", "aa", "\n", "\r\n", "\r", "é", "abcabcabcabcabcabc", "bcabc", " "];
    vec(select(pieces), 0..5).prop_map(|pieces| pieces.concat())
}

/// Longer than a needle.
const PREFIX: &str = "0123456789 abcdefghij 0123456789 abcdefghij 0123456789 abcdefghij 0123456789 ";

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_call_does_what_the_model_does(text in text(), edits in edits(piece(), 6)) {
        prop_assert_eq!(engine(&text, &edits), text_model::edit(&text, &edits));
    }

    #[test]
    fn calls_whose_counts_are_right_do_what_the_model_does(
        bom in any::<bool>(),
        text in text(),
        edits in edits(piece(), 14),
    ) {
        let text = if bom { format!("\u{FEFF}{text}") } else { text };
        let edits = with_right_counts(&text, edits);
        prop_assert_eq!(engine(&text, &edits), text_model::edit(&text, &edits));
    }

    #[test]
    fn words_of_a_text_with_long_lines_do_what_the_model_does(
        words in vec(select(vec!["alpha", "beta ", "gamma;", "0123456789abcdef", "\n", "\r\n", "x"]), 0..200),
        edits in edits(
            vec(select(vec!["alpha", "beta ", "gamma;", "0123456789abcdef", "\n", "x", "y"]), 1..9)
                .prop_map(|words| words.concat()),
            20,
        ),
    ) {
        let text = words.concat();
        let edits = with_right_counts(&text, edits);
        prop_assert_eq!(engine(&text, &edits), text_model::edit(&text, &edits));
    }

    #[test]
    fn lines_that_share_long_prefixes_do_what_the_model_does(
        text in vec(select(vec!["p", "q", "\n", "é", PREFIX, PREFIX, "  "]), 0..60),
        edits in edits(
            vec(select(vec!["p", "q", "é", "\n", PREFIX, "  "]), 1..5).prop_map(|words| words.concat()),
            20,
        ),
    ) {
        let text = text.concat();
        let edits = with_right_counts(&text, edits);
        prop_assert_eq!(engine(&text, &edits), text_model::edit(&text, &edits));
    }

    #[test]
    fn lines_of_a_text_with_several_kinds_of_breaks_do_what_the_model_does(
        lines in vec((select(vec!["a", "b", "c", "", "é"]), select(vec!["\n", "\r\n", "\r"])), 2..16),
        changes in vec((any::<u16>(), 0..5_usize, vec((0..6_usize, 0..3_u8), 0..4), any::<bool>()), 1..4),
        (skipped, is_ended) in (0..2_usize, any::<bool>()),
    ) {
        let whole: String = lines.iter().map(|(text, brk)| [*text, *brk].concat()).collect();
        let text = if is_ended { &whole[..] } else { whole.trim_end_matches(['\r', '\n']) };
        let edits = changes.into_iter().map(|(from, count, changes, is_ended)| {
            let rest = lines.iter().skip(usize::from(from) % lines.len()).take(count + 1);
            let old: Vec<String> = rest.map(|(text, _)| (*text).to_owned()).collect();
            let mut new = old.clone();
            for (at, change) in changes {
                match (at % new.len().max(1), change) {
                    (at, 0) if at < new.len() => new[at] = "x".into(),
                    (at, 1) if at < new.len() => drop(new.remove(at)),
                    (at, _) => new.insert(at.min(new.len()), "y".into()),
                }
            }
            let sent = |lines: Vec<String>| lines.join("\n") + if is_ended { "\n" } else { "" };
            let old_text: String = sent(old).chars().skip(skipped).collect();
            Edit { old_text, new_text: sent(new).chars().skip(skipped).collect(), occurrences: 1 }
        });
        let edits = with_right_counts(text, edits.collect());
        prop_assert_eq!(engine(text, &edits), text_model::edit(text, &edits));
    }

    #[test]
    fn texts_that_repeat_themselves_do_what_the_model_does(
        unit in vec(select(vec!["a", "b", "=", "\n", "\r\n", "\r"]), 1..5),
        times in 20..150_usize,
        others in vec((any::<u16>(), select(vec!["b", "\n", "\r", "x\n"])), 0..4),
        edits in vec((any::<u16>(), 1..200_usize, select(vec!["", "x", "\n", "a"]), select(vec!["", "a", "\r\n", "yy"])), 1..6),
    ) {
        let mut text = unit.concat().repeat(times);
        for (at, other) in others {
            text.insert_str(usize::from(at) % text.len(), other);
        }
        let edits = edits.into_iter().map(|(at, len, end, new_text)| {
            let from = usize::from(at) % text.len();
            let old_text = text[from..text.len().min(from + len)].to_owned() + end;
            let lf_only = old_text.replace("\r\n", "\n");
            Edit { old_text: if len % 2 == 0 { lf_only } else { old_text }, new_text: new_text.into(), occurrences: 1 }
        });
        let edits = with_right_counts(&text, edits.collect());
        prop_assert_eq!(engine(&text, &edits), text_model::edit(&text, &edits));
    }
}
