//! Leases of other programs. A file server (Samba, NFS) holds a lease for a client that may have changes of its own; other
//! programs that open the file wait for its end. The server waits as for a lock (contract 8), and only in requests for the
//! file.
//!
//! A test whose file system knows no leases says so and ends.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Direct, Folder, Http, Lease, Mcp, Stdio, call, on_both_with, post_bytes, request};

/// What every tool, resource and method is asked about the file `leased`.
fn requests(folder: &Folder) -> Vec<Value> {
    let exact =
        json!({ "path": "leased", "edits": [{ "old_text": "new", "new_text": "dry" }], "dry_run": true });
    vec![
        call("read", "read_file", json!({ "name": "leased" })),
        call("range", "read_file", json!({ "name": "leased", "start_line": 0, "end_line": 0 })),
        call("list", "list_files", json!({})),
        call("dry", "file_edit", exact),
        request(
            "resource",
            "resources/read",
            json!({ "uri": format!("file://{}/leased", folder.path().display()) }),
        ),
        request("resources", "resources/list", json!({})),
        request("direct", "read_file", json!({ "name": "leased" })),
        call("edit", "edit_file", json!({ "name": "leased", "append": "edited" })),
    ]
}

#[test]
fn a_request_for_a_leased_file_waits_for_the_end_of_the_lease_and_answers_with_the_new_content() {
    not_under_wine!("holds a file by a lease");
    let folder = Folder::new();
    for request in requests(&folder) {
        folder.write("free", "free\n");
        folder.write("leased", "old\n");
        let Some(lease) = Lease::take(&folder.path().join("leased")) else { return };
        let server = Stdio::start(&folder, &["--tools=lines,exact"]);
        server.send(&request);
        lease.until_a_process_waits();
        // Other requests do not wait.
        assert_eq!(server.request("ping", json!({}))["result"], json!({}));
        let other = server.ok("read_file", json!({ "name": "free" }));
        assert_eq!(other, "File: free (1 lines)\n\nfree");
        // The client writes its changes, and then ends the lease.
        lease.file().write_all_at(b"new\nand longer\n", 0).expect("written");
        drop(lease);
        let answer = server.answer_to(&request["id"])["result"].clone();
        let text = answer.to_string();
        let expected = match request["id"].as_str().expect("an id") {
            "read" => "File: leased (2 lines)\\n\\nnew\\nand longer",
            "range" => "File: leased (lines 0-0 of 2 total)\\n\\nnew",
            "list" => "name: leased, modified: ",
            "dry" => "+dry",
            "resource" => "new\\nand longer\\n",
            "resources" => "\"size\":15",
            "direct" => "\"content\":\"new\\nand longer\"",
            _ => "File edited successfully: leased\\nLines modified: 1\\nTotal lines: 3",
        };
        assert!(text.contains(expected), "{text}");
        if request["id"] == "list" {
            assert!(text.contains("lines: 1\\n") && text.contains("lines: 2\\n"), "{text}");
        }
        let edited = if request["id"] == "edit" { "new\nand longer\nedited\n" } else { "new\nand longer\n" };
        assert_eq!(folder.text("leased"), edited);
    }
}

#[test]
fn a_request_over_http_for_a_leased_file_waits_for_the_end_of_the_lease() {
    not_under_wine!("holds a file by a lease");
    let folder = Folder::new();
    for (path, body) in [
        ("/read_file", json!({ "name": "leased" })),
        ("/edit_file", json!({ "name": "leased", "append": "edited" })),
        ("/list_files", json!({})),
    ] {
        folder.write("leased", "old\n");
        let Some(lease) = Lease::take(&folder.path().join("leased")) else { return };
        let server = Http::start(&folder, &[]);
        let mut waiting = server.connect();
        waiting.write(&post_bytes(path, "", body.to_string().as_bytes()));
        lease.until_a_process_waits();
        lease.file().write_all_at(b"new\nand longer\n", 0).expect("written");
        drop(lease);
        let answer = waiting.read();
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = answer.json();
        match path {
            "/read_file" => assert_eq!(answer["content"], "new\nand longer"),
            "/edit_file" => assert_eq!(answer["new_total_lines"], 3),
            _ => assert_eq!(
                (&answer["files"][0]["lines"], &answer["files"][0]["size"]),
                (&json!(2), &json!(15))
            ),
        }
    }
}

#[test]
fn a_lease_that_does_not_end_is_an_error_at_the_timeout_and_nothing_has_changed() {
    not_under_wine!("holds a file by a lease");
    on_both_with(
        &["--timeout=1", "--tools=lines,exact"],
        |folder| {
            folder.write("leased", "a\n");
            folder.write("other", "a\nb\n");
        },
        |server, folder| {
            let Some(lease) = Lease::take(&folder.path().join("leased")) else { return };
            let locked = "Error: File 'leased' is locked by another process";
            let start = Instant::now();
            assert_eq!(server.refused("read_file", json!({ "name": "leased" })), locked);
            assert!(Duration::from_millis(900) < start.elapsed(), "it is waited for");
            assert_eq!(server.refused("edit_file", json!({ "name": "leased", "append": "b" })), locked);
            // A listing names what it could not count, and counts the files after it.
            let listing = server.ok("list_files", json!({}));
            let counts = |name: &str, lines: &str| {
                let line = listing.lines().find(|line| line.starts_with(&format!("name: {name}, ")));
                line.is_some_and(|line| line.ends_with(&format!("lines: {lines}")))
            };
            assert!(counts("leased", "-1") && counts("other", "2"), "{listing}");
            assert!(listing.contains("\nNot counted: 1 (the time was up"), "{listing}");
            drop(lease);
            assert_eq!(folder.text("leased"), "a\n");
            assert_eq!(server.ok("read_file", json!({ "name": "leased" })), "File: leased (1 lines)\n\na");
        },
    );
}

/// Ten requests at once for a leased file, reads and listings in turn, until the timeout. Returns how many listings were
/// answered with what was counted.
fn listings_answered(server: &Http) -> usize {
    let mut waiting: Vec<_> = (0..10).map(|_| server.connect()).collect();
    for (nth, connection) in waiting.iter_mut().enumerate() {
        let request = match nth % 2 {
            0 => post_bytes("/read_file", "", b"{\"name\":\"leased\"}"),
            _ => post_bytes("/list_files", "", b"{}"),
        };
        connection.write(&request);
    }
    let answered = waiting.iter_mut().enumerate().filter_map(|(nth, connection)| {
        let answer = connection.read();
        let json = answer.json();
        match (nth % 2, answer.status) {
            (0, 409) => {
                assert_eq!(json["error"]["message"], "File 'leased' is locked by another process");
            }
            (1, 200) => {
                let first = &json["files"][0];
                assert_eq!((&first["name"], &first["lines"]), (&json!("leased"), &json!(-1)));
                return Some(nth);
            }
            // On a busy machine there may be no time for the listing.
            (_, 500) => assert_eq!(json["error"]["message"], "Operation timed out after 1s"),
            _ => panic!("{nth}: {}", answer.text()),
        }
        None
    });
    answered.count()
}

#[test]
fn many_requests_that_wait_for_a_lease_that_does_not_end_all_get_an_answer() {
    not_under_wine!("holds a file by a lease");
    let folder = Folder::new();
    folder.write("leased", "a\n");
    let Some(_lease) = Lease::take(&folder.path().join("leased")) else { return };
    let server = Http::start(&folder, &["--timeout=1", "--max-in-flight=2"]);
    assert!((0..10).any(|_| listings_answered(&server) == 5), "listings were not answered at the timeout");
}

#[test]
fn a_leased_file_holds_up_only_the_requests_for_it_however_many_wait() {
    not_under_wine!("holds a file by a lease");
    let folder = Folder::new();
    folder.write("leased", "a\n");
    folder.write("free", "line\n".repeat(50_000));
    let Some(lease) = Lease::take(&folder.path().join("leased")) else { return };
    let server = Http::start(&folder, &["--timeout=60", "--max-in-flight=4"]);
    // More than may be in work at once.
    let mut waiting: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for (nth, connection) in waiting.iter_mut().enumerate() {
        let (path, body) = match nth % 3 {
            0 => ("/list_files", json!({})),
            1 => ("/read_file", json!({ "name": "leased" })),
            _ => ("/edit_file", json!({ "name": "leased", "append": "x" })),
        };
        connection.write(&post_bytes(path, "", body.to_string().as_bytes()));
    }
    lease.until_a_process_waits();
    for n in 0..10 {
        let edit = json!({ "name": "free", "edits": [{ "line": 1, "operation": "replace", "content": format!("{n}") }] });
        server.direct("edit_file", edit);
        server.direct("read_file", json!({ "name": "free" }));
    }
    drop(lease);
    for connection in &mut waiting {
        let answer = connection.read();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(folder.text("leased"), format!("a\n{}", "x\n".repeat(6)));
}

#[test]
fn a_read_that_waits_for_a_lease_is_called_off_when_asked() {
    let folder = Folder::new();
    folder.write("leased", "a\n");
    let Some(lease) = Lease::take(&folder.path().join("leased")) else { return };
    let server = Stdio::start(&folder, &["--timeout=60"]);
    server.send(&call("read", "read_file", json!({ "name": "leased" })));
    lease.until_a_process_waits();
    server.notify("notifications/cancelled", json!({ "requestId": "read" }));
    // After this answer the server has read the notification.
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    // The next for the same file takes its turn.
    server.send(&call("next", "read_file", json!({ "name": "leased" })));
    drop(lease);
    assert_eq!(server.recv()["id"], "next");
}
