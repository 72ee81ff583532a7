//! Direct methods, REST and `POST /tools/{name}`: S2's objects and codes.

use serde_json::{Value, json};

use super::{MAKEFILE, SET, of};
use crate::support::{Direct, Folder, Http, Stdio, direct_on_both_with};

#[test]
fn results_are_the_objects_of_the_source_document() {
    direct_on_both_with(
        &[SET],
        |_| {},
        |server, folder| {
            let made = server.direct("generate_template", of(MAKEFILE, "x"));
            assert!(made["content"].as_str().is_some_and(|text| text.contains("cargo build")), "{made}");
            assert_eq!(
                server.direct("validate_template", of(MAKEFILE, "x")),
                json!({ "valid": true, "errors": [] })
            );
            let wrong = server.direct("validate_template", of(MAKEFILE, "a/b"));
            assert!(wrong["valid"] == false && wrong["errors"][0]["parameter"] == "project_name", "{wrong}");
            let listed = server.direct("list_templates", json!({}));
            assert_eq!(listed["templates"].as_array().map(Vec::len), Some(54));
            let listed =
                server.direct("list_templates", json!({ "toolchain": "rust", "category": "makefile" }));
            let first = &listed["templates"][0];
            assert_eq!((&first["uri"], &first["name"]), (&json!(MAKEFILE), &json!("Rust CLI Makefile")));
            assert_eq!(first["mimeType"], "text/x-makefile");
            assert_eq!(first["parameters"][0]["name"], "project_name");
            let found =
                server.direct("search_templates", json!({ "query": "makefile", "toolchain": "rust" }));
            assert!(found["results"][0]["score"].as_f64().is_some_and(|score| score > 0.9), "{found}");
            assert_eq!(
                server.direct("search_templates", json!({ "query": "qqqq" })),
                json!({ "results": [] })
            );
            let project = json!({ "toolchain": "rust", "templates": ["makefile", "source"], "parameters": { "project_name": "x" } });
            let files = server.direct("scaffold_project", project);
            let paths: Vec<&Value> =
                files["files"].as_array().expect("files").iter().map(|file| &file["path"]).collect();
            assert_eq!(paths, ["Makefile", "src/main.rs"]);
            assert_eq!(files["files"][0]["content"], made["content"]);
            assert_eq!(folder.names(), [""; 0]);
        },
    );
}

#[test]
fn failures_have_the_codes_of_the_source_document() {
    direct_on_both_with(
        &[SET],
        |folder| folder.write("Makefile", "mine"),
        |server, folder| {
            let project = |templates: Value, write: bool| json!({ "toolchain": "rust", "templates": templates, "parameters": { "project_name": "x" }, "write": write });
            for (method, params, code, status) in [
                ("generate_template", of("template://nothing/rust/cli", "x"), -32000, 404),
                ("validate_template", of("template://MAKEFILE/rust/cli", "x"), -32000, 404),
                ("scaffold_project", project(json!(["makefile", "nothing"]), true), -32000, 404),
                ("generate_template", of("template://make.file/rust/cli", "x"), -32001, 400),
                ("validate_template", of("makefile", "x"), -32001, 400),
                ("scaffold_project", project(json!(["a/b/c"]), false), -32001, 400),
                ("generate_template", of(MAKEFILE, "-rf"), -32002, 400),
                ("generate_template", json!({ "resource_uri": MAKEFILE, "parameters": {} }), -32002, 400),
                (
                    "scaffold_project",
                    json!({ "toolchain": "rust", "templates": ["ci"], "parameters": {} }),
                    -32002,
                    400,
                ),
                (
                    "scaffold_project",
                    project(
                        json!([
                            "source",
                            "source/library",
                            "test",
                            "test/cli",
                            "manifest",
                            "manifest/library"
                        ]),
                        false,
                    ),
                    -32002,
                    400,
                ),
                ("generate_template", json!({ "resource_uri": MAKEFILE }), -32602, 400),
                ("generate_template", json!({ "parameters": {} }), -32602, 400),
                ("search_templates", json!({}), -32602, 400),
                ("list_templates", json!({ "other": 1 }), -32602, 400),
                ("scaffold_project", project(json!([]), false), -32602, 400),
                // A failed file operation has the code of contract 7.
                ("scaffold_project", project(json!(["makefile", "readme"]), true), -32001, 409),
            ] {
                let error = server.direct_error(method, params.clone());
                assert_eq!(error.code, code, "{method} {params}: {}", error.message);
                assert!(
                    error.status.is_none_or(|found| found == status),
                    "{method} {params}: {:?}",
                    error.status
                );
                assert_eq!(error.data["operation"], method);
            }
            assert_eq!(folder.names(), ["Makefile"]);
        },
    );
}

#[test]
fn all_problems_are_in_the_data_of_the_error() {
    direct_on_both_with(
        &[SET],
        |_| {},
        |server, _| {
            let params = json!({ "resource_uri": MAKEFILE, "parameters": { "project_name": "a/b", "has_tests": 2, "x": 1 } });
            let error = server.direct_error("generate_template", params);
            let errors = error.data["errors"].as_array().expect("errors");
            let names: Vec<&Value> = errors.iter().map(|error| &error["parameter"]).collect();
            assert_eq!(names, ["project_name", "has_tests", "x"]);
            assert!(errors.iter().all(|error| error["problem"].is_string() && error["expected"].is_string()));
            let error = server.direct_error("generate_template", of("template://makefil/rust/cli", "x"));
            assert!(error.data["details"].as_str().is_some_and(|text| text.contains(MAKEFILE)), "{error:?}");
        },
    );
}

#[test]
fn a_posted_call_answers_with_the_tool_result_and_the_code() {
    let folder = Folder::new();
    let server = Http::start(&folder, &[SET, "--structured"]);
    let post = |arguments: Value| {
        let response = server.post("/tools/generate_template", &arguments);
        (response.status, response.json())
    };
    let (status, made) = post(of(MAKEFILE, "x"));
    assert_eq!(status, 200);
    assert_eq!(made["structuredContent"]["content"], made["content"][0]["text"]);
    for (arguments, status, code) in [
        (of("template://nothing/rust/cli", "x"), 404, -32000),
        (of("nothing", "x"), 400, -32001),
        (of(MAKEFILE, ""), 400, -32002),
    ] {
        let (found, result) = post(arguments);
        assert_eq!(
            (found, &result["error"]["code"], &result["isError"]),
            (status, &json!(code), &json!(true)),
            "{result}"
        );
        assert_eq!(result["error"]["data"]["errors"].is_array(), code == -32002, "{result}");
    }
}

#[test]
fn without_the_set_the_methods_are_unknown() {
    let folder = Folder::new();
    let server = Stdio::start(&folder, &["--tools=lines"]).ready();
    assert_eq!(server.direct_error("list_templates", json!({})).code, -32601);
    let server = Http::start(&folder, &["--tools=lines"]);
    assert_eq!(server.post("/list_templates", &json!({})).status, 404);
    assert_eq!(server.post("/tools/list_templates", &json!({})).status, 404);
}
