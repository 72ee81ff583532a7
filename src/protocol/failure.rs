//! Errors as codes, statuses, categories and JSON (contract 7). The tools write the error texts.

use std::time::{SystemTime, UNIX_EPOCH};

use super::result_frame::Asked;
use super::rpc::{self, Refusal, code};
use crate::tools::sets::Codes;
use crate::tools::{ErrorText, timestamp};
use folder::{CannotRun, Error, ToolFailureKind, ValueProblem};

/// The cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// The client: the request is wrong, and the client can correct it.
    Client,
    /// The server: a bug.
    Server,
    /// The system: disks, permissions, other programs, time. A matter for the operator.
    System,
}

impl Category {
    /// The name in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Client => "client",
            Category::Server => "server",
            Category::System => "system",
        }
    }

    /// The category of a refusal that no operation returned.
    pub(super) fn of_code(code: i32) -> Category {
        if code == code::INTERNAL_ERROR { Category::Server } else { Category::Client }
    }
}

/// How the interfaces and the log classify an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorKind {
    /// JSON-RPC code.
    pub(super) code: i32,
    /// HTTP status.
    pub(super) status: u16,
    pub(super) category: Category,
    /// What failed, in a word for figures.
    pub(super) name: &'static str,
}

/// Words for what failed that stand in several places.
const INVALID_ARGUMENTS: &str = "invalid_arguments";
pub(super) const INTERNAL: &str = "internal";

/// The only table of errors.
pub(super) fn kind(error: &Error) -> ErrorKind {
    use Category::{Client, System};
    let (code, status, category, name) = match error {
        Error::InvalidName { .. }
        | Error::NegativeLine
        | Error::InvalidRange { .. }
        | Error::StartPastEnd { .. }
        | Error::UnknownOperation { .. }
        | Error::DeleteWithContent
        | Error::LineOutOfRange { .. }
        | Error::Conflict { .. }
        | Error::Ambiguous { .. }
        | Error::NotInParts { .. }
        | Error::InvalidArguments { .. } => (code::INVALID_PARAMS, 400, Client, INVALID_ARGUMENTS),
        Error::NotFound { .. } => (code::FILE_SYSTEM, 404, Client, "not_found"),
        Error::NoParent { .. } => (code::FILE_SYSTEM, 404, Client, "not_found"),
        Error::NotEmpty { .. } => (code::FILE_SYSTEM, 409, Client, "not_empty"),
        Error::NotAFolder { .. } => (code::FILE_SYSTEM, 400, Client, "not_a_folder"),
        Error::Exists { .. } => (code::FILE_SYSTEM, 409, Client, "exists"),
        Error::OtherVersion { .. } => (code::FILE_SYSTEM, 409, Client, "other_version"),
        Error::PermissionDenied { .. }
        | Error::Excluded { .. }
        | Error::HoldsKept { .. }
        | Error::ServedFolder { .. }
        | Error::RefusedLink { .. }
        | Error::IsAFolder { .. }
        | Error::GitFolder { .. }
        | Error::KeptByGit { .. } => (code::FILE_SYSTEM, 403, System, "permission_denied"),
        Error::UnsafeLocks { .. } => (code::FILE_SYSTEM, 403, System, "unsafe_locks"),
        Error::TooLarge { .. } | Error::ReplacesTooLarge { .. } | Error::LongLine { .. } => {
            (code::FILE_SYSTEM, 413, Client, "too_large")
        }
        Error::InvalidUtf8
        | Error::NotText { .. }
        | Error::Undecodable { .. }
        | Error::Unencodable { .. }
        | Error::OtherEncoding { .. } => (code::FILE_SYSTEM, 400, Client, "not_text"),
        Error::NotAsExpected { .. } | Error::Unmatched(_) => {
            (code::FILE_SYSTEM, 409, Client, "not_as_expected")
        }
        Error::Changed { .. } => (code::FILE_SYSTEM, 409, System, "changed"),
        Error::Locked { .. } => (code::FILE_SYSTEM, 409, System, "locked"),
        Error::Busy | Error::NoSearchMemory | Error::NoReadMemory => (code::FILE_SYSTEM, 503, System, "busy"),
        Error::CannotRun { why: CannotRun::NoTurn { .. } | CannotRun::Stopping } => {
            (code::FILE_SYSTEM, 503, System, "busy")
        }
        Error::CannotRun { .. } => (code::FILE_SYSTEM, 500, System, "command"),
        Error::OfTool(failure) => match failure.kind {
            ToolFailureKind::Missing => (code::NOT_FOUND, 404, Client, "not_found"),
            ToolFailureKind::Malformed => (code::MALFORMED, 400, Client, INVALID_ARGUMENTS),
            ToolFailureKind::Rejected => (code::REJECTED, 400, Client, INVALID_ARGUMENTS),
            ToolFailureKind::Unusable => (code::INTERNAL_ERROR, 500, System, "unusable"),
        },
        Error::NoThread => (code::FILE_SYSTEM, 503, System, "no_thread"),
        Error::Cancelled => (code::FILE_SYSTEM, 500, Client, "cancelled"),
        Error::TimedOut => (code::FILE_SYSTEM, 500, System, "timed_out"),
        Error::OutcomeUnknown => (code::FILE_SYSTEM, 500, System, "outcome_unknown"),
        Error::ReadFailed { .. } | Error::WriteFailed { .. } | Error::ListingFailed { .. } => {
            (code::FILE_SYSTEM, 500, System, "io")
        }
        Error::FolderGone | Error::OneFolderGone { .. } | Error::FolderSwitched => {
            (code::FILE_SYSTEM, 500, System, "folder_gone")
        }
    };
    ErrorKind { code, status, category, name }
}

/// What failed if a request was refused with this code.
pub(super) fn name_of_code(code: i32) -> &'static str {
    match code {
        code::PARSE_ERROR => "not_json",
        code::INVALID_PARAMS => INVALID_ARGUMENTS,
        code::METHOD_NOT_FOUND => "unknown_method",
        code::RATE_LIMIT => "rate_limit",
        code::INTERNAL_ERROR => INTERNAL,
        _ => "invalid_request",
    }
}

/// The code of failed file operations of the tools of a set.
pub(super) fn failure_code(codes: Codes) -> i32 {
    match codes {
        Codes::Text => code::FAILED_OPERATION,
        Codes::Files | Codes::Toolkit => code::FILE_SYSTEM,
    }
}

/// The log text for an error whose message is `message`: one line, without any text of a file.
pub(super) fn for_the_log<'a>(error: &'a Error, message: &'a str) -> std::borrow::Cow<'a, str> {
    match error {
        // Without the problem, which shows the wrong value: perhaps a file's text.
        Error::InvalidArguments { at, .. } => format!("Invalid arguments: {at}").into(),
        Error::UnknownOperation { .. } => "Invalid edit operation".into(),
        _ => message.lines().next().unwrap_or_default().into(),
    }
}

/// Reports an unreadable file as missing, so that the answer does not reveal which files exist. A fault keeps its message, and so
/// does a file that is listed and too large.
pub(super) fn resource_refusal(asked: &Asked, uri: Option<&str>, error: &Error, words: ErrorText) -> Refusal {
    let id = asked.id.clone();
    let uri_data = |uri: &str| Some(serde_json::json!({ "uri": uri }).to_string());
    if let (Error::TooLarge { .. }, Some(uri)) = (error, uri) {
        let hint = words.hint.unwrap_or_else(|| "The operator can raise the limit with --max-file.".into());
        let message = format!("{}. {hint}", words.message);
        return Refusal { id, code: code::INVALID_PARAMS, message, data: uri_data(uri) };
    }
    let missing = match (kind(error).status, uri) {
        (500 | 409, _) | (_, None) => return Refusal::new(id, code::INTERNAL_ERROR, words.message),
        (_, Some(uri)) => uri,
    };
    let code = if asked.revision.is_stateless() { code::INVALID_PARAMS } else { code::RESOURCE_NOT_FOUND };
    Refusal { id, code, message: "Resource not found".into(), data: uri_data(missing) }
}

/// The body of a REST error.
pub(super) fn rest_error(refusal: &Refusal) -> Vec<u8> {
    let mut out = br#"{"error":"#.to_vec();
    rpc::write_error(refusal.code, &refusal.message, refusal.data.as_deref(), &mut out);
    out.push(b'}');
    out
}

/// The `data` of a REST or direct error (contract 7).
pub(super) fn error_data(file: Option<&str>, operation: &str, details: &str, now: SystemTime) -> String {
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
    let data = serde_json::json!({
        "filename": file, "operation": operation, "timestamp": timestamp(now), "details": details,
    });
    data.to_string()
}

/// The problems of the values that a tool was given, as a JSON array. `None` if there are none.
fn problems(error: &Error) -> Option<String> {
    let Error::OfTool(failure) = error else { return None };
    let problem = |ValueProblem { name, problem, expected }: &ValueProblem| serde_json::json!({ "parameter": name, "problem": problem, "expected": expected });
    let problems: Vec<_> = failure.problems.iter().map(problem).collect();
    (!problems.is_empty()).then(|| serde_json::Value::from(problems).to_string())
}

/// An object that holds these problems, if there are any.
pub(super) fn problems_data(error: &Error) -> Option<String> {
    problems(error).map(|problems| format!(r#"{{"errors":{problems}}}"#))
}

/// The object `data` with these problems as one member more.
pub(super) fn with_problems(data: String, error: &Error) -> String {
    match (problems(error), data.strip_suffix('}')) {
        (Some(problems), Some(open)) => format!(r#"{open},"errors":{problems}}}"#),
        _ => data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_that_a_client_sent_as_content_reaches_the_log() {
        let error = Error::InvalidArguments {
            at: "edits[3].content".into(),
            problem: "\"a secret\\ud800\" is wrong; expected a string".into(),
        };
        assert_eq!(for_the_log(&error, "whatever"), "Invalid arguments: edits[3].content");
        let error = Error::UnknownOperation { operation: "a secret".into() };
        assert_eq!(for_the_log(&error, "whatever"), "Invalid edit operation");
        let error = Error::NotAsExpected { line: 1, actual: "a secret".into(), stands_at: None };
        assert_eq!(for_the_log(&error, "Line 1 is not as expected\na secret"), "Line 1 is not as expected");
    }

    #[test]
    fn whose_matter_a_failure_is() {
        let category = |error| kind(&error).category;
        let name = || "f".to_owned();
        assert_eq!(category(Error::NegativeLine), Category::Client);
        assert_eq!(category(Error::not_found(&name())), Category::Client);
        assert_eq!(
            category(Error::NotAsExpected { line: 1, actual: name(), stands_at: None }),
            Category::Client
        );
        assert_eq!(category(Error::Cancelled), Category::Client);
        assert_eq!(category(Error::PermissionDenied { name: name() }), Category::System);
        assert_eq!(category(Error::Locked { name: name() }), Category::System);
        assert_eq!(category(Error::TimedOut), Category::System);
        assert_eq!(Category::of_code(code::INTERNAL_ERROR), Category::Server);
        assert_eq!(Category::of_code(code::PARSE_ERROR), Category::Client);
        assert_eq!(kind(&Error::Locked { name: name() }).name, "locked");
        assert_eq!((name_of_code(code::RATE_LIMIT), name_of_code(7)), ("rate_limit", "invalid_request"));
    }
}
