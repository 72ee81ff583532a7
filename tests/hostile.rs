//! Clients that lie, hang, flood and vanish (SPEC 8, a stuck server): memory stays within a bound, others are served
//! in the meantime, and the server ends in time in the midst of it.
//!
//! The bound, with a margin: [`IDLE`], [`A_CONNECTION`] for each connection, [`A_READER`] for each that does not take a
//! large answer, and [`BODIES`] times `--max-size` for all bodies together. Files are mapped and are nobody's memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Connection, Direct, Folder, Http, Mcp, PATIENCE, Stdio, anonymous_memory, post_bytes, while_others,
};

const MB: usize = 1_048_576;

/// What one connection may hold, whatever its client sends short of a large body: a head, buffers.
const A_CONNECTION: usize = MB / 8;

/// What one connection may hold whose client does not take a large answer: a few blocks of 64 KiB live, and what the
/// allocator keeps around them (measured: 1.2 to 3.3 MB). The file itself would be 50 MB.
const A_READER: usize = 8 * MB;

/// How many of the largest bodies are worth of memory: eight are held at once, a vector that grows is up to three times
/// its content, and the allocator keeps as much again (measured: 58 when 240 bodies follow each other).
const BODIES: usize = 96;

/// What a server may hold that has nothing to do: threads' caches, indexes of files seen (8 MB).
const IDLE: usize = 24 * MB;

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": "ping", "method": "ping" })
}

fn start(flags: &[&str]) -> (Folder, Http) {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let server = Http::start(&folder, flags);
    (folder, server)
}

/// Somebody who does nothing wrong gets what he asks for.
#[track_caller]
fn others_are_served(server: &Http) {
    assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na line");
    server.direct("list_files", json!({}));
}

/// The most that `server` held while `body` ran.
fn peak(pid: u32, body: impl FnOnce()) -> usize {
    let most = AtomicUsize::new(0);
    let look = || _ = most.fetch_max(anonymous_memory(pid), Ordering::Relaxed);
    while_others(look, body);
    most.into_inner()
}

#[track_caller]
fn check_bound(what: &str, peak: usize, bound: usize) {
    println!("{what}: {:.1} MB of {:.1} MB", peak as f64 / MB as f64, bound as f64 / MB as f64);
    assert!(peak < bound, "{what}: {peak} bytes are over the bound of {bound}");
}

/// Lines that are no message, or no sensible one; each must get one answer that is an error, or none at all.
fn nonsense() -> Vec<Vec<u8>> {
    let deep = |open: &str, n| open.repeat(n);
    let mut all: Vec<Vec<u8>> = [
        "garbage",
        "{",
        "}",
        "[",
        "nul",
        "\"text\"",
        "1e999",
        "-",
        "{}",
        "[]",
        "[[]]",
        "[{}]",
        "[1,2,3]",
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"none"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":"\ud800","method":"none"}"#,
        "\u{0}",
        "\u{feff}\u{feff}{}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into();
    let envelope = |arguments: &str| {
        let call = format!(r#"{{"name":"read_file","arguments":{arguments}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#).into_bytes()
    };
    for wrong in [
        "null",
        "7",
        "\"f\"",
        "true",
        "{}",
        "[\"f\"]",
        "{\"name\":{}}",
        "{\"name\":[\"f\"]}",
        "{\"name\":1e400}",
    ] {
        all.push(envelope(wrong));
    }
    for line in ["1e400", "-0.5", "\"0\"", "[]", "{}", "true", "99999999999999999999", "-1", "1e-9"] {
        all.push(envelope(&format!(r#"{{"name":"f","start_line":{line}}}"#)));
    }
    for open in ["[", "{\"a\":", "[{\"a\":"] {
        all.push(deep(open, 200_000).into_bytes());
        all.push(envelope(&deep(open, 200_000)));
        all.push(envelope(&format!(r#"{{"name":{}"#, deep(open, 200_000))));
    }
    let deep_and_closed = "[".repeat(100_000) + &"]".repeat(100_000);
    all.push(deep_and_closed.clone().into_bytes());
    all.push(envelope(&format!(r#"{{"name":"f","more":{deep_and_closed}}}"#)));
    all.extend([
        b"\xFF\xFE{\x00}\x00".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":\"\xC3(\",\"method\":\"ping\"}".to_vec(),
    ]);
    all.push((0..=255).filter(|byte| *byte != b'\n').collect());
    all
}

/// An answer to nonsense is an error and nothing but JSON. Calls off their form are tool failures.
#[track_caller]
fn check_error(sent: &[u8], answer: &Value) {
    let one = |answer: &Value| answer.get("error").is_some() || answer["result"]["isError"] == true;
    let all = answer.as_array().map_or_else(|| one(answer), |answers| answers.iter().all(one));
    assert!(all, "{:.100}: {answer:.300}", String::from_utf8_lossy(sent));
}

#[test]
fn garbage_and_deep_nesting_and_wrong_types_get_errors_and_the_next_request_its_answer() {
    let (folder, http) = start(&[]);
    let stdio = Stdio::start(&folder, &[]);
    for sent in nonsense() {
        stdio.send_raw(&[&sent, &b"\n"[..]].concat());
        stdio.send(&ping());
        let answer = loop {
            let answer = stdio.recv();
            if answer["id"] == "ping" {
                break answer;
            }
            check_error(&sent, &answer);
        };
        assert_eq!(answer["result"], json!({}));
        for path in ["/mcp", "/read_file", "/edit_file", "/list_files"] {
            let response = http.post_raw(path, &sent);
            let empty_list = path == "/list_files" && sent == b"{}";
            if response.status != 202 && !empty_list {
                check_error(&sent, &response.json());
            }
        }
    }
    others_are_served(&http);
    assert_eq!((folder.names(), folder.text("f")), (vec!["f".to_owned()], "a line\n".to_owned()));
}

#[test]
fn huge_lines_and_bodies_of_every_shape_hold_a_few_times_their_size_and_no_more() {
    let (folder, http) = start(&["--max-size=4"]);
    let stdio = Stdio::start(&folder, &["--max-size=4"]);
    folder.write("large", "line\n".repeat(4 * MB / 5));
    let fill = |head: &str, with: &str, tail: &str| {
        let times = (4 * MB - 200 - head.len() - tail.len()) / with.len();
        let body = with.repeat(times);
        format!("{head}{}{tail}", body.trim_end_matches(','))
    };
    let call = |name: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":"#)
    };
    let read = format!(r#"{}{{"name":"large","end_line":700000}}}}}},"#, call("read_file"));
    let shapes = [
        fill("[", "1,", "]"),
        fill("[", "{},", "]"),
        fill("[", &read, "]"),
        fill(&call("edit_file"), "[],", "]}}"),
        fill(&format!(r#"{}{{"name":"f","edits":["#, call("edit_file")), "{},", "]}}}"),
        fill(
            &format!(r#"{}{{"name":"f","edits":["#, call("edit_file")),
            r#"{"line":0,"operation":"insert","content":"x"},"#,
            "]}}}",
        ),
        fill(&format!(r#"{}{{"name":"f","x":{{"#, call("edit_file")), r#""a":1,"#, "\"b\":1}}}}"),
        fill(&format!(r#"{}{{"name":""#, call("read_file")), "n", "\"}}}"),
        fill(&format!(r#"{}{{"name":""#, call("read_file")), "\\u0041", "\"}}}"),
        fill(r#"{"jsonrpc":"2.0","id":""#, "i", r#"","method":"none"}"#),
        fill(r#"{"jsonrpc":"2.0","id":1,"method":""#, "m", "\"}"),
        fill("", " ", ""),
        fill("", "x", ""),
    ];
    for (n, shape) in shapes.iter().enumerate() {
        let most = peak(stdio.pid(), || {
            stdio.send_raw(format!("{shape}\n").as_bytes());
            stdio.send(&ping());
            while stdio.recv()["id"] != "ping" {}
        });
        check_bound(&format!("stdio, shape {n}"), most, BODIES * 4 * MB);
        let most = peak(http.pid(), || {
            let response = http.post_raw("/mcp", shape.as_bytes());
            assert!([200, 400].contains(&response.status), "{n}: {}", response.status);
        });
        check_bound(&format!("HTTP, shape {n}"), most, BODIES * 4 * MB);
    }
    // A batch within its bounds is carried out one by one: its answers do not lie in memory together.
    let batch = format!("[{}]", read.repeat(400).trim_end_matches(','));
    let most = peak(http.pid(), || {
        let mut connection = http.connect();
        let versioned = "MCP-Protocol-Version: 2025-03-26\r\n";
        connection.write(&post_bytes("/mcp", versioned, batch.as_bytes()));
        connection.wait_for_bytes();
        others_are_served(&http);
    });
    check_bound("a batch of 400 large reads", most, BODIES * 4 * MB);
    // A line that never ends is not kept.
    let most = peak(stdio.pid(), || {
        for _ in 0..64 {
            stdio.send_raw(&vec![b'x'; MB]);
        }
        stdio.send_raw(b"\n");
        assert_eq!(stdio.recv()["error"]["code"], -32600);
    });
    check_bound("a line of 64 MB", most, BODIES * 4 * MB);
    assert_eq!(folder.text("f"), "a line\n");
}

/// A request with more in its head than `Host` and a body of these bytes as they are.
fn shaped(head: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /edit_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{head}\r\n{body}"
    )
    .into_bytes()
}

#[test]
fn requests_that_two_readers_could_read_differently_smuggle_nothing() {
    let (folder, server) = start(&[]);
    folder.write("victim", "as it was\n");
    let smuggled = r#"{"name":"victim","append":"smuggled"}"#;
    let inner = String::from_utf8(post_bytes("/edit_file", "", smuggled.as_bytes())).expect("UTF-8");
    let (size, len) = (format!("{:x}", smuggled.len()), smuggled.len());
    let chunk = format!("{size}\r\n{smuggled}\r\n0\r\n\r\n");
    let shapes = [
        (
            "both lengths",
            shaped("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", &format!("0\r\n\r\n{inner}")),
        ),
        (
            "both, the other way round",
            shaped(
                &format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", inner.len() + 5),
                &format!("0\r\n\r\n{inner}"),
            ),
        ),
        ("two lengths", shaped(&format!("Content-Length: 0\r\nContent-Length: {len}\r\n"), smuggled)),
        ("a list of lengths", shaped(&format!("Content-Length: 0, {len}\r\n"), smuggled)),
        ("a length with a sign", shaped(&format!("Content-Length: +{len}\r\n"), smuggled)),
        ("a negative length", shaped("Content-Length: -1\r\n", smuggled)),
        ("a length in hexadecimal", shaped(&format!("Content-Length: 0x{size}\r\n"), smuggled)),
        ("a length with a space", shaped("Content-Length: 3 7\r\n", smuggled)),
        (
            "a length too large for any number",
            shaped("Content-Length: 99999999999999999999999\r\n", smuggled),
        ),
        ("an encoding that is not chunked", shaped("Transfer-Encoding: xchunked\r\n", &chunk)),
        ("chunked and something else", shaped("Transfer-Encoding: chunked, identity\r\n", &chunk)),
        ("compressed and chunked", shaped("Transfer-Encoding: gzip, chunked\r\n", &chunk)),
        (
            "the same in two headers",
            shaped("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n", &chunk),
        ),
        ("chunked by two names", shaped("Transfer-Encoding: identity, chunked\r\n", &chunk)),
        ("twice chunked", shaped("Transfer-Encoding: chunked, chunked\r\n", &chunk)),
        (
            "compressed and chunked, and a request behind it",
            shaped("Transfer-Encoding: gzip, chunked\r\n", &format!("0\r\n\r\n{inner}")),
        ),
        (
            "a compressed body",
            shaped(&format!("Content-Encoding: gzip\r\nContent-Length: {len}\r\n"), smuggled),
        ),
        ("chunked twice", shaped("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", &chunk)),
        (
            "a chunk size that is no number",
            shaped("Transfer-Encoding: chunked\r\n", &format!("zz\r\n{smuggled}\r\n0\r\n\r\n")),
        ),
        ("a chunk size with a sign", shaped("Transfer-Encoding: chunked\r\n", &format!("+{chunk}"))),
        ("a negative chunk size", shaped("Transfer-Encoding: chunked\r\n", &format!("-{chunk}"))),
        (
            "a chunk size too large for any number",
            shaped(
                "Transfer-Encoding: chunked\r\n",
                &format!("fffffffffffffffff\r\n{smuggled}\r\n0\r\n\r\n"),
            ),
        ),
        (
            "a chunk longer than it says",
            shaped("Transfer-Encoding: chunked\r\n", &format!("1\r\n{smuggled}\r\n0\r\n\r\n")),
        ),
        (
            "a folded header",
            shaped(
                &format!("X: a\r\n Content-Length: 0\r\nContent-Length: {len}\r\nY: b\r\n\tz\r\n"),
                smuggled,
            ),
        ),
        ("a header with NUL", shaped(&format!("X: a\0b\r\nContent-Length: {len}\r\n"), smuggled)),
        ("a header name with a space", shaped(&format!("Content-Length : {len}\r\n"), smuggled)),
        ("a header without a name", shaped(&format!(": x\r\nContent-Length: {len}\r\n"), smuggled)),
        (
            "a lone CR in a header",
            shaped(&format!("X: a\rTransfer-Encoding: chunked\r\nContent-Length: {len}\r\n"), smuggled),
        ),
    ];
    for (what, bytes) in shapes {
        let mut connection = server.connect();
        let _ = connection.try_write(&bytes);
        connection.end_sending();
        let came = String::from_utf8_lossy(&connection.read_what_comes(PATIENCE)).into_owned();
        assert!(!came.contains("200 OK"), "{what}: {came}");
        assert!(came.matches("HTTP/1.1").count() <= 1, "{what}: two answers to one request: {came}");
        assert_eq!(folder.text("victim"), "as it was\n", "{what}");
    }
    others_are_served(&server);
}

#[test]
fn a_request_that_says_in_two_ways_where_it_goes_must_mean_this_machine_by_both() {
    let (_folder, server) = start(&[]);
    let body = ping().to_string();
    let ask = |target: &str, hosts: &str| {
        let head = format!(
            "POST {target} HTTP/1.1\r\n{hosts}Content-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        server.raw(head.as_bytes()).status
    };
    assert_eq!(ask("/mcp", "Host: localhost\r\n"), 200);
    assert_eq!(ask("http://localhost/mcp", "Host: localhost\r\n"), 200);
    for (target, hosts) in [
        ("/mcp", "Host: localhost\r\nHost: evil.example\r\n"),
        ("/mcp", "Host: evil.example\r\nHost: localhost\r\n"),
        ("http://evil.example/mcp", "Host: localhost\r\n"),
        ("http://localhost/mcp", "Host: evil.example\r\n"),
        ("http://user@evil.example/mcp", "Host: localhost\r\n"),
        ("/mcp", "Host: localhost.evil.example\r\n"),
        ("/mcp", "Host: 127.0.0.1.evil.example\r\n"),
        ("/mcp", "Host: localhost@evil.example\r\n"),
        ("/mcp", "Host: \u{ff4c}ocalhost\r\n"),
        ("/mcp", "Host:\r\n"),
        ("/mcp", ""),
        ("/mcp", "X-Forwarded-Host: localhost\r\nHost: evil.example\r\n"),
    ] {
        let status = ask(target, hosts);
        assert!([400, 403].contains(&status), "{target} {hosts:?}: {status}");
    }
}

/// A head that says that `length` bytes will come.
fn head(path: &str, length: usize) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
}

#[test]
fn two_hundred_half_open_connections_hold_little_and_hold_nobody_up() {
    let (folder, server) = start(&[]);
    let before = anonymous_memory(server.pid());
    let mut halves: Vec<Connection> = Vec::new();
    let most = peak(server.pid(), || {
        for n in 0..200 {
            let mut half = server.connect();
            match n % 5 {
                0 => {}
                1 => half.write(b"POST /mcp HT"),
                2 => half.write(
                    format!("POST /mcp HTTP/1.1\r\nX: {}", "x".repeat(300_000))
                        .get(..60_000)
                        .expect("so much")
                        .as_bytes(),
                ),
                3 => half.write(format!("{}{{", head("/edit_file", 5 * MB)).as_bytes()),
                _ => half.write(format!("{}{}", head("/edit_file", 5 * MB), " ".repeat(60_000)).as_bytes()),
            }
            halves.push(half);
        }
        for _ in 0..20 {
            others_are_served(&server);
            server.direct(
                "edit_file",
                json!({ "name": "f", "edits": [{ "line": 1, "operation": "replace", "content": "a line" }] }),
            );
        }
    });
    check_bound("200 half-open connections", most.saturating_sub(before), IDLE + 200 * A_CONNECTION);
    assert_eq!(folder.text("f"), "a line\n");
    drop(halves);
    others_are_served(&server);
}

#[test]
fn senders_that_stop_in_the_middle_of_large_bodies_hold_up_only_each_other() {
    let (_folder, server) = start(&["--max-size=2"]);
    let before = anonymous_memory(server.pid());
    let mut senders = Vec::new();
    let most = peak(server.pid(), || {
        for _ in 0..40 {
            let mut sender = server.connect();
            sender.write(head("/edit_file", 2 * MB).as_bytes());
            // All but the end; where no more may be held the server says so and hangs up.
            let _ = sender.try_write(&vec![b' '; 2 * MB - 10]);
            senders.push(sender);
        }
        for _ in 0..20 {
            others_are_served(&server);
        }
    });
    check_bound(
        "40 bodies of 2 MB without their end",
        most.saturating_sub(before),
        IDLE + 3 * 8 * 2 * MB + 40 * A_CONNECTION,
    );
}

#[test]
fn past_the_memory_for_bodies_a_large_one_is_told_to_come_again_and_small_ones_are_taken() {
    let (_folder, server) = start(&["--max-size=2"]);
    let mut senders: Vec<Connection> = Vec::new();
    let busy = (0..200).find_map(|_| {
        let mut sender = server.connect();
        sender.write(head("/edit_file", 2 * MB).as_bytes());
        let _ = sender.try_write(&vec![b' '; 2 * MB - 10]);
        // One that is taken is not answered before its end has come.
        let answer = sender.has_bytes_within(Duration::from_millis(20)).then(|| sender.read());
        senders.push(sender);
        answer
    });
    let busy = busy.expect("200 bodies of 2 MB are held at once");
    assert_eq!((busy.status, busy.header("retry-after")), (503, Some("1")));
    others_are_served(&server);
    drop(senders);
    let whole =
        json!({ "name": "f", "edits": [{ "line": 1, "operation": "replace", "content": "x".repeat(MB) }] });
    let since = std::time::Instant::now();
    while server.post("/edit_file", &whole).status != 200 {
        assert!(since.elapsed() < PATIENCE, "the memory for bodies is not given back");
    }
}

#[test]
fn a_connection_whose_answer_is_on_its_way_stays_open_however_many_come() {
    let folder = Folder::new();
    folder.write("large", "some text in a line\n".repeat(20 * MB / 20));
    let binary = crate::support::command(&folder, "http", &["--port=0", "--max-size=100"]);
    let server = Http::run(crate::support::with_descriptors(&binary, 64));
    let mut reader = server.connect();
    reader.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#));
    reader.wait_for_bytes();
    for _ in 0..200 {
        assert_eq!(server.connect().post("/mcp", &ping()).status, 200);
    }
    // Some of them wait to be accepted.
    let idle: Vec<_> = (0..100).map(|_| server.connect()).collect();
    assert_eq!(reader.read().json()["content"].as_str().map(str::len), Some(20 * MB / 20 * 20 - 1));
    drop(idle);
}

#[test]
fn a_head_that_never_ends_is_refused_before_it_holds_much() {
    let (_folder, server) = start(&[]);
    let mut connection = server.connect();
    let most = peak(server.pid(), || {
        connection.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n");
        for n in 0..100_000 {
            if connection.try_write(format!("X-{n}: {}\r\n", "x".repeat(100)).as_bytes()).is_err() {
                break;
            }
        }
        others_are_served(&server);
    });
    check_bound("a head without end", most, IDLE);
    let came = connection.read_what_comes(PATIENCE);
    assert!(came.is_empty() || came.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&came));
}

#[test]
fn readers_that_take_nothing_of_a_large_answer_hold_a_few_blocks_each() {
    const READERS: usize = 100;
    let (folder, server) = start(&["--max-size=100"]);
    folder.write("large", "some text in a line\n".repeat(50 * MB / 20));
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "read_file", "arguments": { "name": "large" } } });
    // Once before: the index of the file is remembered.
    assert_eq!(server.post("/read_file", &json!({ "name": "large", "end_line": 1 })).status, 200);
    let before = anonymous_memory(server.pid());
    let mut readers = Vec::new();
    let most = peak(server.pid(), || {
        for n in 0..READERS {
            let mut reader = server.connect();
            match n % 2 {
                0 => reader.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#)),
                _ => reader.write(&post_bytes("/mcp", "", call.to_string().as_bytes())),
            }
            readers.push(reader);
        }
        for reader in &mut readers {
            reader.wait_for_bytes();
        }
        for _ in 0..20 {
            others_are_served(&server);
        }
    });
    check_bound("100 slow readers of 50 MB", most.saturating_sub(before), IDLE + READERS * A_READER);
    // One of them goes on and gets all of it; the others vanish in the middle.
    let whole = readers.swap_remove(0).read();
    assert_eq!(whole.json()["content"].as_str().map(str::len), Some(50 * MB / 20 * 20 - 1));
    drop(readers);
    others_are_served(&server);
}

#[test]
fn clients_that_vanish_in_the_middle_of_an_upload_or_an_answer_leave_nothing_behind() {
    let (folder, server) = start(&["--sync=none"]);
    folder.write("large", "some text in a line\n".repeat(5 * MB / 20));
    let body = json!({ "name": "g", "append": "x".repeat(MB), "create_if_missing": true }).to_string();
    let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", server.pid())).expect("a process").count();
    others_are_served(&server);
    let before = descriptors();
    for n in 0..300 {
        let mut client = server.connect();
        match n % 3 {
            0 => client.write(&post_bytes("/edit_file", "", body.as_bytes())[..MB / 2]),
            1 => client.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#)),
            _ => {
                client.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#));
                client.wait_for_bytes();
            }
        }
    }
    others_are_served(&server);
    assert_eq!(folder.names(), ["f", "large"]);
    // Connections and maps are given back: each of them is a descriptor.
    let end = std::time::Instant::now() + PATIENCE;
    while descriptors() > before + 5 {
        assert!(
            std::time::Instant::now() < end,
            "{} descriptors are still open, {before} before",
            descriptors()
        );
        std::thread::yield_now();
    }
}

#[test]
fn bodies_over_the_limit_are_refused_however_their_length_is_told_and_hold_nothing() {
    let (folder, server) = start(&["--max-size=1"]);
    let most = peak(server.pid(), || {
        for _ in 0..20 {
            let mut announced = server.connect();
            announced.write(head("/edit_file", 2 * MB).as_bytes());
            let _ = announced.try_write(&vec![b' '; 2 * MB]);
            assert!(announced.try_read().map_or(true, |response| response.status == 413));
            let mut lying = server.connect();
            lying.write(head("/edit_file", usize::MAX / 4).as_bytes());
            assert_eq!(lying.read().status, 413);
            let mut chunked = server.connect();
            chunked.write(&shaped("Transfer-Encoding: chunked\r\n", ""));
            let chunk = [format!("{MB:x}\r\n").as_bytes(), &vec![b' '; MB], b"\r\n"].concat();
            let _ = (0..3).try_for_each(|_| chunked.try_write(&chunk));
            match chunked.try_read() {
                Ok(response) => assert_eq!(response.status, 413),
                Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "it takes all"),
            }
        }
    });
    check_bound("bodies over the limit", most, IDLE);
    others_are_served(&server);
    assert_eq!(folder.names(), ["f"]);
}

#[test]
fn a_thousand_connections_hold_little_others_are_served_and_the_end_comes_in_time() {
    const CONNECTIONS: usize = 1_000;
    let (folder, server) = start(&["--timeout=30", "--max-size=100"]);
    folder.write("large", "some text in a line\n".repeat(50 * MB / 20));
    folder.write("locked", "a\n");
    let _locked = crate::errors_system::lock(&folder, "locked");
    let before = anonymous_memory(server.pid());
    let mut connections = Vec::new();
    let most = peak(server.pid(), || {
        for n in 0..CONNECTIONS {
            let mut connection = server.connect();
            match n % 10 {
                0..5 => {}
                5 => connection.write(b"POST /mcp HTTP/1.1\r\nHost:"),
                6 => connection.write(format!("{}{{", head("/mcp", 100)).as_bytes()),
                7 => connection.write(&post_bytes("/edit_file", "", br#"{"name":"locked","append":"x"}"#)),
                8 if n < 200 => connection.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#)),
                _ => connection.write(&post_bytes("/mcp", "", ping().to_string().as_bytes())),
            }
            connections.push(connection);
        }
        for _ in 0..20 {
            others_are_served(&server);
        }
    });
    check_bound(
        "1,000 connections",
        most.saturating_sub(before),
        IDLE + CONNECTIONS * A_CONNECTION + 20 * A_READER,
    );
    server.signal(Signal::TERM);
    // Long before those that wait for the lock give up; that it takes 2 s at most, tests/http.rs says.
    assert_eq!(server.wait(Duration::from_secs(5)).code(), Some(0));
    assert_eq!(
        (folder.text("locked"), folder.names()),
        ("a\n".into(), vec!["f".into(), "large".into(), "locked".into()])
    );
}

#[test]
fn more_connections_than_there_may_be_wait_until_others_end_and_hold_up_no_stop() {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let binary = crate::support::command(&folder, "http", &["--port=0"]);
    let server = Http::run(crate::support::with_descriptors(&binary, 200));
    for _ in 0..10 {
        let all: Vec<_> = (0..200).map(|_| server.connect()).collect();
        drop(all);
        others_are_served(&server);
    }
    let _all: Vec<_> = (0..200).map(|_| server.connect()).collect();
    server.signal(Signal::TERM);
    assert_eq!(server.wait(Duration::from_secs(5)).code(), Some(0));
}
