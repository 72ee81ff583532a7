//! All errors of operations on files.
//!
//! Each variant carries the value passed and the limit it violates, so that an interface can explain it (contract
//! 7). Line numbers are always 0-based here. Messages, codes and statuses belong to the layers above.

use std::time::Duration;
use std::{fmt, io};

use crate::FileVersion;
use crate::path::NameProblem;
use text::encoded_edit::InParts;
use text::encoding::{Encoding, Malformed, Unencodable};
use text::text_edit::Unmatched;
use text::{OtherEncoding, Stopped};

/// The result of an engine operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a large part of a file was not read: others hold the memory that there is for such parts.
#[derive(Debug)]
pub(crate) struct NoRoom;

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "others hold all memory that there is for large parts of files; try again in a few seconds",
        )
    }
}

impl std::error::Error for NoRoom {}

/// Whether the reason of the error is [`NoRoom`].
pub fn is_no_room(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|reason| reason.is::<NoRoom>())
}

/// Every error of an operation on the folder (contract 7).
#[derive(Debug)]
pub enum Error {
    /// The name or path is not allowed (contract 3, 12).
    InvalidName {
        /// Why.
        problem: NameProblem,
    },
    /// A line number below the interface's first line.
    NegativeLine,
    /// A range that ends before it starts.
    InvalidRange {
        /// First line requested.
        start: u64,
        /// Last line requested.
        end: u64,
    },
    /// A range that starts after the last line.
    StartPastEnd {
        /// First line requested.
        start: u64,
        /// Lines in the file.
        total: usize,
    },
    /// No file has this name.
    NotFound(Box<NotFound>),
    /// The system denies access, or the entry is not a regular file.
    PermissionDenied {
        /// The name requested.
        name: String,
    },
    /// A link is absolute, or leads out of the served folders, to nothing, in a circle, or to a file where a folder must be.
    RefusedLink {
        /// The name requested.
        name: String,
    },
    /// The entry is a folder where a file is wanted.
    IsAFolder {
        /// The name requested.
        name: String,
    },
    /// The path is excluded (`--exclude`), so nothing is written there.
    Excluded {
        /// The path requested.
        name: String,
    },
    /// The folder is neither moved nor deleted, because something in it must stay: what is excluded, another file system, a file that is being
    /// written.
    HoldsKept {
        /// The path requested.
        name: String,
    },
    /// The path is that of a served folder, which is neither moved nor deleted.
    ServedFolder {
        /// The path requested.
        name: String,
    },
    /// Several served folders have the relative path, and the change of one of them would make it lead to another.
    Ambiguous {
        /// The path requested.
        name: String,
        /// The absolute paths that it may mean.
        paths: Vec<String>,
    },
    /// The path is in a folder of git, which is never written (contract 12).
    GitFolder {
        /// The path requested.
        name: String,
    },
    /// The path is in a folder of git, of which clients read `HEAD` alone (`--allow-git`).
    KeptByGit {
        /// The path requested.
        name: String,
    },
    /// Locks do not keep out other machines where the path is (`--unsafe-locks`).
    UnsafeLocks {
        /// The path requested.
        name: String,
        /// Why.
        why: String,
    },
    /// The path of a new file or folder exists already.
    Exists {
        /// The path requested.
        name: String,
        /// What is there.
        occupant: Box<Occupant>,
    },
    /// The folder of a new file or folder does not exist.
    NoParent(Box<NoParent>),
    /// A file that is too large to be replaced by a whole content.
    ReplacesTooLarge {
        /// The path requested.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// A folder that is to be deleted is not empty.
    NotEmpty {
        /// The path requested.
        name: String,
        /// Number of entries in it that were removed before.
        removed: u64,
        /// Everything in it may be removed.
        all_may_go: bool,
    },
    /// The path does not lead to a folder.
    NotAFolder {
        /// The path requested, or a part of it.
        name: String,
        /// The absolute path of a folder of another served one that the requested path leads to there.
        folder: Option<String>,
    },
    /// The file does not have the version that the client expects.
    OtherVersion {
        /// The path requested.
        name: String,
        /// The version expected.
        expected: FileVersion,
        /// The version of the file now; `None` if there is no file, or if it is changing.
        actual: Option<FileVersion>,
    },
    /// The file, or the result of an edit, exceeds the size limit.
    TooLarge {
        /// Its size, or the size of the result, in bytes.
        size: u64,
        /// The limit in bytes.
        max: u64,
        /// Whether it is the size of the result.
        is_result: bool,
    },
    /// The file is not valid UTF-8.
    InvalidUtf8,
    /// The file holds NUL bytes.
    NotText {
        /// The name requested.
        name: String,
    },
    /// The file has bytes that are no character of the encoding.
    Undecodable {
        /// Its encoding.
        encoding: Encoding,
        /// The line of the bytes.
        line: u64,
        /// Their column: characters from 1.
        column: u64,
        /// They.
        bytes: Vec<u8>,
        /// What is wrong with them.
        why: Malformed,
    },
    /// A new text has a character that the encoding lacks.
    Unencodable {
        /// The encoding.
        encoding: Encoding,
        /// The character and its place in the new text.
        lacking: Unencodable,
        /// Whether the text is to become a part of the file, so that it cannot have another encoding.
        in_part: bool,
    },
    /// Edits of parts of a text in which the bytes of a part mean something else by the escape sequences before it.
    NotInParts {
        /// What kind of edits are refused.
        edits: InParts,
        /// The line where a place begins or ends between such sequences, or inside one. `None`: all of the text is in ISO-2022-JP.
        line: Option<u64>,
    },
    /// A line is too long for a filter of lines.
    LongLine {
        /// The line.
        line: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// The file is not text in UTF-8, but may be in another encoding.
    OtherEncoding(Box<OtherEncoding<Error>>),
    /// An edit names an unknown operation.
    UnknownOperation {
        /// The operation as given.
        operation: String,
    },
    /// A delete operation has content.
    DeleteWithContent,
    /// An edit names a line that the file does not have.
    LineOutOfRange {
        /// The line named.
        line: u64,
        /// `replace`, `insert` or `delete`.
        operation: &'static str,
        /// Lines in the file.
        total: usize,
        /// Set if the file does not exist and the edit would have created it.
        missing: Option<Box<NotFound>>,
    },
    /// The line, or the range that starts with it, does not hold the text that the client expects.
    NotAsExpected {
        /// The line named.
        line: u64,
        /// The text of the line or of the range now, lines joined by `\n`.
        actual: String,
        /// The first and the last of the lines that hold the expected text, if it is in exactly one place.
        stands_at: Option<(u64, u64)>,
    },
    /// Two edits replace or delete the same line.
    Conflict {
        /// The line named twice.
        line: u64,
    },
    /// The text of an exact-text edit does not occur in the file as often as it must.
    Unmatched(Box<Unmatched>),
    /// Another program wrote to the file during the operation.
    Changed {
        /// The name requested.
        name: String,
    },
    /// Another process or request kept the file locked or leased.
    Locked {
        /// The name requested.
        name: String,
    },
    /// Other requests hold the memory that this one needs; nothing was changed.
    Busy,
    /// Other searches and analyses hold the memory that there is for them (contract 8).
    NoSearchMemory,
    /// Other answers hold the memory that there is for large parts of files; nothing was changed.
    NoReadMemory,
    /// All threads wait for files that do not answer; nothing was changed.
    NoThread,
    /// The time for the operation was up; nothing was changed.
    TimedOut,
    /// The time for the operation was up while its change was put in place, which may still succeed or fail.
    OutcomeUnknown,
    /// The client cancelled the request; nothing was changed.
    Cancelled,
    /// The system failed to read.
    ReadFailed {
        /// The system's error.
        source: io::Error,
    },
    /// The system failed to write; the file is unchanged.
    WriteFailed {
        /// The system's error.
        source: io::Error,
    },
    /// The folder does not exist any more or cannot be read.
    FolderGone,
    /// One of several folders does not exist any more, or a link to it leads elsewhere, so that what it had is not known.
    OneFolderGone {
        /// Its path.
        folder: String,
    },
    /// The operator gave a link to the folder, and it leads to another one now.
    FolderSwitched,
    /// The listing failed before its end.
    ListingFailed {
        /// The system's error.
        source: io::Error,
    },
    /// A command could not be run (contract 15).
    CannotRun {
        /// Why.
        why: CannotRun,
    },
    /// A failure of a tool whose work is not the engine's. The tool has written its text.
    OfTool(Box<ToolFailure>),
    /// Any other invalid argument.
    InvalidArguments {
        /// The path to the argument, such as `edits[3].line`.
        at: String,
        /// What is wrong and what is expected.
        problem: String,
    },
}

/// Why a command could not be run.
#[derive(Debug)]
pub enum CannotRun {
    /// Commands are not allowed.
    NotAllowed,
    /// There is neither bash nor sh.
    NoShell,
    /// Others ran all the time that it had.
    NoTurn {
        /// The time.
        waited: Duration,
    },
    /// The server stops.
    Stopping,
    /// It was killed, but the system did not tell its end in time.
    Overdue,
    /// The system refused to start it, or its supervisor was lost.
    Failed {
        /// The system's error.
        source: io::Error,
    },
}

impl From<CannotRun> for Error {
    fn from(why: CannotRun) -> Error {
        Error::CannotRun { why }
    }
}

/// See [`Error::OfTool`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFailure {
    /// What kind of failure it is, which interfaces tell by codes.
    pub kind: ToolFailureKind,
    /// What is wrong, in one line.
    pub message: String,
    /// How to correct the call, if known.
    pub hint: Option<String>,
    /// All problems of the values that were given, for programs.
    pub problems: Vec<ValueProblem>,
}

/// The kinds of failures of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFailureKind {
    /// What the call names does not exist.
    Missing,
    /// A name in the call has a wrong form.
    Malformed,
    /// Values in the call are not allowed.
    Rejected,
    /// The operator has given the server something that fails.
    Unusable,
}

/// What is wrong with one of several values of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueProblem {
    /// The name of the value.
    pub name: String,
    /// What is wrong.
    pub problem: String,
    /// What would be right.
    pub expected: String,
}

/// A file that does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotFound {
    /// The name requested.
    pub name: String,
    /// Similar names in the folder, best first.
    pub similar: Vec<String>,
    /// The nearest folder above it that there is, if that was looked for.
    pub above: Option<String>,
    /// The line numbers behind the path of a file, if the file has the first of these lines. They count from 1.
    pub lines: Option<(u64, u64)>,
}

/// A folder that does not exist, of what was to be made in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoParent {
    /// The path requested.
    pub name: String,
    /// A path of the missing folder.
    pub parent: String,
    /// Its paths in other served folders, which were looked in as well.
    pub missing: Vec<String>,
    /// Paths of such a folder in other served folders that have one.
    pub there: Vec<String>,
    /// If the path requested is that of the folder itself: the path that what is moved or copied would have in it.
    pub inside: Option<String>,
}

/// What stands at the path of a new file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occupant {
    /// Something that the call was not asked to replace.
    Kept,
    /// A file, and the call was to move or copy something to its path.
    File {
        /// A path of the file alone.
        at: String,
    },
    /// Something in another served folder than that of what was to be moved or copied.
    Elsewhere {
        /// Its absolute path.
        there: String,
        /// The absolute path of the destination beside the source.
        beside: String,
        /// Whether it is a folder.
        is_folder: bool,
    },
    /// A folder, and the call was to move or copy something to its path.
    Folder {
        /// The path that what is moved or copied would have in the folder. `None`: it is in that folder already.
        inside: Option<String>,
        /// Whether that path is free.
        is_free: bool,
    },
    /// What the call was to move or copy.
    Source,
}

impl From<NotFound> for Error {
    fn from(missing: NotFound) -> Error {
        Error::NotFound(Box::new(missing))
    }
}

impl From<NoParent> for Error {
    fn from(folder: NoParent) -> Error {
        Error::NoParent(Box::new(folder))
    }
}

impl From<OtherEncoding<Error>> for Error {
    fn from(other: OtherEncoding<Error>) -> Error {
        Error::OtherEncoding(Box::new(other))
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Error {
        match stopped {
            Stopped::TimedOut => Error::TimedOut,
            Stopped::Cancelled => Error::Cancelled,
        }
    }
}

impl From<text::Error> for Error {
    fn from(error: text::Error) -> Error {
        match error {
            text::Error::Stopped(stopped) => Error::from(stopped),
            text::Error::Busy => Error::Busy,
            text::Error::InvalidUtf8 => Error::InvalidUtf8,
            text::Error::NotText { name } => Error::NotText { name },
            text::Error::OtherEncoding(other) => {
                let OtherEncoding { name, error, likely } = *other;
                OtherEncoding { name, error: Error::from(error), likely }.into()
            }
            text::Error::Undecodable { encoding, line, column, bytes, why } => {
                Error::Undecodable { encoding, line, column, bytes, why }
            }
            text::Error::Unencodable { encoding, lacking, in_part } => {
                Error::Unencodable { encoding, lacking, in_part }
            }
            text::Error::NotInParts { edits, line } => Error::NotInParts { edits, line },
            text::Error::LineOutOfRange { line, operation, total } => {
                Error::LineOutOfRange { line, operation, total, missing: None }
            }
            text::Error::NotAsExpected { line, actual, stands_at } => {
                Error::NotAsExpected { line, actual, stands_at }
            }
            text::Error::Conflict { line } => Error::Conflict { line },
            text::Error::Unmatched(unmatched) => Error::Unmatched(unmatched),
            text::Error::TooLarge { size, max } => Error::TooLarge { size, max, is_result: true },
            text::Error::InvalidArguments { at, problem } => Error::InvalidArguments { at, problem },
        }
    }
}

impl Error {
    /// Something is at the path `name`, which the call was not asked to replace.
    pub fn exists(name: &str) -> Error {
        Error::Exists { name: name.into(), occupant: Box::new(Occupant::Kept) }
    }

    /// No file has this name, and no more is known.
    pub fn not_found(name: &str) -> Error {
        NotFound { name: name.into(), ..NotFound::default() }.into()
    }

    /// The path `name` leads to something that is no folder.
    pub fn not_a_folder(name: &str) -> Error {
        Error::NotAFolder { name: name.into(), folder: None }
    }

    /// Maps the error of a system call on the file `name`: not found, permission denied, or by `otherwise`.
    pub fn from_io(name: &str, source: io::Error, otherwise: impl FnOnce(io::Error) -> Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::not_found(name),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Error::PermissionDenied { name: name.into() }
            }
            _ if is_no_room(&source) => Error::NoReadMemory,
            _ => otherwise(source),
        }
    }

    /// The error of a failed read of the file `name`.
    pub fn read(name: &str, source: impl Into<io::Error>) -> Error {
        Error::from_io(name, source.into(), |source| Error::ReadFailed { source })
    }

    /// The error of a failed write in the folder of the file `name`. If the folder is gone, another program removed it after
    /// it was found.
    pub fn write_in_folder(name: &str, source: impl Into<io::Error>) -> Error {
        match Error::write(name, source) {
            Error::NotFound(missing) => Error::Changed { name: missing.name },
            error => error,
        }
    }

    /// The error of a failed write to the file `name`.
    pub fn write(name: &str, source: impl Into<io::Error>) -> Error {
        Error::from_io(name, source.into(), |source| Error::WriteFailed { source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sys::io::Errno;

    #[test]
    fn only_room_that_others_hold_is_told_as_busy_and_not_what_the_system_refuses() {
        let told = |source| Error::read("f", source);
        assert!(matches!(told(io::Error::other(NoRoom)), Error::NoReadMemory));
        assert!(matches!(told(Errno::NOMEM.into()), Error::ReadFailed { .. }));
    }
}
