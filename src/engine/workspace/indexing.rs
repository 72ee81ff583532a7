//! Writes the new content of a file, and indexes it meanwhile. Knows nothing of locks and names.

use std::io::{self, Write};

use crate::engine::Control;
use crate::engine::file_version::ContentHash;
use crate::engine::fs::atomic::AtomicFile;
use crate::engine::text::lines::IndexBuilder;

/// A writer that indexes the bytes it writes, and reports how many of `size` are written.
pub(super) struct Indexing<'c> {
    pub(super) out: AtomicFile,
    pub(super) index: IndexBuilder,
    /// For the version of the new content.
    pub(super) content: Option<ContentHash>,
    /// Bytes written.
    pub(super) written: u64,
    /// Bytes that will be written.
    pub(super) size: u64,
    pub(super) control: &'c Control,
}

impl Write for Indexing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(&bytes[..bytes.len().min(1 << 20)])?;
        self.index.push(&bytes[..written]);
        if let Some(content) = &mut self.content {
            content.push(&bytes[..written]);
        }
        self.written += written as u64;
        self.control.progress(self.written, Some(self.size));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
