//! Hunks that are refused, and what is said of them.

use super::*;
use crate::{Stop, Stopped};

fn reasons(old: &str, patch: &str) -> Vec<HunkReason> {
    applied(old, patch).unwrap_err().into_iter().map(|problem| problem.reason).collect()
}

#[test]
fn lines_that_differ_in_blanks_are_shown_and_not_changed() {
    let old = "fn main() {\n    let total = add(1, 2);\n    show(total);\n}\n";
    for hunk in [
        "@@ -2,2 +2,2 @@\n   let total = add(1, 2);\n-  show(total);\n+  print(total);\n",
        "@@ -2,2 +2,2 @@\n     let total = add(1, 2); \n-    show(total);\n+    print(total);\n",
    ] {
        let reasons = reasons(old, &diff(hunk));
        let [HunkReason::NotFound { difference: Some(first), diagnosis: Some(diagnosis) }] = &reasons[..]
        else {
            panic!("{reasons:?}");
        };
        assert_eq!((first.old_line, first.line), (0, 1));
        assert_eq!(first.found.as_deref(), Some("    let total = add(1, 2);"));
        assert_eq!(diagnosis.similar[0].passage.line, 1);
    }
}

#[test]
fn the_first_line_that_differs_is_told_in_a_file_with_other_breaks() {
    let old = "alpha one\r\nbeta two\r\ngamma three\r\n";
    let reasons = reasons(old, &diff("@@ -1,3 +1,3 @@\n alpha one\n-beta too\n+beta 2\n gamma three\n"));
    let [HunkReason::NotFound { difference: Some(first), .. }] = &reasons[..] else { panic!("{reasons:?}") };
    let expected =
        FirstDifference { old_line: 1, expected: "beta too".into(), line: 1, found: Some("beta two".into()) };
    assert_eq!(*first, expected);
}

#[test]
fn a_hunk_that_fits_nowhere_is_compared_line_by_line_where_it_fits_best() {
    let old = "import os\nclass A:\n    x = 1\n    y += 1\nimport os\nif a:\n    19\n    return x\nx = 1\n";
    for (hunk, line) in [
        ("@@ -3,2 +3,2 @@\n-k   x = 1\n+new\n     y += 1\n", 2),
        ("@@ -8,2 +8,2 @@\n- z  return x\n+new\n x = 1\n", 7),
        ("@@\n- z  return x\n+new\n x = 1\n", 7),
        ("@@ -3,2 +3,2 @@\n-something else\n+new\n     y += 1\n", 2),
        // In two places as well: the nearest to the line that it names, else the first.
        ("@@ -5,2 +5,2 @@\n import os\n-nothing like it\n+new\n", 5),
        ("@@\n import os\n-nothing like it\n+new\n", 1),
    ] {
        let reasons = reasons(old, &diff(hunk));
        let [HunkReason::NotFound { difference: Some(first), diagnosis: Some(found) }] = &reasons[..] else {
            panic!("{hunk}: {reasons:?}");
        };
        assert_eq!(first.line, line, "{hunk}: {first:?}");
        if let Some(similar) = found.similar.first() {
            assert_eq!(similar.passage.line + first.old_line, line, "{hunk}: {similar:?}");
        }
    }
}

#[test]
fn a_patch_that_was_applied_already_is_said_to_be() {
    let patch = diff("@@ -1,3 +1,3 @@\n alpha\n-beta\n+a wholly new line\n gamma\n");
    let reasons = reasons("alpha\na wholly new line\ngamma\n", &patch);
    let [HunkReason::NotFound { diagnosis: Some(diagnosis), .. }] = &reasons[..] else {
        panic!("{reasons:?}")
    };
    assert!(!diagnosis.already_applied.is_empty());
}

#[test]
fn every_hunk_that_does_not_fit_is_told_and_nothing_changes() {
    let patch = diff("@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-z\n+Z\n@@\n-x\n+X\n@@\n+y\n@@ -90,0 +91 @@\n+y\n");
    let problems = applied("a\nx\nx\n", &patch).unwrap_err();
    let hunks: Vec<usize> = problems.iter().map(|problem| problem.hunk).collect();
    assert_eq!(hunks, [1, 2, 3, 4]);
    assert!(matches!(problems[0].reason, HunkReason::NotFound { .. }));
    assert_eq!(problems[1].reason, HunkReason::Ambiguous { lines: vec![1, 2], total: 2 });
    assert_eq!(problems[2].reason, HunkReason::NoPlace);
    assert_eq!(problems[3].reason, HunkReason::PastEnd { line: 90, total: 3 });
}

#[test]
fn hunks_that_change_the_same_lines_are_refused() {
    let overlap = |with| HunkReason::Overlap { with };
    let old = "a\nb\nc\nd\n";
    assert_eq!(reasons(old, &diff("@@ -1 +1 @@\n-a\n+A\n@@ -1 +1 @@\n-a\n+B\n")), [overlap(0)]);
    // One changes a line that the other takes for one that stays.
    assert!(!reasons(old, &diff("@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n")).is_empty());
    assert!(
        !reasons(old, &diff("@@ -1,2 +1,3 @@\n a\n+x\n b\n@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n")).is_empty()
    );
    assert!(!reasons(old, &diff("@@ -2,0 +3 @@\n+x\n@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n")).is_empty());
}

#[test]
fn many_places_are_counted_and_the_first_are_named() {
    let reasons = reasons(&"x\n".repeat(500), &diff("@@\n-x\n+y\n"));
    let [HunkReason::Ambiguous { lines, total: 500 }] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(*lines, (0..20).collect::<Vec<_>>());
}

#[test]
fn text_within_a_line_is_no_place() {
    assert!(applied("xab\nabx\n", &diff("@@ -1 +1 @@\n-ab\n+c\n")).is_err());
    assert!(applied("a\nb", &diff("@@ -2,2 +2,2 @@\n b\n-\n+c\n")).is_err());
}

#[test]
fn a_caller_can_stop_it() {
    struct Stops;
    impl Stop for Stops {
        fn check(&self) -> Result<(), Stopped> {
            Err(Stopped::Cancelled)
        }
    }
    let (hunks, old) = (only_file(&diff("@@\n-x\n+y\n")).hunks, b"x\n");
    let index = LineIndex::build(old).unwrap();
    let stopped = place(&hunks, &index, old, &Stops);
    assert!(matches!(stopped, Err(Unplaced::Stopped(Stopped::Cancelled))));
}

#[test]
fn another_text_than_that_of_the_index_is_no_panic() {
    let hunks = only_file(&diff("@@ -2,2 +2,2 @@\n b\n-c\n+C\n")).hunks;
    let index = LineIndex::build(b"a\nb\nc\nd\n").unwrap();
    for other in ["", "a\nb\nc", "\n\n\n\n\n\n\n\n", "b\nc\n\n\n\n", "abcdefgh", "\r\r\r\r\r\r\r\r"] {
        _ = place(&hunks, &index, other.as_bytes(), &Unstopped);
    }
}
