//! `kill -9` at random moments of calls that change a tree: every file is old or new, and the next start and walk leave no
//! temporary file (contract 8, 12).

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{SET, leftovers, make, put, serve, tree};
use crate::support::{Folder, Mcp, Moment, PATIENCE, Random, Stdio, call};

/// Kills a server at a random moment after it was sent `calls`. Returns the number of answers that came.
fn killed(folder: &Folder, flags: &[&str], calls: &[Value], moment: &Moment, random: &mut Random) -> usize {
    let server = Stdio::start(folder, &[flags, &["--sync=none"]].concat());
    server.request("ping", json!({}));
    calls.iter().for_each(|call| server.send(call));
    moment.wait(random);
    server.signal(Signal::KILL);
    server.close_stdin();
    let answers = server.rest_of_output().len();
    server.wait(PATIENCE);
    answers
}

/// The next start and walk leave no temporary file in any folder.
fn cleans_up(folder: &Folder) {
    serve(folder, &[]).ok("list_directory", json!({ "path": ".", "depth": 99 }));
    assert_eq!(leftovers(folder), [""; 0]);
}

/// Adapts the moment to the number of calls done.
fn adapt(moment: &mut Moment, done: usize, all: usize) {
    if done == 0 {
        moment.was_early();
    } else if done == all {
        moment.was_late();
    }
}

#[test]
fn a_kill_while_files_are_created_with_their_parents_leaves_whole_files_or_none() {
    let (mut random, mut moment) = (Random::new(), Moment::within(8_000));
    let content = "a new line\n".repeat(2_000);
    let (mut whole, mut missing) = (0, 0);
    for round in 0..40 {
        let folder = Folder::new();
        let calls: Vec<Value> = (0..10)
            .map(|n| call(n, "edit_file", json!({ "name": format!("a/b{n}/c/f"), "append": content })))
            .collect();
        let flags = ["--tools=lines", "--names=paths"];
        let answered = killed(&folder, &flags, &calls, &moment, &mut random);
        let found = tree(folder.path());
        let done = (0..10).filter(|n| found.contains_key(&format!("a/b{n}/c/f"))).count();
        assert!(done >= answered, "round {round}: {answered} answered, {done} there");
        for (path, bytes) in &found {
            let is_half = path.ends_with("/f") && bytes.as_deref() != Some(content.as_bytes());
            assert!(!is_half, "round {round}: {path} is half a file");
        }
        cleans_up(&folder);
        adapt(&mut moment, done, 10);
        (whole, missing) = (whole + done, missing + 10 - done);
    }
    println!("{whole} whole, {missing} missing");
    assert!(whole > 0 && missing > 0, "{whole} {missing}");
}

#[test]
fn a_kill_while_files_and_folders_are_moved_leaves_each_at_one_of_its_places() {
    let (mut random, mut moment) = (Random::new(), Moment::within(4_000));
    let (mut moved, mut stayed) = (0, 0);
    for round in 0..40 {
        let folder = Folder::new();
        make(&folder, "to");
        for n in 0..20 {
            put(&folder, &format!("from/{n}/in/f"), format!("file {n}\n"));
        }
        let calls: Vec<Value> = (0..20)
            .map(|n| {
                call(
                    n,
                    "move_file",
                    json!({ "source": format!("from/{n}"), "destination": format!("to/{n}") }),
                )
            })
            .collect();
        let answered = killed(&folder, &[SET], &calls, &moment, &mut random);
        let found = tree(folder.path());
        let mut done = 0;
        for n in 0..20 {
            let at = ["from", "to"].map(|base| found.get(&format!("{base}/{n}/in/f")).cloned().flatten());
            let bytes = Some(format!("file {n}\n").into_bytes());
            assert!(at == [bytes.clone(), None] || at == [None, bytes], "round {round}: {n}");
            done += usize::from(at[1].is_some());
        }
        assert!(done >= answered, "round {round}: {answered} answered, {done} moved");
        cleans_up(&folder);
        adapt(&mut moment, done, 20);
        (moved, stayed) = (moved + done, stayed + 20 - done);
    }
    assert!(moved > 0 && stayed > 0, "{moved} {stayed}");
}

/// Kills a server in the middle of copies into nested folders. Returns the folder of the last round that has leftovers.
fn killed_in_copies() -> Option<Folder> {
    let (mut random, mut moment) = (Random::new(), Moment::within(20_000));
    let bytes = "some bytes\0".repeat(400_000).into_bytes();
    let (mut copied, mut missing, mut left) = (0, 0, None);
    for round in 0..20 {
        let folder = Folder::new();
        folder.write("source", &bytes);
        (0..6).for_each(|n| make(&folder, &format!("to/{n}/in")));
        let calls: Vec<Value> = (0..6)
            .map(|n| {
                call(n, "copy_file", json!({ "source": "source", "destination": format!("to/{n}/in/copy") }))
            })
            .collect();
        let answered = killed(&folder, &[SET], &calls, &moment, &mut random);
        let copies = |n: &usize| std::fs::read(folder.path().join(format!("to/{n}/in/copy"))).ok();
        let there: Vec<Vec<u8>> = (0..6).filter_map(|n| copies(&n)).collect();
        assert!(there.iter().all(|copy| *copy == bytes), "round {round}: half a copy");
        assert!(there.len() >= answered, "round {round}: {answered} answered, {} there", there.len());
        adapt(&mut moment, there.len(), 6);
        (copied, missing) = (copied + there.len(), missing + 6 - there.len());
        if !leftovers(&folder).is_empty() {
            left = Some(folder);
        }
    }
    assert!(copied > 0 && missing > 0, "{copied} {missing}");
    left
}

#[test]
fn a_kill_while_files_are_copied_leaves_whole_copies_or_none() {
    killed_in_copies();
}

#[test]
fn what_a_kill_left_in_nested_folders_is_removed_when_they_are_next_walked() {
    let folder = killed_in_copies().expect("a kill in the middle of a copy");
    let server = serve(&folder, &[]);
    server.ok("list_directory", json!({ "path": ".", "depth": 9 }));
    assert_eq!(leftovers(&folder), [""; 0]);
    server.ok("delete_file", json!({ "path": "to", "recursive": true }));
}

#[test]
fn searches_and_analyses_remove_what_a_kill_left_in_the_folders_they_walk() {
    let folder = Folder::new();
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "x" })),
        ("glob", json!({ "pattern": "**" })),
        ("analyze_complexity", json!({ "path": ".", "toolchain": "rust" })),
    ] {
        put(&folder, "n/m/.file-editor-tmp-0123456789abcdef", "left");
        put(&folder, "n/m/f.rs", "fn f() {}\n");
        Stdio::start(&folder, &["--tools=search,toolkit"]).ready().ok(tool, arguments);
        assert_eq!(leftovers(&folder), [""; 0], "{tool}");
        put(&folder, "n/m/.file-editor-tmp-0123456789abcdef", "left");
        Stdio::start(&folder, &["--tools=search", "--read-only"])
            .ready()
            .ok("grep", json!({ "pattern": "x" }));
        assert_eq!(leftovers(&folder).len(), 1, "nothing is written under --read-only");
    }
}

#[test]
fn a_leftover_in_a_nested_folder_is_removed_when_something_is_written_there() {
    let folder = Folder::new();
    put(&folder, "n/m/.file-editor-tmp-0123456789abcdef", "left");
    let server = serve(&folder, &[]);
    server.ok("write_file", json!({ "path": "n/m/f", "content": "x\n" }));
    assert_eq!(leftovers(&folder), [""; 0]);
    server.ok("delete_file", json!({ "path": "n", "recursive": true }));
}

#[test]
fn a_kill_while_a_folder_is_deleted_leaves_whole_files_and_the_next_delete_ends_it() {
    let (mut random, mut moment) = (Random::new(), Moment::within(20_000));
    let (mut partly, mut rounds) = (0, 0);
    while rounds < 40 && (rounds < 20 || partly == 0) {
        let folder = Folder::new();
        for n in 0..300 {
            put(&folder, &format!("gone/{}/{n}", n % 10), format!("file {n}\n"));
        }
        put(&folder, "kept/f", "kept\n");
        let calls = [call(1, "delete_file", json!({ "path": "gone", "recursive": true }))];
        let answered = killed(&folder, &[SET], &calls, &moment, &mut random);
        cleans_up(&folder);
        let found = tree(folder.path());
        assert_eq!(found.get("kept/f"), Some(&Some(b"kept\n".to_vec())));
        let files: Vec<_> =
            found.iter().filter(|(path, bytes)| path.starts_with("gone/") && bytes.is_some()).collect();
        assert!(answered == 0 || !found.contains_key("gone"), "answered, but not deleted");
        for (path, bytes) in &files {
            let number = path.rsplit('/').next().expect("a name");
            assert_eq!(bytes.as_deref(), Some(format!("file {number}\n").as_bytes()), "{path}");
        }
        partly += usize::from(!files.is_empty() && files.len() < 300);
        if files.len() == 300 {
            moment.was_early();
        } else if files.is_empty() {
            moment.was_late();
        }
        if found.contains_key("gone") {
            serve(&folder, &[]).ok("delete_file", json!({ "path": "gone", "recursive": true }));
        }
        assert_eq!(folder.names(), ["kept"]);
        rounds += 1;
    }
    assert!(partly > 0, "no kill came in the middle of a delete");
}
