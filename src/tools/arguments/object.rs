//! Objects of named arguments: one description gives the schema, the parser and the errors.
//!
//! The macro `arguments!` makes the description from a struct. The members are read in the
//! order of its fields, because the contract fixes which error is found first (contract 4).

use std::fmt::Write;

use super::argument::Argument;
use super::json::raw;
use super::names::{meant_by, same_as};
use super::value::{Place, Value};
use folder::{Error, Result};

/// Maximum number of characters of an unknown name in an error.
const SHOWN: usize = 60;

/// One argument of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name, then its further names in this object.
    pub names: &'static [&'static str],
    /// Its description for a model. Empty: it is not in the schema; `-`: it is there without one.
    pub description: &'static str,
    /// Writes the members of its schema.
    pub schema: fn(&mut String),
    /// Whether a value of its type says nothing.
    pub is_empty: fn(&Value) -> bool,
    /// Whether its type requires a value.
    pub required: bool,
    /// Its default value as JSON.
    pub default: Option<&'static str>,
}

impl Field {
    fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Whether its values are objects, or lists of them, with a member of this name.
    fn has_member(&self, name: &str) -> bool {
        let mut schema = String::new();
        (self.schema)(&mut schema);
        schema.contains(&format!("\"{name}\":{{"))
    }

    fn is_required(&self) -> bool {
        self.required && self.default.is_none()
    }
}

/// Writes the members of an object's JSON Schema.
pub fn write_schema(fields: &[Field], out: &mut String) {
    let described: Vec<Field> =
        fields.iter().filter(|field| !field.description.is_empty()).copied().collect();
    write_fields(&described, out);
}

fn write_fields(fields: &[Field], out: &mut String) {
    out.push_str(r#""type":"object","properties":{"#);
    for (number, field) in fields.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // A write to a String cannot fail.
        let _ = write!(out, r#"{comma}"{}":{{"#, field.name());
        (field.schema)(out);
        if let Some(default) = field.default {
            let _ = write!(out, r#","default":{default}"#);
        }
        if !matches!(field.description.trim_start(), "" | "-") {
            let description = serde_json::Value::from(field.description.trim_start());
            let _ = write!(out, r#","description":{description}"#);
        }
        out.push('}');
    }
    out.push('}');
    let required: Vec<String> = fields
        .iter()
        .filter(|field| field.is_required())
        .map(|field| format!("\"{}\"", field.name()))
        .collect();
    if !required.is_empty() {
        let _ = write!(out, r#","required":[{}]"#, required.join(","));
    }
    out.push_str(r#","additionalProperties":false"#);
}

/// Writes the members of the schema of an object of which a tool shows only these fields, with descriptions of its own, if they are not
/// empty.
pub fn write_shown(fields: &'static [Field], shown: &[(&str, &'static str)], out: &mut String) {
    let field = |(name, description): &(&str, &'static str)| {
        let field = fields.iter().find(|field| field.name() == *name)?;
        Some(Field { description, default: None, required: field.is_required(), ..*field })
    };
    write_fields(&shown.iter().filter_map(field).collect::<Vec<_>>(), out);
}

/// The value sent for a field.
#[derive(Debug, Clone, Copy, Default)]
struct Sent<'v> {
    /// JSON text; empty if the field is absent.
    json: &'v str,
    /// The name under which it was sent.
    key: &'static str,
    /// Another name of the same argument that was sent, too.
    other: Option<&'static str>,
}

/// The members of one object, read field by field.
#[derive(Debug)]
pub struct Members<'v> {
    object: &'v Value<'v>,
    fields: &'static [Field],
    sent: Vec<Sent<'v>>,
    /// The first member that is no field.
    unknown: Option<String>,
    next: usize,
    /// What was wrong with the last field that was read. It is kept here, so that what a field's reading returns is small: there are
    /// hundreds of fields.
    error: Option<Error>,
}

/// Reads an object with these fields. `read` takes each of them by [`Members::read_next`], and ends with the first `None`.
pub fn read_object<T>(
    value: &Value,
    fields: &'static [Field],
    read: impl FnOnce(&mut Members) -> Option<T>,
) -> Result<T> {
    let json = value.opened('{', "an object")?;
    let object = Value { json: &json, ..*value };
    let mut members = Members::split(&object, fields)?;
    let read = read(&mut members).filter(|_| members.unknown.is_none());
    read.ok_or_else(|| members.error.take().unwrap_or_else(|| members.unknown_member()))
}

impl<'v> Members<'v> {
    fn split(object: &'v Value<'v>, fields: &'static [Field]) -> Result<Members<'v>> {
        let sent = vec![Sent::default(); fields.len()];
        let mut members = Members { object, fields, sent, unknown: None, next: 0, error: None };
        for member in sonic_rs::to_object_iter(object.json) {
            let (key, value) = member.map_err(|_| object.wrong("an object"))?;
            members.put(&key, raw(&value));
        }
        Ok(members)
    }

    /// Takes one member. Of two with one name, the last counts. null counts as absent, and so does a value that says nothing
    /// where none is required.
    fn put(&mut self, key: &str, json: &'v str) {
        let Some((number, key)) = find(self.fields, key) else {
            self.unknown.get_or_insert_with(|| key.chars().take(SHOWN).collect());
            return;
        };
        let (field, sent) = (&self.fields[number], &mut self.sent[number]);
        let value = Value { json, ..*self.object };
        let says_nothing = json == "null" || !field.is_required() && (field.is_empty)(&value);
        match says_nothing {
            true if sent.key == key => sent.json = "",
            true if sent.other == Some(key) => sent.other = None,
            true => {}
            _ if sent.json.is_empty() || sent.key == key => *sent = Sent { json, key, other: sent.other },
            _ if switches::is_off("args-two-names") => {}
            _ => sent.other = Some(key),
        }
    }

    /// Reads the next field. `None`: it is wrong. Compiled once for each type of value, not for each field.
    #[inline(never)]
    pub fn read_next<T: Argument>(&mut self) -> Option<T> {
        let (json, key) = self.next_sent()?;
        let place = Place::Member(self.object.place, key);
        let read = match json {
            "" => T::absent().ok_or_else(|| self.missing(key, &T::expected())),
            _ => T::read(&Value { json, place: &place, options: self.object.options }),
        };
        read.map_err(|error| self.fail(error)).ok()
    }

    /// What was sent of the next field, or its default, or nothing; and under which name. `None`: it was sent under two.
    fn next_sent(&mut self) -> Option<(&'v str, &'static str)> {
        let (field, sent) = (&self.fields[self.next], self.sent[self.next]);
        self.next += 1;
        if let Some(other) = sent.other {
            let problem = format!("it names the same argument as {}; give one of them", sent.key);
            self.fail(self.object.refuse_member(other, problem));
            return None;
        }
        Some(match sent.json {
            "" => (field.default.unwrap_or_default(), field.name()),
            json => (json, sent.key),
        })
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.error = Some(error);
    }

    /// The error for a missing argument. If there is an unknown one, the missing one may be meant by it.
    fn missing(&self, name: &str, expected: &str) -> Error {
        match self.unknown {
            Some(_) => self.unknown_member(),
            None => self.object.refuse_member(name, format!("it is missing; expected {expected}")),
        }
    }

    fn unknown_member(&self) -> Error {
        let unknown = self.unknown.as_deref().unwrap_or_default();
        let described = || self.fields.iter().filter(|field| !field.description.is_empty());
        let names: Vec<&str> = described().map(Field::name).collect();
        let known = match names[..] {
            [] => "no properties".into(),
            _ => format!("only {}", names.join(", ")),
        };
        let own = |name: &str| described().any(|field| field.name() == name).then(|| name.to_owned());
        let inner = |name: &str| {
            let field = self.fields.iter().find(|field| field.has_member(name))?;
            Some(format!("{name} in {}", field.name()))
        };
        let all = self.fields.iter().flat_map(|field| field.names.iter().copied());
        let meant = meant_by(unknown, all, |name| own(name).or_else(|| inner(name)));
        let meant = meant.map(|name| format!("; did you mean {name}?")).unwrap_or_default();
        self.object.refuse_member(unknown, format!("unknown property; expected {known}{meant}"))
    }
}

/// The field that `key` names, and the name as it is in the tables. A field's own name goes before all others.
fn find(fields: &'static [Field], key: &str) -> Option<(usize, &'static str)> {
    let by = |names: fn(&Field) -> &'static [&'static str]| {
        fields.iter().enumerate().find_map(|(number, field)| {
            names(field).iter().find(|name| **name == key).map(|name| (number, *name))
        })
    };
    by(|field| &field.names[..1])
        .or_else(|| by(|field| field.names))
        .or_else(|| by(|field| same_as(field.name())))
}

/// Makes a struct of arguments, its JSON Schema and its parser from one description.
///
/// The comment on a field is its description in the schema, where `{first}` becomes the number of the first line. A field without one is
/// taken, but not in the schema: a name that other tools have taught.
/// `field as "name" or "other": Type = default` gives a field another name in JSON, further names, and a default
/// value, which is a JSON literal. An `Option` may be absent.
macro_rules! arguments {
    ($(#[doc = $about:literal])* $vis:vis struct $type:ident {
        $($(#[doc = $doc:literal])* $field:ident $(as $name:literal $(or $other:literal)*)?: $kind:ty $(= $default:literal)?,)*
    }) => {
        $(#[doc = $about])*
        #[derive(Debug)]
        $vis struct $type { $($(#[doc = $doc])* $vis $field: $kind,)* }

        impl $crate::tools::arguments::Argument for $type {
            fn expected() -> String {
                "an object".into()
            }

            fn schema(out: &mut String) {
                $crate::tools::arguments::write_schema(Self::FIELDS, out);
            }

            fn read(value: &$crate::tools::arguments::Value) -> ::folder::Result<Self> {
                $crate::tools::arguments::read_object(value, Self::FIELDS, |_members| {
                    Some($type { $($field: _members.read_next()?,)* })
                })
            }
        }

        impl $type {
            const FIELDS: &'static [$crate::tools::arguments::Field] = &[$($crate::tools::arguments::Field {
                names: &[$($name, $($other,)*)? stringify!($field)],
                description: concat!($($doc),*),
                schema: <$kind as $crate::tools::arguments::Argument>::schema,
                is_empty: <$kind as $crate::tools::arguments::Argument>::is_empty,
                required: <$kind as $crate::tools::arguments::Argument>::REQUIRED,
                default: [$(Some(stringify!($default)),)? None][0],
            },)*];
        }
    };
}
pub(crate) use arguments;
