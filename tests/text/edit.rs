//! `edit_file`: S4's own list (modes, their priority, empty files and texts, special characters, folders, missing files, many
//! places, all spellings of the arguments), and what the answers say.

use serde_json::{Value, json};

use super::{failure, on_all, serve};
use crate::support::{Folder, Mcp};

pub(super) const TEXT: &str = "one\ntwo two\nthree\n";

pub(super) fn fill(folder: &Folder) {
    folder.write("f", TEXT);
    folder.write("empty", "");
}

/// The text of a call, which must succeed.
#[track_caller]
pub(super) fn edit(server: &dyn Mcp, arguments: Value) -> String {
    server.ok("edit_file", arguments)
}

#[test]
fn each_mode_says_what_it_did_and_where_and_shows_the_diff() {
    on_all(&[], fill, |server, folder| {
        let replaced = edit(server, json!({ "filename": "f", "old_text": "two", "new_text": "2" }));
        assert_eq!(
            replaced,
            "Replaced 2 in f\nLine 2\n\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two two\n+2 2\n three"
        );
        assert_eq!(folder.text("f"), "one\n2 2\nthree\n");
        let removed = edit(server, json!({ "filename": "f", "old_text": "2" }));
        assert!(removed.starts_with("Removed 2 from f\nLine 2\n\n--- a/f\n"), "{removed}");
        assert_eq!(folder.text("f"), "one\n \nthree\n");
        let appended = edit(server, json!({ "filename": "f", "new_text": "four" }));
        assert!(appended.starts_with("Appended to f\nFrom line 4 on\n\n--- a/f\n"), "{appended}");
        let appended = edit(server, json!({ "filename": "f", "new_text": "!\n" }));
        let expected = "Appended to f\nLine 4: the text went on there, because it had no line break at its end\n\n--- a/f\n";
        assert!(appended.starts_with(expected), "{appended}");
        assert_eq!(folder.text("f"), "one\n \nthree\nfour!\n");
        let everything = edit(server, json!({ "filename": "f", "old_text": "*", "new_text": "one\n*\n" }));
        assert!(
            everything.starts_with("File written: f\nLines: 4 before, 2 now\n\n--- a/f\n"),
            "{everything}"
        );
        assert_eq!(folder.text("f"), "one\n*\n");
        let whole = edit(server, json!({ "filename": "f", "content": "uno\n*\n" }));
        let diff = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-one\n+uno\n *";
        assert_eq!(whole, format!("File written: f\nLines: 2 before, 2 now\n\n{diff}"));
        assert_eq!(folder.text("f"), "uno\n*\n");
    });
}

#[test]
fn content_excludes_the_other_texts_and_counts_as_absent_where_it_is_empty() {
    on_all(&[], fill, |server, folder| {
        for others in [
            json!({ "old_text": "one", "new_text": "n" }),
            json!({ "old_text": "*", "new_text": "n" }),
            json!({ "old_text": "one" }),
            json!({ "new_text": "n" }),
        ] {
            let mut both = others.clone();
            (both["filename"], both["content"]) = (json!("f"), json!("c\n"));
            let refused = failure(server, "edit_file", both.clone());
            let expected =
                "Error: Invalid arguments: content: it is the whole file, but old_text and new_text";
            assert!(refused.starts_with(expected), "{both}: {refused}");
            assert_eq!(folder.text("f"), TEXT);
        }
        for (arguments, expected) in [
            (json!({ "content": "", "old_text": "one", "new_text": "1" }), "1\ntwo two\nthree\n"),
            (json!({ "content": "", "old_text": "one" }), "\ntwo two\nthree\n"),
            (json!({ "content": "", "old_text": null, "new_text": "four\n" }), "one\ntwo two\nthree\nfour\n"),
            (json!({ "content": "", "new_text": "" }), TEXT),
            (json!({ "content": "c\n", "old_text": "", "new_text": "" }), "c\n"),
            (
                json!({ "content": null, "old_text": null, "new_text": "m", "if_missing": "" }),
                "one\ntwo two\nthree\nm",
            ),
        ] {
            folder.write("f", TEXT);
            let mut call = arguments.clone();
            call["filename"] = json!("f");
            edit(server, call);
            assert_eq!(folder.text("f"), expected, "{arguments}");
        }
        folder.write("f", TEXT);
        for arguments in [
            json!({ "filename": "f", "content": "", "old_text": "" }),
            json!({ "filename": "f", "content": "", "old_text": "", "new_text": "" }),
        ] {
            let refused = failure(server, "edit_file", arguments);
            assert!(refused.starts_with("Error: Invalid arguments: old_text: it is empty"), "{refused}");
        }
        let star = json!({ "filename": "f", "content": "", "old_text": "*", "new_text": "" });
        let refused = failure(server, "edit_file", star);
        assert!(refused.contains("old_text: \"*\" stands") && refused.contains("pass content"), "{refused}");
        assert_eq!(folder.text("f"), TEXT);
    });
}

#[test]
fn a_star_is_the_whole_file_only_where_the_file_has_none() {
    let list = "* one\n* two\n";
    on_all(
        &[],
        |folder| {
            fill(folder);
            folder.write("list.md", list);
        },
        |server, folder| {
            edit(server, json!({ "filename": "f", "old_text": "*", "new_text": "n" }));
            assert_eq!(folder.text("f"), "n");
            for if_missing in [json!(null), json!("append"), json!("fail")] {
                let call = json!({ "filename": "list.md", "old_text": "*", "new_text": "-", "if_missing": if_missing });
                let refused = failure(server, "edit_file", call);
                assert!(
                    refused.contains("the file holds it as text, 2 times")
                        && refused.contains("expected content"),
                    "{refused}"
                );
                assert_eq!(folder.text("list.md"), list);
            }
        },
    );
}

#[test]
fn empty_texts_and_empty_files() {
    on_all(&[], fill, |server, folder| {
        edit(server, json!({ "filename": "f", "content": "" }));
        assert_eq!(folder.text("f"), "");
        let filled = edit(server, json!({ "filename": "f", "old_text": "", "new_text": "a\n" }));
        assert!(filled.starts_with("File written: f\nLines: 0 before, 1 now\n"), "{filled}");
        assert_eq!(folder.text("f"), "a\n");
        let refused =
            failure(server, "edit_file", json!({ "filename": "f", "old_text": "", "new_text": "b" }));
        assert!(
            refused.starts_with("Error: Invalid arguments: old_text: it is empty, but the file is not"),
            "{refused}"
        );
        for (arguments, told) in [
            (json!({ "filename": "f", "old_text": "" }), "old_text: it is empty, and so is new_text"),
            (json!({ "filename": "f", "old_text": "*" }), "old_text: \"*\" stands for the whole content"),
            (json!({ "filename": "f" }), "content: it is missing; expected content, new_text, or old_text"),
        ] {
            let text = failure(server, "edit_file", arguments);
            assert!(text.starts_with(&format!("Error: Invalid arguments: {told}")), "{text}");
        }
        assert_eq!(folder.text("f"), "a\n");
        let nothing = edit(server, json!({ "filename": "f", "new_text": "" }));
        assert_eq!(nothing, "Appended to f\nFrom line 2 on\nThe text is the same as before.");
        let removed = edit(server, json!({ "filename": "f", "old_text": "a\n", "new_text": "" }));
        assert!(removed.starts_with("Removed 1 from f\nLine 1\n"), "{removed}");
        assert_eq!(folder.text("f"), "");
        edit(server, json!({ "filename": "empty", "old_text": "*", "new_text": "" }));
        let appended = edit(server, json!({ "filename": "empty", "old_text": "x", "new_text": "y" }));
        assert!(
            appended.starts_with("Not found in empty; appended: ") && appended.contains("\nFrom line 1 on\n"),
            "{appended}"
        );
        assert_eq!(folder.text("empty"), "y");
        let same = edit(server, json!({ "filename": "empty", "old_text": "y", "new_text": "y" }));
        assert_eq!(same, "Replaced 1 in empty\nLine 1\nThe text is the same as before.");
    });
}

#[test]
fn a_missing_file_is_created_with_its_folders_unless_text_is_to_be_removed() {
    on_all(&[], fill, |server, folder| {
        for (number, arguments) in [
            json!({ "content": "text\n" }),
            json!({ "new_text": "text\n" }),
            json!({ "old_text": "gone", "new_text": "text\n" }),
            json!({ "old_text": "*", "new_text": "text\n" }),
            json!({ "old_text": "", "new_text": "text\n" }),
        ]
        .into_iter()
        .enumerate()
        {
            let path = format!("d{number}/e/{}", ["новый файл", "another", "gone file", "42", "q.z"][number]);
            let mut arguments = arguments;
            arguments["filename"] = json!(path);
            let created = edit(server, arguments.clone());
            let sought = match arguments["old_text"] == "gone" {
                true => {
                    "There was no such file, so old_text was not found; the file now holds new_text alone\n"
                }
                false => "",
            };
            let tab = if path.contains(' ') { "\t" } else { "" };
            let expected = format!(
                "File created: {path}\n{sought}\n--- a/{path}{tab}\n+++ b/{path}{tab}\n@@ -0,0 +1,1 @@\n+text"
            );
            assert_eq!(created, expected);
            assert_eq!(folder.text(&path), "text\n");
            let modes = (folder.mode(&path) & 0o777, folder.mode(&format!("d{number}")) & 0o777);
            assert_eq!(modes, (0o666 & !umask(), 0o777 & !umask()));
            arguments["filename"] = json!(format!("none{number}/f"));
            arguments["if_missing"] = json!("fail");
            let refused = failure(server, "edit_file", arguments);
            assert!(refused.starts_with(&format!("Error: File 'none{number}/f' not found")), "{refused}");
            assert!(!folder.path().join(format!("none{number}")).exists());
        }
        for arguments in [
            json!({ "filename": "none/f", "old_text": "x" }),
            json!({ "filename": "none/f", "old_text": "x", "new_text": "" }),
        ] {
            let refused = failure(server, "edit_file", arguments);
            assert!(refused.starts_with("Error: File 'none/f' not found"), "{refused}");
        }
        assert!(!folder.path().join("none").exists());
    });
}

/// The umask of this process, which the servers inherit.
fn umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:")).expect("a umask");
    u32::from_str_radix(mask.trim(), 8).expect("an octal number")
}

#[test]
fn special_characters_are_text() {
    let special = "a.*b [x] $1 \\n \"quote\" 'tick' `${x}` \t\u{1}é漢😀\u{feff}\u{202e} </s> %s\n";
    on_all(
        &[],
        |folder| folder.write("s", special.repeat(2)),
        |server, folder| {
            for part in [
                "a.*b",
                "[x]",
                "$1",
                "\\n",
                "\"quote\"",
                "`${x}`",
                "\t\u{1}",
                "é漢😀",
                "\u{feff}\u{202e}",
                "%s",
            ] {
                folder.write("s", special.repeat(2));
                let text = edit(server, json!({ "filename": "s", "old_text": part, "new_text": "$0\\1{}" }));
                assert!(text.starts_with("Replaced 2 in s\nLines 1, 2\n"), "{part}: {text}");
                assert_eq!(folder.text("s"), special.repeat(2).replace(part, "$0\\1{}"));
            }
        },
    );
}

#[test]
fn a_break_in_old_text_fits_any_and_new_text_takes_the_files_own() {
    on_all(
        &[],
        |folder| {
            folder.write("crlf", "a\r\nb\r\na\r\nb\r\n");
            folder.write("mixed", "a\r\nb\na\rb\n");
        },
        |server, folder| {
            let text = edit(server, json!({ "filename": "crlf", "old_text": "a\nb", "new_text": "c\nd" }));
            assert!(text.starts_with("Replaced 2 in crlf\nLines 1-2, 3-4\n"), "{text}");
            assert_eq!(folder.text("crlf"), "c\r\nd\r\nc\r\nd\r\n");
            edit(server, json!({ "filename": "crlf", "new_text": "e\n" }));
            assert_eq!(folder.text("crlf"), "c\r\nd\r\nc\r\nd\r\ne\n");
            edit(server, json!({ "filename": "mixed", "old_text": "b\na", "new_text": "x\ny" }));
            assert_eq!(folder.text("mixed"), "a\r\nx\ny\rb\n");
            // A line of the new text keeps the break of its place, a new one has that of the line before it.
            edit(
                server,
                json!({ "filename": "mixed", "old_text": "a\nx\ny\nb", "new_text": "a\nz\nx\nY\nb" }),
            );
            assert_eq!(folder.text("mixed"), "a\r\nz\r\nx\nY\rb\n");
        },
    );
}

#[test]
fn many_places_are_all_replaced_and_the_first_ones_told() {
    let old = (1..=5_000).map(|n| format!("word {n}\n{}", "other\n".repeat(7))).collect::<String>();
    on_all(
        &[],
        |folder| folder.write("many", &old),
        |server, folder| {
            let result =
                server.tool("edit_file", json!({ "filename": "many", "old_text": "word", "new_text": "W" }));
            let text = &result.text;
            assert!(text.starts_with("Replaced 5000 in many\nLines 1, 9, 17, "), "{text}");
            assert!(text.contains(" (the first 20 of 5000 places)\n"), "{text}");
            assert!(text.ends_with(" hunks more are not shown.") && text.len() < 20_000, "{}", text.len());
            let cut = &result.result["_meta"]["file-editor/truncated"];
            assert_eq!(cut["of"], 5_000, "{cut}");
            assert!(cut["shown"].as_u64().is_some_and(|shown| 0 < shown && shown < 5_000), "{cut}");
            assert!(folder.text("many") == old.replace("word", "W"));
        },
    );
}

#[test]
fn every_spelling_of_an_argument_is_taken_and_the_arguments_may_be_a_string() {
    on_all(&[], fill, |server, folder| {
        for path in ["filename", "path", "name", "file_path", "target_file"] {
            for (old, new) in [
                ("old_text", "new_text"),
                ("oldText", "newText"),
                ("old_string", "new_string"),
                ("old_str", "new_str"),
                ("old_text", "newText"),
            ] {
                folder.write("f", TEXT);
                let text = edit(server, json!({ path: "f", old: "one", new: "1" }));
                assert!(text.starts_with("Replaced 1 in f\n"), "{path} {old}: {text}");
                edit(server, json!({ path: "f", old: "two" }));
                edit(server, json!({ path: "f", new: "!", "ifMissing": "fail" }));
                assert_eq!(folder.text("f"), "1\n \nthree\n!");
            }
        }
        for content in ["content", "text", "file_text"] {
            edit(server, json!({ "filename": "f", content: content }));
            assert_eq!(folder.text("f"), content);
        }
        let both = failure(server, "edit_file", json!({ "filename": "f", "old_text": "a", "oldText": "b" }));
        assert!(both.contains("names the same argument"), "{both}");
        let unknown = failure(server, "edit_file", json!({ "filename": "f", "new_txet": "b" }));
        assert!(unknown.contains("did you mean new_text?"), "{unknown}");
    });
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &[]);
    let arguments = json!({ "filename": "f", "old_text": "one", "new_text": "\"1\"" }).to_string();
    let text = server.ok("edit_file", json!(arguments));
    assert!(text.starts_with("Replaced 1 in f\n"), "{text}");
    assert_eq!(folder.text("f"), "\"1\"\ntwo two\nthree\n");
}

#[test]
fn a_version_that_differs_changes_nothing_and_the_new_one_is_told() {
    on_all(&[], fill, |server, folder| {
        let told = |arguments: Value| {
            let result = server.tool("edit_file", arguments);
            let version = result.result["_meta"]["file-editor/version"].as_str().map(str::to_owned);
            (result.is_error, version)
        };
        let (_, first) = told(json!({ "filename": "f", "new_text": "a" }));
        let first = first.expect("a version");
        let (failed, second) = told(json!({ "filename": "f", "new_text": "b", "expected_version": first }));
        assert!(!failed && second.is_some_and(|second| second != first));
        let before = folder.text("f");
        for arguments in [
            json!({ "filename": "f", "new_text": "c", "expected_version": first }),
            json!({ "filename": "f", "content": "c", "expectedVersion": first }),
            json!({ "filename": "f", "old_text": "c", "expected_version": first }),
            json!({ "filename": "none", "new_text": "c", "expected_version": first }),
        ] {
            let text = failure(server, "edit_file", arguments);
            assert!(text.contains("does not have the expected version"), "{text}");
        }
        assert_eq!(folder.text("f"), before);
    });
}

#[test]
fn an_edit_sent_twice_with_one_key_is_carried_out_once() {
    on_all(&[], fill, |server, folder| {
        let call = json!({ "filename": "f", "new_text": "x", "idempotency_key": "k" });
        assert_eq!(edit(server, call.clone()), edit(server, call));
        assert_eq!(folder.text("f"), format!("{TEXT}x"));
    });
}

#[test]
fn servers_at_once_lose_no_edit() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for number in 0..3 {
            let folder = &folder;
            scope.spawn(move || {
                let server = serve(folder, &["--sync=none"]);
                for nth in 0..20 {
                    let new_text = format!("{number} {nth}\n");
                    server.ok(
                        "edit_file",
                        json!({ "filename": "d/f", "new_text": new_text, "encoding": "utf-16" }),
                    );
                }
            });
        }
    });
    let bytes = folder.read("d/f");
    let (mark, text) = bytes.split_at(2);
    let units: Vec<u16> = text.as_chunks::<2>().0.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
    let text = String::from_utf16(&units).expect("UTF-16");
    assert_eq!((mark, text.lines().count()), (&b"\xFF\xFE"[..], 60), "{text}");
    for number in 0..3 {
        let of_one: Vec<&str> = text.lines().filter(|line| line.starts_with(&number.to_string())).collect();
        let expected: Vec<String> = (0..20).map(|nth| format!("{number} {nth}")).collect();
        assert_eq!(of_one, expected);
    }
}
