//! Completes the jobs of dead servers, or takes them back: all or none, also after a crash (contract 20).
//!
//! The journal has what a job was to change, in order, with the inodes of the files that take the new names. So it is known how far
//! the job came. If the last change of a name is there, the job is complete; else all that it did is taken back, the last first. What
//! other programs have written since stays.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::Place;
use crate::change_log::OpenChange;
use crate::workspace::Workspace;
use crate::workspace::found::{Found, Want};
use folder::fs::atomic::{AtomicFile, Durability, ReplaceError, Replaces};
use folder::fs::leftovers;
use folder::fs::rename::{Renamed, rename_to_free};
use folder::fs::resolve::ResolvedPath;
use folder::fs::view::OpenFile;
use folder::{Control, FilePath};
use journal::{Change, FileChange, KeptEntry, Step};
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, Dir};
use text::shown::shown_line;

/// How long a job of a dead server may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A job that is taken back or completed.
struct Recovery<'r> {
    workspace: &'r Workspace,
    change: &'r Change,
    /// The served folder of each of its roots.
    roots: Vec<usize>,
    control: Control,
}

impl Workspace {
    /// Completes or takes back what dead servers have left half done. What cannot be is logged, and left as it is.
    pub fn recover(&self) {
        let Some(log) = self.change_log.as_ref().filter(|_| !self.options.read_only) else { return };
        let left = match log.left_open() {
            Ok(left) => left,
            Err(error) => return tracing::warn!("--journal: what was left half done is not known: {error}"),
        };
        for (open, change) in left {
            // Without all of it, no name was changed yet.
            let Some(change) = change else { continue };
            match Recovery::new(self, &change) {
                Some(recovery) => recovery.settle(open),
                None => open.leave(),
            }
        }
    }
}

impl<'r> Recovery<'r> {
    /// `None`: a folder of it is not served.
    fn new(workspace: &'r Workspace, change: &'r Change) -> Option<Recovery<'r>> {
        let number = |root: &Vec<u8>| {
            let mut served = workspace.folders.roots().iter();
            served.position(|served| served.path().as_os_str().as_bytes() == root)
        };
        let roots = change.roots.iter().map(number).collect::<Option<_>>()?;
        Some(Recovery { workspace, change, roots, control: Control::new(PATIENCE) })
    }

    fn settle(&self, open: OpenChange) {
        let (files, steps) = (&self.change.files[..], &self.change.steps[..]);
        let done = (0..steps.len()).rev().find(|number| self.is_done(*number));
        let is_complete = match (done, files.last()) {
            (Some(done), _) => done + 1 == steps.len(),
            (None, Some(last)) if steps.is_empty() => self.is_replaced(last),
            (None, _) => false,
        };
        if is_complete {
            self.remove_hidden();
            match open.done(self.workspace.options.durability == Durability::Full) {
                Ok(number) => tracing::info!("--journal: completed change c{number} of a server that ended"),
                Err(error) => tracing::warn!("--journal: a change that was completed is not noted: {error}"),
            }
            return;
        }
        for step in steps[..done.map_or(0, |done| done + 1)].iter().rev() {
            self.tell(step.place(), self.take_back_step(step));
        }
        for file in files.iter().rev() {
            self.tell(&file.from, self.take_back_content(file));
        }
        self.remove_hidden();
    }

    fn tell(&self, place: &journal::Place, result: io::Result<()>) {
        if let Err(error) = result {
            let path = shown_line(&place.path);
            tracing::warn!("--journal: {path}: a change of a server that ended is not taken back: {error}");
        }
    }

    /// What is at a place now.
    fn find(&self, place: &journal::Place) -> io::Result<Found> {
        let place: Place = (self.roots[place.root], PathBuf::from(OsStr::from_bytes(&place.path)));
        let path = FilePath::known(place.0, &shown_line(place.1.as_os_str().as_bytes()));
        let found = self.workspace.folders.find_at(&place, &path, Want::Link);
        found.map_err(|error| io::Error::other(format!("{error:?}")))
    }

    /// The entry beside a place with its hidden name, if it is there.
    fn hidden(&self, place: &journal::Place, hidden: &[u8]) -> Option<ResolvedPath> {
        let beside = self.find(place).ok()?.place;
        let hidden = ResolvedPath { name: OsStr::from_bytes(hidden).into(), stat: None, ..beside };
        let stat = hidden.restat().ok().flatten()?;
        Some(ResolvedPath { stat: Some(stat), ..hidden })
    }

    /// Whether the entry with this inode is at a place.
    fn has(&self, place: &journal::Place, (_, inode): journal::EntryId) -> bool {
        let found = self.find(place).ok().and_then(|found| found.place.stat);
        // Devices can have other numbers after a start of the machine.
        found.is_some_and(|stat| stat.st_ino == inode)
    }

    /// Whether the step of this number was carried out, and none behind it.
    fn is_done(&self, number: usize) -> bool {
        // What a step leaves no trace of counts where the one before it was carried out.
        let is_next = || number == 0 || self.is_done(number - 1);
        let is_there = |at| self.find(at).is_ok_and(|found| found.exists());
        match &self.change.steps[number] {
            Step::Folder { at } => is_there(at) && is_next(),
            Step::New { at, id, .. } => self.has(at, *id),
            Step::Link { at, target } => self.target(at).is_some_and(|now| now == *target),
            Step::Moved { to, id, .. } => self.has(to, *id),
            Step::Deleted { at, hidden, .. } => {
                self.hidden(at, hidden).is_some() || !is_there(at) && is_next()
            }
        }
    }

    /// Whether the new content of a file is at its place, where no step follows.
    fn is_replaced(&self, file: &FileChange) -> bool {
        self.has(&file.at, file.id)
    }

    fn target(&self, at: &journal::Place) -> Option<Vec<u8>> {
        let place = self.find(at).ok()?.place;
        sys::fs::readlinkat(&place.dir, &place.name, Vec::new()).ok().map(|target| target.into_bytes())
    }

    fn take_back_step(&self, step: &Step) -> io::Result<()> {
        let place = self.find(step.place())?.place;
        let unlink = |flags| Ok(sys::fs::unlinkat(&place.dir, &place.name, flags)?);
        match step {
            Step::Folder { .. } if is_empty(&place) => unlink(AtFlags::REMOVEDIR),
            Step::Folder { .. } => Ok(()),
            Step::New { at, after, id } => match self.has(at, *id) && self.content(&place)?.1 == *after {
                true => unlink(AtFlags::empty()),
                false => Err(theirs()),
            },
            Step::Link { .. } => unlink(AtFlags::empty()),
            Step::Moved { to, id, .. } => match self.has(to, *id) {
                true => rename(&self.find(to)?.place, &place),
                false => Err(theirs()),
            },
            Step::Deleted { at, entries, hidden, .. } => match (self.hidden(at, hidden), &entries[..]) {
                (Some(hidden), _) => rename(&hidden, &place),
                // Another server has taken it for the temporary file of a dead one.
                (None, [(_, KeptEntry::File { mode, content })]) => make(&place, *mode, content),
                (None, _) => Err(theirs()),
            },
        }
    }

    /// Puts the old content of a file in place again, if the new one is there.
    fn take_back_content(&self, file: &FileChange) -> io::Result<()> {
        let found = self.find(&file.from)?;
        let place = &found.place;
        if !self.has(&file.from, file.id) {
            return Ok(());
        }
        let (now, hash) = self.content(place)?;
        if let Some(hidden) = self.hidden(&file.from, &file.hidden).filter(|_| hash == file.after) {
            return Ok(sys::fs::renameat(&hidden.dir, &hidden.name, &place.dir, &place.name)?);
        }
        let view = now.clone().view(0..now.len_bytes())?;
        let plan = journal::undo_plan(file, view.bytes(), &[]).map_err(|_| theirs())?;
        let mut old = AtomicFile::create(&place.dir)?;
        plan.write_to(view.bytes(), &mut old)?;
        commit(old, place, &Replaces::File(&now))
    }

    /// The file at a place, and the hash of its content.
    fn content(&self, place: &ResolvedPath) -> io::Result<(Arc<OpenFile>, u64)> {
        let file = Arc::new(place.open().ok().flatten().ok_or_else(theirs)?);
        let view = file.clone().view(0..file.len_bytes())?;
        let hash = journal::hash(view.bytes());
        Ok((file, hash))
    }

    /// Removes what has a hidden name still, and the temporary files beside.
    fn remove_hidden(&self) {
        let files = self.change.files.iter().map(|file| (&file.from, &file.hidden));
        let moved = self.change.files.iter().map(|file| (&file.at, &file.hidden));
        for hidden in files.chain(moved).filter_map(|(place, hidden)| self.hidden(place, hidden)) {
            let _ = sys::fs::unlinkat(&hidden.dir, &hidden.name, AtFlags::empty());
        }
        let deleted = || {
            self.change.steps.iter().filter_map(|step| match step {
                Step::Deleted { at, hidden, .. } => Some((at, hidden)),
                _ => None,
            })
        };
        let own = deleted().map(|(_, hidden)| OsStr::from_bytes(hidden).to_owned()).collect();
        for (at, hidden) in deleted() {
            let Some(hidden) = self.hidden(at, hidden) else { continue };
            let path = PathBuf::from(OsStr::from_bytes(&at.path));
            self.workspace.remove_hidden(&hidden, true, &path, &own, &self.control);
        }
        let places =
            self.change.steps.iter().map(Step::place).chain(self.change.files.iter().map(|file| &file.from));
        for found in places
            .chain(self.change.files.iter().map(|file| &file.at))
            .filter_map(|place| self.find(place).ok())
        {
            leftovers::clear(&found.place.dir, &self.workspace.mounts);
        }
    }
}

/// Makes a file.
fn make(place: &ResolvedPath, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(&place.dir)?;
    file.write_all(content)?;
    commit(file, place, &Replaces::Nothing(sys::fs::mode(mode)))
}

fn commit(file: AtomicFile, place: &ResolvedPath, replaces: &Replaces) -> io::Result<()> {
    let committed = file.commit(place, replaces, Durability::Full, || Ok::<(), ReplaceError>(()));
    committed.map(drop).map_err(|failure| match failure {
        ReplaceError::Io(error) | ReplaceError::InPlace(error) => error,
        ReplaceError::Changed | ReplaceError::Exists => theirs(),
    })
}

fn rename(from: &ResolvedPath, to: &ResolvedPath) -> io::Result<()> {
    match rename_to_free(from, &ResolvedPath { stat: None, ..to.clone() })? {
        Renamed::Moved => Ok(()),
        Renamed::SourceKept | Renamed::Unknown(_) => Err(io::Error::other("it may have two names")),
    }
}

fn is_empty(place: &ResolvedPath) -> bool {
    let Ok(folder) = place.open_folder() else { return false };
    let Ok(entries) = Dir::read_from(&folder) else { return false };
    let is_other = |entry: sys::io::Result<sys::fs::DirEntry>| {
        entry.is_ok_and(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
    };
    !entries.into_iter().any(is_other)
}

fn theirs() -> io::Error {
    io::Error::other("another program has changed it since")
}
