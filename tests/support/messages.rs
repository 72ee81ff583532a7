//! Messages and arguments that many tests send.

use serde::Serialize;
use serde_json::{Value, json};

/// A request of JSON-RPC.
pub(crate) fn request(id: impl Serialize, method: &str, params: impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn ping(id: impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

/// A request that calls a tool.
pub(crate) fn call(id: impl Serialize, tool: &str, arguments: impl Serialize) -> Value {
    request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// The arguments of an edit_file that appends `text`.
pub(crate) fn append(name: &str, text: &str) -> Value {
    json!({ "name": name, "append": text })
}

/// A request that appends `text` to a file.
pub(crate) fn append_call(id: impl Serialize, name: &str, text: &str) -> Value {
    call(id, "edit_file", append(name, text))
}

/// A request that reads a whole file.
pub(crate) fn read_call(id: impl Serialize, name: &str) -> Value {
    call(id, "read_file", json!({ "name": name }))
}

/// The notification that cancels a request.
pub(crate) fn cancelled(id: impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

/// The first text in the answer to a call.
#[track_caller]
pub(crate) fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}
