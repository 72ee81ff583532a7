//! A file's metadata: owner, group, mode, ACL and other extended attributes.
//!
//! A file that replaces another one gets the other's metadata, as far as the system allows. A right that
//! cannot be copied is left out, so that no user may do more with the new file than with the old one. The
//! order of the steps keeps the new file accessible to its owner only until its rights are complete.

use std::ffi::OsStr;
use std::fs::File;
use std::io;

use super::acl::Acl;
use super::failpoint;
use super::view::OpenFile;
use sys::buffer::spare_capacity;
use sys::fd::AsFd;
use sys::ffi::OsStrExt;
use sys::fs::{Gid, Mode, Stat, Uid, XattrFlags, is_access_acl, set_access_acl};

/// The mode that a program usually passes to open(2).
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);

/// The mode bits that run a program with the rights of the file's owner or group.
const SET_ID: Mode = Mode::SUID.union(Mode::SGID);

/// The kernel's limit, in bytes, for all names of one file and for one value.
const LARGEST: usize = 64 * 1024;

/// Whether the new file has the old file's owner and its group.
#[derive(Debug, Clone, Copy)]
struct KeptIds {
    owner: bool,
    group: bool,
}

impl KeptIds {
    fn both(self) -> bool {
        self.owner && self.group
    }
}

/// Copies to `new` the metadata that a rename over `old` would lose.
pub(crate) fn copy(old: &OpenFile, new: &File) -> io::Result<()> {
    let from = old.stat();
    let names = XattrNames::of(old.file());
    let acl = access_acl(old);
    let keeps_acl = acl.as_ref().is_some_and(|acl| !acl.is_mode());
    let cleared = drop_inherited(new, &names, keeps_acl);
    failpoint::taken()?;
    let kept = copy_owner(from, new)?;
    failpoint::taken()?;
    if !switches::is_off("write-xattrs") {
        copy_xattrs(old.file(), new, &names);
    }
    sys::fs::copy_system_attributes(old.file(), new)?;
    failpoint::taken()?;
    copy_rights(from, acl, new, kept, cleared)
}

/// Gives a new file in `dir` the rights that open(2) would give it there. `mode` is 0666 without the bits of
/// the umask; it applies only in a folder without a default ACL.
pub(crate) fn give_to_new_file(dir: impl AsFd, new: &File, mode: Mode) -> io::Result<()> {
    let Some(default) = default_acl(dir) else { return Ok(sys::fs::fchmod(new, mode)?) };
    let acl = default.for_new_file(NEW_FILE);
    if !acl.is_mode() {
        set_access_acl(new, &acl.to_bytes())?;
        failpoint::taken()?;
    }
    Ok(sys::fs::fchmod(new, acl.mode())?)
}

/// The access ACL of a file, made from its mode if it has none. `None` if the system does not say.
fn access_acl(old: &OpenFile) -> Option<Acl> {
    match sys::fs::access_acl(old.file()) {
        Ok(Some(acl)) => Acl::parse(&acl),
        Ok(None) => Some(Acl::of_mode(mode_of(old.stat()))),
        Err(_) => None,
    }
}

/// Removes inherited attributes that the old file does not have. Returns whether no inherited ACL is left.
fn drop_inherited(new: &File, old: &XattrNames, keeps_acl: bool) -> bool {
    let mut cleared = true;
    for name in XattrNames::of(new).iter() {
        if is_access_acl(name) {
            // The old file's ACL replaces it later.
            cleared =
                switches::is_off("rights-inherited") || keeps_acl || sys::fs::fremovexattr(new, name).is_ok();
        } else if !old.have(name) {
            let _ = sys::fs::fremovexattr(new, name);
        }
    }
    cleared
}

fn copy_owner(from: &Stat, new: &File) -> io::Result<KeptIds> {
    let kept = |now: &Stat| KeptIds { owner: now.st_uid == from.st_uid, group: now.st_gid == from.st_gid };
    let now = kept(&sys::fs::fstat(new)?);
    if now.both() {
        return Ok(now);
    }
    let owner = (!now.owner).then(|| Uid::from_raw(from.st_uid));
    let group = (!now.group).then(|| Gid::from_raw(from.st_gid));
    if !switches::is_off("write-owner") && sys::fs::fchown(new, owner, group).is_err() {
        // Only the superuser can change the owner, but the group may be kept if this process is in it.
        let _ = sys::fs::fchown(new, None, group);
    }
    // Some file systems report success without a change.
    Ok(kept(&sys::fs::fstat(new)?))
}

fn copy_xattrs(from: &File, to: &File, names: &XattrNames) {
    for name in names.iter().filter(|name| !is_access_acl(name)) {
        if let Some(value) = xattr(from, name) {
            let _ = sys::fs::fsetxattr(to, name, &value, XattrFlags::empty());
        }
    }
}

/// Sets ACL and mode, as the last step: a change of the owner clears mode bits, and an ACL sets some.
fn copy_rights(from: &Stat, acl: Option<Acl>, new: &File, kept: KeptIds, cleared: bool) -> io::Result<()> {
    let narrow = |acl: Acl| {
        let acl = if kept.group { acl } else { acl.for_another_group() };
        if kept.owner { acl } else { acl.for_another_owner() }
    };
    let (mode, set) = match acl.map(narrow) {
        Some(acl) if acl.is_mode() => (acl.mode(), cleared),
        Some(acl) => {
            let set = set_access_acl(new, &acl.to_bytes()).is_ok();
            failpoint::taken()?;
            (acl.mode(), set)
        }
        None => (mode_of(from).intersection(Mode::RWXU), false),
    };
    // With an ACL, the group bits are its mask: without them, an inherited ACL grants nothing. Without an
    // ACL, they would grant to the group what the mask allowed.
    let mode = if set { mode } else { mode.difference(Mode::RWXG) };
    let special = mode_of(from).difference(Mode::RWXU | Mode::RWXG | Mode::RWXO);
    let special =
        if kept.both() || switches::is_off("rights-set-id") { special } else { special.difference(SET_ID) };
    if !switches::is_off("write-mode") {
        sys::fs::fchmod(new, mode.union(special))?;
    }
    Ok(())
}

fn mode_of(stat: &Stat) -> Mode {
    sys::fs::mode(stat.st_mode)
}

fn default_acl(dir: impl AsFd) -> Option<Acl> {
    sys::fs::default_acl(dir).and_then(|acl| Acl::parse(&acl))
}

fn xattr(file: &File, name: &OsStr) -> Option<Vec<u8>> {
    let mut value = Vec::with_capacity(LARGEST);
    sys::fs::fgetxattr(file, name, spare_capacity(&mut value)).ok().map(|_| value)
}

/// The names of a file's extended attributes; empty if the system does not list them.
struct XattrNames(Vec<u8>);

impl XattrNames {
    fn of(file: &File) -> XattrNames {
        let mut names = Vec::with_capacity(LARGEST);
        let _ = sys::fs::flistxattr(file, spare_capacity(&mut names));
        XattrNames(names)
    }

    fn iter(&self) -> impl Iterator<Item = &OsStr> {
        self.0.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(OsStr::from_bytes)
    }

    fn have(&self, name: impl AsRef<OsStr>) -> bool {
        self.iter().any(|known| known == name.as_ref())
    }
}

/// Sets the default ACL of a folder: a user who is neither the owner nor in the group gets all rights. False: there are no ACLs here.
#[cfg(any(test, feature = "testing"))]
pub fn open_to_a_friend(dir: &std::path::Path) -> bool {
    let mut bytes = Acl::of_mode(Mode::from_raw_mode(0o777)).to_bytes();
    let (user, mask) = ([2, 0, 7, 0, 146, 16, 0, 0], [16, 0, 7, 0, 255, 255, 255, 255]);
    // The owner's entry starts at byte 4, the group's at 12, the others' at 20.
    bytes.splice(20..20, mask);
    bytes.splice(12..12, user);
    sys::testing::set_default_acl(dir, &bytes).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stdout)] // Tests print what they skip.

    use std::path::Path;
    use sys::fs::OFlags;
    use sys::testing::MetadataExt;

    use super::*;

    /// A folder whose default ACL gives rights to another user. Prints and returns `None` without ACLs.
    fn folder() -> Option<tempfile::TempDir> {
        let dir = tempfile::tempdir().unwrap();
        if !open_to_a_friend(dir.path()) {
            println!("SKIPPED: no ACLs at {}", dir.path().display());
            return None;
        }
        Some(dir)
    }

    /// The mode and ACL of a file.
    fn rights(path: &Path) -> (u32, Option<Acl>) {
        let file = File::open(path).unwrap();
        (
            path.metadata().unwrap().mode() & 0o777,
            sys::fs::access_acl(&file).unwrap().and_then(|acl| Acl::parse(&acl)),
        )
    }

    #[test]
    fn a_new_file_by_a_handle_that_only_names_its_folder_has_the_rights_of_the_folder() {
        let Some(dir) = folder() else { return };
        let flags = sys::fs::ONLY_PASS | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = sys::fs::open(dir.path(), flags, Mode::empty()).unwrap();
        std::fs::write(dir.path().join("by-open"), "").unwrap();
        let new = File::create(dir.path().join("new")).unwrap();
        sys::fs::fchmod(&new, Mode::RUSR | Mode::WUSR).unwrap();
        give_to_new_file(&handle, &new, Mode::RUSR).unwrap();
        assert_eq!(rights(&dir.path().join("new")), rights(&dir.path().join("by-open")));
    }

    #[test]
    fn a_file_without_an_acl_keeps_its_mode_on_every_system() {
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o644, 0o664, 0o640, 0o755, 0o600, 0o444] {
            let (old, new) = (tempfile::tempfile_in(&dir).unwrap(), tempfile::tempfile_in(&dir).unwrap());
            sys::fs::fchmod(&old, Mode::from_raw_mode(mode)).unwrap();
            assert_eq!(sys::fs::access_acl(&old), Ok(None));
            let stat = sys::fs::fstat(&old).unwrap();
            copy(&OpenFile::new(old, stat), &new).unwrap();
            assert_eq!(mode_of(&sys::fs::fstat(&new).unwrap()), mode_of(&stat), "{mode:o}");
        }
    }

    #[test]
    fn where_the_acl_is_not_the_old_files_the_group_which_stands_for_its_mask_has_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new");
        let new = File::create(&path).unwrap();
        let mode = |mode| Mode::from_raw_mode(mode);
        sys::fs::fchmod(&new, mode(0o664)).unwrap();
        let from = sys::fs::fstat(&new).unwrap();
        let kept = KeptIds { owner: true, group: true };
        for (acl, cleared, expected) in [
            (Some(Acl::of_mode(mode(0o664))), true, 0o664),
            (Some(Acl::of_mode(mode(0o664))), false, 0o604),
            (None, true, 0o600),
            // An ACL that no file has.
            (Acl::parse(&[2, 0, 0, 0]), true, 0o600),
        ] {
            copy_rights(&from, acl, &new, kept, cleared).unwrap();
            assert_eq!(rights(&path).0, expected);
        }
    }

    #[test]
    fn extended_attributes_that_only_the_new_file_has_go_and_all_others_come() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, xattrs: &[(&str, &str)]| {
            let file = File::create(dir.path().join(name)).unwrap();
            let set = |(name, value): &(&str, &str)| {
                sys::fs::fsetxattr(&file, *name, value.as_bytes(), XattrFlags::empty()).is_ok()
            };
            xattrs.iter().all(set).then_some(file)
        };
        let old = file("old", &[("user.both", "old"), ("user.old", "old")]);
        let new = file("new", &[("user.both", "new"), ("user.new", "new")]);
        let (Some(old), Some(new)) = (old, new) else {
            return println!("SKIPPED: no extended attributes at {}", dir.path().display());
        };
        let stat = sys::fs::fstat(&old).unwrap();
        copy(&OpenFile::new(old, stat), &new).unwrap();
        let value = |name: &str| xattr(&new, name.as_ref());
        assert_eq!((value("user.both"), value("user.old")), (Some(b"old".into()), Some(b"old".into())));
        assert_eq!(value("user.new"), None);
    }
}
