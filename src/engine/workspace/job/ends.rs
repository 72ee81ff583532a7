//! Where what a job makes and moves is when it ends: nowhere that is excluded or git's, and no two names that look the same.
//!
//! Each step is checked where it is planned, but one behind it may move what it has made. Looks nothing up but what is in folders that are
//! moved more than once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Place;
use super::planner::Planner;
use super::steps::Step;
use folder::fs::equivalent::as_seen;
use folder::{Error, NameProblem, Result};

impl Planner<'_, '_> {
    /// The operations that leave something where it may not be, by their numbers, and why.
    pub(super) fn misplaced(&self) -> Vec<(usize, Error)> {
        let mut names: HashMap<(usize, PathBuf, String), PathBuf> = HashMap::new();
        let mut refused: Vec<(usize, Error)> = Vec::new();
        for (number, step) in self.draft.steps.iter().enumerate() {
            let Some(end) = step.made().and_then(|place| self.draft.after(place, number + 1)) else {
                continue;
            };
            let checked = self.check_end(step, &end).and_then(|()| check_twin(&mut names, &end));
            if let Err(error) = checked {
                let is_of = |last: Option<usize>| last.is_some_and(|last| number <= last);
                let operation = self.draft.outcomes.iter().position(|outcome| is_of(outcome.step));
                let operation = operation.unwrap_or_default();
                if refused.last().is_none_or(|(last, _)| *last != operation) {
                    refused.push((operation, error));
                }
            }
        }
        refused
    }

    /// Checks that what a step has made may be at the place where it is in the end.
    fn check_end(&self, step: &Step, end: &Place) -> Result<()> {
        let taken = match step {
            Step::Moved { taken, .. } => taken.and_then(|taken| self.draft.taken.get(taken)),
            _ => None,
        };
        let is_folder = match step {
            Step::Folder { .. } => true,
            // What the job has made and moves has a step of its own.
            Step::Moved { taken: None, .. } => return Ok(()),
            _ => taken.is_some_and(|taken| taken.found.is_directory()),
        };
        let (excludes, name) = (self.workspace.folders.excludes(), || end.1.to_string_lossy().into_owned());
        if folder::is_in_git(&end.1) && !matches!(step, Step::Moved { .. }) {
            return Err(Error::GitFolder { name: name() });
        }
        if excludes.hides(&end.1, is_folder) {
            return Err(Error::Excluded { name: name() });
        }
        match taken.filter(|_| is_folder && !excludes.is_empty() && step.made() != Some(end)) {
            Some(taken) => {
                let from = taken.found.real_path(&taken.path);
                let folder = (&taken.found, &taken.path);
                self.workspace.check_uncovers_nothing(folder, from, &end.1, self.control)
            }
            None => Ok(()),
        }
    }
}

/// Notes the name of an entry. Fails if another one in its folder looks the same.
fn check_twin(names: &mut HashMap<(usize, PathBuf, String), PathBuf>, end: &Place) -> Result<()> {
    let Some(name) = end.1.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
    let folder = end.1.parent().unwrap_or(Path::new("")).to_owned();
    let first = names.entry((end.0, folder, as_seen(name))).or_insert_with(|| end.1.clone());
    if *first == end.1 {
        return Ok(());
    }
    let paths = vec![first.to_string_lossy().into_owned()];
    Err(Error::InvalidName { problem: NameProblem::Several { paths } })
}
