//! Plans a job into a draft: what is at a path after its steps so far, on the disk, in the draft, or nothing.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Place;
use super::draft::Draft;
use super::steps::{Before, Step};
use crate::workspace::Workspace;
use crate::workspace::found::{Found, Want};
use folder::fs::equivalent::{self, Spelling};
use folder::{Control, Error, FilePath, NameProblem, Result};
use sys::fd::OwnedFd;

/// Adds operations to a draft.
pub(super) struct Planner<'p, 'o> {
    pub(super) workspace: &'p Workspace,
    pub(super) control: &'p Control,
    pub(super) draft: &'p mut Draft<'o>,
}

/// What is at a path.
pub(super) enum Spot {
    /// What is on the disk, perhaps at another place.
    OnDisk(Entry),
    /// The new file of this number.
    New(usize),
    /// A new folder.
    Folder,
    /// A new symbolic link.
    Link,
    /// Nothing. What is on the disk there now, if that could be looked up.
    Free(Option<Found>),
}

impl Spot {
    pub(super) fn is_folder(&self) -> bool {
        match self {
            Spot::OnDisk(entry) => entry.found.is_directory(),
            other => matches!(other, Spot::Folder),
        }
    }
}

/// An entry that is on the disk.
pub(super) struct Entry {
    pub(super) found: Found,
    /// Its place there.
    pub(super) at: Place,
    /// The path that leads to it there.
    pub(super) path: FilePath,
}

impl Planner<'_, '_> {
    /// What is at `path`, and its place.
    pub(super) fn spot(&self, path: &FilePath, want: Want) -> Result<(Place, Spot)> {
        let lexical = |number| (number, PathBuf::from(path.as_str()));
        let mut folders = 0..self.workspace.folders.roots().len();
        let pinned =
            path.folder().or_else(|| folders.find(|number| self.draft.has_changed(&lexical(*number))));
        let path = pinned.map_or(Cow::Borrowed(path), |number| Cow::Owned(path.in_folder(number)));
        // What links on the disk lead to does not count where a step has changed a name of the path.
        if let Some(place) = pinned.map(lexical).filter(|place| self.draft.has_changed(place)) {
            let place = self.respelled(place, &path)?;
            let spot = self.spot_of(&place, self.look(&path, want), &path, want)?;
            return Ok((place, spot));
        }
        let found = self.look(&path, want)?;
        let place = (found.number, found.real_path(&path).to_owned());
        let spot = self.spot_of(&place, Ok(found), &path, want)?;
        Ok((place, spot))
    }

    /// A place in a folder that a step has moved, with the names that folders on the disk have, if its own are not there.
    fn respelled(&self, place: Place, path: &FilePath) -> Result<Place> {
        let at = match self.draft.before(&place) {
            Before::OnDisk(at) if at != place => at,
            _ => return Ok(place),
        };
        let root = self.workspace.folders.roots()[at.0].folder()?;
        match equivalent::spelling(root.handle(), &at.1) {
            Spelling::AsSent => Ok(place),
            Spelling::Other(other) => {
                // What has another name is below what was moved.
                let same = other.iter().zip(&at.1).take_while(|(one, other)| one == other).count();
                let kept = place.1.iter().count() - (other.iter().count() - same);
                let names = place.1.iter().take(kept).chain(other.iter().skip(same));
                let other = (place.0, names.collect());
                Ok(if self.draft.before(&other) == Before::Nothing { place } else { other })
            }
            Spelling::Several(others) => {
                let folders = &self.workspace.folders;
                let seen = others.iter().filter(|other| folders.is_seen(other));
                let paths = seen.map(|other| folders.unmistakable(path, at.0, other)).collect();
                Err(Error::InvalidName { problem: NameProblem::Several { paths } })
            }
        }
    }

    /// What is at `place`. `found`: what is there on the disk now.
    fn spot_of(&self, place: &Place, found: Result<Found>, path: &FilePath, want: Want) -> Result<Spot> {
        let at = match self.draft.before(place) {
            Before::New(file) => return Ok(Spot::New(file)),
            Before::Folder => return Ok(Spot::Folder),
            Before::Link => return Ok(Spot::Link),
            // What is in the way now will be gone.
            Before::Nothing => return Ok(Spot::Free(found.ok())),
            Before::OnDisk(at) => at,
        };
        let is_here = at == *place;
        let found = if is_here { found? } else { self.workspace.folders.find_at(&at, path, want)? };
        found.check_not_excluded(path)?;
        if !found.exists() {
            if !is_here {
                self.workspace.folders.check_twin(path, &found)?;
            }
            return Ok(Spot::Free(Some(found)));
        }
        // Where it is on the disk, whatever the job calls it.
        found.check_not_git(&path.at(at.0, &at.1))?;
        let real = found.real_path(path).to_owned();
        if !is_here && found.place.real.is_some() && real != at.1 {
            let problem = "it leads through a link that this job moves; name the file that the link leads to";
            return Err(Error::InvalidArguments { at: "path".into(), problem: problem.into() });
        }
        let at = if is_here { (found.number, real) } else { at };
        Ok(Spot::OnDisk(Entry { path: path.at(at.0, &at.1), found, at }))
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

    /// Adds steps for the folders above `place` that will not be there.
    pub(super) fn make_parents(&mut self, place: &Place, path: &FilePath) -> Result<()> {
        let mut missing = Vec::new();
        for parent in parents(place) {
            if self.is_folder(&parent, path)? {
                break;
            }
            missing.push(parent);
        }
        for at in missing.into_iter().rev() {
            self.draft.steps.push(Step::Folder { at, path: path.clone(), mode: None });
        }
        Ok(())
    }

    /// Whether a folder is at `place`. False if nothing is.
    fn is_folder(&self, place: &Place, path: &FilePath) -> Result<bool> {
        let in_the_way = || Error::not_a_folder(&place.1.to_string_lossy());
        match self.draft.before(place) {
            Before::New(_) | Before::Link => Err(in_the_way()),
            Before::Folder => Ok(true),
            Before::Nothing => Ok(false),
            Before::OnDisk(at) => {
                let found = self.workspace.folders.find_at(&at, path, Want::Entry)?;
                match found.exists() {
                    true if !found.is_directory() => Err(in_the_way()),
                    is_there => Ok(is_there),
                }
            }
        }
    }

    /// The folder on the disk in which a new file at `place` is written first: the nearest one above that stays. Refuses a place
    /// where locks do not keep out other machines.
    pub(super) fn beside(&self, place: &Place, path: &FilePath) -> Result<Arc<OwnedFd>> {
        for parent in parents(place) {
            let Before::OnDisk(at) = self.draft.before(&parent) else { continue };
            let found = self.workspace.folders.find_at(&at, path, Want::Entry)?;
            if found.is_directory() {
                let opened = found.place.open_folder();
                let refused = |refusal| crate::workspace::found::refused(path.sent(), refusal);
                let dir = opened.map(Arc::new).map_err(refused)?;
                self.workspace.check_locks(&dir, path.sent())?;
                return Ok(dir);
            }
        }
        let dir = self.workspace.folders.roots()[place.0].folder()?.handle().clone();
        self.workspace.check_locks(&dir, path.sent())?;
        Ok(dir)
    }
}

/// The places of the folders above `place`, the nearest first, without the served folder.
fn parents(place: &Place) -> impl Iterator<Item = Place> {
    let above = place.1.ancestors().skip(1).filter(|parent| *parent != Path::new(""));
    above.map(|parent| (place.0, parent.to_owned()))
}
