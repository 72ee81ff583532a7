//! What PHP defines. A member is public unless it says otherwise.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning, child};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let modifier = at.child("visibility_modifier").map(|node| at.of(node));
    let is_public = !modifier.is_some_and(|modifier| modifier.starts_with("pr"));
    match at.node.kind() {
        "namespace_definition" if at.field("body").is_some() => at.found(Kind::Module, true),
        "class_declaration" => at.found(Kind::Class, true),
        "interface_declaration" => at.found(Kind::Interface, true),
        "trait_declaration" => at.found(Kind::Trait, true),
        "enum_declaration" => at.found(Kind::Enum, true),
        "function_definition" => at.found(Kind::Function, true),
        "method_declaration" if at.field("body").is_none() => at.bare(Kind::Function, is_public),
        "method_declaration" => at.found(Kind::Function, is_public),
        "const_declaration" => of_constant(at, is_public),
        "if_statement" | "compound_statement" | "colon_block" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

fn of_constant<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    match at.child("const_element").and_then(|element| child(element, "name")) {
        Some(name) => Meaning::Defines(Found {
            kind: Kind::Constant,
            name: at.of(name),
            inner: None,
            head_end: None,
            is_public,
            is_bare: false,
        }),
        None => Meaning::Nothing,
    }
}
