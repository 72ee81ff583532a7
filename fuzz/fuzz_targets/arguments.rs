//! Compares the parsing of arguments with serde_json and std.
//!
//! Must hold for any bytes:
//! - nothing panics: `depth_exceeds`, `Arguments`, and every tool's `parse` with all bases and name policies;
//! - on JSON, `depth_exceeds` counts the same depth as a recursive parser;
//! - a JSON object that is not nested too deeply is split, and each member has the value that serde_json and
//!   std give: a string, a line (an integer, not before the first), true or false, absent (also null), or
//!   wrong; of two members of one name the last counts; an unknown member is refused.
//!
//! Input: the JSON text.

#![no_main]

use std::collections::BTreeMap;
use std::fmt;

use file_editor::engine::{Error, NamePolicy};
use file_editor::tools::{Arguments, LineBase, MAX_DEPTH, ParseOptions, TOOLS, depth_exceeds, name_as_sent};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

const KEYS: [&str; 4] = ["name", "line", "content", "edits"];

fuzz_target!(|data: &[u8]| {
    let Ok(depth) = serde_json::from_slice::<Depth>(data) else {
        // Not JSON, or nested deeper than serde_json allows.
        let _ = depth_exceeds(data, 1);
        std::str::from_utf8(data).into_iter().for_each(parse_all);
        return;
    };
    for most in 0..=depth.0 + 1 {
        assert_eq!(depth_exceeds(data, most), depth.0 > most, "{} levels, at most {most}", depth.0);
    }
    assert!(!depth_exceeds(data, MAX_DEPTH));
    let text = std::str::from_utf8(data).expect("JSON is UTF-8");
    parse_all(text);
    match serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
        Ok(members) => {
            members_are_read(text, &members, LineBase::Zero);
            members_are_read(text, &members, LineBase::One);
        }
        Err(_) => assert!(Arguments::of(text).is_err(), "taken for an object"),
    }
});

/// Calls every tool with `text`; the result does not matter.
fn parse_all(text: &str) {
    for tool in TOOLS {
        for (base, names) in [(LineBase::Zero, NamePolicy::Portable), (LineBase::One, NamePolicy::Any)] {
            let _ = tool.parse(text, ParseOptions { base, names, create_if_missing: true });
        }
    }
    let _ = name_as_sent(text);
}

fn members_are_read(text: &str, members: &BTreeMap<String, &RawValue>, base: LineBase) {
    let take_apart = || Arguments::of(text).expect("an object");
    for key in KEYS {
        let token = members.get(key).map(|value| value.get()).filter(|token| *token != "null");
        let string = take_apart().string(key);
        match token.map(serde_json::from_str::<String>) {
            None => assert_eq!(string.expect("absent"), None),
            Some(Ok(expected)) => assert_eq!(string.expect("a string"), Some(expected)),
            Some(Err(_)) => assert!(string.is_err(), "{token:?} is no string"),
        }
        let flag = take_apart().flag(key);
        match token {
            None => assert_eq!(flag.expect("absent"), None),
            Some(token @ ("true" | "false")) => assert_eq!(flag.expect("a flag"), Some(token == "true")),
            Some(token) => assert!(flag.is_err(), "{token} is no flag"),
        }
        line_is_read(take_apart().line(key, base), token, base);
        let objects = take_apart().objects(key, 2).map(|objects| objects.len());
        match token.map(serde_json::from_str::<Vec<BTreeMap<String, &RawValue>>>) {
            None => assert_eq!(objects.expect("absent"), 0),
            Some(Ok(items)) if items.len() <= 2 => assert_eq!(objects.expect("objects"), items.len()),
            Some(_) => assert!(objects.is_err(), "{token:?} are no two objects"),
        }
    }
    let mut asked = take_apart();
    for key in KEYS {
        let _ = asked.string(key);
    }
    assert_eq!(asked.finish().is_ok(), members.keys().all(|key| KEYS.contains(&key.as_str())));
}

fn line_is_read(line: Result<Option<u64>, Error>, token: Option<&str>, base: LineBase) {
    let Some(token) = token else { return assert_eq!(line.expect("absent"), None) };
    if let Ok(exact) = token.parse::<u64>()
        && exact >= base.first()
    {
        return assert_eq!(line.expect("a line"), Some(exact - base.first()), "{token}");
    }
    // In any other notation, the value is that of a float.
    let number = token.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    match token.parse::<f64>().ok().filter(|_| number) {
        Some(number) if number.fract() == 0.0 && number < base.first() as f64 => {
            assert!(matches!(line, Err(Error::NegativeLine)), "{token}: {line:?}");
        }
        Some(number) if number.fract() == 0.0 => {
            assert_eq!(line.expect("a line"), Some(number as u64 - base.first()), "{token}");
        }
        _ => assert!(matches!(line, Err(Error::InvalidArguments { .. })), "{token}: {line:?}"),
    }
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
