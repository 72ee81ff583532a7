//! The URIs of files.

use std::path::Path;

use percent_encoding::{AsciiSet, percent_encode};

use crate::sys::path::in_uri;

/// The URI of the file at an absolute path, with these characters encoded; a drive stays as it is (RFC 8089).
pub(crate) fn file_uri(path: &Path, encoded: &'static AsciiSet) -> String {
    let (start, rest) = in_uri(path);
    format!("file://{start}{}", percent_encode(&rest, encoded))
}
