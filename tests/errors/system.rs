//! The errors of contract 7 that the system causes: locks, other programs, full disks, a removed folder, the timeout.
//!
//! Two rows of the table cannot be provoked from outside and are not here: a listing that breaks off half way, and
//! -32603 (a fault of the server).

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::failure::Failure;
use crate::support::{
    Direct, Folder, Http, MB, Mcp, Stdio, append, call, command, direct_on_both_with, lock, on_both,
    on_both_as_nobody, on_both_with, until_or, while_others, with_file_size_limit,
};

#[test]
fn a_file_that_another_program_has_locked_is_refused_at_the_timeout() {
    let text = "Error: File 'f' is locked by another process";
    let failure = Failure::new("edit_file", append("f", "x"), text, -32001, 409);
    let fill = |folder: &Folder| folder.write("f", "a\n");
    on_both_with(&["--timeout=1"], fill, |server, folder| {
        let locked = lock(folder, "f");
        let start = Instant::now();
        failure.over_mcp(server, folder);
        let waited = start.elapsed();
        assert!(Duration::from_millis(900) < waited && waited < Duration::from_secs(5), "{waited:?}");
        drop(locked);
        // On a busy machine an edit may take longer than its second; then it has changed nothing.
        assert!((0..5).any(|_| !server.tool("edit_file", append("f", "x")).is_error));
        assert_eq!(folder.text("f"), "a\nx\n", "the refused edits changed nothing");
    });
    direct_on_both_with(&["--timeout=1"], fill, |server, folder| {
        let _locked = lock(folder, "f");
        failure.over_direct(server, folder);
    });
}

#[test]
fn an_edit_waits_for_a_lock_and_goes_on_when_it_is_free() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &[]);
    let locked = lock(&folder, "f");
    let edit = call("edit", "edit_file", append("f", "x"));
    server.send(&edit);
    // The server answers other requests meanwhile.
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    assert_eq!(folder.text("f"), "a\n");
    drop(locked);
    assert_eq!(server.answer_to(&json!("edit"))["result"]["isError"], false);
    assert_eq!(folder.text("f"), "a\nx\n");
}

#[test]
fn a_waiter_for_the_lock_of_a_file_that_was_replaced_meanwhile_edits_the_new_one() {
    let folder = Folder::new();
    folder.write("f", "old\n");
    let server = Stdio::start(&folder, &[]);
    let locked = lock(&folder, "f");
    server.send(&call("edit", "edit_file", append("f", "x")));
    assert_eq!(server.request("ping", json!({}))["result"], json!({}));
    folder.write("new", "new\n");
    std::fs::rename(folder.path().join("new"), folder.path().join("f")).expect("renamed");
    drop(locked);
    assert_eq!(server.answer_to(&json!("edit"))["result"]["isError"], false);
    assert_eq!(folder.text("f"), "new\nx\n");
    assert_eq!(folder.names(), ["f"]);
}

#[test]
fn reads_and_listings_need_no_lock() {
    on_both_with(
        &[],
        |folder| folder.write("f", "a\n"),
        |server, folder| {
            let _locked = lock(folder, "f");
            assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na");
            assert!(server.ok("list_files", json!({})).contains("name: f, "));
        },
    );
}

/// Edits a large file while another program writes to it in place, until `edit` returns that it was refused.
#[track_caller]
fn until_seen_as_changed(folder: &Folder, edit: impl Fn() -> bool) {
    let path = folder.path().join("f");
    let mut byte = b'0';
    let scribble = || {
        if let Ok(mut file) = File::options().write(true).open(&path) {
            byte = if byte == b'9' { b'0' } else { byte + 1 };
            let _ = file.seek(SeekFrom::Start(10)).and_then(|_| file.write_all(&[byte]));
        }
    };
    let seen = while_others(scribble, || (0..200).any(|_| edit()));
    assert!(seen, "200 edits of a file under constant change were never refused");
    // One whole file is left, and nothing beside it.
    assert_eq!(folder.names(), ["f"]);
    assert!(folder.read("f").ends_with(b"the last line\n"));
}

fn large() -> String {
    ("y".repeat(99) + "\n").repeat(4 * MB / 100) + "the last line\n"
}

#[test]
fn a_change_by_a_program_that_does_not_lock_is_refused_as_changed() {
    let text = "Error: File 'f' was changed by another program; read it again";
    let edits = json!({ "name": "f", "edits": [{ "line": 1, "operation": "insert", "content": "x" }] });
    on_both_with(
        &["--sync=none"],
        |folder| folder.write("f", large()),
        |server, folder| {
            until_seen_as_changed(folder, || {
                let result = server.tool("edit_file", edits.clone());
                assert!(!result.is_error || result.first_line() == text, "{}", result.text);
                result.is_error
            });
        },
    );
    let params = json!({ "name": "f", "edits": [{ "line": 2, "operation": "insert", "content": "x" }] });
    direct_on_both_with(
        &["--sync=none"],
        |folder| folder.write("f", large()),
        |server, folder| {
            until_seen_as_changed(folder, || match server.call("edit_file", params.clone()) {
                Ok(_) => false,
                Err(error) => {
                    assert_eq!(error.message.split('\n').next(), text.strip_prefix("Error: "));
                    assert_eq!((error.code, error.status.unwrap_or(409)), (-32001, 409));
                    true
                }
            });
        },
    );
}

#[test]
fn a_write_that_fails_is_reported_with_the_systems_message_and_undone() {
    not_under_wine!("the text of the error is that of the system");
    for http in [false, true] {
        let folder = Folder::new();
        folder.write("f", "line\n".repeat(60_000));
        folder.write("small", "a\n");
        let before = folder.snapshot();
        let check = |mcp: &dyn Mcp, direct: &dyn Direct| {
            for arguments in [append("f", "x"), json!({ "name": "new", "append": "y".repeat(MB) })] {
                let error = mcp.refused("edit_file", arguments);
                assert!(
                    error.starts_with("Error: Failed to write file: ") && error.contains("too large"),
                    "{error}"
                );
                assert_eq!(folder.snapshot(), before);
            }
            let error = direct.direct_error("edit_file", append("f", "x"));
            assert!(error.message.starts_with("Failed to write file: "), "{error:?}");
            assert_eq!((error.code, error.status.unwrap_or(500)), (-32001, 500));
            assert_eq!(folder.snapshot(), before);
            // A request that needs no space succeeds.
            mcp.ok("edit_file", append("small", "x"));
            assert_eq!(folder.text("small"), "a\nx\n");
        };
        if http {
            let server =
                Http::run(with_file_size_limit(&command(&folder, "http", &["--port=0"]), "trap '' XFSZ;"));
            check(&server, &server);
        } else {
            let server = Stdio::run(with_file_size_limit(&command(&folder, "stdio", &[]), "trap '' XFSZ;"));
            check(&server, &server);
        }
    }
}

#[test]
fn a_folder_that_is_gone_cannot_be_accessed() {
    let text = "Error: Cannot access working directory";
    on_both(|server, folder| {
        // The folder is open when the first answer comes.
        server.ok("list_files", json!({}));
        std::fs::remove_dir(folder.path()).expect("the folder removed");
        assert_eq!(server.refused("list_files", json!({})), text);
        assert!(!folder.path().exists());
        std::fs::create_dir(folder.path()).expect("the folder made");
    });
    direct_on_both_with(
        &[],
        |_| {},
        |server, folder| {
            // The folder is open when the first answer comes.
            assert!(server.call("list_files", json!({})).is_ok());
            std::fs::remove_dir(folder.path()).expect("the folder removed");
            let error = server.direct_error("list_files", json!({}));
            assert_eq!(error.message, "Cannot access working directory");
            assert_eq!((error.code, error.status.unwrap_or(500)), (-32001, 500));
            assert_eq!(error.data["operation"], "list_files");
            std::fs::create_dir(folder.path()).expect("the folder made");
        },
    );
}

#[test]
fn a_folder_that_may_not_be_read_any_more_cannot_be_accessed() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    on_both_as_nobody(
        &[],
        |folder| folder.write("f", "a\n"),
        |mcp, direct, folder| {
            assert!(mcp.ok("list_files", json!({})).ends_with("Total files: 1"));
            folder.set_own_mode(0);
            assert_eq!(mcp.refused("list_files", json!({})), "Error: Cannot access working directory");
            let error = direct.direct_error("list_files", json!({}));
            assert_eq!((error.code, error.status.unwrap_or(500)), (-32001, 500));
            folder.set_own_mode(0o755);
            assert!(mcp.ok("list_files", json!({})).ends_with("Total files: 1"));
        },
    );
}

/// Stops the server for longer than its timeout during an edit of 60 MB. How far the edit is by then varies, and so does
/// `delay`: only an edit that is not done can time out.
fn stopped_in_the_middle(folder: &Folder, delay: Duration) -> Value {
    let server = Stdio::start(folder, &["--timeout=1", "--max-size=100", "--sync=none"]).ready();
    let edit = json!({ "name": "f", "edits": [{ "line": 0, "operation": "insert", "content": "x" }] });
    server.send(&call("edit", "edit_file", edit));
    // The time is the subject: how far the edit gets.
    std::thread::sleep(delay);
    server.signal(Signal::STOP);
    // The time is the subject: longer than the timeout.
    std::thread::sleep(Duration::from_millis(1_300));
    server.signal(Signal::CONT);
    let answer = server.answer_to(&json!("edit"))["result"].clone();
    // The answer does not wait for the edit. The temporary file is removed when the edit goes on.
    until_or(|| format!("{:?}", folder.names()), || folder.names() == ["f"]);
    assert_eq!(server.close().code(), Some(0));
    answer
}

#[test]
fn an_operation_that_takes_longer_than_the_timeout_says_so_and_changes_nothing() {
    let folder = Folder::new();
    folder.write("f", "a line of text that is one of many\n".repeat(60 * MB / 35));
    for milliseconds in [10, 20, 5, 40, 80, 15, 2, 120, 30, 1] {
        let before = folder.snapshot();
        let result = stopped_in_the_middle(&folder, Duration::from_millis(milliseconds));
        let text = result["content"][0]["text"].as_str().expect("a text");
        if result["isError"] == true {
            assert_eq!(text.split('\n').next(), Some("Error: Operation timed out after 1s"));
            assert!(folder.snapshot() == before, "a refused edit changed something");
            return;
        }
        assert!(text.starts_with("File edited successfully: f\n"), "{text}");
    }
    panic!("no edit was still at work when the server was stopped");
}
