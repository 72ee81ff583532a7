//! Appends records to the file of a filter store, and compacts it.
//!
//! Writers take the lock of the file. What a dead writer left behind the last whole record is cut off. A file with
//! foreign bytes, or with more old records than others, is replaced by a new one. Nothing is flushed: after a crash of
//! the machine the file is not read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::FilterStore;
use super::mapped::Extent;
use super::records::{FilterRecords, RecordsTail};
use folder::Control;
use folder::fs::lock::{Locked, Locks, PathLock};
use folder::fs::version::FileStamp;
use search::FileFilter;
use sys::fs::FileExt;

/// Records of this many bytes are appended together.
const BATCH: usize = 64 << 10;

/// How long a writer waits for the lock of the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// Attempts on a file that other servers keep replacing.
const ATTEMPTS: usize = 8;

/// Collects records, and appends them together; the last ones when it is dropped.
#[derive(Debug)]
pub(crate) struct Writer<'s> {
    store: &'s FilterStore,
    locks: &'s Locks,
    control: &'s Control,
    pending: Vec<u8>,
    /// Nothing more can be appended.
    is_full: bool,
}

/// Whether records were appended.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Appended,
    /// There is no room for more.
    Full,
}

impl<'s> Writer<'s> {
    pub(crate) fn new(store: &'s FilterStore, locks: &'s Locks, control: &'s Control) -> Writer<'s> {
        Writer { store, locks, control, pending: Vec::new(), is_full: false }
    }

    /// Adds the filter of the file in this state. Its absolute path only serves to notice later that it is gone.
    pub(crate) fn add(&mut self, stamp: &FileStamp, path: &Path, filter: &FileFilter) {
        if self.is_full || filter.is_empty() || filter.len_bytes() != stamp.len {
            return;
        }
        self.pending.extend(FilterRecords::record(stamp, path, filter).unwrap_or_default());
        if self.pending.len() >= BATCH {
            self.flush();
        }
    }

    /// Whether nothing more can be appended: the file has its largest size, or cannot be written.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Appends what was added so far.
    pub(super) fn flush(&mut self) {
        let records = std::mem::take(&mut self.pending);
        if records.is_empty() || self.is_full {
            return;
        }
        match self.store.append(&records, self.locks, self.control) {
            Ok(Outcome::Appended) => {}
            Ok(Outcome::Full) => self.is_full = true,
            Err(error) => {
                self.is_full = true;
                self.store.report(&error);
            }
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

impl FilterStore {
    fn append(&self, records: &[u8], locks: &Locks, control: &Control) -> io::Result<Outcome> {
        for _ in 0..ATTEMPTS {
            let file = self.folder.open_or_make(&self.name)?;
            let Some(_lock) = lock(&file, locks, control)? else { continue };
            // Another server may have replaced the file before we got the lock.
            if !self.folder.names(&self.name, &file) {
                continue;
            }
            if !self.refresh(control) {
                return Ok(Outcome::Full);
            }
            let extent = self.mapped().as_ref().filter(|mapped| mapped.is_of(&file)).map(|map| map.extent());
            let Some(extent) = extent else { continue };
            let len = extent.end + records.len() as u64;
            if self.is_worth_compacting(&extent, len) {
                self.compact()?;
                continue;
            }
            if extent.is_full || extent.tail == RecordsTail::Unread || len > self.bounds.max {
                return Ok(Outcome::Full);
            }
            return append_at(&file, &extent, records).map(|()| Outcome::Appended);
        }
        Err(io::Error::other("other programs keep replacing it"))
    }

    /// Whether the file is to be compacted before it gets this length. A file that has doubled may hold more old records
    /// than others.
    fn is_worth_compacting(&self, extent: &Extent, len: u64) -> bool {
        let grown = extent.end.saturating_sub(extent.compacted);
        let is_too_long = (extent.is_full || len > self.bounds.max) && grown > self.bounds.max / 8;
        let has_grown =
            !switches::is_off("filter-disk-compaction") && grown > extent.compacted.max(self.bounds.slack);
        extent.tail == RecordsTail::Foreign || is_too_long || has_grown
    }

    /// Puts a new file in the place of the old one, with its records for files that are still as they were.
    fn compact(&self) -> io::Result<()> {
        let Some((view, places)) = self.mapped().as_ref().map(|mapped| mapped.places()) else {
            return Ok(());
        };
        self.folder.replace(&self.name, |file| {
            let mut written = FilterRecords::start(0).len() as u64;
            let mut out = BufWriter::with_capacity(BATCH, &*file);
            out.write_all(&FilterRecords::start(0))?;
            for record in places.into_iter().filter_map(|at| FilterRecords::live(view.bytes(), at, is_there))
            {
                out.write_all(record)?;
                written += record.len() as u64;
            }
            out.flush()?;
            drop(out);
            file.write_all_at(&FilterRecords::start(written), 0)
        })
    }
}

/// Whether the file at this path is in this state.
fn is_there(path: &Path, stamp: &FileStamp) -> bool {
    sys::fs::lstat(path).is_ok_and(|stat| FileStamp::of(&stat) == *stamp)
}

/// Takes the lock of `file`. `None`: open it again.
fn lock(file: &File, locks: &Locks, control: &Control) -> io::Result<Option<PathLock>> {
    let stat = sys::fs::fstat(file)?;
    let until = Instant::now() + PATIENCE;
    match locks.lock(file, (stat.st_dev, stat.st_ino), until, control) {
        Ok(Ok(Locked::Held(lock))) => Ok(Some(lock)),
        Ok(Ok(Locked::StartOver)) => Ok(None),
        Ok(Err(error)) => Err(error),
        Ok(Ok(Locked::TooLate)) | Err(_) => Err(io::Error::other("another program has locked it")),
    }
}

/// Writes records behind the last one, in the place of a torn one.
fn append_at(file: &File, extent: &Extent, records: &[u8]) -> io::Result<()> {
    if !switches::is_off("filter-disk-torn") && extent.tail == RecordsTail::Torn {
        file.set_len(extent.end)?;
    }
    let start = FilterRecords::start(0);
    let bytes = if extent.end == 0 { [&start, records].concat() } else { records.to_vec() };
    file.write_all_at(&bytes, extent.end).inspect_err(|_| {
        // The disk may be full.
        let _ = file.set_len(extent.end);
    })
}
