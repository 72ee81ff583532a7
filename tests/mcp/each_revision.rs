//! What holds in every revision of MCP on both transports: a workflow, ids, notifications, cancelling, pages, codes.
//!
//! Every answer here is also checked with the official schema of its revision (support/schema.rs).

use serde_json::{Value, json};

use crate::support::{
    Folder, HANDSHAKE, Http, Mcp, STATELESS, Stateless, Stdio, headers, in_every_revision, lock, with_meta,
};

#[test]
fn a_client_lists_creates_reads_edits_and_fails_in_the_same_words() {
    in_every_revision(|server, folder, _| {
        let tools = server.rpc("tools/list", json!({}))["result"]["tools"].clone();
        let names: Vec<&Value> = tools.as_array().expect("tools").iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["list_files", "read_file", "edit_file"]);
        assert_eq!(server.ok("list_files", json!({})), "Files in directory:\n\nTotal files: 0");
        server.ok("edit_file", json!({ "name": "f", "append": "a\nb" }));
        let edit = json!({ "line": 1, "operation": "replace", "content": "B", "expect": "b" });
        server.ok("edit_file", json!({ "name": "f", "edits": [edit] }));
        assert_eq!(folder.text("f"), "a\nB\n");
        let range = json!({ "name": "f", "start_line": 1, "end_line": 1 });
        assert_eq!(server.ok("read_file", range), "File: f (lines 1-1 of 2 total)\n\nB");
        assert_eq!(server.refused("read_file", json!({ "name": "g" })), "Error: File 'g' not found");
    });
}

#[test]
fn an_unknown_tool_prompt_or_cursor_is_wrong_params_and_an_unknown_method_is_not_found() {
    in_every_revision(|server, _, revision| {
        for (method, params, code) in [
            ("tools/call", json!({ "name": "x" }), -32602),
            ("tools/call", json!({ "name": "list_files", "arguments": [] }), -32602),
            ("tools/call", json!({}), -32602),
            ("prompts/get", json!({ "name": "x" }), -32602),
            ("resources/list", json!({ "cursor": "x" }), -32602),
            ("tools/list", json!({ "cursor": 5 }), -32602),
            ("no/such", json!({}), -32601),
            ("completion/complete", json!({}), -32601),
            ("logging/setLevel", json!({ "level": "info" }), -32601),
            ("resources/subscribe", json!({ "uri": "file:///x" }), -32601),
            ("tasks/list", json!({}), -32601),
            ("subscriptions/listen", json!({ "notifications": {} }), -32601),
        ] {
            let answer = server.rpc(method, params.clone());
            assert_eq!(answer["error"]["code"], code, "{revision} {method} {params}: {answer}");
        }
    });
}

#[test]
fn a_resource_is_read_as_it_is_and_a_missing_one_has_the_code_of_the_revision() {
    in_every_revision(|server, folder, revision| {
        // A name that no header holds as it is.
        folder.write("f.md", "a\r\nb");
        let list = server.rpc("resources/list", json!({}))["result"]["resources"].clone();
        let uri = list[0]["uri"].clone();
        let read = server.rpc("resources/read", json!({ "uri": uri }))["result"]["contents"].clone();
        assert_eq!(read, json!([{ "uri": uri, "mimeType": "text/markdown", "text": "a\r\nb" }]));
        for missing in ["file:///nowhere/ä b", "test://x", ""] {
            let error = server.rpc("resources/read", json!({ "uri": missing }))["error"].clone();
            let code = if revision == STATELESS { -32602 } else { -32002 };
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(missing)), "{error}");
        }
        assert_eq!(
            server.rpc("resources/templates/list", json!({}))["result"]["resourceTemplates"],
            json!([])
        );
    });
}

#[test]
fn prompts_are_listed_and_filled_in() {
    in_every_revision(|server, _, _| {
        let prompts = server.rpc("prompts/list", json!({}))["result"]["prompts"].clone();
        for prompt in prompts.as_array().expect("prompts") {
            let arguments = prompt["arguments"].as_array().expect("arguments").iter();
            let given = arguments
                .map(|argument| (argument["name"].as_str().expect("a name").to_owned(), json!("xyz")));
            let given = Value::Object(given.collect());
            let empty = given == json!({});
            let got = server.rpc("prompts/get", json!({ "name": prompt["name"], "arguments": given }));
            let text = got["result"]["messages"][0]["content"]["text"].as_str().expect("a text");
            assert!(empty || text.contains("xyz"), "{text}");
        }
    });
}

#[test]
fn resources_come_in_pages_whose_cursors_need_no_connection() {
    not_under_wine!("looks up a thousand names slower than an answer may take");
    for revision in HANDSHAKE.into_iter().chain([STATELESS]) {
        let folder = Folder::new();
        for n in 0..1_001 {
            folder.write(&format!("f{n:04}"), "");
        }
        let server = |http: bool| -> Box<dyn Mcp> {
            match (http, revision == STATELESS) {
                (false, false) => Box::new(Stdio::start(&folder, &[])),
                (true, false) => Box::new(Http::start(&folder, &[])),
                (false, true) => Box::new(Stateless(Stdio::start(&folder, &[]))),
                (true, true) => Box::new(Stateless(Http::start(&folder, &[]))),
            }
        };
        let (one, other) = (server(false), server(true));
        one.begin(revision);
        other.begin(revision);
        let first = one.rpc("resources/list", json!({}))["result"].clone();
        let rest = other.rpc("resources/list", json!({ "cursor": first["nextCursor"] }))["result"].clone();
        let names = |page: &Value| page["resources"].as_array().map_or(0, Vec::len);
        assert_eq!((names(&first), names(&rest)), (1_000, 1), "{revision}");
        assert!(rest.get("nextCursor").is_none(), "{revision}: {rest}");
    }
}

/// A message as bytes, so that its id stays as it is written.
fn message(id: &str, revision: &str, method: &str, params: Value) -> String {
    let params = if revision == STATELESS { with_meta(params) } else { params };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

#[test]
fn an_id_is_echoed_with_every_digit_and_no_other_kind_is_one() {
    for revision in HANDSHAKE.into_iter().chain([STATELESS]) {
        let folder = Folder::new();
        let (stdio, http) = (Stdio::start(&folder, &[]), Http::start(&folder, &[]));
        let ask = |id: &str| {
            let list = message(id, revision, "tools/list", json!({}));
            stdio.send_raw(format!("{list}\n").as_bytes());
            let header = match revision {
                STATELESS => headers("tools/list", &json!({})),
                revision => format!("MCP-Protocol-Version: {revision}\r\n"),
            };
            let response = http.post_with("/mcp", &header, list.as_bytes());
            (stdio.recv_line(), response.status, response.text())
        };
        if revision != STATELESS {
            stdio.begin(revision);
        }
        for id in [
            "0",
            "-1",
            "\"\"",
            "\"7\"",
            "18446744073709551616",
            "123456789012345678901234567890",
            "1.0",
            "\"ä\"",
            "7",
        ] {
            let (line, status, body) = ask(id);
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#);
            assert!(
                line.starts_with(&start) && body.starts_with(&start),
                "{revision} {id}: {line:.99} {body:.99}"
            );
            assert_eq!(status, 200);
        }
        for id in ["null", "1.5", "true", "{}", "[]"] {
            let (line, status, body) = ask(id);
            let start = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"#;
            assert!(line.starts_with(start) && body.starts_with(start), "{revision} {id}: {line} {body}");
            assert_eq!(status, 400);
        }
    }
}

#[test]
fn notifications_are_not_answered_and_carry_nothing_out() {
    in_every_revision(|server, folder, _| {
        let edit = json!({ "name": "edit_file", "arguments": { "name": "f", "append": "x" } });
        for (method, params) in [
            ("notifications/initialized", json!({})),
            ("notifications/cancelled", json!({ "requestId": 1 })),
            ("notifications/roots/list_changed", json!({})),
            ("notifications/unknown", json!({})),
            ("tools/call", with_meta(edit)),
            ("initialize", json!({})),
        ] {
            // Over HTTP this is 202 without a body; on stdio the next message must be the answer to the next request.
            server.notify(method, params);
            server.rpc("tools/list", json!({}));
        }
        assert_eq!(folder.names(), [""; 0]);
    });
}

#[test]
fn a_cancelled_request_is_not_answered_on_stdio() {
    for revision in HANDSHAKE.into_iter().chain([STATELESS]) {
        let folder = Folder::new();
        folder.write("f", "a\n");
        let server = Stdio::start(&folder, &[]);
        if revision != STATELESS {
            server.begin(revision);
        }
        let locked = lock(&folder, "f");
        let edit = json!({ "name": "edit_file", "arguments": { "name": "f", "append": "cancelled" } });
        server.send_raw(format!("{}\n", message("\"edit\"", revision, "tools/call", edit)).as_bytes());
        server.notify("notifications/cancelled", json!({ "requestId": "edit", "reason": "changed my mind" }));
        for malformed in [json!({}), json!({ "requestId": null }), json!({ "requestId": "no such request" })]
        {
            server.notify("notifications/cancelled", malformed);
        }
        server.send_raw(format!("{}\n", message("2", revision, "tools/list", json!({}))).as_bytes());
        assert_eq!(server.recv()["id"], 2, "{revision}");
        drop(locked);
        server.close_stdin();
        assert_eq!(server.rest_of_output(), [""; 0], "{revision}");
        assert_eq!(folder.text("f"), "a\n", "{revision}");
    }
}
