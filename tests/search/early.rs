//! Answers over HTTP that begin before their search has ended.

use std::time::Duration;

use serde_json::{Value, json};

use super::{SET, SLOW, ab_letters, has_thread, serve};
use crate::support::{
    Connection, Folder, HANDSHAKE, Http, Mcp, STATELESS, headers, post_bytes, request, until, with_meta,
    within,
};

/// A match in the first file, then files that are searched slowly, and an empty last file.
fn corpus(files: usize) -> Folder {
    let folder = Folder::new();
    folder.write("a", "needle\n");
    let text = ab_letters(8 << 10);
    folder.write("b", text);
    let link = |n| std::fs::hard_link(folder.path().join("b"), folder.path().join(format!("b{n}")));
    (1..files).for_each(|n| link(n).expect("a link"));
    folder.write("z", "");
    folder
}

fn arguments() -> Value {
    json!({ "pattern": format!("needle|{SLOW}"), "output_mode": "content" })
}

/// Sends the call in a revision, or to `POST /tools/grep`.
fn send(connection: &mut Connection, revision: Option<&str>) {
    let params = json!({ "name": "grep", "arguments": arguments() });
    let call = |params| request(1, "tools/call", params).to_string();
    connection.write(&match revision {
        None => post_bytes("/tools/grep", "", arguments().to_string().as_bytes()),
        Some(STATELESS) => {
            post_bytes("/mcp", &headers("tools/call", &params), call(with_meta(params)).as_bytes())
        }
        Some(revision) => {
            let header = format!("MCP-Protocol-Version: {revision}\r\n");
            post_bytes("/mcp", &header, call(params).as_bytes())
        }
    });
}

/// The beginning of an answer: its head and its first chunk.
fn first_chunk(connection: &mut Connection) -> String {
    let head = connection.head().expect("a head");
    assert_eq!(head.status, 200);
    assert!(head.header("content-type").is_some_and(|kind| kind.starts_with("application/json")));
    let mut chunk = Vec::new();
    assert!(connection.chunk(&mut chunk).expect("a chunk"));
    String::from_utf8(chunk).expect("text")
}

#[test]
fn the_first_match_leaves_before_the_last_file_is_read() {
    let revisions = HANDSHAKE.into_iter().chain([STATELESS]).map(Some).chain([None]);
    for revision in revisions {
        let folder = corpus(128);
        let server = Http::start(&folder, &[SET, "--timeout=300", "--filter-cache=0"]);
        let mut connection = server.connect();
        send(&mut connection, revision);
        let mut body = first_chunk(&mut connection).into_bytes();
        assert!(String::from_utf8_lossy(&body).ends_with("a\\n1:needl"), "{revision:?}");
        folder.write("z", "a later needle\n");
        while connection.chunk(&mut body).unwrap() {}
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let result = if revision.is_some() { &answer["result"] } else { &answer };
        let text = result["content"][0]["text"].as_str().unwrap();
        let expected = "a\n1:needle\n\nz\n1:a later needle\n[130 files searched, 2 matching lines in 2 files; nothing left out]";
        assert_eq!((text, &result["isError"]), (expected, &json!(false)), "{revision:?}");
        if revision.is_none() {
            assert_eq!(serve(&folder, &["--timeout=300"]).ok("grep", arguments()), text);
        }
        revision.iter().for_each(|_| connection.received(&answer));
        // The connection serves the next request.
        assert_eq!(connection.post("/tools/glob", &json!({ "pattern": "z" })).status, 200);
    }
}

#[test]
fn an_answer_that_began_ends_as_a_partial_one_when_the_time_is_up() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = corpus(4_000);
    let server = Http::start(&folder, &[SET, "--timeout=1"]);
    let mut connection = server.connect();
    send(&mut connection, Some(STATELESS));
    let mut body = first_chunk(&mut connection).into_bytes();
    while connection.chunk(&mut body).unwrap() {}
    let answer: Value = serde_json::from_slice(&body).unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("a\n1:needle\n[") && text.contains("the time was up"), "{text}");
    let meta = &answer["result"]["_meta"];
    assert_eq!(meta["file-editor/truncated"]["partial"], true, "{meta}");
    assert!(meta["io.modelcontextprotocol/serverInfo"]["name"].is_string(), "{meta}");
    connection.received(&answer);
}

#[test]
fn the_search_of_a_client_that_disconnects_behind_the_first_match_ends() {
    not_under_wine!("wine does not tell of a reset on a connection whose end was read");
    // The search takes longer than is waited for its end.
    let folder = corpus(16_000);
    let server = Http::start(&folder, &[SET, "--timeout=300", "--filter-cache=0"]);
    let mut connection = server.connect();
    send(&mut connection, Some(STATELESS));
    first_chunk(&mut connection);
    until("threads search", || has_thread(server.pid(), "search"));
    drop(connection);
    within(Duration::from_secs(8), || "no thread searches", || !has_thread(server.pid(), "search"));
}

#[test]
fn an_answer_is_whole_whenever_its_search_ends_behind_the_first_match() {
    not_under_wine!("has a limit of time or takes long");
    let folder = Folder::new();
    (0..1_500).for_each(|n| folder.write(&format!("f{n:04}"), "some words of a line\n".repeat(700)));
    folder.write("f1490", "needle \u{1F600}\n");
    let server = Http::start(&folder, &[SET, "--filter-cache=0"]);
    let arguments = json!({ "pattern": "needle", "output_mode": "content" });
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..40 {
                    let result = server.post("/tools/grep", &arguments).json();
                    let text = result["content"][0]["text"].as_str().unwrap_or_default();
                    assert!(text.starts_with("f1490\n1:needle \u{1F600}\n[1500 files searched"), "{result}");
                }
            });
        }
    });
}
