//! Folders of git under other names than `.git`: what a link or a file `.git` leads to, bare repositories and work trees of them. They are
//! protected as `.git` is, and no call makes a new one.

use std::path::Path;

use serde_json::{Value, json};

use super::git::reads;
use super::interfaces::refusal;
use crate::support::{Direct, Ended, Folder, Http, Mcp, Stdio, bare_command, file_uri, run_to_end};
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
                    // The link itself may go.
                    let is_link = path == "link" && (*tool == "delete_file" || arguments["source"] == "link");
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

/// The arguments of a call for a path.
type Arguments<'a> = &'a dyn Fn(&str) -> Value;

/// The texts of refusals, without the path that was asked for.
fn refused_alike(server: &dyn Mcp, tool: &str, arguments: impl Fn(&str) -> Value, paths: &[&str]) {
    let text = |path: &str| {
        let answer = server.tool(tool, arguments(path));
        assert!(answer.is_error, "{tool} {path}: {}", answer.text);
        answer.text.replace(path, "PATH")
    };
    let first = text(paths[0]);
    assert!(first.contains("a folder of git"), "{tool}: {first}");
    for path in paths {
        assert_eq!(text(path), first, "{tool} {path}");
    }
}

#[test]
fn no_write_tells_whether_something_is_in_a_folder_of_git() {
    let folder = Folder::new();
    for path in ["bare", "work/.git"] {
        repository(&folder, path);
    }
    put(&folder, "f", "f\n");
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    for top in ["bare", "work/.git"] {
        let below = ["hooks", "none", "config", "config/x", "none/x", "hooks/pre-commit", "objects/info/x/y"];
        let paths = below.map(|name| format!("{top}/{name}"));
        let paths = [paths.each_ref().map(String::as_str).as_slice(), &[top]].concat();
        let edits = json!([{ "oldText": "a", "newText": "b" }]);
        let calls: [(&str, Arguments); 7] = [
            ("create_directory", &|path| json!({ "path": path })),
            ("delete_file", &|path| json!({ "path": path })),
            ("delete_file", &|path| json!({ "path": path, "recursive": true })),
            ("write_file", &|path| json!({ "path": path, "content": "" })),
            ("edit_file", &|path| json!({ "path": path, "edits": edits })),
            ("move_file", &|path| json!({ "source": path, "destination": "moved" })),
            ("copy_file", &|path| json!({ "source": "f", "destination": path })),
        ];
        for (tool, arguments) in calls {
            refused_alike(&server, tool, arguments, &paths);
        }
        refused_alike(&server, "read_text_file", |path| json!({ "path": path }), &paths);
    }
}

#[test]
fn texts_that_are_called_as_git_calls_its_own_hide_no_folder() {
    not_under_wine!("git for Windows asks for no right to enter, so that there they do");
    let folder = Folder::new();
    for name in ["HEAD", "objects", "refs", "notes.md"] {
        put(&folder, &format!("texts/{name}"), "ref: word\n");
    }
    put(&folder, "head/HEAD", "word\n");
    make(&folder, "head/objects");
    make(&folder, "head/refs");
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let found = server.ok("grep", json!({ "pattern": "word", "output_mode": "files_with_matches" }));
    for path in ["texts/HEAD", "texts/objects", "texts/refs", "texts/notes.md", "head/HEAD"] {
        assert!(found.contains(path), "{path}: {found}");
        assert!(server.ok("read_text_file", json!({ "path": path })).contains("word"), "{path}");
    }
    server.ok("write_file", json!({ "path": "texts/notes.md", "content": "more\n" }));
    // A write of this one could make its folder one of git.
    server.refused("write_file", json!({ "path": "head/HEAD", "content": "ref: refs/heads/main\n" }));
    server.ok("delete_file", json!({ "path": "texts", "recursive": true }));
}

fn serve(dir: &Path, flags: &[&str]) -> Stdio {
    let mut command = bare_command();
    command.arg("--transport=stdio").arg(format!("--dir={}", dir.display())).args(flags);
    Stdio::run(command).ready()
}

#[test]
fn of_a_served_folder_of_git_head_is_read_and_the_doctor_says_so() {
    let folder = Folder::new();
    repository(&folder, "bare");
    repository(&folder, "work/.git");
    for (dir, has_head) in
        [("bare", true), ("work/.git", true), ("work/.git/hooks", false), ("bare/hooks", false)]
    {
        let dir = folder.path().join(dir);
        let start = |flags: &[&str]| serve(&dir, &[&["--tools=filesystem,search"], flags].concat());
        let server = start(&[]);
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": "config" })),
            ("read_text_file", json!({ "path": "pre-commit" })),
            ("list_directory", json!({ "path": "." })),
            ("write_file", json!({ "path": "new", "content": "x" })),
            ("create_directory", json!({ "path": "new" })),
        ] {
            let refused = server.tool(tool, arguments);
            assert!(
                refused.is_error && refused.text.contains("folder of git"),
                "{dir:?} {tool}: {}",
                refused.text
            );
        }
        let token = json!({ "pattern": "token", "output_mode": "content" });
        assert!(!server.tool("grep", token.clone()).text.contains("user:token"), "{dir:?}");
        let files = server.ok("glob", json!({ "pattern": "**" }));
        assert!(files.contains("0 files seen") && files.contains("1 folder of git"), "{files}");
        assert_eq!(server.tool("read_text_file", json!({ "path": "HEAD" })).is_error, !has_head);
        let server = start(&["--allow-git"]);
        assert!(server.ok("grep", token).contains("user:token"), "{dir:?}");
        server.ok("list_directory", json!({ "path": "." }));
        server.refused("write_file", json!({ "path": "new", "content": "x" }));
        let dir = dir.display().to_string();
        for (flags, says) in
            [(&["--doctor"][..], "HEAD alone"), (&["--doctor", "--allow-git"], "read all of it")]
        {
            let Ended { stdout, .. } = run_to_end(&[&[dir.as_str()], flags].concat());
            let line = stdout.lines().find(|line| line.contains("one of git"));
            assert!(
                line.is_some_and(|line| line.contains(says) && line.contains("write nothing")),
                "{stdout}"
            );
        }
    }
    let dir = folder.path().join("bare");
    let server = serve(&dir, &["--tools=lines"]);
    let files = server.ok("list_files", json!({}));
    assert!(!files.contains("config") && files.contains("--allow-git"), "{files}");
    let dir = folder.path().join("work").display().to_string();
    let Ended { stdout, .. } = run_to_end(&[&dir, "--doctor"]);
    assert!(!stdout.contains("one of git"), "{stdout}");
}
