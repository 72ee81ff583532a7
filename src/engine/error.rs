//! What can go wrong with a file, said once.
//!
//! Each variant carries what was asked and the limit it ran into, so that an interface can teach (SPEC 7). Line
//! numbers are 0-based here, always; the texts, codes and statuses belong to the layers above.

use std::io;

use crate::engine::text::text_edit::Unmatched;

/// The result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that an operation on the folder can end in, other than success (SPEC 7).
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The name is empty, too long, or not admitted by the policy (SPEC 3).
    InvalidName,
    /// A line number below the interface's first line.
    NegativeLine,
    /// A range that ends before it starts.
    InvalidRange {
        /// First line asked for.
        start: u64,
        /// Last line asked for.
        end: u64,
    },
    /// A range that starts after the last line.
    StartPastEnd {
        /// First line asked for.
        start: u64,
        /// Lines in the file.
        total: usize,
    },
    /// No file of this name.
    NotFound {
        /// The name asked for.
        name: String,
        /// Names in the folder that look like it, best first.
        similar: Vec<String>,
    },
    /// The system refuses access, a link leads out of the folder, or it is no regular file.
    PermissionDenied {
        /// The name asked for.
        name: String,
    },
    /// The file, or what an edit would make of it, is over the limit.
    TooLarge {
        /// Bytes it has, or would have.
        size: u64,
        /// Bytes it may have.
        max: u64,
    },
    /// The file is not valid UTF-8.
    InvalidUtf8,
    /// The file holds NUL bytes.
    NotText {
        /// The name asked for.
        name: String,
    },
    /// An edit names an operation that does not exist.
    UnknownOperation {
        /// The operation as given.
        operation: String,
    },
    /// A delete that brings content.
    DeleteWithContent,
    /// An edit names a line that the file does not have.
    LineOutOfRange {
        /// The line named.
        line: u64,
        /// `replace`, `insert` or `delete`.
        operation: &'static str,
        /// Lines in the file.
        total: usize,
        /// Set where there is no such file: an edit that would have created it.
        missing: Option<MissingFile>,
    },
    /// The line's text is not what the caller expects.
    NotAsExpected {
        /// The line named.
        line: u64,
        /// What the line holds now.
        actual: String,
        /// The line that holds the expected text, if exactly one does.
        stands_at: Option<u64>,
    },
    /// Two edits replace or delete the same line.
    Conflict {
        /// The line named twice.
        line: u64,
    },
    /// An exact-text edit does not find its text as often as it should.
    Unmatched(Box<Unmatched>),
    /// Another program wrote to the file while we worked on it.
    Changed {
        /// The name asked for.
        name: String,
    },
    /// The file's lock was not had in time.
    Locked {
        /// The name asked for.
        name: String,
    },
    /// Other requests hold the memory that this one needs; nothing was changed.
    Busy,
    /// The time for the operation was up; nothing was changed.
    TimedOut,
    /// The caller took the request back; nothing was changed.
    Cancelled,
    /// Reading failed in the system.
    ReadFailed {
        /// The system's reason.
        source: io::Error,
    },
    /// Writing failed in the system; the file is as it was.
    WriteFailed {
        /// The system's reason.
        source: io::Error,
    },
    /// The folder is gone or cannot be read.
    FolderGone,
    /// The listing broke off.
    ListingFailed {
        /// The system's reason.
        source: io::Error,
    },
    /// Any other argument that is not as it must be.
    InvalidArguments {
        /// Where: a path into the arguments, such as `edits[3].line`.
        at: String,
        /// What is wrong and what is expected.
        problem: String,
    },
}

/// A file that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile {
    /// The name asked for.
    pub name: String,
    /// Names in the folder that look like it, best first.
    pub similar: Vec<String>,
}

impl Error {
    /// Sorts a failed system call on the file `name`: refusals by permission, all else by `otherwise`.
    pub(crate) fn from_io(
        name: &str,
        source: io::Error,
        otherwise: impl FnOnce(io::Error) -> Error,
    ) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => Error::NotFound { name: name.into(), similar: Vec::new() },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Error::PermissionDenied { name: name.into() }
            }
            _ => otherwise(source),
        }
    }

    /// A failure to read the file `name`.
    pub(crate) fn read(name: &str, source: impl Into<io::Error>) -> Error {
        Error::from_io(name, source.into(), |source| Error::ReadFailed { source })
    }

    /// A failure to write the file `name`.
    pub(crate) fn write(name: &str, source: impl Into<io::Error>) -> Error {
        Error::from_io(name, source.into(), |source| Error::WriteFailed { source })
    }
}
