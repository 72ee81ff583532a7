//! Changes that the journal has no more: removed to make room, or with a record that is damaged.

use std::path::PathBuf;

use serde_json::json;

use super::{id, serve};
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::put;

/// A server with a small journal in a folder of its own.
fn with_small_journal(folder: &Folder) -> Stdio {
    serve(folder, &[&format!("--journal={}", folder.outside("journal").display()), "--journal-size=1"])
}

/// The file of a change.
fn record(folder: &Folder, id: &str) -> PathBuf {
    let name = format!("{:012}", id[1..].parse::<u64>().expect("a number"));
    let served = std::fs::read_dir(folder.outside("journal")).expect("the journal");
    let paths = served.map(|entry| entry.expect("an entry").path().join("done").join(&name));
    paths.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("no record of {id}"))
}

#[test]
fn a_change_that_was_removed_to_make_room_is_told_from_one_that_never_was() {
    let folder = Folder::new();
    let server = with_small_journal(&folder);
    let text = |n: usize| format!("{n}{}\n", "x".repeat(150_000));
    let ids: Vec<String> =
        (0..10).map(|n| id(&server.ok("edit", json!({ "path": "a", "content": text(n) })))).collect();
    let is_gone = |id: &String| {
        let answer = server.tool("undo", json!({ "change": id, "dry_run": true }));
        answer.text.contains("in the journal any more")
    };
    let kept = ids.iter().position(|id| !is_gone(id));
    let kept = kept.expect("the last ones are kept");
    assert!(kept > 1, "the journal is small");
    let (first, oldest) = (&ids[0], &ids[kept]);
    let gone = format!(
        "{first} is not in the journal any more: the oldest that it has is {oldest}, earlier ones were removed"
    );
    for (tool, arguments) in [("undo", json!({ "change": first })), ("changes", json!({ "change": first }))] {
        let answer = server.tool(tool, arguments);
        assert!(answer.is_error && answer.text.contains(&gone), "{}", answer.text);
    }
    for tool in ["undo", "changes"] {
        let never = server.tool(tool, json!({ "change": "c99" }));
        assert!(never.is_error && !never.text.contains("any more"), "{}", never.text);
    }
    let cut = format!("[Changes before {oldest} are not known any more");
    for since in [
        json!({ "since": first, "diff": false }),
        json!({ "diff": false }),
        json!({ "since": "1h", "diff": false }),
    ] {
        let told = server.ok("changes", since);
        assert!(told.contains(&cut), "{told}");
    }
    for since in [&ids[kept - 1], oldest] {
        let told = server.ok("changes", json!({ "since": since, "diff": false }));
        assert!(!told.contains("not known any more"), "{told}");
    }
    let all = serve(&folder, &[]);
    all.ok("edit", json!({ "path": "a", "content": "y" }));
    assert!(
        !all.ok("changes", json!({ "since": "c0", "diff": false })).contains("any more"),
        "nothing was removed"
    );
}

#[test]
fn what_a_damaged_change_may_have_done_is_not_said_to_be_of_another_program() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    put(&folder, "b", "1\n");
    let server = with_small_journal(&folder);
    let change =
        |old: &str, new: &str| id(&server.ok("edit", json!({ "path": "a", "old": old, "new": new })));
    let (first, second) = (change("2", "two"), change("two", "zwei"));
    std::fs::write(record(&folder, &second), "file-editor change 2\nx").expect("a damaged record");
    let told = server.ok("changes", json!({ "path": "a", "diff": false }));
    let whose = format!("by another program or by {second}, whose record is damaged");
    assert!(told.contains(&format!("a: by {first}, {whose}")), "{told}");
    let refused = server.tool("undo", json!({ "change": first }));
    assert!(refused.text.contains(&format!("were changed since {whose}")), "{}", refused.text);
    for tool in ["undo", "changes"] {
        let lost = server.tool(tool, json!({ "change": second }));
        assert!(lost.is_error && lost.text.contains("is damaged, so that nothing is known"), "{}", lost.text);
    }
    // Without an id, the one before it is taken back, and the answer says so.
    put(&folder, "a", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n");
    let undone = server.ok("undo", json!({}));
    assert!(undone.contains(&format!("[{second} came later, but its record is damaged")), "{undone}");
    let later = id(&server.ok("edit", json!({ "path": "b", "append": "2\n" })));
    put(&folder, "b", "3\n");
    let told = server.ok("changes", json!({ "path": "b", "diff": false }));
    assert!(
        told.contains(&format!("b: by {later}, by another program")) && !told.contains("damaged"),
        "{told}"
    );
}
