//! Access lists of files, and what else a file keeps when another one takes its place.
#![allow(unsafe_code)] // Calls of the C library without a safe wrapper.

use std::ffi::{c_int, c_uint, c_void};
use std::fs::{File, FileTimes};
use std::io;
use std::os::fd::AsRawFd;
use std::os::macos::fs::{FileTimesExt, MetadataExt};
use std::ptr::NonNull;

/// The flags (chflags(1)) that a file keeps. A file with one that bars changes is not replaced, and the others are the system's own.
const KEPT: u32 = libc::UF_NODUMP | libc::UF_HIDDEN;

/// Copies the access list (acl(3)) of `old` to `new`, its time of creation, and its flags: hidden, not for backups. With the list
/// fails the call: without it others might do more with the new file.
pub fn copy_system_attributes(old: &File, new: &File) -> io::Result<()> {
    match (AccessList::of(old)?, AccessList::of(new)?) {
        (None, None) => {}
        (Some(list), _) => list.give_to(new)?,
        // What it got from its folder.
        (None, Some(_)) => AccessList::empty()?.give_to(new)?,
    }
    // No right depends on these.
    let (of_old, of_new) = (old.metadata()?, new.metadata()?);
    let _ = of_old.created().and_then(|created| new.set_times(FileTimes::new().set_created(created)));
    let flags = of_new.st_flags() & !KEPT | of_old.st_flags() & KEPT;
    if flags != of_new.st_flags() {
        // SAFETY: the file is open during the call, which takes plain numbers.
        unsafe { libc::fchflags(new.as_raw_fd(), flags) };
    }
    Ok(())
}

/// An access list: entries that allow or deny, which go before the mode. One without entries leaves all to the mode.
struct AccessList(NonNull<c_void>);

impl AccessList {
    /// That of a file. `None` if it has none, or its file system keeps none.
    fn of(file: &File) -> io::Result<Option<AccessList>> {
        // SAFETY: the file is open during the call, which returns null or a list that the caller must free.
        let list = unsafe { acl_get_fd_np(file.as_raw_fd(), ACL_TYPE_EXTENDED) };
        match NonNull::new(list).map(AccessList) {
            Some(list) => Ok(Some(list)),
            None => match io::Error::last_os_error() {
                error if is_none(&error) => Ok(None),
                error => Err(error),
            },
        }
    }

    fn empty() -> io::Result<AccessList> {
        // SAFETY: the call takes a plain number, and returns null or a list that the caller must free.
        let list = unsafe { acl_init(0) };
        NonNull::new(list).map(AccessList).ok_or_else(io::Error::last_os_error)
    }

    fn give_to(&self, file: &File) -> io::Result<()> {
        // SAFETY: the file is open and the list is not freed during the call, which reads it.
        let done = unsafe { acl_set_fd_np(file.as_raw_fd(), self.0.as_ptr(), ACL_TYPE_EXTENDED) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for AccessList {
    fn drop(&mut self) {
        // SAFETY: the list came from one of the calls above, and nothing uses it any more.
        unsafe { acl_free(self.0.as_ptr()) };
    }
}

/// Whether the error of a request for a list says that there is none.
fn is_none(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOATTR | libc::ENOTSUP | libc::EOPNOTSUPP))
}

/// The only type of access lists here (sys/acl.h).
const ACL_TYPE_EXTENDED: c_uint = 0x100;

// As sys/acl.h declares them: `acl_t` is a pointer, and `acl_type_t` an enumeration.
unsafe extern "C" {
    fn acl_get_fd_np(fd: c_int, kind: c_uint) -> *mut c_void;
    fn acl_set_fd_np(fd: c_int, list: *mut c_void, kind: c_uint) -> c_int;
    fn acl_init(entries: c_int) -> *mut c_void;
    fn acl_free(list: *mut c_void) -> c_int;
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_time_of_creation_and_the_flags_are_kept_and_no_access_list_is_made() {
        let (old, new) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        let created = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        old.set_times(FileTimes::new().set_created(created)).unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { libc::fchflags(old.as_raw_fd(), libc::UF_HIDDEN) }, 0);
        copy_system_attributes(&old, &new).unwrap();
        let now = new.metadata().unwrap();
        assert_eq!((now.created().unwrap(), now.st_flags() & KEPT), (created, libc::UF_HIDDEN));
        assert!(AccessList::of(&new).unwrap().is_none());
    }
}
