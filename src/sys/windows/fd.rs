//! Handles of open files, by the names that the other systems have for them.

use std::fs::File;
use std::os::windows::io::AsHandle;
pub use std::os::windows::io::{BorrowedHandle as BorrowedFd, OwnedHandle as OwnedFd};
use std::sync::Arc;

use super::command::UnixStream;

/// What has a handle.
pub trait AsFd {
    fn as_fd(&self) -> BorrowedFd<'_>;
}

macro_rules! has_handle {
    ($($name:ty),+) => {
        $(impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.as_handle()
            }
        })+
    };
}
has_handle!(File, OwnedFd, BorrowedFd<'_>, UnixStream);

impl<T: AsFd + ?Sized> AsFd for &T {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}

impl<T: AsFd + ?Sized> AsFd for Arc<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        (**self).as_fd()
    }
}
