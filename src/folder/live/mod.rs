//! What may be believed of folders without a look (contract 21): the one place that decides it.
//!
//! A folder is watched before its names are read. Until an event tells of a change in it, its names are known. Events are read when a
//! walk begins: what a system call of any program had changed before is known then. Where anything is uncertain (a queue that was
//! full, a change of the mounts, a watch that ended), nothing of it is believed, and walks look as they do without watches.
//!
//! Knows no names: what is kept of a folder is its caller's ([`Kept`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use self::new_names::NewNames;
pub use self::stamps::Belief;
use self::stamps::Contents;
pub(crate) use self::stamps::Stamps;
pub(crate) use self::tree::{At, Kept};
use self::tree::{NodeId, Tree};
use crate::fs::file_system::{self, FileSystem};
use crate::fs::view::OpenFile;
use crate::fs::writers::{self, Writers};
use sys::fd::{AsFd, OwnedFd};
use sys::io::Errno;
use sys::watch::{Change, FolderId, Notice, Watches, folder_id};

mod new_names;
mod stamps;
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
    /// Of the files in folders. Made when the first is to be believed.
    content_watches: Option<Watches>,
    contents: Contents<K>,
    /// Names that came since the last look at such.
    new_names: NewNames,
    /// What is known of devices.
    devices: Vec<(u64, FileSystem)>,
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
    /// Files whose stamps are known.
    pub believed: usize,
    /// Files that are looked at each time: a program has them open for writing, or they have several names.
    pub refused: usize,
}

impl<K: Kept> Live<K> {
    /// Nothing is known yet, and nothing watched.
    pub fn new() -> Live<K> {
        let state = State {
            watches: None,
            tree: Tree::default(),
            content_watches: None,
            contents: Contents::default(),
            new_names: NewNames::default(),
            devices: Vec::new(),
            added: 0,
            news: Vec::new(),
        };
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
        let state = &mut *self.lock();
        let known = state.tree.inner(parent, name)?;
        let stamps = state.contents.stamps(known.moment.node, &known.kept, Instant::now());
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
        if state.added >= BETWEEN_DRAINS {
            state.catch_up();
        }
        // Another mount below the parent: it may be one for some of the paths that lead to it.
        if let At::In(parent, _) = at
            && state.tree.mount_of(parent.node) != Some(id.mount)
        {
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
        let watched = state.tree.watched(id, watch, at)?;
        let (folder, now) = (watched.moment.node, Instant::now());
        let stamps = watched.kept.as_ref().and_then(|kept| state.contents.stamps(folder, kept, now));
        Some(Watched { stamps, ..watched })
    }

    /// Keeps what was read of a folder since then, unless it has changed. Returns what is believed of the files in it.
    pub(crate) fn keep(&self, moment: Moment, kept: Arc<K>) -> Option<Arc<Stamps>> {
        let state = &mut *self.lock();
        state.tree.keep(moment, kept.clone());
        state.tree.kept_at(moment).filter(|now| Arc::ptr_eq(now, &kept))?;
        state.contents.stamps(moment.node, &kept, Instant::now())
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
        let (believed, refused) = state.contents.counts();
        LiveCounts { is_on: matches!(state.watches, Some(Ok(_))), watched, known, entries, believed, refused }
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
            (state.tree, state.contents) = (Tree::default(), Contents::default());
            (state.watches, state.content_watches) = (Some(Err(Errno::IO)), None);
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
    /// Takes over what the queues tell.
    fn catch_up(&mut self) {
        self.added = 0;
        let Some(Ok(watches)) = &self.watches else { return };
        let State { tree, contents, new_names, .. } = self;
        let (mut is_lost, mut has_mounts, mut gone) = (false, false, Vec::new());
        let drained = watches.drain(&mut |notice| match notice {
            Notice::Lost => is_lost = true,
            Notice::Mounts => has_mounts = true,
            Notice::Ended(watch) => gone.extend(tree.ended(watch)),
            Notice::Change(watch, change) => {
                if let Change::Name(name, step) = change
                    && let Some(folder) = tree.of_watch(watch)
                    && !contents.is_empty()
                {
                    contents.doubt(folder, name);
                    new_names.note(folder, name, step);
                }
                gone.extend(tree.changed(watch, change));
            }
        });
        for (folder, watch) in gone {
            watches.remove(watch);
            if let Some((watch, watches)) = contents.remove(folder).zip(self.content_watches.as_ref()) {
                watches.remove(watch);
            }
        }
        if is_lost {
            self.note(LiveNews::EventsLost);
        }
        let doubts_all = is_lost && !switches::is_off("live-overflow")
            || has_mounts && !switches::is_off("live-mounts")
            || drained.is_err();
        if doubts_all {
            self.renew();
        } else {
            self.catch_up_with_contents();
        }
    }

    /// Takes over what is told of files.
    fn catch_up_with_contents(&mut self) {
        let Some(watches) = &self.content_watches else { return };
        let (contents, mut is_lost) = (&mut self.contents, false);
        let drained = watches.drain(&mut |notice| match notice {
            Notice::Change(watch, Change::Content(name)) if !switches::is_off("live-content") => {
                contents.changed(watch, name);
            }
            Notice::Lost => is_lost = true,
            Notice::Ended(watch) => contents.ended(watch),
            Notice::Change(..) | Notice::Mounts => {}
        });
        if is_lost && !switches::is_off("live-content-overflow") || drained.is_err() {
            contents.doubt_all();
        }
        self.new_names.look(&self.tree, &mut self.contents);
    }

    /// Watches the files in the folder of a look.
    fn watch_content(&mut self, look: &Look<K>) {
        let folder = look.moment.node;
        if self.contents.has(folder) || !self.system(&look.folder, look.file.stamp().dev).shows_writers {
            return;
        }
        if self.content_watches.is_none() {
            self.content_watches = Watches::of_contents().ok();
        }
        let Some(watches) = &self.content_watches else { return };
        match watches.add(&look.folder) {
            Ok(watch) => {
                self.contents.watched(folder, look.file.stamp().dev, watch, look.names.clone());
            }
            Err(errno) => self.note_limit(errno),
        }
    }

    /// Believes a file, or not.
    fn settle(&mut self, look: Look<K>, now: SystemTime) {
        let Look { moment, names, number, file, .. } = look;
        // The folder still has the file under that name.
        if !self.tree.kept_at(moment).is_some_and(|kept| Arc::ptr_eq(kept, &names)) {
            return;
        }
        let writers = writers::of(file.file(), true);
        let Ok(stat) = sys::fs::fstat(file.file()) else { return };
        let is_racy = file.stamp().is_racy(now) && !switches::is_off("live-racy");
        if is_racy || !file.is_as_found() {
            return;
        }
        let is_sure = (writers == Writers::None || switches::is_off("live-writers"))
            && (stat.st_nlink == 1 || switches::is_off("live-links"));
        let stamp = is_sure.then_some(file.stamp());
        self.contents.keep((moment.node, &names), number, stamp, Instant::now());
    }

    /// Forgets all. New queues: what the old ones still hold is of no use, and their watches end with them.
    fn renew(&mut self) {
        (self.tree, self.contents) = (Tree::default(), Contents::default());
        (self.watches, self.content_watches) = (None, None);
        self.new_names = NewNames::default();
        self.devices.clear();
        let watches = Watches::new();
        if let Err(errno) = &watches {
            self.note_limit(*errno);
        }
        self.watches = Some(watches);
    }

    /// What the kernel tells on the device of `folder`.
    fn system(&mut self, folder: impl AsFd, device: u64) -> FileSystem {
        if let Some((_, system)) = self.devices.iter().find(|(known, _)| *known == device) {
            return *system;
        }
        let mut system = file_system::of(folder);
        system.tells_changes |= switches::is_off("live-file-systems");
        self.devices.push((device, system));
        system
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
