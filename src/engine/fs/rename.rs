//! Renames that replace nothing. Knows nothing of locks, and of what may be moved.

use super::failpoint;
use super::resolve::{ResolvedPath, file_type};
use crate::sys::fs::{AtFlags, FileType, RenameFlags, Stat};
use crate::sys::io::Errno;

/// What became of a rename that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Renamed {
    /// The entry has its new name only.
    Moved,
    /// The entry got its new name. Then another program put something else at one of the names, so the old one was left.
    SourceKept,
}

/// Renames without replacing anything.
pub(crate) fn rename_to_free(from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    match crate::sys::fs::renameat_with(&from.dir, &from.name, &to.dir, &to.name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_without_flag(from, to),
        renamed => renamed.map(|()| Renamed::Moved),
    }
}

/// The same on a file system that does not know the flag.
fn rename_without_flag(from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    if from.stat.as_ref().map(file_type) == Some(FileType::Directory) {
        // A folder has no second name. The kernel refuses to replace a file or a folder that is not empty.
        return match to.restat()? {
            Some(_) => Err(Errno::EXIST),
            None => {
                crate::sys::fs::renameat(&from.dir, &from.name, &to.dir, &to.name).map(|()| Renamed::Moved)
            }
        };
    }
    // A hard link fails too if the name exists.
    crate::sys::fs::linkat(&from.dir, &from.name, &to.dir, &to.name, AtFlags::empty())?;
    remove_old_name(from, to).inspect_err(|_| {
        // It has two names now; the new one must not stay.
        let _ = remove(to);
    })
}

/// Removes the old name if both names are of one entry.
fn remove_old_name(from: &ResolvedPath, to: &ResolvedPath) -> Result<Renamed, Errno> {
    failpoint::taken().map_err(|_| Errno::IO)?;
    let id = |stat: Stat| (stat.st_dev, stat.st_ino);
    let old = from.restat()?.map(id).ok_or(Errno::NOENT)?;
    if to.restat()?.map(id) != Some(old) {
        return Ok(Renamed::SourceKept);
    }
    remove(from).map(|()| Renamed::Moved)
}

fn remove(place: &ResolvedPath) -> Result<(), Errno> {
    crate::sys::fs::unlinkat(&place.dir, &place.name, AtFlags::empty())
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
        let root = Arc::new(crate::sys::testing::open_folder(dir.path()));
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
    fn a_file_whose_old_name_is_gone_meanwhile_is_not_moved() {
        let remove = |dir: &Path| fs::remove_file(dir.join("old")).unwrap();
        assert_eq!(renamed(remove), (Err(Errno::NOENT), [None, None]));
    }
}
