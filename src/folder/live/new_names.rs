//! Names that came into watched folders: each may be a further name of a file that is believed, by which it can be written unseen.
//!
//! A hard link raises no event at the file. One that is made in a watched folder is seen by its own name; while that is there, a look tells
//! whether the file has several. A name that is gone before the look may have been one of any file.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use super::stamps::Contents;
use super::tree::{Kept, NodeId, Tree};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, FileType, Mode, OFlags};
use sys::io::Errno;
use sys::watch::{NameStep, folder_id};

/// Looks at more names at once would take longer than looks at the files that are searched.
const MOST: usize = 1_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct NewNames {
    names: HashMap<NodeId, HashSet<Box<[u8]>>>,
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
            NameStep::Folder => {}
            NameStep::New => self.add(folder, name),
            NameStep::Gone => self.is_uncertain |= self.take(folder, name),
            NameStep::MovedFrom(rename) => {
                if self.take(folder, name) {
                    self.moving.insert(rename);
                }
            }
            NameStep::MovedTo(rename) => {
                self.moving.remove(&rename);
                self.add(folder, name);
            }
        }
    }

    fn add(&mut self, folder: NodeId, name: &[u8]) {
        self.count += 1;
        self.is_uncertain |= self.count > MOST;
        if !self.is_uncertain {
            self.names.entry(folder).or_default().insert(name.into());
        }
    }

    fn take(&mut self, folder: NodeId, name: &[u8]) -> bool {
        self.names.get_mut(&folder).is_some_and(|names| names.remove(name))
    }

    /// Looks at the names, and takes away what they make uncertain.
    pub(super) fn look<K: Kept>(&mut self, tree: &Tree<K>, contents: &mut Contents<K>) {
        let NewNames { names, moving, is_uncertain, .. } = std::mem::take(self);
        if switches::is_off("live-new-names") {
            return;
        }
        let is_certain = !is_uncertain
            && moving.is_empty()
            && names.iter().filter(|(_, names)| !names.is_empty()).all(|(folder, names)| {
                open(tree, *folder)
                    .is_ok_and(|opened| names.iter().all(|name| look_at(&opened, name, contents).is_ok()))
            });
        if !is_certain {
            contents.doubt_all();
        }
    }
}

/// Opens a folder where it was when it was entered.
fn open<K: Kept>(tree: &Tree<K>, folder: NodeId) -> Result<OwnedFd, Errno> {
    let (top, path, id) = tree.place(folder).ok_or(Errno::NOENT)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match path.as_os_str().is_empty() {
        true => sys::fs::openat(&top, ".", flags, Mode::empty())?,
        false => sys::fs::open_beneath(&top, &path, flags)?,
    };
    if folder_id(&opened) == Some(id) { Ok(opened) } else { Err(Errno::NOENT) }
}

/// Takes away what is believed of a file that has this name and others. An error: what the name was of is not known.
fn look_at<K: Kept>(folder: &OwnedFd, name: &[u8], contents: &mut Contents<K>) -> Result<(), Errno> {
    let stat = sys::fs::statat(folder, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?;
    if sys::fs::file_type(stat.st_mode) == FileType::RegularFile && stat.st_nlink > 1 {
        contents.doubt_inode(stat.st_dev, stat.st_ino);
    }
    Ok(())
}
