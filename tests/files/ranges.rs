//! edit_file beyond the seeds: ranges of lines, lines that an insert expects, the diff (contract 11).

use serde_json::{Value, json};

use crate::support::{Mcp, direct_on_both, on_both, on_both_with};

const TEN: &str = "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";

fn edit(server: &dyn Mcp, edits: Value) -> String {
    server.ok("edit_file", json!({ "name": "f", "edits": edits }))
}

/// The whole text of a refusal.
fn refusal(server: &dyn Mcp, edits: Value) -> String {
    let result = server.tool("edit_file", json!({ "name": "f", "edits": edits }));
    assert!(result.is_error, "{}", result.text);
    result.text
}

#[test]
fn a_range_is_replaced_or_deleted_with_both_ends() {
    on_both(|server, folder| {
        folder.write("f", TEN);
        let answer = edit(
            server,
            json!([
                { "line": 1, "end_line": 3, "operation": "replace", "content": "x\ny", "expect": "1\n2\n3" },
                { "line": 5, "end_line": 8, "operation": "delete", "expect": "5\n6\n7\n8" },
                { "line": 5, "operation": "insert", "content": "before 5" },
            ]),
        );
        assert_eq!(
            answer,
            "File edited successfully: f\nLines modified: 7\nTotal lines: 6\nFile created: false"
        );
        assert_eq!(folder.text("f"), "0\nx\ny\n4\nbefore 5\n9\n");
    });
}

#[test]
fn a_replaced_range_keeps_the_break_of_its_last_line() {
    on_both(|server, folder| {
        for (before, content, after) in [
            ("a\r\nb\nc\n", "x\ny", "x\r\ny\nc\n"),
            ("a\r\nb", "x\ny", "x\r\ny"),
            ("a\nb", "x\n", "x\n"),
            ("\u{FEFF}a\nb\n", "x", "\u{FEFF}x\n"),
        ] {
            folder.write("f", before);
            edit(server, json!([{ "line": 0, "end_line": 1, "operation": "replace", "content": content }]));
            assert_eq!(folder.text("f"), after, "{before:?}");
        }
    });
}

#[test]
fn a_range_out_of_the_file_or_backwards_is_refused() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        for (edit, text) in [
            (
                json!({ "line": 1, "end_line": 3, "operation": "delete" }),
                "Error: Line 3 out of range for delete operation\nThe file has 3 lines, 0-2.",
            ),
            (
                json!({ "line": 2, "end_line": 1, "operation": "delete" }),
                "Error: Invalid line range: start 2 > end 1",
            ),
            (
                json!({ "line": 0, "end_line": -1, "operation": "delete" }),
                "Error: Line numbers must be non-negative integers",
            ),
            (
                json!({ "line": 0, "end_line": 1, "operation": "insert", "content": "x" }),
                "Error: Invalid arguments: edits[0].end_line: an insert replaces no lines; expected only with \
                 replace and delete",
            ),
        ] {
            assert_eq!(refusal(server, json!([edit])), text);
        }
        assert_eq!(folder.text("f"), "a\nb\nc\n");
    });
}

#[test]
fn ranges_that_share_a_line_are_refused_and_so_is_an_insert_within_one() {
    on_both(|server, folder| {
        folder.write("f", TEN);
        let delete = |line: u32, end: u32| json!({ "line": line, "end_line": end, "operation": "delete" });
        let insert = |line: u32| json!({ "line": line, "operation": "insert", "content": "x" });
        for (edits, line) in [
            (json!([delete(1, 4), delete(4, 6)]), 4),
            (json!([delete(4, 6), delete(1, 4)]), 4),
            (json!([delete(1, 8), delete(3, 3)]), 3),
            (json!([delete(3, 3), delete(1, 8)]), 3),
            (json!([delete(1, 4), insert(2)]), 2),
            (json!([insert(4), delete(1, 4)]), 4),
        ] {
            let first = refusal(server, edits.clone());
            assert!(
                first.starts_with(&format!("Error: Conflicting edits on line {line}\n")),
                "{edits}: {first}"
            );
        }
        edit(server, json!([delete(1, 2), delete(3, 4), insert(1), insert(5)]));
        assert_eq!(folder.text("f"), "0\nx\nx\n5\n6\n7\n8\n9\n");
    });
}

#[test]
fn a_range_that_is_not_as_expected_is_shown_with_the_place_of_the_expected_text() {
    on_both(|server, folder| {
        let range =
            |expect: &str| json!([{ "line": 0, "end_line": 1, "operation": "delete", "expect": expect }]);
        for brk in ["\n", "\r\n", "\r"] {
            folder.write("f", "a\nb\nc\nd\nc\n".replace('\n', brk));
            let head = "Error: Line 0 is not as expected\nIt is now: \"a\nb\"";
            let place = "\nThe expected text is lines 2-3.";
            assert_eq!(refusal(server, range("c\nd")), head.to_owned() + place, "{brk:?}");
            assert_eq!(refusal(server, range("c\nd\nc\nd")), head, "{brk:?}");
            assert_eq!(refusal(server, range("a\nb\n")), head, "{brk:?}");
            assert_eq!(refusal(server, range("c")), head, "{brk:?}: it is there twice");
        }
        folder.write("f", "a\nb\nc\nd\nc\nd\n");
        assert!(!refusal(server, range("c\nd")).contains("The expected text"), "it is there twice");
    });
}

#[test]
fn an_insert_can_expect_the_line_that_it_goes_before() {
    on_both(|server, folder| {
        let insert = |line: u32, expect: &str| json!([{ "line": line, "operation": "insert", "content": "x", "expect": expect }]);
        folder.write("f", "a\nb\n");
        edit(server, insert(1, "b"));
        assert_eq!(folder.text("f"), "a\nx\nb\n");
        let text = "Error: Line 1 is not as expected\nIt is now: \"x\"\nThe expected text is line 2.";
        assert_eq!(refusal(server, insert(1, "b")), text);
        let text = "Error: Line 3 out of range for insert operation\nThe file has 3 lines, 0-2.";
        assert_eq!(refusal(server, insert(3, "")), text);
        assert_eq!(folder.text("f"), "a\nx\nb\n");
    });
}

#[test]
fn a_diff_follows_the_four_lines_if_it_is_asked_for() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let call = |line: u32, content: &str| {
            let edits = json!([{ "line": line, "operation": "replace", "content": content }]);
            json!({ "name": "f", "edits": edits, "diff": true })
        };
        let four = "File edited successfully: f\nLines modified: 1\nTotal lines: 3\nFile created: false";
        let diff = "\n\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c";
        assert_eq!(server.ok("edit_file", call(1, "x")), four.to_owned() + diff);
        assert_eq!(
            server.ok("edit_file", call(1, "x")),
            four.to_owned() + "\nThe text is the same as before."
        );
        let note = "\ncontent ended in a line break, which adds no empty line";
        let answer = server.ok("edit_file", call(1, "y\n"));
        assert!(answer.starts_with(&(four.to_owned() + note + "\n\n--- a/f\n")), "{answer}");
    });
}

#[test]
fn a_long_diff_says_how_much_is_not_shown() {
    on_both(|server, folder| {
        folder.write("f", "line\n".repeat(4_000));
        let edits: Vec<Value> = (0..400)
            .map(|n| json!({ "line": n * 10, "operation": "replace", "content": "x".repeat(100) }))
            .collect();
        let answer = server.ok("edit_file", json!({ "name": "f", "edits": edits, "diff": true }));
        assert!(answer.ends_with(" hunks more are not shown."), "{answer}");
        assert!(answer.len() < 17_000, "{}", answer.len());
    });
}

#[test]
fn a_content_that_ends_in_a_break_is_noted() {
    on_both(|server, folder| {
        let four = "File edited successfully: f\nLines modified: 1\nTotal lines: 1\nFile created: ";
        let note = "\ncontent ended in a line break, which adds no empty line";
        let insert = |content: &str| json!([{ "line": 0, "operation": "insert", "content": content }]);
        assert_eq!(edit(server, insert("x\n")), format!("{four}true{note}"));
        std::fs::remove_file(folder.path().join("f")).expect("removed");
        assert_eq!(edit(server, insert("x")), format!("{four}true"));
        std::fs::remove_file(folder.path().join("f")).expect("removed");
        // What is appended ends where the file ends: nothing is left to mistake.
        assert_eq!(server.ok("edit_file", json!({ "name": "f", "append": "x\n" })), format!("{four}true"));
    });
}

#[test]
fn programs_get_ranges_and_diffs_too() {
    direct_on_both(|server, folder| {
        folder.write("f", TEN);
        let edits =
            json!([{ "line": 2, "end_line": 9, "operation": "delete", "expect": "1\n2\n3\n4\n5\n6\n7\n8" }]);
        let answer = server.direct("edit_file", json!({ "name": "f", "edits": edits, "diff": true }));
        assert_eq!((&answer["lines_modified"], &answer["new_total_lines"]), (&json!(8), &json!(2)));
        assert!(answer["diff"].as_str().is_some_and(|diff| diff.contains("\n-8\n")), "{answer}");
        let edits = json!([{ "line": 1, "end_line": 2, "operation": "delete", "expect": "x" }]);
        let error = server.direct_error("edit_file", json!({ "name": "f", "edits": edits }));
        assert_eq!((error.message.as_str(), error.code), ("Line 1 is not as expected", -32001));
        let answer = server.direct("edit_file", json!({ "name": "f", "append": "x" }));
        assert_eq!(answer.get("diff"), None);
    });
    on_both_with(
        &["--structured"],
        |folder| folder.write("f", TEN),
        |server, _| {
            server.begin("2025-11-25");
            let result = server.tool("edit_file", json!({ "name": "f", "append": "x", "diff": true })).result;
            let diff = result["structuredContent"]["diff"].as_str();
            assert!(diff.is_some_and(|diff| diff.ends_with("\n+x\n")), "{result}");
        },
    );
}
