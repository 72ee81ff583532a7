//! Names of functions and classes, and what the text of a node tells.

use std::ops::Range;

use tree_sitter::Node;

use super::kinds::{Kinds, Role};

/// The longest name in a report, in characters.
const LONGEST: usize = 200;

/// How many classes around a function are part of its name.
const CLASSES: usize = 3;

/// The name of a function or class that has none.
const NAMELESS: &str = "(anonymous)";

/// The name of a type without its arguments.
pub(super) fn type_name(text: &[u8], name: Range<usize>) -> String {
    let name = &text[name];
    shown(name.split(|byte| *byte == b'<').next().unwrap_or_default())
}

/// The name of a function with those of the classes around it.
pub(super) fn qualified(
    text: &[u8],
    classes: &[String],
    name: Option<Range<usize>>,
    separator: &str,
) -> String {
    let mut parts: Vec<&str> =
        classes[classes.len().saturating_sub(CLASSES)..].iter().map(String::as_str).collect();
    let name = shown(&text[name.unwrap_or_default()]);
    parts.push(&name);
    let name = parts.join(separator);
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => name[..end].to_owned(),
        None => name,
    }
}

/// The first line of a name, of bounded length.
fn shown(name: &[u8]) -> String {
    // A character has at most four bytes.
    let name = String::from_utf8_lossy(&name[..name.len().min(4 * LONGEST)]);
    match name.lines().next().map(str::trim) {
        None | Some("") => NAMELESS.to_owned(),
        Some(line) => line.chars().take(LONGEST).collect(),
    }
}

/// Whether the function called as `callee` is the one with the own name `own` and the name `qualified`.
pub(super) fn is_call_of(callee: &[u8], own: &[u8], qualified: &[u8]) -> bool {
    let is_method = qualified.len() > own.len();
    match callee.strip_suffix(own) {
        Some(b"") => !is_method,
        Some(b"self." | b"Self::" | b"this." | b"cls.") => is_method,
        Some(_) => is_method && callee == qualified,
        None => false,
    }
}

/// Whether a `case` of Python matches everything: `case _:`.
pub(super) fn is_default(text: &[u8], kinds: &Kinds, case: &Node) -> bool {
    let guard = case.named_child(1).is_some_and(|node| kinds.role(node.kind_id()) == Role::IfClause);
    !guard && case.named_child(0).is_some_and(|pattern| &text[pattern.byte_range()] == b"_")
}

/// How many statements a function has at most that only defines and returns another one: a text, a definition, `return`.
const STATEMENTS: usize = 3;

/// Whether a function of Python only defines and returns another one, as decorators do.
pub(super) fn is_decorator(kinds: &Kinds, function: &Node) -> bool {
    let Some(body) = function.child_by_field_id(kinds.body) else { return false };
    let mut cursor = body.walk();
    let is_comment = |node: &Node| kinds.role(node.kind_id()) == Role::Skipped;
    let statements: Vec<Node> =
        body.named_children(&mut cursor).filter(|node| !is_comment(node)).take(STATEMENTS + 1).collect();
    let is_text = |node: &Node| node.named_child(0).is_some_and(|node| node.kind() == "string");
    let is_return = |node: &Node| node.kind() == "return_statement";
    let is_definition = |node: &Node| matches!(node.kind(), "function_definition" | "decorated_definition");
    match statements.as_slice() {
        [definition, end] => is_definition(definition) && is_return(end),
        [text, definition, end] => is_text(text) && is_definition(definition) && is_return(end),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_of_the_function_itself_only_by_its_own_name_or_that_of_its_type() {
        assert!(is_call_of(b"f", b"f", b"f"));
        for method in ["self.m", "Self::m", "this.m", "cls.m", "T::m"] {
            assert!(is_call_of(method.as_bytes(), b"m", b"T::m"), "{method}");
        }
        assert!(!is_call_of(b"m", b"m", b"T::m"), "another function");
        assert!(!is_call_of(b"other.m", b"m", b"T::m"), "a method of another value");
        assert!(!is_call_of(b"self.f", b"f", b"f"));
        assert!(!is_call_of(b"ff", b"f", b"f"));
    }

    #[test]
    fn names_are_short_and_of_one_line() {
        assert_eq!(type_name(b"Foo<'a, T>", 0..10), "Foo");
        assert_eq!(type_name(b"", 0..0), NAMELESS);
        assert_eq!(shown("é".repeat(300).as_bytes()), "é".repeat(200));
        assert_eq!(shown(b"a.\nb"), "a.");
        let classes = ["A", "B", "C", "D"].map(str::to_owned);
        assert_eq!(qualified(b"m", &classes, Some(0..1), "."), "B.C.D.m");
        assert_eq!(qualified(b"", &[], None, "."), NAMELESS);
    }
}
