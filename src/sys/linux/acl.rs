//! POSIX ACLs (acl(5)), which the kernel shows as extended attributes of files.

use std::ffi::OsStr;

use rustix::buffer::spare_capacity;
use rustix::fd::AsFd;
use rustix::fs::{Mode, OFlags, XattrFlags, fgetxattr, fsetxattr};
use rustix::io::{Errno, Result};

/// The extended attribute that holds a file's ACL.
const ACCESS: &str = "system.posix_acl_access";

/// The extended attribute of a folder that holds the ACL for new files in it.
const DEFAULT: &str = "system.posix_acl_default";

/// The kernel's limit for one value, in bytes.
const LARGEST: usize = 64 * 1024;

/// Whether an extended attribute is a file's ACL.
pub fn is_access_acl(name: &OsStr) -> bool {
    name == ACCESS
}

/// The ACL of a file, as the kernel stores it. `None` if its mode says all.
pub fn access_acl(file: impl AsFd) -> Result<Option<Vec<u8>>> {
    // By name: the list of all names may be too long to read, and a mode says less than an ACL. Few files have one, so the
    // space for it is taken late.
    let mut nothing = [0; 0];
    match fgetxattr(&file, ACCESS, &mut nothing) {
        Ok(_) => value(file, ACCESS).map(Some),
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Gives a file an ACL.
pub fn set_access_acl(file: impl AsFd, acl: &[u8]) -> Result<()> {
    fsetxattr(file, ACCESS, acl, XattrFlags::empty())
}

/// The ACL for new files in a folder. `None` if it has none, or the system does not say.
pub fn default_acl(dir: impl AsFd) -> Option<Vec<u8>> {
    match value(&dir, DEFAULT) {
        // A handle opened with O_PATH.
        Err(Errno::BADF) => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let dir = rustix::fs::openat(&dir, ".", flags, Mode::empty()).ok()?;
            value(dir, DEFAULT).ok()
        }
        value => value.ok(),
    }
}

fn value(file: impl AsFd, name: &str) -> Result<Vec<u8>> {
    let mut value = Vec::with_capacity(LARGEST);
    fgetxattr(file, name, spare_capacity(&mut value)).map(|_| value)
}

/// Sets the ACL for new files in a folder.
#[cfg(any(test, feature = "testing"))]
pub fn set_default_acl(dir: &std::path::Path, acl: &[u8]) -> Result<()> {
    rustix::fs::setxattr(dir, DEFAULT, acl, XattrFlags::empty())
}

/// Takes the ACL of a file away.
#[cfg(any(test, feature = "testing"))]
pub fn remove_access_acl(path: &std::path::Path) -> Result<()> {
    rustix::fs::removexattr(path, ACCESS)
}
