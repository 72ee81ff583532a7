//! What JavaScript and TypeScript define. What a module exports is public; of a class what is not private.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::meaning::{At, Found, Meaning, Wrap};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let is_public = at.wrap.is_exported;
    match at.node.kind() {
        "export_statement" => at.wrap(Wrap { is_exported: true, ..Wrap::default() }),
        "ambient_declaration" => at.wrap(at.wrap),
        "lexical_declaration" | "variable_declaration" => {
            let is_constant = at.has("const", "");
            at.wrap(Wrap { is_constant, is_exported: is_public, ..Wrap::default() })
        }
        "variable_declarator" => of_variable(at),
        "function_declaration" | "generator_function_declaration" => at.found(Kind::Function, is_public),
        "function_signature" => at.bare(Kind::Function, is_public),
        "class_declaration" | "abstract_class_declaration" => at.found(Kind::Class, is_public),
        "interface_declaration" => at.found(Kind::Interface, is_public),
        "enum_declaration" => closed(at.found(Kind::Enum, is_public)),
        "type_alias_declaration" => at.found(Kind::Type, is_public),
        "internal_module" | "module" => at.found(Kind::Module, is_public),
        "method_definition" => at.found(Kind::Function, is_shown(at)),
        "method_signature" | "abstract_method_signature" => at.bare(Kind::Function, is_shown(at)),
        "public_field_definition" | "field_definition" => of_field(at),
        "expression_statement" => Meaning::Through,
        "assignment_expression" => of_assignment(at),
        "program" | "statement_block" | "class_body" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

/// Whether others may use a member.
fn is_shown(at: &At) -> bool {
    let is_hidden = |text: &str| text == "private" || text == "protected";
    let modifier = at.child("accessibility_modifier").map(|node| at.of(node));
    !modifier.is_some_and(|modifier| is_hidden(&modifier))
        && !at.name().is_some_and(|name| name.starts_with('#'))
}

fn is_function(node: &Node) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function" | "function")
}

/// A name for a function or a class, or a constant.
fn of_variable<'t>(at: &At<'t>) -> Meaning<'t> {
    let is_name = at.field("name").is_some_and(|name| name.kind() == "identifier");
    let is_public = at.wrap.is_exported;
    match (at.field("value"), at.name().filter(|_| is_name)) {
        (Some(value), Some(name)) if is_function(&value) => of_value(Kind::Function, name, value, is_public),
        (Some(value), Some(name)) if value.kind() == "class" => of_value(Kind::Class, name, value, is_public),
        (Some(value), _) if at.of(value).starts_with("require(") => Meaning::Nothing,
        (_, Some(name)) if at.wrap.is_constant => at.named(Kind::Constant, name, is_public),
        _ => Meaning::Nothing,
    }
}

/// A definition whose body is that of a value.
fn of_value<'t>(kind: Kind, name: String, value: Node<'t>, is_public: bool) -> Meaning<'t> {
    let body = value.child_by_field_name("body");
    Meaning::Defines(Found {
        kind,
        name,
        inner: body.filter(|_| kind == Kind::Class),
        head_end: body.map(|body| body.start_byte()),
        is_public,
        is_bare: false,
    })
}

/// A field of a class that is a function.
fn of_field<'t>(at: &At<'t>) -> Meaning<'t> {
    let name = at.name().or_else(|| at.field("property").map(|name| at.of(name)));
    match (at.field("value").filter(is_function), name) {
        (Some(value), Some(name)) => of_value(Kind::Function, name, value, is_shown(at)),
        _ => Meaning::Nothing,
    }
}

/// A function that becomes a member: `exports.f = …`, `A.prototype.f = …`.
fn of_assignment<'t>(at: &At<'t>) -> Meaning<'t> {
    let left = at.field("left").filter(|left| left.kind() == "member_expression");
    match (left, at.field("right").filter(is_function)) {
        (Some(left), Some(value)) => {
            let name = at.of(left);
            let name = ["module.exports.", "exports."]
                .iter()
                .find_map(|start| name.strip_prefix(start))
                .unwrap_or(&name);
            of_value(Kind::Function, name.replace(".prototype.", "."), value, true)
        }
        _ => Meaning::Nothing,
    }
}

/// The same without what is in it.
fn closed(meaning: Meaning) -> Meaning {
    match meaning {
        Meaning::Defines(found) => Meaning::Defines(Found { inner: None, ..found }),
        other => other,
    }
}
