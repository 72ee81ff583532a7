//! Names that came into watched folders: each may be a further name of a file that is believed, by which it can be written unseen.
//!
//! A hard link raises no event at the file. One that is made in a watched folder is seen by its own name; while that is there, a look tells
//! whether the file has several. A name that is gone before the look, or is another file's by then, may have been one of any file. So
//! may the names in a folder that came, which was not watched from its beginning.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use super::check::open;
use super::stamps::Contents;
use super::tree::{Kept, NodeId, Tree};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, FileType};
use sys::io::Errno;
use sys::watch::NameStep;

/// Looks at more names at once would take longer than looks at the files that are searched.
const MOST: usize = 1_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct NewNames {
    unseen: HashMap<NodeId, HashSet<Box<[u8]>>>,
    /// Those that were looked at.
    seen: HashSet<(NodeId, Box<[u8]>)>,
    count: usize,
    /// Renames of new names of which the other side was not told yet.
    moving: HashSet<u32>,
    /// A new name is gone, or there are too many.
    is_uncertain: bool,
}

impl NewNames {
    /// Notes what became of a name.
    pub(super) fn note(&mut self, folder: NodeId, name: &[u8], step: NameStep) {
        match step {
            _ if switches::is_off("live-new-names") => {}
            NameStep::GoneFolder => {}
            NameStep::NewFolder => self.is_uncertain |= !switches::is_off("live-new-folders"),
            NameStep::New => self.add(folder, name),
            NameStep::Gone => self.is_uncertain |= self.take(folder, name),
            NameStep::MovedFrom(rename) => {
                if self.take(folder, name) {
                    self.moving.insert(rename);
                }
            }
            NameStep::MovedTo(rename) => {
                self.moving.remove(&rename);
                // What had the name is gone.
                self.is_uncertain |= self.take(folder, name) && !switches::is_off("live-replaced-names");
                self.add(folder, name);
            }
        }
    }

    /// Notes that a name came into a folder of which nothing is known any more.
    pub(super) fn note_gone(&mut self) {
        self.is_uncertain |= !switches::is_off("live-gone-folders");
    }

    /// Whether names were not looked at yet.
    pub(super) fn has_unseen(&self) -> bool {
        !self.unseen.is_empty() && !self.is_uncertain
    }

    /// Looks at the names, and takes away what they make uncertain.
    pub(super) fn look<K: Kept>(&mut self, tree: &Tree<K>, contents: &mut Contents<K>) {
        for (folder, names) in std::mem::take(&mut self.unseen) {
            if names.is_empty() {
                continue;
            }
            let opened = tree.place(folder).ok_or(Errno::NOENT).and_then(open);
            self.is_uncertain |=
                !opened.is_ok_and(|opened| names.iter().all(|name| look_at(&opened, name, contents).is_ok()));
            self.seen.extend(names.into_iter().map(|name| (folder, name)));
        }
    }

    /// Forgets the names. Returns whether any may have been one of a file that is believed.
    pub(super) fn settle(&mut self) -> bool {
        let NewNames { unseen, moving, is_uncertain, .. } = std::mem::take(self);
        is_uncertain || !moving.is_empty() || unseen.values().any(|names| !names.is_empty())
    }

    fn add(&mut self, folder: NodeId, name: &[u8]) {
        self.count += 1;
        self.is_uncertain |= self.count > MOST;
        if !self.is_uncertain {
            self.unseen.entry(folder).or_default().insert(name.into());
        }
    }

    fn take(&mut self, folder: NodeId, name: &[u8]) -> bool {
        let is_unseen = self.unseen.get_mut(&folder).is_some_and(|names| names.remove(name));
        is_unseen || !self.seen.is_empty() && self.seen.remove(&(folder, name.into()))
    }
}

/// Takes away what is believed of a file that has this name and others. An error: what the name was of is not known.
fn look_at<K: Kept>(folder: &OwnedFd, name: &[u8], contents: &mut Contents<K>) -> Result<(), Errno> {
    let stat = sys::fs::statat(folder, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
    if sys::fs::file_type(stat.st_mode) == FileType::RegularFile && stat.st_nlink > 1 {
        contents.doubt_inode(stat.st_dev, stat.st_ino);
    }
    Ok(())
}
