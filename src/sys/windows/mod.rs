//! Windows. The file system has the POSIX names that the other systems have, as far as they are used: by handles of folders,
//! never by whole paths.

pub(super) mod command;
pub(super) mod event;
pub(super) mod memory;
pub(super) mod net;
pub(super) mod param;
pub(super) mod process;
pub(super) mod signal;
mod stdin;
pub(super) mod stdio;
