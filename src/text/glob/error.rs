//! Why a pattern is refused.

use std::fmt;

use super::braces::{MAX_ALTERNATIVES, MAX_TEXT};
use super::budget::HELD;

/// A pattern that would take too much time or memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobError {
    /// Its braces stand for too many alternatives.
    TooManyAlternatives,
    /// The alternatives that its braces stand for are too long.
    TooLongExpanded,
    /// Its braces or groups are nested too deep.
    TooDeep,
    /// Its groups are too many or too long.
    TooComplex,
    /// It and the other patterns of the call take too much memory.
    TooLarge,
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GlobError::TooManyAlternatives => {
                write!(
                    f,
                    "the braces of the pattern stand for more than {MAX_ALTERNATIVES} alternatives; give fewer, or several patterns"
                )
            }
            GlobError::TooLongExpanded => {
                write!(
                    f,
                    "the braces of the pattern stand for more than {MAX_TEXT} characters; give fewer alternatives"
                )
            }
            GlobError::TooDeep => {
                f.write_str("the braces or groups of the pattern are nested too deep; give a flat list")
            }
            GlobError::TooComplex => {
                f.write_str("the pattern is too complex; give a shorter one with fewer groups")
            }
            GlobError::TooLarge => {
                let megabytes = HELD >> 20;
                write!(
                    f,
                    "the patterns of the call take more than {megabytes} MB together; give fewer or shorter ones"
                )
            }
        }
    }
}

impl std::error::Error for GlobError {}
