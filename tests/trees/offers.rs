//! Which tools are offered, and their data under --structured.

use serde_json::json;

use super::tools::fill;
use super::{SET, make, serve, tree};
use crate::support::{Folder, Http, Mcp, Stdio};

const WRITERS: [&str; 6] =
    ["write_file", "edit_file", "create_directory", "move_file", "delete_file", "copy_file"];

const READERS: [&str; 10] = [
    "read_file",
    "read_text_file",
    "read_media_file",
    "read_multiple_files",
    "list_directory",
    "list_directory_with_sizes",
    "directory_tree",
    "search_files",
    "get_file_info",
    "list_allowed_directories",
];

fn tool_names(server: &dyn Mcp) -> Vec<String> {
    let answer = server.rpc("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn with_structured_the_text_is_also_the_data() {
    let folder = Folder::new();
    fill(&folder);
    let server = serve(&folder, &["--structured"]);
    server.begin("2025-06-18");
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": "a.txt" })),
        ("read_multiple_files", json!({ "paths": ["a.txt"] })),
        ("list_directory", json!({ "path": "." })),
        ("list_directory_with_sizes", json!({ "path": "." })),
        ("directory_tree", json!({ "path": "." })),
        ("search_files", json!({ "path": ".", "pattern": "**/c.txt" })),
        ("get_file_info", json!({ "path": "a.txt" })),
        ("list_allowed_directories", json!({})),
        ("write_file", json!({ "path": "n", "content": "" })),
        ("edit_file", json!({ "path": "a.txt", "edits": [{ "oldText": "two", "newText": "2" }] })),
        ("create_directory", json!({ "path": "d" })),
        ("move_file", json!({ "source": "n", "destination": "m" })),
        ("copy_file", json!({ "source": "m", "destination": "k" })),
        ("delete_file", json!({ "path": "k" })),
    ] {
        let result = server.tool(tool, arguments);
        assert_eq!(result.result["structuredContent"], json!({ "content": result.text }), "{tool}");
    }
    let media =
        server.rpc("tools/call", json!({ "name": "read_media_file", "arguments": { "path": "pic.png" } }));
    let result = &media["result"];
    assert_eq!(result["structuredContent"]["content"], result["content"], "{media}");
}

#[test]
fn a_read_only_server_offers_and_carries_out_nothing_that_writes() {
    let folder = Folder::new();
    fill(&folder);
    make(&folder, "empty");
    let before = tree(folder.path());
    let all = serve(&folder, &[]);
    let (mut offered, mut wanted) = (tool_names(&all), [&READERS[..], &WRITERS].concat());
    offered.sort();
    wanted.sort_unstable();
    assert_eq!(offered, wanted);
    let calls = [
        json!({ "path": "n", "content": "" }),
        json!({ "path": "a.txt", "edits": [{ "oldText": "two", "newText": "2" }] }),
        json!({ "path": "d" }),
        json!({ "source": "a.txt", "destination": "m" }),
        json!({ "path": "empty" }),
        json!({ "source": "a.txt", "destination": "k" }),
    ];
    let (stdio, http) =
        (Stdio::start(&folder, &[SET, "--read-only"]), Http::start(&folder, &[SET, "--read-only"]));
    for server in [&stdio as &dyn Mcp, &http] {
        assert_eq!(tool_names(server), READERS);
        for (tool, arguments) in WRITERS.iter().zip(&calls) {
            let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
            assert_eq!(answer["error"]["code"], -32602, "{tool}: {answer}");
        }
    }
    for (tool, arguments) in WRITERS.iter().zip(&calls) {
        assert!(http.post(&format!("/tools/{tool}"), arguments).status >= 400, "{tool}");
        let direct = stdio.rpc(tool, arguments.clone());
        assert!(direct.get("error").is_some(), "{direct}");
    }
    assert!(tree(folder.path()) == before, "a read-only server changed something");
}
