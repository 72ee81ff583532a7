//! Tool calls that are well-formed but often wrong in detail, over MCP, direct methods and REST.
//!
//! Must hold for any call: nothing panics; the answer is JSON in the form of its interface, with the id of
//! the request; a call that fails leaves the folder unchanged; an edited file is text.
//!
//! Input: choices for the generator below: arguments with missing, duplicate, unknown or mistyped members,
//! extreme numbers and strings, nesting, and sometimes a random value.

#![no_main]

use arbitrary::{Result, Unstructured};
use file_editor::protocol::Session;
use file_editor_fuzz::{Served, assert_answers, assert_rest};
use libfuzzer_sys::fuzz_target;
use text::lines::LineIndex;

const IDS: [&str; 6] = ["1", "-7", "\"x\"", r#""\u0041\n""#, "1.0", "123456789012345678901234567890"];
const OPERATIONS: [&str; 3] = ["list_files", "read_file", "edit_file"];
const KEYS: [&str; 12] = [
    "name",
    "path",
    "start_line",
    "startLine",
    "end_line",
    "edits",
    "append",
    "create_if_missing",
    "line",
    "operation",
    "text",
    "x",
];
const NAMES: [&str; 10] = [
    "a.txt",
    "bom.txt",
    "empty.txt",
    "binary",
    "large.txt",
    "new.txt",
    "b.txt",
    "../a.txt",
    ".file-editor-tmp-0123456789abcdef",
    "ä b",
];
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "-1",
    "1.0",
    "1e0",
    "1.5",
    "-0",
    "9007199254740993",
    "18446744073709551615",
    "99999999999999999999",
    "1e400",
];
const STRINGS: [&str; 15] = [
    "",
    "x",
    "one",
    "two",
    "three",
    "p\\nq\\r\\nr\\r",
    "\\n",
    "\\r",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\u0000",
    "\\u2028",
    "\\u007f\\u0080",
    "é漢😀",
    "\\\"\\\\\\/\\b\\f\\n\\r\\t",
];
const VERBS: [&str; 4] = ["replace", "insert", "delete", "append"];

fuzz_target!(|data: &[u8]| {
    let mut choices = Unstructured::new(data);
    // It is not an error if the choices end: the calls before were made.
    let _ = session(&mut choices);
});

fn session(u: &mut Unstructured) -> Result<()> {
    let served = Served::fresh(u.arbitrary()?);
    let mut session = Session::stdio();
    for _ in 0..4 {
        if u.is_empty() {
            break;
        }
        let (operation, id) = (*u.choose(&OPERATIONS)?, *u.choose(&IDS)?);
        let arguments = arguments(u, operation)?;
        let before = (operation == "edit_file").then(|| served.files());
        let line = match u.int_in_range(0..=2)? {
            0 => None,
            1 => Some(request(id, operation, &arguments)),
            _ => {
                let params = format!(r#"{{"name":"{operation}","arguments":{arguments}}}"#);
                Some(request(id, "tools/call", &params))
            }
        };
        let step = match &line {
            Some(line) => served.service().mcp(&mut session, line.as_bytes()),
            None => served.service().rest(operation, arguments.as_bytes()),
        };
        let (status, bytes) = served.carry_out(step).expect("an answer");
        let done = match line {
            Some(_) => assert_answers(&bytes, id),
            None => assert_rest(status, &bytes),
        };
        if let Some(before) = before {
            let mut after = served.files();
            after.retain(|name, bytes| before.get(name) != Some(bytes));
            assert!(after.is_empty() || done, "refused, but changed: {after:?}");
            assert!(after.values().all(|bytes| LineIndex::build(bytes).is_ok()), "no text: {after:?}");
        }
    }
    Ok(())
}

fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn arguments(u: &mut Unstructured, operation: &str) -> Result<String> {
    if u.ratio(1, 16)? {
        let mut out = String::new();
        value(u, &mut out, 0)?;
        return Ok(out);
    }
    let mut members = Vec::new();
    if operation != "list_files" {
        let key = u.choose(&["name", "name", "path", "file_path"])?;
        members.push(format!(r#""{key}":"{}""#, u.choose(&NAMES)?));
    }
    for key in ["start_line", "end_line"] {
        if operation == "read_file" && u.arbitrary()? {
            members.push(format!(r#""{key}":{}"#, u.choose(&NUMBERS)?));
        }
    }
    if operation == "edit_file" {
        let edits = (0..u.int_in_range(0..=4)?).map(|_| edit(u)).collect::<Result<Vec<String>>>()?;
        let edits = format!("[{}]", edits.join(","));
        members.push(format!(r#""edits":{}"#, perhaps_a_string(u, edits)?));
        if u.arbitrary()? {
            members.push(format!(r#""append":"{}""#, u.choose(&STRINGS)?));
        }
        if u.arbitrary()? {
            members.push(format!(r#""create_if_missing":{}"#, u.arbitrary::<bool>()?));
        }
    }
    spoil(u, &mut members)?;
    let object = format!("{{{}}}", members.join(", "));
    perhaps_a_string(u, object)
}

/// JSON, sometimes as a string that holds it.
fn perhaps_a_string(u: &mut Unstructured, json: String) -> Result<String> {
    Ok(if u.ratio(1, 8)? { serde_json::to_string(&json).expect("a string") } else { json })
}

fn edit(u: &mut Unstructured) -> Result<String> {
    let mut members =
        vec![format!(r#""line":{}"#, u.choose(&NUMBERS)?), format!(r#""operation":"{}""#, u.choose(&VERBS)?)];
    for key in ["content", "expect"] {
        if u.arbitrary()? {
            members.push(format!(r#""{key}":"{}""#, u.choose(&STRINGS)?));
        }
    }
    spoil(u, &mut members)?;
    Ok(format!("{{{}}}", members.join(",")))
}

/// Sometimes adds a member, which may be a duplicate, or removes one.
fn spoil(u: &mut Unstructured, members: &mut Vec<String>) -> Result<()> {
    match u.int_in_range(0..=15)? {
        0 => {
            let mut member = format!(r#""{}":"#, u.choose(&KEYS)?);
            value(u, &mut member, 0)?;
            members.insert(u.choose_index(members.len() + 1)?, member);
        }
        1 if !members.is_empty() => drop(members.remove(u.choose_index(members.len())?)),
        _ => {}
    }
    Ok(())
}

/// Any JSON value.
fn value(u: &mut Unstructured, out: &mut String, depth: usize) -> Result<()> {
    let kinds = if depth < 4 { 7 } else { 4 };
    match u.int_in_range(0..=kinds)? {
        0 => out.push_str("null"),
        1 => out.push_str(if u.arbitrary()? { "true" } else { "false" }),
        2 => out.push_str(u.choose(&NUMBERS)?),
        3 | 4 => out.extend(["\"", u.choose(&STRINGS)?, "\""]),
        5 => {
            let levels = *u.choose(&[1, 2, 100, 126, 127, 128, 129, 5000])?;
            out.extend(std::iter::repeat_n('[', levels).chain(std::iter::repeat_n(']', levels)));
        }
        kind => {
            out.push(if kind == 6 { '[' } else { '{' });
            for item in 0..u.int_in_range(0..=3)? {
                out.push_str(if item == 0 { "" } else { " , " });
                if kind == 7 {
                    out.extend(["\"", u.choose(&KEYS)?, "\":"]);
                }
                value(u, out, depth + 1)?;
            }
            out.push(if kind == 6 { ']' } else { '}' });
        }
    }
    Ok(())
}
