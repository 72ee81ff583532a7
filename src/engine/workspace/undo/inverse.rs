//! Makes the operations that take pieces of changes back.

use super::super::change::ChangeOptions;
use super::super::job::{Deletion, Operation, PieceUndone, TextPlan, folders_above};
use super::super::trail::{At, Held};
use super::super::{Place, Workspace};
use super::conflict::changed_since;
use super::history::History;
use super::{Target, named_places, refused, told};
use crate::change_log::{ChangeLog, ChangeNumber, others_behind};
use folder::{Error, FilePath, Result};
use journal::{FileChange, KeptEntry, Piece, Step};
use std::collections::HashSet;
use std::ffi::OsStr;
use sys::ffi::OsStrExt;
use text::lines::LineIndex;
use text::order;
use text::shown::shown_line;

/// The operations that take pieces back, and what the journal is to say of them.
pub(super) struct Inverse<'w> {
    workspace: &'w Workspace,
    history: History<'w>,
    pub(super) operations: Vec<Operation<'static>>,
    pub(super) pieces: Vec<PieceUndone>,
    /// Where something will be no more from a step of it on.
    emptied: Vec<(Place, At)>,
    damaged: Vec<ChangeNumber>,
}

impl<'w> Inverse<'w> {
    pub(super) fn new(workspace: &'w Workspace, history: History<'w>) -> Inverse<'w> {
        let damaged = workspace.change_log().map(ChangeLog::damaged).unwrap_or_default();
        Inverse {
            workspace,
            history,
            operations: Vec::new(),
            pieces: Vec::new(),
            emptied: Vec::new(),
            damaged,
        }
    }

    /// Takes a piece back: after all contents, the later ones first.
    pub(super) fn add(&mut self, target: &Target) -> Result<()> {
        let Held { change, toggle } = target.held;
        let (number, last) = &self.history.changes[change];
        if !last.not_undoable.is_empty() {
            return Err(told::not_undoable(*number, last));
        }
        let operation = match toggle.element {
            None => None,
            Some(element) => match last.files.get(element) {
                Some(file) => Some(self.content(file, &target.held)?),
                None => self.step(&target.held, element)?,
            },
        };
        let (piece, is_done, may_stay) = (toggle.piece, !toggle.is_done, target.may_stay);
        let number = operation.is_some().then_some(self.operations.len());
        self.pieces.push(PieceUndone { piece, is_done, operation: number, may_stay });
        self.operations.extend(operation);
        Ok(())
    }

    /// Takes folders back that another change made, if this takes away what is in them.
    pub(super) fn add_left(&mut self, mut folders: Vec<(Piece, Place)>) {
        let known: HashSet<Piece> = self.pieces.iter().map(|piece| piece.piece).collect();
        let above =
            self.emptied.iter().flat_map(|(place, at)| folders_above(place).map(|above| (above, *at)));
        let above: HashSet<Place> =
            above.filter_map(|(above, at)| self.history.now(above, at).ok()).collect();
        // Where they are behind what is planned so far.
        let start = (self.history.changes.len(), 0);
        for (_, place) in &mut folders {
            let now = self.history.now(place.clone(), start);
            *place = now.unwrap_or_default();
        }
        folders.retain(|(piece, place)| above.contains(place) && !known.contains(piece));
        // What is in another one comes first.
        order::sort_by(&mut folders, |(_, one), (_, other)| other.cmp(one));
        for (piece, place) in folders {
            let operation = Some(self.operations.len());
            self.pieces.push(PieceUndone { piece, is_done: false, operation, may_stay: true });
            let path = self.path(&place);
            self.operations.push(Operation::Delete { path, only: Deletion::EmptyFolder });
        }
    }

    fn content(&self, file: &FileChange, held: &Held) -> Result<Operation<'static>> {
        let (at, behind) = (self.history.place(held, &file.at)?, (held.change + 1, 0));
        let place = self.there(&at, behind)?;
        let later = self.history.trail.now(at, behind).contents;
        let later: Vec<(ChangeNumber, FileChange)> =
            later.into_iter().map(|at| self.content_at(at)).collect();
        let same = self.history.same(held);
        let (path, file) = (self.path(&place), file.clone());
        let name = path.sent().to_owned();
        let others = others_behind(&self.damaged, self.history.changes[held.change].0);
        let plan: TextPlan<'static> = Box::new(move |_: &LineIndex, text: &[u8]| {
            let changes: Vec<&FileChange> = later.iter().map(|(_, file)| file).collect();
            // If the file is as one of them left it, nothing beside its lines has changed since.
            let is_as_left = |same: &&FileChange| same.after == journal::hash(text);
            let left = if file.after == journal::hash(text) { None } else { same.iter().find(is_as_left) };
            if let Some(plan) = left.and_then(|left| journal::undo_plan(left, text, &[]).ok()) {
                return Ok(Some(plan));
            }
            match journal::undo_plan(&file, text, &changes) {
                Ok(plan) => Ok(Some(plan)),
                Err(conflict) => {
                    let by = conflict.by.and_then(|by| later.get(by)).map(|(number, _)| *number);
                    Err(refused(&name, &changed_since(&conflict, by, &others, text)))
                }
            }
        });
        Ok(Operation::Write { path, options: options(), plan })
    }

    fn content_at(&self, (change, file): At) -> (ChangeNumber, FileChange) {
        let (number, change) = &self.history.changes[change];
        (*number, change.files[file].clone())
    }

    /// `None`: there is nothing to do.
    fn step(&mut self, held: &Held, element: usize) -> Result<Option<Operation<'static>>> {
        let (number, change) = &self.history.changes[held.change];
        let behind = (held.change, element + 1);
        let place = named_places(&self.history, held)?.into_iter().next();
        let (Some(step), Some((_, at))) = (change.step(element), place) else { return Ok(None) };
        let only = match step {
            Step::Folder { .. } => {
                // One that is gone is not in the way.
                let Ok(place) = self.history.now(at, behind) else { return Ok(None) };
                let path = self.path(&place);
                let step = self.history.next_step();
                self.emptied.push((place, step));
                return Ok(Some(Operation::Delete { path, only: Deletion::EmptyFolder }));
            }
            Step::New { after, .. } => Deletion::Unchanged(*after),
            Step::Link { target, .. } => Deletion::Unchanged(journal::hash(target)),
            Step::Moved { to, .. } => {
                let to = to.clone();
                return self.move_back(held, at, &to, element);
            }
            Step::Deleted { entries, .. } => {
                let entry = entries.get(held.toggle.entry_of(*number)).cloned();
                return Ok(entry.map(|entry| self.restore(&at, (held.change, element), entry)));
            }
        };
        let now = self.there(&at, behind)?;
        let step = self.history.next_step();
        self.history.trail.deletes(step, now.clone());
        self.emptied.push((now.clone(), step));
        Ok(Some(Operation::Delete { path: self.path(&now), only }))
    }

    fn restore(
        &mut self,
        place: &Place,
        deleted: At,
        (rest, entry): (Vec<u8>, KeptEntry),
    ) -> Operation<'static> {
        let again = self.history.trail.again(place, deleted);
        let step = self.history.next_step();
        self.history.trail.returns(step, deleted, OsStr::from_bytes(&rest).as_ref(), again.clone());
        Operation::Restore { path: self.path(&again), entry }
    }

    fn move_back(
        &mut self,
        held: &Held,
        from: Place,
        to: &journal::Place,
        element: usize,
    ) -> Result<Option<Operation<'static>>> {
        let to = self.history.place(held, to)?;
        let now = match self.history.now(to.clone(), (held.change, element + 1)) {
            Ok(now) => now,
            // What the same change had made, and an undo has taken back.
            Err(by) if self.history.is_of_same(by, &held.toggle.piece) => return Ok(None),
            Err(by) => return Err(self.gone(&to, by)),
        };
        let again = self.history.trail.again(&from, (held.change, element));
        let step = self.history.next_step();
        self.history.trail.moves(step, now.clone(), again.clone());
        self.emptied.push((now.clone(), step));
        Ok(Some(Operation::Move { path: self.path(&now), to: self.path(&again) }))
    }

    /// Where the entry is that was at this place at that time.
    fn there(&self, place: &Place, at: At) -> Result<Place> {
        self.history.now(place.clone(), at).map_err(|by| self.gone(place, by))
    }

    fn path(&self, (number, below): &Place) -> FilePath {
        FilePath::known(*number, &shown_line(below.as_os_str().as_bytes()))
    }

    fn gone(&self, place: &Place, by: ChangeNumber) -> Error {
        let path = self.workspace.told(place);
        refused(&path, &format!("it was deleted since, by c{by}; `undo` of c{by} brings it back"))
    }
}

fn options() -> ChangeOptions {
    ChangeOptions {
        any_bytes: true,
        makes_any_bytes: true,
        any_size: true,
        restores: true,
        ..ChangeOptions::default()
    }
}
