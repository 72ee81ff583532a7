//! The pieces of a change, each of which is done or taken back.
//!
//! A piece is a file whose content changed, a change of a name, or an entry of what was deleted. It keeps its name for ever: an undo, an
//! undo of that and so on say which pieces they take back and do again.

use serde::{Deserialize, Serialize};
use std::collections::HashSet;

use super::{Change, Step};

/// A piece of a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// The number of the change that did it first.
    pub of: u64,
    /// Its element of that change.
    pub element: usize,
    /// Of an element that deletes: the index of the entry. Else 0.
    pub entry: usize,
}

/// A piece that a change does, does again or takes back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toggle {
    /// The piece.
    pub piece: Piece,
    /// Whether it is done behind the change.
    pub is_done: bool,
    /// The element of the change that does this. `None`: there was nothing to do.
    pub element: Option<usize>,
}

impl Change {
    /// How many elements it has: its files, and behind them its steps.
    pub fn elements(&self) -> usize {
        self.files.len() + self.steps.len()
    }

    /// The step that is this element.
    pub fn step(&self, element: usize) -> Option<&Step> {
        self.steps.get(element.checked_sub(self.files.len())?)
    }

    /// All pieces that it does, does again or takes back; `number` is its own. What it does first are all elements that no toggle names.
    pub fn all_toggles(&self, number: u64) -> Vec<Toggle> {
        let named: HashSet<usize> = self.toggles.iter().filter_map(|toggle| toggle.element).collect();
        let first = (0..self.elements()).filter(|element| !named.contains(element));
        let pieces = first.flat_map(|element| {
            (0..self.entries(element)).map(move |entry| Piece { of: number, element, entry })
        });
        let first = pieces.map(|piece| Toggle { piece, is_done: true, element: Some(piece.element) });
        self.toggles.iter().copied().chain(first).collect()
    }

    /// How many pieces an element is.
    fn entries(&self, element: usize) -> usize {
        match self.step(element) {
            Some(Step::Deleted { entries, .. }) => entries.len().max(1),
            _ => 1,
        }
    }
}

impl Toggle {
    /// Which entry it is of the element of the change `number`.
    pub fn entry_of(&self, number: u64) -> usize {
        // What takes back or does again deletes one entry by each step.
        if self.piece.of == number { self.piece.entry } else { 0 }
    }
}
