//! Full disks, folders without permissions, deep and wide trees, and folders that move while their files are edited.

use std::os::unix::fs::chown;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{SET, leftovers, make, outcome, put, serve, tree};
use crate::support::{Folder, MB, Mcp, Mount, Stdio, as_nobody, command, while_others, with_descriptors};

#[test]
fn on_a_full_disk_a_copy_or_write_is_refused_and_leaves_nothing() {
    not_under_wine!("the text of the error is that of the system");
    let folder = Folder::new();
    let Some(_mount) = Mount::at(folder.path(), "size=4m,mode=755") else { return };
    make(&folder, "in");
    put(&folder, "in/old", "old\n");
    folder.write("large", vec![b'x'; 3 * MB]);
    let server = serve(&folder, &[]);
    let before = tree(folder.path());
    for (tool, arguments) in [
        ("copy_file", json!({ "source": "large", "destination": "in/copy" })),
        ("write_file", json!({ "path": "in/new", "content": "y".repeat(2 * MB) })),
        ("write_file", json!({ "path": "in/old", "content": "y".repeat(2 * MB) })),
    ] {
        let refused = server.refused(tool, arguments);
        assert!(
            refused.contains("Failed to write file") && refused.contains("No space left"),
            "{tool}: {refused}"
        );
        assert!(tree(folder.path()) == before, "{tool} left something");
    }
    server.ok("delete_file", json!({ "path": "large" }));
    server.ok("write_file", json!({ "path": "in/new", "content": "y".repeat(2 * MB) }));
}

#[test]
fn a_folder_that_may_not_be_read_is_counted_by_walks_and_stops_a_delete_before_it_removes_anything() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can give files away");
        return;
    }
    let folder = Folder::new();
    put(&folder, "t/a/f", "a\n");
    put(&folder, "t/closed/f", "secret\n");
    put(&folder, "t/z/f", "z\n");
    let command = as_nobody(command(&folder, "stdio", &[SET]), &folder);
    for path in ["t/a", "t/a/f", "t/closed", "t/closed/f", "t/z", "t/z/f"] {
        chown(folder.path().join(path), Some(65534), Some(65534)).expect("given away");
    }
    folder.set_mode("t/closed", 0o000);
    let server = Stdio::run(command).ready();
    let listed = server.ok("list_directory", json!({ "path": "t", "depth": 3 }));
    assert!(listed.starts_with("[DIR] a\n[FILE] a/f\n[DIR] closed\n[DIR] z\n[FILE] z/f"), "{listed}");
    assert!(listed.ends_with("[Not shown: 1 folder that cannot be read]"), "{listed}");
    let searched = server.ok("search_files", json!({ "path": ".", "pattern": "**/f" }));
    assert!(searched.ends_with("[Not shown: 1 folder that cannot be read]"), "{searched}");
    server.ok("directory_tree", json!({ "path": "." }));
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": "t/closed/f" })),
        ("write_file", json!({ "path": "t/closed/g", "content": "" })),
        ("delete_file", json!({ "path": "t", "recursive": true })),
    ] {
        let refused = server.refused(tool, arguments);
        assert!(refused.starts_with("Error: Permission denied accessing"), "{tool}: {refused}");
    }
    folder.set_mode("t/closed", 0o755);
    assert_eq!(folder.text("t/closed/f"), "secret\n");
    assert_eq!(tree(folder.path()).len(), 7);
}

#[test]
fn a_folder_closed_in_the_middle_of_walks_ends_none_of_them() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    (0..300).for_each(|n| put(&folder, &format!("t/{:02}/f{n}", n % 30), "x\n"));
    let command = as_nobody(command(&folder, "stdio", &[SET, "--answer-limit=0"]), &folder);
    let server = Stdio::run(command).ready();
    let mut closed = 0_u32;
    let flip = || {
        folder.set_mode("t/15", if closed.is_multiple_of(2) { 0o000 } else { 0o755 });
        closed += 1;
    };
    let mut counts = std::collections::BTreeSet::new();
    while_others(flip, || {
        for _ in 0..300 {
            let listed = server.ok("list_directory", json!({ "path": ".", "depth": 3 }));
            let files = listed.lines().filter(|line| line.starts_with("[FILE] ")).count();
            let is_told = listed.contains("[Not shown: 1 folder that cannot be read]");
            assert!(if is_told { files == 290 } else { files == 300 }, "{files} files, told: {is_told}");
            counts.insert(files);
        }
    });
    folder.set_mode("t/15", 0o755);
    println!("numbers of files seen: {counts:?}");
}

/// Folders within folders, and a file in the last. The whole path is too long for the system.
fn make_deep(folder: &Folder, levels: usize) {
    let script = format!("for n in $(seq {levels}); do mkdir d && cd d || exit 1; done; echo deep > leaf");
    let done = Command::new("/bin/sh").arg("-c").arg(script).current_dir(folder.path()).status();
    assert!(done.expect("a shell").success());
}

#[test]
fn a_tree_of_300_levels_is_walked_as_deep_as_paths_go_and_deleted_as_a_whole() {
    let folder = Folder::new();
    make_deep(&folder, 300);
    let server = serve(&folder, &["--answer-limit=0"]);
    let listed = server.ok("list_directory", json!({ "path": ".", "depth": 1_000 }));
    assert_eq!(listed.lines().filter(|line| line.starts_with("[DIR] ")).count(), 255);
    assert!(
        listed.ends_with("[Not shown: 1 folder that lies too deep]"),
        "{}",
        &listed[listed.len() - 100..]
    );
    server.ok("directory_tree", json!({ "path": "." }));
    let searched = server.ok("search_files", json!({ "path": ".", "pattern": "**/leaf" }));
    assert!(searched.contains("too deep"), "{searched}");
    assert_eq!(
        server.ok("delete_file", json!({ "path": "d", "recursive": true })),
        "Successfully deleted d (301 entries)"
    );
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_hundred_thousand_files_in_one_folder_are_listed_within_the_time_limit() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    make(&folder, "many");
    (0..100_000).for_each(|n| {
        drop(std::fs::File::create(folder.path().join(format!("many/file-{n:06}"))).expect("a file"))
    });
    let server = serve(&folder, &["--answer-limit=0", "--timeout=10"]);
    let start = Instant::now();
    let listed = server.ok("list_directory", json!({ "path": "many" }));
    let took = start.elapsed();
    println!("100,000 files in {took:?}");
    assert_eq!(listed.lines().count(), 100_000);
    assert!(listed.starts_with("[FILE] file-000000\n") && listed.ends_with("[FILE] file-099999"));
    assert!(took < Duration::from_secs(10), "{took:?}");
    let found = server.ok("search_files", json!({ "path": ".", "pattern": "**/file-099999" }));
    assert!(found.ends_with("many/file-099999"), "{found}");
    let sizes = server.ok("list_directory_with_sizes", json!({ "path": "many" }));
    assert!(sizes.contains("Total: 100000 files, 0 directories"), "{}", &sizes[sizes.len() - 100..]);
}

#[test]
fn a_delete_of_more_folders_than_there_are_descriptors_succeeds() {
    let folder = Folder::new();
    (0..600).for_each(|n| make(&folder, &format!("w/{n}")));
    let server = Stdio::run(with_descriptors(&command(&folder, "stdio", &[SET]), 256)).ready();
    let deleted = server.ok("delete_file", json!({ "path": "w", "recursive": true }));
    assert_eq!(deleted, "Successfully deleted w (601 entries)");
}

#[test]
fn a_walk_that_runs_out_of_descriptors_is_an_error_and_no_short_list() {
    not_under_wine!("wine takes no descriptors below a limit");
    let folder = Folder::new();
    make_deep(&folder, 240);
    let server = Stdio::run(with_descriptors(&command(&folder, "stdio", &[SET]), 200)).ready();
    let (is_error, text) = outcome(&server, "search_files", &json!({ "path": ".", "pattern": "**/leaf" }));
    assert!(is_error || text.ends_with("/leaf"), "{text}");
}

#[test]
fn edits_in_a_folder_that_moves_fail_as_changed_or_land_in_the_moved_file() {
    not_under_wine!("wine keeps the name of an open folder that is moved or removed");
    const EDITS: usize = 500;
    let folder = Folder::new();
    put(&folder, "a/in/f", "start\n");
    let server = serve(&folder, &["--sync=none"]);
    let path = folder.path().to_owned();
    let mut turns = 0_usize;
    let mut acknowledged = Vec::new();
    let flip = || {
        let (from, to) = if turns.is_multiple_of(2) { ("a", "b") } else { ("b", "a") };
        std::fs::rename(path.join(from), path.join(to)).expect("renamed");
        turns += 1;
    };
    while_others(flip, || {
        for n in 0..EDITS {
            let place = if n % 2 == 0 { "a" } else { "b" };
            let edits = json!([{ "oldText": "start\n", "newText": format!("start\n{n}\n") }]);
            let result = server.tool("edit_file", json!({ "path": format!("{place}/in/f"), "edits": edits }));
            let moved = ["not found", "was changed by another program"];
            if result.is_error {
                assert!(moved.iter().any(|words| result.first_line().contains(words)), "{}", result.text);
            } else {
                acknowledged.push(n);
            }
        }
    });
    println!("{} of {EDITS} edits during {turns} moves", acknowledged.len());
    assert!(!acknowledged.is_empty() && acknowledged.len() < EDITS, "{}", acknowledged.len());
    let place = if turns.is_multiple_of(2) { "a" } else { "b" };
    let mut found: Vec<usize> = folder
        .text(&format!("{place}/in/f"))
        .lines()
        .skip(1)
        .map(|line| line.parse().expect("a number"))
        .collect();
    found.reverse();
    assert_eq!(found, acknowledged, "what was acknowledged is in the file, and nothing else");
    assert_eq!((folder.names(), leftovers(&folder)), (vec![place.to_owned()], Vec::new()));
}

#[test]
fn calls_in_a_folder_that_is_removed_and_made_again_say_what_happened_or_succeed() {
    not_under_wine!("wine keeps the name of an open folder that is moved or removed");
    let folder = Folder::new();
    put(&folder, "a/in/f", "f\n");
    let server = serve(&folder, &["--sync=none"]);
    let path = folder.path().join("a");
    let replace = || {
        let _ = std::fs::remove_dir_all(&path);
        let made = std::fs::create_dir_all(path.join("in"));
        let _ = made.and_then(|()| std::fs::write(path.join("in/f"), "f\n"));
    };
    let true_words = ["not found", "was changed by another program", "does not exist", "exists already"];
    while_others(replace, || {
        for n in 0..600 {
            let edits = json!([{ "oldText": "f", "newText": "f", "replaceAll": true }]);
            for (tool, arguments) in [
                ("write_file", json!({ "path": "a/in/f", "content": "f\n" })),
                ("edit_file", json!({ "path": "a/in/f", "edits": edits })),
                ("copy_file", json!({ "source": "a/in/f", "destination": format!("a/in/c{n}") })),
                ("create_directory", json!({ "path": format!("a/in/d{n}") })),
                ("delete_file", json!({ "path": format!("a/in/c{n}") })),
            ] {
                let (is_error, text) = outcome(&server, tool, &arguments);
                let is_true = true_words.iter().any(|words| text.contains(words));
                // A text that was cut while it was read has no `f`.
                assert!(!is_error || is_true || text.contains("Could not find exact text"), "{tool}: {text}");
            }
        }
    });
    assert_eq!(leftovers(&folder), [""; 0]);
}

#[test]
fn opposite_moves_at_once_neither_deadlock_nor_lose_a_file() {
    let folder = Folder::new();
    put(&folder, "x/one", "one\n");
    put(&folder, "y/two", "two\n");
    let server = serve(&folder, &["--sync=none"]);
    let mut id = 0;
    for _ in 0..100 {
        for (source, destination) in
            [("x/one", "y/one"), ("y/two", "x/two"), ("y/one", "x/one"), ("x/two", "y/two")]
        {
            let arguments: Value = json!({ "source": source, "destination": destination });
            server.send(&crate::support::call(id, "move_file", arguments));
            id += 1;
        }
    }
    (0..id).for_each(|id| drop(server.answer_to(&json!(id))));
    let found = tree(folder.path());
    let mut texts: Vec<Vec<u8>> = found.into_values().flatten().collect();
    texts.sort();
    assert_eq!(texts, [b"one\n", b"two\n"]);
}
