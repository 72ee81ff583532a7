//! Clients over HTTP: those that name themselves in each request, and those of a handshake, have sessions of their own.

use serde_json::{Value, json};

use crate::support::{Folder, HANDSHAKE, Http, HttpResponse, STATELESS, meta};

/// The text of an answer to a call of a client of this name.
fn call(server: &Http, client: &str, tool: &str, arguments: Value) -> String {
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": meta() });
    params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = json!(client);
    let headers =
        format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    let answer = server.request_with(&headers, "tools/call", params);
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_client_that_names_itself_takes_back_its_own_change_and_no_other() {
    let folder = Folder::new();
    folder.write("a.txt", "1\n2\n3\n4\n5\n6\n");
    let server = Http::start(&folder, &["--tools=agent"]);
    call(&server, "alice", "edit", json!({ "path": "a.txt", "lines": "1", "new": "alice" }));
    let none = call(&server, "bob", "undo", json!({}));
    assert!(none.contains("this session has made no change"), "{none}");
    call(&server, "bob", "edit", json!({ "path": "a.txt", "lines": "6", "new": "bob" }));
    assert!(call(&server, "alice", "changes", json!({ "since": "1h" })).contains("bob"));
    call(&server, "alice", "undo", json!({}));
    assert_eq!(folder.text("a.txt"), "1\n2\n3\n4\n5\nbob\n");
}

/// The answer to `initialize` of a client of this name and revision.
fn initialize(server: &Http, client: &str, revision: &str) -> HttpResponse {
    let info = json!({ "name": client, "version": "1" });
    let params = json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": info });
    server.post("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
}

/// The text of an answer to a call in the session with this id.
fn call_in(server: &Http, id: &str, tool: &str, arguments: Value) -> String {
    let headers = format!("Mcp-Session-Id: {id}\r\n");
    let params = json!({ "name": tool, "arguments": arguments });
    let answer = server.request_with(&headers, "tools/call", params);
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn each_client_of_a_handshake_is_a_session_that_the_server_does_not_keep() {
    let folder = Folder::new();
    for revision in HANDSHAKE {
        folder.write("a.txt", "1\n2\n3\n4\n5\n6\n");
        let server = Http::start(&folder, &["--tools=agent"]);
        // Also of two clients of one name.
        let [alice, bob] = [(); 2].map(|()| {
            let answer = initialize(&server, "näme", revision);
            answer.header("mcp-session-id").expect("a session").to_owned()
        });
        call_in(&server, &alice, "edit", json!({ "path": "a.txt", "lines": "1", "new": "alice" }));
        let none = call_in(&server, &bob, "undo", json!({}));
        assert!(none.contains("this session has made no change"), "{none}");
        call_in(&server, &bob, "edit", json!({ "path": "a.txt", "lines": "6", "new": "bob" }));
        let all = call_in(&server, &alice, "changes", json!({ "since": "1h" }));
        assert!(all.contains("edit by you\n") && all.contains("edit by näme 1\n"), "{all}");
        // Another server goes on with it.
        drop(server);
        let server = Http::start(&folder, &["--tools=agent"]);
        let mine = call_in(&server, &alice, "changes", json!({ "by": "me" }));
        assert!(mine.starts_with("1 change in 1 file"), "{mine}");
        call_in(&server, &alice, "undo", json!({}));
        assert_eq!(folder.text("a.txt"), "1\n2\n3\n4\n5\nbob\n");
    }
}

#[test]
fn an_id_that_no_server_gave_is_refused_and_changes_nothing() {
    let folder = Folder::new();
    folder.write("a.txt", "1\n");
    let server = Http::start(&folder, &["--tools=agent"]);
    let chance = "0".repeat(32);
    let long = format!("{chance}.{}", "bm5u".repeat(10_000));
    let edit = json!({ "path": "a.txt", "lines": "1", "new": "2" });
    let params = json!({ "name": "edit", "arguments": edit });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    for id in ["stray", &chance, &format!("{chance}.*"), &long] {
        let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: {id}\r\n");
        let answer = server.post_with("/mcp", &headers, call.to_string().as_bytes());
        assert_eq!(answer.status, 404, "{id}");
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.contains("no session with this Mcp-Session-Id"), "{message}");
        assert_eq!(folder.text("a.txt"), "1\n");
    }
}

#[test]
fn all_requests_without_an_id_are_one_session() {
    let folder = Folder::new();
    folder.write("a.txt", "1\n");
    let server = Http::start(&folder, &["--tools=agent"]);
    for (tool, arguments, text) in
        [("edit", json!({ "path": "a.txt", "lines": "1", "new": "2" }), "2\n"), ("undo", json!({}), "1\n")]
    {
        let answer = server.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(folder.text("a.txt"), text, "{answer}");
    }
}

#[test]
fn only_an_answer_to_initialize_opens_a_session_and_only_where_one_matters() {
    let folder = Folder::new();
    let opens = |server: &Http| initialize(server, "c", HANDSHAKE[3]).header("mcp-session-id").is_some();
    let server = Http::start(&folder, &["--tools=agent"]);
    assert!(opens(&server));
    let ping = server.post("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert_eq!(ping.header("mcp-session-id"), None);
    assert!(!opens(&Http::start(&folder, &[])));
    // A long name makes no long header.
    let id = initialize(&server, &"n".repeat(100_000), HANDSHAKE[0]);
    assert!(id.header("mcp-session-id").is_some_and(|id| id.len() < 600));
}
