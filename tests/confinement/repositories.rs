//! Folders of git under other names than `.git`: what a link or a file `.git` leads to, bare repositories and work trees of them. They are
//! protected as `.git` is, and no call makes a new one.

use std::path::Path;

use serde_json::{Value, json};

use super::git::reads;
use super::interfaces::refusal;
use crate::support::{Direct, Folder, Http, Mcp, Stdio, file_uri};
use crate::trees::{make, put};

const TOKEN: &str = "https://user:token@host";

/// Makes a folder of git at `path`.
fn repository(folder: &Folder, path: &str) {
    put(folder, &format!("{path}/HEAD"), "ref: refs/heads/main\n");
    put(folder, &format!("{path}/config"), format!("[remote]\nurl = {TOKEN}\n"));
    put(folder, &format!("{path}/hooks/pre-commit"), format!("#!/bin/sh\n# {TOKEN}\n"));
    make(folder, &format!("{path}/objects/info"));
    make(folder, &format!("{path}/refs/heads"));
}

fn folder() -> Folder {
    let folder = Folder::new();
    for path in ["gg", "work/separate", "deep/in/bare.git"] {
        repository(&folder, path);
    }
    folder.link(".git", "gg");
    put(&folder, "work/tree/.git", "gitdir: ../separate\n");
    // The folder of a second work tree: it shares what else git needs.
    put(&folder, "second/HEAD", "ref: refs/heads/other\n");
    put(&folder, "second/commondir", "../gg\n");
    put(&folder, "second/logs/HEAD", format!("clone: from {TOKEN}\n"));
    folder.link("config-link", "gg/config");
    folder.link("link", "deep/in/bare.git");
    put(&folder, "plain/HEAD", "no repository\n");
    make(&folder, "plain/objects");
    folder
}

const KEPT: [&str; 11] = [
    "gg/config",
    "gg/hooks/pre-commit",
    "gg/none",
    "gg",
    ".git/config",
    "work/separate/config",
    "deep/in/bare.git/config",
    "link/config",
    "link",
    "config-link",
    "second/logs/HEAD",
];

#[test]
fn no_call_reads_in_a_folder_of_git_by_another_name() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = folder();
    for (number, (tools, _)) in reads("").iter().enumerate() {
        let flags = [tools, "--names=paths"];
        let servers: [Box<dyn Mcp>; 2] =
            [Box::new(Stdio::start(&folder, &flags).ready()), Box::new(Http::start(&folder, &flags))];
        for server in &servers {
            for path in KEPT {
                for (tool, arguments) in &reads(path)[number].1 {
                    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
                    let text = refusal(&answer, tool, path);
                    assert!(!text.contains("user:token"), "{tool} {path}: {text}");
                    assert!(!text.contains("See what"), "a refused call is advised: {tool} {path}: {text}");
                }
                let uri = json!({ "uri": file_uri(&folder.path().join(path)) });
                refusal(&server.rpc("resources/read", uri), "resources/read", path);
            }
        }
    }
}

#[test]
fn a_walk_shows_the_folder_and_nothing_in_it_and_says_so() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = folder();
    let server = Stdio::start(&folder, &["--tools=filesystem,search,list_files", "--names=paths"]).ready();
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "token", "include_hidden": true, "include_ignored": true })),
        ("glob", json!({ "pattern": "**/config", "include_hidden": true })),
        ("search_files", json!({ "path": ".", "pattern": "**/config" })),
        ("directory_tree", json!({ "path": "." })),
        ("list_directory", json!({ "path": ".", "depth": 5 })),
        ("list_files", json!({})),
    ] {
        let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"].to_string();
        assert!(!text.contains("user:token") && !text.contains("hooks"), "{tool}: {text}");
        assert!(text.contains("4 folders of git") && text.contains("--allow-git"), "{tool}: {text}");
    }
    assert!(server.ok("list_directory", json!({ "path": "." })).contains("[DIR] gg"));
    let linked = server.ok("list_files", json!({}));
    assert!(!linked.contains("config-link"), "{linked}");
}

#[test]
fn head_is_read_and_allow_git_opens_the_rest() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = folder();
    let head = |path: &str| json!({ "path": path });
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    for path in ["gg/HEAD", "link/HEAD", ".git/HEAD"] {
        assert_eq!(server.ok("read_text_file", head(path)), "ref: refs/heads/main\n", "{path}");
    }
    assert_eq!(server.ok("read_text_file", head("plain/HEAD")), "no repository\n");
    let server = Stdio::start(&folder, &["--tools=filesystem,search", "--allow-git"]).ready();
    for path in ["gg/config", "config-link", "link/config"] {
        assert!(server.ok("read_text_file", head(path)).contains(TOKEN), "{path}");
    }
    assert!(server.ok("grep", json!({ "pattern": "token" })).contains("gg/config"));
    server.refused("write_file", json!({ "path": "gg/config", "content": "x" }));
}

/// Changes of `path` by each set; beside them `other`, which may be changed.
fn changes(path: &str, other: &str) -> [(&'static str, Vec<(&'static str, Value)>); 3] {
    let edits = json!([{ "oldText": "e", "newText": "E" }]);
    let below = format!("{path}/new/in");
    let files = vec![
        ("write_file", json!({ "path": path, "content": "x\n" })),
        ("edit_file", json!({ "path": path, "edits": edits })),
        ("create_directory", json!({ "path": below })),
        ("move_file", json!({ "source": path, "destination": "moved" })),
        ("move_file", json!({ "source": other, "destination": below })),
        ("copy_file", json!({ "source": other, "destination": below })),
        ("delete_file", json!({ "path": path, "recursive": true })),
    ];
    let lines = vec![
        ("edit_file", json!({ "name": path, "append": "x", "create_if_missing": true })),
        ("edit_file", json!({ "name": below, "append": "x", "create_if_missing": true })),
        ("file_edit", json!({ "path": path, "edits": [{ "old_text": "e", "new_text": "E" }] })),
    ];
    let text = vec![
        ("write_file", json!({ "filename": path, "content": "x" })),
        ("edit_file", json!({ "filename": path, "old_text": "e", "new_text": "E" })),
        ("edit_file", json!({ "filename": below, "content": "x" })),
    ];
    [("--tools=filesystem", files), ("--tools=lines,exact", lines), ("--tools=text", text)]
}

fn entries(folder: &Path) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        all.push((path.display().to_string(), std::fs::read_to_string(&path).ok()));
        if path.is_dir() && !path.is_symlink() {
            all.extend(entries(&path));
        }
    }
    all.sort();
    all
}

#[test]
fn nothing_is_written_moved_or_deleted_there() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = folder();
    put(&folder, "other", "e\n");
    let before = entries(folder.path());
    for (number, (tools, _)) in changes("", "").iter().enumerate() {
        // Also where reading is allowed.
        let flags = [tools, "--names=paths", "--allow-git"];
        let servers: [Box<dyn Mcp>; 2] =
            [Box::new(Stdio::start(&folder, &flags).ready()), Box::new(Http::start(&folder, &flags))];
        for server in &servers {
            let paths = ["gg/new", "gg/HEAD", "second/logs", "link", "link/objects"];
            for path in KEPT.into_iter().chain(paths).filter(|path| !path.starts_with("config-link")) {
                for (tool, arguments) in &changes(path, "other")[number].1 {
                    let is_link = path == "link" && matches!(*tool, "delete_file");
                    if is_link {
                        continue;
                    }
                    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
                    refusal(&answer, tool, path);
                    assert!(entries(folder.path()) == before, "{tool} {arguments} changed something");
                }
            }
        }
        if number == 1 {
            for server in [
                &Stdio::start(&folder, &flags).ready() as &dyn Direct,
                &Http::start(&folder, &flags) as &dyn Direct,
            ] {
                let error = server.direct_error("edit_file", json!({ "name": "gg/config", "append": "x" }));
                assert_eq!(error.message, "Permission denied accessing 'gg/config'");
            }
        }
    }
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    for holding in ["deep", "work", "deep/in"] {
        server.refused("delete_file", json!({ "path": holding, "recursive": true }));
    }
    assert!(entries(folder.path()) == before);
}

#[test]
fn no_call_makes_a_folder_one_of_git() {
    let folder = Folder::new();
    for name in ["objects", "refs"] {
        make(&folder, &format!("no-head/{name}"));
    }
    put(&folder, "no-refs/HEAD", "ref: refs/heads/main\n");
    make(&folder, "no-refs/objects");
    put(&folder, "no-common/HEAD", "ref: refs/heads/main\n");
    put(&folder, "file", "ref: refs/heads/main\n");
    make(&folder, "folder");
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    let before = entries(folder.path());
    for (tool, arguments) in [
        ("write_file", json!({ "path": "no-head/HEAD", "content": "ref: refs/heads/main\n" })),
        ("copy_file", json!({ "source": "file", "destination": "no-head/HEAD" })),
        ("move_file", json!({ "source": "file", "destination": "no-head/HEAD" })),
        ("create_directory", json!({ "path": "no-refs/refs" })),
        ("create_directory", json!({ "path": "no-refs/refs/heads" })),
        ("move_file", json!({ "source": "folder", "destination": "no-refs/refs" })),
        ("write_file", json!({ "path": "no-common/commondir", "content": "../x\n" })),
    ] {
        let refused = server.tool(tool, arguments.clone());
        assert!(
            refused.is_error && refused.text.contains("no new one is made"),
            "{tool} {arguments}: {}",
            refused.text
        );
    }
    assert!(entries(folder.path()) == before);
    server.ok("write_file", json!({ "path": "no-head/config", "content": "x\n" }));
    server.ok("create_directory", json!({ "path": "no-common/refs" }));
}
