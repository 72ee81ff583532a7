//! Who edits a file next (SPEC 8): edits that come under several names wait for each other in the engine, not by their
//! names; and whoever has the lock of a file that has lost its name has nothing yet.

use std::os::unix::fs::MetadataExt;
use std::time::Instant;

use serde_json::json;

use crate::errors::system::lock;
use crate::support::{Folder, PATIENCE, Stdio, until_a_lock_is_waited_for};

/// How many workers of a server sleep; nothing while one does not.
fn sleeping_workers(pid: u32) -> Option<usize> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process").flatten();
    let stats = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok());
    let states = stats.filter_map(|stat| {
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
        (name == "worker").then(|| rest.starts_with('S'))
    });
    states.into_iter().try_fold(0, |count, sleeps| sleeps.then_some(count + 1))
}

#[test]
fn edits_of_one_file_are_carried_out_in_the_order_in_which_they_came_whatever_name_they_go_by() {
    const NAMES: usize = 12;
    let folder = Folder::new();
    folder.write("f", "start\n");
    for n in 1..NAMES {
        // Links to the file, and links to links.
        folder
            .link(&format!("link-{n}"), if n % 3 == 0 { format!("link-{}", n - 1) } else { "f".to_owned() });
    }
    let server = Stdio::start(&folder, &["--timeout=60", "--sync=none"]);
    let locked = lock(&folder, "f");
    for n in 0..NAMES {
        let name = if n == 0 { "f".to_owned() } else { format!("link-{n}") };
        let call = json!({ "name": "edit_file", "arguments": { "name": name, "append": n.to_string() } });
        server.send(&json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": call }));
        // Each has a worker of its own, which sleeps when it has joined those that wait.
        let since = Instant::now();
        while sleeping_workers(server.pid()) != Some(n + 1) {
            assert!(since.elapsed() < PATIENCE, "{:?} of {} wait", sleeping_workers(server.pid()), n + 1);
            std::thread::yield_now();
        }
        until_a_lock_is_waited_for(server.pid());
    }
    drop(locked);
    for n in 0..NAMES {
        let answer = server.answer_to(&json!(n));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let wanted: Vec<String> = (0..NAMES).map(|n| n.to_string()).collect();
    assert_eq!(folder.text("f"), format!("start\n{}\n", wanted.join("\n")));
    assert!((1..NAMES).all(|n| folder.path().join(format!("link-{n}")).is_symlink()));
}

/// Returns when the process waits for the lock of this file, as the system tells it.
fn until_waited_for(pid: u32, locked: &std::fs::File) {
    let inode = locked.metadata().expect("the file").ino();
    let waits = |line: &str| {
        let of_file = line.split(' ').any(|field| field.ends_with(&format!(":{inode}")));
        line.contains("-> FLOCK") && line.contains(&format!(" {pid} ")) && of_file
    };
    let since = Instant::now();
    while !std::fs::read_to_string("/proc/locks").expect("/proc").lines().any(waits) {
        assert!(since.elapsed() < PATIENCE, "nobody waits for the lock");
        std::thread::yield_now();
    }
}

#[test]
fn whoever_waited_for_the_lock_of_a_file_that_was_replaced_waits_for_that_of_the_new_one() {
    let folder = Folder::new();
    folder.write("f", "old\n");
    folder.write("new", "new\n");
    let server = Stdio::start(&folder, &["--timeout=60"]);
    let (old, new) = (lock(&folder, "f"), lock(&folder, "new"));
    let call = json!({ "name": "edit_file", "arguments": { "name": "f", "append": "x" } });
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }));
    until_waited_for(server.pid(), &old);
    std::fs::rename(folder.path().join("new"), folder.path().join("f")).expect("renamed");
    drop(old);
    until_waited_for(server.pid(), &new);
    assert_eq!(folder.text("f"), "new\n");
    drop(new);
    assert_eq!(server.answer_to(&json!(1))["result"]["isError"], false);
    assert_eq!((folder.text("f"), folder.names()), ("new\nx\n".into(), vec!["f".into()]));
}
