//! What the server and the analyzer of source code say to each other over pipes (contract 22).
//!
//! The analyzer says [`Hello`] once. Then the server sends texts, and the analyzer sends an [`Answer`] for each, in the same
//! order. Both are built of the same version of this crate: the format has no other versions, and [`Hello`] tells a mismatch.
//! Knows no processes, no grammars, no files.

mod frame;
mod language;
mod outline;
mod report;

pub use frame::{
    Answer, Hello, MAX_ANSWER, Made, Wanted, read_answer, read_hello, read_text, write_answer, write_hello,
    write_text,
};
pub use language::Language;
pub use outline::{Definition, Kind, Outline};
pub use report::{FileReport, FunctionReport, MAX_BYTES, Refusal, SyntaxError};
