//! Plans copies: of files, and of folders with all in them as the job has made it so far.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};

use super::Place;
use super::base::Base;
use super::draft::DraftFile;
use super::names::refuse_target;
use super::planner::{Entry, Planner, Spot};
use super::steps::{Before, Step, below, joined};
use crate::workspace::found::{Want, refused};
use folder::fs::resolve::file_type;
use folder::fs::temporary;
use folder::{Error, FilePath, Result};
use sys::fd::AsFd;
use sys::ffi::OsStrExt;
use sys::fs::{Dir, FileType, Mode};
use text::order;
use text::shown::shown_line;

/// The most entries of a folder that are copied at once.
const MOST_COPIED: usize = 100_000;

/// The copying of a folder.
struct FolderCopy {
    from: Place,
    to: Place,
    /// What steps before it have made in each folder.
    made: HashMap<Place, Vec<OsString>>,
    /// How many more entries it may have.
    left: usize,
}

impl<'o> Planner<'_, 'o> {
    /// Copies a file, or a folder with all in it that clients see.
    pub(super) fn copy(&mut self, path: &FilePath, to: &FilePath) -> Result<()> {
        match self.spot(path, Want::File) {
            Ok((from, Spot::Folder)) => self.copy_folder((from, Spot::Folder), path, to),
            Err(Error::IsAFolder { .. }) => self.copy_folder(self.spot(path, Want::Entry)?, path, to),
            spot => self.copy_file(spot?, path, to),
        }
    }

    fn copy_file(&mut self, (from, spot): (Place, Spot), path: &FilePath, to: &FilePath) -> Result<()> {
        let copy = self.file_copy(spot, path, to)?;
        let (target, occupant) = self.target(to, &from)?;
        match occupant {
            _ if target == from => Ok(()),
            Spot::Free(_) if to.names_folder() => Err(self.workspace.no_folder(to, path)),
            Spot::Free(_) => self.add_new(target, to, copy),
            occupant => Err(self.occupied((occupant, target.0), (path, from.0), to)),
        }
    }

    /// A copy of the file at a spot.
    fn file_copy(&self, spot: Spot, path: &FilePath, to: &FilePath) -> Result<DraftFile<'o>> {
        let copy = match spot {
            Spot::New(file) => self.draft.files[file].copied(to),
            Spot::Folder | Spot::Link => return Err(Error::IsAFolder { name: path.sent().into() }),
            Spot::Free(_) => return Err(self.workspace.nothing_at(path)),
            Spot::OnDisk(entry) => match self.draft.on_disk.get(&entry.at) {
                Some(file) => self.draft.files[*file].copied(to),
                None => self.copy_of(&entry.path, to)?,
            },
        };
        Ok(DraftFile { mode: copy.mode.map(|mode| mode.difference(self.workspace.umask)), ..copy })
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
        let mode = sys::fs::mode(file.stat().st_mode & 0o777);
        let base = Some(Base::new(&readable.place, file));
        Ok(DraftFile { base, mode: Some(mode), any_size: true, ..DraftFile::new(to) })
    }

    fn copy_folder(&mut self, (from, spot): (Place, Spot), path: &FilePath, to: &FilePath) -> Result<()> {
        let (target, occupant) = self.target(to, &from)?;
        if target == from {
            return Ok(());
        }
        if below(&target, &from).is_some() {
            return Err(refuse_target(
                "copy_to",
                "a folder cannot be copied into itself; give a path outside of it",
            ));
        }
        if !matches!(occupant, Spot::Free(_)) {
            return Err(self.occupied((occupant, target.0), (path, from.0), to));
        }
        // How many files it has is not known before.
        self.draft.is_large = true;
        // Refuses a place where nothing may be made.
        self.beside(&target, to)?;
        let mut made = HashMap::<Place, Vec<OsString>>::new();
        for (number, path) in self.draft.made() {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { continue };
            made.entry((number, parent.to_owned())).or_default().push(name.to_owned());
        }
        let mut copy = FolderCopy { from: from.clone(), to: target.clone(), made, left: MOST_COPIED };
        self.copy_tree((&from, spot), path, (&target, to), &mut copy)
    }

    /// Copies an entry of a folder that is copied.
    fn copy_tree(
        &mut self,
        (from, spot): (&Place, Spot),
        path: &FilePath,
        (target, to): (&Place, &FilePath),
        copy: &mut FolderCopy,
    ) -> Result<()> {
        self.control.check()?;
        let too_many = || {
            refuse_target(
                "copy_to",
                &format!(
                    "the folder holds more than {MOST_COPIED} entries; copy the folders in it one by one"
                ),
            )
        };
        copy.left = copy.left.checked_sub(1).ok_or_else(too_many)?;
        let kind = match &spot {
            Spot::Free(_) => return Ok(()),
            Spot::Folder => FileType::Directory,
            Spot::New(_) => FileType::RegularFile,
            Spot::Link => FileType::Symlink,
            Spot::OnDisk(entry) => entry.found.place.stat.as_ref().map_or(FileType::RegularFile, file_type),
        };
        match kind {
            FileType::RegularFile => {
                let file = self.file_copy(spot, path, to)?;
                self.add_new(target.clone(), to, file)
            }
            FileType::Directory => self.copy_tree_folder((from, spot), path, (target, to), copy),
            FileType::Symlink => self.copy_link(spot, path, (target, to), copy),
            _ => Err(refuse_target(
                "path",
                &format!(
                    "'{}' is neither a file nor a folder nor a link; copy the other entries by their own paths",
                    path.sent()
                ),
            )),
        }
    }

    fn copy_tree_folder(
        &mut self,
        (from, spot): (&Place, Spot),
        path: &FilePath,
        (target, to): (&Place, &FilePath),
        copy: &mut FolderCopy,
    ) -> Result<()> {
        if self.workspace.folders.excludes().hides(&target.1, true) {
            return Err(Error::Excluded { name: to.sent().into() });
        }
        // Before the copy itself can be among them.
        let names = self.names_in(from, &spot, path, copy)?;
        let mode = match &spot {
            Spot::OnDisk(entry) => {
                entry.found.place.stat.as_ref().map(|stat| sys::fs::mode(stat.st_mode & 0o777))
            }
            _ => None,
        };
        let mode: Option<Mode> = mode.map(|mode| mode.difference(self.workspace.umask));
        self.make_parents(target, to)?;
        self.draft.steps.push(Step::Folder { at: target.clone(), path: to.clone(), mode });
        for name in names {
            let from = (from.0, from.1.join(&name));
            let path = FilePath::known(from.0, &shown_line(from.1.as_os_str().as_bytes()));
            let target = (target.0, target.1.join(&name));
            let is_plain = |name: &str| !name.contains(|c: char| c.is_control() || c == '\\');
            if !name.to_str().is_some_and(is_plain) {
                return Err(refuse_target(
                    "path",
                    &format!(
                        "'{}' is no name that a new entry can get; copy the other entries by their own paths",
                        path.sent()
                    ),
                ));
            }
            let to = to.at(target.0, &target.1);
            match self.spot(&path, Want::Link) {
                // It does not exist for clients.
                Err(Error::Excluded { .. }) => {}
                spot => self.copy_tree((&from, spot?.1), &path, (&target, &to), copy)?,
            }
        }
        Ok(())
    }

    /// The names that a folder has after all steps so far, in order.
    fn names_in(
        &self,
        folder: &Place,
        spot: &Spot,
        path: &FilePath,
        copy: &FolderCopy,
    ) -> Result<Vec<OsString>> {
        let mut names = Vec::new();
        if let Spot::OnDisk(Entry { found, .. }) = spot {
            let opened = found.place.open_folder().map_err(|refusal| refused(path.sent(), refusal))?;
            let failed = |errno| Error::read(path.sent(), errno);
            for entry in Dir::read_from(opened.as_fd()).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name().to_bytes();
                if !matches!(name, b"." | b"..") && !temporary::is_temporary(name) {
                    names.push(OsStr::from_bytes(name).to_owned());
                }
            }
        }
        names.extend(copy.made.get(folder).into_iter().flatten().cloned());
        names.retain(|name| self.draft.before(&(folder.0, folder.1.join(name))) != Before::Nothing);
        order::sort_by(&mut names, Ord::cmp);
        names.dedup();
        Ok(names)
    }

    fn copy_link(
        &mut self,
        spot: Spot,
        path: &FilePath,
        (target, to): (&Place, &FilePath),
        copy: &FolderCopy,
    ) -> Result<()> {
        let Spot::OnDisk(Entry { found, path: on_disk, .. }) = spot else {
            return Err(refuse_target(
                "path",
                &format!(
                    "'{}' is a link that this call makes; copy what it leads to, or copy it in another call",
                    path.sent()
                ),
            ));
        };
        // What will be in the copy is in the folder now.
        let stays = |place: &Place| match below(place, &copy.to) {
            Some(rest) => Some(joined(&copy.from, rest)),
            None => Some(place.clone()),
        };
        self.workspace.check_leads_on((&found, &on_disk), target, "copy_to", stays)?;
        let text = sys::fs::readlinkat(&found.place.dir, &found.place.name, Vec::new());
        let text = text.map_err(|errno| Error::read(path.sent(), errno))?.into_bytes();
        self.draft.steps.push(Step::Link { at: target.clone(), path: to.clone(), target: text });
        Ok(())
    }
}
