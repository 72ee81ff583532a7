//! The tools for templates over MCP.

use serde_json::{Value, json};

use super::{MAKEFILE, SET, of};
use crate::support::{Folder, MB, Mcp, Stdio, in_every_revision, memory_taken, on_both_with};

const TOOLS: [&str; 5] =
    ["generate_template", "list_templates", "validate_template", "scaffold_project", "search_templates"];

fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[&[SET], flags].concat()).ready()
}

#[test]
fn the_name_of_the_project_is_enough_for_every_template_in_the_list() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let list = server.ok("list_templates", json!({}));
    let uris: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split(" - ").next())
        .filter(|uri| uri.starts_with("template://"))
        .collect();
    assert_eq!(uris.len(), 9 * 3 * 2);
    for uri in uris {
        let text = server.ok("generate_template", of(uri, "my-app"));
        assert!(text.len() > 20 && !text.contains("{%"), "{uri}: {text}");
        assert_eq!(server.ok("validate_template", of(uri, "my-app")), "Valid");
    }
    assert!(
        list.ends_with(
            "Parameters (? may be left out): project_name, description?, author?, year?, has_tests?"
        ),
        "{list}"
    );
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn the_call_of_the_source_document_works_to_the_letter() {
    on_both_with(
        &[SET],
        |_| {},
        |server, _| {
            let parameters = json!({ "project_name": "my-project", "has_tests": true });
            let text =
                server.ok("generate_template", json!({ "resource_uri": MAKEFILE, "parameters": parameters }));
            assert!(text.contains("\ntest: ") && text.contains("cargo test"), "{text}");
            let parameters = json!({ "project_name": "my-project", "has_tests": false });
            let text =
                server.ok("generate_template", json!({ "resource_uri": MAKEFILE, "parameters": parameters }));
            assert!(!text.contains("test"), "{text}");
        },
    );
}

#[test]
fn lists_are_filtered_and_an_empty_one_says_what_there_is() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let lines = |arguments: Value| {
        let text = server.ok("list_templates", arguments);
        text.lines().filter(|line| line.starts_with("template://")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(json!({ "toolchain": "deno" })).len(), 18);
    assert_eq!(lines(json!({ "category": "ci" })).len(), 6);
    let both = lines(json!({ "toolchain": "python-uv", "category": "manifest" }));
    assert!(both.len() == 2 && both[0].starts_with("template://manifest/python-uv/cli - "), "{both:?}");
    for arguments in
        [json!({ "toolchain": "go" }), json!({ "toolchain": "Rust" }), json!({ "category": "x" })]
    {
        let text = server.ok("list_templates", arguments);
        assert!(text.contains("deno, python-uv, rust") && text.contains("makefile"), "{text}");
    }
}

#[test]
fn a_search_ranks_and_nonsense_finds_nothing() {
    let folder = Folder::new();
    let server = serve(&folder, &["--structured"]);
    let found = server.tool("search_templates", json!({ "query": "rust command line makefile" }));
    assert!(found.text.contains(MAKEFILE), "{}", found.text);
    let results = found.result["structuredContent"]["results"].as_array().expect("results").clone();
    assert_eq!(results[0]["uri"], MAKEFILE);
    let scores: Vec<f64> = results.iter().map(|result| result["score"].as_f64().expect("a score")).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)) && scores[0] > scores[scores.len() - 1]);
    let exact = server.tool("search_templates", json!({ "query": MAKEFILE }));
    assert_eq!(exact.result["structuredContent"]["results"][0]["score"], 1.0);
    let deno = server.ok("search_templates", json!({ "query": "dockerfile", "toolchain": "deno" }));
    assert!(deno.contains("template://dockerfile/deno/cli") && !deno.contains("/rust/"), "{deno}");
    for query in ["xyzzy plugh", "", "\u{0}", "{{ x }}", "../../etc/passwd"] {
        let text = server.ok("search_templates", json!({ "query": query }));
        assert!(text.starts_with("No templates found."), "{query}: {text}");
    }
}

#[test]
fn lists_beyond_the_limit_go_on_by_cursor_until_all_was_shown() {
    let folder = Folder::new();
    let server = serve(&folder, &["--answer-limit=2"]);
    for (tool, mut arguments, number) in
        [("list_templates", json!({}), 54), ("search_templates", json!({ "query": "rust" }), 18)]
    {
        let mut seen = Vec::new();
        loop {
            let page = server.tool(tool, arguments.clone());
            assert!(page.text.len() <= 2_048, "{}", page.text.len());
            let uri =
                |line: &str| line.split(' ').find(|word| word.starts_with("template://")).map(str::to_owned);
            seen.extend(page.text.lines().filter(|line| !line.starts_with('[')).filter_map(uri));
            match &page.result["_meta"]["file-editor/truncated"]["next"] {
                Value::Null => break,
                next => arguments = next.clone(),
            }
        }
        let all = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!((all, seen.len()), (number, number), "{tool}");
    }
    let made_up = server.refused("list_templates", json!({ "cursor": "x" }));
    assert!(made_up.contains("cursor"), "{made_up}");
    let text = server.refused("list_templates", json!({ "toolchain": "rust", "cursor": "AAAA" }));
    assert!(text.contains("cursor"), "{text}");
}

#[test]
fn all_wrong_parameters_are_told_at_once() {
    on_both_with(
        &[SET, "--structured"],
        |_| {},
        |server, _| {
            server.begin("2025-06-18");
            let parameters =
                json!({ "project_name": "../x", "has_tests": "perhaps", "year": 1.5, "nmae": 1 });
            let arguments = json!({ "resource_uri": MAKEFILE, "parameters": parameters });
            let result = server.tool("validate_template", arguments.clone());
            assert!(!result.is_error && result.text.starts_with("Not valid\n"), "{}", result.text);
            let data = &result.result["structuredContent"];
            assert_eq!(data["valid"], false);
            let errors = data["errors"].as_array().expect("errors");
            let names: Vec<&str> = errors.iter().filter_map(|error| error["parameter"].as_str()).collect();
            assert_eq!(names, ["project_name", "year", "has_tests", "nmae"]);
            assert!(errors.iter().all(|error| error["problem"].is_string() && error["expected"].is_string()));
            for (tool, arguments) in [
                ("generate_template", arguments),
                (
                    "scaffold_project",
                    json!({ "toolchain": "rust", "templates": ["makefile", "readme"], "parameters": parameters }),
                ),
            ] {
                let result = server.tool(tool, arguments);
                assert!(result.is_error);
                assert_eq!(
                    result.first_line(),
                    "Error: Parameter validation failed: project_name, year, has_tests, nmae"
                );
                for part in [
                    "project_name is \"../x\"",
                    "has_tests is \"perhaps\"; expected true or false",
                    "year is 1.5",
                ] {
                    assert!(result.text.contains(part), "{}", result.text);
                }
            }
            let valid = server.tool("validate_template", of(MAKEFILE, "x"));
            assert_eq!(valid.result["structuredContent"], json!({ "valid": true, "errors": [] }));
        },
    );
}

#[test]
fn hostile_names_are_refused_and_reserved_ones_say_what_to_take() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let long = "x".repeat(300);
    for name in [
        "../x", "a/b", "-rf", "", " ", ".", "..", "a b", "a\nb", "a\u{0}", "C:\\x", "$(id)", "{{ 1 }}",
        "\u{e4}", "a--b", "a-", &long,
    ] {
        let text = server.refused("generate_template", of(MAKEFILE, name));
        assert_eq!(text, "Error: Parameter validation failed: project_name", "{name:?}");
    }
    for (toolchain, name) in
        [("rust", "test"), ("rust", "fn"), ("python-uv", "class"), ("python-uv", "json"), ("deno", "nul")]
    {
        let uri = format!("template://manifest/{toolchain}/cli");
        let result = server.tool("generate_template", of(&uri, name));
        assert!(result.is_error && result.text.contains(&format!("{name}-app")), "{}", result.text);
    }
    // A keyword of another language is a name like any other.
    server.ok("generate_template", of("template://manifest/rust/cli", "class"));
    // Texts stay texts: what looks like a template is not rendered again.
    let parameters = json!({ "project_name": "x", "description": "{{ project_name }} \"{% raw %}\"" });
    let text = server.ok(
        "generate_template",
        json!({ "resource_uri": "template://manifest/rust/cli", "parameters": parameters }),
    );
    assert!(text.contains(r#"description = "{{ project_name }} \"{% raw %}\"""#), "{text}");
}

#[test]
fn wrong_uris_are_told_apart_from_unknown_ones_and_near_ones_are_named() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    for uri in [
        "",
        "makefile",
        "template://a/b",
        "template://a/b/c/d",
        "template://a.b/c/d",
        "template://a/b/c?d",
        "template://a:1/b/c",
        "template://a/b/%63",
        "template://a/b/c ",
    ] {
        let result = server.tool("generate_template", of(uri, "x"));
        assert!(result.first_line().starts_with("Error: Invalid template URI"), "{}", result.text);
        assert!(result.text.contains("template://{category}/{toolchain}/{variant}"), "{}", result.text);
    }
    for uri in ["template://Makefile/rust/cli", "template://makefile/rust/CLI", "template://makefle/rust/cli"]
    {
        for tool in ["generate_template", "validate_template"] {
            let result = server.tool(tool, of(uri, "x"));
            assert_eq!(result.first_line(), format!("Error: Template not found: {uri}"));
            assert!(
                result.text.contains(&format!("Templates with a similar URI: {MAKEFILE}")),
                "{}",
                result.text
            );
        }
    }
}

#[test]
fn parameters_are_taken_as_models_send_them() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let plain = server.ok("generate_template", of(MAKEFILE, "x"));
    let as_string = json!({ "uri": MAKEFILE, "params": "{\"project_name\":\"x\",\"has_tests\":\"true\",\"year\":\"2000\",\"author\":null}" });
    assert_eq!(server.ok("generate_template", as_string), plain);
    let without = json!({ "resource_uri": MAKEFILE });
    assert_eq!(
        server.refused("generate_template", without),
        "Error: Invalid arguments: parameters: it is missing; expected an object of parameters, such as {\"project_name\":\"my-app\"}"
    );
    let large = json!({ "project_name": "x", "description": "y".repeat(1 << 20) });
    for wrong in [json!([]), json!("x"), json!(1), json!("[1]"), large] {
        let text =
            server.refused("generate_template", json!({ "resource_uri": MAKEFILE, "parameters": wrong }));
        assert!(text.starts_with("Error: Invalid arguments: parameters: "), "{text}");
    }
}

#[test]
fn the_tools_are_there_in_every_revision_with_data_that_fits_their_schemas() {
    in_every_revision(|server, _, revision| {
        let tools = server.rpc("tools/list", json!({}));
        assert!(tools["result"]["tools"].is_array(), "{revision}");
    });
    for flags in [&[][..], &["--structured"]] {
        let folder = Folder::new();
        let server = serve(&folder, flags);
        let tools = server.rpc("tools/list", json!({}))["result"]["tools"].clone();
        let tools = tools.as_array().expect("tools");
        for name in TOOLS {
            let tool = tools.iter().find(|tool| tool["name"] == name).expect("the tool");
            assert_eq!(tool["annotations"]["readOnlyHint"], name != "scaffold_project");
            assert_eq!(tool["annotations"]["destructiveHint"], false);
            assert_eq!(tool.get("outputSchema").is_some(), !flags.is_empty());
            let project =
                json!({ "toolchain": "rust", "templates": ["ci"], "parameters": { "project_name": "x" } });
            let arguments = match name {
                "list_templates" => json!({ "category": "ci" }),
                "search_templates" => json!({ "query": "ci" }),
                "scaffold_project" => project,
                _ => of(MAKEFILE, "x"),
            };
            let result = server.tool(name, arguments);
            assert!(!result.is_error, "{}", result.text);
            if let Some(schema) = tool.get("outputSchema") {
                let schema = jsonschema::validator_for(schema).expect("a schema");
                let data = &result.result["structuredContent"];
                assert!(schema.is_valid(data), "{name}: {data}");
            }
        }
    }
}

#[test]
fn under_read_only_what_writes_is_not_offered() {
    let folder = Folder::new();
    let server = serve(&folder, &["--read-only"]);
    let tools = server.rpc("tools/list", json!({})).to_string();
    assert!(!tools.contains("\"scaffold_project\"") && tools.contains("\"generate_template\""));
    server.ok("generate_template", of(MAKEFILE, "x"));
}

#[test]
fn large_requests_are_refused_within_bounds_on_memory() {
    let folder = Folder::new();
    let server = serve(&folder, &[]);
    let many: serde_json::Map<String, Value> =
        (0..500_000).map(|number| (number.to_string(), json!(1))).collect();
    let slashes = format!("template://{}", "/".repeat(9 * MB));
    let taken = memory_taken(server.pid(), 0, || {
        for (tool, arguments) in [
            ("generate_template", json!({ "resource_uri": MAKEFILE, "parameters": many })),
            ("generate_template", of(&slashes, "x")),
            ("scaffold_project", json!({ "toolchain": "rust", "templates": [slashes], "parameters": {} })),
            ("generate_template", of(MAKEFILE, &"x".repeat(9 * MB))),
        ] {
            let text = server.refused(tool, arguments);
            assert!(text.len() < 5_000, "{}", text.len());
        }
        let text = server.ok("search_templates", json!({ "query": "a ".repeat(4 * MB) }));
        assert!(text.starts_with("No templates found."), "{text}");
    });
    assert!(taken < 200 * MB, "{taken}");
}
