//! The arguments of a call: parses one JSON object member by member.
//!
//! The values stay JSON text until a tool reads one, so that an error names its path (contract 7:
//! `Invalid arguments: {where}: {what is wrong, what is expected}`). null counts as absent, 5.0 as 5; "5",
//! 1.5 and a lone surrogate are wrong. Members that no tool has read are refused at the end.

use super::{LineBase, ParseOptions};
use crate::engine::{Error, FilePath, Result};

/// Arrays and objects nested deeper are refused before a recursive parser reads them.
pub const MAX_DEPTH: usize = 128;

/// Maximum number of characters of a wrong value in an error.
const SHOWN: usize = 60;

/// The members of one JSON object that were not read yet.
#[derive(Debug)]
pub struct Arguments<'a> {
    at: String,
    members: Vec<(String, &'a str)>,
    asked: Vec<&'static str>,
}

impl<'a> Arguments<'a> {
    /// Splits the JSON object `json` into members.
    pub fn of(json: &'a str) -> Result<Arguments<'a>> {
        if depth_exceeds(json.as_bytes(), MAX_DEPTH) {
            let problem = format!("nested deeper than {MAX_DEPTH} levels");
            return Err(Error::InvalidArguments { at: "arguments".into(), problem });
        }
        Arguments::object(String::new(), json)
    }

    fn object(at: String, json: &'a str) -> Result<Arguments<'a>> {
        let mut members = Vec::new();
        if !json.trim_start().starts_with('{') {
            return Err(wrong(or_arguments(&at), json, "an object"));
        }
        for member in sonic_rs::to_object_iter(json) {
            let (key, value) = member.map_err(|_| wrong(or_arguments(&at), json, "an object"))?;
            members.push((key.to_string(), raw(&value)));
        }
        Ok(Arguments { at, members, asked: Vec::new() })
    }

    /// Takes the text of a member; `None` if it is absent or null. Of two with one name, the last counts.
    fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.asked.push(key);
        let found = self.members.iter().rfind(|(name, _)| name == key).map(|(_, value)| *value);
        self.members.retain(|(name, _)| name != key);
        found.filter(|value| *value != "null")
    }

    fn path(&self, key: &str) -> String {
        if self.at.is_empty() { key.into() } else { format!("{}.{key}", self.at) }
    }

    /// Whether a member exists and is not null. Does not remove it.
    pub fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(name, value)| name == key && *value != "null")
    }

    /// A string.
    pub fn string(&mut self, key: &'static str) -> Result<Option<String>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        if !value.starts_with('"') {
            return Err(wrong(self.path(key), value, "a string"));
        }
        match sonic_rs::from_str(value) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(wrong(self.path(key), value, "a string of valid Unicode (no lone surrogate)")),
        }
    }

    /// Text for a file: a string without NUL.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>> {
        match self.string(key)? {
            Some(text) if text.contains('\0') => Err(Error::InvalidArguments {
                at: self.path(key),
                problem: "it holds a NUL character; expected text without one".into(),
            }),
            text => Ok(text),
        }
    }

    /// A required string.
    pub fn required_string(&mut self, key: &'static str) -> Result<String> {
        self.string(key)?.ok_or_else(|| missing(self.path(key), "a string"))
    }

    /// A file name.
    pub fn file_name(&mut self, key: &'static str, dialect: ParseOptions) -> Result<FilePath> {
        FilePath::parse(&self.required_string(key)?, dialect.names, dialect.folders)
    }

    /// A line number, converted to a 0-based one.
    pub fn line(&mut self, key: &'static str, base: LineBase) -> Result<Option<u64>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        if let Ok(number) = value.parse::<u64>() {
            return number.checked_sub(base.first()).map(Some).ok_or(Error::NegativeLine);
        }
        // 5.0 and 5e0 are integers too. A number that is too large saturates; no file has such a line.
        let number = sonic_rs::from_str::<f64>(value).ok().filter(|number| number.fract() == 0.0);
        match number {
            None => Err(wrong(self.path(key), value, "an integer")),
            Some(number) if number < base.first() as f64 => Err(Error::NegativeLine),
            Some(number) => Ok(Some(number as u64 - base.first())),
        }
    }

    /// A required line number.
    pub fn required_line(&mut self, key: &'static str, base: LineBase) -> Result<u64> {
        self.line(key, base)?.ok_or_else(|| missing(self.path(key), "a line number"))
    }

    /// true or false.
    pub fn flag(&mut self, key: &'static str) -> Result<Option<bool>> {
        match self.take(key) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(value) => Err(wrong(self.path(key), value, "true or false")),
        }
    }

    /// An array of at most `most` objects; empty if it is absent.
    pub fn objects(&mut self, key: &'static str, most: usize) -> Result<Vec<Arguments<'a>>> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let at = self.path(key);
        if !value.starts_with('[') {
            return Err(wrong(at, value, "an array of objects"));
        }
        let mut objects = Vec::new();
        for (number, item) in sonic_rs::to_array_iter(value).enumerate() {
            let item = item.map_err(|_| wrong(at.clone(), value, "an array of objects"))?;
            if number >= most {
                let problem = format!("it has more than {most} items; expected at most {most} in one call");
                return Err(Error::InvalidArguments { at, problem });
            }
            objects.push(Arguments::object(format!("{at}[{number}]"), raw(&item))?);
        }
        Ok(objects)
    }

    /// The error for a member that the tool refuses, with the tool's own reason.
    pub fn refuse(&self, key: &str, problem: &str) -> Error {
        Error::InvalidArguments { at: self.path(key), problem: problem.into() }
    }

    /// An integer of at least 1.
    pub fn count(&mut self, key: &'static str) -> Result<Option<u64>> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = sonic_rs::from_str::<f64>(value).ok();
        match number.filter(|number| number.fract() == 0.0 && *number >= 1.0) {
            Some(number) => Ok(Some(number as u64)),
            None => Err(wrong(self.path(key), value, "an integer of at least 1")),
        }
    }

    /// Drops the members that were not read, because the call is already refused for another reason.
    pub fn give_up(&mut self) {
        self.members.clear();
    }

    /// Refuses members that no tool has read.
    pub fn finish(self) -> Result<()> {
        self.refuse_unknown()
    }

    /// Like [`Arguments::finish`], while the arguments are still needed.
    pub fn refuse_unknown(&self) -> Result<()> {
        let Some((name, _)) = self.members.first() else { return Ok(()) };
        let known = if self.asked.is_empty() {
            "no properties".into()
        } else {
            format!("only {}", self.asked.join(", "))
        };
        let name: String = name.chars().take(SHOWN).collect();
        Err(Error::InvalidArguments {
            at: self.path(&name),
            problem: format!("unknown property; expected {known}"),
        })
    }
}

/// The JSON text of a value, without spaces around it.
fn raw<'a>(value: &sonic_rs::LazyValue<'a>) -> &'a str {
    match value.as_raw_cow() {
        std::borrow::Cow::Borrowed(text) => text,
        // sonic-rs borrows if the input is borrowed, as here.
        std::borrow::Cow::Owned(_) => unreachable!("a value borrowed from its input is never owned"),
    }
}

fn or_arguments(at: &str) -> String {
    if at.is_empty() { "arguments".into() } else { at.into() }
}

fn wrong(at: String, value: &str, expected: &str) -> Error {
    let shown: String = value.chars().take(SHOWN).collect();
    let more = if shown.len() < value.len() { "…" } else { "" };
    Error::InvalidArguments { at, problem: format!("{shown}{more} is wrong; expected {expected}") }
}

fn missing(at: String, expected: &str) -> Error {
    Error::InvalidArguments { at, problem: format!("it is missing; expected {expected}") }
}

/// Whether brackets outside strings nest deeper than `most`. The JSON need not be valid.
pub fn depth_exceeds(json: &[u8], most: usize) -> bool {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(json, at),
            _ => {}
        }
        if depth > most {
            return true;
        }
    }
    false
}

/// The position after the closing quote of the string that starts at `at`.
fn end_of_string(json: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', &json[at.min(json.len())..]) {
        at += found;
        if json[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(result: Result<impl std::fmt::Debug>) -> String {
        match result {
            Err(Error::InvalidArguments { at, problem }) => format!("{at}: {problem}"),
            other => format!("{other:?}"),
        }
    }

    fn of(json: &str) -> Arguments<'_> {
        Arguments::of(json).unwrap()
    }

    #[test]
    fn null_is_absent_and_a_whole_float_is_an_integer() {
        let mut arguments = of(r#"{ "a" : null, "b" : 5.0, "c": 1e2, "d": 0, "t": true, "s": "x\ny" }"#);
        assert_eq!(arguments.line("a", LineBase::Zero).unwrap(), None);
        assert_eq!(arguments.line("b", LineBase::Zero).unwrap(), Some(5));
        assert_eq!(arguments.line("c", LineBase::One).unwrap(), Some(99));
        assert!(matches!(arguments.line("d", LineBase::One), Err(Error::NegativeLine)));
        assert_eq!(arguments.flag("t").unwrap(), Some(true));
        assert_eq!(arguments.string("s").unwrap().as_deref(), Some("x\ny"));
        assert!(arguments.finish().is_ok());
    }

    #[test]
    fn wrong_values_are_named_by_place_with_what_is_expected() {
        for (json, expected) in [
            (r#"{"line":"5"}"#, r#"line: "5" is wrong; expected an integer"#),
            (r#"{"line":1.5}"#, "line: 1.5 is wrong; expected an integer"),
            (r#"{"line":true}"#, "line: true is wrong; expected an integer"),
            (r#"{"line":[1]}"#, "line: [1] is wrong; expected an integer"),
            (r#"{"line":-1}"#, "Err(NegativeLine)"),
            (r#"{"line":99999999999999999999}"#, "Ok(Some(18446744073709551615))"),
        ] {
            assert_eq!(problem(of(json).line("line", LineBase::Zero)), expected);
        }
        assert_eq!(problem(of(r#"{"s":7}"#).string("s")), "s: 7 is wrong; expected a string");
        assert!(problem(of(r#"{"s":"\ud800"}"#).string("s")).contains("lone surrogate"));
        assert!(problem(of(r#"{"s":"a\u0000"}"#).text("s")).contains("NUL"));
        assert!(problem(of("{}").required_string("s")).starts_with("s: it is missing"));
        assert!(problem(Arguments::of("[]")).starts_with("arguments: [] is wrong"));
        let unknown = of(r#"{"nmae":"x"}"#);
        assert_eq!(problem(unknown.finish()), "nmae: unknown property; expected no properties");
    }

    #[test]
    fn objects_in_an_array_are_named_by_their_number() {
        let mut arguments = of(r#"{"edits":[{"line":0},{"line":"x"}]}"#);
        let mut edits = arguments.objects("edits", 2).unwrap();
        assert_eq!(edits[0].line("line", LineBase::Zero).unwrap(), Some(0));
        assert!(problem(edits[1].line("line", LineBase::Zero)).starts_with("edits[1].line:"));
        assert!(problem(of(r#"{"e":[{},{},{}]}"#).objects("e", 2)).contains("at most 2"));
        assert!(problem(of(r#"{"e":[1]}"#).objects("e", 2)).starts_with("e[0]: 1 is wrong"));
        assert!(problem(of(r#"{"e":{}}"#).objects("e", 2)).starts_with("e: {} is wrong"));
    }

    #[test]
    fn depth_is_counted_outside_strings_only() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!depth_exceeds(deep(128).as_bytes(), 128));
        assert!(depth_exceeds(deep(129).as_bytes(), 128));
        assert!(depth_exceeds("[".repeat(200_000).as_bytes(), 128));
        assert!(!depth_exceeds(format!(r#"{{"a":"{}\"[[["}}"#, "[".repeat(500)).as_bytes(), 128));
        assert!(!depth_exceeds(br#""\"#, 0));
        assert!(Arguments::of(&format!(r#"{{"a":{}}}"#, deep(128))).is_err());
    }
}
