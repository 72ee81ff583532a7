//! POSIX ACLs, for the systems that have none: the mode of a file says all that they would. What else decides there who may
//! use a file, `copy_system_attributes` keeps.

use std::ffi::OsStr;

use super::fd::AsFd;
use super::io::{Errno, Result};

/// No extended attribute is an ACL.
pub fn is_access_acl(_: &OsStr) -> bool {
    false
}

/// No file has one.
pub fn access_acl(_: impl AsFd) -> Result<Option<Vec<u8>>> {
    Ok(None)
}

/// No file can have one.
pub fn set_access_acl(_: impl AsFd, _: &[u8]) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// No folder has one.
pub fn default_acl(_: impl AsFd) -> Option<Vec<u8>> {
    None
}

/// No folder can have one.
#[cfg(any(test, feature = "testing"))]
pub fn set_default_acl(_: &std::path::Path, _: &[u8]) -> Result<()> {
    Err(Errno::NOTSUP)
}

/// No file has one.
#[cfg(any(test, feature = "testing"))]
pub fn remove_access_acl(_: &std::path::Path) -> Result<()> {
    Ok(())
}
