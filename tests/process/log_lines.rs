//! One record of the log is one line, and each line of a JSON log is JSON, whatever a client sends (S0 5.4).

use std::io::Write;
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Folder, Http, PATIENCE, Stdio, bare_command, request};

/// The most bytes of a line with its break: a pipe takes so many in one write.
const LONGEST: usize = 4_096;

/// Texts that break lines, terminals and JSON, short and far too long.
fn odd_texts() -> Vec<String> {
    let odd = "x\"\\\n\r\t\0\u{1b}[31m\u{1}\u{7f}\u{85}\u{2028}\u{2029}\u{202e}\u{feff}\u{10ffff}{}\u{e9}";
    let long = ["a", "\"", "\\", "\n", "\u{1}", "\u{e9}", "\u{1f600}", odd].map(|text| text.repeat(6_000));
    [vec![String::new(), odd.to_owned()], long.to_vec()].concat()
}

/// Each line of a log is whole; of a JSON log, an object with what every record has. Returns how many say `message`.
#[track_caller]
fn check_lines(log: &str, format: &str, message: &str) -> usize {
    let mut count = 0;
    assert!(log.ends_with('\n'));
    for line in log.trim_end_matches('\n').split('\n') {
        assert!(line.len() < LONGEST, "{} bytes: {line}", line.len());
        assert!(!line.contains(|c: char| c.is_control() || "\u{2028}\u{2029}".contains(c)), "{line:?}");
        let (time, said) = if format == "json" {
            let record: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let text =
                |key: &str| record[key].as_str().unwrap_or_else(|| panic!("no {key}: {line}")).to_owned();
            assert!(["ERROR", "WARN", "INFO", "DEBUG", "TRACE"].contains(&&*text("level")), "{line}");
            (text("timestamp"), text("message") == message)
        } else {
            (line[..27].to_owned(), line[27..].contains(&format!(" {message}")))
        };
        assert!(time.len() == 27 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{line}");
        count += usize::from(said);
    }
    count
}

fn flags(format: &str) -> [String; 3] {
    [format!("--log-format={format}"), "--log-level=trace".into(), "--names=any".into()]
}

#[test]
fn over_stdio_a_line_is_a_line_in_both_forms_whatever_is_sent() {
    not_under_wine!(
        "loses lines of the log when the machine is busy, as it may where nobody reads them in time"
    );
    for format in ["json", "text"] {
        let folder = Folder::new();
        let flags = flags(format);
        let server = Stdio::start(&folder, &flags.each_ref().map(String::as_str));
        let mut asked = 0;
        for text in odd_texts() {
            let notify = |method: &str, params: Value| server.notify(method, params);
            let mut ask = |method: &str, params: Value| {
                asked += 1;
                server.send_unchecked(&request(&text, method, params));
                server.recv_unchecked();
            };
            ask(
                "initialize",
                json!({ "protocolVersion": text, "capabilities": {},
                "clientInfo": { "name": text, "version": text } }),
            );
            ask(&text, json!({}));
            ask("tools/call", json!({ "name": text, "arguments": {} }));
            ask("tools/call", json!({ "name": "read_file", "arguments": { "name": text } }));
            ask("tools/call", json!({ "name": "read_file", "arguments": { "name": "f", text.as_str(): 1 } }));
            ask(
                "tools/call",
                json!({ "name": "edit_file", "arguments": { "name": "f", "edits": [{ "operation": text, "line": 0 }] } }),
            );
            ask("resources/read", json!({ "uri": text }));
            ask("resources/list", json!({ "cursor": text }));
            ask("prompts/get", json!({ "name": text }));
            ask("tools/list", json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": text } }));
            ask("read_file", json!({ "name": text, "start_line": text }));
            notify(&text, json!({}));
            notify("notifications/cancelled", json!({ "requestId": text, "reason": text }));
        }
        for raw in [&b"\xFF\xFE\x1b[2J"[..], b"{\"id\":\"\\ud800\",\"method\":\"\\udfff\"}", b"\"\x80\""] {
            server.send_raw(&[raw, b"\n"].concat());
            server.recv_unchecked();
        }
        let log = server.close_with_log();
        assert_eq!(check_lines(&log, format, "initialize"), odd_texts().len(), "{format}");
        assert_eq!(check_lines(&log, format, "notification ignored"), odd_texts().len(), "{format}");
        let refused = check_lines(&log, format, "refused") + check_lines(&log, format, "failed");
        assert!(refused > asked / 2, "{format}: {refused} of {asked}");
    }
}

#[test]
fn over_http_a_line_is_a_line_in_both_forms_whatever_is_sent() {
    for format in ["json", "text"] {
        let folder = Folder::new();
        let flags = flags(format);
        let server = Http::start(&folder, &flags.each_ref().map(String::as_str));
        for text in odd_texts() {
            let body = json!({ "jsonrpc": "2.0", "id": text, "method": text }).to_string();
            server.post_raw("/mcp", body.as_bytes());
            server.post_raw("/read_file", json!({ "name": text }).to_string().as_bytes());
        }
        let long = "%0a%1b\"\\\u{e9}".repeat(1_000);
        for head in [
            format!("POST /{long} HTTP/1.1\r\nHost: localhost\r\n"),
            "POST /\u{1b}[31m\u{1} HTTP/1.1\r\nHost: localhost\r\n".to_owned(),
            format!("POST /mcp HTTP/1.1\r\nHost: {long}\r\n"),
            format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: {long}\r\n"),
            "\u{1b}[31m /mcp\r\n".to_owned(),
        ] {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
            stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
            stream
                .write_all(format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())
                .expect("sent");
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
        let (_, log) = server.terminate_with_output();
        let refused = check_lines(&log, format, "refused") + check_lines(&log, format, "failed");
        assert!(refused > odd_texts().len(), "{format}: {refused}");
        assert_eq!(check_lines(&log, format, "ready"), 1);
    }
}

#[test]
fn a_folder_of_any_name_is_named_in_one_line() {
    not_under_wine!("has names that Windows does not admit");
    for (name, format) in
        [("a\n\"\\\u{1b}b", "json"), ("a\n\"\\\u{1b}b", "text"), ("\u{1}".repeat(200).as_str(), "json")]
    {
        let folder = Folder::new();
        std::fs::create_dir(folder.path().join(name)).expect("a folder");
        let mut command = bare_command();
        command.arg("--transport=stdio").arg(format!("--log-format={format}"));
        command.arg("--dir").arg(folder.path().join(name));
        let server = Stdio::run(command).ready();
        server.signal(Signal::USR1);
        server.wait_for_stderr("status");
        assert_eq!(check_lines(&server.close_with_log(), format, "ready"), 1, "{name:?}");
    }
}
