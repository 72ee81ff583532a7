//! The direct methods and REST under `--tools=text`: S4's result objects and codes, and its guide's patterns.

use serde_json::{Value, json};

use super::{SET, serve};
use crate::support::{Folder, Http, Stdio, direct_on_both_with};

fn fill(folder: &Folder) {
    folder.write("f", "a\r\nb\n");
    folder.write("1251", b"\xE5\xF9\xB8\n");
}

#[test]
fn a_result_is_an_object_with_the_content() {
    direct_on_both_with(&[SET], fill, |server, folder| {
        for method in ["read_file", "view"] {
            let read = server.direct(method, json!({ "filename": "f" }));
            assert_eq!(read["content"], "a\r\nb\n", "{method}");
            let lines = server.direct(method, json!({ "filename": "f", "start_line": 1, "end_line": 2 }));
            assert_eq!(lines["content"], "a\nb");
            let filtered =
                server.direct(method, json!({ "path": "f", "pattern": "b", "line_numbers": true }));
            assert_eq!(filtered["content"], "2\tb");
            assert!(filtered["version"].is_string() && read["version"].is_string());
            let decoded = server.direct(method, json!({ "path": "1251", "encoding": "windows-1251" }));
            assert_eq!(decoded["content"], "ещё\n");
        }
        let written = server.direct("write_file", json!({ "filename": "d/new", "content": "x" }));
        assert_eq!(written["content"], "File created: d/new");
        assert_eq!(folder.text("d/new"), "x");
        assert_eq!(server.direct("view", json!({ "filename": "d" }))["content"], "[FILE] new");
    });
}

#[test]
fn a_program_gets_the_whole_text_whatever_the_limit_of_answers() {
    let text = "строка\n".repeat(20_000);
    direct_on_both_with(
        &[SET],
        |folder| folder.write("f", &text),
        |server, _| {
            assert!(server.direct("read_file", json!({ "filename": "f" }))["content"] == text);
            let filtered = server.direct("read_file", json!({ "filename": "f", "pattern": "с" }));
            assert!(filtered["content"] == text.trim_end());
        },
    );
}

#[test]
fn failures_have_the_codes_of_s4() {
    direct_on_both_with(&[SET], fill, |server, _| {
        for (method, params, code, status) in [
            ("read_file", json!({ "filename": "none" }), -32000, 404),
            ("view", json!({ "filename": "none" }), -32000, 404),
            ("read_file", json!({ "filename": "1251" }), -32000, 400),
            ("read_file", json!({ "filename": "f", "pattern": "(" }), -32602, 400),
            ("read_file", json!({}), -32602, 400),
            ("read_file", json!({ "filename": "f", "start_line": 1.5 }), -32602, 400),
            ("read_file", json!({ "filename": "f", "start_line": 9 }), -32602, 400),
            ("read_file", json!({ "filename": "../f" }), -32602, 400),
            ("write_file", json!({ "filename": "f" }), -32602, 400),
            ("write_file", json!({ "filename": "n", "content": "漢", "encoding": "latin1" }), -32000, 400),
        ] {
            let error = server.direct_error(method, params.clone());
            assert_eq!(error.code, code, "{method} {params}: {}", error.message);
            assert!(
                error.status.is_none_or(|found| found == status),
                "{method} {params}: {:?}",
                error.status
            );
            assert!(!error.message.is_empty() && !error.message.starts_with("Error: "));
        }
    });
}

#[test]
fn a_miss_is_explained_in_the_details_with_the_encoding_to_read_it() {
    direct_on_both_with(&[SET], fill, |server, _| {
        let miss = json!({ "filename": "1251", "old_text": "ещe", "new_text": "x", "if_missing": "fail", "encoding": "windows-1251" });
        let error = server.direct_error("edit_file", miss);
        let details = error.data["details"].as_str().unwrap_or_default();
        let call = "(read_file start_line=1 end_line=1 encoding=windows-1251)";
        assert!(details.contains("ещё") && details.contains(call), "{details}");
    });
}

#[test]
fn under_read_only_a_write_is_refused_with_that_code_too() {
    direct_on_both_with(&[SET, "--read-only"], fill, |server, folder| {
        let before = folder.snapshot();
        let error = server.direct_error("write_file", json!({ "filename": "f", "content": "" }));
        assert!(error.code == -32000 && error.status.is_none_or(|status| status == 403), "{error:?}");
        assert_eq!(folder.snapshot(), before);
    });
}

#[test]
fn the_codes_of_other_sets_stay() {
    direct_on_both_with(&[], fill, |server, _| {
        assert_eq!(server.direct_error("read_file", json!({ "name": "none" })).code, -32001);
    });
}

#[test]
fn a_posted_call_that_failed_carries_the_code_beside_its_result() {
    let folder = Folder::new();
    fill(&folder);
    let server = Http::start(&folder, &[SET]);
    let post = |tool: &str, arguments: Value| {
        let response = server.post(&format!("/tools/{tool}"), &arguments);
        (response.status, response.json())
    };
    let (status, body) = post("read_file", json!({ "filename": "none" }));
    assert_eq!((status, &body["isError"], &body["error"]["code"]), (404, &json!(true), &json!(-32000)));
    assert_eq!(body["error"]["message"], "File 'none' not found");
    assert!(
        body["content"][0]["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("Error: File 'none' not found"))
    );
    let (status, body) = post("view", json!({ "filename": "f", "start_line": 99 }));
    assert_eq!((status, &body["error"]["code"]), (400, &json!(-32602)));
    let (status, body) = post("read_file", json!({ "filename": "f" }));
    assert_eq!((status, &body["isError"], body.get("error")), (200, &json!(false), None));
}

/// A response as S4's guide for tests has it: a result whose first text is read with care, or an error.
fn text_of(response: &Value) -> Option<&str> {
    response.get("result")?.get("content")?.get(0)?.get("text")?.as_str()
}

#[test]
fn the_patterns_of_the_guide_hold() {
    let folder = Folder::new();
    fill(&folder);
    let server: Stdio = serve(&folder, &[]);
    let call = |arguments: Value| {
        server.request("tools/call", json!({ "name": "read_file", "arguments": arguments }))
    };
    // Arguments as an object, and as a string that holds one.
    let plain = call(json!({ "filename": "f" }));
    let as_string = call(json!(json!({ "filename": "f" }).to_string()));
    assert_eq!((text_of(&plain), text_of(&as_string)), (Some("a\r\nb\n"), Some("a\r\nb\n")));
    // Both tools answer alike.
    let view = server.request("tools/call", json!({ "name": "view", "arguments": { "filename": "f" } }));
    assert_eq!(text_of(&view), text_of(&plain));
    // A failure has isError or an error.
    let failed = call(json!({ "filename": "none" }));
    assert!(failed["result"]["isError"] == true || failed.get("error").is_some(), "{failed}");
    let unknown = server.request("no_such_method", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let wrong = call(json!({}));
    assert!(
        wrong["result"]["isError"] == true && text_of(&wrong).is_some_and(|text| text.contains("filename"))
    );
}
