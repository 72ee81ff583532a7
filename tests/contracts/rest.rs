//! S3's interface, over REST and by the direct methods on stdio (contract 6.2): results, which count from 1.

use serde_json::{Value, json};

use crate::support::{
    Direct, Folder, Http, Stdio, bare_command, direct_on_both, direct_on_both_with, named, on_both_as_nobody,
};

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn list_answers_all_six_fields_the_total_and_the_canonical_folder() {
    direct_on_both(|server, folder| {
        folder.write("b.txt", "one\ntwo");
        folder.write("a.bin", "\0");
        folder.write(".hidden", "");
        for name in ["a.bin", "b.txt"] {
            folder.set_modified(name, 1_700_000_000);
        }
        let file = |name, size, lines| {
            json!({
                "name": name, "size": size, "modified": "2023-11-14T22:13:20Z",
                "readable": true, "writable": true, "lines": lines,
            })
        };
        let wanted = json!({
            "files": [file("a.bin", 1, -1), file("b.txt", 7, 2)],
            "total_count": 2,
            "directory": named(folder.path()),
        });
        assert_eq!(server.direct("list_files", json!({})), wanted);
    });
}

#[test]
fn an_empty_folder_has_an_empty_list() {
    direct_on_both(|server, folder| {
        let directory = named(folder.path());
        let wanted = json!({ "files": [], "total_count": 0, "directory": directory });
        assert_eq!(server.direct("list_files", json!({})), wanted);
    });
}

#[test]
fn a_folder_given_by_a_link_is_named_by_its_canonical_path() {
    let folder = Folder::new();
    let link = folder.outside("link");
    std::os::unix::fs::symlink(folder.path(), &link).expect("a link");
    let mut command = bare_command();
    command.arg(format!("--dir={}/.", link.display())).arg("--transport=stdio");
    let server = Stdio::run(command);
    assert_eq!(server.direct("list_files", json!({}))["directory"], named(folder.path()));
}

#[test]
fn readable_and_writable_say_what_the_server_may_do() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let fill = |folder: &Folder| {
        for (name, mode) in [("both", 0o600), ("none", 0), ("read", 0o400), ("write", 0o200)] {
            folder.write(name, "a\n");
            folder.set_mode(name, mode);
        }
    };
    on_both_as_nobody(&[], fill, |_, direct, _| {
        let list = direct.direct("list_files", json!({}));
        let files: Vec<(&Value, &Value, &Value, &Value)> = list["files"]
            .as_array()
            .expect("files")
            .iter()
            .map(|file| (&file["name"], &file["readable"], &file["writable"], &file["lines"]))
            .collect();
        let (yes, no, one, none) = (json!(true), json!(false), json!(1), json!(-1));
        let names = ["both", "none", "read", "write"].map(|name| json!(name));
        let wanted = vec![
            (&names[0], &yes, &yes, &one),
            (&names[1], &no, &no, &none),
            (&names[2], &yes, &no, &one),
            (&names[3], &no, &yes, &none),
        ];
        assert_eq!(files, wanted);
    });
}

#[test]
fn read_counts_from_1_and_echoes_only_what_was_asked() {
    direct_on_both(|server, folder| {
        folder.write("f", "a\r\nb\nc\n");
        let read = |range: Value| {
            let mut params = json!({ "name": "f" });
            params.as_object_mut().expect("an object").extend(range.as_object().expect("an object").clone());
            server.direct("read_file", params)
        };
        let cases = [
            (json!({ "start_line": 2, "end_line": 3 }), "b\nc"),
            (json!({ "start_line": 1, "end_line": 1 }), "a"),
            (json!({ "start_line": 3 }), "c"),
            (json!({ "end_line": 2 }), "a\nb"),
            (json!({ "start_line": 2, "end_line": 99 }), "b\nc"),
        ];
        for (range, content) in cases {
            let wanted = json!({ "content": content, "total_lines": 3, "range_requested": range });
            assert_eq!(read(range.clone()), wanted, "{range}");
        }
        // With no range asked for, the echo is empty or left out (S3 does not require it).
        for range in [json!({}), json!({ "start_line": null, "end_line": null })] {
            let whole = read(range);
            assert_eq!((&whole["content"], &whole["total_lines"]), (&json!("a\nb\nc"), &json!(3)));
            assert!(whole.get("range_requested").is_none_or(|echo| *echo == json!({})), "{whole}");
        }
    });
}

#[test]
fn an_empty_file_reads_as_no_lines() {
    direct_on_both(|server, folder| {
        folder.write("f", "");
        let whole = server.direct("read_file", json!({ "name": "f" }));
        assert_eq!((&whole["content"], &whole["total_lines"]), (&json!(""), &json!(0)));
        let error = server.direct_error("read_file", json!({ "name": "f", "start_line": 1 }));
        assert_eq!(error.message.split('\n').next(), Some("Start line 1 exceeds file length 0"));
    });
}

#[test]
fn edit_counts_from_1_and_answers_four_fields() {
    direct_on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let edits = json!([
            { "line": 1, "operation": "replace", "content": "A\nA" },
            { "line": 2, "operation": "delete" },
            { "line": 4, "operation": "insert", "content": "d" },
        ]);
        let answer = server.direct("edit_file", json!({ "name": "f", "edits": edits, "append": "e" }));
        let wanted =
            json!({ "success": true, "lines_modified": 5, "file_created": false, "new_total_lines": 5 });
        assert_eq!(answer, wanted);
        assert_eq!(folder.text("f"), "A\nA\nc\nd\ne\n");
    });
}

#[test]
fn a_missing_file_is_created_only_on_request() {
    direct_on_both(|server, folder| {
        let edits = json!([{ "line": 1, "operation": "insert", "content": "x" }]);
        for create in [json!(false), json!(null)] {
            let params = json!({ "name": "new", "edits": edits, "create_if_missing": create });
            assert_eq!(
                server.direct_error("edit_file", params).message.split('\n').next(),
                Some("File 'new' not found")
            );
        }
        server.direct_error("edit_file", json!({ "name": "new", "append": "x" }));
        assert_eq!(folder.names(), [""; 0]);
        let params = json!({ "name": "new", "edits": edits, "create_if_missing": true });
        let wanted =
            json!({ "success": true, "lines_modified": 1, "file_created": true, "new_total_lines": 1 });
        assert_eq!(server.direct("edit_file", params), wanted);
        assert_eq!(folder.text("new"), "x\n");
    });
}

#[test]
fn inserts_at_1_to_5_build_a_file_from_nothing() {
    direct_on_both(|server, folder| {
        let edits: Vec<Value> = (1..6)
            .map(|n| json!({ "line": n, "operation": "insert", "content": format!("line{n}") }))
            .collect();
        server.direct("edit_file", json!({ "name": "f", "edits": edits, "create_if_missing": true }));
        assert_eq!(folder.text("f"), "line1\nline2\nline3\nline4\nline5\n");
    });
}

#[test]
fn the_answer_is_json_in_utf8_and_holds_no_envelope() {
    let folder = Folder::new();
    folder.write("f", "\u{e9}\n");
    let server = Http::start(&folder, &[]);
    for (path, body) in [
        ("/list_files", json!({})),
        ("/read_file", json!({ "name": "f" })),
        ("/edit_file", json!({ "name": "f", "append": "x" })),
        ("/read_file", json!({ "name": "missing" })),
    ] {
        let response = server.post(path, &body);
        assert_eq!(response.header("content-type"), Some("application/json; charset=utf-8"), "{path}");
        assert!(response.json().get("jsonrpc").is_none(), "{path}");
    }
    assert_eq!(keys(&server.post("/read_file", &json!({ "name": "missing" })).json()), ["error"]);
}

#[test]
fn the_direct_methods_need_no_initialize_and_list_files_no_params() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "list_files" }));
    let answer = server.recv();
    assert_eq!(
        (&answer["id"], &answer["jsonrpc"], &answer["result"]["total_count"]),
        (&json!(7), &json!("2.0"), &json!(0))
    );
}

#[test]
fn the_direct_methods_work_beside_mcp_on_one_stdin() {
    use crate::support::Mcp;
    let folder = Folder::new();
    let server = Stdio::start(&folder, &[]);
    server.begin("2025-11-25");
    server.ok("edit_file", json!({ "name": "f", "append": "x" }));
    let wanted = json!({ "content": "x", "total_lines": 1, "range_requested": { "start_line": 1 } });
    assert_eq!(server.direct("read_file", json!({ "name": "f", "start_line": 1 })), wanted);
}

#[test]
fn a_tool_that_was_not_chosen_does_not_exist_here_either() {
    let fill = |folder: &Folder| folder.write("f", "a\n");
    direct_on_both_with(&["--tools=lines.read_file,file_edit"], fill, |server, folder| {
        let before = folder.snapshot();
        assert_eq!(server.direct("read_file", json!({ "name": "f" }))["content"], "a");
        for operation in ["list_files", "edit_file"] {
            let error =
                server.call(operation, json!({ "name": "f", "append": "x" })).expect_err("not offered");
            assert!(
                error.status == Some(404) || (error.status.is_none() && error.code == -32601),
                "{error:?}"
            );
        }
        assert_eq!(folder.snapshot(), before);
    });
}

#[test]
fn file_edit_has_no_form_in_this_interface() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    let params = json!({ "path": "f", "edits": [{ "old_text": "a", "new_text": "b" }] });
    for flags in [&["--tools=lines,exact"][..], &["--tools=lines,exact", "--read-only"]] {
        let (http, stdio) = (Http::start(&folder, flags), Stdio::start(&folder, flags));
        assert_eq!(http.post("/file_edit", &params).status, 404);
        assert_eq!(stdio.direct_error("file_edit", params.clone()).code, -32601);
        assert_eq!(folder.text("f"), "a\n");
    }
}

#[test]
fn a_read_only_server_forbids_edits() {
    let fill = |folder: &Folder| folder.write("f", "a\n");
    direct_on_both_with(&["--read-only"], fill, |server, folder| {
        let before = folder.snapshot();
        for params in
            [json!({ "name": "f", "append": "x" }), json!({ "name": "g", "create_if_missing": true })]
        {
            let error = server.direct_error("edit_file", params);
            assert!(error.status.is_none_or(|status| status == 403), "{error:?}");
        }
        assert_eq!(server.direct("read_file", json!({ "name": "f" }))["content"], "a");
        assert_eq!(folder.snapshot(), before);
    });
}

#[test]
fn a_body_that_is_no_object_is_refused() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[]);
    for body in ["[]", "5", "null", "\"x\"", "[{}]"] {
        let response = server.post_raw("/list_files", body.as_bytes());
        assert_eq!(response.status, 400, "{body}");
        let code = response.json()["error"]["code"].as_i64();
        // Both codes are correct.
        assert!(matches!(code, Some(-32600 | -32602)), "{body}: {}", response.text());
    }
    for body in ["", "{", "{\"name\":}", "{} {}", "\u{FEFF}{\"a\"", "{\"name\":\"\u{1}\"}"] {
        let response = server.post_raw("/read_file", body.as_bytes());
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(-32700)), "{body:?}");
    }
}
