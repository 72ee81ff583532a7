//! The search for text (contract 14): patterns, how lines with matches are found in bytes, and filters that tell which
//! blocks of a file cannot match.
//!
//! Pure over bytes: knows no file, folder, thread or clock. The bytes may be a view of a file that changes: then what is found
//! is void, and the caller looks again.

mod filter;
mod hit;
mod lines;
mod literals;
mod pattern;
mod replacement;
mod stoppable;

pub use filter::{FileFilter, FilterBuilder, Query, Shape};
pub use hit::{Counted, Hit};
pub use lines::{
    Finished, Groups, LineMatcher, MAX_COPIED, MapScan, behind_break, find_line, line_at, line_before,
    line_end, whole_lines,
};
pub use pattern::{Pattern, PatternError, PatternOptions};
pub use replacement::{Replacement, UnknownGroup};
