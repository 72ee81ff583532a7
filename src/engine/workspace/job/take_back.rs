//! What a job has put in place so far, and how it is taken back.
//!
//! What a change replaces or deletes keeps a second, hidden name until the job is done.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use crate::workspace::Place;
use folder::fs::atomic::{AtomicFile, Durability, ReplaceError, Replaces};
use folder::fs::lock::LockedFile;
use folder::fs::rename::{Renamed, rename_to_free};
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::{FileStamp, identity};
use folder::fs::view::OpenFile;
use folder::fs::{failpoint, temporary};
use sys::fd::OwnedFd;
use sys::fs::{AtFlags, Stat};
use sys::io::Errno;

/// Device and inode of an entry.
pub(super) type EntryId = (u64, u64);

/// A step that was carried out.
pub(super) enum Done {
    /// The file at a place has other content.
    Replaced { place: ResolvedPath, new: NewFile, old: OldFile },
    /// A file is new.
    New { place: ResolvedPath, new: NewFile },
    /// A folder is new.
    Folder { place: ResolvedPath },
    /// A symbolic link is new.
    Link { place: ResolvedPath, id: EntryId },
    /// An entry has another name, or may have it.
    Moved { from: ResolvedPath, to: ResolvedPath, id: EntryId },
    /// The entry that the step of this number deletes has a hidden name only, or may have it.
    /// `before`: its status before that.
    Hidden { place: ResolvedPath, hidden: ResolvedPath, before: Option<Stat>, step: usize },
}

/// Where a file is that was replaced.
pub(super) enum OldFile {
    /// It has a hidden name.
    Hidden(Hidden),
    /// It is only open, where a file cannot have two names.
    Open(Arc<OpenFile>),
}

/// A second, hidden name of a file. It goes when this is dropped.
pub(super) struct Hidden {
    /// The folder that has it.
    pub(super) dir: Arc<OwnedFd>,
    pub(super) name: OsString,
    /// The place of the file.
    pub(super) at: Place,
    /// Whether it stays, for the repair.
    pub(super) stays: bool,
}

impl Hidden {
    /// Takes the name away. False if that fails.
    pub(super) fn remove(&self) -> bool {
        failpoint::crashed() || temporary::remove(&self.dir, &self.name)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.stays {
            self.remove();
        }
    }
}

/// A file that was put in place. It is locked until this is dropped, so that no other server changes it before all is done.
pub(super) struct NewFile {
    pub(super) id: EntryId,
    /// Its state before that.
    pub(super) stamp: FileStamp,
    pub(super) _lock: Arc<LockedFile>,
}

impl NewFile {
    /// Whether it is still at `place`, as it was put there. Another program may have put its own file there, or written to it.
    fn is_untouched(&self, place: &ResolvedPath) -> io::Result<bool> {
        let now = place.restat()?;
        Ok(now.is_some_and(|now| identity(&now) == self.id && FileStamp::of(&now).same_content(&self.stamp)))
    }
}

/// Takes the steps back, the last first. Returns the numbers of those that could not be taken back: what they have hidden stays, if a
/// repair follows.
pub(super) fn take_back(done: Vec<Done>, is_repaired: bool) -> HashSet<usize> {
    if failpoint::crashed() {
        return (0..done.len()).collect();
    }
    // All of them, also behind one that fails.
    let left = |(number, step): (usize, Done)| step.take_back(is_repaired).is_err().then_some(number);
    done.into_iter().enumerate().rev().filter_map(left).collect()
}

impl Done {
    fn take_back(self, is_repaired: bool) -> io::Result<()> {
        match self {
            Done::Replaced { place, new, mut old } => {
                let is_ours = new.is_untouched(&place);
                let restored =
                    if matches!(is_ours, Ok(true)) { restore(&place, &old) } else { Err(theirs()) };
                if let OldFile::Hidden(hidden) = &mut old {
                    hidden.stays = is_repaired && restored.is_err();
                }
                restored
            }
            Done::New { place, new } => match new.is_untouched(&place)? {
                true => gone(sys::fs::unlinkat(&place.dir, &place.name, AtFlags::empty())),
                false => Err(theirs()),
            },
            Done::Link { place, id } => match place.restat()?.is_none_or(|now| identity(&now) == id) {
                true => gone(sys::fs::unlinkat(&place.dir, &place.name, AtFlags::empty())),
                false => Err(theirs()),
            },
            // What others have put into it stays.
            Done::Folder { place } => match sys::fs::unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
                removed => gone(removed),
            },
            Done::Moved { from, to, id } => renamed_back(&to, &from, id),
            // Whatever it is: another program may have put it there right before it was hidden.
            Done::Hidden { place, hidden, .. } => match (hidden.restat()?, place.restat()?) {
                (None, Some(_)) => Ok(()),
                (None, None) => Err(theirs()),
                (stat, _) => rename_back(&ResolvedPath { stat, ..hidden }, &place),
            },
        }
    }
}

/// What is at a place is another program's.
pub(super) fn theirs() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "another program has changed it meanwhile")
}

/// Whether another program is in the way, so that another attempt would fail, too.
pub(super) fn is_of_theirs(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound)
}

/// Puts the old file at its place again.
fn restore(place: &ResolvedPath, old: &OldFile) -> io::Result<()> {
    match old {
        OldFile::Hidden(hidden) => Ok(sys::fs::renameat(&hidden.dir, &hidden.name, &place.dir, &place.name)?),
        OldFile::Open(old) => rewrite(place, old),
    }
}

/// Writes the bytes of the old file to its place, where a file cannot have two names.
fn rewrite(place: &ResolvedPath, old: &Arc<OpenFile>) -> io::Result<()> {
    let now = place.open().ok().flatten().ok_or_else(theirs)?;
    let mut again = AtomicFile::create(&place.dir)?;
    again.copy_from(old, |_| Ok(()))?;
    put(again, place, &Replaces::File(&now))
}

/// Puts a file at a place, whatever leads there.
pub(super) fn put(file: AtomicFile, place: &ResolvedPath, replaces: &Replaces) -> io::Result<()> {
    let committed = file.commit(place, replaces, Durability::Full, || Ok::<(), ReplaceError>(()));
    committed.map(drop).map_err(|failure| match failure {
        ReplaceError::Io(error) | ReplaceError::InPlace(error) => error,
        ReplaceError::Changed | ReplaceError::Exists => theirs(),
    })
}

/// Gives the entry `id` its name `to` again, if it has the name `from`.
fn renamed_back(from: &ResolvedPath, to: &ResolvedPath, id: EntryId) -> io::Result<()> {
    let at = |place: &ResolvedPath| place.restat().map(|stat| stat.filter(|stat| identity(stat) == id));
    match (at(from)?, at(to)?) {
        (None, Some(_)) => Ok(()),
        (Some(stat), _) => rename_back(&ResolvedPath { stat: Some(stat), ..from.clone() }, to),
        (None, None) => Err(theirs()),
    }
}

/// Gives the entry at `from` its name `to` again, which must be free.
pub(super) fn rename_back(from: &ResolvedPath, to: &ResolvedPath) -> io::Result<()> {
    match rename_to_free(from, &ResolvedPath { stat: None, ..to.clone() })? {
        Renamed::Moved => Ok(()),
        Renamed::SourceKept | Renamed::Unknown(_) => Err(io::Error::other("it may have two names")),
    }
}

/// Of a removal: it is as good if nothing was there.
fn gone(removed: Result<(), Errno>) -> io::Result<()> {
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
