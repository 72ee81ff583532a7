//! The stamps of files that are believed without a look, folder by folder.
//!
//! A file is believed from a look on at which nobody had it open for writing and it had one name, until an event tells that a program has
//! opened it or done anything else with it or its name; and for a minute at most, because there are ways to write to a file that are told
//! to nobody (by a hard link that is made later where nothing is watched). Makes no system calls: the looks are its caller's.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::tree::{Kept, NodeId};
use crate::fs::version::FileStamp;
use sys::watch::Watch;

/// How long a file is believed after a look.
const TRUSTED: Duration = Duration::from_secs(60);

/// What is known of the files in one folder, by the numbers of its entries.
#[derive(Debug, Clone)]
pub(crate) struct Stamps {
    device: u64,
    files: Vec<Stamp>,
}

/// A stamp in little space, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    len: u64,
    mtime_ns: i64,
    ctime_ns: i64,
}

/// What a search may do with a file without a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// Its stamp is this one.
    Stamp(FileStamp),
    /// Nothing, and a look tells no more: a program has it open for writing, or it has several names.
    Refused,
    /// Nothing, until it was looked at.
    Unknown,
}

impl Stamp {
    const UNKNOWN: Stamp = Stamp { inode: 0, len: u64::MAX, mtime_ns: 0, ctime_ns: 0 };
    const REFUSED: Stamp = Stamp { inode: 0, len: u64::MAX - 1, mtime_ns: 0, ctime_ns: 0 };

    /// `UNKNOWN` if it does not fit.
    fn of(stamp: &FileStamp) -> Stamp {
        let times = (stamp.mtime_ns.try_into(), stamp.ctime_ns.try_into());
        let (Ok(mtime_ns), Ok(ctime_ns)) = times else { return Stamp::UNKNOWN };
        Stamp { inode: stamp.ino, len: stamp.len, mtime_ns, ctime_ns }
    }
}

impl Stamps {
    /// What is believed of the entry of this number.
    pub(crate) fn get(&self, number: usize) -> Belief {
        match self.files.get(number) {
            None | Some(&Stamp::UNKNOWN) => Belief::Unknown,
            Some(&Stamp::REFUSED) => Belief::Refused,
            Some(&Stamp { inode, len, mtime_ns, ctime_ns }) => Belief::Stamp(FileStamp {
                dev: self.device,
                ino: inode,
                len,
                mtime_ns: mtime_ns.into(),
                ctime_ns: ctime_ns.into(),
            }),
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Contents<K> {
    folders: HashMap<NodeId, Content<K>>,
    by_watch: HashMap<Watch, NodeId>,
}

#[derive(Debug)]
struct Content<K> {
    watch: Watch,
    /// The names whose numbers the stamps have.
    names: Arc<K>,
    stamps: Arc<Stamps>,
    /// When the first of them was looked at.
    since: Option<Instant>,
}

impl<K> Default for Contents<K> {
    fn default() -> Contents<K> {
        Contents { folders: HashMap::new(), by_watch: HashMap::new() }
    }
}

impl<K: Kept> Contents<K> {
    /// Whether no file of any folder is watched.
    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Whether the files of a folder are watched.
    pub(super) fn has(&self, folder: NodeId) -> bool {
        self.folders.contains_key(&folder)
    }

    /// The files of a folder are watched from now on.
    pub(super) fn watched(&mut self, folder: NodeId, device: u64, watch: Watch, names: Arc<K>) {
        let stamps = Arc::new(Stamps { device, files: vec![Stamp::UNKNOWN; names.entries()] });
        self.by_watch.insert(watch, folder);
        if let Some(old) = self.folders.insert(folder, Content { watch, names, stamps, since: None }) {
            self.by_watch.retain(|watch, of| *of != folder || *watch != old.watch);
            self.by_watch.insert(watch, folder);
        }
    }

    /// What is believed at this time of the files of a folder that has these names now.
    pub(super) fn stamps(&mut self, folder: NodeId, names: &Arc<K>, now: Instant) -> Option<Arc<Stamps>> {
        let content = self.folders.get_mut(&folder)?;
        let is_old = |since: Instant| now.saturating_duration_since(since) > TRUSTED;
        if content.since.is_some_and(is_old) && !switches::is_off("live-minute") {
            content.doubt_all();
        }
        if !Arc::ptr_eq(&content.names, names) {
            content.renumber(names);
        }
        Some(content.stamps.clone())
    }

    /// Keeps what a look at this time told of the file of this number. `None`: it is refused.
    pub(super) fn keep(
        &mut self,
        (folder, names): (NodeId, &Arc<K>),
        number: usize,
        stamp: Option<&FileStamp>,
        now: Instant,
    ) {
        let Some(content) = self.folders.get_mut(&folder) else { return };
        content.since.get_or_insert(now);
        if !Arc::ptr_eq(&content.names, names) {
            content.renumber(names);
        }
        if let Some(file) = Arc::make_mut(&mut content.stamps).files.get_mut(number) {
            *file = stamp.map_or(Stamp::REFUSED, Stamp::of);
        }
    }

    /// A program did something with the file `name` in the watched folder.
    pub(super) fn changed(&mut self, watch: Watch, name: &[u8]) {
        if let Some(&folder) = self.by_watch.get(&watch) {
            self.doubt(folder, name);
        }
    }

    /// Nothing is known any more of the file `name`.
    pub(super) fn doubt(&mut self, folder: NodeId, name: &[u8]) {
        let Some(content) = self.folders.get_mut(&folder) else { return };
        let Some(number) = content.names.position(name) else { return };
        if content.stamps.files.get(number).is_some_and(|file| *file != Stamp::UNKNOWN)
            && let Some(file) = Arc::make_mut(&mut content.stamps).files.get_mut(number)
        {
            *file = Stamp::UNKNOWN;
        }
    }

    /// Nothing is known any more of any name of this inode.
    pub(super) fn doubt_inode(&mut self, device: u64, inode: u64) {
        for content in self.folders.values_mut().filter(|content| content.stamps.device == device) {
            if content.stamps.files.iter().any(|file| file.inode == inode) {
                let files = &mut Arc::make_mut(&mut content.stamps).files;
                files.iter_mut().filter(|file| file.inode == inode).for_each(|file| *file = Stamp::UNKNOWN);
            }
        }
    }

    /// Nothing is known any more of any file. They are watched as before.
    pub(super) fn doubt_all(&mut self) {
        self.folders.values_mut().for_each(Content::doubt_all);
    }

    /// A folder is not known any more, or its watch has ended. Returns the watch of its files.
    pub(super) fn remove(&mut self, folder: NodeId) -> Option<Watch> {
        let watch = self.folders.remove(&folder)?.watch;
        self.by_watch.remove(&watch);
        Some(watch)
    }

    /// A watch has ended by itself.
    pub(super) fn ended(&mut self, watch: Watch) {
        if let Some(&folder) = self.by_watch.get(&watch) {
            self.remove(folder);
        }
    }

    /// Number of files that are believed, and of those that are refused.
    pub(super) fn counts(&self) -> (usize, usize) {
        let files = self.folders.values().flat_map(|content| &content.stamps.files);
        files.fold((0, 0), |(believed, refused), file| match *file {
            Stamp::UNKNOWN => (believed, refused),
            Stamp::REFUSED => (believed, refused + 1),
            _ => (believed + 1, refused),
        })
    }
}

impl<K> Content<K> {
    fn doubt_all(&mut self) {
        Arc::make_mut(&mut self.stamps).files.fill(Stamp::UNKNOWN);
        self.since = None;
    }
}

impl<K: Kept> Content<K> {
    /// The folder has other names: what is known of a file stays so, as an event of its own name would have told otherwise.
    fn renumber(&mut self, names: &Arc<K>) {
        let old = |number| {
            let name = names.name(number)?;
            self.stamps.files.get(self.names.position(name)?).copied()
        };
        let files = (0..names.entries()).map(|number| old(number).unwrap_or(Stamp::UNKNOWN)).collect();
        self.stamps = Arc::new(Stamps { device: self.stamps.device, files });
        self.names = names.clone();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::{Named, node_and_watch};
    use super::*;

    #[test]
    fn a_file_is_believed_for_a_minute_at_most() {
        let (folder, watch) = node_and_watch();
        let (names, start) = (Arc::new(Named), Instant::now());
        let mut contents = Contents::default();
        contents.watched(folder, 1, watch, names.clone());
        let stamp = FileStamp { dev: 1, ino: 2, len: 3, mtime_ns: 4, ctime_ns: 5 };
        contents.keep((folder, &names), 0, Some(&stamp), start);
        let mut belief = |at: Instant| contents.stamps(folder, &names, at).map(|stamps| stamps.get(0));
        assert_eq!(belief(start + TRUSTED), Some(Belief::Stamp(stamp)));
        assert_eq!(belief(start + TRUSTED + Duration::from_millis(1)), Some(Belief::Unknown));
        // A new look is believed for a minute again.
        let later = start + TRUSTED * 2;
        contents.keep((folder, &names), 0, Some(&stamp), later);
        let mut belief = |at: Instant| contents.stamps(folder, &names, at).map(|stamps| stamps.get(0));
        assert_eq!(belief(later + TRUSTED), Some(Belief::Stamp(stamp)));
    }
}
