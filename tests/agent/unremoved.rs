//! What fails when a job is done, or when what a dead server left is repaired: what is done is said to be done, and the rest follows.

use serde_json::json;

use super::{id, serve};
use crate::support::{Folder, Mcp, PATIENCE, Stdio, call, command, lock, with_injected};
use crate::trees::put;

/// The texts of all files in a folder and in its folders, by their paths.
fn tree(folder: &Folder) -> Vec<(String, String)> {
    fn add(path: &std::path::Path, base: &str, tree: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(path).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{base}{}", entry.file_name().to_string_lossy());
            match entry.path().is_dir() {
                true => add(&entry.path(), &format!("{name}/"), tree),
                false => tree.push((name, std::fs::read_to_string(entry.path()).expect("a text"))),
            }
        }
    }
    let mut found = Vec::new();
    add(folder.path(), "", &mut found);
    found.sort();
    found
}

fn is_hidden((path, _): &(String, String)) -> bool {
    path.contains(".file-editor-tmp-")
}

#[test]
fn a_change_whose_old_files_cannot_be_removed_is_done_and_they_are_removed_later() {
    not_under_wine!("has system calls fail or wait with strace");
    let (mut told, edits) = (0, [("a", "append"), ("d", "delete"), ("e/f", "delete"), ("g", "move_to")]);
    for error in ["EIO", "EPERM", "EBUSY"] {
        for when in [":when=1", ":when=2", ":when=3", ":when=4", ":when=5", ":when=6", ""] {
            let folder = Folder::new();
            for name in ["a", "d/x", "d/in/y", "e/f", "g/h"] {
                put(&folder, name, "text\n");
            }
            let before = tree(&folder);
            let inject = format!("unlinkat:error={error}{when}");
            let Some(faulty) = with_injected(&command(&folder, "stdio", &["--tools=agent"]), &inject) else {
                return;
            };
            let server = Stdio::run(faulty).ready();
            let edits = edits.map(|(path, kind)| match kind {
                "append" => json!({ "path": path, "append": "more\n" }),
                "delete" => json!({ "path": path, "delete": true, "recursive": true }),
                _ => json!({ "path": path, "move_to": "moved" }),
            });
            let answer = server.ok("edit", json!({ "edits": edits }));
            let (hidden, after): (Vec<_>, Vec<_>) = tree(&folder).into_iter().partition(is_hidden);
            let paths: Vec<&str> = after.iter().map(|(path, _)| &**path).collect();
            assert_eq!(paths, ["a", "moved/h"], "{inject}: {answer}");
            let is_told = answer.contains("stay under hidden names: ");
            if !hidden.is_empty() {
                assert!(is_told && answer.ends_with("; a later call removes them]"), "{inject}: {answer}");
                told += 1;
            }
            drop(server);
            let next = serve(&folder, &[]);
            assert_eq!(tree(&folder), after, "{inject}: {answer}");
            assert!(next.ok("changes", json!({ "since": "1h" })).starts_with("1 change "), "{inject}");
            next.ok("undo", json!({ "change": id(&answer) }));
            assert_eq!(tree(&folder), before, "{inject}");
        }
    }
    assert!(told >= 12, "{told}");
}

#[test]
fn without_a_journal_nobody_is_said_to_remove_what_could_not_be_removed() {
    not_under_wine!("has system calls fail or wait with strace");
    let folder = Folder::new();
    ["a", "d/x"].iter().for_each(|name| put(&folder, name, "text\n"));
    let command = command(&folder, "stdio", &["--tools=agent", "--journal=off"]);
    let Some(faulty) = with_injected(&command, "unlinkat:error=EPERM") else { return };
    let server = Stdio::run(faulty).ready();
    let edits = json!([{ "path": "a", "append": "x" }, { "path": "d", "delete": true, "recursive": true }]);
    let answer = server.ok("edit", json!({ "edits": edits }));
    assert!(answer.ends_with("; remove them by another program]"), "{answer}");
}

#[test]
fn a_repair_waits_for_a_file_that_another_program_has_locked_though_another_one_cannot_be_locked() {
    not_under_wine!("has the server killed with strace");
    let names = ["a", "b", "c", "d", "e", "locked"];
    // The first look is that of the start at the folder, and the last ones are those at the locked file.
    for nth in 2..=6 {
        let folder = Folder::new();
        names.iter().for_each(|name| put(&folder, name, "old\n"));
        let texts = || names.map(|name| folder.text(name));
        let command = command(&folder, "stdio", &["--tools=agent"]);
        let Some(killed) = with_injected(&command, "renameat:signal=KILL:when=2") else { return };
        let server = Stdio::run(killed);
        let edits = names.map(|path| json!({ "path": path, "old": "old", "new": "new" }));
        server.send(&call(1, "edit", json!({ "edits": edits })));
        server.wait(PATIENCE);
        let half = texts();
        assert_eq!((&*half[0], &*half[1]), ("new\n", "old\n"), "in the middle");
        let locked = lock(&folder, "locked");
        let refused = format!("faccessat2:error=EACCES:when={nth}");
        let Some(next) = with_injected(&command, &refused) else { return };
        let next = Stdio::run(next).ready();
        assert_eq!(texts(), half, "while the file is locked: {refused}");
        drop((next, locked));
        drop(serve(&folder, &[]));
        assert_eq!(texts(), ["old\n"; 6], "{refused}");
    }
}
