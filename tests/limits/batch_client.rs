//! A client that sends batches.

use serde_json::Value;

use crate::support::{Connection, Folder, Http, Mcp, Stdio, post_bytes};

pub(super) fn stdio(folder: &Folder, flags: &[&str]) -> Stdio {
    let server = Stdio::start(folder, flags);
    server.begin("2025-03-26");
    server
}

/// Sends a batch over HTTP; the answer is still to be read.
pub(super) fn post(server: &Http, batch: &Value) -> Connection {
    let mut connection = server.connect();
    let revision = "MCP-Protocol-Version: 2025-03-26\r\n";
    connection.write(&post_bytes("/mcp", revision, batch.to_string().as_bytes()));
    connection
}

pub(super) fn ids(answers: &Value) -> Vec<Value> {
    let answers = answers.as_array().unwrap_or_else(|| panic!("no array: {answers}"));
    answers.iter().map(|answer| answer["id"].clone()).collect()
}
