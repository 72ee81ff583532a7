//! The order of edits of one file (contract 8). Edits under several names of a file wait for each other in the engine. The
//! lock of a file that was replaced is not the lock of the new file.

use std::cell::LazyCell;

use serde_json::json;

use crate::support::{
    Folder, Stdio, append_call, lock, sleeps, until_a_lock_is_waited_for, until_or,
    until_the_lock_is_waited_for,
};

/// Returns when so many workers of a server wait. A worker that waits looks again and again whether its call goes on, and sleeps
/// in between; one that sleeps for another reason, as before it begins, does not.
fn until_workers_wait(pid: u32, count: usize) {
    let before = LazyCell::new(|| sleeps(pid, "worker"));
    let have_looked = || {
        let now = sleeps(pid, "worker");
        now.len() == count
            && before.len() == count
            && before.iter().zip(now).all(|(before, now)| now >= before + 3)
    };
    until_or(
        || format!("{:?} of {count} workers", sleeps(pid, "worker")),
        || sleeps(pid, "worker").len() == count,
    );
    until_or(|| format!("{:?} sleeps, before {:?}", sleeps(pid, "worker"), *before), have_looked);
}

#[test]
fn edits_of_one_file_are_carried_out_in_the_order_in_which_they_came_whatever_name_they_go_by() {
    not_under_wine!("looks at the states of threads in /proc");
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
        // Each edit has a worker of its own.
        until_workers_wait(server.pid(), n + 1);
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
fn an_edit_that_waited_for_the_lock_of_a_replaced_file_waits_for_the_lock_of_the_new_file() {
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
