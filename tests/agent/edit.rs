//! `edit`: what is changed, and what the answer says of it.

use serde_json::json;

use super::{edit, refused, serve, without_id};
use crate::support::{Folder, Mcp};
use crate::trees::{make, put};

const PYTHON: &str = "def f():\n    return 1\n\ndef g():\n    return 2\n";

#[test]
fn edits_of_many_kinds_in_many_files_happen_together_and_each_new_line_is_shown() {
    let folder = Folder::new();
    put(&folder, "src/a.py", PYTHON);
    put(&folder, "b", "1\n2\n3");
    let server = serve(&folder, &[]);
    let text = edit(
        &server,
        json!([
            { "path": "src/a.py", "old": "return 1", "new": "return 10" },
            { "path": "b", "lines": "2", "new": "two\n" },
            { "append": "4" },
        ]),
    );
    assert_eq!(text, "Changed 3 places in 2 files\nb:2: two\nb:4: 4\nsrc/a.py:2:     return 10");
    assert_eq!(folder.text("src/a.py"), PYTHON.replace("return 1", "return 10"));
    assert_eq!(folder.text("b"), "1\ntwo\n3\n4");
}

#[test]
fn each_edit_that_does_not_fit_is_explained_and_nothing_is_changed() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\n");
    put(&folder, "b", "x\nx\n");
    let server = serve(&folder, &[]);
    let text = refused(
        &server,
        &folder,
        json!([
            { "path": "a", "old": "tow", "new": "2" },
            { "path": "a", "old": "one", "new": "1" },
            { "path": "b", "old": "x", "new": "y" },
            { "path": "c", "lines": "1", "new": "y" },
            { "path": "a", "lines": "7-8", "new": "y" },
            { "path": "new/file", "content": "text" },
        ]),
    );
    for part in [
        "Nothing was changed: 4 of 6 edits do not fit, the others fit.",
        "Edit 1 of 6 failed: Could not find exact text in a.\nSimilar (66%):\n2: two\n",
        "Edit 3 of 6 failed: Expected 1 occurrence but found 2 in b. Give old with more of the text around, all, or count 2:\n1: x\n2: x\n",
        "Edit 4 of 6: File 'c' not found",
        "Edit 5 of 6: Line 7 out of range",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("Edit 2 of 6") && !text.contains("Edit 6 of 6"), "{text}");
}

#[test]
fn an_edit_applies_to_the_result_of_those_before_it_also_of_a_moved_file() {
    let folder = Folder::new();
    put(&folder, "lib/a.py", PYTHON);
    put(&folder, "lib/b.py", "b\n");
    let server = serve(&folder, &[]);
    let text = edit(
        &server,
        json!([
            { "path": "lib/a.py", "old": "return 1", "new": "return 7" },
            { "old": "return 7", "new": "return 8" },
            { "path": "lib", "move_to": "src/lib" },
            { "path": "src/lib/a.py", "old": "return 8", "new": "return 9" },
            { "move_to": "src/a.py" },
            { "old": "return 2", "new": "return 20" },
            { "copy_to": "src/copy.py" },
            { "path": "src/copy.py", "old": "return 20", "new": "return 30" },
            { "path": "src/lib/b.py", "delete": true },
        ]),
    );
    assert!(text.starts_with("Changed 5 places in 2 files, 2 moved, 1 deleted\n"), "{text}");
    assert_eq!(
        folder.text("src/a.py"),
        PYTHON.replace("return 1", "return 9").replace("return 2", "return 20")
    );
    assert_eq!(
        folder.text("src/copy.py"),
        PYTHON.replace("return 1", "return 9").replace("return 2", "return 30")
    );
    assert_eq!((folder.names(), folder.path().join("src/lib/b.py").exists()), (vec!["src".into()], false));
}

#[test]
fn encodings_kinds_of_breaks_marks_and_modes_stay() {
    let folder = Folder::new();
    folder.write("crlf", "a\r\nb\r\n");
    folder.write("mixed", "a\r\nb\r\nc\nd\r");
    folder.write("russian", b"\xf0\xf3\xf1\r\n\xec\xe8\xf0\r\n");
    folder.write("mark", "\u{feff}a\nb\n");
    folder.write("utf16", [&b"\xff\xfe"[..], &[b'a', 0, b'\n', 0, b'b', 0]].concat());
    folder.set_mode("crlf", 0o750);
    let server = serve(&folder, &[]);
    edit(
        &server,
        json!([
            { "path": "crlf", "old": "a\nb", "new": "x\ny" },
            { "path": "mixed", "old": "a\nb\nc\n", "new": "a\nB\nc\nnew\n" },
            { "path": "russian", "old": "мир", "new": "свет", "encoding": "windows-1251" },
            { "path": "mark", "lines": "1", "new": "x" },
            { "path": "utf16", "old": "b", "new": "y", "encoding": "utf-16" },
        ]),
    );
    assert_eq!((folder.text("crlf"), folder.mode("crlf")), ("x\r\ny\r\n".into(), 0o750));
    assert_eq!(folder.text("mixed"), "a\r\nB\r\nc\nnew\nd\r", "each line has the break of its place");
    assert_eq!(folder.read("russian"), b"\xf0\xf3\xf1\r\n\xf1\xe2\xe5\xf2\r\n");
    assert_eq!(folder.text("mark"), "\u{feff}x\nb\n");
    assert_eq!(folder.read("utf16"), [&b"\xff\xfe"[..], &[b'a', 0, b'\n', 0, b'y', 0]].concat());
    edit(&server, json!([{ "path": "russian", "content": "да\n", "encoding": "windows-1251" }]));
    assert_eq!(folder.read("russian"), b"\xe4\xe0\r\n", "the whole content, too");
}

#[test]
fn of_many_files_sums_by_folder_are_told_and_of_few_the_lines() {
    let folder = Folder::new();
    let names: Vec<String> = (0..12).map(|n| format!("d{}/f{n}", n % 2)).collect();
    names.iter().for_each(|name| put(&folder, name, "a\nb\nc\nd\n"));
    let server = serve(&folder, &[]);
    let edits = |names: &[String], old: &str| {
        let one = |name| json!([{ "path": name, "old": old, "new": "x" }, { "old": "d", "new": "y" }]);
        names.iter().map(one).flat_map(|edits| edits.as_array().unwrap().clone()).collect::<Vec<_>>()
    };
    let text = edit(&server, json!(edits(&names[..2], "b")));
    assert_eq!(text, "Changed 4 places in 2 files\nd0/f0: 2, 4\nd1/f1: 2, 4");
    names.iter().for_each(|name| put(&folder, name, "a\nb\nc\nd\n"));
    let text = edit(&server, json!(edits(&names, "a")));
    assert_eq!(text, "Changed 24 places in 12 files\nd0/: 12 places in 6 files\nd1/: 12 places in 6 files");
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\nthree\n");
    let server = serve(&folder, &[]);
    let before = folder.snapshot();
    let edits = json!([{ "path": "a", "old": "two", "new": "2" }, { "path": "b/c", "content": "new\n" }]);
    let text = server.ok("edit", json!({ "edits": edits, "dry_run": true, "diff": true }));
    assert_eq!(
        text,
        "Would change 2 places in 2 files\na\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\nb/c: new, 1 line"
    );
    assert_eq!(folder.snapshot(), before);
    let text = server.ok("edit", json!({ "edits": edits, "diff": true }));
    assert!(text.starts_with("Changed 2 places in 2 files (change c1)\na\n@@ "), "{text}");
    assert_eq!(folder.text("b/c"), "new\n");
}

#[test]
fn a_text_for_lines_has_the_lines_that_it_says() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for (new, lines) in [
        ("x", "x\n"),
        ("x\n", "x\n"),
        ("x\n\n", "x\n\n"),
        ("\n", "\n"),
        ("\n\n", "\n\n"),
        ("x\n\ny", "x\n\ny\n"),
    ] {
        put(&folder, "a", "1\n2\n3\n");
        edit(&server, json!([{ "path": "a", "lines": "2", "new": new }]));
        assert_eq!(folder.text("a"), format!("1\n{lines}3\n"), "{new:?}");
    }
}

#[test]
fn lines_are_removed_replaced_and_checked() {
    let folder = Folder::new();
    folder.write("a", "1\n2\n3\n4\n5\n");
    let server = serve(&folder, &[]);
    assert_eq!(
        edit(&server, json!([{ "path": "a", "lines": "2-3", "new": "" }])),
        "Changed 1 place in 1 file\na: 2 (removed)"
    );
    edit(&server, json!([{ "path": "a", "lines": 1, "new": "one\nmore\n", "expect": "1" }]));
    assert_eq!(folder.text("a"), "one\nmore\n4\n5\n");
    let text = refused(&server, &folder, json!([{ "path": "a", "lines": "3", "new": "x", "expect": "5" }]));
    assert!(text.contains("Line 3 is not as expected") && text.contains("It is now: \"4\""), "{text}");
}

#[test]
fn what_is_in_the_way_missing_or_kept_is_refused_and_a_move_onto_itself_changes_nothing() {
    let folder = Folder::new();
    put(&folder, "a", "a\n");
    put(&folder, "d/b", "b\n");
    put(&folder, "e/a", "other\n");
    put(&folder, ".git/config", "x\n");
    put(&folder, "secret/key", "x\n");
    let server = serve(&folder, &["--exclude=secret/"]);
    for (one, part) in [
        (json!({ "path": "a", "move_to": "d" }), "give the path \"d/a\""),
        (json!({ "path": "a", "move_to": "e" }), "in which \"e/a\" is not free either. Give another path."),
        (json!({ "path": "a", "copy_to": "e/" }), "in which \"e/a\" is not free either. Give another path."),
        (json!({ "path": "a", "move_to": "d/b" }), "'d/b' exists already"),
        (json!({ "path": "d", "move_to": "d/e" }), "it cannot be moved into itself"),
        (json!({ "path": "d", "delete": true }), "Pass recursive: true"),
        (json!({ "path": ".", "delete": true, "recursive": true }), "It is the served folder itself"),
        (json!({ "path": "a", "content": "x", "create_only": true }), "'a' exists already"),
        (json!({ "path": "a/b", "content": "x" }), "'a' is a file"),
        (json!({ "path": ".git/config", "content": "x" }), "folder of git"),
        (json!({ "path": "secret/key", "old": "x", "new": "y" }), ""),
        (json!({ "path": "../x", "content": "x" }), "without '..'"),
    ] {
        let text = refused(&server, &folder, json!([one]));
        assert!(text.contains(part), "{one}: {text}");
    }
    assert!(
        !refused(&server, &folder, json!([{ "path": "secret/key", "delete": true }])).contains("deleted")
    );
    let text = edit(&server, json!([{ "path": "a", "move_to": "./a" }]));
    assert_eq!(text, "Nothing changed: the edit leaves everything as it is.");
}

#[test]
fn a_folder_with_all_in_it_is_deleted_and_made_anew_in_one_job() {
    let folder = Folder::new();
    for n in 0..30 {
        put(&folder, &format!("d/{}/f{n}", n % 3), "x");
    }
    make(&folder, "d/empty");
    let server = serve(&folder, &[]);
    let text = edit(
        &server,
        json!([{ "path": "d", "delete": true, "recursive": true }, { "path": "d/new", "content": "n" }]),
    );
    assert_eq!(text, "Changed 1 place in 1 file, 1 deleted\nd/new: new, 1 line\nd: deleted");
    assert_eq!(
        (folder.text("d/new"), std::fs::read_dir(folder.path().join("d")).unwrap().count()),
        ("n".into(), 1)
    );
    assert_eq!(folder.names(), ["d"]);
}

#[test]
fn what_git_keeps_stays_closed_below_a_folder_that_the_job_moves() {
    let folder = Folder::new();
    put(&folder, "sub/.git/config", "token = s3cret\n");
    put(&folder, "sub/.git/hooks/p", "x\n");
    for name in ["HEAD", "config"] {
        put(&folder, &format!("p/bare/{name}"), "ref: refs/heads/main\n");
    }
    make(&folder, "p/bare/objects");
    make(&folder, "p/bare/refs");
    let server = serve(&folder, &[]);
    for (from, below) in [("sub", ".git/config"), ("sub", ".git/hooks/p"), ("p", "bare/config")] {
        for edit in
            [json!({ "old": "s3cret", "new": "x" }), json!({ "content": "x" }), json!({ "append": "x" })]
        {
            let mut edit = edit;
            edit["path"] = json!(format!("moved/{below}"));
            let text = refused(&server, &folder, json!([{ "path": from, "move_to": "moved" }, edit]));
            assert!(text.contains("folder of git") && !text.contains("s3cret"), "{text}");
        }
    }
}

#[test]
fn a_move_takes_the_link_itself_and_not_to_where_it_would_lead_elsewhere() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    put(&folder, "real/f", "old\n");
    put(&folder, "other/f", "other\n");
    folder.link("link", "real/f");
    folder.link("real/beside", "f");
    let server = serve(&folder, &[]);
    let text = refused(&server, &folder, json!([{ "path": "link", "move_to": "other/link" }]));
    assert!(text.contains("'link' is a link"), "{text}");
    edit(
        &server,
        json!([
            { "path": "link", "old": "old", "new": "new" },
            { "path": "link", "move_to": "renamed" },
            // Its folder moves with what it leads to.
            { "path": "real", "move_to": "moved" },
            { "path": "moved/f", "move_to": "deep/f" },
            { "path": "moved/beside", "move_to": "deep/beside" },
        ]),
    );
    let leads_to = |link: &str| std::fs::read_link(folder.path().join(link)).expect("a link");
    assert_eq!(leads_to("renamed"), std::path::Path::new("real/f"));
    assert_eq!((leads_to("deep/beside"), folder.text("deep/beside")), ("f".into(), "new\n".into()));
    edit(&server, json!([{ "path": "deep/beside", "delete": true }]));
    assert_eq!(folder.text("deep/f"), "new\n");
}

#[test]
fn what_lines_hold_now_may_end_in_the_break_of_the_last_one() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for (text, lines, expect) in [
        ("a()\nb()\n", "1", "a()\n"),
        ("a()\nb()\n", "1-2", "a()\nb()\n"),
        ("a()\r\nb()\r\n", "1", "a()\r\n"),
        ("a()\n\nb()\n", "1-2", "a()\n"),
        ("a()\n\nb()\n", "1-2", "a()\n\n"),
    ] {
        put(&folder, "a", text);
        edit(&server, json!([{ "path": "a", "lines": lines, "new": "x\n", "expect": expect }]));
    }
    let wrong = json!([{ "path": "a", "lines": "1", "new": "y", "expect": "x\n\n" }]);
    assert!(refused(&server, &folder, wrong).contains("It is now: \"x\""));
}

#[test]
fn places_in_one_line_are_told_once_and_where_new_stands_is_no_proof() {
    let folder = Folder::new();
    put(&folder, "f", "foo foo\n".repeat(80));
    put(&folder, "e", "a = 1\nb = 2\nc = 1\n");
    let server = serve(&folder, &[]);
    let text = refused(&server, &folder, json!([{ "path": "f", "old": "foo", "new": "x" }]));
    assert!(text.contains("found 160 in f") && text.contains("\n1: foo foo\n2: foo foo\n"), "{text}");
    assert!(text.contains("also in lines 7, 8, 9,") && text.ends_with(", 50\nand 60 places more"), "{text}");
    let text = refused(&server, &folder, json!([{ "path": "e", "old": "c = 2", "new": "a = 1" }]));
    let told =
        "new stands here already; leave this edit out only if this is the place that you mean:\n1: a = 1\n";
    assert!(text.contains(told), "{text}");
}

#[test]
fn an_edit_of_what_was_moved_or_deleted_in_the_same_call_is_told_so() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    put(&folder, "d/e/b", "1\n");
    let server = serve(&folder, &[]);
    let change = json!({ "path": "a", "old": "1", "new": "2" });
    let inner = json!({ "path": "d/e/b", "lines": "1", "new": "2" });
    for (edits, part) in [
        (
            json!([{ "path": "a", "move_to": "n" }, change]),
            "edits[1].path: it was moved to n earlier in this call; name n",
        ),
        (
            json!([{ "path": "a", "move_to": "n" }, { "path": "n", "move_to": "m" }, { "path": "a", "copy_to": "x" }]),
            "edits[2].path: it was moved to m earlier in this call; name m",
        ),
        (
            json!([{ "path": "d", "move_to": "q" }, inner]),
            "edits[1].path: d was moved to q earlier in this call; name q/e/b",
        ),
        (
            json!([{ "path": "a", "delete": true }, change]),
            "edits[1].path: it was deleted earlier in this call",
        ),
        (
            json!([{ "path": "d", "delete": true, "recursive": true }, inner]),
            "edits[1].path: d was deleted earlier in this call",
        ),
        (
            json!([{ "path": "a", "move_to": "n" }, { "path": "n", "delete": true }, { "path": "a", "delete": true }]),
            "edits[2].path: it was deleted earlier in this call",
        ),
    ] {
        let text = refused(&server, &folder, edits.clone());
        assert!(text.contains(part), "{edits}: {text}");
    }
    let text = refused(
        &server,
        &folder,
        json!([{ "path": "a", "move_to": "n" }, { "path": "z", "old": "1", "new": "2" }]),
    );
    assert!(text.contains("'z' not found"), "{text}");
}

#[test]
fn folders_that_hold_no_files_are_told_and_no_files() {
    let folder = Folder::new();
    make(&folder, "a/b/c");
    make(&folder, "a/d");
    let server = serve(&folder, &[]);
    let copied = server.ok("edit", json!({ "path": "a", "copy_to": "n/e" }));
    assert_eq!(without_id(&copied), "Changed names: 1 new folder\nn: new folder");
    assert!(copied.contains(" (change c"), "{copied}");
    // With a file in it, only what the file does not tell.
    put(&folder, "a/b/f", "1\n");
    let answer = edit(&server, json!([{ "path": "a", "copy_to": "g" }]));
    assert_eq!(
        answer,
        "Changed 1 place in 1 file, 2 new folders\ng/b/f: new, 1 line\ng/b/c: new folder\ng/d: new folder"
    );
    let edits: Vec<_> = (0..12).map(|n| json!({ "path": "a/d", "copy_to": format!("h/{n}") })).collect();
    assert_eq!(edit(&server, json!(edits)), "Changed names: 1 new folder\nh: new folder");
    let edits: Vec<_> = (0..12)
        .map(|n| json!({ "path": "a/d", "copy_to": format!("g/{n}") }))
        .chain([json!({ "path": "g/b/f", "append": "2\n" })])
        .collect();
    assert_eq!(
        edit(&server, json!(edits)),
        "Changed 1 place in 1 file, 12 new folders\ng/: 12 new folders\ng/b/: 1 place in 1 file"
    );
    let undone = server.ok("undo", json!({}));
    assert!(undone.contains("\ng/: 12 deleted\n"), "{undone}");
}

#[test]
fn the_mark_of_a_file_is_kept_once_and_is_no_text_of_its_first_line() {
    let folder = Folder::new();
    put(&folder, "a", "\u{feff}one\ntwo\n");
    let server = serve(&folder, &[]);
    assert_eq!(
        edit(&server, json!([{ "path": "a", "lines": "1", "new": "uno" }])),
        "Changed 1 place in 1 file\na:1: uno"
    );
    // As a client sends it that has seen the mark elsewhere.
    let answer = edit(&server, json!([{ "path": "a", "lines": "1", "new": "\u{feff}eins" }]));
    assert_eq!(answer, "Changed 1 place in 1 file\na:1: eins");
    assert_eq!(folder.text("a"), "\u{feff}eins\ntwo\n");
    edit(
        &server,
        json!([{ "path": "a", "old": "eins", "new": "\u{feff}un" }, { "path": "a", "old": "two", "new": "deux" }]),
    );
    assert_eq!(folder.text("a"), "\u{feff}un\ndeux\n");
    let answer =
        without_id(&server.ok("edit", json!({ "path": "a", "old": "un", "new": "1", "diff": true })));
    assert_eq!(answer, "Changed 1 place in 1 file\na\n@@ -1,2 +1,2 @@\n-un\n+1\n deux");
    assert!(server.ok("changes", json!({})).ends_with("\n-one\n-two\n+1\n+deux"));
    // One that is put in by itself is a change.
    put(&folder, "b", "one\n");
    edit(&server, json!([{ "path": "b", "lines": "1", "new": "\u{feff}one" }]));
    assert_eq!(folder.text("b"), "\u{feff}one\n");
}

#[test]
fn a_new_path_with_a_slash_at_its_end_is_a_folder() {
    let folder = Folder::new();
    put(&folder, "w.txt", "w\n");
    put(&folder, "d/x", "x\n");
    let server = serve(&folder, &[]);
    for (kind, path) in [("move_to", "w.txt"), ("copy_to", "w.txt"), ("copy_to", "d/x")] {
        let before = folder.snapshot();
        let text = refused(&server, &folder, json!([{ "path": path, kind: "new/" }]));
        let name = path.trim_start_matches("d/");
        let told = format!("To put it into that folder, give the path \"new/{name}\".");
        assert!(text.contains("There is no folder 'new/'") && text.contains(&told), "{kind}: {text}");
        assert!(folder.snapshot() == before);
        let text = refused(&server, &folder, json!([{ "path": "w.txt", kind: "d/" }]));
        assert!(text.contains("give the path \"d/w.txt\""), "{kind}: {text}");
    }
    edit(&server, json!([{ "path": "w.txt", "move_to": "new/w.txt" }, { "path": "d", "copy_to": "e/" }]));
    assert_eq!((folder.text("new/w.txt"), folder.text("e/x")), ("w\n".into(), "x\n".into()));
}

#[test]
fn lines_of_utf_16_without_a_mark_are_counted_and_shown_as_text() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for encoding in ["utf-16le", "utf-16be"] {
        let call = |arguments| without_id(&server.ok("edit", arguments));
        let made = call(json!({ "path": encoding, "content": "A\n\nB\n", "encoding": encoding }));
        assert!(made.contains(": new, 3 lines"), "{made}");
        let appended = call(json!({ "path": encoding, "append": "C\n", "encoding": encoding }));
        assert!(appended.ends_with(&format!("{encoding}:4: C")), "{appended}");
        let undone = server.ok("undo", json!({}));
        assert!(!undone.contains('\0') && !undone.contains("\\x00"), "{undone}");
    }
}
