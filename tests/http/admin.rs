//! The admin port: `GET /healthz` and `GET /metrics` (contract 6.3), and the end of a server behind a proxy (contract 8).

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{
    Connection, Folder, Http, Mcp, PATIENCE, Stdio, admin_port_in, ask, get, lock, ping, post_bytes,
    run_to_end, until, until_a_lock_is_waited_for,
};

fn start(flags: &[&str]) -> (Folder, Http) {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let server = Http::start(&folder, &[&["--admin-port=0"], flags].concat());
    (folder, server)
}

/// The samples of `/metrics`. Checks that the text has the format of Prometheus.
fn figures(port: u16) -> BTreeMap<String, f64> {
    let response = get(port, "/metrics");
    assert_eq!(response.status, 200, "{}", response.text());
    assert!(
        response.header("content-type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4"))
    );
    let (text, mut samples, mut family) = (response.text(), BTreeMap::new(), String::new());
    let is_name =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_0123456789".contains(&byte));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(
                help.split_once(' ').is_some_and(|(name, help)| is_name(name) && help.ends_with('.')),
                "{line}"
            );
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(kind != "counter" || name.ends_with("_total"), "{line}");
            family = name.into();
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').expect("a value");
        let name = sample.split('{').next().expect("a name");
        let suffix = name.strip_prefix(&*family).unwrap_or_else(|| panic!("{line} in {family}"));
        assert!(is_name(name) && ["", "_bucket", "_sum", "_count"].contains(&suffix), "{line}");
        let value = value.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(samples.insert(sample.to_owned(), value), None, "twice: {line}");
    }
    assert!(text.ends_with('\n'));
    samples
}

#[test]
fn a_server_that_serves_is_healthy_and_its_figures_tell_what_it_did() {
    not_under_wine!("nothing is kept of a file that was read there, so none is known");
    let (_folder, server) = start(&[]);
    let port = server.admin_port();
    let health = get(port, "/healthz");
    assert_eq!((health.status, &*health.text()), (200, "ok\n"));
    for name in ["f", "f", "f", "missing"] {
        server.post("/read_file", &json!({ "name": name }));
    }
    server.post("/edit_file", &json!({ "name": "f", "append": 7 }));
    let mut open = server.connect();
    assert_eq!(open.post("/mcp", &ping(1)).status, 200);
    let figures = figures(port);
    let figure = |sample: &str| *figures.get(sample).unwrap_or_else(|| panic!("no {sample} in {figures:#?}"));
    assert_eq!(figure("file_editor_requests_total{tool=\"read_file\",outcome=\"ok\"}"), 3.0);
    assert_eq!(figure("file_editor_requests_total{tool=\"read_file\",outcome=\"failed\"}"), 1.0);
    let failures = |labels: &str| figure(&format!("file_editor_failures_total{{{labels}}}"));
    assert_eq!(failures("tool=\"read_file\",kind=\"not_found\",cause=\"client\""), 1.0);
    assert_eq!(failures("tool=\"edit_file\",kind=\"invalid_arguments\",cause=\"client\""), 1.0);
    let buckets: Vec<f64> = {
        let of_reads = |sample: &str| {
            sample.starts_with("file_editor_request_duration_seconds_bucket{tool=\"read_file\"")
        };
        let mut bounded: Vec<(f64, f64)> = figures
            .iter()
            .filter(|(sample, _)| of_reads(sample))
            .map(|(sample, count)| {
                let bound = sample
                    .split_once("le=\"")
                    .and_then(|(_, rest)| rest.strip_suffix("\"}"))
                    .expect("a bound");
                (bound.trim_start_matches('+').parse().expect("a number"), *count)
            })
            .collect();
        bounded.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(bounded.last().is_some_and(|(bound, _)| bound.is_infinite()));
        bounded.into_iter().map(|(_, count)| count).collect()
    };
    assert!(buckets.len() > 10 && buckets.is_sorted() && buckets.last() == Some(&4.0), "{buckets:?}");
    assert_eq!(figure("file_editor_request_duration_seconds_count{tool=\"read_file\"}"), 4.0);
    assert!(figure("file_editor_request_duration_seconds_sum{tool=\"read_file\"}") > 0.0);
    assert!(figure("file_editor_bytes_read_total") > 500.0 && figure("file_editor_bytes_sent_total") > 500.0);
    assert!(figure("file_editor_connections") >= 1.0 && figure("file_editor_connections_total") >= 6.0);
    assert_eq!((figure("file_editor_in_progress"), figure("file_editor_draining")), (0.0, 0.0));
    assert!(
        figure("process_resident_memory_bytes") > 100_000.0 && figure("process_start_time_seconds") > 1.7e9
    );
    // What is known of a file is kept only when its last change is some time ago.
    until("a file that was read is known", || {
        server.post("/read_file", &json!({ "name": "f" }));
        self::figures(port)["file_editor_cache_hits_total{cache=\"index\"}"] >= 1.0
    });
}

#[test]
fn waits_for_the_lock_of_another_program_and_for_other_calls_are_told_apart() {
    let (folder, server) = start(&[]);
    let locked = lock(&folder, "f");
    let edit = || {
        let mut connection = server.connect();
        connection.write(&post_bytes("/edit_file", "", br#"{"name":"f","append":"x"}"#));
        connection
    };
    let mut first = edit();
    until_a_lock_is_waited_for(server.pid());
    let mut second = edit();
    until("both calls are in work", || figures(server.admin_port())["file_editor_in_progress"] == 2.0);
    drop(locked);
    assert_eq!((first.read().status, second.read().status), (200, 200));
    let figures = figures(server.admin_port());
    for holder in ["this_server", "other_process"] {
        assert!(
            figures[&format!("file_editor_lock_waits_total{{holder=\"{holder}\"}}")] >= 1.0,
            "{figures:#?}"
        );
        assert!(figures[&format!("file_editor_lock_wait_seconds_total{{holder=\"{holder}\"}}")] > 0.0);
    }
}

#[test]
fn other_paths_other_methods_and_foreign_sites_are_refused() {
    let (_folder, server) = start(&[]);
    let port = server.admin_port();
    for path in ["/", "/mcp", "/list_files", "/metrics/", "/healthz/x"] {
        assert_eq!(get(port, path).status, 404, "{path}");
    }
    for path in ["/healthz", "/metrics"] {
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            let response =
                ask(port, &format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0"));
            assert_eq!((response.status, response.header("allow")), (405, Some("GET")), "{method} {path}");
        }
        assert_eq!(ask(port, &format!("GET {path} HTTP/1.1\r\nHost: evil.example")).status, 403);
        let foreign = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example");
        assert_eq!(ask(port, &foreign).status, 403);
        // What checks the health may name no host.
        assert_eq!(ask(port, &format!("GET {path} HTTP/1.0")).status, 200);
    }
    // The clients' port has no such pages.
    assert_eq!(get(server.port(), "/healthz").status, 404);
}

#[test]
fn where_other_machines_reach_the_port_the_figures_need_the_token_and_the_health_does_not() {
    let folder = Folder::new();
    let token = folder.outside("token");
    std::fs::write(&token, "secret").expect("a token");
    let file = format!("--auth-token-file={}", token.display());
    let with_token =
        |port| ask(port, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret").status;
    let open = Http::start(&folder, &["--admin-port=0", "--host=0.0.0.0", "--allow-remote", &file]);
    let port = open.admin_port();
    assert_eq!(
        (get(port, "/healthz").status, get(port, "/metrics").status, with_token(port)),
        (200, 401, 200)
    );
    let loopback = Http::start(&folder, &["--admin-port=0", &file]);
    let port = loopback.admin_port();
    assert_eq!((get(port, "/healthz").status, get(port, "/metrics").status), (200, 200));
}

#[test]
fn a_crowd_at_the_admin_port_does_not_disturb_clients() {
    let (_folder, server) = start(&[]);
    let port = server.admin_port();
    let _silent: Vec<_> = (0..150).map(|_| Connection::to("127.0.0.1", port)).collect();
    for _ in 0..20 {
        assert_eq!(server.post("/mcp", &ping(1)).status, 200);
    }
    // Those that say nothing are closed, and the next ones are served.
    assert_eq!(get(port, "/healthz").status, 200);
}

#[test]
fn over_stdio_there_is_an_admin_port_too() {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let server = Stdio::start(&folder, &["--admin-port=0"]).ready();
    let port = admin_port_in(&server.stderr());
    assert_eq!(get(port, "/healthz").text(), "ok\n");
    server.ok("read_file", json!({ "name": "f" }));
    let figures = figures(port);
    assert_eq!(figures["file_editor_requests_total{tool=\"read_file\",outcome=\"ok\"}"], 1.0);
    assert!(figures["file_editor_bytes_read_total"] > 10.0);
    // The client may have the answer before its bytes are counted.
    until("the answer is counted", || self::figures(port)["file_editor_bytes_sent_total"] > 10.0);
}

#[test]
fn what_the_operator_asks_for_counts_as_no_bytes_of_clients() {
    let folder = Folder::new();
    let over_stdio = Stdio::start(&folder, &["--admin-port=0"]);
    over_stdio.wait_for_stderr(" ready ");
    let (_folder, over_http) = start(&[]);
    for port in [admin_port_in(&over_stdio.stderr()), over_http.admin_port()] {
        for _ in 0..3 {
            assert_eq!(get(port, "/healthz").status, 200);
            let figures = figures(port);
            let bytes = ["read", "sent"].map(|way| figures[&format!("file_editor_bytes_{way}_total")]);
            assert_eq!((bytes, figures["file_editor_connections_total"]), ([0.0, 0.0], 0.0));
        }
    }
}

#[test]
fn a_port_that_is_taken_is_one_line_that_names_the_flag() {
    let (folder, server) = start(&[]);
    let taken = format!("--admin-port={}", server.admin_port());
    let ended = run_to_end(&[&format!("--dir={}", folder.path().display()), "--port=0", &taken]);
    assert_eq!((ended.code, ended.stderr.lines().count()), (Some(1), 1), "{}", ended.stderr);
    assert!(ended.stderr.contains("--admin-port"), "{}", ended.stderr);
}

/// What a server answers between the signal and its end. `None` if the test was too slow for it.
fn drains() -> Option<()> {
    let (_folder, server) = start(&[]);
    let port = server.admin_port();
    let mut known = server.connect();
    assert_eq!(known.post("/mcp", &ping(1)).status, 200);
    server.signal(Signal::TERM);
    server.wait_for_stderr("stopping");
    let ask = |connection: &mut Connection| {
        connection.try_write(&post_bytes("/mcp", "", ping(2).to_string().as_bytes())).ok()?;
        connection.try_read().ok()
    };
    // The system takes connections until the listener is closed.
    let mut new =
        catch_unwind(AssertUnwindSafe(|| (server.connect(), Connection::to("127.0.0.1", port)))).ok()?;
    new.1.try_write(b"GET /healthz HTTP/1.0\r\n\r\n").ok()?;
    let health = new.1.try_read().ok()?;
    let answers = [ask(&mut known)?, ask(&mut new.0)?];
    assert_eq!((health.status, &*health.text()), (503, "draining\n"));
    for answer in answers {
        assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "{}", answer.text());
    }
    assert_eq!(server.wait(PATIENCE).code(), Some(0));
    Some(())
}

#[test]
fn before_its_end_a_server_says_that_it_drains_and_answers_what_is_still_sent_to_it() {
    // The server drains for a limited time, which a busy machine may exceed now and then.
    assert!((0..5).any(|_| drains().is_some()));
}
