//! What is left of a change that was taken back in part.
//!
//! Elements are taken back from the last one to the first. What cannot be taken back stays where it is, or goes along with a folder that
//! an element before it had moved.

use std::collections::HashMap;

use super::{Change, FileChange, Place, Step, Toggle};

/// See the module. Steps are told from the last one to the first, and files behind all steps.
pub struct Rest<'c> {
    change: &'c Change,
    /// The steps that are left, the last first, with their places as they are without those that were taken back.
    steps: Vec<LeftStep>,
    /// Those of them that move something.
    moves: Vec<usize>,
    files: Vec<usize>,
}

struct LeftStep {
    number: usize,
    at: Place,
    /// Of a move.
    to: Option<Place>,
}

impl<'c> Rest<'c> {
    /// Nothing is left of a change yet.
    pub fn of(change: &'c Change) -> Rest<'c> {
        Rest { change, steps: Vec::new(), moves: Vec::new(), files: Vec::new() }
    }

    /// Notes that this step is not taken back.
    pub fn keep_step(&mut self, number: usize) {
        let Some(step) = self.change.steps.get(number) else { return };
        let to = if let Step::Moved { to, .. } = step { Some(to.clone()) } else { None };
        if to.is_some() {
            self.moves.push(self.steps.len());
        }
        self.steps.push(LeftStep { number, at: step.place().clone(), to });
    }

    /// Notes that this step is taken back.
    pub fn drop_step(&mut self, number: usize) {
        let Some(Step::Moved { from, to, .. }) = self.change.steps.get(number) else { return };
        let places = self.steps.iter_mut().flat_map(|left| [Some(&mut left.at), left.to.as_mut()]);
        for place in places.flatten() {
            if let Some(before) = moved(place, to, from) {
                *place = before;
            }
        }
    }

    /// Notes that this file is not taken back.
    pub fn keep_file(&mut self, number: usize) {
        self.files.push(number);
    }

    /// Where the entry is now that was at this place before the steps that are left.
    pub fn now(&self, place: &Place) -> Place {
        let mut now = place.clone();
        for left in self.moves.iter().rev().map(|index| &self.steps[*index]) {
            let after = left.to.as_ref().and_then(|to| moved(&now, &left.at, to));
            now = after.unwrap_or(now);
        }
        now
    }

    /// Where an entry of this name is made now in the folder that was at this place: that may be elsewhere.
    pub fn made(&self, place: &Place) -> Place {
        let Some(slash) = place.path.iter().rposition(|byte| *byte == b'/') else { return place.clone() };
        let (folder, name) = place.path.split_at(slash);
        let Place { root, mut path } = self.now(&Place { root: place.root, path: folder.to_vec() });
        path.extend_from_slice(name);
        Place { root, path }
    }

    /// Whether a step that is left has moved what was at this place, or is in it.
    pub fn needs(&self, place: &Place) -> bool {
        let is_in = |one: &Place| below(one, place).is_some_and(|rest| !rest.is_empty());
        self.moves.iter().any(|index| self.steps[*index].at == *place)
            || self.steps.iter().any(|left| is_in(&left.at) || left.to.as_ref().is_some_and(is_in))
    }

    /// Whether this element is left.
    pub fn has(&self, element: usize) -> bool {
        match element.checked_sub(self.change.files.len()) {
            // Steps are in descending order.
            Some(step) => self.steps.binary_search_by(|left| step.cmp(&left.number)).is_ok(),
            None => self.files.contains(&element),
        }
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty() && self.files.is_empty()
    }

    /// Whether everything is left.
    pub fn is_all(&self) -> bool {
        self.steps.len() + self.files.len() == self.change.elements()
    }

    /// What is left, as a change.
    pub fn change(&self) -> Change {
        let mut files = self.files.clone();
        files.sort_unstable();
        let of_steps = self.steps.iter().rev().map(|left| self.change.files.len() + left.number);
        let elements: HashMap<usize, usize> =
            files.iter().copied().chain(of_steps).enumerate().map(|(now, was)| (was, now)).collect();
        let toggle = |toggle: &Toggle| {
            // What an undo had nothing to do for is not undone, either.
            let element = elements.get(&toggle.element?).copied();
            element.map(|element| Toggle { element: Some(element), ..*toggle })
        };
        let file = |number: usize| {
            let file = &self.change.files[number];
            FileChange { at: self.now(&file.from), ..file.clone() }
        };
        Change {
            author: self.change.author.clone(),
            tool: self.change.tool.clone(),
            message: self.change.message.clone(),
            toggles: self.change.toggles.iter().filter_map(toggle).collect(),
            roots: self.change.roots.clone(),
            files: files.into_iter().map(file).collect(),
            steps: self.steps.iter().rev().map(|left| self.step(left)).collect(),
            not_undoable: self.change.not_undoable.clone(),
            ..*self.change
        }
    }

    fn step(&self, left: &LeftStep) -> Step {
        let mut step = self.change.steps[left.number].clone();
        match &mut step {
            Step::Moved { from, to, .. } => {
                from.clone_from(&left.at);
                to.clone_from(left.to.as_ref().unwrap_or(&left.at));
            }
            Step::Folder { at } | Step::New { at, .. } | Step::Link { at, .. } | Step::Deleted { at, .. } => {
                at.clone_from(&left.at);
            }
        }
        step
    }
}

/// Where a place is when the entry at `from` gets the place `to`, if it is that entry or in it.
fn moved(place: &Place, from: &Place, to: &Place) -> Option<Place> {
    let rest = below(place, from)?;
    Some(Place { root: to.root, path: [&to.path[..], rest].concat() })
}

/// The rest of a place behind `folder`, with its slash; empty if it is that place.
fn below<'p>(place: &'p Place, folder: &Place) -> Option<&'p [u8]> {
    let rest = place.path.strip_prefix(&folder.path[..]).filter(|_| place.root == folder.root)?;
    (rest.is_empty() || rest[0] == b'/').then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeptEntry, Piece};

    fn at(path: &str) -> Place {
        Place { root: 0, path: path.into() }
    }

    fn moved_step(from: &str, to: &str) -> Step {
        Step::Moved { from: at(from), to: at(to), id: (1, 2) }
    }

    fn deleted(path: &str) -> Step {
        let entries = vec![(Vec::new(), KeptEntry::File { mode: 0o644, content: b"1".to_vec() })];
        Step::Deleted { at: at(path), entries, id: (1, 3), hidden: b"hidden".to_vec() }
    }

    fn file(path: &str, after: &str) -> FileChange {
        FileChange { from: at(path), at: at(after), ..FileChange::default() }
    }

    #[test]
    fn what_is_left_has_the_places_that_it_has_without_the_rest() {
        let change = Change {
            roots: vec![b"/r".to_vec()],
            files: vec![file("d/a", "m/a"), file("b", "c")],
            steps: vec![moved_step("d", "m"), deleted("m/e"), moved_step("b", "c")],
            ..Change::default()
        };
        let mut rest = Rest::of(&change);
        rest.keep_step(2);
        assert_eq!((rest.now(&at("b")), rest.now(&at("d"))), (at("c"), at("d")));
        rest.keep_step(1);
        assert!(rest.needs(&at("m")) && !rest.needs(&at("m/e")) && rest.needs(&at("b")));
        rest.drop_step(0);
        rest.keep_file(1);
        let left = rest.change();
        assert_eq!(left.steps, [deleted("d/e"), moved_step("b", "c")]);
        assert_eq!(left.files, [file("b", "c")]);
        assert!(!rest.is_empty() && !rest.is_all());
    }

    #[test]
    fn what_is_left_of_an_undo_names_the_pieces_that_are_left() {
        let piece = |element| Piece { of: 4, element, entry: 0 };
        let toggle = |piece, element| Toggle { piece, is_done: false, element };
        let change = Change {
            undoes: Some(4),
            toggles: vec![
                toggle(piece(0), Some(1)),
                toggle(piece(1), Some(0)),
                toggle(piece(2), None),
                toggle(piece(3), Some(2)),
            ],
            roots: vec![b"/r".to_vec()],
            files: vec![file("a", "a"), file("b", "b")],
            steps: vec![deleted("n")],
            ..Change::default()
        };
        let mut rest = Rest::of(&change);
        rest.keep_step(0);
        rest.keep_file(1);
        let left = rest.change();
        assert_eq!(left.toggles, [toggle(piece(0), Some(0)), toggle(piece(3), Some(1))]);
        assert_eq!((left.undoes, left.elements()), (Some(4), 2));
    }

    #[test]
    fn what_is_made_in_a_folder_that_is_elsewhere_is_made_there() {
        let change = Change { steps: vec![moved_step("d", "m")], ..Change::default() };
        let mut rest = Rest::of(&change);
        rest.keep_step(0);
        assert_eq!((rest.made(&at("d/x")), rest.made(&at("d"))), (at("m/x"), at("d")));
        assert!(rest.is_all());
    }
}
