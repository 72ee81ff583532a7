//! replace_all, and what is said of line breaks at the ends of an old_text (contract 11).

use serde_json::{Value, json};

use crate::support::{Folder, on_both_with};

const FLAGS: [&str; 1] = ["--tools=lines,exact"];

fn call(edit: Value) -> Value {
    json!({ "path": "f", "edits": [edit] })
}

#[test]
fn replace_all_replaces_every_place() {
    let fill = |folder: &Folder| folder.write("f", "a b a\nb a\n");
    on_both_with(&FLAGS, fill, |server, folder| {
        let edit = json!({ "old_text": "a", "new_text": "x", "replace_all": true });
        let text = server.ok("file_edit", call(edit.clone()));
        assert!(text.contains("\nTotal replacements: 3\n"), "{text}");
        assert_eq!(folder.text("f"), "x b x\nb x\n");
        let text = server.tool("file_edit", call(edit));
        assert!(text.is_error && text.first_line().contains("Could not find exact text"), "{}", text.text);
        server.ok("file_edit", call(json!({ "old_text": "b", "new_text": "y", "replaceAll": "true" })));
        assert_eq!(folder.text("f"), "x y x\ny x\n");
    });
}

#[test]
fn replace_all_and_occurrences_exclude_each_other() {
    let fill = |folder: &Folder| folder.write("f", "a a\n");
    on_both_with(&FLAGS, fill, |server, folder| {
        let edit =
            |all: bool| json!({ "old_text": "a", "new_text": "x", "replace_all": all, "occurrences": 2 });
        let error = server.refused("file_edit", call(edit(true)));
        assert_eq!(
            error,
            "Error: Invalid arguments: edits[0].replace_all: it excludes occurrences; give one of them"
        );
        assert_eq!(folder.text("f"), "a a\n");
        server.ok("file_edit", call(edit(false)));
        assert_eq!(folder.text("f"), "x x\n");
        let once = server.refused("file_edit", call(json!({ "old_text": "x", "new_text": "y" })));
        assert!(once.contains("Expected 1 occurrence but found 2"), "{once}");
    });
}

#[test]
fn an_old_text_with_a_break_at_an_end_is_diagnosed_with_it() {
    let fill = |folder: &Folder| folder.write("f", "first line of the file\nsecond line of the file");
    on_both_with(&FLAGS, fill, |server, _| {
        for (old_text, says) in [
            ("second line of the file\n", "old_text ends with"),
            ("\nfirst line of the file", "old_text begins with"),
            ("nothing like this at all\n", "old_text ends with a line break, which must be in the file"),
            ("\nzzz", "old_text begins with a line break, which must be in the file"),
            ("\nzzz\n", "old_text begins and ends with a line break"),
        ] {
            let result = server.tool("file_edit", call(json!({ "old_text": old_text, "new_text": "x" })));
            assert!(result.is_error && result.text.contains(says), "{old_text:?}: {}", result.text);
        }
        let result = server.tool("file_edit", call(json!({ "old_text": "zzz", "new_text": "x" })));
        assert!(!result.text.contains("line break, which"), "{}", result.text);
    });
}
