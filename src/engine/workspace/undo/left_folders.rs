//! Folders that a change made and its undo had to leave, because something of another change was in them: they go with that.

use std::collections::BTreeSet;

use super::super::{Place, Workspace};
use super::history::History;
use crate::change_log::{ChangeLog, ChangeNumber};
use folder::{Control, Error, Result};
use journal::{Piece, Step};

/// The most changes whose folders are looked for, the last ones.
const MOST_CHANGES: usize = 30;

impl Workspace {
    /// The folders of changes of which all else is taken back, and where they are now. `history`: of the change that is named; only what
    /// was taken back since can have left a folder because of it.
    pub(super) fn left_folders(
        &self,
        history: &History,
        log: &ChangeLog,
        numbers: &[ChangeNumber],
        control: &Control,
    ) -> Result<Vec<(Piece, Place)>> {
        let named = history.changes[0].0;
        let undone = history.changes.iter().filter_map(|(_, change)| change.undoes);
        let undone: BTreeSet<ChangeNumber> = undone.filter(|number| *number != named).collect();
        let mut folders = Vec::new();
        for number in undone.into_iter().rev().take(MOST_CHANGES) {
            let read = log.read(number).map_err(|source| Error::WriteFailed { source })?;
            let is_folder = |step: &Step| matches!(step, Step::Folder { .. });
            let Some(change) = read.filter(|change| change.steps.iter().any(is_folder)) else { continue };
            let history = History::since(self, log, (number, change), numbers, control)?;
            folders.extend(self.left_of(&history));
        }
        Ok(folders)
    }

    /// The folders that the first change of a history made, if all else of it is taken back.
    fn left_of(&self, history: &History) -> Vec<(Piece, Place)> {
        let (number, change) = &history.changes[0];
        let mut left = Vec::new();
        for toggle in change.all_toggles(*number) {
            let Some(last) = history.trail.held(&toggle.piece).map(|held| held.toggle) else { continue };
            let is_as_it_was = last.is_done == toggle.is_done;
            match toggle.element.and_then(|element| Some((element, change.step(element)?))) {
                Some((element, Step::Folder { at })) if toggle.is_done => {
                    let now =
                        self.served_place(change, at).and_then(|at| history.now(at, (0, element + 1)).ok());
                    // One that stayed counts as taken back, by nothing.
                    let is_left = is_as_it_was || last.element.is_none();
                    left.extend(now.filter(|_| is_left).map(|now| (toggle.piece, now)));
                }
                _ if is_as_it_was => return Vec::new(),
                _ => {}
            }
        }
        left
    }
}
