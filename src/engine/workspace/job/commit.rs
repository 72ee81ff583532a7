//! Puts what a job has prepared in place: contents first, then names in the order of the operations.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::Place;
use super::draft::{Draft, Step};
use super::locks::Held;
use super::stage::{Replacement, Staged};
use super::take_back::{Done, take_back};
use crate::workspace::Workspace;
use crate::workspace::found::{Found, Freshness, Want};
use crate::workspace::relocate::{flush, in_use};
use crate::workspace::write::Stopped;
use folder::fs::atomic::{Durability, PreparedFile, ReplaceError, Replaces, open_to_flush};
use folder::fs::remove::Guard;
use folder::fs::rename::{Renamed, rename_to_free};
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::identity;
use folder::fs::view::OpenFile;
use folder::fs::{failpoint, temporary};
use folder::{Control, Error, FilePath, Result};
use sys::fd::{AsFd, OwnedFd};
use sys::fs::AtFlags;
use sys::io::Errno;

/// The carrying out of one job.
struct Commit<'c> {
    workspace: &'c Workspace,
    done: Vec<Done>,
    /// Hidden names of files that are to be replaced, for as long as they are not.
    hidden: Vec<(ResolvedPath, OsString)>,
}

impl Workspace {
    /// Carries out what was planned. False if something has changed since, so that it must be planned again; then nothing was changed.
    pub(super) fn carry_out<'w>(
        &'w self,
        held: &mut Option<Held<'w>>,
        draft: &Draft,
        control: &Control,
    ) -> Result<bool> {
        if draft.changes_nothing() {
            return Ok(true);
        }
        if !self.hold(held, draft, control)? {
            return Ok(false);
        }
        let staged = match self.stage(draft, control) {
            Err(Stopped::Refused(Error::Changed { .. })) => return Ok(false),
            Err(stopped) => return Err(stopped.into_error(draft.first_name())),
            Ok(staged) => staged,
        };
        control.begin_commit()?;
        let mut commit = Commit { workspace: self, done: Vec::new(), hidden: Vec::new() };
        match commit.run(draft, staged) {
            Ok(()) => commit.finish(control).map(|()| true),
            Err(failed) => {
                let (path, stopped) = *failed;
                commit.undo()?;
                control.undo_commit();
                match stopped {
                    Stopped::Failed(ReplaceError::Changed | ReplaceError::Exists)
                    | Stopped::Refused(Error::Changed { .. }) => Ok(false),
                    stopped => Err(stopped.into_error(path.sent())),
                }
            }
        }
    }
}

impl Workspace {
    /// Removes an entry with a hidden name, and all in it. What cannot be removed is left: clients cannot name it.
    fn remove_hidden(&self, hidden: &ResolvedPath, control: &Control) {
        if let Ok(folder) = hidden.open_folder() {
            let path = Path::new(&hidden.name);
            let guard = Guard::new(folder.as_fd(), path, self.folders.excludes(), &self.mounts);
            let removed = guard.and_then(|guard| guard.remove_tree(&mut 0, control));
            if removed.is_ok() {
                let _ = sys::fs::unlinkat(&hidden.dir, &hidden.name, AtFlags::REMOVEDIR);
            }
        } else {
            temporary::remove(&hidden.dir, &hidden.name);
        }
    }
}

/// What stopped a step of the operation on this path.
type StepError = Box<(FilePath, Stopped)>;

impl Commit<'_> {
    fn run(&mut self, draft: &Draft, staged: Staged) -> Result<(), StepError> {
        let Staged { replacements, new } = staged;
        // A single rename needs nothing to be taken back.
        let is_alone = replacements.len() == 1 && draft.steps.is_empty();
        let mut replacements: Vec<_> = replacements.into_iter().map(|one| (one, None)).collect();
        for (replacement, hidden) in &mut replacements {
            if !is_alone {
                let failed = |stopped| Box::new((replacement.file.path.clone(), stopped));
                *hidden = self.hide_copy(&replacement.found.place, &mut replacement.old).map_err(failed)?;
            }
        }
        for (replacement, hidden) in replacements {
            let path = replacement.file.path.clone();
            self.replace(replacement, hidden).map_err(|stopped| Box::new((path, stopped)))?;
        }
        let mut new = new.into_iter();
        for step in &draft.steps {
            let path = step.path();
            self.step(draft, step, &mut new).map_err(|stopped| Box::new((path.clone(), stopped)))?;
        }
        Ok(())
    }

    /// Gives the file that is to be replaced a second name. `None` where a file has one only.
    fn hide_copy(
        &mut self,
        place: &ResolvedPath,
        old: &mut Arc<OpenFile>,
    ) -> Result<Option<OsString>, Stopped> {
        let hidden = temporary::new_name();
        match sys::fs::linkat(&place.dir, &place.name, &place.dir, &hidden, AtFlags::empty()) {
            Ok(()) => {}
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS | Errno::MLINK | Errno::INVAL) => return Ok(None),
            Err(errno) => return Err(ReplaceError::from(errno).into()),
        }
        self.hidden.push((place.clone(), hidden.clone()));
        failpoint::taken().map_err(ReplaceError::from)?;
        // The second name has changed the stamp.
        let now = place.open().ok().flatten().filter(|now| now.stamp().same_content(old.stamp()));
        *old = Arc::new(now.ok_or(ReplaceError::Changed)?);
        Ok(Some(hidden))
    }

    fn replace(&mut self, replacement: Replacement, hidden: Option<OsString>) -> Result<(), Stopped> {
        let Replacement { file, found, old, new } = replacement;
        let id = new.id();
        let leads_there =
            || self.workspace.folders.check_still_leads_to(&file.path, found).map_err(Stopped::Refused);
        let put = new.put(&found.place, &Replaces::File(&old), Durability::None, leads_there);
        if matches!(put, Ok(_) | Err(Stopped::Failed(ReplaceError::InPlace(_)))) {
            self.hidden.retain(|(_, name)| Some(name) != hidden.as_ref());
            self.workspace.cache.forget(old.stamp());
            self.done.push(Done::Replaced { place: found.place.clone(), new: id, old, hidden });
        }
        put.map(drop)
    }

    fn step(
        &mut self,
        draft: &Draft,
        step: &Step,
        new: &mut impl Iterator<Item = (usize, PreparedFile)>,
    ) -> Result<(), Stopped> {
        let refuse = Stopped::Refused;
        match step {
            Step::Folder { at, path } => {
                let (found, _) = self.free(at, path).map_err(refuse)?;
                let mode = self.workspace.new_folder_mode();
                let made = sys::fs::mkdirat(&found.place.dir, &found.place.name, mode);
                made.map_err(ReplaceError::from)?;
                self.done.push(Done::Folder { place: found.place });
            }
            Step::New { at, path, file } => {
                let (found, at) = self.free(at, path).map_err(refuse)?;
                let Some((number, prepared)) = new.next() else { return Err(ReplaceError::Changed.into()) };
                debug_assert_eq!(number, *file);
                let (id, replaces) = (prepared.id(), self.workspace.as_new(&draft.files[*file]));
                let leads_there =
                    || self.workspace.folders.check_still_leads_to(&at, &found).map_err(Stopped::Refused);
                let put = prepared.put(&found.place, &replaces, Durability::None, leads_there);
                if matches!(put, Ok(_) | Err(Stopped::Failed(ReplaceError::InPlace(_)))) {
                    self.done.push(Done::New { place: found.place, id });
                }
                put?;
            }
            Step::Moved { from, to, source, target } => {
                let from = self.there(from, source).map_err(refuse)?;
                let (to, _) = self.free(to, target).map_err(refuse)?;
                self.rename(&from.place, &to.place)?;
                let from = ResolvedPath { stat: None, ..from.place };
                self.done.push(Done::Moved { from, to: to.place });
            }
            Step::Deleted { at, path } => {
                let found = self.there(at, path).map_err(refuse)?;
                let hidden = ResolvedPath { name: temporary::new_name(), ..found.place.clone() };
                self.rename(&found.place, &ResolvedPath { stat: None, ..hidden.clone() })?;
                let place = ResolvedPath { stat: None, ..found.place };
                self.done.push(Done::Hidden { place, hidden });
            }
        }
        failpoint::taken().map_err(ReplaceError::from)?;
        Ok(())
    }

    fn rename(&self, from: &ResolvedPath, to: &ResolvedPath) -> Result<(), Stopped> {
        match rename_to_free(from, to) {
            Ok(Renamed::Moved) => Ok(()),
            Ok(Renamed::SourceKept) => Err(ReplaceError::Changed.into()),
            Ok(Renamed::Unknown(errno)) => {
                Err(ReplaceError::from(folder::fs::lost::in_doubt(&errno.into())).into())
            }
            Err(Errno::EXIST) => Err(ReplaceError::Exists.into()),
            Err(errno) => Err(ReplaceError::from(in_use(errno)).into()),
        }
    }

    /// What is at a place now.
    fn look(&self, at: &Place, path: &FilePath) -> Result<(Found, FilePath)> {
        let at = path.at(at.0, &at.1);
        let found = self.workspace.folders.find(&at, Want::Link, Freshness::Now)?;
        found.check_not_excluded(&at)?;
        match found.place.missing.is_empty() {
            true => Ok((found, at)),
            false => Err(Error::Changed { name: path.sent().into() }),
        }
    }

    fn there(&self, at: &Place, path: &FilePath) -> Result<Found> {
        let (found, _) = self.look(at, path)?;
        if found.exists() { Ok(found) } else { Err(Error::Changed { name: path.sent().into() }) }
    }

    fn free(&self, at: &Place, path: &FilePath) -> Result<(Found, FilePath)> {
        let (found, at) = self.look(at, path)?;
        if found.exists() { Err(Error::Changed { name: path.sent().into() }) } else { Ok((found, at)) }
    }

    /// Takes everything back.
    fn undo(&mut self) -> Result<()> {
        self.show_again();
        if take_back(std::mem::take(&mut self.done)) {
            return Ok(());
        }
        let left =
            "some of the changes were made and could not be taken back: look before you send the call again";
        Err(Error::WriteFailed { source: io::Error::other(left) })
    }

    /// Removes the second names of files that were not replaced.
    fn show_again(&mut self) {
        for (place, hidden) in self.hidden.drain(..) {
            if !failpoint::crashed() {
                temporary::remove(&place.dir, &hidden);
            }
        }
    }

    /// Flushes the folders, then removes for good what was replaced or deleted.
    fn finish(mut self, control: &Control) -> Result<()> {
        let flushed = flush(&self.changed_folders()?);
        if failpoint::crashed() {
            return flushed;
        }
        for done in std::mem::take(&mut self.done) {
            match done {
                Done::Replaced { place, hidden: Some(hidden), .. } => temporary::remove(&place.dir, &hidden),
                Done::Hidden { hidden, .. } => self.workspace.remove_hidden(&hidden, control),
                _ => {}
            }
        }
        flushed
    }

    /// The folders in which a name has changed, each once.
    fn changed_folders(&self) -> Result<Vec<OwnedFd>> {
        if self.workspace.options.durability == Durability::None {
            return Ok(Vec::new());
        }
        let mut folders: Vec<(_, OwnedFd)> = Vec::new();
        for place in self.done.iter().flat_map(Done::places) {
            let failed = |error: io::Error| Error::WriteFailed { source: error };
            let id = sys::fs::fstat(&place.dir)
                .map(|stat| identity(&stat))
                .map_err(|errno| failed(errno.into()))?;
            if folders.iter().all(|(known, _)| *known != id) {
                folders.push((id, open_to_flush(place).map_err(failed)?));
            }
        }
        Ok(folders.into_iter().map(|(_, folder)| folder).collect())
    }
}
