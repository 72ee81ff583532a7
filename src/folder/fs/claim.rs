//! Gives an entry a name that nothing may have, where the file system knows neither a rename that refuses to replace nor hard
//! links (FAT and exFAT in user space).
//!
//! An empty file takes the name first, which the system creates for one program only. Then the entry is renamed over it, unless
//! another program has used the name meanwhile. In this moment others see the empty file, and a process that dies then leaves it.

use std::ffi::OsStr;
use std::fs::File;

use super::resolve::ResolvedPath;
use super::version::identity;
use super::{failpoint, lock};
use sys::fd::OwnedFd;
use sys::fs::{AtFlags, Mode, OFlags};
use sys::io::Errno;

/// Renames the entry `name` of `dir`, which is no folder, to the free place `to`. EEXIST if something has that name.
pub(super) fn rename_over_claim(dir: &OwnedFd, name: &OsStr, to: &ResolvedPath) -> Result<(), Errno> {
    let claim = Claim::take(to)?;
    failpoint::taken().map_err(|_| Errno::IO)?;
    if !switches::is_off("claim-untouched") && !claim.is_untouched() {
        return Err(Errno::EXIST);
    }
    sys::fs::renameat(dir, name, &to.dir, &to.name)
}

/// Whether the answer to linkat(2) says that the file system has no hard links.
pub fn has_no_links(errno: Errno) -> bool {
    matches!(errno, Errno::PERM | Errno::NOSYS | Errno::NOTSUP)
}

/// An empty file that keeps a name. Dropping it removes the file, unless the name is of another one then.
struct Claim<'p> {
    place: &'p ResolvedPath,
    file: File,
}

impl Claim<'_> {
    fn take(place: &ResolvedPath) -> Result<Claim<'_>, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = sys::fs::openat(&place.dir, &place.name, flags, Mode::RUSR | Mode::WUSR)?;
        let claim = Claim { place, file: file.into() };
        // Another server that finds the file waits for the lock, and looks again when it has it.
        match lock::try_lock(&claim.file) {
            Ok(true) => Ok(claim),
            Ok(false) => Err(Errno::EXIST),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
        }
    }

    /// Whether the name is still of this file, and nobody has written to it.
    fn is_untouched(&self) -> bool {
        let Ok(Some(now)) = self.place.restat() else { return false };
        sys::fs::fstat(&self.file).is_ok_and(|own| identity(&own) == identity(&now) && own.st_size == 0)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !switches::is_off("claim-removed") && !failpoint::crashed() && self.is_untouched() {
            let _ = sys::fs::unlinkat(&self.place.dir, &self.place.name, AtFlags::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::fs::resolve::LastLink;

    /// Renames the file `old` to `new`. Another program acts while the empty file is there. Returns the answer and the contents
    /// of both.
    fn renamed(act: impl FnOnce(&Path) + 'static) -> (Result<(), Errno>, [Option<String>; 2]) {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("old"), "moved").unwrap();
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        let to = ResolvedPath::find_entry(&root, Path::new("new"), LastLink::Follow).unwrap();
        let (path, mut renamed) = (dir.path().to_owned(), None);
        assert!(failpoint::meddle_at(
            1,
            move || act(&path),
            || renamed = Some(rename_over_claim(&root, "old".as_ref(), &to))
        ));
        let contents = ["old", "new"].map(|name| fs::read_to_string(dir.path().join(name)).ok());
        (renamed.unwrap(), contents)
    }

    #[test]
    fn an_entry_gets_a_free_name_over_an_empty_file() {
        let look = |dir: &Path| assert_eq!(fs::read_to_string(dir.join("new")).unwrap(), "");
        assert_eq!(renamed(look), (Ok(()), [None, Some("moved".into())]));
    }

    #[test]
    fn what_another_program_writes_or_puts_at_the_name_meanwhile_stays() {
        let acts: [fn(&Path); 2] = [
            |dir| fs::write(dir.join("new"), "other").unwrap(),
            |dir| {
                fs::write(dir.join("saved"), "other").unwrap();
                fs::rename(dir.join("saved"), dir.join("new")).unwrap();
            },
        ];
        for act in acts {
            let both = [Some("moved".into()), Some("other".into())];
            assert_eq!(renamed(act), (Err(Errno::EXIST), both));
        }
    }

    #[test]
    fn a_rename_that_fails_leaves_no_empty_file() {
        let gone = |dir: &Path| fs::remove_file(dir.join("old")).unwrap();
        assert_eq!(renamed(gone), (Err(Errno::NOENT), [None, None]));
    }

    #[test]
    fn a_name_that_something_has_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("old"), "moved").unwrap();
        let root = Arc::new(sys::testing::open_folder(dir.path()));
        let to = ResolvedPath::find_entry(&root, Path::new("new"), LastLink::Follow).unwrap();
        // Empty, like one of ours.
        fs::write(dir.path().join("new"), "").unwrap();
        assert_eq!(rename_over_claim(&root, "old".as_ref(), &to), Err(Errno::EXIST));
        assert_eq!(fs::read_to_string(dir.path().join("new")).unwrap(), "");
    }
}
