//! The set `search`: finding files and text in them (contract 14).
//!
//! One file a tool.

pub(super) mod grep;
