//! The files that a commit removed and added, and which of them are known to be one file.

use std::collections::HashMap;

use crate::churn::change::{Change, Version};

/// A removed or an added file.
#[derive(Debug)]
pub(super) struct Candidate<'c> {
    /// Its place among the changes.
    place: usize,
    pub(super) path: &'c [u8],
    pub(super) version: &'c Version,
    /// It is one of a pair.
    pub(super) is_paired: bool,
}

/// See the module. Both lists are in the order of the changes.
#[derive(Debug)]
pub(super) struct Pairs<'c> {
    pub(super) removed: Vec<Candidate<'c>>,
    pub(super) added: Vec<Candidate<'c>>,
    found: HashMap<usize, usize>,
}

impl<'c> Pairs<'c> {
    pub(super) fn new(changes: &'c [Change]) -> Pairs<'c> {
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for (place, change) in changes.iter().enumerate() {
            let (version, list) = match (&change.old, &change.new) {
                (Some(old), None) => (old, &mut removed),
                (None, Some(new)) => (new, &mut added),
                _ => continue,
            };
            list.push(Candidate { place, path: &change.path, version, is_paired: false });
        }
        Pairs { removed, added, found: HashMap::new() }
    }

    /// Whether nothing more can be found.
    pub(super) fn is_done(&self) -> bool {
        let is_paired = |files: &[Candidate]| files.iter().all(|file| file.is_paired);
        is_paired(&self.removed) || is_paired(&self.added)
    }

    /// Records that two files, by their numbers in the lists, are one.
    pub(super) fn join(&mut self, removed: usize, added: usize) {
        let (old, new) = (&mut self.removed[removed], &mut self.added[added]);
        (old.is_paired, new.is_paired) = (true, true);
        self.found.insert(new.place, old.place);
    }

    /// The pairs, by the place of the added file.
    pub(super) fn into_found(self) -> HashMap<usize, usize> {
        self.found
    }
}
