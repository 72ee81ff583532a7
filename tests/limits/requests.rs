//! Limits on requests: the rate, requests in flight, locked files, cancelling (contract 2, 6.4, 8).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    Direct, Folder, Http, HttpResponse, Mcp, PATIENCE, Stdio, append_call, lock, mostly_within, ping,
    post_bytes, until_a_lock_is_waited_for,
};

#[test]
fn past_the_rate_limit_requests_are_refused_until_there_is_room_again() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--rate-limit=1,3"]);
    let since = Instant::now();
    let answers: Vec<Value> = (0..6).map(|_| server.request("ping", json!({}))).collect();
    assert!(answers[..3].iter().all(|answer| answer["result"] == json!({})), "{answers:?}");
    let refused = answers[3..].iter().filter(|answer| answer["error"]["code"] == -32003).count();
    assert!(3 <= refused + since.elapsed().as_secs() as usize, "{answers:?}");
    // The time is the subject: one request a second is admitted again.
    std::thread::sleep(Duration::from_millis(1_200));
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
}

#[test]
fn past_the_rate_limit_a_connection_gets_429_with_retry_after() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--rate-limit=1,3"]);
    let mut connection = server.connect();
    let since = Instant::now();
    for path in ["/mcp", "/list_files", "/mcp"] {
        let body = if path == "/mcp" { ping("ping") } else { json!({}) };
        assert_eq!(connection.post(path, &body).status, 200);
    }
    let refused: Vec<HttpResponse> = (0..3).map(|_| connection.post("/mcp", &ping("ping"))).collect();
    let refused: Vec<&HttpResponse> = refused.iter().filter(|response| response.status == 429).collect();
    let filled = since.elapsed().as_secs() as usize;
    assert!(3 <= refused.len() + filled, "a bucket of 3 that fills at 1 a second let too many pass");
    for response in refused {
        assert_eq!(response.json()["error"]["code"], -32003);
        let seconds: u64 = response.header("retry-after").expect("Retry-After").parse().expect("seconds");
        assert!((1..=2).contains(&seconds), "{seconds}");
    }
    // Some may pass: the bucket fills meanwhile.
    let mut more = (0..20).map(|_| connection.post("/list_files", &json!({})));
    let rest = more.find(|response| response.status != 200).expect("a refusal");
    assert_eq!((rest.status, &rest.json()["error"]["code"]), (429, &json!(-32003)));
    // Another connection has a bucket of its own.
    assert_eq!(server.connect().post("/mcp", &ping("ping")).status, 200);
}

#[test]
fn no_more_requests_are_in_work_than_max_in_flight_says() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &["--max-in-flight=1", "--timeout=1"]);
    let _locked = lock(&folder, "f");
    server.send(&append_call("edit", "f", "x"));
    server.send(&ping("ping"));
    assert_eq!((&server.recv()["id"], &server.recv()["id"]), (&json!("edit"), &json!("ping")));
}

#[test]
fn a_locked_file_holds_up_only_the_requests_for_it_on_stdio() {
    let folder = Folder::new();
    folder.write("locked", "a\n");
    folder.write("free", "a\n");
    let server = Stdio::start(&folder, &["--timeout=30"]);
    let locked = lock(&folder, "locked");
    for id in ["first", "second"] {
        server.send(&append_call(id, "locked", id));
    }
    for _ in 0..20 {
        server.ok("edit_file", json!({ "name": "free", "append": "x" }));
    }
    server.ok("list_files", json!({}));
    drop(locked);
    server.answer_to(&json!("second"));
    server.answer_to(&json!("first"));
    assert_eq!(folder.text("locked"), "a\nfirst\nsecond\n");
}

#[test]
fn a_locked_file_holds_up_only_the_requests_for_it_over_http() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--timeout=30"]);
    folder.write("locked", "a\n");
    folder.write("free", "a\n");
    let locked = lock(&folder, "locked");
    let mut waiting = server.connect();
    waiting.write(&post_bytes("/edit_file", "", br#"{"name":"locked","append":"x"}"#));
    for _ in 0..20 {
        server.direct("edit_file", json!({ "name": "free", "append": "x" }));
    }
    drop(locked);
    assert_eq!(waiting.read().status, 200);
    assert_eq!(folder.text("locked"), "a\nx\n");
}

#[test]
fn a_cancelled_edit_that_has_not_begun_to_write_is_not_answered_and_not_done() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &[]);
    let locked = lock(&folder, "f");
    server.send(&append_call(77, "f", "cancelled"));
    // An id is equal only if its type and its value are.
    server.notify("notifications/cancelled", json!({ "requestId": "77" }));
    server.notify("notifications/cancelled", json!({ "requestId": 77, "reason": "test" }));
    server.send(&ping("ping"));
    assert_eq!(server.recv(), json!({ "jsonrpc": "2.0", "id": "ping", "result": {} }));
    drop(locked);
    assert!(server.ok("edit_file", json!({ "name": "f", "append": "b" })).contains("Total lines: 2"));
    server.close_stdin();
    assert_eq!(server.rest_of_output(), [""; 0]);
    assert_eq!(folder.text("f"), "a\nb\n");
}

#[test]
fn a_request_that_is_cancelled_while_it_waits_for_another_of_its_file_is_not_answered_and_not_done() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &["--timeout=30"]);
    let locked = lock(&folder, "f");
    for id in ["first", "cancelled", "last"] {
        server.send(&append_call(id, "f", id));
    }
    server.notify("notifications/cancelled", json!({ "requestId": "cancelled" }));
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    drop(locked);
    assert_eq!((&server.recv()["id"], &server.recv()["id"]), (&json!("first"), &json!("last")));
    server.close_stdin();
    assert_eq!(server.rest_of_output(), [""; 0]);
    assert_eq!(folder.text("f"), "a\nfirst\nlast\n");
}

#[test]
fn a_cancelled_edit_gives_its_place_back_at_once_whatever_it_waits_for() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    for name in ["f", "g"] {
        folder.write(name, "a\n");
    }
    folder.link("also-f", "f");
    let _locks = [lock(&folder, "f"), lock(&folder, "g")];
    // The first waits for the lock; under another name of the file, the second waits for the first.
    for (names, places) in [(vec!["f"], 2), (vec!["f", "also-f"], 3)] {
        let in_flight = format!("--max-in-flight={places}");
        let server = Stdio::start(&folder, &[&in_flight, "--timeout=60"]);
        for (id, name) in names.iter().enumerate() {
            server.send(&append_call(id.to_string(), name, "x"));
        }
        until_a_lock_is_waited_for(server.pid());
        server.notify("notifications/cancelled", json!({ "requestId": (names.len() - 1).to_string() }));
        // This takes the last place, or the place that was given back.
        server.send(&append_call("more", "g", "x"));
        server.send(&ping("ping"));
        assert_eq!(server.recv(), json!({ "jsonrpc": "2.0", "id": "ping", "result": {} }));
    }
}

#[test]
fn over_http_no_more_requests_are_in_work_than_max_in_flight_says() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &["--max-in-flight=1", "--timeout=30"]);
    let locked = lock(&folder, "f");
    let mut first = server.connect();
    first.write(&post_bytes("/edit_file", "", br#"{"name":"f","append":"x"}"#));
    until_a_lock_is_waited_for(server.pid());
    let mut second = server.connect();
    second.write(&post_bytes("/edit_file", "", br#"{"name":"g","append":"x","create_if_missing":true}"#));
    // Long enough for the second edit, if it were in work.
    let mut other = server.connect();
    for _ in 0..300 {
        assert_eq!(other.post("/mcp", &ping("ping")).status, 200);
    }
    assert_eq!(folder.names(), ["f"], "two are in work at once");
    drop(locked);
    assert_eq!((first.read().status, second.read().status), (200, 200));
    assert_eq!(folder.text("g"), "x\n");
}

#[test]
fn sigterm_ends_a_server_that_waits_for_a_lock_within_2_seconds() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let _locked = lock(&folder, "f");
    mostly_within(Duration::from_millis(2_000), || {
        let server = Stdio::start(&folder, &["--timeout=30"]);
        server.send(&append_call(1, "f", "x"));
        until_a_lock_is_waited_for(server.pid());
        let since = Instant::now();
        assert_eq!(server.terminate(PATIENCE).code(), Some(0));
        since.elapsed()
    });
    assert_eq!((folder.names(), folder.text("f")), (vec!["f".to_owned()], "a\n".to_owned()));
}
