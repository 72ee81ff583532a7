//! What a node is to an outline, as the files of the languages say it.

use analyzer_wire::Kind;
use tree_sitter::Node;

/// What a node is to an outline.
#[derive(Debug)]
pub(super) enum Meaning<'t> {
    /// Nothing, nor is what is in it.
    Nothing,
    /// Nothing by itself; what is in it counts.
    Through,
    /// It stands around a definition: decorators, `export`, parameters of a template.
    Wraps(Wrap),
    /// It is a definition.
    Defines(Found<'t>),
}

/// What a wrapper adds to the definitions in it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wrap {
    /// Where their signatures begin, if not with themselves: the first byte and its row.
    pub(super) head: Option<(usize, usize)>,
    /// They are exported.
    pub(super) is_exported: bool,
    /// They do not change.
    pub(super) is_constant: bool,
    /// They are one of several signatures of the next definition of the same name.
    pub(super) is_overload: bool,
}

/// A definition.
#[derive(Debug)]
pub(super) struct Found<'t> {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Whose children are looked at.
    pub(super) inner: Option<Node<'t>>,
    /// The byte at which its signature ends. `None`: that of its line.
    pub(super) head_end: Option<usize>,
    pub(super) is_public: bool,
    pub(super) is_bare: bool,
}

/// A node, and what is known of where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct At<'t> {
    pub(super) node: Node<'t>,
    pub(super) text: &'t [u8],
    /// The definition around it: what it is, and whether it is public.
    pub(super) around: Option<(Kind, bool)>,
    /// What the nodes around it add.
    pub(super) wrap: Wrap,
    /// Whether it is public, as a line above it says for all that follow.
    pub(super) access: Option<bool>,
}

/// The longest name and the longest signature, in bytes.
pub(super) const LONGEST: usize = 200;

impl<'t> At<'t> {
    /// The node in a field.
    pub(super) fn field(&self, name: &str) -> Option<Node<'t>> {
        self.node.child_by_field_name(name)
    }

    /// The text of a node in one line.
    pub(super) fn of(&self, node: Node) -> String {
        one_line(&self.text[node.byte_range()], LONGEST)
    }

    /// The name in the field of that name.
    pub(super) fn name(&self) -> Option<String> {
        self.field("name").map(|name| self.of(name)).filter(|name| !name.is_empty())
    }

    /// Whether it has a child of this kind with this text; an empty text: any.
    pub(super) fn has(&self, kind: &str, text: &str) -> bool {
        self.child(kind).is_some_and(|child| text.is_empty() || self.of(child) == text)
    }

    /// Its first child of this kind.
    pub(super) fn child(&self, kind: &str) -> Option<Node<'t>> {
        child(self.node, kind)
    }

    /// Whether it is in a type.
    pub(super) fn is_in_type(&self) -> bool {
        self.around.is_some_and(|(kind, _)| is_type(kind))
    }

    /// A definition with the name in its field. One without a name is none.
    pub(super) fn found(&self, kind: Kind, is_public: bool) -> Meaning<'t> {
        self.name().map_or(Meaning::Nothing, |name| self.named(kind, name, is_public))
    }

    /// A definition of this name. Its signature ends where its body begins; functions and constants have no definitions in them.
    pub(super) fn named(&self, kind: Kind, name: String, is_public: bool) -> Meaning<'t> {
        let body = self.field("body");
        let is_closed =
            matches!(kind, Kind::Function | Kind::Method | Kind::Constant | Kind::Type | Kind::Macro);
        Meaning::Defines(Found {
            kind,
            name,
            inner: body.filter(|_| !is_closed),
            head_end: body.map(|body| body.start_byte()),
            is_public,
            is_bare: false,
        })
    }

    /// The same for a signature without a body.
    pub(super) fn bare(&self, kind: Kind, is_public: bool) -> Meaning<'t> {
        match self.found(kind, is_public) {
            Meaning::Defines(found) => Meaning::Defines(Found { is_bare: true, ..found }),
            other => other,
        }
    }

    /// A wrapper with which the signatures begin.
    pub(super) fn wrap(&self, wrap: Wrap) -> Meaning<'t> {
        let start = signature_start(self.node);
        let head = self.wrap.head.or(Some((start.start_byte(), start.start_position().row)));
        Meaning::Wraps(Wrap { head, ..wrap })
    }

    /// A name with an upper-case first letter.
    pub(super) fn is_capital(name: &str) -> bool {
        name.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Whether functions in it are methods.
pub(super) fn is_type(kind: Kind) -> bool {
    matches!(kind, Kind::Class | Kind::Struct | Kind::Enum | Kind::Interface | Kind::Trait | Kind::Impl)
}

/// The first child of this kind.
pub(super) fn child<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

/// Kinds of nodes that stand before a signature.
const BEFORE: [&str; 12] = [
    "annotation",
    "attribute",
    "attribute_declaration",
    "attribute_item",
    "attribute_list",
    "attribute_specifier",
    "block_comment",
    "comment",
    "decorator",
    "line_comment",
    "marker_annotation",
    "multiline_comment",
];

/// The node with which the signature of a definition begins, behind its annotations.
pub(super) fn signature_start(node: Node) -> Node {
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        if child.kind() == "modifiers" {
            let mut inner = child.walk();
            if let Some(first) = child.children(&mut inner).find(|one| !BEFORE.contains(&one.kind())) {
                return first;
            }
        } else if !BEFORE.contains(&child.kind()) {
            return if child.start_byte() == node.start_byte() { node } else { child };
        }
    }
    node
}

/// A text with each run of blanks as one, at most so many bytes of it.
pub(super) fn one_line(text: &[u8], most: usize) -> String {
    // What is beyond the bound need not be looked at: blanks are few.
    let text = String::from_utf8_lossy(&text[..text.len().min(8 * most)]);
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > most {
            let end = (0..=most).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}
