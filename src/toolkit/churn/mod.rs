//! How often files change in the history of a git repository (contract 16).
//!
//! Reads the objects of git itself and runs no program: no filter, hook or driver that a repository names. Line counts are
//! those of `git log --numstat -M`. Knows no tools and no formats of answers.

pub mod analysis;
pub mod change;
pub mod diff;
pub mod fault;
pub mod file_counts;
pub mod git;
pub mod hot_spots;
pub mod ledger;
pub mod present;
pub mod renames;
pub mod report;
pub mod threads;
pub mod tree_changes;
pub mod walk;

pub use analysis::analyze;
pub use fault::Fault;
pub use git::commit::Author;
pub use hot_spots::{HotSpot, hot_spots};
pub use report::{AuthorCommits, Churn, FileChurn, Uncounted};
pub use walk::MOST_OLDER;
