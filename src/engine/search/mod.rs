//! The search for text (contract 14): patterns and how lines with matches are found in bytes.
//!
//! Knows no files, folders or threads: `workspace/search.rs` joins these with the search.

mod lines;
mod pattern;

pub(crate) use lines::line_at;
pub use lines::{Hit, LineScan, behind_break, line_before, line_end};
pub use pattern::{Pattern, PatternError, PatternOptions};
