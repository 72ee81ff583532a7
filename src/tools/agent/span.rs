//! Lines as one argument: `"120-180"`, `"7"` or 7, counted from the first line of the interface.

use crate::tools::arguments::{Argument, Line, Value};
use folder::{Error, Result};

/// Lines, 0-based, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) last: u64,
}

const EXPECTED: &str = "lines such as \"12-14\" or \"7\"";

impl Argument for Span {
    fn expected() -> String {
        EXPECTED.into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"string""#);
    }

    fn is_empty(value: &Value) -> bool {
        Line::is_empty(value)
    }

    fn read(value: &Value) -> Result<Span> {
        if !value.json().starts_with('"') {
            let Line(line) = Line::read(value)?;
            return Ok(Span { first: line, last: line });
        }
        let text = value.string()?;
        let span = text.trim().trim_start_matches(['L', 'l']);
        let (first, last) = span.split_once(['-', ':']).unwrap_or((span, span));
        let base = value.options().base.first();
        let number = |text: &str| text.trim().trim_start_matches(['L', 'l']).parse::<u64>().ok();
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(value.wrong(EXPECTED));
        };
        match (first.checked_sub(base), last.checked_sub(base)) {
            (Some(first), Some(last)) if first <= last => Ok(Span { first, last }),
            (Some(_), Some(_)) => Err(Error::InvalidRange { start: first - base, end: last - base }),
            _ => Err(Error::NegativeLine),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::LineBase;
    use crate::tools::arguments::tests::read;

    #[test]
    fn lines_are_taken_in_the_usual_forms_and_nothing_else() {
        let read = |json: &str| read::<Span>(json, LineBase::One);
        for (json, first, last) in
            [("\"12-14\"", 11, 13), ("7", 6, 6), ("\"7\"", 6, 6), ("\"L3-L5\"", 2, 4), ("\" 1 : 2 \"", 0, 1)]
        {
            assert_eq!(read(json).unwrap(), Span { first, last }, "{json}");
        }
        for json in ["\"0-3\"", "\"5-3\"", "\"a\"", "\"3-\"", "\"1-2-3\"", "\"2,4\"", "true", "-4"] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
