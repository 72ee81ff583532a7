//! What the nodes of Python count.

use std::sync::OnceLock;

use super::kinds::{Kinds, Role};

/// The table of the grammar.
pub(super) fn kinds() -> &'static Kinds {
    static KINDS: OnceLock<Kinds> = OnceLock::new();
    KINDS.get_or_init(|| Kinds::new(&tree_sitter_python::LANGUAGE.into(), TABLE))
}

const TABLE: &[(Role, &[&str])] = &[
    (Role::Skipped, &["comment", "line_continuation", "string_start", "string_end"]),
    (Role::Operand, &["string_content"]),
    (Role::Closer, &["')'", "']'", "'}'"]),
    (Role::NamedFunction, &["function_definition"]),
    (Role::Closure, &["lambda"]),
    (Role::Container, &["class_definition"]),
    (Role::If, &["if_statement"]),
    (Role::Elif, &["elif_clause"]),
    (Role::Else, &["else_clause"]),
    (Role::Loop, &["while_statement", "for_statement"]),
    (Role::Match, &["match_statement"]),
    (Role::CaseClause, &["case_clause"]),
    (Role::IfClause, &["if_clause"]),
    (
        Role::Comprehension,
        &["list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"],
    ),
    (Role::ComprehensionFor, &["for_in_clause"]),
    (Role::Catch, &["except_clause"]),
    (Role::Try, &["try_statement"]),
    (Role::PythonTernary, &["conditional_expression"]),
    (Role::Logical, &["boolean_operator"]),
    (Role::LogicalOperator, &["'and'", "'or'"]),
    (Role::Call, &["call"]),
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
        assert_eq!(unknown_names(&tree_sitter_python::LANGUAGE.into(), TABLE), Vec::<&str>::new());
    }
}
