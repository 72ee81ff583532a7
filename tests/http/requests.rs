//! MCP over HTTP: paths, statuses, connections, the end of the server (contract 6.3). Access: access.rs.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Folder, Http, HttpResponse, MB, Mcp, PATIENCE, at_once, lock, mostly_within, ping, post_bytes, post_head,
    read_call, request,
};

const PATHS: [&str; 5] = ["/mcp", "/", "/list_files", "/read_file", "/edit_file"];

fn start() -> (Folder, Http) {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    (folder, server)
}

/// A request with this method, path, header lines and body.
fn ask(server: &Http, method: &str, path: &str, headers: &str, body: &str) -> HttpResponse {
    let bytes =
        format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n{body}");
    server.raw(bytes.as_bytes())
}

#[test]
fn mcp_is_served_at_mcp_and_at_the_root() {
    let (_folder, server) = start();
    for path in ["/mcp", "/"] {
        let response = server.post(path, &ping(1));
        assert_eq!(response.status, 200, "{path}");
        assert_eq!(response.json(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }), "{path}");
        let content_type = response.header("content-type").expect("a content type");
        assert!(content_type.starts_with("application/json"), "{content_type}");
    }
}

#[test]
fn other_paths_are_not_found_whatever_the_method() {
    let (_folder, server) = start();
    for path in
        ["/x", "/mcp/", "/mcp/x", "/MCP", "/file_edit", "/list_files/", "/health", "//", "/../etc/passwd"]
    {
        assert_eq!(server.post(path, &ping(1)).status, 404, "POST {path}");
        assert_eq!(ask(&server, "GET", path, "", "").status, 404, "GET {path}");
    }
}

#[test]
fn the_path_of_a_tool_that_has_another_one_names_that() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--tools=lines,search,exact"]);
    for (path, tool) in [("/grep", "grep"), ("/file_edit", "file_edit"), ("/api/glob/", "glob")] {
        for response in [server.post(path, &ping(1)), ask(&server, "GET", path, "", "")] {
            let message = response.json()["error"]["message"].to_string();
            let named = format!("Not found: {path}; the tool is at POST /tools/{tool}, MCP is at /mcp");
            assert!(response.status == 404 && message.contains(&named), "{path}: {message}");
        }
    }
    let body = server.post("/tools/grep", &json!({ "pattern": "x" }));
    assert_eq!(body.status, 200);
}

#[test]
fn other_methods_are_not_allowed_and_the_answer_says_what_is() {
    let (_folder, server) = start();
    for path in PATHS {
        for method in ["GET", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"] {
            let response = ask(&server, method, path, "", "");
            assert_eq!((response.status, response.header("allow")), (405, Some("POST")), "{method} {path}");
        }
    }
}

#[test]
fn a_body_over_the_limit_is_refused_by_its_announced_length() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--max-size=1"]);
    for path in PATHS {
        // No byte of the body is sent: the answer does not wait for it.
        let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", MB + 1);
        assert_eq!(ask(&server, "POST", path, &headers, "").status, 413, "{path}");
    }
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{}"}}}}"#, "y".repeat(MB - 100));
    assert_eq!(server.post_raw("/mcp", body.as_bytes()).status, 200);
}

#[test]
fn a_body_over_the_limit_is_refused_without_an_announced_length() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--max-size=1"]);
    for path in PATHS {
        let mut connection = server.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n{:x}\r\n",
            MB + 1
        );
        connection.write(head.as_bytes());
        // The last chunk never comes.
        connection.write(&vec![b' '; MB + 1]);
        assert_eq!(connection.read().status, 413, "{path}");
    }
}

#[test]
fn a_chunked_body_is_read() {
    let (_folder, server) = start();
    let body = ping(1).to_string();
    let (first, second) = body.split_at(10);
    let chunks = format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    let headers = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let response = ask(&server, "POST", "/mcp", headers, &chunks);
    assert_eq!((response.status, &response.json()["result"]), (200, &json!({})));
}

#[test]
fn only_json_is_taken_with_or_without_parameters() {
    let (_folder, server) = start();
    let with_type = |path: &str, line: &str| {
        let body = if path == "/mcp" || path == "/" { ping(1).to_string() } else { "{}".to_owned() };
        ask(&server, "POST", path, &format!("{line}Content-Length: {}\r\n", body.len()), &body)
    };
    for value in [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "Application/JSON",
        "application/json ; x=\"y\"",
    ] {
        for path in ["/mcp", "/", "/list_files"] {
            let response = with_type(path, &format!("Content-Type: {value}\r\n"));
            assert_eq!(response.status, 200, "{path} {value}");
        }
    }
    for line in [
        "",
        "Content-Type: \r\n",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/jsonx\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: text/application/json\r\n",
        "Content-Type: application/json-rpc\r\n",
        "Content-Type: multipart/form-data; x=application/json\r\n",
    ] {
        for path in ["/mcp", "/", "/list_files"] {
            assert_eq!(with_type(path, line).status, 400, "{path} {line}");
        }
    }
}

#[test]
fn a_request_is_served_whatever_its_accept_header() {
    let (_folder, server) = start();
    let body = ping(1).to_string();
    for accept in ["text/event-stream", "application/json, text/event-stream", "text/html", "*/*", "x"] {
        let headers = format!(
            "Content-Type: application/json\r\nAccept: {accept}\r\nContent-Length: {}\r\n",
            body.len()
        );
        let response = ask(&server, "POST", "/mcp", &headers, &body);
        assert_eq!((response.status, &response.json()["result"]), (200, &json!({})), "{accept}");
    }
}

#[test]
fn invalid_json_is_a_parse_error_with_status_400() {
    let (_folder, server) = start();
    for path in PATHS {
        for body in [&b"{"[..], b"garbage", b"", b"\xFF", b"{} {}", b"{\"a\":\"\xE9\"}"] {
            let response = server.post_raw(path, body);
            assert_eq!(
                (response.status, &response.json()["error"]["code"]),
                (400, &json!(-32700)),
                "{path} {body:?}"
            );
            if path == "/mcp" || path == "/" {
                let answer = response.json();
                assert_eq!(
                    (answer.get("id"), &answer["jsonrpc"]),
                    (Some(&Value::Null), &json!("2.0")),
                    "{path}"
                );
            }
        }
    }
}

#[test]
fn a_message_that_is_no_request_has_status_400() {
    let (_folder, server) = start();
    for body in [
        "5",
        "null",
        "{}",
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
    ] {
        let response = server.post_raw("/mcp", body.as_bytes());
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32600)), "{body}");
    }
}

#[test]
fn errors_of_well_formed_requests_have_status_200() {
    let (_folder, server) = start();
    for (method, params, code) in [
        ("no/such", json!({}), -32601),
        ("logging/setLevel", json!({ "level": "info" }), -32601),
        ("tools/call", json!({ "name": "x" }), -32602),
    ] {
        let body = request("a", method, params);
        let response = server.post("/mcp", &body);
        let answer = response.json();
        assert_eq!(
            (response.status, &answer["error"]["code"], &answer["id"]),
            (200, &json!(code), &json!("a"))
        );
    }
    let failed = read_call(2, "missing");
    let response = server.post("/mcp", &failed);
    assert_eq!((response.status, &response.json()["result"]["isError"]), (200, &json!(true)));
}

#[test]
fn notifications_and_responses_are_accepted_without_a_body_and_not_carried_out() {
    let (folder, server) = start();
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/unknown", "params": {} }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "tools/call",
            "params": { "name": "edit_file", "arguments": { "name": "f", "append": "x" } } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "x" } }),
    ] {
        let response = server.post("/mcp", &message);
        assert_eq!((response.status, response.text()), (202, String::new()), "{message}");
    }
    assert!(server.terminate().success());
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn requests_follow_each_other_on_one_connection_also_after_an_error() {
    let (folder, server) = start();
    folder.write("f", "a\n");
    let mut connection = server.connect();
    for _ in 0..5 {
        assert_eq!(connection.post("/mcp", &ping(1)).status, 200);
        assert_eq!(connection.post("/read_file", &json!({ "name": "f" })).json()["content"], "a");
        assert_eq!(connection.post("/read_file", &json!({ "name": "missing" })).status, 404);
        connection.write(&post_bytes("/mcp", "", b"{"));
        assert_eq!(connection.read().status, 400);
        assert_eq!(
            connection.post("/mcp", &json!({ "jsonrpc": "2.0", "method": "notifications/x" })).status,
            202
        );
    }
    // Two at once are answered in their order.
    let other = ping("second");
    let both = [
        post_bytes("/mcp", "", ping(1).to_string().as_bytes()),
        post_bytes("/", "", other.to_string().as_bytes()),
    ];
    connection.write(&both.concat());
    assert_eq!(
        (&connection.read().json()["id"], &connection.read().json()["id"]),
        (&json!(1), &json!("second"))
    );
}

#[test]
fn half_a_request_or_a_silent_connection_harms_no_other_client() {
    let (_folder, server) = start();
    let _silent: Vec<_> = (0..20).map(|_| server.connect()).collect();
    let mut halves: Vec<_> = (0..20).map(|_| server.connect()).collect();
    for half in &mut halves {
        half.write((post_head("/mcp", "", 50) + "{").as_bytes());
    }
    assert_eq!(server.post("/mcp", &ping(1)).status, 200);
    drop(halves);
    for _ in 0..10 {
        assert_eq!(server.post("/mcp", &ping(1)).status, 200);
    }
    let nonsense = server.raw(b"NOT HTTP AT ALL\r\n\r\n");
    assert_eq!(nonsense.status, 400);
    assert_eq!(server.post("/mcp", &ping(1)).status, 200);
}

#[test]
fn a_client_that_disconnects_during_a_large_answer_harms_no_other_client() {
    let (folder, server) = start();
    folder.write("large", "some text in a line\n".repeat(400_000));
    for _ in 0..10 {
        let mut connection = server.connect();
        connection.write(&post_bytes("/read_file", "", br#"{"name":"large"}"#));
    }
    let answer = server.ok("read_file", json!({ "name": "large", "start_line": 399_999 }));
    assert!(answer.ends_with("\n\nsome text in a line"), "{answer}");
}

#[test]
fn sigterm_and_sigint_end_the_server_with_code_0_within_2_seconds_with_clients_connected() {
    let stopped_by = |signal| {
        let (folder, server) = start();
        folder.write("f", "a\n");
        let mut idle = server.connect();
        assert_eq!(idle.post("/mcp", &ping(1)).status, 200);
        let _silent = server.connect();
        let mut half = server.connect();
        half.write((post_head("/mcp", "", 50) + "{").as_bytes());
        let _locked = lock(&folder, "f");
        let mut waiting = server.connect();
        waiting.write(&post_bytes("/edit_file", "", br#"{"name":"f","append":"x"}"#));
        assert_eq!(server.post("/mcp", &ping(1)).status, 200);
        let since = Instant::now();
        server.signal(signal);
        assert_eq!(server.wait(PATIENCE).code(), Some(0));
        let took = since.elapsed();
        assert_eq!(folder.names(), ["f"]);
        took
    };
    let check = |signal| mostly_within(Duration::from_millis(2_000), || stopped_by(signal));
    at_once(|| check(Signal::TERM), || check(Signal::INT));
}
