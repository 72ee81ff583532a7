//! `undo`: changes are taken back, and done again; also by another server, and beside what others changed since.

use rustix::process::Signal;
use serde_json::json;

use super::{edit, id, serve, without_id};
use crate::support::{Folder, Mcp, PATIENCE, Stdio, call, command, until, with_injected};
use crate::trees::{make, put};

#[test]
fn the_last_change_is_taken_back_then_the_one_before_and_both_can_be_done_again() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n");
    let start = texts(&folder);
    let server = serve(&folder, &[]);
    let first =
        id(&server.ok("edit", json!({ "path": "a", "old": "2", "new": "two", "message": "spell out" })));
    let middle = texts(&folder);
    let edits = json!([{ "path": "a", "move_to": "d/b" }, { "path": "new", "content": "x" }]);
    let second = id(&server.ok("edit", json!({ "edits": edits })));
    let end = texts(&folder);
    let undone = server.ok("undo", json!({}));
    assert_eq!(
        without_id(&undone).lines().next(),
        Some(&*format!("Undone: {second}. Changed names: 1 moved, 2 deleted"))
    );
    assert_eq!(texts(&folder), middle);
    let before = server.ok("undo", json!({}));
    assert!(before.starts_with(&format!("Undone: {first}. Changed 1 place in 1 file (change ")), "{before}");
    assert_eq!(texts(&folder), start);
    let none = server.tool("undo", json!({}));
    assert!(none.is_error && none.text.contains("has made no change that is not undone"), "{}", none.text);
    server.ok("undo", json!({ "change": id(&before) }));
    server.ok("undo", json!({ "change": id(&undone) }));
    assert_eq!(texts(&folder), end);
    let again = server.tool("undo", json!({ "change": id(&undone) }));
    assert!(again.is_error && again.text.contains("taken back already, by c"), "{}", again.text);
}

#[test]
fn another_server_takes_back_what_one_has_done_and_only_by_its_id() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let start = texts(&folder);
    let change = id(&serve(&folder, &[]).ok("edit", json!({ "path": "a", "append": "2\n" })));
    let other = serve(&folder, &[]);
    assert!(other.tool("undo", json!({})).is_error, "it is no change of this session");
    let dry = other.ok("undo", json!({ "change": change, "dry_run": true }));
    assert!(dry.starts_with(&format!("Would undo: {change}. Would change 1 place in 1 file")), "{dry}");
    assert_ne!(texts(&folder), start);
    other.ok("undo", json!({ "change": change }));
    assert_eq!(texts(&folder), start);
}

#[test]
fn what_was_changed_in_other_lines_since_stays_and_the_same_lines_are_a_refusal() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n4\n5\n6\n");
    put(&folder, "b", "x\n");
    let server = serve(&folder, &[]);
    let edits = json!([{ "path": "a", "old": "2", "new": "two" }, { "path": "b", "old": "x", "new": "y" }]);
    let change = id(&server.ok("edit", json!({ "edits": edits })));
    put(&folder, "a", "1\ntwo\n3\n4\n5\nsix\n");
    put(&folder, "b", "z\n");
    let refused = server.tool("undo", json!({ "change": change }));
    assert!(refused.is_error, "{}", refused.text);
    for part in ["b: its lines were changed since by another program", "\"y\"", "\"x\"", "\"z\\n\" now"] {
        assert!(refused.text.contains(part), "{part}: {}", refused.text);
    }
    assert_eq!(folder.text("a"), "1\ntwo\n3\n4\n5\nsix\n", "all or nothing");
    server.ok("undo", json!({ "change": change, "path": "a" }));
    assert_eq!((folder.text("a"), folder.text("b")), ("1\n2\n3\n4\n5\nsix\n".into(), "z\n".into()));
}

#[test]
fn without_a_journal_or_where_it_cannot_be_written_changes_are_made_and_the_answer_says_so() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let off = serve(&folder, &["--journal=off"]);
    assert_eq!(off.ok("edit", json!({ "path": "a", "append": "2\n" })), "Changed 1 place in 1 file\na:2: 2");
    let refused = off.tool("undo", json!({}));
    assert!(refused.is_error && refused.text.contains("no journal"), "{}", refused.text);
    drop(off);
    let file = folder.outside("no-folder");
    std::fs::write(&file, "").expect("a file");
    let broken = serve(&folder, &[&format!("--journal={}", file.display())]);
    let text = broken.ok("edit", json!({ "path": "a", "append": "3\n" }));
    assert!(text.contains("[It cannot be undone: the journal could not be written: "), "{text}");
    assert_eq!(folder.text("a"), "1\n2\n3\n");
}

#[test]
fn a_journal_in_the_served_folder_is_seen_by_no_tool() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    make(&folder, "state");
    let journal = format!("--journal={}", folder.path().join("state/journal").display());
    let server = Stdio::start(&folder, &[&journal, "--tools=agent,filesystem"]).ready();
    edit(&server, json!({ "path": "a", "append": "2\n" }));
    assert!(folder.path().join("state/journal").is_dir());
    assert!(!server.ok("directory_tree", json!({ "path": "." })).contains("journal"));
    for tool in ["list_directory", "get_file_info", "read_text_file"] {
        let answer = server.tool(tool, json!({ "path": "state/journal" }));
        assert!(answer.is_error && !answer.text.contains("done"), "{tool}: {}", answer.text);
    }
    let refused = server.tool("edit", json!({ "path": "state", "delete": true, "recursive": true }));
    assert!(refused.is_error, "{}", refused.text);
    server.ok("undo", json!({}));
    assert_eq!(folder.text("a"), "1\n");
}

#[test]
fn what_a_killed_server_had_begun_is_taken_back_or_complete() {
    let folder = Folder::new();
    let names: Vec<String> = (0..200).map(|n| format!("d{}/f{n}", n % 7)).collect();
    names.iter().for_each(|name| put(&folder, name, "old\n"));
    let edits: Vec<_> =
        names.iter().map(|name| json!({ "path": name, "old": "old", "new": "new" })).collect();
    for round in 0..4 {
        let server = serve(&folder, &[]);
        server.send(&call(1, "edit", json!({ "edits": edits })));
        // In the middle of its work, at a place that chance finds.
        until("temporary files or new ones", || {
            let changed = names.iter().filter(|name| folder.text(name) == "new\n").count();
            changed > round * 40
        });
        server.signal(Signal::KILL);
        server.close_stdin();
        server.wait(PATIENCE);
        let next = serve(&folder, &[]);
        let changed = names.iter().filter(|name| folder.text(name) == "new\n").count();
        assert!([0, names.len()].contains(&changed), "{changed} of {}", names.len());
        if changed > 0 {
            let undone = next.tool("undo", json!({ "change": format!("c{}", last(&next)) }));
            assert!(!undone.is_error, "{}", undone.text);
        }
        assert!(names.iter().all(|name| folder.text(name) == "old\n"));
    }
}

#[test]
fn what_is_repaired_at_a_start_is_in_the_log() {
    not_under_wine!("has the server killed with strace");
    let folder = Folder::new();
    ["a", "b"].iter().for_each(|name| put(&folder, name, "old\n"));
    let command = command(&folder, "stdio", &["--tools=agent"]);
    let Some(killed) = with_injected(&command, "renameat:signal=KILL:when=2") else { return };
    let server = Stdio::run(killed);
    let edits = ["a", "b"].map(|path| json!({ "path": path, "old": "old", "new": "new" }));
    server.send(&call(1, "edit", json!({ "edits": edits })));
    server.wait(PATIENCE);
    assert_eq!((folder.text("a"), folder.text("b")), ("new\n".into(), "old\n".into()), "in the middle");
    let next = serve(&folder, &[]);
    let log = next.stderr();
    assert!(log.contains("took back an unfinished change"), "{log}");
    assert_eq!((folder.text("a"), folder.text("b")), ("old\n".into(), "old\n".into()));
}

/// The texts of all files, by their paths.
fn texts(folder: &Folder) -> Vec<(String, Option<Vec<u8>>)> {
    folder.snapshot().into_iter().map(|(path, entry)| (path, entry.bytes)).collect()
}

/// The number of the last change.
fn last(server: &Stdio) -> u64 {
    let number = |id: String| id[1..].parse::<u64>().expect("a number");
    number(id(&server.ok("edit", json!({ "path": "marker", "append": "x\n" })))) - 1
}

#[test]
fn a_change_that_was_taken_back_in_parts_is_not_the_last_one_any_more() {
    for parts in [["d", "e"], ["e", "d"]] {
        let folder = Folder::new();
        put(&folder, "a", "1\n");
        put(&folder, "d/c.txt", "1\n2\n3\n");
        let server = serve(&folder, &[]);
        server.ok("edit", json!({ "path": "a", "old": "1", "new": "one" }));
        let edits = json!([{ "path": "d", "move_to": "e" }, { "path": "e/c.txt", "old": "2", "new": "two" }]);
        let change = id(&server.ok("edit", json!({ "edits": edits })));
        for part in parts {
            server.tool("undo", json!({ "change": change, "path": part }));
        }
        assert_eq!(folder.text("d/c.txt"), "1\n2\n3\n", "{parts:?}");
        let answer = server.ok("undo", json!({}));
        assert!(answer.starts_with("Undone: c1."), "{parts:?}: {answer}");
        assert_eq!(
            (folder.text("a"), folder.text("d/c.txt")),
            ("1\n".into(), "1\n2\n3\n".into()),
            "{parts:?}"
        );
    }
}

#[test]
fn a_change_is_done_again_also_where_its_folder_is_there_again_and_a_foreign_entry_stays() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "a", "move_to": "g/a" }));
    let undone = id(&server.ok("undo", json!({})));
    put(&folder, "g/z", "z\n");
    server.ok("undo", json!({ "change": undone }));
    assert_eq!((folder.text("g/a"), folder.text("g/z")), ("1\n".into(), "z\n".into()));
    let deleted = id(&server.ok("edit", json!({ "path": "g/a", "delete": true })));
    put(&folder, "g/a", "another\n");
    let refused = server.tool("undo", json!({ "change": deleted }));
    assert!(refused.is_error && refused.text.contains("move that away"), "{}", refused.text);
    assert_eq!(folder.text("g/a"), "another\n");
}

#[test]
fn undos_without_an_id_that_are_sent_at_once_take_back_one_change_each() {
    let folder = Folder::new();
    put(&folder, "a", "0\n");
    let server = serve(&folder, &[]);
    for number in 1..=11 {
        server.ok("edit", json!({ "path": "a", "content": format!("{number}\n") }));
    }
    let ids = [(); 10].map(|()| server.next_id());
    ids.into_iter().for_each(|id| server.send(&call(id, "undo", json!({}))));
    for id in ids {
        let answer = server.answer_to(&json!(id));
        assert!(!answer["result"]["isError"].as_bool().unwrap_or(false), "{answer}");
    }
    assert_eq!(folder.text("a"), "1\n");
}

#[test]
fn lines_that_were_put_in_are_taken_back_whatever_others_changed_in_the_lines_beside_the_next() {
    let folder = Folder::new();
    put(&folder, "a", "1\n\n2\n3\n4\n");
    let server = serve(&folder, &[]);
    // The line 2 stays: it is put in anew, with two others behind it.
    let first = id(&server.ok("edit", json!({ "path": "a", "lines": "3", "new": "2\n\nx" })));
    server.ok("edit", json!({ "path": "a", "lines": "2", "new": "\ny\n" }));
    server.ok("undo", json!({ "change": first }));
    assert_eq!(folder.text("a"), "1\n\ny\n2\n3\n4\n");
    // A line that touches is a refusal, which shows that one, and not that nothing is different.
    let second = id(&server.ok("edit", json!({ "path": "a", "old": "3", "new": "three" })));
    server.ok("edit", json!({ "path": "a", "old": "4", "new": "four" }));
    let refused = server.tool("undo", json!({ "change": second }));
    let shown = "The change had put \"three\" in the place of \"3\"; with the lines around, from line 4 on, that is \"2\\nthree\\nfour\" now";
    assert!(refused.is_error && refused.text.contains(shown), "{}", refused.text);
    assert!(refused.text.contains("lines beside its own were changed since by c"), "{}", refused.text);
}

#[test]
fn a_file_that_is_as_a_change_left_it_is_taken_back_whatever_was_undone_and_done_again() {
    let folder = Folder::new();
    put(&folder, "a", "a beta x\nlast");
    let server = serve(&folder, &[]);
    let first = id(&server.ok("edit", json!({ "path": "a", "old": "beta", "new": "B" })));
    let second = id(&server.ok("edit", json!({ "path": "a", "append": "more\n" })));
    let undone = id(&server.ok("undo", json!({ "change": first })));
    let again = id(&server.ok("undo", json!({ "change": undone })));
    server.ok("undo", json!({ "change": second }));
    assert_eq!(folder.text("a"), "a B x\nlast");
    for dry in [
        json!({ "change": first, "dry_run": true }),
        json!({ "change": again, "dry_run": true }),
        json!({ "dry_run": true }),
    ] {
        let told = server.ok("undo", dry);
        assert!(told.starts_with("Would undo"), "{told}");
    }
    server.ok("undo", json!({}));
    assert_eq!(folder.text("a"), "a beta x\nlast");
}

#[test]
fn the_mark_of_a_file_is_no_text_of_its_first_line() {
    let folder = Folder::new();
    for text in ["1\n2\n3\n4\n", "\u{feff}1\n2\n3\n4\n"] {
        let mark = text.trim_end_matches(|character| character != '\u{feff}');
        for other in [format!("{mark}0\n1\ntwo\n3\n4\n"), format!("0\n{mark}1\ntwo\n3\n4\n")] {
            folder.write("a", text);
            let server = serve(&folder, &[]);
            server.ok("edit", json!({ "path": "a", "lines": "2", "new": "two\n" }));
            folder.write("a", &other);
            server.ok("undo", json!({}));
            assert_eq!(folder.text("a"), other.replace("two", "2"));
        }
    }
}
