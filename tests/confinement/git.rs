//! Of a folder `.git` clients read `HEAD` alone: its other files can hold credentials. `--allow-git` allows the rest.

use serde_json::{Value, json};

use super::interfaces::refusal;
use crate::support::{Direct, Folder, Http, Mcp, Stdio, file_uri};
use crate::trees::{make, put};

const TOKEN: &str = "https://user:token@host";

fn repository() -> Folder {
    let folder = Folder::new();
    put(&folder, "repo/.git/config", format!("[remote]\nurl = {TOKEN}\n"));
    put(&folder, "repo/.git/HEAD", "ref: refs/heads/main\n");
    put(&folder, "repo/.git/logs/HEAD", format!("clone: from {TOKEN}\n"));
    put(&folder, "tree/.git", format!("gitdir: {TOKEN}\n"));
    put(&folder, "other/.GIT/config", TOKEN);
    make(&folder, "target");
    folder.link("git-link", "repo/.git");
    folder.link("config-link", "repo/.git/config");
    folder
}

const KEPT: [&str; 8] = [
    "repo/.git/config",
    "repo/.git/logs/HEAD",
    "tree/.git",
    "other/.GIT/config",
    "git-link/config",
    "config-link",
    "repo/.git",
    "git-link",
];

pub(super) fn reads(path: &str) -> [(&'static str, Vec<(&'static str, Value)>); 3] {
    let edits = json!([{ "oldText": "url", "newText": "x" }]);
    let files = vec![
        ("read_text_file", json!({ "path": path })),
        ("read_text_file", json!({ "path": path, "head": 1 })),
        ("read_media_file", json!({ "path": path })),
        ("get_file_info", json!({ "path": path })),
        ("list_directory", json!({ "path": path })),
        ("list_directory_with_sizes", json!({ "path": path })),
        ("directory_tree", json!({ "path": path })),
        ("search_files", json!({ "path": path, "pattern": "**" })),
        ("grep", json!({ "path": path, "pattern": "token" })),
        ("glob", json!({ "path": path, "pattern": "**" })),
        ("copy_file", json!({ "source": path, "destination": "target/copy" })),
        ("move_file", json!({ "source": path, "destination": "target/moved" })),
        ("edit_file", json!({ "path": path, "edits": edits, "dryRun": true })),
    ];
    let lines = vec![
        ("read_file", json!({ "name": path })),
        ("file_edit", json!({ "path": path, "edits": [{ "old_text": "url", "new_text": "x" }] })),
    ];
    let text = vec![("view", json!({ "filename": path })), ("read_file", json!({ "filename": path }))];
    [("--tools=filesystem,search", files), ("--tools=lines,exact", lines), ("--tools=text", text)]
}

#[test]
fn no_call_reads_in_a_folder_of_git_beside_head() {
    let folder = repository();
    for (number, (tools, _)) in reads("").iter().enumerate() {
        let flags = [tools, "--names=paths"];
        let (stdio, http) = (Stdio::start(&folder, &flags).ready(), Http::start(&folder, &flags));
        for server in [&stdio as &dyn Mcp, &http] {
            for path in KEPT {
                for (tool, arguments) in &reads(path)[number].1 {
                    let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
                    let text = refusal(&answer, tool, path);
                    assert!(!text.contains("user:token"), "{tool} {path}: {text}");
                }
                let uri = json!({ "uri": file_uri(&folder.path().join(path)) });
                refusal(&server.rpc("resources/read", uri), "resources/read", path);
            }
        }
        if number == 1 {
            for server in [&stdio as &dyn Direct, &http] {
                let error = server.direct_error("read_file", json!({ "name": "repo/.git/config" }));
                assert_eq!(error.message, "Permission denied accessing 'repo/.git/config'");
            }
        }
    }
    assert!(!folder.path().join("target/copy").exists() && !folder.path().join("target/moved").exists());
}

#[test]
fn several_files_in_one_read_are_refused_one_by_one() {
    let folder = repository();
    put(&folder, "a.txt", "a\n");
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    let text =
        server.ok("read_multiple_files", json!({ "paths": ["a.txt", "repo/.git/config", "config-link"] }));
    assert!(text.contains("a.txt:\na\n") && !text.contains("user:token"), "{text}");
    assert!(text.contains("--allow-git") || text.contains("Permission denied"), "{text}");
}

#[test]
fn head_is_read_and_allow_git_opens_the_rest_but_for_writes() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = repository();
    let head = "ref: refs/heads/main\n";
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    for path in ["repo/.git/HEAD", "git-link/HEAD"] {
        assert_eq!(server.ok("read_text_file", json!({ "path": path })), head, "{path}");
    }
    let refused = server.tool("read_text_file", json!({ "path": "repo/.git/config" }));
    assert!(refused.is_error && refused.text.contains("--allow-git"), "{}", refused.text);
    let server = Stdio::start(&folder, &["--tools=filesystem,search", "--allow-git"]).ready();
    for path in ["repo/.git/config", "git-link/config", "config-link"] {
        assert!(server.ok("read_text_file", json!({ "path": path })).contains(TOKEN), "{path}");
    }
    assert!(server.ok("list_directory", json!({ "path": "repo/.git" })).contains("[FILE] config"));
    assert!(server.ok("grep", json!({ "path": "repo/.git", "pattern": "token" })).contains("config"));
    server.refused("write_file", json!({ "path": "repo/.git/config", "content": "x" }));
    assert!(folder.text("repo/.git/config").contains(TOKEN));
}

#[test]
fn a_folder_in_the_place_of_head_is_not_read() {
    let folder = Folder::new();
    put(&folder, ".git/HEAD/x", format!("url = {TOKEN}\n"));
    put(&folder, "repo/.git/HEAD/x", format!("url = {TOKEN}\n"));
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    for path in [".git/HEAD", "repo/.git/HEAD", ".git/HEAD/x"] {
        for (tool, call) in [
            ("grep", json!({ "pattern": "url", "path": path })),
            ("glob", json!({ "pattern": "*", "path": path })),
            ("list_directory", json!({ "path": path })),
            ("read_text_file", json!({ "path": path })),
        ] {
            let answer = server.tool(tool, call);
            assert!(
                answer.is_error && answer.text.contains("Permission denied"),
                "{tool} {path}: {}",
                answer.text
            );
        }
    }
}
