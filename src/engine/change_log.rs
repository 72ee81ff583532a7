//! The journal (contract 20): what was changed in the served folders, on disk, shared by all servers of a user.
//!
//! A change that is being made is a locked file in `open`. Where its lock is free, its writer is dead, and the change has to be completed
//! or taken back. Knows not how. Each served folder has a folder of its own, named by the hash of its path; a change that is done is a
//! file in `done` there, whose name is its number. The folders are made with the first change.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use folder::fs::leftovers::REPAIRED_WITHIN;
use folder::fs::private::PrivateFolder;
use journal::{Change, Unreadable};
use sys::ffi::OsStrExt;

use self::flusher::Flusher;
use self::looks::Looks;

mod flusher;
mod looks;
mod undone;

/// The most changes that are kept of one folder.
const MAX_CHANGES: usize = 50_000;

/// Files of so many bytes are read also where the journal may not be as large.
const LEAST_READ: u64 = 256 << 20;

/// The file with the last number that was given.
const LAST: &str = "last";

/// The folder of the changes that are being made.
const OPEN: &str = "open";

/// The folder of the changes of one served folder that are done.
const DONE: &str = "done";

/// Digits of the name of a change that is done.
const DIGITS: usize = 12;

/// The number of a change: it grows with each one.
pub type ChangeNumber = u64;

/// See the module.
#[derive(Debug)]
pub struct ChangeLog {
    path: PathBuf,
    folders: Vec<Arc<FolderLog>>,
    /// How many bytes of each folder's changes are kept.
    max_bytes: u64,
    folder: OnceLock<PrivateFolder>,
    /// The changes that are being made.
    open: OnceLock<PrivateFolder>,
    looks: Looks,
    flusher: Flusher,
    /// When the server started, in milliseconds since 1970.
    started_ms: u64,
}

/// The changes of one served folder that are done.
#[derive(Debug)]
struct FolderLog {
    path: PathBuf,
    done: OnceLock<PrivateFolder>,
    /// Bytes of all changes, as far as this process knows.
    bytes: Mutex<Option<u64>>,
}

/// A change that is being made. Dropping it removes it.
#[derive(Debug)]
pub struct OpenChange<'l> {
    log: &'l ChangeLog,
    /// Where it will be when it is done.
    folder: Arc<FolderLog>,
    name: OsString,
    file: Arc<File>,
    len: u64,
    is_kept: bool,
}

impl ChangeLog {
    /// The journal in the folder at `path`, of the folders `served`.
    pub fn new<'p>(path: &Path, served: impl Iterator<Item = &'p Path>, max_bytes: u64) -> ChangeLog {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        ChangeLog {
            path: path.into(),
            folders: served.map(|served| FolderLog::new(path, served.as_os_str().as_bytes())).collect(),
            max_bytes,
            folder: OnceLock::new(),
            open: OnceLock::new(),
            looks: Looks::default(),
            flusher: Flusher::default(),
            started_ms: now.as_millis() as u64,
        }
    }

    /// When the server started, in milliseconds since 1970.
    pub fn started_ms(&self) -> u64 {
        self.started_ms
    }

    /// The last changes, in order: all behind the last one that is not `wanted`.
    pub fn since(
        &self,
        wanted: impl Fn(ChangeNumber, &Change) -> bool,
    ) -> io::Result<Vec<(ChangeNumber, Change)>> {
        let mut changes = Vec::new();
        for number in self.numbers()?.into_iter().rev() {
            match self.read(number)? {
                Some(change) if wanted(number, &change) => changes.push((number, change)),
                Some(_) => break,
                None => {}
            }
        }
        changes.reverse();
        Ok(changes)
    }

    /// A number that no change has, in the journals of all served folders. All servers take them from one file. `known`: one that was
    /// given, though the file does not say so.
    fn next_number(&self, known: ChangeNumber) -> io::Result<ChangeNumber> {
        let file = self.folder()?.open_or_make(LAST.as_ref())?;
        sys::fs::lock_exclusive(&file)?;
        let mut text = String::new();
        let _ = (&file).take(32).read_to_string(&mut text);
        let last = match text.trim().parse() {
            Ok(last) => last,
            // Whatever it holds, numbers go on behind those that are there.
            Err(_) => self.numbers()?.last().copied().unwrap_or(0),
        };
        let next = known.max(last) + 1;
        rewrite(&file, next.to_string().as_bytes(), text.len() as u64)?;
        Ok(next)
    }

    /// The folder of the whole journal.
    fn folder(&self) -> io::Result<&PrivateFolder> {
        opened(&self.folder, &self.path)
    }

    /// The folder of the changes that are being made.
    fn open(&self) -> io::Result<&PrivateFolder> {
        opened(&self.open, &self.path.join(OPEN))
    }

    /// How many bytes of changes are kept of one folder.
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Begins a change of the served folder of this number.
    pub fn begin(&self, folder: usize) -> io::Result<OpenChange<'_>> {
        let folder = self.folders.get(folder).ok_or(io::ErrorKind::NotFound)?.clone();
        // Here and not when it is done, so that what cannot be kept fails before anything changes.
        folder.done()?;
        let (name, file) = self.open()?.create(new_name)?;
        Ok(OpenChange { log: self, folder, name, file: Arc::new(file), len: 0, is_kept: false })
    }

    /// The numbers of all changes that are kept, in order.
    pub fn numbers(&self) -> io::Result<Vec<ChangeNumber>> {
        let mut numbers = Vec::new();
        for folder in self.folders.iter().filter(|folder| folder.is_there()) {
            numbers.extend(folder.numbers()?);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The change of this number. `None` if it is not kept; one that is damaged is set aside.
    pub fn read(&self, number: ChangeNumber) -> io::Result<Option<Change>> {
        for folder in self.folders.iter().filter(|folder| folder.is_there()) {
            let (done, name) = (folder.done()?, name_of(number));
            match done.open_file(&name).and_then(|file| file.map(|file| self.read_file(file)).transpose()) {
                Ok(None) => {}
                Ok(Some(Ok(change))) => return Ok(Some(change)),
                Ok(Some(Err(Unreadable::OtherFormat))) => {}
                Ok(Some(Err(Unreadable::Damaged))) => set_aside(done, &name, &folder.path),
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

    /// Whether writers may have died since the last [`ChangeLog::left_open`], or may die now. Costs one stat while nothing changes.
    pub fn may_have_left_open(&self) -> bool {
        let is_there = self.open.get().is_some() || self.path.join(OPEN).is_dir();
        is_there && self.open().is_ok_and(|open| self.looks.is_due(open))
    }

    /// The changes that dead writers have left open and that are `ours`: each with what is known of it. Without all of it, no name was
    /// changed yet, and it is removed. They are open until they are dropped, or done.
    pub fn left_open(&self, ours: impl Fn(&Change) -> bool) -> io::Result<Vec<(OpenChange<'_>, Change)>> {
        if self.open.get().is_none() && !self.path.join(OPEN).is_dir() {
            return Ok(Vec::new());
        }
        let open = self.open()?;
        let mut look = self.looks.begin(open);
        let mut left = Vec::new();
        for name in open.names_in()? {
            if look.is_of_others(&name) {
                continue;
            }
            match self.look_at(open, name.clone(), &ours) {
                Ok(Found::Left(found)) => left.push(*found),
                Ok(Found::Nothing) => {}
                Ok(Found::OfOthers) => look.note_of_others(name),
                Ok(Found::Living) => look.note_living(),
                Err(error) => warn(&self.path.join(OPEN), &name, &error),
            }
        }
        self.looks.end(look);
        Ok(left)
    }

    fn look_at(
        &self,
        open: &PrivateFolder,
        name: OsString,
        ours: impl Fn(&Change) -> bool,
    ) -> io::Result<Found<'_>> {
        let Some(file) = open.lock_if_left(&name)? else { return Ok(Found::Living) };
        if has_both_names(&file) {
            open.unlink(&name)?;
            return Ok(Found::Nothing);
        }
        let meta = file.metadata()?;
        let is_old = meta.modified()?.elapsed().is_ok_and(|age| age > REPAIRED_WITHIN);
        match self.read_file(file.try_clone()?)? {
            Ok(change) if ours(&change) => {
                let folder = self.folder_of(&change);
                let file = Arc::new(file);
                let open = OpenChange { log: self, folder, name, file, len: meta.len(), is_kept: false };
                Ok(Found::Left(Box::new((open, change))))
            }
            Ok(_) | Err(Unreadable::OtherFormat) if !is_old => Ok(Found::OfOthers),
            _ => {
                open.unlink(&name)?;
                Ok(Found::Nothing)
            }
        }
    }

    /// Where a change belongs: to the first of its served folders.
    fn folder_of(&self, change: &Change) -> Arc<FolderLog> {
        let root = change.roots.iter().find(|root| !root.is_empty()).map_or(&b""[..], Vec::as_slice);
        let folder = FolderLog::new(&self.path, root);
        self.folders.iter().find(|known| known.path == folder.path).cloned().unwrap_or(folder)
    }
}

/// What an open change is.
enum Found<'l> {
    Nothing,
    /// Of folders that this server does not serve, or in the format of another release.
    OfOthers,
    /// Its writer lives.
    Living,
    Left(Box<(OpenChange<'l>, Change)>),
}

impl OpenChange<'_> {
    /// Writes what will be changed, in the place of what was written before. With `flush`, it is on the disk then.
    pub fn write(&mut self, change: &Change, flush: bool) -> io::Result<()> {
        let bytes = change.to_bytes();
        rewrite(&self.file, &bytes, self.len)?;
        self.len = bytes.len() as u64;
        if flush {
            self.file.sync_data()?;
            self.log.open()?.flush()?;
        }
        Ok(())
    }

    /// How many bytes of changes are kept of one folder.
    pub fn max_bytes(&self) -> u64 {
        self.log.max_bytes
    }

    /// Keeps it open, for another server or a later look.
    pub fn keep(mut self) {
        self.is_kept = true;
        self.log.looks.put_off();
    }

    /// Notes that the change is done, and removes the oldest ones if there are too many. Returns its number. With `flush`, another
    /// thread flushes the record while `meanwhile` runs.
    pub fn done<T>(mut self, flush: bool, meanwhile: impl FnOnce() -> T) -> (io::Result<ChangeNumber>, T) {
        let numbered = self.give_number();
        let (flushed, done) = match flush && numbered.is_ok() {
            true => self.log.flusher.flush_beside(&self.file, meanwhile),
            false => (Ok(()), meanwhile()),
        };
        self.is_kept = numbered.is_ok();
        // What is removed too late does no harm.
        let _ = self.folder.keep_to(self.len, self.log.max_bytes);
        (numbered.and_then(|number| flushed.map(|()| number)), done)
    }

    /// Gives the change its number, by the name that it has from now on.
    fn give_number(&self) -> io::Result<ChangeNumber> {
        let (open, done) = (self.log.open()?, self.folder.done()?);
        let mut known = 0;
        loop {
            let number = self.log.next_number(known)?;
            if open.rename_to_free(&self.name, done, &name_of(number))? {
                return Ok(number);
            }
            known = self.log.numbers()?.last().copied().unwrap_or(number);
        }
    }
}

impl Drop for OpenChange<'_> {
    fn drop(&mut self) {
        if !self.is_kept
            && !folder::fs::failpoint::crashed()
            && let Ok(open) = self.log.open()
        {
            let _ = open.unlink(&self.name);
        }
    }
}

impl FolderLog {
    /// The changes of the served folder at the path `root`, in the journal at `path`.
    fn new(path: &Path, root: &[u8]) -> Arc<FolderLog> {
        let path = path.join(format!("{:016x}", journal::hash(root)));
        Arc::new(FolderLog { path, done: OnceLock::new(), bytes: Mutex::default() })
    }

    fn is_there(&self) -> bool {
        self.done.get().is_some() || self.path.join(DONE).is_dir()
    }

    fn done(&self) -> io::Result<&PrivateFolder> {
        opened(&self.done, &self.path.join(DONE))
    }

    fn numbers(&self) -> io::Result<Vec<ChangeNumber>> {
        let names = self.done()?.names_in()?;
        Ok(names.iter().filter_map(|name| number_of(name)).collect())
    }

    /// Removes the oldest changes if those that are kept have more bytes than `max`. `added`: what came since the last call.
    fn keep_to(&self, added: u64, max: u64) -> io::Result<()> {
        let mut known = held(&self.bytes);
        let estimate = known.map(|bytes| bytes + added);
        if estimate.is_some_and(|bytes| bytes <= max) {
            *known = estimate;
            return Ok(());
        }
        let done = self.done()?;
        let mut numbers = self.numbers()?;
        numbers.sort_unstable();
        let lens: Vec<u64> =
            numbers.iter().map(|number| done.len_of(&name_of(*number)).unwrap_or(0)).collect();
        let (mut bytes, mut left) = (lens.iter().sum::<u64>(), numbers.len());
        // The last one stays, so that its number is not given again.
        for (number, len) in numbers.iter().zip(lens) {
            if left <= 1 || bytes <= max && left <= MAX_CHANGES {
                break;
            }
            done.unlink(&name_of(*number))?;
            (bytes, left) = (bytes - len, left - 1);
        }
        *known = Some(bytes);
        Ok(())
    }
}

/// The folder at `path`, which is made if it is missing.
fn opened<'f>(folder: &'f OnceLock<PrivateFolder>, path: &Path) -> io::Result<&'f PrivateFolder> {
    if let Some(folder) = folder.get() {
        return Ok(folder);
    }
    let new = PrivateFolder::open(path, std::iter::empty())?;
    Ok(folder.get_or_init(|| new))
}

fn warn(path: &Path, name: &OsStr, error: &io::Error) {
    let (path, name) = (path.display(), name.display());
    tracing::warn!("--journal: {name} in {path} is left out: {error}");
}

/// The name of a change that is done.
fn name_of(number: ChangeNumber) -> OsString {
    format!("{number:0DIGITS$}").into()
}

/// The number in such a name. `None`: it is none.
fn number_of(name: &OsStr) -> Option<ChangeNumber> {
    let digits =
        name.to_str().filter(|name| name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_digit()));
    digits?.parse().ok()
}

/// The name of a change that is being made.
fn new_name() -> OsString {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}", RandomState::new().hash_one(std::process::id())).into()
}

/// Writes all that a file is to hold, in the place of the `len` bytes that it had. It is never cut to nothing first: some file systems
/// flush such a file when it is closed.
fn rewrite(mut file: &File, bytes: &[u8], len: u64) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    if (bytes.len() as u64) < len { file.set_len(bytes.len() as u64) } else { Ok(()) }
}

/// Whether a change was done and has its number: where a rename may replace something, it is linked under that, and then loses the name
/// that it had while it was open. Its writer died between the two.
fn has_both_names(file: &File) -> bool {
    sys::fs::fstat(file).is_ok_and(|stat| stat.st_nlink > 1)
}

/// Gives a change that cannot be read another name, under which it is no change.
fn set_aside(done: &PrivateFolder, name: &OsStr, path: &Path) {
    let mut aside = name.to_owned();
    aside.push(".damaged");
    let renamed = done.rename_to_free(name, done, &aside);
    let (path, name) = (path.display(), name.display());
    match renamed {
        Ok(_) => tracing::warn!("--journal: {path}/done/{name} is damaged, and was set aside"),
        Err(error) => tracing::warn!("--journal: {path}/done/{name} is damaged: {error}"),
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
