//! Watches of folders: there are none outside Linux, because no other system tells every change before the call that makes it returns.

use crate::fd::AsFd;
use crate::io::Errno;
use crate::watch::{FolderId, Notice};

/// A queue of events: there is none.
#[derive(Debug)]
pub enum Watches {}

/// A watched folder: there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Watch {}

impl Watches {
    /// Always an error.
    pub fn new() -> Result<Watches, Errno> {
        Err(Errno::NOSYS)
    }

    /// Always an error.
    pub fn of_contents() -> Result<Watches, Errno> {
        Err(Errno::NOSYS)
    }

    /// Watches a folder.
    pub fn add(&self, _: impl AsFd) -> Result<Watch, Errno> {
        match *self {}
    }

    /// Ends a watch.
    pub fn remove(&self, watch: Watch) {
        match watch {}
    }

    /// Tells all events.
    pub fn drain(&self, _: &mut dyn FnMut(Notice)) -> Result<(), Errno> {
        match *self {}
    }
}

/// Which folder this is: not told.
pub fn folder_id(_: impl AsFd) -> Option<FolderId> {
    None
}
