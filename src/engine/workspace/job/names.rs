//! Plans the operations of a job that change names: moves, deletions.

use std::ffi::OsStr;
use std::path::Path;

use super::draft::Taken;
use super::planner::{Entry, Planner, Spot};
use super::steps::{Before, Step, below};
use super::{Deletion, Place};
use crate::workspace::excerpt::unchanged;
use crate::workspace::found::{Found, Want, refused};
use crate::workspace::relocate;
use folder::fs::remove::Guard;
use folder::fs::resolve::{ResolvedPath, file_type};
use folder::fs::temporary;
use folder::{Error, FilePath, Occupant, Result};
use sys::fd::AsFd;
use sys::ffi::OsStrExt;
use sys::fs::{Access, Dir, FileType};

impl Planner<'_, '_> {
    pub(super) fn move_entry(&mut self, path: &FilePath, to: &FilePath) -> Result<()> {
        let (from, spot) = self.spot(path, Want::Link)?;
        let (target, occupant) = self.target(to, &from)?;
        if target == from && !matches!(spot, Spot::Free(_)) {
            return Ok(());
        }
        if below(&target, &from).is_some() {
            return Err(refuse_target(
                "move_to",
                "it cannot be moved into itself; give a path outside of it",
            ));
        }
        if !matches!(occupant, Spot::Free(_)) {
            return Err(self.occupied((occupant, target.0), (path, from.0), to));
        }
        if to.names_folder() && !spot.is_folder() {
            return Err(self.workspace.no_folder(to, path));
        }
        let beside = self.beside(&target, to)?;
        if let Spot::OnDisk(entry) = &spot {
            self.check_uncovers_nothing(entry, &target, to)?;
            if parent_of(&from) != parent_of(&target) {
                let on_disk = |place: &Place| match self.draft.before(place) {
                    Before::OnDisk(at) => Some(at),
                    _ => None,
                };
                self.workspace.check_leads_on((&entry.found, path), &target, "move_to", on_disk)?;
            }
            let device = |folder| sys::fs::fstat(folder).map(|stat| stat.st_dev).ok();
            if device(entry.found.place.dir.as_fd()) != device(beside.as_fd()) {
                return Err(refuse_target(
                    "move_to",
                    "it is on another file system; copy the file by copy_to, and delete it by another edit",
                ));
            }
        }
        let taken = self.take(path, spot)?;
        self.make_parents(&target, to)?;
        let (source, target_path) = (path.clone(), to.clone());
        self.draft.steps.push(Step::Moved { from, to: target, source, target: target_path, taken });
        Ok(())
    }

    pub(super) fn delete(&mut self, path: &FilePath, only: Deletion) -> Result<()> {
        let (at, spot) = self.spot(path, Want::Link)?;
        let is_folder = match &spot {
            Spot::OnDisk(entry) => entry.found.is_directory(),
            spot => matches!(spot, Spot::Folder),
        };
        let recursive = only == Deletion::Recursive;
        match only {
            Deletion::Unchanged(hash) => self.check_content(&spot, path, hash)?,
            Deletion::EmptyFolder if !is_folder || self.check_empty(&at, &spot, path).is_err() => {
                return Ok(());
            }
            _ if is_folder && !recursive => {
                if let Err(not_empty) = self.check_empty(&at, &spot, path) {
                    // What must stay is told first: it would be all the same if all in it were to be deleted.
                    if let Spot::OnDisk(entry) = &spot {
                        self.check_tree(entry)?;
                    }
                    return Err(not_empty);
                }
            }
            _ => {}
        }
        if let Spot::OnDisk(entry) = &spot
            && is_folder
        {
            self.check_tree(entry)?;
        }
        let taken = self.take(path, spot)?;
        self.draft.forget(&at);
        let hidden = temporary::new_hidden_name();
        self.draft.steps.push(Step::Deleted { at, path: path.clone(), recursive, taken, hidden });
        Ok(())
    }

    /// Refuses a file that does not have this content, and a link that does not have this target.
    fn check_content(&self, spot: &Spot, path: &FilePath, hash: u64) -> Result<()> {
        let changed = || Error::Changed { name: path.sent().into() };
        let Spot::OnDisk(entry) = spot else { return Err(self.workspace.nothing_at(path)) };
        let problem =
            "it was changed since it was made, so that it stays; undo what changed it first, or delete it";
        let stays = || Err(Error::InvalidArguments { at: path.sent().into(), problem: problem.into() });
        match entry.found.place.stat.as_ref().map(file_type) {
            Some(FileType::RegularFile) => {}
            Some(FileType::Symlink) => {
                let place = &entry.found.place;
                let target = sys::fs::readlinkat(&place.dir, &place.name, Vec::new());
                let target = target.map_err(|errno| Error::read(path.sent(), errno))?;
                return if journal::hash(target.as_bytes()) == hash { Ok(()) } else { stays() };
            }
            _ => return stays(),
        }
        let opened = self.workspace.open_place(&entry.found.place, path.sent(), self.control)?;
        let (view, _) =
            self.workspace.any_bytes(opened.ok_or_else(changed)?, path.sent())?.ok_or_else(changed)?;
        if journal::hash(view.bytes()) == hash && unchanged(&view, path.sent())? {
            return Ok(());
        }
        stays()
    }

    /// Notes that the entry at a spot loses its place. Returns its number among those on the disk.
    fn take(&mut self, path: &FilePath, spot: Spot) -> Result<Option<usize>> {
        match spot {
            Spot::New(_) | Spot::Folder | Spot::Link => Ok(None),
            Spot::Free(Some(found)) => Err(self.workspace.not_found(&found, path, self.control)),
            Spot::Free(None) => Err(self.workspace.nothing_at(path)),
            Spot::OnDisk(Entry { found, path: on_disk, .. }) => {
                self.workspace.check_taken(&found, path)?;
                if found.place.stat.as_ref().map(file_type) == Some(FileType::RegularFile)
                    && found
                        .place
                        .allows(Access::WRITE_OK)
                        .map_err(|errno| Error::write(path.sent(), errno))?
                        == Some(false)
                {
                    return Err(Error::PermissionDenied { name: path.sent().into() });
                }
                let dir = self.draft.shared(found.place.dir.clone());
                let found = Found { place: ResolvedPath { dir, ..found.place }, ..found };
                self.draft.taken.push(Taken { path: on_disk, found });
                Ok(Some(self.draft.taken.len() - 1))
            }
        }
    }

    /// Refuses to move a folder to where something that is excluded in it would not be, or something else would.
    fn check_uncovers_nothing(&self, entry: &Entry, target: &Place, to: &FilePath) -> Result<()> {
        let (excludes, is_folder) = (self.workspace.folders.excludes(), entry.found.is_directory());
        if excludes.hides(&target.1, is_folder) {
            return Err(Error::Excluded { name: to.sent().into() });
        }
        if excludes.is_empty() || !is_folder {
            return Ok(());
        }
        let folder = (&entry.found, &entry.path);
        self.workspace.check_uncovers_nothing(folder, &entry.at.1, &target.1, self.control)
    }

    /// Checks that everything in a folder may be deleted.
    fn check_tree(&self, Entry { found, path, at }: &Entry) -> Result<()> {
        self.workspace.check_taken(found, path)?;
        let folder = found.place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
        let (excludes, mounts) = (self.workspace.folders.excludes(), &self.workspace.mounts);
        let guard = Guard::new(folder.as_fd(), &at.1, excludes, mounts);
        guard
            .and_then(|guard| guard.check_tree(self.control))
            .map_err(|problem| relocate::refused(path, problem))
    }

    /// Checks that a folder will hold nothing.
    fn check_empty(&self, at: &Place, spot: &Spot, path: &FilePath) -> Result<()> {
        let not_empty = || Error::NotEmpty { name: path.sent().into(), removed: 0, all_may_go: true };
        if self.draft.made().any(|made| made != *at && below(&made, at).is_some()) {
            return Err(not_empty());
        }
        let Spot::OnDisk(Entry { found, .. }) = spot else { return Ok(()) };
        let folder = found.place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
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
    pub(super) fn target(&self, to: &FilePath, from: &Place) -> Result<(Place, Spot)> {
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
    pub(super) fn occupied(
        &self,
        (occupant, there): (Spot, usize),
        (path, source): (&FilePath, usize),
        to: &FilePath,
    ) -> Error {
        let is_folder = occupant.is_folder();
        let name = Path::new(path.as_str()).file_name().map(|name| name.to_string_lossy().into_owned());
        let elsewhere = self.workspace.elsewhere_than(to, source, there, is_folder);
        let occupant = elsewhere.unwrap_or_else(|| match name {
            Some(name) if is_folder => {
                let is_free = self.spot(&to.join(&name), Want::Link);
                let is_free = is_free.is_ok_and(|(_, spot)| matches!(spot, Spot::Free(_)));
                Occupant::Folder { inside: Some(relocate::inside(to, &name)), is_free }
            }
            _ => Occupant::File { at: self.workspace.path_in(there, to) },
        });
        Error::Exists { name: to.sent().into(), occupant: Box::new(occupant) }
    }
}

fn parent_of(place: &Place) -> (usize, Option<&Path>) {
    (place.0, place.1.parent())
}

/// The error for an argument of a move or copy.
pub(super) fn refuse_target(at: &str, problem: &str) -> Error {
    Error::InvalidArguments { at: at.into(), problem: problem.into() }
}
