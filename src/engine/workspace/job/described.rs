//! What is told of the changes that a job makes, and how answers name places.

use std::collections::HashSet;

use super::JobChange;
use super::draft::Draft;
use super::steps::{Step, folders_above};
use crate::workspace::{Place, Workspace};
use folder::{Error, Result};
use text::shown::shown_line;

impl Workspace {
    /// Tells `describe` each change: of contents by their paths, then of names in their order. What is deleted to make room for a new file
    /// comes first.
    pub(super) fn describe(&self, draft: &Draft, describe: &mut dyn FnMut(JobChange)) -> Result<()> {
        let contents = draft.contents();
        let new: HashSet<&Place> =
            contents.iter().filter(|(_, _, is_new)| *is_new).map(|(place, ..)| place).collect();
        let makes_room = |step: &Step| matches!(step, Step::Deleted { at, .. } if new.contains(at));
        let folders = lone_folders(draft);
        let steps = draft.steps.iter().enumerate();
        let told =
            steps.filter(|(number, step)| !matches!(step, Step::Folder { .. }) || folders.contains(number));
        let (first, names): (Vec<&Step>, Vec<&Step>) =
            told.map(|(_, step)| step).partition(|step| makes_room(step));
        first.into_iter().for_each(|step| self.describe_step(step, describe));
        for (place, file, is_new) in &contents {
            let old = match &file.base {
                None => None,
                Some(base) => {
                    let changed = || Error::Changed { name: file.path.sent().into() };
                    let open = base.open(file.path.sent())?;
                    Some(self.any_bytes(open, file.path.sent())?.ok_or_else(changed)?.0)
                }
            };
            let old = old.as_ref().map_or(&b""[..], |old| old.bytes());
            let (path, is_new) = (&*self.told(place), *is_new);
            describe(JobChange::Content { path, is_new, old, plan: &file.plan });
        }
        names.into_iter().for_each(|step| self.describe_step(step, describe));
        Ok(())
    }

    fn describe_step(&self, step: &Step, describe: &mut dyn FnMut(JobChange)) {
        match step {
            // It is told with what is in it.
            Step::New { .. } => {}
            Step::Folder { at, .. } => describe(JobChange::Folder { path: &self.told(at) }),
            Step::Link { at, target, .. } => {
                describe(JobChange::Link { path: &self.told(at), target: &shown_line(target) })
            }
            Step::Moved { from, to, .. } => {
                let (from, to) = (&*self.told(from), &*self.told(to));
                describe(JobChange::Moved { from, to })
            }
            Step::Deleted { at, .. } => describe(JobChange::Deleted { path: &self.told(at) }),
        }
    }

    /// A place in a served folder, by its number and the path below it, as answers name it. An excluded one has no name: it may have
    /// been changed by a server that does not exclude it.
    pub fn told(&self, (number, below): &Place) -> String {
        if self.folders.excludes().hides(below, false) {
            return "an excluded path".into();
        }
        let below = below.to_string_lossy();
        match self.folders.roots().len() {
            1 => shown_line(below.as_bytes()).into_owned(),
            _ => self.folders.absolute(*number, &below),
        }
    }
}

/// The numbers of the steps that make folders in which, when all is done, nothing is that is told, and that are in no other such folder.
fn lone_folders(draft: &Draft) -> HashSet<usize> {
    let of_steps = draft.steps.iter().enumerate().filter_map(|(number, step)| match step {
        Step::Link { at, .. } | Step::Moved { to: at, .. } => draft.after(at, number + 1),
        _ => None,
    });
    let told = draft.contents().into_iter().map(|(at, ..)| at).chain(of_steps);
    let mut filled = HashSet::new();
    told.for_each(|place| filled.extend(folders_above(&place)));
    let (mut lone, mut empty) = (HashSet::new(), HashSet::<Place>::new());
    for (number, step) in draft.steps.iter().enumerate() {
        let Step::Folder { at, .. } = step else { continue };
        let Some(at) = draft.after(at, number + 1).filter(|at| !filled.contains(at)) else { continue };
        let parent = at.1.parent().map(|parent| (at.0, parent.to_owned()));
        if !parent.is_some_and(|parent| empty.contains(&parent)) {
            lone.insert(number);
        }
        empty.insert(at);
    }
    lone
}
