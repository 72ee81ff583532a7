//! Walks a tree of folders below a served folder (contract 12): one walk for every list, tree and search.
//!
//! A walk enters no link, no mount of another file system (unless told), no folder of git, and nothing that is excluded.
//! So it never leaves the served folder and never runs in a circle. It holds one open handle and the names of one folder
//! for each level, not the whole tree. Knows no patterns but those of `--exclude`, and no texts.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

pub use self::belief::{EntryPlace, believe};
use self::descent::Level;
use self::enter::{FolderNames, names_of};
pub use self::folder::WalkedFolder;
pub use self::kind::EntryKind;
use self::kind::kind_by_look;
use self::names::Names;

pub use self::options::{LeftOut, WalkOptions, WalkOrder};
pub use self::passed::{Passed, passed};
pub use self::stats::{LateStats, StatResult};
use crate::exclude::Excludes;
use crate::fs::lost;
use crate::fs::mount_safety::MountSafety;
use crate::fs::resolve::{self, LastLink, ResolvedPath};
use crate::fs::spelling;
use crate::ignored::IgnoreRules;
use crate::live::{At, Live};
use crate::lookups::Lookups;
use crate::{Control, Error, Result};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::Stat;
use sys::io::Errno;

/// What is known of the folders of walks without a look.
pub type LiveFolders = Live<Names>;

/// After how many steps a walk looks whether its time is up: to ask for the time takes as long as a step.
const STEPS_BETWEEN_CHECKS: u32 = 32;

/// One entry. Its path is that of [`Walk::path`] until the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkEntry {
    /// What it is.
    pub kind: EntryKind,
    /// Levels below the folder in which the walk began, from 1.
    pub level: usize,
}

/// One step of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkStep {
    /// The next entry.
    Entry(WalkEntry),
    /// All entries of a folder of this level, which was entered, have been met. The path is that of the folder.
    Leave(usize),
}

/// See the module.
#[derive(Debug)]
pub struct Walk<'w> {
    options: WalkOptions,
    /// The served folder.
    root: Arc<OwnedFd>,
    /// The folder in which the walk began.
    start: Arc<OwnedFd>,
    excludes: &'w Excludes,
    ignored: IgnoreRules,
    control: &'w Control,
    /// What is known of folders without a look.
    live: Option<&'w LiveFolders>,
    /// The device of the folder in which the walk began.
    device: u64,
    levels: Vec<Level>,
    /// Bytes of the path of the folder in which the walk began, below the served folder.
    base: usize,
    /// The path of the current entry, below the served folder.
    path: Vec<u8>,
    /// The current entry is a folder that the next step enters.
    enter: bool,
    /// The time was up before the names in the first folder were read: the first step says so.
    is_late: bool,
    /// If temporary files of dead processes are removed: where that is safe.
    clears: Option<&'w MountSafety>,
    left_out: LeftOut,
    /// Steps so far.
    steps: u32,
    lookups: Lookups,
    /// Folders that are open ahead of the walk, on all levels.
    held_ahead: usize,
}

impl<'w> Walk<'w> {
    /// A walk through `folder`, whose path below the served folder is `path`. What has changed in folders that are known is read now.
    pub fn new(
        root: &Arc<OwnedFd>,
        folder: OwnedFd,
        path: &Path,
        options: WalkOptions,
        excludes: &'w Excludes,
        live: Option<&'w LiveFolders>,
        control: &'w Control,
    ) -> Result<Walk<'w>> {
        let device = sys::fs::fstat(&folder).map_err(failed)?.st_dev;
        let live = live.filter(|live| live.begin());
        let lookups = Lookups::default();
        let rules = enter::Rules { order: options.order, device: None, control, live, parent: None };
        // The handle of a served folder stays open anyway; that of another folder would keep its file system from being unmounted.
        let at = if path == Path::new("") { At::Top(root) } else { At::Anywhere };
        let (mut names, is_late) = match lookups.one(|| names_of(&folder, at, rules)) {
            Err(Error::TimedOut) => (FolderNames::default(), true),
            names => (names?, false),
        };
        let mut left_out = LeftOut::default();
        if excludes.git().keeps_folder(&folder, names.names.marks) {
            (names, left_out.repositories) = (FolderNames::default(), 1);
        }
        let mut ignored = IgnoreRules::default();
        if options.skip_ignored {
            ignored.enter_all_above(root, path, &lookups);
            ignored.enter(|| Some(&folder), path, names.names.rules);
        }
        let path = path.as_os_str().as_bytes().to_vec();
        left_out.reserved = names.names.reserved;
        let start = Arc::new(folder);
        let first = Level::new(Arc::new(start.clone().into()), names, path.len());
        let root = root.clone();
        Ok(Walk {
            options,
            root,
            start,
            ignored,
            excludes,
            control,
            live,
            device,
            levels: vec![first],
            base: path.len(),
            path,
            enter: false,
            is_late,
            clears: None,
            left_out,
            steps: 0,
            lookups,
            held_ahead: 0,
        })
    }

    /// Makes the walk remove the temporary files that dead processes left in its folders.
    pub fn clear_leftovers(mut self, mounts: &'w MountSafety) -> Walk<'w> {
        self.clears = Some(mounts);
        self.levels.iter().for_each(|level| level.clear(mounts));
        self
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<WalkStep>> {
        // To read a folder may take long.
        match self.enter || self.steps.is_multiple_of(STEPS_BETWEEN_CHECKS) {
            _ if self.is_late => return Err(Error::TimedOut),
            true => self.control.check()?,
            false => self.control.check_called_off()?,
        }
        self.steps = self.steps.wrapping_add(1);
        if std::mem::take(&mut self.enter) {
            self.enter_folder()?;
        }
        loop {
            let level = self.levels.len();
            let Some(here) = self.levels.last_mut() else { return self.end() };
            self.path.truncate(here.path_len);
            let Some((name, kind)) = here.names.get(here.next) else {
                self.held_ahead = self.held_ahead.saturating_sub(here.ahead.len());
                self.levels.pop();
                self.ignored.leave();
                return if level > 1 { Ok(Some(WalkStep::Leave(level - 1))) } else { self.end() };
            };
            here.next += 1;
            push_name(&mut self.path, name);
            let kind =
                match kind.map_or_else(|| kind_of_entry(&here.folder, &self.path), |kind| kind.map(Some)) {
                    Ok(Some(kind)) => Some(kind),
                    Ok(None) => continue,
                    Err(_) => None,
                };
            let (is_folder, path) =
                (kind == Some(EntryKind::Folder), Path::new(OsStr::from_bytes(&self.path)));
            // What may be a folder is left out as one, too.
            if self.excludes.hides_entry(path, is_folder)
                || !switches::is_off("kind-untold-excluded")
                    && kind.is_none()
                    && self.excludes.hides_entry(path, true)
            {
                self.left_out.excluded += 1;
                continue;
            }
            if self.skips(is_folder) {
                continue;
            }
            let Some(kind) = kind else {
                if !switches::is_off("kind-untold") {
                    self.left_out.unknown += 1;
                }
                continue;
            };
            self.enter = is_folder && level < self.options.depth;
            return Ok(Some(WalkStep::Entry(WalkEntry { kind, level })));
        }
    }

    /// Does not enter the current entry, which is a folder.
    pub fn skip_folder(&mut self) {
        self.enter = false;
    }

    /// The path of the current entry below the served folder. Need not be UTF-8.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The path of the current entry below the folder in which the walk began.
    pub fn path_from_start(&self) -> &[u8] {
        let path = &self.path[self.base..];
        path.strip_prefix(b"/").unwrap_or(path)
    }

    /// The name of the current entry.
    pub fn name(&self) -> &[u8] {
        let after_slash = memchr::memrchr(b'/', &self.path).map_or(0, |at| at + 1);
        &self.path[after_slash..]
    }

    /// The state of the current entry; of a link, its own.
    pub fn stat(&self) -> StatResult {
        self.levels.last().map_or(Ok(None), |level| stat(&level.folder, &self.path))
    }

    /// The state of what the current entry, a link, leads to. `None` if it leads out of the served folder, or to nothing.
    pub fn stat_of_target(&self) -> Option<Stat> {
        let path = Path::new(OsStr::from_bytes(&self.path));
        let (found, passed) = ResolvedPath::follow(&self.root, path, LastLink::Follow);
        let place = found.ok()?;
        let is_hidden = spelling::hides_target(self.excludes, &self.root, &place, &passed).unwrap_or(true);
        place.stat.filter(|_| !is_hidden)
    }

    /// Whether looks at its folders wait, for a disk or another machine.
    pub fn looks_are_slow(&self) -> bool {
        self.lookups.are_slow()
    }

    /// What was not shown or entered so far.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// Whether the current entry is left out as ignored or hidden. Counts it.
    fn skips(&mut self, is_folder: bool) -> bool {
        let ignored = match self.options.skip_ignored {
            true => self.ignored.ignores(Path::new(OsStr::from_bytes(&self.path)), is_folder),
            false => None,
        };
        let folder = usize::from(is_folder);
        if ignored == Some(true) {
            self.left_out.ignored += 1;
            self.left_out.ignored_folders += folder;
            return true;
        }
        let is_hidden = self.options.skip_hidden && ignored.is_none() && self.name().starts_with(b".");
        if is_hidden {
            self.left_out.hidden += 1;
            self.left_out.hidden_folders += folder;
        }
        is_hidden
    }

    /// The folder of the current entry. `None` before the first and behind the last step.
    pub fn folder(&self) -> Option<Arc<WalkedFolder>> {
        self.levels.last().map(|level| level.folder.clone())
    }

    /// The end. What could not be read is no finding if the file system does not answer any more.
    fn end(&self) -> Result<Option<WalkStep>> {
        if self.left_out.unreadable > 0 || self.left_out.unknown > 0 {
            self.check_answers()?;
        }
        Ok(None)
    }

    /// Checks that the file system of the served folder answers. Ask if looks have failed: else they are no finding.
    pub fn check_answers(&self) -> Result<()> {
        match switches::is_off("walk-lost") {
            true => Ok(()),
            false => lost::check_answers(&self.root).map_err(failed),
        }
    }
}

/// Whether the system is short of descriptors or memory.
pub fn is_shortage(error: &Error) -> bool {
    let Error::ListingFailed { source } = error else { return false };
    matches!(Errno::from_io_error(source), Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM))
}

fn push_name(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// The last component of a path.
fn name_in(path: &[u8]) -> &OsStr {
    OsStr::from_bytes(&path[memchr::memrchr(b'/', path).map_or(0, |at| at + 1)..])
}

/// The state of the entry in `folder` whose path this is; of a link, its own.
fn stat(folder: &WalkedFolder, path: &[u8]) -> StatResult {
    match folder.handle() {
        Ok(folder) => resolve::entry(folder, name_in(path)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// The kind of an entry whose folder, which is open, does not say it. `None`: it is gone.
fn kind_of_entry(folder: &WalkedFolder, path: &[u8]) -> std::result::Result<Option<EntryKind>, Errno> {
    folder.handle().and_then(|folder| kind_by_look(folder, name_in(path)))
}

fn failed(errno: Errno) -> Error {
    Error::ListingFailed { source: errno.into() }
}

mod belief;
mod descent;
mod enter;
mod folder;
#[cfg(test)]
mod ignored_trees;
mod kind;
mod names;
mod options;
mod passed;
mod stats;
#[cfg(test)]
mod tests;
