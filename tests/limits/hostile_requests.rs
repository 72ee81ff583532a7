//! Requests that are garbage, huge, or ambiguous (contract 8): each gets an error, memory stays within its bound, and the
//! next request is answered.

use serde_json::{Value, json};

use super::bounds::{BODIES, IDLE, check_bound, others_are_served, peak, shaped, start};
use crate::support::{MB, PATIENCE, Stdio, anonymous_memory, at_once, ping, post_bytes};

/// Lines that are no valid message. Each must get one error as its answer, or no answer.
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
    for line in ["1e400", "-0.5", "\"x\"", "[]", "{}", "true", "99999999999999999999", "1e-9"] {
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

/// Asserts that the answer is an error. A call with wrong arguments is a tool failure.
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
        stdio.send(&ping("ping"));
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
    not_under_wine!("files are read into the heap there, also those of a batch");
    const MOST: usize = 2 * MB;
    let (folder, http) = start(&["--max-size=2"]);
    let stdio = Stdio::start(&folder, &["--max-size=2"]);
    folder.write("large", "line\n".repeat(MOST / 5));
    let fill = |head: &str, with: &str, tail: &str| {
        let times = (MOST - 200 - head.len() - tail.len()) / with.len();
        let body = with.repeat(times);
        format!("{head}{}{tail}", body.trim_end_matches(','))
    };
    let call = |name: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":"#)
    };
    let read = format!(r#"{}{{"name":"large","end_line":350000}}}}}},"#, call("read_file"));
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
        let over_stdio = || {
            let most = peak(stdio.pid(), || {
                stdio.send_raw(format!("{shape}\n").as_bytes());
                stdio.send(&ping("ping"));
                while stdio.recv()["id"] != "ping" {}
            });
            check_bound(&format!("stdio, shape {n}"), most, BODIES * MOST);
        };
        let over_http = || {
            let most = peak(http.pid(), || {
                let response = http.post_raw("/mcp", shape.as_bytes());
                assert!([200, 400].contains(&response.status), "{n}: {}", response.status);
            });
            check_bound(&format!("HTTP, shape {n}"), most, BODIES * MOST);
        };
        at_once(over_stdio, over_http);
    }
    // The requests of a batch are carried out one by one: their answers are not in memory together.
    let batch = format!("[{}]", read.repeat(400).trim_end_matches(','));
    let most = peak(http.pid(), || {
        let mut connection = http.connect();
        let versioned = "MCP-Protocol-Version: 2025-03-26\r\n";
        connection.write(&post_bytes("/mcp", versioned, batch.as_bytes()));
        connection.wait_for_bytes();
        others_are_served(&http);
    });
    check_bound("a batch of 400 large reads", most, BODIES * MOST);
    // A line that is far too long is not kept. A fresh server shows it: an allocator keeps memory of earlier requests.
    let stdio = Stdio::start(&folder, &["--max-size=2"]).ready();
    let before = anonymous_memory(stdio.pid());
    let most = peak(stdio.pid(), || {
        for _ in 0..64 {
            stdio.send_raw(&vec![b'x'; MB]);
        }
        stdio.send_raw(b"\n");
        assert_eq!(stdio.recv()["error"]["code"], -32600);
    });
    check_bound("a line of 64 MB", most.saturating_sub(before), IDLE);
    assert_eq!(folder.text("f"), "a line\n");
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
    let body = ping("ping").to_string();
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
