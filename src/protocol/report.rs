//! What the log says of a request. Only data: the executor writes the log.
//!
//! A report carries names, codes and ids, never a file's text.

use super::failure::Category;
use super::rpc::Id;
use crate::tools;

/// The operation of a request that names no known one.
const NO_OPERATION: &str = "request";

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// A call failed, or its arguments were wrong.
    Failed {
        /// The tool's name.
        operation: &'static str,
        /// The file's name as sent, or the resource's URI.
        target: Option<String>,
        /// What went wrong.
        failure: LoggedFailure,
    },
    /// A request was refused before it became a call.
    Refused {
        /// The tool that it named, or `request`.
        operation: &'static str,
        /// Why.
        failure: LoggedFailure,
    },
    /// `initialize` was answered.
    Initialized {
        /// The client's name and version.
        client: (String, String),
        /// The revision that it asked for.
        asked: String,
        /// The revision that is spoken.
        spoken: &'static str,
    },
}

/// A failure as the log names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFailure {
    /// The request's id as JSON; empty in REST.
    pub id: String,
    /// The JSON-RPC code.
    pub code: i32,
    /// Whether the client, the server or the system caused it.
    pub category: Category,
    /// One line.
    pub message: String,
}

impl Report {
    /// The refusal of a request that names `operation`, if anything.
    pub(super) fn refused(operation: &str, id: Option<&Id>, code: i32, message: &str) -> Report {
        let operation = tools::find(operation).map_or(NO_OPERATION, |tool| tool.name);
        let id = id.map_or("", Id::as_json).to_owned();
        let category = Category::of_code(code);
        Report::Refused { operation, failure: LoggedFailure { id, code, category, message: message.into() } }
    }
}
