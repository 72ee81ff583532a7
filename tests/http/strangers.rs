//! What strangers and proxies send (contract 6.3): refusals that close, headers that disagree, a log that cannot be filled.

use serde_json::json;

use crate::support::{Folder, Http, HttpResponse, PATIENCE, call, get, post_bytes, until};

fn start(flags: &[&str]) -> (Folder, Http) {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    let server = Http::start(&folder, flags);
    (folder, server)
}

#[test]
fn a_server_behind_a_proxy_takes_the_hosts_and_origins_that_are_allowed_and_no_others() {
    let (_folder, server) = start(&[
        "--allow-host=files.example.com",
        "--allow-host=other.example:8443",
        "--allow-origin=https://app.example.com",
    ]);
    let status = |host: &str, origin: &str| {
        let head = format!(
            "POST /list_files HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/json\r\n"
        );
        server.raw(format!("{head}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}").as_bytes()).status
    };
    for host in ["localhost", "files.example.com", "FILES.example.com:443", "other.example:8443"] {
        assert_eq!(status(host, ""), 200, "{host}");
        assert_eq!(status(host, "Origin: https://app.example.com\r\n"), 200, "{host}");
    }
    for host in ["evil.example", "other.example", "files.example.com.evil.example"] {
        assert_eq!(status(host, ""), 403, "{host}");
    }
    for origin in ["https://files.example.com", "http://app.example.com", "https://app.example.com:1", "null"]
    {
        assert_eq!(status("localhost", &format!("Origin: {origin}\r\n")), 403, "{origin}");
    }
}

#[test]
fn a_refusal_that_leaves_a_body_unread_says_that_it_closes() {
    let (_folder, server) = start(&["--max-size=1"]);
    let refused = |bytes: &[u8], status: u16| {
        let mut connection = server.connect();
        connection.write(bytes);
        let answer = connection.read();
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")));
        assert!(connection.read_what_comes(PATIENCE).is_empty());
    };
    refused(&post_bytes("/nowhere", "", b"{}"), 404);
    refused(&post_bytes("/list_files", "Origin: https://evil.example\r\n", b"{}"), 403);
    refused(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n", 413);
    refused(
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
        400,
    );
    // Without a body there is nothing to close for.
    let mut connection = server.connect();
    for _ in 0..2 {
        connection.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let answer = connection.read();
        assert_eq!((answer.status, answer.header("connection")), (405, None));
    }
}

#[test]
fn a_connection_over_its_rate_goes_on() {
    let (_folder, server) = start(&["--rate-limit=1,1"]);
    let mut connection = server.connect();
    let statuses: Vec<u16> = (0..4).map(|_| connection.post("/list_files", &json!({})).status).collect();
    assert!(statuses[0] == 200 && statuses[1..].contains(&429), "{statuses:?}");
}

/// Posts a call of read_file for `f`, with these header lines.
fn read(server: &Http, headers: &str) -> HttpResponse {
    server.post_with("/mcp", headers, call(1, "read_file", json!({ "name": "f" })).to_string().as_bytes())
}

#[test]
fn headers_of_mcp_that_come_twice_are_refused() {
    let (_folder, server) = start(&[]);
    for header in ["MCP-Protocol-Version: 2025-06-18", "Mcp-Method: tools/call", "Mcp-Name: read_file"] {
        assert_eq!(read(&server, &format!("{header}\r\n")).status, 200, "{header}");
        let twice = read(&server, &format!("{header}\r\n{header}\r\n"));
        assert_eq!(twice.status, 400, "{header}");
        assert!(twice.text().contains("must not come twice"), "{}", twice.text());
    }
}

#[test]
fn headers_that_contradict_the_body_are_refused_in_older_revisions_too() {
    let (_folder, server) = start(&[]);
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let with = |headers: &str| read(&server, &format!("MCP-Protocol-Version: {version}\r\n{headers}"));
        assert_eq!(with("Mcp-Method: tools/call\r\nMcp-Name: read_file\r\n").status, 200);
        for headers in [
            "Mcp-Method: tools/list\r\n",
            "Mcp-Name: list_files\r\n",
            "Mcp-Method: tools/call\r\nMcp-Name: edit_file\r\n",
        ] {
            let answer = with(headers);
            assert_eq!(
                (answer.status, answer.json()["error"]["code"].as_i64()),
                (400, Some(-32020)),
                "{headers}"
            );
        }
    }
}

#[test]
fn a_server_whose_folder_is_gone_is_not_healthy() {
    let folder = Folder::new();
    let served = folder.path().join("served");
    std::fs::create_dir(&served).expect("a folder");
    let (dir, other) = (format!("--dir={}", served.display()), folder.outside("other"));
    std::fs::create_dir(&other).expect("a folder");
    let mut command = crate::support::bare_command();
    command.args([
        &*dir,
        &format!("--dir={}", other.display()),
        "--tools=filesystem",
        "--port=0",
        "--admin-port=0",
    ]);
    let server = Http::run(command);
    let health = || get(server.admin_port(), "/healthz").status;
    assert_eq!(health(), 200);
    std::fs::rename(&served, folder.path().join("moved")).expect("moved");
    assert_eq!(health(), 503);
    std::fs::rename(folder.path().join("moved"), &served).expect("moved back");
    assert_eq!(health(), 200);
}

#[test]
fn refusals_of_strangers_do_not_fill_the_log_and_are_counted() {
    let folder = Folder::new();
    let token = folder.outside("token");
    std::fs::write(&token, "secret").expect("a token");
    let token = format!("--auth-token-file={}", token.display());
    let server = Http::start(&folder, &[&token, "--admin-port=0"]);
    const REQUESTS: usize = 2_000;
    let mut connection = server.connect();
    for _ in 0..REQUESTS {
        connection.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.read().status, 401);
    }
    // All that is not a line of its own is in counts.
    let logged = || {
        let log = server.stderr();
        let lines = log.lines().filter(|line| line.contains(" WARN refused ")).count();
        let counts = log.lines().filter(|line| line.contains("more requests were refused"));
        let counted = counts.filter_map(|line| {
            let count = line.split_once("count=")?.1;
            count.split_whitespace().next()?.parse::<usize>().ok()
        });
        (lines, counted.sum::<usize>())
    };
    until("all refusals are counted", || logged().0 + logged().1 == REQUESTS);
    assert!(logged().0 < REQUESTS / 4, "{:?}", logged());
    let figures = get(server.admin_port(), "/metrics").text();
    let counted: Vec<&str> =
        figures.lines().filter(|line| line.starts_with("file_editor_failures_total")).collect();
    assert!(counted.iter().any(|line| line.ends_with(&format!(" {REQUESTS}"))), "{counted:?}");
}
