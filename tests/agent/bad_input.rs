//! Calls that are wrong or unusually large, and journals in unusual places: a clear answer, and nothing is lost.

use serde_json::json;

use super::{id, refused, serve};
use crate::support::{Folder, Mcp, Stdio, named};
use crate::trees::{make, put};

#[test]
fn a_path_in_two_spellings_is_one_file() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\n");
    let server = serve(&folder, &[]);
    let absolute = named(&folder.path().join("a"));
    let edits = json!([
        { "path": "a", "old": "one", "new": "1" },
        { "path": "./a", "old": "two", "new": "2" },
        { "path": absolute, "append": "3\n" },
    ]);
    let id = id(&server.ok("edit", json!({ "edits": edits })));
    assert_eq!(folder.text("a"), "1\n2\n3\n");
    server.ok("undo", json!({ "change": id }));
    assert_eq!(folder.text("a"), "one\ntwo\n");
}

#[test]
fn ten_thousand_edits_are_too_many_for_a_call() {
    let folder = Folder::new();
    put(&folder, "a", "one\n");
    let server = serve(&folder, &[]);
    let edits = vec![json!({ "path": "a", "old": "one", "new": "two" }); 10_000];
    let text = refused(&server, &folder, json!(edits));
    assert!(text.contains("expected at most 1000 in one call"), "{text}");
}

#[test]
fn a_large_folder_is_deleted_and_comes_back() {
    const FOLDERS: usize = 30;
    const FILES: usize = 100;
    let folder = Folder::new();
    for number in 0..FOLDERS {
        make(&folder, &format!("big/{number}"));
        for file in 0..FILES {
            put(&folder, &format!("big/{number}/{file}"), file.to_string());
        }
    }
    let server = serve(&folder, &["--sync=none"]);
    server.ok("edit", json!({ "path": "big", "delete": true, "recursive": true }));
    assert!(!folder.path().join("big").exists());
    let again = id(&server.ok("undo", json!({})));
    for number in 0..FOLDERS {
        for file in 0..FILES {
            assert_eq!(folder.text(&format!("big/{number}/{file}")), file.to_string());
        }
    }
    server.ok("undo", json!({ "change": again }));
    assert!(!folder.path().join("big").exists());
}

#[test]
fn a_journal_on_another_file_system_is_one_like_others() {
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else {
        return println!("SKIPPED: there is no /dev/shm");
    };
    let folder = Folder::new();
    put(&folder, "a", "one\n");
    let journal = format!("--journal={}", other.path().join("journal").display());
    let first = serve(&folder, &[&journal]);
    first.ok(
        "edit",
        json!({ "edits": [{ "path": "a", "old": "one", "new": "1" }, { "path": "b", "content": "2" }] }),
    );
    assert!(first.close().success());
    let second: Stdio = serve(&folder, &[&journal]);
    second.ok("undo", json!({ "change": "c1" }));
    assert_eq!((folder.text("a"), folder.path().join("b").exists()), ("one\n".into(), false));
}
