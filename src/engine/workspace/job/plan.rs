//! Plans the operations of a job, one after the other. Everything that can be refused is refused here; nothing is written.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::draft::{Before, Draft, DraftFile, Step};
use super::{Operation, Place, TextPlan};
use crate::workspace::Workspace;
use crate::workspace::change::ChangeOptions;
use crate::workspace::excerpt::unchanged;
use crate::workspace::found::{Found, Want};
use crate::workspace::relocate;
use folder::fs::remove::Guard;
use folder::fs::view::OpenFile;
use folder::{Control, Error, FilePath, Occupant, Result};
use sys::fd::AsFd;
use sys::ffi::OsStrExt;
use sys::fs::{Access, Dir};
use text::lines::{BLOCK_SHIFT, IndexBuilder};
use text::splice::EditPlan;

/// Adds operations to a draft.
pub(super) struct Planner<'p, 'o> {
    pub(super) workspace: &'p Workspace,
    pub(super) control: &'p Control,
    pub(super) draft: &'p mut Draft<'o>,
}

/// What is at a path after the steps so far.
enum Spot {
    /// What is on the disk, perhaps at another place.
    OnDisk(Entry),
    /// The new file of this number.
    New(usize),
    /// A new folder.
    Folder,
    /// Nothing. What is on the disk there now, if that could be looked up.
    Free(Option<Found>),
}

/// An entry that is on the disk.
struct Entry {
    found: Found,
    at: Place,
    /// The path that leads to it there.
    path: FilePath,
}

impl Entry {
    fn new(found: Found, path: &FilePath) -> Entry {
        let at = place_of(&found, path);
        Entry { path: path.at(at.0, &at.1), found, at }
    }
}

impl<'o> Planner<'_, 'o> {
    /// Adds all operations that fit. Returns the numbers of the others, and why each does not fit.
    pub(super) fn plan(&mut self, operations: &mut [Operation<'o>]) -> Result<Vec<(usize, Error)>> {
        let mut refused = Vec::new();
        let total = operations.len();
        for (number, operation) in operations.iter_mut().enumerate() {
            self.control.check()?;
            self.control.progress(number as u64, Some(total as u64));
            match self.add(operation) {
                Ok(()) => {}
                Err(error @ (Error::Changed { .. } | Error::TimedOut | Error::Cancelled)) => {
                    return Err(error);
                }
                Err(error) => refused.push((number, error)),
            }
        }
        Ok(refused)
    }

    fn add(&mut self, operation: &mut Operation<'o>) -> Result<()> {
        self.workspace.check_not_read_only(operation.path())?;
        match operation {
            Operation::Write { path, options, plan } => self.write(path, options, plan),
            Operation::Move { path, to } => self.move_entry(path, to),
            Operation::Copy { path, to } => self.copy(path, to),
            Operation::Delete { path, recursive } => self.delete(path, *recursive),
        }
    }

    fn write(&mut self, path: &FilePath, options: &ChangeOptions, plan: &mut TextPlan<'o>) -> Result<()> {
        let (place, spot) = self.spot(path, Want::File)?;
        let file = match spot {
            Spot::OnDisk(_) | Spot::New(_) if options.create_only => return Err(Error::exists(path.sent())),
            Spot::OnDisk(entry) => self.on_disk(entry, options)?,
            Spot::New(file) => file,
            Spot::Folder => return Err(Error::IsAFolder { name: path.sent().into() }),
            Spot::Free(Some(found)) if !options.create => {
                return Err(self.workspace.not_found(&found, path, self.control));
            }
            Spot::Free(None) if !options.create => return Err(missing(path)),
            Spot::Free(_) => {
                let new = self.planned(&DraftFile::new(path), options, plan)?;
                self.check_size(&new, None, options)?;
                let makes_any_bytes = options.makes_any_bytes || new.is_other_encoding();
                let file = DraftFile { plan: new, makes_any_bytes, ..DraftFile::new(path) };
                return self.add_new(place, spot, path, file);
            }
        };
        let planned = self.planned(&self.draft.files[file], options, plan)?;
        self.check_size(&planned, self.draft.files[file].base.as_ref(), options)?;
        let changed = &mut self.draft.files[file];
        changed.plan = planned;
        changed.any_size |= options.any_size;
        changed.makes_any_bytes |= options.makes_any_bytes || changed.plan.is_other_encoding();
        Ok(())
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
                Some(workspace.any_bytes(base.clone(), name)?.ok_or_else(changed)?)
            }
            Some(base) => match workspace.whole(base.clone(), name, self.control) {
                Err(Error::InvalidUtf8) if options.makes_any_bytes => {
                    Some(workspace.any_bytes(base.clone(), name)?.ok_or_else(changed)?)
                }
                whole => Some(whole?.ok_or_else(changed)?),
            },
        };
        let bytes = old.as_ref().map_or(&b""[..], |(view, _)| view.bytes());
        let mut plan = |index: &_, text: &[u8]| {
            let planned = options.checked(text, || Ok(plan(index, text)?.map(|plan| (plan, ()))))?;
            planned.map(|(plan, ())| plan).ok_or_else(changed)
        };
        let planned = match &old {
            Some((_, index)) if file.plan.changes_nothing() => plan(index, bytes),
            _ => {
                let mut text = Vec::with_capacity(file.plan.len_after(bytes.len()));
                // A write to memory cannot fail.
                let _ = file.plan.write_to(bytes, &mut text);
                let mut index = IndexBuilder::new(BLOCK_SHIFT);
                index.push(&text);
                plan(&index.finish(), &text).map(|next| file.plan.then(&next, bytes))
            }
        };
        // The plan, or its error, is valid only if the bytes that it read were valid.
        match &old {
            Some((view, _)) if !unchanged(view, name)? => Err(changed()),
            _ => planned,
        }
    }

    fn check_size(
        &self,
        plan: &EditPlan,
        base: Option<&Arc<OpenFile>>,
        options: &ChangeOptions,
    ) -> Result<u64> {
        self.workspace.check_size(plan, base.map_or(0, |base| base.len_bytes()), options.any_size)
    }

    /// The number of the file `entry`, which is to be changed.
    fn on_disk(&mut self, entry: Entry, options: &ChangeOptions) -> Result<usize> {
        let (workspace, control) = (self.workspace, self.control);
        let Entry { found, at, path } = entry;
        if let Some(number) = self.draft.on_disk.get(&at) {
            return Ok(*number);
        }
        let (place, name) = (&found.place, path.sent());
        let opened = match options.any_size {
            true => workspace.open_place(place, name, control)?,
            false => workspace.open_whole(place, name, control)?,
        };
        let changed = || Error::Changed { name: name.into() };
        let file = opened.ok_or_else(changed)?;
        match place.allows(Access::WRITE_OK).map_err(|errno| Error::write(name, errno))? {
            None => return Err(changed()),
            Some(false) => return Err(Error::PermissionDenied { name: name.into() }),
            Some(true) => {}
        }
        workspace.check_version(&file, &path, options, control)?;
        let file = DraftFile { found: Some(found), base: Some(file), ..DraftFile::new(&path) };
        Ok(self.draft.add(at, file))
    }

    fn move_entry(&mut self, path: &FilePath, to: &FilePath) -> Result<()> {
        let (from, spot) = self.spot(path, Want::Entry)?;
        let (target, occupant) = self.target(to, &from)?;
        if target == from && !matches!(spot, Spot::Free(_)) {
            return Ok(());
        }
        if target.0 == from.0 && target.1.starts_with(&from.1) {
            let problem = "a folder cannot be moved into itself".into();
            return Err(Error::InvalidArguments { at: "move_to".into(), problem });
        }
        self.take(path, spot, |planner, entry| planner.check_moves_nothing_excluded(entry, to))?;
        if !matches!(occupant, Spot::Free(_)) {
            return Err(self.occupied((occupant, target.0), (path, from.0), to));
        }
        self.make_parents(&target, to)?;
        self.draft.steps.push(Step::Moved { from, to: target, source: path.clone(), target: to.clone() });
        Ok(())
    }

    fn copy(&mut self, path: &FilePath, to: &FilePath) -> Result<()> {
        let (from, spot) = self.spot(path, Want::File)?;
        let folder = || Error::IsAFolder { name: path.sent().into() };
        let copy = match spot {
            Spot::New(file) => self.draft.files[file].copied(to),
            Spot::Folder => return Err(folder()),
            Spot::Free(_) => return Err(missing(path)),
            Spot::OnDisk(entry) => match self.draft.on_disk.get(&entry.at) {
                Some(file) => self.draft.files[*file].copied(to),
                None => self.copy_of(&entry.path, to)?,
            },
        };
        let (target, spot) = self.target(to, &from)?;
        match spot {
            _ if target == from => Ok(()),
            Spot::Free(_) => self.add_new(target, spot, to, copy),
            occupant => Err(self.occupied((occupant, target.0), (path, from.0), to)),
        }
    }

    /// A copy of a file on the disk that the job has not named so far.
    fn copy_of(&self, path: &FilePath, to: &FilePath) -> Result<DraftFile<'o>> {
        // What is kept from readers is not copied.
        let readable = self.workspace.find(path, self.control)?;
        let opened = self.workspace.open_place(&readable.place, path.sent(), self.control)?;
        let changed = || Error::Changed { name: path.sent().into() };
        let file = opened.ok_or_else(changed)?;
        // A write that is running already would not show in the file's times.
        self.workspace.before_version(&file, self.control)?.ok_or_else(changed)?;
        let mode = sys::fs::mode(file.stat().st_mode & 0o777).difference(self.workspace.umask);
        Ok(DraftFile { base: Some(file), mode: Some(mode), any_size: true, ..DraftFile::new(to) })
    }

    fn delete(&mut self, path: &FilePath, recursive: bool) -> Result<()> {
        let (at, spot) = self.spot(path, Want::Link)?;
        let is_folder = match &spot {
            Spot::OnDisk(entry) => entry.found.is_directory(),
            spot => matches!(spot, Spot::Folder),
        };
        if is_folder && !recursive {
            self.check_empty(&at, &spot, path)?;
        }
        let on_disk = match &spot {
            Spot::OnDisk(entry) => Some(entry.at.clone()),
            _ => None,
        };
        self.take(path, spot, Self::check_tree)?;
        if let Some(gone) = on_disk {
            self.draft.forget(&gone);
        }
        self.draft.steps.push(Step::Deleted { at, path: path.clone() });
        Ok(())
    }

    /// Notes that the entry at a spot loses its place. `check` is for one that is on the disk.
    fn take(
        &mut self,
        path: &FilePath,
        spot: Spot,
        check: impl FnOnce(&Self, &Entry) -> Result<()>,
    ) -> Result<()> {
        match spot {
            Spot::New(_) | Spot::Folder => Ok(()),
            Spot::Free(Some(found)) => Err(self.workspace.not_found(&found, path, self.control)),
            Spot::Free(None) => Err(missing(path)),
            Spot::OnDisk(entry) => {
                self.workspace.check_taken(&entry.found, path)?;
                check(self, &entry)?;
                self.draft.taken.push((entry.path, entry.found));
                Ok(())
            }
        }
    }

    fn check_moves_nothing_excluded(&self, Entry { found, path, .. }: &Entry, to: &FilePath) -> Result<()> {
        match self.workspace.find_place(to, Want::Link) {
            Ok(target) => {
                self.workspace.check_moves_nothing_excluded((found, path), (&target, to), self.control)
            }
            Err(_) => Ok(()),
        }
    }

    /// Checks that everything in a folder may be deleted.
    fn check_tree(&self, Entry { found, path, .. }: &Entry) -> Result<()> {
        if !found.is_directory() {
            return Ok(());
        }
        let refusal = |refusal| crate::workspace::found::refused(path.sent(), refusal);
        let folder = found.place.open_folder().map_err(refusal)?;
        let (excludes, mounts) = (self.workspace.folders.excludes(), &self.workspace.mounts);
        let guard = Guard::new(folder.as_fd(), found.real_path(path), excludes, mounts);
        guard
            .and_then(|guard| guard.check_tree(self.control))
            .map_err(|problem| relocate::refused(path, problem))
    }

    /// Checks that a folder will hold nothing.
    fn check_empty(&self, at: &Place, spot: &Spot, path: &FilePath) -> Result<()> {
        let not_empty = || Error::NotEmpty { name: path.sent().into(), removed: 0 };
        if self.draft.steps.iter().any(|step| match step {
            Step::Folder { at: made, .. } | Step::New { at: made, .. } | Step::Moved { to: made, .. } => {
                made != at
                    && made.0 == at.0
                    && made.1.starts_with(&at.1)
                    && self.draft.before(made) != Before::Nothing
            }
            Step::Deleted { .. } => false,
        }) {
            return Err(not_empty());
        }
        let Spot::OnDisk(Entry { found, .. }) = spot else { return Ok(()) };
        let refusal = |refusal| crate::workspace::found::refused(path.sent(), refusal);
        let folder = found.place.open_folder().map_err(refusal)?;
        let failed = |errno| Error::read(path.sent(), errno);
        for entry in Dir::read_from(folder.as_fd()).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = Path::new(OsStr::from_bytes(entry.file_name().to_bytes()));
            if ![Path::new("."), Path::new("..")].contains(&name)
                && self.draft.before(&(at.0, at.1.join(name))) != Before::Nothing
            {
                return Err(not_empty());
            }
        }
        Ok(())
    }

    /// The place at `to`, where the entry at `from` is to be, and what is there. A relative path is one in the same served folder.
    fn target(&self, to: &FilePath, from: &Place) -> Result<(Place, Spot)> {
        let (place, spot) = self.spot(to, Want::Link)?;
        match spot {
            Spot::Free(_) if to.folder().is_none() && place.0 != from.0 => {
                let beside = self.spot(&to.in_folder(from.0), Want::Link);
                beside.map_err(|error| self.workspace.with_folder_elsewhere(error, to, from.0))
            }
            spot => Ok((place, spot)),
        }
    }

    /// The error for what the served folder `there` has at `to`, where the entry at `path` of the folder `source` was to go.
    fn occupied(
        &self,
        (occupant, there): (Spot, usize),
        (path, source): (&FilePath, usize),
        to: &FilePath,
    ) -> Error {
        let is_folder = match &occupant {
            Spot::OnDisk(entry) => entry.found.is_directory(),
            other => matches!(other, Spot::Folder),
        };
        let name = Path::new(path.as_str()).file_name().map(|name| name.to_string_lossy().into_owned());
        let elsewhere = self.workspace.elsewhere_than(to, source, there, is_folder);
        let occupant = elsewhere.unwrap_or_else(|| match name {
            Some(name) if is_folder => inside(to, &name),
            _ => Occupant::File { at: self.workspace.path_in(there, to) },
        });
        Error::Exists { name: to.sent().into(), occupant }
    }

    /// Adds a new file at a free spot.
    fn add_new(&mut self, at: Place, spot: Spot, path: &FilePath, file: DraftFile<'o>) -> Result<()> {
        self.make_parents(&at, path)?;
        let beside = match spot {
            Spot::Free(Some(found)) => found.place.dir,
            _ => self.workspace.folders.roots()[at.0].folder()?.handle().clone(),
        };
        self.draft.files.push(DraftFile { beside: Some(beside), ..file });
        let file = self.draft.files.len() - 1;
        self.draft.steps.push(Step::New { at, path: path.clone(), file });
        Ok(())
    }

    /// Adds steps for the folders above `place` that will not be there.
    fn make_parents(&mut self, place: &Place, path: &FilePath) -> Result<()> {
        let mut missing = Vec::new();
        for parent in place.1.ancestors().skip(1).filter(|parent| *parent != Path::new("")) {
            let parent = (place.0, parent.to_owned());
            if self.is_folder(&parent, path)? {
                break;
            }
            missing.push(parent);
        }
        for at in missing.into_iter().rev() {
            self.draft.steps.push(Step::Folder { at, path: path.clone() });
        }
        Ok(())
    }

    /// Whether a folder is at `place`. False if nothing is.
    fn is_folder(&self, place: &Place, path: &FilePath) -> Result<bool> {
        let in_the_way = || Error::not_a_folder(&place.1.to_string_lossy());
        match self.draft.before(place) {
            Before::New(_) => Err(in_the_way()),
            Before::Folder => Ok(true),
            Before::Nothing => Ok(false),
            Before::OnDisk((number, below)) => {
                let found = self.workspace.find_place(&path.at(number, &below), Want::Entry)?;
                match found.exists() {
                    true if !found.is_directory() => Err(in_the_way()),
                    is_there => Ok(is_there),
                }
            }
        }
    }

    /// What is at `path`, and its place.
    fn spot(&self, path: &FilePath, want: Want) -> Result<(Place, Spot)> {
        let lexical = |number| (number, PathBuf::from(path.as_str()));
        let mut folders = 0..self.workspace.folders.roots().len();
        let pinned = path.folder().or_else(|| folders.find(|number| self.draft.has_made(&lexical(*number))));
        let path = pinned.map_or(Cow::Borrowed(path), |number| Cow::Owned(path.in_folder(number)));
        let found = self.look(&path, want);
        let place = match &found {
            Ok(found) => place_of(found, &path),
            // What is in the way may be gone by then.
            Err(_) => lexical(pinned.unwrap_or(0)),
        };
        let spot = match self.draft.before(&place) {
            Before::New(file) => Spot::New(file),
            Before::Folder => Spot::Folder,
            Before::Nothing => Spot::Free(found.ok()),
            Before::OnDisk(at) => {
                let is_here = at == place;
                let path = if is_here { path.into_owned() } else { path.at(at.0, &at.1) };
                let found = if is_here { found? } else { self.look(&path, want)? };
                if found.exists() { Spot::OnDisk(Entry::new(found, &path)) } else { Spot::Free(Some(found)) }
            }
        };
        Ok((place, spot))
    }

    /// What is on the disk at a path that may be written.
    fn look(&self, path: &FilePath, want: Want) -> Result<Found> {
        let mut found = self.workspace.find_place(path, want)?;
        if self.workspace.has_put_back(&found, path) {
            found = self.workspace.find_place(path, want)?;
        }
        found.check_not_excluded(path)?;
        Ok(found)
    }
}

fn place_of(found: &Found, path: &FilePath) -> Place {
    (found.number, found.real_path(path).to_owned())
}

fn missing(path: &FilePath) -> Error {
    Error::NotFound { name: path.sent().into(), similar: Vec::new(), above: None }
}

/// The folder at `to`, in which an entry could have the name `name`.
fn inside(to: &FilePath, name: &str) -> Occupant {
    let folder = to.sent().trim_end_matches('/');
    let inside = if matches!(folder, "" | ".") { name.to_owned() } else { format!("{folder}/{name}") };
    Occupant::Folder { inside: Some(inside) }
}
