//! A call over HTTP that takes long: a stream of events, if the client accepts it and gives a token.

use serde_json::{Value, json};

use super::{done, leased, listing, watched};
use crate::support::{
    Connection, Event, EventStream, Folder, HANDSHAKE, Http, Lease, STATELESS, headers, lock, post_bytes,
    text_of, until_or,
};

const ACCEPT: &str = "Accept: application/json, text/event-stream\r\n";

/// Sends a request in this revision, with further header lines.
fn send(server: &Http, revision: &str, further: &str, request: &Value) -> Connection {
    let mut connection = server.connect();
    connection.write(&bytes(revision, further, request));
    connection
}

fn bytes(revision: &str, further: &str, request: &Value) -> Vec<u8> {
    let named = if revision == STATELESS {
        headers("tools/call", &request["params"])
    } else {
        format!("MCP-Protocol-Version: {revision}\r\n")
    };
    post_bytes("/mcp", &format!("{named}{further}"), request.to_string().as_bytes())
}

#[test]
fn a_listing_that_takes_long_is_a_stream_of_events_in_every_revision() {
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
                let server = Http::start(&folder, &[]);
                let mut events =
                    EventStream::begin(send(&server, revision, ACCEPT, &listing(revision, "list", &token)));
                assert_eq!(events.message(), done(&token, 2), "{revision}");
                drop(one);
                assert_eq!(events.message(), done(&token, 3), "{revision}");
                drop(other);
                let answer = events.message();
                assert!(answer["id"] == "list" && text_of(&answer).ends_with("Total files: 4"), "{answer}");
                // The connection goes on, and what does not take long is one object.
                let mut connection = events.end();
                connection.write(&bytes(revision, ACCEPT, &listing(revision, "again", &token)));
                let again = connection.read();
                assert_eq!(again.header("content-type"), Some("application/json; charset=utf-8"));
                assert_eq!(text_of(&again.json()), text_of(&answer));
            });
        }
    });
}

#[test]
fn without_a_token_or_without_acceptance_the_answer_is_one_object() {
    not_under_wine!("holds a file by a lease");
    let Some((folder, one, other)) = leased() else { return };
    let server = Http::start(&folder, &[]);
    let mut without = listing("", "list", &json!(1));
    without["params"]["_meta"] = json!({});
    let with = listing("", "list", &json!(1));
    let plain = [
        (ACCEPT, &without),
        ("", &with),
        ("Accept: application/json, */*\r\n", &with),
        ("Accept: text/event-stream;q=0, */*\r\n", &with),
    ];
    let waiting = plain.map(|(accept, request)| send(&server, HANDSHAKE[2], accept, request));
    // When this one is a stream, all of them have taken long.
    let mut events = EventStream::begin(send(&server, HANDSHAKE[2], ACCEPT, &with));
    drop((one, other));
    while events.message()["id"] != "list" {}
    events.end();
    for mut connection in waiting {
        let response = connection.read();
        assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"));
        assert_eq!(response.json()["id"], "list");
    }
}

#[test]
fn a_large_answer_is_one_event() {
    not_under_wine!("holds a file by a lease");
    let folder = Folder::new();
    let text = "words \"in\" a\tline, ä\n\n".repeat(200_000);
    folder.write("large", &text);
    let server = Http::start(&folder, &["--max-in-flight=1"]);
    for revision in [HANDSHAKE[3], STATELESS] {
        let Some(lease) = Lease::take(&folder.path().join("large")) else { return };
        let request = watched(revision, "read", "read_file", &json!({ "name": "large" }), &json!(1));
        // Nothing is known of its progress, so the answer is the only event.
        let mut events = EventStream::begin(send(&server, revision, ACCEPT, &request));
        drop(lease);
        let answer = events.message();
        let head = format!("File: large ({} lines)\n\n", text.lines().count());
        assert!(text_of(&answer) == head + text.trim_end_matches('\n') + "\n", "{revision}");
        events.end();
    }
}

/// An edit that waits for the lock of its file, and its stream of events.
fn waiting_edit(revision: &str, server: &Http, text: &str) -> EventStream {
    let arguments = json!({ "name": "f", "append": text });
    let request = watched(revision, "edit", "edit_file", &arguments, &json!("t"));
    EventStream::begin(send(server, revision, ACCEPT, &request))
}

#[test]
fn a_failure_is_an_event_too() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &["--timeout=1"]);
    let _locked = lock(&folder, "f");
    let mut events = waiting_edit(STATELESS, &server, "b");
    let answer = events.message();
    assert_eq!(text_of(&answer), "Error: File 'f' is locked by another process");
    events.end();
}

#[test]
fn a_client_that_disconnects_cancels_its_call_only_without_a_handshake() {
    not_under_wine!("holds a file by a lease");
    for (revision, text) in [(STATELESS, "a\n"), (HANDSHAKE[3], "a\nb\n")] {
        let folder = Folder::new();
        folder.write("f", "a\n");
        let server = Http::start(&folder, &["--max-in-flight=1", "--log-level=debug"]);
        let locked = lock(&folder, "f");
        drop(waiting_edit(revision, &server, "b"));
        server.wait_for_stderr("connection ended");
        if revision == STATELESS {
            // The call ends, and the next has its place.
            let next =
                server.post("/edit_file", &json!({ "name": "g", "append": "", "create_if_missing": true }));
            assert_eq!(next.status, 200, "{}", next.text());
        }
        drop(locked);
        until_or(|| format!("{revision}: {:?}", folder.text("f")), || folder.text("f") == text);
        assert!(server.terminate().success());
        assert_eq!(folder.text("f"), text);
    }
}

#[test]
fn a_client_that_only_ends_its_sending_gets_its_events() {
    not_under_wine!("has a limit of time that such a program does not keep");
    for revision in [STATELESS, HANDSHAKE[3]] {
        let folder = Folder::new();
        folder.write("f", "a\n");
        let server = Http::start(&folder, &[]);
        let locked = lock(&folder, "f");
        let mut events = waiting_edit(revision, &server, "b");
        events.connection().end_sending();
        // The server has asked whether the client is there.
        assert_eq!(events.try_next().expect("a comment"), Some(Event::Comment));
        drop(locked);
        assert_eq!(events.message()["result"]["isError"], false);
        events.end();
        assert_eq!(folder.text("f"), "a\nb\n");
    }
}
