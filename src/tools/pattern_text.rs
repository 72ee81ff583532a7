//! What a client is told of a regular expression that cannot be used, and what to send instead.

use folder::Error;
use search::PatternError;

/// The ways out of each error that a tool has.
#[derive(Debug)]
pub(super) struct WaysOut {
    /// For look-around and back-references.
    pub(super) not_linear: &'static str,
    /// For an expression that is not valid.
    pub(super) syntax: &'static str,
    /// For a line break.
    pub(super) line_break: &'static str,
}

/// The error for the argument `pattern`.
pub(super) fn wrong(error: PatternError, ways: &WaysOut) -> Error {
    let problem = match error {
        PatternError::NotLinear => {
            format!("look-around and back-references are not supported; {}", ways.not_linear)
        }
        PatternError::Syntax(problem, at) => {
            format!("it is no valid regular expression: {problem} (byte {at}); {}", ways.syntax)
        }
        PatternError::LineBreak => {
            format!("it holds a line break, but a match is within one line; {}", ways.line_break)
        }
        PatternError::TooLarge => {
            "it is too large; expected fewer or smaller repetitions and alternatives".into()
        }
    };
    Error::InvalidArguments { at: "pattern".into(), problem }
}
