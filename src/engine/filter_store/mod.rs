//! Filters of files on disk (`--filter-dir`), in one file that all servers of a user share.
//!
//! The file is mapped for reading and only appended to, under its lock (`writer.rs`). A search looks at its length once,
//! and so knows what other servers have appended. Knows neither patterns nor how a filter is made.
//!
//! # Why a filter from disk is true
//!
//! A record is written only for a stamp that belongs to the text permanently, by the rule of all caches (`writers.rs`):
//! no program had the file open for writing, and the clock had advanced since its last change. Every later write then
//! changes the stamp: also one through a map, because a map for writing needs an open file, and its first write to a page
//! sets the times. So a record stays true after the end of its server, whatever programs do meanwhile. Four things could
//! break that, which a cache in memory does not meet:
//!
//! - **A crash of the machine.** A file system may have written new bytes of a file, but not yet its new times: after a
//!   loss of power, the old stamp may stand over new bytes. So the name of the file contains the identity of this run of
//!   the kernel (its boot id), and files of other runs are removed unread. With that, device numbers are those of this
//!   kernel, and folders that two machines share do no harm.
//! - **Damage of the file**, also by a server that was killed while it wrote. Each header and each record has a checksum,
//!   which is compared on a copy of the bytes. What does not match is no filter, and the text is read.
//! - **Foreign records.** Only this user may write to the file and its folder, and no client can: the folder lies
//!   outside all served folders. A program of this user could forge a record; it could as well change the text.
//! - **A file system that is exchanged under its device number** while the machine runs. The stamp then also contains
//!   inode, length and both times to the nanosecond, so another file is taken for it only if it is a copy below the file
//!   system, as of a disk image. Who changes a file system that is not mounted, pulls out its disk while a file is
//!   written, or sets the clock so that a change gets the very time of an earlier one, must remove the folder of the
//!   filters. (The last two hold for the caches in memory as well.)

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use self::mapped::Mapped;
pub use self::records::{FilterRecords, RecordsTail};
pub(crate) use self::writer::Writer;
use folder::Control;
use folder::fs::private::PrivateFolder;
use folder::fs::version::FileStamp;
use search::FileFilter;

mod mapped;
mod records;
mod writer;

/// How the names of files begin.
const PREFIX: &str = "filters-";

/// See the module.
#[derive(Debug)]
pub(crate) struct FilterStore {
    folder: PrivateFolder,
    path: PathBuf,
    /// The name of the file in the folder.
    name: OsString,
    mapped: Mutex<Option<Mapped>>,
    /// Why the file was not used, as it was last logged.
    problem: Mutex<Option<String>>,
    bounds: Bounds,
}

/// How large the file may become, in bytes.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// Nothing is appended beyond it: the filters of about 35 GB of text.
    max: u64,
    /// A file that has grown by less is not compacted.
    slack: u64,
}

impl FilterStore {
    /// Opens the store in the folder at `path`, which must not lie in one of the folders `served`. Makes the folder if it is
    /// missing. The error says why it cannot be used.
    pub(crate) fn open<'p>(
        path: &Path,
        served: impl Iterator<Item = &'p Path> + Clone,
    ) -> io::Result<FilterStore> {
        let boot = sys::param::boot_id()?;
        let folder = PrivateFolder::open(path, served)?;
        folder.remove(|name| name.starts_with(PREFIX.as_bytes()) && !name.ends_with(boot.as_bytes()))?;
        let name = format!("{PREFIX}{}-{boot}", FilterRecords::FORMAT);
        Ok(FilterStore {
            folder,
            path: path.join(&name),
            name: name.into(),
            mapped: Mutex::default(),
            problem: Mutex::default(),
            bounds: Bounds { max: 1 << 30, slack: 4 << 20 },
        })
    }

    /// Takes note of what was appended since the last call. Returns whether all of it is known now.
    pub(crate) fn refresh(&self, control: &Control) -> bool {
        loop {
            match self.read_more() {
                Ok(true) if control.check().is_ok() => {}
                Ok(may_be_more) => return !may_be_more,
                Err(error) => {
                    *self.mapped() = None;
                    self.report(&error);
                    return false;
                }
            }
        }
    }

    /// Reads the headers of some records that are not known. Returns whether there may be more.
    fn read_more(&self) -> io::Result<bool> {
        let mut mapped = self.mapped();
        let again = mapped.take().map_or(Ok(None), Mapped::again)?;
        *mapped = match again {
            Some(known) => Some(known),
            None => self.folder.open_file(&self.name)?.map(Mapped::new).transpose()?,
        };
        Ok(mapped.as_mut().is_some_and(Mapped::read_more))
    }

    /// The filter of the file in this state, if one was known at the last [`FilterStore::refresh`].
    pub(crate) fn get(&self, stamp: &FileStamp) -> Option<FileFilter> {
        let (view, place) = self.mapped().as_ref()?.place(stamp)?;
        // Without the mutex, because a map may wait for the disk.
        let filter = FilterRecords::filter(view.bytes(), place, stamp);
        if filter.is_none() && FilterRecords::is_of(view.bytes(), place, stamp) {
            // Damaged: another one may be made.
            self.mapped().iter_mut().for_each(|mapped| mapped.forget(stamp, place));
        }
        filter
    }

    /// Whether there seems to be a filter of the file in this state. It is not checked.
    pub(crate) fn has(&self, stamp: &FileStamp) -> bool {
        let place = self.mapped().as_ref().and_then(|mapped| mapped.place(stamp));
        place.is_some_and(|(view, place)| FilterRecords::is_of(view.bytes(), place, stamp))
    }

    /// Logs why the file is not used, unless that was logged last.
    fn report(&self, error: &io::Error) {
        let now = error.to_string();
        let mut problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if problem.as_ref() != Some(&now) {
            let file = self.path.display();
            tracing::warn!("--filter-dir: {file} is not used: {now}");
            *problem = Some(now);
        }
    }

    fn mapped(&self) -> MutexGuard<'_, Option<Mapped>> {
        // Every critical section leaves a map that is consistent, or none.
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
