//! What Go defines. A name with a capital letter is public.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::meaning::{At, Found, Meaning, Wrap, child};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let is_public = at.name().is_some_and(|name| At::is_capital(&name));
    match at.node.kind() {
        "function_declaration" => at.found(Kind::Function, is_public),
        "method_declaration" => of_method(at, is_public),
        "method_elem" => at.bare(Kind::Method, is_public),
        // In parentheses, each stands for itself.
        "type_declaration" | "const_declaration" | "var_declaration" if !at.has("(", "") => {
            match at.child("var_spec_list") {
                Some(_) => Meaning::Through,
                None => at.wrap(Wrap::default()),
            }
        }
        "type_declaration" | "const_declaration" | "var_declaration" | "var_spec_list" => Meaning::Through,
        "type_spec" => of_type(at, is_public),
        "type_alias" => at.found(Kind::Type, is_public),
        "const_spec" | "var_spec" => at.found(Kind::Constant, is_public),
        _ => Meaning::Nothing,
    }
}

/// A method has the name of its type before its own.
fn of_method<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let receiver = at.field("receiver").and_then(|list| child(list, "parameter_declaration"));
    let of = receiver.and_then(|receiver| receiver.child_by_field_name("type")).map(bare_type);
    let name = at.name().map(|name| match of {
        Some(of) => format!("{}.{name}", at.of(of)),
        None => name,
    });
    name.map_or(Meaning::Nothing, |name| at.named(Kind::Method, name, is_public))
}

/// A type without its pointer and its parameters.
fn bare_type(of: Node) -> Node {
    let inner = match of.kind() {
        "pointer_type" => of.named_child(0),
        "generic_type" => of.child_by_field_name("type"),
        _ => None,
    };
    inner.map_or(of, |inner| match inner.kind() {
        "generic_type" => inner.child_by_field_name("type").unwrap_or(inner),
        _ => inner,
    })
}

fn of_type<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let (Some(name), Some(of)) = (at.name(), at.field("type")) else { return Meaning::Nothing };
    let (kind, inner, head_end) = match of.kind() {
        "struct_type" => {
            (Kind::Struct, None, child(of, "field_declaration_list").map(|list| list.start_byte()))
        }
        "interface_type" => (Kind::Interface, Some(of), child(of, "{").map(|open| open.start_byte())),
        _ => (Kind::Type, None, None),
    };
    Meaning::Defines(Found { kind, name, inner, head_end, is_public, is_bare: false })
}
