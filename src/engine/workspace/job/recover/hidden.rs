//! What a job has hidden: where it is now, and its removal.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::Recovery;
use crate::workspace::Workspace;
use folder::fs::atomic::Durability;
use folder::fs::leftovers;
use folder::fs::version::identity;
use journal::{Change, Step};
use sys::ffi::OsStrExt;
use sys::fs::AtFlags;
use sys::io::Errno;

impl Workspace {
    /// Notes that what a change has hidden, and what could not be removed though the change is done, is to be removed later.
    pub(in crate::workspace::job) fn remove_later(&self, change: Change) -> io::Result<()> {
        let log = self.change_log.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let flush = self.options.durability == Durability::Full;
        let mut open = log.begin(0)?;
        // First: what has no mark is taken back.
        open.mark(false)?;
        open.write(&change.into_removal(), flush)?;
        open.keep();
        Ok(())
    }
}

impl Recovery<'_> {
    /// Removes what still has a hidden name for the elements that `may_go`, and the temporary files beside. False: something is left.
    pub(super) fn remove_hidden(&self, may_go: impl Fn(usize) -> bool) -> bool {
        let (files, steps) = (&self.change.files, &self.change.steps);
        let mut all_gone = true;
        for (_, file) in files.iter().enumerate().filter(|(element, _)| may_go(*element)) {
            let places = [&file.from, &file.at, &beside_after(steps, &file.from)];
            for hidden in places.into_iter().filter_map(|place| self.hidden(place, &file.hidden)) {
                let gone = sys::fs::unlinkat(&hidden.dir, &hidden.name, AtFlags::empty());
                all_gone &= matches!(gone, Ok(()) | Err(Errno::NOENT));
            }
        }
        all_gone &= self.remove_deleted(may_go);
        let mut cleared = HashSet::new();
        for found in self.change.places().filter_map(|place| self.find(place).ok()) {
            let id = sys::fs::fstat(&found.place.dir).map(|stat| identity(&stat));
            if id.is_ok_and(|id| cleared.insert(id)) {
                leftovers::clear(&found.place.dir, &self.workspace.mounts);
            }
        }
        all_gone
    }

    /// Removes what was deleted.
    fn remove_deleted(&self, may_go: impl Fn(usize) -> bool) -> bool {
        let (files, steps) = (&self.change.files, &self.change.steps);
        let deleted = || {
            steps.iter().enumerate().filter_map(|(number, step)| match step {
                Step::Deleted { at, hidden, .. } if may_go(files.len() + number) => {
                    Some((number, at, hidden))
                }
                _ => None,
            })
        };
        let own = deleted().map(|(_, _, hidden)| OsStr::from_bytes(hidden).to_owned()).collect();
        let mut all_gone = true;
        for (number, at, hidden) in deleted() {
            let moved = || self.hidden(&beside_after(&steps[number + 1..], at), hidden);
            let Some(hidden) = self.hidden(at, hidden).or_else(moved) else { continue };
            let path = PathBuf::from(OsStr::from_bytes(&at.path));
            all_gone &= self.workspace.remove_hidden(&hidden, true, &path, &own, &self.control).is_some();
        }
        all_gone
    }
}

/// Where what is beside `place` is after these steps: folders above it may have been moved or hidden.
fn beside_after(steps: &[Step], place: &journal::Place) -> journal::Place {
    let path = |place: &journal::Place| PathBuf::from(OsStr::from_bytes(&place.path));
    let (mut root, mut now) = (place.root, path(place));
    for step in steps {
        let (from, to) = match step {
            Step::Moved { from, to, .. } => (from, (to.root, path(to))),
            Step::Deleted { at, hidden, .. } => {
                (at, (at.root, path(at).with_file_name(OsStr::from_bytes(hidden))))
            }
            _ => continue,
        };
        let rest =
            now.strip_prefix(path(from)).ok().filter(|rest| from.root == root && *rest != Path::new(""));
        if let Some(rest) = rest.map(Path::to_owned) {
            (root, now) = (to.0, to.1.join(rest));
        }
    }
    journal::Place { root, path: now.as_os_str().as_bytes().to_vec() }
}
