//! Clients for MCP and for the direct interface, the same on both transports.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::process::{as_nobody, command};
use super::{Folder, Http, Stdio};

/// The outcome of one `tools/call`.
#[derive(Clone, Debug)]
pub(crate) struct ToolResult {
    /// The first text block.
    pub(crate) text: String,
    /// All text blocks.
    pub(crate) texts: Vec<String>,
    pub(crate) is_error: bool,
    /// The whole `result` member.
    pub(crate) result: Value,
}

impl ToolResult {
    /// The first line of the text. For failures contract 7 gives it word by word.
    pub(crate) fn first_line(&self) -> &str {
        self.text.split('\n').next().unwrap_or_default()
    }
}

/// MCP on either transport.
pub(crate) trait Mcp {
    /// Sends a request and gives the whole response.
    fn rpc(&self, method: &str, params: Value) -> Value;

    fn notify(&self, method: &str, params: Value);

    /// The handshake in this revision; over HTTP later requests carry the header that says so.
    fn begin(&self, revision: &str) -> Value;

    /// Calls a tool; panics where the answer is not a tool result.
    #[track_caller]
    fn tool(&self, name: &str, arguments: Value) -> ToolResult {
        let response = self.rpc("tools/call", json!({ "name": name, "arguments": arguments }));
        let result = response.get("result").unwrap_or_else(|| panic!("no tool result: {response}")).clone();
        let blocks = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
        let text = |block: &Value| {
            assert_eq!(block["type"], "text", "{block}");
            block["text"].as_str().expect("a text").to_owned()
        };
        let texts: Vec<String> = blocks.iter().map(text).collect();
        let is_error = result.get("isError").is_some_and(|flag| flag.as_bool().expect("a boolean"));
        ToolResult { text: texts.first().expect("a text block").clone(), texts, is_error, result }
    }

    /// The text of a call that must succeed.
    #[track_caller]
    fn ok(&self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert!(!result.is_error, "{}", result.text);
        result.text
    }

    /// The first line of a call that must fail as a tool failure.
    #[track_caller]
    fn refused(&self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert!(result.is_error, "{}", result.text);
        result.first_line().to_owned()
    }
}

/// An error of the direct interface.
#[derive(Clone, Debug)]
pub(crate) struct DirectError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Value,
    /// The HTTP status; None over stdio.
    pub(crate) status: Option<u16>,
}

/// S3's interface: `POST /{operation}`, or the JSON-RPC method of that name over stdio. Lines count from 1.
pub(crate) trait Direct {
    fn call(&self, operation: &str, params: Value) -> Result<Value, DirectError>;

    /// The result of a call that must succeed.
    #[track_caller]
    fn direct(&self, operation: &str, params: Value) -> Value {
        self.call(operation, params).unwrap_or_else(|error| panic!("{operation}: {error:?}"))
    }

    /// The error of a call that must fail.
    #[track_caller]
    fn direct_error(&self, operation: &str, params: Value) -> DirectError {
        match self.call(operation, params) {
            Ok(result) => panic!("{operation} succeeded: {result}"),
            Err(error) => error,
        }
    }
}

fn handshake(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "test-client", "version": "1.0.0" },
    })
}

impl Mcp for Stdio {
    fn rpc(&self, method: &str, params: Value) -> Value {
        self.request(method, params)
    }

    fn notify(&self, method: &str, params: Value) {
        Stdio::notify(self, method, params);
    }

    fn begin(&self, revision: &str) -> Value {
        let response = self.request("initialize", handshake(revision));
        Stdio::notify(self, "notifications/initialized", json!({}));
        response
    }
}

impl Mcp for Http {
    fn rpc(&self, method: &str, params: Value) -> Value {
        self.request(method, params)
    }

    fn notify(&self, method: &str, params: Value) {
        Http::notify(self, method, params);
    }

    fn begin(&self, revision: &str) -> Value {
        let response = self.request("initialize", handshake(revision));
        if let Some(negotiated) = response["result"]["protocolVersion"].as_str() {
            self.add_header("MCP-Protocol-Version", negotiated);
        }
        Http::notify(self, "notifications/initialized", json!({}));
        response
    }
}

impl Direct for Stdio {
    fn call(&self, operation: &str, params: Value) -> Result<Value, DirectError> {
        let response = self.request(operation, params);
        match response.get("error") {
            Some(error) => Err(error_of(error, None)),
            None => Ok(response["result"].clone()),
        }
    }
}

impl Direct for Http {
    fn call(&self, operation: &str, params: Value) -> Result<Value, DirectError> {
        let response = self.post(&format!("/{operation}"), &params);
        let body = response.json();
        assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"), "{body}");
        match body.get("error") {
            Some(error) => Err(error_of(error, Some(response.status))),
            None => {
                assert_eq!(response.status, 200, "{body}");
                Ok(body)
            }
        }
    }
}

fn error_of(error: &Value, status: Option<u16>) -> DirectError {
    assert_ne!(status, Some(200), "{error}");
    DirectError {
        code: error["code"].as_i64().unwrap_or_else(|| panic!("no code: {error}")),
        message: error["message"].as_str().unwrap_or_else(|| panic!("no message: {error}")).to_owned(),
        data: error["data"].clone(),
        status,
    }
}

/// Runs one test body over stdio and over HTTP, each with a server and a folder of its own.
pub(crate) fn on_both(test: impl Fn(&dyn Mcp, &Folder) + Sync) {
    on_both_with(&[], |_| {}, test);
}

/// The same with flags, on a folder that `fill` prepares before the server starts.
pub(crate) fn on_both_with(
    flags: &[&str],
    fill: impl Fn(&Folder) + Sync,
    test: impl Fn(&dyn Mcp, &Folder) + Sync,
) {
    each_transport(|http| {
        let folder = Folder::new();
        fill(&folder);
        if http {
            test(&Http::start(&folder, flags), &folder)
        } else {
            test(&Stdio::start(&folder, flags).ready(), &folder)
        }
    });
}

/// The same, with servers for which file modes count: they run as `nobody` where the tests run as root. Only what `fill`
/// puts into the folder belongs to the server.
pub(crate) fn on_both_as_nobody(
    flags: &[&str],
    fill: impl Fn(&Folder) + Sync,
    test: impl Fn(&dyn Mcp, &dyn Direct, &Folder) + Sync,
) {
    each_transport(|http| {
        let folder = Folder::new();
        fill(&folder);
        if http {
            let flags = [&["--port=0"], flags].concat();
            let server = Http::run(as_nobody(command(&folder, "http", &flags), &folder));
            test(&server, &server, &folder);
        } else {
            let server = Stdio::run(as_nobody(command(&folder, "stdio", flags), &folder)).ready();
            test(&server, &server, &folder);
        }
    });
}

/// Runs one test body over REST and over the direct methods on stdio, each with a server and a folder of its own.
pub(crate) fn direct_on_both(test: impl Fn(&dyn Direct, &Folder) + Sync) {
    direct_on_both_with(&[], |_| {}, test);
}

/// The same with flags, on a folder that `fill` prepares before the server starts.
pub(crate) fn direct_on_both_with(
    flags: &[&str],
    fill: impl Fn(&Folder) + Sync,
    test: impl Fn(&dyn Direct, &Folder) + Sync,
) {
    each_transport(|http| {
        let folder = Folder::new();
        fill(&folder);
        if http {
            test(&Http::start(&folder, flags), &folder)
        } else {
            test(&Stdio::start(&folder, flags).ready(), &folder)
        }
    });
}

/// Runs `body` while another thread does `background` again and again; that thread ends with `body`, also if it fails.
pub(crate) fn while_others<T>(background: impl FnMut() + Send, body: impl FnOnce() -> T) -> T {
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, mut background) = (&stop, background);
        scope.spawn(move || {
            // At least once, however short `body` is.
            loop {
                background();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let _stop = Stop(stop);
        body()
    })
}

/// Runs `test` for stdio and for HTTP at once: many tests wait most of their time. A failure names the transport.
pub(crate) fn each_transport(test: impl Fn(bool) + Sync) {
    at_once(|| labelled("over stdio", || test(false)), || labelled("over HTTP", || test(true)));
}

/// Runs both at once, and fails if one of them does.
pub(crate) fn at_once(one: impl FnOnce(), other: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        one();
        if let Err(panic) = other.join() {
            resume_unwind(panic);
        }
    });
}

/// Runs `test`. A failure names the place.
pub(super) fn labelled(place: &str, test: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(test)) {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        match message.or_else(|| panic.downcast_ref::<&str>().copied()) {
            Some(message) => panic!("{place}: {message}"),
            None => resume_unwind(panic),
        }
    }
}
