//! Takes a change of the journal back (contract 20): a job of the opposite operations, in the opposite order.
//!
//! What was changed since is followed: files that were moved since are found where they are, and other lines stay as they are.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::path::Path;

use super::change::ChangeOptions;
use super::changed_files::is_within;
use super::job::{Deletion, JobChange, JobDone, JobError, JobOptions, Operation, TextPlan};
use super::{Place, Workspace};
use crate::change_log::{ChangeLog, ChangeNumber, Families};
use folder::{Control, Error, FilePath, Result};
use journal::{Change, Conflict, FileChange, Step};
use sys::ffi::OsStrExt;
use text::lines::LineIndex;
use text::shown::shown_line;

/// The most bytes of a side that an error shows.
const MOST_SHOWN: usize = 300;

/// A change, with all that were made since.
struct History<'w> {
    workspace: &'w Workspace,
    number: ChangeNumber,
    change: Change,
    later: Vec<(ChangeNumber, Change)>,
    /// Of all these, and of those that they take back.
    families: Families,
    /// What will be there again: the places that steps took it from, and where it will be.
    again: HashMap<Place, Place>,
}

/// Where an entry is now.
struct Now {
    /// `Err`: it was deleted by this change.
    place: Result<Place, ChangeNumber>,
    /// The changes of its content since.
    files: Vec<(ChangeNumber, FileChange)>,
}

impl Workspace {
    /// The journal.
    pub fn change_log(&self) -> Option<&ChangeLog> {
        self.change_log.as_ref()
    }

    /// Takes the change `number` back; with `within`, only what it did at that path or below. All or nothing. `describe` as for
    /// [`Workspace::run_job`].
    pub fn undo<T>(
        &self,
        number: ChangeNumber,
        within: Option<&FilePath>,
        options: JobOptions,
        control: &Control,
        describe: impl FnMut(JobChange) -> T,
    ) -> Result<JobDone<T>, JobError> {
        let log =
            self.change_log().ok_or_else(|| refused("change", "there is no journal (--journal=off)"))?;
        let failed = |source| Error::WriteFailed { source };
        let numbers = log.numbers().map_err(failed)?;
        let unknown = || {
            let last: Vec<String> = numbers.iter().rev().take(3).map(|number| format!("c{number}")).collect();
            let last = if last.is_empty() {
                "none are".into()
            } else {
                format!("the last ones are {}", last.join(", "))
            };
            refused("change", &format!("it is not in the journal; {last}"))
        };
        let change = log.read(number).map_err(failed)?.ok_or_else(unknown)?;
        if !change.not_undoable.is_empty() {
            return Err(
                refused("change", &format!("it cannot be taken back: {}", change.not_undoable)).into()
            );
        }
        let (mut later, mut families) = (Vec::new(), Families::default());
        families.add(log, number, &change).map_err(failed)?;
        for number in numbers.iter().copied().filter(|later| *later > number) {
            control.check()?;
            let Some(change) = log.read(number).map_err(failed)? else { continue };
            families.add(log, number, &change).map_err(failed)?;
            later.push((number, change));
        }
        if let Some(by) = families.taken_back_by(number, later.iter().map(|(later, _)| *later)) {
            let problem = format!("it is taken back already, by c{by}; `undo` of c{by} does it again");
            return Err(refused("change", &problem).into());
        }
        let again = HashMap::new();
        let mut history = History { workspace: self, number, change, later, families, again };
        let mut operations = history.operations(within)?;
        if operations.is_empty() {
            return Err(refused("path", &format!("of c{number}, nothing there is left to undo")).into());
        }
        self.run_job(&mut operations, options, control, describe)
    }
}

impl History<'_> {
    /// What takes the change back: contents first, then names, the last first.
    fn operations(&mut self, within: Option<&FilePath>) -> Result<Vec<Operation<'static>>> {
        let done = self.taken_back_in_part();
        let is_wanted = |place: &Place| !done.contains(place) && is_within(within, place);
        let mut operations = Vec::new();
        for file in &self.change.files {
            let at = self.place(&self.change, &file.at)?;
            if is_wanted(&at) {
                operations.push(self.content(file, at)?);
            }
        }
        let steps = std::mem::take(&mut self.change.steps);
        for step in steps.iter().rev() {
            let to = if let Step::Moved { to, .. } = step { to } else { step.place() };
            if is_wanted(&self.place(&self.change, step.place())?)
                || is_wanted(&self.place(&self.change, to)?)
            {
                self.step(step, &mut operations)?;
            }
        }
        Ok(operations)
    }

    /// The places of what was taken back already, by changes that took back a part.
    fn taken_back_in_part(&self) -> HashSet<Place> {
        let mut places = HashSet::new();
        let numbers = self.later.iter().map(|(number, _)| *number);
        for (number, change) in &self.later {
            let takes_back = change.partly && self.takes_back(change, self.number);
            if takes_back && self.families.taken_back_by(*number, numbers.clone()).is_none() {
                let changed =
                    change.files.iter().map(|file| &file.from).chain(change.steps.iter().map(Step::place));
                places.extend(changed.filter_map(|place| self.workspace.served_place(change, place)));
                // A file may have had another place by then.
                let restored: HashSet<Place> = change
                    .files
                    .iter()
                    .filter_map(|file| self.workspace.served_place(change, &file.from))
                    .collect();
                let own = self.change.files.iter().filter_map(|file| self.place(&self.change, &file.at).ok());
                let was_restored = |at: &Place| {
                    self.now_behind(at.clone(), 0..*number).place.is_ok_and(|then| restored.contains(&then))
                };
                places.extend(own.filter(was_restored));
            }
        }
        places
    }

    /// Whether `later` takes back what the change `number` did, or a part of it.
    fn takes_back(&self, later: &Change, number: ChangeNumber) -> bool {
        later.undoes.is_some_and(|undone| self.families.did_the_same(undone, number))
    }

    fn content(&self, file: &FileChange, at: Place) -> Result<Operation<'static>> {
        let now = self.now(at.clone());
        let place = now.place.map_err(|by| self.gone(&at, by))?;
        let (path, file) = (self.path(&place), file.clone());
        let name = path.sent().to_owned();
        let plan: TextPlan<'static> = Box::new(move |_: &LineIndex, text: &[u8]| {
            let later: Vec<&FileChange> = now.files.iter().map(|(_, file)| file).collect();
            match journal::undo_plan(&file, text, &later) {
                Ok(plan) => Ok(Some(plan)),
                Err(conflict) => {
                    let by = conflict.by.and_then(|by| now.files.get(by)).map(|(number, _)| *number);
                    Err(refused(&name, &told(&conflict, by, text)))
                }
            }
        });
        Ok(Operation::Write { path, options: options(), plan })
    }

    fn step(&mut self, step: &Step, operations: &mut Vec<Operation<'static>>) -> Result<()> {
        let at = self.place(&self.change, step.place())?;
        match step {
            Step::Folder { .. } => {
                let Ok(path) = self.there(&at) else { return Ok(()) };
                operations.push(Operation::Delete { path, only: Deletion::EmptyFolder });
            }
            Step::New { after, .. } => {
                operations
                    .push(Operation::Delete { path: self.there(&at)?, only: Deletion::Unchanged(*after) });
            }
            Step::Link { .. } => {
                operations.push(Operation::Delete { path: self.there(&at)?, only: Deletion::Entry });
            }
            Step::Moved { to, .. } => {
                let path = self.there(&self.place(&self.change, to)?)?;
                let now = self.again(&at);
                operations.push(Operation::Move { path, to: self.path(&now) });
                self.again.insert(at, now);
            }
            Step::Deleted { entries, .. } => {
                let now = self.again(&at);
                for (rest, entry) in entries {
                    let inner = |(number, folder): &Place| match &rest[..] {
                        [] => (*number, folder.clone()),
                        rest => (*number, folder.join(OsStr::from_bytes(rest))),
                    };
                    self.again.insert(inner(&at), inner(&now));
                    let (path, entry) = (self.path(&inner(&now)), entry.clone());
                    operations.push(Operation::Restore { path, entry });
                }
            }
        }
        Ok(())
    }

    /// The path of what was at this place after a step, when the steps behind it are taken back.
    fn there(&self, place: &Place) -> Result<FilePath> {
        if let Some(now) = self.put_back(place) {
            return Ok(self.path(&now));
        }
        let now = self.now(place.clone());
        now.place.map(|place| self.path(&place)).map_err(|by| self.gone(place, by))
    }

    /// Where an entry will be that had this place: in its folder, wherever that is now.
    fn again(&self, place: &Place) -> Place {
        let Some((parent, name)) = parent_of(place) else { return place.clone() };
        let now = self.put_back(&parent).or_else(|| self.now(parent).place.ok());
        now.map_or_else(|| place.clone(), |(number, parent)| (number, parent.join(name)))
    }

    /// Where an entry is, or will be, that a later step of the change took away from this place, with a folder perhaps.
    fn put_back(&self, (number, path): &Place) -> Option<Place> {
        path.ancestors().find_map(|above| {
            let (now, folder) = self.again.get(&(*number, above.to_owned()))?;
            let rest = path.strip_prefix(above).ok().filter(|rest| *rest != Path::new(""));
            Some((*now, rest.map_or_else(|| folder.clone(), |rest| folder.join(rest))))
        })
    }

    /// Where the entry is that was at this place after the change.
    fn now(&self, place: Place) -> Now {
        self.now_behind(place, 0..ChangeNumber::MAX)
    }

    /// Where the entry at this place before the later changes of these numbers was behind them.
    fn now_behind(&self, mut place: Place, numbers: Range<ChangeNumber>) -> Now {
        let mut files = Vec::new();
        let mut later = self.later.iter().filter(|(number, _)| numbers.contains(number));
        'changes: while let Some((number, change)) = later.next() {
            let (was, known) = (place.clone(), files.len());
            let is_there =
                |known: &journal::Place| self.place(change, known).is_ok_and(|known| known == place);
            files.extend(
                change.files.iter().find(|file| is_there(&file.from)).map(|file| (*number, file.clone())),
            );
            for step in &change.steps {
                let below = |known: &journal::Place| {
                    let known = self.place(change, known).ok().filter(|known| known.0 == place.0)?;
                    place.1.strip_prefix(&known.1).ok().map(Path::to_owned)
                };
                match step {
                    Step::Moved { from, to, .. } => {
                        let moved = below(from).and_then(|rest| Some((rest, self.place(change, to).ok()?)));
                        if let Some((rest, to)) = moved {
                            place = (to.0, if rest == Path::new("") { to.1 } else { to.1.join(rest) });
                        }
                    }
                    Step::Deleted { at, .. } if below(at).is_some() => {
                        // It is there again behind the one that took this one back.
                        match later.find(|(_, later)| self.takes_back(later, *number)) {
                            Some((by, _)) => {
                                place = self.came_back(was, *number..by + 1);
                                files.truncate(known);
                                continue 'changes;
                            }
                            None => return Now { place: Err(*number), files },
                        }
                    }
                    _ => {}
                }
            }
        }
        Now { place: Ok(place), files }
    }

    /// Where an entry came back that had this place before the first of these changes, and that the last of them took back: in its folder,
    /// wherever that was then.
    fn came_back(&self, place: Place, numbers: Range<ChangeNumber>) -> Place {
        let inside = parent_of(&place).and_then(|(parent, name)| {
            let (number, parent) = self.now_behind(parent, numbers).place.ok()?;
            Some((number, parent.join(name)))
        });
        inside.unwrap_or(place)
    }

    /// The place in the served folders of one that `change` names.
    fn place(&self, change: &Change, place: &journal::Place) -> Result<Place> {
        self.workspace.served_place(change, place).ok_or_else(|| {
            let root = shown_line(change.roots.get(place.root).map_or(&b""[..], Vec::as_slice));
            refused("change", &format!("it also changed files in {root}, which this server does not serve"))
        })
    }

    fn path(&self, (number, below): &Place) -> FilePath {
        FilePath::known(*number, &shown_line(below.as_os_str().as_bytes()))
    }

    fn gone(&self, place: &Place, by: ChangeNumber) -> Error {
        refused(
            self.path(place).sent(),
            &format!("it was deleted since, by c{by}; `undo` of c{by} brings it back"),
        )
    }
}

/// The folder of an entry, if that is not the served one, and the name in it.
fn parent_of((number, path): &Place) -> Option<(Place, &OsStr)> {
    let parent = path.parent().filter(|parent| *parent != Path::new(""))?;
    Some(((*number, parent.to_owned()), path.file_name()?))
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

fn refused(at: &str, problem: &str) -> Error {
    Error::InvalidArguments { at: at.into(), problem: problem.into() }
}

/// What an error says of lines that have changed since, with both sides.
fn told(conflict: &Conflict, by: Option<ChangeNumber>, now: &[u8]) -> String {
    let by = by.map_or("another program".to_owned(), |by| format!("c{by}"));
    let start = text::lines::char_boundary(now, conflict.at.start.min(now.len()));
    let end = conflict.at.end.clamp(start, now.len());
    let from = memchr::memrchr(b'\n', &now[..start]).map_or(0, |feed| feed + 1);
    let to = memchr::memchr(b'\n', &now[end..]).map_or(now.len(), |feed| end + feed);
    let line = memchr::memchr_iter(b'\n', &now[..from]).count() + 1;
    let (old, new) = &conflict.sides;
    format!(
        "its lines were changed since by {by}. The change had put {} in the place of {}; about there, at line {line}, is {} now",
        quoted(new),
        quoted(old),
        quoted(&now[from..to])
    )
}

fn quoted(bytes: &[u8]) -> String {
    match bytes {
        [] => "nothing".into(),
        bytes if bytes.len() > MOST_SHOWN => {
            format!(
                "{:?} …",
                String::from_utf8_lossy(&bytes[..text::lines::char_boundary(bytes, MOST_SHOWN)])
            )
        }
        bytes => format!("{:?}", String::from_utf8_lossy(bytes)),
    }
}
