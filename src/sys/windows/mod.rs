//! Windows. The file system has the POSIX names that the other systems have, as far as they are used: by handles of folders,
//! never by whole paths.

pub(super) mod command;
mod content;
mod dir;
pub(super) mod event;
pub(super) mod fd;
pub(super) mod features;
mod file_info;
mod flags;
pub(super) mod fs;
pub(super) mod io;
mod listing;
mod locks;
mod lookup;
pub(super) mod memory;
pub(super) mod mounts;
pub(super) mod names;
pub(super) mod net;
pub(super) mod param;
pub(super) mod paths;
pub(super) mod process;
mod replace;
pub(super) mod rights;
pub(super) mod signal;
mod stat;
pub(super) mod stdin;
pub(super) mod stdio;
#[cfg(any(test, feature = "testing"))]
pub(super) mod testing;
mod turn;
