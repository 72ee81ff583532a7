//! The revision without a handshake, between requests: the server keeps no state, and a client that disconnects cancels
//! its request (contract 6.5, 8).

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Folder, Http, Mcp, PATIENCE, Stdio, headers, lock, post_bytes, request, until_a_lock_is_waited_for,
    until_or, with_meta,
};

fn body(method: &str, params: &Value) -> Vec<u8> {
    request("r", method, params).to_string().into_bytes()
}

#[test]
fn nothing_is_remembered_from_one_request_to_the_next() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    let mut connection = server.connect();
    let mut ask = |header_lines: &str, body: &[u8]| {
        connection.write(&post_bytes("/mcp", header_lines, body));
        connection.read()
    };
    let modern = (headers("tools/list", &json!({})), body("tools/list", &with_meta(json!({}))));
    let handshake = json!({ "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" } });
    let first = ask(&modern.0, &modern.1).text();
    // A handshake on the same connection changes nothing for what comes after it, nor the other way round.
    let agreed = ask("", &body("initialize", &handshake)).json();
    assert_eq!(agreed["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(ask(&modern.0, &modern.1).text(), first);
    let old = ask("MCP-Protocol-Version: 2024-11-05\r\n", &body("tools/list", &json!({}))).json();
    assert!(old["result"].get("resultType").is_none(), "{old}");
    let without = ask(&headers("tools/list", &json!({})), &body("tools/list", &json!({})));
    let refusal = (without.status, &without.json()["error"]["code"]);
    assert_eq!(refusal, (400, &json!(-32602)), "the revision of an earlier request was taken for this one");
    let other =
        server.connect().post("/mcp", &json!({ "jsonrpc": "2.0", "id": "r", "method": "tools/list" }));
    assert!(other.json()["result"].get("resultType").is_none());
    assert_eq!(server.post_with("/mcp", &modern.0, &modern.1).text(), first);
}

#[test]
fn a_probe_is_answered_at_once_and_leaves_the_handshake_open() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    assert_eq!(server.request("server/discover", json!({}))["error"]["code"], -32602);
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    assert!(server.request("server/discover", with_meta(json!({}))).get("result").is_some());
    assert_eq!(server.begin("2025-11-25")["result"]["protocolVersion"], "2025-11-25");
    // In a session it is a method like any other that does not exist; without one it is still there.
    assert_eq!(server.request("server/discover", json!({}))["error"]["code"], -32601);
    assert!(server.request("server/discover", with_meta(json!({}))).get("result").is_some());
}

/// The bytes of an edit that appends a line, in the stateless revision or in one with a handshake.
fn append(stateless: bool, text: &str) -> Vec<u8> {
    let params = json!({ "name": "edit_file", "arguments": { "name": "f", "append": text } });
    if stateless {
        post_bytes("/mcp", &headers("tools/call", &params), &body("tools/call", &with_meta(params)))
    } else {
        post_bytes("/mcp", "", &body("tools/call", &params))
    }
}

#[test]
fn a_client_that_goes_away_takes_its_request_back() {
    not_under_wine!("wine does not tell of a reset on a connection whose end was read");
    let folder = Folder::new();
    folder.write("f", "a\n");
    // Its timeout is longer than PATIENCE.
    let server = Http::start(&folder, &["--max-in-flight=1", "--timeout=120"]);
    let locked = lock(&folder, "f");
    let mut gone = server.connect();
    gone.write(&append(true, "of a client that went away"));
    until_a_lock_is_waited_for(server.pid());
    // The only place is taken. This request gets it when the server has noticed that the first client is gone.
    let mut waiting = server.connect();
    waiting.write(&post_bytes("/edit_file", "", br#"{"name":"g","append":"x","create_if_missing":true}"#));
    drop(gone);
    assert_eq!(waiting.read().status, 200);
    drop(locked);
    let mut last = server.connect();
    last.write(&append(true, "b"));
    assert_eq!(last.read().json()["result"]["isError"], false);
    assert_eq!(folder.text("f"), "a\nb\n");
}

/// An edit that waits for a lock, and whose client has disconnected.
struct Orphan {
    folder: Folder,
    server: Http,
    locked: std::fs::File,
}

impl Orphan {
    fn new() -> Orphan {
        let folder = Folder::new();
        folder.write("f", "a\n");
        let server = Http::start(&folder, &["--log-level=debug"]);
        let locked = lock(&folder, "f");
        let mut gone = server.connect();
        gone.write(&append(false, "b"));
        until_a_lock_is_waited_for(server.pid());
        drop(gone);
        server.wait_for_stderr("connection ended");
        Orphan { folder, server, locked }
    }
}

#[test]
fn a_client_with_a_handshake_that_loses_its_connection_has_its_edit_done() {
    not_under_wine!("wine does not tell of a reset on a connection whose end was read");
    let Orphan { folder, server, locked } = Orphan::new();
    drop(locked);
    until_or(|| format!("the edit was not done: {:?}", folder.text("f")), || folder.text("f") == "a\nb\n");
    assert!(server.terminate().success());
    assert_eq!(folder.names(), ["f"]);
}

fn is_done_before_the_end() -> bool {
    let Orphan { folder, server, locked } = Orphan::new();
    server.signal(Signal::TERM);
    server.wait_for_stderr("stopping");
    drop(locked);
    assert!(server.wait(PATIENCE).success());
    folder.text("f") == "a\nb\n"
}

#[test]
fn the_end_waits_for_an_edit_in_work_though_its_client_has_gone() {
    not_under_wine!("wine does not tell of a reset on a connection whose end was read");
    // The server waits for a limited time, which a busy machine may exceed now and then.
    assert!((0..5).any(|_| is_done_before_the_end()));
}

#[test]
fn an_edit_whose_client_goes_away_is_whole_or_undone() {
    const EDITS: usize = 200;
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    folder.write("f", "0\n");
    for n in 1..=EDITS {
        let mut connection = server.connect();
        connection.write(&append(true, &format!("{n} {}", "x".repeat(5_000))));
        // Every third waits for its answer; the others hang up at once.
        if n % 3 == 0 {
            assert_eq!(connection.read().json()["result"]["isError"], false);
        }
    }
    // Behind all of them.
    let mut last = server.connect();
    last.write(&append(true, &format!("{} {}", EDITS + 1, "x".repeat(5_000))));
    assert_eq!(last.read().json()["result"]["isError"], false);
    assert!(server.terminate().success());
    let text = folder.text("f");
    let mut seen = Vec::new();
    for line in text.lines().skip(1) {
        let (n, rest) = line.split_once(' ').expect("a number");
        assert_eq!(rest, "x".repeat(5_000), "half an edit");
        seen.push(n.parse::<usize>().expect("a number"));
    }
    assert!(text.ends_with('\n') && (3..=EDITS).step_by(3).all(|n| seen.contains(&n)), "{seen:?}");
    seen.sort_unstable();
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "an edit was done twice: {seen:?}");
    assert_eq!(folder.names(), ["f"]);
}
