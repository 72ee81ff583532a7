//! What a server writes, and where: the ready line and the log on stderr, messages alone on stdout (contract 2).

use serde_json::json;

use crate::support::{Folder, Http, Mcp, Stdio, call, named};

#[test]
fn when_ready_one_line_on_stderr_says_what_is_served_where_and_how_long_the_start_took() {
    let folder = Folder::new();
    // Text has a backslash twice.
    let path = named(folder.path()).replace('\\', r"\\");
    let server = Http::start(&folder, &[]);
    let url = format!("http://127.0.0.1:{}", server.port());
    let (stdout, log) = server.terminate_with_output();
    let ready: Vec<&str> = log.lines().filter(|line| line.contains(&url)).collect();
    assert_eq!((stdout.as_slice(), ready.len()), (&b""[..], 1), "{log}");
    assert!(ready[0].contains(&path) && says_how_long(ready[0]), "{log}");

    let server = Stdio::start(&folder, &[]);
    let ready = server.wait_for_stderr(&path);
    assert!(ready.contains("stdio") && says_how_long(&ready), "{ready}");
    assert_eq!(server.close().code(), Some(0));
}

/// Whether the line holds a number and a unit of time.
fn says_how_long(line: &str) -> bool {
    ["ms", "\u{b5}s", "us", "s"].iter().any(|unit| {
        line.match_indices(unit).any(|(at, _)| {
            let before = line[..at].trim_end();
            let after = line[at + unit.len()..].chars().next();
            before.ends_with(|c: char| c.is_ascii_digit()) && after.is_none_or(|c| !c.is_alphanumeric())
        })
    }) || line.contains("_ms")
}

#[test]
fn the_log_goes_to_stderr_at_every_level_and_stdout_carries_messages_alone() {
    for format in ["--log-format=text", "--log-format=json"] {
        let folder = Folder::new();
        let server = Stdio::start(&folder, &["--log-level=trace", format]);
        server.begin("2025-11-25");
        server.ok("edit_file", json!({ "name": "f", "append": "x" }));
        server.refused("read_file", json!({ "name": "missing" }));
        server.send_raw(b"garbage\n");
        assert_eq!(server.recv()["error"]["code"], -32700);
        server.close_stdin();
        assert_eq!(server.rest_of_output(), [""; 0]);
        server.wait_for_stderr("missing");
        let log = server.stderr();
        if format == "--log-format=json" {
            for line in log.lines() {
                let entry: serde_json::Value =
                    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
                assert!(entry.is_object(), "{line}");
            }
        }
    }
}

#[test]
fn every_failure_is_logged_with_operation_file_request_id_and_code() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--log-format=json"]);
    let arguments = json!({ "name": "not-there.txt" });
    server.send(&call("request-4711", "read_file", arguments));
    assert_eq!(server.recv()["result"]["isError"], true);
    let line = server.wait_for_stderr("-32001");
    for part in ["read_file", "request-4711", "not-there.txt"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}
