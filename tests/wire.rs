//! The wire on stdio as S2 describes it: the read buffer, back-pressure, the order of answers, connection states.

use serde_json::{Value, json};

use crate::errors_system::lock;
use crate::support::{Folder, Mcp, Stdio};

const READ_BUFFER: usize = 64 * 1024;

fn ping(id: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn edit(id: &str, file: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "edit_file", "arguments": { "name": file, "append": id } } })
}

/// How many read calls a process has made.
fn reads(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("/proc");
    let count = io.lines().find_map(|line| line.strip_prefix("syscr: ")).expect("a count");
    count.parse().expect("a number")
}

#[test]
fn messages_are_whole_wherever_the_read_buffer_ends() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    let mut input = Vec::new();
    for n in 0..12 {
        // Each line ends a byte before, at or after a multiple of the buffer.
        let line = |padding: usize| {
            let params = json!({ "x": "y".repeat(padding) });
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": n, "method": "ping", "params": params }))
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
    const BLOCKS: usize = 64;
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    server.request("ping", json!({}));
    let before = reads(server.pid());
    let params = json!({ "x": "y".repeat(BLOCKS * READ_BUFFER) });
    server.request("ping", params);
    // A reader may find the pipe part full; with a buffer of 8 KiB there would be eight times as many.
    let made = reads(server.pid()) - before;
    assert!(made < 4 * BLOCKS as u64, "{made} reads");
}

#[test]
fn by_default_128_requests_are_in_work_and_past_that_nothing_is_read() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &[]);
    let locked = lock(&folder, "f");
    for n in 0..127 {
        server.send(&edit(&format!("edit {n}"), "f"));
    }
    server.send(&ping("there is room"));
    assert_eq!(server.recv()["id"], "there is room");
    server.send(&edit("edit 127", "f"));
    server.send(&ping("there is none"));
    drop(locked);
    // The ping is read only when a request is out of work, which is when it has been answered.
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
        server.send(&edit(name, name));
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
    let read = json!({ "jsonrpc": "2.0", "id": "large", "method": "tools/call",
        "params": { "name": "read_file", "arguments": { "name": "large" } } });
    for n in 0..4 {
        server.send(&read);
        server.send(&ping(&n.to_string()));
    }
    // Were one put between the blocks of another, a line would be no JSON.
    let mut long = 0;
    for _ in 0..8 {
        let answer = server.recv();
        if answer["id"] == "large" {
            let found = answer["result"]["content"][0]["text"].as_str().expect("a text");
            assert!(found.len() > text.len() && found.ends_with("in a line"));
            long += 1;
        }
    }
    assert_eq!(long, 4);
}
