//! Files of the operating system: opens them without leaving the folder, reads, locks and replaces them, and
//! identifies their states by stamps.
//!
//! Knows no lines and no edits. The meaning of a file's bytes belongs to [`text`].

pub(super) mod acl;
pub(super) mod atomic;
pub(super) mod attributes;
mod claim;
pub(super) mod equivalent;
pub(super) mod failpoint;
pub(super) mod file_system;
mod kernel_copy;
pub(super) mod lease;
pub(super) mod leftovers;
pub(super) mod liveness;
pub(super) mod lock;
pub(super) mod lost;
pub(super) mod mount_safety;
pub(super) mod parents;
pub(super) mod private;
pub(super) mod probe;
pub(super) mod remove;
pub(super) mod rename;
pub(super) mod resolve;
pub(super) mod root;
pub(super) mod spelling;
pub(super) mod temporary;
pub(super) mod version;
pub(super) mod view;
pub(super) mod write_wait;
pub(super) mod writers;
