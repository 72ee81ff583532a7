//! The search for text (contract 14): patterns, how lines with matches are found in bytes, and filters that tell which
//! blocks of a file cannot match.
//!
//! Knows no files, folders or threads: `workspace/search/` joins these with the search.

mod filter;
mod lines;
mod literals;
mod pattern;
mod stoppable;

pub use filter::{FileFilter, FilterBuilder, FilterCache, FilterRecords, Query, RecordsTail, Shape};
pub use lines::{Hit, LineMatcher, behind_break, line_at, line_before, line_end};
pub(crate) use lines::{find_line, whole_lines};
pub use pattern::{Pattern, PatternError, PatternOptions};
