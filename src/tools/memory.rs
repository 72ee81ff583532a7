//! How much memory calls may take that look at many files, in MB (contract 8), with a margin over what hostile patterns, trees and
//! histories took.

/// A walk that keeps names. The executor gives such calls turns of their own.
pub(super) const WALK: usize = 10;

/// A search: the compiled pattern, and its states on each thread.
pub(super) const SEARCH: usize = 40;

/// An analysis of code: texts, their trees, and stacks.
pub(super) const ANALYSIS: usize = 80;

/// An analysis of a history.
#[cfg(feature = "toolkit")]
pub(super) const HISTORY: usize = 100;
