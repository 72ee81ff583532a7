//! What C++ defines. A member is public by the line `public:` above it, or by the kind of its type.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::c;
use super::meaning::{At, Found, Meaning, Wrap};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let access = at.access.or(at.around.map(|(kind, _)| kind != Kind::Class));
    let at = &At { access: access.filter(|_| at.is_in_type()), ..*at };
    let is_public = at.access.unwrap_or(true);
    match at.node.kind() {
        "namespace_definition" => match at.name() {
            Some(name) => at.named(Kind::Module, name, true),
            None => Meaning::Through,
        },
        "class_specifier" => c::with_body(at, Kind::Class, is_public),
        "enum_specifier" => closed(c::with_body(at, Kind::Enum, is_public)),
        "template_declaration" => at.wrap(Wrap::default()),
        "field_declaration" => c::of_declaration(at, is_public),
        "function_definition"
            if at.has("default_method_clause", "") || at.has("delete_method_clause", "") =>
        {
            c::of_function(at, is_public, true)
        }
        "alias_declaration" | "concept_definition" => whole(at, at.found(Kind::Type, is_public)),
        "declaration_list" => Meaning::Through,
        _ => c::meaning(at),
    }
}

/// The same with all of it as its signature.
fn whole<'t>(at: &At<'t>, meaning: Meaning<'t>) -> Meaning<'t> {
    match meaning {
        Meaning::Defines(found) => Meaning::Defines(Found { head_end: Some(at.node.end_byte()), ..found }),
        other => other,
    }
}

/// The same without what is in it.
fn closed(meaning: Meaning) -> Meaning {
    match meaning {
        Meaning::Defines(found) => Meaning::Defines(Found { inner: None, ..found }),
        other => other,
    }
}

/// What `public:` and its like say.
pub(super) fn access(node: Node, text: &[u8]) -> Option<bool> {
    (node.kind() == "access_specifier").then(|| text[node.byte_range()].starts_with(b"public"))
}
