//! Puts what a job has prepared in place: contents first, then names in the order of the operations.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::base::Base;
use super::draft::Draft;
use super::left::Undone;
use super::locks::Holding;
use super::record::Recording;
use super::seen::SeenEntries;
use super::stage::{Replacement, Staged};
use super::steps::Step;
use super::take_back::{Done, EntryId, Hidden, NewFile, OldFile, take_back};
use super::{CarriedOut, JobNote, Recorded, Unremoved};
use crate::workspace::write::Stopped;
use crate::workspace::{Place, Workspace};
use folder::fs::atomic::{Durability, ReplaceError, Replaces, flush_directory, open_to_flush};
use folder::fs::claim::has_no_links;
use folder::fs::failpoint;
use folder::fs::remove::Guard;
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::{FileStamp, identity};
use folder::{Control, Error, FilePath, Result};
use sys::fd::{AsFd, OwnedFd};
use sys::fs::{AtFlags, Stat};

mod check;
mod step;

/// The carrying out of one job.
struct Commit<'c> {
    workspace: &'c Workspace,
    draft: &'c Draft<'c>,
    done: Vec<Done>,
    /// The files that have taken the places of others.
    replaced: HashMap<EntryId, EntryId>,
    /// Handles of the folders to flush. Opened before anything in them changes, so that after that only the flush can fail.
    folders: HashMap<EntryId, OwnedFd>,
    /// The handles of folders of a job of many files, so that the entries of one share it.
    dirs: HashMap<EntryId, Arc<OwnedFd>>,
    /// Those of a job of many files, which have a handle each already and are opened for the flush one by one.
    opened_later: HashMap<EntryId, ResolvedPath>,
    /// The hidden names of what is replaced or deleted.
    hidden: HashSet<OsString>,
    /// What the journal keeps of each step that deletes.
    seen: HashMap<usize, SeenEntries>,
    /// Whether another program has changed what was to be deleted, behind the last look before that.
    is_overtaken: bool,
    /// The state of the last file that was put in place, if it can belong only to the bytes written here.
    stamp: Option<FileStamp>,
}

/// What stopped a step of the operation on this path.
type StepError = Box<(FilePath, Stopped)>;

impl Workspace {
    /// Carries out what was planned.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if something has changed since, so that it must be planned again; then nothing was changed.
    pub(super) fn carry_out<'w>(
        &'w self,
        holding: &mut Holding<'w>,
        draft: &Draft,
        note: Option<JobNote>,
        control: &Control,
    ) -> Result<CarriedOut> {
        self.hold(holding, draft, control)?;
        let mut recording = note.and_then(|_| self.begin_record(draft));
        let staged = self.stage(draft, control).map_err(|failed| {
            let (path, stopped) = *failed;
            stopped.into_error(path.sent())
        })?;
        if let Some((recording, note)) = recording.as_mut().zip(note) {
            recording.write(self, draft, &staged, note, control);
        }
        control.begin_commit()?;
        let mut commit = Commit {
            workspace: self,
            draft,
            done: Vec::new(),
            replaced: HashMap::new(),
            folders: HashMap::new(),
            dirs: HashMap::new(),
            opened_later: HashMap::new(),
            hidden: draft.hidden_names().chain(staged.hidden_names()).cloned().collect(),
            seen: recording.as_mut().map(Recording::take_seen).unwrap_or_default(),
            is_overtaken: false,
            stamp: None,
        };
        let ran = commit.run(staged).map_err(|failed| {
            let (path, stopped) = *failed;
            match stopped {
                Stopped::Failed(ReplaceError::Exists) => Error::Changed { name: path.sent().into() },
                stopped => stopped.into_error(path.sent()),
            }
        });
        // The look comes last, so that little time is left to write to what goes.
        match ran.and_then(|()| commit.secure()).and_then(|()| commit.check_hidden()) {
            Ok(()) => {
                let done = commit.finish(recording, control);
                if let (Ok(CarriedOut { recorded: Some(Recorded::Unwritten(why)), .. }), Some(note)) =
                    (&done, note)
                    && let Some(log) = &self.change_log
                {
                    log.remember(&note.author.session, why, draft.named());
                }
                done
            }
            Err(reason) => {
                let is_overtaken = commit.is_overtaken;
                let (left, flushed) = commit.undo(recording.is_some());
                drop(commit);
                let undone = match (left.is_empty(), flushed) {
                    (true, Ok(())) => Undone::All,
                    (true, Err(_)) => {
                        recording.into_iter().for_each(Recording::keep);
                        Undone::Unflushed
                    }
                    (false, _) => self.settle_left(recording, &left, holding),
                };
                if let Some(problem) = undone.problem(&reason) {
                    return Err(problem);
                }
                holding.is_overtaken = is_overtaken;
                control.undo_commit();
                Err(reason)
            }
        }
    }

    /// Removes an entry with a hidden name: a folder with all in it, if `recursive` is set. `path` is the one that it had, `own` are all
    /// hidden names of the job. Returns how many entries are gone. `None`: not all are.
    pub(super) fn remove_hidden(
        &self,
        hidden: &ResolvedPath,
        recursive: bool,
        path: &Path,
        own: &HashSet<OsString>,
        control: &Control,
    ) -> Option<u64> {
        let unlink = |flags| sys::fs::unlinkat(&hidden.dir, &hidden.name, flags).ok();
        let Ok(folder) = hidden.open_folder() else { return unlink(AtFlags::empty()).map(|()| 1) };
        let guard = Guard::new(folder.as_fd(), path, self.folders.excludes(), &self.mounts);
        let mut removed = 0;
        let mut remove = |guard: Guard| guard.with_own(own).remove_tree(&mut removed, control).is_ok();
        let is_empty = !recursive || guard.is_ok_and(&mut remove);
        is_empty.then(|| unlink(AtFlags::REMOVEDIR)).flatten().map(|()| removed + 1)
    }
}

impl Commit<'_> {
    fn run(&mut self, staged: Staged) -> Result<(), StepError> {
        let Staged { replacements, new } = staged;
        // A single rename needs nothing to be taken back.
        let is_alone = self.draft.is_one_rename();
        let mut replacements: Vec<_> = replacements.into_iter().map(|one| (one, None)).collect();
        for (replacement, hidden) in replacements.iter_mut().filter(|_| !is_alone) {
            let (path, found) = (&replacement.file.path, replacement.found);
            let at = (found.number, found.real_path(path).to_owned());
            let copied = self.hide_copy((&found.place, at), &mut replacement.old, &replacement.hidden);
            if self.draft.is_large && matches!(copied, Ok(Some(_))) {
                replacement.old.close();
            }
            *hidden = copied.map_err(|stopped| Box::new((path.clone(), stopped)))?;
        }
        for (replacement, hidden) in replacements {
            let path = replacement.file.path.clone();
            self.replace(replacement, hidden).map_err(|stopped| Box::new((path, stopped)))?;
        }
        let mut new = new.into_iter();
        for (number, step) in self.draft.steps.iter().enumerate() {
            let done = self.step(number, step, &mut new);
            done.map_err(|stopped| Box::new((step.path().clone(), stopped)))?;
        }
        Ok(())
    }

    /// Gives the file `found` that is to be replaced a second name. `None` where a file has one only. Sets `old` to its state then.
    fn hide_copy(
        &self,
        (place, at): (&ResolvedPath, Place),
        old: &mut Base,
        name: &OsStr,
    ) -> Result<Option<Hidden>, Stopped> {
        // Of several names of one file, those before this one have changed the stamp already.
        let is_old = |now: &Stat| {
            let now = FileStamp::of(now);
            now == *old.stamp() || old.stat().st_nlink > 1 && now.same_content(old.stamp())
        };
        if !place.restat().map_err(ReplaceError::from)?.is_some_and(|now| is_old(&now)) {
            return Err(ReplaceError::Changed.into());
        }
        let dir = &place.dir;
        match sys::fs::linkat(&place.dir, &place.name, dir, name, AtFlags::empty()) {
            Ok(()) => {}
            Err(errno) if has_no_links(errno) => return Ok(None),
            Err(errno) => return Err(ReplaceError::from(errno).into()),
        }
        let hidden = Hidden { dir: dir.clone(), name: name.to_owned(), at, stays: false };
        failpoint::taken().map_err(ReplaceError::from)?;
        self.look_again(place, old)?;
        Ok(Some(hidden))
    }

    /// Sets `old` to the state of the file at `place`, whose stamp changes with its names.
    fn look_again(&self, place: &ResolvedPath, old: &mut Base) -> Result<(), Stopped> {
        let now = place.open().ok().flatten().filter(|now| now.stamp().same_content(old.stamp()));
        *old = Base::new(place, Arc::new(now.ok_or(ReplaceError::Changed)?));
        Ok(())
    }

    fn replace(&mut self, replacement: Replacement, hidden: Option<Hidden>) -> Result<(), Stopped> {
        let Replacement { file, found, mut old, new, .. } = replacement;
        let place = &found.place;
        self.will_change(place)?;
        if old.stat().st_nlink > 2 {
            // Another name of it was replaced before.
            self.look_again(place, &mut old)?;
        }
        let old = old.open(file.path.sent()).map_err(Stopped::Refused)?;
        // What another program writes right behind the rename is its own.
        let (id, stamp, _lock) = (new.id(), new.written(), new.lock());
        let leads_there =
            || self.workspace.folders.check_still_leads_to(&file.path, found).map_err(Stopped::Refused);
        let put = new.put(place, &Replaces::File(&old), Durability::None, leads_there);
        if matches!(put, Ok(_) | Err(Stopped::Failed(ReplaceError::InPlace(_)))) {
            self.workspace.cache.forget(old.stamp());
            self.replaced.insert((old.stamp().dev, old.stamp().ino), id);
            // A program that wrote to the old file between the last look and the rename has what it wrote only there.
            let was_written =
                sys::fs::fstat(old.file()).is_ok_and(|now| !FileStamp::of(&now).same_content(old.stamp()));
            let new = NewFile { id, stamp, _lock };
            let old = hidden.map_or_else(|| OldFile::Open(old), OldFile::Hidden);
            self.done.push(Done::Replaced { place: place.clone(), new, old });
            if was_written {
                return Err(ReplaceError::Changed.into());
            }
        }
        self.stamp = put?;
        Ok(())
    }

    /// Opens the folder of `place` for the flush.
    fn will_change(&mut self, place: &ResolvedPath) -> Result<(), Stopped> {
        if self.workspace.options.durability == Durability::None {
            return Ok(());
        }
        let id = identity(&sys::fs::fstat(&place.dir).map_err(ReplaceError::from)?);
        if self.draft.is_large {
            self.opened_later.entry(id).or_insert_with(|| place.clone());
        } else if let Entry::Vacant(folder) = self.folders.entry(id) {
            folder.insert(open_to_flush(place).map_err(ReplaceError::from)?);
        }
        Ok(())
    }

    /// Flushes the folders of a job of several names, as long as all can be taken back.
    fn secure(&self) -> Result<()> {
        if self.draft.is_one_rename() {
            return Ok(());
        }
        self.flush_by(|folder| Ok(failpoint::fsync(folder)?))
    }

    /// Flushes the folders in which something was changed.
    fn flush(&self) -> Result<()> {
        self.flush_by(flush_directory)
    }

    fn flush_by(&self, flush: impl Fn(&OwnedFd) -> io::Result<()>) -> Result<()> {
        failpoint::taken()
            .and_then(|()| self.folders.values().try_for_each(&flush))
            .and_then(|()| self.opened_later.values().try_for_each(|place| flush(&open_to_flush(place)?)))
            .map_err(|source| Error::WriteFailed { source })
    }

    /// Takes everything back. Returns the numbers of the elements that could not be, and whether the rest is on the disk.
    fn undo(&mut self, is_repaired: bool) -> (HashSet<usize>, Result<()>) {
        (take_back(std::mem::take(&mut self.done), is_repaired), self.flush())
    }

    /// Removes for good what was replaced or deleted, and notes in the journal that all is done.
    fn finish(self, mut recording: Option<Recording>, control: &Control) -> Result<CarriedOut> {
        let (mut recorded, mut flushed) = (None, Ok(()));
        if !self.draft.is_one_rename() {
            recording.iter_mut().for_each(|recording| recording.mark(self.workspace));
        } else if let Some(recording) = recording.take_if(|_| !failpoint::crashed()) {
            // One rename leaves nothing to repair.
            let (number, done) = recording.done(|| self.flush());
            (recorded, flushed) = (Some(number), done);
        } else {
            flushed = self.flush();
        }
        if failpoint::crashed() {
            return flushed.map(|()| CarriedOut::default());
        }
        let (removed, left) = self.remove_all(control);
        let is_later = || recording.as_ref().is_some_and(|recording| recording.remove_later(self.workspace));
        let unremoved = Unremoved { is_removed_later: !left.is_empty() && is_later(), paths: left };
        // Last, because the next server removes what is left only of a job that is not done.
        let recorded = recording.map(|recording| recording.done(|| ()).0).or(recorded);
        let stamp = self.stamp;
        // Their locks go only now, so that later changes of these files have higher numbers.
        drop(self.done);
        flushed.map(|()| CarriedOut { recorded, stamp, removed, unremoved })
    }

    /// Removes all that was hidden. Returns how many entries are gone, and the hidden paths of what could not be removed.
    fn remove_all(&self, control: &Control) -> (u64, Vec<String>) {
        let (mut removed, mut left) = (0, Vec::new());
        for done in &self.done {
            let (at, name, gone) = match done {
                // Also in a folder that goes.
                Done::Replaced { old: OldFile::Hidden(hidden), .. } => {
                    (&hidden.at, &hidden.name, hidden.remove().then_some(0))
                }
                Done::Hidden { hidden, step, .. } => {
                    let Some(Step::Deleted { at, recursive, .. }) = self.draft.steps.get(*step) else {
                        continue;
                    };
                    let own = &self.hidden;
                    (at, &hidden.name, self.workspace.remove_hidden(hidden, *recursive, &at.1, own, control))
                }
                _ => continue,
            };
            match gone {
                Some(gone) => removed += gone,
                None => left.push(self.workspace.told(&(at.0, at.1.with_file_name(name)))),
            }
        }
        (removed, left)
    }
}
