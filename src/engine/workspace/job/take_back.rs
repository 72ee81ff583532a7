//! What a job has put in place so far, and how it is taken back.
//!
//! What a change replaces or deletes keeps a second, hidden name until the job is done.

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::Arc;

use folder::fs::atomic::{AtomicFile, Durability, ReplaceError, Replaces};
use folder::fs::rename::{Renamed, rename_to_free};
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::identity;
use folder::fs::view::OpenFile;
use folder::fs::{failpoint, temporary};
use sys::fs::AtFlags;
use sys::io::Errno;

/// Device and inode of an entry.
pub(super) type EntryId = (u64, u64);

/// A step that was carried out.
pub(super) enum Done {
    /// The file at a place has other content. The old file has the hidden name, or is only open.
    Replaced { place: ResolvedPath, new: EntryId, old: Arc<OpenFile>, hidden: Option<OsString> },
    /// A file is new.
    New { place: ResolvedPath, id: EntryId },
    /// A folder is new.
    Folder { place: ResolvedPath },
    /// An entry has another name.
    Moved { from: ResolvedPath, to: ResolvedPath },
    /// An entry has a hidden name only.
    Hidden { place: ResolvedPath, hidden: ResolvedPath },
}

/// Takes the steps back, the last first. False if something could not be taken back.
pub(super) fn take_back(done: Vec<Done>) -> bool {
    if failpoint::crashed() {
        return false;
    }
    // All of them, also behind one that fails.
    done.into_iter().rev().filter_map(|step| step.take_back().err()).count() == 0
}

impl Done {
    /// Places in the folders in which a name has changed.
    pub(super) fn places(&self) -> impl Iterator<Item = &ResolvedPath> {
        let (place, other) = match self {
            Done::Replaced { place, .. }
            | Done::New { place, .. }
            | Done::Folder { place }
            | Done::Hidden { place, .. } => (place, None),
            Done::Moved { from, to } => (from, Some(to)),
        };
        [place].into_iter().chain(other)
    }

    fn take_back(self) -> io::Result<()> {
        match self {
            Done::Replaced { place, new, old, hidden } => restore(&place, new, &old, hidden),
            Done::New { place, id } => match place.restat()? {
                // Another program may have put its own file there.
                Some(now) if identity(&now) == id => {
                    gone(sys::fs::unlinkat(&place.dir, &place.name, AtFlags::empty()))
                }
                _ => Ok(()),
            },
            Done::Folder { place } => gone(sys::fs::unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR)),
            Done::Moved { from, to } => renamed_back(&to, &from),
            Done::Hidden { place, hidden } => renamed_back(&hidden, &place),
        }
    }
}

/// Puts the old file at its place again, unless another program has put something there.
fn restore(
    place: &ResolvedPath,
    new: EntryId,
    old: &Arc<OpenFile>,
    hidden: Option<OsString>,
) -> io::Result<()> {
    let is_ours = place.restat()?.is_some_and(|now| identity(&now) == new);
    match hidden {
        Some(hidden) if is_ours => Ok(sys::fs::renameat(&place.dir, &hidden, &place.dir, &place.name)?),
        Some(hidden) => {
            temporary::remove(&place.dir, &hidden);
            Ok(())
        }
        None if is_ours => rewrite(place, old),
        None => Ok(()),
    }
}

/// Writes the bytes of the old file to its place, where a file cannot have two names.
fn rewrite(place: &ResolvedPath, old: &Arc<OpenFile>) -> io::Result<()> {
    let failed = |failure: ReplaceError| match failure {
        ReplaceError::Io(error) | ReplaceError::InPlace(error) => error,
        _ => io::Error::other("the file was changed meanwhile"),
    };
    let now = place.open().ok().flatten().ok_or_else(|| io::Error::other("the file cannot be opened"))?;
    let mut again = AtomicFile::create(&place.dir)?;
    again.copy_from(old, |_| Ok(()))?;
    again.flush()?;
    let committed =
        again.commit(place, &Replaces::File(&now), Durability::Full, || Ok::<(), ReplaceError>(()));
    committed.map(drop).map_err(failed)
}

fn renamed_back(from: &ResolvedPath, to: &ResolvedPath) -> io::Result<()> {
    let from = ResolvedPath { stat: from.restat()?, ..from.clone() };
    match rename_to_free(&from, to)? {
        Renamed::Moved => Ok(()),
        _ => Err(io::Error::other("the entry may have two names")),
    }
}

/// Of a removal: it is as good if nothing was there.
fn gone(removed: Result<(), Errno>) -> io::Result<()> {
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}
