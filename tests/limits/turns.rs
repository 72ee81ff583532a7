//! Who edits a file next (SPEC 8): edits that come under several names wait for each other in the engine, not by their
//! names; and whoever has the lock of a file that has lost its name has nothing yet.

use serde_json::json;

use crate::support::{
    Folder, Stdio, append_call, lock, threads, until_a_lock_is_waited_for, until_or,
    until_the_lock_is_waited_for,
};

/// How many workers of a server sleep; nothing while one does not.
fn sleeping_workers(pid: u32) -> Option<usize> {
    let workers: Vec<(String, char)> =
        threads(pid).into_iter().filter(|(name, _)| name == "worker").collect();
    workers.iter().all(|(_, state)| *state == 'S').then_some(workers.len())
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
        server.send(&append_call(n, &name, &n.to_string()));
        // Each has a worker of its own, which sleeps when it has joined those that wait.
        let sleeping = || sleeping_workers(server.pid());
        until_or(|| format!("{:?} of {} workers sleep", sleeping(), n + 1), || sleeping() == Some(n + 1));
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

#[test]
fn whoever_waited_for_the_lock_of_a_file_that_was_replaced_waits_for_that_of_the_new_one() {
    let folder = Folder::new();
    folder.write("f", "old\n");
    folder.write("new", "new\n");
    let server = Stdio::start(&folder, &["--timeout=60"]);
    let (old, new) = (lock(&folder, "f"), lock(&folder, "new"));
    server.send(&append_call(1, "f", "x"));
    until_the_lock_is_waited_for(server.pid(), &old);
    std::fs::rename(folder.path().join("new"), folder.path().join("f")).expect("renamed");
    drop(old);
    until_the_lock_is_waited_for(server.pid(), &new);
    assert_eq!(folder.text("f"), "new\n");
    drop(new);
    assert_eq!(server.answer_to(&json!(1))["result"]["isError"], false);
    assert_eq!((folder.text("f"), folder.names()), ("new\nx\n".into(), vec!["f".into()]));
}
