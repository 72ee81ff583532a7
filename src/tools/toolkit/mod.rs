//! The set `toolkit`: templates, complexity and churn (contract 16).
//!
//! One file a tool. What several of them need is here.

use super::Tool;

mod analyze_code_churn;

/// The tools of the set, in the order in which they are listed.
pub(super) const TOOLS: &[&Tool] = &[&analyze_code_churn::TOOL];
