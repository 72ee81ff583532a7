//! S0's integration test and its list of test cases (S0 6.4), word for word where it gives words.

use serde_json::{Value, json};

use crate::support::{Folder, Http, Mcp, Stdio, on_both, post_bytes, request, text_of};

/// `assert_tool_success`, and the text of `parse_tool_result`.
#[track_caller]
fn success(response: &Value) -> String {
    assert_eq!(response["result"]["isError"], false, "{response}");
    text_of(response).to_owned()
}

fn call(server: &dyn Mcp, tool: &str, arguments: Value) -> Value {
    server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn initialize(server: &dyn Mcp) -> Value {
    server.rpc(
        "initialize",
        json!({
            "protocolVersion": "2024-11-05",
            "capabilities": { "tools": {} },
            "clientInfo": { "name": "test-client", "version": "1.0.0" },
        }),
    )
}

#[test]
fn the_complete_mcp_workflow_of_s0_holds() {
    on_both(|server, _| {
        let init = initialize(server);
        assert_eq!(init["result"]["protocolVersion"], "2024-11-05");
        assert!(!init["result"]["capabilities"]["tools"].is_null());
        server.notify("notifications/initialized", json!({}));

        let response = server.rpc("tools/list", json!({}));
        let tools = response["result"]["tools"].as_array().expect("tools");
        assert_eq!(tools.len(), 3);
        let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("the tool");
        for name in ["list_files", "read_file", "edit_file"] {
            let annotations = &find(name)["annotations"];
            assert!(
                annotations.get("readOnlyHint").is_some() && annotations.get("destructiveHint").is_some(),
                "{name}"
            );
        }
        let annotations = &find("list_files")["annotations"];
        assert_eq!(
            (&annotations["readOnlyHint"], &annotations["destructiveHint"]),
            (&json!(true), &json!(false))
        );
        let annotations = &find("edit_file")["annotations"];
        assert_eq!(
            (&annotations["readOnlyHint"], &annotations["destructiveHint"]),
            (&json!(false), &json!(true))
        );

        let list = success(&call(server, "list_files", json!({})));
        assert!(list.contains("Total files: 0"), "{list}");
        let edits: Vec<Value> = (0..5)
            .map(|n| json!({ "line": n, "content": format!("line{}", n + 1), "operation": "insert" }))
            .collect();
        let created = success(&call(server, "edit_file", json!({ "name": "test.txt", "edits": edits })));
        assert!(created.contains("File created: true"), "{created}");
        let list = success(&call(server, "list_files", json!({})));
        assert!(list.contains("Total files: 1") && list.contains("name: test.txt"), "{list}");
        let read = success(&call(server, "read_file", json!({ "name": "test.txt" })));
        assert!(read.contains("line1") && read.contains("line5"), "{read}");
        let edits = json!([{ "line": 2, "content": "modified line 3", "operation": "replace" }]);
        success(&call(server, "edit_file", json!({ "name": "test.txt", "edits": edits })));
        let range = json!({ "name": "test.txt", "start_line": 2, "end_line": 2 });
        let read = success(&call(server, "read_file", range));
        assert!(read.contains("modified line 3"), "{read}");

        let failed = call(server, "read_file", json!({ "name": "missing.txt" }));
        assert_eq!(failed["result"]["isError"], true);
        let text = text_of(&failed);
        assert!(text.contains("Error: File 'missing.txt' not found"), "{text}");
    });
}

// ---- input_validation ----

/// valid_filename_acceptance
#[test]
fn valid_filenames_are_accepted() {
    on_both(|server, folder| {
        for name in ["a", "test.txt", "A_b-c.9", ".hidden", "a..b", "UPPER.TXT", "1", &"n".repeat(255)] {
            server.ok("edit_file", json!({ "name": name, "append": "x" }));
            assert!(folder.path().join(name).is_file(), "{name}");
        }
    });
}

/// invalid_filename_rejection
#[test]
fn invalid_filenames_are_rejected() {
    on_both(|server, folder| {
        for name in ["", "..", ".", "a/b", "../a", "a b", "a:b", "a*", "\u{e4}", "a\nb", &"n".repeat(256)] {
            let error = server.refused("edit_file", json!({ "name": name, "append": "x" }));
            assert_eq!(error, "Error: Invalid filename format", "{name:?}");
        }
        assert_eq!(folder.names(), [""; 0]);
    });
}

/// line_number_validation
#[test]
fn line_numbers_are_validated() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\n");
        for (range, error) in [
            (json!({ "start_line": 0, "end_line": -1 }), "Error: Line numbers must be non-negative integers"),
            (json!({ "end_line": -1 }), "Error: Line numbers must be non-negative integers"),
            (json!({ "start_line": 1, "end_line": 0 }), "Error: Invalid line range: start 1 > end 0"),
            (json!({ "start_line": 2 }), "Error: Start line 2 exceeds file length 2"),
        ] {
            let mut arguments = range;
            arguments["name"] = json!("f");
            assert_eq!(server.refused("read_file", arguments), error);
        }
    });
}

/// request_size_limits
#[test]
fn requests_over_the_limit_are_refused() {
    let long = |id| request(id, "ping", json!({ "x": "y".repeat(1_048_576) }));
    let folder = Folder::new();
    let stdio = Stdio::start(&folder, &["--max-size=1"]);
    stdio.send(&long(1));
    assert_eq!(stdio.recv()["error"]["code"], -32600);
    let http = Http::start(&folder, &["--max-size=1"]);
    let mut connection = http.connect();
    // The answer does not wait for the end of the body.
    let _ = connection.try_write(&post_bytes("/mcp", "", long(1).to_string().as_bytes()));
    assert_eq!(connection.read().status, 413);
}

/// utf8_encoding_validation
#[test]
fn files_that_are_no_utf8_are_refused_and_the_rest_comes_back_exactly() {
    on_both(|server, folder| {
        for bytes in
            [&b"\xFF"[..], b"a\xC3\n", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xC0\xAF", b"\xE2\x28\xA1"]
        {
            folder.write("bad", bytes);
            let error = server.refused("read_file", json!({ "name": "bad" }));
            assert_eq!(error, "Error: File contains invalid UTF-8 encoding", "{bytes:?}");
        }
        folder.write("good", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\n");
        let read = server.ok("read_file", json!({ "name": "good" }));
        assert!(read.ends_with("\n\n\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}"), "{read}");
    });
}

/// mcp_request_structure_validation
#[test]
fn requests_of_a_wrong_structure_are_refused() {
    on_both(|server, _| {
        assert_eq!(server.rpc("tools/call", json!({}))["error"]["code"], -32602);
        assert_eq!(server.rpc("tools/call", json!({ "name": 1 }))["error"]["code"], -32602);
        assert_eq!(server.rpc("tools/call", json!([]))["error"]["code"], -32600);
        assert_eq!(server.rpc("no/method", json!({}))["error"]["code"], -32601);
        assert_eq!(server.rpc("initialize", json!({}))["error"]["code"], -32602);
    });
}

// ---- mcp_tools: listing, reading, ranges and edits have modules of their own; here that each kind works ----

/// successful_file_listing, successful_file_reading, line_range_processing
#[test]
fn files_are_listed_and_read_whole_and_by_range() {
    on_both(|server, folder| {
        folder.write("example.txt", "1\n2\n3\n");
        assert!(server.ok("list_files", json!({})).contains("name: example.txt, modified: "));
        let whole = server.ok("read_file", json!({ "name": "example.txt" }));
        assert_eq!(whole, "File: example.txt (3 lines)\n\n1\n2\n3");
        let range = json!({ "name": "example.txt", "start_line": 1, "end_line": 2 });
        assert_eq!(server.ok("read_file", range), "File: example.txt (lines 1-2 of 3 total)\n\n2\n3");
    });
}

/// edit_operation_types
#[test]
fn there_are_three_edit_operations_and_append() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let edits = json!([
            { "line": 0, "operation": "replace", "content": "A" },
            { "line": 1, "operation": "insert", "content": "between" },
            { "line": 2, "operation": "delete" },
        ]);
        let text = server.ok("edit_file", json!({ "name": "f", "edits": edits, "append": "end" }));
        let wanted = "File edited successfully: f\nLines modified: 4\nTotal lines: 4\nFile created: false";
        assert_eq!((text.as_str(), folder.text("f").as_str()), (wanted, "A\nbetween\nb\nend\n"));
    });
}

/// atomic_write_behavior
#[test]
fn one_wrong_edit_of_many_leaves_the_file_as_it_was() {
    on_both(|server, folder| {
        folder.write("f", "a\nb\nc\n");
        let before = folder.snapshot();
        let mut edits: Vec<Value> =
            (0..3).map(|line| json!({ "line": line, "operation": "replace", "content": "x" })).collect();
        edits.push(json!({ "line": 3, "operation": "delete" }));
        let error = server.refused("edit_file", json!({ "name": "f", "edits": edits, "append": "y" }));
        assert_eq!(error, "Error: Line 3 out of range for delete operation");
        assert_eq!(folder.snapshot(), before);
    });
}

/// tool_error_handling
#[test]
fn a_tool_that_fails_is_a_result_and_the_next_call_works() {
    on_both(|server, folder| {
        let failed = call(server, "read_file", json!({ "name": "f" }));
        assert!(failed.get("error").is_none(), "{failed}");
        assert_eq!(
            (&failed["result"]["isError"], &failed["result"]["content"][0]["type"]),
            (&json!(true), &json!("text"))
        );
        folder.write("f", "a\n");
        success(&call(server, "read_file", json!({ "name": "f" })));
    });
}

// ---- concurrency: see limits/concurrency.rs, errors/system.rs and stdio/messages.rs ----

/// concurrent_tool_calls, exclusive_write_locking, filesystem_lock_behavior, multi_instance_coordination
#[test]
fn two_servers_take_turns_on_one_file() {
    on_both(|server, folder| {
        let other = Stdio::start(folder, &[]);
        for n in 0..10 {
            server.ok("edit_file", json!({ "name": "f", "append": format!("a{n}") }));
            other.ok("edit_file", json!({ "name": "f", "append": format!("b{n}") }));
            let total = 2 * (n + 1);
            for reader in [server, &other] {
                let read = reader.ok("read_file", json!({ "name": "f", "start_line": total - 1 }));
                assert!(
                    read.starts_with(&format!("File: f (lines {0}-{0} of {total} total)", total - 1)),
                    "{read}"
                );
            }
        }
    });
}

// ---- mcp_protocol: more in mcp/, stdio/messages.rs and http/requests.rs ----

/// mcp_initialization_sequence, tools_list_response, tool_call_execution
#[test]
fn a_session_goes_from_initialize_to_tool_calls() {
    on_both(|server, _| {
        let init = initialize(server);
        assert_eq!(init["result"]["serverInfo"]["name"], "file-editing-server");
        server.notify("notifications/initialized", json!({}));
        assert_eq!(server.rpc("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::len), Some(3));
        success(&call(server, "list_files", json!({})));
    });
}

/// error_response_formatting, jsonrpc_compliance
#[test]
fn every_response_is_json_rpc_with_either_a_result_or_an_error() {
    on_both(|server, _| {
        for (method, params) in [
            ("initialize", json!({})),
            ("ping", json!({})),
            ("tools/list", json!({})),
            ("tools/list", json!({ "cursor": "x" })),
            ("tools/call", json!({ "name": "x" })),
            ("tools/call", json!({ "name": "read_file", "arguments": { "name": "x" } })),
            ("no/method", json!({})),
        ] {
            let response = server.rpc(method, params);
            let members = response.as_object().expect("an object");
            assert_eq!((members.len(), &members["jsonrpc"]), (3, &json!("2.0")), "{response}");
            match members.get("error") {
                Some(error) => {
                    assert!(error["code"].is_i64() && error["message"].is_string(), "{response}");
                    assert!(
                        error
                            .as_object()
                            .expect("an object")
                            .keys()
                            .all(|key| ["code", "message", "data"].contains(&key.as_str()))
                    );
                }
                None => assert!(members["result"].is_object(), "{response}"),
            }
        }
    });
}
