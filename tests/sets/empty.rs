//! A value that says nothing counts as absent where an argument need not be given (contract 24), in every tool of every set.

use serde_json::{Map, Value, json};

use crate::support::{Folder, Mcp, Stdio};

const TEXT: &str = "one\ntwo\nthree\n";

/// For each tool of each set, the arguments of a call that succeeds.
fn calls() -> Vec<(&'static str, &'static str, Value)> {
    let named = |name: &str| json!({ "name": name });
    let at = |path: &str| json!({ "path": path });
    let file = |name: &str| json!({ "filename": name });
    let parameters = json!({ "project_name": "x" });
    let uri = "template://makefile/rust/cli";
    vec![
        ("lines", "list_files", json!({})),
        ("lines", "read_file", named("f")),
        ("lines", "edit_file", json!({ "name": "f", "append": "x" })),
        ("exact", "file_edit", json!({ "path": "f", "edits": [{ "old_text": "one", "new_text": "1" }] })),
        ("filesystem", "read_text_file", at("f")),
        ("filesystem", "read_file", at("f")),
        ("filesystem", "read_media_file", at("m")),
        ("filesystem", "read_multiple_files", json!({ "paths": [{ "path": "f" }] })),
        ("filesystem", "write_file", json!({ "path": "f", "content": "x" })),
        ("filesystem", "edit_file", json!({ "path": "f", "edits": [{ "oldText": "one", "newText": "1" }] })),
        ("filesystem", "create_directory", at("new")),
        ("filesystem", "list_directory", at(".")),
        ("filesystem", "list_directory_with_sizes", at(".")),
        ("filesystem", "directory_tree", at(".")),
        ("filesystem", "move_file", json!({ "source": "f", "destination": "g" })),
        ("filesystem", "search_files", json!({ "path": ".", "pattern": "*" })),
        ("filesystem", "get_file_info", at("sub")),
        ("filesystem", "list_allowed_directories", json!({})),
        ("filesystem", "delete_file", at("f")),
        ("filesystem", "copy_file", json!({ "source": "f", "destination": "g" })),
        ("search", "grep", json!({ "pattern": "o" })),
        ("search", "glob", json!({ "pattern": "*" })),
        ("text", "read_file", file("f")),
        ("text", "view", file("f")),
        ("text", "edit_file", json!({ "filename": "f", "old_text": "one", "new_text": "1" })),
        ("text", "write_file", json!({ "filename": "f", "content": "x" })),
        ("text", "exec", json!({ "command": "cat" })),
        ("toolkit", "list_templates", json!({})),
        ("toolkit", "search_templates", json!({ "query": "make" })),
        ("toolkit", "generate_template", json!({ "resource_uri": uri, "parameters": parameters })),
        ("toolkit", "validate_template", json!({ "resource_uri": uri, "parameters": parameters })),
        (
            "toolkit",
            "scaffold_project",
            json!({ "toolchain": "rust", "templates": ["makefile"], "parameters": parameters }),
        ),
        ("toolkit", "analyze_complexity", json!({ "project_path": ".", "toolchain": "rust" })),
        ("toolkit", "analyze_code_churn", json!({ "project_path": "." })),
    ]
}

/// Arguments whose empty text or 0 has a meaning of its own, which they keep.
const MEANT: [(&str, &str); 9] = [
    ("lines.edit_file", "append"),
    ("text.edit_file", "old_text"),
    ("text.edit_file", "new_text"),
    ("toolkit.analyze_complexity", "max_cyclomatic"),
    ("toolkit.analyze_complexity", "max_cognitive"),
    ("toolkit.analyze_complexity", "top_files"),
    // Lines count from 0.
    ("lines.read_file", "start_line"),
    ("lines.read_file", "end_line"),
    ("toolkit.generate_template", "parameters"),
];

fn fill(folder: &Folder) {
    for entry in std::fs::read_dir(folder.path()).expect("a folder").map_while(Result::ok) {
        let _ = std::fs::remove_file(entry.path());
        let _ = std::fs::remove_dir_all(entry.path());
    }
    folder.write("f", TEXT);
    folder.write("m", b"\x89PNG\r\n\x1a\n");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for name in ["f", "m", "sub"] {
        let file = std::fs::File::open(folder.path().join(name)).expect("a file");
        file.set_modified(old).expect("a time");
    }
}

/// Whether the call failed, and its content. Of a command, without how long it took.
fn answer(server: &dyn Mcp, folder: &Folder, tool: &str, arguments: &Value) -> (Value, Value) {
    fill(folder);
    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
    let result = &answer["result"];
    let mut content = result["content"].clone();
    if tool == "exec" {
        let first = content[0]["text"].as_str().and_then(|text| text.lines().next()).unwrap_or_default();
        content = json!(first.split_once(" (").map_or(first, |(code, _)| code));
    }
    (result["isError"].clone(), content)
}

/// The values that say nothing for a property of this schema.
fn empties(property: &Value) -> Vec<Value> {
    let mut values = vec![json!("")];
    match property["type"].as_str() {
        Some("integer") => values.extend([json!(0), json!("0")]),
        Some("array") => values.push(json!([])),
        _ => {}
    }
    values
}

#[test]
fn in_every_tool_a_value_that_says_nothing_is_as_if_it_were_not_there() {
    not_under_wine!("needs --allow-exec, which does not work there");
    let calls = calls();
    for set in ["lines", "exact", "filesystem", "search", "text", "toolkit"] {
        if set == "toolkit" && cfg!(not(feature = "toolkit")) {
            continue;
        }
        let folder = Folder::new();
        let flags = [format!("--tools={set}"), "--sync=none".into()];
        let mut flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        flags.extend((set == "text").then_some("--allow-exec"));
        let server = Stdio::start(&folder, &flags).ready();
        let listed = server.rpc("tools/list", json!({}));
        for tool in listed["result"]["tools"].as_array().expect("tools") {
            let name = tool["name"].as_str().expect("a name");
            let call = calls.iter().find(|(of, tool, _)| (*of, *tool) == (set, name));
            let (_, _, base) = call.unwrap_or_else(|| panic!("{set}.{name} has no call in this test"));
            let expected = answer(&server, &folder, name, base);
            let known = (set, name) == ("toolkit", "analyze_code_churn") || expected.0 == json!(false);
            assert!(known, "{set}.{name} {base}: {expected:?}");
            let required = tool["inputSchema"]["required"].as_array().cloned().unwrap_or_default();
            let mut all = base.clone();
            let none = Map::new();
            for (property, schema) in tool["inputSchema"]["properties"].as_object().unwrap_or(&none) {
                let is_meant = MEANT.contains(&(&format!("{set}.{name}"), property));
                if required.contains(&json!(property)) || !base[property].is_null() || is_meant {
                    continue;
                }
                for empty in empties(schema) {
                    let mut call = base.clone();
                    call[property] = empty.clone();
                    assert_eq!(answer(&server, &folder, name, &call), expected, "{set}.{name} {call}");
                    all[property] = empty;
                }
            }
            assert_eq!(answer(&server, &folder, name, &all), expected, "{set}.{name} {all}");
        }
    }
}

#[test]
fn in_the_items_of_a_call_too() {
    for (set, tool, plain, filled) in [
        (
            "exact",
            "file_edit",
            json!({ "path": "f", "edits": [{ "old_text": "one", "new_text": "1" }] }),
            json!({ "path": "f", "edits": [{ "old_text": "one", "new_text": "1", "occurrences": 0, "replace_all": "" }] }),
        ),
        (
            "filesystem",
            "edit_file",
            json!({ "path": "f", "edits": [{ "oldText": "one", "newText": "1" }] }),
            json!({ "path": "f", "edits": [{ "oldText": "one", "newText": "1", "expectedCount": 0, "replaceAll": "" }] }),
        ),
        (
            "filesystem",
            "read_multiple_files",
            json!({ "paths": ["f"] }),
            json!({ "paths": [{ "path": "f", "start_line": 0, "end_line": 0, "encoding": "" }] }),
        ),
        (
            "lines",
            "edit_file",
            json!({ "name": "f", "edits": [{ "line": 1, "operation": "delete" }] }),
            json!({ "name": "f", "append": null, "edits": [{ "line": 1, "end_line": "", "operation": "delete", "content": "" }] }),
        ),
    ] {
        let folder = Folder::new();
        let server = Stdio::start(&folder, &[&format!("--tools={set}")]).ready();
        let expected = answer(&server, &folder, tool, &plain);
        assert_eq!(expected.0, json!(false), "{plain}: {expected:?}");
        assert_eq!(answer(&server, &folder, tool, &filled), expected, "{filled}");
    }
}

#[test]
fn an_empty_text_keeps_its_meaning() {
    let folder = Folder::new();
    folder.write("f", "one\n\nthree\n");
    let server = Stdio::start(&folder, &[]).ready();
    // An empty line is expected, which the second line is and the first is not.
    let expecting = |line: u64| json!({ "name": "f", "edits": [{ "line": line, "operation": "replace", "content": "x", "expect": "" }] });
    assert_eq!(server.refused("edit_file", expecting(0)), "Error: Line 0 is not as expected");
    server.ok("edit_file", expecting(1));
    let empty = json!({ "name": "f", "edits": [{ "line": 0, "operation": "replace", "content": "" }] });
    server.ok("edit_file", empty);
    assert_eq!(folder.text("f"), "\nx\nthree\n");
    let first = server.ok("read_file", json!({ "name": "f", "start_line": 0, "end_line": 0 }));
    assert_eq!(first, "File: f (lines 0-0 of 3 total)\n\n");
}
