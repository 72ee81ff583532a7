//! Creates or replaces a file completely or not at all (contract 8).
//!
//! Writes the new content to a temporary file in the same folder, copies the old file's mode and owner,
//! flushes, and renames it over the old file. Dropped before that, it removes the temporary file. The
//! writer's lock on that file tells other processes that it is not a leftover. Knows no lines and no plan.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::claim::{has_no_links, rename_over_claim};
use super::lock::LockedFile;
use super::lost::{in_doubt, may_be_done};
use super::resolve::ResolvedPath;
use super::version::{FileStamp, identity};
use super::view::OpenFile;
use super::{attributes, failpoint, file_system, temporary};
use sys::fd::OwnedFd;
use sys::fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps};
use sys::io::Errno;

/// When an edit counts as done (`--sync`, contract 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It is on the disk before the answer is sent.
    Full,
    /// It survives a crash of the server, but perhaps not a power loss.
    None,
}

/// Why a commit failed. The file is unchanged, except if only the flush of the folder failed; then the
/// message says so.
#[derive(Debug)]
pub enum ReplaceError {
    /// The path no longer leads to the file that the change was planned on.
    Changed,
    /// A file that should be created exists already.
    Exists,
    /// A system call failed.
    Io(io::Error),
    /// A system call failed after the rename: the change is in place. Or it is not known whether it is; then the message
    /// says so.
    InPlace(io::Error),
}

impl<E: Into<io::Error>> From<E> for ReplaceError {
    fn from(error: E) -> ReplaceError {
        ReplaceError::Io(error.into())
    }
}

/// What the new file replaces.
#[derive(Debug)]
pub enum Replaces<'f> {
    /// This file, in exactly this state.
    File(&'f OpenFile),
    /// Nothing. The new file has this mode, unless its folder has a default ACL.
    Nothing(Mode),
}

/// New content in a temporary file. Dropping it before the commit removes the file.
#[derive(Debug)]
#[must_use = "nothing has changed until it is committed"]
pub struct AtomicFile {
    temporary: TemporaryName,
    pub(super) file: File,
    pub(super) written: u64,
}

/// The name of a temporary file. It goes when this is dropped, unless the file was put in place.
#[derive(Debug)]
struct TemporaryName {
    dir: Arc<OwnedFd>,
    name: OsString,
    is_in_place: bool,
}

impl AtomicFile {
    /// Creates an empty temporary file in `dir`, accessible to its owner only.
    pub fn create(dir: &Arc<OwnedFd>) -> io::Result<AtomicFile> {
        let (name, file) = temporary::create(dir)?;
        let temporary = TemporaryName { dir: dir.clone(), name, is_in_place: false };
        let new = AtomicFile { temporary, file, written: 0 };
        failpoint::taken()?;
        Ok(new)
    }

    /// Bytes written so far.
    pub fn len_bytes(&self) -> u64 {
        self.written
    }

    /// Device and inode of the file.
    pub fn id(&self) -> io::Result<(u64, u64)> {
        Ok(sys::fs::fstat(&self.file).map(|stat| identity(&stat))?)
    }

    /// Renames the file to `place`. Calls `allow` last, right before the rename; if it fails, nothing has
    /// changed. Returns the stamp of the new file if it can belong only to the bytes written here. Returns
    /// `None` if a program that takes no lock may have written to the file since the rename, or if the file
    /// system cannot store the unique time.
    pub fn commit<E: From<ReplaceError>>(
        self,
        place: &ResolvedPath,
        replaces: &Replaces,
        durability: Durability,
        allow: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<FileStamp>, E> {
        self.prepare(replaces, durability)?.put(place, replaces, durability, allow)
    }

    /// Does all steps before the rename: owner, attributes, mode, times, flush, length check.
    pub fn prepare(self, replaces: &Replaces, durability: Durability) -> Result<PreparedFile, ReplaceError> {
        self.complete(replaces)?.prepare(durability)
    }

    /// Gives the file its owner, attributes, mode and times.
    pub fn complete(self, replaces: &Replaces) -> Result<CompleteFile, ReplaceError> {
        match replaces {
            Replaces::File(old) => attributes::copy(old, &self.file)?,
            Replaces::Nothing(mode) => attributes::give_to_new_file(&self.temporary.dir, &self.file, *mode)?,
        }
        failpoint::taken()?;
        let unique_ns = set_unique_time(&self.file)?;
        failpoint::taken()?;
        Ok(CompleteFile { new: self, unique_ns })
    }
}

/// New content that lacks only its flush and its name.
#[derive(Debug)]
#[must_use = "nothing has changed until it is put in place"]
pub struct CompleteFile {
    new: AtomicFile,
    /// Its time of last write, in nanoseconds.
    unique_ns: i128,
}

impl CompleteFile {
    /// Begins to write it to the disk. Of many files, those that follow are written meanwhile, and one commit of a file system's journal can
    /// do for all.
    pub fn start_flush(&self) {
        sys::fs::start_writeback(&self.new.file);
    }

    /// Flushes it, and checks its length.
    pub fn prepare(self, durability: Durability) -> Result<PreparedFile, ReplaceError> {
        let AtomicFile { temporary, file, written } = self.new;
        if (durability == Durability::Full && !switches::is_off("write-flush"))
            || switches::is_off("write-flush-none")
        {
            failpoint::fdatasync(&file)?;
            failpoint::taken()?;
        }
        let stamp = FileStamp::of(&sys::fs::fstat(&file)?);
        if !switches::is_off("write-length") && stamp.len != written {
            let problem = format!("the new file has {} bytes instead of {written}", stamp.len);
            return Err(ReplaceError::Io(io::Error::other(problem)));
        }
        // A file system with coarser times has cut off the digits that make the time unique.
        let is_unique = switches::is_off("believe-own-time") || stamp.mtime_ns == self.unique_ns;
        Ok(PreparedFile { temporary, file: Arc::new(LockedFile::Open(file)), written: stamp, is_unique })
    }
}

impl TemporaryName {
    fn rename_to(&self, place: &ResolvedPath, replaces: &Replaces) -> Result<(), ReplaceError> {
        if let Replaces::File(_) = replaces {
            return match sys::fs::renameat(&self.dir, &self.name, &place.dir, &place.name) {
                // Where this takes two renames, another program has made a file between them.
                Err(Errno::EXIST) => Err(ReplaceError::Changed),
                renamed => Ok(renamed?),
            };
        }
        let flags =
            if switches::is_off("write-noreplace") { RenameFlags::empty() } else { RenameFlags::NOREPLACE };
        match sys::fs::renameat_with(&self.dir, &self.name, &place.dir, &place.name, flags) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(ReplaceError::Exists),
            // This file system does not know the flag. A hard link fails too if the name exists.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !switches::is_off("write-noreplace-link") => {
                self.link_to(place)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    fn link_to(&self, place: &ResolvedPath) -> Result<(), ReplaceError> {
        match sys::fs::linkat(&self.dir, &self.name, &place.dir, &place.name, AtFlags::empty()) {
            Ok(()) => {
                failpoint::taken()?;
                if !switches::is_off("link-leftover") {
                    temporary::remove(&self.dir, &self.name);
                }
                Ok(())
            }
            Err(errno) if !switches::is_off("write-claim") && has_no_links(errno) => {
                match rename_over_claim(&self.dir, &self.name, place) {
                    Err(Errno::EXIST) => Err(ReplaceError::Exists),
                    renamed => Ok(renamed?),
                }
            }
            Err(Errno::EXIST) => Err(ReplaceError::Exists),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// New content that lacks only its name.
#[derive(Debug)]
#[must_use = "nothing has changed until it is put in place"]
pub struct PreparedFile {
    temporary: TemporaryName,
    file: Arc<LockedFile>,
    written: FileStamp,
    /// Whether its time of last write is one that no other program's write can have.
    is_unique: bool,
}

impl PreparedFile {
    /// Renames the file to `place`, as [`AtomicFile::commit`] does. With full durability, the folder of `place` is flushed.
    pub fn put<E: From<ReplaceError>>(
        mut self,
        place: &ResolvedPath,
        replaces: &Replaces,
        durability: Durability,
        allow: impl FnOnce() -> Result<(), E>,
    ) -> Result<Option<FileStamp>, E> {
        if let Replaces::File(old) = replaces {
            let now = place.restat().map_err(ReplaceError::from)?;
            if now.is_none_or(|now| !switches::is_off("write-restat") && FileStamp::of(&now) != *old.stamp())
            {
                return Err(ReplaceError::Changed.into());
            }
        }
        // Opened before the rename, so that after it only the flush can fail.
        let folder = (durability == Durability::Full).then(|| open_to_flush(place));
        let folder = folder.transpose().map_err(ReplaceError::from)?;
        if !switches::is_off("write-allow") {
            allow()?;
        }
        let renamed = self.temporary.rename_to(place, replaces);
        renamed.or_else(|failure| self.settle(failure, place, replaces))?;
        self.temporary.is_in_place = true;
        failpoint::taken().map_err(ReplaceError::InPlace)?;
        if let Some(folder) = folder {
            if !switches::is_off("write-flush-folder") {
                flush_directory(&folder).map_err(ReplaceError::InPlace)?;
            }
            failpoint::taken().map_err(ReplaceError::InPlace)?;
        }
        let now = match &*self.file {
            LockedFile::Open(file) => sys::fs::fstat(file).ok(),
            LockedFile::Mapped(_) | LockedFile::Released => {
                place.restat().ok().flatten().filter(|now| identity(now) == self.id())
            }
        };
        Ok(now.map(|now| FileStamp::of(&now)).filter(|now| {
            self.is_unique && (switches::is_off("write-then-changed") || now.same_content(&self.written))
        }))
    }

    /// What a failed rename has done. A shared file system may carry it out and lose the answer.
    fn settle(
        &self,
        failure: ReplaceError,
        place: &ResolvedPath,
        replaces: &Replaces,
    ) -> Result<(), ReplaceError> {
        if let Ok(Some(now)) = place.restat()
            && !switches::is_off("rename-in-doubt")
            && identity(&now) == self.id()
        {
            if !failpoint::crashed() {
                // It has two names if it was linked.
                temporary::remove(&self.temporary.dir, &self.temporary.name);
            }
            return Ok(());
        }
        let ReplaceError::Io(reason) = failure else { return Err(failure) };
        if !may_be_done(&reason, file_system::is_local(&place.dir), &[Errno::NOENT]) {
            return Err(ReplaceError::Io(reason));
        }
        // The look may be answered by a cache of names, the removal is not: what it removes was not renamed, and will not be. A
        // link keeps the name that it was made from: then no name may be left.
        let has_no_name = || match &*self.file {
            LockedFile::Open(file) => sys::fs::fstat(file).is_ok_and(|now| now.st_nlink == 0),
            LockedFile::Mapped(_) | LockedFile::Released => false,
        };
        let removed = sys::fs::unlinkat(&self.temporary.dir, &self.temporary.name, AtFlags::empty());
        if removed.is_ok() != switches::is_off("rename-lost")
            && (matches!(replaces, Replaces::File(_)) || has_no_name())
        {
            return Err(ReplaceError::Io(reason));
        }
        Err(ReplaceError::InPlace(in_doubt(&reason)))
    }

    /// Its state when it was written, before it is put in place.
    pub fn written(&self) -> FileStamp {
        self.written
    }

    /// Device and inode of the file.
    pub fn id(&self) -> (u64, u64) {
        (self.written.dev, self.written.ino)
    }

    /// The same without a descriptor, where the system can do that.
    pub fn without_descriptor(self) -> PreparedFile {
        let PreparedFile { temporary, file, written, is_unique } = self;
        let file =
            Arc::try_unwrap(file).map_or_else(|shared| shared, |file| Arc::new(file.without_descriptor()));
        PreparedFile { temporary, file, written, is_unique }
    }

    /// The same without a lock, under a name that shows that.
    pub fn without_lock(mut self) -> io::Result<PreparedFile> {
        let (dir, name) = (&self.temporary.dir, temporary::new_unlocked_name());
        sys::fs::renameat_with(dir, &self.temporary.name, dir, &name, RenameFlags::NOREPLACE)?;
        self.temporary.name = name;
        Ok(PreparedFile { file: Arc::new(LockedFile::Released), ..self })
    }

    /// The lock of the file, which can outlive its way into place.
    pub fn lock(&self) -> Arc<LockedFile> {
        self.file.clone()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.written += written as u64;
        failpoint::taken()?;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for TemporaryName {
    fn drop(&mut self) {
        if !switches::is_off("write-clears-away") && !self.is_in_place && !failpoint::crashed() {
            temporary::remove(&self.dir, &self.name);
        }
    }
}

/// Opens the directory for the flush, because the handle in `place` may be opened with O_PATH.
pub fn open_to_flush(place: &ResolvedPath) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(sys::fs::openat(&place.dir, ".", flags, Mode::empty())?)
}

/// Flushes the directory, so that the change in it survives a power loss.
pub fn flush_directory(folder: &OwnedFd) -> io::Result<()> {
    failpoint::fsync(folder).map_err(|errno| {
        let reason = io::Error::from(errno);
        let problem = format!("{reason} (the change is in place, but may not survive a loss of power)");
        io::Error::other(problem)
    })
}

/// Sets a unique time of last write, so that the index built during the write can be cached at once. No other
/// program's write can repeat it: the kernel uses ticks of milliseconds, this time has nanoseconds. Returns
/// the time in nanoseconds since 1970.
fn set_unique_time(file: &File) -> Result<i128, ReplaceError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = Timespec { tv_sec: now.as_secs() as i64, tv_nsec: now.subsec_nanos().into() };
    let keep = Timespec { tv_sec: 0, tv_nsec: sys::fs::UTIME_OMIT };
    sys::fs::futimens(file, &Timestamps { last_access: keep, last_modification: time })?;
    Ok(now.as_nanos() as i128)
}

#[cfg(test)]
mod tests;
