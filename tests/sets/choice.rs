//! `--tools`: sets, tools of sets, and tools by their bare names.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio, on_both_with, run_to_end};

fn names(server: &dyn Mcp) -> Vec<String> {
    let answer = server.rpc("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn sets_and_tools_may_be_mixed_and_keep_their_order() {
    let cases: [(&str, &[&str]); 6] = [
        ("--tools=lines", &["list_files", "read_file", "edit_file"]),
        ("--tools=exact", &["file_edit"]),
        ("--tools=exact,lines", &["list_files", "read_file", "edit_file", "file_edit"]),
        ("--tools=exact, lines.read_file", &["read_file", "file_edit"]),
        ("--tools=list_files,lines.read_file,lines", &["list_files", "read_file", "edit_file"]),
        ("--tools=exact.file_edit,list_files", &["list_files", "file_edit"]),
    ];
    for (flag, wanted) in cases {
        on_both_with(&[flag], |_| {}, |server, _| assert_eq!(names(server), wanted, "{flag}"));
    }
}

#[test]
fn a_wrong_choice_is_one_line_that_names_the_sets_and_tools() {
    let folder = Folder::new();
    let dir = format!("--dir={}", folder.path().display());
    for wrong in ["all", "line", "lines.file_edit", "exact.", ".read_file", "lines,,exact", "Lines"] {
        let ended = run_to_end(&[&dir, &format!("--tools={wrong}")]);
        assert_eq!(ended.code, Some(1), "{wrong}");
        let lines: Vec<&str> = ended.stderr.lines().collect();
        assert_eq!(lines.len(), 1, "{wrong}: {}", ended.stderr);
        for part in ["--tools", "lines", "exact", "read_file", "file_edit"] {
            assert!(lines[0].contains(part), "{wrong}: {part} in {}", lines[0]);
        }
    }
}

#[test]
fn an_unknown_tool_names_those_that_can_be_called() {
    let folder = Folder::new();
    let unknown = |flags: &[&str]| -> Value {
        let server = Stdio::start(&folder, flags).ready();
        server.rpc("tools/call", json!({ "name": "grep", "arguments": {} }))["error"]["message"].clone()
    };
    assert_eq!(unknown(&[]), "Unknown tool: grep; the tools are list_files, read_file, edit_file");
    assert_eq!(
        unknown(&["--tools=lines,exact", "--read-only"]),
        "Unknown tool: grep; the tools are list_files, read_file"
    );
}

#[test]
fn the_hints_say_which_tools_can_destroy_and_which_can_be_repeated() {
    on_both_with(
        &["--tools=lines,exact"],
        |_| {},
        |server, _| {
            let answer = server.rpc("tools/list", json!({}));
            for tool in answer["result"]["tools"].as_array().expect("tools") {
                let reads = matches!(tool["name"].as_str(), Some("list_files" | "read_file"));
                let hints = &tool["annotations"];
                assert_eq!(
                    (&hints["readOnlyHint"], &hints["destructiveHint"], &hints["idempotentHint"]),
                    (&json!(reads), &json!(!reads), &json!(reads)),
                    "{tool}"
                );
            }
        },
    );
}
