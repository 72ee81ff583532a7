//! System calls that fail or hang, one at a time (contract 7, 8): a clear error or a late answer, nothing is lost, and other
//! requests are not delayed. strace makes the faults; a test that finds no strace says so and ends.

use rustix::process::Signal;
use serde_json::json;

use crate::support::{
    Direct, Folder, Http, Mcp, PATIENCE, Stdio, append, append_call, at_once, calls, command, each_transport,
    post_bytes, read_call, request, start_and_end, text_of, traced, until, until_or, with_injected,
};

/// Runs `test` with a server on each transport, with `inject` done to its system calls, on a folder with the file `f`.
fn with_faults(inject: &str, flags: &[&str], test: impl Fn(&dyn Mcp, &dyn Direct, &Folder) + Sync) {
    each_transport(|http| {
        let folder = Folder::new();
        folder.write("f", "a\n");
        let transport = if http { "http" } else { "stdio" };
        let flags = if http { [flags, &["--port=0"]].concat() } else { flags.to_vec() };
        let Some(command) = with_injected(&command(&folder, transport, &flags), inject) else { return };
        if http {
            let server = Http::run(command);
            test(&server, &server, &folder);
        } else {
            let server = Stdio::run(command);
            test(&server, &server, &folder);
        }
    });
}

#[test]
fn an_edit_whose_data_cannot_be_flushed_is_refused_and_changes_nothing() {
    not_under_wine!("has system calls fail or wait with strace");
    with_faults("fdatasync:error=EIO", &[], |mcp, direct, folder| {
        for name in ["f", "new"] {
            let before = folder.snapshot();
            let text = "Failed to write file: Input/output error (os error 5)";
            assert_eq!(mcp.refused("edit_file", append(name, "b")), format!("Error: {text}"));
            let create = json!({ "name": name, "append": "b", "create_if_missing": true });
            assert_eq!(direct.direct_error("edit_file", create).message, text);
            assert_eq!(folder.snapshot(), before, "{name}");
        }
    });
}

#[test]
fn an_edit_whose_folder_cannot_be_flushed_says_that_it_is_in_place_but_may_not_last() {
    not_under_wine!("has system calls fail or wait with strace");
    with_faults("fsync:error=EIO", &[], |mcp, _, folder| {
        for (name, text) in [("f", "a\nb\n"), ("new", "b\n")] {
            let error = mcp.refused("edit_file", append(name, "b"));
            let words =
                "Error: Failed to write file: Input/output error (os error 5) (the change is in place";
            assert!(error.starts_with(words), "{error}");
            assert_eq!(folder.text(name), text);
        }
        assert_eq!(folder.names(), ["f", "new"]);
    });
}

#[test]
fn a_file_is_created_where_a_rename_cannot_refuse_to_replace_and_where_there_are_no_links_either() {
    for fault in ["renameat2:error=EINVAL", "renameat2:error=ENOSYS", "renameat2,linkat:error=EOPNOTSUPP"] {
        with_faults(fault, &[], |mcp, _, folder| {
            assert!(mcp.ok("edit_file", append("new", "b")).ends_with("File created: true"));
            assert!(mcp.ok("edit_file", append("new", "c")).ends_with("File created: false"));
            assert_eq!(
                (folder.text("new"), folder.names()),
                ("b\nc\n".into(), vec!["f".into(), "new".into()])
            );
        });
    }
}

/// A delay that is longer than everything that the tests wait for meanwhile.
const HANGS: &str = "fdatasync:delay_enter=5000000";

/// An edit that hangs keeps its temporary file.
#[track_caller]
fn still_hangs(folder: &Folder) {
    assert!(!folder.temporaries().is_empty(), "the edit does not hang any more: {:?}", folder.names());
}

#[test]
fn an_edit_that_hangs_is_answered_as_late_changes_nothing_and_delays_no_other_request() {
    not_under_wine!("has system calls fail or wait with strace");
    with_faults(HANGS, &["--timeout=1"], |mcp, direct, folder| {
        let late = "Error: Operation timed out after 1s";
        assert_eq!(mcp.refused("edit_file", append("f", "b")), late);
        // The next requests for the same file are served.
        assert_eq!(mcp.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na");
        let create = json!({ "name": "new", "append": "b", "create_if_missing": true });
        assert_eq!(format!("Error: {}", direct.direct_error("edit_file", create).message), late);
        assert!(mcp.ok("list_files", json!({})).ends_with("Total files: 1"));
        still_hangs(folder);
        assert_eq!(folder.text("f"), "a\n");
        // The edit changes nothing when the delay ends, either.
        until_or(|| format!("{:?}", folder.names()), || folder.names() == ["f"]);
        assert_eq!(folder.text("f"), "a\n");
    });
}

#[test]
fn requests_that_wait_for_one_that_hangs_go_on_when_it_is_answered_as_late_and_the_end_does_not_wait_for_it()
{
    not_under_wine!("has system calls fail or wait with strace");
    let folder = Folder::new();
    folder.write("f", "a\n");
    let command = command(&folder, "stdio", &["--timeout=1"]);
    let Some(server) = with_injected(&command, HANGS).map(Stdio::run) else { return };
    server.send(&append_call("hangs", "f", "b"));
    server.send(&read_call("waits", "f"));
    server.send(&read_call("other", "missing"));
    assert_eq!(server.recv()["id"], "other");
    let text = |id: &str| text_of(&server.answer_to(&json!(id))).to_owned();
    assert!(text("hangs").starts_with("Error: Operation timed out after 1s"));
    assert_eq!(text("waits"), "File: f (1 lines)\n\na");
    server.close_stdin();
    server.wait_for_stderr("stopped");
    still_hangs(&folder);
    assert_eq!(folder.text("f"), "a\n");
}

#[test]
fn a_signal_ends_a_server_in_which_an_edit_hangs() {
    not_under_wine!("has system calls fail or wait with strace");
    let over_http = || {
        let folder = Folder::new();
        let binary = command(&folder, "http", &["--timeout=60", "--port=0"]);
        let Some(http) = with_injected(&binary, HANGS).map(Http::run) else { return };
        let mut waiting = http.connect();
        waiting.write(&post_bytes("/mcp", "", &edit_new("b")));
        until_a_temporary_file_is_there(&folder);
        http.signal(Signal::TERM);
        http.wait_for_stderr("stopped uptime");
        still_hangs(&folder);
    };
    let over_stdio = || {
        let folder = Folder::new();
        let binary = command(&folder, "stdio", &["--timeout=60"]);
        let Some(stdio) = with_injected(&binary, HANGS).map(Stdio::run) else { return };
        stdio.send_raw(&[&edit_new("b")[..], b"\n"].concat());
        until_a_temporary_file_is_there(&folder);
        stdio.signal(Signal::TERM);
        stdio.wait_for_stderr("stopped uptime");
        still_hangs(&folder);
    };
    at_once(over_stdio, over_http);
}

fn edit_new(text: &str) -> Vec<u8> {
    append_call(1, "new", text).to_string().into_bytes()
}

fn until_a_temporary_file_is_there(folder: &Folder) {
    until("an edit is at work", || !folder.names().is_empty());
}

#[test]
fn an_edit_that_is_being_put_in_place_when_its_time_is_up_is_answered_as_done() {
    not_under_wine!("has system calls fail or wait with strace");
    let late = |call: &str| {
        with_faults(&format!("{call}:delay_enter=1400000"), &["--timeout=1"], |mcp, _, folder| {
            assert!(mcp.ok("edit_file", append("f", "b")).contains("Total lines: 2"));
            assert_eq!((folder.text("f"), folder.names()), ("a\nb\n".into(), vec!["f".into()]));
        });
    };
    at_once(|| late("renameat"), || late("fsync"));
}

#[test]
fn an_edit_that_takes_longer_to_be_put_in_place_is_answered_as_unknown_and_its_outcome_is_told_later() {
    with_faults("renameat:delay_enter=3500000", &["--timeout=1", "--tools=text"], |mcp, _, folder| {
        let edit = || json!({ "filename": "f", "new_text": "b\n", "idempotency_key": "k" });
        let words = "Error: Operation timed out after 1s while its change was put in place\nThe change may have been made";
        for _ in 0..2 {
            let text = mcp.tool("edit_file", edit()).text;
            assert!(text.starts_with(words), "{text}");
            assert_eq!(folder.text("f"), "a\n");
        }
        let told = || mcp.tool("edit_file", edit()).text;
        until_or(told, || told().contains("was carried out before, with success"));
        assert_eq!(folder.text("f"), "a\nb\n", "it is made once");
    });
}

/// An edit that is answered as late shortly before its flush ends. Returns whether its temporary file is gone when the
/// server has ended.
fn clears_away_at_the_end() -> Option<bool> {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let command = command(&folder, "stdio", &["--timeout=1"]);
    let server = Stdio::run(with_injected(&command, "fdatasync:delay_enter=1500000")?);
    server.send(&request(1, "edit_file", append("f", "b")));
    server.close_stdin();
    let answers = server.rest_of_output();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0].contains("Operation timed out after 1s"), "{answers:?}");
    assert_eq!(server.wait(PATIENCE).code(), Some(0));
    assert_eq!(folder.text("f"), "a\n");
    Some(folder.names() == ["f"])
}

#[test]
fn at_the_end_of_input_what_was_answered_as_late_has_a_moment_to_clear_away_after_itself() {
    not_under_wine!("has system calls fail or wait with strace");
    // On a busy machine the time may be too short now and then.
    let mut tries = (0..5).map(|_| clears_away_at_the_end());
    assert!(tries.any(|clear| clear != Some(false)), "a temporary file is left each time");
}

/// A listing of files that take long to count. Returns its text if it is complete and names files that were not
/// counted.
fn late_listing() -> Option<String> {
    const FILES: usize = 400;
    let folder = Folder::new();
    (0..FILES).for_each(|n| folder.write(&format!("f{n:02}"), "a\n"));
    let command = command(&folder, "stdio", &["--timeout=1"]);
    let server = Stdio::run(with_injected(&command, "pread64,preadv,preadv2:delay_enter=150000")?);
    let list = server.tool("list_files", json!({}));
    let counted = list.text.matches("lines: 1\n").count();
    let as_told = list.text.matches("lines: -1\n").count() == FILES - counted && counted < FILES;
    Some(if !list.is_error && as_told { list.text } else { String::new() })
}

#[test]
fn a_listing_that_is_late_shows_what_was_counted_and_says_so() {
    not_under_wine!("has system calls fail or wait with strace");
    // On a busy machine the listing may have no time for its text now and then.
    let text = (0..5).map(|_| late_listing()).find(|text| text.as_deref() != Some(""));
    let Some(text) = text.expect("no listing was late and complete") else { return };
    assert!(
        text.contains("Total files: 400\n") && text.lines().last().is_some_and(|last| last.contains("time")),
        "{text}"
    );
}

#[test]
fn calls_that_a_sandbox_forbids_are_replaced_by_older_ones() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    folder.write("sub/g", "b\n");
    let binary = command(&folder, "stdio", &["--tools=filesystem"]);
    let inject = "renameat2,faccessat2,openat2:error=EPERM";
    let Some(server) = with_injected(&binary, inject).map(Stdio::run) else { return };
    for (path, old) in [("f", "a"), ("sub/g", "b")] {
        server.ok("edit_file", json!({ "path": path, "edits": [{ "oldText": old, "newText": "edited" }] }));
    }
    server.ok("write_file", json!({ "path": "new", "content": "c\n" }));
    server.ok("move_file", json!({ "source": "new", "destination": "sub/moved" }));
    server.ok("move_file", json!({ "source": "sub", "destination": "folder" }));
    let taken = server.tool("move_file", json!({ "source": "f", "destination": "folder/moved" }));
    assert!(taken.is_error, "{taken:?}");
    assert_eq!((folder.text("f"), folder.text("folder/g")), ("edited\n".into(), "edited\n".into()));
    assert_eq!(folder.text("folder/moved"), "c\n");
}

#[test]
fn signals_are_caught_before_a_port_is_bound() {
    for transport in ["http", "stdio"] {
        let folder = Folder::new();
        let trace = folder.outside("trace");
        let flags: &[&str] =
            if transport == "http" { &["--port=0", "--admin-port=0"] } else { &["--admin-port=0"] };
        let Some(command) = traced(&command(&folder, transport, flags), "bind,rt_sigaction", &trace) else {
            return;
        };
        let ended = start_and_end(command);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let calls = calls(&trace);
        let caught = calls.iter().position(|call| {
            call.name == "rt_sigaction" && call.arguments.starts_with("SIGTERM, {sa_handler=0x")
        });
        let bound = calls.iter().position(|call| call.name == "bind" && call.arguments.contains("AF_INET"));
        assert!(caught.is_some() && bound.is_some() && caught < bound, "{caught:?} {bound:?}");
    }
}
