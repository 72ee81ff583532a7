//! What the nodes of JavaScript and TypeScript count. Both are parsed by the grammar of TypeScript with JSX.

use std::sync::OnceLock;

use super::kinds::{Kinds, Role};

/// The table of the grammar.
pub(super) fn kinds() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(|| Kinds::new(&tree_sitter_typescript::LANGUAGE_TSX.into(), TABLE))
}

const TABLE: &[(Role, &[&str])] = &[
    (Role::Skipped, &["comment", "html_comment", "hash_bang_line"]),
    (Role::Operand, &["string", "regex", "string_fragment", "jsx_text"]),
    (Role::Closer, &["')'", "']'", "'}'", "'</'"]),
    (Role::NamedFunction, &["function_declaration", "generator_function_declaration", "method_definition"]),
    (Role::FunctionValue, &["arrow_function", "function_expression", "generator_function"]),
    (Role::Container, &["class_declaration", "abstract_class_declaration", "class"]),
    (Role::If, &["if_statement"]),
    (Role::Else, &["else_clause"]),
    (Role::Loop, &["while_statement", "for_statement", "for_in_statement", "do_statement"]),
    (Role::Match, &["switch_statement"]),
    (Role::Case, &["switch_case"]),
    (Role::Catch, &["catch_clause"]),
    (Role::Try, &["try_statement"]),
    (Role::Ternary, &["ternary_expression"]),
    (Role::Binary, &["binary_expression"]),
    (Role::LogicalOperator, &["'&&'", "'||'"]),
    (Role::LogicalAssignment, &["'&&='", "'||='"]),
    (Role::Jump, &["break_statement", "continue_statement"]),
    (Role::Label, &["statement_identifier"]),
    (Role::Call, &["call_expression"]),
    (Role::Parentheses, &["parenthesized_expression"]),
    (Role::Binder, &["variable_declarator", "assignment_expression", "pair", "public_field_definition"]),
    (Role::Modifier, &["decorator", "accessibility_modifier", "override_modifier"]),
    (Role::ElseKeyword, &["'else'"]),
];

#[cfg(test)]
mod tests {
    use super::super::kinds::unknown_names;
    use super::*;

    #[test]
    fn the_grammar_has_all_names_of_the_table() {
        assert_eq!(unknown_names(&tree_sitter_typescript::LANGUAGE_TSX.into(), TABLE), Vec::<&str>::new());
    }
}
