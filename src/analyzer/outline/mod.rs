//! Outlines: what a text defines, in which lines, with which signatures.
//!
//! Each language says in its file what its nodes are ([`Meaning`]); the walk here is the same for all. It enters no functions,
//! and no expressions. It goes without recursion, because a tree may be as deep as its text is long.

mod bash;
mod c;
mod cpp;
mod csharp;
mod go;
mod java;
mod json;
mod kotlin;
mod markdown;
mod meaning;
mod php;
mod python;
mod ruby;
mod rust;
mod toml;
mod typescript;
mod yaml;

use analyzer_wire::{Definition, Kind, Language, Outline, SyntaxError};
use tree_sitter::{Node, Tree};

use self::meaning::{At, Found, LONGEST, Meaning, Wrap, is_type, one_line, signature_start};

pub(super) use self::markdown::outline as of_markdown;

/// Levels of keys that are told. What is below them is data.
const KEYS: usize = 3;

/// Nodes around definitions that are entered, one in the other: real texts have few.
const DEEPEST: u32 = 200;

/// Places with errors that are counted.
const ERRORS: u32 = 1_000;

/// What a language says of a node.
type Says = for<'t> fn(&At<'t>) -> Meaning<'t>;

/// What a line says of the definitions behind it: whether they are public.
type Access = fn(Node, &[u8]) -> Option<bool>;

fn says(language: Language) -> Says {
    match language {
        Language::Rust => rust::meaning,
        Language::Python => python::meaning,
        Language::JavaScript | Language::TypeScript | Language::Tsx => typescript::meaning,
        Language::Go => go::meaning,
        Language::Java => java::meaning,
        Language::C => c::meaning,
        Language::Cpp => cpp::meaning,
        Language::CSharp => csharp::meaning,
        Language::Ruby => ruby::meaning,
        Language::Php => php::meaning,
        Language::Kotlin => kotlin::meaning,
        Language::Bash => bash::meaning,
        Language::Toml => toml::meaning,
        Language::Yaml => yaml::meaning,
        Language::Json => json::meaning,
        Language::Markdown => |_| Meaning::Nothing,
    }
}

fn access(language: Language) -> Access {
    match language {
        Language::Cpp => cpp::access,
        Language::Ruby => ruby::access,
        _ => |_, _| None,
    }
}

/// The definitions of a tree.
pub(super) fn outline(language: Language, text: &[u8], tree: &Tree) -> Outline {
    let mut walk = Walk {
        text,
        says: says(language),
        access: access(language),
        ahead: Vec::new(),
        definitions: Vec::new(),
    };
    let root = Place {
        node: tree.root_node(),
        parent: None,
        first: None,
        wrap: Wrap::default(),
        access: None,
        depth: 0,
    };
    walk.push_children(&root, root.node, Wrap::default(), None);
    while let Some(place) = walk.ahead.pop() {
        walk.visit(&place);
    }
    let definitions = merged(walk.definitions);
    let (errors, error) = errors(text, tree);
    Outline { definitions, errors, error }
}

/// A node ahead.
#[derive(Debug, Clone, Copy)]
struct Place<'t> {
    node: Node<'t>,
    /// The definition around it.
    parent: Option<u32>,
    /// The row of the first comment or attribute above it.
    first: Option<usize>,
    wrap: Wrap,
    access: Option<bool>,
    depth: u32,
}

/// A definition, and whether it is one of several signatures of the next one.
struct Seen {
    definition: Definition,
    is_overload: bool,
}

struct Walk<'t> {
    text: &'t [u8],
    says: Says,
    access: Access,
    /// Nodes ahead, the next one last.
    ahead: Vec<Place<'t>>,
    definitions: Vec<Seen>,
}

impl<'t> Walk<'t> {
    fn visit(&mut self, place: &Place<'t>) {
        let Place { node, parent, first, wrap, access, .. } = *place;
        if node.is_error() {
            return self.push_children(&Place { first: None, ..*place }, node, wrap, parent);
        }
        let around = parent.and_then(|parent| self.definitions.get(parent as usize));
        let around = around.map(|Seen { definition, .. }| (definition.kind, definition.is_public));
        match (self.says)(&At { node, text: self.text, around, wrap, access }) {
            Meaning::Nothing => {}
            Meaning::Through => {
                // What stands above it is of it, unless it is in what wraps a definition.
                let first = first.filter(|_| wrap.head.is_some());
                self.push_children(&Place { first, ..*place }, node, wrap, parent);
            }
            Meaning::Wraps(inner) => {
                let first = first.unwrap_or(node.start_position().row);
                let place = Place { first: Some(first), ..*place };
                self.push_children(&place, node, inner, parent);
            }
            Meaning::Defines(found) => self.define(place, found),
        }
    }

    fn define(&mut self, place: &Place<'t>, found: Found<'t>) {
        let Place { node, parent, first, wrap, .. } = *place;
        if found.kind == Kind::Key && self.level(parent) >= KEYS {
            return;
        }
        let start = signature_start(node);
        let (head, row) = wrap.head.unwrap_or((start.start_byte(), start.start_position().row));
        let signature = self.signature(head, node, &found);
        let around = parent.and_then(|parent| self.definitions.get(parent as usize));
        let in_type = around.is_some_and(|seen| is_type(seen.definition.kind));
        let kind = if found.kind == Kind::Function && in_type { Kind::Method } else { found.kind };
        let first = first.unwrap_or(row).min(node.start_position().row);
        let number = self.definitions.len() as u32;
        let definition = Definition {
            kind,
            name: found.name,
            parent,
            first: first as u32 + 1,
            line: row as u32 + 1,
            last: self.last_row(node).max(row) as u32 + 1,
            signature,
            is_public: found.is_public,
            is_bare: found.is_bare,
        };
        self.definitions.push(Seen { definition, is_overload: found.is_bare || wrap.is_overload });
        if let Some(inner) = found.inner {
            let place = Place { first: None, access: None, ..*place };
            self.push_children(&place, inner, Wrap::default(), Some(number));
        }
    }

    /// How many definitions are around.
    fn level(&self, parent: Option<u32>) -> usize {
        let above =
            |place: &u32| self.definitions.get(*place as usize).and_then(|seen| seen.definition.parent);
        std::iter::successors(parent, above).take(KEYS + 1).count()
    }

    /// The signature in one line: up to the body, or of a definition without one the first line.
    fn signature(&self, head: usize, node: Node, found: &Found) -> String {
        let end = found.head_end.unwrap_or(node.end_byte()).max(head);
        let text = &self.text[head..end];
        let text = match found.head_end {
            Some(_) => text,
            None => text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default(),
        };
        let line = one_line(text, LONGEST);
        line.trim_end_matches([' ', '{', ';', '=', ',']).trim_end_matches("=>").trim_end().to_owned()
    }

    /// The row of the last byte that is no blank.
    fn last_row(&self, node: Node) -> usize {
        let blanks = self.text[node.byte_range()].iter().rev().take_while(|byte| byte.is_ascii_whitespace());
        let breaks = blanks.filter(|byte| **byte == b'\n').count();
        node.end_position().row - breaks
    }

    /// Looks at the children of a node next, in their order, each with the comments and attributes above it.
    fn push_children(&mut self, place: &Place<'t>, node: Node<'t>, wrap: Wrap, parent: Option<u32>) {
        if place.depth >= DEEPEST {
            return;
        }
        let (from, mut above, mut access) = (self.ahead.len(), Above::default(), place.access);
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            let (row, end) = (child.start_position().row, child.end_position().row);
            if is_lead(child) {
                above.add(child);
                continue;
            }
            if let Some(now) = (self.access)(child, self.text) {
                access = Some(now);
            }
            if child.is_named() {
                let first = place.first.or(above.of(row));
                self.ahead.push(Place { node: child, parent, first, wrap, access, depth: place.depth + 1 });
            }
            above = Above { rows: None, behind: Some(end) };
        }
        self.ahead[from..].reverse();
    }
}

/// The comments and attributes that were met since the last other node.
#[derive(Debug, Default)]
struct Above {
    /// First and last row.
    rows: Option<(usize, usize)>,
    /// The last row of the node before them.
    behind: Option<usize>,
}

impl Above {
    fn add(&mut self, node: Node) {
        let (row, end) = (node.start_position().row, node.end_position());
        // Some comments hold their break.
        let end = if end.column == 0 && end.row > row { end.row - 1 } else { end.row };
        self.rows = match self.rows {
            Some((first, last)) if row <= last + 1 => Some((first, end)),
            // A comment behind a node in its line is of that node.
            _ if self.behind == Some(row) => None,
            _ => Some((row, end)),
        };
    }

    /// The first row of what stands directly above a row.
    fn of(&self, row: usize) -> Option<usize> {
        self.rows.filter(|(_, last)| row <= last + 1).map(|(first, _)| first)
    }
}

/// Whether a node belongs to the definition below it.
fn is_lead(node: Node) -> bool {
    matches!(
        node.kind(),
        "comment"
            | "line_comment"
            | "block_comment"
            | "multiline_comment"
            | "attribute_item"
            | "decorator"
            | "annotation"
    )
}

/// The definitions, with signatures that belong to the one behind them as its first lines.
fn merged(seen: Vec<Seen>) -> Vec<Definition> {
    let mut merged: Vec<Definition> = Vec::with_capacity(seen.len());
    // The place of each in the new list.
    let mut places = Vec::with_capacity(seen.len());
    let mut overload: Option<(usize, u32)> = None;
    for Seen { mut definition, is_overload } in seen {
        definition.parent = definition.parent.and_then(|parent| places.get(parent as usize).copied());
        let before = overload.take().filter(|(at, _)| {
            merged.get(*at).is_some_and(|one| {
                *at + 1 == merged.len()
                    && (one.kind, one.parent, &one.name)
                        == (definition.kind, definition.parent, &definition.name)
                    && definition.first <= one.last + 1
            })
        });
        if let Some((at, first)) = before {
            merged.truncate(at);
            definition.first = first;
        }
        places.push(merged.len() as u32);
        if is_overload {
            overload = Some((merged.len(), definition.first));
        }
        merged.push(definition);
    }
    merged
}

/// How many places are no text of the language, and where the first one is.
fn errors(text: &[u8], tree: &Tree) -> (u32, Option<SyntaxError>) {
    let (mut count, mut first, mut cursor) = (0, None, tree.walk());
    loop {
        let node = cursor.node();
        let is_error = node.is_error() || node.is_missing();
        if is_error {
            count += 1;
            first.get_or_insert_with(|| super::walker::error_place(text, &node));
        }
        if count >= ERRORS || !is_error && node.has_error() && cursor.goto_first_child() {
            if count >= ERRORS {
                return (count, first);
            }
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return (count, first);
            }
        }
    }
}

#[cfg(test)]
mod tests;
