//! A folder outside the served ones, for files that belong to the server's user alone.
//!
//! What other users could write is not used: neither a folder nor a file. Links are not followed. Knows nothing of what
//! the files hold.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::atomic::flush_directory;
use super::leftovers::remove_leftovers;
use super::temporary;
use super::version::identity;
use super::{failpoint, lock};
use sys::fd::{AsFd, OwnedFd};
use sys::ffi::OsStrExt;
use sys::fs::DirBuilderExt;
use sys::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use sys::io::Errno;
use sys::process::geteuid;

/// The mode of files.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// See the module.
#[derive(Debug)]
pub struct PrivateFolder(OwnedFd, (u64, u64));

impl PrivateFolder {
    /// Opens the folder at `path`, which must not lie in one of the folders `served`. Makes it if it is missing. The
    /// error says what is wrong with it.
    pub fn open<'p>(
        path: &Path,
        served: impl Iterator<Item = &'p Path> + Clone,
    ) -> io::Result<PrivateFolder> {
        let check_outside = || match served.clone().find(|folder| future_path(path).starts_with(folder)) {
            Some(folder) => {
                let folder = folder.display();
                Err(io::Error::other(format!("it lies in the served folder {folder}; give one outside")))
            }
            None => Ok(()),
        };
        // Before it is made, so that nothing is made in a served folder; and afterwards, as it may be found another way.
        check_outside()?;
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        check_outside()?;
        let folder = PrivateFolder::open_to_read(path)?.ok_or(io::ErrorKind::NotFound)?;
        let access = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
        sys::fs::accessat(&folder.0, ".", access, AtFlags::EACCESS)?;
        let _ = remove_leftovers(&folder.0);
        Ok(folder)
    }

    /// Opens the folder at `path`, which may be one that cannot be written. `None`: there is none.
    pub fn open_to_read(path: &Path) -> io::Result<Option<PrivateFolder>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match sys::fs::open(path, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let stat = sys::fs::fstat(&folder)?;
        match accessible_to_others(&stat) {
            Some(problem) => Err(io::Error::other(problem)),
            None => Ok(Some(PrivateFolder(folder, identity(&stat)))),
        }
    }

    /// Whether it is still the folder at `path`.
    pub fn is_at(&self, path: &Path) -> bool {
        sys::fs::stat(path).is_ok_and(|stat| identity(&stat) == self.1)
    }

    /// Opens a file for reading and writing. `None`: there is none.
    pub fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        self.open_with(name, OFlags::RDWR)
    }

    /// Opens a file for reading alone. `None`: there is none.
    pub fn read_file(&self, name: &OsStr) -> io::Result<Option<File>> {
        self.open_with(name, OFlags::RDONLY)
    }

    /// Opens a file for reading and writing. Makes it if it is missing.
    pub fn open_or_make(&self, name: &OsStr) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR | OFlags::CREATE)?.ok_or_else(|| Errno::NOENT.into())
    }

    /// Creates an empty file with a new name, and locks it.
    pub fn create(&self, new_name: fn() -> OsString) -> io::Result<(OsString, File)> {
        temporary::create_named(&self.0, new_name)
    }

    /// Locks a file whose writer is dead. `None`: it lives, or the file is gone.
    pub fn lock_if_left(&self, name: &OsStr) -> io::Result<Option<File>> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        Ok((lock::try_lock(&file)? && self.names(name, &file)).then_some(file))
    }

    /// Gives the file `name` the name `new` in `folder`. False if something has that name.
    pub fn rename_to_free(&self, name: &OsStr, folder: &PrivateFolder, new: &OsStr) -> io::Result<bool> {
        match sys::fs::renameat_with(&self.0, name, &folder.0, new, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            // This file system does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                match sys::fs::linkat(&self.0, name, &folder.0, new, AtFlags::empty()) {
                    Err(Errno::EXIST) => return Ok(false),
                    linked => linked?,
                }
                // It has the new one. The old one goes when it is looked at again.
                let _ = failpoint::taken().and_then(|()| self.unlink(name));
                Ok(true)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Gives the file `name` the same name in `folder`, too.
    pub fn link_to(&self, name: &OsStr, folder: &PrivateFolder) -> io::Result<()> {
        Ok(sys::fs::linkat(&self.0, name, &folder.0, name, AtFlags::empty())?)
    }

    /// Removes a file.
    pub fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// The names in it.
    pub fn names_in(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(self.0.as_fd())? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            names.extend((name != "." && name != "..").then_some(name));
        }
        Ok(names)
    }

    /// The length of a file in bytes. `None`: there is none.
    pub fn len_of(&self, name: &OsStr) -> Option<u64> {
        let found = sys::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        u64::try_from(found.st_size).ok()
    }

    /// When a name in it was made, changed or removed last.
    pub fn changed(&self) -> io::Result<SystemTime> {
        let stat = sys::fs::fstat(&self.0)?;
        let since = Duration::new(u64::try_from(stat.st_mtime).unwrap_or(0), stat.st_mtime_nsec as u32);
        Ok(SystemTime::UNIX_EPOCH + since)
    }

    /// Flushes the names in it.
    pub fn flush(&self) -> io::Result<()> {
        flush_directory(&self.0)
    }

    fn open_with(&self, name: &OsStr, more: OFlags) -> io::Result<Option<File>> {
        // What is there may be a FIFO, whose open would wait.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
        let file = match sys::fs::openat(&self.0, name, flags, FILE_MODE) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(io::Error::other("it is a link")),
            Err(errno) => return Err(errno.into()),
        };
        let stat = sys::fs::fstat(&file)?;
        if sys::fs::file_type(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is no regular file"));
        }
        match accessible_to_others(&stat) {
            Some(problem) => Err(io::Error::other(problem)),
            None => Ok(Some(file)),
        }
    }

    /// Whether `name` is a name of `file`.
    pub fn names(&self, name: &OsStr, file: &File) -> bool {
        let named = sys::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
        let open = sys::fs::fstat(file);
        named.is_ok_and(|named| {
            open.is_ok_and(|open| (open.st_dev, open.st_ino) == (named.st_dev, named.st_ino))
        })
    }

    /// Puts a new file in the place of `name`, with what `write` writes to it. If that fails, nothing changes.
    pub fn replace(&self, name: &OsStr, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let (new, mut file) = temporary::create(&self.0)?;
        let replaced = write(&mut file).and_then(|()| {
            failpoint::taken()?;
            Ok(sys::fs::renameat(&self.0, &new, &self.0, name)?)
        });
        if replaced.is_err() && !failpoint::crashed() {
            temporary::remove(&self.0, &new);
        }
        replaced
    }

    /// Removes the regular files of this user whose names are `unwanted`.
    pub fn remove(&self, unwanted: impl Fn(&[u8]) -> bool) -> io::Result<()> {
        for entry in Dir::read_from(self.0.as_fd())? {
            let entry = entry?;
            let name = entry.file_name();
            let is_ours = |stat: &Stat| {
                sys::fs::file_type(stat.st_mode) == FileType::RegularFile && stat.st_uid == geteuid().as_raw()
            };
            let found = || sys::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
            if unwanted(name.to_bytes()) && found().is_ok_and(|stat| is_ours(&stat)) {
                sys::fs::unlinkat(&self.0, name, AtFlags::empty())?;
            }
        }
        Ok(())
    }
}

/// Who else may write to a file or folder, in words.
fn accessible_to_others(stat: &Stat) -> Option<&'static str> {
    let by_others = Mode::WGRP | Mode::WOTH;
    match sys::fs::mode(stat.st_mode).intersects(by_others) {
        _ if stat.st_uid != geteuid().as_raw() => Some("it does not belong to the user of this process"),
        true => Some("other users may write to it"),
        false => None,
    }
}

/// The canonical path that `path` has or, if it is missing, would have when it is made.
pub fn future_path(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let real = |above: &Path| Some(above.canonicalize().ok()?.join(path.strip_prefix(above).ok()?));
    path.ancestors().find_map(real).unwrap_or_else(|| path.clone())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use sys::testing::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn folder(path: &Path) -> io::Result<PrivateFolder> {
        PrivateFolder::open(path, std::iter::empty())
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn a_missing_folder_and_its_files_are_made_for_this_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("above/folder");
        let folder = folder(&path).unwrap();
        assert!(folder.open_file("a".as_ref()).unwrap().is_none());
        folder.open_or_make("a".as_ref()).unwrap();
        assert!(folder.open_file("a".as_ref()).unwrap().is_some());
        assert_eq!((mode(&path), mode(&path.join("a"))), (0o700, 0o600));
    }

    #[test]
    fn a_folder_that_others_may_write_to_or_that_is_served_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let private = path.join("private");
        folder(&private).unwrap();
        set_mode(&private, 0o720);
        assert!(folder(&private).unwrap_err().to_string().contains("other users"));
        symlink(&path, path.join("link")).unwrap();
        for inside in [path.clone(), path.join("new"), path.join("link/link/new"), path.join("new/../new")] {
            let refused = PrivateFolder::open(&inside, [Path::new("/no"), &path].into_iter()).unwrap_err();
            assert!(refused.to_string().contains("served folder"), "{inside:?}: {refused}");
            assert!(!path.join("new").exists());
        }
        let outside = PrivateFolder::open(&path.join("outside"), [path.join("out").as_path()].into_iter());
        assert!(outside.is_ok());
    }

    #[test]
    fn what_is_no_file_of_this_user_alone_is_not_opened() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(&dir.path().join("private")).unwrap();
        let path = |name: &str| dir.path().join("private").join(name);
        folder.open_or_make("file".as_ref()).unwrap();
        symlink(path("file"), path("link")).unwrap();
        symlink("missing", path("broken")).unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        sys::fs::make_fifo(path("fifo"));
        folder.open_or_make("shared".as_ref()).unwrap();
        set_mode(&path("shared"), 0o620);
        for name in ["link", "broken", "folder", "fifo", "shared"] {
            assert!(folder.open_file(name.as_ref()).is_err(), "{name}");
            assert!(folder.open_or_make(name.as_ref()).is_err(), "{name}");
        }
        assert!(!path("missing").exists());
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("private");
        let files = || std::fs::read_dir(&path).unwrap().count();
        let private = folder(&path).unwrap();
        let old = private.open_or_make("a".as_ref()).unwrap();
        assert!(private.names("a".as_ref(), &old));
        let failed = private.replace("a".as_ref(), |file| {
            file.write_all(b"new")?;
            Err(io::Error::other("no more"))
        });
        assert!(failed.is_err() && private.names("a".as_ref(), &old) && files() == 1);
        let crashed = failpoint::crash_at(2, || {
            assert!(private.replace("a".as_ref(), |file| file.write_all(b"new")).is_err());
        });
        assert!(crashed && private.names("a".as_ref(), &old) && files() == 2, "the writer died");
        private.replace("a".as_ref(), |file| file.write_all(b"new")).unwrap();
        assert!(!private.names("a".as_ref(), &old));
        assert_eq!((std::fs::read(path.join("a")).unwrap(), mode(&path.join("a"))), (b"new".to_vec(), 0o600));
        folder(&path).unwrap();
        assert_eq!(files(), 1, "what the dead writer left is removed");
        private.remove(|name| name == b"a").unwrap();
        assert_eq!(files(), 0);
    }
    #[test]
    fn a_start_that_takes_the_new_file_away_before_it_is_locked_does_not_keep_it_from_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let private = folder(dir.path()).unwrap();
        private.open_or_make("a".as_ref()).unwrap();
        let path = dir.path().to_owned();
        let start = move || _ = folder(&path).unwrap();
        let replace = || private.replace("a".as_ref(), |file| file.write_all(b"new")).unwrap();
        assert!(failpoint::meddle_at(1, start, replace));
        assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"new");
    }
}
