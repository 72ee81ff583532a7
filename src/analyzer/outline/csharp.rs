//! What C# defines.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning, child};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let in_interface = matches!(at.around, Some((Kind::Interface, _)));
    let is_public = is(at, "public") || in_interface && !is(at, "private");
    match at.node.kind() {
        "namespace_declaration" => at.found(Kind::Module, true),
        "class_declaration" => at.found(Kind::Class, is_public),
        "record_declaration" if at.has("struct", "") => at.found(Kind::Struct, is_public),
        "record_declaration" => at.found(Kind::Class, is_public),
        "struct_declaration" => at.found(Kind::Struct, is_public),
        "interface_declaration" => at.found(Kind::Interface, is_public),
        "enum_declaration" => closed(at.found(Kind::Enum, is_public)),
        "delegate_declaration" => at.found(Kind::Type, is_public),
        "method_declaration" if at.field("body").is_none() => at.bare(Kind::Function, is_public),
        "method_declaration" | "constructor_declaration" => at.found(Kind::Function, is_public),
        "destructor_declaration" => of(at, at.name().map(|name| format!("~{name}")), is_public),
        "operator_declaration" => {
            of(at, at.field("operator").map(|sign| format!("operator {}", at.of(sign))), is_public)
        }
        "conversion_operator_declaration" => {
            of(at, at.field("type").map(|to| format!("operator {}", at.of(to))), is_public)
        }
        "field_declaration" if is(at, "const") || is(at, "static") && is(at, "readonly") => {
            of_constant(at, is_public)
        }
        "preproc_if" | "preproc_else" | "preproc_elif" | "declaration_list" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

/// Whether it has a modifier.
fn is(at: &At, word: &str) -> bool {
    let mut cursor = at.node.walk();
    at.node.children(&mut cursor).any(|child| child.kind() == "modifier" && at.of(child) == word)
}

fn of<'t>(at: &At<'t>, name: Option<String>, is_public: bool) -> Meaning<'t> {
    name.map_or(Meaning::Nothing, |name| at.named(Kind::Function, name, is_public))
}

/// The same without what is in it.
fn closed(meaning: Meaning) -> Meaning {
    match meaning {
        Meaning::Defines(found) => Meaning::Defines(Found { inner: None, ..found }),
        other => other,
    }
}

fn of_constant<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let declared = at.child("variable_declaration").and_then(|node| child(node, "variable_declarator"));
    match declared.and_then(|declared| declared.child_by_field_name("name")) {
        Some(name) => at.named(Kind::Constant, at.of(name), is_public),
        None => Meaning::Nothing,
    }
}
