//! The set `toolkit`: templates, complexity and churn (contract 16).
//!
//! One file a tool. What several of them need is here.

mod analyze_code_churn;
mod analyze_complexity;
mod cut_text;
mod generate_template;
mod list_templates;
mod page_start;
mod scaffold_project;
mod search_templates;
mod template_failure;
mod template_parameters;
mod template_rows;
mod validate_template;

use super::Tool;

/// The tools of the set, in the order in which they are listed.
pub(super) const TOOLS: &[&Tool] = &[
    &generate_template::TOOL,
    &list_templates::TOOL,
    &validate_template::TOOL,
    &scaffold_project::TOOL,
    &search_templates::TOOL,
    &analyze_complexity::TOOL,
    &analyze_code_churn::TOOL,
];
