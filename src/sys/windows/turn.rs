//! Hides the moment in which the name of a file that is being replaced is of no file, from this program in all its processes on
//! this machine.
//!
//! Only where a file system cannot rename over an open file in one step ([`super::replace`]): there a replacement takes the turn
//! of its folder, and so does a rename that replaces nothing. A look-up that finds no entry looks again when it has had a turn.
#![allow(unsafe_code)] // System calls.

use std::marker::PhantomData;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{WAIT_ABANDONED, WAIT_OBJECT_0};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle, GetVolumeInformationByHandleW,
};
use windows_sys::Win32::System::Threading::{CreateMutexW, ReleaseMutex, WaitForSingleObject};

use super::fd::BorrowedFd;
use super::mounts::is_remote;

/// The flag of a file system that renames over open files in one step.
const RENAMES_OVER_OPEN: u32 = 0x400;

/// The longest wait in milliseconds. A replacement takes a few; whoever keeps the turn longer is not this program.
const LONGEST: u32 = 1_000;

/// The turn of a folder: a named mutex. The system frees it when its process dies.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub(super) struct Turn {
    mutex: OwnedHandle,
    /// It belongs to the thread that took it.
    stays: PhantomData<*const ()>,
}

impl Turn {
    /// Waits for the turn of a folder. `None` where renames take one step, or if there is none to be had.
    pub(super) fn of(folder: BorrowedFd) -> Option<Turn> {
        if renames_over_open(folder) {
            return None;
        }
        let mut info = BY_HANDLE_FILE_INFORMATION::default();
        // SAFETY: the call fills the struct, whose fields are numbers.
        if unsafe { GetFileInformationByHandle(folder.as_raw_handle(), &raw mut info) } == 0 {
            return None;
        }
        let BY_HANDLE_FILE_INFORMATION { dwVolumeSerialNumber, nFileIndexHigh, nFileIndexLow, .. } = info;
        // Of all sessions, because a service and a user may serve one folder.
        let name = format!(
            "Global\\file-editor-{dwVolumeSerialNumber:08x}-{nFileIndexHigh:08x}{nFileIndexLow:08x}\0"
        );
        let name: Vec<u16> = name.encode_utf16().collect();
        // SAFETY: the name ends in a zero and lives during the call. It gives a new handle, or null.
        let mutex = unsafe { CreateMutexW(null(), 0, name.as_ptr()) };
        if mutex.is_null() {
            return None;
        }
        // SAFETY: the handle is new, so nobody else closes it.
        let mutex = unsafe { OwnedHandle::from_raw_handle(mutex) };
        // SAFETY: the handle is open.
        let waited = unsafe { WaitForSingleObject(mutex.as_raw_handle(), LONGEST) };
        // The one before may have died in its turn.
        matches!(waited, WAIT_OBJECT_0 | WAIT_ABANDONED).then_some(Turn { mutex, stays: PhantomData })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and this thread has the mutex, because a turn does not leave its thread.
        unsafe { ReleaseMutex(self.mutex.as_raw_handle()) };
    }
}

/// Whether the volume of a folder renames over open files in one step. One on another machine may say so, but the protocol
/// does not.
fn renames_over_open(folder: BorrowedFd) -> bool {
    if is_remote(folder) {
        return false;
    }
    let mut flags = 0;
    // SAFETY: the call writes one number, and nothing where there is no buffer.
    let done = unsafe {
        GetVolumeInformationByHandleW(
            folder.as_raw_handle(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            &raw mut flags,
            null_mut(),
            0,
        )
    };
    done != 0 && flags & RENAMES_OVER_OPEN != 0
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::super::fd::AsFd;
    use super::*;

    #[test]
    fn one_at_a_time_has_the_turn_of_a_folder_and_who_has_it_may_take_it_again() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, other] = folders.each_ref().map(|dir| crate::sys::testing::open_folder(dir.path()));
        if renames_over_open(one.as_fd()) {
            return println!("SKIPPED: renames take one step here");
        }
        let turn = Turn::of(one.as_fd()).unwrap();
        drop(Turn::of(one.as_fd()).unwrap());
        drop(Turn::of(other.as_fd()).unwrap());
        let (had, waits) = channel();
        let waiter = thread::spawn(move || had.send(Turn::of(one.as_fd()).is_some()));
        assert!(waits.recv_timeout(Duration::from_millis(100)).is_err());
        drop(turn);
        assert_eq!(waits.recv(), Ok(true));
        waiter.join().unwrap().unwrap();
    }
}
