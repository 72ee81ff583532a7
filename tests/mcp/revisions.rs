//! MCP revisions: negotiation, batches, the stateless revision (contract 6.5).

use serde_json::{Value, json};

use crate::support::{Folder, HANDSHAKE, Http, Mcp, Stdio, on_both, ping};

fn initialize(server: &dyn Mcp, revision: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "test-client", "version": "1.0.0" });
    let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
    server.rpc("initialize", params)
}

#[test]
fn each_handshake_revision_is_answered_by_itself() {
    on_both(|server, _| {
        for revision in HANDSHAKE {
            let result = initialize(server, revision, json!({ "tools": {} }))["result"].clone();
            assert_eq!(result["protocolVersion"], revision);
            assert_eq!(result["serverInfo"]["name"], "file-editing-server");
            assert_eq!(result["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
            let capabilities = result["capabilities"].as_object().expect("capabilities");
            for capability in ["tools", "resources", "prompts"] {
                assert!(capabilities[capability].is_object(), "{capability}: {result}");
            }
            assert!(!capabilities.contains_key("logging"), "{result}");
        }
    });
}

#[test]
fn an_unknown_revision_is_offered_the_newest_handshake_revision() {
    on_both(|server, _| {
        for revision in ["2023-01-01", "2099-12-31", "2026-07-28", "1.0", "", "2025-11-25 ", "DRAFT"] {
            let answer = initialize(server, revision, json!({}));
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{revision}: {answer}");
        }
    });
}

#[test]
fn a_client_need_not_declare_a_tools_capability() {
    on_both(|server, _| {
        for capabilities in [json!({}), json!({ "roots": { "listChanged": true } }), json!({ "tools": {} })] {
            let answer = initialize(server, "2024-11-05", capabilities.clone());
            assert_eq!(answer["result"]["protocolVersion"], "2024-11-05", "{capabilities}");
            assert_eq!(
                server.rpc("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::len),
                Some(3)
            );
        }
    });
}

#[test]
fn initialize_without_its_params_is_invalid() {
    on_both(|server, _| {
        for params in
            [json!({}), json!({ "protocolVersion": 5, "capabilities": {} }), json!({ "capabilities": {} })]
        {
            let answer = server.rpc("initialize", params.clone());
            assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        }
    });
}

#[test]
fn a_second_initialize_is_answered_anew() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--structured"]);
    let has_schema = || {
        let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
        tools.as_array().expect("tools").iter().any(|tool| tool.get("outputSchema").is_some())
    };
    assert_eq!(server.begin("2024-11-05")["result"]["protocolVersion"], "2024-11-05");
    assert!(!has_schema());
    assert_eq!(server.begin("2025-11-25")["result"]["protocolVersion"], "2025-11-25");
    assert!(has_schema(), "the second handshake does not count");
}

#[test]
fn requests_are_served_before_and_without_initialize() {
    on_both(|server, _| {
        assert_eq!(server.rpc("ping", json!({}))["result"], json!({}));
        assert!(server.rpc("tools/list", json!({}))["result"]["tools"].is_array());
        assert_eq!(server.ok("list_files", json!({})), "Files in directory:\n\nTotal files: 0");
    });
}

#[test]
fn ping_is_answered_by_an_empty_result_in_every_revision() {
    for revision in HANDSHAKE {
        on_both(|server, _| {
            server.begin(revision);
            assert_eq!(server.rpc("ping", json!({}))["result"], json!({}), "{revision}");
            assert_eq!(server.rpc("ping", json!({ "_meta": { "progressToken": 0 } }))["result"], json!({}));
        });
    }
}

// ---- Batches ----

fn batch() -> Value {
    json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/unknown" },
        { "jsonrpc": "2.0", "id": "two", "method": "tools/call",
          "params": { "name": "edit_file", "arguments": { "name": "f", "append": "x" } } },
        { "jsonrpc": "2.0", "id": 3 },
        { "jsonrpc": "2.0", "id": 4, "method": "initialize",
          "params": { "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } },
        { "jsonrpc": "2.0", "id": 5, "result": {} },
    ])
}

/// One answer for each request of [`batch`], none for the rest.
#[track_caller]
fn check_batch(answer: &Value) {
    let answers = answer.as_array().unwrap_or_else(|| panic!("no array: {answer}"));
    let find = |id: Value| {
        answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("{id}: {answers:?}"))
    };
    assert_eq!(answers.len(), 4, "{answers:?}");
    assert_eq!(find(json!(1))["result"], json!({}));
    assert_eq!(find(json!("two"))["result"]["isError"], false);
    assert_eq!(find(json!(3))["error"]["code"], -32600);
    assert_eq!(find(json!(4))["error"]["code"], -32600, "initialize must not be in a batch");
}

#[test]
fn a_batch_is_answered_as_one_array_in_the_revision_that_has_batches() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    server.begin("2025-03-26");
    server.send(&batch());
    check_batch(&server.recv());
    assert_eq!(folder.text("f"), "x\n");
    // Only notifications: silence. Nothing at all, or nothing valid: an error for each.
    server.send(
        &json!([{ "jsonrpc": "2.0", "method": "notifications/x" }, { "jsonrpc": "2.0", "method": "ping" }]),
    );
    server.send(&json!([]));
    let answer = server.recv();
    assert_eq!(
        (&answer["error"]["code"], answer.get("id")),
        (&json!(-32600), Some(&Value::Null)),
        "{answer}"
    );
    server.send(&json!([1, "x"]));
    let answer = server.recv();
    let codes: Vec<&Value> =
        answer.as_array().expect("an array").iter().map(|a| &a["error"]["code"]).collect();
    assert_eq!(codes, [&json!(-32600), &json!(-32600)]);
}

#[test]
fn a_batch_is_an_invalid_request_in_every_other_revision_and_nothing_in_it_is_done() {
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let folder = Folder::new();
        let server = Stdio::start(&folder, &[]);
        server.begin(revision);
        server.send(&batch());
        let answer = server.recv();
        assert_eq!(
            (&answer["error"]["code"], answer.get("id")),
            (&json!(-32600), Some(&Value::Null)),
            "{revision}"
        );
        assert_eq!(server.request("ping", json!({}))["result"], json!({}));
        assert_eq!(folder.names(), [""; 0]);

        let server = Http::start(&folder, &[]);
        server.add_header("MCP-Protocol-Version", revision);
        let response = server.post("/mcp", &batch());
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32600)), "{revision}");
        assert_eq!(folder.names(), [""; 0]);
    }
    // Nor on stdio where nothing was negotiated.
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    server.send(&batch());
    assert_eq!(server.recv()["error"]["code"], -32600);
}

#[test]
fn a_batch_over_http_is_answered_with_the_header_of_its_revision_and_without_any() {
    for header in [Some("2025-03-26"), None] {
        let folder = Folder::new();
        let server = Http::start(&folder, &[]);
        if let Some(revision) = header {
            server.add_header("MCP-Protocol-Version", revision);
        }
        let response = server.post("/mcp", &batch());
        assert_eq!(response.status, 200);
        check_batch(&response.json());
        assert_eq!(folder.text("f"), "x\n");
        let silent = server.post("/mcp", &json!([{ "jsonrpc": "2.0", "method": "notifications/x" }]));
        assert_eq!((silent.status, silent.text()), (202, String::new()));
        let empty = server.post("/mcp", &json!([]));
        assert_eq!(empty.json()["error"]["code"], -32600);
    }
}

#[test]
fn an_unknown_revision_in_the_header_is_a_bad_request() {
    let folder = Folder::new();
    for revision in ["1999-01-01", "x", "2024-11-05x"] {
        let server = Http::start(&folder, &[]);
        server.add_header("MCP-Protocol-Version", revision);
        let response = server.post("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
        assert_eq!((response.status, response.json()["error"]["code"].is_i64()), (400, true), "{revision}");
    }
    for revision in HANDSHAKE {
        let server = Http::start(&folder, &[]);
        server.add_header("MCP-Protocol-Version", revision);
        server.add_header("Mcp-Session-Id", "stray");
        assert_eq!(server.post("/mcp", &ping(1)).status, 200);
    }
}

// ---- The stateless revision ----

#[test]
fn the_stateless_revision_is_served_beside_the_others_on_one_stdin() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = server.request("server/discover", json!({ "_meta": meta }))["result"].clone();
    let versions = found["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let tools = server.request("tools/list", json!({ "_meta": meta }))["result"].clone();
    assert_eq!(
        (&tools["resultType"], tools["tools"].as_array().map(Vec::len)),
        (&json!("complete"), Some(3))
    );
    assert!(tools["ttlMs"].is_u64() && tools["cacheScope"].is_string(), "{tools}");
    let params = json!({ "_meta": meta, "name": "list_files", "arguments": {} });
    let call = server.request("tools/call", params)["result"].clone();
    assert_eq!((&call["resultType"], &call["isError"]), (&json!("complete"), &json!(false)));
    // The handshake still works after it, and its results carry none of that.
    assert_eq!(server.begin("2025-11-25")["result"]["protocolVersion"], "2025-11-25");
    let tools = server.request("tools/list", json!({}))["result"].clone();
    assert!(tools.get("resultType").is_none() && tools.get("ttlMs").is_none(), "{tools}");
}

#[test]
fn an_unsupported_stateless_revision_is_refused_with_the_supported_ones() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let error = server.request("tools/list", json!({ "_meta": meta }))["error"].clone();
    assert_eq!(
        (&error["code"], &error["data"]["requested"]),
        (&json!(-32022), &json!("2099-01-01")),
        "{error}"
    );
    assert!(error["data"]["supported"].as_array().is_some_and(|supported| !supported.is_empty()), "{error}");
}
