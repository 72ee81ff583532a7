//! edit_file over MCP: which lines change, and what is refused (contract 4). Bytes and breaks: edit_bytes.rs.

use serde_json::{Value, json};

use crate::support::{Direct, Folder, Http, Mcp, Stdio, on_both, on_both_with};

/// The text of a successful edit.
fn edited(name: &str, modified: usize, total: usize, created: bool) -> String {
    format!(
        "File edited successfully: {name}\nLines modified: {modified}\nTotal lines: {total}\nFile created: {created}"
    )
}

/// Writes `before`, edits, and compares the answer and the file.
#[track_caller]
fn check(server: &dyn Mcp, folder: &Folder, before: &str, edits: Value, after: &str, modified: usize) {
    folder.write("f", before);
    let text = server.ok("edit_file", json!({ "name": "f", "edits": edits }));
    assert_eq!(folder.text("f"), after, "{before:?} {edits}");
    let ends_in_break =
        |edit: &Value| edit["content"].as_str().is_some_and(|text| text.ends_with(['\n', '\r']));
    let ended = edits.as_array().is_some_and(|edits| edits.iter().any(ends_in_break));
    let note = if ended { "\ncontent ended in a line break, which adds no empty line" } else { "" };
    assert_eq!(text, edited("f", modified, after.lines().count(), false) + note, "{before:?} {edits}");
}

/// Writes `before`, edits, and expects this first line and an untouched folder.
#[track_caller]
fn check_refused(server: &dyn Mcp, folder: &Folder, before: &str, edits: Value, error: &str) {
    folder.write("f", before);
    let snapshot = folder.snapshot();
    let first = server.refused("edit_file", json!({ "name": "f", "edits": edits }));
    assert_eq!(first, error, "{before:?} {edits}");
    assert_eq!(folder.snapshot(), snapshot, "{before:?} {edits}");
}

fn insert(line: i64, content: &str) -> Value {
    json!({ "line": line, "operation": "insert", "content": content })
}

fn replace(line: i64, content: &str) -> Value {
    json!({ "line": line, "operation": "replace", "content": content })
}

fn delete(line: i64) -> Value {
    json!({ "line": line, "operation": "delete" })
}

#[test]
fn replace_insert_and_delete_name_lines_from_0() {
    on_both(|server, folder| {
        check(server, folder, "a\nb\nc\n", json!([replace(1, "B")]), "a\nB\nc\n", 1);
        check(server, folder, "a\nb\nc\n", json!([replace(0, "A")]), "A\nb\nc\n", 1);
        check(server, folder, "a\nb\nc\n", json!([insert(1, "x")]), "a\nx\nb\nc\n", 1);
        check(server, folder, "a\nb\nc\n", json!([insert(0, "x")]), "x\na\nb\nc\n", 1);
        check(server, folder, "a\nb\nc\n", json!([insert(3, "x")]), "a\nb\nc\nx\n", 1);
        check(server, folder, "a\nb\nc\n", json!([delete(1)]), "a\nc\n", 1);
        check(server, folder, "a\nb\nc\n", json!([delete(0), delete(1), delete(2)]), "", 3);
    });
}

#[test]
fn all_line_numbers_name_lines_as_they_were_before_the_call() {
    on_both(|server, folder| {
        let edits = [insert(1, "x"), delete(0), replace(2, "C"), insert(3, "y"), delete(4)];
        let after = "x\nb\nC\ny\nd\n";
        check(server, folder, "a\nb\nc\nd\ne\n", json!(edits), after, 5);
        let mut reversed = edits.clone();
        reversed.reverse();
        check(server, folder, "a\nb\nc\nd\ne\n", json!(reversed), after, 5);
        let mixed = [&edits[3], &edits[0], &edits[4], &edits[2], &edits[1]];
        check(server, folder, "a\nb\nc\nd\ne\n", json!(mixed), after, 5);
    });
}

#[test]
fn inserts_at_the_same_line_appear_in_array_order() {
    on_both(|server, folder| {
        check(
            server,
            folder,
            "a\nb\n",
            json!([insert(1, "x"), insert(1, "y"), insert(1, "z")]),
            "a\nx\ny\nz\nb\n",
            3,
        );
        check(server, folder, "a\n", json!([insert(1, "x"), insert(1, "y")]), "a\nx\ny\n", 2);
        check(server, folder, "a\nb\n", json!([replace(1, "B"), insert(1, "x")]), "a\nx\nB\n", 2);
        check(server, folder, "a\nb\n", json!([delete(1), insert(1, "x")]), "a\nx\n", 2);
    });
}

#[test]
fn inserts_at_0_to_4_build_a_file_of_five_lines_from_nothing() {
    on_both(|server, folder| {
        let edits: Vec<Value> = (0..5).map(|n| insert(n, &format!("line{}", n + 1))).collect();
        let text = server.ok("edit_file", json!({ "name": "new", "edits": edits }));
        assert_eq!(text, edited("new", 5, 5, true));
        assert_eq!(folder.text("new"), "line1\nline2\nline3\nline4\nline5\n");
        let reversed: Vec<&Value> = edits.iter().rev().collect();
        server.ok("edit_file", json!({ "name": "again", "edits": reversed }));
        assert_eq!(folder.text("again"), folder.text("new"));
    });
}

#[test]
fn an_insert_past_the_end_is_valid_where_other_inserts_reach_it() {
    on_both(|server, folder| {
        check(server, folder, "a\n", json!([insert(1, "p\nq\nr"), insert(2, "x")]), "a\np\nq\nr\nx\n", 4);
        check(server, folder, "a\n", json!([insert(2, "x"), insert(1, "p\nq\nr")]), "a\np\nq\nr\nx\n", 4);
        check(server, folder, "a\n", json!([insert(4, "x"), insert(1, "p\nq\nr")]), "a\np\nq\nr\nx\n", 4);
    });
}

#[test]
fn an_insert_past_the_end_that_nothing_reaches_is_refused() {
    on_both(|server, folder| {
        let error = |line| format!("Error: Line {line} out of range for insert operation");
        check_refused(server, folder, "a\n", json!([insert(2, "x")]), &error(2));
        check_refused(server, folder, "a\n", json!([insert(0, "p"), insert(2, "x")]), &error(2));
        check_refused(server, folder, "a\n", json!([insert(1, "p"), insert(3, "x")]), &error(3));
        check_refused(server, folder, "", json!([insert(1, "x")]), &error(1));
    });
}

#[test]
fn deletes_do_not_move_the_end() {
    on_both(|server, folder| {
        check(server, folder, "a\nb\n", json!([delete(0), insert(2, "x")]), "b\nx\n", 2);
        let error = "Error: Line 3 out of range for insert operation";
        check_refused(server, folder, "a\nb\n", json!([delete(0), insert(3, "x")]), error);
    });
}

#[test]
fn replace_and_delete_of_a_line_past_the_end_are_refused() {
    on_both(|server, folder| {
        let cases = [("a\nb\n", 2), ("a\nb", 2), ("", 0), ("a\n", 1000)];
        for (before, line) in cases {
            let error = format!("Error: Line {line} out of range for replace operation");
            check_refused(server, folder, before, json!([replace(line, "x")]), &error);
            let error = format!("Error: Line {line} out of range for delete operation");
            check_refused(server, folder, before, json!([delete(line)]), &error);
        }
        // Also if an insert of the same call goes there.
        let error = "Error: Line 1 out of range for replace operation";
        check_refused(server, folder, "a\n", json!([insert(1, "x"), replace(1, "y")]), error);
    });
}

#[test]
fn content_is_split_at_its_breaks_and_a_final_one_adds_no_line() {
    on_both(|server, folder| {
        check(server, folder, "a\nb\n", json!([replace(0, "x\ny\r\nz\rw")]), "x\ny\nz\nw\nb\n", 4);
        check(server, folder, "a\nb\n", json!([replace(0, "x\n")]), "x\nb\n", 1);
        check(server, folder, "a\nb\n", json!([insert(1, "x\n\n")]), "a\nx\n\nb\n", 2);
        check(server, folder, "a\nb\n", json!([insert(1, "")]), "a\n\nb\n", 1);
        check(server, folder, "a\nb\n", json!([replace(1, "")]), "a\n\n", 1);
        check(server, folder, "a\nb\n", json!([replace(1, "\n")]), "a\n\n", 1);
    });
}

#[test]
fn two_edits_that_replace_or_delete_one_line_are_refused() {
    on_both(|server, folder| {
        let error = "Error: Conflicting edits on line 1";
        let pairs = [
            [replace(1, "x"), replace(1, "y")],
            [replace(1, "x"), delete(1)],
            [delete(1), replace(1, "x")],
            [delete(1), delete(1)],
            [replace(1, "same"), replace(1, "same")],
        ];
        for pair in pairs {
            check_refused(server, folder, "a\nb\nc\n", json!(pair), error);
        }
        check_refused(
            server,
            folder,
            "a\nb\nc\n",
            json!([delete(1), insert(1, "x"), delete(0), delete(1)]),
            error,
        );
    });
}

#[test]
fn an_expected_line_that_is_there_lets_the_edit_pass() {
    on_both(|server, folder| {
        let replace = json!([{ "line": 1, "operation": "replace", "content": "B", "expect": "b" }]);
        check(server, folder, "a\r\nb\r\n", replace, "a\r\nB\r\n", 1);
        let delete = json!([{ "line": 0, "operation": "delete", "expect": "a" }]);
        check(server, folder, "\u{FEFF}a\nb\n", delete, "\u{FEFF}b\n", 1);
        let empty = json!([{ "line": 1, "operation": "replace", "content": "x", "expect": "" }]);
        check(server, folder, "a\n\n", empty, "a\nx\n", 1);
        let null = json!([{ "line": 1, "operation": "replace", "content": "x", "expect": null }]);
        check(server, folder, "a\nb\n", null, "a\nx\n", 1);
    });
}

#[test]
fn an_expected_line_that_is_not_there_refuses_the_whole_call_and_quotes_what_is() {
    on_both(|server, folder| {
        folder.write("f", "alpha\nbeta gamma\n");
        let before = folder.snapshot();
        for operation in ["replace", "delete"] {
            let mut edit = json!({ "line": 1, "operation": operation, "expect": "beta" });
            if operation == "replace" {
                edit["content"] = json!("x");
            }
            let result = server
                .tool("edit_file", json!({ "name": "f", "edits": [replace(0, "A"), edit], "append": "z" }));
            assert!(result.is_error);
            let mut lines = result.text.lines();
            assert_eq!(lines.next(), Some("Error: Line 1 is not as expected"));
            let second = lines.next().expect("a second line");
            assert!(second.contains("beta gamma"), "{second}");
            assert_eq!(folder.snapshot(), before);
        }
        // Spaces and case count.
        for expect in ["alpha ", "Alpha", "", "alpha\n"] {
            let edit = json!({ "line": 0, "operation": "delete", "expect": expect });
            let error = server.refused("edit_file", json!({ "name": "f", "edits": [edit] }));
            assert_eq!(error, "Error: Line 0 is not as expected", "{expect:?}");
        }
        assert_eq!(folder.snapshot(), before);
    });
}

#[test]
fn append_comes_after_all_edits_and_an_empty_one_adds_nothing() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\n");
        let arguments = json!({ "name": "f", "edits": [insert(2, "x"), delete(0)], "append": "y\nz\n" });
        assert_eq!(server.ok("edit_file", arguments), edited("f", 4, 4, false));
        assert_eq!(folder.text("f"), "b\nx\ny\nz\n");
        let before = folder.snapshot();
        let text = server.ok("edit_file", json!({ "name": "f", "append": "" }));
        assert_eq!(text, edited("f", 0, 4, false));
        assert_eq!(folder.snapshot(), before);
        assert_eq!(server.ok("edit_file", json!({ "name": "f", "append": "\n" })), edited("f", 1, 5, false));
        assert_eq!(folder.text("f"), "b\nx\ny\nz\n\n");
    });
}

#[test]
fn an_edit_that_changes_nothing_writes_nothing() {
    on_both(|server, folder| {
        folder.write("f", "a\r\nb");
        folder.set_modified("f", 1_000_000_000);
        let before = folder.snapshot();
        let same = json!({ "name": "f", "edits": [replace(0, "a"), replace(1, "b")] });
        assert_eq!(server.ok("edit_file", same), edited("f", 2, 2, false));
        assert_eq!(server.ok("edit_file", json!({ "name": "f" })), edited("f", 0, 2, false));
        assert_eq!(server.ok("edit_file", json!({ "name": "f", "edits": [] })), edited("f", 0, 2, false));
        let nulls = json!({ "name": "f", "edits": null, "append": null, "create_if_missing": null });
        assert_eq!(server.ok("edit_file", nulls), edited("f", 0, 2, false));
        assert_eq!(folder.snapshot(), before);
    });
}

#[test]
fn no_edits_create_a_missing_file_empty() {
    on_both(|server, folder| {
        assert_eq!(server.ok("edit_file", json!({ "name": "new" })), edited("new", 0, 0, true));
        assert_eq!(folder.read("new"), b"");
        assert_eq!(server.ok("edit_file", json!({ "name": "new" })), edited("new", 0, 0, false));
    });
}

#[test]
fn a_missing_file_is_created_unless_create_if_missing_is_false() {
    on_both(|server, folder| {
        let error =
            server.refused("edit_file", json!({ "name": "x", "append": "a", "create_if_missing": false }));
        assert_eq!(error, "Error: File 'x' not found");
        assert_eq!(folder.names(), [""; 0]);
        let text = server.ok("edit_file", json!({ "name": "x", "append": "a", "create_if_missing": true }));
        assert_eq!(text, edited("x", 1, 1, true));
        let text = server.ok("edit_file", json!({ "name": "y", "append": "a", "create_if_missing": null }));
        assert_eq!(text, edited("y", 1, 1, true));
        assert_eq!(
            (folder.names(), folder.text("x")),
            (vec!["x".to_owned(), "y".to_owned()], "a\n".to_owned())
        );
    });
}

#[test]
fn a_refused_edit_of_a_missing_file_creates_nothing() {
    on_both(|server, folder| {
        let error =
            server.refused("edit_file", json!({ "name": "x", "edits": [insert(0, "a"), replace(0, "b")] }));
        assert_eq!(error, "Error: Line 0 out of range for replace operation");
        assert_eq!(folder.names(), [""; 0]);
    });
}

#[test]
fn null_content_of_a_delete_counts_as_none_and_5_0_as_5() {
    on_both(|server, folder| {
        let delete = json!([{ "line": 1.0, "operation": "delete", "content": null }]);
        check(server, folder, "a\nb\n", delete, "a\n", 1);
    });
}

#[test]
fn a_thousand_edits_are_taken_and_one_more_is_not() {
    on_both(|server, folder| {
        let before: String = (0..1001).map(|n| format!("{n}\n")).collect();
        let after: String =
            (0..1001).map(|n| if n < 1000 { format!("x{n}\n") } else { format!("{n}\n") }).collect();
        let edits: Vec<Value> = (0..1001).map(|n| replace(n, &format!("x{n}"))).collect();
        check(server, folder, &before, json!(edits[..1000]), &after, 1000);
        folder.write("f", &before);
        let error = server.refused("edit_file", json!({ "name": "f", "edits": edits }));
        assert!(error.starts_with("Error: Invalid arguments: "), "{error}");
        assert_eq!(folder.text("f"), before);
    });
}

#[test]
fn an_edit_whose_result_is_over_the_limit_is_refused() {
    let line = "y".repeat(1023) + "\n";
    on_both_with(
        &["--max-size=1"],
        |folder| folder.write("f", line.repeat(1023)),
        |server, folder| {
            let fits = json!({ "name": "f", "append": "z".repeat(1023) });
            assert_eq!(server.ok("edit_file", fits), edited("f", 1, 1024, false));
            let before = folder.snapshot();
            let error = server.refused("edit_file", json!({ "name": "f", "append": "z" }));
            assert!(
                error.starts_with("Error: File size ") && error.ends_with("MB exceeds maximum limit 1MB"),
                "{error}"
            );
            assert_eq!(folder.snapshot(), before);
            // One line out, one line in: exactly at the limit.
            let swap = json!({ "name": "f", "edits": [delete(5)], "append": "w".repeat(1023) });
            assert_eq!(server.ok("edit_file", swap), edited("f", 2, 1024, false));
        },
    );
}

#[test]
fn a_missing_file_names_the_argument_that_creates_it_where_it_was_not_to_be_created() {
    let folder = Folder::new();
    folder.write("known.txt", "");
    let (http, stdio) = (Http::start(&folder, &[]), Stdio::start(&folder, &[]));
    stdio.begin("2025-06-18");
    let told = "pass create_if_missing: true";
    for (name, near) in [("new.txt", ""), ("knwon.txt", "known.txt")] {
        let call = json!({ "name": name, "append": "x", "create_if_missing": false });
        for server in [&http as &dyn Direct, &stdio as &dyn Direct] {
            let error = server.direct_error("edit_file", call.clone());
            assert_eq!(error.message, format!("File '{name}' not found"));
            let details = error.data["details"].as_str().expect("details");
            assert!(details.contains(told) && details.contains(near), "{details}");
            assert!(!details.contains("Error:"), "{details}");
        }
        let text = stdio.tool("edit_file", call).text;
        assert!(text.starts_with(&format!("Error: File '{name}' not found\n")), "{text}");
        assert!(text.ends_with(&format!("{told}.")), "{text}");
    }
    assert_eq!(folder.names(), ["known.txt"]);
}
