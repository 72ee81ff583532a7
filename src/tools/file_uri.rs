//! The URIs of files.

use std::borrow::Cow;
use std::path::Path;

use percent_encoding::{AsciiSet, percent_decode_str, percent_encode};

use sys::path::{in_uri, is_absolute};

/// The URI of the file at an absolute path, with these characters encoded; a drive stays as it is (RFC 8089).
pub(crate) fn file_uri(path: &Path, encoded: &'static AsciiSet) -> String {
    let (start, rest) = in_uri(path);
    format!("file://{start}{}", percent_encode(&rest, encoded))
}

/// The path of a `file://` URI of this machine, decoded once. Any other text is a path itself.
pub(crate) fn path_in(text: &str) -> Cow<'_, str> {
    let Some(rest) = text.strip_prefix("file://") else { return Cow::Borrowed(text) };
    let path = rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest);
    match percent_decode_str(path).decode_utf8() {
        // A slash stands before a drive.
        Ok(path) if path.get(1..).is_some_and(is_absolute) => Cow::Owned(path[1..].to_owned()),
        Ok(path) if path.starts_with('/') => path,
        _ => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_of_a_file_is_its_path_and_other_texts_are_paths() {
        for (text, path) in [
            ("file:///srv/a%20b/%C3%A4", "/srv/a b/ä"),
            ("file://localhost/a", "/a"),
            ("file:////a", "/a"),
            ("file:///a%252F", "/a%2F"),
            ("file://host/a", "file://host/a"),
            ("file://src/a.rs", "file://src/a.rs"),
            ("file:///%FF", "file:///%FF"),
            ("a/b%20c", "a/b%20c"),
            ("file:/a", "file:/a"),
        ] {
            assert_eq!(path_in(text), path, "{text}");
        }
    }
}
