//! Completes the jobs of dead servers, or takes them back: all or none, also after a crash (contract 20).
//!
//! The journal has what a job was to change, in order, and whether all of it is on the disk: then the job is complete. Else all that it did
//! is taken back, the last first. How far it came is known by the inodes of the files that take the new names, and by their contents, as
//! a file system can give an inode to another file. What other programs have written since stays.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::locks::Held;
use super::take_back::{put, rename_back, theirs};
use crate::change_log::{ChangeLog, OpenChange};
use crate::workspace::found::{Found, Want};
use crate::workspace::{ATTEMPTS, Workspace};
use folder::fs::atomic::{AtomicFile, Durability, Replaces, flush_directory, open_to_flush};
use folder::fs::resolve::ResolvedPath;
use folder::fs::version::{FileStamp, identity};
use folder::fs::view::OpenFile;
use folder::fs::{leftovers, temporary};
use folder::{Control, Error, FilePath};
use journal::{Change, FileChange, KeptEntry, Step};
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, Dir};
use text::shown::shown_line;

/// How long a job of a dead server may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// How long it waits for files that others have locked. Calls that have nothing to do with them wait as long.
const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_millis(200);

/// A job that is taken back or completed.
struct Recovery<'r> {
    workspace: &'r Workspace,
    change: &'r Change,
    control: Control,
}

/// What tells whether a step was carried out.
#[derive(PartialEq, Eq)]
enum Trace {
    Done,
    NotDone,
    /// It was, if the one before it was.
    Perhaps,
}

impl Workspace {
    /// Completes or takes back what dead servers may have left half done, if it is not known that there is nothing.
    pub fn repair(&self) {
        if self.may_have_to_repair() {
            self.recover();
        }
    }

    /// Whether dead servers may have left something half done.
    pub fn may_have_to_repair(&self) -> bool {
        !self.options.read_only && self.change_log.as_ref().is_some_and(ChangeLog::may_have_left_open)
    }

    /// Completes or takes back what dead servers have left half done. What cannot be is logged, and left as it is.
    pub fn recover(&self) {
        let Some(log) = self.change_log.as_ref().filter(|_| !self.options.read_only) else { return };
        let ours = |change: &Change| change.places().any(|place| self.served_place(change, place).is_some());
        let left = match log.left_open(ours) {
            Ok(left) => left,
            Err(error) => return tracing::warn!("--journal: what was left half done is not known: {error}"),
        };
        for (open, change) in left {
            let recovery = Recovery { workspace: self, change: &change, control: Control::new(PATIENCE) };
            if recovery.reaches_all() {
                recovery.settle(open);
            } else {
                let folders: Vec<_> = change.roots.iter().map(|root| shown_line(root)).collect();
                let folders = folders.join(" ");
                tracing::warn!(
                    "--journal: a change in {folders} is half done: a server of all that it changed settles it"
                );
                open.keep();
            }
        }
    }
}

impl<'r> Recovery<'r> {
    /// Whether all of it is served: what is excluded is not.
    fn reaches_all(&self) -> bool {
        let is_served = |place| {
            let Some(served) = self.workspace.served_place(self.change, place) else { return false };
            !self.workspace.folders.excludes().hides(&served.1, false)
                && self.find(place).map_or(true, |found| !found.excluded)
        };
        self.change.places().all(is_served)
    }

    /// Waits for all that others have locked of it. `None`: they keep it for too long.
    fn hold(&self) -> Option<Option<Held<'_>>> {
        let entry = |place: &journal::Place| {
            let found = self.find(place).ok().filter(|found| found.place.missing.is_empty())?;
            Some((FilePath::known(found.number, &shown_line(&place.path)), found))
        };
        let control = Control::new(LONGEST_WAIT);
        for _ in 0..ATTEMPTS {
            let entries: Vec<_> = self.change.places().filter_map(entry).collect();
            match self.workspace.hold_found(&entries, &control) {
                Ok(held) => return Some(Some(held)),
                // Others came first.
                Err(Error::Changed { .. }) => {}
                Err(Error::Locked { .. } | Error::TimedOut | Error::Cancelled) => return None,
                // What cannot be locked is locked by nobody.
                Err(_) => return Some(None),
            }
        }
        None
    }

    fn settle(&self, open: OpenChange) {
        let Some(_held) = self.hold() else {
            tracing::warn!(
                "--journal: files of a change of a server that ended are locked; it is settled later"
            );
            return open.keep();
        };
        if open.is_marked() || self.is_done_by_one_rename() {
            self.remove_hidden(|_| true);
            self.flush();
            self.file(open, "completed a change of a server that ended");
            return;
        }
        let (files, steps) = (&self.change.files[..], &self.change.steps[..]);
        let done = (0..steps.len()).rev().find(|number| self.is_done(*number));
        let mut kept = Vec::new();
        for step in steps[..done.map_or(0, |done| done + 1)].iter().rev() {
            if !self.tell(step.place(), self.take_back_step(step)) {
                kept.push(step.place());
            }
        }
        for file in files.iter().rev() {
            if !self.tell(&file.from, self.take_back_content(file)) {
                kept.push(&file.from);
            }
        }
        self.remove_hidden(|place| !kept.contains(&place));
        self.flush();
        if kept.is_empty() {
            tracing::info!("--journal: took back a change of a server that ended");
        } else {
            // So that what it replaced and deleted is not lost.
            self.file(open, "took back a part of a change of a server that ended");
        }
    }

    /// Whether it is a new content of one file, which is there.
    fn is_done_by_one_rename(&self) -> bool {
        let [file] = &self.change.files[..] else { return false };
        let content = || self.content(&self.find(&file.at)?.place);
        self.change.steps.is_empty()
            && self.has(&file.at, file.id)
            && content().is_ok_and(|(_, hash)| hash == file.after)
    }

    /// Keeps the change in the journal.
    fn file(&self, open: OpenChange, what: &str) {
        match open.done(self.workspace.options.durability == Durability::Full, || ()).0 {
            Ok(number) => tracing::info!("--journal: {what}: c{number}"),
            Err(error) => tracing::warn!("--journal: {what}, which is not noted: {error}"),
        }
    }

    /// Flushes the folders in which names changed.
    fn flush(&self) {
        let mut places = self.change.places().filter_map(|place| self.find(place).ok());
        if self.workspace.options.durability == Durability::Full {
            let flushed = places.try_for_each(|found| flush_directory(&open_to_flush(&found.place)?));
            if let Err(error) = flushed {
                tracing::warn!("--journal: a repair may not survive a loss of power: {error}");
            }
        }
    }

    /// Logs a failure. Returns whether there was none.
    fn tell(&self, place: &journal::Place, result: io::Result<()>) -> bool {
        if let Err(error) = &result {
            let path = shown_line(&place.path);
            tracing::warn!("--journal: {path}: a change of a server that ended is not taken back: {error}");
        }
        result.is_ok()
    }

    /// What is at a place now.
    fn find(&self, place: &journal::Place) -> io::Result<Found> {
        let place = self.workspace.served_place(self.change, place).ok_or(io::ErrorKind::NotFound)?;
        let path = FilePath::known(place.0, &shown_line(place.1.as_os_str().as_bytes()));
        let found = self.workspace.folders.find_at(&place, &path, Want::Link);
        found.map_err(|error| io::Error::other(format!("{error:?}")))
    }

    /// The entry beside a place with its hidden name, if it is there.
    fn hidden(&self, place: &journal::Place, hidden: &[u8]) -> Option<ResolvedPath> {
        if !temporary::is_temporary(hidden) {
            return None;
        }
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

    /// Whether the step of this number was carried out. Asked of the last ones first, as places are those right behind a step.
    fn is_done(&self, number: usize) -> bool {
        // What a step leaves no trace of counts where the one before it was carried out.
        let traces = self.change.steps[..=number].iter().rev().map(|step| self.trace(step));
        for trace in traces {
            match trace {
                Trace::Done => return true,
                Trace::NotDone => return false,
                Trace::Perhaps => {}
            }
        }
        // Files have their new contents before all steps.
        self.change.files.last().is_none_or(|last| !self.is_old(last) && self.has(&last.from, last.id))
    }

    fn trace(&self, step: &Step) -> Trace {
        let is_there = |at| self.find(at).is_ok_and(|found| found.exists());
        let perhaps = |is_so| if is_so { Trace::Perhaps } else { Trace::NotDone };
        let surely = |is_so| if is_so { Trace::Done } else { Trace::NotDone };
        match step {
            Step::Folder { at } => perhaps(is_there(at)),
            Step::New { at, id, .. } => surely(self.has(at, *id)),
            Step::Link { at, target } => surely(self.target(at).is_some_and(|now| now == *target)),
            // A folder or link that the change has made itself.
            Step::Moved { from, to, id: (0, 0) } => perhaps(is_there(to) && !is_there(from)),
            Step::Moved { to, id, .. } => surely(self.has(to, *id)),
            Step::Deleted { at, hidden, .. } => match self.hidden(at, hidden) {
                Some(_) => Trace::Done,
                None => perhaps(!is_there(at)),
            },
        }
    }

    /// Whether the old file is at the place of a changed one, where no step is done.
    fn is_old(&self, file: &FileChange) -> bool {
        let kept = self.hidden(&file.from, &file.hidden);
        let inode = |place: ResolvedPath| place.stat.map(|stat| stat.st_ino);
        kept.and_then(inode).is_some_and(|kept| self.has(&file.from, (0, kept)))
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
            Step::Link { at, target } => match self.target(at).is_some_and(|now| now == *target) {
                true => unlink(AtFlags::empty()),
                false => Err(theirs()),
            },
            Step::Moved { to, id, .. } => match *id == (0, 0) || self.has(to, *id) {
                true => rename_back(&self.find(to)?.place, &place),
                false => Err(theirs()),
            },
            Step::Deleted { at, entries, hidden, .. } => match (self.hidden(at, hidden), &entries[..]) {
                (Some(hidden), _) => rename_back(&hidden, &place),
                // Another server has taken it for the temporary file of a dead one.
                (None, [(_, KeptEntry::File { mode, content })]) => make(&place, *mode, content),
                (None, _) => Err(theirs()),
            },
        }
    }

    /// Puts the old content of a file in place again, if the new one is there, or what another program has made of it.
    fn take_back_content(&self, file: &FileChange) -> io::Result<()> {
        let found = self.find(&file.from)?;
        let place = &found.place;
        // Before the temporary files are written, only the places are known.
        let is_written = file.id != journal::EntryId::default();
        if !is_written || !found.exists() || self.is_old(file) {
            return Ok(());
        }
        let (now, hash) = self.content(place)?;
        if hash == file.before {
            return Ok(());
        }
        let is_same = place.restat()?.is_some_and(|stat| FileStamp::of(&stat).same_content(now.stamp()));
        if let Some(hidden) = self.hidden(&file.from, &file.hidden).filter(|_| hash == file.after && is_same)
        {
            return Ok(sys::fs::renameat(&hidden.dir, &hidden.name, &place.dir, &place.name)?);
        }
        let view = now.clone().view(0..now.len_bytes())?;
        if file.hunks.is_empty() {
            return Err(io::Error::other("its old content is not in the journal"));
        }
        let plan = journal::undo_plan(file, view.bytes(), &[]).map_err(|_| theirs())?;
        let mut old = AtomicFile::create(&place.dir)?;
        plan.write_to(view.bytes(), &mut old)?;
        put(old, place, &Replaces::File(&now))
    }

    /// The file at a place, and the hash of its content.
    fn content(&self, place: &ResolvedPath) -> io::Result<(Arc<OpenFile>, u64)> {
        let file = Arc::new(place.open().ok().flatten().ok_or_else(theirs)?);
        let view = file.clone().view(0..file.len_bytes())?;
        let hash = journal::hash(view.bytes());
        Ok((file, hash))
    }

    /// Removes what still has a hidden name at places that `may_go`, and the temporary files beside.
    fn remove_hidden(&self, may_go: impl Fn(&journal::Place) -> bool) {
        for file in self.change.files.iter().filter(|file| may_go(&file.from)) {
            let places = [&file.from, &file.at, &beside_after(&self.change.steps, &file.from)];
            for hidden in places.into_iter().filter_map(|place| self.hidden(place, &file.hidden)) {
                let _ = sys::fs::unlinkat(&hidden.dir, &hidden.name, AtFlags::empty());
            }
        }
        let deleted = || {
            self.change.steps.iter().enumerate().filter_map(|(number, step)| match step {
                Step::Deleted { at, hidden, .. } if may_go(at) => Some((number, at, hidden)),
                _ => None,
            })
        };
        let own = deleted().map(|(_, _, hidden)| OsStr::from_bytes(hidden).to_owned()).collect();
        for (number, at, hidden) in deleted() {
            let moved = || self.hidden(&beside_after(&self.change.steps[number + 1..], at), hidden);
            let Some(hidden) = self.hidden(at, hidden).or_else(moved) else { continue };
            let path = PathBuf::from(OsStr::from_bytes(&at.path));
            self.workspace.remove_hidden(&hidden, true, &path, &own, &self.control);
        }
        let mut cleared = HashSet::new();
        for found in self.change.places().filter_map(|place| self.find(place).ok()) {
            let id = sys::fs::fstat(&found.place.dir).map(|stat| identity(&stat));
            // A hidden file that is kept is locked by nobody.
            if id.is_ok_and(|id| cleared.insert(id)) && self.change.places().all(&may_go) {
                leftovers::clear(&found.place.dir, &self.workspace.mounts);
            }
        }
    }
}

/// Where what is beside `place` is after these steps: folders above it may have been moved or hidden.
fn beside_after(steps: &[Step], place: &journal::Place) -> journal::Place {
    let path = |place: &journal::Place| PathBuf::from(OsStr::from_bytes(&place.path));
    let (mut root, mut now) = (place.root, path(place));
    for step in steps {
        let (from, to) = match step {
            Step::Moved { from, to, .. } => (from, (to.root, path(to))),
            Step::Deleted { at, hidden, .. } => {
                (at, (at.root, path(at).with_file_name(OsStr::from_bytes(hidden))))
            }
            _ => continue,
        };
        let rest =
            now.strip_prefix(path(from)).ok().filter(|rest| from.root == root && *rest != Path::new(""));
        if let Some(rest) = rest.map(Path::to_owned) {
            (root, now) = (to.0, to.1.join(rest));
        }
    }
    journal::Place { root, path: now.as_os_str().as_bytes().to_vec() }
}

/// Makes a file.
fn make(place: &ResolvedPath, mode: u32, content: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(&place.dir)?;
    file.write_all(content)?;
    put(file, place, &Replaces::Nothing(sys::fs::mode(mode)))
}

fn is_empty(place: &ResolvedPath) -> bool {
    let Ok(folder) = place.open_folder() else { return false };
    let Ok(entries) = Dir::read_from(&folder) else { return false };
    let is_other = |entry: sys::io::Result<sys::fs::DirEntry>| {
        entry.is_ok_and(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
    };
    !entries.into_iter().any(is_other)
}
