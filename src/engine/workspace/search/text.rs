//! Opens a file that is to be searched, and reads it: a small one into a buffer, a large one into a map.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::source::Candidate;
use crate::workspace::found::Want;
use crate::workspace::read::{Cacheable, Effort};
use crate::workspace::{ATTEMPTS, Workspace};
use folder::fs::lost::is_lost;
use folder::fs::version::FileStamp;
use folder::fs::view::{FileView, OpenFile};
use folder::fs::{file_system, resolve};
use folder::{Control, EntryKind, FilePath, Result, WalkOptions, WalkStep, is_no_room};
use sys::fs::FileExt;
use sys::fs::Stat;
use sys::io::Errno;
use text::lines::BOM;

/// Up to this many bytes are read into the buffer of the thread, which is faster than a map.
const MAX_COPY: usize = 1 << 20;

/// Entries of a folder whose search is soon over.
const FEW_ENTRIES: usize = 500;

/// How long a search waits before it asks again whether there is room for a large file.
const ROOM_PAUSE: Duration = Duration::from_millis(10);

/// A text with a NUL in its first bytes is no text.
const BINARY_WITHIN: usize = 64 << 10;

/// A file that was opened for a search.
pub(super) enum Opened {
    /// All of it is in the buffer of the thread.
    Copied(OpenedText),
    /// It is mapped, and no byte was looked at.
    Mapped(OpenedText, Arc<FileView>),
    /// It cannot be read.
    Unreadable,
    /// There is no such file any more.
    Gone,
}

/// What is known of an opened file.
pub(super) struct OpenedText {
    pub(super) stamp: FileStamp,
    /// Whether what is found out of it may be kept for its stamp.
    pub(super) keep: Cacheable,
    /// Other programs kept writing to it while it was read.
    pub(super) is_changing: bool,
}

/// What the beginning of a file tells of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// It may be text, which starts at this byte.
    Text(usize),
    /// It is no text.
    Binary,
}

impl Beginning {
    pub(super) fn of(bytes: &[u8]) -> Beginning {
        if memchr::memchr(0, &bytes[..bytes.len().min(BINARY_WITHIN)]).is_some() {
            return Beginning::Binary;
        }
        Beginning::Text(if bytes.starts_with(BOM) { BOM.len() } else { 0 })
    }
}

impl Workspace {
    /// The kind of what the path leads to, if its search is soon over: a small file, or a folder with few
    /// entries below it, whose files are small together.
    pub fn small_search(&self, path: &FilePath, control: &Control) -> Option<EntryKind> {
        let stat = self.find_entry(path, Want::Entry, control).ok()?.place.stat?;
        let is_small = match EntryKind::of_mode(stat.st_mode) {
            EntryKind::File => stat.st_size <= MAX_COPY as i64,
            EntryKind::Folder if !switches::is_off("small-folder-apart") => {
                self.is_small_folder(path, control).unwrap_or(false)
            }
            _ => false,
        };
        is_small.then(|| EntryKind::of_mode(stat.st_mode))
    }

    /// Whether the file at `path`, of any size, can be read and begins as a text does.
    pub fn begins_as_text(&self, path: &FilePath, control: &Control) -> bool {
        let file = || self.open_place(&self.find(path, control)?.place, path.sent(), control);
        let Ok(Some(file)) = file() else { return false };
        let beginning = 0..file.len_bytes().min(BINARY_WITHIN);
        file.view(beginning).is_ok_and(|view| Beginning::of(view.bytes()) != Beginning::Binary)
    }

    fn is_small_folder(&self, path: &FilePath, control: &Control) -> Result<bool> {
        let mut walk = self.walk(path, WalkOptions::default(), control)?;
        let (mut entries, mut bytes) = (0, 0);
        while let Some(step) = walk.next_step()? {
            entries += 1;
            if matches!(step, WalkStep::Entry(entry) if entry.kind == EntryKind::File) {
                bytes += walk.stat().ok().flatten().map_or(0, |stat| stat.st_size);
            }
            if entries > FEW_ENTRIES || bytes > MAX_COPY as i64 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens and reads a file, which was found as `stat`. A small one is in the first bytes of `buffer` then.
    pub(super) fn open_for_search(
        &self,
        candidate: &Candidate,
        mut stat: Stat,
        buffer: &mut Vec<u8>,
        control: &Control,
    ) -> Result<Opened> {
        for attempt in 1..=ATTEMPTS {
            let is_last = attempt == ATTEMPTS;
            let opened = candidate
                .folder
                .handle()
                .and_then(|folder| resolve::open_as_found(folder, candidate.name(), stat));
            match opened {
                Ok(file) => {
                    if let Some(opened) = self.read_for_search(candidate, file, is_last, buffer, control)? {
                        return Ok(opened);
                    }
                }
                // Another program or machine may have put another file in its place: that one is looked for.
                Err(Errno::NOENT) if !switches::is_off("search-opens-again") && !is_last => {}
                Err(errno)
                    if !switches::is_off("search-stale")
                        && !is_last
                        && is_lost(&errno.into(), candidate.is_local()) => {}
                Err(_) if matches!(candidate.stat(), Ok(None)) => return Ok(Opened::Gone),
                Err(_) => return Ok(Opened::Unreadable),
            }
            match candidate.stat() {
                Ok(Some(now)) => stat = now,
                Ok(None) => return Ok(Opened::Gone),
                Err(_) => return Ok(Opened::Unreadable),
            }
            control.check()?;
        }
        Ok(Opened::Unreadable)
    }

    /// Reads an opened file. `None` if it is to be opened again, because it was changed or the file system has lost it.
    fn read_for_search(
        &self,
        candidate: &Candidate,
        file: OpenFile,
        is_last: bool,
        buffer: &mut Vec<u8>,
        control: &Control,
    ) -> Result<Option<Opened>> {
        let system = candidate.system(file.stamp().dev).unwrap_or_else(|| file_system::of(file.file()));
        let keep = self.before_reading(&file, Effort::Count(system, control))?.unwrap_or(Cacheable::No);
        let len = file.len_bytes();
        if len == 0 && file.hides_its_size().unwrap_or(true) {
            return Ok(Some(Opened::Unreadable));
        }
        let text = |is_changing| OpenedText { stamp: *file.stamp(), keep, is_changing };
        if len > MAX_COPY {
            if !file.unchanged() {
                return Ok(None);
            }
            let (text, file) = (text(is_last), Arc::new(file));
            return Ok(Some(loop {
                match file.clone().view(0..len) {
                    Ok(view) => break Opened::Mapped(text, Arc::new(view)),
                    Err(error) if is_no_room(&error) => control.check()?,
                    Err(_) => break Opened::Unreadable,
                }
                thread::sleep(ROOM_PAUSE);
            }));
        }
        Ok(match read(file.file(), buffer, 0..len) {
            Ok(()) if file.unchanged() => Some(Opened::Copied(text(false))),
            Ok(()) if is_last => Some(Opened::Copied(text(true))),
            Ok(()) => None,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) if !is_last && is_lost(&error, file_system::is_local(file.file())) => None,
            Err(_) => Some(Opened::Unreadable),
        })
    }
}

/// Reads the bytes `place` of a file into the beginning of `buffer`.
fn read(file: &File, buffer: &mut Vec<u8>, place: Range<usize>) -> io::Result<()> {
    if buffer.len() < place.len() {
        buffer.resize(place.len(), 0);
    }
    file.read_exact_at(&mut buffer[..place.len()], place.start as u64)
}

impl OpenedText {
    /// Number of bytes of the file.
    pub(super) fn len(&self) -> usize {
        self.stamp.len as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nul_in_the_first_bytes_makes_a_file_binary_and_a_mark_is_no_text() {
        assert_eq!(Beginning::of(b"a\0b"), Beginning::Binary);
        assert_eq!(Beginning::of(b"\xEF\xBB\xBFa"), Beginning::Text(3));
        let mut long = vec![b'a'; BINARY_WITHIN + 1];
        long[BINARY_WITHIN] = 0;
        assert_eq!(Beginning::of(&long), Beginning::Text(0));
        long[BINARY_WITHIN - 1] = 0;
        assert_eq!(Beginning::of(&long), Beginning::Binary);
    }
}
