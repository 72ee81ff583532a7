//! The watched folders: which are known, and what an event takes away of that.
//!
//! Pure: makes no system calls, and knows no paths.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Known, Moment, Watched};
use crate::path::MAX_COMPONENTS;
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::watch::{Change, FolderId, Watch};

/// Bytes of what is kept of all folders together. More is looked at by each walk.
const MAX_BYTES: usize = 256 << 20;

/// What is kept of a folder.
pub trait Kept {
    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize;
    /// Entries of the folder.
    fn entries(&self) -> usize;
    /// The name of an entry, by its number.
    fn name(&self, number: usize) -> Option<&[u8]>;
    /// The number of the entry of this name.
    fn position(&self, name: &[u8]) -> Option<usize>;
}

/// A node of one time: a number that is used again has another age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeId {
    at: usize,
    age: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Tree<K> {
    nodes: Vec<Option<Node<K>>>,
    free: Vec<usize>,
    by_watch: HashMap<Watch, NodeId>,
    by_folder: HashMap<FolderId, NodeId>,
    /// Nodes so far.
    ages: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Node<K> {
    age: u64,
    id: FolderId,
    watch: Watch,
    /// Events so far.
    changes: u64,
    /// `None`: it has changed since it was read.
    kept: Option<Arc<K>>,
    /// Folders in it, as they were entered.
    inner: HashMap<Box<[u8]>, NodeId>,
    /// Where it was when it was entered last.
    above: Option<Above>,
}

/// What a folder was in.
#[derive(Debug)]
enum Above {
    /// It is a served folder.
    Nothing(Arc<OwnedFd>),
    Folder(NodeId, Box<[u8]>),
}

/// Where a folder is that is about to be watched.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At<'n> {
    /// It is a served folder.
    Top(&'n Arc<OwnedFd>),
    /// It is the folder of this name in another, which was opened after that moment.
    In(Moment, &'n [u8]),
    /// A walk begins in it.
    Anywhere,
}

impl<K> Default for Tree<K> {
    fn default() -> Tree<K> {
        Tree {
            nodes: Vec::new(),
            free: Vec::new(),
            by_watch: HashMap::new(),
            by_folder: HashMap::new(),
            ages: 0,
            bytes: 0,
        }
    }
}

impl<K: Kept> Tree<K> {
    /// Forgets all. What walks still hold of it is of no folder that is watched later.
    pub(super) fn clear(&mut self) {
        let ages = if switches::is_off("live-ages") { 0 } else { self.ages };
        *self = Tree { ages, ..Tree::default() };
    }

    /// Whether nothing more may be kept.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_BYTES
    }

    /// What is known of the folder `name` in a folder that has not changed since.
    pub(super) fn inner(&self, parent: Moment, name: &[u8]) -> Option<Known<K>> {
        let parent = self.node(parent.node).filter(|node| node.changes == parent.changes)?;
        self.known(*parent.inner.get(name)?)
    }

    fn known(&self, node: NodeId) -> Option<Known<K>> {
        let found = self.node(node)?;
        let moment = Moment { node, changes: found.changes };
        Some(Known { moment, id: found.id, kept: found.kept.clone()?, stamps: None })
    }

    /// The folder that a watch is of.
    pub(super) fn of_watch(&self, watch: Watch) -> Option<NodeId> {
        self.by_watch.get(&watch).copied()
    }

    /// What is kept of a folder, if it has not changed since.
    pub(super) fn kept_at(&self, moment: Moment) -> Option<&Arc<K>> {
        self.node(moment.node).filter(|node| node.changes == moment.changes)?.kept.as_ref()
    }

    /// Where a folder was when it was entered last: a served folder, and the path below that. `None`: that is not known.
    pub(super) fn place(&self, node: NodeId) -> Option<(Arc<OwnedFd>, PathBuf, FolderId)> {
        let (mut names, id) = (Vec::new(), self.node(node)?.id);
        let mut here = node;
        while names.len() <= MAX_COMPONENTS {
            match self.node(here)?.above.as_ref()? {
                Above::Nothing(top) => {
                    let path = names.iter().rev().map(|name: &&[u8]| OsStr::from_bytes(name)).collect();
                    return Some((top.clone(), path, id));
                }
                Above::Folder(above, name) => {
                    names.push(name);
                    here = *above;
                }
            }
        }
        None
    }

    /// Which folder this is.
    pub(super) fn id_of(&self, node: NodeId) -> Option<FolderId> {
        self.node(node).map(|node| node.id)
    }

    /// A folder is watched from now on. `None` if it is watched by a path that leads through another mount. Removes a folder that was
    /// known by the same number, which is gone.
    pub(super) fn watched(&mut self, id: FolderId, watch: Watch, at: At) -> Option<Watched<K>> {
        let node = match (self.by_watch.get(&watch), self.by_folder.get(&id)) {
            (Some(&by_watch), Some(&by_folder)) if by_watch == by_folder => by_watch,
            (Some(_), _) => return None,
            (None, old) => {
                // The inode was used again before the end of the old folder was told.
                if let Some(&old) = old {
                    self.remove(old);
                }
                self.insert(id, watch)
            }
        };
        match at {
            At::Anywhere => {}
            At::Top(top) => self.node_mut(node)?.above = Some(Above::Nothing(top.clone())),
            At::In(parent, name) => {
                // Else another folder may have that name now, and what told so was read before.
                if let Some(above) = self.node_mut(parent.node)
                    && (above.changes == parent.changes || switches::is_off("live-moment"))
                {
                    above.inner.insert(name.into(), node);
                    self.node_mut(node)?.above = Some(Above::Folder(parent.node, name.into()));
                }
            }
        }
        let found = self.node(node)?;
        let moment = Moment { node, changes: found.changes };
        Some(Watched { moment, kept: found.kept.clone(), stamps: None })
    }

    /// Keeps what was read of a folder since then, unless it has changed.
    pub(super) fn keep(&mut self, moment: Moment, kept: Arc<K>) {
        let bytes = kept.bytes();
        let is_unchanged =
            |node: &&mut Node<K>| node.changes == moment.changes || switches::is_off("live-moment");
        let Some(node) = self.node_mut(moment.node).filter(is_unchanged) else { return };
        let old = node.kept.replace(kept).map_or(0, |old| old.bytes());
        self.bytes = self.bytes + bytes - old;
    }

    /// A watch has ended by itself. Returns the folders that are not known any more, and their watches.
    pub(super) fn ended(&mut self, watch: Watch) -> Vec<(NodeId, Watch)> {
        self.of_watch(watch).map(|node| self.remove(node)).unwrap_or_default()
    }

    /// Forgets what a change has made uncertain. Returns the same as above.
    pub(super) fn changed(&mut self, watch: Watch, change: Change) -> Vec<(NodeId, Watch)> {
        let Some(node) = self.of_watch(watch) else { return Vec::new() };
        match change {
            Change::Name(name, _) => self.doubt(node, Some(name)),
            Change::Itself => self.doubt(node, None),
            // It would be known where it is now, but also if nobody enters it there.
            Change::Moved => return self.remove(node),
            Change::Content(_) => {}
        }
        Vec::new()
    }

    /// What is kept of the folder is not known to be true any more, and what the folder `name` in it is neither.
    fn doubt(&mut self, node: NodeId, name: Option<&[u8]>) {
        let Some(node) = self.node_mut(node) else { return };
        node.changes += 1;
        if let Some(name) = name {
            node.inner.remove(name);
        }
        if switches::is_off("live-names") {
            return;
        }
        let bytes = node.kept.take().map_or(0, |kept| kept.bytes());
        self.bytes -= bytes;
    }

    /// Number of watched folders, of known ones, and of the entries in these.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let nodes = self.nodes.iter().flatten();
        nodes.fold((0, 0, 0), |(watched, known, entries), node| match &node.kept {
            Some(kept) => (watched + 1, known + 1, entries + kept.entries()),
            None => (watched + 1, known, entries),
        })
    }

    fn insert(&mut self, id: FolderId, watch: Watch) -> NodeId {
        self.ages += 1;
        let age = self.ages;
        let node = Node { age, id, watch, changes: 0, kept: None, inner: HashMap::new(), above: None };
        let at = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(None);
            self.nodes.len() - 1
        });
        self.nodes[at] = Some(node);
        let node = NodeId { at, age };
        self.by_watch.insert(watch, node);
        self.by_folder.insert(id, node);
        node
    }

    /// Removes a folder and all that was entered through it.
    fn remove(&mut self, node: NodeId) -> Vec<(NodeId, Watch)> {
        let (mut rest, mut gone) = (vec![node], Vec::new());
        while let Some(node) = rest.pop() {
            if self.node(node).is_none() {
                continue;
            }
            let Some(removed) = self.nodes[node.at].take() else { continue };
            self.free.push(node.at);
            self.bytes -= removed.kept.map_or(0, |kept| kept.bytes());
            self.by_watch.remove(&removed.watch);
            if self.by_folder.get(&removed.id) == Some(&node) {
                self.by_folder.remove(&removed.id);
            }
            gone.push((node, removed.watch));
            rest.extend(removed.inner.into_values());
        }
        gone
    }

    fn node(&self, node: NodeId) -> Option<&Node<K>> {
        self.nodes.get(node.at)?.as_ref().filter(|found| found.age == node.age)
    }

    fn node_mut(&mut self, node: NodeId) -> Option<&mut Node<K>> {
        self.nodes.get_mut(node.at)?.as_mut().filter(|found| found.age == node.age)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sys::watch::{NameStep, Watches};

    /// A folder with one entry.
    #[derive(Debug, PartialEq, Eq)]
    pub(crate) struct Named;

    impl Kept for Named {
        fn bytes(&self) -> usize {
            8
        }

        fn entries(&self) -> usize {
            1
        }

        fn name(&self, number: usize) -> Option<&[u8]> {
            (number == 0).then_some(b"x")
        }

        fn position(&self, name: &[u8]) -> Option<usize> {
            (name == b"x").then_some(0)
        }
    }

    /// A folder that is watched.
    pub(crate) fn node_and_watch() -> (NodeId, Watch) {
        (NodeId { at: 0, age: 1 }, watches().0)
    }

    fn id(inode: u64) -> FolderId {
        FolderId { mount: 1, device: 1, inode }
    }

    /// Two watches of folders.
    fn watches() -> (Watch, Watch) {
        let (watches, one, other) =
            (Watches::new().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let add = |dir: &tempfile::TempDir| watches.add(sys::testing::open_folder(dir.path())).unwrap();
        (add(&one), add(&other))
    }

    #[test]
    fn what_changed_while_it_was_read_is_not_kept() {
        let (top_watch, inner_watch) = watches();
        let mut tree = Tree::default();
        let top = tree.watched(id(1), top_watch, At::Anywhere).unwrap().moment;
        assert_eq!(tree.changed(top_watch, Change::Name(b"x", NameStep::NewFolder)).len(), 0);
        tree.keep(top, Arc::new(Named));
        assert_eq!(tree.counts(), (1, 0, 0));
        // Read again.
        let now = tree.watched(id(1), top_watch, At::Anywhere).unwrap();
        assert!(now.kept.is_none());
        tree.keep(now.moment, Arc::new(Named));
        // A folder in it was opened before the change, when another one had its name.
        let inner = tree.watched(id(2), inner_watch, At::In(top, b"x")).unwrap().moment;
        tree.keep(inner, Arc::new(Named));
        assert!(tree.inner(now.moment, b"x").is_none());
        // After it.
        tree.watched(id(2), inner_watch, At::In(now.moment, b"x")).unwrap();
        assert!(tree.inner(now.moment, b"x").is_some());
        assert!(tree.inner(top, b"x").is_none(), "the walk has names from before the change");
        assert_eq!((tree.counts(), tree.bytes), ((2, 2, 2), 16));
        // It goes, and what was entered through it.
        assert_eq!(tree.changed(top_watch, Change::Moved).len(), 2);
        assert_eq!((tree.counts(), tree.bytes), ((0, 0, 0), 0));
    }

    #[test]
    fn what_was_forgotten_is_not_taken_for_what_is_watched_later() {
        let (before, after) = watches();
        let mut tree = Tree::default();
        let old = tree.watched(id(1), before, At::Anywhere).unwrap().moment;
        tree.clear();
        let new = tree.watched(id(2), after, At::Anywhere).unwrap().moment;
        // A walk that began before has read the other folder.
        tree.keep(old, Arc::new(Named));
        assert!(tree.kept_at(new).is_none() && tree.inner(old, b"x").is_none());
    }
}
