//! Writes the new contents of a job to temporary files beside their places. No name of a client changes.

use std::ffi::OsString;
use std::sync::Arc;

use super::base::Base;
use super::draft::{Draft, DraftFile};
use super::steps::Step;
use super::{MANY_FILES, MOST_MAPPED};
use crate::workspace::Workspace;
use crate::workspace::found::Found;
use crate::workspace::write::{NewContent, Stopped};
use folder::fs::atomic::{CompleteFile, Durability, PreparedFile, ReplaceError, Replaces};
use folder::fs::{file_system, temporary};
use folder::{Control, Error, FilePath};
use sys::fd::OwnedFd;
use sys::fs::Mode;
use sys::map::OpenMap;

/// The temporary files of a job. Dropping them removes them.
#[derive(Default)]
pub(super) struct Staged<'d> {
    /// The new contents of files on the disk.
    pub(super) replacements: Vec<Replacement<'d>>,
    /// The new files, by their numbers in the draft.
    pub(super) new: Vec<(usize, PreparedFile)>,
}

/// So many files are written before the first of them is flushed: one commit of a file system's journal can do for all. They have
/// descriptors until then.
pub(super) const FLUSHED_TOGETHER: usize = 32;

/// A file that was written and is not flushed yet.
struct Written<'d> {
    file: &'d DraftFile<'d>,
    content: CompleteFile,
    /// What it replaces, or its number in the draft if it is new.
    takes_place_of: Result<(&'d Found, Base), usize>,
    /// Whether its folder is on a disk of this machine.
    is_local: bool,
}

/// The new content of a file on the disk.
pub(super) struct Replacement<'d> {
    pub(super) file: &'d DraftFile<'d>,
    pub(super) found: &'d Found,
    pub(super) old: Base,
    pub(super) new: PreparedFile,
    /// The second name of the old file until all is done.
    pub(super) hidden: OsString,
}

impl Staged<'_> {
    /// The new file of this number in the draft.
    pub(super) fn id_of_new(&self, file: usize) -> journal::EntryId {
        self.new.iter().find(|(number, _)| *number == file).map(|(_, new)| new.id()).unwrap_or_default()
    }

    /// The second names that replaced files have until all is done.
    pub(super) fn hidden_names(&self) -> impl Iterator<Item = &OsString> {
        self.replacements.iter().map(|replacement| &replacement.hidden)
    }
}

impl Workspace {
    pub(super) fn stage<'d>(
        &self,
        draft: &'d Draft<'d>,
        control: &Control,
    ) -> Result<Staged<'d>, Box<(FilePath, Stopped)>> {
        let failed = |file: &DraftFile| {
            let path = file.path.clone();
            move |stopped| Box::new((path, stopped))
        };
        let (mut staged, mut batch) = (Staged::default(), Vec::new());
        let mut add = |written: Option<Written<'d>>| {
            let is_full = batch.len() >= FLUSHED_TOGETHER || written.is_none();
            batch.extend(written);
            if is_full { self.flush_written(draft, &mut batch, &mut staged) } else { Ok(()) }
        };
        for file in draft.changed() {
            let (Some(found), Some(old)) = (&file.found, &file.base) else { continue };
            let dir = &found.place.dir;
            let content = self.written(draft, file, dir, None, control).map_err(failed(file))?;
            let (takes_place_of, is_local) = (Ok((found, old.clone())), file_system::is_local(dir));
            add(Some(Written { file, content, takes_place_of, is_local }))?;
        }
        for step in draft.steps.iter() {
            let Step::New { file: number, .. } = step else { continue };
            let file = &draft.files[*number];
            let Some(dir) = &file.beside else { continue };
            let mode = Some(self.as_new(file));
            let content = self.written(draft, file, dir, mode, control).map_err(failed(file))?;
            let (takes_place_of, is_local) = (Err(*number), file_system::is_local(dir));
            add(Some(Written { file, content, takes_place_of, is_local }))?;
        }
        add(None)?;
        Ok(staged)
    }

    /// Flushes what was written.
    fn flush_written<'d>(
        &self,
        draft: &Draft,
        batch: &mut Vec<Written<'d>>,
        staged: &mut Staged<'d>,
    ) -> Result<(), Box<(FilePath, Stopped)>> {
        for Written { file, content, takes_place_of, is_local } in batch.drain(..) {
            let prepared = content.prepare(self.options.durability);
            let prepared = prepared.map_err(|error| Box::new((file.path.clone(), error.into())))?;
            let is_mapped = is_local && OpenMap::is_kept();
            let most = if is_mapped { MOST_MAPPED } else { MANY_FILES };
            // A file that is replaced needs a lock, too.
            let has_room = 2 * staged.replacements.len() + staged.new.len() < most;
            let new = match draft.is_large {
                false => prepared,
                true if has_room || takes_place_of.is_ok() => prepared.without_descriptor(),
                true => {
                    let unlocked = prepared.without_lock().map_err(ReplaceError::from);
                    unlocked.map_err(|error| Box::new((file.path.clone(), error.into())))?
                }
            };
            match takes_place_of {
                Ok((found, old)) => {
                    let hidden = temporary::new_hidden_name();
                    staged.replacements.push(Replacement { file, found, old, new, hidden });
                }
                Err(number) => staged.new.push((number, new)),
            }
        }
        Ok(())
    }

    /// What a new file replaces: nothing, with its mode.
    pub(super) fn as_new(&self, file: &DraftFile) -> Replaces<'static> {
        let usual = Mode::from_raw_mode(0o666);
        Replaces::Nothing(file.mode.unwrap_or(usual.difference(self.umask)))
    }

    /// Writes one file. `as_new`: it replaces nothing, and not its base.
    fn written(
        &self,
        draft: &Draft,
        file: &DraftFile,
        dir: &Arc<OwnedFd>,
        as_new: Option<Replaces>,
        control: &Control,
    ) -> Result<CompleteFile, Stopped> {
        let name = file.path.sent();
        let changed = || Stopped::Refused(Error::Changed { name: name.into() });
        let open = file.base.as_ref().map(|base| base.open(name)).transpose().map_err(Stopped::Refused)?;
        let old = match &open {
            None => None,
            Some(open) => {
                let old = self.any_bytes(open.clone(), name).map_err(Stopped::Refused)?;
                Some(old.ok_or_else(changed)?.0)
            }
        };
        let DraftFile { makes_any_bytes, any_size, restores, .. } = *file;
        let (edit, old_bytes, versioned) = (&file.plan, old.as_ref(), false);
        let content = NewContent { edit, old: old_bytes, versioned, makes_any_bytes, any_size, restores };
        let composed = self.compose(dir, &file.path, &content, true, control)?;
        if let Some(old) = &old
            && !old.is_unchanged().map_err(|error| Stopped::Refused(Error::read(name, error)))?
        {
            return Err(changed());
        }
        let replaces = match (as_new, &open) {
            (Some(as_new), _) => as_new,
            (None, Some(open)) => Replaces::File(open),
            (None, None) => return Err(changed()),
        };
        let complete = composed.out.complete(&replaces)?;
        if self.options.durability == Durability::Full && !draft.is_one_rename() {
            complete.start_flush();
        }
        Ok(complete)
    }
}
