//! The filters, tests and functions of templates. A filter that makes a text or a list pays for it, so that one rendering
//! makes no more than its allowance.

use std::borrow::Cow;
use std::cell::Cell;

use minijinja::value::{Rest, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value};

/// The most bytes that the filters of one rendering make together.
const ALLOWANCE: usize = 1 << 20;

/// The longest text that a filter makes, in bytes: comparing two texts is one step of any length.
const MAX_MADE: usize = 64 << 10;

/// The most numbers of `range`.
const MAX_RANGE: i64 = 10_000;

thread_local! {
    /// What the rendering of this thread may still make, in bytes. A rendering stays on its thread.
    static LEFT: Cell<usize> = const { Cell::new(ALLOWANCE) };
}

/// Begins a rendering on this thread.
pub(super) fn begin() {
    LEFT.set(ALLOWANCE);
}

/// Adds all filters, tests and functions.
pub(super) fn add_to(environment: &mut Environment) {
    environment.add_filter("upper", |text: &str| made(text.len() * 3, || text.to_uppercase()));
    environment.add_filter("lower", |text: &str| made(text.len() * 3, || text.to_lowercase()));
    environment.add_filter("trim", |text: &str| made(text.len(), || text.trim().to_owned()));
    environment.add_filter("snake", |text: &str| made(text.len() * 4, || words(text).join("_")));
    environment.add_filter("kebab", |text: &str| made(text.len() * 4, || words(text).join("-")));
    environment.add_filter("pascal", |text: &str| made(text.len() * 6, || pascal(text)));
    environment.add_filter("quoted", |text: &str| made(text.len() * 6 + 2, || quoted(text)));
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("indent", indent);
    environment.add_filter("length", length);
    environment.add_filter("first", |list: Value| end(&list, false));
    environment.add_filter("last", |list: Value| end(&list, true));
    environment.add_filter("default", |value: Value, other: Value| match value.is_undefined() {
        true => other,
        false => value,
    });
    environment.add_test("defined", |value: Value| !value.is_undefined());
    environment.add_test("startingwith", |text: &str, start: &str| text.starts_with(start));
    environment.add_test("endingwith", |text: &str, end: &str| text.ends_with(end));
    environment.add_function("range", range);
}

/// The text, if the rendering may make one of at most `bytes` bytes.
fn made(bytes: usize, text: impl FnOnce() -> String) -> Result<String, Error> {
    pay(bytes)?;
    Ok(text())
}

fn pay(bytes: usize) -> Result<(), Error> {
    if bytes > MAX_MADE {
        return Err(refused(format!("a filter makes a text of more than {MAX_MADE} bytes")));
    }
    match LEFT.get().checked_sub(bytes) {
        Some(left) => LEFT.set(left),
        None => return Err(refused(format!("the filters make more than {ALLOWANCE} bytes"))),
    }
    Ok(())
}

fn refused(problem: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, problem)
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let found = text.matches(from).count();
    made((text.len() - found * from.len()).saturating_add(found.saturating_mul(to.len())), || {
        text.replace(from, to)
    })
}

/// The items of a list of simple values.
fn items(list: &Value) -> Result<Vec<Value>, Error> {
    pay(list.len().unwrap_or(0).saturating_mul(size_of::<Value>()))?;
    match list.kind() {
        ValueKind::Seq | ValueKind::Iterable => Ok(list.try_iter()?.collect()),
        _ => Err(refused(format!("expected a list, but it is {}", list.kind()))),
    }
}

fn join(list: Value, separator: Option<&str>) -> Result<String, Error> {
    let (items, separator) = (items(&list)?, separator.unwrap_or_default());
    let mut out = String::new();
    for (number, item) in items.iter().enumerate() {
        let item = simple_text(item)?;
        let separator = if number == 0 { "" } else { separator };
        if out.len() + separator.len() + item.len() > MAX_MADE {
            pay(MAX_MADE + 1)?;
        }
        out.push_str(separator);
        out.push_str(&item);
    }
    made(out.len(), || out)
}

/// The text of a value that is no list.
pub(super) fn simple_text(value: &Value) -> Result<Cow<'_, str>, Error> {
    match (value.as_str(), value.kind()) {
        (Some(text), _) => Ok(text.into()),
        (None, ValueKind::Number) => Ok(value.to_string().into()),
        (None, ValueKind::Bool) => Ok(if value.is_true() { "true" } else { "false" }.into()),
        (None, ValueKind::Undefined) => Err(Error::from(ErrorKind::UndefinedError)),
        (None, ValueKind::Seq | ValueKind::Iterable) => {
            Err(refused("a list is no text; use the filter join".into()))
        }
        (None, kind) => Err(refused(format!("a value of the kind {kind} is no text"))),
    }
}

/// Indents all lines but the first that are not empty.
fn indent(text: &str, width: usize) -> Result<String, Error> {
    let lines = text.matches('\n').count();
    let most = text.len().saturating_add(lines.saturating_mul(width));
    made(most, || {
        let before = " ".repeat(if lines == 0 { 0 } else { width });
        let mut lines = text.split('\n');
        let mut out = lines.next().unwrap_or_default().to_owned();
        for line in lines {
            out.push('\n');
            if !line.is_empty() {
                out.push_str(&before);
            }
            out.push_str(line);
        }
        out
    })
}

fn length(value: Value) -> Result<usize, Error> {
    match (value.as_str(), value.len()) {
        (Some(text), _) => Ok(text.chars().count()),
        (None, Some(len)) => Ok(len),
        (None, None) => Err(refused(format!("a value of the kind {} has no length", value.kind()))),
    }
}

fn end(list: &Value, last: bool) -> Result<Value, Error> {
    let mut items = items(list)?;
    Ok(if last { items.pop() } else { items.into_iter().next() }.unwrap_or(Value::UNDEFINED))
}

fn range(numbers: Rest<i64>) -> Result<Value, Error> {
    let (start, end) = match numbers[..] {
        [end] => (0, end),
        [start, end] => (start, end),
        _ => return Err(refused("range takes one or two numbers".into())),
    };
    if end.saturating_sub(start) > MAX_RANGE {
        return Err(refused(format!("range makes more than {MAX_RANGE} numbers")));
    }
    pay((end.saturating_sub(start).max(0) as usize).saturating_mul(2))?;
    Ok(Value::from_iter(start..end))
}

/// The words of a name, in lower case.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    for char in text.chars() {
        let begins = before.is_none_or(|before: char| {
            !before.is_alphanumeric() || char.is_uppercase() && !before.is_uppercase()
        });
        if char.is_alphanumeric() {
            match words.last_mut() {
                Some(word) if !begins => word.extend(char.to_lowercase()),
                _ => words.push(char.to_lowercase().collect()),
            }
        }
        before = Some(char);
    }
    words
}

fn pascal(text: &str) -> String {
    let capital = |word: String| {
        let mut chars = word.chars();
        chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect::<String>()
    };
    words(text).into_iter().map(capital).collect()
}

/// The text in double quotes, as JSON, TOML, JavaScript and Python read it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if char < ' ' || char == '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}
