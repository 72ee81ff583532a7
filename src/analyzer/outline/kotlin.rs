//! What Kotlin defines. It is public unless it says otherwise.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::meaning::{At, Found, Meaning, child};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let modifiers = at.child("modifiers");
    let modifier =
        |kind: &str| modifiers.and_then(|modifiers| child(modifiers, kind)).map(|node| at.of(node));
    let is_public = modifier("visibility_modifier").is_none_or(|word| word == "public");
    match at.node.kind() {
        "class_declaration" if at.has("interface", "") => of_class(at, Kind::Interface, is_public),
        "class_declaration" if modifier("class_modifier").is_some_and(|word| word == "enum") => {
            of_class(at, Kind::Enum, is_public)
        }
        "class_declaration" | "object_declaration" => of_class(at, Kind::Class, is_public),
        "companion_object" => of_companion(at, is_public),
        "function_declaration" => of_function(at, is_public),
        "property_declaration" => of_property(at, modifier("property_modifier").is_some(), is_public),
        "type_alias" => match at.field("type") {
            Some(name) => at.named(Kind::Type, at.of(name), is_public),
            None => Meaning::Nothing,
        },
        "class_member_declaration" | "statement" | "declaration" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

fn body(node: Node) -> Option<Node> {
    child(node, "class_body").or_else(|| child(node, "enum_class_body"))
}

fn of_class<'t>(at: &At<'t>, kind: Kind, is_public: bool) -> Meaning<'t> {
    at.name().map_or(Meaning::Nothing, |name| with_body(at, kind, name, is_public))
}

fn of_companion<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    with_body(at, Kind::Class, at.name().unwrap_or_else(|| "Companion".into()), is_public)
}

fn with_body<'t>(at: &At<'t>, kind: Kind, name: String, is_public: bool) -> Meaning<'t> {
    let inner = body(at.node);
    // Without a body it may go over several lines all the same.
    let head_end = Some(inner.map_or(at.node.end_byte(), |body| body.start_byte()));
    Meaning::Defines(Found { kind, name, inner, head_end, is_public, is_bare: false })
}

fn of_function<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let body = at.child("function_body").map(|body| body.start_byte());
    match at.found(Kind::Function, is_public) {
        Meaning::Defines(found) => {
            Meaning::Defines(Found { head_end: body, is_bare: body.is_none(), ..found })
        }
        other => other,
    }
}

/// A value of a file, or a constant anywhere.
fn of_property<'t>(at: &At<'t>, is_constant: bool, is_public: bool) -> Meaning<'t> {
    let name = at.child("variable_declaration").and_then(|declared| child(declared, "identifier"));
    match name {
        Some(name) if is_constant || at.around.is_none() && at.has("val", "") => {
            at.named(Kind::Constant, at.of(name), is_public)
        }
        _ => Meaning::Nothing,
    }
}
