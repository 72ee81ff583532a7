//! What Rust defines.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let is_public = at.has("visibility_modifier", "pub") || at.is_in_trait();
    match at.node.kind() {
        "function_item" => at.found(Kind::Function, is_public),
        "function_signature_item" => at.bare(Kind::Function, is_public),
        "struct_item" | "union_item" => whole_if_tuple(at, at.found(Kind::Struct, is_public)),
        "enum_item" => closed(at.found(Kind::Enum, is_public)),
        "trait_item" => at.found(Kind::Trait, is_public),
        "impl_item" => of_impl(at),
        "mod_item" if at.field("body").is_some() => at.found(Kind::Module, is_public),
        "const_item" | "static_item" => at.found(Kind::Constant, is_public),
        "type_item" => at.found(Kind::Type, is_public),
        "macro_definition" => of_macro(at),
        "foreign_mod_item" | "declaration_list" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

impl At<'_> {
    /// Whether it is in a trait or in an `impl` of one: what is there is as public as that is.
    fn is_in_trait(&self) -> bool {
        matches!(self.around, Some((Kind::Trait | Kind::Impl, true)))
    }
}

/// An `impl` has the name of its type. That of a trait counts as public.
fn of_impl<'t>(at: &At<'t>) -> Meaning<'t> {
    let Some(of) = at.field("type") else { return Meaning::Nothing };
    let bare = if of.kind() == "generic_type" { of.child_by_field_name("type").unwrap_or(of) } else { of };
    at.named(Kind::Impl, at.of(bare), at.field("trait").is_some())
}

/// A struct with fields in parentheses is told with them.
fn whole_if_tuple<'t>(at: &At<'t>, meaning: Meaning<'t>) -> Meaning<'t> {
    let is_tuple = at.field("body").is_some_and(|body| body.kind() == "ordered_field_declaration_list");
    match meaning {
        Meaning::Defines(found) => {
            let head_end = if is_tuple { Some(at.node.end_byte()) } else { found.head_end };
            Meaning::Defines(Found { inner: None, head_end, ..found })
        }
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

/// The signature of a macro is its name.
fn of_macro<'t>(at: &At<'t>) -> Meaning<'t> {
    let (Some(name), Some(node)) = (at.name(), at.field("name")) else { return Meaning::Nothing };
    Meaning::Defines(Found {
        kind: Kind::Macro,
        name,
        inner: None,
        head_end: Some(node.end_byte()),
        is_public: false,
        is_bare: false,
    })
}
