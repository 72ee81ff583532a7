//! `changes`: what has changed, and who changed it.

use std::path::Path;

use journal::Change;
use serde_json::json;

use super::{id, serve};
use crate::support::{Folder, Mcp, Stdio, command, named};
use crate::trees::put;

/// An answer without the times in it.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| word.len() == 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    let line = |line: &str| line.split(' ').filter(|word| !is_time(word)).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn all_changes_of_a_file_are_one_diff_with_who_made_them_and_moves_are_followed() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    put(&folder, "gone", "x\n");
    let server = serve(&folder, &[]);
    assert_eq!(server.ok("changes", json!({})), "Nothing has changed.");
    let first =
        id(&server.ok("edit", json!({ "path": "a", "old": "2", "new": "two", "message": "spell out" })));
    let edits = json!([
        { "path": "a", "old": "two", "new": "TWO" },
        { "path": "a", "move_to": "d/b" },
        { "path": "new", "content": "n\n" },
        { "path": "gone", "delete": true },
    ]);
    let second = id(&server.ok("edit", json!({ "edits": edits })));
    let told = without_times(&server.ok("changes", json!({})));
    let expected = format!(
        "2 changes in 3 files\n{first} edit by you: spell out\n{second} edit by you\n\
         d/b: moved from a by {first}, {second}\n@@ -1,3 +1,3 @@\n 1\n-2\n+TWO\n 3\n\
         gone: deleted by {second}\nnew: new by {second}\n@@ -0,0 +1,1 @@\n+n"
    );
    assert_eq!(told, expected);
    let told = without_times(&server.ok("changes", json!({ "since": first, "path": "d", "diff": false })));
    assert_eq!(told, format!("1 change in 1 file\n{second} edit by you\nd/b: moved from a by {second}"));
}

#[test]
fn changes_of_other_sessions_and_other_programs_are_told_apart() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n");
    let mine = serve(&folder, &[]);
    let other = serve(&folder, &[]);
    let theirs = id(&other.ok("edit", json!({ "path": "a", "old": "1", "new": "one" })));
    put(&folder, "a", "one\n2\nTHREE\n");
    let told = without_times(&mine.ok("changes", json!({ "since": "1h" })));
    assert!(told.starts_with(&format!("1 change in 1 file\n{theirs} edit by ")), "{told}");
    assert!(
        !told.contains("by you") && told.contains(&format!("a: by {theirs}, by another program\n")),
        "{told}"
    );
    // What the other program has changed is not known from the journal.
    assert!(told.ends_with("\n-1\n+one\n 2"), "{told}");
    assert_eq!(mine.ok("changes", json!({ "by": "me", "since": "1d" })), "Nothing has changed.");
    let undone = id(&mine.ok("undo", json!({ "change": theirs })));
    let told = without_times(&mine.ok("changes", json!({ "by": "me" })));
    let expected = format!(
        "1 change in 1 file\n{undone} undo by you, of {theirs}\na: by {undone}, by another program\n@@ -1,2 +1,2 @@\n-one\n+1\n 2"
    );
    assert_eq!(told, expected);
}

#[test]
fn by_me_shows_only_my_lines_of_a_file_that_others_changed_too() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let (mine, other) = (serve(&folder, &[]), serve(&folder, &[]));
    let me = |arguments| without_times(&mine.ok("changes", arguments));
    other.ok("edit", json!({ "path": "a", "lines": "1", "new": "theirs\ntheirs\n1" }));
    let first = id(&mine.ok("edit", json!({ "path": "a", "old": "5", "new": "five" })));
    other.ok("edit", json!({ "path": "a", "old": "9", "new": "nine" }));
    let second = id(&mine.ok("edit", json!({ "path": "a", "old": "five", "new": "FIVE" })));
    other.ok("edit", json!({ "path": "a", "lines": "1", "new": "" }));
    let both = "@@ -5,3 +5,3 @@\n 4\n-5\n+FIVE\n 6";
    assert_eq!(
        me(json!({ "by": "me" })),
        format!(
            "2 changes in 1 file\n{first} edit by you\n{second} edit by you\na: by {first}, {second}\n{both}"
        )
    );
    assert!(me(json!({})).contains("+theirs"));
    // A file that I made and they wrote to, and one that they made and I wrote to.
    mine.ok("edit", json!({ "path": "m", "content": "1\n2\n3\n4\n" }));
    other.ok("edit", json!({ "path": "m", "append": "theirs\n" }));
    other.ok("edit", json!({ "path": "t", "content": "theirs\ntheirs\nx\n4\n" }));
    mine.ok("edit", json!({ "path": "t", "append": "mine\n" }));
    let told = me(json!({ "by": "me" }));
    assert!(told.contains("@@ -0,0 +1,4 @@\n+1\n+2\n+3\n+4") && !told.contains("+theirs"), "{told}");
    assert!(told.ends_with("@@ -4,1 +4,2 @@\n 4\n+mine"), "{told}");
    // In the same lines they cannot be told apart, and that is said.
    other.ok("edit", json!({ "path": "a", "old": "FIVE", "new": "theirs 5" }));
    let told = me(json!({ "by": "me", "path": "a" }));
    let said =
        format!("a: by {first}, {second} [others changed the same lines: the diff has theirs, too]\n@@");
    assert!(told.contains(&said), "{told}");
}

#[test]
fn by_me_a_text_is_of_who_made_it_and_not_of_who_had_made_another_at_its_path() {
    let folder = Folder::new();
    let (mine, other) = (serve(&folder, &[]), serve(&folder, &[]));
    let told = |server: &dyn Mcp, path: &str| server.ok("changes", json!({ "by": "me", "path": path }));
    let make = |server: &dyn Mcp, path: &str, text: &str| {
        id(&server.ok("edit", json!({ "path": path, "content": text })))
    };
    // Another client has deleted it, and made one anew.
    make(&mine, "a", "mine\n");
    other.ok("edit", json!({ "path": "a", "delete": true }));
    make(&other, "a", "theirs\n");
    assert!(!told(&mine, "a").contains("theirs"), "{}", told(&mine, "a"));
    assert!(told(&other, "a").ends_with("@@ -0,0 +1,1 @@\n+theirs"), "{}", told(&other, "a"));
    // They have taken theirs back before.
    let theirs = make(&other, "b", "theirs\n");
    other.ok("undo", json!({ "change": theirs }));
    make(&mine, "b", "mine\n");
    assert!(!told(&other, "b").contains("mine"), "{}", told(&other, "b"));
    assert!(told(&mine, "b").ends_with("@@ -0,0 +1,1 @@\n+mine"), "{}", told(&mine, "b"));
    // What they delete and bring back stays mine, with what they wrote to it theirs.
    make(&mine, "c", "mine\n");
    other.ok("edit", json!({ "path": "c", "append": "theirs\n" }));
    let gone = id(&other.ok("edit", json!({ "path": "c", "delete": true })));
    other.ok("undo", json!({ "change": gone }));
    assert!(told(&mine, "c").ends_with("@@ -0,0 +1,1 @@\n+mine"), "{}", told(&mine, "c"));
    assert!(told(&other, "c").ends_with("@@ -1,1 +1,2 @@\n mine\n+theirs"), "{}", told(&other, "c"));
}

#[test]
fn the_move_of_a_folder_that_is_new_is_told() {
    let folder = Folder::new();
    put(&folder, "x", "1\n");
    let server = serve(&folder, &[]);
    let made = id(&server.ok("edit", json!({ "path": "d/e/a", "content": "1\n" })));
    let moved = id(&server.ok("edit", json!({ "path": "d", "move_to": "n" })));
    let told = without_times(&server.ok("changes", json!({})));
    let expected = format!(
        "2 changes in 2 files\n{made} edit by you\n{moved} edit by you\nn: new, moved from d by {made}, {moved}\n\
         n/e/a: new by {made}\n@@ -0,0 +1,1 @@\n+1"
    );
    assert_eq!(told, expected);
    let told = without_times(&server.ok("changes", json!({ "since": made })));
    assert_eq!(told, format!("1 change in 1 file\n{moved} edit by you\nn: moved from d by {moved}"));
    // Where it is gone again, it is nothing.
    server.ok("edit", json!({ "path": "n", "delete": true, "recursive": true }));
    assert_eq!(server.ok("changes", json!({})), "Nothing has changed.");
}

#[test]
fn from_when_on_is_a_change_a_time_or_an_age() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    serve(&folder, &[]).ok("edit", json!({ "path": "a", "append": "2\n" }));
    let server = serve(&folder, &[]);
    for since in ["2000-01-01T00:00:00Z", "2000-01-01T02:00:00+02:00", "c0", "3d"] {
        assert!(server.ok("changes", json!({ "since": since })).starts_with("1 change in 1 file"), "{since}");
    }
    for since in ["2990-01-01T00:00:00Z", "c1"] {
        assert_eq!(server.ok("changes", json!({ "since": since })), "Nothing has changed.", "{since}");
    }
    let refused = server.tool("changes", json!({ "since": "yesterday" }));
    assert!(refused.is_error && refused.text.contains("an age such as 10m"), "{}", refused.text);
    drop(server);
    let off = serve(&folder, &["--journal=off"]).tool("changes", json!({}));
    assert!(off.is_error && off.text.contains("no journal"), "{}", off.text);
}

#[test]
fn many_files_without_diffs_are_one_line_a_folder() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let edits: Vec<_> =
        (0..12).map(|number| json!({ "path": format!("d/{number:02}"), "content": "x" })).collect();
    let id = id(&server.ok("edit", json!({ "edits": edits })));
    server.ok(
        "edit",
        json!({ "edits": [{ "path": "d/01", "append": "y" }, { "path": "b c", "content": "z" }] }),
    );
    let told = server.ok("changes", json!({ "diff": false }));
    let expected =
        "\n./: \"b c\" (new by c2)\nd/: 00 02 03 04 05 06 07 08 09 10 11 (new by c1)\nd/: 01 (new by c1, c2)";
    assert!(id == "c1" && told.ends_with(expected), "{told}");
}

#[test]
fn what_has_no_room_is_named_with_the_way_to_see_it_and_no_diff_is_cut_in_silence() {
    let folder = Folder::new();
    for number in 0..3 {
        put(
            &folder,
            &format!("f{number}"),
            (0..1_500).map(|line| format!("line {line} old\n")).collect::<String>(),
        );
    }
    let server = serve(&folder, &[]);
    server.ok("replace", json!({ "pattern": "old", "replacement": "new" }));
    let one = server.ok("changes", json!({ "path": "f0" }));
    assert!(one.contains(" more of this diff are not shown: it is longer than 16 KB]"), "{one}");
    let all = server.ok("changes", json!({}));
    assert!(
        all.ends_with(
            " more are not shown: give the path of a folder or file, a later since, or diff: false]"
        ),
        "{all}"
    );
}

#[test]
fn a_change_that_cannot_be_undone_is_in_no_diff_and_says_so() {
    let folder = Folder::new();
    put(&folder, "a", "one\ntwo\n");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "a", "old": "one", "new": "1" }));
    let edits = json!([{ "path": "a", "old": "two", "new": "2" }, { "path": "t", "content": "x" },
        { "path": "t", "move_to": "u" }, { "path": "u", "delete": true }]);
    server.ok("edit", json!({ "edits": edits }));
    let told = server.ok("changes", json!({}));
    assert!(told.contains("[it cannot be undone, and is in no diff: it deletes what it has made"), "{told}");
    assert!(told.ends_with("\na: by c1, c2"), "{told}");
}

#[test]
fn a_file_in_utf_16_is_told_by_its_own_lines() {
    let folder = Folder::new();
    let wide =
        |text: &str| [vec![0xff, 0xfe], text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat();
    put(&folder, "u", wide("a\r\nb\r\nc\r\nd\r\n"));
    let server = serve(&folder, &[]);
    let told = server.ok("replace", json!({ "pattern": "[bd]", "replacement": "\u{10d}" }));
    assert!(told.contains("\nu:2: \u{10d}\nu:4: \u{10d}"), "{told}");
    let told = server.ok("changes", json!({}));
    assert!(told.ends_with("\n@@ -1,4 +1,4 @@\n a\n-b\n+\u{10d}\n c\n-d\n+\u{10d}"), "{told}");
    let told = server.ok("undo", json!({}));
    assert!(told.contains("\nu:2: b\nu:4: d"), "{told}");
}

#[test]
fn a_folder_that_was_deleted_and_is_back_is_one_line_and_not_new() {
    let folder = Folder::new();
    ["d/x", "d/y", "d/e/z"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    let told = |arguments| {
        let told = without_times(&server.ok("changes", arguments));
        told.lines().filter(|line| !line.starts_with('c')).collect::<Vec<_>>().join("\n")
    };
    server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true }));
    assert_eq!(told(json!({})), "1 change in 1 file\nd: deleted by c1");
    assert_eq!(told(json!({ "path": "d/e" })), "1 change in 1 file\nd/e: deleted by c1");
    server.ok("undo", json!({}));
    assert_eq!(told(json!({})), "2 changes in 1 file\nd: by c1, c2");
    assert_eq!(told(json!({ "path": "d/x" })), "2 changes in 1 file\nd/x: by c1, c2");
    server.ok("undo", json!({ "change": "c2" }));
    assert_eq!(told(json!({})), "3 changes in 1 file\nd: deleted by c1, c2, c3");
    assert_eq!(told(json!({ "since": "c2" })), "1 change in 1 file\nd: deleted by c3");
}

#[test]
fn of_a_folder_that_is_back_in_part_the_files_that_are_gone_are_told() {
    let folder = Folder::new();
    ["d/x", "d/y", "d/e/z"].iter().for_each(|name| put(&folder, name, "1\n2\n"));
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true }));
    server.ok("undo", json!({ "path": "d/e/z" }));
    server.ok("undo", json!({ "path": "d/x" }));
    server.ok("edit", json!({ "path": "d/x", "old": "2", "new": "two" }));
    let told = server.ok("changes", json!({}));
    let expected = "\nd: by c1, c2\nd/x: by c1, c3, c4\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\nd/y: deleted by c1";
    assert!(told.ends_with(expected), "{told}");
}

#[test]
fn what_comes_back_elsewhere_is_the_same_file() {
    let folder = Folder::new();
    ["d/x", "d/y"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "d/x", "delete": true }));
    server.ok("edit", json!({ "path": "d", "move_to": "f" }));
    server.ok("edit", json!({ "path": "f/y", "old": "1", "new": "one" }));
    server.ok("undo", json!({ "change": "c1" }));
    let told = server.ok("changes", json!({ "diff": false }));
    let expected = "\nf: moved from d by c2\nf/x: moved from d/x by c1, c4\nf/y: moved from d/y by c3";
    assert!(told.ends_with(expected), "{told}");
    server.ok("undo", json!({ "change": "c2" }));
    let told = server.ok("changes", json!({ "diff": false }));
    assert!(told.ends_with("\nd: by c2, c5\nd/x: by c1, c4\nd/y: by c3"), "{told}");
    server
        .ok("edit", json!({ "edits": [{ "path": "d/x", "move_to": "g" }, { "path": "g", "delete": true }] }));
    let told = server.ok("changes", json!({ "path": "d/x" }));
    assert!(told.ends_with("\ng: moved from d/x, deleted by c1, c4, c6"), "{told}");
}

#[test]
fn a_new_file_is_compared_with_nothing_and_a_deleted_one_that_was_written_again_with_what_it_was() {
    let folder = Folder::new();
    put(&folder, "old", "1\n2\n");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "n", "content": "one\ntwo\n" }));
    server.ok("edit", json!({ "path": "n", "old": "two", "new": "TWO" }));
    let told = server.ok("changes", json!({}));
    assert!(told.ends_with("\nn: new by c1, c2\n@@ -0,0 +1,2 @@\n+one\n+TWO"), "{told}");
    server.ok("edit", json!({ "path": "n", "content": "" }));
    let told = server.ok("changes", json!({}));
    assert!(told.ends_with("\nn: new by c1, c2, c3"), "{told}");
    server.ok("edit", json!({ "path": "old", "old": "1", "new": "one" }));
    server.ok("edit", json!({ "path": "old", "delete": true }));
    server.ok("edit", json!({ "path": "old", "content": "one\n2\n3\n" }));
    server.ok("edit", json!({ "path": "old", "old": "3", "new": "three" }));
    let told = server.ok("changes", json!({ "path": "old" }));
    let expected = "\nold: by c4, c5, c6, c7\n@@ -1,2 +1,3 @@\n-1\n+one\n 2\n+three";
    assert!(told.ends_with(expected), "{told}");
    let told = server.ok("changes", json!({ "path": "old", "since": "c5" }));
    assert!(told.ends_with("\nold: new by c6, c7\n@@ -0,0 +1,3 @@\n+one\n+2\n+three"), "{told}");
}

#[test]
fn a_folder_that_is_new_and_gone_again_is_not_told() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "n/e/f", "content": "x\n" }));
    server.ok("edit", json!({ "path": "n", "move_to": "m" }));
    let told = server.ok("changes", json!({ "diff": false }));
    assert!(told.ends_with("\nm/e/f: new by c1"), "{told}");
    server.ok("edit", json!({ "path": "m", "delete": true, "recursive": true }));
    assert_eq!(server.ok("changes", json!({})), "Nothing has changed.");
}

/// Makes the changes of a journal say other times, by what `time_ms` says of the number of each.
fn set_times(journal: &Path, time_ms: impl Fn(usize, u64) -> u64) {
    let folders = std::fs::read_dir(journal).expect("a journal");
    let done = folders.map(|entry| entry.expect("an entry").path().join("done"));
    let done = done.filter(|done| done.is_dir()).flat_map(|done| std::fs::read_dir(done).expect("changes"));
    for path in done.map(|entry| entry.expect("a change").path()) {
        let number = path.file_name().and_then(|name| name.to_str()).expect("a number");
        let mut change = Change::from_bytes(&std::fs::read(&path).expect("bytes")).expect("a change");
        change.time_ms = time_ms(number.parse().expect("a number"), change.time_ms);
        std::fs::write(&path, change.to_bytes()).expect("a change to write");
    }
}

#[test]
fn each_change_counts_by_its_own_time_also_behind_a_clock_that_was_set() {
    let folder = Folder::new();
    put(&folder, "a", "1\n2\n3\n");
    ["b", "c"].iter().for_each(|name| put(&folder, name, "1\n"));
    let journal = folder.outside("journal");
    let server = serve(&folder, &[&format!("--journal={}", journal.display())]);
    server.ok("edit", json!({ "path": "b", "append": "2\n" }));
    server.ok("edit", json!({ "path": "a", "old": "1", "new": "one" }));
    server
        .ok("edit", json!({ "edits": [{ "path": "a", "move_to": "m" }, { "path": "c", "append": "2\n" }] }));
    server.ok("edit", json!({ "path": "m", "old": "3", "new": "three" }));
    server.ok("edit", json!({ "path": "c", "append": "3\n" }));
    // The clock was an hour behind at c1, c3 and c5.
    set_times(&journal, |number, time_ms| time_ms - if number % 2 == 1 { 3_600_000 } else { 0 });
    let told = without_times(&server.ok("changes", json!({ "since": "10m" })));
    let expected = "2 changes in 1 file\nc2 edit by you\nc4 edit by you\n\
        m: moved from a by c2, c3, c4\n@@ -1,3 +1,3 @@\n-1\n+one\n 2\n-3\n+three";
    assert_eq!(told, expected);
    let told = server.ok("changes", json!({ "since": "2h", "diff": false }));
    assert!(told.starts_with("5 changes in 3 files"), "{told}");
}

#[test]
fn a_folder_in_the_place_of_a_deleted_file_is_another_entry() {
    let folder = Folder::new();
    ["d/x", "d/y", "k/m"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true }));
    server.ok("edit", json!({ "path": "k", "copy_to": "d/x" }));
    let told = server.ok("changes", json!({ "diff": false }));
    assert!(
        told.ends_with("\nd: by c1, c2\nd/x: deleted by c1\nd/x/m: new by c2\nd/y: deleted by c1"),
        "{told}"
    );
}

#[test]
fn what_other_programs_deleted_or_made_again_is_told_so() {
    let folder = Folder::new();
    ["gone", "again", "same", "moved"].iter().for_each(|name| put(&folder, name, "1\n"));
    let server = serve(&folder, &[]);
    let edits = json!([
        { "path": "gone", "append": "2\n" },
        { "path": "again", "delete": true },
        { "path": "same", "delete": true },
        { "path": "new", "content": "1\n" },
        { "path": "moved", "move_to": "same" },
    ]);
    server.ok("edit", json!({ "edits": edits }));
    ["gone", "new"].iter().for_each(|name| std::fs::remove_file(folder.path().join(name)).expect("a file"));
    put(&folder, "again", "2\n");
    let told = without_times(&server.ok("changes", json!({})));
    let expected = "1 change in 5 files\nc1 edit by you\n\
        again: deleted by c1, there again by another program\n@@ -1,1 +1,1 @@\n-1\n+2\n\
        gone: by c1, deleted by another program\n\
        new: new by c1, deleted by another program\n\
        same: moved from moved by c1\nsame: deleted by c1";
    assert_eq!(told, expected);
}

#[test]
fn a_path_that_never_was_is_told_and_one_that_was_is_not() {
    let folder = Folder::new();
    put(&folder, "d/x", "1\n");
    let server = serve(&folder, &[]);
    server.ok("edit", json!({ "path": "d", "delete": true, "recursive": true }));
    let later = json!({ "path": "d/x", "since": "c1" });
    assert_eq!(server.ok("changes", later), "Nothing has changed.");
    let never = server.tool("changes", json!({ "path": "d/y" }));
    assert!(never.is_error && never.text.contains("'d/y' not found"), "{}", never.text);
}

#[test]
fn what_makes_room_for_a_new_file_is_told_before_it() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let server = serve(&folder, &[]);
    let edits = json!([{ "path": "a", "delete": true }, { "path": "a", "content": "2\n" }]);
    let told = server.ok("edit", json!({ "edits": edits }));
    assert!(told.ends_with("\na: deleted\na: new, 1 line"), "{told}");
}

#[test]
fn what_one_call_makes_and_deletes_leaves_no_folder() {
    let folder = Folder::new();
    put(&folder, "a", "1\n");
    let server = serve(&folder, &[]);
    let edits = json!([
        { "path": "n/m/x", "content": "1\n" },
        { "path": "a", "append": "2\n" },
        { "path": "n/y", "content": "1\n" },
        { "path": "n/m/x", "delete": true },
        { "path": "n/y", "delete": true },
    ]);
    let told = server.ok("edit", json!({ "edits": edits }));
    assert!(!folder.path().join("n").exists(), "{told}");
    assert!(told.starts_with("Changed 1 place in 1 file (change c1)"), "{told}");
    assert!(server.ok("undo", json!({})).starts_with("Undone: c1. "));
}

#[test]
fn what_was_moved_between_two_served_folders_is_told_by_a_server_of_one_of_them() {
    let (one, other) = (Folder::new(), Folder::new());
    put(&one, "a", "1\n2\n");
    put(&one, "d/x", "1\n");
    let both = serve(&one, &[&format!("--dir={}", other.path().display())]);
    both.ok("edit", json!({ "path": "a", "old": "2", "new": "two" }));
    let to = |name: &str| named(&other.path().join(name));
    let edits = json!([{ "path": "a", "move_to": to("b") }, { "path": "d", "move_to": to("e") }]);
    let moved = id(&both.ok("edit", json!({ "edits": edits })));
    let told = serve(&one, &[]).ok("changes", json!({ "since": "1h" }));
    let away = "moved to where this server serves nothing by ";
    assert!(
        told.contains(&format!("\nd: {away}{moved}")) && told.contains(&format!("\na: {away}")),
        "{told}"
    );
    assert!(!told.contains("another program"), "{told}");
    let mut alone = command(&other, "stdio", &["--tools=agent"]);
    alone.env("XDG_STATE_HOME", one.outside("state"));
    let told = Stdio::run(alone).ready().ok("changes", json!({ "since": "1h" }));
    assert!(
        told.contains(&format!("\nb: new by {moved}")) && told.contains(&format!("\ne: new by {moved}")),
        "{told}"
    );
}
