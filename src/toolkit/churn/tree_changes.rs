//! The files by which two trees differ, in git's order, without renames.

use std::cmp::Ordering;
use std::sync::Arc;

use super::change::{Change, Version};
use super::fault::{Fault, Result};
use super::git::id::ObjectId;
use super::git::objects::Objects;
use super::git::pack::Kind;
use super::git::tree::{Entry, entries};

/// The deepest folder of a tree.
const MAX_DEPTH: usize = 256;

/// The longest path, in bytes.
const MAX_PATH: usize = 16 << 10;

/// The files of one commit that changed; more are not analysed.
const MAX_CHANGES: usize = 300_000;

/// Bytes of all their paths together.
const MAX_PATHS: usize = 48 << 20;

/// How many entries are compared between two looks at the time.
const BETWEEN_CHECKS: usize = 1_024;

/// The changes, or the word that there are too many.
#[derive(Debug)]
pub enum TreeChanges {
    /// All of them.
    All(Vec<Change>),
    /// More than are analysed.
    TooMany,
}

/// Compares the tree `old`, if there is one, with `new`.
pub fn tree_changes(objects: &mut Objects, old: Option<&ObjectId>, new: &ObjectId) -> Result<TreeChanges> {
    let mut comparison = Comparison { objects, path: Vec::new(), changes: Vec::new(), paths: 0, compared: 0 };
    if old == Some(new) {
        return Ok(TreeChanges::All(Vec::new()));
    }
    match comparison.compare(old, Some(new), 0)? {
        Step::GoOn => Ok(TreeChanges::All(comparison.changes)),
        Step::TooMany => Ok(TreeChanges::TooMany),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    GoOn,
    TooMany,
}

struct Comparison<'o, 'c> {
    objects: &'o mut Objects<'c>,
    /// The path of the folder that is compared; ends in `/` unless it is empty.
    path: Vec<u8>,
    changes: Vec<Change>,
    /// Bytes of the paths of the changes.
    paths: usize,
    compared: usize,
}

impl Comparison<'_, '_> {
    /// Compares two folders, at least one of which exists.
    fn compare(&mut self, old: Option<&ObjectId>, new: Option<&ObjectId>, depth: usize) -> Result<Step> {
        if depth > MAX_DEPTH || self.path.len() > MAX_PATH {
            let tree = new.or(old).map(ObjectId::to_string).unwrap_or_default();
            return Err(Fault::damaged(tree, "its folders are nested too deeply"));
        }
        let (old, new) = (Folder::read(self.objects, old)?, Folder::read(self.objects, new)?);
        let kind = self.objects.store().kind;
        let (mut left, mut right) = (entries(&old.bytes, kind), entries(&new.bytes, kind));
        let (mut one, mut other) = (old.next(&mut left)?, new.next(&mut right)?);
        loop {
            self.compared += 1;
            if self.compared.is_multiple_of(BETWEEN_CHECKS) {
                self.objects.control().check()?;
            }
            let (order, step) = match (&one, &other) {
                (None, None) => return Ok(Step::GoOn),
                (Some(entry), None) => (Ordering::Less, self.entry(Some(entry), None, depth)?),
                (None, Some(entry)) => (Ordering::Greater, self.entry(None, Some(entry), depth)?),
                (Some(first), Some(second)) => match first.order(second) {
                    Ordering::Less => (Ordering::Less, self.entry(Some(first), None, depth)?),
                    Ordering::Greater => (Ordering::Greater, self.entry(None, Some(second), depth)?),
                    Ordering::Equal => (Ordering::Equal, self.pair(first, second, depth)?),
                },
            };
            if step == Step::TooMany {
                return Ok(step);
            }
            if order != Ordering::Greater {
                one = old.next(&mut left)?;
            }
            if order != Ordering::Less {
                other = new.next(&mut right)?;
            }
        }
    }

    /// Two entries with one name.
    fn pair(&mut self, old: &Entry, new: &Entry, depth: usize) -> Result<Step> {
        if old.id == new.id && old.mode == new.mode {
            return Ok(Step::GoOn);
        }
        self.entry(Some(old), Some(new), depth)
    }

    fn entry(&mut self, old: Option<&Entry>, new: Option<&Entry>, depth: usize) -> Result<Step> {
        let Some(named) = old.or(new) else { return Ok(Step::GoOn) };
        let len = self.path.len();
        self.path.extend_from_slice(named.name);
        let step = if named.mode.is_folder() {
            self.path.push(b'/');
            self.compare(old.map(|entry| &entry.id), new.map(|entry| &entry.id), depth + 1)?
        } else {
            self.add(old, new)
        };
        self.path.truncate(len);
        Ok(step)
    }

    fn add(&mut self, old: Option<&Entry>, new: Option<&Entry>) -> Step {
        self.paths += self.path.len();
        if self.changes.len() == MAX_CHANGES || self.paths > MAX_PATHS {
            return Step::TooMany;
        }
        let version = |entry: &Entry| Version { mode: entry.mode, id: entry.id };
        let path = self.path.clone().into_boxed_slice();
        self.changes.push(Change { path, renamed_from: None, old: old.map(version), new: new.map(version) });
        Step::GoOn
    }
}

/// The bytes of a tree; without one, none.
struct Folder {
    id: Option<ObjectId>,
    bytes: Arc<[u8]>,
}

impl Folder {
    fn read(objects: &mut Objects, id: Option<&ObjectId>) -> Result<Folder> {
        let bytes = match id {
            Some(id) => objects.read(id, Kind::Tree)?,
            None => Arc::from([]),
        };
        Ok(Folder { id: id.copied(), bytes })
    }

    fn next<'t>(
        &self,
        entries: &mut impl Iterator<Item = std::result::Result<Entry<'t>, &'static str>>,
    ) -> Result<Option<Entry<'t>>> {
        let damaged = |why| Fault::damaged(self.id.map(|id| id.to_string()).unwrap_or_default(), why);
        entries.next().transpose().map_err(damaged)
    }
}
