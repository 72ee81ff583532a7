//! What is mounted inside a folder, for the systems that do not tell without asking it. On Windows nothing can be: a folder on which a
//! volume is mounted is a reparse point, and never entered.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::fd::{AsFd, OwnedFd};
use super::fs::{Mode, Mount, OFlags, openat};
use super::io::Result;

/// All mounts. The system does not say.
pub fn mounts() -> Vec<(PathBuf, Mount)> {
    Vec::new()
}

/// The mounts below a folder. They are not looked for: each change asks for its own folder.
pub fn mounts_below(_: &Path) -> Vec<(PathBuf, Mount)> {
    Vec::new()
}

/// Opens the folder `name` in `parent`. What is mounted there is asked, and told by its device afterwards.
pub fn open_on_device(parent: impl AsFd, name: &OsStr, flags: OFlags, _: u64) -> Result<Option<OwnedFd>> {
    openat(parent, name, flags, Mode::empty()).map(Some)
}
