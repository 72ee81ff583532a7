//! Text in memory: its lines, edits by line number and by exact text, and the diff of an edit.
//!
//! Pure functions over bytes. Knows no files; how an edit reaches the disk is for [`fs`](super::fs).

pub(super) mod diff;
pub(super) mod line_edit;
pub(super) mod lines;
pub(super) mod packed;
pub(super) mod splice;
pub(super) mod text_edit;
