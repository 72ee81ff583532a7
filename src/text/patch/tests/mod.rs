//! What patches mean, and where they fit: by examples, at random, and beside the programs `git` and `patch`.

mod programs;
mod reading;
mod refusals;
mod script;

use super::*;
use crate::Unstopped;
use crate::lines::LineIndex;

/// What the hunks of a patch for one file make of a text.
fn applied_by(hunks: &[Hunk], old: &str) -> Result<String, Vec<HunkProblem>> {
    let index = LineIndex::build(old.as_bytes()).unwrap();
    match place(hunks, &index, old.as_bytes(), &Unstopped) {
        Ok(placed) => {
            let placed = placed.expect("the index fits");
            assert_eq!(placed.lines.len(), hunks.len());
            let mut new = Vec::new();
            placed.plan.write_to(old.as_bytes(), &mut new).unwrap();
            Ok(String::from_utf8(new).expect("text"))
        }
        Err(Unplaced::Problems(problems)) => Err(problems),
        Err(Unplaced::Stopped(_)) => panic!("nobody stops it"),
    }
}

fn only_file(patch: &str) -> FilePatch {
    let files = parse(patch).unwrap_or_else(|problem| panic!("{problem:?}: {patch}"));
    let [file] = &files[..] else { panic!("{} files: {patch}", files.len()) };
    file.clone()
}

fn applied(old: &str, patch: &str) -> Result<String, Vec<HunkProblem>> {
    applied_by(&only_file(patch).hunks, old)
}

/// Hunks as a patch for the file `f`.
fn diff(hunks: &str) -> String {
    format!("--- a/f\n+++ b/f\n{hunks}")
}

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

#[track_caller]
fn gives(old: &str, patch: &str, new: &str) {
    assert_eq!(applied(old, patch).as_deref(), Ok(new), "{patch}");
}

#[test]
fn hunks_are_found_by_their_lines_whatever_their_numbers_are() {
    let hunk = |head: &str| diff(&format!("{head}\n b\n-c\n+C\n d\n"));
    for head in
        ["@@ -2,3 +2,3 @@", "@@ -200,3 +300,3 @@", "@@ -1,30 +1 @@", "@@", "@@ -2 +2 @@ a", "@@ ... @@"]
    {
        gives("a\nb\nc\nd\n", &hunk(head), "a\nb\nC\nd\n");
    }
    gives("a\nb\nc\nd\n", "--- f\n+++ f\n b\n-c\n+C\n d\n", "a\nb\nC\nd\n");
    gives("a\nb\nc\nd\n", &envelope("@@\n b\n-c\n+C\n d\n"), "a\nb\nC\nd\n");
    gives("a\nb\nc\nd\n", &envelope(" b\n-c\n+C\n"), "a\nb\nC\nd\n");
}

#[test]
fn numbers_beyond_any_file_are_hints_too() {
    for number in
        ["9223372036854775807", "9223372036854775809", "18446744073709551615", "99999999999999999999"]
    {
        let hunk = |old: &str, new: &str| format!("@@ -{number},{number} +{number} @@\n-{old}\n+{new}\n");
        gives("a\nb\n", &diff(&(hunk("a", "A") + &hunk("b", "B"))), "A\nB\n");
        let added = applied("a\n", &diff(&format!("@@ -{number},0 +1 @@\n+x\n")));
        let is_nowhere =
            |reason: &HunkReason| matches!(reason, HunkReason::PastEnd { .. } | HunkReason::NoPlace);
        assert!(added.unwrap_err().iter().all(|problem| is_nowhere(&problem.reason)));
    }
}

#[test]
fn several_hunks_are_applied_in_the_order_of_the_file() {
    let old = "a\nb\nc\nd\ne\nf\n";
    gives(old, &diff("@@ -5 +4 @@\n-e\n+E\n@@ -1,2 +1 @@\n-a\n b\n"), "b\nc\nd\nE\nf\n");
    gives(old, &envelope("@@\n-e\n+E\n@@\n-a\n b\n"), "b\nc\nd\nE\nf\n");
}

#[test]
fn lines_that_stay_may_belong_to_two_hunks() {
    gives("a\nb\nc\n", &diff("@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n"), "A\nb\nC\n");
    gives("a\nb\n", &diff("@@ -1,1 +1,2 @@\n a\n+x\n@@ -2,1 +3,2 @@\n+y\n b\n"), "a\nx\ny\nb\n");
}

#[test]
fn the_file_keeps_its_breaks_and_its_mark() {
    let patch = diff("@@ -1,3 +1,4 @@\n a\n-b\n+B\n+x\n c\n");
    gives("a\r\nb\r\nc\r\n", &patch, "a\r\nB\r\nx\r\nc\r\n");
    gives("a\rb\rc", &patch, "a\rB\rx\rc");
    gives("a\nb\r\nc", &patch, "a\nB\r\nx\r\nc");
    gives("\u{FEFF}a\nb\nc\n", &patch, "\u{FEFF}a\nB\nx\nc\n");
    gives("a\nb\nc\n", &patch.replace('\n', "\r\n"), "a\nB\nx\nc\n");
    let first = diff("@@ -1 +1 @@\n-\u{FEFF}a\n+\u{FEFF}A\n");
    gives("\u{FEFF}a\nb\n", &first, "\u{FEFF}A\nb\n");
    gives("a\nb\n", &first, "A\nb\n");
    gives("a\n", &diff("@@ -1 +1 @@\n-a\n+\u{FEFF}a\n"), "\u{FEFF}a\n");
    // A file of old Macs is one line for git.
    gives(
        "a\rb\rc",
        "--- f\n+++ f\n@@ -1 +1 @@\n-a\rb\rc\n\\ No newline at end of file\n+a\rB\rc\n\\ No newline at end of file\n",
        "a\rB\rc",
    );
}

#[test]
fn a_file_without_a_break_gets_those_of_the_patch() {
    let open = "\\ No newline at end of file\n";
    gives("", &diff(&format!("@@ -0,0 +1,2 @@\n+x\r\n+y\n{open}")), "x\r\ny");
    gives("", &diff("@@ -0,0 +1,3 @@\n+x\r\n+y\n+z\r\n"), "x\r\ny\nz\r\n");
    gives("a", &diff(&format!("@@ -1 +1,2 @@\n-a\n{open}+p\r\n+q\r\n")), "p\r\nq\r\n");
    gives("a", &diff(&format!("@@ -1 +1,2 @@\n+p\r\n a\n{open}")), "p\r\na");
    gives("a", &diff(&format!("@@ -1 +1,3 @@\n+p\r\n a\n{open}+q\r\n+r\n")), "p\r\na\r\nq\r\nr\n");
    gives("a", &diff("@@ -1 +1,2 @@\n-a\n+b\n+c\n").replace('\n', "\r\n"), "b\nc");
    gives("a\n", &diff("@@ -1 +1,2 @@\n-a\n+p\r\n+q\r\n"), "p\nq\n");
}

#[test]
fn lines_are_put_above_the_first_one() {
    gives("1\n2\n", &diff("@@ -0,0 +1,2 @@\n+x\n+y\n"), "x\ny\n1\n2\n");
}

#[test]
fn the_break_at_the_end_changes_only_if_the_patch_says_so() {
    let marked = "\\ No newline at end of file\n";
    let plain = diff("@@ -2 +2 @@\n-b\n+B\n");
    gives("a\nb", &plain, "a\nB");
    gives("a\nb\n", &plain, "a\nB\n");
    let added = diff(&format!("@@ -2 +2 @@\n-b\n{marked}+b\n"));
    gives("a\nb", &added, "a\nb\n");
    gives("a\nb\nc\n", &added, "a\nb\nc\n");
    let removed = diff(&format!("@@ -2 +2 @@\n-b\n+b\n{marked}\n"));
    gives("a\nb\n", &removed, "a\nb");
    gives("a\r\nb\r\n", &removed, "a\r\nb");
    gives("a\nb\nc\n", &removed, "a\nb\nc\n");
    let both = diff(&format!("@@ -1,2 +1,3 @@\n a\n-b\n{marked}+b\n+c\n{marked}"));
    gives("a\nb", &both, "a\nb\nc");
    let appended = diff(&format!("@@ -2 +2,2 @@\n b\n+c\n{marked}"));
    gives("a\nb\n", &appended, "a\nb\nc");
    gives("a\nb", &diff("@@ -2 +2,2 @@\n b\n+c\n"), "a\nb\nc");
    gives("a\nb", &diff("@@ -1,2 +1 @@\n a\n-b\n"), "a\n");
    gives("a\n", &diff("@@ -1 +1,3 @@\n a\n+\n+\n"), "a\n\n\n");
    gives("", &diff("@@ -0,0 +1,2 @@\n+a\n+b\n"), "a\nb\n");
    gives("", &diff(&format!("@@ -0,0 +1 @@\n+a\n{marked}")), "a");
    gives("a\nb\n", &diff("@@ -1,2 +0,0 @@\n-a\n-b\n"), "");
}

#[test]
fn lines_without_context_go_to_their_number_or_to_the_end() {
    let old = "a\nb\nc\n";
    gives(old, &diff("@@ -1,0 +2 @@\n+x\n"), "a\nx\nb\nc\n");
    gives(old, &diff("@@ -0,0 +1 @@\n+x\n"), "x\na\nb\nc\n");
    gives(old, &diff("@@ -3,0 +4 @@\n+x\n"), "a\nb\nc\nx\n");
    gives(old, &envelope("@@\n+x\n"), "a\nb\nc\nx\n");
    gives(old, &envelope("+x\n+y\n"), "a\nb\nc\nx\ny\n");
    gives("a\nb\nc", &envelope("+x\n"), "a\nb\nc\nx");
    // The hunk before it was found two lines below its number.
    gives("0\n0\na\nb\nc\n", &diff("@@ -1 +1 @@\n-a\n+A\n@@ -2,0 +3 @@\n+x\n"), "0\n0\nA\nb\nx\nc\n");
}

#[test]
fn the_nearest_place_is_meant_if_there_is_one() {
    let old = "x\n1\nx\n2\nx\n3\nx\n";
    let at = |number: usize| diff(&format!("@@ -{number} +{number} @@\n-x\n+X\n"));
    gives(old, &at(5), "x\n1\nx\n2\nX\n3\nx\n");
    gives(old, &at(50), "x\n1\nx\n2\nx\n3\nX\n");
    // The first hunk is found two lines below its number, so the second one is, too.
    let both = diff("@@ -2 +2 @@\n-2\n+two\n@@ -3 +3 @@\n-x\n+X\n");
    gives(old, &both, "x\n1\nx\ntwo\nX\n3\nx\n");
    let problems = applied(old, &at(4)).unwrap_err();
    let reason = HunkReason::Ambiguous { lines: vec![0, 2, 4, 6], total: 4 };
    assert_eq!(problems, [HunkProblem { hunk: 0, reason }]);
}

#[test]
fn the_line_behind_the_marks_decides_where_numbers_do_not() {
    let old = "def one():\n    x = 1\n    return x\n\ndef two():\n    x = 1\n    return x\n";
    let two = "def one():\n    x = 1\n    return x\n\ndef two():\n    x = 2\n    return x\n";
    for header in
        ["@@ def two():", "@@ def two", "@@ def two @@", "@@ -4,1 +4,1 @@ def two():", "@@  def two():"]
    {
        gives(old, &diff(&format!("{header}\n-    x = 1\n+    x = 2\n")), two);
    }
    let class =
        "class A:\n  def f(self):\n    pass\n  def g(self):\n    pass\nclass B:\n  def f(self):\n    pass\n";
    gives(class, &envelope("@@ class B\n@@   def f(self):\n-    pass\n+    go()\n"), &{
        let (head, _) = class.rsplit_once("pass").unwrap();
        format!("{head}go()\n")
    });
    let wrong = envelope("@@ def\n-    x = 1\n+    x = 2\n");
    let reason = HunkReason::Ambiguous { lines: vec![1, 5], total: 2 };
    assert_eq!(applied(old, &wrong), Err(vec![HunkProblem { hunk: 0, reason }]));
    let notes = "# One\n\ntext\n\n- x\n\n# Two\n\ntext\n\n- x\n";
    gives(notes, &envelope("@@ # Two\n-- x\n+- y\n"), "# One\n\ntext\n\n- x\n\n# Two\n\ntext\n\n- y\n");
}

#[test]
fn a_hunk_of_the_end_is_found_there() {
    let old = "x\ny\nx\n";
    gives(old, &envelope("@@\n-x\n+z\n*** End of File\n"), "x\ny\nz\n");
    gives(
        "x\ny\nx",
        &diff("@@\n-x\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n"),
        "x\ny\nz",
    );
    assert!(applied(old, &envelope("@@\n-x\n+z\n")).is_err());
}

#[test]
fn many_hunks_are_found_in_a_long_text_that_has_moved() {
    let line = |nth: usize| format!("{{ line {nth}\n}}\n");
    let old: String = (0..20_000).map(line).collect();
    let hunk = |nth: usize| {
        let (at, number) = (nth * 10, nth * 20 + 1);
        format!("@@ -{number},3 +{number},3 @@\n-{{ line {at}\n+{{ new {at}\n }}\n {{ line {}\n", at + 1)
    };
    let patch = diff(&(0..2_000).map(hunk).collect::<String>());
    let new = |nth: usize| if nth.is_multiple_of(10) { format!("{{ new {nth}\n}}\n") } else { line(nth) };
    let expected: String = (0..20_000).map(new).collect();
    gives(&format!("first\n{old}"), &patch, &format!("first\n{expected}"));
    // Without numbers, and in the opposite order.
    let hunks: String =
        (0..2_000).rev().map(|nth| hunk(nth).replacen(|c: char| c.is_ascii_digit(), "", 1)).collect();
    gives(&old, &diff(&hunks), &expected);
}

#[test]
fn equal_lines_everywhere_are_places_too() {
    let old = "a\n".repeat(3_000);
    let hunk = |nth: usize| format!("@@ -{}000 +1 @@\n{}-a\n+b\n", nth + 5, " a\n".repeat(nth));
    let patch = diff(&(1..60).map(hunk).collect::<String>());
    assert!(applied(&old, &patch).is_err());
    let one = diff("@@ -3000 +3000 @@\n-a\n+b\n");
    gives(&old, &one, &format!("{}b\n", "a\n".repeat(2_999)));
}
