//! Types that the MCP methods share: results, errors, and the parameters of lists. Knows no method.

use serde::Deserialize;

use super::Step;
use super::result_frame::CacheScope;
use super::rpc::code;

/// The server's capabilities. They do not change while the server runs.
pub(super) const CAPABILITIES: &str = r#"{"tools":{},"resources":{},"prompts":{}}"#;

/// The error text for a message over `--rate-limit`.
pub const OVER_RATE: &str = "Rate limit exceeded; send more slowly";

/// The result of a method.
pub(super) enum Outcome {
    /// The members of a result.
    Members(String, CacheScope),
    /// A step for the transport.
    Step(Step),
}

/// Why a request is refused.
#[derive(Debug)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
    /// A JSON value.
    pub(super) data: Option<String>,
    pub(super) status: u16,
}

impl RpcError {
    pub(super) fn new(code: i32, message: impl Into<String>) -> RpcError {
        let status = match code {
            code::PARSE_ERROR | code::INVALID_REQUEST => 400,
            _ => 200,
        };
        RpcError { code, message: message.into(), data: None, status }
    }

    /// The error for a message over `--rate-limit`.
    pub(super) fn over_rate() -> RpcError {
        RpcError::new(code::RATE_LIMIT, OVER_RATE)
    }

    /// The error for wrong parameters.
    pub(super) fn params(problem: impl std::fmt::Display) -> RpcError {
        RpcError::new(code::INVALID_PARAMS, format!("Invalid params: {problem}"))
    }

    /// The same error with another HTTP status.
    pub(super) fn with_status(self, status: u16) -> RpcError {
        RpcError { status, ..self }
    }

    /// The same error with a JSON value as its data.
    pub(super) fn with_data(self, data: serde_json::Value) -> RpcError {
        RpcError { data: Some(data.to_string()), ..self }
    }
}

pub(super) type MethodResult = Result<Outcome, RpcError>;

/// The parameters of a list.
#[derive(Deserialize)]
pub(super) struct List {
    cursor: Option<serde_json::Value>,
}

impl List {
    /// The cursor, if there is one.
    pub(super) fn cursor(params: &str) -> Result<Option<String>, RpcError> {
        let params: List = serde_json::from_str(params).map_err(RpcError::params)?;
        match params.cursor {
            None => Ok(None),
            Some(serde_json::Value::String(cursor)) => Ok(Some(cursor)),
            Some(_) => Err(RpcError::params("cursor must be a string")),
        }
    }

    /// For a list of one page, which has no cursors.
    pub(super) fn one_page(params: &str) -> Result<(), RpcError> {
        match List::cursor(params)? {
            None => Ok(()),
            Some(_) => Err(RpcError::params("unknown cursor; the list has one page")),
        }
    }
}
