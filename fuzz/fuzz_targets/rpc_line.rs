//! Sends raw bytes to the protocols, and compares with serde_json.
//!
//! Must hold for any bytes:
//! - nothing panics, and every answer is JSON in the form of its interface;
//! - a parse error is reported exactly for what serde_json does not read as JSON;
//! - id, method and params of a request equal those sent; it gets one answer, with exactly its id;
//! - notifications and responses get no answer.
//!
//! Input: a stdio session, line by line; all of it together is also a REST body. A first line of one digit
//! selects the options (see `Served::fresh`).

#![no_main]

use file_editor::protocol::{Id, Input, Message, Session, Step, code, parse};
use file_editor_fuzz::{Members, Served, assert_answers, assert_rest};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

fuzz_target!(|data: &[u8]| {
    let (options, session) = match data {
        [digit @ b'0'..=b'7', b'\n', session @ ..] => (digit - b'0', session),
        session => (0, session),
    };
    for operation in ["list_files", "read_file", "edit_file", "nothing"] {
        rest(options, operation, session);
    }
    let served = Served::fresh(options);
    let mut state = Session::stdio();
    for line in session.split(|&byte| byte == b'\n') {
        envelope(line);
        let wanted = wanted(line);
        let step = served.service().mcp(&mut state, line);
        // An array is refused as a whole if the revision has no batches.
        let batch = matches!(step, Step::Batch(_));
        match (served.carry_out(step), wanted) {
            (None, ids) => assert!(ids.is_empty(), "no answer"),
            (Some((_, bytes)), ids) if batch => {
                let items: Vec<&RawValue> = serde_json::from_slice(&bytes).expect("an array");
                assert_eq!(items.len(), ids.len());
                for (item, id) in items.iter().zip(ids) {
                    assert_answers(item.get().as_bytes(), id.as_json());
                }
            }
            (Some((_, bytes)), ids) if ids.len() == 1 && !is_batch(line) => {
                assert_answers(&bytes, ids[0].as_json());
            }
            (Some((_, bytes)), _) => {
                assert_answers(&bytes, "null");
            }
        }
    }
});

fn rest(options: u8, operation: &str, body: &[u8]) {
    let served = Served::fresh(options);
    let (status, bytes) = served.carry_out(served.service().rest(operation, body)).expect("an answer");
    assert_rest(status, &bytes);
    let parse_error = String::from_utf8_lossy(&bytes).starts_with(r#"{"error":{"code":-32700,"#);
    assert_eq!(parse_error, !is_json(body), "{}", String::from_utf8_lossy(&bytes));
}

/// Whether serde_json accepts the grammar; allows lone surrogates, huge numbers and any depth.
fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}

fn is_batch(line: &[u8]) -> bool {
    matches!(parse(line), Input::Batch(_))
}

/// The ids of the required answers, in order.
fn wanted(line: &[u8]) -> Vec<Id> {
    let wants = |message| match message {
        Message::Request { id, .. } => Some(id),
        Message::Invalid(refusal) => Some(refusal.id),
        Message::Notification { .. } | Message::Response => None,
    };
    match parse(line) {
        Input::One(message) => wants(message).into_iter().collect(),
        Input::Batch(items) => items.into_iter().filter_map(wants).collect(),
    }
}

/// Checks that `parse` reads one line as serde_json does.
fn envelope(line: &[u8]) {
    match parse(line) {
        Input::One(message) => {
            match &message {
                Message::Invalid(refusal) if refusal.code == code::PARSE_ERROR => {
                    assert!(
                        serde_json::from_slice::<Value>(line).is_err(),
                        "it is JSON: {}",
                        refusal.message
                    );
                }
                message => assert!(is_json(line), "it is no JSON: {message:?}"),
            }
            is_as_sent(&message, line);
        }
        Input::Batch(items) => {
            let sent: Vec<&RawValue> = serde_json::from_slice(line).expect("an array");
            assert_eq!(items.len(), sent.len());
            items.iter().zip(sent).for_each(|(item, sent)| is_as_sent(item, sent.get().as_bytes()));
        }
    }
}

fn is_as_sent(message: &Message, line: &[u8]) {
    let sent: Members = serde_json::from_slice(line).unwrap_or_default();
    let token = |key: &str| sent.get(key).map(|token| token.get());
    let (id, method, params) = match message {
        Message::Request { id, method, params } => (Some(id), method, params),
        Message::Notification { method, params } => (None, method, params),
        Message::Response => return assert!(token("method").is_none()),
        Message::Invalid(refusal) => {
            let id = refusal.id.as_json();
            return assert!(id == "null" || token("id") == Some(id), "{id} is not the id");
        }
    };
    assert_eq!(id.map(Id::as_json), token("id"));
    let sent_method: String = serde_json::from_str(token("method").expect("a method")).expect("a string");
    assert_eq!(*method, sent_method);
    assert_eq!(*params, token("params").filter(|params| *params != "null"));
}
