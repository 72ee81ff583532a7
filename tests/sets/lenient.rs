//! Lenient input (contract 7): other names, numbers and booleans as strings, arrays and objects as strings.

use serde_json::{Value, json};

use crate::support::{Folder, Http, Mcp, Stdio, direct_on_both, on_both, on_both_with};

const NAMES: [&str; 5] = ["name", "path", "filename", "file_path", "target_file"];

#[test]
fn a_file_is_named_by_any_of_its_names_in_every_interface() {
    on_both_with(
        &["--tools=lines,exact"],
        |_| {},
        |server, folder| {
            for name in NAMES {
                folder.write("f", "a\n");
                assert_eq!(server.ok("read_file", json!({ name: "f" })), "File: f (1 lines)\n\na");
                server.ok("edit_file", json!({ name: "f", "append": "b" }));
                let edits = json!([{ "old_text": "b", "new_text": "c" }]);
                server.ok("file_edit", json!({ name: "f", "edits": edits }));
                assert_eq!(folder.text("f"), "a\nc\n", "{name}");
            }
        },
    );
    direct_on_both(|server, folder| {
        folder.write("f", "a\n");
        for name in NAMES {
            assert_eq!(server.direct("read_file", json!({ name: "f" }))["content"], "a");
        }
    });
}

#[test]
fn two_names_of_one_argument_are_an_error() {
    on_both(|server, folder| {
        folder.write("f", "a\n");
        let both = json!({ "name": "f", "path": "f" });
        assert_eq!(
            server.refused("read_file", both),
            "Error: Invalid arguments: path: it names the same argument as name; give one of them"
        );
        // null counts as absent.
        server.ok("read_file", json!({ "name": "f", "path": null }));
        server.ok("read_file", json!({ "name": null, "path": "f" }));
    });
}

#[test]
fn numbers_and_booleans_may_be_strings() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        for line in [json!(1), json!(1.0), json!("1"), json!("1.0"), json!(" 1 ")] {
            let arguments = json!({ "name": "f", "startLine": line, "endLine": line });
            assert_eq!(server.ok("read_file", arguments), "File: f (lines 1-1 of 3 total)\n\nb", "{line}");
        }
        assert_eq!(
            server.refused("read_file", json!({ "name": "f", "end_line": "-1" })),
            "Error: Line numbers must be non-negative integers"
        );
        let create = json!({ "name": "new", "append": "x", "create_if_missing": "false" });
        assert_eq!(server.refused("edit_file", create), "Error: File 'new' not found");
        for wrong in [json!("1.5"), json!("one"), json!([1])] {
            let text = server.refused("read_file", json!({ "name": "f", "start_line": wrong }));
            assert!(text.starts_with("Error: Invalid arguments: start_line: "), "{text}");
        }
    });
}

#[test]
fn arrays_objects_and_all_arguments_may_be_strings_of_json() {
    on_both(|server, folder| {
        let edit = json!({ "line": 0, "operation": "insert", "text": "x \"y\"" });
        let forms: [Value; 4] = [
            json!([edit]),
            json!(json!([edit]).to_string()),
            json!([edit.to_string()]),
            json!(format!(" {} ", json!([edit.to_string()]))),
        ];
        for edits in forms {
            for whole in [false, true] {
                folder.write("f", "a\n");
                let arguments = json!({ "name": "f", "edits": edits });
                let arguments = if whole { json!(arguments.to_string()) } else { arguments };
                server.ok("edit_file", arguments);
                assert_eq!(folder.text("f"), "x \"y\"\na\n", "{edits}");
            }
        }
        for broken in ["[", "[{]", "[] []", "{}", "x", "[{\"line\":0,\"operation\":\"delete\"}"] {
            let text = server.refused("edit_file", json!({ "name": "f", "edits": broken }));
            assert!(text.starts_with("Error: Invalid arguments: edits: "), "{broken}: {text}");
        }
    });
}

#[test]
fn the_names_of_texts_that_other_tools_use_are_taken() {
    let names = [
        ("old_text", "new_text"),
        ("oldText", "newText"),
        ("old_string", "new_string"),
        ("old_str", "new_str"),
    ];
    on_both_with(
        &["--tools=exact"],
        |_| {},
        |server, folder| {
            for (old, new) in names {
                folder.write("f", "a\n");
                let edits = json!([{ old: "a", new: "b", "occurrences": "1" }]);
                server.ok("file_edit", json!({ "file_path": "f", "edits": edits, "dryRun": "true" }));
                assert_eq!(folder.text("f"), "a\n");
                server.ok("file_edit", json!({ "file_path": "f", "edits": edits.to_string() }));
                assert_eq!(folder.text("f"), "b\n");
            }
            let both =
                json!({ "path": "f", "edits": [{ "old_text": "b", "old_str": "b", "new_text": "c" }] });
            let result = server.tool("file_edit", both);
            assert!(result.text.contains("edits[0].old_text: it names the same argument as old_str"));
            assert_eq!(result.result["metadata"]["validation_error"]["total_edits"], 1);
            assert_eq!(result.result["metadata"]["path"], "f");
        },
    );
}

#[test]
fn an_unknown_property_says_which_one_was_probably_meant() {
    on_both_with(
        &["--tools=lines,exact"],
        |folder| folder.write("f", "a\n"),
        |server, folder| {
            let before = folder.snapshot();
            for (tool, arguments, part) in [
                ("read_file", json!({ "nam": "f" }), "nam: unknown property"),
                ("read_file", json!({ "nam": "f" }), "did you mean name?"),
                ("read_file", json!({ "name": "f", "start": 0 }), "did you mean start_line?"),
                ("edit_file", json!({ "name": "f", "edit": [] }), "did you mean edits?"),
                (
                    "edit_file",
                    json!({ "name": "f", "edits": [{ "line": 0, "operation": "replace", "new_content": "x" }] }),
                    "edits[0].new_content: unknown property; expected only line, end_line, operation, content, expect; did you mean content?",
                ),
                (
                    "file_edit",
                    json!({ "path": "f", "edits": [{ "old": "a", "new_text": "" }] }),
                    "did you mean old_text?",
                ),
                ("list_files", json!({ "folder": "x" }), "expected only match, after, limit"),
            ] {
                let result = server.tool(tool, arguments.clone());
                assert!(result.is_error && result.text.contains(part), "{tool} {arguments}: {}", result.text);
            }
            assert_eq!(folder.snapshot(), before);
        },
    );
}

#[test]
fn an_argument_of_another_tool_is_refused_with_the_one_of_this_tool_that_was_meant() {
    for (tools, cases) in [
        (
            "--tools=filesystem,search",
            &[
                ("edit_file", "oldText", "oldText in edits"),
                ("edit_file", "old_string", "oldText in edits"),
                ("edit_file", "search", "oldText in edits"),
                ("edit_file", "replace", "newText in edits"),
                ("read_text_file", "lines", "start_line and end_line"),
                ("read_text_file", "view_range", "start_line and end_line"),
                ("read_text_file", "line_start", "start_line"),
                ("read_text_file", "uri", "path"),
                ("read_multiple_files", "files", "paths"),
                ("read_multiple_files", "file_path", "paths"),
                ("grep", "query", "pattern"),
                ("grep", "regex", "pattern"),
                ("glob", "query", "pattern"),
                ("search_files", "query", "pattern"),
                ("move_file", "dest", "destination"),
            ][..],
        ),
        (
            "--tools=text",
            &[
                ("edit_file", "edits", "old_text and new_text"),
                ("edit_file", "search", "old_text"),
                ("edit_file", "replace", "new_text"),
                ("read_file", "query", "pattern"),
                ("read_file", "range", "start_line and end_line"),
                ("write_file", "data", "content"),
            ],
        ),
        (
            "--tools=lines,exact",
            &[("edit_file", "new_string", "content in edits"), ("file_edit", "search", "old_text in edits")],
        ),
    ] {
        on_both_with(
            &[tools],
            |_| {},
            |server, _| {
                for (tool, name, meant) in cases {
                    let text = server.tool(tool, json!({ *name: "x" })).text;
                    let ends = format!("did you mean {meant}?");
                    assert!(
                        text.contains(&format!("{name}: unknown property")) && text.contains(&ends),
                        "{tool}: {text}"
                    );
                }
            },
        );
    }
    // Nothing is meant that the tool does not have.
    on_both_with(
        &["--tools=filesystem"],
        |_| {},
        |server, _| {
            for (tool, name) in
                [("delete_file", "query"), ("write_file", "view_range"), ("create_directory", "regex")]
            {
                let text = server.tool(tool, json!({ "path": "x", "content": "", name: "x" })).text;
                assert!(
                    text.contains("unknown property") && !text.contains("did you mean"),
                    "{tool}: {text}"
                );
            }
        },
    );
}

#[test]
fn json_in_a_string_has_the_same_bounds_as_json() {
    let folder = Folder::new();
    let (stdio, http) = (Stdio::start(&folder, &[]).ready(), Http::start(&folder, &[]));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for server in [&stdio as &dyn Mcp, &http] {
        let text = server.refused("edit_file", json!({ "name": "f", "edits": deep }));
        assert!(text.starts_with("Error: Invalid arguments: edits: "), "{text}");
        let many = vec![json!({ "line": 0, "operation": "insert", "content": "" }); 1_001];
        let text = server.refused("edit_file", json!({ "name": "f", "edits": json!(many).to_string() }));
        assert!(text.contains("more than 1000 items"), "{text}");
    }
}
