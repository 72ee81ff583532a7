//! Lines as one argument: `"120-180"`, `"7"` or 7, counted from the first line of the interface. For reads also `"120-"` and `[120, 180]`.

use crate::tools::arguments::{Argument, Line, Value};
use engine::LineRange;
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
        let (first, last) = ends(&text);
        match (number(first), number(last)) {
            (Some(first), Some(last)) => span(first, last, value),
            _ => Err(value.wrong(EXPECTED)),
        }
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

/// Lines that are read: the last one need not be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReadSpan(pub(super) LineRange);

const EXPECTED_OF_READ: &str = "lines such as \"120-180\", \"120-\" or \"120\"";

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
        let of = |Span { first, last }: Span| LineRange { start: Some(first), end: Some(last) };
        let mut pair = Vec::new();
        let is_array = value.items("", |_, item| {
            pair.push(item.json().parse::<i64>().map_err(|_| value.wrong(EXPECTED_OF_READ))?);
            Ok(())
        });
        if is_array.is_ok() {
            let first = pair.first().and_then(|first| u64::try_from(*first).ok());
            return match (first, pair.get(1)) {
                (Some(first), None | Some(-1)) => {
                    Ok(ReadSpan(LineRange { end: None, ..of(span(first, first, value)?) }))
                }
                (Some(first), Some(&last)) if pair.len() == 2 => {
                    let last = u64::try_from(last).map_err(|_| value.wrong(EXPECTED_OF_READ))?;
                    Ok(ReadSpan(of(span(first, last, value)?)))
                }
                _ => Err(value.wrong(EXPECTED_OF_READ)),
            };
        }
        let text = value.string().unwrap_or_default();
        match ends(&text) {
            (first, last) if last.trim().is_empty() && !text.is_empty() => {
                let first = number(first).ok_or_else(|| value.wrong(EXPECTED_OF_READ))?;
                Ok(ReadSpan(LineRange { end: None, ..of(span(first, first, value)?) }))
            }
            _ => Span::read(value).map(|span| ReadSpan(of(span))),
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
            assert_eq!(read(json).unwrap(), ReadSpan(range), "{json}");
        }
        for json in ["\"-\"", "\"a-\"", "[1,2,3]", "[5,3]", "[0,3]", "[-1,3]", "[]", "true"] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
