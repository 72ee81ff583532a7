//! One value of a call's arguments, and its place, which every error names.
//!
//! A value stays JSON text until an argument's type reads it. The path to a place is only built for an error.

use std::borrow::Cow;

use super::json::{depth_exceeds, raw, string, within_string};
use super::{MAX_DEPTH, ParseOptions};
use folder::{Error, Result};

/// Maximum number of characters of a wrong value in an error.
const SHOWN: usize = 60;

/// Where a value stands, such as `edits[3].line`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place<'v> {
    /// The arguments as a whole.
    Root,
    Member(&'v Place<'v>, &'v str),
    Item(&'v Place<'v>, usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        match self {
            Place::Root => String::new(),
            Place::Member(Place::Root, key) => (*key).into(),
            Place::Member(parent, key) => format!("{}.{key}", parent.path()),
            Place::Item(parent, number) => format!("{}[{number}]", parent.path()),
        }
    }
}

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct Value<'v> {
    pub(super) json: &'v str,
    pub(super) place: &'v Place<'v>,
    pub(super) options: ParseOptions<'v>,
}

impl<'v> Value<'v> {
    /// The arguments of a call. `json` is their JSON text.
    pub fn arguments(json: &'v str, options: ParseOptions<'v>) -> Result<Value<'v>> {
        if depth_exceeds(json.as_bytes(), MAX_DEPTH) {
            let problem = format!("nested deeper than {MAX_DEPTH} levels; expected what the schema says");
            return Err(Error::InvalidArguments { at: "arguments".into(), problem });
        }
        Ok(Value { json: json.trim(), place: &Place::Root, options })
    }

    /// How to interpret the value.
    pub fn options(&self) -> ParseOptions<'v> {
        self.options
    }

    /// The value's JSON text.
    pub fn json(&self) -> &'v str {
        self.json
    }

    /// The text of a JSON string.
    pub fn string(&self) -> Result<String> {
        if !self.json.starts_with('"') {
            return Err(self.wrong("a string"));
        }
        string(self.json).ok_or_else(|| self.wrong("a string of valid Unicode (no lone surrogate)"))
    }

    /// Calls `read` with each item of an array, or of a string that holds one.
    pub fn items(&self, expected: &str, read: &mut dyn FnMut(usize, Value) -> Result<()>) -> Result<()> {
        let json = self.opened('[', expected)?;
        let array = Value { json: &json, ..*self };
        for (number, item) in sonic_rs::to_array_iter(array.json).enumerate() {
            let item = item.map_err(|_| array.wrong(expected))?;
            let place = Place::Item(array.place, number);
            read(number, Value { json: raw(&item), place: &place, options: array.options })?;
        }
        Ok(())
    }

    /// The value's JSON text, or the one that it holds if it is a string. Either starts with `bracket`.
    pub(super) fn opened(&self, bracket: char, expected: &str) -> Result<Cow<'v, str>> {
        match self.json.starts_with(bracket) {
            true => Ok(Cow::Borrowed(self.json)),
            false => within_string(self.json, bracket).map(Cow::Owned).ok_or_else(|| self.wrong(expected)),
        }
    }

    /// The number of items in the array `key` of this object; 0 if there is no such array.
    pub fn items_of(&self, key: &str) -> usize {
        let mut count = 0;
        self.items_in(key, &mut |_, _| count += 1);
        count
    }

    /// Calls `read` with each item of the array `key` of this object. Wrong JSON has no items.
    pub fn items_in(&self, key: &str, read: &mut dyn FnMut(usize, &Value)) {
        let Ok(json) = self.opened('{', "") else { return };
        let members = sonic_rs::to_object_iter(&*json).map_while(Result::ok);
        // Of members with one name, the last one counts.
        let Some((_, value)) = members.filter(|(name, _)| name == key).last() else { return };
        let place = Place::Member(self.place, key);
        let array = Value { json: raw(&value), place: &place, options: self.options };
        let _ = array.items("", &mut |number, item| {
            read(number, &item);
            Ok(())
        });
    }

    /// The error for a value of another form than `expected`.
    pub fn wrong(&self, expected: &str) -> Error {
        let shown: String = self.json.chars().take(SHOWN).collect();
        let more = if shown.len() < self.json.len() { "…" } else { "" };
        self.refuse(format!("{shown}{more} is wrong; expected {expected}"))
    }

    /// The error for the value as a whole.
    pub fn refuse(&self, problem: impl Into<String>) -> Error {
        let at = match self.place {
            Place::Root => "arguments".into(),
            place => place.path(),
        };
        Error::InvalidArguments { at, problem: problem.into() }
    }

    /// The error for the member `key` of this object.
    pub fn refuse_member(&self, key: &str, problem: impl Into<String>) -> Error {
        let key: String = key.chars().take(SHOWN).collect();
        Error::InvalidArguments { at: Place::Member(self.place, &key).path(), problem: problem.into() }
    }
}
