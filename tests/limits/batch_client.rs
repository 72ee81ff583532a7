//! How the tests of batches send, wait and look.

use std::fs::File;
use std::time::Instant;

use serde_json::{Value, json};

use crate::errors::system::lock;
use crate::support::{Connection, Folder, Http, Mcp, PATIENCE, Stdio, post_bytes};

pub(super) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } })
}

pub(super) fn append(id: impl Into<Value>, name: &str, text: &str) -> Value {
    call(id, "edit_file", json!({ "name": name, "append": text }))
}

pub(super) fn read(id: impl Into<Value>, name: &str) -> Value {
    call(id, "read_file", json!({ "name": name }))
}

pub(super) fn cancelled(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id.into() } })
}

pub(super) fn ping(id: impl Into<Value>) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "ping" })
}

pub(super) fn stdio(folder: &Folder, flags: &[&str]) -> Stdio {
    let server = Stdio::start(folder, flags);
    server.begin("2025-03-26");
    server
}

/// Sends a batch over HTTP; the answer is still to be read.
pub(super) fn post(server: &Http, batch: &Value) -> Connection {
    let mut connection = server.connect();
    let revision = "MCP-Protocol-Version: 2025-03-26\r\n";
    connection.write(&post_bytes("/mcp", revision, batch.to_string().as_bytes()));
    connection
}

pub(super) fn ids(answers: &Value) -> Vec<Value> {
    let answers = answers.as_array().unwrap_or_else(|| panic!("no array: {answers}"));
    answers.iter().map(|answer| answer["id"].clone()).collect()
}

pub(super) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// So many locks does the process wait for, as the system tells it.
pub(super) fn waited_for(pid: u32) -> usize {
    let waits = |line: &&str| line.contains("-> FLOCK") && line.contains(&format!(" {pid} "));
    std::fs::read_to_string("/proc/locks").expect("/proc").lines().filter(waits).count()
}

#[track_caller]
pub(super) fn until_locks_are_waited_for(pid: u32, count: usize) {
    until(|| waited_for(pid) == count);
}

#[track_caller]
pub(super) fn until(mut so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < deadline, "it does not come about");
        std::thread::yield_now();
    }
}

/// Files of these names, each with one line, and locked by somebody else.
pub(super) fn locked(folder: &Folder, names: &[&str]) -> Vec<File> {
    let lock = |name: &&str| {
        folder.write(name, "a\n");
        lock(folder, name)
    };
    names.iter().map(lock).collect()
}

/// Whether a process has used no processor time for a while.
pub(super) fn is_idle(pid: u32) -> bool {
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
        let fields: Vec<String> =
            stat.rsplit_once(')').expect("a name").1.split_whitespace().map(str::to_owned).collect();
        (fields[11].clone(), fields[12].clone())
    };
    let before = used();
    std::thread::sleep(std::time::Duration::from_millis(300));
    used() == before
}
