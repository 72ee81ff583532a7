//! The log entry for a request, as data. The executor writes it to the log.
//!
//! A report holds names, codes and ids, never a file's text.

use super::failure::{Category, name_of_code};
use super::rpc::Id;
use crate::tools;

/// The operation of a request that names no known operation.
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
        /// The failure.
        failure: LoggedFailure,
    },
    /// A request was refused before it became a call.
    Refused {
        /// The tool that the request names, or `request`.
        operation: &'static str,
        /// The reason.
        failure: LoggedFailure,
    },
    /// `initialize` was answered.
    Initialized {
        /// The client's name and version.
        client: (String, String),
        /// The revision that the client requested.
        asked: String,
        /// The revision that both sides use.
        spoken: &'static str,
    },
}

/// A failure in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFailure {
    /// The request's id as JSON; empty in REST.
    pub id: String,
    /// The JSON-RPC code.
    pub code: i32,
    /// Whether the client, the server or the system caused it.
    pub category: Category,
    /// What failed, in a word for figures.
    pub kind: &'static str,
    /// One line.
    pub message: String,
}

impl Report {
    /// The refusal of a request. `operation` may be empty or unknown.
    pub(super) fn refused(operation: &str, id: Option<&Id>, code: i32, message: &str) -> Report {
        let operation = tools::sets::known(operation).map_or(NO_OPERATION, |tool| tool.name);
        let id = id.map_or("", Id::as_json).to_owned();
        let (category, kind) = (Category::of_code(code), name_of_code(code));
        let failure = LoggedFailure { id, code, category, kind, message: message.into() };
        Report::Refused { operation, failure }
    }
}
