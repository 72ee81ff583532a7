//! What Ruby defines. A method is public unless a line `private` stands above it, or that word before it.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::meaning::{At, Found, Meaning, Wrap};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.node.kind() {
        "module" => of_class(at, Kind::Module),
        "class" => of_class(at, Kind::Class),
        "singleton_class" | "body_statement" | "argument_list" | "if" | "unless" | "then" | "else"
        | "begin" => Meaning::Through,
        "method" | "singleton_method" => of_method(at),
        "call" if is_modifier(at) => at.wrap(Wrap::default()),
        "assignment" => of_constant(at),
        _ => Meaning::Nothing,
    }
}

fn of_class<'t>(at: &At<'t>, kind: Kind) -> Meaning<'t> {
    let end = at.field("superclass").or_else(|| at.field("name")).map(|node| node.end_byte());
    match at.found(kind, true) {
        Meaning::Defines(found) => Meaning::Defines(Found { head_end: end, ..found }),
        other => other,
    }
}

/// `private def f` and its like.
fn is_modifier(at: &At) -> bool {
    let words = ["private", "protected", "public", "private_class_method", "module_function", "memoize"];
    at.field("method").is_some_and(|method| words.contains(&at.of(method).as_str()))
}

fn of_method<'t>(at: &At<'t>) -> Meaning<'t> {
    let is_public = at.access.unwrap_or(true);
    let parameters = at.field("parameters").or_else(|| at.field("name")).map(|node| node.end_byte());
    match at.found(Kind::Function, is_public) {
        // A body may begin in the same line only behind `=`.
        Meaning::Defines(found) => Meaning::Defines(Found { head_end: parameters, ..found }),
        other => other,
    }
}

fn of_constant<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.field("left").filter(|left| left.kind() == "constant") {
        Some(name) => at.named(Kind::Constant, at.of(name), true),
        None => Meaning::Nothing,
    }
}

/// What a line `private` and its like say.
pub(super) fn access(node: Node, text: &[u8]) -> Option<bool> {
    if node.kind() != "identifier" {
        return None;
    }
    match &text[node.byte_range()] {
        b"private" | b"protected" => Some(false),
        b"public" => Some(true),
        _ => None,
    }
}
