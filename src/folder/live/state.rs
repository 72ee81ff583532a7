//! What is watched and known, and how what the system tells changes that.
//!
//! Makes the system calls of `live`; which doubts follow from what is for `tree`, `stamps` and `new_names` to keep.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::counts::Refusal;
use super::new_names::NewNames;
use super::stamps::{Contents, Stamps};
use super::tree::{At, Kept, NodeId, Tree};
use super::{BETWEEN_DRAINS, LiveNews, Look, Watched};
use crate::fs::file_system::{self, FileSystem};
use crate::fs::writers::{self, Writers};
use sys::fd::AsFd;
use sys::io::Errno;
use sys::watch::{Change, FolderId, NameStep, Notice, Watches};

/// How often names that come while others are looked at are looked at, too.
const LOOKS_AT_NAMES: usize = 4;

/// How long no watch of files is tried after one was refused.
const REST: Duration = Duration::from_secs(600);

/// See the module.
#[derive(Debug)]
pub(super) struct State<K> {
    /// Made for the first walk. An error: there are none on this system, or no more for this user.
    pub(super) watches: Option<Result<Watches, Errno>>,
    pub(super) tree: Tree<K>,
    /// Of the files in folders. Made when the first is to be believed.
    content_watches: Option<Watches>,
    pub(super) contents: Contents<K>,
    /// When the system allowed no more watches of files.
    content_limit: Option<Instant>,
    /// Names that came since the last look at such.
    new_names: NewNames,
    /// What is known of devices.
    devices: Vec<(u64, FileSystem)>,
    /// When the last walk began.
    pub(super) walked: Option<Instant>,
    /// Folders that walks came to since events were read.
    steps: usize,
    /// What the operator is to know, and whether that was told.
    pub(super) news: Vec<(LiveNews, bool)>,
}

impl<K: Kept> Default for State<K> {
    fn default() -> State<K> {
        State {
            watches: None,
            tree: Tree::default(),
            content_watches: None,
            contents: Contents::default(),
            content_limit: None,
            new_names: NewNames::default(),
            devices: Vec::new(),
            walked: None,
            steps: 0,
            news: Vec::new(),
        }
    }
}

impl<K: Kept> State<K> {
    /// A walk has come to a folder.
    pub(super) fn step(&mut self) {
        self.steps += 1;
        if self.steps >= BETWEEN_DRAINS {
            self.catch_up();
        }
    }

    /// Takes over all that was told, and looks at the names that came.
    pub(super) fn catch_up(&mut self) {
        self.steps = 0;
        for _ in 0..LOOKS_AT_NAMES {
            if !self.take_over() {
                return;
            }
            if !self.new_names.has_unseen() {
                break;
            }
            // What happens to a name while it is looked at is told after that.
            self.new_names.look(&self.tree, &mut self.contents);
        }
        if self.new_names.settle() {
            self.contents.suspect();
        }
    }

    /// Takes over what the queues tell. Returns whether anything is still known.
    fn take_over(&mut self) -> bool {
        let Some(Ok(watches)) = &self.watches else { return false };
        let State { tree, contents, new_names, .. } = self;
        let (mut is_lost, mut has_mounts, mut gone) = (false, false, Vec::new());
        let drained = watches.drain(&mut |notice| match notice {
            Notice::Lost => is_lost = true,
            Notice::Mounts => has_mounts = true,
            Notice::Ended(watch) => gone.extend(tree.ended(watch)),
            Notice::Change(watch, change) => {
                if !contents.is_empty() {
                    doubt(tree.of_watch(watch), change, contents, new_names);
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
        match doubts_all {
            true => self.renew(),
            false => self.take_over_contents(),
        }
        !doubts_all
    }

    /// Takes over what is told of files.
    fn take_over_contents(&mut self) {
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
    }

    /// Watches an open folder from now on.
    pub(super) fn watched(&mut self, folder: impl AsFd, id: FolderId, at: At) -> Option<Watched<K>> {
        let watch = match self.watches.as_ref()?.as_ref().ok()?.add(folder) {
            Ok(watch) => watch,
            Err(errno) => {
                self.note_limit(errno);
                return None;
            }
        };
        // Names in it were told to nobody before.
        let is_new = self.tree.of_watch(watch).is_none() && !switches::is_off("live-first-watched");
        if is_new && !self.contents.is_empty() {
            self.contents.suspect();
        }
        self.tree.watched(id, watch, at)
    }

    /// What is believed at this time of the files of a folder that has these names now.
    pub(super) fn stamps(&mut self, folder: NodeId, names: &Arc<K>, now: Instant) -> Option<Arc<Stamps>> {
        if self.contents.has(folder) {
            return self.contents.stamps(folder, names, now);
        }
        let device = self.tree.id_of(folder)?.device;
        let shows_writers =
            self.devices.iter().any(|(known, system)| *known == device && system.shows_writers);
        let is_limited = self.content_limit.is_some_and(|at| now.saturating_duration_since(at) < REST);
        (!shows_writers || is_limited).then(Stamps::refused)
    }

    /// Watches the files in the folder of a look, unless that has changed.
    pub(super) fn watch_content(&mut self, look: &Look<K>) {
        let (folder, device) = (look.moment.node, look.file.stamp().dev);
        if self.contents.has(folder) || self.tree.kept_at(look.moment).is_none() {
            return;
        }
        if !self.system(&look.folder, device).shows_writers {
            return;
        }
        if self.content_watches.is_none() {
            self.content_watches = Watches::of_contents().ok();
        }
        let Some(watches) = &self.content_watches else { return };
        match watches.add(&look.folder) {
            Ok(watch) => self.contents.watched(folder, device, watch, look.names.clone()),
            Err(errno) => {
                self.content_limit = Some(Instant::now());
                self.note_limit(errno);
            }
        }
    }

    /// Believes a file, or not.
    pub(super) fn settle(&mut self, look: Look<K>, now: SystemTime) {
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
        let refusal = match writers {
            _ if stat.st_nlink != 1 && !switches::is_off("live-links") => Some(Refusal::Names),
            Writers::Some if !switches::is_off("live-writers") => Some(Refusal::Open),
            Writers::Unknown => Some(Refusal::NoLease),
            Writers::Some | Writers::None => None,
        };
        let stamp = refusal.map_or(Ok(file.stamp()), Err);
        self.contents.keep((moment.node, &names), number, stamp, Instant::now());
    }

    /// Forgets all. New queues: what the old ones still hold is of no use, and their watches end with them.
    pub(super) fn renew(&mut self) {
        self.forget();
        let watches = Watches::new();
        if let Err(errno) = &watches {
            self.note_limit(*errno);
        }
        self.watches = Some(watches);
    }

    /// Forgets all, also the queues.
    pub(super) fn forget(&mut self) {
        self.tree.clear();
        (self.watches, self.content_watches) = (None, None);
        (self.contents, self.new_names) = (Contents::default(), NewNames::default());
        self.devices.clear();
    }

    /// What the kernel tells on the device of `folder`.
    pub(super) fn system(&mut self, folder: impl AsFd, device: u64) -> FileSystem {
        if let Some((_, system)) = self.devices.iter().find(|(known, _)| *known == device) {
            return *system;
        }
        let mut system = file_system::of(folder);
        system.tells_changes |= switches::is_off("live-file-systems");
        self.devices.push((device, system));
        system
    }

    pub(super) fn note_limit(&mut self, errno: Errno) {
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

/// Takes away what a change in a folder makes uncertain of files. The folder is not known any more if its watch has just ended.
fn doubt<K: Kept>(
    folder: Option<NodeId>,
    change: Change,
    contents: &mut Contents<K>,
    new_names: &mut NewNames,
) {
    match (folder, change) {
        (Some(folder), Change::Name(name, step)) => {
            contents.doubt(folder, name);
            new_names.note(folder, name, step);
        }
        (None, Change::Name(_, NameStep::New | NameStep::MovedTo(_) | NameStep::NewFolder)) => {
            new_names.note_gone();
        }
        _ => {}
    }
}
