//! The journal (contract 20): what was changed in the served folders, on disk, shared by all servers of a user.
//!
//! A change that is being made is a locked file in `open`. Where its lock is free, its writer is dead, and the change has to be completed
//! or taken back. Knows not how. Each served folder has a folder of its own, named by the hash of its path; a change that is done is a
//! file in `done` there, whose name is its number. The folders are made with the first change.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use folder::fs::private::PrivateFolder;
use journal::{Change, Unreadable};
use sys::ffi::OsStrExt;

use self::flusher::Flusher;
use self::folder_log::{FolderLog, LARGEST_NUMBER, name_of};
use self::journal_folder::JournalFolder;
use self::looks::Looks;
pub use self::lost::others_behind;
pub use self::open_change::OpenChange;
pub use self::undone::UndoTurn;
pub use self::unrecorded::Unrecorded;

mod flusher;
mod folder_log;
mod journal_folder;
mod looks;
mod lost;
mod open_change;
mod undone;
mod unrecorded;

/// Files of so many bytes are read also where the journal may not be as large.
const LEAST_READ: u64 = 256 << 20;

/// The file with the last number that was given.
const LAST: &str = "last";

/// The folder of the changes that are being made.
const OPEN: &str = "open";

/// How the name of a change ends that is damaged.
const DAMAGED: &str = ".damaged";

/// The number of a change: it grows with each one.
pub type ChangeNumber = u64;

/// See the module.
#[derive(Debug)]
pub struct ChangeLog {
    folders: Vec<Arc<FolderLog>>,
    /// How many bytes of each folder's changes are kept.
    max_bytes: u64,
    folder: JournalFolder,
    /// The changes that are being made.
    open: JournalFolder,
    looks: Looks,
    flusher: Flusher,
    /// The last number that this server gave.
    last: Mutex<ChangeNumber>,
    unrecorded: Mutex<Vec<Unrecorded>>,
    /// When the server started, in milliseconds since 1970.
    started_ms: u64,
}

impl ChangeLog {
    /// The journal in the folder at `path`, of the folders `served`.
    pub fn new<'p>(path: &Path, served: impl Iterator<Item = &'p Path>, max_bytes: u64) -> ChangeLog {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ChangeLog {
            folders: served.map(|served| FolderLog::new(path, served.as_os_str().as_bytes())).collect(),
            max_bytes,
            folder: JournalFolder::new(path.into()),
            open: JournalFolder::new(path.join(OPEN)),
            looks: Looks::default(),
            flusher: Flusher::default(),
            last: Mutex::default(),
            unrecorded: Mutex::default(),
            started_ms: now.as_millis() as u64,
        }
    }

    /// When the server started, in milliseconds since 1970.
    pub fn started_ms(&self) -> u64 {
        self.started_ms
    }

    /// A number that no change has, in the journals of all served folders. All servers take them from one file. `known`: one that was
    /// given, though the file does not say so.
    fn next_number(&self, known: ChangeNumber) -> io::Result<ChangeNumber> {
        let file = self.folder.make()?.open_or_make(LAST.as_ref())?;
        sys::fs::lock_exclusive(&file)?;
        let mut text = String::new();
        let _ = (&file).take(32).read_to_string(&mut text);
        let last = match text.trim().parse() {
            Ok(last) if last < LARGEST_NUMBER => last,
            // Whatever it holds, numbers go on behind those that are there.
            _ => self.numbers()?.last().copied().unwrap_or(0),
        };
        // Also where the journal was removed meanwhile.
        let next = known.max(last).max(*held(&self.last)) + 1;
        rewrite(&file, next.to_string().as_bytes(), text.len() as u64)?;
        Ok(next)
    }

    /// How many bytes of changes are kept of one folder.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// The numbers of all changes that are kept, in order.
    pub fn numbers(&self) -> io::Result<Vec<ChangeNumber>> {
        let mut numbers = Vec::new();
        for folder in &self.folders {
            numbers.extend(folder.numbers()?);
        }
        numbers.sort_unstable();
        // Changes of several folders are kept for each.
        numbers.dedup();
        Ok(numbers)
    }

    /// The change of this number. `None` if it is not kept; one that is damaged is set aside.
    pub fn read(&self, number: ChangeNumber) -> io::Result<Option<Change>> {
        let name = name_of(number);
        for folder in &self.folders {
            let Some(done) = folder.done.known()? else { continue };
            match done.read_file(&name).and_then(|file| file.map(|file| self.read_file(file)).transpose()) {
                Ok(None) => {}
                Ok(Some(Ok(change))) => return Ok(Some(change)),
                Ok(Some(Err(Unreadable::OtherFormat))) => {}
                Ok(Some(Err(Unreadable::Damaged))) => set_aside(&done, &name, &folder.path),
                // Whatever it is, it stops nothing.
                Err(error) => warn(&folder.path, &name, &error),
            }
        }
        Ok(None)
    }

    /// Reads a file of the journal.
    fn read_file(&self, file: File) -> io::Result<Result<Change, Unreadable>> {
        let most = self.max_bytes.max(LEAST_READ);
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        Ok(if bytes.len() as u64 > most { Err(Unreadable::Damaged) } else { Change::from_bytes(&bytes) })
    }
}

fn warn(path: &Path, name: &OsStr, error: &io::Error) {
    let (path, name) = (path.display(), name.display());
    tracing::warn!("--journal: {name} in {path} is left out: {error}");
}

/// Writes all that a file is to hold, in the place of the `len` bytes that it had. It is never cut to nothing first: some file systems
/// flush such a file when it is closed.
fn rewrite(mut file: &File, bytes: &[u8], len: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    if (bytes.len() as u64) < len { file.set_len(bytes.len() as u64) } else { Ok(()) }
}

/// Gives a change that cannot be read another name, under which it is no change.
fn set_aside(done: &PrivateFolder, name: &OsStr, path: &Path) {
    let mut aside = name.to_owned();
    aside.push(DAMAGED);
    let renamed = done.rename_to_free(name, done, &aside);
    let (path, name) = (path.display(), name.display());
    match renamed {
        Ok(_) => tracing::warn!("--journal: {name} in {path} is damaged, and was set aside"),
        Err(error) => tracing::warn!("--journal: {name} in {path} is damaged: {error}"),
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
