//! The wire on stdio as S2 describes it: the read buffer, back-pressure, the order of answers, connection states.

use std::io::{Read, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use crate::support::{
    Folder, Mcp, Stdio, append_call, command, lock, ping, read_call, read_calls, request, text_of, until,
};

const READ_BUFFER: usize = 64 * 1024;

#[test]
fn messages_are_whole_wherever_the_read_buffer_ends() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    let mut input = Vec::new();
    for n in 0..12 {
        // Each line ends a byte before, at or after a multiple of the buffer.
        let line = |padding: usize| {
            let params = json!({ "x": "y".repeat(padding) });
            format!("{}\n", request(n, "ping", params))
        };
        let bare = line(0).len();
        input.extend_from_slice(line(READ_BUFFER - bare + n % 3 - 1).as_bytes());
    }
    server.send_raw(&input);
    for n in 0..12 {
        assert_eq!(server.recv(), json!({ "jsonrpc": "2.0", "id": n, "result": {} }));
    }
}

#[test]
fn input_is_read_in_blocks_of_64_kib() {
    not_under_wine!("reads the system calls of Linux with strace");
    const BLOCKS: usize = 64;
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    server.request("ping", json!({}));
    let before = read_calls(server.pid());
    let params = json!({ "x": "y".repeat(BLOCKS * READ_BUFFER) });
    server.request("ping", params);
    // A reader may find the pipe part full; with a buffer of 8 KiB there would be eight times as many.
    let made = read_calls(server.pid()) - before;
    assert!(made < 4 * BLOCKS as u64, "{made} reads");
}

#[test]
fn by_default_128_requests_are_in_work_and_past_that_nothing_is_read() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &[]);
    let locked = lock(&folder, "f");
    for n in 0..127 {
        server.send(&append_call(format!("edit {n}"), "f", "x"));
    }
    server.send(&ping("there is room"));
    assert_eq!(server.recv()["id"], "there is room");
    server.send(&append_call("edit 127", "f", "x"));
    server.send(&ping("there is none"));
    drop(locked);
    // The ping is read only after a request has been answered.
    for n in 0..128 {
        let answer = server.recv();
        if answer["id"] == "there is none" {
            assert_ne!(n, 0, "a request was read while 128 were in work");
            return;
        }
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[test]
fn answers_come_in_the_order_in_which_the_work_is_done() {
    let folder = Folder::new();
    for name in ["one", "two", "three"] {
        folder.write(name, "");
    }
    let server = Stdio::start(&folder, &[]);
    let mut locks = ["one", "two", "three"].map(|name| Some(lock(&folder, name)));
    for name in ["one", "two", "three"] {
        server.send(&append_call(name, name, "x"));
    }
    server.send(&ping("quick"));
    assert_eq!(server.recv()["id"], "quick");
    for (n, name) in [(2, "three"), (0, "one"), (1, "two")] {
        locks[n] = None;
        assert_eq!(server.recv()["id"], name);
    }
}

#[test]
fn the_states_of_a_connection_are_logged() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--log-level=debug"]);
    let entered = |from: &str, to: &str| {
        server.wait_for_stderr(&format!("from={from} to={to}"));
    };
    server.begin("2025-11-25");
    entered("Uninitialized", "Initializing");
    entered("Initializing", "Ready");
    server.begin("2024-11-05");
    entered("Ready", "Initializing");
    entered("Initializing", "Ready");
    server.close_stdin();
    entered("Ready", "Shutting");
    entered("Shutting", "Closed");
    assert!(server.close().success());
}

#[test]
fn other_answers_wait_for_the_end_of_a_long_one() {
    let folder = Folder::new();
    let text = "some words in a line\n".repeat(200_000);
    folder.write("large", &text);
    let server = Stdio::start(&folder, &[]);
    let read = read_call("large", "large");
    for n in 0..4 {
        server.send(&read);
        server.send(&ping(n.to_string()));
    }
    // An answer between the blocks of another would make a line that is not JSON.
    let mut long = 0;
    for _ in 0..8 {
        let answer = server.recv();
        if answer["id"] == "large" {
            let found = text_of(&answer);
            assert!(found.len() > text.len() && found.ends_with("in a line"));
            long += 1;
        }
    }
    assert_eq!(long, 4);
}

/// A server whose stdout is this, and its stdin.
fn with_stdout(
    folder: &Folder,
    stdout: std::process::Stdio,
) -> (std::process::Child, std::process::ChildStdin) {
    let mut server = command(folder, "stdio", &[]);
    let server =
        server.stdin(std::process::Stdio::piped()).stdout(stdout).stderr(std::process::Stdio::null());
    let mut server = server.spawn().expect("a server");
    let stdin = server.stdin.take().expect("a pipe");
    (server, stdin)
}

#[test]
fn a_pipe_that_does_not_block_is_waited_for_when_it_is_full() {
    let folder = Folder::new();
    let text = "some words in a line\n".repeat(200_000);
    folder.write("large", &text);
    let (mut ours, theirs) = std::io::pipe().expect("a pipe");
    rustix::io::ioctl_fionbio(&theirs, true).expect("a pipe that does not block");
    let full = theirs.try_clone().expect("the pipe");
    let (mut server, mut stdin) = with_stdout(&folder, theirs.into());
    let read = read_call(1, "large");
    stdin.write_all(format!("{read}\n{}\n", ping("next")).as_bytes()).expect("sent");
    drop(stdin);
    // Nothing is taken until the pipe is full.
    until("the pipe is full", || {
        let takes = &mut [PollFd::new(&full, PollFlags::OUT)];
        poll(takes, Some(&Timespec::default())).expect("the state of the pipe") == 0
    });
    drop(full);
    let mut all = String::new();
    ours.read_to_string(&mut all).expect("the answers");
    let answers: Vec<Value> = all.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let large = answers.iter().find(|answer| answer["id"] == 1).expect("an answer");
    let found = text_of(large);
    assert!(found.len() > text.len() && found.ends_with("in a line"));
    assert!(answers.len() == 2 && answers.iter().any(|answer| answer["id"] == "next"));
    assert!(server.wait().expect("its end").success());
}

#[test]
fn a_server_whose_stdout_is_closed_ends() {
    let folder = Folder::new();
    let (ours, theirs) = std::io::pipe().expect("a pipe");
    let (mut server, mut stdin) = with_stdout(&folder, theirs.into());
    drop(ours);
    // Its stdin stays open.
    until("the server ends", || {
        let _ = stdin.write_all(format!("{}\n", ping("an answer without a reader")).as_bytes());
        server.try_wait().expect("a status").is_some()
    });
    assert!(server.wait().expect("its end").success());
}
