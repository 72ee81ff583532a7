//! Takes the turns and locks of all files that a job changes or takes away.
//!
//! In one order for all jobs, so that two of them never wait for each other.

use std::sync::Arc;

use super::draft::Draft;
use crate::workspace::Workspace;
use crate::workspace::found::Found;
use folder::fs::lock::{LockTurn, PathKey, PathLock};
use folder::fs::resolve::file_type;
use folder::fs::version::FileStamp;
use folder::fs::view::OpenFile;
use folder::{Control, Error, FilePath, Result};
use sys::fs::FileType;

/// What keeps others from changing what a job changes.
pub(super) struct Held<'w> {
    _turns: Vec<LockTurn<'w>>,
    /// What is locked, in the order of the keys, and each file's state then. None: it is no file.
    entries: Vec<(PathKey, Option<(PathLock, FileStamp)>)>,
}

impl Held<'_> {
    /// Whether it holds all that `draft` needs.
    fn covers(&self, wanted: &[Wanted]) -> bool {
        wanted.iter().all(|wanted| self.entry(&wanted.key).is_some())
    }

    fn entry(&self, key: &PathKey) -> Option<Option<&FileStamp>> {
        let at = self.entries.binary_search_by(|(held, _)| held.cmp(key)).ok()?;
        Some(self.entries[at].1.as_ref().map(|(_, stamp)| stamp))
    }
}

/// An entry on the disk that is to be changed or taken away.
struct Wanted<'d> {
    key: PathKey,
    found: &'d Found,
    path: &'d FilePath,
    /// The file as it was when its change was planned.
    planned: Option<&'d Arc<OpenFile>>,
}

impl Wanted<'_> {
    /// Whether it is still as it was planned on.
    fn is_current(&self, workspace: &Workspace, held: &Held) -> Result<bool> {
        if let (Some(planned), Some(Some(now))) = (self.planned, held.entry(&self.key))
            && planned.stamp() != now
        {
            return Ok(false);
        }
        match workspace.check_still_there(self.path, self.found) {
            Err(Error::Changed { .. }) => Ok(false),
            checked => checked.map(|()| true),
        }
    }
}

impl Workspace {
    /// Waits for all turns and locks that `draft` needs, unless they are held, and sets `held` to them. Whether nothing has changed since
    /// `draft` was made. If not, what is held stays held, so that the next draft is made while nobody else can change its files.
    pub(super) fn hold<'w>(
        &'w self,
        held: &mut Option<Held<'w>>,
        draft: &Draft,
        control: &Control,
    ) -> Result<bool> {
        let wanted = wanted(draft)?;
        if held.as_ref().is_none_or(|held| !held.covers(&wanted)) {
            // Before others are taken: in any other order two jobs could wait for each other.
            *held = None;
            *held = self.lock_all(&wanted, control)?;
        }
        let Some(held) = held else { return Ok(false) };
        for wanted in &wanted {
            if !wanted.is_current(self, held)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `None` if an entry was replaced meanwhile.
    fn lock_all(&self, wanted: &[Wanted], control: &Control) -> Result<Option<Held<'_>>> {
        let until = control.lock_deadline();
        let turn = |one: &Wanted| self.take_turn(None, &one.found.place, one.path.sent(), until, control);
        let turns = wanted.iter().map(turn).collect::<Result<_>>()?;
        let mut entries = Vec::new();
        for Wanted { key, found, path, .. } in wanted {
            let is_file = found.place.stat.as_ref().map(file_type) == Some(FileType::RegularFile);
            let lock = match is_file {
                false => None,
                true => match self.lock_file(found, path, true, until, control)? {
                    Some((lock, file)) => Some((lock, *file.stamp())),
                    None => return Ok(None),
                },
            };
            entries.push((key.clone(), lock));
        }
        Ok(Some(Held { _turns: turns, entries }))
    }
}

/// All entries to lock, in the order of their keys, each once.
fn wanted<'d>(draft: &'d Draft) -> Result<Vec<Wanted<'d>>> {
    let changed =
        draft.changed().filter_map(|file| Some((file.found.as_ref()?, &file.path, file.base.as_ref())));
    let taken = draft.taken.iter().map(|(path, found)| (found, path, None));
    let mut all = Vec::new();
    for (found, path, planned) in changed.chain(taken) {
        let dir = sys::fs::fstat(&found.place.dir).map_err(|errno| Error::read(path.sent(), errno))?;
        let key = (dir.st_dev, dir.st_ino, found.place.name.clone());
        all.push(Wanted { key, found, path, planned });
    }
    all.sort_by(|one, other| (&one.key, one.planned.is_none()).cmp(&(&other.key, other.planned.is_none())));
    all.dedup_by(|later, first| later.key == first.key);
    Ok(all)
}
