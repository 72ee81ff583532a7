//! Files of the operating system: opens them without leaving the folder, reads, locks and replaces them, and
//! identifies their states by stamps.
//!
//! Knows no lines and no edits. The meaning of a file's bytes belongs to [`text`].

pub mod acl;
pub mod atomic;
pub mod attributes;
pub mod claim;
pub mod equivalent;
pub mod failpoint;
pub mod file_system;
pub mod git_guard;
mod kernel_copy;
pub mod lease;
pub mod leftovers;
pub mod liveness;
pub mod lock;
pub mod lost;
pub mod mount_safety;
pub mod parents;
pub mod private;
pub mod probe;
pub mod remove;
pub mod rename;
pub mod repository;
pub mod resolve;
pub mod root;
pub mod spelling;
pub mod temporary;
pub mod version;
pub mod view;
pub mod write_wait;
pub mod writers;
