//! Removes everything in a folder, without following a link or entering another file system.
//!
//! Knows no paths of clients. The caller checks first with [`Guard::check_tree`], so that a refusal removes nothing.
//! [`Guard::remove_tree`] checks again what it finds, because other programs may have put something in meanwhile.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::git_guard::forbids_removal;
use super::mount_safety::MountSafety;
use super::{leftovers, temporary};
use crate::exclude::Excludes;
use crate::{Control, Error};
use sys::fd::{AsFd, BorrowedFd, OwnedFd};
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use sys::io::Errno;

/// Why a folder must not be removed.
#[derive(Debug)]
pub enum Refused {
    /// It holds a folder of git.
    Git,
    /// It holds something that clients must not see, or another file system, or something that this user may not read.
    Protected,
    /// A system call failed while a folder was read.
    Unread(Errno),
    /// A system call failed while entries were removed.
    Failed(Errno),
    /// The operation was stopped.
    Stopped(Error),
}

/// A folder that is walked, and the names in it that are left.
struct Level {
    folder: Arc<OwnedFd>,
    /// Each with whether it is a folder.
    names: Vec<(OsString, bool)>,
}

/// Removes a folder's content, unless something in it is protected.
pub struct Guard<'g> {
    folder: BorrowedFd<'g>,
    /// Its path below the served folder.
    base: &'g Path,
    excludes: &'g Excludes,
    mounts: &'g MountSafety,
    /// Temporary names of the operation itself, which protect nothing.
    own: Option<&'g HashSet<OsString>>,
    device: u64,
}

impl<'g> Guard<'g> {
    /// For `folder`, whose path is `base`.
    pub fn new(
        folder: BorrowedFd<'g>,
        base: &'g Path,
        excludes: &'g Excludes,
        mounts: &'g MountSafety,
    ) -> Result<Guard<'g>, Refused> {
        Ok(Guard { folder, base, excludes, mounts, own: None, device: device_of(folder)? })
    }

    /// The same for an operation to which these temporary names belong.
    pub fn with_own(self, own: &'g HashSet<OsString>) -> Guard<'g> {
        Guard { own: Some(own), ..self }
    }

    /// Checks that everything in the folder may be removed.
    pub fn check_tree(&self, control: &Control) -> Result<(), Refused> {
        visit(self.folder, control, |here, name, path| self.enter(here, name, path))
    }

    /// The same. `look` gets each folder whose content may be removed, with its path below the folder, and the names in it that do not
    /// belong to the operation.
    pub fn look_at_tree(
        &self,
        control: &Control,
        mut look: impl FnMut(&Arc<OwnedFd>, &Path, &mut dyn Iterator<Item = &OsStr>) -> crate::Result<()>,
    ) -> Result<(), Refused> {
        let is_own = |name: &OsStr| self.own.is_some_and(|own| own.contains(name));
        visit(self.folder, control, |here, name, path| {
            let level = self.enter(here, name, path)?;
            if let Some(level) = level.as_ref().filter(|_| !path.iter().any(is_own)) {
                let mut names = level.names.iter().map(|(name, _)| &**name).filter(|name| !is_own(name));
                look(&level.folder, path, &mut names).map_err(Refused::Stopped)?;
            }
            Ok(level)
        })
    }

    /// Removes everything in the folder, the deepest first. Counts in `removed` what is gone, also if it fails. Nothing is
    /// removed from a folder that holds something protected when it is entered.
    pub fn remove_tree(&self, removed: &mut u64, control: &Control) -> Result<(), Refused> {
        let mut path = PathBuf::new();
        let mut levels: Vec<Level> = self.enter(self.folder, OsStr::new("."), &path)?.into_iter().collect();
        while let Some(level) = levels.last_mut() {
            control.progress(*removed, None);
            match level.names.pop() {
                Some((name, true)) => {
                    path.push(&name);
                    match self.enter(level.folder.as_fd(), &name, &path)? {
                        Some(inner) => levels.push(inner),
                        None => _ = path.pop(),
                    }
                }
                Some((name, false)) => unlink(&level.folder, &name, AtFlags::empty(), removed)?,
                None => {
                    levels.pop();
                    if let (Some(above), Some(name)) = (levels.last(), path.file_name()) {
                        unlink(&above.folder, name, AtFlags::REMOVEDIR, removed)?;
                    }
                    path.pop();
                }
            }
        }
        Ok(())
    }

    /// Opens the folder `name` in `here`, whose path below the folder is `path`, and checks it and all names in it. `None` if
    /// it is gone.
    fn enter(&self, here: BorrowedFd, name: &OsStr, path: &Path) -> Result<Option<Level>, Refused> {
        let Some(level) = Level::enter(here, name)? else { return Ok(None) };
        if device_of(level.folder.as_fd())? != self.device {
            return Err(Refused::Protected);
        }
        let path = self.base.join(path);
        if forbids_removal(&level.folder, level.names.iter().map(|(name, _)| name.as_bytes())) {
            return Err(Refused::Git);
        }
        for (name, is_folder) in &level.names {
            // A temporary file may be another process's edit in progress.
            let is_temporary = temporary::is_temporary(name.as_bytes());
            if !self.excludes.is_empty() && self.excludes.hides(&path.join(name), *is_folder)
                || is_temporary
                    && !self.own.is_some_and(|own| own.contains(name))
                    && !self.is_removed_leftover(level.folder.as_fd(), name)
            {
                return Err(Refused::Protected);
            }
        }
        Ok(Some(level))
    }

    /// Removes what dead processes left in `here`. Returns whether `name` is gone then.
    fn is_removed_leftover(&self, here: BorrowedFd, name: &OsStr) -> bool {
        leftovers::clear(here, self.mounts);
        let look = sys::fs::statat(here, name, AtFlags::SYMLINK_NOFOLLOW);
        look.is_err_and(|errno| errno == Errno::NOENT)
    }
}

/// Checks that nothing in `folder` is excluded, neither at its path `from` nor if the folder had the path `to`.
pub fn check_nothing_excluded(
    folder: BorrowedFd,
    from: &Path,
    to: &Path,
    excludes: &Excludes,
    control: &Control,
) -> Result<(), Refused> {
    visit(folder, control, |here, name, path| {
        let Some(level) = Level::enter(here, name)? else { return Ok(None) };
        let hides = |(name, is_folder): &(OsString, bool)| {
            let at = |base: &Path| base.join(path).join(name);
            excludes.hides(&at(from), *is_folder) || excludes.may_hide(&at(to), *is_folder)
        };
        if level.names.iter().any(hides) { Err(Refused::Protected) } else { Ok(Some(level)) }
    })
}

/// Enters `folder` and each folder in it with `enter`, which gets the folder above, the name, and the path below `folder`.
/// Holds one handle for each level.
fn visit(
    folder: BorrowedFd,
    control: &Control,
    mut enter: impl FnMut(BorrowedFd, &OsStr, &Path) -> Result<Option<Level>, Refused>,
) -> Result<(), Refused> {
    let mut path = PathBuf::new();
    let mut levels: Vec<Level> = enter(folder, OsStr::new("."), &path)?.into_iter().collect();
    while let Some(level) = levels.last_mut() {
        control.check().map_err(Refused::Stopped)?;
        match level.names.pop() {
            Some((name, true)) => {
                path.push(&name);
                match enter(level.folder.as_fd(), &name, &path)? {
                    Some(inner) => levels.push(inner),
                    None => _ = path.pop(),
                }
            }
            Some((_, false)) => {}
            None => {
                levels.pop();
                path.pop();
            }
        }
    }
    Ok(())
}

impl Level {
    /// Opens the folder `name` in `here`. `None` if it is gone.
    fn enter(here: BorrowedFd, name: &OsStr) -> Result<Option<Level>, Refused> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match sys::fs::openat(here, name, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(not_read(errno)),
        };
        match names(folder.as_fd()) {
            Ok(names) => Ok(Some(Level { folder: Arc::new(folder), names })),
            // Another program has removed it since it was opened.
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(not_read(errno)),
        }
    }
}

/// Removes an entry and counts it, unless it is gone already.
fn unlink(here: &OwnedFd, name: &OsStr, flags: AtFlags, removed: &mut u64) -> Result<(), Refused> {
    match sys::fs::unlinkat(here, name, flags) {
        Ok(()) => *removed += 1,
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(Refused::Failed(errno)),
    }
    Ok(())
}

fn device_of(folder: BorrowedFd) -> Result<u64, Refused> {
    Ok(sys::fs::fstat(folder).map_err(not_read)?.st_dev)
}

/// The error for a folder that cannot be read: this user may not, or it is a folder no longer. Others are those of the system, such
/// as a shortage, or a file system that does not answer.
fn not_read(errno: Errno) -> Refused {
    match errno {
        Errno::ACCESS | Errno::PERM | Errno::LOOP | Errno::NOTDIR => Refused::Protected,
        _ if switches::is_off("delete-unread") => Refused::Protected,
        _ => Refused::Unread(errno),
    }
}

/// The names in a folder, and which of them are folders.
fn names(folder: BorrowedFd) -> Result<Vec<(OsString, bool)>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push((name.to_owned(), is_folder(folder, &entry)?));
        }
    }
    Ok(names)
}

fn is_folder(folder: BorrowedFd, entry: &sys::fs::DirEntry) -> Result<bool, Errno> {
    let kind = match entry.file_type() {
        FileType::Unknown => {
            match sys::fs::statat(folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => sys::fs::file_type(stat.st_mode),
                // It is gone.
                Err(Errno::NOENT) => FileType::Unknown,
                Err(errno) => return Err(errno),
            }
        }
        kind => kind,
    };
    Ok(kind == FileType::Directory)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    /// Removes a tree into which `meddle` puts something after it was checked. Returns what was refused, and the number of
    /// entries removed.
    fn removed_after(meddle: impl Fn(&Path), excludes: &[&str]) -> (Option<Refused>, u64, tempfile::TempDir) {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a/x", "b/c/y", "b/z"] {
            fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            fs::write(dir.path().join(path), "text").unwrap();
        }
        let control = Control::new(Duration::from_secs(60));
        let excludes = Excludes::new(excludes.iter().copied()).unwrap();
        let folder = sys::testing::open_folder(dir.path());
        let mounts = MountSafety::default();
        let guard = Guard::new(folder.as_fd(), Path::new("t"), &excludes, &mounts).unwrap();
        guard.check_tree(&control).unwrap();
        meddle(dir.path());
        let mut removed = 0;
        let refused = guard.remove_tree(&mut removed, &control).err();
        (refused, removed, dir)
    }

    #[test]
    fn from_a_folder_that_got_something_protected_after_the_check_nothing_is_removed() {
        let git = |path: &Path| fs::create_dir(path.join("b/c/.Git")).unwrap();
        let (refused, _, dir) = removed_after(git, &[]);
        assert!(matches!(refused, Some(Refused::Git)), "{refused:?}");
        assert!(dir.path().join("b/c/.Git").exists() && dir.path().join("b/c/y").exists());
        let key = |path: &Path| fs::write(path.join("b/c/server.key"), "secret").unwrap();
        let (refused, _, dir) = removed_after(key, &["/t/b/c/*.key"]);
        assert!(matches!(refused, Some(Refused::Protected)), "{refused:?}");
        assert!(dir.path().join("b/c/server.key").exists() && dir.path().join("b/c/y").exists());
        let top = |path: &Path| fs::write(path.join(".git"), "gitdir: ..").unwrap();
        let (refused, removed, _dir) = removed_after(top, &[]);
        assert!(matches!(refused, Some(Refused::Git)) && removed == 0, "{refused:?}");
    }

    #[test]
    fn what_another_program_removes_meanwhile_is_not_counted_and_no_failure() {
        let other = |path: &Path| fs::remove_dir_all(path.join("b/c")).unwrap();
        let (refused, removed, dir) = removed_after(other, &[]);
        assert!(refused.is_none() && removed == 4, "{refused:?} {removed}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
