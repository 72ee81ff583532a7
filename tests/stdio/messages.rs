//! Messages on stdin and stdout: framing, ids, order, the end of input (contract 6.4, JSON-RPC base).

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{
    Folder, MB, Mcp, PATIENCE, Stdio, append_call, lock, mostly_within, read_call, until_a_lock_is_waited_for,
};

const PING: &str = r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#;

fn start() -> (Folder, Stdio) {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    (folder, server)
}

/// Sends a line, with its break.
fn line(server: &Stdio, text: &str) {
    server.send_raw(format!("{text}\n").as_bytes());
}

/// Asserts that the next message is the answer to a ping, and that no message comes before it.
#[track_caller]
fn only_a_ping_is_answered(server: &Stdio) {
    line(server, PING);
    assert_eq!(server.recv(), json!({ "jsonrpc": "2.0", "id": "ping", "result": {} }));
}

#[track_caller]
fn check_error(server: &Stdio, code: i64, id: &Value) {
    let answer = server.recv();
    assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), Some(id)), "{answer}");
    assert!(answer["error"]["message"].is_string() && answer.get("result").is_none(), "{answer}");
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
}

/// The id of an answer as it stands in the bytes.
fn raw_id(line: &str) -> String {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        id: &'a RawValue,
    }
    serde_json::from_str::<Answer>(line).unwrap_or_else(|error| panic!("{error}: {line}")).id.get().to_owned()
}

#[test]
fn blank_lines_crlf_and_a_bom_at_the_start_are_tolerated() {
    let (_folder, server) = start();
    server.send_raw(format!("\u{FEFF}{PING}\r\n\n\r\n   \n\t\r\n").as_bytes());
    assert_eq!(server.recv()["id"], "ping");
    only_a_ping_is_answered(&server);
    server.send_raw(format!("  {PING} \r\n").as_bytes());
    assert_eq!(server.recv()["id"], "ping");
}

#[test]
fn a_line_that_is_not_json_is_a_parse_error_with_id_null_and_the_next_line_works() {
    let (_folder, server) = start();
    let garbage: [&[u8]; 10] = [
        b"garbage",
        b"{",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"",
        b"[",
        b"\xFF\xFE",
        b"\0",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} x",
        b"{'jsonrpc':'2.0'}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xE9ng\"}",
        b"NaN",
    ];
    for bytes in garbage {
        server.send_raw(&[bytes, b"\n"].concat());
        check_error(&server, -32700, &Value::Null);
        only_a_ping_is_answered(&server);
    }
}

#[test]
fn json_that_is_no_request_is_an_invalid_request() {
    let (_folder, server) = start();
    for text in
        ["5", "\"ping\"", "null", "true", "{}", r#"{"jsonrpc":"2.0"}"#, r#"{"method":5,"jsonrpc":"2.0"}"#]
    {
        line(&server, text);
        check_error(&server, -32600, &Value::Null);
    }
    // An id that can be read is in the error.
    for text in [
        r#"{"jsonrpc":"2.0","id":3}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":5}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":null}"#,
        r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":3,"method":"ping"}"#,
        r#"{"id":3,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":"x"}"#,
    ] {
        line(&server, text);
        check_error(&server, -32600, &json!(3));
    }
    only_a_ping_is_answered(&server);
}

#[test]
fn an_id_is_echoed_exactly_as_it_was_sent() {
    let (_folder, server) = start();
    for id in [
        "1",
        "0",
        "-1",
        "\"7\"",
        "\"\"",
        "\"a b\"",
        "9007199254740993",
        "18446744073709551616",
        "123456789012345678901234567890",
        "-9223372036854775809",
        "1.0",
        "\"\u{e9}\u{6f22}\"",
    ] {
        line(&server, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(raw_id(&server.recv_line()), id);
        // In an error and in a tool's answer too, and with the members in another order.
        line(&server, &format!(r#"{{"method":"no/such","id":{id},"jsonrpc":"2.0"}}"#));
        assert_eq!(raw_id(&server.recv_line()), id);
        line(
            &server,
            &format!(
                r#"{{"id":{id},"params":{{"name":"list_files"}},"method":"tools/call","jsonrpc":"2.0"}}"#
            ),
        );
        assert_eq!(raw_id(&server.recv_line()), id);
    }
}

#[test]
fn an_id_of_another_kind_is_an_invalid_request() {
    let (_folder, server) = start();
    for id in ["1.5", "null", "true", "[1]", "{}", "1e-1"] {
        line(&server, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        check_error(&server, -32600, &Value::Null);
    }
    only_a_ping_is_answered(&server);
}

#[test]
fn notifications_are_never_answered_and_never_carry_out_a_request() {
    let (folder, server) = start();
    let edit = json!({ "name": "edit_file", "arguments": { "name": "f", "append": "x" } });
    for (method, params) in [
        ("notifications/initialized", json!({})),
        ("notifications/unknown", json!({ "x": 1 })),
        ("notifications/cancelled", json!({ "requestId": 99 })),
        ("notifications/cancelled", json!({})),
        ("no/such/method", json!({})),
        ("ping", json!({})),
        ("tools/call", edit),
        ("tools/call", json!({ "name": "no such tool" })),
        ("edit_file", json!({ "name": "f", "append": "x", "create_if_missing": true })),
        ("read_file", json!({ "name": "missing" })),
    ] {
        server.notify(method, params);
    }
    only_a_ping_is_answered(&server);
    assert!(server.close().success());
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn responses_from_the_client_are_ignored() {
    let (_folder, server) = start();
    line(&server, r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    line(&server, r#"{"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"no"}}"#);
    only_a_ping_is_answered(&server);
}

#[test]
fn an_unknown_method_is_not_found() {
    let (_folder, server) = start();
    for method in ["no/such", "", "tools/Call", "initialise", "logging/setLevel", "completion/complete"] {
        let answer = server.request(method, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[test]
fn a_line_over_the_limit_is_an_invalid_request_and_the_next_line_is_read() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--max-size=1"]);
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "y".repeat(3 * MB));
    for _ in 0..2 {
        line(&server, &long);
        check_error(&server, -32600, &Value::Null);
        only_a_ping_is_answered(&server);
    }
    // One that fits.
    let fits =
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"ping","params":{{"x":"{}"}}}}"#, "y".repeat(MB - 200));
    line(&server, &fits);
    assert_eq!(server.recv()["id"], 2);
}

#[test]
fn deep_nesting_is_refused_and_harms_nothing() {
    let (_folder, server) = start();
    let deep = "[".repeat(200_000);
    line(&server, &deep);
    assert!(server.recv()["error"]["code"].is_i64());
    let closed = format!("{deep}{}", "]".repeat(200_000));
    line(&server, &closed);
    assert!(server.recv()["error"]["code"].is_i64());
    for members in [format!(r#""id":{closed}"#), format!(r#""id":3,"params":{closed}"#)] {
        line(&server, &format!(r#"{{"jsonrpc":"2.0","method":"tools/list",{members}}}"#));
        assert!(server.recv()["error"]["code"].is_i64());
    }
    let objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    line(
        &server,
        &format!(
            r#"{{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{{"name":"list_files","arguments":{objects}}}}}"#
        ),
    );
    // Either error is correct.
    let answer = server.recv();
    assert!(answer["error"]["code"].is_i64() || answer["result"]["isError"] == true, "{answer}");
    server.request("ping", json!({}));
}

#[test]
fn requests_with_one_id_are_each_answered() {
    let (_folder, server) = start();
    server.send_raw(format!("{PING}\n{PING}\n{PING}\n").as_bytes());
    for _ in 0..3 {
        assert_eq!(server.recv()["id"], "ping");
    }
}

#[test]
fn a_message_may_come_in_pieces_and_several_at_once() {
    let (_folder, server) = start();
    for piece in PING.as_bytes().chunks(7) {
        server.send_raw(piece);
    }
    server.send_raw(format!("\n{PING}\n{}", &PING[..20]).as_bytes());
    assert_eq!((&server.recv()["id"], &server.recv()["id"]), (&json!("ping"), &json!("ping")));
    server.send_raw(format!("{}\n", &PING[20..]).as_bytes());
    assert_eq!(server.recv()["id"], "ping");
}

#[test]
fn what_is_in_work_at_the_end_of_input_is_finished_and_the_exit_code_is_0() {
    let (folder, server) = start();
    let mut input = String::new();
    for n in 0..100 {
        input += &format!("{}\n", append_call(n, &format!("f{}", n % 5), &n.to_string()));
    }
    // The last message lacks its line break.
    input += PING;
    server.send_raw(input.as_bytes());
    server.close_stdin();
    let mut ids: Vec<i64> = Vec::new();
    let mut pings = 0;
    for line in server.rest_of_output() {
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        match answer["id"].as_i64() {
            Some(id) => {
                assert_eq!(answer["result"]["isError"], false, "{answer}");
                ids.push(id);
            }
            None => pings += 1,
        }
    }
    ids.sort_unstable();
    assert_eq!((ids, pings), ((0..100).collect(), 1));
    assert_eq!(server.wait(Duration::from_secs(10)).code(), Some(0));
    let lines: usize = (0..5).map(|n| folder.text(&format!("f{n}")).lines().count()).sum();
    assert_eq!(lines, 100);
}

#[test]
fn what_waits_for_a_lock_at_the_end_of_input_is_finished_however_long_that_takes() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &[]).ready();
    let held = lock(&folder, "f");
    server.send(&append_call(1, "f", "b"));
    server.close_stdin();
    until_a_lock_is_waited_for(server.pid());
    // Longer than a server that does not wait for work stays.
    std::thread::sleep(Duration::from_millis(2_500));
    drop(held);
    let answers = server.rest_of_output();
    assert!(
        answers.iter().any(|line| line.contains("\"id\":1") && line.contains("\"isError\":false")),
        "{answers:?}"
    );
    assert_eq!(folder.text("f"), "a\nb\n");
}

#[test]
fn a_closed_stdin_ends_the_server_at_once() {
    let (_folder, server) = start();
    only_a_ping_is_answered(&server);
    assert_eq!(server.close().code(), Some(0));
}

/// Returns when a write of the file would get another time: from then on its index may be kept.
fn until_the_clock_ticks(path: &Path) {
    let written = path.metadata().and_then(|found| found.modified()).expect("a file");
    while SystemTime::now().duration_since(written).is_ok_and(|age| age < Duration::from_millis(50)) {
        std::thread::yield_now();
    }
}

#[test]
fn pipelined_edits_and_reads_of_one_file_are_carried_out_in_the_order_in_which_they_came() {
    let folder = Folder::new();
    folder.write("f", "start\n");
    let server = Stdio::start(&folder, &["--sync=none", "--timeout=30"]);
    // The index of the file is kept: a read that does not wait for its turn has its answer at once.
    until_the_clock_ticks(&folder.path().join("f"));
    server.ok("read_file", json!({ "name": "f" }));
    // The first edit waits, and with it all that comes after it for the same file.
    let locked = lock(&folder, "f");
    for n in 0..50 {
        server.send(&append_call(format!("edit {n}"), "f", &n.to_string()));
        server.send(&read_call(format!("read {n}"), "f"));
    }
    until_a_lock_is_waited_for(server.pid());
    only_a_ping_is_answered(&server);
    drop(locked);
    let mut lines = vec!["start".to_owned()];
    for n in 0..50 {
        let edit = server.recv();
        assert_eq!((&edit["id"], &edit["result"]["isError"]), (&json!(format!("edit {n}")), &json!(false)));
        lines.push(n.to_string());
        let read = server.recv();
        assert_eq!(read["id"], json!(format!("read {n}")));
        let wanted = format!("File: f ({} lines)\n\n{}", lines.len(), lines.join("\n"));
        assert_eq!(read["result"]["content"][0]["text"], wanted);
    }
}

#[test]
fn a_read_of_several_files_waits_for_the_earlier_calls_for_each_of_them() {
    let folder = Folder::new();
    folder.write("f", "old");
    folder.write("g", "g");
    let server = Stdio::start(&folder, &["--sync=none", "--timeout=30", "--tools=filesystem"]);
    let call = |id: &str, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    };
    let locked = lock(&folder, "f");
    call("write", "write_file", json!({ "path": "f", "content": "new" }));
    call("read", "read_multiple_files", json!({ "paths": ["g", "f"] }));
    until_a_lock_is_waited_for(server.pid());
    only_a_ping_is_answered(&server);
    drop(locked);
    assert_eq!(server.recv()["id"], json!("write"));
    assert_eq!(server.recv()["result"]["content"][0]["text"], json!("g:\ng\n\n---\nf:\nnew\n"));
}

#[test]
fn sigterm_and_sigint_end_an_idle_server_with_code_0_within_2_seconds() {
    for signal in [Signal::TERM, Signal::INT] {
        // Less than the time after which a server ends that the signal does not wake.
        mostly_within(Duration::from_millis(1_200), || {
            let (_folder, server) = start();
            only_a_ping_is_answered(&server);
            let since = Instant::now();
            server.signal(signal);
            assert_eq!(server.wait(PATIENCE).code(), Some(0));
            since.elapsed()
        });
    }
}
