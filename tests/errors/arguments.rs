//! Wrong arguments (the last row of contract 7's table), and which of several errors is the one reported (contract 4).

use serde_json::{Value, json};

use crate::support::{Folder, Http, MB, Mcp, Stdio, direct_on_both, on_both, on_both_with, text_of};

/// Wrong arguments in either interface: the operation, the arguments, and the word that says where.
fn wrong_arguments() -> Vec<(&'static str, Value, &'static str)> {
    let edit = |edit: Value| json!({ "name": "f", "edits": [edit], "create_if_missing": true });
    let too_many = vec![json!({ "line": 1, "operation": "insert", "content": "x" }); 1001];
    vec![
        ("list_files", json!({ "folder": "x" }), "folder"),
        ("read_file", json!({}), "name"),
        ("read_file", json!({ "name": 5 }), "name"),
        ("read_file", json!({ "name": null }), "name"),
        ("read_file", json!({ "name": ["f"] }), "name"),
        ("read_file", json!({ "name": "f", "start": 1 }), "start"),
        ("read_file", json!({ "name": "f", "start_line": "x" }), "start_line"),
        ("read_file", json!({ "name": "f", "start_line": 1.5 }), "start_line"),
        ("read_file", json!({ "name": "f", "start_line": true }), "start_line"),
        ("read_file", json!({ "name": "f", "end_line": [1] }), "end_line"),
        ("read_file", json!({ "name": "f", "end_line": {} }), "end_line"),
        ("edit_file", json!({ "append": "x" }), "name"),
        ("edit_file", json!({ "name": "f", "text": "x" }), "text"),
        ("edit_file", json!({ "name": "f", "append": 5 }), "append"),
        ("edit_file", json!({ "name": "f", "append": "a\0b" }), "append"),
        ("edit_file", json!({ "name": "f", "create_if_missing": "yes" }), "create_if_missing"),
        ("edit_file", json!({ "name": "f", "create_if_missing": 1 }), "create_if_missing"),
        ("edit_file", json!({ "name": "f", "edits": {} }), "edits"),
        ("edit_file", json!({ "name": "f", "edits": "[" }), "edits"),
        ("edit_file", json!({ "name": "f", "edits": too_many }), "edits"),
        ("edit_file", json!({ "name": "f", "edits": ["x"] }), "edits"),
        ("edit_file", json!({ "name": "f", "edits": [null] }), "edits"),
        ("edit_file", edit(json!({ "operation": "delete" })), "line"),
        ("edit_file", edit(json!({ "line": 1 })), "operation"),
        ("edit_file", edit(json!({ "line": 1, "operation": 5 })), "operation"),
        ("edit_file", edit(json!({ "line": "1.5", "operation": "delete" })), "line"),
        ("edit_file", edit(json!({ "line": 1.5, "operation": "delete" })), "line"),
        ("edit_file", edit(json!({ "line": null, "operation": "delete" })), "line"),
        ("edit_file", edit(json!({ "line": 1, "operation": "delete", "lines": 2 })), "lines"),
        ("edit_file", edit(json!({ "line": 1, "operation": "replace" })), "content"),
        ("edit_file", edit(json!({ "line": 1, "operation": "replace", "content": null })), "content"),
        ("edit_file", edit(json!({ "line": 1, "operation": "insert" })), "content"),
        ("edit_file", edit(json!({ "line": 1, "operation": "insert", "content": 5 })), "content"),
        ("edit_file", edit(json!({ "line": 1, "operation": "insert", "content": ["x"] })), "content"),
        ("edit_file", edit(json!({ "line": 1, "operation": "insert", "content": "a\0" })), "content"),
        ("edit_file", edit(json!({ "line": 1, "operation": "delete", "expect": 5 })), "expect"),
    ]
}

#[test]
fn wrong_arguments_are_tool_failures_that_say_where_over_mcp() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let before = folder.snapshot();
        for (tool, arguments, part) in wrong_arguments() {
            let result = server.tool(tool, arguments.clone());
            let first = result.first_line();
            assert!(
                result.is_error && first.starts_with("Error: Invalid arguments: "),
                "{arguments:.200}: {first}"
            );
            assert!(first.contains(part), "{arguments:.200} says nothing of {part}: {first}");
            assert_eq!(folder.snapshot(), before, "{arguments:.200}");
        }
    });
}

#[test]
fn wrong_arguments_are_invalid_params_over_rest_and_the_direct_methods() {
    direct_on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let before = folder.snapshot();
        for (operation, params, part) in wrong_arguments() {
            let error = server.direct_error(operation, params.clone());
            assert_eq!(error.code, -32602, "{params:.200}");
            assert!(error.status.is_none_or(|status| status == 400), "{params:.200}: {error:?}");
            let message = &error.message;
            assert!(
                message.starts_with("Invalid arguments: ") && message.contains(part),
                "{params:.200}: {message}"
            );
            assert_eq!(error.data["operation"], operation, "{params:.200}");
            assert_eq!(folder.snapshot(), before, "{params:.200}");
        }
    });
}

#[test]
fn an_unknown_property_with_null_is_unknown_all_the_same() {
    on_both(|server, folder| {
        folder.write("f", "a\n");
        let error = server.refused("read_file", json!({ "name": "f", "from": null }));
        assert!(error.starts_with("Error: Invalid arguments: ") && error.contains("from"), "{error}");
    });
}

/// The first line of a refused edit.
fn refusal(server: &dyn Mcp, name: &str, edits: &[Value]) -> String {
    server.refused("edit_file", json!({ "name": name, "edits": edits, "create_if_missing": false }))
}

fn out_of_range() -> Value {
    json!({ "line": 100, "operation": "delete" })
}

fn negative() -> Value {
    json!({ "line": -1, "operation": "delete" })
}

fn no_content() -> Value {
    json!({ "line": 0, "operation": "insert" })
}

#[test]
fn the_name_is_looked_at_before_the_edits() {
    on_both(|server, _| {
        assert_eq!(refusal(server, "../f", &[negative()]), "Error: Invalid filename format");
        let error = server.refused("read_file", json!({ "name": "../f", "end_line": -1 }));
        assert_eq!(error, "Error: Invalid filename format");
    });
}

#[test]
fn each_edit_is_looked_at_in_array_order_line_operation_content() {
    on_both(|server, folder| {
        folder.write("f", "a\n");
        let line = "Error: Line numbers must be non-negative integers";
        let operation = "Error: Invalid edit operation: move";
        let with_content = "Error: Delete operation cannot specify content";
        let all_wrong = json!({ "line": -1, "operation": "move" });
        let bad_operation = json!({ "line": 0, "operation": "move", "content": "x" });
        let delete = json!({ "line": 0, "operation": "delete", "content": "x" });
        assert_eq!(refusal(server, "f", &[all_wrong]), line);
        assert_eq!(refusal(server, "f", &[bad_operation.clone(), negative()]), operation);
        assert_eq!(refusal(server, "f", &[negative(), bad_operation.clone()]), line);
        assert_eq!(refusal(server, "f", &[delete.clone(), bad_operation]), with_content);
        assert!(refusal(server, "f", &[no_content(), delete]).starts_with("Error: Invalid arguments: "));
        // The range is checked after the form of all edits.
        assert_eq!(refusal(server, "f", &[out_of_range(), negative()]), line);
    });
}

#[test]
fn the_edits_fields_are_looked_at_before_the_file() {
    on_both(|server, folder| {
        folder.write("zero", "\0");
        assert_eq!(
            refusal(server, "missing", &[negative()]),
            "Error: Line numbers must be non-negative integers"
        );
        assert!(refusal(server, "zero", &[no_content()]).starts_with("Error: Invalid arguments: "));
        let range = json!({ "name": "missing", "start_line": 2, "end_line": 1 });
        assert_eq!(server.refused("read_file", range), "Error: Invalid line range: start 2 > end 1");
    });
}

#[test]
fn the_file_is_looked_at_found_size_text_before_ranges() {
    on_both_with(
        &["--max-size=1"],
        |folder| {
            folder.write("large", "\0".repeat(2 * MB));
            folder.write("zero", "\0");
        },
        |server, _| {
            assert_eq!(refusal(server, "missing", &[out_of_range()]), "Error: File 'missing' not found");
            let size = "Error: File size 2MB exceeds maximum limit 1MB";
            assert_eq!(refusal(server, "large", &[out_of_range()]), size);
            assert_eq!(refusal(server, "zero", &[out_of_range()]), "Error: File 'zero' is not a text file");
            let start = json!({ "name": "zero", "start_line": 100 });
            assert_eq!(server.refused("read_file", start), "Error: File 'zero' is not a text file");
        },
    );
}

#[test]
fn range_and_expectation_go_by_array_order_and_before_conflicts() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\n");
        let unexpected = json!({ "line": 1, "operation": "delete", "expect": "x" });
        let out = "Error: Line 100 out of range for delete operation";
        assert_eq!(refusal(server, "f", &[out_of_range(), unexpected.clone()]), out);
        assert_eq!(refusal(server, "f", &[unexpected, out_of_range()]), "Error: Line 1 is not as expected");
        let twice = json!({ "line": 0, "operation": "delete" });
        assert_eq!(refusal(server, "f", &[twice.clone(), twice.clone(), out_of_range()]), out);
        assert_eq!(refusal(server, "f", &[out_of_range(), out_of_range()]), out);
        assert_eq!(refusal(server, "f", &[twice.clone(), twice]), "Error: Conflicting edits on line 0");
    });
}

#[test]
fn conflicts_come_before_the_size_of_the_result() {
    on_both_with(
        &["--max-size=1"],
        |folder| folder.write("f", "y".repeat(MB)),
        |server, folder| {
            let content = json!({ "line": 0, "operation": "replace", "content": "z".repeat(MB / 2) });
            let snapshot = folder.snapshot();
            let arguments = json!({ "name": "f", "edits": [content, { "line": 0, "operation": "delete" }], "append": "x" });
            assert_eq!(server.refused("edit_file", arguments), "Error: Conflicting edits on line 0");
            assert_eq!(folder.snapshot(), snapshot);
        },
    );
}

#[test]
fn a_lone_surrogate_is_a_wrong_argument() {
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"edit_file","arguments":{arguments}}}}}"#
        )
    };
    let (folder, other) = (Folder::new(), Folder::new());
    let (stdio, http) = (Stdio::start(&folder, &[]), Http::start(&other, &[]));
    for content in [r"\ud800", r"a\udc00b", r"\udc00\ud800", r"\ud800\u0041"] {
        let body = call(&format!(r#"{{"name":"f","append":"{content}"}}"#));
        stdio.send_raw(format!("{body}\n").as_bytes());
        for answer in [stdio.recv(), http.post_raw("/mcp", body.as_bytes()).json()] {
            assert_eq!(
                (&answer["id"], &answer["result"]["isError"]),
                (&json!(1), &json!(true)),
                "{content}: {answer}"
            );
            let text = text_of(&answer);
            assert!(text.starts_with("Error: Invalid arguments: "), "{content}: {text}");
        }
        let rest = http.post_raw(
            "/edit_file",
            format!(r#"{{"name":"f","append":"{content}","create_if_missing":true}}"#).as_bytes(),
        );
        assert_eq!(
            (rest.status, &rest.json()["error"]["code"]),
            (400, &json!(-32602)),
            "{content}: {}",
            rest.text()
        );
    }
    // A pair of surrogates is one character.
    stdio.send_raw(format!("{}\n", call(r#"{"name":"f","append":"\ud83d\ude00"}"#)).as_bytes());
    assert_eq!(stdio.recv()["result"]["isError"], false);
    assert_eq!((folder.text("f"), other.names()), ("\u{1F600}\n".to_owned(), vec![]));
}
