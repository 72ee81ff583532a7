//! What is excluded answers as what is not there, in every tool and through links: no answer tells whether it exists.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio};
use crate::trees::put;

/// Names that are excluded, and links that lead to them or through them. Whether anything is there, `present` says.
fn fill(folder: &Folder, present: bool) {
    put(folder, "open/in/a.txt", "a\n");
    put(folder, "b.txt", "b\n");
    let links = [
        ("to-folder", "secret"),
        ("to-file", "secret/file"),
        ("to-key", "open/in/top.key"),
        ("to-link", "secret/back"),
        ("to-way-out", "secret/out"),
        ("to-dangling", "secret/dangling"),
        ("into-file", "secret/file/x"),
        ("through-folder", "secret/in/../../b.txt"),
        ("by-link", "to-folder/in"),
    ];
    links.iter().for_each(|(name, target)| folder.link(name, target));
    if present {
        put(folder, "secret/in/file", "secret\n");
        ["secret/file", "open/in/top.key", "top.key"].iter().for_each(|path| put(folder, path, "secret\n"));
        let links = [("back", "../b.txt"), ("out", "/etc"), ("dangling", "nothing")];
        links.iter().for_each(|(name, target)| folder.link(&format!("secret/{name}"), target));
    }
}

/// A call of each tool of a set on `path`.
fn calls(set: &str, path: &str) -> Vec<(&'static str, Value)> {
    let edits = json!([{ "old_text": "secret", "new_text": "x" }]);
    match set {
        "filesystem" => vec![
            ("read_text_file", json!({ "path": path })),
            ("read_media_file", json!({ "path": path })),
            ("read_multiple_files", json!({ "paths": [path] })),
            ("get_file_info", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("list_directory_with_sizes", json!({ "path": path })),
            ("directory_tree", json!({ "path": path })),
            ("search_files", json!({ "path": path, "pattern": "**" })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("edit_file", json!({ "path": path, "edits": edits })),
            ("copy_file", json!({ "source": path, "destination": "open/copied" })),
            ("copy_file", json!({ "source": "b.txt", "destination": path })),
            ("move_file", json!({ "source": "b.txt", "destination": path })),
            ("create_directory", json!({ "path": path })),
        ],
        "search" => vec![
            ("grep", json!({ "path": path, "pattern": "e" })),
            ("glob", json!({ "path": path, "pattern": "**" })),
        ],
        "text" => vec![
            ("view", json!({ "filename": path })),
            ("read_file", json!({ "filename": path })),
            ("write_file", json!({ "filename": path, "content": "x" })),
            ("edit_file", json!({ "filename": path, "old_text": "secret", "new_text": "x" })),
            ("edit_file", json!({ "filename": path, "content": "x" })),
        ],
        "lines" => vec![
            ("read_file", json!({ "name": path })),
            ("edit_file", json!({ "name": path, "append": "x" })),
            ("edit_file", json!({ "name": path, "append": "x", "create_if_missing": true })),
        ],
        "exact" => vec![("file_edit", json!({ "path": path, "edits": edits }))],
        _ => vec![
            ("analyze_complexity", json!({ "path": path, "toolchain": "python" })),
            ("analyze_code_churn", json!({ "path": path })),
        ],
    }
}

#[test]
fn no_answer_tells_whether_something_excluded_exists() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let (there, absent) = (Folder::new(), Folder::new());
    fill(&there, true);
    fill(&absent, false);
    let links = [
        "to-folder",
        "to-file",
        "to-key",
        "to-link",
        "to-way-out",
        "to-dangling",
        "into-file",
        "through-folder",
        "by-link",
    ];
    let by_links = ["to-folder/file", "to-folder/in/new", "to-file/x", "to-key/x"];
    let by_name =
        ["secret", "secret/file", "secret/file/x", "secret/in/new", "secret/back", "top.key", "top.key/x"];
    for set in ["filesystem", "search", "text", "lines", "exact", "toolkit"] {
        let tools = format!("--tools={set}");
        let flags = ["--exclude=secret", "--exclude=*.key", "--names=paths", &tools];
        let servers = [Stdio::start(&there, &flags).ready(), Stdio::start(&absent, &flags).ready()];
        for path in links.iter().chain(&by_links).chain(&by_name) {
            for (tool, arguments) in calls(set, path) {
                let answers = servers.each_ref().map(|server| {
                    let call = json!({ "name": tool, "arguments": arguments });
                    server.rpc("tools/call", call)["result"].clone()
                });
                assert_eq!(answers[0], answers[1], "{tool} {arguments}");
                let told = answers[0].to_string();
                let is_link = links.contains(path) && told.contains("exists already");
                let is_unseen = is_link || told.contains("not found") || told.contains("Permission denied");
                assert!(is_unseen && !told.contains("is a folder"), "{tool} {arguments}: {told}");
            }
        }
    }
}

#[test]
fn a_link_to_what_git_keeps_tells_nothing_of_it() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    put(&folder, ".git/config", "[core]\n".repeat(111));
    put(&folder, ".git/HEAD", "ref: refs/heads/main\n");
    put(&folder, "a.txt", "a\n");
    folder.link("to-config", ".git/config");
    folder.link("to-head", ".git/HEAD");
    let listings = [
        ("filesystem", "list_directory_with_sizes", json!({ "path": "." })),
        ("filesystem", "search_files", json!({ "path": ".", "pattern": "to-*" })),
        ("search", "glob", json!({ "pattern": "to-*" })),
        ("lines", "list_files", json!({})),
    ];
    for (set, tool, arguments) in listings {
        let tools = format!("--tools={set}");
        let listed = Stdio::start(&folder, &[&tools]).ready().ok(tool, arguments.clone());
        assert!(listed.contains("to-head"), "{tool}: {listed}");
        let tells_size = ["777", "111", "lines: 1\nname: to-config"].iter().any(|size| listed.contains(size));
        assert!(!tells_size, "{tool}: {listed}");
        let allowing = Stdio::start(&folder, &[&tools, "--allow-git"]).ready().ok(tool, arguments);
        assert!(allowing.contains("to-config"), "{tool}: {allowing}");
    }
    let lines = Stdio::start(&folder, &["--tools=lines"]).ready();
    assert!(!lines.ok("list_files", json!({})).contains("to-config"));
}
