//! Notifications on stdio: lines of their own, between answers.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{done, leased, listing};
use crate::search::{SLOW, ab_letters};
use crate::support::{
    Folder, HANDSHAKE, Mcp, STATELESS, Stdio, call, cancelled, ping, read_call, request, text_of,
};

#[test]
fn a_listing_that_takes_long_says_how_far_it_is_in_every_revision() {
    not_under_wine!("holds a file by a lease");
    std::thread::scope(|scope| {
        for (revision, token) in HANDSHAKE.into_iter().chain([STATELESS]).zip([
            json!("t"),
            json!(0),
            json!(""),
            json!(-7),
            json!("ä\n\""),
        ]) {
            scope.spawn(move || {
                let Some((folder, one, other)) = leased() else { return };
                let server = Stdio::start(&folder, &[]);
                if revision != STATELESS {
                    server.begin(revision);
                }
                let start = Instant::now();
                server.send(&listing(revision, "list", &token));
                assert_eq!(server.recv(), done(&token, 2), "{revision}");
                assert!(start.elapsed() >= Duration::from_millis(500));
                drop(one);
                assert_eq!(server.recv(), done(&token, 3), "{revision}");
                drop(other);
                let answer = server.recv();
                assert!(answer["id"] == "list" && text_of(&answer).ends_with("Total files: 4"), "{answer}");
                server.close_stdin();
                assert_eq!(server.rest_of_output(), [""; 0], "nothing comes after the answer");
            });
        }
    });
}

#[test]
fn a_search_in_one_large_file_says_how_many_of_its_bytes_are_done() {
    let folder = Folder::new();
    let letters = ab_letters(16 << 20);
    let lines: Vec<&[u8]> = letters.as_bytes().chunks(1 << 10).collect();
    folder.write("large", lines.join(&b'\n'));
    let server = Stdio::start(&folder, &["--tools=search", "--max-file=100", "--timeout=60"]).ready();
    let arguments = json!({ "pattern": SLOW, "path": "large" });
    server.send(&super::watched("", "search", "grep", &arguments, &json!("t")));
    let first = server.recv();
    let params = &first["params"];
    assert_eq!(first["method"], "notifications/progress", "{first}");
    let (done, total) = (params["progress"].as_u64(), params["total"].as_u64());
    assert!(total == Some((1025 << 14) - 1) && done > Some(0) && done < total, "{first}");
    server.send(&cancelled("search"));
}

#[test]
fn only_a_call_with_a_token_that_takes_long_is_notified() {
    not_under_wine!("holds a file by a lease");
    let Some((folder, one, other)) = leased() else { return };
    let server = Stdio::start(&folder, &[]).ready();
    server.send(&listing("", "with", &json!("t")));
    one.until_a_process_waits();
    server.send(&call("without", "list_files", json!({})));
    // Neither takes long, although one gives a token.
    server.send(&super::watched("", "short", "read_file", &json!({ "name": "a" }), &json!("short")));
    assert_eq!(server.recv()["id"], "short");
    // No token.
    for (id, token) in [("null", json!(null)), ("fraction", json!(1.5)), ("array", json!([1]))] {
        server.send(&listing("", id, &token));
    }
    assert_eq!(server.recv(), done(&json!("t"), 2));
    drop((one, other));
    let mut rest: Vec<Value> = (0..5).map(|_| server.recv()).collect();
    rest.sort_by_key(|message| message["id"].as_str().map(str::to_owned));
    let ids: Vec<&Value> = rest.iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, ["array", "fraction", "null", "with", "without"]);
    server.close_stdin();
    assert_eq!(server.rest_of_output(), [""; 0]);
}

#[test]
fn a_notification_stands_between_large_answers_and_never_in_one() {
    not_under_wine!("holds a file by a lease");
    let Some((folder, one, other)) = leased() else { return };
    folder.write("b", "some words in a line\n".repeat(200_000));
    let server = Stdio::start(&folder, &[]).ready();
    server.send(&listing("", "list", &json!("t")));
    one.until_a_process_waits();
    let mut reads = 0;
    let notification = loop {
        server.send(&read_call(reads, "b"));
        server.send(&read_call(reads + 1, "b"));
        reads += 2;
        // Each line is JSON, or the client panics.
        match server.recv() {
            message if message["method"].is_string() => break message,
            answer => assert!(text_of(&answer).len() > 4_000_000),
        }
    };
    assert_eq!(notification, done(&json!("t"), 2));
    drop((one, other));
    server.close_stdin();
    let rest = server.rest_of_output();
    assert!(rest.iter().all(|line| line.contains("\"id\":")) && rest.len() > 1);
}

#[test]
fn a_call_in_a_batch_is_notified_before_the_array() {
    not_under_wine!("holds a file by a lease");
    let Some((folder, one, other)) = leased() else { return };
    let server = Stdio::start(&folder, &[]);
    server.begin("2025-03-26");
    server.send(&json!([ping("ping"), listing("", "list", &json!(7)), request("r", "ping", json!({}))]));
    assert_eq!(server.recv(), done(&json!(7), 2));
    drop((one, other));
    let answers = server.recv();
    let ids: Vec<&Value> = answers.as_array().expect("an array").iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, ["ping", "list", "r"]);
    server.close_stdin();
    assert_eq!(server.rest_of_output(), [""; 0]);
}
