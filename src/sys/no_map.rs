//! Maps of files into memory: there are none on macOS and Windows. All parts of files are read into the heap (contract 17).
//!
//! While a file is mapped on Windows, no program can truncate it, and older systems cannot replace it. On macOS, an access to a
//! map that was cut raises a signal, and which one depends on the version.

use std::fs::File;
use std::io;
use std::ops::Range;

/// Large parts of files are read, not mapped.
#[cfg(any(test, feature = "testing"))]
pub const MAPS_FILES: bool = false;

/// A mapped part of a file: there is none.
#[derive(Debug)]
pub enum FileMap {}

impl FileMap {
    /// Always `None`.
    pub fn new(_: &File, _: &Range<usize>) -> io::Result<Option<FileMap>> {
        Ok(None)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match *self {}
    }

    /// Whether a part of them was cut off while they were read.
    pub fn faulted(&self) -> bool {
        match *self {}
    }
}

/// A map in the place of a descriptor: there is none.
#[derive(Debug)]
pub enum OpenMap {}

impl OpenMap {
    /// Whether this system keeps locks so.
    pub fn is_kept() -> bool {
        false
    }

    /// Always the descriptor.
    pub fn of(file: File) -> Result<OpenMap, File> {
        Err(file)
    }
}

/// There are no guards, because there are no maps.
#[cfg(any(test, feature = "testing"))]
pub fn guards_until_full() -> Vec<impl Sized> {
    Vec::<()>::new()
}
