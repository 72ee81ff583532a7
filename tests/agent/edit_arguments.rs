//! The forms in which `edit` takes its arguments, and what it says of usual mistakes.

use serde_json::{Value, json};

use super::{refused, serve};
use crate::support::{Folder, Mcp};

#[test]
fn names_of_other_tools_a_flat_edit_a_single_one_and_a_string_are_taken() {
    let edit = |old: &str, new: &str| json!({ "path": "a", "old": old, "new": new });
    let forms: [(Value, &str); 8] = [
        (json!({ "edits": [edit("one", "1")] }), "1\n"),
        (edit("one", "1"), "1\n"),
        (json!({ "edits": edit("one", "1") }), "1\n"),
        (json!({ "edits": json!([edit("one", "1")]).to_string() }), "1\n"),
        (json!({ "edits": edit("one", "1").to_string() }), "1\n"),
        (json!({ "file_path": "a", "old_string": "one", "new_string": "1", "replace_all": "true" }), "1\n"),
        (
            json!({ "edits": [{ "filename": "a", "oldText": "one", "newText": "1", "expectedCount": "1" }] }),
            "1\n",
        ),
        (
            json!({ "path": "a", "old_str": "one", "new_str": "1", "content": "", "lines": "", "append": "" }),
            "1\n",
        ),
    ];
    for (arguments, expected) in forms {
        let folder = Folder::new();
        folder.write("a", "one\n");
        serve(&folder, &[]).ok("edit", arguments.clone());
        assert_eq!(folder.text("a"), expected, "{arguments}");
    }
}

#[test]
fn empty_values_beside_each_form_of_the_edits_count_as_absent() {
    let flat = json!({ "path": "a", "old": "one", "new": "1" });
    let empty = [json!(null), json!(""), json!([])];
    let patch = "*** Begin Patch\n*** Update File: a\n-one\n+1\n*** End Patch\n";
    let mut calls = vec![
        json!({ "path": "", "old": "", "new": null, "edits": [flat], "patch": "" }),
        json!({ "path": "", "old": "", "new": "", "edits": [], "patch": patch }),
        json!({ "path": "a", "lines": "1", "new": "1", "edits": [], "patch": null, "retry": "" }),
    ];
    for value in &empty {
        for name in ["patch", "edits"] {
            let mut call = flat.clone();
            call[name] = value.clone();
            calls.push(call);
        }
    }
    for arguments in calls {
        let folder = Folder::new();
        folder.write("a", "one\n");
        serve(&folder, &[]).ok("edit", arguments.clone());
        assert_eq!(folder.text("a"), "1\n", "{arguments}");
    }
}

#[test]
fn empty_values_beside_others_never_choose_what_destroys() {
    let folder = Folder::new();
    folder.write("a", "one\n");
    let server = serve(&folder, &[]);
    let filled = json!({
        "path": "a", "old": "one", "new": "two", "all": false, "count": 0, "lines": "0", "expect": "", "content": "", "create_only": false,
        "append": "", "move_to": "", "copy_to": "", "delete": false, "recursive": false, "encoding": "",
    });
    server.ok("edit", json!({ "edits": [filled] }));
    assert_eq!(folder.text("a"), "two\n");
    let text = refused(&server, &folder, json!([{ "path": "a", "content": "", "new": "x" }]));
    assert!(text.contains("edits[0]: it does nothing; expected old with new"), "{text}");
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_is_expected() {
    let folder = Folder::new();
    folder.write("a", "one\ntwo\n");
    let server = serve(&folder, &[]);
    for (edits, part) in [
        (json!([]), "edits: it is missing; expected edits, or a patch"),
        (json!([{ "old": "one", "new": "1" }]), "edits[0].path: it is missing"),
        (json!([{ "path": "a" }]), "edits[0]: it does nothing"),
        (json!([{ "path": "a", "old": "one" }]), "edits[0].old: new is missing"),
        (json!([{ "path": "a", "new": "one" }]), "edits[0]: it does nothing"),
        (json!([{ "path": "a", "old": "", "new": "x" }]), "edits[0].old: it is empty; to insert text"),
        (
            json!([{ "path": "a", "old": "one", "new": "1", "append": "x" }]),
            "edits[0].append: it is beside old",
        ),
        (json!([{ "path": "a", "lines": "1" }]), "edits[0].new: it is missing"),
        (json!([{ "path": "a", "lines": "1", "content": "x" }]), "the text in place of lines is new"),
        (json!([{ "path": "a", "old": "one", "content": "x" }]), "the text in place of old is new"),
        (
            json!([{ "path": "a", "lines": "1", "delete": true }]),
            "in place of lines is new, \"\" to remove it",
        ),
        (json!([{ "path": "a", "lines": "2-1", "new": "x" }]), "start 2 > end 1"),
        (
            json!([{ "path": "a", "lines": "0", "new": "x" }]),
            "edits[0].lines: there is no line 0: lines count from 1",
        ),
        (json!([{ "path": "a", "lines": 0, "new": "x" }]), "lines count from 1"),
        (
            json!([{ "path": "a:2", "old": "two", "new": "x" }]),
            "Give the path 'a' without line numbers. Read the lines with read {\"path\":\"a\",\"lines\":\"2-2\"}.",
        ),
        (json!([{ "path": "a", "lines": "0-1", "new": "x" }]), "must be positive"),
        (
            json!([{ "path": "a", "old": "one", "new": "1", "all": true, "count": 1 }]),
            "all and count exclude",
        ),
        (json!([{ "path": "a", "delete": true }, { "append": "x" }]), "edits[1].path: it is missing"),
        (json!([{ "path": "a", "oldd": "one", "new": "1" }]), "edits[0].oldd: unknown property"),
        (json!([{ "path": "a", "old": "one", "new": "# ... existing code ..." }]), "stands for text"),
        (json!([{ "path": "a", "content": "x", "new": "y" }]), "edits[0].new: it is beside content"),
        (json!([{ "path": "a", "delete": true, "expect": "x" }]), "edits[0].expect: it is beside delete"),
        (json!([{ "path": "a", "content": "", "append": "" }]), "edits[0]: it does nothing"),
        (json!([{ "path": "a", "lines": "1,2", "new": "x" }]), "lines such as"),
        (json!([{ "path": "~/a", "content": "x" }]), "Give 'a' instead"),
        (json!([{ "path": "b\\c", "content": "x" }]), "b/c"),
    ] {
        let text = refused(&server, &folder, edits.clone());
        assert!(text.contains(part), "{edits}: {text}");
    }
}
