//! tools/list and the form of tools/call: schemas, hints, arguments, `--tools`, `--structured` (contract 6.1).

use serde_json::{Value, json};

use crate::support::{Mcp, named, on_both, on_both_with};

const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(super) fn tools(server: &dyn Mcp) -> Vec<Value> {
    let response = server.rpc("tools/list", json!({}));
    response["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools: {response}")).clone()
}

fn names(server: &dyn Mcp) -> Vec<String> {
    tools(server).iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Everything in `schema` that a schema may not hold if every client is to take it.
fn check_plain(schema: &Value) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                let plain = !["anyOf", "oneOf", "allOf", "not", "$ref", "$defs"].contains(&key.as_str());
                assert!(plain, "{key} in {schema}");
                check_plain(value);
            }
        }
        Value::Array(items) => items.iter().for_each(check_plain),
        _ => {}
    }
}

#[test]
fn three_tools_are_offered_unless_others_are_chosen() {
    on_both(|server, _| assert_eq!(names(server), ["list_files", "read_file", "edit_file"]));
}

#[test]
fn the_tools_chosen_are_offered_in_a_fixed_order() {
    let cases: [(&str, &[&str]); 4] = [
        ("--tools=lines,exact", &["list_files", "read_file", "edit_file", "file_edit"]),
        ("--tools=lines.edit_file,list_files", &["list_files", "edit_file"]),
        ("--tools=file_edit", &["file_edit"]),
        ("--tools=lines.read_file", &["read_file"]),
    ];
    for (flag, wanted) in cases {
        on_both_with(&[flag], |_| {}, |server, _| assert_eq!(names(server), wanted, "{flag}"));
    }
}

#[test]
fn a_tool_that_was_not_chosen_is_unknown() {
    on_both_with(
        &["--tools=lines.read_file"],
        |folder| folder.write("f", "a\n"),
        |server, folder| {
            let before = folder.snapshot();
            for tool in ["list_files", "edit_file", "file_edit"] {
                let answer = server
                    .rpc("tools/call", json!({ "name": tool, "arguments": { "name": "f", "append": "x" } }));
                let error = &answer["error"];
                assert_eq!(
                    (&error["code"], &error["message"]),
                    (&json!(-32602), &json!(format!("Unknown tool: {tool}; the tools are read_file")))
                );
            }
            assert_eq!(folder.snapshot(), before);
        },
    );
}

#[test]
fn an_unknown_tool_is_named_in_the_error() {
    on_both(|server, _| {
        for name in ["x", "", "list_files ", "LIST_FILES", "ünknown"] {
            let answer = server.rpc("tools/call", json!({ "name": name, "arguments": {} }));
            let error = &answer["error"];
            assert_eq!(
                (&error["code"], &error["message"]),
                (
                    &json!(-32602),
                    &json!(format!("Unknown tool: {name}; the tools are list_files, read_file, edit_file"))
                )
            );
        }
    });
}

#[test]
fn params_that_are_no_tool_call_are_invalid() {
    on_both(|server, _| {
        let cases = [
            json!({}),
            json!({ "arguments": {} }),
            json!({ "name": 5 }),
            json!({ "name": null, "arguments": {} }),
            json!({ "name": ["list_files"] }),
            json!({ "name": "list_files", "arguments": [] }),
            json!({ "name": "list_files", "arguments": "{} {}" }),
            json!({ "name": "list_files", "arguments": "[]" }),
            json!({ "name": "list_files", "arguments": 1 }),
        ];
        for params in cases {
            let answer = server.rpc("tools/call", params.clone());
            assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
        }
    });
}

#[test]
fn absent_and_null_arguments_count_as_none() {
    on_both(|server, _| {
        for params in [json!({ "name": "list_files" }), json!({ "name": "list_files", "arguments": null })] {
            let answer = server.rpc("tools/call", params);
            assert_eq!(answer["result"]["content"][0]["text"], "Files in directory:\n\nTotal files: 0");
        }
    });
}

#[test]
fn every_tool_has_a_description_a_plain_schema_and_all_four_hints() {
    for revision in REVISIONS {
        on_both_with(
            &["--tools=lines,exact"],
            |_| {},
            |server, _| {
                server.begin(revision);
                for tool in tools(server) {
                    let name = tool["name"].as_str().expect("a name");
                    assert!(60 < tool["description"].as_str().expect("a description").len(), "{tool}");
                    let schema = &tool["inputSchema"];
                    assert_eq!(
                        (&schema["type"], &schema["additionalProperties"]),
                        (&json!("object"), &json!(false))
                    );
                    check_plain(schema);
                    let hints = &tool["annotations"];
                    let reads = name == "list_files" || name == "read_file";
                    assert_eq!(hints["readOnlyHint"], reads, "{name}");
                    assert_eq!(hints["openWorldHint"], false, "{name}");
                    // The writers can change or remove what was there.
                    assert_eq!(hints["destructiveHint"], !reads, "{name}");
                    assert_eq!(hints["idempotentHint"].as_bool().unwrap_or(false), reads, "{name}");
                }
            },
        );
    }
}

#[test]
fn the_tools_of_the_set_text_name_their_arguments_and_whether_they_write() {
    on_both_with(
        &["--tools=text.read_file,text.view,text.write_file"],
        |_| {},
        |server, _| {
            assert_eq!(names(server), ["read_file", "view", "write_file"]);
            for tool in tools(server) {
                let reads = tool["name"] != "write_file";
                let schema = &tool["inputSchema"];
                check_plain(schema);
                let required = if reads { json!(["filename"]) } else { json!(["filename", "content"]) };
                assert_eq!(
                    (&schema["required"], &schema["additionalProperties"]),
                    (&required, &json!(false))
                );
                let arguments: Vec<&String> =
                    schema["properties"].as_object().expect("properties").keys().collect();
                let wanted: &[&str] = match reads {
                    true => &[
                        "filename",
                        "start_line",
                        "end_line",
                        "encoding",
                        "line_numbers",
                        "skip_empty",
                        "max_lines",
                        "pattern",
                        "cursor",
                    ],
                    false => &["filename", "content", "encoding", "expected_version"],
                };
                assert!(
                    wanted.iter().all(|name| arguments.iter().any(|argument| argument == name)),
                    "{schema}"
                );
                assert_eq!(arguments.len(), wanted.len(), "{schema}");
                let hints = &tool["annotations"];
                assert_eq!(
                    (&hints["readOnlyHint"], &hints["destructiveHint"]),
                    (&json!(reads), &json!(!reads))
                );
                assert_eq!(
                    (&hints["idempotentHint"], &hints["openWorldHint"]),
                    (&json!(true), &json!(false))
                );
            }
        },
    );
}

#[test]
fn the_edit_tool_of_the_set_text_names_its_arguments_and_that_it_can_remove_text() {
    on_both_with(
        &["--tools=text.edit_file"],
        |_| {},
        |server, _| {
            let [tool] = &tools(server)[..] else { panic!("more than one tool") };
            let schema = &tool["inputSchema"];
            check_plain(schema);
            assert_eq!((&tool["name"], &schema["required"]), (&json!("edit_file"), &json!(["filename"])));
            let arguments: Vec<&str> =
                schema["properties"].as_object().expect("properties").keys().map(String::as_str).collect();
            for name in ["filename", "content", "old_text", "new_text", "encoding", "if_missing"] {
                assert!(arguments.contains(&name), "{name}: {schema}");
            }
            assert_eq!(arguments.len(), 8, "{schema}");
            assert_eq!(schema["properties"]["if_missing"]["enum"], json!(["append", "fail"]));
            let hints = json!({
                "readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false
            });
            for (hint, value) in hints.as_object().expect("hints") {
                assert_eq!(&tool["annotations"][hint], value, "{hint}");
            }
        },
    );
}

#[test]
fn the_schemas_name_the_arguments_of_the_contract() {
    on_both_with(
        &["--tools=lines,exact"],
        |_| {},
        |server, _| {
            let properties: Vec<(String, Vec<String>, Value)> = tools(server)
                .iter()
                .map(|tool| {
                    let schema = &tool["inputSchema"];
                    let names = schema["properties"].as_object().map(|p| p.keys().cloned().collect());
                    let name = tool["name"].as_str().expect("a name").to_owned();
                    (name, names.unwrap_or_default(), schema["required"].clone())
                })
                .collect();
            for (tool, mut names, mut required) in properties {
                names.sort();
                if let Some(required) = required.as_array_mut() {
                    required.sort_by_key(Value::to_string);
                }
                let (wanted, needed): (&[&str], Value) = match tool.as_str() {
                    "list_files" => (&["after", "limit", "match"], json!([])),
                    "read_file" => (&["end_line", "line_numbers", "name", "start_line"], json!(["name"])),
                    "edit_file" => {
                        (&["append", "create_if_missing", "diff", "edits", "name"], json!(["name"]))
                    }
                    _ => (&["dry_run", "edits", "path"], json!(["edits", "path"])),
                };
                assert_eq!(names, wanted, "{tool}");
                if tool == "list_files" {
                    assert!(required.is_null() || required == needed, "{required}");
                } else {
                    assert_eq!(required, needed, "{tool}");
                }
            }
            let edit = tools(server).into_iter().find(|tool| tool["name"] == "edit_file").expect("edit_file");
            let item = &edit["inputSchema"]["properties"]["edits"]["items"];
            let mut names: Vec<&String> =
                item["properties"].as_object().expect("properties").keys().collect();
            names.sort();
            assert_eq!(names, ["content", "end_line", "expect", "line", "operation"]);
            assert_eq!(item["additionalProperties"], false);
        },
    );
}

#[test]
fn a_tool_result_has_content_and_says_whether_it_is_an_error() {
    on_both(|server, folder| {
        folder.write("f", "a\n");
        for (tool, arguments, is_error) in [
            ("list_files", json!({}), false),
            ("read_file", json!({ "name": "f" }), false),
            ("edit_file", json!({ "name": "f", "append": "b" }), false),
            ("read_file", json!({ "name": "missing" }), true),
        ] {
            let result = server.tool(tool, arguments);
            assert_eq!(result.result["isError"], is_error, "{tool}");
            assert_eq!(result.texts.len(), 1, "{tool}");
            assert_eq!(result.result.get("structuredContent"), None, "{tool}");
        }
    });
}

#[test]
fn structured_data_comes_beside_the_text_for_revisions_that_have_it() {
    for revision in REVISIONS {
        let has_it = "2025-06-18" <= revision;
        on_both_with(
            &["--structured"],
            |folder| {
                folder.write("f", "a\nb\n");
                folder.set_modified("f", 1_000_000_000);
                folder.set_mode("f", 0o644);
            },
            |server, folder| {
                server.begin(revision);
                let list = server.tool("list_files", json!({}));
                assert!(
                    list.text.contains("name: f, modified: 2001-09-09T01:46:40Z, lines: 2\n"),
                    "{}",
                    list.text
                );
                let file = json!({
                    "name": "f", "size": 4, "modified": "2001-09-09T01:46:40Z",
                    "readable": true, "writable": true, "lines": 2,
                });
                let directory = named(folder.path());
                let data = json!({ "files": [file], "total_count": 1, "directory": directory });
                assert_eq!(list.result.get("structuredContent"), has_it.then_some(&data), "{revision}");

                let read = server.tool("read_file", json!({ "name": "f" }));
                assert_eq!(read.result.get("structuredContent"), None, "{revision}");

                let edit = server.tool("edit_file", json!({ "name": "f", "append": "c" }));
                let data = json!({ "success": true, "lines_modified": 1, "file_created": false, "new_total_lines": 3 });
                assert_eq!(edit.result.get("structuredContent"), has_it.then_some(&data), "{revision}");
                assert!(edit.text.contains("Lines modified: 1\nTotal lines: 3\n"), "{}", edit.text);

                let failed = server.tool(
                    "edit_file",
                    json!({ "name": "f", "edits": [{ "line": 9, "operation": "delete" }] }),
                );
                assert!(failed.is_error && failed.result.get("structuredContent").is_none(), "{revision}");

                for tool in tools(server) {
                    let schema = tool.get("outputSchema");
                    let wanted = has_it && tool["name"] != "read_file";
                    assert_eq!(schema.is_some(), wanted, "{revision} {tool}");
                    assert!(schema.is_none_or(|schema| schema["type"] == "object"), "{tool}");
                }
            },
        );
    }
}

#[test]
fn without_the_flag_no_tool_has_an_output_schema() {
    on_both(|server, _| {
        server.begin("2025-11-25");
        assert!(tools(server).iter().all(|tool| tool.get("outputSchema").is_none()));
        assert_eq!(server.tool("list_files", json!({})).result.get("structuredContent"), None);
    });
}
