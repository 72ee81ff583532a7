//! Names and paths of clients: what they mean to the system.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether no two names differ in case alone, while a look-up tells case apart. Some file systems ignore case here, too, but then
/// look-ups do as well.
pub(crate) const IGNORES_CASE: bool = false;

/// Whether the system keeps a file by this name, and by no other. Here it does for every name that is one.
#[inline]
pub(crate) fn is_usable_name(_: &[u8]) -> bool {
    true
}

/// The path with `/` between its components. Here it is so.
#[inline]
pub(crate) fn with_slashes(path: &str) -> Cow<'_, str> {
    Cow::Borrowed(path)
}

/// Whether a path with slashes is absolute.
#[inline]
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

/// The rest of the absolute path `path` below `folder`; both have slashes.
#[inline]
pub(crate) fn below<'t>(path: &'t str, folder: &str) -> Option<&'t str> {
    path.strip_prefix(folder)
}

/// A canonical path as users write it.
pub(crate) fn usual(path: &Path) -> PathBuf {
    path.into()
}

/// What stands behind `file://` for an absolute path, not yet encoded.
pub(crate) fn in_uri(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path.as_os_str().as_bytes())
}
