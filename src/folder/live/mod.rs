//! What may be believed of folders without a look (contract 21): the one place that decides it.
//!
//! A folder is watched before its names are read. Until an event tells of a change in it, its names are known. Events are read when a
//! walk begins: what a system call of any program had changed before is known then. Where anything is uncertain (a queue that was
//! full, a change of the mounts, a watch that ended), nothing of it is believed, and walks look as they do without watches.
//!
//! Knows no names: what is kept of a folder is its caller's ([`Kept`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use self::tree::Kept;
use self::tree::NodeId;
use self::tree::Tree;
use crate::fs::file_system;
use sys::fd::AsFd;
use sys::io::Errno;
use sys::watch::{FolderId, Notice, Watches, folder_id};

mod tree;

/// Folders that are watched anew before events are read, so that they do not fill the queue.
const BETWEEN_DRAINS: usize = 512;

/// See the module.
#[derive(Debug)]
pub struct Live<K>(Mutex<State<K>>);

#[derive(Debug)]
struct State<K> {
    /// Made for the first walk. An error: there are none on this system, or no more for this user.
    watches: Option<Result<Watches, Errno>>,
    tree: Tree<K>,
    /// Devices on which all changes are told, and others.
    devices: Vec<(u64, bool)>,
    /// Folders that were watched since events were read.
    added: usize,
    /// What the operator is to know, and whether that was told.
    news: Vec<(LiveNews, bool)>,
}

/// Why less is known than could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveNews {
    /// The system allows no more watches, or no more queues of events.
    TooFewWatches,
    /// There were more events than the queue holds.
    EventsLost,
}

/// A watched folder at one time, by how often it had changed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    node: NodeId,
    changes: u64,
}

/// What is known of a folder.
#[derive(Debug)]
pub(crate) struct Known<K> {
    pub(crate) moment: Moment,
    pub(crate) id: FolderId,
    pub(crate) kept: Arc<K>,
}

/// A folder that is watched from now on.
#[derive(Debug)]
pub(crate) struct Watched<K> {
    pub(crate) moment: Moment,
    /// What is known of it already.
    pub(crate) kept: Option<Arc<K>>,
}

/// How much is known, for the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Whether folders can be watched.
    pub is_on: bool,
    /// Watched folders.
    pub watched: usize,
    /// Of these, folders whose names are known.
    pub known: usize,
    /// Entries in them.
    pub entries: usize,
}

impl<K: Kept> Live<K> {
    /// Nothing is known yet, and nothing watched.
    pub fn new() -> Live<K> {
        let state =
            State { watches: None, tree: Tree::default(), devices: Vec::new(), added: 0, news: Vec::new() };
        Live(Mutex::new(state))
    }

    /// Reads what has changed. Returns whether anything may be known: call it first, in each walk.
    pub(crate) fn begin(&self) -> bool {
        let state = &mut *self.lock();
        if state.watches.is_none() {
            state.renew();
        }
        state.catch_up();
        matches!(state.watches, Some(Ok(_)))
    }

    /// What is known of the folder `name` in a folder that has not changed since.
    pub(crate) fn inner(&self, parent: Moment, name: &[u8]) -> Option<Known<K>> {
        self.lock().tree.inner(parent, name)
    }

    /// Watches an open folder whose names will be read: `name` in `parent`, or one in which a walk begins. `None` if what is read may
    /// not be kept. Then it is no less true, but the next walk has to read it again.
    pub(crate) fn watch(&self, folder: impl AsFd, parent: Option<(Moment, &[u8])>) -> Option<Watched<K>> {
        let folder = folder.as_fd();
        let id = folder_id(folder)?;
        let state = &mut *self.lock();
        if state.tree.is_full() || !state.tells_all(folder, id.device) {
            return None;
        }
        if state.added >= BETWEEN_DRAINS {
            state.catch_up();
        }
        // Another mount below the parent: it may be one for some of the paths that lead to it.
        if parent.is_some_and(|(parent, _)| state.tree.mount_of(parent.node) != Some(id.mount)) {
            return None;
        }
        let watch = match state.watches.as_ref()?.as_ref().ok()?.add(folder) {
            Ok(watch) => watch,
            Err(errno) => {
                state.note_limit(errno);
                return None;
            }
        };
        state.added += 1;
        state.tree.watched(id, watch, parent)
    }

    /// Keeps what was read of a folder since then, unless it has changed.
    pub(crate) fn keep(&self, moment: Moment, kept: Arc<K>) {
        self.lock().tree.keep(moment, kept);
    }

    /// How much is known.
    pub fn counts(&self) -> LiveCounts {
        let state = self.lock();
        let (watched, known, entries) = state.tree.counts();
        LiveCounts { is_on: matches!(state.watches, Some(Ok(_))), watched, known, entries }
    }

    /// What has happened that the operator is to know. Each kind once.
    pub fn news(&self) -> Option<LiveNews> {
        let state = &mut *self.lock();
        let untold = state.news.iter().position(|(_, told)| !told)?;
        state.news[untold].1 = true;
        Some(state.news[untold].0)
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.0.lock().unwrap_or_else(|poisoned| {
            // After a panic within, what is known is not certain.
            let mut state = PoisonError::into_inner(poisoned);
            state.tree = Tree::default();
            state.watches = Some(Err(Errno::IO));
            state
        })
    }
}

impl<K: Kept> Default for Live<K> {
    fn default() -> Live<K> {
        Live::new()
    }
}

impl<K: Kept> State<K> {
    /// Takes over what the queue tells.
    fn catch_up(&mut self) {
        self.added = 0;
        let Some(Ok(watches)) = &self.watches else { return };
        let (tree, mut is_lost, mut has_mounts) = (&mut self.tree, false, false);
        let drained = watches.drain(&mut |notice| match notice {
            Notice::Lost => is_lost = true,
            Notice::Mounts => has_mounts = true,
            Notice::Ended(watch) => tree.ended(watch),
            Notice::Change(watch, change) => {
                tree.changed(watch, change).for_each(|gone| watches.remove(gone))
            }
        });
        if is_lost {
            self.note(LiveNews::EventsLost);
        }
        let doubts_all = is_lost && !switches::is_off("live-overflow")
            || has_mounts && !switches::is_off("live-mounts")
            || drained.is_err();
        if doubts_all {
            self.renew();
        }
    }

    /// Forgets all. A new queue: what the old one still holds is of no use, and its watches end with it.
    fn renew(&mut self) {
        self.tree = Tree::default();
        self.devices.clear();
        self.watches = None;
        let watches = Watches::new();
        if let Err(errno) = &watches {
            self.note_limit(*errno);
        }
        self.watches = Some(watches);
    }

    /// Whether the kernel tells all changes of folders on the device of `folder`.
    fn tells_all(&mut self, folder: impl AsFd, device: u64) -> bool {
        if let Some((_, tells)) = self.devices.iter().find(|(known, _)| *known == device) {
            return *tells;
        }
        let tells = switches::is_off("live-file-systems") || file_system::of(folder).tells_changes;
        self.devices.push((device, tells));
        tells
    }

    fn note_limit(&mut self, errno: Errno) {
        if matches!(errno, Errno::NOSPC | Errno::MFILE) {
            self.note(LiveNews::TooFewWatches);
        }
    }

    fn note(&mut self, news: LiveNews) {
        if self.news.iter().all(|(known, _)| *known != news) {
            self.news.push((news, false));
        }
    }
}
