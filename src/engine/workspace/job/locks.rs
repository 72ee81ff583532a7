//! Takes the turns and locks of all files that a job changes or takes away.
//!
//! In one order for all jobs, so that two of them never wait for each other.

use std::collections::HashMap;

use super::MANY_FILES;
use super::base::Base;
use super::draft::Draft;
use super::take_back::EntryId;
use crate::workspace::Workspace;
use crate::workspace::found::Found;
use folder::fs::file_system;
use folder::fs::lock::{LockTurn, PathKey, PathLock};
use folder::fs::resolve::file_type;
use folder::fs::version::{FileStamp, identity};
use folder::{Control, Error, FilePath, Result};
use sys::fs::FileType;
use text::order;

/// What keeps others from changing what a job changes.
pub(super) struct Held<'w> {
    _locks: Vec<PathLock>,
    /// What is held, in the order of the keys, with the file that was locked. None: it is no file.
    entries: Vec<(PathKey, Option<EntryId>)>,
    _turns: Vec<LockTurn<'w>>,
}

/// What a job holds from one attempt to the next.
#[derive(Default)]
pub(super) struct Holding<'w> {
    held: Option<Held<'w>>,
    /// Whether another writer who locks has replaced a file before it was held.
    pub(super) was_replaced: bool,
    /// Whether another program wrote to what was to be deleted, in the moment when it was deleted.
    pub(super) is_overtaken: bool,
    /// Whether a change was repaired whose server died before the locks were taken.
    has_repaired: bool,
}

impl Held<'_> {
    /// Whether it holds all that `draft` needs.
    fn covers(&self, wanted: &[Wanted]) -> bool {
        wanted.iter().all(|wanted| self.entry(&wanted.key).is_some())
    }

    /// The file that was locked at a name.
    fn entry(&self, key: &PathKey) -> Option<Option<EntryId>> {
        let at = self.entries.binary_search_by(|(held, _)| held.cmp(key)).ok()?;
        Some(self.entries[at].1)
    }
}

/// An entry on the disk that is to be changed or taken away.
struct Wanted<'d> {
    key: PathKey,
    found: &'d Found,
    path: &'d FilePath,
    /// The file as it was when its change was planned.
    planned: Option<&'d Base>,
}

/// What has become of an entry since it was planned.
#[derive(PartialEq, Eq)]
enum State {
    Current,
    /// It is the same file with another content, or is elsewhere: plan again, while it is held.
    Changed,
    /// Another file is there, which is not held.
    Replaced,
}

impl<'d> Wanted<'d> {
    fn of(found: &'d Found, path: &'d FilePath, planned: Option<&'d Base>) -> Result<Wanted<'d>> {
        let dir = sys::fs::fstat(&found.place.dir).map_err(|errno| Error::read(path.sent(), errno))?;
        let key = (dir.st_dev, dir.st_ino, found.place.name.clone());
        Ok(Wanted { key, found, path, planned })
    }

    fn state(&self, workspace: &Workspace, held: &Held) -> Result<State> {
        let now = self.found.place.restat().map_err(|errno| Error::read(self.path.sent(), errno))?;
        let is_held = held.entry(&self.key).flatten().is_none_or(|id| now.as_ref().map(identity) == Some(id));
        if !is_held {
            return Ok(State::Replaced);
        }
        let planned = self.planned.map(|planned| *planned.stamp());
        if planned.is_some_and(|planned| now.as_ref().map(FileStamp::of) != Some(planned)) {
            return Ok(State::Changed);
        }
        match workspace.check_still_there(self.path, self.found) {
            Err(Error::Changed { .. }) => Ok(State::Changed),
            checked => checked.map(|()| State::Current),
        }
    }
}

impl Workspace {
    /// Waits for all turns and locks that `draft` needs, unless they are held.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if something has changed since `draft` was made. What is held stays held then, so that the next draft is made
    /// while nobody else can change its files.
    pub(super) fn hold<'w>(
        &'w self,
        holding: &mut Holding<'w>,
        draft: &Draft,
        control: &Control,
    ) -> Result<()> {
        let wanted = wanted(draft)?;
        let Holding { held, was_replaced, has_repaired, .. } = holding;
        if held.as_ref().is_none_or(|held| !held.covers(&wanted)) {
            // Before others are taken: in any other order two jobs could wait for each other.
            *held = None;
            *held = Some(self.lock_all(&wanted, was_replaced, |_| false, control)?);
            // Whoever had the locks until now may have died in the middle of a change, behind the look at the start of this call.
            let is_due = !*has_repaired && self.may_have_to_repair();
            let left = if is_due { self.left_open() } else { Vec::new() };
            if let (false, Some(wanted)) = (left.is_empty(), wanted.first()) {
                // What could not be repaired is not tried for ever.
                (*held, *was_replaced, *has_repaired) = (None, true, true);
                self.settle_all(left);
                return Err(Error::Changed { name: wanted.path.sent().into() });
            }
        }
        let Some(holding) = held else { return Ok(()) };
        for wanted in &wanted {
            let state = wanted.state(self, holding)?;
            if state == State::Current {
                continue;
            }
            if state == State::Replaced {
                (*held, *was_replaced) = (None, true);
            }
            return Err(Error::Changed { name: wanted.path.sent().into() });
        }
        Ok(())
    }

    /// Waits for the turns and locks of these entries, whatever they are now. What nobody can lock is left out.
    pub(super) fn hold_found(&self, entries: &[(FilePath, Found)], control: &Control) -> Result<Held<'_>> {
        let wanted =
            entries.iter().map(|(path, found)| Wanted::of(found, path, None)).collect::<Result<_>>()?;
        self.lock_all(&in_order(wanted), &mut false, cannot_be_locked, control)
    }

    /// An entry whose lock fails by an error that `is_left_out` is held by its turn only.
    fn lock_all(
        &self,
        wanted: &[Wanted],
        was_replaced: &mut bool,
        is_left_out: fn(&Error) -> bool,
        control: &Control,
    ) -> Result<Held<'_>> {
        let until = control.lock_deadline();
        let turn = |one: &Wanted| self.take_turn(None, &one.found.place, one.path.sent(), until, control);
        let turns = wanted.iter().map(turn).filter(|turn| !turn.as_ref().is_err_and(is_left_out));
        let _turns = turns.collect::<Result<_>>()?;
        let (mut entries, mut locks): (Vec<(PathKey, Option<EntryId>)>, Vec<PathLock>) = Default::default();
        let mut known = HashMap::new();
        for Wanted { key, found, path, .. } in wanted {
            let stat = found.place.stat.as_ref().filter(|stat| file_type(stat) == FileType::RegularFile);
            let id = match stat.map(identity) {
                None => None,
                // Several names of one file have one lock.
                Some(id) if known.contains_key(&id) => known.get(&id).copied(),
                Some(id) => match self.lock_file(found, path, true, until, control) {
                    Err(error) if is_left_out(&error) => None,
                    locked => {
                        let Some((lock, file)) = locked? else {
                            *was_replaced = true;
                            return Err(Error::Changed { name: path.sent().into() });
                        };
                        let is_large = wanted.len() > MANY_FILES && file_system::is_local(&found.place.dir);
                        locks.push(if is_large { lock.without_descriptor() } else { lock });
                        // Another file may be there since it was planned.
                        let now = (file.stamp().dev, file.stamp().ino);
                        known.insert(id, now);
                        Some(now)
                    }
                },
            };
            entries.push((key.clone(), id));
        }
        Ok(Held { _locks: locks, entries, _turns })
    }
}

/// Whether an error says that nobody locks the file. A shortage, or a disk that fails, says nothing of that.
fn cannot_be_locked(error: &Error) -> bool {
    matches!(
        error,
        Error::NotFound { .. }
            | Error::PermissionDenied { .. }
            | Error::RefusedLink { .. }
            | Error::NotAFolder { .. }
            | Error::UnsafeLocks { .. }
    )
}

/// All entries to lock, in the order of their keys, each once.
fn wanted<'d>(draft: &'d Draft) -> Result<Vec<Wanted<'d>>> {
    let changed =
        draft.changed().filter_map(|file| Some((file.found.as_ref()?, &file.path, file.base.as_ref())));
    let taken = draft.taken.iter().map(|taken| (&taken.found, &taken.path, None));
    let all = changed.chain(taken).map(|(found, path, planned)| Wanted::of(found, path, planned));
    Ok(in_order(all.collect::<Result<_>>()?))
}

/// In the order of their keys, each once.
fn in_order(mut all: Vec<Wanted>) -> Vec<Wanted> {
    order::sort_by(&mut all, |one, other| {
        (&one.key, one.planned.is_none()).cmp(&(&other.key, other.planned.is_none()))
    });
    all.dedup_by(|later, first| later.key == first.key);
    all
}
