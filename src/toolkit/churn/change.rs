//! What a commit did to one file.

use super::git::id::ObjectId;
use super::git::tree::Mode;

/// A version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// What it is.
    pub mode: Mode,
    /// Its content.
    pub id: ObjectId,
}

/// A file that a commit added, removed, changed or renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The file's path; the new one if it was renamed.
    pub path: Box<[u8]>,
    /// The path before, if it was renamed.
    pub renamed_from: Option<Box<[u8]>>,
    /// The version before; `None` if it was added.
    pub old: Option<Version>,
    /// The version of the commit; `None` if it was removed.
    pub new: Option<Version>,
}
