//! Every revision of MCP on both transports: one test body for all ten.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::client::{each_transport, labelled};
use super::{Folder, Http, Mcp, Stdio};

/// The revisions that begin with `initialize`.
pub(crate) const HANDSHAKE: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The revision without a handshake.
pub(crate) const STATELESS: &str = "2026-07-28";

/// The `_meta` that every stateless request carries.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test-client", "version": "1.0.0" },
    })
}

/// The same parameters with [`meta`].
pub(crate) fn with_meta(mut params: Value) -> Value {
    params["_meta"] = meta();
    params
}

/// The header lines that repeat a stateless request.
pub(crate) fn headers(method: &str, params: &Value) -> String {
    let mut lines = format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: {method}\r\n");
    let named = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        _ => None,
    };
    if let Some(name) = named {
        let plain = name.bytes().all(|byte| byte.is_ascii_graphic());
        let encoded = || format!("=?base64?{}?=", STANDARD.encode(name));
        let value = if plain { name.to_owned() } else { encoded() };
        lines += &format!("Mcp-Name: {value}\r\n");
    }
    lines
}

/// A client of the stateless revision.
pub(crate) struct Stateless<T>(pub(crate) T);

impl Mcp for Stateless<Stdio> {
    fn rpc(&self, method: &str, params: Value) -> Value {
        self.0.request(method, with_meta(params))
    }

    fn notify(&self, method: &str, params: Value) {
        self.0.notify(method, params);
    }

    fn begin(&self, _: &str) -> Value {
        self.rpc("server/discover", json!({}))
    }
}

impl Mcp for Stateless<Http> {
    fn rpc(&self, method: &str, params: Value) -> Value {
        let headers = headers(method, &params);
        self.0.request_with(&headers, method, with_meta(params))
    }

    fn notify(&self, method: &str, params: Value) {
        self.0.notify(method, params);
    }

    fn begin(&self, _: &str) -> Value {
        self.rpc("server/discover", json!({}))
    }
}

/// Runs one test body in every revision over both transports, after its handshake if it has one, each with a server
/// and a folder of its own. A failure says in which.
pub(crate) fn in_every_revision(test: impl Fn(&dyn Mcp, &Folder, &str) + Sync) {
    for revision in HANDSHAKE.into_iter().chain([STATELESS]) {
        labelled(&format!("in {revision}"), || {
            each_transport(|http| {
                let folder = Folder::new();
                let server: Box<dyn Mcp> = match (http, revision == STATELESS) {
                    (false, false) => Box::new(Stdio::start(&folder, &[])),
                    (true, false) => Box::new(Http::start(&folder, &[])),
                    (false, true) => Box::new(Stateless(Stdio::start(&folder, &[]))),
                    (true, true) => Box::new(Stateless(Http::start(&folder, &[]))),
                };
                server.begin(revision);
                test(&*server, &folder, revision);
            });
        });
    }
}
