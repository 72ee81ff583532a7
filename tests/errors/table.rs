//! Every error of contract 7 that a file or an argument causes: its exact text over MCP; its code, status, message and data
//! over REST and the direct methods. Each error is provoked, and nothing changes on disk.

use serde_json::{Value, json};

use super::failure::{Failure, check};
use crate::support::{Folder, MB, on_both_as_nobody, on_both_with};

fn abc(folder: &Folder) {
    folder.write("f", "a\nb\nc\n");
}

fn edit(line: i64, operation: &str, content: Option<&str>) -> Value {
    let mut edit = json!({ "line": line, "operation": operation });
    if let Some(content) = content {
        edit["content"] = json!(content);
    }
    edit
}

#[test]
fn a_name_that_is_not_admitted_is_an_invalid_filename() {
    let text = "Error: Invalid filename format";
    let names = ["../f", "/etc/passwd", "..", "", "a b", "a/b", "a\\b", "\u{e9}", "f\0", &"x".repeat(256)];
    let failures: Vec<Failure> = names
        .into_iter()
        .flat_map(|name| {
            let read = Failure::new("read_file", json!({ "name": name }), text, -32602, 400);
            let edit = json!({ "name": name, "append": "x", "create_if_missing": true });
            [read, Failure::new("edit_file", edit, text, -32602, 400)]
        })
        .collect();
    check(&[], abc, &failures);
}

#[test]
fn a_name_that_is_not_admitted_is_refused_with_the_rule() {
    let long = "x".repeat(256);
    let of_all = [
        ("", "neither empty"),
        ("..", "neither empty"),
        ("a/b", "not paths"),
        (&long, "at most 255 bytes"),
        (".file-editor-tmp-0123456789abcdef", "the server's temporary files"),
    ];
    for (flag, more) in [
        ("--names=portable", ("a b", "letters from a to z")),
        ("--names=any", ("a\tb", "no control characters")),
    ] {
        on_both_with(&["--tools=lines", flag], abc, |server, _| {
            for (name, rule) in of_all.into_iter().chain([more]) {
                let text = server.tool("read_file", json!({ "name": name })).text;
                assert!(
                    text.starts_with("Error: Invalid filename format\n") && text.contains(rule),
                    "{name:?}: {text}"
                );
            }
        });
    }
}

#[test]
fn negative_lines_and_line_0_where_lines_count_from_1_are_refused() {
    let text = "Error: Line numbers must be non-negative integers";
    let message = "Line numbers must be positive integers";
    let mut failures = Vec::new();
    for (line, from_1) in [(-1, 0), (-1, -1), (-1000, -999)] {
        // A negative start_line means the last lines.
        let read = Failure::new("read_file", json!({ "name": "f", "end_line": line }), text, -32602, 400);
        // A line 0 counts as absent where none is required and lines count from 1.
        let below = if from_1 == 0 { -2 } else { from_1 };
        failures.push(read.counted_from_1(json!({ "name": "f", "end_line": below }), message));
        for (operation, content) in [("replace", Some("x")), ("insert", Some("x")), ("delete", None)] {
            let arguments = |line| json!({ "name": "f", "edits": [edit(line, operation, content)] });
            let edit = Failure::new("edit_file", arguments(line), text, -32602, 400);
            failures.push(edit.counted_from_1(arguments(from_1), message));
        }
    }
    check(&[], abc, &failures);
}

#[test]
fn a_range_that_ends_before_it_starts_is_refused() {
    let range = |start, end| json!({ "name": "f", "start_line": start, "end_line": end });
    let text = "Error: Invalid line range: start 5 > end 3";
    let failure = Failure::new("read_file", range(5, 3), text, -32602, 400);
    let other =
        Failure::new("read_file", range(1, 0), "Error: Invalid line range: start 1 > end 0", -32602, 400)
            .counted_from_1(range(2, 1), "Invalid line range: start 2 > end 1");
    check(&[], abc, &[failure, other]);
}

#[test]
fn a_start_past_the_end_is_refused_with_the_number_of_lines() {
    let start = |start| json!({ "name": "f", "start_line": start });
    let failure =
        Failure::new("read_file", start(3), "Error: Start line 3 exceeds file length 3", -32602, 400)
            .counted_from_1(start(4), "Start line 4 exceeds file length 3");
    check(&[], abc, &[failure]);
}

#[test]
fn a_missing_file_is_not_found() {
    let text = "Error: File 'missing.txt' not found";
    let edit = json!({ "name": "missing.txt", "append": "x", "create_if_missing": false });
    let failures = [
        Failure::new("read_file", json!({ "name": "missing.txt" }), text, -32001, 404),
        Failure::new("edit_file", edit, text, -32001, 404),
        // Over REST a missing file is created only on request.
        Failure::new(
            "edit_file",
            json!({ "name": "missing.txt", "append": "x", "create_if_missing": false }),
            text,
            -32001,
            404,
        )
        .counted_from_1(json!({ "name": "missing.txt", "append": "x" }), "File 'missing.txt' not found"),
    ];
    check(&[], abc, &failures);
}

#[test]
fn a_file_whose_mode_forbids_it_is_refused_as_permission_denied() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let fill = |folder: &Folder| {
        folder.write("closed", "a\n");
        folder.set_mode("closed", 0);
        folder.write("read-only", "a\n");
        folder.set_mode("read-only", 0o444);
    };
    let denied = |name| format!("Error: Permission denied accessing '{name}'");
    let edit = |name| json!({ "name": name, "append": "x" });
    let failures = [
        Failure::new("read_file", json!({ "name": "closed" }), &denied("closed"), -32001, 403),
        Failure::new("edit_file", edit("closed"), &denied("closed"), -32001, 403),
        // A rename would succeed, but the mode of the file forbids the write.
        Failure::new("edit_file", edit("read-only"), &denied("read-only"), -32001, 403),
    ];
    on_both_as_nobody(&[], fill, |mcp, direct, folder| {
        for failure in &failures {
            failure.over_mcp(mcp, folder);
            failure.over_direct(direct, folder);
        }
        assert_eq!(mcp.ok("read_file", json!({ "name": "read-only" })), "File: read-only (1 lines)\n\na");
    });
}

#[test]
fn links_out_of_the_folder_and_what_is_no_regular_file_are_permission_denied() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let fill = |folder: &Folder| {
        std::fs::write(folder.outside("secret"), "secret\n").expect("a file");
        folder.link("out", "../secret");
        folder.fifo("fifo");
        std::fs::create_dir(folder.path().join("directory")).expect("a directory");
    };
    let failures: Vec<Failure> = ["out", "fifo", "directory"]
        .into_iter()
        .flat_map(|name| {
            let text = format!("Error: Permission denied accessing '{name}'");
            let read = Failure::new("read_file", json!({ "name": name }), &text, -32001, 403);
            let edit = json!({ "name": name, "append": "x", "create_if_missing": true });
            [read, Failure::new("edit_file", edit, &text, -32001, 403)]
        })
        .collect();
    check(&[], fill, &failures);
}

#[test]
fn a_file_over_the_limit_is_refused_with_both_sizes() {
    let text = "Error: File size 2MB exceeds maximum limit 1MB";
    let failures = [
        Failure::new("read_file", json!({ "name": "large" }), text, -32001, 413),
        Failure::new("edit_file", json!({ "name": "large", "append": "x" }), text, -32001, 413),
    ];
    check(&["--max-size=1"], |folder| folder.write("large", "y".repeat(2 * MB)), &failures);
}

#[test]
fn text_that_is_no_utf8_is_refused() {
    let text = "Error: File contains invalid UTF-8 encoding";
    let failures = [
        Failure::new("read_file", json!({ "name": "latin1" }), text, -32001, 400),
        Failure::new(
            "read_file",
            json!({ "name": "late", "start_line": 1, "end_line": 1 }),
            text,
            -32001,
            400,
        ),
        Failure::new("edit_file", json!({ "name": "latin1", "append": "x" }), text, -32001, 400),
    ];
    let fill = |folder: &Folder| {
        folder.write("latin1", b"caf\xE9\n");
        folder.write("late", [b"good line\n".repeat(20_000), b"\xC0\x80\n".to_vec()].concat());
    };
    check(&[], fill, &failures);
}

#[test]
fn a_file_with_nul_bytes_is_no_text_file() {
    let text = "Error: File 'zero' is not a text file";
    let failures = [
        Failure::new("read_file", json!({ "name": "zero" }), text, -32001, 400),
        Failure::new("edit_file", json!({ "name": "zero", "append": "x" }), text, -32001, 400),
    ];
    check(&[], |folder| folder.write("zero", "text\n\0\n"), &failures);
}

#[test]
fn an_unknown_operation_is_refused_by_its_name() {
    let failures: Vec<Failure> = ["append", "Replace", "", "re place", "\u{e9}"]
        .into_iter()
        .map(|operation| {
            let arguments = json!({ "name": "f", "edits": [edit(1, operation, Some("x"))] });
            Failure::new(
                "edit_file",
                arguments,
                &format!("Error: Invalid edit operation: {operation}"),
                -32602,
                400,
            )
        })
        .collect();
    check(&[], abc, &failures);
}

#[test]
fn a_delete_with_content_is_refused() {
    let text = "Error: Delete operation cannot specify content";
    // An empty content counts as absent.
    let arguments = json!({ "name": "f", "edits": [edit(1, "delete", Some("x"))] });
    check(&[], abc, &[Failure::new("edit_file", arguments, text, -32602, 400)]);
}

#[test]
fn a_line_out_of_range_is_named_with_its_operation() {
    let mut failures = Vec::new();
    for (operation, line, content) in
        [("replace", 3, Some("x")), ("insert", 4, Some("x")), ("delete", 3, None)]
    {
        let arguments = |line| json!({ "name": "f", "edits": [edit(line, operation, content)] });
        let text = |line| format!("Line {line} out of range for {operation} operation");
        let failure =
            Failure::new("edit_file", arguments(line), &format!("Error: {}", text(line)), -32602, 400);
        failures.push(failure.counted_from_1(arguments(line + 1), &text(line + 1)));
    }
    check(&[], abc, &failures);
}

#[test]
fn a_line_that_is_not_as_expected_is_a_conflict() {
    let arguments =
        |line| json!({ "name": "f", "edits": [{ "line": line, "operation": "delete", "expect": "B" }] });
    let failure = Failure::new("edit_file", arguments(1), "Error: Line 1 is not as expected", -32001, 409)
        .counted_from_1(arguments(2), "Line 2 is not as expected");
    check(&[], abc, &[failure]);
}

#[test]
fn two_edits_of_one_line_conflict() {
    let arguments = |line| json!({ "name": "f", "edits": [edit(line, "delete", None), edit(line, "replace", Some("x"))] });
    let failure = Failure::new("edit_file", arguments(1), "Error: Conflicting edits on line 1", -32602, 400)
        .counted_from_1(arguments(2), "Conflicting edits on line 2");
    check(&[], abc, &[failure]);
}
