//! Clients over HTTP: those that name themselves in each request have sessions of their own.

use serde_json::{Value, json};

use crate::support::{Folder, Http, STATELESS, meta};

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
