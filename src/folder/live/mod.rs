//! What may be believed of folders without a look (contract 21): the one place that decides it.
//!
//! A folder is watched before its names are read. Until an event tells of a change in it, its names are known. Events are read when a
//! walk begins: what a system call of any program had changed before is known then. Where anything is uncertain (a queue that was
//! full, a change of the mounts, a watch that ended), nothing of it is believed, and walks look as they do without watches.
//!
//! Knows no names: what is kept of a folder is its caller's ([`Kept`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

pub use self::counts::FileCounts;
pub use self::stamps::Belief;
pub(crate) use self::stamps::Stamps;
use self::state::State;
use self::tree::NodeId;
pub(crate) use self::tree::{At, Kept};
use crate::fs::view::OpenFile;
use sys::fd::{AsFd, OwnedFd};
use sys::io::Errno;
use sys::watch::{FolderId, folder_id};

mod check;
mod counts;
mod new_names;
mod stamps;
mod state;
mod tree;

/// After how many folders a walk reads events again, so that what is done with their files does not fill the queue.
const BETWEEN_DRAINS: usize = 256;

/// See the module.
#[derive(Debug)]
pub struct Live<K>(Mutex<State<K>>);

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
    /// Of the files in it.
    pub(crate) stamps: Option<Arc<Stamps>>,
}

/// A folder that is watched from now on.
#[derive(Debug)]
pub(crate) struct Watched<K> {
    pub(crate) moment: Moment,
    /// What is known of it already.
    pub(crate) kept: Option<Arc<K>>,
    /// Of the files in it.
    pub(crate) stamps: Option<Arc<Stamps>>,
}

/// A file that was opened to be believed from now on: the entry `number` of a folder that was known at that moment.
#[derive(Debug)]
pub(crate) struct Look<K> {
    pub(crate) moment: Moment,
    pub(crate) names: Arc<K>,
    pub(crate) number: usize,
    pub(crate) folder: Arc<OwnedFd>,
    pub(crate) file: OpenFile,
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
    /// Files in them, as far as these are looked at to be known.
    pub files: FileCounts,
}

impl<K: Kept> Live<K> {
    /// Nothing is known yet, and nothing watched.
    pub fn new() -> Live<K> {
        Live(Mutex::new(State::default()))
    }

    /// Reads what has changed. Returns whether anything may be known: call it first, in each walk.
    pub(crate) fn begin(&self) -> bool {
        let state = &mut *self.lock();
        state.walked = Some(Instant::now());
        if state.watches.is_none() {
            state.renew();
        }
        state.catch_up();
        matches!(state.watches, Some(Ok(_)))
    }

    /// What is known of the folder `name` in a folder that has not changed since.
    pub(crate) fn inner(&self, parent: Moment, name: &[u8]) -> Option<Known<K>> {
        let state = &mut *self.lock();
        state.step();
        let known = state.tree.inner(parent, name)?;
        let stamps = state.stamps(known.moment.node, &known.kept, Instant::now());
        Some(Known { stamps, ..known })
    }

    /// Watches an open folder whose names will be read. `None` if what is read may not be kept. Then it is no less true, but the next walk has to read it again.
    pub(crate) fn watch(&self, folder: impl AsFd, at: At) -> Option<Watched<K>> {
        let folder = folder.as_fd();
        let id = folder_id(folder)?;
        let state = &mut *self.lock();
        if state.tree.is_full() || !state.system(folder, id.device).tells_changes {
            return None;
        }
        state.step();
        // Another mount below the parent: it may be one for some of the paths that lead to it.
        if let At::In(parent, _) = at
            && state.tree.id_of(parent.node).map(|parent| parent.mount) != Some(id.mount)
        {
            return None;
        }
        let watched = state.watched(folder, id, at)?;
        let now = Instant::now();
        let stamps = watched.kept.as_ref().and_then(|kept| state.stamps(watched.moment.node, kept, now));
        Some(Watched { stamps, ..watched })
    }

    /// Keeps what was read of a folder since then, unless it has changed. Returns what is believed of the files in it.
    pub(crate) fn keep(&self, moment: Moment, kept: Arc<K>) -> Option<Arc<Stamps>> {
        let state = &mut *self.lock();
        state.tree.keep(moment, kept.clone());
        state.tree.kept_at(moment).filter(|now| Arc::ptr_eq(now, &kept))?;
        state.stamps(moment.node, &kept, Instant::now())
    }

    /// Believes the stamps of files from now on, as far as nobody can write to them unseen. What opened them is told before that: the
    /// opens of the looks are no reason for doubt.
    pub(crate) fn believe(&self, looks: Vec<Look<K>>) {
        let state = &mut *self.lock();
        for look in &looks {
            state.watch_content(look);
        }
        // Under the lock: no other thread takes an event between this and the looks.
        state.catch_up();
        let now = SystemTime::now();
        looks.into_iter().for_each(|look| state.settle(look, now));
    }

    /// How much is known.
    pub fn counts(&self) -> LiveCounts {
        let state = self.lock();
        let (watched, known, entries) = state.tree.counts();
        let files = state.contents.counts(Instant::now());
        LiveCounts { is_on: matches!(state.watches, Some(Ok(_))), watched, known, entries, files }
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
            state.forget();
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
