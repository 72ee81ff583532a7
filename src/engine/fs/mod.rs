//! Files as the system has them: opened without leaving the folder, viewed, locked, replaced as a whole, and known by a
//! stamp that says whether they have changed.
//!
//! Knows no lines and no edits. What a file's bytes mean is for [`text`](super::text).

pub(super) mod acl;
pub(super) mod atomic;
pub(super) mod attributes;
pub(super) mod failpoint;
pub(super) mod file_system;
pub(super) mod lease;
pub(super) mod lock;
pub(super) mod resolve;
pub(super) mod root;
pub(super) mod sigbus;
pub(super) mod temporary;
pub(super) mod version;
pub(super) mod view;
pub(super) mod write_wait;
pub(super) mod writers;
