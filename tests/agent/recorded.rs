//! `--journal` with the tools of the other sets: each call that changes something is a change, which the set `agent` lists and
//! takes back.

use serde_json::{Value, json};

use crate::support::{Folder, Mcp, Stdio};
use crate::trees::{make, put};

/// The paths and contents of all that is in a folder.
fn state(folder: &Folder) -> Vec<(String, Option<Vec<u8>>)> {
    folder.snapshot().into_iter().map(|(path, entry)| (path, entry.bytes)).collect()
}

fn journal(folder: &Folder) -> String {
    format!("--journal={}", folder.outside("journal").display())
}

/// Makes these calls, each of them one change, looks at them with the set `agent`, and takes them back one by one.
fn made_and_taken_back(folder: &Folder, tools: &str, calls: &[(&str, Value)]) -> String {
    let mut states = vec![state(folder)];
    let server = Stdio::start(folder, &[tools, &journal(folder)]).ready();
    for (tool, arguments) in calls {
        server.ok(tool, arguments.clone());
        states.push(state(folder));
    }
    drop(server);
    let agent = Stdio::start(folder, &["--tools=agent", &journal(folder)]).ready();
    let told = agent.ok("changes", json!({ "since": "1h", "diff": false }));
    for (number, before) in states.iter().enumerate().rev().skip(1) {
        let change = format!("c{}", number + 1);
        agent.ok("undo", json!({ "change": change }));
        assert_eq!(state(folder), *before, "{change}: {:?}", calls[number]);
    }
    told
}

#[test]
fn what_the_set_filesystem_changes_is_listed_and_taken_back() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n");
    put(&folder, "d/x", "x\n");
    put(&folder, "d/y/z", "z\n");
    let calls = [
        ("write_file", json!({ "path": "a", "content": "1\ntwo\n3\n" })),
        ("write_file", json!({ "path": "n", "content": "new\n" })),
        ("edit_file", json!({ "path": "a", "edits": [{ "oldText": "3", "newText": "three" }] })),
        ("create_directory", json!({ "path": "e/f/g" })),
        ("move_file", json!({ "source": "a", "destination": "e/f/a" })),
        ("move_file", json!({ "source": "d", "destination": "e/d" })),
        ("copy_file", json!({ "source": "e/f/a", "destination": "copy" })),
        ("delete_file", json!({ "path": "n" })),
        ("delete_file", json!({ "path": "e/f/g" })),
        ("delete_file", json!({ "path": "e", "recursive": true })),
    ];
    let told = made_and_taken_back(&folder, "--tools=filesystem", &calls);
    // Not told: what was made and is gone again. What was deleted with `e/d` is told by that.
    assert!(told.starts_with("6 changes in 3 files"), "{told}");
    for told_of in ["write_file by ", "edit_file by ", "move_file by ", "copy_file by ", "delete_file by "] {
        assert!(told.contains(told_of), "{told_of}: {told}");
    }
}

#[test]
fn what_the_other_sets_change_is_listed_and_taken_back() {
    let edits = json!([{ "line": 1, "operation": "replace", "content": "one" }]);
    let exact = json!([{ "old_text": "2", "new_text": "two" }]);
    let sets = [
        (
            "--tools=lines",
            vec![
                ("edit_file", json!({ "name": "a", "edits": edits })),
                ("edit_file", json!({ "name": "new", "append": "x" })),
            ],
        ),
        ("--tools=exact", vec![("file_edit", json!({ "path": "a", "edits": exact }))]),
        (
            "--tools=text",
            vec![
                ("edit_file", json!({ "filename": "a", "old_text": "2", "new_text": "zwei" })),
                ("write_file", json!({ "filename": "p/q/new", "content": "ü\n", "encoding": "utf-16" })),
            ],
        ),
        #[cfg(feature = "toolkit")]
        (
            "--tools=toolkit",
            vec![(
                "scaffold_project",
                json!({ "toolchain": "rust", "templates": ["manifest", "source"], "write": true,
                    "parameters": { "project_name": "app" }, "directory": "app" }),
            )],
        ),
    ];
    for (tools, calls) in sets {
        let folder = Folder::new();
        put(&folder, "a", "1\n2\n3\n");
        let told = made_and_taken_back(&folder, tools, &calls);
        assert!(told.contains(&format!("{} change", calls.len())), "{tools}: {told}");
    }
}

#[test]
fn answers_and_refusals_are_the_same_with_a_journal() {
    let calls = [
        ("write_file", json!({ "path": "none/a", "content": "x" })),
        ("write_file", json!({ "path": "d", "content": "x" })),
        ("edit_file", json!({ "path": "a", "edits": [{ "oldText": "9", "newText": "x" }] })),
        ("edit_file", json!({ "path": "b", "edits": [{ "oldText": "9", "newText": "x" }] })),
        ("edit_file", json!({ "path": "a", "edits": [{ "oldText": "1", "newText": "1" }] })),
        ("move_file", json!({ "source": "a", "destination": "d/x" })),
        ("move_file", json!({ "source": "a", "destination": "none/x" })),
        ("move_file", json!({ "source": "d", "destination": "d/y" })),
        ("move_file", json!({ "source": "a", "destination": "a" })),
        ("move_file", json!({ "source": "a", "destination": "b", "expected_version": "cAAAAAAAAAAA" })),
        ("copy_file", json!({ "source": "a", "destination": "d/x" })),
        ("copy_file", json!({ "source": "a", "destination": "none/x" })),
        ("copy_file", json!({ "source": "a", "destination": "b", "expected_version": "cAAAAAAAAAAA" })),
        ("delete_file", json!({ "path": "d" })),
        ("delete_file", json!({ "path": "none" })),
        ("delete_file", json!({ "path": "a", "expected_version": "cAAAAAAAAAAA" })),
        ("create_directory", json!({ "path": "a" })),
        ("create_directory", json!({ "path": "d" })),
        ("edit_file", json!({ "path": "a", "edits": [{ "oldText": "1", "newText": "one" }] })),
        ("move_file", json!({ "source": "a", "destination": "b" })),
        ("copy_file", json!({ "source": "b", "destination": "c" })),
        ("delete_file", json!({ "path": "d", "recursive": true })),
        ("create_directory", json!({ "path": "x/y" })),
    ];
    let answers = |recorded: bool| {
        let folder = Folder::new();
        put(&folder, "a", "1\n2\n");
        put(&folder, "d/x", "x\n");
        make(&folder, "d/e");
        let journal = journal(&folder);
        let flags = ["--tools=filesystem", &*journal];
        let server = Stdio::start(&folder, if recorded { &flags } else { &flags[..1] }).ready();
        let root = folder.path().display().to_string();
        let mut told = Vec::new();
        for (tool, arguments) in &calls {
            let answer = server.tool(tool, arguments.clone());
            let text = answer.text.replace(&root, "ROOT");
            // The version of the file is its own.
            let text = text.split_once(", but it is ").map_or(&*text, |(before, _)| before).to_owned();
            told.push((tool, arguments.to_string(), answer.is_error, text));
        }
        told
    };
    for (without, with) in answers(false).into_iter().zip(answers(true)) {
        assert_eq!(with, without);
    }
}

#[test]
fn without_the_flag_only_the_set_agent_keeps_its_changes() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let server = Stdio::start(&folder, &["--tools=filesystem,agent"]).ready();
    server.ok("write_file", json!({ "path": "a", "content": "2\n" }));
    let none = server.tool("undo", json!({}));
    assert!(none.is_error && none.text.contains("has made no change"), "{}", none.text);
}

#[test]
fn in_a_folder_whose_name_differs_in_case_from_an_excluded_one_files_are_made_as_without_a_journal() {
    let folder = Folder::new();
    put(&folder, "SECRET/a", "open\n");
    let flags = ["--tools=filesystem", "--exclude=secret/", &*journal(&folder)];
    let server = Stdio::start(&folder, &flags).ready();
    server.ok("write_file", json!({ "path": "SECRET/b", "content": "b\n" }));
    assert!(server.tool("write_file", json!({ "path": "Secret/new", "content": "x" })).is_error);
    assert_eq!(folder.text("SECRET/b"), "b\n");
}
