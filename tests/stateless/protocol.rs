//! The revision without a handshake, to the letter: discovery, `_meta`, headers and the order in which they are checked,
//! what every result carries (contract 6.5). Between requests: clients.rs.

use serde_json::{Value, json};

use crate::support::{
    Folder, Http, HttpResponse, Mcp, STATELESS, Stateless, Stdio, headers, meta, request, with_meta,
};

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn start() -> (Folder, Http) {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    (folder, server)
}

fn body(method: &str, params: &Value) -> Vec<u8> {
    request("r", method, params).to_string().into_bytes()
}

fn post(server: &Http, header_lines: &str, method: &str, params: &Value) -> HttpResponse {
    server.post_with("/mcp", header_lines, &body(method, params))
}

/// Status and code of a refusal, which carries the request's id.
#[track_caller]
fn refusal(response: &HttpResponse) -> (u16, i64) {
    let answer = response.json();
    assert_eq!(answer["id"], "r", "{answer}");
    assert!(response.header("content-type").is_some_and(|kind| kind.starts_with("application/json")));
    (response.status, answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}")))
}

fn both(test: impl Fn(&dyn Mcp)) {
    let folder = Folder::new();
    folder.write("f", "a\n");
    test(&Stateless(Stdio::start(&folder, &[])));
    test(&Stateless(Http::start(&folder, &[])));
}

#[test]
fn discovery_says_what_is_spoken_and_what_there_is() {
    both(|server| {
        let found = server.rpc("server/discover", json!({}))["result"].clone();
        assert_eq!(found["supportedVersions"], json!([STATELESS]));
        assert_eq!(found["capabilities"], json!({ "tools": {}, "resources": {}, "prompts": {} }));
        assert!(found["instructions"].as_str().is_some_and(|text| text.contains("read_file")), "{found}");
        assert!(found.get("serverInfo").is_none(), "{found}");
        // What is declared works, and what is not does not.
        for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            assert!(server.rpc(method, json!({})).get("result").is_some(), "{method}");
        }
        assert_eq!(server.rpc("subscriptions/listen", json!({}))["error"]["code"], -32601);
    });
}

#[test]
fn every_result_is_complete_names_the_server_and_says_how_long_it_may_be_kept() {
    both(|server| {
        let uri = server.rpc("resources/list", json!({}))["result"]["resources"][0]["uri"].clone();
        for (method, params, kept) in [
            ("server/discover", json!({}), Some("public")),
            ("tools/list", json!({}), Some("public")),
            ("prompts/list", json!({}), Some("public")),
            ("resources/list", json!({}), Some("private")),
            ("resources/templates/list", json!({}), Some("private")),
            ("resources/read", json!({ "uri": uri }), Some("private")),
            ("prompts/get", json!({ "name": "explore_folder" }), None),
            ("tools/call", json!({ "name": "read_file", "arguments": { "name": "f" } }), None),
            ("tools/call", json!({ "name": "read_file", "arguments": { "name": "missing" } }), None),
            ("tools/call", json!({ "name": "list_files" }), None),
        ] {
            let result = server.rpc(method, params)["result"].clone();
            assert_eq!(result["resultType"], "complete", "{method}: {result}");
            let info = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(info["name"], "file-editing-server", "{method}: {result}");
            assert_eq!(info["version"], env!("CARGO_PKG_VERSION"), "{method}");
            assert_eq!(result.get("cacheScope").and_then(Value::as_str), kept, "{method}: {result}");
            assert_eq!(result["ttlMs"].is_u64(), kept.is_some(), "{method}: {result}");
        }
    });
}

#[test]
fn a_meta_that_says_too_little_is_refused_before_the_headers_are_looked_at() {
    let (_folder, server) = start();
    let broken = |key: &str, value: Option<Value>| {
        let mut meta = meta();
        match value {
            Some(value) => meta[key] = value,
            None => drop(meta.as_object_mut().expect("an object").remove(key)),
        }
        json!({ "_meta": meta })
    };
    for params in [
        json!({}),
        json!({ "_meta": null }),
        json!({ "_meta": [] }),
        json!({ "_meta": {} }),
        broken(VERSION, None),
        broken(VERSION, Some(json!(20260728))),
        broken(CAPABILITIES, None),
        broken(CAPABILITIES, Some(json!([]))),
        broken(CLIENT, Some(json!("name"))),
        broken(CLIENT, Some(json!({ "name": "x" }))),
    ] {
        for header_lines in
            [headers("tools/list", &json!({})), format!("MCP-Protocol-Version: {STATELESS}\r\n")]
        {
            assert_eq!(
                refusal(&post(&server, &header_lines, "tools/list", &params)),
                (400, -32602),
                "{params}"
            );
        }
    }
    // The client need not be named.
    let response = post(&server, &headers("tools/list", &json!({})), "tools/list", &broken(CLIENT, None));
    assert_eq!(response.status, 200);
}

#[test]
fn a_header_of_an_unknown_revision_is_named_where_the_body_has_none() {
    let (_folder, server) = start();
    let response = post(&server, "MCP-Protocol-Version: 2099-01-01\r\n", "tools/list", &json!({}));
    assert_eq!(refusal(&response), (400, -32602));
    let message = response.json()["error"]["message"].to_string();
    let is_named = message.contains("the header MCP-Protocol-Version names '2099-01-01'");
    assert!(is_named && message.contains("2025-06-18") && message.contains(STATELESS), "{message}");
}

#[test]
fn headers_must_repeat_the_body() {
    let (_folder, server) = start();
    let params = with_meta(json!({ "name": "list_files" }));
    let version = format!("MCP-Protocol-Version: {STATELESS}\r\n");
    let call = "Mcp-Method: tools/call\r\n";
    let name = "Mcp-Name: list_files\r\n";
    assert_eq!(post(&server, &format!("{version}{call}{name}"), "tools/call", &params).status, 200);
    // Names of headers have no case, and spaces around a value are not part of it.
    let spelled =
        format!("mcp-protocol-version:{STATELESS}\r\nMCP-METHOD:   tools/call \r\nmcp-name:\tlist_files\r\n");
    assert_eq!(post(&server, &spelled, "tools/call", &params).status, 200);
    for header_lines in [
        String::new(),
        format!("{call}{name}"),
        format!("MCP-Protocol-Version: 2025-11-25\r\n{call}{name}"),
        format!("MCP-Protocol-Version: 2099-01-01\r\n{call}{name}"),
        version.clone(),
        format!("{version}{name}"),
        format!("{version}Mcp-Method: tools/list\r\n{name}"),
        format!("{version}Mcp-Method: Tools/Call\r\n{name}"),
        format!("{version}{call}"),
        format!("{version}{call}Mcp-Name: read_file\r\n"),
        format!("{version}{call}Mcp-Name: LIST_FILES\r\n"),
        format!("{version}{call}Mcp-Name: \r\n"),
        format!("{version}{call}Mcp-Name: list_files\u{e4}\r\n"),
        format!("{version}{call}Mcp-Name: =?base64?bGlzdF9maWxlcw=?=\r\n"),
        format!("{version}{call}Mcp-Name: =?BASE64?bGlzdF9maWxlcw==?=\r\n"),
        format!("{version}{call}Mcp-Name: =?base64?****?=\r\n"),
        format!("{version}{call}Mcp-Name: =?base64?/w==?=\r\n"),
    ] {
        assert_eq!(
            refusal(&post(&server, &header_lines, "tools/call", &params)),
            (400, -32020),
            "{header_lines:?}"
        );
    }
    let encoded = format!("{version}{call}Mcp-Name: =?base64?bGlzdF9maWxlcw==?=\r\n");
    assert_eq!(post(&server, &encoded, "tools/call", &params).status, 200);
    // Other headers are ignored.
    let more = format!("{version}{call}{name}Mcp-Param-X: y\r\nMcp-Session-Id: z\r\nLast-Event-ID: 1\r\n");
    let response = post(&server, &more, "tools/call", &params);
    assert_eq!((response.status, response.header("mcp-session-id")), (200, None));
    // Without a name the error is that of the method.
    let nameless = post(&server, &format!("{version}{call}"), "tools/call", &with_meta(json!({})));
    assert_eq!(refusal(&nameless), (200, -32602));
}

#[test]
fn a_revision_that_is_not_spoken_without_a_handshake_is_refused_with_those_that_are() {
    let (folder, server) = start();
    let stdio = Stdio::start(&folder, &[]);
    for revision in ["2099-01-01", "2025-11-25", "2024-11-05", "x", ""] {
        let mut params = with_meta(json!({}));
        params["_meta"][VERSION] = json!(revision);
        for method in ["tools/list", "no/such"] {
            let response = post(&server, &format!("MCP-Protocol-Version: {revision}\r\n"), method, &params);
            assert_eq!(refusal(&response), (400, -32022), "{revision}");
            for answer in [response.json(), stdio.request(method, params.clone())] {
                let data = json!({ "supported": [STATELESS], "requested": revision });
                assert_eq!((&answer["error"]["code"], &answer["error"]["data"]), (&json!(-32022), &data));
            }
        }
    }
}

/// Each row breaks everything that the rows below it break, and one thing more.
#[test]
fn what_is_wrong_first_in_the_order_of_the_checks_is_what_is_said() {
    let (_folder, server) = start();
    let version = |revision: &str| format!("MCP-Protocol-Version: {revision}\r\n");
    let params = |revision: Value, capabilities: Value| json!({ "_meta": { VERSION: revision, CAPABILITIES: capabilities, LOG_LEVEL: "loud" } });
    let modern = params(json!(STATELESS), json!({}));
    let list = "Mcp-Method: tools/list\r\n";
    let rows = [
        (version("1"), "no/such", params(json!(5), json!([])), (400, -32602)),
        (version("1"), "no/such", params(json!("2"), json!([])), (400, -32602)),
        (version("1"), "no/such", params(json!("2"), json!({})), (400, -32020)),
        (version("2"), "no/such", params(json!("2"), json!({})), (400, -32022)),
        (version(STATELESS), "no/such", modern.clone(), (400, -32020)),
        (version(STATELESS) + "Mcp-Method: no/such\r\n", "no/such", modern.clone(), (404, -32601)),
        (version(STATELESS) + list, "tools/list", modern, (200, -32602)),
    ];
    for (header_lines, method, params, wanted) in rows {
        assert_eq!(
            refusal(&post(&server, &header_lines, method, &params)),
            wanted,
            "{header_lines} {params}"
        );
    }
    for level in ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] {
        let params = json!({ "_meta": { VERSION: STATELESS, CAPABILITIES: {}, LOG_LEVEL: level } });
        assert_eq!(post(&server, &(version(STATELESS) + list), "tools/list", &params).status, 200, "{level}");
    }
}

#[test]
fn what_is_no_single_request_is_a_bad_request_and_a_notification_is_accepted() {
    let (folder, server) = start();
    let header_lines = headers("tools/list", &json!({}));
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#, -32600),
        ("5", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"r","result":{}}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"r","error":{"code":1,"message":"x"}}"#, -32600),
    ] {
        let response = server.post_with("/mcp", &header_lines, body.as_bytes());
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    let edit = with_meta(json!({ "name": "edit_file", "arguments": { "name": "f", "append": "x" } }));
    for method in ["notifications/cancelled", "notifications/x", "tools/call"] {
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": edit });
        for header_lines in [header_lines.clone(), format!("MCP-Protocol-Version: {STATELESS}\r\n")] {
            let response = server.post_with("/mcp", &header_lines, body.to_string().as_bytes());
            assert_eq!((response.status, response.text()), (202, String::new()), "{method}");
        }
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn methods_of_the_handshake_do_not_exist_here() {
    let (folder, server) = start();
    let stdio = Stdio::start(&folder, &[]);
    for method in
        ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/get", "roots/list", "x", ""]
    {
        let response = post(&server, &headers(method, &json!({})), method, &with_meta(json!({})));
        assert_eq!(refusal(&response), (404, -32601), "{method}");
        let answer = stdio.request(method, with_meta(json!({})));
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    // Nor do the direct methods.
    assert_eq!(stdio.request("list_files", with_meta(json!({})))["error"]["code"], -32601);
}
