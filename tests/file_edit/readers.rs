//! Failed edits name a tool that reads the file only where one is offered.

use serde_json::json;

use crate::support::{Folder, Mcp, Stdio};

#[test]
fn only_tools_that_are_offered_are_named() {
    let folder = Folder::new();
    folder.write("f", "one\ntwo two\nthree\n");
    let misses = [
        json!([{ "old_text": "on", "new_text": "x" }, { "old_text": "trhee", "new_text": "x" }]),
        json!([{ "old_text": "two", "new_text": "x" }]),
        json!([{ "old_text": "one\n# ... existing code ...\nthree", "new_text": "x" }]),
        json!([{ "old_text": "one", "new_text": "two" }, { "old_text": "one", "new_text": "x" }]),
    ];
    for (tools, named) in [
        ("exact", None),
        ("exact,lines.list_files", None),
        ("exact,lines", Some("read_file")),
        ("exact,text.view", Some("view")),
        ("exact,filesystem.read_text_file", Some("read_text_file")),
    ] {
        let server = Stdio::start(&folder, &[&format!("--tools={tools}"), "--structured"]).ready();
        for edits in &misses {
            let result = server.tool("file_edit", json!({ "path": "f", "edits": edits }));
            let data = result.result.to_string();
            assert!(result.is_error, "{}", result.text);
            for tool in ["read_file", "view", "read_text_file"] {
                let is_named = [format!("{tool} start_line"), format!("Use {tool} ")];
                let is_named = is_named.iter().any(|text| data.contains(text.as_str()));
                assert_eq!(is_named, named == Some(tool), "{tools} {edits}: {}", result.text);
            }
            let names_list = result.text.contains("list_files");
            assert!(!names_list || tools.contains("li"), "{tools}: {}", result.text);
        }
    }
}

#[test]
fn the_edits_of_other_sets_name_no_tool_of_another_name() {
    let folder = Folder::new();
    folder.write("f", "one\ntwo\n");
    for (tools, tool, arguments, named) in [
        ("agent.edit", "edit", json!({ "edits": [{ "path": "f", "old": "tow", "new": "x" }] }), None),
        ("agent,filesystem", "edit", json!({ "edits": [{ "path": "f", "old": "tow", "new": "x" }] }), None),
        (
            "agent.edit,filesystem",
            "edit",
            json!({ "edits": [{ "path": "f", "old": "tow", "new": "x" }] }),
            None,
        ),
        (
            "filesystem.edit_file",
            "edit_file",
            json!({ "path": "f", "edits": [{ "oldText": "tow", "newText": "x" }] }),
            None,
        ),
        ("text.edit_file", "edit_file", json!({ "filename": "f", "old_text": "tow", "new_text": "x" }), None),
        (
            "text",
            "edit_file",
            json!({ "filename": "f", "old_text": "tow", "new_text": "x" }),
            Some("read_file start_line=2 end_line=2"),
        ),
    ] {
        let server = Stdio::start(&folder, &[&format!("--tools={tools}")]).ready();
        let text = server.tool(tool, arguments).text;
        match named {
            Some(named) => {
                assert!(text.contains(&format!("({named})")), "{tools}: {text}")
            }
            None => assert!(!text.contains("start_line") && !text.contains("Use read"), "{tools}: {text}"),
        }
        // The set agent shows the lines with their numbers, in place of a call.
        let shown = if tool == "edit" { "\n2: two" } else { "Line 2: two" };
        assert!(text.contains(shown), "{tools}: {text}");
    }
}
