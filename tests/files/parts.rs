//! list_files {match, after, limit} and read_file {negative start_line, line_numbers} (contract 11).

use serde_json::{Value, json};

use crate::support::{Direct, Folder, Mcp, direct_on_both_with, on_both_with};

fn files(folder: &Folder) {
    for name in ["a.txt", "b.rs", "c.txt", "d.txt"] {
        folder.write(name, "1\n2\n");
        folder.set_modified(name, 1_000_000_000);
    }
}

fn listing(names: &[&str], last: &str) -> String {
    let line = |name: &&str| format!("name: {name}, modified: 2001-09-09T01:46:40Z, lines: 2\n");
    let files: String = names.iter().map(line).collect();
    format!("Files in directory:\n\n{files}\nTotal files: {}{last}", names.len())
}

#[test]
fn a_part_of_the_list_ends_in_the_call_that_goes_on() {
    on_both_with(&[], files, |server, _| {
        let list = |arguments: Value| server.ok("list_files", arguments);
        let more = |arguments: &str| format!("\n[There are more files. Go on with list_files {arguments}]");
        let two = list(json!({ "limit": 2 }));
        assert_eq!(two, listing(&["a.txt", "b.rs"], &more(r#"{"after":"b.rs","limit":2}"#)));
        assert_eq!(list(json!({ "after": "b.rs", "limit": 2 })), listing(&["c.txt", "d.txt"], ""));
        assert_eq!(list(json!({ "after": "b" })), listing(&["b.rs", "c.txt", "d.txt"], ""));
        assert_eq!(list(json!({ "match": "*.rs" })), listing(&["b.rs"], ""));
        assert_eq!(list(json!({ "limit": 4 })), listing(&["a.txt", "b.rs", "c.txt", "d.txt"], ""));
        assert_eq!(list(json!({ "after": "x" })), "Files in directory:\n\nTotal files: 0");
        let first = list(json!({ "match": "*.txt", "limit": 1 }));
        let next: Value =
            serde_json::from_str(first.rsplit_once("list_files ").expect("a call").1.trim_end_matches(']'))
                .expect("arguments");
        assert_eq!(next, json!({ "after": "a.txt", "match": "*.txt", "limit": 1 }));
        assert!(list(next).contains("name: c.txt, "));
        assert_eq!(list(json!({ "match": "", "after": "", "limit": 0 })), list(json!({})));
        let refused = server.refused("list_files", json!({ "limit": -1 }));
        assert_eq!(
            refused,
            "Error: Invalid arguments: limit: -1 is wrong; expected an integer of at least 1"
        );
    });
}

#[test]
fn programs_get_the_arguments_that_go_on() {
    direct_on_both_with(&[], files, |server: &dyn Direct, _| {
        let list = server.direct("list_files", json!({ "limit": 3 }));
        assert_eq!(
            (&list["total_count"], &list["next"]),
            (&json!(3), &json!({ "after": "c.txt", "limit": 3 }))
        );
        let list = server.direct("list_files", list["next"].clone());
        assert_eq!((&list["total_count"], list.get("next")), (&json!(1), None));
        let read =
            server.direct("read_file", json!({ "name": "a.txt", "start_line": -1, "line_numbers": true }));
        assert_eq!(
            read,
            json!({ "content": "2\t2", "total_lines": 2, "range_requested": { "start_line": -1 } })
        );
        let error = server.direct_error("read_file", json!({ "name": "a.txt", "end_line": -1 }));
        assert_eq!(error.message, "Line numbers must be positive integers");
    });
}

#[test]
fn a_negative_start_line_means_the_last_lines() {
    let fill = |folder: &Folder| {
        folder.write("f", "a\r\nb\rc\n");
        folder.write("empty", "");
        folder.write("large", "0123456789\n".repeat(100_000));
    };
    let test = |server: &dyn Mcp, first: usize| {
        let read =
            |name: &str, start: i64| server.ok("read_file", json!({ "name": name, "start_line": start }));
        let last = first + 2;
        assert_eq!(read("f", -1), format!("File: f (lines {last}-{last} of 3 total)\n\nc"));
        assert_eq!(read("f", -2), format!("File: f (lines {}-{last} of 3 total)\n\nb\nc", last - 1));
        for start in [-3, -4, i64::MIN] {
            assert_eq!(read("f", start), format!("File: f (lines {first}-{last} of 3 total)\n\na\nb\nc"));
        }
        assert_eq!(read("empty", -1), "File: empty (0 lines)\n\n");
        let end = first + 99_999;
        assert_eq!(
            read("large", -1),
            format!("File: large (lines {end}-{end} of 100000 total)\n\n0123456789")
        );
        let both = server.refused("read_file", json!({ "name": "f", "start_line": -1, "end_line": 2 }));
        assert!(
            both.starts_with("Error: Invalid arguments: end_line: it excludes a negative start_line"),
            "{both}"
        );
    };
    on_both_with(&[], fill, |server, _| test(server, 0));
    on_both_with(&["--line-base=1"], fill, |server, _| test(server, 1));
}

#[test]
fn line_numbers_stand_before_the_lines() {
    let fill = |folder: &Folder| {
        folder.write("f", "a\r\n\rc");
        folder.write("empty", "");
    };
    let read = |server: &dyn Mcp, more: Value| {
        let mut arguments = json!({ "name": "f", "line_numbers": true });
        for (key, value) in more.as_object().expect("an object") {
            arguments[key] = value.clone();
        }
        server.ok("read_file", arguments)
    };
    on_both_with(&["--structured"], fill, |server, _| {
        server.begin("2025-11-25");
        assert_eq!(read(server, json!({})), "File: f (3 lines)\n\n0\ta\n1\t\n2\tc");
        let ranged = read(server, json!({ "start_line": 1 }));
        assert_eq!(ranged, "File: f (lines 1-2 of 3 total)\n\n1\t\n2\tc");
        assert_eq!(read(server, json!({ "start_line": -1 })), "File: f (lines 2-2 of 3 total)\n\n2\tc");
        assert_eq!(read(server, json!({ "name": "empty" })), "File: empty (0 lines)\n\n");
        let result = server.tool("read_file", json!({ "name": "f", "line_numbers": true })).result;
        assert_eq!(result.get("structuredContent"), None, "{result}");
    });
    on_both_with(&["--line-base=1"], fill, |server, _| {
        assert_eq!(read(server, json!({})), "File: f (3 lines)\n\n1\ta\n2\t\n3\tc");
    });
}
