//! `files`, `read`, `edit` and `replace`.

use serde_json::json;

use super::{json, ok, project, run, run_with};
use crate::support::Folder;

#[test]
fn files_and_texts_are_printed_as_the_tools_answer() {
    let folder = project();
    assert_eq!(
        ok(&folder, &["files"]),
        "./: notes.txt src/\nsrc/: lib.rs main.rs\n[5 entries; nothing left out]\n"
            .replace("5 entries", "4 entries")
    );
    assert_eq!(
        ok(&folder, &["files", "*.rs"]),
        "src/lib.rs\nsrc/main.rs\n[3 files seen, 2 match; nothing left out]\n"
    );
    assert_eq!(ok(&folder, &["read", "src/main.rs:2"]), "    total();\n");
    assert_eq!(ok(&folder, &["read", "-n", "src/lib.rs"]), "1\tpub fn total() {}\n");
    assert_eq!(ok(&folder, &["read", "lib.rs", "--dir=src"]), "pub fn total() {}\n");
}

#[test]
#[cfg(feature = "toolkit")]
fn definitions_are_told_and_read_by_their_names() {
    let folder = project();
    assert_eq!(
        ok(&folder, &["outline", "--kind", "function"]),
        "src/lib.rs\n1-1 pub fn total()\nsrc/main.rs\n1-3 fn main()\n\
         [2 files outlined; left out: 1 file of another language]\n"
    );
    assert_eq!(
        ok(&folder, &["outline", "src", "--public", "--sort=length", "--limit=1"]),
        "1 src/lib.rs:1-1 pub fn total()\n[2 files outlined; nothing left out]\n"
    );
    assert_eq!(ok(&folder, &["read", "src/main.rs", "--symbol", "main"]), "fn main() {\n    total();\n}\n");
    let nothing = run(&folder, &["outline", "--name", "nowhere"]);
    assert_eq!(nothing.code, 1, "{nothing:?}");
    let unknown = run(&folder, &["outline", "--kind", "thing"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
}

#[test]
fn exit_codes_are_those_of_grep() {
    let folder = project();
    for (words, code) in [
        (&["files", "*.py"][..], 1),
        (&["files", "*.rs"], 0),
        (&["read", "missing.txt"], 2),
        (&["replace", "nowhere", "x"], 1),
        (&["replace", "total", "sum", "--expected=1"], 2),
        (&["replace", "total", "sum", "--expected", "0"], 2),
        (&["changes"], 1),
        (&["log"], 1),
        (&["undo"], 2),
        (&["undo", "c9"], 2),
        (&["grep", "nowhere"], 1),
        (&["grep", "("], 2),
        (&["files", "--no-such-flag"], 2),
        (&["log", "--journal=off"], 2),
    ] {
        let ran = run(&folder, words);
        assert_eq!(ran.code, code, "{words:?}: {ran:?}");
        assert!(code != 2 || ran.out.is_empty(), "{words:?}: {ran:?}");
        assert!(code != 2 || !ran.err.is_empty(), "{words:?}: {ran:?}");
    }
    assert_eq!(folder.text("src/lib.rs"), "pub fn total() {}\n");
    // What could be read is printed, with the error of what could not.
    let ran = run(&folder, &["read", "src/lib.rs", "missing.txt"]);
    assert!(ran.code == 2 && ran.out.contains("total") && ran.out.contains("missing.txt: Error"), "{ran:?}");
}

#[test]
fn edits_come_as_a_patch_or_as_json_on_standard_input_or_in_a_file() {
    let folder = project();
    let patch = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-pub fn total() {}\n+pub fn sum() {}\n";
    let ran = run_with(&folder, &["edit", "--message", "rename"], patch);
    assert_eq!(
        (ran.code, &*ran.out),
        (0, "Changed 1 place in 1 file (change c1)\nsrc/lib.rs:1: pub fn sum() {}\n")
    );
    let edits = json!([{ "path": "src/main.rs", "old": "total", "new": "sum" }, { "path": "new.txt", "content": "x\n" }]);
    let ran = run_with(&folder, &["edit"], &edits.to_string());
    assert!(ran.out.starts_with("Changed"), "{ran:?}");
    assert_eq!(
        (folder.text("src/main.rs"), folder.text("new.txt")),
        ("fn main() {\n    sum();\n}\n".into(), "x\n".into())
    );
    folder.write("edit.json", json!({ "path": "new.txt", "old": "x", "new": "y" }).to_string());
    let ran = run(&folder, &["edit", "edit.json", "--dry-run"]);
    assert!(ran.out.starts_with("Would change 1 place"), "{ran:?}");
    assert_eq!(folder.text("new.txt"), "x\n");
    for name in ["dry_run", "dryRun", "DryRun"] {
        let edits = json!({ "edits": [{ "path": "new.txt", "old": "x", "new": "y" }], name: false });
        run_with(&folder, &["edit", "--dry-run"], &edits.to_string());
        assert_eq!(folder.text("new.txt"), "x\n", "the flag wins over {name} of the input");
    }
}

#[test]
fn an_edit_that_fails_changes_nothing_and_names_no_handle_that_the_next_command_could_not_use() {
    let folder = project();
    let edits = json!([
        { "path": "src/lib.rs", "old": "total", "new": "sum" },
        { "path": "src/main.rs", "old": "totals", "new": "sum" },
    ]);
    let ran = run_with(&folder, &["edit"], &edits.to_string());
    assert_eq!((ran.code, &*ran.out), (2, ""), "{ran:?}");
    assert!(ran.err.contains("src/main.rs") && !ran.err.contains("retry"), "{ran:?}");
    assert_eq!(folder.text("src/lib.rs"), "pub fn total() {}\n");
    let ran = run(&folder, &["replace", "total", "sum", "--dry-run"]);
    assert!(ran.out.contains("Would change 3 places in 3 files") && !ran.out.contains("plan"), "{ran:?}");
    for input in ["[{", "no patch", ""] {
        let ran = run_with(&folder, &["edit"], input);
        assert!(ran.code == 2 && ran.out.is_empty() && !ran.err.is_empty(), "{input:?}: {ran:?}");
    }
}

#[test]
fn a_replacement_goes_over_all_files_that_the_globs_name() {
    let folder = project();
    let out = ok(&folder, &["replace", "t(o)tal", "s${1}m", "-g", "*.rs"]);
    assert!(out.starts_with("Changed 2 places in 2 files (change c1)"), "{out}");
    assert_eq!(folder.text("src/lib.rs"), "pub fn som() {}\n");
    assert_eq!(folder.text("notes.txt"), "one\ntwo\r\nthree total\n");
    ok(&folder, &["undo"]);
    assert_eq!(folder.text("src/lib.rs"), "pub fn total() {}\n");
}

#[test]
fn with_json_an_answer_is_one_object() {
    let folder = project();
    let answer = json(&ok(&folder, &["read", "--json", "src/lib.rs"]));
    assert_eq!(answer, json!({ "ok": true, "text": "pub fn total() {}\n", "note": null }));
    let ran = run(&folder, &["read", "missing.txt", "--json"]);
    let answer = json(&ran.out);
    assert_eq!((ran.code, &answer["ok"]), (2, &json!(false)));
    assert!(answer["error"].as_str().is_some_and(|error| error.contains("missing.txt")), "{answer}");
}

#[test]
fn nothing_outside_the_folder_is_reached() {
    let folder = Folder::new();
    std::fs::write(folder.outside("secret.txt"), "secret\n").expect("a file");
    let outside = folder.outside("secret.txt").display().to_string();
    for words in [
        &["read", "../secret.txt"][..],
        &["read", &outside],
        &["grep", "secret", ".."],
        &["files", "--path=.."],
    ] {
        let ran = run(&folder, words);
        assert!(ran.code == 2 && !ran.out.contains("secret\n"), "{words:?}: {ran:?}");
    }
}

#[test]
fn a_folder_with_the_name_of_a_command_is_served_by_its_path() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("log")).expect("a folder");
    let ran = run(&folder, &["./log"]);
    // The server ends with its input.
    assert_eq!((ran.code, &*ran.out), (0, ""), "{ran:?}");
    assert!(ran.err.contains("ready"), "{ran:?}");
}
