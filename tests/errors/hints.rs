//! The lines after the first line of an error: the advice, in the line numbers of the interface (contract 7).

use serde_json::{Value, json};

use crate::support::{Direct, Folder, Mcp, direct_on_both_with, on_both_with};

fn shopping(folder: &Folder) {
    folder.write("shopping.txt", "milk\nbread\neggs\nmilk\n\n");
}

fn expecting(name: &str, line: u64, expect: &str) -> Value {
    json!({ "name": name, "edits": [{ "line": line, "operation": "delete", "expect": expect }] })
}

/// Checks the hints of a refused edit over MCP on both transports, and over REST and the direct methods, whose arguments name
/// lines from 1.
#[track_caller]
fn check(arguments: &Value, text: &str, params: &Value, details: &str) {
    on_both_with(&[], shopping, |server: &dyn Mcp, _| {
        let result = server.tool("edit_file", arguments.clone());
        let (_, hints) = result.text.split_once('\n').unwrap_or((&result.text, ""));
        assert_eq!((result.is_error, hints), (true, text), "{}", result.text);
    });
    direct_on_both_with(&[], shopping, |server: &dyn Direct, _| {
        let error = server.direct_error("edit_file", params.clone());
        assert_eq!(error.data["details"], details, "{error:?}");
    });
}

#[test]
fn an_expected_line_that_stands_elsewhere_is_named_if_it_is_the_only_one() {
    check(
        &expecting("shopping.txt", 0, "eggs"),
        "It is now: \"milk\"\nThe expected text is line 2.",
        &expecting("shopping.txt", 1, "eggs"),
        "It is now: \"milk\"\nThe expected text is line 3.\nLines count from 1.",
    );
}

#[test]
fn an_expected_line_that_stands_in_several_places_or_in_none_is_not_named() {
    for expect in ["milk", "mil", "ggs", "", "bread\neggs", "cheese"] {
        check(
            &expecting("shopping.txt", 1, expect),
            "It is now: \"bread\"",
            &expecting("shopping.txt", 2, expect),
            "It is now: \"bread\"\nLines count from 1.",
        );
    }
}

#[test]
fn an_edit_of_a_line_of_a_file_that_is_not_there_says_so_and_names_near_ones() {
    let edit = |name: &str, line: u64, operation: &str| {
        let mut edit = json!({ "line": line, "operation": operation });
        if operation != "delete" {
            edit["content"] = json!("x");
        }
        json!({ "name": name, "edits": [edit], "create_if_missing": true })
    };
    for operation in ["replace", "delete", "insert"] {
        let near = "There is no file 'shoping.txt'. Files with a similar name: shopping.txt";
        check(
            &edit("shoping.txt", 2, operation),
            near,
            &edit("shoping.txt", 3, operation),
            &format!("{near}\nLines count from 1."),
        );
        let none = "There is no file 'quux.rs'. Use list_files to see which files there are.";
        check(
            &edit("quux.rs", 2, operation),
            none,
            &edit("quux.rs", 3, operation),
            &format!("{none}\nLines count from 1."),
        );
    }
}

#[test]
fn errors_on_line_numbers_say_over_rest_that_lines_count_from_1() {
    let base = "Lines count from 1.";
    let lines = "The file has 5 lines, 1-5.\nLines count from 1.";
    let edit = |line| json!({ "name": "shopping.txt", "edits": [{ "line": line, "operation": "delete" }] });
    let read = |start, end| json!({ "name": "shopping.txt", "start_line": start, "end_line": end });
    direct_on_both_with(&[], shopping, |server, _| {
        for (tool, params, details) in [
            ("edit_file", edit(0), base),
            ("edit_file", edit(6), lines),
            ("read_file", read(1, -1), base),
            ("read_file", read(3, 2), base),
            ("read_file", read(6, 7), lines),
        ] {
            let error = server.direct_error(tool, params.clone());
            assert_eq!(error.data["details"], details, "{params}: {error:?}");
        }
    });
}

#[test]
fn errors_over_mcp_count_as_before() {
    on_both_with(&[], shopping, |server, _| {
        let past = server.tool("read_file", json!({ "name": "shopping.txt", "start_line": 5 }));
        assert_eq!(past.text, "Error: Start line 5 exceeds file length 5\nThe file has 5 lines, 0-4.");
        let negative = server.tool("read_file", json!({ "name": "shopping.txt", "end_line": -1 }));
        assert_eq!(negative.text, "Error: Line numbers must be non-negative integers");
    });
}
