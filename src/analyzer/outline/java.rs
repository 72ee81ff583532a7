//! What Java defines.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let modifiers = at.child("modifiers");
    let has =
        |word: &str| modifiers.is_some_and(|modifiers| super::meaning::child(modifiers, word).is_some());
    let in_interface = matches!(at.around, Some((Kind::Interface, _)));
    let is_public = has("public") || in_interface && !has("private");
    match at.node.kind() {
        "class_declaration" | "record_declaration" => at.found(Kind::Class, is_public),
        "interface_declaration" | "annotation_type_declaration" => at.found(Kind::Interface, is_public),
        "enum_declaration" => at.found(Kind::Enum, is_public),
        "method_declaration" if at.field("body").is_none() => at.bare(Kind::Function, is_public),
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
            at.found(Kind::Function, is_public)
        }
        "constant_declaration" => of_constant(at, is_public),
        "field_declaration" if has("static") && has("final") => of_constant(at, is_public),
        "enum_body_declarations" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

fn of_constant<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let name = at.field("declarator").and_then(|declarator| declarator.child_by_field_name("name"));
    name.map_or(Meaning::Nothing, |name| {
        Meaning::Defines(Found {
            kind: Kind::Constant,
            name: at.of(name),
            inner: None,
            head_end: None,
            is_public,
            is_bare: false,
        })
    })
}
