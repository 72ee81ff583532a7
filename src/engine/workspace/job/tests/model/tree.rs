//! The tree of the model: files and folders that keep their number wherever they are moved.
//!
//! What another program took away without a word keeps its place in the tree as one that is not there: the journal takes it for there.

use std::collections::{BTreeMap, BTreeSet};

/// The number of an entry. That of the served folder is [`TOP`].
pub(super) type Id = usize;
pub(super) const TOP: Id = 0;

/// The entries from the top down to one, each with its name.
pub(super) type Chain = Vec<(Id, String)>;

/// What was removed.
#[derive(Debug, Clone)]
pub(super) struct Gone {
    pub(super) id: Id,
    pub(super) chain: Chain,
    pub(super) lines: Option<Vec<String>>,
    /// What was at its place too, as the journal knows.
    pub(super) same: Vec<Id>,
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) parent: Id,
    pub(super) name: String,
    /// Of a file.
    pub(super) lines: Option<Vec<String>>,
    pub(super) is_there: bool,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Nodes {
    all: BTreeMap<Id, Node>,
    last: Id,
}

pub(super) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.into() } else { format!("{folder}/{name}") }
}

pub(super) fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

pub(super) fn path_of(chain: &[(Id, String)]) -> String {
    chain.iter().fold(String::new(), |path, (_, name)| joined(&path, name))
}

impl Nodes {
    pub(super) fn get(&self, id: Id) -> Option<&Node> {
        self.all.get(&id)
    }

    pub(super) fn lines(&mut self, id: Id) -> Option<&mut Vec<String>> {
        self.all.get_mut(&id).filter(|node| node.is_there)?.lines.as_mut()
    }

    pub(super) fn chain(&self, id: Id) -> Chain {
        let mut chain = Chain::new();
        let mut at = id;
        while let Some(node) = self.all.get(&at) {
            chain.push((at, node.name.clone()));
            at = node.parent;
        }
        chain.reverse();
        chain
    }

    pub(super) fn path(&self, id: Id) -> String {
        path_of(&self.chain(id))
    }

    /// Whether the journal knows of an entry at a path, or one is there.
    pub(super) fn is_known(&self, path: &str) -> bool {
        self.all.keys().any(|id| self.path(*id) == path)
    }

    /// Those that are there.
    pub(super) fn there(&self, wanted: impl Fn(&Node) -> bool) -> Vec<Id> {
        self.all.iter().filter(|(_, node)| node.is_there && wanted(node)).map(|(id, _)| *id).collect()
    }

    pub(super) fn files(&self) -> Vec<Id> {
        self.there(|node| node.lines.is_some())
    }

    pub(super) fn find(&self, path: &str) -> Option<Id> {
        self.there(|_| true).into_iter().find(|id| self.path(*id) == path)
    }

    /// An entry and all in it that is there, folders before what is in them.
    pub(super) fn below(&self, id: Id) -> Vec<Id> {
        let mut all = vec![id];
        for child in self.there(|node| node.parent == id) {
            all.extend(self.below(child));
        }
        all
    }

    pub(super) fn add(&mut self, parent: Id, name: &str, lines: Option<Vec<String>>) -> Id {
        self.last += 1;
        self.put(self.last, Node { parent, name: name.into(), lines, is_there: true });
        self.last
    }

    pub(super) fn put(&mut self, id: Id, node: Node) {
        self.all.insert(id, node);
    }

    /// The folder at a path, and the new ones that make it. `None`: a file is in the way.
    pub(super) fn folder(&mut self, path: &str) -> Option<(Id, Vec<Id>)> {
        let (mut parent, mut at, mut new) = (TOP, String::new(), Vec::new());
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = joined(&at, name);
            parent = match (self.find(&at), self.absent(&at).first()) {
                (Some(id), _) if self.all[&id].lines.is_some() => return None,
                (Some(id), _) => id,
                (None, Some(id)) => {
                    let node = Node { parent, name: name.into(), lines: None, is_there: true };
                    self.put(*id, node);
                    new.push(*id);
                    *id
                }
                (None, None) => {
                    new.push(self.add(parent, name, None));
                    self.last
                }
            };
        }
        Some((parent, new))
    }

    /// What is there where the journal takes an entry for there.
    pub(super) fn real(&self, id: Id) -> Id {
        let absent = self.all.get(&id).is_some_and(|node| !node.is_there);
        absent.then(|| self.find(&self.path(id))).flatten().unwrap_or(id)
    }

    /// Those at a path that are not there.
    fn absent(&self, path: &str) -> Vec<Id> {
        let absent = self.all.iter().filter(|(_, node)| !node.is_there).map(|(id, _)| *id);
        absent.filter(|id| self.path(*id) == path).collect()
    }

    /// Gives an entry, and what the journal takes for it, another place.
    pub(super) fn relocate(&mut self, id: Id, parent: Id, name: &str) {
        let mut all = self.absent(&self.path(id));
        all.push(id);
        for id in all {
            let node = self.all.get_mut(&id).unwrap();
            (node.parent, node.name) = (parent, name.into());
        }
    }

    /// Removes an entry with all in it, and what the journal takes for something there.
    pub(super) fn remove(&mut self, id: Id) -> Vec<Gone> {
        let path = self.path(id);
        let gone = |id: Id| {
            let (chain, lines, same) =
                (self.chain(id), self.all[&id].lines.clone(), self.absent(&self.path(id)));
            Gone { id, chain, lines, same }
        };
        let gone = self.below(id).into_iter().map(gone).collect();
        let inside: Vec<Id> =
            self.all.keys().filter(|id| is_within(&self.path(**id), &path)).copied().collect();
        inside.iter().for_each(|id| _ = self.all.remove(id));
        gone
    }

    /// Forgets what is not there, but for these and the folders above them.
    pub(super) fn forget(&mut self, but: &BTreeSet<Id>) {
        let kept: BTreeSet<Id> = but.iter().flat_map(|id| self.chain(*id)).map(|(id, _)| id).collect();
        self.all.retain(|id, node| node.is_there || kept.contains(id));
    }

    /// Another program takes an entry away, with all in it.
    pub(super) fn take_away(&mut self, id: Id) {
        for id in self.below(id) {
            self.all.get_mut(&id).unwrap().is_there = false;
        }
    }

    /// Where an entry will be again that had this chain: in the lowest folder that is left.
    pub(super) fn again(&self, chain: &[(Id, String)]) -> String {
        let left = chain.iter().rposition(|(id, _)| self.all.contains_key(id));
        let path = left.map_or(String::new(), |at| self.path(chain[at].0));
        chain[left.map_or(0, |at| at + 1)..].iter().fold(path, |path, (_, name)| joined(&path, name))
    }
}
