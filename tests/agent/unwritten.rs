//! A journal that cannot be written, or is not there: what is told of changes that it lacks, and what works all the same.

use std::fs::{create_dir, remove_dir, rename};

use serde_json::json;

use super::{edit, id, serve};
use crate::support::{Folder, Mcp, Stdio};
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
