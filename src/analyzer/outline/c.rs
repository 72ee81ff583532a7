//! What C defines; C++ has it, too. What is not `static` is public.

use analyzer_wire::Kind;
use tree_sitter::Node;

use super::meaning::{At, Found, Meaning, child};

/// See [`Meaning`].
pub(super) fn meaning<'t>(at: &At<'t>) -> Meaning<'t> {
    let is_public = at.access.unwrap_or_else(|| !at.has("storage_class_specifier", "static"));
    match at.node.kind() {
        "function_definition" => of_function(at, is_public, false),
        "declaration" => of_declaration(at, is_public),
        "struct_specifier" | "union_specifier" => with_body(at, Kind::Struct, is_public),
        "enum_specifier" => with_body(at, Kind::Enum, is_public),
        "type_definition" => of_typedef(at, is_public),
        "preproc_def" if at.field("value").is_none() => Meaning::Nothing,
        "preproc_def" => of_macro(at, at.field("name")),
        "preproc_function_def" => of_macro(at, at.field("parameters")),
        "preproc_if"
        | "preproc_ifdef"
        | "preproc_else"
        | "preproc_elif"
        | "preproc_elifdef"
        | "linkage_specification"
        | "declaration_list" => Meaning::Through,
        _ => Meaning::Nothing,
    }
}

/// A type is defined where its body is.
pub(super) fn with_body<'t>(at: &At<'t>, kind: Kind, is_public: bool) -> Meaning<'t> {
    if at.field("body").is_some() { at.found(kind, is_public) } else { Meaning::Nothing }
}

/// A function by its declarator.
pub(super) fn of_function<'t>(at: &At<'t>, is_public: bool, is_bare: bool) -> Meaning<'t> {
    let Some(name) = at.field("declarator").and_then(declared) else { return Meaning::Nothing };
    let body = at.field("body");
    // What a constructor begins with is no part of the signature.
    let list = at.child("field_initializer_list");
    let kind = if name.kind() == "qualified_identifier" { Kind::Method } else { Kind::Function };
    Meaning::Defines(Found {
        kind,
        name: bare_name(&at.of(name)),
        inner: None,
        head_end: list.or(body).map(|node| node.start_byte()),
        is_public,
        is_bare,
    })
}

/// A name without the arguments of its types: `Store::get` of `Store<T>::get`.
fn bare_name(name: &str) -> String {
    let (scope, own) = match name.find("operator") {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    let mut bare = String::new();
    let mut depth = 0;
    for char in scope.chars() {
        match char {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => bare.push(char),
            _ => {}
        }
    }
    // An operator that converts stands with its parentheses.
    let own = if own.starts_with("operator()") { own } else { own.split('(').next().unwrap_or_default() };
    bare + own
}

/// A variable, a prototype, or a type with a body.
pub(super) fn of_declaration<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let declarator = at.field("declarator");
    if let Some(of) = at.field("type").filter(|of| of.child_by_field_name("body").is_some()) {
        return of_inner(at, of, None, is_public);
    }
    match declarator {
        Some(declarator) if is_function(declarator) => of_function(at, is_public, true),
        Some(declarator) if at.around.is_none_or(|(kind, _)| kind == Kind::Module) => {
            let is_constant = declarator.kind() == "init_declarator";
            match declared(declarator).filter(|_| is_constant) {
                Some(name) => Meaning::Defines(Found {
                    kind: Kind::Constant,
                    name: at.of(name),
                    inner: None,
                    head_end: None,
                    is_public,
                    is_bare: false,
                }),
                None => Meaning::Nothing,
            }
        }
        _ => Meaning::Nothing,
    }
}

/// A type in a declaration, by its own name or by that of the declaration.
fn of_inner<'t>(at: &At<'t>, of: Node<'t>, other: Option<Node<'t>>, is_public: bool) -> Meaning<'t> {
    let kind = match of.kind() {
        "enum_specifier" => Kind::Enum,
        "class_specifier" => Kind::Class,
        _ => Kind::Struct,
    };
    let Some(name) = other.or(of.child_by_field_name("name")) else { return Meaning::Nothing };
    let body = of.child_by_field_name("body");
    Meaning::Defines(Found {
        kind,
        name: at.of(name),
        inner: body.filter(|_| kind != Kind::Enum),
        head_end: body.map(|body| body.start_byte()),
        is_public,
        is_bare: false,
    })
}

/// A `typedef` of a type with a body has its kind, else it is a name for a type.
fn of_typedef<'t>(at: &At<'t>, is_public: bool) -> Meaning<'t> {
    let Some(name) = at.field("declarator").and_then(declared) else { return Meaning::Nothing };
    match at.field("type").filter(|of| of.child_by_field_name("body").is_some()) {
        Some(of) => of_inner(at, of, Some(name), is_public),
        None => at.named(Kind::Type, at.of(name), is_public),
    }
}

fn of_macro<'t>(at: &At<'t>, end: Option<Node<'t>>) -> Meaning<'t> {
    let Some(name) = at.name() else { return Meaning::Nothing };
    let head_end = end.map(|end| end.end_byte());
    Meaning::Defines(Found {
        kind: Kind::Macro,
        name,
        inner: None,
        head_end,
        is_public: true,
        is_bare: false,
    })
}

/// Declarators in each other that are entered.
const DEEPEST: usize = 32;

/// The name that a declarator declares.
pub(super) fn declared(declarator: Node) -> Option<Node> {
    let mut node = declarator;
    for _ in 0..DEEPEST {
        node = match node.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "destructor_name"
            | "operator_name"
            | "operator_cast" => return Some(node),
            _ => node.child_by_field_name("declarator").or_else(|| node.named_child(0))?,
        };
    }
    None
}

/// Whether a declarator is that of a function, not of a pointer to one.
fn is_function(declarator: Node) -> bool {
    let mut node = declarator;
    for _ in 0..DEEPEST {
        match node.kind() {
            "function_declarator" => {
                let inner = node.child_by_field_name("declarator");
                return inner.is_none_or(|inner| {
                    child(inner, "*").is_none() && inner.kind() != "parenthesized_declarator"
                });
            }
            "pointer_declarator" | "reference_declarator" => {
                let inner = node.child_by_field_name("declarator").or_else(|| node.named_child(0));
                let Some(inner) = inner else { return false };
                node = inner;
            }
            _ => return false,
        }
    }
    false
}
