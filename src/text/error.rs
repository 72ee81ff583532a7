//! Why a text is not read or changed.
//!
//! Each variant carries what the call gave and what was found, so that an interface can explain it (contract 7). Line numbers are
//! 0-based here. Knows no files: a file is a name that the caller gave.

use crate::encoded_edit::InParts;
use crate::encoding::{Encoding, Likely, Malformed, Unencodable};
use crate::stop::Stopped;
use crate::text_edit::Unmatched;

/// The result of an operation on text.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Every error of an operation on text.
#[derive(Debug)]
pub enum Error {
    /// The caller wants the work to stop.
    Stopped(Stopped),
    /// Other requests hold the memory that this one needs.
    Busy,
    /// The bytes are not valid UTF-8.
    InvalidUtf8,
    /// The text holds NUL bytes.
    NotText {
        /// The name of the file.
        name: String,
    },
    /// The text is not UTF-8, but may be in another encoding.
    OtherEncoding(Box<OtherEncoding<Error>>),
    /// The text has bytes that are no character of the encoding.
    Undecodable {
        /// The encoding.
        encoding: Encoding,
        /// The line of the bytes.
        line: u64,
        /// Their column: characters from 1.
        column: u64,
        /// The bytes.
        bytes: Vec<u8>,
        /// What is wrong with them.
        why: Malformed,
    },
    /// A new text has a character that the encoding lacks.
    Unencodable {
        /// The encoding.
        encoding: Encoding,
        /// The character and its offset in the new text.
        lacking: Unencodable,
        /// Whether the new text replaces a part of the text, and not all of it.
        in_part: bool,
    },
    /// The text, or a line of it, has escape sequences of ISO-2022, by which bytes mean other characters.
    NotInParts {
        /// What kind of edits are refused.
        edits: InParts,
        /// The line where a place begins or ends between such sequences, or inside one. `None`: all of the text is in ISO-2022-JP.
        line: Option<u64>,
    },
    /// An edit names a line that the text does not have.
    LineOutOfRange {
        /// The line named.
        line: u64,
        /// `replace`, `insert` or `delete`.
        operation: &'static str,
        /// Lines in the text.
        total: usize,
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
    /// The old text of an edit does not occur as often as it must.
    Unmatched(Box<Unmatched>),
    /// The result of an edit exceeds the size limit.
    TooLarge {
        /// The size of the result, in bytes.
        size: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// Any other invalid argument.
    InvalidArguments {
        /// The path to the argument, such as `edits[3].line`.
        at: String,
        /// What is wrong and what is expected.
        problem: String,
    },
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Error {
        Error::Stopped(stopped)
    }
}

/// A text that is not UTF-8, but may be in another encoding.
#[derive(Debug)]
pub struct OtherEncoding<E> {
    /// The name of the file.
    pub name: String,
    /// Why it is no text in UTF-8.
    pub error: E,
    /// Its likely encoding.
    pub likely: Option<Likely>,
}
