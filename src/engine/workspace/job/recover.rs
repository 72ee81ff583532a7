//! Completes the jobs of dead servers, or takes them back: all or none, also after a crash (contract 20).
//!
//! The journal has what a job was to change, in order, and whether all of it is on the disk: then the job is complete. Else all that it did
//! is taken back, the last first. How far it came is known by the inodes of the files that take the new names, and by their contents, as
//! a file system can give an inode to another file. What other programs have written since stays: the journal gets what could not be taken
//! back for them, and nothing else of the change. What failed for another reason is tried again later.

use std::ffi::OsStr;
use std::io;
use std::rc::Rc;

use super::locks::Held;
use super::take_back::theirs;
use crate::change_log::{ChangeLog, ChangeNumber, OpenChange};
use crate::workspace::found::{Found, Want};
use crate::workspace::{ATTEMPTS, Workspace};
use folder::fs::atomic::{Durability, flush_directory, open_to_flush};
use folder::fs::resolve::ResolvedPath;
use folder::fs::temporary;
use folder::{Control, Error, FilePath};
use journal::{Change, Rest};
use sys::ffi::OsStrExt;
use text::shown::shown_line;

mod back;
mod hidden;
mod trace;

/// How long a job of a dead server may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// How long it waits for files that others have locked. Calls that have nothing to do with them wait as long.
const LONGEST_WAIT: std::time::Duration = std::time::Duration::from_millis(200);

/// A job that is taken back or completed.
struct Recovery<'r> {
    workspace: &'r Workspace,
    change: &'r Change,
    control: Rc<Control>,
    unmoved: Rc<[Unmoved<'r>]>,
    /// Places are those behind so many steps.
    steps: usize,
}

/// A folder that a step was to move and did not, though later steps may have been carried out in it: some file systems keep what was done
/// in one folder, and lose what was done before in another one, when the power goes.
#[derive(Clone, Copy)]
struct Unmoved<'r> {
    number: usize,
    from: &'r journal::Place,
    to: &'r journal::Place,
}

/// What is left of a job that was taken back.
struct Left<'c> {
    rest: Rest<'c>,
    /// Whether another attempt may succeed, or something of it is only under a hidden name.
    another_attempt: bool,
}

/// What has become of an unfinished job.
pub(super) enum Settled {
    TakenBack,
    /// The journal has it, or what is left of it, as this change.
    Filed(ChangeNumber),
    /// It is still open.
    Later,
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
        self.settle_all(self.left_open());
    }

    /// What dead servers have left half done in the served folders.
    pub(super) fn left_open(&self) -> Vec<(OpenChange<'_>, Change)> {
        let Some(log) = self.change_log.as_ref().filter(|_| !self.options.read_only) else {
            return Vec::new();
        };
        let ours = |change: &Change| change.places().any(|place| self.served_place(change, place).is_some());
        let left = log.left_open(ours).inspect_err(|error| {
            tracing::warn!("--journal: what was left half done is not known: {error}");
        });
        left.unwrap_or_default()
    }

    /// Completes or takes back what was left open.
    pub(super) fn settle_all(&self, left: Vec<(OpenChange, Change)>) {
        for (open, change) in left {
            let recovery = Recovery::of(self, &change);
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

    /// Takes back what is left open of `change`, or completes it.
    pub(super) fn settle(&self, open: OpenChange, change: &Change) -> Settled {
        Recovery::of(self, change).settle(open)
    }
}

impl<'r> Recovery<'r> {
    fn of(workspace: &'r Workspace, change: &'r Change) -> Recovery<'r> {
        let control = Rc::new(Control::new(PATIENCE));
        let mut recovery = Recovery { workspace, change, control, unmoved: Rc::new([]), steps: 0 };
        recovery.unmoved = recovery.unmoved_folders().into();
        recovery
    }

    /// The same, with the places of the time right behind the first `steps` steps.
    fn behind(&self, steps: usize) -> Recovery<'r> {
        let Recovery { workspace, change, .. } = *self;
        Recovery { workspace, change, control: self.control.clone(), unmoved: self.unmoved.clone(), steps }
    }

    /// Whether all of it is served: what is excluded is not.
    fn reaches_all(&self) -> bool {
        let is_served = |place| {
            let Some(served) = self.workspace.served_place(self.change, place) else { return false };
            !self.workspace.folders.excludes().hides(&served.1, false)
                && self.find(place).map_or(true, |found| !found.excluded)
        };
        self.change.places().all(is_served)
    }

    /// Waits for all that others have locked of it. `None`: they keep it for too long, or what can be locked is not.
    fn hold(&self) -> Option<Held<'_>> {
        let entry = |place: &journal::Place| {
            let found = self.find(place).ok().filter(|found| found.place.missing.is_empty())?;
            Some((FilePath::known(found.number, &shown_line(&place.path)), found))
        };
        let control = Control::new(LONGEST_WAIT);
        for _ in 0..ATTEMPTS {
            let entries: Vec<_> = self.change.places().filter_map(entry).collect();
            match self.workspace.hold_found(&entries, &control) {
                Ok(held) => return Some(held),
                // Others came first.
                Err(Error::Changed { .. }) => {}
                Err(Error::Locked { .. } | Error::TimedOut | Error::Cancelled) => return None,
                Err(error) => {
                    tracing::warn!("--journal: files of a change of a server that ended: {error:?}");
                    return None;
                }
            }
        }
        None
    }

    fn settle(&self, mut open: OpenChange) -> Settled {
        // Before the locks, for which leftovers are removed.
        let beside = self.inodes_beside();
        let Some(_held) = self.hold() else {
            tracing::warn!("--journal: files of an unfinished change are locked; it is settled later");
            open.keep();
            return Settled::Later;
        };
        if !open.is_rest() && (open.is_marked() || self.is_done_by_one_rename()) {
            return self.complete(open);
        }
        let Left { rest, another_attempt } = self.take_back(open.is_rest(), &beside);
        self.flush();
        if rest.is_empty() {
            self.remove_hidden(|_| true);
            self.flush();
            tracing::info!("--journal: took back an unfinished change");
            return Settled::TakenBack;
        }
        let left = rest.change();
        if !(rest.is_all() && open.is_rest())
            && let Err(error) = open.write_rest(&left, self.is_durable())
        {
            tracing::warn!("--journal: what is left of an unfinished change is not noted: {error}");
            open.keep();
            return Settled::Later;
        }
        self.remove_hidden(|element| !rest.has(element));
        if another_attempt && !open.is_given_up() {
            open.keep();
            return Settled::Later;
        }
        // What it holds is in the journal.
        let of_rest = Recovery::of(self.workspace, &left);
        of_rest.remove_hidden(|_| true);
        of_rest.flush();
        self.file(open, "took back a part of an unfinished change; the journal has the rest")
    }

    /// Removes what a change that is done has hidden.
    fn complete(&self, open: OpenChange) -> Settled {
        let all_gone = self.remove_hidden(|_| true);
        self.flush();
        if self.change.is_removal() {
            // It was told when it was done, and is in the journal.
            if all_gone || open.is_given_up() {
                return Settled::TakenBack;
            }
            open.keep();
            return Settled::Later;
        }
        if !all_gone {
            let later = self.workspace.remove_later(self.change.clone());
            let later = later.map_or_else(
                |error| format!("nobody removes it: {error}"),
                |()| "it is removed later".into(),
            );
            tracing::warn!("--journal: something that was deleted stays under a hidden name; {later}");
        }
        self.file(open, "completed an unfinished change")
    }

    /// Keeps the change in the journal.
    fn file(&self, open: OpenChange, what: &str) -> Settled {
        match open.done(self.is_durable(), || ()).0 {
            Ok(number) => {
                tracing::info!("--journal: {what}: c{number}");
                Settled::Filed(number)
            }
            Err(error) => {
                tracing::warn!("--journal: {what}, which is not noted: {error}");
                Settled::Later
            }
        }
    }

    fn is_durable(&self) -> bool {
        self.workspace.options.durability == Durability::Full
    }

    /// Flushes the folders in which names changed.
    fn flush(&self) {
        let mut places = self.change.places().filter_map(|place| self.find(place).ok());
        if self.is_durable() {
            let flushed = places.try_for_each(|found| flush_directory(&open_to_flush(&found.place)?));
            if let Err(error) = flushed {
                tracing::warn!("--journal: a repair may not survive a loss of power: {error}");
            }
        }
    }

    /// What is at a place now.
    fn find(&self, place: &journal::Place) -> io::Result<Found> {
        let place = self.unmoved_place(place);
        let place = self.workspace.served_place(self.change, &place).ok_or(io::ErrorKind::NotFound)?;
        let path = FilePath::known(place.0, &shown_line(place.1.as_os_str().as_bytes()));
        let found = self.workspace.folders.find_at(&place, &path, Want::Link);
        found.map_err(|error| match error {
            Error::NotFound { .. } | Error::RefusedLink { .. } => theirs(),
            error => io::Error::other(format!("{error:?}")),
        })
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
}
