//! A number for the tool and the arguments of a call, which is the same if the call is sent again.
//!
//! The order of an object's members, blanks, escapes and `5.0` for `5` make no difference. Reads the arguments once and
//! keeps nothing of them. Not made to resist a client that looks for two calls with one number: it harms only itself.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::tools::ParseOptions;

/// The fingerprint of a call.
pub(super) fn of_call(tool: &str, options: ParseOptions, arguments: &str) -> u64 {
    let interface = (tool, options.base.first(), options.create_if_missing);
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value(value)) => of((interface, value)),
        // A text that cannot be read so, for example of deep nesting.
        Err(_) => of((interface, arguments)),
    }
}

fn of(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The fingerprint of a JSON value.
struct Value(u64);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Value, D::Error> {
        value.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value(of("null")))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value(of(("bool", value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value(of(("integer", i128::from(value)))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value(of(("integer", i128::from(value)))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        let integer = value as i128;
        Ok(Value(if integer as f64 == value {
            of(("integer", integer))
        } else {
            of(("float", value.to_bits()))
        }))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value(of(("string", value))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Value, A::Error> {
        let mut all = DefaultHasher::new();
        "array".hash(&mut all);
        while let Some(Value(item)) = array.next_element()? {
            item.hash(&mut all);
        }
        Ok(Value(all.finish()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        // A sum, because the order of the members means nothing.
        let mut members = 0u64;
        while let Some((Value(name), Value(value))) = object.next_entry()? {
            members = members.wrapping_add(of((name, value)));
        }
        Ok(Value(of(("object", members))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{LineBase, ToolNames};
    use folder::{FolderPaths, NamePolicy};

    fn of_arguments(tool: &str, base: LineBase, arguments: &str) -> u64 {
        let folders = &FolderPaths::default();
        let options = ParseOptions {
            base,
            names: NamePolicy::Any,
            paths: false,
            folders,
            limit: None.into(),
            create_if_missing: true,
            offered: ToolNames::default(),
            author: &std::sync::Arc::default(),
            handles: &std::sync::Arc::default(),
        };
        of_call(tool, options, arguments)
    }

    #[test]
    fn what_means_the_same_has_one_fingerprint() {
        let of = |arguments| of_arguments("t", LineBase::Zero, arguments);
        let sent = r#"{"path":"a","edits":[{"line":5,"text":"ä"},{"line":null}],"dry":false}"#;
        let again =
            r#" {"dry": false, "edits": [{"text": "\u00e4", "line": 5.0}, {"line": null}], "path": "a"}"#;
        assert_eq!(of(sent), of(again));
    }

    #[test]
    fn what_means_something_else_has_another() {
        let sent = r#"{"a":[1,2],"b":"1","c":{}}"#;
        let first = of_arguments("t", LineBase::Zero, sent);
        for other in [
            r#"{"a":[2,1],"b":"1","c":{}}"#,
            r#"{"a":[1,2],"b":1,"c":{}}"#,
            r#"{"a":[1,2],"b":"1","c":[]}"#,
            r#"{"a":[1,2],"b":"1"}"#,
            r#"{"b":[1,2],"a":"1","c":{}}"#,
            r#"{"a":[1,2.5],"b":"1","c":{}}"#,
            r#"{"a":[1,2],"b":"1","c":null}"#,
        ] {
            assert_ne!(first, of_arguments("t", LineBase::Zero, other), "{other}");
        }
        assert_ne!(first, of_arguments("u", LineBase::Zero, sent));
        assert_ne!(first, of_arguments("t", LineBase::One, sent), "other lines");
    }
}
