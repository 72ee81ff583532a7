//! The states of entries that a walk has met: asked for one by one, or many at a time where each look waits.
//!
//! Knows nothing of what they are wanted for.

use std::sync::Arc;

use super::folder::WalkedFolder;
use super::{Walk, stat};
use crate::lookups::{Lookups, TOGETHER};
use sys::fs::Stat;
use sys::io::Errno;

/// The state of an entry. `None`: it is gone. An error: the system does not tell.
pub type StatResult = Result<Option<Stat>, Errno>;

/// Entries of one walk or several, each with a value of the caller's, whose states were not asked for yet.
#[derive(Debug)]
pub struct LateStats<T> {
    lookups: Lookups,
    waiting: Vec<(Arc<WalkedFolder>, Vec<u8>, T)>,
}

impl<T> Default for LateStats<T> {
    fn default() -> LateStats<T> {
        LateStats { lookups: Lookups::default(), waiting: Vec::new() }
    }
}

impl<T: Send + Sync> LateStats<T> {
    /// The state of the current entry of `walk`, if a look does not wait.
    pub fn now(&self, walk: &Walk) -> Option<StatResult> {
        (!self.lookups.are_slow()).then(|| self.lookups.one(|| walk.stat()))
    }

    /// Keeps the current entry of `walk` for [`LateStats::take`]. Returns whether it is time for that.
    pub fn keep(&mut self, walk: &Walk, value: T) -> bool {
        if let Some(folder) = walk.folder() {
            self.waiting.push((folder, walk.name().to_vec(), value));
        }
        self.waiting.len() >= TOGETHER
    }

    /// The states of all kept entries, in the order in which they were kept.
    pub fn take(&mut self) -> impl Iterator<Item = (T, StatResult)> + use<T> {
        let waiting = std::mem::take(&mut self.waiting);
        let stats = match waiting.is_empty() {
            true => Vec::new(),
            false => self.lookups.many(waiting.len(), |at| stat(&waiting[at].0, &waiting[at].1)),
        };
        waiting.into_iter().map(|(.., value)| value).zip(stats)
    }
}
