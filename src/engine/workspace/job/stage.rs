//! Writes the new contents of a job to temporary files beside their places. No name of a client changes.

use std::ffi::OsString;
use std::sync::Arc;

use super::base::Base;
use super::draft::{Draft, DraftFile};
use super::steps::Step;
use crate::workspace::Workspace;
use crate::workspace::found::Found;
use crate::workspace::write::{NewContent, Stopped};
use folder::fs::atomic::{PreparedFile, Replaces};
use folder::fs::{file_system, temporary};
use folder::{Control, Error, FilePath};
use sys::fd::OwnedFd;
use sys::fs::Mode;

/// The temporary files of a job. Dropping them removes them.
#[derive(Default)]
pub(super) struct Staged<'d> {
    /// The new contents of files on the disk.
    pub(super) replacements: Vec<Replacement<'d>>,
    /// The new files, by their numbers in the draft.
    pub(super) new: Vec<(usize, PreparedFile)>,
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
        let mut staged = Staged::default();
        for file in draft.changed() {
            let (Some(found), Some(old)) = (&file.found, &file.base) else { continue };
            let new = self.staged(draft, file, &found.place.dir, None, control).map_err(failed(file))?;
            let (old, hidden) = (old.clone(), temporary::new_hidden_name());
            staged.replacements.push(Replacement { file, found, old, new, hidden });
        }
        for step in draft.steps.iter() {
            let Step::New { file: number, .. } = step else { continue };
            let file = &draft.files[*number];
            let Some(dir) = &file.beside else { continue };
            let mode = Some(self.as_new(file));
            let new = self.staged(draft, file, dir, mode, control).map_err(failed(file))?;
            staged.new.push((*number, new));
        }
        Ok(staged)
    }

    /// What a new file replaces: nothing, with its mode.
    pub(super) fn as_new(&self, file: &DraftFile) -> Replaces<'static> {
        let usual = Mode::from_raw_mode(0o666);
        Replaces::Nothing(file.mode.unwrap_or(usual.difference(self.umask)))
    }

    /// Writes one file. `as_new`: it replaces nothing, and not its base.
    fn staged(
        &self,
        draft: &Draft,
        file: &DraftFile,
        dir: &Arc<OwnedFd>,
        as_new: Option<Replaces>,
        control: &Control,
    ) -> Result<PreparedFile, Stopped> {
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
        let prepared = composed.out.prepare(&replaces, self.options.durability)?;
        let is_large = draft.is_large && file_system::is_local(dir);
        Ok(if is_large { prepared.without_descriptor() } else { prepared })
    }
}
