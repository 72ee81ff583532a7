//! Carries out one step of a job: one change of a name. What it did is noted, so that it can be taken back.

use std::ffi::OsStr;
use std::sync::Arc;

use super::Commit;
use crate::workspace::Place;
use crate::workspace::found::{Found, Want};
use crate::workspace::job::draft::Taken;
use crate::workspace::job::steps::Step;
use crate::workspace::job::take_back::{Done, EntryId, NewFile};
use crate::workspace::relocate::in_use;
use crate::workspace::write::Stopped;
use folder::FilePath;
use folder::fs::atomic::{Durability, PreparedFile, ReplaceError, Replaces};
use folder::fs::failpoint;
use folder::fs::lost::in_doubt;
use folder::fs::rename::{Renamed, rename_to_free};
use folder::fs::resolve::{ResolvedPath, file_type};
use folder::fs::version::{FileStamp, identity};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{FileType, Mode, OFlags, Stat};
use sys::io::Errno;

impl Commit<'_> {
    pub(super) fn step(
        &mut self,
        number: usize,
        step: &Step,
        new: &mut impl Iterator<Item = (usize, PreparedFile)>,
    ) -> Result<(), Stopped> {
        match step {
            Step::Folder { at, path, mode } => self.make_folder(at, path, *mode)?,
            Step::Link { at, path, target } => self.make_link(at, path, target)?,
            Step::New { at, path, file } => {
                let prepared = new.next().filter(|(number, _)| number == file);
                let (_, prepared) = prepared.ok_or(ReplaceError::Changed)?;
                self.put_new(prepared, self.workspace.as_new(&self.draft.files[*file]), at, path)?;
            }
            Step::Moved { from, to, source, target, taken } => {
                let from = self.there(from, source, *taken)?;
                let to = self.free(to, target)?;
                self.will_change(&from.place)?;
                self.will_change(&to.place)?;
                let id = id_of(&from.place)?;
                let done = |from, to| Done::Moved { from, to, id };
                self.rename(from.place, to.place, done)?;
            }
            Step::Deleted { at, path, taken, hidden, .. } => self.hide(number, (at, path), *taken, hidden)?,
        }
        failpoint::taken().map_err(ReplaceError::from)?;
        Ok(())
    }

    fn make_folder(&mut self, at: &Place, path: &FilePath, mode: Option<Mode>) -> Result<(), Stopped> {
        let found = self.free(at, path)?;
        self.will_change(&found.place)?;
        let (usual, place) = (self.workspace.new_folder_mode(), found.place);
        sys::fs::mkdirat(&place.dir, &place.name, mode.unwrap_or(usual)).map_err(taken_meanwhile)?;
        let made = place.clone();
        self.done.push(Done::Folder { place });
        // The process's mask took some of them away.
        if let Some(mode) = mode.filter(|mode| !usual.contains(*mode)) {
            let found = ResolvedPath { stat: made.restat().map_err(ReplaceError::from)?, ..made };
            let folder = found.open_folder().map_err(|_| ReplaceError::Changed)?;
            let folder = sys::fs::openat(folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
            sys::fs::fchmod(folder.map_err(ReplaceError::from)?, mode).map_err(ReplaceError::from)?;
        }
        Ok(())
    }

    fn make_link(&mut self, at: &Place, path: &FilePath, target: &[u8]) -> Result<(), Stopped> {
        let found = self.free(at, path)?;
        self.will_change(&found.place)?;
        let ResolvedPath { dir, name, .. } = &found.place;
        sys::fs::symlinkat(OsStr::from_bytes(target), dir, name).map_err(taken_meanwhile)?;
        let id = found.place.restat().ok().flatten().map(|stat| identity(&stat)).unwrap_or_default();
        self.done.push(Done::Link { place: found.place, id });
        Ok(())
    }

    fn put_new(
        &mut self,
        prepared: PreparedFile,
        replaces: Replaces,
        at: &Place,
        path: &FilePath,
    ) -> Result<(), Stopped> {
        let found = self.free(at, path)?;
        self.will_change(&found.place)?;
        let (id, stamp, _lock) = (prepared.id(), prepared.written(), prepared.lock());
        let at = path.at(at.0, &at.1);
        let leads_there =
            || self.workspace.folders.check_still_leads_to(&at, &found).map_err(Stopped::Refused);
        let put = prepared.put(&found.place, &replaces, Durability::None, leads_there);
        if matches!(put, Ok(_) | Err(Stopped::Failed(ReplaceError::InPlace(_)))) {
            let new = NewFile { id, stamp, _lock };
            self.done.push(Done::New { place: found.place, new });
        }
        self.stamp = put?;
        Ok(())
    }

    /// Gives an entry that is to be deleted a hidden name.
    fn hide(
        &mut self,
        number: usize,
        (at, path): (&Place, &FilePath),
        taken: Option<usize>,
        hidden: &OsStr,
    ) -> Result<(), Stopped> {
        let place = self.there(at, path, taken)?.place;
        self.will_change(&place)?;
        let hidden = ResolvedPath { name: hidden.to_owned(), stat: None, ..place.clone() };
        // The time of change is another one behind the rename.
        let done = |from: ResolvedPath, hidden| Done::Hidden {
            place: from,
            hidden,
            before: place.stat,
            step: number,
        };
        self.rename(place.clone(), hidden, done)
    }

    /// Renames, and notes what is done as `done` has it, also if that is in doubt.
    fn rename(
        &mut self,
        from: ResolvedPath,
        to: ResolvedPath,
        done: impl FnOnce(ResolvedPath, ResolvedPath) -> Done,
    ) -> Result<(), Stopped> {
        let renamed = rename_to_free(&from, &to);
        if renamed.is_ok() {
            self.done.push(done(ResolvedPath { stat: None, ..from }, to));
        }
        match renamed {
            Ok(Renamed::Moved) => Ok(()),
            Ok(Renamed::SourceKept) => Err(ReplaceError::Changed.into()),
            Ok(Renamed::Unknown(errno)) => Err(ReplaceError::from(in_doubt(&errno.into())).into()),
            Err(Errno::EXIST) => Err(ReplaceError::Exists.into()),
            Err(errno) => Err(ReplaceError::from(in_use(errno)).into()),
        }
    }

    /// What is at a place now.
    fn look(&mut self, at: &Place, path: &FilePath) -> Result<Found, Stopped> {
        let found = self.workspace.folders.find_at(at, path, Want::Link).map_err(Stopped::Refused)?;
        found.check_writable(path).map_err(Stopped::Refused)?;
        if !found.place.missing.is_empty() {
            return Err(ReplaceError::Changed.into());
        }
        let dir = self.shared(found.place.dir.clone());
        Ok(Found { place: ResolvedPath { dir, ..found.place }, ..found })
    }

    /// The first handle of the same folder, in a job that would have too many.
    fn shared(&mut self, dir: Arc<OwnedFd>) -> Arc<OwnedFd> {
        match sys::fs::fstat(&dir) {
            Ok(stat) if self.draft.is_large => self.dirs.entry(identity(&stat)).or_insert(dir).clone(),
            _ => dir,
        }
    }

    /// The entry at a place, which must be the one that was planned.
    fn there(&mut self, at: &Place, path: &FilePath, taken: Option<usize>) -> Result<Found, Stopped> {
        let found = self.look(at, path)?;
        let now = found.place.stat.as_ref().ok_or(ReplaceError::Changed)?;
        let planned = taken.and_then(|taken| self.draft.taken.get(taken));
        match planned.is_none_or(|planned| self.is_planned(now, planned)) {
            true => Ok(found),
            false => Err(ReplaceError::Changed.into()),
        }
    }

    fn is_planned(&self, now: &Stat, planned: &Taken) -> bool {
        let Some(then) = &planned.found.place.stat else { return false };
        // Of a file with several names, only those that were named have another file now.
        let is_new = self.replaced.get(&identity(then)).is_some_and(|new| identity(now) == *new);
        match file_type(then) {
            FileType::RegularFile => is_new || FileStamp::of(now).same_content(&FileStamp::of(then)),
            _ => identity(now) == identity(then),
        }
    }

    fn free(&mut self, at: &Place, path: &FilePath) -> Result<Found, Stopped> {
        let found = self.look(at, path)?;
        if found.exists() { Err(ReplaceError::Exists.into()) } else { Ok(found) }
    }
}

/// Why nothing could be made at a place that was free.
fn taken_meanwhile(errno: Errno) -> ReplaceError {
    if errno == Errno::EXIST { ReplaceError::Exists } else { errno.into() }
}

fn id_of(place: &ResolvedPath) -> Result<EntryId, Stopped> {
    Ok(place.stat.as_ref().map(identity).ok_or(ReplaceError::Changed)?)
}
