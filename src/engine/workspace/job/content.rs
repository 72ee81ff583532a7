//! Plans the operations of a job that change the contents of files.

use std::borrow::Cow;

use super::base::Base;
use super::draft::DraftFile;
use super::planner::{Entry, Planner, Spot};
use super::steps::Step;
use super::{Place, TextPlan};
use crate::workspace::change::ChangeOptions;
use crate::workspace::excerpt::unchanged;
use crate::workspace::found::{Found, Want};
use folder::fs::resolve::ResolvedPath;
use folder::{Error, FilePath, Result};
use journal::KeptEntry;
use sys::fs::Access;
use text::lines::{BLOCK_SHIFT, IndexBuilder};
use text::splice::{EditPlan, Splice};
use text::text_edit::EditedText;

impl<'o> Planner<'_, 'o> {
    /// Returns the number of the file, if it is on the disk.
    pub(super) fn write(
        &mut self,
        path: &FilePath,
        options: &ChangeOptions,
        plan: &mut TextPlan<'o>,
    ) -> Result<Option<usize>> {
        let (place, spot) = self.spot(path, Want::File)?;
        let file = match spot {
            Spot::OnDisk(_) | Spot::New(_) if options.create_only => return Err(Error::exists(path.sent())),
            Spot::OnDisk(entry) => self.on_disk(entry, options)?,
            Spot::New(file) => file,
            Spot::Folder => return Err(Error::IsAFolder { name: path.sent().into() }),
            Spot::Link => return Err(Error::exists(path.sent())),
            Spot::Free(Some(found)) if !options.create => {
                return Err(self.workspace.not_found(&found, path, self.control));
            }
            Spot::Free(None) if !options.create => return Err(self.workspace.nothing_at(path)),
            Spot::Free(_) => {
                let new = self.planned(&DraftFile::new(path), options, plan)?;
                self.check_size(&new, None, options)?;
                let makes_any_bytes = options.makes_any_bytes || new.is_other_encoding();
                let file = DraftFile { plan: new, makes_any_bytes, ..DraftFile::new(path) };
                return self.add_new(place, path, file).map(|()| None);
            }
        };
        let planned = self.planned(&self.draft.files[file], options, plan);
        self.draft.close(file);
        let planned = planned?;
        self.check_size(&planned, self.draft.files[file].base.as_ref(), options)?;
        let changed = &mut self.draft.files[file];
        changed.plan = planned;
        changed.any_size |= options.any_size;
        changed.restores |= options.restores;
        changed.makes_any_bytes |= options.makes_any_bytes || changed.plan.is_other_encoding();
        Ok(Some(file))
    }

    /// The plan of `file` that also does what `plan` wants of its text as it is so far.
    fn planned(
        &self,
        file: &DraftFile<'o>,
        options: &ChangeOptions,
        plan: &mut TextPlan<'o>,
    ) -> Result<EditPlan<'o>> {
        let (workspace, name) = (self.workspace, file.path.sent());
        let changed = || Error::Changed { name: name.into() };
        let old = match &file.base {
            None => None,
            Some(base) if options.any_bytes || !file.plan.changes_nothing() => {
                Some(workspace.any_bytes(base.open(name)?, name)?.ok_or_else(changed)?)
            }
            Some(base) => {
                let open = base.open(name)?;
                match workspace.whole(open.clone(), name, self.control) {
                    Err(Error::InvalidUtf8 | Error::NotText { .. }) if options.makes_any_bytes => {
                        Some(workspace.any_bytes(open, name)?.ok_or_else(changed)?)
                    }
                    whole => Some(whole?.ok_or_else(changed)?),
                }
            }
        };
        let bytes = old.as_ref().map_or(&b""[..], |(view, _)| view.bytes());
        let mut plan =
            |index: &_, text: &[u8]| options.checked(text, || plan(index, text))?.ok_or_else(changed);
        let planned = match &old {
            Some((_, index)) if file.plan.changes_nothing() => plan(index, bytes),
            _ => {
                let mut text = Vec::with_capacity(file.plan.len_after(bytes.len()));
                // A write to memory cannot fail.
                let _ = file.plan.write_to(bytes, &mut text);
                let mut index = IndexBuilder::new(BLOCK_SHIFT);
                index.push(&text);
                let edited = EditedText { old: bytes, plan: &file.plan, text: &text };
                match plan(&index.finish(), &text) {
                    Err(Error::Unmatched(mut unmatched)) => {
                        edited.relocate(&mut unmatched, self.control)?;
                        Err(Error::Unmatched(unmatched))
                    }
                    planned => planned.map(|next| file.plan.then(&next, bytes)),
                }
            }
        };
        // The plan, or its error, is valid only if the bytes that it read were valid.
        match &old {
            Some((view, _)) if !unchanged(view, name)? => Err(changed()),
            _ => planned,
        }
    }

    /// Adds an entry that was deleted once.
    pub(super) fn restore(&mut self, path: &FilePath, entry: &KeptEntry) -> Result<()> {
        let (place, spot) = self.spot(path, Want::Link)?;
        let is_folder = match &spot {
            Spot::Folder => true,
            Spot::OnDisk(entry) => entry.found.place.open_folder().is_ok(),
            _ => false,
        };
        match (spot, entry) {
            (Spot::Free(_), _) => {}
            // It is there again, with other entries perhaps.
            (_, KeptEntry::Folder { .. }) if is_folder => return Ok(()),
            _ => {
                let problem = "something else has this name since, and stays; move that away, then undo the change again";
                return Err(Error::InvalidArguments { at: path.sent().to_owned(), problem: problem.into() });
            }
        }
        match entry {
            KeptEntry::File { mode, content } => {
                let text = Cow::Owned(content.clone());
                let plan = EditPlan::new(vec![Splice { at: 0..0, text }], b"").unwrap_or_default();
                let mode = Some(sys::fs::mode(*mode));
                let (any_size, makes_any_bytes, restores) = (true, true, true);
                let file =
                    DraftFile { plan, mode, any_size, makes_any_bytes, restores, ..DraftFile::new(path) };
                self.add_new(place, path, file)
            }
            KeptEntry::Folder { mode } => {
                self.make_parents(&place, path)?;
                let mode = Some(sys::fs::mode(*mode));
                self.draft.steps.push(Step::Folder { at: place, path: path.clone(), mode });
                Ok(())
            }
            KeptEntry::Link { target } => {
                self.make_parents(&place, path)?;
                let target = target.clone();
                self.draft.steps.push(Step::Link { at: place, path: path.clone(), target });
                Ok(())
            }
        }
    }

    fn check_size(&self, plan: &EditPlan, base: Option<&Base>, options: &ChangeOptions) -> Result<u64> {
        if options.restores {
            return Ok(0);
        }
        self.workspace.check_size(plan, base.map_or(0, Base::len_bytes), options.any_size)
    }

    /// The number of the file `entry`, which is to be changed.
    fn on_disk(&mut self, entry: Entry, options: &ChangeOptions) -> Result<usize> {
        let (workspace, control) = (self.workspace, self.control);
        let Entry { found, at, path } = entry;
        if let Some(&number) = self.draft.on_disk.get(&at) {
            let file = &self.draft.files[number];
            let size = file.base.as_ref().map_or(0, |base| base.stamp().len);
            let max = workspace.options().max_bytes;
            // The text between two edits is held as a whole.
            if size > max && !file.plan.changes_nothing() && !options.restores {
                return Err(Error::TooLarge { size, max, is_result: false });
            }
            return Ok(number);
        }
        let (place, name) = (&found.place, path.sent());
        let opened = match options.any_size {
            true => workspace.open_place(place, name, control)?,
            false => {
                let opened = workspace.open_whole(place, name, control);
                opened.map_err(|error| options.of_whole(&path, error))?
            }
        };
        let changed = || Error::Changed { name: name.into() };
        let file = opened.ok_or_else(changed)?;
        match place.allows(Access::WRITE_OK).map_err(|errno| Error::write(name, errno))? {
            None => return Err(changed()),
            Some(false) => return Err(Error::PermissionDenied { name: name.into() }),
            Some(true) => {}
        }
        workspace.check_version(&file, &path, options, control)?;
        let dir = self.draft.shared(found.place.dir.clone());
        let found = Found { place: ResolvedPath { dir, ..found.place }, ..found };
        let base = Some(Base::new(&found.place, file));
        let file = DraftFile { found: Some(found), base, ..DraftFile::new(&path) };
        Ok(self.draft.add(at, file))
    }

    /// Adds a new file at a free place.
    pub(super) fn add_new(&mut self, at: Place, path: &FilePath, file: DraftFile<'o>) -> Result<()> {
        // Of a path that no step has changed, the look on the disk has said so already.
        if self.draft.has_changed(&at) && self.workspace.folders.excludes().hides(&at.1, false) {
            return Err(Error::Excluded { name: path.sent().into() });
        }
        let beside = self.beside(&at, path)?;
        let beside = Some(self.draft.shared(beside));
        self.make_parents(&at, path)?;
        self.draft.files.push(DraftFile { beside, ..file });
        let file = self.draft.files.len() - 1;
        self.draft.close(file);
        self.draft.steps.push(Step::New { at, path: path.clone(), file });
        Ok(())
    }
}
