//! What tests do to files by POSIX names. What the system does not have fails, and its tests are listed as not run here
//! (`not_under_wine` in tests/support).

use std::ffi::OsStr;
use std::fs::{Metadata, Permissions};
use std::io;
use std::path::Path;

use super::flags::Mode;
use super::io::{Errno, Result};
use super::rights::XattrFlags;

/// Permissions by modes: whether the owner may write.
pub trait PermissionsExt {
    fn from_mode(mode: u32) -> Self;
}

impl PermissionsExt for Permissions {
    fn from_mode(mode: u32) -> Permissions {
        let own = std::env::current_exe().and_then(|program| program.metadata());
        let mut permissions = own.expect("the program's own file").permissions();
        permissions.set_readonly(!Mode::from_raw_mode(mode).contains(Mode::WUSR));
        permissions
    }
}

/// What metadata tell of owners and modes.
pub trait MetadataExt {
    fn mode(&self) -> u32;
    fn dev(&self) -> u64;
    fn ino(&self) -> u64;
    fn uid(&self) -> u32;
    fn gid(&self) -> u32;
}

impl MetadataExt for Metadata {
    fn mode(&self) -> u32 {
        if self.permissions().readonly() { 0o444 } else { 0o666 }
    }

    fn dev(&self) -> u64 {
        0
    }

    fn ino(&self) -> u64 {
        0
    }

    fn uid(&self) -> u32 {
        0
    }

    fn gid(&self) -> u32 {
        0
    }
}

/// A socket with a name in a folder.
#[derive(Debug)]
pub struct UnixListener;

impl UnixListener {
    pub fn bind(_: impl AsRef<Path>) -> io::Result<UnixListener> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

pub fn chown(_: impl AsRef<Path>, _: Option<u32>, _: Option<u32>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

pub fn setxattr(_: impl AsRef<Path>, _: &str, _: &[u8], _: XattrFlags) -> Result<()> {
    Err(Errno::NOTSUP)
}

pub fn getxattr(_: impl AsRef<Path>, _: impl AsRef<OsStr>, _: impl Sized) -> Result<usize> {
    Err(Errno::NOTSUP)
}
