use std::borrow::Cow;

use proptest::prelude::*;

use super::windows::CONTEXT;
use super::*;
use crate::splice::Splice;

/// Old text, new text and the hunks, as jsdiff 8.0.4 wrote them.
#[rustfmt::skip]
const FACTS: &[(&str, &str, &str)] = &[
    ("", "", ""),
    ("a\n", "a\n", ""),
    ("", "a\n", "@@ -0,0 +1,1 @@\n+a\n"),
    ("", "a", "@@ -0,0 +1,1 @@\n+a\n\\ No newline at end of file\n"),
    ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n"),
    ("a", "", "@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"),
    ("a", "b", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
    ("a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"),
    ("a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n"),
    ("\n", "", "@@ -1,1 +0,0 @@\n-\n"),
    ("", "\n", "@@ -0,0 +1,1 @@\n+\n"),
    ("\n", "\n\n", "@@ -1,1 +1,2 @@\n \n+\n"),
    ("\n\n", "\n", "@@ -1,2 +1,1 @@\n \n-\n"),
    ("a\n\n", "a\n", "@@ -1,2 +1,1 @@\n a\n-\n"),
    ("one\ntwo\nthree\n", "one\nTWO\nthree\n", "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"),
    ("one\ntwo\nthree", "one\ntwo\nTHREE", "@@ -1,3 +1,3 @@\n one\n two\n-three\n\\ No newline at end of file\n+THREE\n\\ No newline at end of file\n"),
    ("one\ntwo", "ONE\ntwo", "@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n\\ No newline at end of file\n"),
    ("a\nb", "a\nb\nc", "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"),
    ("a\nb\nc", "a\nb", "@@ -1,3 +1,2 @@\n a\n-b\n-c\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
    ("a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"),
    ("a\rb", "a\rc", "@@ -1,1 +1,1 @@\n-a\rb\n\\ No newline at end of file\n+a\rc\n\\ No newline at end of file\n"),
    ("\u{FEFF}a\nb\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-\u{FEFF}a\n+a\n b\n"),
    ("ü\nñ\n", "ü\nn\n", "@@ -1,2 +1,2 @@\n ü\n-ñ\n+n\n"),
    ("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", "@@ -1,7 +1,6 @@\n-a\n-b\n c\n+b\n a\n b\n-b\n a\n+c\n"),
    ("{\na\n}\n{\nb\n}\n", "{\na\n}\n{\nn\n}\n{\nb\n}\n", "@@ -1,6 +1,9 @@\n {\n a\n }\n {\n+n\n+}\n+{\n b\n }\n"),
    ("1\n2\n3\n4\n", "4\n3\n2\n1\n", "@@ -1,4 +1,4 @@\n-1\n-2\n-3\n 4\n+3\n+2\n+1\n"),
    ("x\ny\nz\n", "y\nz\nx\n", "@@ -1,3 +1,3 @@\n-x\n y\n z\n+x\n"),
    ("a\na\nb\n", "b\na\na\n", "@@ -1,3 +1,3 @@\n+b\n a\n a\n-b\n"),
    ("a\nb\n", "b\na\n", "@@ -1,2 +1,2 @@\n-a\n b\n+a\n"),
    ("a\na\na\n", "a\n", "@@ -1,3 +1,1 @@\n a\n-a\n-a\n"),
    ("a\n", "a\na\na\n", "@@ -1,1 +1,3 @@\n a\n+a\n+a\n"),
    ("a\nb\na\nb\n", "b\na\nb\na\n", "@@ -1,4 +1,4 @@\n-a\n b\n a\n b\n+a\n"),
    ("a\nb\nc\n", "d\ne\n", "@@ -1,3 +1,2 @@\n-a\n-b\n-c\n+d\n+e\n"),
    ("a\nx\nb\n", "c\nx\nd\n", "@@ -1,3 +1,3 @@\n-a\n+c\n x\n-b\n+d\n"),
    ("a\nb\nc\nd\ne\nf\n", "b\nd\nf\na\nc\ne\n", "@@ -1,6 +1,6 @@\n-a\n b\n-c\n d\n-e\n f\n+a\n+c\n+e\n"),
    ("1\n2\n3\n4\n5\n6\n", "0\n1\n2\n3\n4\n5\n6\n", "@@ -1,4 +1,5 @@\n+0\n 1\n 2\n 3\n 4\n"),
    ("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n6\n7\n", "@@ -3,4 +3,5 @@\n 3\n 4\n 5\n 6\n+7\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "1\n2\n3\n4\n5\nx\n7\n8\n9\n10\n11\n12\n", "@@ -2,9 +2,9 @@\n 2\n 3\n 4\n 5\n-6\n+x\n 7\n 8\n 9\n 10\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n", "x\n2\n3\n4\n5\n6\n7\n8\n9\ny\n", "@@ -1,10 +1,10 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n 8\n 9\n-10\n+y\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", "x\n2\n3\n4\n5\n6\n7\n8\n9\n10\ny\n", "@@ -1,5 +1,5 @@\n-1\n+x\n 2\n 3\n 4\n 5\n@@ -7,5 +7,5 @@\n 7\n 8\n 9\n 10\n-11\n+y\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\nz", "2\n3\n4\n5\n6\n7\n8\n9\nz", "@@ -1,5 +1,4 @@\n-1\n 2\n 3\n 4\n 5\n"),
    ("1\n2\n3\n4\n5\n", "2\n3\n4\n", "@@ -1,5 +1,3 @@\n-1\n 2\n 3\n 4\n-5\n"),
    ("f\n{\na\n}\n-\ng\n{\nb\n}\n", "f\n{\na\n}\n-\nh\n{\nc\n}\n-\ng\n{\nb\n}\n", "@@ -2,8 +2,13 @@\n {\n a\n }\n -\n+h\n+{\n+c\n+}\n+-\n g\n {\n b\n }\n"),
];

fn header_of_f() -> String {
    format!("Index: f\n{}\n--- f\toriginal\n+++ f\tmodified\n", "=".repeat(67))
}

/// The diff of two whole texts.
fn line_diff(name: &str, old: &str, new: &str, max_edits: usize) -> LineDiff {
    let windows = Windows { old: old.into(), new: new.into(), gaps: Vec::new(), left_out: 0 };
    match search(&windows, max_edits) {
        Search::Found { runs, coarse } => written(name, &windows, &runs, coarse, DiffSize::bytes(usize::MAX)),
        Search::TooMuch | Search::MetGap => panic!("there is no gap"),
    }
}

/// The hunks of the diff of two texts.
fn hunks(old: &str, new: &str, max_edits: usize) -> (String, bool) {
    let LineDiff { text, coarse, .. } = line_diff("f", old, new, max_edits);
    (text.strip_prefix(&header_of_f()).unwrap().to_owned(), coarse)
}

/// The lines of a text, marked where the break is missing.
fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// Applies hunks as `patch` does, and checks their line numbers and context.
fn apply(old: &str, hunks: &str) -> String {
    let old = lines(old);
    let (mut out, mut at) = (Vec::new(), 0);
    let mut rest = hunks.split_inclusive('\n').peekable();
    while let Some(head) = rest.next() {
        let numbers: Vec<usize> = head
            .split(|c: char| !c.is_ascii_digit())
            .filter(|number| !number.is_empty())
            .map(|number| number.parse().unwrap())
            .collect();
        let [old_start, old_count, new_start, new_count] = numbers[..] else { panic!("{head}") };
        let start = old_start - usize::from(old_count > 0);
        out.extend_from_slice(&old[at..start]);
        at = start;
        assert_eq!(out.len(), new_start - usize::from(new_count > 0), "{head}");
        let (at_head, out_head) = (at, out.len());
        while let Some(line) = rest.next_if(|line| !line.starts_with("@@")) {
            let open = rest.next_if(|line| line.starts_with('\\')).is_some();
            let text = if open { line.strip_suffix('\n').unwrap() } else { line };
            if !line.starts_with('+') {
                assert_eq!(old[at], text[1..]);
                at += 1;
            }
            if !line.starts_with('-') {
                out.push(text[1..].to_owned());
            }
        }
        assert_eq!((at - at_head, out.len() - out_head), (old_count, new_count), "{head}");
    }
    out.extend_from_slice(&old[at..]);
    out.concat()
}

#[test]
fn the_diff_is_that_of_jsdiff() {
    for (old, new, expected) in FACTS {
        assert_eq!(hunks(old, new, MAX_LINE_EDITS), (expected.to_string(), false), "{old:?} {new:?}");
    }
}

#[test]
fn names_stand_in_the_header_as_they_are() {
    let text = line_diff("/a \"b\"/ü\t.txt", "", "", MAX_LINE_EDITS).text;
    assert!(text.starts_with("Index: /a \"b\"/ü\t.txt\n=="), "{text}");
    assert!(text.ends_with("=\n--- /a \"b\"/ü\t.txt\toriginal\n+++ /a \"b\"/ü\t.txt\tmodified\n"), "{text}");
}

#[test]
fn with_too_many_edits_the_diff_is_made_of_parts() {
    let (old, new) = ("a\nb\nc\nd\ne\n", "a\nd\nc\nb\ne\n");
    let shortest = "@@ -1,5 +1,5 @@\n a\n-b\n-c\n d\n+c\n+b\n e\n";
    assert_eq!(hunks(old, new, 4), (shortest.to_owned(), false));
    assert_eq!(hunks(old, new, 3), (shortest.to_owned(), true));
    let (parts, coarse) = hunks("1\n2\n3\n4\n", "3\n4\n1\n2\n", 1);
    assert!(coarse);
    assert_eq!(apply("1\n2\n3\n4\n", &parts), "3\n4\n1\n2\n");
}

#[test]
fn many_scattered_changes_stay_small() {
    let lines = |end: &str| -> String {
        (0..60_000).map(|nth| format!("{nth}{}\n", if nth % 10 == 0 { end } else { "" })).collect()
    };
    let (old, new) = (lines(""), lines("!"));
    let (hunks, coarse) = hunks(&old, &new, 1_000);
    assert!(coarse && apply(&old, &hunks) == new);
    assert_eq!(hunks.lines().filter(|line| line.starts_with('-')).count(), 6_000);
}

#[test]
fn whole_lines_are_common_at_the_end() {
    for (old, new, tail) in [
        ("xa\nb\n", "ya\nb\n", 2),
        ("b\n", "a\nb\n", 2),
        ("b\n", "ab\n", 0),
        ("a\nb", "c\nb", 1),
        ("", "a\n", 0),
        ("\n", "\n\n", 1),
    ] {
        assert_eq!(common_tail(old.as_bytes(), new.as_bytes()), tail, "{old:?} {new:?}");
        assert_eq!(common_tail(new.as_bytes(), old.as_bytes()), tail, "{old:?} {new:?}");
    }
}

#[test]
fn one_change_in_a_large_text_is_exact() {
    let old: String = (0..300_000).map(|nth| format!("line {}\n", nth % 1_000)).collect();
    let at = old.len() / 2;
    let new = format!("{}+{}", &old[..at], &old[at..]);
    let (hunks, coarse) = hunks(&old, &new, MAX_LINE_EDITS);
    assert!(!coarse && hunks.lines().count() == 11, "{hunks}");
    assert!(apply(&old, &hunks) == new);
}

#[test]
fn a_new_and_an_emptied_file_are_exact_at_any_size() {
    let text = "line\n".repeat(2 * MAX_LINE_EDITS);
    assert!(!hunks("", &text, MAX_LINE_EDITS).1);
    assert!(!hunks(&text, "", MAX_LINE_EDITS).1);
}

#[test]
fn texts_that_have_little_in_common_take_bounded_work() {
    let numbered = |from: usize| -> String { (from..from + 30_000).map(|nth| format!("{nth}\n")).collect() };
    let (old, new) = (numbered(0), numbered(29_000));
    let (hunks, coarse) = hunks(&old, &new, MAX_LINE_EDITS);
    assert!(coarse && apply(&old, &hunks) == new);
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "b", "", "\r", "ü"]);
    (prop::collection::vec(line, 0..40), any::<bool>()).prop_map(|(lines, open)| {
        let end = if open || lines.is_empty() { "" } else { "\n" };
        lines.join("\n") + end
    })
}

proptest! {
    #[test]
    fn the_hunks_lead_from_old_to_new(old in text(), new in text(), max_edits in 0usize..80) {
        prop_assert_eq!(apply(&old, &hunks(&old, &new, max_edits).0), new);
    }
}

/// Changes of lines of a text, as a plan.
fn plan<'t>(old: &str, changes: &'t [(usize, usize, String)]) -> EditPlan<'t> {
    let starts: Vec<usize> =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', old.as_bytes()).map(|brk| brk + 1)).collect();
    let (mut splices, mut done) = (Vec::new(), 0);
    for (skip, gone, text) in changes {
        let start = (done + skip).min(starts.len() - 1);
        let end = (start + gone).min(starts.len() - 1);
        splices.push(Splice { at: starts[start]..starts[end], text: Cow::Borrowed(text.as_bytes()) });
        done = end;
    }
    EditPlan::new(splices, old.as_bytes()).unwrap()
}

fn after(old: &str, plan: &EditPlan) -> String {
    let mut new = Vec::new();
    plan.write_to(old.as_bytes(), &mut new).unwrap();
    String::from_utf8(new).unwrap()
}

#[test]
fn one_change_is_looked_for_in_its_own_lines_only() {
    let old: String = (0..300_000).map(|nth| format!("line {nth}\n")).collect();
    let changes = [(150_000, 2, "one\ntwo\nthree\n".to_owned()), (100_000, 1, String::new())];
    let plan = plan(&old, &changes);
    let windows = Windows::around(old.as_bytes(), &plan, MARGIN, usize::MAX).unwrap();
    assert!(windows.old.len() < 2_000 && windows.gaps == [149_996, 99_963, 0], "{:?}", windows.gaps);
    let diff = plan_diff("f", old.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap();
    assert_eq!(diff, line_diff("f", &old, &after(&old, &plan), MAX_LINE_EDITS));
}

#[test]
fn a_search_that_runs_on_through_like_lines_gets_more_of_them() {
    for (lines, coarse) in [(100_000, false), (2_000_000, true)] {
        let old = "a\n".repeat(lines);
        let changes = [(lines / 2, 1, "b\n".to_owned())];
        let plan = plan(&old, &changes);
        let diff =
            plan_diff("f", old.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap();
        assert_eq!(diff.coarse, coarse);
        let hunks = diff.text.strip_prefix(&header_of_f()).unwrap();
        // jsdiff finds an insertion, and a deletion at the end; a coarse diff, at the end of the window.
        assert_eq!(hunks.lines().count(), if coarse { 20 } else { 16 }, "{hunks}");
        assert!(apply(&old, hunks) == after(&old, &plan));
    }
}

#[test]
fn crlf_is_told_as_lf_and_a_text_that_is_not_that_of_the_plan_has_no_diff() {
    let old = "a\r\nb\r\n";
    let changes = [(0, 1, "c\r\n".to_owned())];
    let plan = plan(old, &changes);
    let diff =
        plan_diff("f", old.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap().text;
    assert_eq!(diff, header_of_f() + "@@ -1,2 +1,2 @@\n-a\n+c\n b\n");
    for other in ["", "a\r\nb\r\0", "a\n"] {
        assert_eq!(
            plan_diff("f", other.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)),
            None,
            "{other:?}"
        );
    }
    // What is no UTF-8 is shown as such.
    let wrong = plan_diff("f", b"a\r\nb \xff", &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap();
    assert!(wrong.text.contains("\n-a\n+c\n b \u{fffd}\n"), "{}", wrong.text);
}

/// The changes of all `needle`s of a text.
fn all_replaced<'t>(old: &str, needle: &str, by: &'t str) -> EditPlan<'t> {
    let splice = |(at, _)| Splice { at: at..at + needle.len(), text: Cow::Borrowed(by.as_bytes()) };
    EditPlan::new(old.match_indices(needle).map(splice).collect(), old.as_bytes()).unwrap()
}

#[test]
fn changes_whose_lines_are_too_long_together_are_left_out() {
    let old = "one line with a word\n".repeat(2 * MAX_TEXT / 20);
    for (needle, by) in [("word", "w"), ("one line with a word\n", ""), ("word\n", "word\nand\n")] {
        let (plan, count) = (all_replaced(&old, needle, by), old.matches(needle).count());
        let diff =
            plan_diff("f", old.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap();
        assert!(diff.coarse && 0 < diff.left_out && diff.left_out < count, "{}", diff.left_out);
        assert!(diff.text.len() < 4 * MAX_TEXT && diff.text.lines().count() == diff.lines);
        let shown = plan_diff("f", old.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(60_000)).unwrap();
        assert!(shown.text.len() <= 60_000 && shown.text.ends_with('\n') && shown.left_out > diff.left_out);
        assert!(shown.text.lines().count() < shown.lines, "{needle}: {}", shown.lines);
    }
}

#[test]
fn a_line_that_is_too_long_is_left_out_with_those_behind_it() {
    let long = "word ".repeat(2 * MAX_TEXT / 5);
    let plan = all_replaced(&long, "word", "w");
    let diff = plan_diff("f", long.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap();
    assert_eq!((diff.text, diff.lines, diff.left_out), (header_of_f(), 4, long.len() / 5));

    let old = format!("a\nword\nb\n{long}\nword\n");
    let plan = all_replaced(&old, "word", "w");
    let diff = plan_diff("f", old.as_bytes(), &plan, MAX_LINE_EDITS, DiffSize::bytes(usize::MAX)).unwrap();
    assert_eq!(diff.text, header_of_f() + "@@ -1,3 +1,3 @@\n a\n-word\n+w\n b\n");
    assert_eq!(diff.left_out, long.len() / 5 + 1);
}

proptest! {
    #[test]
    fn the_diff_of_the_first_changes_leads_to_them(
        lines in prop::collection::vec(prop::sample::select(vec!["a", "b", "ab"]), 0..200),
        changes in prop::collection::vec((0..40usize, 0..4usize, "((a|b)?\n){0,3}"), 1..6),
        room in 0..300usize,
    ) {
        let old = lines.join("\n") + "\n";
        let all = plan(&old, &changes);
        prop_assume!(!all.changes_nothing());
        let windows = Windows::of_first(old.as_bytes(), &all, CONTEXT, room).unwrap();
        prop_assert!(windows.old.len().max(windows.new.len()) <= room + 8 * changes.len());
        let first: Vec<Splice> = all.splices().take(all.splices().count() - windows.left_out).collect();
        let first = EditPlan::new(first, old.as_bytes()).unwrap();
        let diff = written("f", &windows, &coarse(&windows, MAX_LINE_EDITS), true, DiffSize::bytes(usize::MAX)).text;
        prop_assert_eq!(apply(&old, diff.strip_prefix(&header_of_f()).unwrap()), after(&old, &first));
    }

    #[test]
    fn a_bounded_diff_is_the_start_of_the_whole_one(old in text(), new in text(), most in 0..400usize) {
        let windows = Windows { old, new, ..Windows::default() };
        let runs = coarse(&windows, MAX_LINE_EDITS);
        let whole = written("f", &windows, &runs, true, DiffSize::bytes(usize::MAX));
        let part = written("f", &windows, &runs, true, DiffSize::bytes(most));
        let fits: usize =
            whole.text.split_inclusive('\n').scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            }).take_while(|end| *end <= most).last().unwrap_or(0);
        prop_assert_eq!((part.text.as_str(), part.lines), (&whole.text[..fits], whole.lines));
    }
}

proptest! {
    // Few texts need what is outside of the windows.
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn the_diff_of_the_windows_is_that_of_the_whole_texts(
        // Of like lines, a change may as well stand far from where it was made.
        lines in prop_oneof![
            prop::collection::vec(prop::sample::select(vec!["a", "b", "", "c", "\r", "ü"]), 0..200),
            prop::collection::vec(prop::sample::select(vec!["a", "a", "a", "a", "a", "a", "a", "a", "a", "b"]), 0..200),
        ],
        changes in prop::collection::vec((0..40usize, 0..4usize, "((a|b|ü)?\n){0,3}"), 0..6),
        open in any::<bool>(),
        max_edits in prop::sample::select(vec![3, 1_000]),
    ) {
        let old = lines.join("\n") + if open { "" } else { "\n" };
        let plan = plan(&old, &changes);
        let new = after(&old, &plan);
        let diff = diff_from("f", old.as_bytes(), &plan, max_edits, (CONTEXT, DiffSize::bytes(usize::MAX))).unwrap();
        let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        if !diff.coarse {
            prop_assert_eq!(&diff.text, &line_diff("f", &old, &new, MAX_LINE_EDITS).text);
        }
        prop_assert_eq!(apply(&old, diff.text.strip_prefix(&header_of_f()).unwrap()), new);
    }
}

proptest! {
    #[test]
    fn the_coarse_diff_of_the_windows_leads_from_old_to_new(
        lines in prop::collection::vec(prop::sample::select(vec!["a", "b", ""]), 0..200),
        changes in prop::collection::vec((0..40usize, 0..4usize, "((a|b)?\n){0,3}"), 1..6),
        max_edits in 0..20usize,
    ) {
        let old = lines.join("\n") + "\n";
        let plan = plan(&old, &changes);
        prop_assume!(!plan.changes_nothing());
        let windows = Windows::around(old.as_bytes(), &plan, CONTEXT, usize::MAX).unwrap();
        let diff = written("f", &windows, &coarse(&windows, max_edits), true, DiffSize::bytes(usize::MAX)).text;
        prop_assert_eq!(apply(&old, diff.strip_prefix(&header_of_f()).unwrap()), after(&old, &plan));
        prop_assert!(!diff.contains('\0'));
    }
}
