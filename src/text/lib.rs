//! Text in memory: its lines and encoding, edits by line number, by exact text and by patch, the diff of an edit, and patterns of paths.
//!
//! Pure functions over bytes. Knows no files or clocks: the engine reads files and writes the result of an edit. In comments,
//! "contract 8" is section 8 of `docs/contract.md`.

pub mod budget;
pub mod diff;
pub mod encoded_edit;
pub mod encoding;
mod error;
pub mod escape;
pub mod file_kind;
pub mod gitignore;
pub mod glob;
pub mod in_turn;
pub mod line_diff;
pub mod line_edit;
pub mod lines;
pub mod normal_form;
pub mod omission;
pub mod order;
pub mod packed;
pub mod patch;
pub mod shown;
pub mod splice;
mod stop;
pub mod text_edit;
pub mod tokens;
pub mod tolerant;

pub use error::{Error, OtherEncoding, Result};
pub use stop::{Stop, Stopped, Unstopped};
