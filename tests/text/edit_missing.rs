//! `edit_file`: an old_text or a file that is not there.

use serde_json::json;

use super::edit::{TEXT, edit, fill};
use super::{failure, on_all};
use crate::trees::put;

#[test]
fn an_old_text_that_is_not_there_is_appended_kept_or_explained() {
    on_all(&[], fill, |server, folder| {
        let kept = edit(server, json!({ "filename": "f", "old_text": "four" }));
        assert_eq!(kept, "Not found in f; nothing changed");
        for arguments in [
            json!({ "filename": "f", "old_text": "two  two", "if_missing": "fail" }),
            json!({ "filename": "f", "old_text": "two  two", "new_text": "2", "if_missing": "fail" }),
        ] {
            let text = failure(server, "edit_file", arguments);
            assert!(text.starts_with("Edit 1 of 1 failed: Could not find exact text in f."), "{text}");
            assert!(text.contains("Line 2: two two") && text.contains("Suggestions:"), "{text}");
        }
        assert_eq!(folder.text("f"), TEXT);
        let appended = edit(server, json!({ "filename": "f", "old_text": "four", "new_text": "4\n" }));
        let first = "Not found in f; appended: old_text is not there, so new_text was APPENDED at the end and nothing was replaced";
        assert!(appended.starts_with(&format!("{first}\nFrom line 4 on\n\n--- a/f\n")), "{appended}");
        assert_eq!(folder.text("f"), format!("{TEXT}4\n"));
    });
}

#[test]
fn a_miss_that_looks_like_a_mistake_is_refused_and_explained() {
    let code = "def f():\n    return 1\n\ndef g():\n    return 2\n";
    on_all(
        &[],
        |folder| folder.write("a.py", code),
        |server, folder| {
            for (old_text, new_text) in [
                ("def f():\n\treturn 1\n", "def f():\n    return 3\n"),
                ("    retrun 1", "    return 3"),
                ("nothing like it at all\nqwertyuiop", "x"),
            ] {
                let call = json!({ "filename": "a.py", "old_text": old_text, "new_text": new_text });
                let refused = failure(server, "edit_file", call.clone());
                assert!(
                    refused.starts_with("Edit 1 of 1 failed: Could not find exact text in a.py."),
                    "{refused}"
                );
                assert!(refused.ends_with("Nothing was changed. To add new_text at the end all the same, pass \"if_missing\": \"append\"."), "{refused}");
                assert_eq!(folder.text("a.py"), code);
                let mut call = call;
                call["if_missing"] = json!("append");
                let appended = edit(server, call);
                assert!(appended.starts_with("Not found in a.py; appended: "), "{appended}");
                assert_eq!(folder.text("a.py"), format!("{code}{new_text}"));
                folder.write("a.py", code);
            }
            // What stands there already is not added a second time.
            let again = json!({ "filename": "a.py", "old_text": "qwertyuiop", "new_text": "return 2" });
            let refused = failure(server, "edit_file", again);
            assert!(refused.contains("already applied"), "{refused}");
        },
    );
}

#[test]
fn a_break_that_no_line_has_is_not_appended_to() {
    let texts = ["a\nb\n", "a\r\nb\r\n"];
    on_all(
        &[],
        |folder| texts.iter().enumerate().for_each(|(n, text)| folder.write(&format!("{n}.txt"), text)),
        |server, folder| {
            for (n, text) in texts.iter().enumerate() {
                let name = format!("{n}.txt");
                for old_text in ["\r", "a\r"] {
                    let call = json!({ "filename": name, "old_text": old_text, "new_text": "X" });
                    let refused = failure(server, "edit_file", call);
                    assert!(refused.contains("Nothing was changed."), "{refused}");
                }
                assert_eq!(folder.text(&name), *text);
            }
        },
    );
}

#[test]
fn a_missing_file_with_a_near_name_is_not_created_by_an_edit() {
    not_under_wine!("a search for near names has 5 ms");
    on_all(
        &[],
        |folder| {
            folder.write("notes.txt", TEXT);
            put(folder, "src/main.rs", "fn main() {}\n");
            put(folder, ".env.local", "A=1\n");
        },
        |server, folder| {
            let before = folder.snapshot();
            for (name, old_text, near) in [
                ("note.txt", "one", "notes.txt"),
                ("main.rs", "fn main", "src/main.rs"),
                ("lib/main.rs", "fn main", "src/main.rs"),
                ("note.txt", "*", "notes.txt"),
                (".env", "A=1", ".env.local"),
            ] {
                let call = json!({ "filename": name, "old_text": old_text, "new_text": "1" });
                let refused = failure(server, "edit_file", call);
                assert!(refused.starts_with(&format!("Error: File '{name}' not found\n")), "{refused}");
                assert!(
                    refused.contains(near) && refused.contains("\"if_missing\": \"append\""),
                    "{refused}"
                );
            }
            assert_eq!(folder.snapshot(), before);
            let call =
                json!({ "filename": "note.txt", "old_text": "one", "new_text": "1", "if_missing": "append" });
            let created = edit(server, call);
            assert!(
                created
                    .starts_with("File created: note.txt\nThere was no such file, so old_text was not found"),
                "{created}"
            );
            assert_eq!(folder.text("note.txt"), "1");
        },
    );
}
