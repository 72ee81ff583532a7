//! Opens files that have filters, so that the next search believes their stamps without a look.
//!
//! Knows no filters. What may be believed is for `folder::believe` to say.

use super::source::Candidate;
use folder::fs::resolve;
use folder::fs::view::OpenFile;
use folder::{Belief, EntryPlace, LiveFolders, believe};
use sys::fs::Stat;

/// Files that are opened before what their opens have raised is read at once.
const TOGETHER: usize = 64;

/// See the module.
pub(super) struct Believer<'l> {
    live: Option<&'l LiveFolders>,
    opened: Vec<(EntryPlace, OpenFile)>,
}

impl<'l> Believer<'l> {
    pub(super) fn new(live: Option<&'l LiveFolders>) -> Believer<'l> {
        Believer { live, opened: Vec::new() }
    }

    /// Opens a file of a walk, which was found as `stat`, if a look may tell more than is known.
    pub(super) fn look(&mut self, file: &mut Candidate, stat: Stat) {
        if self.live.is_none() || file.belief != Some(Belief::Unknown) {
            return;
        }
        let opened =
            file.folder.handle().and_then(|folder| resolve::open_as_found(folder, file.name(), stat));
        if let Some((place, opened)) = file.place.take().zip(opened.ok()) {
            self.opened.push((place, opened));
        }
        if self.opened.len() >= TOGETHER {
            self.end();
        }
    }

    /// Believes those that were opened.
    pub(super) fn end(&mut self) {
        if let Some(live) = self.live.filter(|_| !self.opened.is_empty()) {
            believe(live, std::mem::take(&mut self.opened));
        }
    }
}
