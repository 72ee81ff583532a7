//! The types of arguments that several tools have. A new type is one more implementation of [`Argument`].

use std::ops::Deref;

use super::argument::{Argument, EMPTY};
use super::json::{Integer, integer};
use super::value::Value;
use crate::engine::{EncodingChoice, Error, FilePath, Result};

/// Text for a file: a string without NUL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

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

/// An integer from `LEAST` to `MOST`, of which 0 says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpTo<const MOST: u64, const LEAST: u64 = 0>(pub u64);

/// An array of at least `LEAST` and at most `MOST` items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T, const LEAST: usize, const MOST: usize>(pub Vec<T>);

/// An argument whose error the tool reports after others of its own.
#[derive(Debug)]
pub struct Later<T>(pub Result<T>);

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

impl Argument for Text {
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

    fn read(value: &Value) -> Result<Text> {
        let text = value.string()?;
        match memchr::memchr(0, text.as_bytes()) {
            None => Ok(Text(text)),
            Some(_) => Err(value.refuse("it holds a NUL character; expected text without one")),
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
        format!("one of {}", EncodingChoice::names().collect::<Vec<_>>().join(", "))
    }

    fn schema(out: &mut String) {
        let names: Vec<String> = EncodingChoice::names().map(|name| format!("\"{name}\"")).collect();
        out.push_str(&format!(r#""type":"string","enum":[{}]"#, names.join(",")));
    }

    fn read(value: &Value) -> Result<EncodingChoice> {
        EncodingChoice::parse(&value.string()?).ok_or_else(|| value.wrong(&EncodingChoice::expected()))
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

impl<T: Argument> Argument for Option<T> {
    const REQUIRED: bool = false;

    fn expected() -> String {
        T::expected()
    }

    fn schema(out: &mut String) {
        T::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        T::is_empty(value)
    }

    fn read(value: &Value) -> Result<Option<T>> {
        T::read(value).map(Some)
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }
}

impl<T: Argument> Argument for Later<T> {
    const REQUIRED: bool = T::REQUIRED;

    fn expected() -> String {
        T::expected()
    }

    fn schema(out: &mut String) {
        T::schema(out);
    }

    fn is_empty(value: &Value) -> bool {
        T::is_empty(value)
    }

    fn read(value: &Value) -> Result<Later<T>> {
        Ok(Later(T::read(value)))
    }

    fn absent() -> Option<Later<T>> {
        T::absent().map(|absent| Later(Ok(absent)))
    }
}

impl<T: Argument, const LEAST: usize, const MOST: usize> Argument for List<T, LEAST, MOST> {
    fn expected() -> String {
        "an array".into()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"array","#);
        if 0 < LEAST {
            out.push_str(&format!(r#""minItems":{LEAST},"#));
        }
        out.push_str(&format!(r#""maxItems":{MOST},"items":{{"#));
        T::schema(out);
        out.push('}');
    }

    fn is_empty(value: &Value) -> bool {
        is_empty_list(value)
    }

    fn read(value: &Value) -> Result<Self> {
        let mut list = Vec::new();
        value.items(&Self::expected(), |number, item| {
            if number == MOST {
                let problem = format!("it has more than {MOST} items; expected at most {MOST} in one call");
                return Err(value.refuse(problem));
            }
            list.push(T::read(&item)?);
            Ok(())
        })?;
        if list.len() < LEAST {
            return Err(value.refuse(format!("it has too few items; expected at least {LEAST}")));
        }
        Ok(List(list))
    }
}

/// Whether a value is an array without items, a string that holds one, or the empty string.
pub fn is_empty_list(value: &Value) -> bool {
    let has_items = || value.items("", |_, item| Err(item.refuse("an item")));
    value.json() == EMPTY || has_items().is_ok()
}

impl<T, const LEAST: usize, const MOST: usize> Deref for List<T, LEAST, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
