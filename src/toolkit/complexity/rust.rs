//! What the nodes of Rust count.

use std::sync::OnceLock;

use super::kinds::{Kinds, Role};

/// The table of the grammar.
pub(super) fn kinds() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(|| Kinds::new(&tree_sitter_rust::LANGUAGE.into(), TABLE))
}

const TABLE: &[(Role, &[&str])] = &[
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

#[cfg(test)]
mod tests {
    use super::super::kinds::unknown_names;
    use super::*;

    #[test]
    fn the_grammar_has_all_names_of_the_table() {
        assert_eq!(unknown_names(&tree_sitter_rust::LANGUAGE.into(), TABLE), Vec::<&str>::new());
    }
}
