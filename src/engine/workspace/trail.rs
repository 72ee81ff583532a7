//! What changes of the journal have made of the entries of each other: where each is behind them, and which of their pieces are done.
//!
//! What was deleted and came back by an undo is followed to where it came back. Looks at nothing on the disk.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::job::{below, joined};
use super::{Place, Workspace};
use crate::change_log::ChangeNumber;
use journal::{Change, Piece, Step, Toggle};
use sys::ffi::OsStrExt;

/// A point in time: before this element of the change with this index.
pub(super) type At = (usize, usize);

/// Behind everything.
const NOW: At = (usize::MAX, 0);

/// What some changes have done, in order.
#[derive(Default)]
pub(super) struct Trail {
    /// The numbers of the changes.
    numbers: Vec<ChangeNumber>,
    /// What has happened to the entry at each place, in order.
    events: HashMap<Place, Vec<(At, Event)>>,
    /// The last change that names each piece.
    last: HashMap<Piece, Held>,
    /// Of what was deleted, by when that was and the path in it: when and where it came back. No place: in its folder.
    returned: HashMap<(At, PathBuf), (At, Option<Place>)>,
}

/// What has happened to an entry.
enum Event {
    /// Its content has changed.
    Content,
    Moved(Place),
    /// It was moved to where this server serves nothing.
    Away,
    Deleted,
}

/// The last change of a piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// Its index.
    pub(super) change: usize,
    pub(super) toggle: Toggle,
}

/// Where an entry is behind all changes.
pub(super) struct Now {
    /// `Err`: it is gone.
    pub(super) place: Result<Place, Gone>,
    /// The changes of its content: indexes of the changes, and of their files.
    pub(super) contents: Vec<At>,
}

/// An entry that is gone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Gone {
    /// When it was deleted.
    pub(super) at: At,
    /// Where it was.
    pub(super) place: Place,
    /// Whether it was moved to where this server serves nothing.
    pub(super) is_away: bool,
}

impl Trail {
    /// The trail of changes.
    pub(super) fn of(workspace: &Workspace, changes: &[(ChangeNumber, Change)]) -> Trail {
        let mut trail = Trail::default();
        for (number, change) in changes {
            trail.add(workspace, changes, *number, change);
        }
        trail
    }

    fn add(
        &mut self,
        workspace: &Workspace,
        changes: &[(ChangeNumber, Change)],
        number: ChangeNumber,
        change: &Change,
    ) {
        let index = self.numbers.len();
        let place = |place: &journal::Place| workspace.served_place(change, place);
        for toggle in &change.toggles {
            if let Some(deleted) = self.deletion(changes, &toggle.piece) {
                let step = toggle.element.and_then(|element| change.step(element));
                let behind = toggle.element.map_or(change.elements(), |element| element + 1);
                self.returned.insert(deleted, ((index, behind), step.and_then(|step| place(step.place()))));
            }
            self.last.insert(toggle.piece, Held { change: index, toggle: *toggle });
        }
        for (element, file) in change.files.iter().enumerate() {
            self.note(place(&file.from), (index, element), Event::Content);
        }
        for (step, element) in change.steps.iter().zip(change.files.len()..) {
            match step {
                Step::Folder { .. } | Step::New { .. } | Step::Link { .. } => {}
                Step::Moved { from, to, .. } => {
                    let event = place(to).map_or(Event::Away, Event::Moved);
                    self.note(place(from), (index, element), event);
                }
                Step::Deleted { at, .. } => self.note(place(at), (index, element), Event::Deleted),
            }
        }
        self.numbers.push(number);
    }

    fn note(&mut self, place: Option<Place>, at: At, event: Event) {
        if let Some(place) = place {
            self.events.entry(place).or_default().push((at, event));
        }
    }

    /// When the last change of a piece deleted its entry, and the entry's path in what it deleted. `None`: it did not.
    fn deletion(&self, changes: &[(ChangeNumber, Change)], piece: &Piece) -> Option<(At, PathBuf)> {
        let held = self.held(piece)?;
        let (number, change) = changes.get(held.change)?;
        let element = held.toggle.element?;
        let Step::Deleted { entries, .. } = change.step(element)? else { return None };
        let (rest, _) = entries.get(held.toggle.entry_of(*number))?;
        Some(((held.change, element), OsStr::from_bytes(rest).into()))
    }

    /// The last change that names a piece. `None`: it is not known.
    pub(super) fn held(&self, piece: &Piece) -> Option<Held> {
        let first = || {
            let change = self.numbers.binary_search(&piece.of).ok()?;
            let toggle = Toggle { piece: *piece, is_done: true, element: Some(piece.element) };
            Some(Held { change, toggle })
        };
        self.last.get(piece).copied().or_else(first)
    }

    /// Notes that the step `at` moves an entry, as the last one.
    pub(super) fn moves(&mut self, at: At, from: Place, to: Place) {
        self.note(Some(from), at, Event::Moved(to));
    }

    /// Notes that it deletes one.
    pub(super) fn deletes(&mut self, at: At, place: Place) {
        self.note(Some(place), at, Event::Deleted);
    }

    /// Notes that it brings back what was deleted then, with this path in it.
    pub(super) fn returns(&mut self, (change, step): At, deleted: At, rest: &Path, place: Place) {
        self.returned.insert((deleted, rest.to_owned()), ((change, step + 1), Some(place)));
    }

    /// Where the entry is that was at this place at that time.
    pub(super) fn now(&self, place: Place, at: At) -> Now {
        self.follow(place, at..NOW)
    }

    fn follow(&self, mut place: Place, mut span: Range<At>) -> Now {
        let mut contents = Vec::new();
        while let Some((at, event, above)) = self.next(&place, &span) {
            let rest = below(&place, &above).unwrap_or(Path::new("")).to_owned();
            span.start = (at.0, at.1 + 1);
            match event {
                Event::Content => contents.push(at),
                Event::Moved(to) => place = joined(to, &rest),
                Event::Away => return Now { place: Err(Gone { at, place, is_away: true }), contents },
                Event::Deleted => match self.returned.get(&(at, rest)) {
                    Some((behind, there)) if *behind <= span.end => {
                        place = there.clone().unwrap_or_else(|| self.back(&place, at..*behind));
                        span.start = *behind;
                    }
                    _ => return Now { place: Err(Gone { at, place, is_away: false }), contents },
                },
            }
        }
        Now { place: Ok(place), contents }
    }

    /// The next event of the entry at a place, with the place that it names: that one, or a folder above it.
    fn next(&self, place: &Place, span: &Range<At>) -> Option<(At, &Event, Place)> {
        let first = |path: &Path| {
            let above = (place.0, path.to_owned());
            let events = self.events.get(&above)?;
            let events = &events[events.partition_point(|(at, _)| *at < span.start)..];
            let concerns = |event: &Event| path == place.1 || !matches!(event, Event::Content);
            let (at, event) = events.iter().find(|(_, event)| concerns(event))?;
            (*at < span.end).then_some((*at, event, above))
        };
        place.1.ancestors().filter_map(first).min_by_key(|(at, ..)| *at)
    }

    /// Where an entry will be again that was at this place at that time: in its folder, wherever that is now.
    pub(super) fn again(&self, place: &Place, at: At) -> Place {
        self.back(place, at..NOW)
    }

    fn back(&self, place: &Place, span: Range<At>) -> Place {
        let Some((parent, name)) = parent_of(place) else { return place.clone() };
        let now = self.follow(parent.clone(), span.clone()).place;
        let (number, folder) = now.unwrap_or_else(|_| self.back(&parent, span));
        (number, folder.join(name))
    }
}

/// The folder of an entry, if that is not the served one, and the name in it.
fn parent_of((number, path): &Place) -> Option<(Place, &OsStr)> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""))?;
    Some(((*number, parent.to_owned()), path.file_name()?))
}
