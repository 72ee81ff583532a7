//! Names and paths of clients: what they mean to the system.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::fd::AsFd;

/// Whether no two names differ in case alone, while a look-up tells case apart. Some file systems ignore case here, too, but then
/// look-ups do as well.
pub const IGNORES_CASE: bool = false;

/// Whether the system keeps a file by this name, and by no other. Here it does for every name that is one.
#[inline]
pub fn is_usable_name(_: &[u8]) -> bool {
    true
}

/// The path with `/` between its components. Here it is so.
#[inline]
pub fn with_slashes(path: &str) -> Cow<'_, str> {
    Cow::Borrowed(path)
}

/// Whether a path with slashes is absolute.
#[inline]
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// The rest of the absolute path `path` below `folder`; both have slashes.
#[inline]
pub fn below<'t>(path: &'t str, folder: &str) -> Option<&'t str> {
    path.strip_prefix(folder)
}

/// Whether an entry exists whose name differs from this one in case alone. Where a file system ignores case, a look-up does, too.
pub fn exists_in_another_case(_: impl AsFd, _: &OsStr) -> bool {
    false
}

/// Whether a file that is replaced in a folder is set aside for a moment: nowhere, as a rename takes one step.
pub fn sets_aside(_: impl AsFd) -> bool {
    false
}

/// Whether a folder can be flushed: everywhere; what a flush fails with is told by the flush.
pub fn flushes_folders(_: impl AsFd) -> bool {
    true
}

/// The root of an absolute path: what stands before its first component.
pub fn root(path: &str) -> &str {
    if path.starts_with('/') { "/" } else { "" }
}

/// A path in the one form in which absolute paths are told.
#[inline]
pub fn told(path: &str) -> Cow<'_, str> {
    Cow::Borrowed(path)
}

/// A canonical path as users write it.
pub fn usual(path: &Path) -> PathBuf {
    path.into()
}

/// What stands behind `file://` for an absolute path, not yet encoded: what stays as it is, and the rest.
pub fn in_uri(path: &Path) -> (String, Cow<'_, [u8]>) {
    (String::new(), Cow::Borrowed(path.as_os_str().as_bytes()))
}

/// The path below `folder` of a URI, whose decoded text behind `file://` this is.
pub fn below_in_uri(decoded: &[u8], folder: &Path) -> Option<String> {
    let folder = folder.as_os_str().as_bytes();
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    let rest = decoded.strip_prefix(folder)?.strip_prefix(b"/")?;
    String::from_utf8(rest.to_vec()).ok()
}
