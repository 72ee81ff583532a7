//! The official JSON schemas of MCP. Every message of a server that a test receives is checked with them.
//!
//! They are not part of the project, but lie in a folder beside it. Without that folder nothing is checked, and one line
//! says so. What the schemas do not cover is not checked: the results of the direct methods (contract 6.2), and the id
//! `null` of an error (contract 7), which is replaced before the rest of the message is checked.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

const NEWEST_BY_HANDSHAKE: &str = "2025-11-25";
const STATELESS: &str = "2026-07-28";
/// The revision of an HTTP client that names none.
const UNSAID: &str = "2025-03-26";
const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_BY_HANDSHAKE, STATELESS];

/// The schema documents, by revision; none where they are absent.
static SCHEMAS: LazyLock<HashMap<&str, Value>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/mcp-schema");
    let read = |revision: &'static str| {
        let text = std::fs::read_to_string(folder.join(format!("{revision}.json"))).ok()?;
        Some((revision, serde_json::from_str(&text).expect("a schema")))
    };
    let schemas: HashMap<&str, Value> = REVISIONS.into_iter().filter_map(read).collect();
    if schemas.len() < REVISIONS.len() {
        // To stderr itself: the test runner hides what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "no MCP schemas beside the project: messages are not checked with them"
        );
        return HashMap::new();
    }
    schemas
});

type Validators = HashMap<(&'static str, &'static str), Arc<Validator>>;

/// Built once for each definition of each revision.
static VALIDATORS: LazyLock<Mutex<Validators>> = LazyLock::new(Mutex::default);

fn validator(revision: &'static str, definition: &'static str) -> Option<Arc<Validator>> {
    let document = SCHEMAS.get(revision)?;
    let mut validators = VALIDATORS.lock().expect("no panic");
    let build = || {
        let place = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
        assert!(document[place].get(definition).is_some(), "{revision} has no {definition}");
        let mut schema = document.clone();
        schema["$ref"] = json!(format!("#/{place}/{definition}"));
        Arc::new(jsonschema::validator_for(&schema).expect("a schema that can be used"))
    };
    Some(Arc::clone(validators.entry((revision, definition)).or_insert_with(build)))
}

#[track_caller]
fn check(revision: &'static str, definition: &'static str, value: &Value) {
    let Some(validator) = validator(revision, definition) else { return };
    let problems: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(
        problems.is_empty(),
        "no {definition} of {revision}: {problems:.400?} in {:.1000}",
        value.to_string()
    );
}

/// The definition of what a method gives; None for the direct methods and for what is no method.
fn result_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "initialize" => "InitializeResult",
        "ping" => "EmptyResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        _ => return None,
    })
}

fn known(revision: &str) -> Option<&'static str> {
    REVISIONS.into_iter().find(|known| *known == revision)
}

/// A request that was sent: its method, and the revision that its answer is to be in.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    revision: &'static str,
}

/// What went over one connection, as far as its answers depend on it.
#[derive(Debug)]
pub(super) struct Wire {
    /// The revision of requests that name none.
    revision: &'static str,
    asked: HashMap<String, Asked>,
    /// Sent, but no whole line or HTTP request yet.
    partial: Vec<u8>,
}

impl Wire {
    pub(super) fn stdio() -> Wire {
        Wire { revision: NEWEST_BY_HANDSHAKE, asked: HashMap::new(), partial: Vec::new() }
    }

    pub(super) fn http() -> Wire {
        Wire { revision: UNSAID, asked: HashMap::new(), partial: Vec::new() }
    }

    /// Notes what a stdio client writes.
    pub(super) fn sent_lines(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            self.sent(line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line), None);
        }
    }

    /// Notes what an HTTP client writes. A body in chunks, or one that is never complete, is not noted.
    pub(super) fn sent_http(&mut self, bytes: &[u8]) {
        self.partial.extend_from_slice(bytes);
        while let Some(end) = self.partial.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&self.partial[..end]).into_owned();
            let header = |wanted: &str| {
                let of = |line: &str| {
                    line.split_once(':').map(|(name, value)| (name.to_owned(), value.to_owned()))
                };
                let found = head.lines().filter_map(of).find(|(name, _)| name.eq_ignore_ascii_case(wanted));
                found.map(|(_, value)| value.trim().to_owned())
            };
            let Some(length) = header("content-length").and_then(|length| length.parse::<usize>().ok())
            else {
                self.partial.clear();
                return;
            };
            if self.partial.len() < end + 4 + length {
                return;
            }
            let request: Vec<u8> = self.partial.drain(..end + 4 + length).collect();
            let spoken = header("mcp-protocol-version");
            self.sent(&request[end + 4..], Some(spoken.as_deref()));
        }
    }

    /// `header` is HTTP's, and there is none on stdio.
    fn sent(&mut self, message: &[u8], header: Option<Option<&str>>) {
        let Ok(message) = serde_json::from_slice::<Value>(message) else { return };
        let spoken = match header {
            None => self.revision,
            Some(None) => UNSAID,
            // An unknown revision is refused in the form of the stateless revision.
            Some(Some(header)) => known(header).unwrap_or(STATELESS),
        };
        let one = std::slice::from_ref(&message);
        for message in message.as_array().map_or(one, Vec::as_slice) {
            self.sent_one(message, spoken, header.is_some());
        }
    }

    fn sent_one(&mut self, message: &Value, spoken: &'static str, http: bool) {
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else { return };
        let params = &message["params"];
        let mut revision = spoken;
        if params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string() {
            revision = STATELESS;
        } else if method == "initialize" {
            let wanted = params["protocolVersion"].as_str();
            let well_formed = params["capabilities"].is_object() && params["clientInfo"].is_object();
            if let Some(wanted) = wanted.filter(|_| well_formed) {
                let handshake = known(wanted).filter(|known| *known != STATELESS);
                revision = handshake.unwrap_or(NEWEST_BY_HANDSHAKE);
                if !http {
                    self.revision = revision;
                }
            }
        }
        self.asked.insert(id.to_string(), Asked { method: method.to_owned(), revision });
    }

    /// Checks a message of the server with the schemas.
    #[track_caller]
    pub(super) fn received(&self, message: &Value) {
        if let Some(batch) = message.as_array() {
            check(UNSAID, "JSONRPCBatchResponse", &without_null_ids(message));
            return batch.iter().for_each(|message| self.received(message));
        }
        if message["method"] == "notifications/progress" {
            assert!(message.get("id").is_none(), "{message}");
            return check(self.revision, "ProgressNotification", message);
        }
        assert!(message.get("method").is_none(), "servers of files ask nothing: {message}");
        let asked = message.get("id").and_then(|id| self.asked.get(&id.to_string()));
        let revision = asked.map_or(self.revision, |asked| asked.revision);
        let named = revision >= NEWEST_BY_HANDSHAKE;
        if message.get("error").is_some() {
            let definition = if named { "JSONRPCErrorResponse" } else { "JSONRPCError" };
            return check(revision, definition, &without_null_ids(message));
        }
        check(revision, if named { "JSONRPCResultResponse" } else { "JSONRPCResponse" }, message);
        if let Some(definition) = asked.and_then(|asked| result_of(&asked.method)) {
            check(revision, definition, &message["result"]);
        }
    }
}

/// The same with an id in the place of each that is null.
fn without_null_ids(message: &Value) -> Value {
    let mut message = message.clone();
    let one = message.is_object();
    let items =
        if one { std::slice::from_mut(&mut message) } else { message.as_array_mut().expect("an array") };
    for item in items.iter_mut().filter(|item| item.get("id").is_some_and(Value::is_null)) {
        item["id"] = json!(0);
    }
    message
}

#[test]
fn the_schemas_refuse_what_no_server_may_send() {
    let mut wire = Wire::stdio();
    wire.sent_lines(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n",
    );
    wire.received(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [] } }));
    if SCHEMAS.is_empty() {
        return;
    }
    for bad in [
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "type": "text" }] } }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": "x", "message": "y" } }),
        json!({ "id": 1, "result": { "content": [] } }),
    ] {
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wire.received(&bad)));
        assert!(refused.is_err(), "{bad}");
    }
}
