//! `undo` of parts: of one file or folder of a change, and what is left of it; and what refusals say to do next.

use serde_json::json;

use super::{id, serve};
use crate::support::{Folder, Mcp};
use crate::trees::put;

#[test]
fn without_a_change_the_last_one_of_which_something_is_left_is_taken_back() {
    let folder = Folder::new();
    ["a", "b", "c"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    let append = |names: &[&str]| {
        let edits: Vec<_> = names.iter().map(|name| json!({ "path": name, "append": "2\n" })).collect();
        id(&server.ok("edit", json!({ "edits": edits })))
    };
    let (first, second) = (append(&["c"]), append(&["a", "b"]));
    let part = server.ok("undo", json!({ "path": "a" }));
    assert!(part.starts_with(&format!("Undone: {second}. ")), "{part}");
    assert_eq!((folder.text("a"), folder.text("b")), ("1\n".into(), "1\n2\n".into()));
    let other = server.ok("undo", json!({ "path": "c" }));
    assert!(other.starts_with(&format!("Undone: {first}. ")), "the last that changed it: {other}");
    let rest = server.ok("undo", json!({}));
    assert!(rest.starts_with(&format!("Undone: {second}. ")), "{rest}");
    assert_eq!((folder.text("b"), folder.text("c")), ("1\n".into(), "1\n".into()));
    let none = server.tool("undo", json!({}));
    assert!(none.is_error && none.text.contains("has made no change that is not undone"), "{}", none.text);
    let again = server.ok("undo", json!({ "change": id(&part) }));
    assert!(again.contains("\na:2: 2"), "{again}");
    let none = server.tool("undo", json!({ "path": "b" }));
    assert!(none.is_error && none.text.contains("did nothing that is left to undo there"), "{}", none.text);
    let rest = server.ok("undo", json!({}));
    assert!(rest.starts_with(&format!("Undone: {second}. ")), "what was done again is left again: {rest}");
}

#[test]
fn a_refusal_says_what_is_in_the_way_and_what_to_do() {
    let folder = Folder::new();
    ["a", "b", "d/x", "e"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    let moved = id(&server.ok(
        "edit",
        json!({ "edits": [{ "path": "a", "move_to": "n/a" }, { "path": "b", "append": "2\n" }] }),
    ));
    let deleted = id(&server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true })));
    let edited = id(&server.ok("edit", json!({ "path": "e", "append": "2\n" })));
    put(&folder, "a", "theirs\n");
    put(&folder, "d/x", "theirs\n");
    std::fs::remove_file(folder.path().join("e")).expect("a file to remove");
    for (change, parts) in [
        (&moved, ["a: ", "something else has this name since, and stays; move that away"]),
        (&deleted, ["d/x: ", "something else has this name since, and stays; move that away"]),
        (&edited, ["e: ", "another program has deleted or moved it since"]),
    ] {
        let refused = server.tool("undo", json!({ "change": change }));
        assert!(refused.is_error && parts.iter().all(|part| refused.text.contains(part)), "{}", refused.text);
    }
    let refused = server.tool("undo", json!({ "change": moved }));
    let alone = format!("; b can be undone alone: undo {{\"change\":\"{moved}\",\"path\":\"b\"}}");
    assert!(refused.text.ends_with(&alone), "{}", refused.text);
    let way_on = server.ok("undo", json!({ "change": moved, "path": "b" }));
    assert!(way_on.contains("Changed 1 place in 1 file"), "{way_on}");
    assert_eq!((folder.text("a"), folder.text("d/x")), ("theirs\n".into(), "theirs\n".into()));
}

#[test]
fn a_change_that_cannot_be_undone_is_in_the_way_only_where_it_did_something() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    put(&folder, "d/big", vec![0; 900_000]);
    put(&folder, "d/x", "1\n");
    let server = serve(&folder, &["--journal-size=1"]);
    let append = |name: &str| id(&server.ok("edit", json!({ "path": name, "append": "2\n" })));
    let (first, below) = (append("a"), append("d/x"));
    let told = server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true }));
    assert!(told.contains("[It cannot be undone: it is too large for the journal"), "{told}");
    for path in ["d", "d/big", "d/x"] {
        let refused = server.tool("undo", json!({ "path": path }));
        let why = "change: c3 cannot be taken back: it is too large for the journal";
        assert!(refused.is_error && refused.text.contains(why), "{path}: {}", refused.text);
        let none = "edit the files instead; no earlier change of this session can be undone there";
        assert!(refused.text.ends_with(none), "{path}: {}", refused.text);
    }
    let refused = server.tool("undo", json!({}));
    let way_on = format!(", or take back {first}, which came before: undo {{\"change\":\"{first}\"}}");
    assert!(refused.is_error && refused.text.ends_with(&way_on), "{below} is gone: {}", refused.text);
    let undone = server.ok("undo", json!({ "path": "a" }));
    assert!(undone.starts_with(&format!("Undone: {first}. ")), "{undone}");
    assert_eq!(folder.text("a"), "1\n");
    let refused = server.tool("undo", json!({ "change": "c3" }));
    assert!(refused.text.ends_with("edit the files instead"), "{}", refused.text);
}

#[test]
fn behind_a_change_that_cannot_be_undone_the_refusal_says_that_nothing_else_can() {
    let folder = Folder::new();
    put(&folder, "big", vec![0; 900_000]);
    let server = serve(&folder, &["--journal-size=1"]);
    let told = server.tool("undo", json!({}));
    assert!(told.text.ends_with("the journal is empty: nothing can be undone"), "{}", told.text);
    server.ok("edit", json!({ "path": "big", "delete": true }));
    let refused = server.tool("undo", json!({}));
    let none = "edit the files instead; no earlier change of this session can be undone";
    assert!(refused.is_error && refused.text.ends_with(none), "{}", refused.text);
}

#[test]
fn each_file_that_is_in_the_way_is_told_in_a_line() {
    let folder = Folder::new();
    ["a", "b", "c"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    let edits: Vec<_> =
        ["a", "b", "c"].iter().map(|path| json!({ "path": path, "old": "1", "new": "2" })).collect();
    server.ok("edit", json!({ "edits": edits }));
    ["a", "b"].iter().for_each(|name| put(&folder, name, "theirs\n"));
    let refused = server.tool("undo", json!({})).text;
    let lines: Vec<&str> = refused.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].contains(" a: its lines") && lines[1].starts_with("b: its lines"),
        "{refused}"
    );
    assert!(
        lines[1].ends_with("; c can be undone alone: undo {\"change\":\"c1\",\"path\":\"c\"}"),
        "{refused}"
    );
}

#[test]
fn a_link_that_comes_back_is_told() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    std::os::unix::fs::symlink("a", folder.path().join("l")).expect("a link");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "l", "delete": true }));
    let told = server.ok("undo", json!({}));
    assert!(
        told.starts_with("Undone: c1. Changed names: 1 linked") && told.ends_with("\nl: link to a"),
        "{told}"
    );
}

#[test]
fn a_path_through_a_link_names_what_is_behind_it() {
    let folder = Folder::new();
    put(&folder, "d/x", "1\n");
    std::os::unix::fs::symlink("d", folder.path().join("l")).expect("a link");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "d/x", "append": "2\n" }));
    for path in ["l/x", "l"] {
        let told = server.ok("changes", json!({ "path": path }));
        assert!(told.contains("\nd/x: by c1"), "{path}: {told}");
    }
    assert!(server.ok("undo", json!({ "path": "l/x" })).starts_with("Undone: c1. "));
    assert_eq!(folder.text("d/x"), "1\n");
}

#[test]
fn a_folder_of_two_changes_goes_with_the_last_of_what_is_in_it() {
    let folder = Folder::new();
    put(&folder, "x", "1\n");
    let server = serve(&folder, &[]);
    let first = id(&server.ok("edit", json!({ "path": "d/e/a", "content": "1\n" })));
    let second = id(&server.ok("edit", json!({ "path": "d/e/b", "content": "1\n" })));
    let one = id(&server.ok("undo", json!({ "change": first })));
    assert!(folder.path().join("d/e/b").exists());
    let both = server.ok("undo", json!({ "change": second }));
    assert!(!folder.path().join("d").exists(), "{both}");
    // Also where it was moved meanwhile, and both can be done again.
    server.ok("undo", json!({ "change": id(&both) }));
    server.ok("undo", json!({ "change": one }));
    assert!(["a", "b"].iter().all(|name| folder.path().join("d/e").join(name).exists()));
    server.ok("edit", json!({ "path": "d", "move_to": "m" }));
    server.ok("undo", json!({ "change": first }));
    let both = server.ok("undo", json!({ "change": second }));
    assert!(!folder.path().join("m").exists(), "{both}");
    // One in which something else is stays.
    server.ok("undo", json!({ "change": id(&both) }));
    put(&folder, "m/mine", "1\n");
    server.ok("undo", json!({ "change": second }));
    assert!(folder.path().join("m/mine").exists() && !folder.path().join("m/e").exists());
}

#[test]
fn a_path_that_nobody_knows_is_not_found_and_no_other_call_is_named_for_it() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "a", "append": "2\n" }));
    let none = server.tool("undo", json!({ "path": "b" }));
    assert!(
        none.is_error && none.text.contains("'b' not found") && !none.text.contains("changes"),
        "{}",
        none.text
    );
}
