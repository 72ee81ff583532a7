//! A journal that cannot be written, or is not there: what is told of changes that it lacks, and what works all the same.

use std::fs::{create_dir, remove_dir, rename};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::{edit, id, serve};
use crate::support::{Folder, Mcp, Stdio, as_nobody, bare_command, command, run_command_to_end};
use crate::trees::put;

/// Puts something in the place of a file that each change writes.
fn block(folder: &Folder) {
    let last = folder.outside("journal/last");
    rename(&last, folder.outside("last")).expect("the last number");
    create_dir(&last).expect("a folder");
}

/// Puts the file back.
fn unblock(folder: &Folder) {
    let last = folder.outside("journal/last");
    remove_dir(&last).expect("the folder in the way");
    rename(folder.outside("last"), &last).expect("the last number");
}

/// A server whose journal is in a folder of its own.
fn with_journal(folder: &Folder) -> Stdio {
    serve(folder, &[&format!("--journal={}", folder.outside("journal").display())])
}

#[test]
fn without_an_id_undo_passes_over_no_change_that_the_journal_lacks() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    put(&folder, "b", "1\n");
    let server = with_journal(&folder);
    let first = id(&server.ok("edit", json!({ "path": "a", "append": "2\n" })));
    block(&folder);
    let made = server.ok("edit", json!({ "path": "b", "append": "2\n" }));
    assert!(made.contains("[It cannot be undone: the journal could not be written: "), "{made}");
    let refused = server.tool("undo", json!({}));
    assert!(refused.is_error, "{}", refused.text);
    let back = format!("take back {first}, which came before: undo {{\"change\":\"{first}\"}}");
    for part in ["the last change of this session, of b, is not in the journal", "cannot be undone", &back] {
        assert!(refused.text.contains(part), "{part}: {}", refused.text);
    }
    assert_eq!((folder.text("a"), folder.text("b")), ("1\n2\n".into(), "1\n2\n".into()));
    let listed = server.ok("changes", json!({}));
    assert!(
        listed.contains(
            "[1 change of yours not in the journal, which could not be written; the last one is of b]"
        ),
        "{listed}"
    );
    unblock(&folder);
    // A later one is the last one, and then the one that is lacking again.
    server.ok("edit", json!({ "path": "a", "append": "3\n" }));
    server.ok("undo", json!({}));
    assert_eq!(folder.text("a"), "1\n2\n");
    assert!(server.tool("undo", json!({})).text.contains("of b, is not in the journal"));
    // At another path, it is not in the way.
    assert!(server.tool("undo", json!({ "path": "b" })).is_error);
    server.ok("undo", json!({ "path": "a" }));
    assert_eq!((folder.text("a"), folder.text("b")), ("1\n".into(), "1\n2\n".into()));
}

#[test]
fn a_session_whose_only_change_is_not_in_the_journal_has_made_one() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let file = folder.outside("no-folder");
    std::fs::write(&file, "").expect("a file");
    let server = serve(&folder, &[&format!("--journal={}", file.display())]);
    let edits = json!([{ "path": "a", "move_to": "d/b" }, { "path": "c", "content": "x" }]);
    edit(&server, edits);
    let refused = server.tool("undo", json!({}));
    assert!(
        refused.text.contains("of d/b, a, c, is not in the journal")
            && refused.text.contains("no earlier change of this session can be undone"),
        "{}",
        refused.text
    );
    assert!(server.tool("undo", json!({ "path": "e" })).text.contains("has made no change"));
}

#[test]
fn a_journal_that_is_removed_is_made_again_by_the_next_change() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let server = with_journal(&folder);
    let first = id(&server.ok("edit", json!({ "path": "a", "append": "2\n" })));
    for text in ["1\n2\n3\n", "1\n2\n3\n4\n"] {
        std::fs::remove_dir_all(folder.outside("journal")).expect("the journal");
        assert_eq!(server.ok("changes", json!({})), "Nothing has changed.");
        let none = server.tool("undo", json!({}));
        assert!(none.is_error && none.text.contains("the journal is empty"), "{}", none.text);
        let change = id(&server.ok("edit", json!({ "path": "a", "append": &text[text.len() - 2..] })));
        assert_ne!(change, first, "no number is given twice");
        assert!(server.ok("undo", json!({})).starts_with(&format!("Undone: {change}.")));
        server.ok("edit", json!({ "path": "a", "content": text }));
    }
}

#[test]
fn a_journal_that_cannot_be_written_is_read() {
    not_under_wine!("counts on modes");
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let journal = folder.path().join("journal");
    let flags = ["--tools=agent".to_owned(), format!("--journal={}", journal.display())];
    let flags = [&*flags[0], &*flags[1]];
    let server = Stdio::run(as_nobody(command(&folder, "stdio", &flags), &folder)).ready();
    let change = id(&server.ok("edit", json!({ "path": "a", "append": "2\n" })));
    drop(server);
    set_modes(&journal, 0o500, 0o400);
    let server = Stdio::run(as_nobody(command(&folder, "stdio", &flags), &folder)).ready();
    let listed = server.ok("changes", json!({ "since": "c0" }));
    assert!(listed.contains(&format!("{change} ")) && listed.contains("+2"), "{listed}");
    let dry = server.ok("undo", json!({ "change": change, "dry_run": true }));
    assert!(dry.starts_with(&format!("Would undo: {change}.")), "{dry}");
    let made = server.ok("edit", json!({ "path": "a", "append": "3\n" }));
    assert!(made.contains("[It cannot be undone: the journal could not be written: "), "{made}");
    let refused = server.tool("undo", json!({ "change": change }));
    assert!(refused.is_error && refused.text.contains("the journal cannot be written"), "{}", refused.text);
    let mut log = as_nobody(bare_command(), &folder);
    log.arg("log").arg(flags[1]).current_dir(folder.path());
    let told = run_command_to_end(log);
    assert!(told.stdout.contains(&format!("{change}  ")), "{} {}", told.stdout, told.stderr);
    set_modes(&journal, 0o700, 0o600);
    assert!(server.ok("edit", json!({ "path": "a", "append": "4\n" })).contains("(change c"));
}

/// Gives the folders and the files below a path these modes.
fn set_modes(path: &Path, of_folders: u32, of_files: u32) {
    let set = |mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
    if !path.is_dir() {
        return set(of_files);
    }
    set(0o700);
    for entry in std::fs::read_dir(path).expect("the folder") {
        set_modes(&entry.expect("an entry").path(), of_folders, of_files);
    }
    set(of_folders);
}
