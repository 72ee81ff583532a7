//! Our temporary files: their names, and the removal of those that dead processes left.
//!
//! The writer locks a temporary file while it lives. So a file is a leftover only if all of this holds: its
//! name matches exactly, it is a regular file of our user, it has no link in another folder, and no process
//! has locked it. Any other file whose name begins like ours belongs to a user.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::lock;
use super::mount_safety::MountSafety;
use crate::sys::fd::{AsFd, BorrowedFd};
use crate::sys::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use crate::sys::io::Errno;
use crate::sys::process::geteuid;

/// The prefix of the names of temporary files; sixteen hexadecimal digits follow.
const PREFIX: &str = ".file-editor-tmp-";
const DIGITS: usize = 16;

/// Maximum number of folders remembered as cleared.
const MOST: usize = 1024;

/// A random name for a temporary file.
pub(crate) fn new_name() -> OsString {
    let random = RandomState::new().hash_one(std::process::id());
    OsString::from(format!("{PREFIX}{random:016x}"))
}

/// Whether `name` has the form of our temporary files. Such names are hidden, and no policy allows them.
pub(crate) fn is_temporary(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX.as_bytes()).is_some_and(|digits| {
        digits.len() == DIGITS && digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Temporary files of this process that could not be removed.
static LEFT: AtomicU64 = AtomicU64::new(0);

/// Removes a temporary file of this process. If that fails, as where a file system does not answer, the next edit in its folder
/// tries again.
pub(crate) fn remove(dir: impl AsFd, name: &OsStr) {
    match crate::sys::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(_) => _ = LEFT.fetch_add(1, Ordering::Relaxed),
    }
}

/// The folders that this process has cleared of leftovers, by device and inode.
#[derive(Debug, Default)]
pub(crate) struct Cleared(Mutex<ClearedFolders>);

#[derive(Debug, Default)]
struct ClearedFolders {
    ids: HashSet<(u64, u64)>,
    /// [`LEFT`] when they were cleared.
    left: u64,
}

impl Cleared {
    /// Removes the leftovers in `dir`, unless that was done before. Errors are ignored: a leftover is hidden,
    /// and clients cannot name it.
    pub(crate) fn clear_once(&self, dir: impl AsFd, mounts: &MountSafety) {
        let Ok(stat) = crate::sys::fs::fstat(&dir) else { return };
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = LEFT.load(Ordering::Relaxed);
        if folders.left != left || folders.ids.len() >= MOST {
            folders.ids.clear();
        }
        folders.left = left;
        let is_first = folders.ids.insert((stat.st_dev, stat.st_ino));
        drop(folders);
        // Where locks do not keep out other machines, a file may belong to a writer on one of them.
        if is_first && mounts.locks_hold(&dir, stat.st_dev) {
            let _ = remove_leftovers(dir);
        }
    }
}

/// Removes the temporary files in `dir` whose writers are dead. Returns their number.
pub(crate) fn remove_leftovers(dir: impl AsFd) -> io::Result<usize> {
    // The handle may be opened with O_PATH.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = crate::sys::fs::openat(dir, ".", flags, Mode::empty())?;
    let dir = dir.as_fd();
    let mut removed = 0;
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        removed += usize::from(is_temporary(name.to_bytes()) && remove_if_left(dir, name));
    }
    Ok(removed)
}

fn remove_if_left(dir: BorrowedFd, name: &CStr) -> bool {
    let find = || crate::sys::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // Nothing else is opened, because to open a FIFO or a device can have effects.
    if !find().is_some_and(|stat| is_ours(dir, &stat)) {
        return false;
    }
    let open = |access| {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        crate::sys::fs::openat(dir, name, flags, Mode::empty())
    };
    // Some network file systems lock only files open for writing, which the file's mode may forbid.
    let Ok(file) = open(OFlags::RDWR).or_else(|_| open(OFlags::RDONLY)).map(File::from) else { return false };
    let is_same = |stat: Stat| {
        is_ours(dir, &stat)
            && crate::sys::fs::fstat(&file)
                .is_ok_and(|open| (open.st_dev, open.st_ino) == (stat.st_dev, stat.st_ino))
    };
    // Locked until the file is removed: a writer checks, after locking, that its file still has a name.
    lock::try_lock(&file).unwrap_or(false)
        && find().is_some_and(is_same)
        && crate::sys::fs::unlinkat(dir, name, AtFlags::empty()).is_ok()
}

/// Whether a file in `dir` with such a name can be ours. Ignores its mode, which may be that of the old file.
fn is_ours(dir: BorrowedFd, stat: &Stat) -> bool {
    let regular = crate::sys::fs::file_type(stat.st_mode) == FileType::RegularFile;
    // Only the superuser can give files to other users, which happens before the rename.
    let own = stat.st_uid == geteuid().as_raw() || geteuid().is_root();
    // Where a new file cannot be renamed, it is linked under its name; a crash may leave both names.
    let links = stat.st_nlink == 1 || stat.st_nlink == 2 && has_both_names(dir, stat);
    regular && own && links
}

/// Whether both names of a file are in `dir`.
fn has_both_names(dir: BorrowedFd, stat: &Stat) -> bool {
    let Ok(entries) = Dir::read_from(dir) else { return false };
    entries.flatten().filter(|entry| entry.ino() == stat.st_ino).count() == 2
}

#[cfg(test)]
mod tests {
    use crate::sys::testing::{PermissionsExt, chown};
    use std::path::PathBuf;

    use super::*;
    use crate::sys::fd::OwnedFd;

    struct Folder(tempfile::TempDir, OwnedFd);

    fn folder() -> Folder {
        let dir = tempfile::tempdir().unwrap();
        let handle = crate::sys::testing::open_folder(dir.path());
        Folder(dir, handle)
    }

    impl Folder {
        /// Creates a file.
        fn file(&self, name: &str) -> PathBuf {
            let path = self.0.path().join(name);
            std::fs::write(&path, "text").unwrap();
            path
        }

        fn names(&self) -> Vec<String> {
            let names = std::fs::read_dir(self.0.path()).unwrap();
            let mut names: Vec<_> =
                names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    fn nth(digit: char) -> String {
        format!("{PREFIX}{}", digit.to_string().repeat(DIGITS))
    }

    #[test]
    fn only_the_exact_form_of_our_names_is_a_temporary() {
        assert!(is_temporary(new_name().as_encoded_bytes()) && is_temporary(nth('0').as_bytes()));
        for name in ["", PREFIX, ".file-editor-tmp-notes", ".file-editor-tmp-0123456789abcde"] {
            assert!(!is_temporary(name.as_bytes()), "{name}");
        }
        for name in [nth('g'), nth('A'), nth('0') + "0", nth('0') + ".txt", format!("x{}", nth('0'))] {
            assert!(!is_temporary(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn whatever_is_not_as_we_make_it_stays() {
        let folder = folder();
        let outside = tempfile::tempdir().unwrap();
        let kept = [nth('1'), nth('2'), nth('3'), nth('4'), format!("{PREFIX}notes"), nth('F'), nth('6')];
        std::fs::create_dir(folder.0.path().join(&kept[0])).unwrap();
        crate::sys::testing::symlink("elsewhere", folder.0.path().join(&kept[1])).unwrap();
        // It belongs to a user, because it is in another folder too.
        std::fs::hard_link(folder.file(&kept[2]), outside.path().join("mine")).unwrap();
        let locked = File::open(folder.file(&kept[3])).unwrap();
        assert!(lock::try_lock(&locked).unwrap());
        folder.file(&kept[4]);
        folder.file(&kept[5]);
        let fifo = folder.0.path().join(&kept[6]);
        crate::sys::fs::make_fifo(fifo);
        folder.file(&nth('5'));
        assert_eq!(remove_leftovers(&folder.1).unwrap(), 1);
        let mut expected = kept.to_vec();
        expected.sort();
        assert_eq!(folder.names(), expected);
    }

    #[test]
    fn a_leftover_is_removed_whatever_mode_it_had_come_to() {
        let folder = folder();
        for (digit, mode) in [('0', 0o600), ('1', 0o644), ('2', 0o464), ('3', 0o6777)] {
            std::fs::set_permissions(folder.file(&nth(digit)), PermissionsExt::from_mode(mode)).unwrap();
        }
        assert_eq!(remove_leftovers(&folder.1).unwrap(), 4);
        assert!(folder.names().is_empty());
    }

    #[test]
    fn a_leftover_that_was_linked_into_its_place_loses_only_its_own_name() {
        let folder = folder();
        std::fs::hard_link(folder.file(&nth('0')), folder.0.path().join("new")).unwrap();
        assert_eq!(remove_leftovers(&folder.1).unwrap(), 1);
        assert_eq!(folder.names(), ["new"]);
    }

    #[test]
    fn a_file_that_the_superuser_had_given_away_is_removed() {
        let folder = folder();
        if geteuid().is_root() {
            chown(folder.file(&nth('0')), Some(4242), Some(4242)).unwrap();
            assert_eq!(remove_leftovers(&folder.1).unwrap(), 1);
        }
    }

    #[test]
    fn a_folder_is_cleared_once_and_each_by_itself() {
        let (folders, cleared, mounts) = ([folder(), folder()], Cleared::default(), MountSafety::default());
        for folder in &folders {
            folder.file(&nth('0'));
            cleared.clear_once(&folder.1, &mounts);
            assert!(folder.names().is_empty());
            folder.file(&nth('1'));
            cleared.clear_once(&folder.1, &mounts);
            assert_eq!(folder.names(), [nth('1')], "one look is enough");
        }
        let not_a_folder = tempfile::tempfile().unwrap();
        remove(&not_a_folder, OsStr::new("left"));
        for folder in &folders {
            cleared.clear_once(&folder.1, &mounts);
            assert!(folder.names().is_empty(), "a file was left since");
        }
    }
}
