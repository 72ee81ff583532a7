//! The log (S0 5.4): its lines, SIGUSR1, no text of a file in it; and memory that is given back.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Direct, Folder, Http, MB, Mcp, ON_WINDOWS, Stdio, anonymous_memory, at_once, call, has_open, lock, named,
    post_bytes, request, until, until_a_lock_is_waited_for, until_or, while_others,
};

/// The lines of a JSON log whose message is `message`.
fn lines(log: &str, message: &str) -> Vec<Value> {
    let line = |line: &str| -> Value { serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")) };
    log.lines().map(line).filter(|line| line["message"] == message).collect()
}

/// A server's whole log as JSON, over stdio.
fn stdio_log(folder: &Folder, test: impl Fn(&Stdio)) -> String {
    let server = Stdio::start(folder, &["--log-format=json"]);
    test(&server);
    server.close_with_log()
}

#[test]
fn start_ready_and_stop_are_lines_with_fields() {
    let folder = Folder::new();
    let log = stdio_log(&folder, |server| drop(server.ok("list_files", json!({}))));
    let start = &lines(&log, "start")[0];
    assert_eq!((&start["version"], &start["level"]), (&json!(env!("CARGO_PKG_VERSION")), &json!("INFO")));
    let ready = &lines(&log, "ready")[0];
    assert_eq!(ready["folder"], named(folder.path()));
    assert_eq!(ready["at"], "stdio");
    assert!(ready["start_ms"].is_number(), "{ready}");
    let stopped = &lines(&log, "stopped")[0];
    assert_eq!((&stopped["calls"], &stopped["failures"]), (&json!(1), &json!(0)));
    assert!(stopped["uptime_s"].is_number() && stopped["cpu_s"].is_number(), "{stopped}");

    let server = Http::start(&folder, &["--log-format=json"]);
    let (_, log) = server.terminate_with_output();
    assert!(lines(&log, "ready")[0]["at"].as_str().is_some_and(|at| at.starts_with("http://127.0.0.1:")));
    assert_eq!(lines(&log, "stopping")[0]["signal"], if *ON_WINDOWS { "CTRL_C" } else { "SIGTERM" });
    assert_eq!(lines(&log, "stopped").len(), 1);
}

#[test]
fn a_failure_is_one_line_with_the_fields_of_the_contract() {
    let folder = Folder::new();
    folder.write("f", "a\nb\n");
    folder.write("zero", "a\0b");
    let log = stdio_log(&folder, |server| {
        server.refused("read_file", json!({ "name": "missing" }));
        server.refused("read_file", json!({ "name": "zero" }));
        server.refused("read_file", json!({ "name": "f", "start_line": 9 }));
        server.direct_error("read_file", json!({ "name": "f", "end_line": -1 }));
    });
    let failed = lines(&log, "failed");
    let seen: Vec<_> = failed
        .iter()
        .map(|line| (&line["operation"], &line["filename"], &line["error_code"], &line["error_category"]))
        .collect();
    let (read, client, system) = (json!("read_file"), json!("client"), json!(-32001));
    let (missing, zero, f, arguments) = (json!("missing"), json!("zero"), json!("f"), json!(-32602));
    assert_eq!(
        seen,
        [
            (&read, &missing, &system, &client),
            (&read, &zero, &system, &client),
            (&read, &f, &arguments, &client),
            (&read, &f, &arguments, &client),
        ]
    );
    for line in failed {
        assert_eq!(line["level"], "WARN");
        assert!(line["duration_ms"].is_number(), "{line}");
        assert!(line["request_id"].as_str().is_some_and(|id| id.parse::<u64>().is_ok()), "{line}");
        assert!(line["error_message"].as_str().is_some_and(|message| !message.is_empty()), "{line}");
    }
}

#[test]
fn what_is_refused_before_it_is_a_call_is_logged_and_counted_too() {
    let folder = Folder::new();
    let log = stdio_log(&folder, |server| {
        server.send_raw(b"garbage\n");
        server.recv();
        server.request("no/such/method", json!({}));
    });
    let codes: Vec<_> = lines(&log, "refused").iter().map(|line| line["error_code"].clone()).collect();
    assert_eq!(codes, [json!(-32700), json!(-32601)]);
    let counted = &lines(&log, "failures")[0];
    assert_eq!((&counted["operation"], &counted["count"]), (&json!("request"), &json!(2)));

    let server = Http::start(&folder, &["--log-format=json"]);
    assert_eq!(server.post_raw("/no-such-path", b"{}").status, 404);
    let (_, log) = server.terminate_with_output();
    assert_eq!(lines(&log, "refused")[0]["error_code"], -32601);
    assert_eq!(lines(&log, "stopped")[0]["failures"], 1);
}

/// Waits until a process that took more than 1.5 MB for a burst holds at most 1 MB more than before.
fn gives_back(pid: u32, before: usize) {
    let taken = anonymous_memory(pid).saturating_sub(before);
    assert!(taken > MB + MB / 2, "the burst took too little to measure: {taken} bytes");
    until_or(
        || format!("{} bytes, {before} before", anonymous_memory(pid)),
        || anonymous_memory(pid) <= before + MB,
    );
}

#[test]
fn after_many_requests_at_once_a_server_gives_its_memory_back() {
    not_under_wine!("memory is given back otherwise there");
    let text = "a line of a file\n".repeat(20_000);
    let names: Vec<String> = (0..60).map(|nth| format!("f{nth}")).collect();
    let filled = || {
        let folder = Folder::new();
        names.iter().for_each(|name| folder.write(name, &text));
        folder
    };
    let edits = json!([{ "line": 7, "operation": "replace", "content": "another" }]);
    let arguments = |name: &String| json!({ "name": name, "edits": edits });

    let over_stdio = || {
        let folder = filled();
        let server = Stdio::start(&folder, &[]).ready();
        let before = anonymous_memory(server.pid());
        for (id, name) in names.iter().enumerate() {
            server.send(&call(id, "edit_file", arguments(name)));
        }
        names.iter().for_each(|_| assert_ne!(server.recv()["result"]["isError"], true));
        gives_back(server.pid(), before);
        assert_eq!(
            server.ok("read_file", json!({ "name": "f9", "start_line": 7, "end_line": 7 })).lines().last(),
            Some("another")
        );
    };
    let over_http = || {
        let folder = filled();
        let server = Http::start(&folder, &[]);
        let before = anonymous_memory(server.pid());
        let mut connections: Vec<_> = names.iter().map(|_| server.connect()).collect();
        for (name, connection) in names.iter().zip(&mut connections) {
            connection.write(&post_bytes("/edit_file", "", arguments(name).to_string().as_bytes()));
        }
        connections.iter_mut().for_each(|connection| assert_eq!(connection.read().status, 200));
        drop(connections);
        gives_back(server.pid(), before);
        // Over REST lines count from 1.
        assert_eq!(
            server.ok("read_file", json!({ "name": "f9", "start_line": 6, "end_line": 6 })).lines().last(),
            Some("another")
        );
    };
    at_once(over_stdio, over_http);
}

#[test]
fn what_requests_took_that_waited_long_is_given_back_too() {
    not_under_wine!("memory is given back otherwise there");
    let (folder, content) = (Folder::new(), "a line of a request\n".repeat(30_000));
    let names: Vec<String> = (0..8).map(|nth| format!("f{nth}")).collect();
    let locked: Vec<_> = names
        .iter()
        .map(|name| {
            folder.write(name, "text\n");
            lock(&folder, name)
        })
        .collect();
    let server = Stdio::start(&folder, &["--timeout=30"]).ready();
    let before = anonymous_memory(server.pid());
    for (id, name) in names.iter().enumerate() {
        let edits = json!([{ "line": 0, "operation": "replace", "content": content }]);
        server.send(&call(id, "edit_file", json!({ "name": name, "edits": edits })));
    }
    // The time is the subject: longer than the server waits before it returns memory.
    std::thread::sleep(Duration::from_secs(4));
    drop(locked);
    names.iter().for_each(|_| assert_ne!(server.recv()["result"]["isError"], true));
    gives_back(server.pid(), before);
}

#[test]
fn no_file_stays_open_after_a_read() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let stdio = Stdio::start(&folder, &[]);
    let http = Http::start(&folder, &[]);
    for (server, pid) in [(&stdio as &dyn Mcp, stdio.pid()), (&http, http.pid())] {
        for _ in 0..3 {
            server.ok("read_file", json!({ "name": "f" }));
        }
        until("the file is closed", || !has_open(pid, &folder.path().join("f")));
    }
}

#[test]
fn the_ready_line_is_written_at_every_level() {
    let folder = Folder::new();
    for level in ["error", "warn", "trace"] {
        let server = Stdio::start(&folder, &["--log-format=json", &format!("--log-level={level}")]).ready();
        let log = server.close_with_log();
        assert_eq!(
            (lines(&log, "ready").len(), lines(&log, "start").len()),
            (1, (level == "trace").into()),
            "{level}"
        );
    }
}

#[test]
fn sigusr1_asks_for_a_status_at_any_level_and_harms_nothing() {
    not_under_wine!("sends SIGUSR1");
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--log-format=json", "--log-level=error"]);
    for name in ["one", "two"] {
        server.refused("read_file", json!({ "name": name }));
    }
    server.refused("edit_file", json!({ "name": "..", "append": "x" }));
    server.signal(Signal::USR1);
    // The last of its lines.
    server.wait_for_stderr(r#""operation":"read_file""#);
    let log = server.stderr();
    let status = &lines(&log, "status")[0];
    assert_eq!((&status["calls"], &status["failures"]), (&json!(3), &json!(3)));
    assert!(status["resident"].is_number() && status["anonymous"].is_number(), "{status}");
    let by: Vec<_> = lines(&log, "failures")
        .iter()
        .map(|line| format!("{} {} {}", line["operation"], line["error_category"], line["count"]))
        .collect();
    assert_eq!(by, [r#""edit_file" "client" 1"#, r#""read_file" "client" 2"#]);
    assert_eq!(server.ok("list_files", json!({})).lines().last(), Some("Total files: 0"));

    let server = Http::start(&folder, &[]);
    server.signal(Signal::USR1);
    server.wait_for_stderr("status");
    assert_eq!(server.direct("list_files", json!({}))["total_count"], 0);
}

#[test]
fn no_text_of_a_file_or_for_a_file_is_ever_in_the_log() {
    const SECRET: &str = "the-secret-text";
    let edit = |edit: Value| json!({ "name": "f", "edits": [edit] });
    for format in ["--log-format=text", "--log-format=json"] {
        let folder = Folder::new();
        folder.write("f", format!("{SECRET}\nb\n"));
        let server = Stdio::start(&folder, &[format, "--log-level=trace", "--structured"]);
        server.ok("read_file", json!({ "name": "f" }));
        server.ok("edit_file", json!({ "name": "f", "append": SECRET }));
        for wrong in [
            edit(json!({ "line": 0, "operation": "replace", "expect": "x", "content": SECRET })),
            edit(json!({ "line": 0, "operation": "delete", "content": SECRET })),
            edit(json!({ "line": 99, "operation": "replace", "content": SECRET })),
            edit(json!({ "line": 0, "operation": SECRET, "content": "x" })),
            edit(json!({ "line": 0, "operation": "replace", "content": [SECRET] })),
            edit(json!({ "line": 0, "operation": "replace", "content": format!("{SECRET}\0") })),
            edit(json!({ "line": SECRET, "operation": "replace", "content": "x" })),
            json!({ "name": "f", "append": { "text": SECRET } }),
            json!({ "name": "f", "edits": SECRET }),
        ] {
            server.refused("edit_file", wrong.clone());
            server.direct_error("edit_file", wrong);
        }
        server.send_raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"content\":\"{SECRET}\n").as_bytes());
        assert_eq!(server.recv()["error"]["code"], -32700);
        let log = server.close_with_log();
        assert!(log.contains("stopped") && !log.contains(SECRET), "{log}");
    }
}

#[test]
fn a_line_stays_a_line_whatever_a_client_sends() {
    let folder = Folder::new();
    let log = stdio_log(&folder, |server| {
        let method = "x\"\n\u{1b}[31m\u{1}".repeat(2_000);
        server.request(&method, json!({}));
        server.refused("read_file", json!({ "name": method }));
        server.send(&request(method, "no", json!({})));
        server.recv();
    });
    assert_eq!((lines(&log, "refused").len(), lines(&log, "failed").len()), (2, 1), "{log}");
    assert!(log.lines().all(|line| line.len() < 4_096));
}

#[test]
fn an_answer_that_turned_untrue_on_its_way_is_a_failure_in_the_log() {
    not_under_wine!("has a limit of time that such a program does not keep");
    let folder = Folder::new();
    let text = "a line of the old text\n".repeat(40_000);
    folder.write("f", &text);
    let server = Stdio::start(&folder, &["--log-format=json"]);
    let path = folder.path().join("f");
    let rewrite = || {
        // In place, without a lock: truncated and written again.
        std::fs::write(&path, &text).expect("a file written");
    };
    while_others(rewrite, || {
        until("a read meets a change", || {
            let result = server.tool("read_file", json!({ "name": "f" }));
            result.is_error && result.texts.len() == 2
        });
    });
    let line = server.wait_for_stderr("was changed by another program");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!((&line["operation"], &line["error_category"]), (&json!("read_file"), &json!("system")));
    assert_eq!((&line["message"], &line["level"]), (&json!("failed"), &json!("ERROR")));
}

#[test]
fn a_call_that_took_over_a_second_is_warned_of() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Stdio::start(&folder, &["--log-format=json", "--timeout=30"]);
    let locked = lock(&folder, "f");
    std::thread::scope(|scope| {
        let server = &server;
        let edit = scope.spawn(|| server.ok("edit_file", json!({ "name": "f", "append": "b" })));
        until_a_lock_is_waited_for(server.pid());
        // The time is the subject: a call is slow from one second on.
        std::thread::sleep(std::time::Duration::from_millis(1_200));
        drop(locked);
        edit.join().expect("an edit");
    });
    let line: Value = serde_json::from_str(&server.wait_for_stderr("slow")).expect("JSON");
    assert_eq!((&line["operation"], &line["filename"]), (&json!("edit_file"), &json!("f")));
    assert!(line["duration_ms"].as_f64().is_some_and(|ms| 1_000.0 < ms), "{line}");
}
