//! The path to which a look at changes is limited, and where it leads to through links: changes are known by the places of what they
//! changed.

use std::ffi::OsStr;
use std::path::Path;

use crate::workspace::found::{Freshness, Want};
use crate::workspace::{Place, Workspace};
use folder::{Control, Error, FilePath, Result};
use sys::ffi::OsStrExt;
use text::shown::shown_line;

/// See the module.
#[derive(Debug)]
pub(in crate::workspace) struct Within {
    /// As it was sent.
    pub(in crate::workspace) path: FilePath,
    /// Where it leads to, if that is elsewhere.
    behind_links: Vec<FilePath>,
}

impl Within {
    /// Whether a place is there or below.
    pub(in crate::workspace) fn holds(&self, place: &Place) -> bool {
        self.paths().any(|path| is_of(path, place) && place.1.starts_with(path.as_str()))
    }

    /// Whether a place is that or a folder above it.
    pub(in crate::workspace) fn is_below(&self, place: &Place) -> bool {
        self.paths().any(|path| is_of(path, place) && Path::new(path.as_str()).starts_with(&place.1))
    }

    fn paths(&self) -> impl Iterator<Item = &FilePath> {
        std::iter::once(&self.path).chain(&self.behind_links)
    }
}

/// Whether a path may lead to the served folder of a place.
fn is_of(path: &FilePath, place: &Place) -> bool {
    path.folder().is_none_or(|number| number == place.0)
}

impl Workspace {
    /// The limit that a path is.
    pub(in crate::workspace) fn within(&self, path: &FilePath) -> Within {
        let behind = |want| {
            let found =
                self.folders.find(path, want, Freshness::Recent).ok().filter(|found| !found.excluded)?;
            let real = found.place.real.as_deref().filter(|real| *real != Path::new(path.as_str()))?;
            Some(FilePath::known(found.number, &shown_line(real.as_os_str().as_bytes())))
        };
        // The link itself may have changed, and what it leads to.
        let mut behind_links: Vec<FilePath> =
            [Want::Link, Want::Entry].into_iter().filter_map(behind).collect();
        behind_links.dedup_by(|one, other| one.as_str() == other.as_str());
        Within { path: path.clone(), behind_links }
    }

    /// Refuses a path at which nothing is, and at which no change of the journal has changed anything.
    pub fn check_ever_there(&self, path: &FilePath, control: &Control) -> Result<()> {
        let found = match self.folders.find(path, Want::Link, Freshness::Recent) {
            Ok(found) if found.exists() => return Ok(()),
            found => found,
        };
        if self.has_changed(&self.within(path), control)? {
            return Ok(());
        }
        Err(self.not_found(&found?, path, control))
    }

    /// Whether a change of the journal has changed something there.
    fn has_changed(&self, within: &Within, control: &Control) -> Result<bool> {
        let Some(log) = self.change_log() else { return Ok(false) };
        let unread = |source| Error::WriteFailed { source };
        // Nothing tells that something was at an excluded path.
        let holds = |place: Place| within.holds(&place) && !self.folders.excludes().hides(&place.1, false);
        for number in log.numbers().map_err(unread)? {
            control.check()?;
            let Some(change) = log.read(number).map_err(unread)? else { continue };
            let is_there = |place| self.served_place(&change, place).is_some_and(holds);
            let in_folder = |step: &journal::Step| {
                let journal::Step::Deleted { at, entries, .. } = step else { return false };
                let Some((root, at)) = self.served_place(&change, at) else { return false };
                entries.iter().any(|(rest, _)| holds((root, at.join(OsStr::from_bytes(rest)))))
            };
            if change.places().any(is_there) || change.steps.iter().any(in_folder) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
