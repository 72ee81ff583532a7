//! Looks again, in the background, at files that are believed: for writes that nobody is told of, and after doubts of all files at once.
//!
//! Whatever a program does with a file by another name changes its times or its number of names: a look at these is enough, where no
//! event has told of the file itself.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Live;
use super::stamps::Doubtful;
use super::tree::Kept;
use crate::fs::version::FileStamp;
use sys::fd::OwnedFd;
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, FileType, Mode, OFlags};
use sys::io::Errno;
use sys::watch::{FolderId, folder_id};

/// How long after the last walk files are looked at again. Later, the next walk does it.
const IN_USE: Duration = Duration::from_secs(600);

impl<K: Kept> Live<K> {
    /// Whether files are to be looked at again, so that they are believed further on.
    pub fn wants_check(&self) -> bool {
        let (state, now) = (&mut *self.lock(), Instant::now());
        state.catch_up();
        let is_in_use = state.walked.is_some_and(|walked| now.saturating_duration_since(walked) < IN_USE);
        is_in_use && state.contents.has_doubtful(now)
    }

    /// Looks at them, folder by folder, as long as `goes_on` says so.
    pub fn check(&self, mut goes_on: impl FnMut() -> bool) {
        let doubtful = {
            let state = &mut *self.lock();
            state.catch_up();
            state.contents.doubtful(Instant::now())
        };
        for folder in doubtful {
            if !goes_on() {
                return;
            }
            let (place, doubtful) = {
                let state = &mut *self.lock();
                // What was told before the looks is known before them.
                state.catch_up();
                let Some(doubtful) = state.contents.doubt_of(folder) else { continue };
                (state.tree.place(folder), doubtful)
            };
            let at = Instant::now();
            let changed = place.ok_or(Errno::NOENT).and_then(open).map(|opened| changed(&opened, &doubtful));
            self.lock().contents.checked(folder, &doubtful, changed.ok(), at);
        }
    }
}

/// The numbers of the files that are not as they were.
fn changed<K: Kept>(folder: &OwnedFd, doubtful: &Doubtful<K>) -> Vec<usize> {
    let is_same = |number: &usize| {
        let Some((name, stamp)) = doubtful.names.name(*number).zip(doubtful.stamps.believed(*number)) else {
            return true;
        };
        let found = sys::fs::statat(folder, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|stat| {
            let is_file = sys::fs::file_type(stat.st_mode) == FileType::RegularFile;
            is_file && stat.st_nlink == 1 && FileStamp::of(&stat) == stamp || switches::is_off("live-check")
        })
    };
    (0..doubtful.names.entries()).filter(|number| !is_same(number)).collect()
}

/// Opens a folder where it was when it was entered.
pub(super) fn open((top, path, id): (Arc<OwnedFd>, PathBuf, FolderId)) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match path.as_os_str().is_empty() {
        true => sys::fs::openat(&top, ".", flags, Mode::empty())?,
        false => sys::fs::open_beneath(&top, &path, flags)?,
    };
    if folder_id(&opened) == Some(id) { Ok(opened) } else { Err(Errno::NOENT) }
}
