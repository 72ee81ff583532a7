//! The keys of TOML: tables, and what is in them.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::meaning::{At, Found, Meaning};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.node.kind() {
        "table" | "table_array_element" => of(at, Some(at.node)),
        "pair" => of(at, None),
        _ => Meaning::Nothing,
    }
}

fn of<'t>(at: &At<'t>, inner: Option<Node<'t>>) -> Meaning<'t> {
    let Some(key) = at.node.named_child(0) else { return Meaning::Nothing };
    let name = at.of(key).replace(['"', '\''], "");
    Meaning::Defines(Found { kind: Kind::Key, name, inner, head_end: None, is_public: true, is_bare: false })
}
