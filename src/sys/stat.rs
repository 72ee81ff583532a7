//! What stat(2) tells, with the types of Linux: for the systems whose own struct has others, or that have none.

/// The state of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    /// On Windows the number of the volume.
    pub(crate) st_dev: u64,
    /// On Windows the number of the file in its volume.
    pub(crate) st_ino: u64,
    /// On Windows the kind, and 0666 or, with the read-only attribute, 0444; of a folder 0777.
    pub(crate) st_mode: u32,
    pub(crate) st_nlink: u64,
    /// On Windows all files count as the user's.
    pub(crate) st_uid: u32,
    pub(crate) st_gid: u32,
    pub(crate) st_size: i64,
    pub(crate) st_mtime: i64,
    pub(crate) st_mtime_nsec: i64,
    /// The time of the last change of content or attributes.
    pub(crate) st_ctime: i64,
    pub(crate) st_ctime_nsec: i64,
}
