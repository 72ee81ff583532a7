//! Opens the folders that a walk enters, and reads their names; several at a time where each look waits.
//!
//! Knows no paths, and nothing that a walk leaves out.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::sync::Arc;

use super::folder::WalkedFolder;
use super::names::{Names, read_names};
use super::{WalkOrder, failed, is_shortage};
use crate::live::{At, Live, Moment, Stamps};
use crate::lookups::{Lookups, looks_at_once};
use crate::{Control, Error, Result};
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{Mode, OFlags};
use sys::io::Errno;

/// Handles of folders that one walk holds ahead of the folder that it is in.
const MOST_AHEAD: usize = 128;

/// What became of a folder that was to be entered.
#[derive(Debug)]
pub(super) enum Entered {
    /// It is open, or its names are known without that.
    Open(Arc<WalkedFolder>, FolderNames),
    /// It was removed or replaced after it was met.
    Gone,
    /// It lies on another device, where the walk does not go.
    OtherDevice,
    /// It cannot be read.
    Unreadable,
}

/// The names in a folder, and when they were so if it is watched.
#[derive(Debug, Clone, Default)]
pub(super) struct FolderNames {
    pub(super) names: Arc<Names>,
    pub(super) moment: Option<Moment>,
    /// What is believed of the files in it.
    pub(super) stamps: Option<Arc<Stamps>>,
}

/// Which folders are entered, and how their names are sorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'c> {
    /// Keeps names of folders that it watches.
    pub(super) live: Option<&'c Live<Names>>,
    /// The folder of the entries, if it is watched.
    pub(super) parent: Option<Moment>,
    pub(super) order: WalkOrder,
    /// The only device to stay on, unless the walk may leave it.
    pub(super) device: Option<u64>,
    /// Of the call.
    pub(super) control: &'c Control,
}

/// Folders in one folder that were opened before the walk came to them, by the numbers of their entries.
#[derive(Debug, Default)]
pub(super) struct EnteredAhead(VecDeque<(usize, Result<Entered>)>);

impl EnteredAhead {
    /// Takes the folder of the entry `at`, if it was opened. Drops those that the walk has passed.
    pub(super) fn take(&mut self, at: usize, held: &mut usize) -> Option<Result<Entered>> {
        while let Some((next, _)) = self.0.front()
            && *next <= at
        {
            *held = held.saturating_sub(1);
            let (number, entered) = self.0.pop_front()?;
            if number == at {
                return Some(entered);
            }
        }
        None
    }

    /// Number of folders.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// How many folders may be opened at once, the wanted one included, by a walk that holds so many ahead.
    pub(super) fn room(held: usize) -> usize {
        looks_at_once().min(MOST_AHEAD.saturating_sub(held)).max(1)
    }

    /// Opens the folders in `parent` of these entries and names. Returns the first, and keeps the others.
    pub(super) fn enter(
        &mut self,
        parent: &OwnedFd,
        entries: &[(usize, &OsStr)],
        rules: Rules,
        lookups: &Lookups,
        held: &mut usize,
    ) -> Result<Entered> {
        let mut entered = lookups.many(entries.len(), |nth| enter(parent, entries[nth].1, rules)).into_iter();
        let first = entered.next().unwrap_or(Ok(Entered::Gone));
        *held = held.saturating_sub(self.len());
        self.0 = entries.iter().skip(1).map(|(at, _)| *at).zip(entered).collect();
        *held += self.len();
        first
    }
}

/// Opens the folder `name` in `parent` and reads its names. An error is one that concerns the whole walk: a part of the tree
/// would be missing without a reason in the tree.
pub(super) fn enter(parent: &OwnedFd, name: &OsStr, rules: Rules) -> Result<Entered> {
    match enter_once(parent, name, rules)? {
        // Another machine may have put another folder in its place in this moment.
        Entered::Unreadable => enter_once(parent, name, rules),
        entered => Ok(entered),
    }
}

fn enter_once(parent: &OwnedFd, name: &OsStr, rules: Rules) -> Result<Entered> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = match rules.device {
        Some(device) => sys::fs::open_on_device(parent, name, flags, device),
        None => sys::fs::openat(parent, name, flags, Mode::empty()).map(Some),
    };
    let folder = match opened {
        Ok(Some(folder)) => folder,
        Ok(None) => return Ok(Entered::OtherDevice),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(Entered::Gone),
        Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(failed(errno)),
        Err(_) => return Ok(Entered::Unreadable),
    };
    if let Some(device) = rules.device
        && sys::fs::fstat(&folder).map_err(failed)?.st_dev != device
    {
        return Ok(Entered::OtherDevice);
    }
    let at = rules.parent.map_or(At::Anywhere, |parent| At::In(parent, name.as_bytes()));
    match names_of(&folder, at, rules) {
        Ok(names) => Ok(Entered::Open(Arc::new(WalkedFolder::from(Arc::new(folder))), names)),
        Err(error) if is_shortage(&error) => Err(error),
        Err(Error::ListingFailed { .. }) => Ok(Entered::Unreadable),
        Err(error) => Err(error),
    }
}

/// The names in an open folder: those that are known, or else those that it has now, which are known from now on if it can be
/// watched.
pub(super) fn names_of(folder: &OwnedFd, at: At, rules: Rules) -> Result<FolderNames> {
    let Rules { order, control, live, .. } = rules;
    // The watch comes first: a name that comes after that is told.
    let Some((live, watched)) = live.and_then(|live| Some((live, live.watch(folder, at)?))) else {
        let names = Arc::new(read_names(folder, order, control)?);
        return Ok(FolderNames { names, ..FolderNames::default() });
    };
    let moment = Some(watched.moment);
    if let Some(known) = watched.kept {
        return Ok(FolderNames { names: ordered(known, order), moment, stamps: watched.stamps });
    }
    let names = Arc::new(read_names(folder, order, control)?);
    let mut stamps = None;
    if names.are_enough() {
        stamps = live.keep(watched.moment, ordered_by_name(&names, order));
    }
    Ok(FolderNames { names, moment, stamps })
}

/// Names that were kept, in the order of a walk.
pub(super) fn ordered(kept: Arc<Names>, order: WalkOrder) -> Arc<Names> {
    match order {
        WalkOrder::Name => kept,
        WalkOrder::Path => Arc::new(kept.in_order(order)),
    }
}

/// Names of a walk in this order, as they are kept.
fn ordered_by_name(names: &Arc<Names>, order: WalkOrder) -> Arc<Names> {
    match order {
        WalkOrder::Name => names.clone(),
        WalkOrder::Path => Arc::new(names.in_order(WalkOrder::Name)),
    }
}
