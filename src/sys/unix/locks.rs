//! Locks of files between processes: flock(2). The system frees them when the process dies.

use std::fs::File;
use std::io;

/// Takes the lock of `file`. Waits until it is free, without a time limit.
pub fn lock_exclusive(file: &File) -> io::Result<()> {
    fs4::FileExt::lock(file)
}

/// Takes the lock of `file` if it is free. False if another open of the file has it.
pub fn try_lock_exclusive(file: &File) -> io::Result<bool> {
    match fs4::FileExt::try_lock(file) {
        Ok(()) => Ok(true),
        Err(fs4::TryLockError::WouldBlock) => Ok(false),
        Err(fs4::TryLockError::Error(error)) => Err(error),
    }
}

/// Gives the lock back.
pub fn unlock(file: &File) -> io::Result<()> {
    fs4::FileExt::unlock(file)
}
