//! Looks at what a job has hidden to delete it, before any of it goes: what must stay, or what another program has written meanwhile, is
//! nowhere else.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::Commit;
use crate::workspace::job::seen::{Seen, SeenEntries};
use crate::workspace::job::steps::Step;
use crate::workspace::job::take_back::Done;
use crate::workspace::relocate;
use folder::fs::remove::Guard;
use folder::fs::resolve::{ResolvedPath, file_type};
use folder::{Control, Error, FilePath, Result};
use sys::fd::{AsFd, OwnedFd};
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, Dir, FileType, Stat};

/// How long a look into deleted folders may take. The job cannot be called off any more.
const LONGEST_LOOK: Duration = Duration::from_secs(60);

/// What one step has hidden.
struct HiddenEntry<'c> {
    place: ResolvedPath,
    /// Its status before that.
    before: Option<&'c Stat>,
    path: &'c FilePath,
    /// What the journal has of it.
    seen: Option<&'c SeenEntries>,
}

impl Commit<'_> {
    /// Refuses to go on if something that was hidden must stay, or is not what was to be deleted.
    pub(super) fn check_hidden(&mut self) -> Result<()> {
        for done in &self.done {
            let Done::Hidden { hidden, before, step, .. } = done else { continue };
            let Some(Step::Deleted { at, path, recursive, taken, .. }) = self.draft.steps.get(*step) else {
                continue;
            };
            let stat = hidden.restat().map_err(|errno| Error::read(path.sent(), errno))?;
            let place = ResolvedPath { stat, ..hidden.clone() };
            let entry = HiddenEntry { place, before: before.as_ref(), path, seen: self.seen.get(step) };
            let planned =
                taken.and_then(|taken| self.draft.taken.get(taken)).and_then(|taken| taken.found.place.stat);
            let is_folder =
                entry.place.stat.as_ref().is_some_and(|stat| file_type(stat) == FileType::Directory);
            let checked = entry.check_itself(planned.as_ref()).and_then(|()| match is_folder {
                false => Ok(()),
                true if *recursive => self.check_tree(&entry, &at.1),
                true => self.check_empty(&entry),
            });
            // A folder that is not empty any more is refused by the next plan.
            self.is_overtaken = matches!(checked, Err(Error::Changed { .. })) && (*recursive || !is_folder);
            checked?;
        }
        Ok(())
    }

    /// Checks that everything in a folder may be removed, and is as it was.
    fn check_tree(&self, entry: &HiddenEntry, at: &Path) -> Result<()> {
        let folder = entry.place.open_folder().map_err(|_| entry.changed(Path::new("")))?;
        let (excludes, mounts) = (self.workspace.folders.excludes(), &self.workspace.mounts);
        let control = Control::new(LONGEST_LOOK);
        let guard =
            Guard::new(folder.as_fd(), at, excludes, mounts).map(|guard| guard.with_own(&self.hidden));
        // Itself.
        let mut found = 1;
        let look = |folder: &Arc<OwnedFd>, path: &Path, names: &mut dyn Iterator<Item = &OsStr>| {
            let Some(seen) = entry.seen else { return Ok(()) };
            for name in names {
                found += 1;
                entry.check(seen, folder, &path.join(name))?;
            }
            Ok(())
        };
        guard
            .and_then(|guard| guard.look_at_tree(&control, look))
            .map_err(|problem| relocate::refused(entry.path, problem))?;
        match entry.seen.is_none_or(|seen| seen.len() == found) {
            true => Ok(()),
            false => Err(entry.changed(Path::new(""))),
        }
    }

    /// Checks that there is nothing in a folder.
    fn check_empty(&self, entry: &HiddenEntry) -> Result<()> {
        let changed = |_| entry.changed(Path::new(""));
        let folder = entry.place.open_folder().map_err(|_| entry.changed(Path::new("")))?;
        let is_itself =
            |name: &[u8]| matches!(name, b"." | b"..") || self.hidden.contains(OsStr::from_bytes(name));
        for inside in Dir::read_from(folder.as_fd()).map_err(changed)? {
            if !is_itself(inside.map_err(changed)?.file_name().to_bytes()) {
                return Err(entry.changed(Path::new("")));
            }
        }
        Ok(())
    }
}

impl HiddenEntry<'_> {
    /// Checks that it is the entry that was seen, or else `planned`.
    fn check_itself(&self, planned: Option<&Stat>) -> Result<()> {
        let seen = self.seen.and_then(|seen| seen.get(&b""[..])).copied().or_else(|| planned.map(Seen::of));
        match seen.is_none_or(|seen| seen.is_at(&self.place, self.before)) {
            true => Ok(()),
            false => Err(self.changed(Path::new(""))),
        }
    }

    /// Checks that the entry at `path` in it, in this folder, is as it was.
    fn check(&self, seen: &SeenEntries, folder: &Arc<OwnedFd>, path: &Path) -> Result<()> {
        let name = path.file_name().unwrap_or_default();
        let stat = sys::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        let place = stat.ok().map(|stat| ResolvedPath::in_folder(folder, name, stat));
        let seen = seen.get(path.as_os_str().as_bytes());
        match place.zip(seen).is_some_and(|(place, seen)| seen.is_at(&place, None)) {
            true => Ok(()),
            false => Err(self.changed(path)),
        }
    }

    /// The error for an entry in it that another program has changed.
    fn changed(&self, path: &Path) -> Error {
        let path = Path::new(self.path.sent()).join(path);
        Error::Changed { name: path.to_string_lossy().trim_end_matches('/').into() }
    }
}
