//! Lines as one argument: `"120-180"`, `[120, 180]`, `"7"` or 7, counted from the first line of the interface. For reads also `"120-"`.

use crate::tools::arguments::{Argument, Line, Value};
use engine::LineRange;
use folder::{Error, Result};

/// Lines, 0-based, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Span {
    /// Line 0 where lines count from 1.
    pub(super) const ZERO: Span = Span { first: u64::MAX, last: 0 };
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
        Line::is_empty(value) && !is_zero(value)
    }

    fn read(value: &Value) -> Result<Span> {
        match pair(value) {
            _ if Line::is_empty(value) && is_zero(value) => Ok(Span::ZERO),
            Some([first, last]) => span(first, last, value),
            None => of_text(value, EXPECTED),
        }
    }
}

fn is_zero(value: &Value) -> bool {
    value.json().trim_matches('"').parse() == Ok(0)
}

/// Lines as a pair of numbers.
fn pair(value: &Value) -> Option<[u64; 2]> {
    let mut pair = Vec::new();
    let all = value.items("", &mut |_, item| {
        pair.push(item.json().parse().map_err(|_| item.wrong(EXPECTED))?);
        Ok(())
    });
    all.ok().and_then(|()| pair.try_into().ok())
}

fn of_text(value: &Value, expected: &str) -> Result<Span> {
    if let Ok(line) = value.json().parse() {
        return span(line, line, value);
    }
    let text = value.string().map_err(|_| value.wrong(expected))?;
    let (first, last) = ends(&text);
    match (number(first), number(last)) {
        (Some(first), Some(last)) => span(first, last, value),
        _ => Err(value.wrong(expected)),
    }
}

/// The two ends of a range.
fn ends(text: &str) -> (&str, &str) {
    text.split_once(['-', ':']).unwrap_or((text, text))
}

fn number(text: &str) -> Option<u64> {
    text.trim().trim_start_matches(['L', 'l']).parse().ok()
}

/// The lines from `first` to `last`, as the interface counts them.
fn span(first: u64, last: u64, value: &Value) -> Result<Span> {
    let base = value.options().base.first();
    match (first.checked_sub(base), last.checked_sub(base)) {
        (Some(first), Some(last)) if first <= last => Ok(Span { first, last }),
        (Some(first), Some(last)) => Err(Error::InvalidRange { start: first, end: last }),
        _ => Err(Error::NegativeLine),
    }
}

/// Lines that are read: the last one need not be given. `None` is line 0 where lines count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadSpan(pub(super) Option<LineRange>);

const EXPECTED_OF_READ: &str = "lines such as \"120-180\", \"120-\" or \"120\"; the last ones by tail";

impl Argument for ReadSpan {
    fn expected() -> String {
        EXPECTED_OF_READ.into()
    }

    fn schema(out: &mut String) {
        Span::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        Span::is_empty(value)
    }

    fn read(value: &Value) -> Result<ReadSpan> {
        let to_end = |first: u64| {
            let Span { first, .. } = span(first, first, value)?;
            Ok(ReadSpan(Some(LineRange { start: Some(first), end: None })))
        };
        let json: String = value.json().chars().filter(|c| !c.is_ascii_whitespace()).collect();
        if let Some(first) =
            json.trim_matches('"').strip_prefix('[').and_then(|rest| rest.strip_suffix(",-1]"))
        {
            return to_end(first.parse().map_err(|_| value.wrong(EXPECTED_OF_READ))?);
        }
        let text = value.string().unwrap_or_default();
        let (first, last) = ends(&text);
        if last.trim().is_empty() && !text.is_empty() {
            return to_end(number(first).ok_or_else(|| value.wrong(EXPECTED_OF_READ))?);
        }
        let span = match pair(value) {
            _ if Line::is_empty(value) && is_zero(value) => return Ok(ReadSpan(None)),
            Some([first, last]) => span(first, last, value),
            None => of_text(value, EXPECTED_OF_READ),
        }?;
        Ok(ReadSpan(Some(LineRange { start: Some(span.first), end: Some(span.last) })))
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
        for (json, first, last) in [
            ("\"12-14\"", 11, 13),
            ("7", 6, 6),
            ("\"7\"", 6, 6),
            ("\"L3-L5\"", 2, 4),
            ("\" 1 : 2 \"", 0, 1),
            ("[3, 5]", 2, 4),
            ("\"[3, 5]\"", 2, 4),
        ] {
            assert_eq!(read(json).unwrap(), Span { first, last }, "{json}");
        }
        for json in ["\"0-3\"", "\"5-3\"", "\"a\"", "\"3-\"", "\"1-2-3\"", "\"2,4\"", "true", "-4"] {
            assert!(read(json).is_err(), "{json}");
        }
    }

    #[test]
    fn lines_that_are_read_may_have_no_end() {
        let read = |json: &str| read::<ReadSpan>(json, LineBase::One);
        for (json, first, last) in [
            ("\"12-14\"", 11, Some(13)),
            ("7", 6, Some(6)),
            ("\"12-\"", 11, None),
            ("[3, 5]", 2, Some(4)),
            ("[3, -1]", 2, None),
            ("\"[3, 5]\"", 2, Some(4)),
        ] {
            let range = LineRange { start: Some(first), end: last };
            assert_eq!(read(json).unwrap(), ReadSpan(Some(range)), "{json}");
        }
        for json in ["\"-\"", "\"a-\"", "[1,2,3]", "[5,3]", "[0,3]", "[-1,3]", "[]", "true"] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
