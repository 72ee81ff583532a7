//! The set `search`: finds files and text in trees (contract 14).
//!
//! One file a tool. What several of them need is here, in `balance.rs` and in `walking.rs`.

mod best;
mod found;
pub(super) mod glob;
pub(super) mod grep;
mod hints;
mod pattern;
pub(super) mod printed;
pub(super) mod words;
