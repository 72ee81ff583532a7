//! Access over HTTP: Host, Origin, the token, and the order of all checks (contract 6.3, 2).

use serde_json::{Value, json};

use crate::support::{Folder, Http, HttpResponse, ping};

const PATHS: [&str; 3] = ["/mcp", "/", "/list_files"];

fn body_for(path: &str) -> Value {
    if path == "/list_files" { json!({}) } else { ping(1) }
}

/// A valid POST with this Host and these further header lines.
fn post(server: &Http, path: &str, host: &str, headers: &str) -> HttpResponse {
    let body = body_for(path).to_string();
    let bytes = format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\n{headers}Content-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    server.raw(bytes.as_bytes())
}

#[test]
fn a_foreign_host_is_forbidden_on_a_loopback_address() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    let port = server.port();
    for path in PATHS {
        for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"] {
            assert_eq!(post(&server, path, host, "").status, 200, "{path} {host}");
            assert_eq!(post(&server, path, &format!("{host}:{port}"), "").status, 200, "{path} {host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil-localhost",
            "127.0.0.1@evil.example",
            "192.168.0.1",
            "",
        ] {
            assert_eq!(post(&server, path, host, "").status, 403, "{path} {host:?}");
        }
    }
}

#[test]
fn a_foreign_origin_is_forbidden_always() {
    let folder = Folder::new();
    let loopback = Http::start(&folder, &[]);
    let everywhere = Http::start(&folder, &["--host=0.0.0.0", "--allow-remote"]);
    for server in [&loopback, &everywhere] {
        for path in PATHS {
            for origin in [
                "http://localhost",
                "http://localhost:3000",
                "http://127.0.0.1",
                "http://127.0.0.1:8080",
                "http://[::1]:5173",
            ] {
                let response = post(server, path, "localhost", &format!("Origin: {origin}\r\n"));
                assert_eq!(response.status, 200, "{path} {origin}");
            }
            for origin in [
                "http://evil.example",
                "https://evil.example:8080",
                "null",
                "http://localhost.evil.example",
                "http://127.0.0.1.evil.example",
                "http://evil.example/localhost",
                "http://localhost@evil.example",
                "x",
            ] {
                let response = post(server, path, "localhost", &format!("Origin: {origin}\r\n"));
                assert_eq!(response.status, 403, "{path} {origin}");
            }
        }
    }
    // A server that is not bound to loopback accepts every Host.
    assert_eq!(post(&everywhere, "/mcp", "files.example", "").status, 200);
}

#[test]
fn a_token_from_a_file_is_asked_of_every_request() {
    let folder = Folder::new();
    std::fs::write(folder.outside("token"), "s3cret-Token_1\n").expect("a token file");
    let flag = format!("--auth-token-file={}", folder.outside("token").display());
    let server = Http::start(&folder, &[&flag]);
    for path in PATHS {
        let good = post(&server, path, "localhost", "Authorization: Bearer s3cret-Token_1\r\n");
        assert_eq!(good.status, 200, "{path}");
        for headers in [
            "",
            "Authorization: Bearer wrong\r\n",
            "Authorization: Bearer \r\n",
            "Authorization: Bearer\r\n",
            "Authorization: s3cret-Token_1\r\n",
            "Authorization: Basic s3cret-Token_1\r\n",
            "Authorization: Bearer s3cret-Token_\r\n",
            "Authorization: Bearer s3cret-Token_11\r\n",
            "Authorization: Bearer S3CRET-TOKEN_1\r\n",
            "X-Authorization: Bearer s3cret-Token_1\r\n",
        ] {
            let response = post(&server, path, "localhost", headers);
            assert_eq!(response.status, 401, "{path} {headers:?}");
            let challenge = response.header("www-authenticate").expect("WWW-Authenticate");
            assert!(challenge.starts_with("Bearer"), "{challenge}");
            assert!(!response.text().contains("s3cret"), "the token is in the answer");
        }
    }
    assert!(!server.stderr().contains("s3cret"), "the token is in the log");
}

/// The status of a request that breaks several rules at once.
fn status(server: &Http, method: &str, path: &str, headers: &str, body: &str) -> u16 {
    let bytes = format!("{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n{body}");
    server.raw(bytes.as_bytes()).status
}

#[test]
fn checks_come_in_the_order_host_and_origin_token_path_method_length_type_json() {
    let folder = Folder::new();
    std::fs::write(folder.outside("token"), "good").expect("a token file");
    let flag = format!("--auth-token-file={}", folder.outside("token").display());
    let server = Http::start(&folder, &[&flag, "--max-size=1"]);
    let (host, token) = ("Host: localhost\r\n", "Authorization: Bearer good\r\n");
    let (too_long, plain) = ("Content-Length: 99999999\r\n", "Content-Type: text/plain\r\n");
    let json = "Content-Type: application/json\r\nContent-Length: 1\r\n";
    let coded = "Content-Encoding: gzip\r\n";
    let all_wrong = format!("{too_long}{plain}{coded}");

    let foreign = format!("Host: evil.example\r\n{all_wrong}");
    assert_eq!(status(&server, "PUT", "/nowhere", &foreign, ""), 403);
    let foreign = format!("{host}Origin: http://evil.example\r\n{all_wrong}");
    assert_eq!(status(&server, "PUT", "/nowhere", &foreign, ""), 403);
    assert_eq!(status(&server, "PUT", "/nowhere", &format!("{host}{all_wrong}"), ""), 401);
    assert_eq!(status(&server, "PUT", "/nowhere", &format!("{host}{token}{all_wrong}"), ""), 404);
    assert_eq!(status(&server, "PUT", "/mcp", &format!("{host}{token}{all_wrong}"), ""), 405);
    assert_eq!(status(&server, "POST", "/mcp", &format!("{host}{token}{all_wrong}"), ""), 413);
    assert_eq!(
        status(&server, "POST", "/mcp", &format!("{host}{token}{plain}{coded}Content-Length: 1\r\n"), "{"),
        400
    );
    assert_eq!(status(&server, "POST", "/mcp", &format!("{host}{token}{coded}{json}"), "{"), 415);
    assert_eq!(status(&server, "POST", "/mcp", &format!("{host}{token}{json}"), "{"), 400);
    assert_eq!(status(&server, "GET", "/mcp", &format!("{host}{token}"), ""), 405);
}

#[test]
fn a_wrong_content_type_is_noticed_before_the_json_is_read() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    let bytes =
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n\r\n{";
    let response = server.raw(bytes);
    assert_eq!(response.status, 400);
    assert!(!response.text().contains("-32700"), "{}", response.text());
    assert!(response.text().contains("application/json"), "{}", response.text());
}

#[test]
fn requests_that_were_turned_away_changed_nothing() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let before = folder.snapshot();
    let server = Http::start(&folder, &[]);
    let body = json!({ "name": "f", "append": "x" }).to_string();
    for headers in [
        "Host: evil.example\r\nContent-Type: application/json\r\n",
        "Host: localhost\r\nOrigin: null\r\nContent-Type: application/json\r\n",
        "Host: localhost\r\nContent-Type: text/plain\r\n",
    ] {
        let bytes =
            format!("POST /edit_file HTTP/1.1\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        assert!((400..404).contains(&server.raw(bytes.as_bytes()).status), "{headers}");
    }
    assert_eq!(folder.snapshot(), before);
}
