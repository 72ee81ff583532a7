//! The types of arguments that several tools have. A new type is one more implementation of [`Argument`].

use super::argument::{Argument, EMPTY};
use super::json::{Integer, integer};
use super::value::Value;
use folder::{Error, FilePath, Result};
use text::encoding::EncodingChoice;

/// A text, which may be empty: new text for a file, without NUL, or with `ANY` whatever the file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const ANY: bool = false>(pub String);

/// The number of a line, converted to a 0-based one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line(pub u64);

/// The line where a range starts: its number, converted to a 0-based one, or a number of lines before the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartLine {
    /// This line.
    At(u64),
    /// So many lines, at least 1, before the end.
    FromEnd(u64),
}

/// An integer of at least 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count(pub u64);

/// An integer of at least 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Natural(pub u64);

/// The number of one of several things, which count from 1. 0 is read, too: it is the number of nothing, not of none, so a tool that
/// goes by it must refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordinal(pub u64);

/// An integer from `LEAST` to `MOST`, of which 0 says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpTo<const MOST: u64, const LEAST: u64 = 0>(pub u64);

impl Argument for String {
    fn expected() -> String {
        "a string".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"string""#);
    }

    fn read(value: &Value) -> Result<String> {
        value.string()
    }
}

impl<const ANY: bool> Argument for Text<ANY> {
    fn expected() -> String {
        String::expected()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    /// A text may be empty, so that it empties a file, say.
    fn is_empty(_: &Value) -> bool {
        false
    }

    fn read(value: &Value) -> Result<Text<ANY>> {
        let text = value.string()?;
        match memchr::memchr(0, text.as_bytes()) {
            Some(_) if !ANY => Err(value.refuse("it holds a NUL character; expected text without one")),
            _ => Ok(Text(text)),
        }
    }
}

impl Argument for FilePath {
    fn expected() -> String {
        String::expected()
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<FilePath> {
        value.options().path(&value.string()?)
    }
}

impl Argument for EncodingChoice {
    fn expected() -> String {
        format!("an encoding, such as {}, or auto", EncodingChoice::COMMON)
    }

    fn schema(out: &mut String) {
        String::schema(out);
    }

    fn read(value: &Value) -> Result<EncodingChoice> {
        let name = value.string()?;
        EncodingChoice::parse(&name).ok_or_else(|| match &EncodingChoice::near(&name)[..] {
            [] => value.wrong(&EncodingChoice::expected()),
            near => value.wrong(&format!("an encoding; like it are {}", near.join(", "))),
        })
    }
}

impl Argument for Line {
    fn expected() -> String {
        "a line number".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"integer","minimum":{first}"#);
    }

    /// 0 is a line only where lines count from it.
    fn is_empty(value: &Value) -> bool {
        is_empty_or_zero(value) && (value.json() == EMPTY || value.options().base.first() > 0)
    }

    fn read(value: &Value) -> Result<Line> {
        match integer(value.json()) {
            None => Err(value.wrong("an integer")),
            Some(Integer::Negative(_)) => Err(Error::NegativeLine),
            Some(Integer::Natural(line)) => {
                line.checked_sub(value.options().base.first()).map(Line).ok_or(Error::NegativeLine)
            }
        }
    }
}

impl Argument for StartLine {
    fn expected() -> String {
        Line::expected()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"integer""#);
    }

    fn is_empty(value: &Value) -> bool {
        Line::is_empty(value)
    }

    fn read(value: &Value) -> Result<StartLine> {
        match integer(value.json()) {
            Some(Integer::Negative(lines)) if 1 <= lines => Ok(StartLine::FromEnd(lines)),
            _ => Line::read(value).map(|line| StartLine::At(line.0)),
        }
    }
}

impl Argument for Count {
    fn expected() -> String {
        "an integer of at least 1".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"integer","minimum":1"#);
    }

    fn is_empty(value: &Value) -> bool {
        is_empty_or_zero(value)
    }

    fn read(value: &Value) -> Result<Count> {
        at_least(1, value, &Count::expected()).map(Count)
    }
}

/// Whether a value is 0 or the empty string.
fn is_empty_or_zero(value: &Value) -> bool {
    value.json() == EMPTY || integer(value.json()) == Some(Integer::Natural(0))
}

/// An integer that is not smaller than `least`.
fn at_least(least: u64, value: &Value, expected: &str) -> Result<u64> {
    match integer(value.json()) {
        // The largest numbers have meanings of their own in the engine.
        Some(Integer::Natural(number)) if least <= number => Ok(number.min(u64::MAX - 2)),
        _ => Err(value.wrong(expected)),
    }
}

impl Argument for Natural {
    fn expected() -> String {
        "an integer of at least 0".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"integer","minimum":0"#);
    }

    fn read(value: &Value) -> Result<Natural> {
        at_least(0, value, &Natural::expected()).map(Natural)
    }
}

impl Argument for Ordinal {
    fn expected() -> String {
        Count::expected()
    }

    fn schema(out: &mut String) {
        Count::schema(out);
    }

    fn read(value: &Value) -> Result<Ordinal> {
        at_least(0, value, &Ordinal::expected()).map(Ordinal)
    }
}

impl<const MOST: u64, const LEAST: u64> Argument for UpTo<MOST, LEAST> {
    fn expected() -> String {
        format!("an integer from {LEAST} to {MOST}")
    }

    fn schema(out: &mut String) {
        out.push_str(&format!(r#""type":"integer","minimum":{LEAST},"maximum":{MOST}"#));
    }

    fn is_empty(value: &Value) -> bool {
        is_empty_or_zero(value)
    }

    fn read(value: &Value) -> Result<UpTo<MOST, LEAST>> {
        let number = at_least(LEAST, value, &Self::expected())?;
        if number > MOST { Err(value.wrong(&Self::expected())) } else { Ok(UpTo(number)) }
    }
}

impl Argument for bool {
    fn expected() -> String {
        "true or false".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"boolean""#);
    }

    fn read(value: &Value) -> Result<bool> {
        match value.json() {
            "true" | r#""true""# => Ok(true),
            "false" | r#""false""# => Ok(false),
            _ => Err(value.wrong(&bool::expected())),
        }
    }
}
