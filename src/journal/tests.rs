//! Changes are read as they were written, and taken back as a merge by lines would.

use proptest::prelude::*;

use super::*;
use text::splice::{EditPlan, Splice};

/// The change that makes `new` of `old`: lines that differ are replaced, found by a plain comparison.
fn change(old: &str, new: &str) -> FileChange {
    FileChange::of(&plan(old, new), old.as_bytes())
}

fn plan(old: &str, new: &str) -> EditPlan<'static> {
    let (a, b): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let (mut splices, mut at) = (Vec::new(), 0);
    for (was, becomes) in pairs(&a, &b) {
        let (gone, text) = (was.concat(), becomes.concat());
        if gone != text {
            splices.push(Splice { at: at..at + gone.len(), text: text.into_bytes().into() });
        }
        at += gone.len();
    }
    EditPlan::new(splices, old.as_bytes()).unwrap()
}

/// Lines of both sides in turn: equal ones, and ones that differ. The longest common subsequence, by the table.
fn pairs<'t>(a: &'t [&'t str], b: &'t [&'t str]) -> Vec<(&'t [&'t str], &'t [&'t str])> {
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            table[i][j] =
                if a[i] == b[j] { table[i + 1][j + 1] + 1 } else { table[i + 1][j].max(table[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        let (from, to) = (i, j);
        while i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
        }
        all.push((&a[from..i], &b[to..j]));
        let (from, to) = (i, j);
        while (i < a.len() || j < b.len()) && !(i < a.len() && j < b.len() && a[i] == b[j]) {
            if j == b.len() || i < a.len() && table[i + 1][j] >= table[i][j + 1] {
                i += 1;
            } else {
                j += 1;
            }
        }
        all.push((&a[from..i], &b[to..j]));
    }
    all
}

fn undone(change: &FileChange, now: &str, later: &[&FileChange]) -> Result<String, Conflict> {
    let plan = undo_plan(change, now.as_bytes(), later)?;
    let mut out = Vec::new();
    plan.write_to(now.as_bytes(), &mut out).unwrap();
    Ok(String::from_utf8(out).unwrap())
}

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

#[test]
fn a_change_is_taken_back_where_nothing_else_has_changed() {
    for new in [
        "",
        "one\n",
        "zero\none\ntwo\nthree\nfour\nfive\nsix\nseven\n",
        "one\nTWO\nthree\nfour\nFIVE\nsix\nseven",
    ] {
        assert_eq!(undone(&change(OLD, new), new, &[]).as_deref(), Ok(OLD), "{new:?}");
    }
}

#[test]
fn what_others_changed_in_other_lines_stays() {
    let first = change(OLD, "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n");
    let now = "zero\none\ntwo\nTHREE\nfour\nfive\nSIX\nseven\n";
    let kept = "zero\none\ntwo\nthree\nfour\nfive\nSIX\nseven\n";
    assert_eq!(undone(&first, now, &[]).as_deref(), Ok(kept), "by another program");
    let next = change("one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n", now);
    assert_eq!(undone(&first, now, &[&next]).as_deref(), Ok(kept), "by a later change");
}

#[test]
fn what_others_changed_in_these_lines_or_beside_them_is_a_conflict() {
    let new = "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n";
    let first = change(OLD, new);
    for now in [
        "one\ntwo\n3\nfour\nfive\nsix\nseven\n",
        "one\n2\nTHREE\nfour\nfive\nsix\nseven\n",
        "one\ntwo\nTHREE\nx\nfour\n",
        "",
    ] {
        assert_eq!(undone(&first, now, &[]).unwrap_err().by, None, "{now:?}");
        let conflict = undone(&first, now, &[&change(new, now)]).unwrap_err();
        let place = ConflictPlace { start: 8, old: b"three\n".to_vec(), new: b"THREE\n".to_vec() };
        assert_eq!((conflict.by, conflict.places), (Some(0), vec![place]), "{now:?}");
    }
}

#[test]
fn a_later_change_whose_places_are_not_kept_moves_nothing() {
    let new = "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n";
    let first = change(OLD, new);
    for now in ["0\none\ntwo\nTHREE\nfour\nfive\nsix\nseven\n", "mine\nfour\nfive\nsix\nseven\n"] {
        let unkept = FileChange { hunks: Vec::new(), ..change(new, now) };
        let kept = now.replace("THREE", "three");
        let wanted = if now.contains("THREE") { Ok(&*kept) } else { Err(None) };
        assert_eq!(
            undone(&first, now, &[&unkept]).as_deref().map_err(|conflict| conflict.by),
            wanted,
            "{now:?}"
        );
    }
}

#[test]
fn a_text_that_is_replaced_as_a_whole_is_a_change_of_the_lines_that_differ() {
    let new = "one\nTWO\nthree\nfour\nfive\nSIX\nseven\n";
    let whole = Splice { at: 0..OLD.len(), text: new.as_bytes().into() };
    let first = FileChange::of(&EditPlan::new(vec![whole], OLD.as_bytes()).unwrap(), OLD.as_bytes());
    assert_eq!(first.hunks.len(), 2);
    let now = new.replace("four", "4");
    assert_eq!(undone(&first, &now, &[]).as_deref(), Ok(&*OLD.replace("four", "4")));
}

#[test]
fn a_change_that_touched_these_lines_and_was_taken_back_is_none() {
    let texts = ["a 0\nb\nc\n", "a 1\nb\nc\n", "a 2\nb\nc\n", "a 2\nb\nC\n", "a 1\nb\nC\n"];
    let changes: Vec<FileChange> = texts.windows(2).map(|pair| change(pair[0], pair[1])).collect();
    let later: Vec<&FileChange> = changes[1..].iter().collect();
    assert_eq!(undone(&changes[0], texts[4], &later).as_deref(), Ok("a 0\nb\nC\n"));
}

#[test]
fn lines_that_are_there_twice_are_not_guessed() {
    let (old, new) = ("a\nb\nc\na\nc\n", "a\nb\nc\na\nb\nc\n");
    let first = change(old, new);
    assert_eq!(undone(&first, new, &[]).as_deref(), Ok(old));
    assert!(undone(&first, &format!("x\n{new}"), &[]).is_err());
    let known = change(new, &format!("x\n{new}"));
    assert_eq!(undone(&first, &format!("x\n{new}"), &[&known]).as_deref(), Ok("x\na\nb\nc\na\nc\n"));
}

#[test]
fn a_later_change_that_was_taken_back_is_none() {
    let texts = [OLD, "one\ntwo\nTHREE\nfour\nfive\nsix\nseven\n", "one\ntwo\nx\nfour\n"];
    let first = change(texts[0], texts[1]);
    let (next, back) = (change(texts[1], texts[2]), change(texts[2], texts[1]));
    let last = change(texts[1], "one\ntwo\nTHREE\nfour\nfive\nsix\n");
    let now = "one\ntwo\nTHREE\nfour\nfive\nsix\n";
    assert_eq!(
        undone(&first, now, &[&next, &back, &last]).as_deref(),
        Ok("one\ntwo\nthree\nfour\nfive\nsix\n")
    );
}

#[test]
fn what_is_put_in_at_a_border_touches_what_changed_there() {
    let emptied = change("a\n", "");
    assert!(undone(&emptied, "b\n", &[]).is_err() && undone(&emptied, "b\n", &[&change("", "b\n")]).is_err());
    let last = change("a\nb\n", "a\nc\n");
    assert!(undone(&last, "a\nc\nd\n", &[]).is_err());
    assert!(undone(&last, "a\nc\nd\n", &[&change("a\nc\n", "a\nc\nd\n")]).is_err());
}

#[test]
fn lines_that_are_put_in_beside_others_change_none_of_them() {
    let old = "a\n\nb\nc\n";
    // What is replaced, by what, and a line that another change changes.
    for (at, text, beside) in [
        (3..4, "b\n\nx", ""),
        (3..4, "b\nx", ""),
        (3..4, "x\nb", "c"),
        (1..1, "\nx", "b"),
        (2..2, "x\n", "b"),
    ] {
        let plan =
            EditPlan::new(vec![Splice { at: at.clone(), text: text.as_bytes().into() }], old.as_bytes())
                .unwrap();
        let first = FileChange::of(&plan, old.as_bytes());
        assert!(first.hunks.iter().flat_map(|hunk| &hunk.replaced).all(|replaced| replaced.old.is_empty()));
        let new = [&old[..at.start], text, &old[at.end..]].concat();
        let changed =
            |text: &str| if beside.is_empty() { format!("A{text}") } else { text.replace(beside, "q") };
        let next = change(&new, &changed(&new));
        assert_eq!(undone(&first, &changed(&new), &[&next]), Ok(changed(old)), "{text:?}");
    }
}

/// A three-way merge by lines: `None` where both sides have changed the same lines or lines that touch.
fn merged(base: &str, one: &str, other: &str) -> Option<String> {
    let lines: Vec<&str> = base.split_inclusive('\n').collect();
    let hunks = |side: &str| -> Vec<(usize, usize, String)> {
        let side: Vec<&str> = side.split_inclusive('\n').collect();
        let (mut at, mut hunks) = (0, Vec::new());
        for (was, becomes) in pairs(&lines, &side) {
            if was != becomes {
                hunks.push((at, at + was.len(), becomes.concat()));
            }
            at += was.len();
        }
        hunks
    };
    let (one, other) = (hunks(one), hunks(other));
    if one.iter().any(|a| other.iter().any(|b| a.0 <= b.1 && b.0 <= a.1)) {
        return None;
    }
    let mut all = [one, other].concat();
    all.sort();
    let (mut out, mut at) = (String::new(), 0);
    for (start, end, text) in all {
        out += &lines[at..start].concat();
        out += &text;
        at = end;
    }
    Some(out + &lines[at..].concat())
}

/// Some of ten lines in order, each in one of two forms: which lines of two such texts are the same is no matter of taste.
fn text() -> impl Strategy<Value = String> {
    let line = |kind: (char, u8)| match kind {
        (letter, 0) => format!("{letter}\n"),
        (letter, 1) => format!("{}\n", letter.to_ascii_uppercase()),
        _ => String::new(),
    };
    let kinds = proptest::collection::vec(0u8..4, 10);
    kinds.prop_map(move |kinds| ('a'..='j').zip(kinds).map(line).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn taking_back_is_a_merge_by_lines_or_refused(old in text(), new in text(), now in text()) {
        let (first, next) = (change(&old, &new), change(&new, &now));
        let wanted = if now == new { Some(old) } else { merged(&new, &old, &now) };
        prop_assert_eq!(undone(&first, &now, &[&next]).ok(), wanted.clone(), "the change since is known");
        prop_assert_eq!(undone(&first, &now, &[]).ok(), wanted, "another program's");
    }

    /// Whatever the bytes are that were replaced.
    #[test]
    fn a_change_of_any_bytes_is_taken_back(old in "[ab\n]{0,12}", cuts in proptest::collection::vec(0usize..13, 0..6), texts in proptest::collection::vec("[ab\n]{0,4}", 3)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(old.len())).collect();
        cuts.sort_unstable();
        let splices = cuts.chunks_exact(2).zip(&texts).map(|(at, text)| Splice { at: at[0]..at[1], text: text.as_bytes().into() });
        let plan = EditPlan::new(splices.collect(), old.as_bytes()).unwrap();
        let mut new = Vec::new();
        plan.write_to(old.as_bytes(), &mut new).unwrap();
        let first = FileChange::of(&plan, old.as_bytes());
        prop_assert_eq!(undone(&first, std::str::from_utf8(&new).unwrap(), &[]).ok(), Some(old));
    }

    /// Also where lines are repeated: what is taken back can be taken back itself, and nothing else has gone.
    #[test]
    fn taking_back_is_refused_or_can_be_taken_back_itself(old in "[ab\n]{0,9}", new in "[ab\n]{0,9}", now in "[ab\n]{0,9}") {
        let first = change(&old, &new);
        prop_assert_eq!(undone(&first, &new, &[]).ok(), Some(old.clone()));
        if let Ok(plan) = undo_plan(&first, now.as_bytes(), &[]) {
            let again = FileChange::of(&plan, now.as_bytes());
            let after = undone(&first, &now, &[]).unwrap();
            prop_assert_eq!(after.len() + new.len(), now.len() + old.len());
            prop_assert_eq!(undone(&again, &after, &[]).ok(), Some(now));
        }
    }

    #[test]
    fn a_change_is_read_as_it_was_written(old in text(), new in text(), at in 0usize..400) {
        let place = Place { root: 0, path: b"d/\xff".to_vec() };
        let entries = vec![(vec![], KeptEntry::Folder { mode: 0o700 }), (b"x".to_vec(), KeptEntry::File { mode: 0o600, content: old.clone().into() })];
        let whole = Change {
            author: Author { client: "c".into(), session: "s".into() },
            roots: vec![b"/r".to_vec()],
            files: vec![change(&old, &new)],
            steps: vec![
                Step::Folder { at: place.clone() },
                Step::Moved { from: place.clone(), to: place.clone(), id: (1, u64::MAX) },
                Step::Deleted { at: place, entries, id: (0, 0), hidden: vec![] },
            ],
            undoes: Some(7),
            ..Change::default()
        };
        let mut bytes = whole.to_bytes();
        prop_assert_eq!(Change::from_bytes(&bytes), Ok(whole));
        let at = at % bytes.len();
        prop_assert_eq!(Change::from_bytes(&bytes[..at]), Err(Unreadable::Damaged));
        bytes[at] ^= 1;
        prop_assert!(Change::from_bytes(&bytes).is_err());
    }
}
