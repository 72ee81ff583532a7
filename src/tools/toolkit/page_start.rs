//! Where the page of an analysis begins.

use crate::tools::arguments::Natural;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageStart {
    /// Entries that the call leaves out first.
    pub(super) offset: usize,
    /// Whether entries are shown. Where the time was up, the list is of a part: behind an offset it has other entries than the list of
    /// all, so none is shown.
    pub(super) shows_entries: bool,
}

impl PageStart {
    /// The start of a page of a call with this offset; `is_late`: the list is of a part.
    pub(super) fn new(offset: Option<Natural>, is_late: bool) -> PageStart {
        let offset = offset.map_or(0, |offset| usize::try_from(offset.0).unwrap_or(usize::MAX));
        PageStart { offset, shows_entries: offset == 0 || !is_late }
    }

    /// Entries that are not shown before the first that is.
    pub(super) fn skipped(self) -> usize {
        if self.shows_entries { self.offset } else { usize::MAX }
    }
}
