//! The work of the set `toolkit` (contract 16): templates, complexity of code, and the history of git repositories; and outlines
//! of code (contract 22). It
//! stands beside the line server, which does without it: the feature `toolkit` leaves it out. It knows the engine, and no
//! tool, JSON or protocol.

mod analyzer;
pub mod churn;
pub mod complexity;
pub mod outlines;
pub mod templates;
pub mod work_tree;

pub use analyzer::Analyzer;
pub use analyzer_wire::{Language, Refusal, SyntaxError};
