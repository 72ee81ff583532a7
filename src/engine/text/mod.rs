//! Text in memory: its lines, edits by line number and by exact text, and the diff of an edit.
//!
//! Pure functions over bytes. Knows no files; [`fs`](super::fs) writes the result of an edit to the disk.

pub(super) mod diff;
pub(super) mod encoded_edit;
pub(super) mod line_diff;
pub(super) mod line_edit;
pub(super) mod lines;
pub(super) mod packed;
pub(super) mod splice;
pub(super) mod text_edit;
pub(super) mod tokens;
pub(super) mod tolerant;
