//! What the nodes of Rust count.

use super::kinds::{Role, Table};

/// The roles by names of kinds.
pub(super) const TABLE: Table = &[
    (Role::Skipped, &["line_comment", "block_comment", "macro_definition", "shebang"]),
    (Role::Operand, &["string_literal", "raw_string_literal", "char_literal", "lifetime"]),
    (Role::Closer, &["')'", "']'", "'}'"]),
    (Role::OwnFunction, &["function_item"]),
    (Role::Closure, &["closure_expression"]),
    (Role::Container, &["impl_item", "trait_item"]),
    (Role::If, &["if_expression"]),
    (Role::Else, &["else_clause"]),
    (Role::Loop, &["while_expression", "for_expression"]),
    (Role::EndlessLoop, &["loop_expression"]),
    (Role::Match, &["match_expression"]),
    (Role::Arm, &["match_arm"]),
    (Role::ArmPattern, &["match_pattern"]),
    (Role::Binary, &["binary_expression"]),
    (Role::Logical, &["let_chain"]),
    (Role::LogicalOperator, &["'&&'", "'||'"]),
    (Role::Question, &["try_expression"]),
    (Role::Let, &["let_declaration"]),
    (Role::Jump, &["break_expression", "continue_expression"]),
    (Role::Label, &["label"]),
    (Role::Call, &["call_expression"]),
    (Role::Parentheses, &["parenthesized_expression"]),
    (Role::IfKeyword, &["'if'"]),
    (Role::ElseKeyword, &["'else'"]),
];
