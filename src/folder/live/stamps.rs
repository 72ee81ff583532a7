//! The stamps of files that are believed without a look, folder by folder.
//!
//! A file is believed from a look on at which nobody had it open for writing and it had one name, until an event tells that a program has
//! opened it or done anything else with it or its name. Because there are ways to write to a file that are told to nobody (by a hard link
//! that is made later where nothing is watched), it must have been checked since the last suspicion of such, and within a minute. Makes no
//! system calls: the looks are its caller's.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counts::{FileCounts, Refusal};
use super::tree::{Kept, NodeId};
use crate::fs::version::FileStamp;
use sys::watch::Watch;

/// How long a file is believed after a look.
const TRUSTED: Duration = Duration::from_secs(60);

/// After what time the next look is due, so that it comes before that.
const DUE: Duration = Duration::from_secs(30);

/// What is known of the files in one folder, by the numbers of its entries.
#[derive(Debug, Clone)]
pub(crate) struct Stamps {
    device: u64,
    files: Vec<Stamp>,
    /// What holds of the rest.
    others: Belief,
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
    /// The length of those that are refused, whose inode tells why.
    const REFUSED: u64 = u64::MAX - 1;

    const fn refused(why: Refusal) -> Stamp {
        Stamp { inode: why as u64, len: Stamp::REFUSED, mtime_ns: 0, ctime_ns: 0 }
    }

    fn is_refused(&self) -> bool {
        self.len == Stamp::REFUSED
    }

    /// `UNKNOWN` if it does not fit.
    fn of(stamp: &FileStamp) -> Stamp {
        let times = (stamp.mtime_ns.try_into(), stamp.ctime_ns.try_into());
        let (Ok(mtime_ns), Ok(ctime_ns)) = times else { return Stamp::UNKNOWN };
        Stamp { inode: stamp.ino, len: stamp.len, mtime_ns, ctime_ns }
    }
}

impl Stamps {
    /// Those of a folder whose files cannot be believed.
    pub(super) fn refused() -> Arc<Stamps> {
        Arc::new(Stamps { device: 0, files: Vec::new(), others: Belief::Refused })
    }

    /// Those of so many files of which nothing is known.
    fn unknown(device: u64, files: usize) -> Arc<Stamps> {
        Arc::new(Stamps { device, files: vec![Stamp::UNKNOWN; files], others: Belief::Unknown })
    }

    /// The stamp that is believed of the entry of this number.
    pub(super) fn believed(&self, number: usize) -> Option<FileStamp> {
        match self.get(number) {
            Belief::Stamp(stamp) => Some(stamp),
            Belief::Refused | Belief::Unknown => None,
        }
    }

    /// What is believed of the entry of this number.
    pub(crate) fn get(&self, number: usize) -> Belief {
        match self.files.get(number) {
            None => self.others,
            Some(&Stamp::UNKNOWN) => Belief::Unknown,
            Some(stamp) if stamp.is_refused() => Belief::Refused,
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
    /// How often something was told by which any file may have been written unseen.
    suspicions: u64,
}

#[derive(Debug)]
struct Content<K> {
    watch: Watch,
    /// The names whose numbers the stamps have.
    names: Arc<K>,
    stamps: Arc<Stamps>,
    /// When all of them were looked at, at the latest.
    checked: Option<Check>,
}

/// A look at all files of a folder.
#[derive(Debug, Clone, Copy)]
struct Check {
    at: Instant,
    /// Suspicions before.
    suspicions: u64,
}

/// What is believed of the files of a folder unless a look tells otherwise.
#[derive(Debug)]
pub(super) struct Doubtful<K> {
    pub(super) names: Arc<K>,
    pub(super) stamps: Arc<Stamps>,
    suspicions: u64,
}

impl<K> Default for Contents<K> {
    fn default() -> Contents<K> {
        Contents { folders: HashMap::new(), by_watch: HashMap::new(), suspicions: 0 }
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
        let stamps = Stamps::unknown(device, names.entries());
        self.by_watch.insert(watch, folder);
        self.folders.insert(folder, Content { watch, names, stamps, checked: None });
    }

    /// What is believed at this time of the files of a folder that has these names now.
    pub(super) fn stamps(&mut self, folder: NodeId, names: &Arc<K>, now: Instant) -> Option<Arc<Stamps>> {
        let suspicions = self.suspicions;
        let content = self.folders.get_mut(&folder)?;
        if !Arc::ptr_eq(&content.names, names) {
            content.renumber(names);
        }
        content.is_trusted(suspicions, TRUSTED, now).then(|| content.stamps.clone())
    }

    /// Keeps what a look at this time told of the file of this number.
    pub(super) fn keep(
        &mut self,
        (folder, names): (NodeId, &Arc<K>),
        number: usize,
        stamp: Result<&FileStamp, Refusal>,
        now: Instant,
    ) {
        let Some(content) = self.folders.get_mut(&folder) else { return };
        content.checked.get_or_insert(Check { at: now, suspicions: self.suspicions });
        if !Arc::ptr_eq(&content.names, names) {
            content.renumber(names);
        }
        content.set(number, stamp.map_or_else(Stamp::refused, Stamp::of));
    }

    /// Any file may have been written by another name: none is believed before the next check.
    pub(super) fn suspect(&mut self) {
        self.suspicions += 1;
    }

    /// Whether a check of any folder is due.
    pub(super) fn has_doubtful(&self, now: Instant) -> bool {
        self.folders.values().any(|content| !content.is_trusted(self.suspicions, DUE, now))
    }

    /// The folders of which a check is due.
    pub(super) fn doubtful(&self, now: Instant) -> Vec<NodeId> {
        let due = self.folders.iter().filter(|(_, content)| !content.is_trusted(self.suspicions, DUE, now));
        due.map(|(folder, _)| *folder).collect()
    }

    /// What is to be checked of a folder.
    pub(super) fn doubt_of(&self, folder: NodeId) -> Option<Doubtful<K>> {
        let content = self.folders.get(&folder)?;
        let (names, stamps) = (content.names.clone(), content.stamps.clone());
        Some(Doubtful { names, stamps, suspicions: self.suspicions })
    }

    /// A check began at this time. `changed`: the numbers of the files that are not as they were; `None`: the folder could not be opened.
    pub(super) fn checked(
        &mut self,
        folder: NodeId,
        doubtful: &Doubtful<K>,
        changed: Option<Vec<usize>>,
        at: Instant,
    ) {
        let Some(content) = self.folders.get_mut(&folder) else { return };
        let Some(changed) = changed.filter(|_| Arc::ptr_eq(&content.names, &doubtful.names)) else {
            content.doubt_all();
            return;
        };
        changed.into_iter().for_each(|number| content.set(number, Stamp::UNKNOWN));
        // Those that were refused may be worth a look again.
        if content.stamps.files.iter().any(Stamp::is_refused) {
            let files = Arc::make_mut(&mut content.stamps).files.iter_mut();
            files.filter(|file| file.is_refused()).for_each(|file| *file = Stamp::UNKNOWN);
        }
        // A file that was looked at meanwhile is no older.
        content.checked = Some(Check { at, suspicions: doubtful.suspicions });
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
        if let Some(number) = content.names.position(name) {
            content.set(number, Stamp::UNKNOWN);
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

    /// What is known at this time of the files of watched folders.
    pub(super) fn counts(&self, now: Instant) -> FileCounts {
        let mut counts = FileCounts::default();
        for content in self.folders.values() {
            let is_trusted = content.is_trusted(self.suspicions, TRUSTED, now);
            for file in &content.stamps.files {
                *match *file {
                    Stamp::UNKNOWN => &mut counts.unknown,
                    file if file == Stamp::refused(Refusal::Open) => &mut counts.open,
                    file if file == Stamp::refused(Refusal::Names) => &mut counts.several_names,
                    file if file.is_refused() => &mut counts.no_lease,
                    _ if is_trusted => &mut counts.believed,
                    _ => &mut counts.unknown,
                } += 1;
            }
        }
        counts
    }
}

impl<K> Content<K> {
    /// Whether all its files were looked at since the last suspicion, and not longer ago than that.
    fn is_trusted(&self, suspicions: u64, longest: Duration, now: Instant) -> bool {
        self.checked.is_none_or(|check| {
            let age = now.saturating_duration_since(check.at);
            check.suspicions == suspicions && (age <= longest || switches::is_off("live-minute"))
        })
    }

    fn set(&mut self, number: usize, stamp: Stamp) {
        if self.stamps.files.get(number).is_some_and(|file| *file != stamp)
            && let Some(file) = Arc::make_mut(&mut self.stamps).files.get_mut(number)
        {
            *file = stamp;
        }
    }

    fn doubt_all(&mut self) {
        Arc::make_mut(&mut self.stamps).files.fill(Stamp::UNKNOWN);
        self.checked = None;
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
        let stamps = Stamps { device: self.stamps.device, files, others: Belief::Unknown };
        self.stamps = Arc::new(stamps);
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
        contents.keep((folder, &names), 0, Ok(&stamp), start);
        let belief = |contents: &mut Contents<Named>, at| {
            contents.stamps(folder, &names, at).map(|stamps| stamps.get(0))
        };
        assert_eq!(belief(&mut contents, start + TRUSTED), Some(Belief::Stamp(stamp)));
        let late = start + TRUSTED + Duration::from_millis(1);
        assert_eq!(belief(&mut contents, late), None);
        // A check is due before that. After it, the file is believed for a minute again.
        assert!(!contents.has_doubtful(start + DUE) && contents.has_doubtful(late));
        let doubtful = contents.doubt_of(folder).unwrap();
        assert_eq!(doubtful.stamps.believed(0), Some(stamp));
        contents.checked(folder, &doubtful, Some(Vec::new()), late);
        assert_eq!(belief(&mut contents, late + TRUSTED), Some(Belief::Stamp(stamp)));
        // A suspicion during a check is none that the check has seen.
        let doubtful = contents.doubt_of(folder).unwrap();
        contents.suspect();
        contents.checked(folder, &doubtful, Some(Vec::new()), late);
        assert_eq!(belief(&mut contents, late), None);
        // It has changed.
        let doubtful = contents.doubt_of(folder).unwrap();
        contents.checked(folder, &doubtful, Some(vec![0]), late);
        assert_eq!(belief(&mut contents, late), Some(Belief::Unknown));
    }
}
