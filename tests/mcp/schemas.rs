//! Schemas that every client takes (contract 6.1): valid, plain, small, and true of what the tools give.

use serde_json::{Value, json};

use super::tools::tools;
use crate::support::{
    Folder, HANDSHAKE, Http, Mcp, STATELESS, Stateless, Stdio, on_both_with, request, with_meta,
};

/// Every schema within `schema`, itself too.
fn each_schema(schema: &Value, check: &mut impl FnMut(&Value)) {
    check(schema);
    for inner in schema["properties"].as_object().into_iter().flat_map(serde_json::Map::values) {
        each_schema(inner, check);
    }
    if let Some(items) = schema.get("items") {
        each_schema(items, check);
    }
}

#[test]
fn every_schema_is_valid_has_properties_and_knows_no_unions() {
    let sets = ["--tools=lines,exact", "--tools=text"];
    for (revision, set) in HANDSHAKE.into_iter().flat_map(|revision| sets.map(|set| (revision, set))) {
        on_both_with(
            &[set, "--structured"],
            |_| {},
            |server, _| {
                server.begin(revision);
                let tools = tools(server);
                assert!(3 <= tools.len());
                let schemas =
                    tools.iter().flat_map(|tool| [tool.get("inputSchema"), tool.get("outputSchema")]);
                for schema in schemas.flatten() {
                    jsonschema::draft202012::meta::validate(schema).expect("a valid schema");
                    assert!(schema["type"] == "object" && schema["properties"].is_object(), "{schema}");
                    each_schema(schema, &mut |schema| {
                        // A type is one word: no union with null or with anything else.
                        assert!(schema.is_object() && schema["type"].is_string(), "{schema}");
                        assert_ne!(schema["type"], "null", "{schema}");
                        assert_eq!(schema["type"] == "object", schema["properties"].is_object(), "{schema}");
                        for keyword in ["anyOf", "oneOf", "allOf", "not", "if", "$ref", "$defs", "nullable"] {
                            assert!(schema.get(keyword).is_none(), "{keyword} in {schema}");
                        }
                    });
                }
            },
        );
    }
}

#[test]
fn the_list_of_tools_is_under_6_kb_in_every_revision() {
    let folder = Folder::new();
    let size = |flags: &[&str], revision: &str| {
        let server = Stdio::start(&folder, flags);
        let params = if revision == STATELESS { with_meta(json!({})) } else { json!({}) };
        if revision != STATELESS {
            server.begin(revision);
        }
        server.send(&request(1, "tools/list", params));
        server.recv_line().len()
    };
    for revision in HANDSHAKE.into_iter().chain([STATELESS]) {
        for flags in [&[][..], &["--tools=lines,exact"]] {
            let bytes = size(flags, revision);
            assert!(bytes < 6_000, "{revision} {flags:?}: {bytes} bytes");
        }
    }
}

#[test]
fn data_for_programs_is_what_the_output_schema_says() {
    for revision in ["2025-06-18", "2025-11-25", STATELESS] {
        let folder = Folder::new();
        folder.write("f", "a\nb\n");
        folder.write("not text", "\0");
        let flags = ["--tools=lines,exact", "--structured"];
        let (stdio, http) = (Stdio::start(&folder, &flags), Http::start(&folder, &flags));
        let servers: [Box<dyn Mcp>; 2] = match revision {
            STATELESS => [Box::new(Stateless(stdio)), Box::new(Stateless(http))],
            _ => [Box::new(stdio), Box::new(http)],
        };
        for server in servers {
            server.begin(revision);
            let tools = tools(&*server);
            let check = |name: &str, arguments: Value| {
                let tool = tools.iter().find(|tool| tool["name"] == name).expect("the tool");
                let result = server.tool(name, arguments.clone());
                assert!(jsonschema::is_valid(&tool["inputSchema"], &arguments), "{name} {arguments}");
                let data = result.result.get("structuredContent").expect("data");
                let schema = tool.get("outputSchema").expect("a schema");
                jsonschema::validate(schema, data)
                    .unwrap_or_else(|error| panic!("{name}: {error} in {data}"));
            };
            check("list_files", json!({}));
            let edit = json!({ "line": 0, "operation": "replace", "content": "x", "expect": "a" });
            check(
                "edit_file",
                json!({ "name": "f", "edits": [edit], "append": "y", "create_if_missing": false }),
            );
            check("edit_file", json!({ "name": format!("new-{}", folder.names().len()), "append": "y" }));
            folder.write("f", "a\nb\n");
        }
    }
}
