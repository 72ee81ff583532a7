//! The JSON-RPC 2.0 envelope, borrowed from the input. Ids are kept as sent.
//!
//! Knows no method.

mod envelope;

use std::borrow::Cow;
use std::fmt;

pub use envelope::parse;
pub(super) use envelope::{no_json, string};

use text::escape::escape_str;

/// JSON-RPC and MCP error codes (contract 7).
pub mod code {
    /// Not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// JSON, but not a request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// Unknown method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// Wrong parameters.
    pub const INVALID_PARAMS: i32 = -32602;
    /// A fault of the server.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// A failed file operation.
    pub const FILE_SYSTEM: i32 = -32001;
    /// A failed operation of a tool of the set `text` (contract 15).
    pub const FAILED_OPERATION: i32 = -32000;
    /// Unknown resource, in revisions with a handshake.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// A tool of the set `toolkit` does not have what the call names (contract 16).
    pub const NOT_FOUND: i32 = -32000;
    /// A name in a call of such a tool has a wrong form.
    pub const MALFORMED: i32 = -32001;
    /// Values in a call of such a tool are not allowed.
    pub const REJECTED: i32 = -32002;
    /// Over `--rate-limit`.
    pub const RATE_LIMIT: i32 = -32003;
}

/// A request's id, as the client wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(Box<str>);

impl Id {
    /// The id of an answer to a message without a readable id.
    pub fn null() -> Id {
        Id("null".into())
    }

    /// The JSON token.
    pub fn as_json(&self) -> &str {
        &self.0
    }

    /// Parses an id: a string or an integer, in any notation.
    pub(super) fn parse(token: &str) -> Option<Id> {
        let valid = match token.as_bytes().first()? {
            b'"' => serde_json::from_str::<Cow<str>>(token).is_ok(),
            b'-' | b'0'..=b'9' => {
                !token.contains(['.', 'e', 'E'])
                    || token.parse::<f64>().is_ok_and(|number| number.is_finite() && number.fract() == 0.0)
            }
            _ => false,
        };
        valid.then(|| Id(token.into()))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// One message, as far as its envelope shows.
#[derive(Debug)]
pub enum Message<'a> {
    /// A call that gets an answer.
    Request {
        /// Its id.
        id: Id,
        /// Its method.
        method: Cow<'a, str>,
        /// Its parameters, a JSON object.
        params: Option<&'a str>,
    },
    /// A call that gets no answer.
    Notification {
        /// Its method.
        method: Cow<'a, str>,
        /// Its parameters, a JSON object.
        params: Option<&'a str>,
    },
    /// An answer from the client, although the server sends no requests.
    Response,
    /// Not a message: it is refused.
    Invalid(Refusal),
}

/// The content of one input.
#[derive(Debug)]
pub enum Input<'a> {
    /// One message.
    One(Message<'a>),
    /// An array of messages.
    Batch(Vec<Message<'a>>),
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The id of the request, or null.
    pub id: Id,
    /// One of [`code`].
    pub code: i32,
    /// The text for a person.
    pub message: String,
    /// A JSON value with more data.
    pub data: Option<String>,
}

impl Refusal {
    /// A refusal without data.
    pub fn new(id: Id, code: i32, message: impl Into<String>) -> Refusal {
        Refusal { id, code, message: message.into(), data: None }
    }

    /// The whole JSON-RPC message.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128 + self.message.len());
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(self.id.as_json().as_bytes());
        out.extend_from_slice(br#","error":"#);
        write_error(self.code, &self.message, self.data.as_deref(), &mut out);
        out.push(b'}');
        out
    }
}

/// Writes the error object of JSON-RPC and REST.
pub(super) fn write_error(code: i32, message: &str, data: Option<&str>, out: &mut Vec<u8>) {
    out.extend_from_slice(format!(r#"{{"code":{code},"message":""#).as_bytes());
    escape_str(message, out);
    out.push(b'"');
    if let Some(data) = data {
        out.extend_from_slice(br#","data":"#);
        out.extend_from_slice(data.as_bytes());
    }
    out.push(b'}');
}

/// `{"jsonrpc":"2.0","id":…,"result":`
pub(super) fn result_head(id: &Id) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_json().as_bytes());
    out.extend_from_slice(br#","result":"#);
    out
}
