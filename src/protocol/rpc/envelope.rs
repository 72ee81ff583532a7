//! Reads the envelope of one input.
//!
//! Uses serde_json, which skips raw values without recursion, however deep they nest. The values inside stay
//! text.

use std::borrow::Cow;

use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{Id, Input, Message, Refusal, code};
use crate::protocol::Service;

/// The most messages that a batch may hold.
const MAX_BATCH: usize = 1_000;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Distinguishes null from an absent member.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

/// Reads one input: a line of stdio, or a body of HTTP.
pub fn parse(bytes: &[u8]) -> Input<'_> {
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else {
        return Input::One(refuse(code::PARSE_ERROR, "Parse error: not UTF-8"));
    };
    if !text.trim_ascii_start().starts_with('[') {
        return Input::One(parse_one(text));
    }
    match serde_json::from_str::<Items>(text) {
        Ok(Items { more: true, .. }) => Input::One(refuse(
            code::INVALID_REQUEST,
            format!("Invalid request: a batch of more than {MAX_BATCH} messages"),
        )),
        Ok(Items { items, .. }) => {
            Input::Batch(items.into_iter().map(|item| parse_one(item.get())).collect())
        }
        Err(error) => Input::One(refuse(code::PARSE_ERROR, format!("Parse error: {error}"))),
    }
}

/// The messages of a batch, up to [`MAX_BATCH`]. The others are skipped, so that they hold no memory.
struct Items<'a> {
    items: Vec<&'a RawValue>,
    more: bool,
}

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Items<'de>, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Items<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
                out.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Items<'de>, A::Error> {
                let mut found = Items { items: Vec::new(), more: false };
                while found.items.len() < MAX_BATCH {
                    let Some(item) = array.next_element()? else { return Ok(found) };
                    found.items.push(item);
                }
                while array.next_element::<IgnoredAny>()?.is_some() {
                    found.more = true;
                }
                Ok(found)
            }
        }
        value.deserialize_seq(Each)
    }
}

fn parse_one(text: &str) -> Message<'_> {
    if !text.trim_ascii_start().starts_with('{') {
        return match no_json(text) {
            None => refuse(code::INVALID_REQUEST, "Invalid request: a message is a JSON object"),
            Some(error) => refuse(code::PARSE_ERROR, format!("Parse error: {error}")),
        };
    }
    match serde_json::from_str::<Envelope>(text) {
        Ok(envelope) => envelope.into_message(),
        // A duplicate member stops the parser; the text behind it may be invalid JSON.
        Err(error) if error.classify() == Category::Data => match no_json(text) {
            None => refuse(code::INVALID_REQUEST, format!("Invalid request: {error}")),
            Some(error) => refuse(code::PARSE_ERROR, format!("Parse error: {error}")),
        },
        Err(error) => refuse(code::PARSE_ERROR, format!("Parse error: {error}")),
    }
}

/// Why a text is not JSON; `None` if it is JSON.
pub(in crate::protocol) fn no_json(text: &str) -> Option<serde_json::Error> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).err()
}

fn refuse(code: i32, message: impl Into<String>) -> Message<'static> {
    Message::Invalid(Refusal::new(Id::null(), code, message))
}

impl<'a> Envelope<'a> {
    fn into_message(self) -> Message<'a> {
        let id = match self.id.map(|token| Id::parse(token.get())) {
            Some(None) => {
                return refuse(code::INVALID_REQUEST, "Invalid request: id must be a string or an integer");
            }
            Some(Some(id)) => Some(id),
            None => None,
        };
        let invalid = |problem: &str| {
            let id = id.clone().unwrap_or_else(Id::null);
            let message = format!("Invalid request: {problem}");
            Message::Invalid(Refusal::new(id, code::INVALID_REQUEST, message))
        };
        if self.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return invalid("jsonrpc must be \"2.0\"");
        }
        let Some(method) = self.method else {
            let answer = self.result.is_some() || self.error.is_some();
            return if answer { Message::Response } else { invalid("method is missing") };
        };
        let Some(method) = string(method.get()) else { return invalid("method must be a string") };
        let params = match self.params.map(RawValue::get) {
            None | Some("null") => None,
            Some(params) if params.starts_with('{') => Some(params),
            Some(_) => return invalid("params must be an object"),
        };
        match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        }
    }
}

impl Service {
    /// The id of the request in `input`, or null: for errors that need nothing else of it.
    pub fn id_of(input: &[u8]) -> Id {
        match parse(input) {
            Input::One(Message::Request { id, .. }) => id,
            Input::One(Message::Invalid(refusal)) => refusal.id,
            _ => Id::null(),
        }
    }
}

/// The value of a JSON string token.
pub(in crate::protocol) fn string(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(token).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> (String, i32) {
        match parse(line.as_bytes()) {
            Input::One(Message::Invalid(refusal)) => (refusal.id.to_string(), refusal.code),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn ids_are_kept_as_sent_and_only_strings_and_integers_are_ids() {
        for id in ["0", "-1", "\"7\"", "\"\"", "123456789012345678901234567890", "1.0", "1e3", r#""\u0041""#]
        {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            match parse(line.as_bytes()) {
                Input::One(Message::Request { id: read, .. }) => assert_eq!(read.as_json(), id),
                other => panic!("{id}: {other:?}"),
            }
        }
        for id in ["null", "1.5", "true", "{}", "[1]", r#""\ud800""#] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(refusal(&line), ("null".into(), code::INVALID_REQUEST), "{id}");
        }
    }

    #[test]
    fn what_is_no_json_is_told_from_what_is_no_request() {
        for line in [
            "",
            "{",
            "nonsense",
            r#"{"jsonrpc":"2.0","id":1,"method":"a"} x"#,
            "[1",
            r#"{"a":tru}"#,
            r#"{"id":2,"id""#,
        ] {
            assert_eq!(refusal(line).1, code::PARSE_ERROR, "{line}");
        }
        for line in
            ["1", "\"x\"", "null", "{}", r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, r#"{"id":1,"id":2}"#]
        {
            assert_eq!(refusal(line).1, code::INVALID_REQUEST, "{line}");
        }
        assert!(matches!(
            parse(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xFF\"}"),
            Input::One(Message::Invalid(refusal)) if refusal.code == code::PARSE_ERROR
        ));
    }

    #[test]
    fn a_readable_id_goes_with_the_refusal() {
        assert_eq!(refusal(r#"{"id":5,"method":"a"}"#), ("5".into(), code::INVALID_REQUEST));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":"x","method":1}"#).0, "\"x\"");
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":7,"method":"a","params":[1]}"#).0, "7");
    }

    #[test]
    fn nesting_of_any_depth_is_read_without_recursion() {
        let deep = "[".repeat(300_000);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"x":{deep}{}}}}}"#,
            "]".repeat(300_000)
        );
        assert!(matches!(parse(line.as_bytes()), Input::One(Message::Request { .. })));
        assert_eq!(refusal(&deep).1, code::PARSE_ERROR);
    }

    #[test]
    fn a_batch_is_read_item_by_item() {
        let Input::Batch(items) =
            parse(br#" [{"jsonrpc":"2.0","id":1,"method":"a"},5,{"jsonrpc":"2.0","method":"n"}]"#)
        else {
            panic!("no batch")
        };
        assert!(matches!(
            &items[..],
            [Message::Request { .. }, Message::Invalid(_), Message::Notification { .. }]
        ));
    }
}
