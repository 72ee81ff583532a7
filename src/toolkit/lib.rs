//! The work of the set `toolkit` (contract 16): templates, complexity of code, and the history of git repositories. It
//! stands beside the line server, which does without it: the feature `toolkit` leaves it out. It knows the engine, and no
//! tool, JSON or protocol.

pub mod churn;
pub mod complexity;
pub mod templates;
pub mod work_tree;
