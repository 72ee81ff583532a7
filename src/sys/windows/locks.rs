//! Locks of files between processes. A locked range keeps others from reading it, so the lock is of one byte far behind the end
//! of any file: it keeps nobody from anything but this lock. The system frees it when the process dies.
#![allow(unsafe_code)] // System calls.

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::{ERROR_IO_PENDING, ERROR_LOCK_VIOLATION};
use windows_sys::Win32::Storage::FileSystem::{
    LOCK_FILE_FLAGS, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

/// The byte that is locked: no file is that long.
const BYTE: u64 = (1 << 63) - 2;

fn place() -> OVERLAPPED {
    let at = OVERLAPPED_0_0 { Offset: BYTE as u32, OffsetHigh: (BYTE >> 32) as u32 };
    OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: at }, ..OVERLAPPED::default() }
}

fn lock(file: &File, flags: LOCK_FILE_FLAGS) -> io::Result<()> {
    let mut place = place();
    // SAFETY: the struct lives during the call. The handle is a synchronous one, so nothing uses the struct afterwards.
    let done =
        unsafe { LockFileEx(file.as_raw_handle(), LOCKFILE_EXCLUSIVE_LOCK | flags, 0, 1, 0, &raw mut place) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes the lock of `file`. Waits until it is free, without a time limit.
pub fn lock_exclusive(file: &File) -> io::Result<()> {
    lock(file, 0)
}

/// Takes the lock of `file` if it is free. False if another open of the file has it.
pub fn try_lock_exclusive(file: &File) -> io::Result<bool> {
    match lock(file, LOCKFILE_FAIL_IMMEDIATELY) {
        Ok(()) => Ok(true),
        Err(error) => match error.raw_os_error().map(i32::cast_unsigned) {
            Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => Ok(false),
            _ => Err(error),
        },
    }
}

/// Gives the lock back.
pub fn unlock(file: &File) -> io::Result<()> {
    let mut place = place();
    // SAFETY: as above.
    let done = unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
