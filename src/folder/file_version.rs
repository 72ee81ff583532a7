//! The name of one state of a file, for clients that must not overwrite what they have not seen (contract 12).
//!
//! Knows no file system: the caller finds out what may be believed of a stamp.

use std::fmt::{self, Display};
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::fs::version::FileStamp;

/// See the module. Its text has at most 24 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileVersion {
    /// A hash of the stamp, where no other content of the file can have the same stamp.
    Stamp(u64),
    /// A hash of the content, where the stamp is not certain.
    Content(u64),
    /// Of a large file whose stamp is not certain, not even the content is known. It equals no version.
    Unknown(u64),
}

impl FileVersion {
    /// The version of a state that this stamp identifies.
    pub fn of_stamp(stamp: &FileStamp) -> FileVersion {
        let numbers = [stamp.dev, stamp.ino, stamp.len].map(u64::to_le_bytes);
        let times = [stamp.mtime_ns, stamp.ctime_ns].map(i128::to_le_bytes);
        FileVersion::Stamp(xxh3_64(&[numbers.concat(), times.concat()].concat()))
    }

    /// The version of this content.
    pub fn of_content(content: &[u8]) -> FileVersion {
        let mut hash = ContentHash::default();
        hash.push(content);
        hash.version()
    }

    /// Reads the text of a version. `None` if it is none.
    pub fn parse(text: &str) -> Option<FileVersion> {
        let (kind, number) = text.split_at_checked(1)?;
        let number: [u8; 8] = URL_SAFE_NO_PAD.decode(number).ok()?.try_into().ok()?;
        let number = u64::from_le_bytes(number);
        match kind {
            "s" => Some(FileVersion::Stamp(number)),
            "c" => Some(FileVersion::Content(number)),
            "u" => Some(FileVersion::Unknown(number)),
            _ => None,
        }
    }
}

/// The version of a content that comes in pieces.
#[derive(Default)]
pub struct ContentHash(Xxh3Default);

impl ContentHash {
    /// Adds the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The version of all bytes that were added.
    pub fn version(&self) -> FileVersion {
        FileVersion::Content(self.0.digest())
    }
}

impl Write for ContentHash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Display for FileVersion {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (kind, number) = match self {
            FileVersion::Stamp(number) => ("s", number),
            FileVersion::Content(number) => ("c", number),
            FileVersion::Unknown(number) => ("u", number),
        };
        write!(out, "{kind}{}", URL_SAFE_NO_PAD.encode(number.to_le_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_short_and_read_back() {
        let stamp = FileStamp { dev: 1, ino: 2, len: 3, mtime_ns: 4, ctime_ns: 5 };
        for version in [FileVersion::of_stamp(&stamp), FileVersion::of_content(b"x"), FileVersion::Unknown(7)]
        {
            let text = version.to_string();
            assert!(text.len() <= 24, "{text}");
            assert_eq!(FileVersion::parse(&text), Some(version));
        }
        for text in ["", "s", "sAAAA", "xAAAAAAAAAAA", "é", "sAAAAAAAAAAAA"] {
            assert_eq!(FileVersion::parse(text), None, "{text}");
        }
    }

    #[test]
    fn each_part_of_a_stamp_and_each_byte_of_a_content_changes_the_version() {
        let stamp = FileStamp { dev: 1, ino: 2, len: 3, mtime_ns: 4, ctime_ns: 5 };
        let others = [
            FileStamp { dev: 9, ..stamp },
            FileStamp { ino: 9, ..stamp },
            FileStamp { len: 9, ..stamp },
            FileStamp { mtime_ns: 9, ..stamp },
            FileStamp { ctime_ns: 9, ..stamp },
        ];
        assert!(others.iter().all(|other| FileVersion::of_stamp(other) != FileVersion::of_stamp(&stamp)));
        let large = vec![b'x'; (2 << 20) + 1];
        let mut other = large.clone();
        other[2 << 20] = b'y';
        assert_ne!(FileVersion::of_content(&large), FileVersion::of_content(&other));
        assert_eq!(FileVersion::of_content(&large), FileVersion::Content(xxh3_64(&large)));
    }
}
