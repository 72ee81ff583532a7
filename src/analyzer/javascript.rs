//! What the nodes of JavaScript and TypeScript count.

use super::kinds::{Role, Table};

/// The roles by names of kinds.
pub(super) const TABLE: Table = &[
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

/// Names of kinds that the grammar of TypeScript without JSX lacks.
#[cfg(test)]
pub(super) const JSX_ALONE: &[&str] = &["jsx_text", "'</'"];
