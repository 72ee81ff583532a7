//! What a job will have made of the served folders, before anything is written.
//!
//! Files whose content changes have a plan for the bytes that they have on the disk. What changes names is a list of steps. Looks
//! nothing up.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::sync::Arc;

use super::Place;
use super::base::Base;
use super::steps::{Before, Step, Steps, below};
use crate::workspace::found::Found;
use folder::FilePath;
use folder::fs::version::identity;
use journal::EntryId;
use sys::fd::OwnedFd;
use sys::fs::Mode;
use text::splice::EditPlan;

/// See the module's text.
#[derive(Debug, Default)]
pub(super) struct Draft<'o> {
    /// Files whose content is read or changed. One that is new has its number in a step.
    pub(super) files: Vec<DraftFile<'o>>,
    /// The numbers of those that are on the disk, by their places there.
    pub(super) on_disk: BTreeMap<Place, usize>,
    pub(super) steps: Steps,
    /// What is on the disk and loses its place.
    pub(super) taken: Vec<Taken>,
    /// The handles of folders, so that the entries of one share it.
    dirs: HashMap<EntryId, Arc<OwnedFd>>,
    /// What each operation made of it.
    pub(super) outcomes: Vec<Outcome>,
    /// Whether its files are too many to be held open.
    pub(super) is_large: bool,
}

/// What an operation made of the draft.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// The number of the file on the disk that it changes.
    pub(super) file: Option<usize>,
    /// The last step that it added.
    pub(super) step: Option<usize>,
}

/// An entry on the disk that loses its place, as it was when that was planned.
#[derive(Debug)]
pub(super) struct Taken {
    /// The path that leads to it.
    pub(super) path: FilePath,
    pub(super) found: Found,
}

/// A file whose content a job reads, changes or makes.
#[derive(Debug)]
pub(super) struct DraftFile<'o> {
    /// Its path in the first operation that named it.
    pub(super) path: FilePath,
    /// Where it is on the disk. `None`: it is new.
    pub(super) found: Option<Found>,
    /// The folder on the disk in which a new file is written first: the nearest one above its place.
    pub(super) beside: Option<Arc<OwnedFd>>,
    /// The file to whose bytes the plan applies: itself, or that of which it is a copy. `None`: there are none.
    pub(super) base: Option<Base>,
    pub(super) plan: EditPlan<'o>,
    /// The mode of a copy. `None`: that of any new file.
    pub(super) mode: Option<Mode>,
    /// Whether it may be larger than files that are written whole.
    pub(super) any_size: bool,
    /// Whether the result may be bytes that are no text in UTF-8.
    pub(super) makes_any_bytes: bool,
    /// Whether it has no limit of size: it was there before.
    pub(super) restores: bool,
}

impl<'o> DraftFile<'o> {
    /// A file without anything in it.
    pub(super) fn new(path: &FilePath) -> DraftFile<'o> {
        let (path, plan) = (path.clone(), EditPlan::default());
        DraftFile {
            path,
            plan,
            found: None,
            beside: None,
            base: None,
            mode: None,
            any_size: false,
            makes_any_bytes: false,
            restores: false,
        }
    }

    /// A copy of it as it is so far.
    pub(super) fn copied(&self, to: &FilePath) -> DraftFile<'o> {
        let (base, plan, mode) = (self.base.clone(), self.plan.clone(), self.mode);
        let is_old = |base: &Base| sys::fs::mode(base.stat().st_mode & 0o777);
        let mode = mode.or_else(|| base.as_ref().map(is_old));
        let DraftFile { any_size, makes_any_bytes, .. } = *self;
        DraftFile { base, plan, mode, any_size, makes_any_bytes, ..DraftFile::new(to) }
    }
}

impl<'o> Draft<'o> {
    /// An empty one. `is_large`: its files will be too many to be held open.
    pub(super) fn new(is_large: bool) -> Draft<'o> {
        Draft { is_large, ..Draft::default() }
    }

    /// Where what steps have made is after all of them: new entries, and those that were moved.
    pub(super) fn made(&self) -> impl Iterator<Item = Place> {
        let place = |(number, step): (usize, &Step)| self.after(step.made()?, number + 1);
        self.steps.iter().enumerate().filter_map(place)
    }

    /// What is at `place` after all steps so far.
    pub(super) fn before(&self, place: &Place) -> Before {
        self.steps.before(place, self.steps.len())
    }

    /// Whether a step has changed what is at `place`, or a folder above it.
    pub(super) fn has_changed(&self, place: &Place) -> bool {
        self.before(place) != Before::OnDisk(place.clone()) || self.steps.leads_to(place)
    }

    /// The first handle of the same folder.
    pub(super) fn shared(&mut self, dir: Arc<OwnedFd>) -> Arc<OwnedFd> {
        match sys::fs::fstat(&dir) {
            Ok(stat) => self.dirs.entry(identity(&stat)).or_insert(dir).clone(),
            Err(_) => dir,
        }
    }

    /// Gives the descriptor of the base of a file back, if the job has too many.
    pub(super) fn close(&mut self, file: usize) {
        let base = self.files.get_mut(file).and_then(|file| file.base.as_mut());
        base.filter(|_| self.is_large).into_iter().for_each(Base::close);
    }

    /// Adds a file that is on the disk at this place. Returns its number.
    pub(super) fn add(&mut self, at: Place, file: DraftFile<'o>) -> usize {
        self.files.push(file);
        self.on_disk.insert(at, self.files.len() - 1);
        self.files.len() - 1
    }

    /// Forgets the changes of files on the disk that are at `place` now, or below it, because they will be gone.
    pub(super) fn forget(&mut self, place: &Place) {
        let is_kept = |at: &Place| self.after(at, 0).is_none_or(|now| below(&now, place).is_none());
        let kept = self.on_disk.iter().filter(|(at, _)| is_kept(at));
        self.on_disk = kept.map(|(at, file)| (at.clone(), *file)).collect();
    }

    /// The files on the disk whose content changes, by their places.
    pub(super) fn changed(&self) -> impl Iterator<Item = &DraftFile<'o>> {
        self.on_disk.values().map(|file| &self.files[*file]).filter(|file| !file.plan.changes_nothing())
    }

    pub(super) fn changes_nothing(&self) -> bool {
        self.steps.is_empty() && self.changed().next().is_none()
    }

    /// The names that deleted entries have until all is done.
    pub(super) fn hidden_names(&self) -> impl Iterator<Item = &OsString> {
        self.steps.iter().filter_map(|step| match step {
            Step::Deleted { hidden, .. } => Some(hidden),
            _ => None,
        })
    }

    /// The places of files whose content changes and of all that steps change.
    pub(super) fn places(&self) -> impl Iterator<Item = &Place> {
        let of_steps = self.steps.iter().map(|step| match step {
            Step::Folder { at, .. }
            | Step::New { at, .. }
            | Step::Link { at, .. }
            | Step::Deleted { at, .. } => at,
            Step::Moved { to, .. } => to,
        });
        self.changed_places().chain(of_steps)
    }

    /// The same without new folders, and with the places from where something is moved.
    pub(super) fn named(&self) -> impl Iterator<Item = &Place> {
        let of_steps = self.steps.iter().flat_map(|step| match step {
            Step::Folder { .. } => [None, None],
            Step::New { at, .. } | Step::Link { at, .. } | Step::Deleted { at, .. } => [Some(at), None],
            Step::Moved { from, to, .. } => [Some(to), Some(from)],
        });
        self.changed_places().chain(of_steps.flatten())
    }

    fn changed_places(&self) -> impl Iterator<Item = &Place> {
        let changed = self.on_disk.iter().filter(|(_, file)| !self.files[**file].plan.changes_nothing());
        changed.map(|(at, _)| at)
    }

    /// Whether it is the change of one file, which one rename does.
    pub(super) fn is_one_rename(&self) -> bool {
        self.steps.is_empty() && self.changed().count() == 1
    }

    /// All files whose content changes or that are new, with their places after the job, and whether they are new. Without those that
    /// are deleted again.
    pub(super) fn contents(&self) -> Vec<(Place, &DraftFile<'o>, bool)> {
        let changed = self.on_disk.iter().map(|(at, file)| (at, 0, &self.files[*file], false));
        let new = self.steps.iter().enumerate().filter_map(|(number, step)| match step {
            Step::New { at, file, .. } => Some((at, number + 1, &self.files[*file], true)),
            _ => None,
        });
        let kept = changed.filter(|(_, _, file, _)| !file.plan.changes_nothing()).chain(new);
        kept.filter_map(|(at, from, file, is_new)| Some((self.after(at, from)?, file, is_new))).collect()
    }

    /// The place of the entry at `place` before the step of this number, after all steps. `None` if it is deleted.
    pub(super) fn after(&self, place: &Place, from: usize) -> Option<Place> {
        self.steps.after(place, from..self.steps.len())
    }
}

#[cfg(test)]
mod tests {
    use folder::{FolderPaths, NamePolicy};

    use super::*;

    fn at(path: &str) -> Place {
        (0, path.into())
    }

    fn path(path: &str) -> FilePath {
        FilePath::parse(path, NamePolicy::Paths, &FolderPaths::new(Vec::new())).unwrap()
    }

    fn moved(from: &str, to: &str) -> Step {
        Step::Moved { from: at(from), to: at(to), source: path(from), target: path(to), taken: None }
    }

    #[test]
    fn a_place_is_followed_back_through_moves_of_it_and_of_folders_above() {
        let steps = Steps::from_iter([moved("a", "b"), moved("b/x", "c"), moved("d", "a")]);
        let draft = Draft { steps, ..Draft::default() };
        let on_disk = |place: &str| Before::OnDisk(at(place));
        assert_eq!(draft.before(&at("c")), on_disk("a/x"));
        assert_eq!(draft.before(&at("b/y")), on_disk("a/y"));
        assert_eq!(draft.before(&at("b/x")), Before::Nothing);
        assert_eq!(draft.before(&at("a/z")), on_disk("d/z"));
        assert_eq!(draft.before(&at("d")), Before::Nothing);
        assert_eq!(draft.before(&at("e")), on_disk("e"));
    }

    #[test]
    fn what_is_made_where_something_was_deleted_is_there() {
        let mut draft = Draft::default();
        draft.steps.push(Step::Deleted {
            at: at("a"),
            path: path("a"),
            recursive: true,
            taken: None,
            hidden: OsString::new(),
        });
        assert_eq!(draft.before(&at("a/x")), Before::Nothing);
        draft.steps.push(Step::Folder { at: at("a"), path: path("a"), mode: None });
        draft.steps.push(Step::New { at: at("a/x"), path: path("a/x"), file: 3 });
        assert_eq!(draft.before(&at("a")), Before::Folder);
        assert_eq!(draft.before(&at("a/x")), Before::New(3));
        draft.steps.push(moved("a", "b"));
        assert_eq!(draft.before(&at("b/x")), Before::New(3));
        assert!(
            draft.has_changed(&at("b/x")) && draft.has_changed(&at("a/y")) && !draft.has_changed(&at("c"))
        );
    }
}
