//! The handles of the three standard streams.
#![allow(unsafe_code)] // System calls.

use std::os::windows::io::BorrowedHandle;

use windows_sys::Win32::System::Console::{GetStdHandle, STD_ERROR_HANDLE, STD_HANDLE, STD_INPUT_HANDLE};

pub(super) fn standard(which: STD_HANDLE) -> BorrowedHandle<'static> {
    // SAFETY: the call only tells a handle. Nothing in this program closes the standard handles. There may be none; then the
    // calls that use it fail.
    unsafe { BorrowedHandle::borrow_raw(GetStdHandle(which)) }
}

/// Standard input. While it is read, other calls with this handle wait, too.
pub(crate) fn stdin() -> BorrowedHandle<'static> {
    standard(STD_INPUT_HANDLE)
}

/// Standard error.
pub(crate) fn stderr() -> BorrowedHandle<'static> {
    standard(STD_ERROR_HANDLE)
}
