//! The set `agent`: a job over many files in few calls (contract 19).

pub(super) mod changes;
pub(super) mod edit;
mod failed;
pub(super) mod files;
pub(super) mod grep;
#[cfg(feature = "toolkit")]
pub(super) mod outline;
pub(super) mod read;
pub(super) mod replace;
pub(super) mod undo;
mod unread;

mod change_id;
mod changed;
mod one_edit;
mod patched;
mod planned;
mod refused;
mod shapes;
mod span;
mod symbol;
mod target;
mod texts;
mod tree;
