//! The file of a filter store in one length, mapped, and where its records are.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::records::{FilterRecords, RecordsTail};
use folder::fs::version::FileStamp;
use folder::fs::view::{FileView, OpenFile};

/// How many headers are read before the time is looked at, and other searches may go on.
const HEADERS_AT_ONCE: usize = 512;

/// See the module.
#[derive(Debug)]
pub(super) struct Mapped {
    view: Arc<FileView>,
    records: FilterRecords,
}

/// How far the records of a file go, and what is behind them.
pub(super) struct Extent {
    pub(super) end: u64,
    pub(super) tail: RecordsTail,
    /// The length of the file after it was last compacted.
    pub(super) compacted: u64,
    /// No further record would be read.
    pub(super) is_full: bool,
}

impl Mapped {
    pub(super) fn new(file: File) -> io::Result<Mapped> {
        Ok(Mapped { view: map(file)?, records: FilterRecords::default() })
    }

    /// The same file as it is now. `None`: it was replaced, or cut off.
    pub(super) fn again(mut self) -> io::Result<Option<Mapped>> {
        let known = self.view.file();
        let stat = sys::fs::fstat(known.file())?;
        let now = FileStamp::of(&stat);
        if stat.st_nlink == 0 || now.len < known.stamp().len || self.view.has_hole() {
            return Ok(None);
        }
        if now != *known.stamp() {
            let file = known.file().try_clone()?;
            self.view = map(file)?;
        }
        Ok(Some(self))
    }

    /// Reads the headers of some records that are not known. Returns whether there may be more.
    pub(super) fn read_more(&mut self) -> bool {
        self.records.read(self.view.bytes(), HEADERS_AT_ONCE)
    }

    /// The map, and where in it the last record of a file is, in whatever state.
    pub(super) fn place(&self, stamp: &FileStamp) -> Option<(Arc<FileView>, usize)> {
        Some((self.view.clone(), self.records.place(stamp)?))
    }

    /// See [`FilterRecords::forget`].
    pub(super) fn forget(&mut self, stamp: &FileStamp, place: usize) {
        self.records.forget(stamp, place);
    }

    /// Whether this is a map of `file`.
    pub(super) fn is_of(&self, file: &File) -> bool {
        sys::fs::fstat(file).is_ok_and(|stat| self.view.file().stamp().same_file(&FileStamp::of(&stat)))
    }

    pub(super) fn extent(&self) -> Extent {
        Extent {
            end: self.records.end() as u64,
            tail: self.records.tail(self.view.bytes()),
            compacted: self.records.compacted(),
            is_full: self.records.is_full(),
        }
    }

    /// The map, and where in it the last records of all files are.
    pub(super) fn places(&self) -> (Arc<FileView>, Vec<usize>) {
        (self.view.clone(), self.records.places())
    }
}

fn map(file: File) -> io::Result<Arc<FileView>> {
    let stat = sys::fs::fstat(&file)?;
    let file = Arc::new(OpenFile::new(file, stat));
    let len = file.len_bytes();
    file.view(0..len).map(Arc::new)
}
