//! Waking a thread that waits.
#![allow(unsafe_code)] // System calls.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;

use windows_sys::Win32::System::Threading::{CreateEventW, ResetEvent, SetEvent};

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

/// Wakes a thread that waits for this handle among others.
#[derive(Debug)]
pub(crate) struct Wake(Event);

impl Wake {
    pub(crate) fn new() -> io::Result<Wake> {
        Event::new().map(Wake)
    }

    /// The handle is ready from now on.
    pub(crate) fn wake(&self) -> io::Result<()> {
        self.0.set()
    }
}

impl AsHandle for Wake {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}
