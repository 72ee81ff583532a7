//! What the nodes of Python count.

use super::kinds::{Role, Table};

/// The roles by names of kinds.
pub(super) const TABLE: Table = &[
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
