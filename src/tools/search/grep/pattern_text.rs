//! What a client is told of a pattern that cannot be used, and what to send instead.

use crate::engine::{Error, PatternError};

/// The error for the argument `pattern`.
pub(super) fn wrong(error: PatternError) -> Error {
    let problem = match error {
        PatternError::NotLinear => {
            "look-around and back-references are not supported; search for the part that is not in them, \
            with the context (-C) or a second call to see the rest"
                .into()
        }
        PatternError::Syntax(problem, at) => format!(
            "it is no valid regular expression: {problem} (byte {at}); escape the character with \\, \
            or pass \"fixed_strings\": true to search for the text itself"
        ),
        PatternError::LineBreak => {
            "it holds a line break, but a match is within one line; pass \"multiline\": true".into()
        }
        PatternError::TooLarge => {
            "it is too large; expected fewer or smaller repetitions and alternatives".into()
        }
    };
    Error::InvalidArguments { at: "pattern".into(), problem }
}
