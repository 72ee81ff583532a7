//! The acceptance criteria of S0 and S3 (their sections 2.1, 2.2, 2.3), one test each: S0's over MCP from line 0,
//! S3's over REST and the direct methods from line 1, with the errors as contract 7 and 10 settle them.

use serde_json::json;

use crate::support::{direct_on_both, direct_on_both_with, on_both, on_both_as_nobody, on_both_with};

const OVER: usize = 1_048_577;

// ---- 2.1 reading ----

#[test]
fn s0_a_file_of_three_lines_is_read_with_its_content_and_their_number() {
    on_both(|server, folder| {
        folder.write("test.txt", "line1\nline2\nline3");
        let text = server.ok("read_file", json!({ "name": "test.txt" }));
        assert_eq!(text, "File: test.txt (3 lines)\n\nline1\nline2\nline3");
    });
}

#[test]
fn s3_a_file_of_three_lines_is_read_with_its_content_and_their_number() {
    direct_on_both(|server, folder| {
        folder.write("test.txt", "line1\nline2\nline3");
        let answer = server.direct("read_file", json!({ "name": "test.txt" }));
        assert_eq!((&answer["content"], &answer["total_lines"]), (&json!("line1\nline2\nline3"), &json!(3)));
    });
}

#[test]
fn s0_a_range_from_2_to_3_gives_only_lines_2_and_3_from_0() {
    on_both(|server, folder| {
        folder.write("f", "zero\none\ntwo\nthree\nfour\n");
        let text = server.ok("read_file", json!({ "name": "f", "start_line": 2, "end_line": 3 }));
        assert_eq!(text, "File: f (lines 2-3 of 5 total)\n\ntwo\nthree");
    });
}

#[test]
fn s3_a_range_from_2_to_3_gives_only_lines_2_and_3_from_1() {
    direct_on_both(|server, folder| {
        folder.write("f", "one\ntwo\nthree\nfour\n");
        let answer = server.direct("read_file", json!({ "name": "f", "start_line": 2, "end_line": 3 }));
        assert_eq!(answer["content"], "two\nthree");
    });
}

#[test]
fn s0_a_missing_file_is_a_tool_failure() {
    on_both(|server, _| {
        let error = server.refused("read_file", json!({ "name": "missing.txt" }));
        assert_eq!(error, "Error: File 'missing.txt' not found");
    });
}

#[test]
fn s3_a_missing_file_is_error_minus_32001() {
    direct_on_both(|server, _| {
        let error = server.direct_error("read_file", json!({ "name": "missing.txt" }));
        assert_eq!((error.code, error.status.unwrap_or(404)), (-32001, 404));
    });
}

#[test]
fn s0_a_range_from_5_to_3_is_a_tool_failure() {
    on_both(|server, folder| {
        folder.write("f", "a\n".repeat(9));
        let error = server.refused("read_file", json!({ "name": "f", "start_line": 5, "end_line": 3 }));
        assert_eq!(error, "Error: Invalid line range: start 5 > end 3");
    });
}

#[test]
fn s3_a_range_from_5_to_3_is_error_minus_32602() {
    direct_on_both(|server, folder| {
        folder.write("f", "a\n".repeat(9));
        let error = server.direct_error("read_file", json!({ "name": "f", "start_line": 5, "end_line": 3 }));
        assert_eq!((error.code, error.status.unwrap_or(400)), (-32602, 400));
    });
}

#[test]
fn s0_a_file_over_the_limit_is_a_tool_failure() {
    on_both_with(
        &["--max-size=1"],
        |folder| folder.write("f", "a".repeat(OVER)),
        |server, _| {
            let error = server.refused("read_file", json!({ "name": "f" }));
            assert!(
                error.starts_with("Error: File size ") && error.ends_with("MB exceeds maximum limit 1MB"),
                "{error}"
            );
        },
    );
}

#[test]
fn s3_a_file_over_the_limit_is_error_minus_32001() {
    direct_on_both_with(
        &["--max-size=1"],
        |folder| folder.write("f", "a".repeat(OVER)),
        |server, _| {
            let error = server.direct_error("read_file", json!({ "name": "f" }));
            assert_eq!((error.code, error.status.unwrap_or(413)), (-32001, 413));
        },
    );
}

// ---- 2.2 listing ----

#[test]
fn s0_two_files_are_listed_in_order_with_time_and_lines() {
    on_both(|server, folder| {
        for (name, text) in [("b.txt", "1\n"), ("a.txt", "1\n2\n")] {
            folder.write(name, text);
            folder.set_modified(name, 1_749_033_000);
        }
        let wanted = "Files in directory:\n\nname: a.txt, modified: 2025-06-04T10:30:00Z, lines: 2\n\
                      name: b.txt, modified: 2025-06-04T10:30:00Z, lines: 1\n\nTotal files: 2";
        assert_eq!(server.ok("list_files", json!({})), wanted);
    });
}

#[test]
fn s3_two_files_are_listed_in_order_with_lines() {
    direct_on_both(|server, folder| {
        folder.write("b.txt", "1\n");
        folder.write("a.txt", "1\n2\n");
        let list = server.direct("list_files", json!({}));
        let file = |n: usize| (&list["files"][n]["name"], &list["files"][n]["lines"]);
        assert_eq!((file(0), file(1)), ((&json!("a.txt"), &json!(2)), (&json!("b.txt"), &json!(1))));
        assert_eq!(list["total_count"], 2);
    });
}

#[test]
fn s0_and_s3_an_empty_folder_has_an_empty_list_and_a_total_of_0() {
    on_both(|server, _| {
        assert_eq!(server.ok("list_files", json!({})), "Files in directory:\n\nTotal files: 0");
    });
    direct_on_both(|server, _| {
        let list = server.direct("list_files", json!({}));
        assert_eq!((&list["files"], &list["total_count"]), (&json!([]), &json!(0)));
    });
}

#[test]
fn s0_and_s3_directories_and_hidden_files_are_not_listed() {
    let fill = |folder: &crate::support::Folder| {
        folder.write("file", "");
        folder.write(".hidden", "");
        std::fs::create_dir(folder.path().join("directory")).expect("a directory");
        std::fs::create_dir(folder.path().join(".directory")).expect("a directory");
    };
    on_both_with(&[], fill, |server, _| {
        let text = server.ok("list_files", json!({}));
        assert!(
            text.contains("\n\nTotal files: 1\n")
                && text.contains("name: file, ")
                && !text.contains("hidden"),
            "{text}"
        );
        assert!(!text.contains("name: directory"), "{text}");
    });
    direct_on_both_with(&[], fill, |server, _| {
        let list = server.direct("list_files", json!({}));
        assert_eq!((&list["total_count"], &list["files"][0]["name"]), (&json!(1), &json!("file")));
    });
}

#[test]
fn s0_and_s3_a_file_that_is_too_large_or_binary_has_minus_1_lines() {
    let fill = |folder: &crate::support::Folder| {
        folder.write("binary", b"\x7FELF\x02\x01\x01\0\0");
        folder.write("large", "a".repeat(OVER));
    };
    on_both_with(&["--max-size=1"], fill, |server, _| {
        let text = server.ok("list_files", json!({}));
        assert_eq!(text.matches(", lines: -1\n").count(), 2, "{text}");
    });
    direct_on_both_with(&["--max-size=1"], fill, |server, _| {
        let list = server.direct("list_files", json!({}));
        assert_eq!((&list["files"][0]["lines"], &list["files"][1]["lines"]), (&json!(-1), &json!(-1)));
    });
}

#[test]
fn s0_and_s3_a_folder_that_is_not_readable_is_an_error() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    on_both_as_nobody(
        &[],
        |_| {},
        |mcp, direct, folder| {
            // The folder is open when the first answer comes.
            mcp.ok("list_files", json!({}));
            folder.set_own_mode(0);
            assert_eq!(mcp.refused("list_files", json!({})), "Error: Cannot access working directory");
            assert_eq!(direct.direct_error("list_files", json!({})).code, -32001);
            folder.set_own_mode(0o755);
        },
    );
}

// ---- 2.3 editing: S0 counts from 0, S3 from 1 ----

const FIVE: &str = "1\n2\n3\n4\n5\n";

#[test]
fn s0_line_2_is_replaced() {
    on_both(|server, folder| {
        folder.write("f", FIVE);
        let edits = json!([{ "line": 2, "operation": "replace", "content": "new line" }]);
        server.ok("edit_file", json!({ "name": "f", "edits": edits }));
        assert_eq!(folder.text("f"), "1\n2\nnew line\n4\n5\n");
    });
}

#[test]
fn s3_line_2_is_replaced() {
    direct_on_both(|server, folder| {
        folder.write("f", FIVE);
        let edits = json!([{ "line": 2, "operation": "replace", "content": "new line" }]);
        server.direct("edit_file", json!({ "name": "f", "edits": edits }));
        assert_eq!(folder.text("f"), "1\nnew line\n3\n4\n5\n");
    });
}

#[test]
fn s0_a_line_is_inserted_at_position_3() {
    on_both(|server, folder| {
        folder.write("f", FIVE);
        let edits = json!([{ "line": 3, "operation": "insert", "content": "inserted" }]);
        server.ok("edit_file", json!({ "name": "f", "edits": edits }));
        assert_eq!(folder.text("f"), "1\n2\n3\ninserted\n4\n5\n");
    });
}

#[test]
fn s3_a_line_is_inserted_at_position_3() {
    direct_on_both(|server, folder| {
        folder.write("f", FIVE);
        let edits = json!([{ "line": 3, "operation": "insert", "content": "inserted" }]);
        server.direct("edit_file", json!({ "name": "f", "edits": edits }));
        assert_eq!(folder.text("f"), "1\n2\ninserted\n3\n4\n5\n");
    });
}

#[test]
fn s0_line_2_is_removed() {
    on_both(|server, folder| {
        folder.write("f", FIVE);
        server.ok("edit_file", json!({ "name": "f", "edits": [{ "line": 2, "operation": "delete" }] }));
        assert_eq!(folder.text("f"), "1\n2\n4\n5\n");
    });
}

#[test]
fn s3_line_2_is_removed() {
    direct_on_both(|server, folder| {
        folder.write("f", FIVE);
        server.direct("edit_file", json!({ "name": "f", "edits": [{ "line": 2, "operation": "delete" }] }));
        assert_eq!(folder.text("f"), "1\n3\n4\n5\n");
    });
}

#[test]
fn s0_and_s3_a_missing_file_is_created_with_create_if_missing() {
    on_both(|server, folder| {
        let arguments = json!({ "name": "new", "append": "x", "create_if_missing": true });
        assert!(server.ok("edit_file", arguments).ends_with("File created: true"));
        assert_eq!(folder.text("new"), "x\n");
    });
    direct_on_both(|server, folder| {
        let params = json!({ "name": "new", "append": "x", "create_if_missing": true });
        assert_eq!(server.direct("edit_file", params)["file_created"], true);
        assert_eq!(folder.text("new"), "x\n");
    });
}

#[test]
fn s0_and_s3_several_edits_of_different_lines_are_applied_in_one_operation() {
    on_both(|server, folder| {
        folder.write("f", FIVE);
        let edits = json!([
            { "line": 0, "operation": "delete" },
            { "line": 2, "operation": "replace", "content": "three" },
            { "line": 4, "operation": "insert", "content": "four and a half" },
        ]);
        let text = server.ok("edit_file", json!({ "name": "f", "edits": edits }));
        assert!(text.contains("Lines modified: 3\nTotal lines: 5\n"), "{text}");
        assert_eq!(folder.text("f"), "2\nthree\n4\nfour and a half\n5\n");
    });
    direct_on_both(|server, folder| {
        folder.write("f", FIVE);
        let edits = json!([
            { "line": 5, "operation": "insert", "content": "four and a half" },
            { "line": 1, "operation": "delete" },
            { "line": 3, "operation": "replace", "content": "three" },
        ]);
        let answer = server.direct("edit_file", json!({ "name": "f", "edits": edits }));
        assert_eq!((&answer["lines_modified"], &answer["new_total_lines"]), (&json!(3), &json!(5)));
        assert_eq!(folder.text("f"), "2\nthree\n4\nfour and a half\n5\n");
    });
}
