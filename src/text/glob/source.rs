//! What a component of a pattern matches, as the regular expression that the reference would make of it.

use super::GlobError;
use super::class::{self, Class, Parsed};
use super::tree::{NodeId, Part, ROOT, Tree};

/// Alternatives, each a sequence.
pub(super) type Source = Vec<Vec<Item>>;

#[derive(Debug, Clone)]
pub(super) enum Item {
    Unit(u16),
    Any,
    /// Any characters; at least one if true.
    Star(bool),
    Class(Class),
    /// Matches nothing.
    Never,
    Group(Source, Times),
    Not(Source),
    /// Matches where the component is not `.` or `..`.
    NotDots,
    End,
    /// `@(|)` in place of a component: such a group is literal. The character before it, and its bars.
    Hollow(u8, usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Times {
    One,
    Optional,
    Any,
    Some,
}

/// A component that is not literal.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) source: Source,
    /// Compared by code points, not by UTF-16 units.
    pub(super) unicode: bool,
}

/// A component.
#[derive(Debug)]
pub(super) enum Component {
    Literal(Vec<u16>),
    Magic(Expression),
}

/// Reads one component of a pattern.
pub(super) fn read(glob: &[u16]) -> Result<Component, GlobError> {
    let mut reader = Reader { tree: Tree::parse(glob)?, magic: false, unicode: false, work: 0 };
    let source = reader.sequence(ROOT);
    let Reader { magic, unicode, work, .. } = reader;
    if work > MAX_WORK {
        return Err(GlobError::TooComplex);
    }
    Ok(if magic {
        Component::Magic(Expression { source, unicode })
    } else {
        Component::Literal(literal(&source))
    })
}

/// Bounds what is scanned in vain for the ends of classes, and the ranges of all classes.
const MAX_WORK: usize = 1 << 18;

struct Reader {
    tree: Tree,
    magic: bool,
    unicode: bool,
    /// Spent on classes.
    work: usize,
}

impl Reader {
    fn sequence(&mut self, id: NodeId) -> Source {
        if let Some(kind) = self.tree.kind(id) {
            return vec![vec![self.group(id, kind)]];
        }
        let (start, end) = (self.tree.is_start(id), self.tree.is_end(id));
        let parts = self.tree.parts(id).to_vec();
        let only_text = parts.iter().all(|part| matches!(part, Part::Text(_)));
        let mut source = vec![Vec::new()];
        for part in &parts {
            let next = match part {
                Part::Text(text) => self.text(text, start && end && only_text),
                &Part::Node(id) => self.sequence(id),
            };
            append(&mut source, next);
        }
        let dots = |text: &[u16]| text == [DOT] || text == [DOT, DOT];
        let guarded = match &parts[..] {
            [Part::Text(text)] => !dots(text),
            parts => matches!(parts.first(), Some(Part::Text(_))),
        };
        if start && guarded && may_match_dots(&source[0]) {
            source[0].insert(0, Item::NotDots);
        }
        if end && self.tree.parent_kind(id) == Some(b'!') {
            append(&mut source, vec![vec![Item::End]]);
        }
        source
    }

    fn group(&mut self, id: NodeId, kind: u8) -> Item {
        let whole = self.tree.is_start(id) && self.tree.is_end(id);
        let parts = self.tree.parts(id).to_vec();
        let mut body = Source::new();
        for part in &parts {
            let &Part::Node(part) = part else { continue };
            let alternative = self.sequence(part);
            if !(whole && is_empty(&alternative)) {
                body.extend(alternative);
            }
        }
        if whole && body.is_empty() && kind != b'!' {
            return Item::Hollow(kind, parts.len().saturating_sub(1));
        }
        self.magic = true;
        match kind {
            b'!' if self.tree.is_hollow(id) => Item::Star(true),
            b'!' => Item::Group(vec![vec![Item::Not(body), Item::Star(false)]], Times::One),
            b'?' => Item::Group(body, Times::Optional),
            b'*' => Item::Group(body, Times::Any),
            b'+' => Item::Group(body, Times::Some),
            _ => Item::Group(body, Times::One),
        }
    }

    /// Text without groups. `alone`: it is all there is, so that a star must match something.
    fn text(&mut self, glob: &[u16], alone: bool) -> Source {
        let mut source = vec![Vec::new()];
        let stars_only = alone && glob.iter().all(|&c| c == STAR);
        let (mut at, mut in_star) = (0, false);
        while let Some(&c) = glob.get(at) {
            at += 1;
            let after_star = std::mem::replace(&mut in_star, c == STAR);
            let item = match c {
                STAR if after_star => continue,
                STAR => Item::Star(stars_only),
                QUESTION => Item::Any,
                BACKSLASH if at < glob.len() => {
                    at += 1;
                    if glob[at - 1] == BAR {
                        // The reference takes off the backslash, and the bar then parts alternatives.
                        source.push(Vec::new());
                        continue;
                    }
                    Item::Unit(glob[at - 1])
                }
                BRACKET if self.work <= MAX_WORK => match class::parse(glob, at - 1) {
                    Parsed::Literal => {
                        self.work += glob.len() - at;
                        Item::Unit(c)
                    }
                    Parsed::One(unit, length) => {
                        at += length - 1;
                        Item::Unit(unit)
                    }
                    Parsed::Class(class, unicode, length) => {
                        at += length - 1;
                        self.work += class.len();
                        self.unicode |= unicode;
                        self.magic = true;
                        Item::Class(class)
                    }
                    Parsed::Nothing => {
                        at = glob.len();
                        self.magic = true;
                        Item::Never
                    }
                },
                c => Item::Unit(c),
            };
            self.magic |= matches!(item, Item::Star(_) | Item::Any);
            append(&mut source, vec![vec![item]]);
        }
        source
    }
}

const DOT: u16 = b'.' as u16;
const STAR: u16 = b'*' as u16;
const QUESTION: u16 = b'?' as u16;
const BRACKET: u16 = b'[' as u16;
const BACKSLASH: u16 = b'\\' as u16;
const BAR: u16 = b'|' as u16;

fn is_empty(source: &Source) -> bool {
    matches!(&source[..], [sequence] if sequence.is_empty())
}

/// Puts `next` behind `source`, where a bar parts all that is before it from all that is behind.
fn append(source: &mut Source, next: Source) {
    let mut next = next.into_iter();
    if let (Some(last), Some(first)) = (source.last_mut(), next.next()) {
        last.extend(first);
    }
    source.extend(next);
}

/// Whether a sequence begins with what may match a dot, or with a dot or two and then that.
fn may_match_dots(sequence: &[Item]) -> bool {
    let open = |at: usize| match sequence.get(at) {
        Some(Item::Any | Item::Star(_)) => true,
        Some(Item::Class(class)) => class.is_single(),
        _ => false,
    };
    let dot = |at: usize| matches!(sequence.get(at), Some(&Item::Unit(DOT)));
    open(0) || dot(0) && (open(1) || dot(1) && open(2))
}

fn literal(source: &Source) -> Vec<u16> {
    let mut text = Vec::new();
    for (at, sequence) in source.iter().enumerate() {
        text.extend((at > 0).then_some(BAR));
        for item in sequence {
            match *item {
                Item::Unit(unit) => text.push(unit),
                Item::Hollow(kind, bars) => {
                    text.extend([u16::from(kind), u16::from(b'(')]);
                    text.resize(text.len() + bars, BAR);
                    text.push(u16::from(b')'));
                }
                _ => {}
            }
        }
    }
    text
}
