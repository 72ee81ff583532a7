//! Each tool of the set: what it answers and what it refuses, the same on every interface.

use serde_json::{Value, json};

use super::{on_all, outcome, put, tree};
use crate::support::{Folder, MB, named};

pub(super) fn fill(folder: &Folder) {
    put(folder, "a.txt", "one\ntwo\nthree\n");
    put(folder, "sub/b.txt", "b\n");
    put(folder, "sub/deep/c.txt", "c\n");
    put(folder, "pic.png", b"\x89PNG\r\n\x1a\n");
    put(folder, "latin", b"caf\xe9\n");
    put(folder, "bin", b"\0");
}

#[test]
fn every_tool_that_reads_answers_alike_on_every_interface() {
    on_all(&[], fill, |server, folder| {
        let here = named(folder.path());
        let found = named(&folder.path().join("sub/deep/c.txt"));
        let allowed = format!("Allowed directories:\n{here}");
        let several = "a.txt:\none\ntwo\nthree\n\n\n---\nsub/b.txt:\nb\n\n\n---\na.txt:\ntwo\n";
        let of_sub = "[\n  {\n    \"name\": \"b.txt\",\n    \"type\": \"file\"\n  },\n  {\n    \"name\": \"deep\",\n    \
                      \"type\": \"directory\",\n    \"children\": [\n      {\n        \"name\": \"c.txt\",\n        \
                      \"type\": \"file\"\n      }\n    ]\n  }\n]";
        let none = "No matches found\n[search_files looks at names only, not at what is in files]";
        let cases: [(&str, Value, &str); 13] = [
            ("read_text_file", json!({ "path": "a.txt" }), "one\ntwo\nthree\n"),
            ("read_file", json!({ "path": "a.txt", "head": 1 }), "one"),
            ("read_text_file", json!({ "path": "a.txt", "start_line": 2, "end_line": 2 }), "two"),
            (
                "read_text_file",
                json!({ "path": "a.txt", "offset": 2, "limit": 1, "line_numbers": true }),
                "2\ttwo",
            ),
            (
                "read_text_file",
                json!({ "path": "a.txt", "start_line": 2, "line_numbers": true }),
                "2\ttwo\n3\tthree",
            ),
            (
                "read_multiple_files",
                json!({ "paths": ["a.txt", "sub/b.txt", { "path": "a.txt", "start_line": 2, "end_line": 2 }] }),
                several,
            ),
            (
                "list_directory",
                json!({ "path": "." }),
                "[FILE] a.txt\n[FILE] bin\n[FILE] latin\n[FILE] pic.png\n[DIR] sub",
            ),
            (
                "list_directory",
                json!({ "path": "sub", "depth": 2 }),
                "[FILE] b.txt\n[DIR] deep\n[FILE] deep/c.txt",
            ),
            ("directory_tree", json!({ "path": "sub" }), of_sub),
            ("search_files", json!({ "path": ".", "pattern": "**/c.txt" }), &found),
            ("search_files", json!({ "path": ".", "pattern": "**/none" }), none),
            ("list_allowed_directories", json!({}), &allowed),
            (
                "read_media_file",
                json!({ "path": "pic.png" }),
                r#"{"data":"iVBORw0KGgo=","mimeType":"image/png","type":"image"}"#,
            ),
        ];
        for (tool, arguments, text) in cases {
            assert_eq!(outcome(server, tool, &arguments), (false, text.to_owned()), "{tool} {arguments}");
        }
        let (_, sizes) =
            outcome(server, "list_directory_with_sizes", &json!({ "path": ".", "sortBy": "size" }));
        assert!(
            sizes.contains("[DIR] sub")
                && sizes.ends_with("Total: 4 files, 1 directories\nCombined size: 28 B"),
            "{sizes}"
        );
        let (_, info) = outcome(server, "get_file_info", &json!({ "path": "a.txt" }));
        assert!(
            info.starts_with("size: 14\n") && info.contains("\nisDirectory: false\nisFile: true\n"),
            "{info}"
        );
    });
}

#[test]
fn every_tool_that_writes_does_so_alike_on_every_interface() {
    on_all(&[], fill, |server, folder| {
        let edits = json!([{ "oldText": "two", "newText": "2" }]);
        for (tool, arguments, start) in [
            ("write_file", json!({ "path": "n.txt", "content": "n\n" }), "Successfully wrote to n.txt"),
            ("edit_file", json!({ "path": "a.txt", "edits": edits, "dryRun": true }), "```diff\nIndex: "),
            ("edit_file", json!({ "path": "a.txt", "edits": edits }), "```diff\nIndex: "),
            ("create_directory", json!({ "path": "x/y" }), "Successfully created directory x/y"),
            ("create_directory", json!({ "path": "x/y" }), "Successfully created directory x/y"),
            (
                "move_file",
                json!({ "source": "n.txt", "destination": "x/n.txt" }),
                "Successfully moved n.txt to x/n.txt",
            ),
            (
                "move_file",
                json!({ "source": "sub/deep", "destination": "x/deep" }),
                "Successfully moved sub/deep to x/deep",
            ),
            (
                "copy_file",
                json!({ "source": "pic.png", "destination": "x/p.png" }),
                "Successfully copied pic.png to x/p.png",
            ),
            ("delete_file", json!({ "path": "bin" }), "Successfully deleted bin"),
            (
                "delete_file",
                json!({ "path": "sub", "recursive": true }),
                "Successfully deleted sub (2 entries)",
            ),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(!is_error && text.starts_with(start), "{tool} {arguments}: {text}");
        }
        let now: Vec<String> = tree(folder.path()).into_keys().collect();
        assert_eq!(
            now,
            ["a.txt", "latin", "pic.png", "x", "x/deep", "x/deep/c.txt", "x/n.txt", "x/p.png", "x/y"]
        );
        assert_eq!(
            (folder.text("a.txt"), folder.read("x/p.png")),
            ("one\n2\nthree\n".into(), b"\x89PNG\r\n\x1a\n".to_vec())
        );
    });
}

#[test]
fn what_is_refused_is_refused_alike_on_every_interface_and_changes_nothing() {
    on_all(&[], fill, |server, folder| {
        let before = tree(folder.path());
        let edits = |old: &str| json!([{ "oldText": old, "newText": "x" }]);
        for (tool, arguments, first) in [
            ("read_text_file", json!({ "path": "none" }), "Error: File 'none' not found"),
            (
                "read_text_file",
                json!({ "path": "a.txt", "start_line": 9 }),
                "Error: Start line 9 exceeds file length 3",
            ),
            (
                "read_text_file",
                json!({ "path": "a.txt", "head": 1, "tail": 1 }),
                "Error: Invalid arguments: head and tail",
            ),
            ("read_text_file", json!({ "path": "latin" }), "Error: File contains invalid UTF-8 encoding"),
            ("read_text_file", json!({ "path": "bin" }), "Error: File 'bin' is not a text file"),
            ("read_text_file", json!({ "path": "sub" }), "Error: Permission denied accessing 'sub'"),
            ("read_media_file", json!({ "path": "none" }), "Error: File 'none' not found"),
            ("read_multiple_files", json!({ "paths": [] }), "Error: Invalid arguments: paths"),
            ("list_directory", json!({ "path": "a.txt" }), "Error: 'a.txt' is a file, not a folder"),
            ("list_directory", json!({ "path": "none" }), "Error: File 'none' not found"),
            ("list_directory_with_sizes", json!({ "path": "none" }), "Error: File 'none' not found"),
            ("directory_tree", json!({ "path": "none" }), "Error: File 'none' not found"),
            ("search_files", json!({ "path": "none", "pattern": "*" }), "Error: File 'none' not found"),
            ("get_file_info", json!({ "path": "none" }), "Error: File 'none' not found"),
            (
                "write_file",
                json!({ "path": "a.txt", "content": "", "create_only": true }),
                "Error: 'a.txt' exists already",
            ),
            (
                "write_file",
                json!({ "path": "sub", "content": "" }),
                "Error: Permission denied accessing 'sub'",
            ),
            ("write_file", json!({ "path": "a.txt" }), "Error: Invalid arguments: content: it is missing"),
            (
                "write_file",
                json!({ "path": "a.txt", "content": "", "bogus": 1 }),
                "Error: Invalid arguments: bogus",
            ),
            (
                "edit_file",
                json!({ "path": "a.txt", "edits": edits("none") }),
                "Edit 1 of 1 failed: Could not find exact text",
            ),
            (
                "edit_file",
                json!({ "path": "a.txt", "edits": edits("e\n") }),
                "Edit 1 of 1 failed: Expected 1 occurrence but found 2",
            ),
            ("edit_file", json!({ "path": "none", "edits": edits("x") }), "Error: File 'none' not found"),
            ("create_directory", json!({ "path": "a.txt" }), "Error: 'a.txt' exists already"),
            ("move_file", json!({ "source": "none", "destination": "x" }), "Error: File 'none' not found"),
            ("move_file", json!({ "source": "a.txt", "destination": "bin" }), "Error: 'bin' exists already"),
            (
                "move_file",
                json!({ "source": "a.txt", "destination": "no/x" }),
                "Error: The folder of 'no/x' does not exist",
            ),
            (
                "move_file",
                json!({ "source": "sub", "destination": "sub/deep/in" }),
                "Error: Invalid arguments: destination",
            ),
            (
                "move_file",
                json!({ "source": ".", "destination": "x" }),
                "Error: Permission denied accessing '.'",
            ),
            (
                "copy_file",
                json!({ "source": "sub", "destination": "x" }),
                "Error: Permission denied accessing 'sub'",
            ),
            ("copy_file", json!({ "source": "a.txt", "destination": "bin" }), "Error: 'bin' exists already"),
            ("delete_file", json!({ "path": "none" }), "Error: File 'none' not found"),
            ("delete_file", json!({ "path": "sub" }), "Error: Folder 'sub' is not empty"),
            (
                "delete_file",
                json!({ "path": ".", "recursive": true }),
                "Error: Permission denied accessing '.'",
            ),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(is_error && text.starts_with(first), "{tool} {arguments}: {text}");
        }
        assert!(tree(folder.path()) == before, "a refused call changed something");
    });
}

#[test]
fn one_missing_file_of_several_has_its_error_in_its_place() {
    on_all(&[], fill, |server, _| {
        let (is_error, text) =
            outcome(server, "read_multiple_files", &json!({ "paths": ["none", "../x", "sub/b.txt"] }));
        assert!(!is_error);
        let parts: Vec<&str> = text.split("\n---\n").collect();
        assert!(parts[0].starts_with("none: Error - File 'none' not found"), "{text}");
        assert!(parts[1].starts_with("../x: Error - Invalid filename format"), "{text}");
        assert_eq!(parts[2], "sub/b.txt:\nb\n\n");
    });
}

#[test]
fn a_file_that_is_too_large_to_read_is_moved_copied_and_deleted_all_the_same() {
    let large = |folder: &Folder| folder.write("large", vec![b'x'; MB + 1]);
    on_all(&["--max-file=1"], large, |server, folder| {
        let read = outcome(server, "read_media_file", &json!({ "path": "large" }));
        assert!(
            read.0 && read.1.starts_with("Error: File size 1.01MB exceeds maximum limit 1MB"),
            "{read:?}"
        );
        for (tool, arguments, names) in [
            ("copy_file", json!({ "source": "large", "destination": "copy" }), &["copy", "large"][..]),
            ("move_file", json!({ "source": "large", "destination": "moved" }), &["copy", "moved"]),
            ("delete_file", json!({ "path": "moved" }), &["copy"]),
        ] {
            assert!(!outcome(server, tool, &arguments).0, "{tool}");
            assert_eq!(folder.names(), names, "{tool}");
        }
        assert_eq!(folder.read("copy"), vec![b'x'; MB + 1]);
    });
}

#[test]
fn a_file_that_is_too_large_to_be_replaced_is_replaced_by_the_calls_that_the_refusal_names() {
    let large = |folder: &Folder| folder.write("large", vec![b'x'; MB + 1]);
    on_all(&["--max-file=1"], large, |server, folder| {
        let whole = json!({ "path": "large", "content": "new" });
        let (is_error, text) = outcome(server, "write_file", &whole);
        assert!(
            is_error && text.starts_with("Error: File size 1.01MB exceeds maximum limit 1MB\nNothing"),
            "{text}"
        );
        assert!(
            text.ends_with("delete it with delete_file {\"path\":\"large\"}, then send the same call again."),
            "{text}"
        );
        assert!(!outcome(server, "delete_file", &json!({ "path": "large" })).0);
        assert!(!outcome(server, "write_file", &whole).0);
        assert_eq!(folder.text("large"), "new");
    });
}

#[test]
fn an_edit_without_a_diff_is_answered_in_one_line() {
    on_all(&[], fill, |server, folder| {
        put(folder, "d/n", "a b\na\n");
        let edits = json!([{ "oldText": "a", "newText": "x", "replaceAll": true }]);
        let ask = |dry: bool| {
            outcome(
                server,
                "edit_file",
                &json!({ "path": "d/n", "edits": edits, "diff": false, "dryRun": dry }),
            )
        };
        assert_eq!(ask(true), (false, "Would change 2 places in d/n".into()));
        assert_eq!(folder.text("d/n"), "a b\na\n");
        assert_eq!(ask(false), (false, "Changed 2 places in d/n".into()));
        assert_eq!(folder.text("d/n"), "x b\nx\n");
        let none = json!([{ "oldText": "b", "newText": "b" }]);
        let none = outcome(server, "edit_file", &json!({ "path": "d/n", "edits": none, "diff": false }));
        assert_eq!(none, (false, "Nothing changed: the text is the same as before.".into()));
    });
}

#[test]
fn an_edit_after_one_that_fitted_without_its_indentation_is_judged_on_the_text_as_it_was_put_in() {
    let fill = |folder: &Folder| {
        put(folder, "blank", "\ttab\nx y \nNEW\n");
        put(folder, "deep", "two\ntwo\n\\\n  three");
    };
    on_all(&[], fill, |server, folder| {
        let before = tree(folder.path());
        // The lines that stay are put in without blanks, so four blanks fit only on the two empty lines.
        let edits = json!([
            { "oldText": "\tx y \n\tNEW\t", "newText": "\tx y \n\tNEW\t\n" },
            { "oldText": "    ", "newText": "" },
        ]);
        let (is_error, text) = outcome(server, "edit_file", &json!({ "path": "blank", "edits": edits }));
        assert!(is_error && text.contains("fits 2 places, at lines 4, 5"), "{text}");
        // The empty new text leaves nothing of the line that was found, so no blank is left.
        let edits = json!([{ "oldText": "\tthree", "newText": "" }, { "oldText": " ", "newText": "x" }]);
        let (is_error, text) = outcome(server, "edit_file", &json!({ "path": "deep", "edits": edits }));
        assert!(is_error && text.contains("Edit 2 of 2 failed: Could not find exact text"), "{text}");
        assert!(tree(folder.path()) == before, "something was changed");
    });
}

#[test]
fn patterns_that_take_too_much_together_are_refused_with_the_one_that_is_too_many() {
    on_all(&[], fill, |server, _| {
        let names: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        let pattern = format!("a/{{{}}}/b", names.join(","));
        for tool in ["search_files", "directory_tree"] {
            let ask = |count: usize| {
                let mut arguments = json!({ "path": ".", "excludePatterns": vec![&pattern; count] });
                if tool == "search_files" {
                    arguments["pattern"] = json!("**");
                }
                outcome(server, tool, &arguments)
            };
            let (is_error, text) = ask(1);
            assert!(!is_error, "{tool}: {text}");
            let (is_error, text) = ask(50);
            let refused = text.starts_with("Error: Invalid arguments: excludePatterns[");
            assert!(is_error && refused && text.contains("together"), "{tool}: {text}");
        }
        let (_, text) =
            outcome(server, "search_files", &json!({ "path": ".", "pattern": "{a,b}".repeat(14) }));
        assert!(text.starts_with("Error: Invalid arguments: pattern: the braces"), "{text}");
    });
}

#[test]
fn the_byte_order_mark_of_a_file_is_not_shown_in_a_diff_and_stays() {
    on_all(
        &[],
        |folder| put(folder, "f", "\u{feff}one\ntwo\n"),
        |server, folder| {
            let edits = json!([{ "oldText": "one", "newText": "1" }]);
            let (is_error, text) = outcome(server, "edit_file", &json!({ "path": "f", "edits": edits }));
            assert!(!is_error && text.contains("\n-one\n+1\n two\n"), "{text}");
            assert_eq!(folder.text("f"), "\u{feff}1\ntwo\n");
            // It is no text that an edit finds.
            let edits = json!([{ "oldText": "\u{feff}1\nt", "newText": "" }]);
            assert!(outcome(server, "edit_file", &json!({ "path": "f", "edits": edits })).0);
            assert_eq!(folder.text("f"), "\u{feff}1\ntwo\n");
        },
    );
}
