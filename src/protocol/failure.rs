//! Errors as codes and statuses (SPEC 7). The words are the tools'.

use super::rpc::code;
use crate::engine::Error;

/// The JSON-RPC code and HTTP status of a failed REST or direct call.
pub(super) fn code_and_status(error: &Error) -> (i32, u16) {
    match error {
        Error::InvalidName
        | Error::NegativeLine
        | Error::InvalidRange { .. }
        | Error::StartPastEnd { .. }
        | Error::UnknownOperation { .. }
        | Error::DeleteWithContent
        | Error::LineOutOfRange { .. }
        | Error::Conflict { .. }
        | Error::InvalidArguments { .. } => (code::INVALID_PARAMS, 400),
        Error::NotFound { .. } => (code::FILE_SYSTEM, 404),
        Error::PermissionDenied { .. } => (code::FILE_SYSTEM, 403),
        Error::TooLarge { .. } => (code::FILE_SYSTEM, 413),
        Error::InvalidUtf8 | Error::NotText { .. } => (code::FILE_SYSTEM, 400),
        Error::Changed { .. } | Error::Locked { .. } | Error::NotAsExpected { .. } => {
            (code::FILE_SYSTEM, 409)
        }
        Error::TimedOut
        | Error::Cancelled
        | Error::ReadFailed { .. }
        | Error::WriteFailed { .. }
        | Error::FolderGone
        | Error::ListingFailed { .. } => (code::FILE_SYSTEM, 500),
    }
}
