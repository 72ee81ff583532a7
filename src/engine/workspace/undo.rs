//! Takes a change of the journal back (contract 20): a job of the opposite operations, in the opposite order.
//!
//! Of each piece of the change, what the last change did that names it is taken back: the change itself, or an undo that did the piece
//! again. So each piece is either done or taken back, whatever was undone in parts. What was changed since is followed: files that were
//! moved since are found where they are, and other lines stay as they are.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use self::history::History;
use self::inverse::Inverse;
use super::changed_files::Within;
use super::job::{JobChange, JobDone, JobError, JobNote, JobOptions, Undoing, Unremoved, joined};
use super::trail::Held;
use super::{Place, Workspace};
use crate::change_log::{ChangeLog, ChangeNumber, UndoTurn};
use folder::{Control, Error, FilePath, Result};
use journal::{Change, KeptEntry, Piece, Step};
use sys::ffi::OsStrExt;
use text::order;

mod conflict;
mod history;
mod inverse;
mod left_folders;
mod told;
mod unrecorded;

/// A piece that is to be taken back, or done again.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// The last change that names it.
    held: Held,
    /// Whether it is a folder that goes only if nothing is in it, and else is not said to be taken back.
    may_stay: bool,
}

impl Workspace {
    /// The journal.
    pub fn change_log(&self) -> Option<&ChangeLog> {
        self.change_log.as_ref()
    }

    /// The paths of what a change changed, as answers name them, each once: of what is served.
    pub fn paths_of(&self, change: &Change) -> Vec<String> {
        let mut known = HashSet::new();
        let paths = change.places().filter_map(|place| self.told_of(change, place));
        paths.filter(|path| known.insert(path.clone())).collect()
    }

    /// How answers name a place of a change. `None`: it is not in what is served.
    pub fn told_of(&self, change: &Change, place: &journal::Place) -> Option<String> {
        self.served_place(change, place).map(|place| self.told(&place))
    }

    /// Takes the change `number` back; with `within`, only what it did at that path or below. All or nothing. `turn`: if the caller has
    /// it already. `describe` as for [`Workspace::run_job`].
    pub fn undo<T>(
        &self,
        number: ChangeNumber,
        within: Option<&FilePath>,
        turn: Option<&UndoTurn>,
        options: JobOptions,
        control: &Control,
        describe: impl FnMut(JobChange) -> T,
    ) -> Result<JobDone<T>, JobError> {
        let log = self
            .change_log()
            .ok_or_else(|| refused("change", "there is no journal (--journal=off): nothing can be undone"))?;
        let failed = |source| Error::WriteFailed { source };
        let Some(change) = log.read(number).map_err(failed)? else {
            return Err(refused("change", &log.why_not_there(number).map_err(failed)?).into());
        };
        let waits = turn.is_none() && !options.dry_run;
        let own_turn = waits.then(|| log.hold_undos(control)).transpose()?;
        if !options.dry_run {
            self.repair();
        }
        let numbers = log.numbers().map_err(failed)?;
        let history = History::since(self, log, (number, change), &numbers, control)?;
        let within = within.map(|path| self.within(path));
        let targets = self.targets(&history, within.as_ref())?;
        let left = self.left_folders(&history, log, &numbers, control)?;
        let mut inverse = Inverse::new(self, history);
        for target in &targets {
            control.check()?;
            inverse.add(target)?;
        }
        inverse.add_left(left);
        let Inverse { mut operations, pieces, .. } = inverse;
        if operations.is_empty() {
            let (told, unremoved) = (Vec::new(), Unremoved::default());
            return Ok(JobDone { told, recorded: None, stamp: None, removed: 0, unremoved });
        }
        let undoes = Some(Undoing { change: number, pieces: &pieces });
        let note = options.note.map(|note| JobNote { undoes, ..note });
        let done = self.run_job(&mut operations, JobOptions { note, ..options }, control, describe);
        drop(own_turn);
        done.map_err(told::of_job)
    }

    /// What is to be taken back, in the order in which that is done: contents first, then names, the last first.
    fn targets(&self, history: &History, within: Option<&Within>) -> Result<Vec<Target>> {
        let (number, change) = &history.changes[0];
        let toggles = change.all_toggles(*number);
        let (mut wanted, mut taken_back, mut is_there) = (Vec::new(), Vec::new(), false);
        for toggle in &toggles {
            let Some(held) = history.trail.held(&toggle.piece) else { continue };
            let own = Held { change: 0, toggle: *toggle };
            let is_wanted =
                is_at(history, &own, within)? || held.change != 0 && is_at(history, &held, within)?;
            is_there |= is_wanted;
            if held.toggle.is_done != toggle.is_done {
                taken_back.push((held, is_wanted));
            } else if is_wanted {
                wanted.push(Target { held, may_stay: false });
            }
        }
        if wanted.is_empty() {
            let by = |(held, _): &(Held, bool)| history.changes[held.change].0;
            return Err(match within {
                Some(within) if !is_there => told::nothing_there(self, history, &toggles, within),
                Some(within) => {
                    let there = taken_back.iter().filter(|(_, is_wanted)| *is_wanted);
                    let what = format!("what c{number} did at {}", within.path.sent());
                    told::taken_back("path", &what, there.map(by).collect())
                }
                None => told::taken_back("change", "it", taken_back.iter().map(by).collect()),
            });
        }
        if !change.not_undoable.is_empty() {
            return Err(told::not_undoable(*number, change));
        }
        add_folders(history, &mut wanted)?;
        let key = |target: &Target| {
            let Held { change, toggle } = target.held;
            let (number, last) = &history.changes[change];
            // A folder comes back before what is in it.
            let entry = toggle.entry_of(*number);
            match toggle.element {
                Some(element) if element < last.files.len() => (false, 0, 0, element),
                element => (true, usize::MAX - change, usize::MAX - element.unwrap_or(0), entry),
            }
        };
        order::sort_by_key(&mut wanted, key);
        Ok(wanted)
    }
}

/// Adds the folders in which nothing may be left, and those that what comes back was in.
fn add_folders(history: &History, targets: &mut Vec<Target>) -> Result<()> {
    let known: HashSet<Piece> = targets.iter().map(|target| target.held.toggle.piece).collect();
    let changes: HashSet<usize> = targets.iter().map(|target| target.held.change).collect();
    let folders = changes.into_iter().map(|change| Ok((change, folders_of(history, change)?)));
    let folders: HashMap<usize, Folders> = folders.collect::<Result<_>>()?;
    let mut added = HashMap::<Piece, Target>::new();
    for target in targets.iter() {
        let Some(folders) = folders.get(&target.held.change) else { continue };
        for (is_made, (number, path)) in named_places(history, &target.held)? {
            for above in path.ancestors().skip(1) {
                let folder = folders.get(&(is_made, (number, above.to_owned())));
                if let Some(folder) = folder.filter(|folder| !known.contains(&folder.held.toggle.piece)) {
                    added.insert(folder.held.toggle.piece, *folder);
                }
            }
        }
    }
    targets.extend(added.into_values());
    Ok(())
}

/// Folders by their places, and by whether they were made there, or deleted.
type Folders = HashMap<(bool, Place), Target>;

/// The folders that the change with this index made or deleted, if no later change has taken that back.
fn folders_of(history: &History, index: usize) -> Result<Folders> {
    let (number, change) = &history.changes[index];
    let mut folders = Folders::new();
    for toggle in change.all_toggles(*number) {
        let is_last = history.trail.held(&toggle.piece).is_some_and(|held| held.change == index);
        let may_stay = match toggle.element.and_then(|element| change.step(element)) {
            Some(Step::Folder { .. }) => true,
            Some(Step::Deleted { entries, .. }) => {
                let Some((_, KeptEntry::Folder { .. })) = entries.get(toggle.entry_of(*number)) else {
                    continue;
                };
                false
            }
            _ => continue,
        };
        let held = Held { change: index, toggle };
        if is_last {
            let places = named_places(history, &held)?.into_iter();
            folders.extend(places.map(|place| (place, Target { held, may_stay })));
        }
    }
    Ok(folders)
}

/// Whether a path leads to what a change did there, or to where it is now or will be. `None`: everywhere.
fn is_at(history: &History, held: &Held, within: Option<&Within>) -> Result<bool> {
    let Some(within) = within else { return Ok(true) };
    let (_, change) = &history.changes[held.change];
    let step = held.toggle.element.and_then(|element| change.step(element));
    // All that was in a folder of which nothing is kept.
    let is_all = matches!(step, Some(Step::Deleted { entries, .. }) if entries.is_empty());
    let is_in = |place: &Place| is_all && within.is_below(place);
    let is_there = |place: &Place| within.holds(place) || is_in(place);
    let places = named_places(history, held)?;
    Ok(places.iter().any(|(_, place)| is_there(place))
        || present(history, held, places).is_some_and(|now| is_there(&now)))
}

/// Where the entry of a piece is now, or will be again.
fn present(history: &History, held: &Held, places: Vec<(bool, Place)>) -> Option<Place> {
    let element = held.toggle.element?;
    let (is_made, place) = places.into_iter().next_back()?;
    let is_content = element < history.changes[held.change].1.files.len();
    match is_made {
        true if is_content => history.now(place, (held.change + 1, 0)).ok(),
        true => history.now(place, (held.change, element + 1)).ok(),
        false => Some(history.trail.again(&place, (held.change, element))),
    }
}

/// The places that a change names for a piece, and whether something is there behind it that was not.
fn named_places(history: &History, held: &Held) -> Result<Vec<(bool, Place)>> {
    let (number, change) = &history.changes[held.change];
    let Some(element) = held.toggle.element else { return Ok(Vec::new()) };
    let place = |place| history.place(held, place);
    Ok(match (change.files.get(element), change.step(element)) {
        (Some(file), _) => vec![(true, place(&file.from)?), (true, place(&file.at)?)],
        (_, Some(Step::Moved { from, to, .. })) => vec![(false, place(from)?), (true, place(to)?)],
        (_, Some(Step::Deleted { at, entries, .. })) => {
            let rest = entries.get(held.toggle.entry_of(*number)).map_or(&b""[..], |(rest, _)| rest);
            vec![(false, joined(&place(at)?, OsStr::from_bytes(rest).as_ref()))]
        }
        (_, Some(step)) => vec![(true, place(step.place())?)],
        _ => Vec::new(),
    })
}

fn refused(at: &str, problem: &str) -> Error {
    Error::InvalidArguments { at: at.into(), problem: problem.into() }
}
