//! Tries out in a folder what the server needs of its file system (contract 8), with files that it removes again.
//!
//! The files have the names of temporary files, so no client sees them, and what a crash leaves is removed at the next
//! start. Knows what it tried, and not what follows from it.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use super::claim::has_no_links;
use super::{lock, temporary};
use sys::fd::OwnedFd;
use sys::fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps};
use sys::io::Errno;

/// The first argument of a process that tries to lock the file whose path is the second. People have no use for it.
const LOCK_ARGUMENT: &str = "--try-one-lock";

/// Its exit code if another one has the lock.
const LOCKED: u8 = 3;

/// A time whose digits a file system cuts off where its unit is coarser: an odd second, in nanoseconds.
const EXACT_NS: i128 = 1_600_000_001_123_456_789;

/// How many flushes are timed. The median counts.
const FLUSHES: usize = 5;

/// How a file gets a new name without replacing another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewNames {
    /// By a rename that refuses to replace.
    Rename,
    /// By a hard link, because there is no such rename.
    Link,
    /// By an empty file that takes the name first, because there are no hard links, either.
    Claim,
    /// In no way.
    None,
}

/// Whether a lock keeps out another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocksHold {
    /// Of another descriptor of this process.
    pub descriptors: bool,
    /// Of another process.
    pub processes: bool,
    /// A file that is open only for reading can be locked.
    pub for_reading: bool,
}

impl LocksHold {
    /// Whether they keep out everybody on this machine.
    pub fn keep_out(&self) -> bool {
        self.descriptors && self.processes
    }
}

/// A folder in which things are tried out. Dropping it removes its files.
#[derive(Debug)]
pub struct Probe<'d> {
    dir: &'d OwnedFd,
    made: RefCell<Vec<OsString>>,
}

impl<'d> Probe<'d> {
    /// Tries things out in this folder, which must be writable.
    pub fn new(dir: &'d OwnedFd) -> Probe<'d> {
        Probe { dir, made: RefCell::default() }
    }

    /// Whether the creation of a file fails if there is one.
    pub fn creates_once(&self) -> io::Result<bool> {
        let (name, _file) = self.create()?;
        let again = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        match sys::fs::openat(self.dir, &name, again, Mode::RUSR | Mode::WUSR) {
            Ok(_) => Ok(false),
            Err(Errno::EXIST) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Whether what was written is read by a descriptor that was opened before.
    pub fn reads_what_was_written(&self) -> io::Result<bool> {
        let (name, mut file) = self.create()?;
        let mut other = self.open(&name, OFlags::RDONLY)?;
        file.write_all(b"written")?;
        let mut text = String::new();
        other.read_to_string(&mut text)?;
        Ok(text == "written")
    }

    /// Whether locks keep each other out. `path` is the path of the folder.
    pub fn locks(&self, path: &Path) -> io::Result<LocksHold> {
        let (name, file) = self.create()?;
        let other = self.open(&name, OFlags::RDWR)?;
        // The lock ends when the file is closed.
        let for_reading = lock::try_lock(&self.open(&name, OFlags::RDONLY)?).unwrap_or(false);
        if !lock::try_lock(&file)? {
            return Err(io::Error::other("a file that nobody has locked cannot be locked"));
        }
        let descriptors = !lock::try_lock(&other)?;
        let processes = !locks_elsewhere(&path.join(&name))?;
        Ok(LocksHold { descriptors, processes, for_reading })
    }

    /// Whether a file replaces another one that stays whole for whoever has it open.
    pub fn replaces_open_files(&self) -> io::Result<bool> {
        let (old, mut file) = self.create()?;
        file.write_all(b"old")?;
        let (new, mut file) = self.create()?;
        file.write_all(b"new")?;
        let read = |mut file: File| {
            let mut text = String::new();
            file.read_to_string(&mut text).map(|_| text)
        };
        let open = self.open(&old, OFlags::RDONLY)?;
        sys::fs::renameat(self.dir, &new, self.dir, &old)?;
        Ok(read(open)? == "old" && read(self.open(&old, OFlags::RDONLY)?)? == "new")
    }

    /// How a file gets a name that nothing may have.
    pub fn new_names(&self) -> io::Result<NewNames> {
        let ((from, _from), (to, _to)) = (self.create()?, self.create()?);
        let free = self.free_name();
        let rename =
            |to: &OsStr| sys::fs::renameat_with(self.dir, &from, self.dir, to, RenameFlags::NOREPLACE);
        if rename(&to) == Err(Errno::EXIST) && rename(&free).is_ok() {
            return Ok(NewNames::Rename);
        }
        let link = |to: &OsStr| sys::fs::linkat(self.dir, &from, self.dir, to, AtFlags::empty());
        Ok(match (link(&to), link(&free)) {
            (Err(Errno::EXIST), Ok(())) => NewNames::Link,
            (Err(_), Err(errno)) if has_no_links(errno) => NewNames::Claim,
            _ => NewNames::None,
        })
    }

    /// The unit of the times of files, in nanoseconds. `None` if a time that was set is another one afterwards.
    pub fn time_unit_ns(&self) -> io::Result<Option<u32>> {
        const UNITS: [u32; 7] = [1, 100, 1_000, 1_000_000, 10_000_000, 1_000_000_000, 2_000_000_000];
        let (name, file) = self.create()?;
        let part =
            |ns: i128| Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ };
        let times = Timestamps { last_access: part(EXACT_NS), last_modification: part(EXACT_NS) };
        sys::fs::futimens(&file, &times)?;
        let stat = sys::fs::statat(self.dir, &name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kept = i128::from(stat.st_mtime) * 1_000_000_000 + stat.st_mtime_nsec as i128;
        Ok(UNITS.into_iter().find(|unit| EXACT_NS / i128::from(*unit) * i128::from(*unit) == kept))
    }

    /// How long it takes to bring a small file and its name to the disk: the median of a few tries.
    pub fn flush_time(&self) -> io::Result<Duration> {
        let mut times = Vec::new();
        for _ in 0..FLUSHES {
            let (_, mut file) = self.create()?;
            file.write_all(&[b'x'; 4096])?;
            let start = Instant::now();
            sys::fs::fdatasync(&file)?;
            sys::fs::fsync(self.dir)?;
            times.push(start.elapsed());
        }
        times.sort_unstable();
        Ok(times[FLUSHES / 2])
    }

    /// Whether the folder is flushed, too, and not the files in it alone.
    pub fn flushes_folder(&self) -> bool {
        sys::fs::flushes_folders(self.dir)
    }

    /// Creates an empty file.
    fn create(&self) -> io::Result<(OsString, File)> {
        let name = self.free_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = sys::fs::openat(self.dir, &name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok((name, file.into()))
    }

    /// A name that a file may get, which is removed at the end.
    fn free_name(&self) -> OsString {
        let name = temporary::new_name();
        self.made.borrow_mut().push(name.clone());
        name
    }

    fn open(&self, name: &OsStr, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(sys::fs::openat(self.dir, name, flags, Mode::empty())?.into())
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        for name in self.made.borrow().iter() {
            let _ = sys::fs::unlinkat(self.dir, name, AtFlags::empty());
        }
    }
}

/// Whether another process can lock the file at `path` now.
fn locks_elsewhere(path: &Path) -> io::Result<bool> {
    let mut other = Command::new(sys::process::own_program()?);
    other.arg(LOCK_ARGUMENT).arg(path);
    let status = other.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    match status.code() {
        Some(0) => Ok(true),
        Some(code) if code == i32::from(LOCKED) => Ok(false),
        _ => Err(io::Error::other("another process could not try to lock a file")),
    }
}

/// What `locks_elsewhere` runs, if these arguments of a program, its name first, are its own.
pub fn try_one_lock(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != LOCK_ARGUMENT {
        return None;
    }
    let file = File::options().read(true).write(true).open(arguments.next()?);
    Some(match file.and_then(|file| lock::try_lock(&file)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(LOCKED),
        Err(_) => ExitCode::FAILURE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_tried_and_nothing_remains() {
        let dir = tempfile::tempdir().unwrap();
        let handle = sys::testing::open_folder(dir.path());
        let probe = Probe::new(&handle);
        assert!(probe.creates_once().unwrap());
        assert!(probe.reads_what_was_written().unwrap());
        assert!(probe.replaces_open_files().unwrap());
        assert_ne!(probe.new_names().unwrap(), NewNames::None);
        assert!(probe.time_unit_ns().unwrap().is_some());
        assert!(probe.flush_time().unwrap() > Duration::ZERO);
        assert!(std::fs::read_dir(dir.path()).unwrap().count() > 0);
        drop(probe);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn other_arguments_lock_nothing() {
        let run = |arguments: &[&str]| try_one_lock(arguments.iter().map(OsString::from));
        assert!(run(&["file-editor"]).is_none() && run(&["file-editor", "--dir=x", LOCK_ARGUMENT]).is_none());
    }
}
