//! Extended globs of one path component as a tree: `a@(b|!(c))d`.
//!
//! Follows `AST` of `minimatch` 10.2, whose answers depend on its steps: nested groups are merged where it merges
//! them, and what follows a negation is copied into it, since `!(a)b` means "not `a` and then `b`".

use super::GlobError;
use super::group::{Scan, adopts, adopts_with_empty, group_kind, replaced};

/// Most nodes and characters that the extended globs of a component may have; copies count.
const MAX_SIZE: usize = 1 << 16;
/// Deepest nesting of groups.
const MAX_DEPTH: usize = 50;
/// Deepest nesting of groups that the reference does not merge; below it, they are literal.
const MAX_UNMERGED: usize = 2;
const MAX_PASSES: usize = 10;

pub(super) type NodeId = usize;
pub(super) const ROOT: NodeId = 0;

#[derive(Debug, Clone)]
pub(super) enum Part {
    Text(Vec<u16>),
    Node(NodeId),
}

/// A group, whose parts are its alternatives, or a sequence.
#[derive(Debug)]
struct Node {
    /// The character before the parenthesis; none: a sequence.
    kind: Option<u8>,
    parent: Option<NodeId>,
    /// Where it stood in its parent when it was made.
    index: usize,
    parts: Vec<Part>,
    /// `!()`. Unlike `minimatch`, not a group that ends with another group, or with a bar.
    hollow: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    negations: Vec<NodeId>,
    size: usize,
}

impl Tree {
    pub(super) fn parse(glob: &[u16]) -> Result<Tree, GlobError> {
        let mut tree = Tree::default();
        tree.add(None, None)?;
        tree.parse_sequence(glob)?;
        tree.flatten(ROOT)?;
        tree.fill_negations()?;
        Ok(tree)
    }

    pub(super) fn kind(&self, id: NodeId) -> Option<u8> {
        self.nodes[id].kind
    }

    pub(super) fn parts(&self, id: NodeId) -> &[Part] {
        &self.nodes[id].parts
    }

    pub(super) fn is_hollow(&self, id: NodeId) -> bool {
        self.nodes[id].hollow
    }

    pub(super) fn parent_kind(&self, id: NodeId) -> Option<u8> {
        self.nodes[id].parent.and_then(|parent| self.kind(parent))
    }

    /// Whether nothing but negations stands before it.
    pub(super) fn is_start(&self, mut id: NodeId) -> bool {
        while let Some(parent) = self.nodes[id].parent {
            let before = self.parts(parent).iter().take(self.nodes[id].index);
            let negation = |part: &Part| matches!(part, Part::Node(id) if self.kind(*id) == Some(b'!'));
            if !before.into_iter().all(negation) {
                return false;
            }
            id = parent;
        }
        true
    }

    pub(super) fn is_end(&self, mut id: NodeId) -> bool {
        while let Some(parent) = self.nodes[id].parent {
            if self.kind(parent) == Some(b'!') {
                return true;
            }
            if self.kind(id).is_some() && self.nodes[id].index + 1 != self.parts(parent).len() {
                return false;
            }
            id = parent;
        }
        true
    }

    fn spend(&mut self, size: usize) -> Result<(), GlobError> {
        self.size += size;
        if self.size > MAX_SIZE { Err(GlobError::TooComplex) } else { Ok(()) }
    }

    fn add(&mut self, kind: Option<u8>, parent: Option<NodeId>) -> Result<NodeId, GlobError> {
        self.spend(1)?;
        let id = self.nodes.len();
        let index = parent.map_or(0, |parent| self.parts(parent).len());
        self.nodes.push(Node { kind, parent, index, parts: Vec::new(), hollow: false });
        Ok(id)
    }

    fn push_text(&mut self, id: NodeId, text: &mut Vec<u16>) -> Result<(), GlobError> {
        if !text.is_empty() {
            self.spend(text.len())?;
            self.nodes[id].parts.push(Part::Text(std::mem::take(text)));
        }
        Ok(())
    }

    fn parse_sequence(&mut self, glob: &[u16]) -> Result<(), GlobError> {
        let (mut at, mut text, mut state) = (0, Vec::new(), Scan::default());
        while let Some(&c) = glob.get(at) {
            at += 1;
            if !state.is_inside(c, at)
                && let Some(kind) = group_kind(c, glob.get(at))
            {
                self.push_text(ROOT, &mut text)?;
                let group = self.add(Some(kind), Some(ROOT))?;
                if kind == b'!' {
                    self.negations.push(group);
                }
                at = self.parse_group(glob, group, at, 1, 1)?;
                self.nodes[ROOT].parts.push(Part::Node(group));
                continue;
            }
            text.push(c);
        }
        self.push_text(ROOT, &mut text)
    }

    /// Reads a group; `open` is where its parenthesis stands. Returns where it ends.
    fn parse_group(
        &mut self,
        glob: &[u16],
        group: NodeId,
        open: usize,
        unmerged: usize,
        depth: usize,
    ) -> Result<usize, GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError::TooDeep);
        }
        let (mut at, mut text, mut state) = (open + 1, Vec::new(), Scan::default());
        let mut alternatives = vec![self.add(None, Some(group))?];
        let mut last = alternatives[0];
        while let Some(&c) = glob.get(at) {
            at += 1;
            if state.is_inside(c, at) {
                text.push(c);
            } else if let Some(kind) = group_kind(c, glob.get(at))
                && (unmerged <= MAX_UNMERGED || self.may_merge(group, kind))
            {
                let deeper = usize::from(!self.may_merge(group, kind));
                self.push_text(last, &mut text)?;
                let inner = self.add(Some(kind), Some(last))?;
                if kind == b'!' {
                    self.negations.push(inner);
                }
                self.nodes[last].parts.push(Part::Node(inner));
                at = self.parse_group(glob, inner, at, unmerged + deeper, depth + 1)?;
            } else if c == u16::from(b'|') {
                self.push_text(last, &mut text)?;
                last = self.add(None, Some(group))?;
                alternatives.push(last);
            } else if c == u16::from(b')') {
                self.push_text(last, &mut text)?;
                self.nodes[group].hollow = alternatives.len() == 1 && self.parts(last).is_empty();
                self.nodes[group].parts = alternatives.into_iter().map(Part::Node).collect();
                return Ok(at);
            } else {
                text.push(c);
            }
        }
        // Not closed: no group.
        self.nodes[group].kind = None;
        let mut text = glob[open - 1..].to_vec();
        self.push_text(group, &mut text)?;
        Ok(at)
    }

    fn may_merge(&self, group: NodeId, child: u8) -> bool {
        adopts(self.kind(group), child) || adopts_with_empty(self.kind(group), child)
    }

    /// The group that is all there is of alternative `part`.
    fn only_group(&self, part: &Part) -> Option<(NodeId, u8)> {
        let &Part::Node(child) = part else { return None };
        match (self.kind(child), self.parts(child)) {
            (None, &[Part::Node(group)]) => Some((group, self.kind(group)?)),
            _ => None,
        }
    }

    fn flatten(&mut self, id: NodeId) -> Result<(), GlobError> {
        let mut passes = 0;
        loop {
            let (mut changed, mut at) = (false, 0);
            while let Some(part) = self.parts(id).get(at).cloned() {
                if let Part::Node(child) = part {
                    self.flatten(child)?;
                    changed |= self.merge(id, at, &part)?;
                }
                at += 1;
            }
            passes += 1;
            if !changed || passes == MAX_PASSES {
                return Ok(());
            }
        }
    }

    /// Merges the group that alternative `at` of `id` consists of into `id`, if that means the same.
    fn merge(&mut self, id: NodeId, at: usize, part: &Part) -> Result<bool, GlobError> {
        let kind = self.kind(id);
        let Some((group, inner)) = self.only_group(part) else { return Ok(false) };
        let adopted = adopts(kind, inner);
        if adopted || adopts_with_empty(kind, inner) {
            if !adopted {
                let empty = self.add(None, Some(group))?;
                self.nodes[empty].parts.push(Part::Text(Vec::new()));
                self.nodes[group].parts.push(Part::Node(empty));
            }
            let parts = self.adopted(group, id)?;
            self.nodes[id].parts.splice(at..=at, parts);
            return Ok(true);
        }
        if let (1, Some(kind)) = (self.parts(id).len(), replaced(kind, inner)) {
            self.nodes[id].parts = self.adopted(group, id)?;
            (self.nodes[id].kind, self.nodes[id].hollow) = (Some(kind), false);
        }
        Ok(false)
    }

    fn adopted(&mut self, group: NodeId, parent: NodeId) -> Result<Vec<Part>, GlobError> {
        let parts = self.parts(group).to_vec();
        self.spend(parts.len())?;
        for part in &parts {
            if let &Part::Node(child) = part {
                self.nodes[child].parent = Some(parent);
            }
        }
        Ok(parts)
    }

    /// Copies what follows a negation into each of its alternatives.
    fn fill_negations(&mut self) -> Result<(), GlobError> {
        while let Some(negation) = self.negations.pop() {
            let mut at = negation;
            while let (Some(b'!'), Some(above)) = (self.kind(negation), self.nodes[at].parent) {
                let mut next = self.nodes[at].index + 1;
                while let (None, Some(part)) = (self.kind(above), self.parts(above).get(next).cloned()) {
                    for alternative in self.parts(negation).to_vec() {
                        if let Part::Node(alternative) = alternative {
                            self.copy(&part, alternative)?;
                        }
                    }
                    next += 1;
                }
                at = above;
            }
        }
        Ok(())
    }

    fn copy(&mut self, part: &Part, to: NodeId) -> Result<(), GlobError> {
        match part {
            Part::Text(text) => self.push_text(to, &mut text.clone()),
            &Part::Node(id) => {
                let copy = self.add(self.kind(id), Some(to))?;
                for part in self.parts(id).to_vec() {
                    self.copy(&part, copy)?;
                }
                self.nodes[to].parts.push(Part::Node(copy));
                Ok(())
            }
        }
    }
}
