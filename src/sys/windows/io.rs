//! Errors of system calls, and reads at a position.
#![allow(unsafe_code)] // A system call.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_BAD_DEVICE, ERROR_BUSY, ERROR_CALL_NOT_IMPLEMENTED,
    ERROR_CONNECTION_ABORTED, ERROR_DELETE_PENDING, ERROR_DEVICE_NOT_CONNECTED, ERROR_DIR_NOT_EMPTY,
    ERROR_DIRECTORY, ERROR_DISK_FULL, ERROR_FILE_EXISTS, ERROR_FILE_NOT_FOUND, ERROR_FILENAME_EXCED_RANGE,
    ERROR_GRACEFUL_DISCONNECT, ERROR_HANDLE_DISK_FULL, ERROR_HOST_DOWN, ERROR_HOST_UNREACHABLE,
    ERROR_INVALID_FUNCTION, ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER, ERROR_IO_DEVICE,
    ERROR_LOCK_VIOLATION, ERROR_NETNAME_DELETED, ERROR_NO_DATA, ERROR_NO_SUCH_DEVICE,
    ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_SAME_DEVICE, ERROR_NOT_SUPPORTED,
    ERROR_OPERATION_ABORTED, ERROR_OUTOFMEMORY, ERROR_PATH_NOT_FOUND, ERROR_PRIVILEGE_NOT_HELD,
    ERROR_SEM_TIMEOUT, ERROR_SHARING_VIOLATION, ERROR_STOPPED_ON_SYMLINK, ERROR_TIMEOUT,
    ERROR_TOO_MANY_OPEN_FILES, ERROR_UNEXP_NET_ERR, ERROR_WAIT_NO_CHILDREN, ERROR_WRITE_PROTECT, NTSTATUS,
    RtlNtStatusToDosError, STATUS_DELETE_PENDING, STATUS_FILE_IS_A_DIRECTORY, STATUS_OBJECT_NAME_INVALID,
    STATUS_SUCCESS, WIN32_ERROR,
};
use windows_sys::Win32::Networking::WinSock::WSAENOBUFS;

use super::fd::AsFd;

/// An error of the system by its Win32 number, of which several that mean the same are one. The names are those of POSIX.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(WIN32_ERROR);

pub type Result<T> = std::result::Result<T, Errno>;

/// There is no code for "is a folder" below 256 that [`io::ErrorKind`] knows; this one it does.
const ERROR_DIRECTORY_NOT_SUPPORTED: WIN32_ERROR = 336;

#[allow(dead_code)] // Some are only met, never made.
impl Errno {
    pub const ACCESS: Errno = Errno(ERROR_ACCESS_DENIED);
    /// Another program has the file open and does not share it, or has locked the range.
    pub const AGAIN: Errno = Errno(ERROR_SHARING_VIOLATION);
    pub const BADF: Errno = Errno(ERROR_INVALID_HANDLE);
    pub const BUSY: Errno = Errno(ERROR_BUSY);
    pub const CHILD: Errno = Errno(ERROR_WAIT_NO_CHILDREN);
    pub const CONNABORTED: Errno = Errno(ERROR_CONNECTION_ABORTED);
    pub const CONNRESET: Errno = Errno(ERROR_UNEXP_NET_ERR);
    pub const EXIST: Errno = Errno(ERROR_ALREADY_EXISTS);
    pub const HOSTDOWN: Errno = Errno(ERROR_HOST_DOWN);
    pub const HOSTUNREACH: Errno = Errno(ERROR_HOST_UNREACHABLE);
    pub const INTR: Errno = Errno(ERROR_OPERATION_ABORTED);
    pub const INVAL: Errno = Errno(ERROR_INVALID_PARAMETER);
    pub const IO: Errno = Errno(ERROR_IO_DEVICE);
    pub const ISDIR: Errno = Errno(ERROR_DIRECTORY_NOT_SUPPORTED);
    pub const LOOP: Errno = Errno(ERROR_STOPPED_ON_SYMLINK);
    pub const MFILE: Errno = Errno(ERROR_TOO_MANY_OPEN_FILES);
    pub const NAMETOOLONG: Errno = Errno(ERROR_FILENAME_EXCED_RANGE);
    pub const NFILE: Errno = Errno(ERROR_NO_SYSTEM_RESOURCES);
    pub const NODATA: Errno = Errno(ERROR_NO_DATA);
    pub const NOBUFS: Errno = Errno(WSAENOBUFS as WIN32_ERROR);
    pub const NOENT: Errno = Errno(ERROR_FILE_NOT_FOUND);
    pub const NOMEM: Errno = Errno(ERROR_NOT_ENOUGH_MEMORY);
    pub const NOSPC: Errno = Errno(ERROR_DISK_FULL);
    pub const NOSYS: Errno = Errno(ERROR_CALL_NOT_IMPLEMENTED);
    pub const NOTCONN: Errno = Errno(ERROR_DEVICE_NOT_CONNECTED);
    pub const NOTDIR: Errno = Errno(ERROR_DIRECTORY);
    pub const NOTEMPTY: Errno = Errno(ERROR_DIR_NOT_EMPTY);
    pub const NOTSUP: Errno = Errno(ERROR_NOT_SUPPORTED);
    pub const NXIO: Errno = Errno(ERROR_BAD_DEVICE);
    pub const PERM: Errno = Errno(ERROR_PRIVILEGE_NOT_HELD);
    pub const ROFS: Errno = Errno(ERROR_WRITE_PROTECT);
    pub const SHUTDOWN: Errno = Errno(ERROR_GRACEFUL_DISCONNECT);
    pub const STALE: Errno = Errno(ERROR_NETNAME_DELETED);
    pub const TIMEDOUT: Errno = Errno(ERROR_SEM_TIMEOUT);
    pub const XDEV: Errno = Errno(ERROR_NOT_SAME_DEVICE);

    pub(super) fn of_win32(code: WIN32_ERROR) -> Errno {
        match code {
            // A name that is deleted exists for nobody, though a handle may be open.
            ERROR_PATH_NOT_FOUND | ERROR_DELETE_PENDING => Errno::NOENT,
            ERROR_FILE_EXISTS => Errno::EXIST,
            ERROR_LOCK_VIOLATION => Errno::AGAIN,
            ERROR_HANDLE_DISK_FULL => Errno::NOSPC,
            ERROR_TIMEOUT => Errno::TIMEDOUT,
            ERROR_NO_SUCH_DEVICE => Errno::NXIO,
            ERROR_OUTOFMEMORY => Errno::NOMEM,
            ERROR_INVALID_FUNCTION => Errno::NOSYS,
            code => Errno(code),
        }
    }

    /// The error of the last Win32 call of this thread.
    pub(super) fn last() -> Errno {
        Errno::of_win32(io::Error::last_os_error().raw_os_error().map_or(ERROR_IO_DEVICE, i32::cast_unsigned))
    }

    pub fn from_io_error(error: &io::Error) -> Option<Errno> {
        error.raw_os_error().map(|code| Errno::of_win32(code.cast_unsigned()))
    }

    pub fn raw_os_error(self) -> i32 {
        self.0.cast_signed()
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        io::Error::from(*self).fmt(f)
    }
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.raw_os_error())
    }
}

/// The result of a system call that returned `status`. Warnings are errors.
pub(super) fn checked(status: NTSTATUS) -> Result<()> {
    match status {
        STATUS_SUCCESS => Ok(()),
        // Their Win32 codes are those of other errors, too.
        STATUS_DELETE_PENDING | STATUS_OBJECT_NAME_INVALID => Err(Errno::NOENT),
        STATUS_FILE_IS_A_DIRECTORY => Err(Errno::ISDIR),
        // SAFETY: the call takes and gives a number.
        status => Err(Errno::of_win32(unsafe { RtlNtStatusToDosError(status) })),
    }
}

/// Reads bytes at a position. Fewer at the end of the file.
pub fn pread(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(buffer, at)
}

/// Only commands have handles that are read by this; there are none here.
pub fn read(_: impl AsFd, _: &mut [u8]) -> Result<usize> {
    Err(Errno::NOSYS)
}

/// The system does not say what is cached.
pub fn read_if_cached(_: &File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}
