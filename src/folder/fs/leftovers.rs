//! What dead processes left in a folder: removes their temporary files, and puts back what they had set aside.
//!
//! The writer locks a temporary file while it lives. So a file is a leftover only if all of this holds: its
//! name matches exactly, it is a regular file of our user, it has no link in another folder, and no process
//! has locked it. Any other file whose name begins like ours belongs to a user.
//!
//! What a job had hidden ([`super::temporary::new_hidden_name`]) stays for the repair of the job; what is left after a month goes.
//!
//! If a writer died while a file was set aside, the file gets its name back, or one beside that ([`KEPT`]) if the name is taken.

use std::collections::HashSet;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::lock;
use super::mount_safety::MountSafety;
use super::temporary::{SetAside, is_hidden, is_temporary, is_unlocked, not_removed};
use super::version::identity;
use sys::fd::{AsFd, BorrowedFd};
use sys::ffi::OsStrExt;
use sys::fs::{AtFlags, Dir, FileType, KEPT, KEPT_DIGITS, Mode, OFlags, RenameFlags, Stat};
use sys::io::Errno;
use sys::process::geteuid;

/// Within this time, a server with the journal of a job that a dead writer has left is expected to repair it. Others cannot tell.
pub const REPAIRED_WITHIN: Duration = Duration::from_secs(30 * 86_400);

/// Within this time, a temporary file that is not locked belongs to a job that is carried out.
const WRITTEN_WITHIN: Duration = Duration::from_secs(3600);

/// Maximum number of folders remembered as cleared.
const MOST: usize = 1024;

/// The folders that this process has cleared of leftovers, by device and inode.
#[derive(Debug, Default)]
pub struct Cleared(Mutex<ClearedFolders>);

#[derive(Debug, Default)]
struct ClearedFolders {
    ids: HashSet<(u64, u64)>,
    /// [`not_removed`] when they were cleared.
    left: u64,
}

impl Cleared {
    /// Removes the leftovers in `dir`, unless that was done before. Errors are ignored: a leftover is hidden, and
    /// clients cannot name it.
    pub fn clear_once(&self, dir: impl AsFd, mounts: &MountSafety) {
        let Ok(stat) = sys::fs::fstat(&dir) else { return };
        let mut folders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = not_removed();
        if folders.left != left || folders.ids.len() >= MOST {
            folders.ids.clear();
        }
        folders.left = left;
        let is_first = folders.ids.insert(identity(&stat));
        drop(folders);
        if is_first {
            clear(dir, mounts);
        }
    }
}

/// Removes the leftovers in `dir`. Not where locks do not keep out other machines: there, a file may belong to a writer on one of
/// them. Errors are ignored, as above. Returns whether something has changed there.
pub fn clear(dir: impl AsFd, mounts: &MountSafety) -> bool {
    let device = sys::fs::fstat(&dir).map(|stat| stat.st_dev);
    device.is_ok_and(|device| switches::is_off("clear-unsafe-locks") || mounts.locks_hold(&dir, device))
        && remove_leftovers(dir).is_ok_and(|removed| removed > 0)
}

/// Puts back what dead writers had set aside in `dir`, however often that was done before: one may have died since. Returns
/// whether something has changed there.
pub fn put_back(dir: impl AsFd, mounts: &MountSafety) -> bool {
    sys::fs::sets_aside(&dir) && clear(dir, mounts)
}

/// Removes the temporary files in `dir` whose writers are dead, and puts back what these had set aside. Returns the number of
/// files that are gone.
pub(crate) fn remove_leftovers(dir: impl AsFd) -> io::Result<usize> {
    // The handle may be opened with O_PATH.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = sys::fs::openat(dir, ".", flags, Mode::empty())?;
    let dir = dir.as_fd();
    let (mut aside, mut temporary) = (Vec::new(), Vec::new());
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if is_temporary(name.to_bytes()) && !is_young(dir, name) {
            let list = if SetAside::parse(name.to_bytes()).is_some() { &mut aside } else { &mut temporary };
            list.push(name.to_owned());
        }
    }
    let before = aside.len() + temporary.len();
    // First, because a temporary file tells whether the one that was set aside is still needed.
    aside.retain(|name: &CString| !settle_aside(dir, name));
    let belongs = |aside: &CString, name: &CString| aside.to_bytes().starts_with(name.to_bytes());
    temporary.retain(|name: &CString| {
        aside.iter().any(|aside| belongs(aside, name)) || !remove_if_left(dir, name)
    });
    Ok(before - aside.len() - temporary.len())
}

/// Whether an entry that a job has hidden may still be needed to repair the job, or a temporary file that is not locked belongs to one.
fn is_young(dir: BorrowedFd, name: &CStr) -> bool {
    let within = match name.to_bytes() {
        name if is_hidden(name) => REPAIRED_WITHIN,
        name if is_unlocked(name) => WRITTEN_WITHIN,
        _ => return false,
    };
    let Ok(stat) = sys::fs::statat(dir, OsStr::from_bytes(name.to_bytes()), AtFlags::SYMLINK_NOFOLLOW) else {
        return true;
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_secs().saturating_sub(stat.st_ctime as u64) < within.as_secs()
}

/// Puts a file back that a dead writer had set aside, or removes it if the new file has its place. False if it stays.
fn settle_aside(dir: BorrowedFd, name: &CStr) -> bool {
    let Some(SetAside { temporary, own }) = SetAside::parse(name.to_bytes()) else { return false };
    let Ok(new_name) = CString::new(temporary) else { return false };
    let stat = |name: &[u8]| sys::fs::statat(dir, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW);
    if !stat(name.to_bytes()).is_ok_and(|stat| is_own_file(&stat)) {
        return false;
    }
    let _lock = match (stat(temporary), own.map(stat)) {
        // The new file got the name.
        (Err(Errno::NOENT), None | Some(Ok(_))) => {
            return sys::fs::unlinkat(dir, name, AtFlags::empty()).is_ok();
        }
        // It got it and was removed, or it did not get it: this may be the only file left.
        (Err(Errno::NOENT), Some(Err(Errno::NOENT))) => None,
        // While its writer lives, it has locked the new file.
        (Ok(_), _) => match lock_if_left(dir, &new_name) {
            None if !switches::is_off("aside-living") => return false,
            lock => lock,
        },
        _ => return false,
    };
    let rename_to = |new: &OsStr| sys::fs::renameat_with(dir, name, dir, new, RenameFlags::NOREPLACE);
    match own.map_or(Err(Errno::EXIST), |own| rename_to(OsStr::from_bytes(own))) {
        // Another program has made a file in its place, or its name is not known.
        Err(Errno::EXIST) => {
            let digits = &temporary[temporary.len().saturating_sub(KEPT_DIGITS)..];
            let kept = [own.unwrap_or_default(), KEPT.as_bytes(), digits].concat();
            match switches::is_off("aside-kept") {
                true => sys::fs::unlinkat(dir, name, AtFlags::empty()).is_ok(),
                false => rename_to(OsStr::from_bytes(&kept)).is_ok(),
            }
        }
        renamed => renamed.is_ok(),
    }
}

fn remove_if_left(dir: BorrowedFd, name: &CStr) -> bool {
    // Locked until the file is removed: a writer checks, after locking, that its file still has a name.
    lock_if_left(dir, name).is_some_and(|_lock| sys::fs::unlinkat(dir, name, AtFlags::empty()).is_ok())
}

/// Locks a temporary file if its writer is dead.
fn lock_if_left(dir: BorrowedFd, name: &CStr) -> Option<File> {
    let find = || sys::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    // Nothing else is opened, because to open a FIFO or a device can have effects.
    if !find().is_some_and(|stat| is_ours(dir, &stat)) {
        return None;
    }
    let open = |access| {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        sys::fs::openat(dir, name, flags, Mode::empty())
    };
    // Some network file systems lock only files open for writing, which the file's mode may forbid.
    let file = open(OFlags::RDWR).or_else(|_| open(OFlags::RDONLY)).map(File::from).ok()?;
    let is_same = |stat: Stat| {
        is_ours(dir, &stat) && sys::fs::fstat(&file).is_ok_and(|open| identity(&open) == identity(&stat))
    };
    ((switches::is_off("leftover-lock") || lock::try_lock(&file).unwrap_or(false))
        && find().is_some_and(is_same))
    .then_some(file)
}

/// Whether a file in `dir` with such a name can be ours. Ignores its mode, which may be that of the old file.
fn is_ours(dir: BorrowedFd, stat: &Stat) -> bool {
    // Where a new file cannot be renamed, it is linked under its name; a crash may leave both names.
    is_own_file(stat) && (stat.st_nlink == 1 || stat.st_nlink == 2 && has_both_names(dir, stat))
}

/// Whether this is a regular file of our user.
fn is_own_file(stat: &Stat) -> bool {
    let regular = sys::fs::file_type(stat.st_mode) == FileType::RegularFile;
    // Only the superuser can give files to other users, which happens before the rename.
    (regular || switches::is_off("leftover-kind"))
        && (stat.st_uid == geteuid().as_raw() || geteuid().is_root())
}

/// Whether both names of a file are in `dir`.
fn has_both_names(dir: BorrowedFd, stat: &Stat) -> bool {
    let Ok(entries) = Dir::read_from(dir) else { return false };
    entries.flatten().filter(|entry| entry.ino() == stat.st_ino).count() == 2
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::temporary::tests::nth;
    use super::super::temporary::{PREFIX, remove};
    use super::*;
    use sys::fd::OwnedFd;
    use sys::testing::{PermissionsExt, chown};

    struct Folder(tempfile::TempDir, OwnedFd);

    fn folder() -> Folder {
        let dir = tempfile::tempdir().unwrap();
        let handle = sys::testing::open_folder(dir.path());
        Folder(dir, handle)
    }

    impl Folder {
        /// Creates a file.
        fn file(&self, name: &str) -> PathBuf {
            let path = self.0.path().join(name);
            std::fs::write(&path, "text").unwrap();
            path
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.0.path().join(name), text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            std::fs::read_to_string(self.0.path().join(name)).unwrap()
        }

        fn names(&self) -> Vec<String> {
            let names = std::fs::read_dir(self.0.path()).unwrap();
            let mut names: Vec<_> =
                names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    #[test]
    fn what_a_dead_writer_set_aside_is_put_back_unless_the_new_file_has_its_place() {
        let folder = folder();
        // Killed between the two renames.
        folder.write(&(nth('0') + "-old-a"), "old");
        folder.write(&nth('0'), "new");
        // Killed behind them.
        folder.write(&(nth('1') + "-old-b"), "old");
        folder.write("b", "new");
        folder.write(&(nth('2') + "-old"), "old, and its name is too long");
        // Behind them, and then the file was deleted; or the temporary file was lost.
        folder.write(&(nth('3') + "-old-c"), "old");
        // A file with another name, in another folder.
        folder.write(&(nth('4') + "-old-d"), "old");
        folder.write(&nth('4'), "new");
        let elsewhere = folder.0.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::hard_link(folder.0.path().join(nth('4') + "-old-d"), elsewhere.join("linked")).unwrap();
        assert_eq!(remove_leftovers(&folder.1).unwrap(), 7);
        assert_eq!(folder.names(), ["a", "b", "c", "d", "elsewhere"]);
        assert_eq!(["a", "b", "c", "d"].map(|name| folder.read(name)), ["old", "new", "old", "old"]);
    }

    #[test]
    fn what_was_set_aside_is_never_lost_and_never_replaces_anything() {
        let folder = folder();
        // Killed between the two renames, and then another program made the file.
        folder.write(&(nth('0') + "-old-a"), "old");
        folder.write(&nth('0'), "new");
        folder.write("a", "other");
        // Killed there, and the name is too long to be known.
        folder.write(&(nth('1') + "-old"), "old");
        folder.write(&nth('1'), "new");
        // Its own name is that of a folder now, and even the one beside it is taken.
        folder.write(&(nth('2') + "-old-c"), "old");
        folder.write(&nth('2'), "new");
        std::fs::create_dir(folder.0.path().join("c")).unwrap();
        folder.write(&format!("c.old-{}", "2".repeat(16)), "other");
        assert_eq!(remove_leftovers(&folder.1).unwrap(), 4);
        let (kept, unnamed) = (format!("a.old-{}", "0".repeat(16)), format!(".old-{}", "1".repeat(16)));
        let beside = format!("c.old-{}", "2".repeat(16));
        let mut names =
            ["a".into(), "c".into(), kept.clone(), unnamed.clone(), beside.clone(), nth('2')].to_vec();
        names.push(nth('2') + "-old-c");
        names.sort();
        assert_eq!(folder.names(), names);
        let texts = ["a".into(), kept, unnamed, beside, nth('2') + "-old-c"].map(|name| folder.read(&name));
        assert_eq!(texts, ["other", "old", "old", "other", "old"]);
    }

    #[test]
    fn what_is_set_aside_stays_while_its_writer_lives() {
        let folder = folder();
        let mut kept = [nth('0'), nth('0') + "-old-a", nth('1') + "-old-b", nth('2'), nth('2') + "-old"];
        kept.iter().filter(|name| **name != kept[2]).for_each(|name| drop(folder.file(name)));
        std::fs::create_dir(folder.0.path().join(&kept[2])).unwrap();
        let living = [0, 3].map(|number| File::open(folder.0.path().join(&kept[number])).unwrap());
        assert!(living.iter().all(|file| lock::try_lock(file).unwrap()));
        assert_eq!(remove_leftovers(&folder.1).unwrap(), 0);
        kept.sort();
        assert_eq!(folder.names(), kept);
    }

    #[test]
    fn whatever_is_not_as_we_make_it_stays() {
        let folder = folder();
        let outside = tempfile::tempdir().unwrap();
        let kept = [nth('1'), nth('2'), nth('3'), nth('4'), format!("{PREFIX}notes"), nth('F'), nth('6')];
        std::fs::create_dir(folder.0.path().join(&kept[0])).unwrap();
        sys::testing::symlink("elsewhere", folder.0.path().join(&kept[1])).unwrap();
        // It belongs to a user, because it is in another folder too.
        std::fs::hard_link(folder.file(&kept[2]), outside.path().join("mine")).unwrap();
        let locked = File::open(folder.file(&kept[3])).unwrap();
        assert!(lock::try_lock(&locked).unwrap());
        folder.file(&kept[4]);
        folder.file(&kept[5]);
        let fifo = folder.0.path().join(&kept[6]);
        sys::fs::make_fifo(fifo);
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
        let other = folder();
        std::fs::create_dir(other.0.path().join("no-file")).unwrap();
        remove(&other.1, OsStr::new("no-file"));
        for folder in &folders {
            cleared.clear_once(&folder.1, &mounts);
            assert!(folder.names().is_empty(), "a file was left since");
        }
    }
}
