//! The watched folders: which are known, and what an event takes away of that.
//!
//! Pure: makes no system calls, and knows no paths.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Known, Moment, Watched};
use sys::watch::{Change, FolderId, Watch};

/// Bytes of what is kept of all folders together. More is looked at by each walk.
const MAX_BYTES: usize = 256 << 20;

/// What is kept of a folder.
pub trait Kept {
    /// Bytes of memory that it takes.
    fn bytes(&self) -> usize;
    /// Entries of the folder.
    fn entries(&self) -> usize;
}

/// A node of one time: a number that is used again has another age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
        Some(Known { moment, id: found.id, kept: found.kept.clone()? })
    }

    /// By which mount a folder is reached.
    pub(super) fn mount_of(&self, node: NodeId) -> Option<u64> {
        self.node(node).map(|node| node.id.mount)
    }

    /// A folder is watched from now on: `name` in the folder `parent`, which was opened after that moment. `None` if it is watched
    /// by a path that leads through another mount.
    pub(super) fn watched(
        &mut self,
        id: FolderId,
        watch: Watch,
        parent: Option<(Moment, &[u8])>,
    ) -> Option<Watched<K>> {
        let node = match (self.by_watch.get(&watch), self.by_folder.get(&id)) {
            (Some(&by_watch), Some(&by_folder)) if by_watch == by_folder => by_watch,
            (Some(_), _) => return None,
            (None, old) => {
                // The inode was used again before the end of the old folder was told.
                if let Some(&old) = old {
                    self.remove(old, &mut Vec::new());
                }
                self.insert(id, watch)
            }
        };
        if let Some((parent, name)) = parent
            // Else another folder may have that name now, and what told so was read before.
            && let Some(above) = self.node_mut(parent.node)
            && (above.changes == parent.changes || switches::is_off("live-moment"))
        {
            above.inner.insert(name.into(), node);
        }
        let found = self.node(node)?;
        Some(Watched { moment: Moment { node, changes: found.changes }, kept: found.kept.clone() })
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

    /// A watch has ended by itself.
    pub(super) fn ended(&mut self, watch: Watch) {
        if let Some(&node) = self.by_watch.get(&watch) {
            self.remove(node, &mut Vec::new());
        }
    }

    /// Forgets what a change has made uncertain. Returns the watches that are of no use any more.
    pub(super) fn changed(&mut self, watch: Watch, change: Change) -> impl Iterator<Item = Watch> + use<K> {
        let mut gone = Vec::new();
        if let Some(&node) = self.by_watch.get(&watch) {
            match change {
                Change::Name(name) => self.doubt(node, Some(name)),
                Change::Itself => self.doubt(node, None),
                // It would be known where it is now, but also if nobody enters it there.
                Change::Moved => self.remove(node, &mut gone),
                Change::Attributes(_) => {}
            }
        }
        gone.into_iter()
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
        let node = Node { age, id, watch, changes: 0, kept: None, inner: HashMap::new() };
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
    fn remove(&mut self, node: NodeId, gone: &mut Vec<Watch>) {
        let mut rest = vec![node];
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
            gone.push(removed.watch);
            rest.extend(removed.inner.into_values());
        }
    }

    fn node(&self, node: NodeId) -> Option<&Node<K>> {
        self.nodes.get(node.at)?.as_ref().filter(|found| found.age == node.age)
    }

    fn node_mut(&mut self, node: NodeId) -> Option<&mut Node<K>> {
        self.nodes.get_mut(node.at)?.as_mut().filter(|found| found.age == node.age)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::watch::Watches;

    impl Kept for &str {
        fn bytes(&self) -> usize {
            self.len()
        }

        fn entries(&self) -> usize {
            1
        }
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
        let top = tree.watched(id(1), top_watch, None).unwrap().moment;
        assert_eq!(tree.changed(top_watch, Change::Name(b"x")).count(), 0);
        tree.keep(top, Arc::new("as it was"));
        assert_eq!(tree.counts(), (1, 0, 0));
        // Read again.
        let now = tree.watched(id(1), top_watch, None).unwrap();
        assert!(now.kept.is_none());
        tree.keep(now.moment, Arc::new("as it is"));
        // A folder in it was opened before the change, when another one had its name.
        let inner = tree.watched(id(2), inner_watch, Some((top, b"x"))).unwrap().moment;
        tree.keep(inner, Arc::new("another"));
        assert!(tree.inner(now.moment, b"x").is_none());
        // After it.
        tree.watched(id(2), inner_watch, Some((now.moment, b"x"))).unwrap();
        assert!(tree.inner(now.moment, b"x").is_some_and(|known| *known.kept == "another"));
        assert!(tree.inner(top, b"x").is_none(), "the walk has names from before the change");
        assert_eq!((tree.counts(), tree.bytes), ((2, 2, 2), "as it is".len() + "another".len()));
        // It goes, and what was entered through it.
        assert_eq!(tree.changed(top_watch, Change::Moved).count(), 2);
        assert_eq!((tree.counts(), tree.bytes), ((0, 0, 0), 0));
    }
}
