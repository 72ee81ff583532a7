//! The arguments of tools: one description of them gives the JSON Schema, the parser, the lenient forms and the
//! errors (contract 7: `Invalid arguments: {where}: {what is wrong, what is expected}`).
//!
//! A tool describes its arguments with `arguments!` and implements [`Request`]. Knows no tool.
//!
//! Lenient forms: null counts as absent, and so does a value that says nothing where it need not be given; 5.0 and "5" are 5; "true" is true; an array or an object may be a string
//! that holds one; an argument may have another of its usual names. 1.5 and a lone surrogate are wrong.

mod argument;
mod json;
mod names;
mod object;
mod types;
mod value;
mod wrappers;

use std::fmt::Debug;

pub use argument::{Argument, Keyword};
pub use json::{MAX_DEPTH, depth_exceeds};
pub use names::names_a_file;
pub(crate) use object::arguments;
pub use object::{Field, Members, read_object, write_schema, write_shown};
pub use types::{Count, Line, Natural, Ordinal, StartLine, Text, UpTo};
pub use value::Value;
pub use wrappers::{Later, List, is_empty_list};

use super::{Call, ParseOptions, shortened};
use folder::{Error, Result};

/// The arguments of a tool, which become a call.
pub trait Request: Argument {
    /// The call with these arguments.
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>>;

    /// What becomes of wrong arguments: an error, unless the tool has a form of its own for it.
    fn refused(_arguments: &Value, error: Error) -> Result<Box<dyn Call>> {
        Err(error)
    }
}

/// The arguments that a tool takes: how they are described and parsed.
#[derive(Debug, Clone, Copy)]
pub struct Takes {
    schema: fn(&mut String),
    parse: fn(&Value) -> Result<Box<dyn Call>>,
}

impl Takes {
    /// For arguments of the type `R`.
    pub const fn of<R: Request>() -> Takes {
        Takes { schema: R::schema, parse: parse::<R> }
    }

    /// The JSON Schema of the arguments. `{first}` stands for the number of the first line.
    pub fn schema(&self) -> String {
        let mut schema = String::from("{");
        (self.schema)(&mut schema);
        schema.push('}');
        schema
    }

    /// Parses the JSON text of the arguments: an object, or a string that holds one.
    pub fn parse(&self, json: &str, options: ParseOptions) -> Result<Box<dyn Call>> {
        (self.parse)(&Value::arguments(json, options)?)
    }
}

fn parse<R: Request>(arguments: &Value) -> Result<Box<dyn Call>> {
    let call = R::read(arguments).and_then(|request| request.into_call(arguments.options()));
    call.or_else(|error| R::refused(arguments, error))
}

/// Whether `json` is an object, or a string that holds one.
pub fn is_object(json: &str) -> bool {
    json.starts_with('{') || json::within_string(json, '{').is_some()
}

/// The file name in `arguments` that were refused, for logs and errors.
pub fn name_as_sent(arguments: &str) -> Option<String> {
    if depth_exceeds(arguments.as_bytes(), MAX_DEPTH) {
        return None;
    }
    let inner = json::within_string(arguments.trim(), '{');
    let mut members = sonic_rs::to_object_iter(inner.as_deref().unwrap_or(arguments)).map_while(Result::ok);
    members.find_map(|(key, value)| {
        let name = names_a_file(&key).then(|| json::string(json::raw(&value))).flatten()?;
        Some(shortened(&name))
    })
}

#[cfg(test)]
pub(crate) mod tests;
