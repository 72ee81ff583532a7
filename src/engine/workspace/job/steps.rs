//! The changes of names of a job, in order, and where they lead: what is at a place after some of them, and where an entry is after
//! others. Each is found by the places that steps name, so that a job may have a hundred thousand steps. Looks nothing up.

use std::collections::HashMap;
use std::ffi::OsString;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};

use super::Place;
use folder::FilePath;
use sys::fs::Mode;

mod vain;

/// A change of names.
#[derive(Debug)]
pub(super) enum Step {
    /// A new folder, with these permissions or the usual ones.
    Folder { at: Place, path: FilePath, mode: Option<Mode> },
    /// A new file, by its number.
    New { at: Place, path: FilePath, file: usize },
    /// A new symbolic link to `target`.
    Link { at: Place, path: FilePath, target: Vec<u8> },
    /// An entry has another place. `taken`: its number in the draft, if it is on the disk.
    Moved { from: Place, to: Place, source: FilePath, target: FilePath, taken: Option<usize> },
    /// An entry is gone; a folder with all in it, if `recursive` is set. Until all is done it has the name `hidden`.
    Deleted { at: Place, path: FilePath, recursive: bool, taken: Option<usize>, hidden: OsString },
}

/// What is at a place after some steps.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// What is on the disk at this place now, if anything.
    OnDisk(Place),
    /// The new file of this number.
    New(usize),
    /// A new folder.
    Folder,
    /// A new symbolic link.
    Link,
    /// Nothing: it was moved away or deleted.
    Nothing,
}

impl Step {
    /// The path that named what it changes.
    pub(super) fn path(&self) -> &FilePath {
        match self {
            Step::Folder { path, .. }
            | Step::New { path, .. }
            | Step::Link { path, .. }
            | Step::Deleted { path, .. } => path,
            Step::Moved { source, .. } => source,
        }
    }

    /// The place where something is behind it that was not there.
    pub(super) fn made(&self) -> Option<&Place> {
        match self {
            Step::Folder { at, .. }
            | Step::New { at, .. }
            | Step::Link { at, .. }
            | Step::Moved { to: at, .. } => Some(at),
            Step::Deleted { .. } => None,
        }
    }

    /// Whether it makes something at a place.
    fn makes(&self) -> bool {
        matches!(self, Step::Folder { .. } | Step::New { .. } | Step::Link { .. })
    }

    /// The places that it names: where something is made or deleted, or from where to where it is moved.
    fn places(&self) -> (&Place, Option<&Place>) {
        match self {
            Step::Folder { at, .. }
            | Step::New { at, .. }
            | Step::Link { at, .. }
            | Step::Deleted { at, .. } => (at, None),
            Step::Moved { from, to, .. } => (from, Some(to)),
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Steps {
    all: Vec<Step>,
    /// The numbers of the steps that name a place, in order.
    of_place: HashMap<Place, Vec<usize>>,
}

impl Deref for Steps {
    type Target = [Step];

    fn deref(&self) -> &[Step] {
        &self.all
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Steps {
        let mut all = Steps::default();
        steps.into_iter().for_each(|step| all.push(step));
        all
    }
}

impl Steps {
    pub(super) fn push(&mut self, step: Step) {
        let (place, other) = step.places();
        for place in [Some(place), other].into_iter().flatten() {
            self.of_place.entry(place.clone()).or_default().push(self.all.len());
        }
        self.all.push(step);
    }

    /// What is at `place` after the first `end` steps.
    pub(super) fn before(&self, place: &Place, mut end: usize) -> Before {
        let mut place = place.clone();
        while let Some(number) = self.last_for(&place, end) {
            match &self.all[number] {
                Step::New { file, .. } => return Before::New(*file),
                Step::Folder { .. } => return Before::Folder,
                Step::Link { .. } => return Before::Link,
                Step::Deleted { .. } => return Before::Nothing,
                Step::Moved { from, to, .. } => match below(&place, to) {
                    Some(rest) => place = joined(from, rest),
                    None => return Before::Nothing,
                },
            }
            end = number;
        }
        Before::OnDisk(place)
    }

    /// The place of the entry at `place` after these steps. `None` if it is deleted.
    pub(super) fn after(&self, place: &Place, steps: Range<usize>) -> Option<Place> {
        let (mut place, mut start) = (place.clone(), steps.start);
        while let Some(number) = self.first_for(&place, start..steps.end) {
            match &self.all[number] {
                Step::Moved { from, to, .. } => {
                    place = joined(to, below(&place, from).unwrap_or(Path::new("")));
                }
                _ => return None,
            }
            start = number + 1;
        }
        Some(place)
    }

    /// Which place, `place` or one above it, a step has emptied last, and where what was there is behind all steps. `None` there: it is
    /// deleted.
    pub(super) fn taken_from(&self, place: &Place) -> Option<(&Place, Option<Place>)> {
        let number = self.last_for(place, self.len())?;
        match &self.all[number] {
            Step::Moved { from, .. } if below(place, from).is_some() => {
                Some((from, self.after(from, number..self.len())))
            }
            Step::Deleted { at, .. } => Some((at, None)),
            _ => None,
        }
    }

    /// Whether a step has made something at `place` or above it, or moved it there.
    pub(super) fn leads_to(&self, place: &Place) -> bool {
        self.above(place).any(|(at, numbers)| {
            numbers.iter().any(|number| match &self.all[*number] {
                Step::Moved { to, .. } => *to == at,
                step => step.makes(),
            })
        })
    }

    /// The last of the first `end` steps that decides what is at `place`.
    fn last_for(&self, place: &Place, end: usize) -> Option<usize> {
        let last = |(at, numbers): (Place, &Vec<usize>)| {
            let numbers = &numbers[..numbers.partition_point(|number| *number < end)];
            let decides = |number: &&usize| at == *place || !self.all[**number].makes();
            numbers.iter().rev().find(decides).copied()
        };
        self.above(place).filter_map(last).max()
    }

    /// The first of these steps that takes the entry at `place` away.
    fn first_for(&self, place: &Place, steps: Range<usize>) -> Option<usize> {
        let first = |(at, numbers): (Place, &Vec<usize>)| {
            let numbers = &numbers[numbers.partition_point(|number| *number < steps.start)..];
            let takes = |number: &&usize| match &self.all[**number] {
                Step::Moved { from, .. } => *from == at,
                step => !step.makes(),
            };
            numbers.iter().find(takes).copied().filter(|number| *number < steps.end)
        };
        self.above(place).filter_map(first).min()
    }

    /// The places at and above `place` that steps name, with their numbers.
    fn above<'s>(&'s self, place: &'s Place) -> impl Iterator<Item = (Place, &'s Vec<usize>)> {
        place.1.ancestors().filter_map(|path| {
            let at = (place.0, PathBuf::from(path));
            let numbers = self.of_place.get(&at)?;
            Some((at, numbers))
        })
    }
}

/// The place `rest` below `folder`, which is the folder itself if it is empty.
pub(in crate::workspace) fn joined(folder: &Place, rest: &Path) -> Place {
    if rest == Path::new("") { folder.clone() } else { (folder.0, folder.1.join(rest)) }
}

/// The folders above a place, the served folder with them.
pub(in crate::workspace) fn folders_above((number, path): &Place) -> impl Iterator<Item = Place> {
    path.ancestors().skip(1).map(move |above| (*number, above.to_owned()))
}

/// The rest of `place` behind `folder`, if it is that place or below it.
pub(in crate::workspace) fn below<'p>(place: &'p Place, folder: &Place) -> Option<&'p Path> {
    (place.0 == folder.0).then(|| place.1.strip_prefix(&folder.1).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use folder::{FolderPaths, NamePolicy};
    use proptest::prelude::*;

    use super::*;

    /// What is at a place, found by looking at each step.
    fn naive_before(steps: &[Step], place: &Place) -> Before {
        let mut place = place.clone();
        for step in steps.iter().rev() {
            match step {
                Step::New { at, file, .. } if *at == place => return Before::New(*file),
                Step::Folder { at, .. } if *at == place => return Before::Folder,
                Step::Link { at, .. } if *at == place => return Before::Link,
                Step::Moved { from, to, .. } => match below(&place, to) {
                    Some(rest) => place = joined(from, rest),
                    None if below(&place, from).is_some() => return Before::Nothing,
                    None => {}
                },
                Step::Deleted { at, .. } if below(&place, at).is_some() => return Before::Nothing,
                _ => {}
            }
        }
        Before::OnDisk(place)
    }

    fn naive_after(steps: &[Step], place: &Place) -> Option<Place> {
        let mut place = place.clone();
        for step in steps {
            match step {
                Step::Moved { from, to, .. } => {
                    if let Some(rest) = below(&place, from) {
                        place = joined(to, rest);
                    }
                }
                Step::Deleted { at, .. } if below(&place, at).is_some() => return None,
                _ => {}
            }
        }
        Some(place)
    }

    fn step((kind, at, to): (usize, Place, Place)) -> Step {
        let path = FilePath::parse("a", NamePolicy::Paths, &FolderPaths::new(Vec::new())).unwrap();
        match kind {
            0 => Step::Folder { at, path, mode: None },
            1 => Step::New { at, path, file: 7 },
            2 => Step::Link { at, path, target: Vec::new() },
            3 => Step::Deleted { at, path, recursive: true, taken: None, hidden: OsString::new() },
            _ => Step::Moved { from: at, to, source: path.clone(), target: path, taken: None },
        }
    }

    fn place() -> impl Strategy<Value = Place> {
        (0..2usize, "[ab](/[ab]){0,3}").prop_map(|(number, path)| (number, path.into()))
    }

    proptest! {
        #[test]
        fn what_is_at_a_place_is_what_a_look_at_each_step_finds(
            steps in prop::collection::vec((0..6usize, place(), place()), 0..12),
            asked in place(),
            start in 0..12usize,
            end in 0..13usize,
        ) {
            let steps: Steps = steps.into_iter().map(step).collect();
            let end = end.min(steps.len());
            let start = start.min(end);
            prop_assert_eq!(steps.before(&asked, end), naive_before(&steps[..end], &asked));
            prop_assert_eq!(steps.after(&asked, start..end), naive_after(&steps[start..end], &asked));
        }
    }
}
