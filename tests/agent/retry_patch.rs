//! `retry` of a patch: the hunks and files that did not fit are corrected, and nothing else is lost.

use serde_json::json;

use super::retry::refused;
use super::{serve, without_id};
use crate::support::{Folder, Mcp};
use crate::trees::put;

/// A patch of one file in which each hunk puts a new line in the place of a line, behind another one.
fn patch(name: &str, hunks: &[(&str, &str, &str)]) -> String {
    let hunk =
        |(above, old, new): &(&str, &str, &str)| format!("@@ -1,2 +1,2 @@\n {above}\n-{old}\n+{new}\n");
    format!("--- a/{name}\n+++ b/{name}\n{}", hunks.iter().map(hunk).collect::<String>())
}

const THREE: [(&str, &str, &str); 3] = [("1", "2", "two"), ("4", "V", "five"), ("7", "8", "eight")];

const DONE: &str = "1\ntwo\n3\n4\nfive\n6\n7\neight\n9\n";

fn fill(folder: &Folder) {
    put(folder, "d/a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    put(folder, "b", "x\ny\n");
}

#[test]
fn a_corrected_hunk_takes_the_place_of_the_one_that_did_not_fit_and_the_others_stay() {
    for corrected in [
        &[("4", "5", "five")][..],
        // The whole file again, or some of what fits.
        &[("1", "2", "two"), ("4", "5", "five"), ("7", "8", "eight")],
        &[("7", "8", "eight"), ("4", "5", "five")],
    ] {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, &[]);
        let whole = patch("d/a", &THREE) + &patch("b", &[("x", "y", "z")]);
        let text = refused(&server, &folder, json!({ "patch": whole }));
        assert!(text.contains("patch: d/a: hunk 2 of this file: "), "{text}");
        let text = server.ok("edit", json!({ "retry": "r1", "patch": patch("d/a", corrected) }));
        assert!(text.starts_with("Changed 4 places in 2 files"), "{text}");
        assert_eq!((folder.text("d/a"), folder.text("b")), (DONE.into(), "x\nz\n".into()));
    }
}

#[test]
fn fewer_hunks_than_did_not_fit_are_refused_and_one_that_was_not_corrected_is_told_again() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let hunks = [("1", "2", "two"), ("4", "V", "five"), ("7", "VIII", "eight")];
    let whole = patch("d/a", &hunks) + &patch("b", &[("x", "y", "z")]);
    refused(&server, &folder, json!({ "patch": whole }));
    let one = json!({ "retry": "r1", "patch": patch("d/a", &[("4", "5", "five")]) });
    let text = refused(&server, &folder, one);
    assert!(text.contains("2 hunks of 'd/a' did not fit, and it has fewer"), "{text}");
    let same = json!({ "retry": "r1", "patch": patch("d/a", &[("1", "2", "two")]) });
    let text = refused(&server, &folder, same);
    assert!(text.contains("hunk 2 of this file") && text.contains("hunk 3 of this file"), "{text}");
    let both = patch("d/a", &[("4", "5", "five"), ("7", "8", "eight")]);
    server.ok("edit", json!({ "retry": "r1", "patch": both }));
    assert_eq!(folder.text("d/a"), DONE);
}

#[test]
fn of_two_hunks_that_overlap_one_takes_the_place() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let hunks = [("1", "2", "two"), ("4", "5", "five"), ("4", "5", "V")];
    let whole = patch("d/a", &hunks) + &patch("b", &[("x", "y", "z")]);
    let text = refused(&server, &folder, json!({ "patch": whole }));
    assert!(text.contains("make one hunk of both"), "{text}");
    server.ok("edit", json!({ "retry": "r1", "patch": patch("d/a", &[("4", "5", "5\n+V")]) }));
    assert_eq!(folder.text("d/a"), "1\ntwo\n3\n4\n5\nV\n6\n7\n8\n9\n");
}

#[test]
fn a_wrong_path_is_corrected_by_the_same_hunks_under_another_one() {
    for (wrong, right) in [("e/a", "d/a"), ("d/q", "d/a")] {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, &[]);
        let hunks = [("1", "2", "two"), ("4", "5", "five"), ("7", "8", "eight")];
        let whole = patch(wrong, &hunks) + &patch("b", &[("x", "y", "z")]);
        refused(&server, &folder, json!({ "patch": whole }));
        server.ok("edit", json!({ "retry": "r1", "patch": patch(right, &hunks[..1]) }));
        assert_eq!((folder.text("d/a"), folder.text("b")), (DONE.into(), "x\nz\n".into()), "{wrong}");
    }
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let other = patch("q/w", &[("1", "2", "two"), ("4", "5", "five")]) + &patch("b", &[("x", "y", "z")]);
    refused(&server, &folder, json!({ "patch": other }));
    let text = refused(&server, &folder, json!({ "retry": "r1", "patch": patch("d/a", &[("4", "5", "V")]) }));
    assert!(text.contains("the failed call has no 'd/a'"), "nothing says that it is the same file: {text}");
    server.ok("edit", json!({ "retry": "r1", "edits": [{ "n": 1, "path": "d/a" }] }));
    assert_eq!(folder.text("d/a"), "1\ntwo\n3\n4\nfive\n6\n7\n8\n9\n", "a path alone");
}

#[test]
fn the_hunks_of_a_file_that_is_renamed_are_corrected_under_either_name() {
    for name in ["d/a", "n"] {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, &[]);
        let hunks = patch("x", &THREE).split_once("@@").expect("hunks").1.to_owned();
        let renamed =
            format!("diff --git a/d/a b/n\nrename from d/a\nrename to n\n--- a/d/a\n+++ b/n\n@@{hunks}");
        refused(&server, &folder, json!({ "patch": renamed }));
        server.ok("edit", json!({ "retry": "r1", "patch": patch(name, &[("4", "5", "five")]) }));
        assert_eq!(folder.text("n"), DONE, "{name}");
        assert!(!folder.path().join("d/a").exists());
    }
}

#[test]
fn hunks_that_do_not_fit_are_left_out_or_replaced_by_an_edit() {
    for (correction, line) in
        [(json!({ "n": 1, "skip": true }), "5"), (json!({ "n": 1, "old": "5", "new": "five" }), "five")]
    {
        let folder = Folder::new();
        fill(&folder);
        let server = serve(&folder, &[]);
        let whole = patch("d/a", &THREE) + &patch("b", &[("x", "y", "z")]);
        refused(&server, &folder, json!({ "patch": whole }));
        let text = without_id(&server.ok("edit", json!({ "retry": "r1", "edits": [correction] })));
        assert_eq!(folder.text("d/a"), DONE.replace("five", line), "{text}");
        assert_eq!(folder.text("b"), "x\nz\n");
    }
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let whole = patch("q", &THREE) + &patch("b", &[("x", "y", "z")]);
    refused(&server, &folder, json!({ "patch": whole }));
    let one = json!({ "retry": "r1", "edits": [{ "n": 1, "path": "d/a", "old": "5", "new": "five" }] });
    let text = refused(&server, &folder, one);
    assert!(text.contains("it would take the place of 3 hunks"), "{text}");
}

#[test]
fn a_deletion_whose_lines_are_not_in_the_file_is_left_out_or_moved_as_a_whole() {
    let deletion = "diff --git a/b b/b\ndeleted file mode 100644\n--- a/b\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-x1\n-x2\n-x3\n";
    let shorter = deletion.replace("-1,3", "-1,1").replace("-x1\n-x2\n-x3\n", "-x\n");
    let added = "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+new\n";
    for (failing, numbers) in [(deletion, 1..3), (&shorter, 1..3), (added, 1..2)] {
        for number in numbers {
            let folder = Folder::new();
            fill(&folder);
            let server = serve(&folder, &[]);
            let whole = failing.to_owned() + &patch("d/a", &[("1", "2", "two")]);
            refused(&server, &folder, json!({ "patch": whole }));
            server.ok("edit", json!({ "retry": "r1", "edits": [{ "n": number, "skip": true }] }));
            assert_eq!(folder.text("b"), "x\ny\n", "{failing}: {number}");
            assert_eq!(folder.text("d/a"), "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n");
        }
    }
    // Of a single file nothing is left.
    let folder = Folder::new();
    fill(&folder);
    put(&folder, "c", "x1\nx2\nx3\n");
    let server = serve(&folder, &[]);
    refused(&server, &folder, json!({ "patch": deletion }));
    let text = refused(&server, &folder, json!({ "retry": "r1", "edits": [{ "n": 1, "skip": true }] }));
    assert!(text.contains("all of them are left out"), "{text}");
    // The lines are those of another file: that one is deleted.
    server.ok("edit", json!({ "retry": "r1", "edits": [{ "n": 1, "path": "c" }] }));
    assert!(folder.path().join("b").exists() && !folder.path().join("c").exists());
    // Another edit takes the place of the deletion.
    refused(&server, &folder, json!({ "patch": deletion }));
    server.ok("edit", json!({ "retry": "r2", "edits": [{ "n": 1, "old": "x", "new": "X" }] }));
    assert_eq!(folder.text("b"), "X\ny\n");
}

#[test]
fn an_edit_of_any_kind_in_the_place_of_a_hunk_keeps_the_other_hunks() {
    for (correction, at) in [
        (json!({ "n": 1, "append": "10\n" }), "d/a"),
        (json!({ "n": 1, "move_to": "n" }), "n"),
        (json!({ "n": 1, "copy_to": "n" }), "n"),
        #[cfg(feature = "toolkit")]
        (json!({ "n": 1, "symbol": "f", "new": "fn f() {}" }), "s.rs"),
    ] {
        let folder = Folder::new();
        let name = if at == "s.rs" { at } else { "d/a" };
        put(&folder, name, "fn f() { 1 }\n1\n2\n3\n4\n");
        let server = serve(&folder, &[]);
        let whole = patch(name, &[("1", "2", "two"), ("3", "V", "five")])
            + "--- /dev/null\n+++ b/k\n@@ -0,0 +1 @@\n+k\n";
        refused(&server, &folder, json!({ "patch": whole }));
        let text = server.ok("edit", json!({ "retry": "r1", "edits": [correction] }));
        assert!(folder.text(at).contains("\n1\ntwo\n3\n"), "{at}: {text}");
    }
}

#[test]
fn a_patch_does_not_take_the_place_of_edits_that_it_has_not() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let edits = json!([
        { "path": "b", "old": "x", "new": "X" },
        { "path": "b", "old": "q", "new": "Q" },
        { "path": "../z", "old": "q", "new": "Q" },
    ]);
    refused(&server, &folder, json!({ "edits": edits }));
    let text = refused(&server, &folder, json!({ "retry": "r1", "patch": patch("b", &[("x", "y", "Y")]) }));
    assert!(text.contains("patch: the failed call has edits; give the corrected ones as edits"), "{text}");
    // An edit has taken the place of a hunk, and does not fit either.
    let whole = patch("d/a", &THREE) + &patch("b", &[("x", "y", "z")]);
    refused(&server, &folder, json!({ "patch": whole }));
    refused(&server, &folder, json!({ "retry": "r2", "edits": [{ "n": 1, "old": "V", "new": "five" }] }));
    let again = json!({ "retry": "r3", "patch": patch("d/a", &[("4", "5", "five")]) });
    let text = refused(&server, &folder, again);
    assert!(text.contains("patch: 'd/a' has edits that it would take the place of"), "{text}");
    // A copy of the file is no edit of it.
    let copy =
        patch("d/a", &THREE) + "diff --git a/d/a b/c\nsimilarity index 100%\ncopy from d/a\ncopy to c\n";
    refused(&server, &folder, json!({ "patch": copy }));
    server.ok("edit", json!({ "retry": "r4", "patch": patch("d/a", &[("4", "5", "five")]) }));
    assert_eq!((folder.text("d/a"), folder.text("c")), (DONE.into(), "1\n2\n3\n4\n5\n6\n7\n8\n9\n".into()));
}

#[test]
fn the_hunks_of_a_rename_that_is_left_out_are_for_the_file_where_it_is() {
    let folder = Folder::new();
    fill(&folder);
    put(&folder, "n", "1\n2\n3\n");
    let server = serve(&folder, &[]);
    let renamed = "diff --git a/d/a b/n\nrename from d/a\nrename to n\n--- a/d/a\n+++ b/n\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n";
    refused(&server, &folder, json!({ "patch": renamed }));
    server.ok("edit", json!({ "retry": "r1", "edits": [{ "n": 1, "skip": true }] }));
    assert_eq!(
        (folder.text("d/a"), folder.text("n")),
        ("1\ntwo\n3\n4\n5\n6\n7\n8\n9\n".into(), "1\n2\n3\n".into())
    );
}
