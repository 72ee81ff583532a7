//! What stat(2) tells, with the types of Linux: for the systems whose own struct has others, or that have none.

/// The state of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Stat {
    /// On Windows the number of the volume.
    pub st_dev: u64,
    /// On Windows the number of the file in its volume.
    pub st_ino: u64,
    /// On Windows the kind, and 0666 or, with the read-only attribute, 0444; of a folder 0777.
    pub st_mode: u32,
    /// Names that it has.
    pub st_nlink: u64,
    /// On Windows all files count as the user's.
    pub st_uid: u32,
    /// Its group.
    pub st_gid: u32,
    /// In bytes.
    pub st_size: i64,
    /// When its content changed last, in seconds since 1970.
    pub st_mtime: i64,
    /// The nanoseconds of that.
    pub st_mtime_nsec: i64,
    /// The time of the last change of content or attributes.
    pub st_ctime: i64,
    /// The nanoseconds of that.
    pub st_ctime_nsec: i64,
}
