//! The changes that are being made, and what dead writers have left of them.
//!
//! Each is a locked file. From the moment when all names are changed and on the disk, its name has a mark: what has one is completed, all
//! else is taken back. Another mark says that all in it is done, as it is what could not be taken back. Knows not how.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use folder::fs::failpoint;
use folder::fs::leftovers::REPAIRED_WITHIN;
use folder::fs::private::PrivateFolder;
use journal::{Change, Unreadable};
use sys::ffi::OsStrExt;

use super::folder_log::{FolderLog, name_of};
use super::{ChangeLog, ChangeNumber, held, rewrite, set_aside, warn};

/// How the name ends from the moment when all names are changed.
const MARK: &str = "-all";

/// How it ends when a part of the change was taken back, and the file has the rest.
const REST: &str = "-rest";

/// A change that is being made. Dropping it removes it.
#[derive(Debug)]
pub struct OpenChange<'l> {
    log: &'l ChangeLog,
    /// Where it will be when it is done.
    folder: Arc<FolderLog>,
    /// Where it will be, too: it changes several served folders, and servers of each of them are to know it.
    others: Vec<Arc<FolderLog>>,
    pub(super) name: OsString,
    file: Arc<File>,
    len: u64,
    is_kept: bool,
}

/// What an open change is.
enum Found<'l> {
    /// It was never complete, so no name was changed; or it is damaged. It is gone.
    Nothing,
    /// Of folders that this server does not serve, or in the format of another release.
    OfOthers,
    /// Its writer lives.
    Living,
    Left(Box<(OpenChange<'l>, Change)>),
}

impl ChangeLog {
    /// Begins a change of the served folder of this number.
    pub fn begin(&self, folder: usize) -> io::Result<OpenChange<'_>> {
        let folder = self.folders.get(folder).ok_or(io::ErrorKind::NotFound)?.clone();
        // Here and not when it is done, so that what cannot be kept fails before anything changes.
        folder.done.make()?;
        let (name, file) = self.open.make()?.create(new_name)?;
        let (file, others) = (Arc::new(file), Vec::new());
        Ok(OpenChange { log: self, folder, others, name, file, len: 0, is_kept: false })
    }

    /// Whether writers may have died since the last [`ChangeLog::left_open`], or may die now. Costs two stats while nothing changes.
    pub fn may_have_left_open(&self) -> bool {
        matches!(self.open.look(), Ok(Some(open)) if self.looks.is_due(&open))
    }

    /// The changes that dead writers have left open and that are `ours`: each with what is known of it. Without all of it, no name was
    /// changed yet, and it is removed. They are open until they are dropped, or done.
    pub fn left_open(&self, ours: impl Fn(&Change) -> bool) -> io::Result<Vec<(OpenChange<'_>, Change)>> {
        let Some(open) = self.open.look()? else { return Ok(Vec::new()) };
        let mut look = self.looks.begin(&open);
        let mut left = Vec::new();
        for name in open.names_in()? {
            if look.is_of_others(&name) {
                continue;
            }
            match self.look_at(&open, name.clone(), &ours) {
                Ok(Found::Left(found)) => left.push(*found),
                Ok(Found::Nothing) => {}
                Ok(Found::OfOthers) => look.note_of_others(name),
                Ok(Found::Living) => look.note_living(),
                Err(error) => warn(&self.open.path, &name, &error),
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
        if !is_name(&name) {
            return Ok(Found::OfOthers);
        }
        let Some(file) = open.lock_if_left(&name)? else { return Ok(Found::Living) };
        if has_both_names(&file) || !is_rest(&name) && open.len_of(&rest_of(&name)).is_some() {
            open.unlink(&name)?;
            return Ok(Found::Nothing);
        }
        let meta = file.metadata()?;
        let is_old = meta.modified()?.elapsed().is_ok_and(|age| age > REPAIRED_WITHIN);
        match self.read_file(file.try_clone()?)? {
            Ok(change) if ours(&change) => {
                let (folder, others) = self.folders_of(&change);
                let (file, len) = (Arc::new(file), meta.len());
                let open = OpenChange { log: self, folder, others, name, file, len, is_kept: false };
                Ok(Found::Left(Box::new((open, change))))
            }
            Ok(_) | Err(Unreadable::OtherFormat) if !is_old => Ok(Found::OfOthers),
            Err(Unreadable::Damaged) if meta.len() > 0 => {
                set_aside(open, &name, &self.open.path);
                Ok(Found::Nothing)
            }
            _ => {
                open.unlink(&name)?;
                Ok(Found::Nothing)
            }
        }
    }

    /// Where a change belongs: to the first of its served folders, and to the others.
    fn folders_of(&self, change: &Change) -> (Arc<FolderLog>, Vec<Arc<FolderLog>>) {
        let folder = |root: &[u8]| {
            let folder = FolderLog::new(&self.folder.path, root);
            self.folders.iter().find(|known| known.path == folder.path).cloned().unwrap_or(folder)
        };
        let mut roots = change.roots.iter().filter(|root| !root.is_empty());
        (folder(roots.next().map_or(&b""[..], Vec::as_slice)), roots.map(|root| folder(root)).collect())
    }
}

impl OpenChange<'_> {
    /// Writes what will be changed, in the place of what was written before. With `flush`, it is on the disk then.
    pub fn write(&mut self, change: &Change, flush: bool) -> io::Result<()> {
        let bytes = change.to_bytes();
        let (first, rest) = self.log.folders_of(change);
        self.others = [vec![first], rest].concat();
        self.others.retain(|other| other.path != self.folder.path);
        rewrite(&self.file, &bytes, self.len)?;
        self.len = bytes.len() as u64;
        if flush {
            failpoint::fdatasync(&*self.file)?;
            self.folder_of_open()?.flush()?;
        }
        Ok(())
    }

    /// The folder that it is in, unless that was removed.
    fn folder_of_open(&self) -> io::Result<Arc<PrivateFolder>> {
        self.log.open.known()?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Notes that all names are changed, and on the disk if `flush` is set.
    pub fn mark(&mut self, flush: bool) -> io::Result<()> {
        let (open, mut marked) = (self.folder_of_open()?, self.name.clone());
        marked.push(MARK);
        if !open.rename_to_free(&self.name, &open, &marked)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.name = marked;
        failpoint::taken()?;
        if flush { open.flush() } else { Ok(()) }
    }

    /// Whether all names are changed.
    pub fn is_marked(&self) -> bool {
        self.name.as_bytes().ends_with(MARK.as_bytes())
    }

    /// Puts what could not be taken back in the place of the whole. With `flush`, it is on the disk then.
    pub fn write_rest(&mut self, rest: &Change, flush: bool) -> io::Result<()> {
        let (open, bytes) = (self.folder_of_open()?, rest.to_bytes());
        let (name, mut new) = (rest_of(&self.name), None);
        open.replace(&name, |file| {
            file.write_all(&bytes)?;
            if flush {
                failpoint::fdatasync(&*file)?;
            }
            // With the lock.
            new = Some(file.try_clone()?);
            Ok(())
        })?;
        let was = std::mem::replace(&mut self.name, name);
        self.file = new.map_or_else(|| self.file.clone(), Arc::new);
        self.len = bytes.len() as u64;
        failpoint::taken()?;
        if was != self.name {
            open.unlink(&was)?;
        }
        if flush { open.flush() } else { Ok(()) }
    }

    /// Whether all in it is done, as it is what could not be taken back.
    pub fn is_rest(&self) -> bool {
        is_rest(&self.name)
    }

    /// Whether nobody could settle it for so long that what is hidden for it goes.
    pub fn is_given_up(&self) -> bool {
        let written = self.file.metadata().and_then(|meta| meta.modified());
        written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > REPAIRED_WITHIN))
    }

    /// What was written down.
    pub fn read(&self) -> io::Result<Change> {
        let (mut file, mut bytes) = (&*self.file, Vec::new());
        file.seek(SeekFrom::Start(0))?;
        file.take(self.len).read_to_end(&mut bytes)?;
        Change::from_bytes(&bytes).map_err(|_| io::ErrorKind::InvalidData.into())
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
        if let Ok(number) = &numbered {
            // What is removed too late does no harm.
            let _ = self.folder.keep_to(*number, self.log.max_bytes);
        }
        (numbered.and_then(|number| flushed.map(|()| number)), done)
    }

    /// Gives the change its number, by the name that it has from now on.
    fn give_number(&self) -> io::Result<ChangeNumber> {
        let (open, done) = (self.folder_of_open()?, self.folder.done.make()?);
        let mut known = 0;
        loop {
            let number = self.log.next_number(known)?;
            if open.rename_to_free(&self.name, &done, &name_of(number))? {
                let mut last = held(&self.log.last);
                *last = number.max(*last);
                // Without that, only a server of the first folder knows it.
                for other in &self.others {
                    let _ = other.done.make().and_then(|other| done.link_to(&name_of(number), &other));
                }
                return Ok(number);
            }
            known = self.log.numbers()?.last().copied().unwrap_or(number);
        }
    }
}

impl Drop for OpenChange<'_> {
    fn drop(&mut self) {
        if !self.is_kept
            && !failpoint::crashed()
            && let Ok(open) = self.folder_of_open()
        {
            let _ = open.unlink(&self.name);
        }
    }
}

/// The name of a change that is being made.
fn new_name() -> OsString {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}", RandomState::new().hash_one(std::process::id())).into()
}

/// Whether it is the name of a change that is being made.
fn is_name(name: &OsStr) -> bool {
    let digits = name.to_str().map(|name| {
        let digits = name.strip_suffix(MARK).or_else(|| name.strip_suffix(REST));
        digits.unwrap_or(name)
    });
    digits.is_some_and(|digits| digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_rest(name: &OsStr) -> bool {
    name.as_bytes().ends_with(REST.as_bytes())
}

/// The name of what could not be taken back of a change.
fn rest_of(name: &OsStr) -> OsString {
    let digits = name.as_bytes().strip_suffix(REST.as_bytes()).unwrap_or(name.as_bytes());
    OsStr::from_bytes(&[digits, REST.as_bytes()].concat()).to_owned()
}

/// Whether a change was done and has its number: where a rename may replace something, it is linked under that, and then loses the name
/// that it had while it was open. Its writer died between the two.
fn has_both_names(file: &File) -> bool {
    sys::fs::fstat(file).is_ok_and(|stat| stat.st_nlink > 1)
}
