//! HTTP/1.1: `Expect`, HEAD, IPv6, pipelines, streams, and answers that are cut off when the file changes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream};

use serde_json::json;

use crate::support::{
    Folder, Http, HttpResponse, MB, Mcp, PATIENCE, headers, ping, post_bytes, read_call, request,
    while_others, with_meta,
};

/// Reads the head of a response, whatever it is.
fn head(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).expect("a line"), 0, "cut off at {head:?}");
    }
    head
}

fn open(server: &Http) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    BufReader::new(stream)
}

#[test]
fn a_client_that_expects_100_continue_gets_it_before_it_sends_its_body() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    let body = ping(1).to_string();
    let mut stream = open(&server);
    let bytes = post_bytes("/mcp", "Expect: 100-continue\r\n", body.as_bytes());
    let (ask, body) = bytes.split_at(bytes.len() - body.len());
    stream.get_mut().write_all(ask).expect("sent");
    assert!(head(&mut stream).starts_with("HTTP/1.1 100 "));
    stream.get_mut().write_all(body).expect("sent");
    assert!(head(&mut stream).starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_client_that_expects_100_continue_for_a_request_that_is_refused_gets_the_refusal_at_once() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--max-size=1"]);
    for (headers, status) in [
        (format!("Host: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", 2 * MB), 413),
        ("Host: localhost\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n".to_owned(), 400),
        ("Host: evil.example\r\nContent-Type: application/json\r\nContent-Length: 5\r\n".to_owned(), 403),
    ] {
        let mut stream = open(&server);
        let ask = format!("POST /mcp HTTP/1.1\r\n{headers}Expect: 100-continue\r\n\r\n");
        stream.get_mut().write_all(ask.as_bytes()).expect("sent");
        let head = head(&mut stream);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
    }
}

/// A POST with these header lines. Its body is a valid request, in chunks if the headers say so.
fn coded(server: &Http, path: &str, headers: &str) -> HttpResponse {
    let mut body = if path == "/mcp" { ping(1).to_string() } else { "{}".to_owned() };
    let mut headers = headers.to_owned();
    if headers.contains("Transfer-Encoding") {
        body = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    } else {
        headers += &format!("Content-Length: {}\r\n", body.len());
    }
    let head = "Host: localhost\r\nContent-Type: application/json\r\n";
    server.raw(format!("POST {path} HTTP/1.1\r\n{head}{headers}\r\n{body}").as_bytes())
}

#[test]
fn a_body_that_is_coded_is_refused_and_never_read_as_plain_json() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    let check = |path: &str, headers: &str, status: u16, header: (&str, &str)| {
        let response = coded(&server, path, headers);
        assert_eq!((response.status, response.header(header.0)), (status, Some(header.1)), "{headers}");
        let (json, id) = (response.json(), json!(null));
        assert_eq!(json["error"]["code"], -32600, "{headers}");
        // Each interface has its own form of an error.
        assert_eq!(json.get("id"), (path == "/mcp").then_some(&id), "{headers}");
        assert_eq!(json["error"]["data"].is_object(), path != "/mcp", "{headers}");
    };
    for path in ["/mcp", "/list_files"] {
        for value in [
            "gzip",
            "GZIP",
            "x-gzip",
            "br",
            "deflate",
            "zstd",
            "identity, gzip",
            "gzip,identity",
            "nonsense",
            "\u{e9}",
        ] {
            check(path, &format!("Content-Encoding: {value}\r\n"), 415, ("accept-encoding", "identity"));
        }
        let two = "content-encoding: identity\r\nCONTENT-ENCODING: gzip\r\n";
        check(path, two, 415, ("accept-encoding", "identity"));
        for value in
            ["gzip, chunked", "chunked, chunked", "identity, chunked", "gzip\r\nTransfer-Encoding: chunked"]
        {
            check(path, &format!("Transfer-Encoding: {value}\r\n"), 501, ("connection", "close"));
        }
        for headers in [
            "Content-Encoding: identity\r\n",
            "Content-Encoding: Identity\r\nContent-Encoding: identity\r\n",
            "Content-Encoding:\r\n",
            "Transfer-Encoding: Chunked\r\n",
            "Content-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
        ] {
            assert_eq!(coded(&server, path, headers).status, 200, "{path} {headers}");
        }
    }
}

#[test]
fn head_is_not_allowed_and_has_no_body() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    for (path, status) in [("/mcp", 405), ("/", 405), ("/list_files", 405), ("/x", 404)] {
        let mut stream = open(&server);
        let ask = format!("HEAD {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.get_mut().write_all(ask.as_bytes()).expect("sent");
        let head = head(&mut stream).to_ascii_lowercase();
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{head}");
        assert_eq!(head.contains("allow: post"), status == 405, "{head}");
        let mut body = Vec::new();
        stream.read_to_end(&mut body).expect("the end");
        assert_eq!(body, b"", "{path}");
    }
}

#[test]
fn pipelined_requests_are_answered_in_their_order_whatever_their_size() {
    let folder = Folder::new();
    let text = "some words in a line\n".repeat(50_000);
    folder.write("large", &text);
    let server = Http::start(&folder, &[]);
    let mut connection = server.connect();
    let read = read_call(0, "large");
    let mut bytes = Vec::new();
    for id in 1..=10 {
        bytes.extend(post_bytes("/mcp", "", read.to_string().as_bytes()));
        bytes.extend(post_bytes("/mcp", "", ping(id).to_string().as_bytes()));
    }
    connection.write(&bytes);
    for id in 1..=10 {
        let large = connection.read();
        // The answer is too long to be in memory before it is sent.
        assert_eq!(large.header("transfer-encoding"), Some("chunked"));
        let found = large.json()["result"]["content"][0]["text"].as_str().map(str::len);
        assert_eq!(found, Some("File: large (50000 lines)\n\n".len() + text.len() - 1));
        let small = connection.read();
        assert_eq!((&small.json()["id"], small.header("transfer-encoding")), (&json!(id), None));
        assert!(small.header("content-length").is_some());
    }
}

#[test]
fn an_answer_over_rest_that_stops_being_true_is_cut_off_and_never_looks_whole() {
    let folder = Folder::new();
    let (one, other) = ("a".repeat(99) + "\n", "b".repeat(99) + "\n");
    let texts = [one.repeat(40_000), other.repeat(40_000)];
    folder.write("f", &texts[0]);
    let server = Http::start(&folder, &[]);
    let path = folder.path().join("f");
    let mut turn = 0;
    // Written in place without a lock.
    let rewrite = || {
        turn += 1;
        let mut file = std::fs::File::options().write(true).open(&path).expect("the file");
        file.write_all(texts[turn % 2].as_bytes()).expect("written");
    };
    while_others(rewrite, || {
        for _ in 0..30 {
            let mut connection = server.connect();
            connection.write(&post_bytes("/read_file", "", br#"{"name":"f"}"#));
            // The answer is cut off, refused, or complete. A mixture of both texts can be a state of the file, but it has all
            // lines.
            let Ok(response) = connection.try_read() else { continue };
            if response.status == 200 {
                assert_eq!(response.json()["total_lines"], 40_000);
                assert_eq!(response.json()["content"].as_str().map(str::len), Some(texts[0].len() - 1));
            } else {
                assert_eq!(response.status, 409, "{}", response.text());
            }
        }
    });
}

#[test]
fn the_ipv6_loopback_is_served_with_the_same_rules() {
    if TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        let _ = writeln!(std::io::stderr(), "no IPv6 on this machine: --host=::1 is not tested");
        return;
    }
    let folder = Folder::new();
    let server = Http::start(&folder, &["--host=::1"]);
    let port = server.port();
    assert!(server.stderr().contains(&format!("http://[::1]:{port}")), "{}", server.stderr());
    let ask = |host: &str, more: &str| {
        let body = ping(1).to_string();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{more}Content-Type: application/json\r\n");
        let mut connection = server.connect_to("::1");
        connection.write(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        connection.read().status
    };
    for host in [format!("[::1]:{port}"), "[::1]".into(), format!("localhost:{port}"), "127.0.0.1".into()] {
        assert_eq!(ask(&host, ""), 200, "{host}");
    }
    for host in ["[::2]", "evil.example", "[::1].evil.example", "[::ffff:10.0.0.1]"] {
        assert_eq!(ask(host, ""), 403, "{host}");
    }
    assert_eq!(ask("[::1]", "Origin: http://[::1]:5173\r\n"), 200);
    assert_eq!(ask("[::1]", "Origin: http://[::2]\r\n"), 403);
}

#[test]
fn a_token_is_asked_of_mcp_clients_in_every_revision() {
    let folder = Folder::new();
    std::fs::write(folder.outside("token"), "secret").expect("a token file");
    let flag = format!("--auth-token-file={}", folder.outside("token").display());
    let server = Http::start(&folder, &[&flag, "--host=0.0.0.0", "--allow-remote"]);
    assert_eq!(server.post("/mcp", &ping(1)).status, 401);
    let discover = headers("server/discover", &json!({}));
    let body = request(1, "server/discover", with_meta(json!({})));
    assert_eq!(server.post_with("/mcp", &discover, body.to_string().as_bytes()).status, 401);
    server.add_header("Authorization", "Bearer secret");
    assert_eq!(server.post_with("/mcp", &discover, body.to_string().as_bytes()).status, 200);
    assert_eq!(server.begin("2025-11-25")["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(server.rpc("ping", json!({}))["result"], json!({}));
}
