//! `POST /tools/{name}`: every tool offered, with its arguments as body and the MCP result as answer.

use serde_json::{Value, json};

use crate::support::{Folder, Http, MB, post_bytes};

const ALL: &str = "--tools=lines,exact";

fn post(server: &Http, tool: &str, arguments: Value) -> (u16, Value) {
    let response = server.post(&format!("/tools/{tool}"), &arguments);
    assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"));
    (response.status, response.json())
}

#[test]
fn every_tool_offered_answers_with_its_mcp_result() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[ALL]);
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    let edited = "File edited successfully: f\nLines modified: 1\nTotal lines: 1\nFile created: true";
    assert_eq!(post(&server, "edit_file", json!({ "name": "f", "append": "a" })), (200, text(edited)));
    assert_eq!(post(&server, "read_file", json!({ "path": "f" })), (200, text("File: f (1 lines)\n\na")));
    let (status, listed) = post(&server, "list_files", json!({}));
    assert!(
        status == 200 && listed["content"][0]["text"].as_str().expect("a text").ends_with("Total files: 1")
    );
    let edits = json!([{ "old_text": "a", "new_text": "b" }]);
    let (status, result) = post(&server, "file_edit", json!({ "path": "f", "edits": edits }));
    assert_eq!((status, &result["isError"]), (200, &json!(false)));
    assert_eq!(result["metadata"]["total_replacements"], 1);
    assert_eq!(result.get("structuredContent"), None);
    assert_eq!(folder.text("f"), "b\n");
}

#[test]
fn with_structured_the_data_is_there_too() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &[ALL, "--structured"]);
    let (_, result) = post(&server, "edit_file", json!({ "name": "f", "append": "b" }));
    assert_eq!(result["structuredContent"]["new_total_lines"], 2);
    let (_, result) = post(&server, "read_file", json!({ "name": "f" }));
    assert_eq!(result.get("structuredContent"), None);
    let miss = json!({ "path": "f", "edits": [{ "old_text": "x", "new_text": "" }] });
    let (_, result) = post(&server, "file_edit", miss);
    assert_eq!(result["structuredContent"]["validation_error"]["type"], "NO_MATCH");
}

#[test]
fn a_failure_has_the_status_of_the_table_and_the_text_of_mcp() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    folder.write("binary", "\0");
    folder.write("large", "x".repeat(MB + 1));
    let server = Http::start(&folder, &[ALL, "--max-size=1"]);
    let expect = json!([{ "line": 0, "operation": "delete", "expect": "x" }]);
    let miss = json!([{ "old_text": "x", "new_text": "" }]);
    for (tool, arguments, status, first) in [
        ("read_file", json!({ "name": "none" }), 404, "Error: File 'none' not found"),
        ("read_file", json!({ "name": "../f" }), 400, "Error: Invalid filename format"),
        (
            "read_file",
            json!({ "name": "f", "start_line": 9 }),
            400,
            "Error: Start line 9 exceeds file length 1",
        ),
        ("read_file", json!({ "name": "binary" }), 400, "Error: File 'binary' is not a text file"),
        ("read_file", json!({ "name": "large" }), 413, "Error: File size 1.01MB exceeds maximum limit 1MB"),
        ("edit_file", json!({ "name": "f", "edits": expect }), 409, "Error: Line 0 is not as expected"),
        ("file_edit", json!({ "path": "f", "edits": miss }), 409, "Edit 1 of 1 failed: "),
        ("file_edit", json!({ "path": "none", "edits": miss }), 404, "Error: File 'none' not found"),
        ("file_edit", json!({ "path": "f" }), 400, "Error: No edits provided"),
        ("read_file", json!([]), 400, "Error: Invalid arguments: arguments: [] is wrong; expected an object"),
        ("list_files", json!(5), 400, "Error: Invalid arguments: arguments: 5 is wrong; expected an object"),
    ] {
        let (is, result) = post(&server, tool, arguments.clone());
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert_eq!((is, &result["isError"]), (status, &json!(true)), "{tool} {arguments}: {result}");
        assert!(text.starts_with(first), "{tool} {arguments}: {text}");
    }
    assert_eq!(folder.text("f"), "a\n");
}

#[test]
fn what_is_no_tool_is_not_found_and_a_writer_is_forbidden_where_nothing_is_written() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let server = Http::start(&folder, &[]);
    for path in ["/tools/file_edit", "/tools/grep", "/tools/", "/tools", "/tools/read_file/", "/file_edit"] {
        let response = server.post(path, &json!({}));
        assert_eq!((response.status, &response.json()["error"]["code"]), (404, &json!(-32601)), "{path}");
    }
    assert_eq!(
        server.post("/tools/grep", &json!({})).json()["error"]["message"],
        "Unknown tool: grep; the tools are list_files, read_file, edit_file"
    );
    let server = Http::start(&folder, &[ALL, "--read-only"]);
    for (tool, arguments) in [
        ("edit_file", json!({ "name": "f", "append": "b" })),
        ("file_edit", json!({ "path": "f", "edits": [{ "old_text": "a", "new_text": "b" }] })),
    ] {
        let (status, body) = post(&server, tool, arguments);
        assert_eq!((status, &body["error"]["code"]), (403, &json!(-32001)));
    }
    assert_eq!(post(&server, "read_file", json!({ "name": "f" })).0, 200);
    assert_eq!(folder.text("f"), "a\n");
}

#[test]
fn the_checks_of_a_request_are_those_of_rest() {
    let folder = Folder::new();
    let server = Http::start(&folder, &["--max-size=1"]);
    let path = "/tools/list_files";
    let status = |bytes: &[u8]| server.raw(bytes).status;
    assert_eq!(status(&post_bytes(path, "Origin: http://evil.example\r\n", b"{}")), 403);
    assert_eq!(status(&post_bytes(path, "Host: evil.example\r\n", b"{}")), 403);
    let get = server.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    let long = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        MB + 1
    );
    assert_eq!(status(long.as_bytes()), 413);
    let plain = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}"
    );
    assert_eq!(status(plain.as_bytes()), 400);
    for body in ["", "{", "{} {}", "\u{1}"] {
        let response = server.post_raw(path, body.as_bytes());
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32700)), "{body:?}");
    }
    let token = folder.outside("token");
    std::fs::write(&token, "secret").expect("a file");
    let server = Http::start(&folder, &[&format!("--auth-token-file={}", token.display())]);
    assert_eq!(server.post(path, &json!({})).status, 401);
    server.add_header("Authorization", "Bearer secret");
    assert_eq!(server.post(path, &json!({})).status, 200);
}
