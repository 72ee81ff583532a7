//! Linux. The other systems give their types the form that they have here.

use rustix::fs::{FileType, Mode};
pub(crate) use rustix::fs::{Stat, fdatasync, fstat, fsync, lstat, stat, statat};

/// The kind of entry in a mode of stat(2).
pub(crate) fn file_type(mode: u32) -> FileType {
    FileType::from_raw_mode(mode)
}

/// The permissions in a mode of stat(2).
pub(crate) fn mode(mode: u32) -> Mode {
    Mode::from_raw_mode(mode)
}
