//! Calls that are wrong or unusually large, and journals in unusual places: a clear answer, and nothing is lost.

use serde_json::json;

use super::{edit, id, refused, serve};
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
fn places_for_which_there_is_never_memory_are_not_told_to_be_tried_again() {
    let folder = Folder::new();
    put(&folder, "a", "x\n".repeat(60_000));
    put(&folder, "b", "x\n".repeat(60_000));
    put(&folder, "latin", b"caf\xE9 x\n".repeat(300_000));
    let server = serve(&folder, &["--max-size=1"]);
    for path in [".", "latin"] {
        let answer = server.tool("replace", json!({ "pattern": "x", "replacement": "y", "path": path }));
        let told = "pattern: its places need more memory than the 8 MB for all changes; replace in parts";
        assert!(answer.is_error && answer.text.contains(told), "{}", answer.text);
        assert!(!answer.text.contains("in a moment"), "{}", answer.text);
    }
    server.ok("replace", json!({ "pattern": "x", "replacement": "y", "path": "a" }));
}

#[test]
fn too_many_places_of_a_text_are_told_with_the_place_of_the_edit() {
    let folder = Folder::new();
    put(&folder, "a", "xx\n".repeat(500_001));
    let server = serve(&folder, &[]);
    let edits = json!([{ "path": "b", "content": "" }, { "path": "a", "old": "x", "new": "y", "all": true }]);
    let text = refused(&server, &folder, edits);
    assert!(text.contains("edits[1]: it makes more than 1,000,000 replacements"), "{text}");
}

#[test]
fn in_a_folder_that_the_same_call_moves_no_name_gets_a_twin() {
    let (composed, decomposed) = ("caf\u{e9}.txt", "cafe\u{301}.txt");
    let folder = Folder::new();
    put(&folder, &format!("n/{decomposed}"), "one\n");
    put(&folder, "n/unseen\u{200b}.txt", "two\n");
    let server = serve(&folder, &[]);
    let moved = json!({ "path": "n", "move_to": "m" });
    edit(&server, json!([moved, { "path": format!("m/{composed}"), "content": "1\n" }]));
    assert_eq!(folder.text(&format!("m/{decomposed}")), "1\n");
    let back = json!({ "path": "m", "move_to": "n" });
    edit(&server, json!([back, { "path": format!("n/{composed}"), "move_to": "n/x" }]));
    assert_eq!(folder.text("n/x"), "1\n");
    let text = refused(&server, &folder, json!([moved, { "path": "m/unseen.txt", "content": "2\n" }]));
    assert!(text.contains("an entry is there whose name looks the same"), "{text}");
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
