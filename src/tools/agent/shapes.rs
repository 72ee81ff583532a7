//! Other shapes of the arguments of `edit` that models send: one edit without the list, and a file with a list of its edits.
//!
//! Works on JSON alone; what the edits say is not read.

use serde_json::{Map, Value, from_str};

/// The arguments that stand beside the edits.
const BESIDE: [&str; 5] = ["dry_run", "dryRun", "diff", "message", "retry"];

/// The same arguments with one list of edits, each with all that is its own, or with a patch alone; what is empty beside them is left out.
/// `None` if they have that already, or are none of edits.
pub(super) fn as_list(json: &str) -> Option<String> {
    let Value::Object(mut call) = opened(from_str(json).ok()?) else { return None };
    let mut given = |name| call.remove(name).map(opened).filter(|value| !is_empty(value));
    let (patch, list) = (given("patch"), given("edits"));
    let mut flags = Map::new();
    for flag in BESIDE {
        flags.extend(call.remove(flag).map(|value| (flag.to_owned(), value)));
    }
    let is_list = list.is_some() && call.is_empty();
    if patch.is_some() || list.is_some() {
        call.retain(|_, value| !is_empty(value));
    }
    match (patch, list) {
        (Some(patch), None) if call.keys().all(|name| name == "encoding") => {
            flags.extend(call);
            flags.insert("patch".into(), patch);
        }
        (Some(_), _) => return None,
        (None, None) if call.is_empty() => return None,
        (None, list) => {
            call.extend(list.map(|list| ("edits".to_owned(), list)));
            let mut edits = Vec::new();
            if !flatten(call, &mut edits) && is_list {
                return None;
            }
            flags.insert("edits".into(), edits.into());
        }
    }
    serde_json::to_string(&flags).ok()
}

/// Whether a value is one that a model filled in.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Adds the edits of an object: itself, or those of its list, each with what stands beside the list and not in it. True if a list was in
/// an edit of the list.
fn flatten(mut object: Map<String, Value>, edits: &mut Vec<Value>) -> bool {
    let Some(inner) = object.remove("edits") else {
        edits.push(object.into());
        return false;
    };
    let inner = match opened(inner) {
        Value::Array(inner) => inner,
        other => vec![other],
    };
    let mut is_nested = false;
    for edit in inner {
        match opened(edit) {
            Value::Object(edit) => {
                let mut whole = object.clone();
                is_nested |= edit.contains_key("edits");
                whole.extend(edit);
                flatten(whole, edits);
            }
            other => edits.push(other),
        }
    }
    is_nested
}

/// A value, or the one that a string holds as JSON.
fn opened(value: Value) -> Value {
    match &value {
        Value::String(text) => {
            from_str(text).ok().filter(|inner: &Value| inner.is_object() || inner.is_array())
        }
        _ => None,
    }
    .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::as_list;

    #[test]
    fn each_edit_gets_what_stands_beside_its_list() {
        for (sent, edits) in [
            (json!({ "path": "a", "old": "x" }), json!([{ "path": "a", "old": "x" }])),
            (json!({ "path": "a", "edits": [{ "old": "x" }] }), json!([{ "path": "a", "old": "x" }])),
            (json!({ "path": "a", "edits": { "old": "x" } }), json!([{ "path": "a", "old": "x" }])),
            (json!({ "path": "a", "edits": "[{\"old\":\"x\"}]" }), json!([{ "path": "a", "old": "x" }])),
            (
                json!({ "path": "a", "edits": [{ "old": "x" }, { "path": "b", "old": "y" }] }),
                json!([{ "path": "a", "old": "x" }, { "path": "b", "old": "y" }]),
            ),
            (
                json!({ "edits": [{ "path": "a", "edits": [{ "old": "x" }, { "old": "y" }] }, { "path": "b", "delete": true }] }),
                json!([{ "path": "a", "old": "x" }, { "path": "a", "old": "y" }, { "path": "b", "delete": true }]),
            ),
        ] {
            let read = as_list(&sent.to_string()).map(|text| serde_json::from_str::<Value>(&text).unwrap());
            assert_eq!(read, Some(json!({ "edits": edits })), "{sent}");
        }
        for sent in [
            json!({ "edits": [{ "path": "a", "old": 1 }] }),
            json!({ "edits": [], "patch": "" }),
            json!({ "patch": "x", "path": "a" }),
            json!({}),
            json!([1]),
        ] {
            assert_eq!(as_list(&sent.to_string()), None, "{sent}");
        }
    }
}
