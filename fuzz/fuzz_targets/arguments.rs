//! Compares the parsing of arguments with serde_json and std.
//!
//! Must hold for any bytes:
//! - nothing panics: `depth_exceeds`, every type of argument, and every tool's parser with all bases and name policies;
//! - on JSON, `depth_exceeds` counts the same depth as a recursive parser;
//! - each value is what serde_json and std say: a string, a line (an integer, or a string that holds one, not before the
//!   first), true or false (also as strings), an array (also as a string), or wrong;
//! - an object means the same to every tool if it is sent as a string, and if its lists and numbers are.
//!
//! Input: the JSON text.

#![no_main]

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use file_editor::tools::arguments::{Argument, Line, List, Value};
use file_editor::tools::{LineBase, MAX_DEPTH, ParseOptions, ToolNames, depth_exceeds, name_as_sent, sets};
use folder::{Error, FolderPaths, NamePolicy};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

type Members<'j> = BTreeMap<String, &'j RawValue>;

fuzz_target!(|data: &[u8]| {
    let Ok(depth) = serde_json::from_slice::<Depth>(data) else {
        // Not JSON, or nested deeper than serde_json allows.
        let _ = depth_exceeds(data, 1);
        std::str::from_utf8(data).into_iter().for_each(|text| _ = parse_all(text));
        return;
    };
    for most in 0..=depth.0 + 1 {
        assert_eq!(depth_exceeds(data, most), depth.0 > most, "{} levels, at most {most}", depth.0);
    }
    assert!(!depth_exceeds(data, MAX_DEPTH));
    let text = std::str::from_utf8(data).expect("JSON is UTF-8");
    let calls = parse_all(text);
    if let Ok(members) = serde_json::from_str::<Members>(text) {
        members.values().for_each(|value| value_is_read(value.get()));
        assert_eq!(parse_all(&string(text)), calls, "as a string");
    }
});

/// What every tool makes of `text`.
fn parse_all(text: &str) -> Vec<String> {
    let _ = name_as_sent(text);
    let folders = FolderPaths::new(vec![("/f".into(), "/f".into())]);
    let (author, handles) = (Arc::default(), Arc::default());
    let tools = sets::SETS.iter().flat_map(|set| set.tools);
    let options = [(LineBase::Zero, NamePolicy::Portable, false), (LineBase::One, NamePolicy::Any, true)]
        .map(|(base, names, paths)| ParseOptions {
            base,
            names,
            paths,
            folders: &folders,
            limit: None.into(),
            create_if_missing: true,
            offered: ToolNames::default(),
            author: &author,
            handles: &handles,
        });
    tools.flat_map(|tool| options.map(|options| format!("{:?}", tool.parse(text, options)))).collect()
}

/// `text` as a JSON string.
fn string(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

fn read<T: Argument>(token: &str, base: LineBase) -> Result<T, Error> {
    let folders = FolderPaths::default();
    let options = ParseOptions {
        base,
        names: NamePolicy::Any,
        paths: false,
        folders: &folders,
        limit: None.into(),
        create_if_missing: true,
        offered: ToolNames::default(),
        author: &Arc::default(),
        handles: &Arc::default(),
    };
    T::read(&Value::arguments(token, options)?)
}

fn value_is_read(token: &str) {
    let text = serde_json::from_str::<String>(token).ok();
    assert_eq!(read::<String>(token, LineBase::Zero).ok(), text, "{token}");
    let flag = match text.as_deref().unwrap_or(if token.starts_with('"') { "" } else { token }) {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    // A string may spell its letters as escapes; such a flag need not be taken.
    if !token.contains('\\') {
        assert_eq!(read::<bool>(token, LineBase::Zero).ok(), flag, "{token}");
    }
    for base in [LineBase::Zero, LineBase::One] {
        line_is_read(read(token, base), text.as_deref().unwrap_or(token).trim(), base);
    }
    let array = text.as_deref().unwrap_or(token);
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(array) {
        let list = read::<List<Anything, 0, 2>>(token, LineBase::Zero);
        let deep = depth_exceeds(array.as_bytes(), MAX_DEPTH);
        assert_eq!(list.map(|list| list.len()).ok(), Some(items.len()).filter(|len| *len <= 2 && !deep));
    }
}

/// Any value.
struct Anything;

impl Argument for Anything {
    fn expected() -> String {
        "anything".into()
    }

    fn schema(_: &mut String) {}

    fn read(_: &Value) -> Result<Anything, Error> {
        Ok(Anything)
    }
}

fn line_is_read(line: Result<Line, Error>, token: &str, base: LineBase) {
    if let Ok(exact) = token.parse::<u64>()
        && !token.starts_with('+')
        && exact >= base.first()
    {
        return assert_eq!(line.expect("a line"), Line(exact - base.first()), "{token}");
    }
    // In any other notation, the value is that of a float.
    match number(token) {
        Some(number) if number.fract() == 0.0 && number < base.first() as f64 => {
            assert!(matches!(line, Err(Error::NegativeLine)), "{token}: {line:?}");
        }
        Some(number) if number.fract() == 0.0 => {
            assert_eq!(line.expect("a line"), Line(number as u64 - base.first()), "{token}");
        }
        _ => assert!(line.is_err(), "{token}: {line:?}"),
    }
}

/// The number that `token` is in JSON. std reads it: serde_json refuses what is too large for a float, and rounds some
/// others wrongly.
fn number(token: &str) -> Option<f64> {
    serde_json::from_str::<&RawValue>(token).ok()?;
    token.parse().ok().filter(|_| token.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
}

/// The nesting depth of arrays and objects, read recursively; duplicate members count too.
struct Depth(usize);

impl<'de> Deserialize<'de> for Depth {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Depth, D::Error> {
        value.deserialize_any(Levels).map(Depth)
    }
}

struct Levels;

impl<'de> Visitor<'de> for Levels {
    type Value = usize;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<usize, E> {
        Ok(0)
    }

    fn visit_bool<E>(self, _: bool) -> Result<usize, E> {
        Ok(0)
    }

    fn visit_i64<E>(self, _: i64) -> Result<usize, E> {
        Ok(0)
    }

    fn visit_u64<E>(self, _: u64) -> Result<usize, E> {
        Ok(0)
    }

    fn visit_f64<E>(self, _: f64) -> Result<usize, E> {
        Ok(0)
    }

    fn visit_str<E>(self, _: &str) -> Result<usize, E> {
        Ok(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<usize, A::Error> {
        let mut deepest = 0;
        while let Some(Depth(depth)) = items.next_element()? {
            deepest = deepest.max(depth);
        }
        Ok(deepest + 1)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<usize, A::Error> {
        let mut deepest = 0;
        while let Some((_, Depth(depth))) = members.next_entry::<String, _>()? {
            deepest = deepest.max(depth);
        }
        Ok(deepest + 1)
    }
}
