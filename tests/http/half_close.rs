//! Half-closed connections: clients that end their sending after the request and wait for the answer.

use std::io::Write;
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use crate::support::{
    Connection, Folder, Http, HttpResponse, PATIENCE, call, headers, lock, post_bytes, request,
    until_a_lock_is_waited_for, with_meta,
};

/// The same POST with its body in chunks of 7 bytes.
fn chunked(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let chunk = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    let chunks: Vec<u8> = body.chunks(7).flat_map(chunk).collect();
    [head.as_bytes(), &chunks, b"0\r\n\r\n"].concat()
}

fn stateless(arguments: &Value) -> Vec<u8> {
    let params = json!({ "name": "edit_file", "arguments": arguments });
    let body = request(1, "tools/call", with_meta(params.clone()));
    post_bytes("/mcp", &headers("tools/call", &params), body.to_string().as_bytes())
}

/// A client that has sent these bytes and will send no more.
fn that_sent(server: &Http, bytes: &[u8]) -> Connection {
    let mut client = server.connect();
    client.write(bytes);
    client.end_sending();
    client
}

/// The only answer to these bytes. The server closes the connection after it.
#[track_caller]
fn answer(server: &Http, bytes: &[u8]) -> HttpResponse {
    let mut client = that_sent(server, bytes);
    let response = client.read();
    assert_eq!(client.read_what_comes(PATIENCE), b"", "more than one answer");
    response
}

#[test]
fn each_request_is_answered_however_its_body_comes() {
    let folder = Folder::new();
    let text = "some words in a line\n".repeat(50_000);
    folder.write("large", &text);
    folder.write("small", "a\n");
    let server = Http::start(&folder, &[]);
    for round in 0..20 {
        for path in ["/mcp", "/read_file"] {
            for name in ["small", "large"] {
                let arguments = json!({ "name": name });
                let rest = path != "/mcp";
                let body = if rest { arguments } else { call(1, "read_file", &arguments) }.to_string();
                for bytes in [post_bytes(path, "", body.as_bytes()), chunked(path, body.as_bytes())] {
                    let response = answer(&server, &bytes);
                    let json = response.json();
                    let found = if rest { &json["content"] } else { &json["result"]["content"][0]["text"] };
                    let wanted = folder.text(name);
                    assert_eq!(response.status, 200);
                    assert!(
                        found.as_str().is_some_and(|found| found.ends_with(wanted.trim_end())),
                        "{path} {name}"
                    );
                }
            }
        }
        let edit = |name: &str| json!({ "name": name, "append": round.to_string() });
        let body = call(1, "edit_file", edit("mcp")).to_string();
        for bytes in [post_bytes("/mcp", "", body.as_bytes()), chunked("/mcp", body.as_bytes())] {
            assert_eq!(answer(&server, &bytes).json()["result"]["isError"], false);
        }
        let body =
            json!({ "name": "rest", "append": round.to_string(), "create_if_missing": true }).to_string();
        for bytes in [post_bytes("/edit_file", "", body.as_bytes()), chunked("/edit_file", body.as_bytes())] {
            assert_eq!(answer(&server, &bytes).json()["success"], true);
        }
        assert_eq!(answer(&server, &stateless(&edit("stateless"))).json()["result"]["isError"], false);
    }
    for (name, lines) in [("mcp", 40), ("rest", 40), ("stateless", 20)] {
        assert_eq!(folder.text(name).lines().count(), lines, "{name}");
    }
}

#[test]
fn all_pipelined_requests_are_answered_in_their_order() {
    let folder = Folder::new();
    let text = "some words in a line\n".repeat(50_000);
    folder.write("large", &text);
    let server = Http::start(&folder, &[]);
    let bytes: Vec<u8> = (0..5)
        .flat_map(|n| {
            let edit = json!({ "name": "f", "append": n.to_string(), "create_if_missing": true }).to_string();
            let read = call(1, "read_file", json!({ "name": "large" })).to_string();
            [
                chunked("/edit_file", edit.as_bytes()),
                post_bytes("/mcp", "", read.as_bytes()),
                post_bytes("/read_file", "", br#"{"name":"f"}"#),
            ]
            .concat()
        })
        .collect();
    let mut client = that_sent(&server, &bytes);
    for n in 0..5 {
        assert_eq!(client.read().json()["new_total_lines"], n + 1);
        let large = client.read().json()["result"]["content"][0]["text"].as_str().map(str::len);
        assert_eq!(large, Some("File: large (50000 lines)\n\n".len() + text.len() - 1));
        assert_eq!(client.read().json()["total_lines"], n + 1);
    }
    assert_eq!(client.read_what_comes(PATIENCE), b"");
}

#[test]
fn a_request_that_has_to_wait_is_waited_for() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &["--timeout=30"]);
    let edit = |text: &str| json!({ "name": "f", "append": text });
    let locked = lock(&folder, "f");
    let mut waiting: Vec<Connection> = [
        post_bytes("/edit_file", "", edit("rest").to_string().as_bytes()),
        post_bytes("/edit_file", "Connection: close\r\n", edit("closing").to_string().as_bytes()),
        post_bytes("/mcp", "", call(1, "edit_file", edit("mcp")).to_string().as_bytes()),
        stateless(&edit("stateless")),
        // With the next request of the same client behind it.
        [stateless(&edit("first")), post_bytes("/read_file", "", br#"{"name":"f"}"#)].concat(),
    ]
    .iter()
    .map(|bytes| that_sent(&server, bytes))
    .collect();
    until_a_lock_is_waited_for(server.pid());
    // The server has sent something to see whether the clients are still connected.
    waiting[..4].iter_mut().for_each(Connection::wait_for_bytes);
    drop(locked);
    for client in &mut waiting {
        let response = client.read();
        assert_eq!(response.status, 200, "{}", response.text());
    }
    assert_eq!(waiting[4].read().status, 200);
    let text = folder.text("f");
    assert_eq!(text.lines().count(), 6, "{text}");
}

#[test]
fn a_half_closed_client_that_disconnects_cancels_its_request() {
    not_under_wine!("wine does not tell of a reset on a connection whose end was read");
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &["--max-in-flight=1", "--timeout=30"]);
    let locked = lock(&folder, "f");
    let mut client = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    client.write_all(&stateless(&json!({ "name": "f", "append": "taken back" }))).expect("sent");
    client.shutdown(Shutdown::Write).expect("no more is sent");
    client.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    until_a_lock_is_waited_for(server.pid());
    // The server has sent a byte to see whether the client is still connected.
    assert_eq!(client.peek(&mut [0]).expect("a byte"), 1);
    // That request has the only place.
    let body = json!({ "name": "g", "append": "x", "create_if_missing": true });
    let mut other = server.connect();
    other.write(&post_bytes("/edit_file", "", body.to_string().as_bytes()));
    drop(client);
    assert_eq!(other.read().status, 200);
    drop(locked);
    assert_eq!(answer(&server, &stateless(&json!({ "name": "f", "append": "b" }))).status, 200);
    assert_eq!(folder.text("f"), "a\nb\n");
}

#[test]
fn half_a_request_is_refused_and_not_carried_out() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &[]);
    let body = json!({ "name": "f", "append": "x" }).to_string();
    for whole in [post_bytes("/edit_file", "", body.as_bytes()), chunked("/edit_file", body.as_bytes())] {
        for missing in [1, 2, 10] {
            let came = that_sent(&server, &whole[..whole.len() - missing]).read_what_comes(PATIENCE);
            let came = String::from_utf8_lossy(&came);
            assert!(came.starts_with("HTTP/1.1 400 "), "{missing} missing: {came}");
            assert_eq!(came.matches("HTTP/1.1").count(), 1, "{missing} missing: {came}");
        }
    }
    assert_eq!(folder.text("f"), "a\n");
}
