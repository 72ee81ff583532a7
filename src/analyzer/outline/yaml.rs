//! The keys of YAML, in its blocks.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.node.kind() {
        "document" | "block_node" | "block_mapping" => Meaning::Through,
        "block_mapping_pair" => of_pair(at),
        _ => Meaning::Nothing,
    }
}

fn of_pair<'t>(at: &At<'t>) -> Meaning<'t> {
    let Some(key) = at.field("key") else { return Meaning::Nothing };
    Meaning::Defines(Found {
        kind: Kind::Key,
        name: at.of(key).trim_matches(['"', '\'']).to_owned(),
        inner: at.field("value").filter(|value| value.kind() == "block_node"),
        head_end: None,
        is_public: true,
        is_bare: false,
    })
}
