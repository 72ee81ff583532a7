//! `--line-base`: the number of the first line in descriptions, schemas, arguments, answers and errors of MCP.

use serde_json::json;

use crate::support::{Direct, Folder, Http, Stdio, on_both_with};

fn fill(folder: &Folder) {
    folder.write("f", "a\nb\nc\n");
}

#[test]
fn with_line_base_1_every_mcp_tool_counts_from_1() {
    on_both_with(&["--line-base=1", "--tools=lines,exact"], fill, |server, folder| {
        let read = |arguments| server.ok("read_file", arguments);
        assert_eq!(
            read(json!({ "name": "f", "start_line": 1, "end_line": 2 })),
            "File: f (lines 1-2 of 3 total)\n\na\nb"
        );
        let refused = |arguments| server.tool("read_file", arguments).text;
        assert_eq!(
            refused(json!({ "name": "f", "end_line": -1 })),
            "Error: Line numbers must be positive integers\nLines count from 1."
        );
        // 0 is no line here, so it counts as absent.
        assert_eq!(
            read(json!({ "name": "f", "start_line": 0, "end_line": 0 })),
            read(json!({ "name": "f" }))
        );
        assert_eq!(
            refused(json!({ "name": "f", "start_line": 4 })),
            "Error: Start line 4 exceeds file length 3\nThe file has 3 lines, 1-3.\nLines count from 1."
        );
        let edit = json!({ "line": 3, "operation": "replace", "expect": "c", "content": "x" });
        server.ok("edit_file", json!({ "name": "f", "edits": [edit] }));
        assert_eq!(folder.text("f"), "a\nb\nx\n");
        let twice = json!({ "path": "f", "edits": [{ "old_text": "b", "new_text": "y", "occurrences": 2 }] });
        let text = server.tool("file_edit", twice).text;
        assert!(text.contains("Line 2, column 1 (read_file start_line=2 end_line=2)"), "{text}");
    });
}

#[test]
fn descriptions_and_schemas_name_the_first_line() {
    for (flags, first) in [(&[][..], 0), (&["--line-base=0"], 0), (&["--line-base=1"], 1)] {
        on_both_with(flags, fill, |server, _| {
            let tools = server.rpc("tools/list", json!({}))["result"]["tools"].clone();
            for tool in tools.as_array().expect("tools").iter().filter(|tool| tool["name"] != "list_files") {
                let text = tool.to_string();
                assert!(text.contains(&format!("ount from {first}")), "{text}");
                assert!(text.contains(&format!("counted from {first}")), "{text}");
                assert!(text.contains(&format!("\"minimum\":{first}")), "{text}");
                assert!(
                    !text.contains(&format!("from {}", 1 - first)) && !text.contains("{first}"),
                    "{text}"
                );
            }
            let prompt = server.rpc("prompts/get", json!({ "name": "explore_folder" })).to_string();
            assert!(prompt.contains(&format!("start_line {first} and")), "{prompt}");
        });
    }
}

#[test]
fn rest_and_direct_methods_always_count_from_1() {
    for flag in ["--line-base=0", "--line-base=1"] {
        let folder = Folder::new();
        fill(&folder);
        let params = json!({ "name": "f", "start_line": 1, "end_line": 1 });
        assert_eq!(Http::start(&folder, &[flag]).direct("read_file", params.clone())["content"], "a");
        assert_eq!(Stdio::start(&folder, &[flag]).direct("read_file", params)["content"], "a");
    }
}

#[test]
fn a_posted_tool_counts_as_over_mcp() {
    for (flags, line) in [(&[][..], 0), (&["--line-base=1"], 1)] {
        let folder = Folder::new();
        fill(&folder);
        let server = Http::start(&folder, flags);
        let body = json!({ "name": "f", "start_line": line, "end_line": line });
        let answer = server.post("/tools/read_file", &body).json();
        let text = format!("File: f (lines {line}-{line} of 3 total)\n\na");
        assert_eq!(answer["content"][0]["text"], text);
    }
}
