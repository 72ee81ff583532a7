//! What a shell script defines: its functions, and what does not change.

use analyzer_wire::Kind;

use super::meaning::{At, Meaning};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.node.kind() {
        "function_definition" => at.found(Kind::Function, true),
        "declaration_command" if at.has("readonly", "") => of_constant(at),
        "if_statement" | "elif_clause" | "else_clause" | "compound_statement" | "list" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

fn of_constant<'t>(at: &At<'t>) -> Meaning<'t> {
    let assignment = at.child("variable_assignment");
    match assignment.and_then(|assignment| assignment.child_by_field_name("name")) {
        Some(name) => at.named(Kind::Constant, at.of(name), true),
        None => Meaning::Nothing,
    }
}
