//! Maps of files into memory.
#![allow(unsafe_code)] // Maps a file.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapOptions};

use super::faults::Guard;

/// Large parts of files are mapped.
#[cfg(any(test, feature = "testing"))]
pub const MAPS_FILES: bool = true;

/// A mapped part of a file. Another program may change it at any time. Bytes that the file has lost since are zeros.
#[derive(Debug)]
pub struct FileMap {
    // Fields drop in order: the guard must go before its map.
    guard: Guard,
    map: Mmap,
}

impl FileMap {
    /// Maps the bytes `window` of a file. `None` if there are too many maps to guard one more.
    pub fn new(file: &File, window: &Range<usize>) -> io::Result<Option<FileMap>> {
        // SAFETY: other processes may change the file while it is mapped. The map is lent only as
        // `&[u8]`, no code relies on equal results of two reads of a byte, and no `&str` is made of it.
        // The guard handles a truncated file. The drop order removes the guard before the map.
        let map = unsafe { MmapOptions::new().offset(window.start as u64).len(window.len()).map(file)? };
        let guard = Guard::new(map.as_ptr(), map.len());
        Ok(guard.map(|guard| FileMap { guard, map }))
    }

    /// The bytes. They may change while they are read.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Whether bytes were read that the file had lost.
    #[inline]
    pub fn faulted(&self) -> bool {
        self.guard.faulted()
    }
}

/// Guards of nothing, until there is no more room for any.
#[cfg(any(test, feature = "testing"))]
pub fn guards_until_full() -> Vec<impl Sized> {
    std::iter::from_fn(|| Guard::new(std::ptr::without_provenance(8), 0)).collect()
}
