//! Maps of files into memory: there are none on macOS and Windows. All parts of files are read into the heap (contract 17).
//!
//! While a file is mapped on Windows, no program can truncate it, and older systems cannot replace it. On macOS, an access to a
//! map that was cut raises a signal, and which one depends on the version.

use std::fs::File;
use std::io;
use std::ops::Range;

/// Large parts of files are read, not mapped.
#[cfg(test)]
pub(crate) const MAPS_FILES: bool = false;

/// A mapped part of a file: there is none.
#[derive(Debug)]
pub(crate) enum FileMap {}

impl FileMap {
    /// Always `None`.
    pub(crate) fn new(_: &File, _: &Range<usize>) -> io::Result<Option<FileMap>> {
        Ok(None)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn faulted(&self) -> bool {
        match *self {}
    }
}

/// There are no guards, because there are no maps.
#[cfg(test)]
pub(crate) fn guards_until_full() -> Vec<u8> {
    Vec::new()
}
