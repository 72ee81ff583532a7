//! Copies bytes from file to file inside the kernel: without a copy through the memory of this process, and on some
//! file systems without a copy of the data at all.

use std::io;
use std::ops::Range;

use super::atomic::AtomicFile;
use super::failpoint;
use super::view::OpenFile;

/// Bytes copied between two looks at whether the operation was stopped.
const COPIED_AT_ONCE: u64 = 16 << 20;

impl AtomicFile {
    /// Appends the content of `source`, inside the kernel where it can. Calls `check` now and then with the bytes written
    /// so far.
    pub fn copy_from(&mut self, source: &OpenFile, check: impl Fn(u64) -> io::Result<()>) -> io::Result<()> {
        let mut left = source.len_bytes() as u64;
        let mut from = source.file();
        sys::fs::seek(from, sys::fs::SeekFrom::Start(0))?;
        while left > 0 {
            check(self.written)?;
            let copied = io::copy(&mut io::Read::take(&mut from, left.min(COPIED_AT_ONCE)), &mut self.file)?;
            if copied == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.written += copied;
            left -= copied;
            failpoint::taken()?;
        }
        check(self.written)
    }

    /// Appends the bytes `range` of `source`, inside the kernel, as far as it can. Returns their number.
    pub fn copy_range_from(&mut self, source: &OpenFile, range: Range<usize>) -> io::Result<usize> {
        let copied = sys::fs::copy_range(source.file(), range, &self.file)?;
        self.written += copied as u64;
        failpoint::taken()?;
        Ok(copied)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use sys::fs::copy_range as copy;

    #[test]
    fn a_range_is_appended_and_what_is_not_there_is_not_counted() {
        let (mut source, mut target) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        source.write_all(b"0123456789").unwrap();
        target.write_all(b"<").unwrap();
        let copied =
            [copy(&source, 2..5, &target), copy(&source, 8..20, &target), copy(&source, 20..30, &target)];
        let copied = copied.map(Result::unwrap);
        if copied == [0, 0, 0] {
            // This system cannot copy between these files.
            return;
        }
        assert_eq!(copied, [3, 2, 0]);
        target.write_all(b">").unwrap();
        target.rewind().unwrap();
        let mut text = String::new();
        target.read_to_string(&mut text).unwrap();
        assert_eq!(text, "<23489>");
    }
}
