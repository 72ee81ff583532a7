//! What Python defines. Names that begin with an underscore are not public, but for those that end with two.

use analyzer_wire::Kind;

use super::meaning::{At, Found, Meaning, Wrap};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    match at.node.kind() {
        "function_definition" => of(at, Kind::Function),
        "class_definition" => of(at, Kind::Class),
        "decorated_definition" => Meaning::Wraps(Wrap { is_overload: is_overload(at), ..Wrap::default() }),
        "expression_statement" => at.child("assignment").map_or(Meaning::Nothing, |_| Meaning::Through),
        "assignment" => of_constant(at),
        "type_alias_statement" => of_type(at),
        "module" | "block" | "if_statement" | "elif_clause" | "else_clause" | "try_statement"
        | "except_clause" | "finally_clause" | "with_statement" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

fn of<'t>(at: &At<'t>, kind: Kind) -> Meaning<'t> {
    let is_public = at.name().is_some_and(|name| is_public(&name));
    match at.found(kind, is_public) {
        // The colon is no part of the signature.
        Meaning::Defines(found) => {
            let colon = at.child(":").map(|colon| colon.start_byte());
            Meaning::Defines(Found { head_end: colon.or(found.head_end), ..found })
        }
        other => other,
    }
}

fn is_public(name: &str) -> bool {
    !name.starts_with('_') || name.ends_with("__")
}

/// Whether a decorator says that another definition of the name follows.
fn is_overload(at: &At) -> bool {
    let mut cursor = at.node.walk();
    let decorators = at.node.children(&mut cursor).filter(|child| child.kind() == "decorator");
    decorators.into_iter().any(|decorator| {
        let text = at.of(decorator);
        text == "@overload" || text.ends_with(".overload")
    })
}

/// A name in capitals is a constant.
fn of_constant<'t>(at: &At<'t>) -> Meaning<'t> {
    let Some(left) = at.field("left").filter(|left| left.kind() == "identifier") else {
        return Meaning::Nothing;
    };
    let name = at.of(left);
    let is_constant = name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase);
    match is_constant {
        true => at.named(Kind::Constant, name.clone(), is_public(&name)),
        false => Meaning::Nothing,
    }
}

fn of_type<'t>(at: &At<'t>) -> Meaning<'t> {
    let Some(left) = at.field("left").or(at.node.named_child(0)) else { return Meaning::Nothing };
    let name = at.of(left);
    let name = name.split('[').next().unwrap_or_default().to_owned();
    at.named(Kind::Type, name.clone(), is_public(&name))
}
