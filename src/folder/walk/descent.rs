//! How a walk enters a folder: from memory where its names are known, else by opening it, and where looks wait, those beside it at the same
//! time.
//!
//! Knows no order of entries and counts none but folders that cannot be entered.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use super::enter::{self, Entered, EnteredAhead, FolderNames};
use super::names::Names;
use super::{EntryKind, Walk, WalkedFolder, failed, is_shortage, name_in};
use crate::fs::leftovers;
use crate::fs::mount_safety::MountSafety;
use crate::live::{Moment, Stamps};
use crate::path::MAX_COMPONENTS;
use crate::{Error, Result};
use sys::ffi::OsStrExt;
use sys::io::Errno;

/// Bytes of the longest path below the start of a walk by which a folder is opened later. The system takes paths of 4096.
const MOST_KNOWN: usize = 3_500;

/// A folder that a walk has entered.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) folder: Arc<WalkedFolder>,
    pub(super) names: Arc<Names>,
    /// When its names were so, if it is watched.
    pub(super) moment: Option<Moment>,
    /// What is believed of the files in it.
    pub(super) stamps: Option<Arc<Stamps>>,
    pub(super) next: usize,
    /// Bytes of the folder's path.
    pub(super) path_len: usize,
    /// Folders in it that are open already.
    pub(super) ahead: EnteredAhead,
}

impl Level {
    pub(super) fn new(folder: Arc<WalkedFolder>, names: FolderNames, path_len: usize) -> Level {
        let FolderNames { names, moment, stamps } = names;
        Level { folder, names, moment, stamps, next: 0, path_len, ahead: EnteredAhead::default() }
    }

    pub(super) fn clear(&self, mounts: &MountSafety) {
        if self.names.has_temporary
            && let Ok(folder) = self.folder.handle()
        {
            leftovers::clear(folder, mounts);
        }
    }
}

impl Walk<'_> {
    /// Enters the current entry, a folder. Counts it if that is not possible.
    pub(super) fn enter_folder(&mut self) -> Result<()> {
        if self.levels.len() >= MAX_COMPONENTS {
            self.left_out.too_deep += 1;
            return Ok(());
        }
        match self.open_folder()? {
            Entered::Gone => {}
            Entered::OtherDevice => self.left_out.mounts += 1,
            Entered::Unreadable => self.left_out.unreadable += 1,
            Entered::Open(folder, names) if self.is_kept_by_git(&folder, &names.names) => {
                self.left_out.repositories += 1;
            }
            Entered::Open(folder, names) => {
                if self.options.skip_ignored {
                    let path = Path::new(OsStr::from_bytes(&self.path));
                    self.ignored.enter(|| folder.handle().ok(), path, names.names.rules);
                }
                self.left_out.reserved += names.names.reserved;
                let level = Level::new(folder, names, self.path.len());
                if let Some(mounts) = self.clears {
                    level.clear(mounts);
                }
                self.levels.push(level);
            }
        }
        Ok(())
    }

    /// Whether the rule for folders of git forbids to look into a folder. Only one that is open may be such.
    fn is_kept_by_git(&self, folder: &WalkedFolder, names: &Names) -> bool {
        names.marks.suffice()
            && folder.handle().is_ok_and(|folder| self.excludes.git().keeps_folder(folder, names.marks))
    }

    /// The current entry, a folder in the folder that was known at `parent`, if it is known without a look.
    fn known_folder(&self, parent: Option<Moment>) -> Option<Entered> {
        let below = self.path_from_start();
        if below.len() > MOST_KNOWN {
            return None;
        }
        let known = self.live?.inner(parent?, self.name())?;
        let below = Path::new(OsStr::from_bytes(below)).to_owned();
        let folder = WalkedFolder::unopened(self.start.clone(), below, known.id);
        let names = enter::ordered(known.kept, self.options.order);
        let (moment, stamps) = (Some(known.moment), known.stamps);
        Some(Entered::Open(folder.into(), FolderNames { names, moment, stamps }))
    }

    /// Opens the current entry, a folder. Where looks wait, it opens the next folders beside it at the same time.
    fn open_folder(&mut self) -> Result<Entered> {
        let parent = self.levels.last().and_then(|level| level.moment);
        if let Some(known) = self.known_folder(parent) {
            return Ok(known);
        }
        let rules = enter::Rules {
            order: self.options.order,
            device: (!self.options.cross_mounts).then_some(self.device),
            control: self.control,
            live: self.live,
            parent,
        };
        let Some(here) = self.levels.last_mut() else { return Ok(Entered::Gone) };
        // The next entry is the one behind the current.
        let at = here.next.saturating_sub(1);
        if let Some(entered) = here.ahead.take(at, &mut self.held_ahead) {
            return entered;
        }
        let folder = match here.folder.handle() {
            Ok(folder) => folder.clone(),
            Err(Errno::NOENT) => return Ok(Entered::Gone),
            Err(errno) => return shortage(errno).map_or(Ok(Entered::Unreadable), Err),
        };
        if !self.lookups.are_slow() {
            return self.lookups.one(|| enter::enter(&folder, name_in(&self.path), rules));
        }
        let names = here.names.clone();
        let mut ahead = std::mem::take(&mut here.ahead);
        let entries = self.folders_from(&names, at, EnteredAhead::room(self.held_ahead));
        let entered = ahead.enter(&folder, &entries, rules, &self.lookups, &mut self.held_ahead);
        if let Some(here) = self.levels.last_mut() {
            here.ahead = ahead;
        }
        entered
    }

    /// The entries from `at` on that are folders which the walk may enter, with their names; the first is that at `at`.
    fn folders_from<'n>(&self, names: &'n Names, at: usize, most: usize) -> Vec<(usize, &'n OsStr)> {
        let mut path = self.path[..self.path.len() - self.name().len()].to_vec();
        let parent = path.len();
        let mut is_entered = |name: &[u8]| {
            path.truncate(parent);
            path.extend_from_slice(name);
            let path = Path::new(OsStr::from_bytes(&path));
            let ignored = if self.options.skip_ignored { self.ignored.ignores(path, true) } else { None };
            let is_hidden = self.options.skip_hidden && ignored.is_none() && name.starts_with(b".");
            ignored != Some(true) && !is_hidden && !self.excludes.hides_entry(path, true)
        };
        let rest = (at..).map_while(|number| names.get(number).map(|(name, kind)| (number, name, kind)));
        let folders = rest.filter(|(number, name, kind)| {
            *number == at || *kind == Some(Ok(EntryKind::Folder)) && is_entered(name)
        });
        folders.take(most).map(|(number, name, _)| (number, OsStr::from_bytes(name))).collect()
    }
}

/// The error if the system is short of descriptors or memory.
fn shortage(errno: Errno) -> Option<Error> {
    Some(failed(errno)).filter(is_shortage)
}
