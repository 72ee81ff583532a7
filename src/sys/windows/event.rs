//! What threads wait for: events, by which another thread wakes them, and mutexes of all processes.
#![allow(unsafe_code)] // System calls.

use std::io;
use std::marker::PhantomData;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use std::time::Duration;

use windows_sys::Win32::Foundation::{WAIT_ABANDONED, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    CreateEventW, CreateMutexW, ReleaseMutex, ResetEvent, SetEvent, WaitForSingleObject,
};

/// An event of the system: set or not, until it is changed.
#[derive(Debug)]
pub(super) struct Event(OwnedHandle);

impl Event {
    /// An event that is not set.
    pub(super) fn new() -> io::Result<Event> {
        // SAFETY: without attributes and a name the call reads no memory. It gives a new handle, or null.
        let event = unsafe { CreateEventW(null(), 1, 0, null()) };
        if event.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, so nobody else closes it.
        Ok(Event(unsafe { OwnedHandle::from_raw_handle(event) }))
    }

    pub(super) fn set(&self) -> io::Result<()> {
        // SAFETY: the handle is open.
        match unsafe { SetEvent(self.0.as_raw_handle()) } {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    pub(super) fn reset(&self) {
        // SAFETY: the handle is open. An event that is open can be reset.
        unsafe { ResetEvent(self.0.as_raw_handle()) };
    }
}

impl AsHandle for Event {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// A mutex of the system that this thread has locked. The system unlocks it when its process dies.
#[derive(Debug)]
#[must_use = "it is unlocked when it is dropped"]
pub(super) struct Locked {
    mutex: OwnedHandle,
    /// It belongs to the thread that locked it.
    stays: PhantomData<*const ()>,
}

impl Locked {
    /// Locks the mutex with this name, which a thread may do several times. `None` if that takes longer than `longest`, or if
    /// the mutex belongs to another user.
    pub(super) fn by_name(name: &str, longest: Duration) -> Option<Locked> {
        let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
        // SAFETY: the name ends in a zero and lives during the call. It gives a new handle, or null.
        let mutex = unsafe { CreateMutexW(null(), 0, name.as_ptr()) };
        if mutex.is_null() {
            return None;
        }
        // SAFETY: the handle is new, so nobody else closes it.
        let mutex = unsafe { OwnedHandle::from_raw_handle(mutex) };
        let milliseconds = u32::try_from(longest.as_millis()).unwrap_or(u32::MAX - 1);
        // SAFETY: the handle is open.
        let waited = unsafe { WaitForSingleObject(mutex.as_raw_handle(), milliseconds) };
        // The one before may have died while it had the mutex.
        matches!(waited, WAIT_OBJECT_0 | WAIT_ABANDONED).then_some(Locked { mutex, stays: PhantomData })
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and this thread has the mutex, because the struct does not leave its thread.
        unsafe { ReleaseMutex(self.mutex.as_raw_handle()) };
    }
}

/// Wakes a thread that waits for this handle among others.
#[derive(Debug)]
pub struct Wake(Event);

impl Wake {
    /// A handle that is not ready.
    pub fn new() -> io::Result<Wake> {
        Event::new().map(Wake)
    }

    /// The handle is ready from now on.
    pub fn wake(&self) -> io::Result<()> {
        self.0.set()
    }
}

impl AsHandle for Wake {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}
