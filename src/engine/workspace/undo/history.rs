//! A change that is to be taken back, and all that were made since.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::super::trail::{At, Held, Now, Trail};
use super::super::{Place, Workspace};
use super::refused;
use crate::change_log::{ChangeLog, ChangeNumber};
use folder::{Control, Error, Result};
use journal::{Change, FileChange, KeptEntry, Piece, Step, Toggle};
use text::shown::shown_line;

/// See the module. The undo that is being planned counts as the last change.
pub(super) struct History<'w> {
    workspace: &'w Workspace,
    /// With their numbers, in order. The first is the one that is named.
    pub(super) changes: Vec<(ChangeNumber, Change)>,
    pub(super) trail: Trail,
    /// How many steps the undo has that is being planned.
    planned: usize,
    /// Older changes, as far as they were asked for.
    older: RefCell<HashMap<ChangeNumber, Option<Change>>>,
}

impl<'w> History<'w> {
    /// The change `number`, and those since.
    pub(super) fn since(
        workspace: &'w Workspace,
        log: &ChangeLog,
        (number, change): (ChangeNumber, Change),
        numbers: &[ChangeNumber],
        control: &Control,
    ) -> Result<History<'w>> {
        let pieces: HashSet<Piece> = change.all_toggles(number).iter().map(|toggle| toggle.piece).collect();
        let mut changes = vec![(number, change)];
        for later in numbers.iter().copied().filter(|later| *later > number) {
            control.check()?;
            let read = log.read(later).map_err(|source| Error::WriteFailed { source })?;
            let Some(mut change) = read else { continue };
            if !change.toggles.iter().any(|toggle| pieces.contains(&toggle.piece)) {
                forget_contents(&mut change);
            }
            changes.push((later, change));
        }
        let trail = Trail::of(workspace, &changes);
        Ok(History { workspace, changes, trail, planned: 0, older: RefCell::default() })
    }

    /// The next step of the undo that is being planned.
    pub(super) fn next_step(&mut self) -> At {
        self.planned += 1;
        (self.changes.len(), self.planned)
    }

    /// Where the entry is that was at this place at that time. `Err`: the change that deleted it.
    pub(super) fn now(&self, place: Place, at: At) -> Result<Place, ChangeNumber> {
        let Now { place, .. } = self.trail.now(place, at);
        place.map_err(|gone| self.changes.get(gone.at.0).map_or(0, |(number, _)| *number))
    }

    /// The other changes of a content that did the same piece, or took it back as this one did.
    pub(super) fn same(&self, held: &Held) -> Vec<FileChange> {
        let files = self.changes.iter().enumerate().filter(|(index, _)| *index != held.change);
        let files = files.filter_map(|(_, (number, change))| {
            let Toggle { piece, is_done, .. } = held.toggle;
            let is_same = |toggle: &&Toggle| toggle.piece == piece && toggle.is_done == is_done;
            let element = match *number == piece.of {
                true => Some(piece.element).filter(|_| is_done),
                false => change.toggles.iter().find(is_same)?.element,
            };
            change.files.get(element?).cloned()
        });
        files.chain(self.first_of(&held.toggle)).collect()
    }

    /// What did a piece first, if that is older than these changes.
    fn first_of(&self, toggle: &Toggle) -> Option<FileChange> {
        let Piece { of, element, .. } = toggle.piece;
        let log = self.workspace.change_log().filter(|_| toggle.is_done && of < self.changes[0].0)?;
        let mut older = self.older.borrow_mut();
        // Without it, the others are compared.
        let change = older.entry(of).or_insert_with(|| log.read(of).ok().flatten());
        change.as_ref()?.files.get(element).cloned()
    }

    /// Whether the change of a number takes back or does again another piece of the change that a piece is of.
    pub(super) fn is_of_same(&self, number: ChangeNumber, piece: &Piece) -> bool {
        let at = self.changes.binary_search_by_key(&number, |(number, _)| *number);
        let toggles = at.map_or(&[][..], |at| &self.changes[at].1.toggles);
        toggles.iter().any(|toggle| toggle.piece.of == piece.of)
    }

    /// The place in the served folders of one that the last change of a piece names.
    pub(super) fn place(&self, held: &Held, place: &journal::Place) -> Result<Place> {
        let (_, change) = &self.changes[held.change];
        let served = self.workspace.served_place(change, place);
        let root = || shown_line(change.roots.get(place.root).map_or(&b""[..], Vec::as_slice));
        let what = match &served {
            None => format!("files in {}, which this server does not serve", root()),
            Some((_, path)) if self.workspace.folders.excludes().hides(path, false) => {
                "files that this server excludes".into()
            }
            Some(_) => String::new(),
        };
        served.filter(|_| what.is_empty()).ok_or_else(|| {
            refused(
                "change",
                &format!("it also changed {what}; a server that serves all that it changed can undo it"),
            )
        })
    }
}

/// Drops the contents of what was deleted: they may be large.
fn forget_contents(change: &mut Change) {
    for step in &mut change.steps {
        let Step::Deleted { entries, .. } = step else { continue };
        for (_, entry) in entries {
            if let KeptEntry::File { content, .. } = entry {
                *content = Vec::new();
            }
        }
    }
}
