//! Renames that replace nothing. Knows nothing of locks, and of what may be moved.

use super::claim::{has_no_links, rename_over_claim};
use super::lost::may_be_done;
use super::resolve::{ResolvedPath, file_type};
use super::version::identity;
use super::{failpoint, file_system};
use sys::fs::{AtFlags, FileType, RenameFlags, Stat};
use sys::io::Errno;

/// What became of a rename that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renamed {
    /// The entry has its new name only.
    Moved,
    /// The entry got its new name. Then another program put something else at one of the names, so the old one was left.
    SourceKept,
    /// The file system has lost the answer to a call, with this error. The entry has its old name, its new name, or both.
    Unknown(Errno),
}

/// Renames without replacing anything. `from` must have been found, and `to` be free.
pub fn rename_to_free(from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    let flag = RenameFlags::NOREPLACE;
    match sys::fs::renameat_with(&from.dir, &from.name, &to.dir, &to.name, flag) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_without_flag(from, to),
        renamed => settle(renamed, from, to),
    }
}

/// The same on a file system that does not know the flag.
fn rename_without_flag(from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    if from.stat.as_ref().map(file_type) == Some(FileType::Directory) {
        // A folder has no second name. The kernel refuses to replace a file or a folder that is not empty.
        return match to.restat()? {
            Some(_) => Err(Errno::EXIST),
            None => settle(sys::fs::renameat(&from.dir, &from.name, &to.dir, &to.name), from, to),
        };
    }
    // A hard link fails too if the name exists.
    let linked = sys::fs::linkat(&from.dir, &from.name, &to.dir, &to.name, AtFlags::empty());
    if !switches::is_off("move-claim") && linked.is_err_and(has_no_links) {
        return settle(rename_over_claim(&from.dir, &from.name, to), from, to);
    }
    match settle(linked, from, to)? {
        Renamed::Moved => remove_old_name(from, to),
        other => Ok(other),
    }
}

/// What a rename or a link with this answer has done.
fn settle(answer: Result<(), Errno>, from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    let Err(errno) = answer else { return Ok(Renamed::Moved) };
    // A repeated call finds the new name taken, or the old one gone.
    if !may_be_done(&errno.into(), file_system::is_local(&to.dir), &[Errno::NOENT, Errno::EXIST]) {
        return Err(errno);
    }
    match (to.restat(), &from.stat) {
        (Ok(Some(now)), Some(old)) if identity(&now) == identity(old) => Ok(Renamed::Moved),
        // Something else has the name.
        _ if errno == Errno::EXIST || switches::is_off("move-lost") => Err(errno),
        _ => Ok(Renamed::Unknown(errno)),
    }
}

/// Removes the old name if both names are of one entry.
fn remove_old_name(from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    // It has two names now; the new one must not stay.
    let not_moved = |errno| match remove(to) {
        Ok(()) | Err(Errno::NOENT) => Err(errno),
        Err(_) => Ok(Renamed::Unknown(errno)),
    };
    if failpoint::taken().is_err() {
        return not_moved(Errno::IO);
    }
    let old = match from.restat() {
        Ok(Some(old)) => old,
        Ok(None) => return not_moved(Errno::NOENT),
        Err(errno) => return not_moved(errno),
    };
    match to.restat() {
        Ok(Some(new))
            if switches::is_off("move-keeps-other")
                || is_same(&new, &old, || file_system::is_local(&to.dir)) => {}
        Ok(_) => return Ok(Renamed::SourceKept),
        Err(errno) => return not_moved(errno),
    }
    match remove(from) {
        Ok(()) => Ok(Renamed::Moved),
        // The new name may be its only one.
        Err(errno)
            if !switches::is_off("move-last-name")
                && may_be_done(&errno.into(), file_system::is_local(&from.dir), &[Errno::NOENT]) =>
        {
            Ok(Renamed::Unknown(errno))
        }
        Err(errno) => not_moved(errno),
    }
}

/// Whether a new link of a file leads to it. Some file systems in user space, as sshfs, number files by their names: there, the file is
/// told by all else that both names show.
fn is_same(new: &Stat, old: &Stat, is_local: impl FnOnce() -> bool) -> bool {
    let shown = |stat: &Stat| {
        let times = [(stat.st_mtime, stat.st_mtime_nsec), (stat.st_ctime, stat.st_ctime_nsec)];
        (stat.st_dev, stat.st_mode, stat.st_uid, stat.st_gid, stat.st_nlink, stat.st_size, times)
    };
    identity(new) == identity(old)
        || (!switches::is_off("link-same-file") && shown(new) == shown(old) && !is_local())
}

fn remove(place: &ResolvedPath) -> Result<(), Errno> {
    sys::fs::unlinkat(&place.dir, &place.name, AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use super::super::resolve::LastLink;
    use super::*;

    /// Renames the file `old` to `new`. Another program acts while the file has both names. Returns what became of it, and
    /// the contents of both.
    fn renamed(act: impl FnOnce(&Path) + 'static) -> (Result<Renamed, Errno>, [Option<String>; 2]) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("old"), "moved").unwrap();
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        let [from, to] = ["old", "new"]
            .map(|name| ResolvedPath::find_entry(&root, Path::new(name), LastLink::Keep).unwrap());
        let (path, mut renamed) = (dir.path().to_owned(), None);
        assert!(failpoint::meddle_at(
            1,
            move || act(&path),
            || renamed = Some(rename_without_flag(&from, &to))
        ));
        let contents = ["old", "new"].map(|name| fs::read_to_string(dir.path().join(name)).ok());
        (renamed.unwrap(), contents)
    }

    #[test]
    fn without_the_flag_a_file_gets_its_new_name_and_loses_the_old_one() {
        assert_eq!(renamed(|_| {}), (Ok(Renamed::Moved), [None, Some("moved".into())]));
    }

    #[test]
    fn what_another_program_puts_at_the_old_name_meanwhile_stays() {
        let replace = |dir: &Path| {
            fs::write(dir.join("saved"), "saved").unwrap();
            fs::rename(dir.join("saved"), dir.join("old")).unwrap();
        };
        let both = [Some("saved".into()), Some("moved".into())];
        assert_eq!(renamed(replace), (Ok(Renamed::SourceKept), both));
    }

    #[test]
    fn where_files_are_numbered_by_their_names_a_link_is_told_by_all_else() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "text").unwrap();
        fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
        let old = sys::fs::stat(dir.path().join("a")).unwrap();
        let mut new = sys::fs::stat(dir.path().join("b")).unwrap();
        assert!(is_same(&new, &old, || true));
        new.st_ino += 1;
        assert!(is_same(&new, &old, || false) && !is_same(&new, &old, || true));
        new.st_size += 1;
        assert!(!is_same(&new, &old, || false));
    }

    #[test]
    fn a_rename_whose_answer_is_lost_is_looked_up_and_never_told_as_a_failure() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("old")).unwrap();
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        let [from, to] = ["old", "new"]
            .map(|name| ResolvedPath::find_entry(&root, Path::new(name), LastLink::Keep).unwrap());
        let lost = || settle(Err(Errno::NOTCONN), &from, &to);
        assert_eq!(lost(), Ok(Renamed::Unknown(Errno::NOTCONN)));
        assert_eq!(settle(Err(Errno::ACCESS), &from, &to), Err(Errno::ACCESS));
        fs::create_dir(path("new")).unwrap();
        assert_eq!(lost(), Ok(Renamed::Unknown(Errno::NOTCONN)));
        fs::remove_dir(path("new")).unwrap();
        fs::rename(path("old"), path("new")).unwrap();
        assert_eq!(lost(), Ok(Renamed::Moved));
    }

    #[test]
    fn a_file_whose_old_name_is_gone_meanwhile_is_not_moved() {
        let remove = |dir: &Path| fs::remove_file(dir.join("old")).unwrap();
        assert_eq!(renamed(remove), (Err(Errno::NOENT), [None, None]));
    }
}
