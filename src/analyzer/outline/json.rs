//! The keys of JSON.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.node.kind() {
        "object" => Meaning::Through,
        "pair" => of_pair(at),
        _ => Meaning::Nothing,
    }
}

fn of_pair<'t>(at: &At<'t>) -> Meaning<'t> {
    let (Some(key), Some(value)) = (at.field("key"), at.field("value")) else { return Meaning::Nothing };
    let name = at.of(key);
    let is_object = value.kind() == "object";
    Meaning::Defines(Found {
        kind: Kind::Key,
        name: name.trim_matches('"').to_owned(),
        inner: Some(value).filter(|_| is_object),
        head_end: is_object.then(|| value.start_byte()),
        is_public: true,
        is_bare: false,
    })
}
