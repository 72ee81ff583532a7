//! The set `text`: files in any encoding read by lines and patterns, changed by old and new text, and commands (contract 15).
//!
//! One file a tool. What several of them need is here.

mod edit_file;
mod edited;
pub(super) mod exec;
mod filter;
mod no_match;
mod read_file;
mod view;
mod write_file;

use super::Tool;

/// The tools of the set, in the order in which they are listed.
pub(super) const TOOLS: &[&Tool] =
    &[&read_file::TOOL, &view::TOOL, &edit_file::TOOL, &write_file::TOOL, &exec::TOOL];
