//! What the formats tell, and how they end where an answer is limited.

use jsonschema::validator_for;
use serde_json::{Value, json};

use super::{SET, TOOL, json_of, on_all, rows, serve};
use crate::support::{Folder, Mcp, direct_on_both_with};
use crate::trees::{follow, put};

/// A function with so many branches.
fn branches(name: &str, count: usize) -> String {
    format!("fn {name}(a: bool) {{\n{}}}\n", "    if a {}\n".repeat(count))
}

fn project(folder: &Folder) {
    put(folder, "src/a.rs", branches("many", 20) + &branches("most", 21));
    put(folder, "src/b c.rs", branches("few", 3) + "\nstruct S;\nimpl S {\n    fn m(&self) {}\n}\n");
    put(folder, "empty.rs", "");
}

#[test]
fn a_violation_is_over_its_threshold_and_names_file_line_and_function() {
    on_all(project, |server, _| {
        let answer = json_of(server, json!({ "project_path": ".", "toolchain": "rust" }));
        let violation = |line: u64, end: u64, function: &str, metric: &str, value: u64, threshold: u64| {
            json!({ "file": "src/a.rs", "line": line, "end_line": end, "function": function, "metric": metric,
                "value": value, "threshold": threshold })
        };
        let expected = json!([
            violation(23, 45, "most", "cognitive", 21, 15),
            violation(1, 22, "many", "cognitive", 20, 15),
            violation(1, 22, "many", "cyclomatic", 21, 20),
        ]);
        let found = answer["violations"].as_array().expect("violations");
        let worst = |name: &str| {
            found.iter().position(|one| one["function"] == name && one["metric"] == "cyclomatic")
        };
        assert_eq!(found.len(), 4, "{answer}");
        assert!(worst("most") < worst("many"), "worst first");
        for violation in expected.as_array().expect("a list") {
            assert!(found.contains(violation), "{violation} in {answer}");
        }
        let exactly =
            json!({ "project_path": ".", "toolchain": "rust", "max_cyclomatic": 22, "max_cognitive": "21" });
        assert_eq!(json_of(server, exactly)["violations"], json!([]), "not over");
        let none =
            json!({ "project_path": ".", "toolchain": "rust", "max_cyclomatic": 0, "max_cognitive": 0 });
        let all = json_of(server, none);
        assert_eq!(all["summary"]["violations"], 4 + 3, "m has a cognitive complexity of 0: {all}");
    });
}

#[test]
fn the_summary_has_the_figures_of_all_files() {
    on_all(project, |server, _| {
        let answer = json_of(server, json!({ "project_path": "./", "toolchain": "rust" }));
        let summary = &answer["summary"];
        let expected = json!({ "files": 3, "functions": 4, "lines": 45 + 10, "max_cyclomatic": 22, "max_cognitive": 21,
            "avg_cyclomatic": 12.0, "avg_cognitive": 11.0, "violations": 4, "toolchain": "rust",
            "thresholds": { "cyclomatic": 20, "cognitive": 15 }, "syntax_errors": [], "not_analyzed": [],
            "files_with_syntax_errors": 0, "files_not_analyzed": 0 });
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(&summary[name], value, "{name} of {summary}");
        }
        assert!(answer.get("top_files").is_none(), "no rankings unless asked for");
        let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
        let expected = "Complexity (rust). Files: 3, functions: 4, lines: 55\nCyclomatic: highest 22, mean 12 (threshold 20)\n\
            Cognitive: highest 21, mean 11 (threshold 15)\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(
            text.contains("\nViolations: 4\n") && text.contains("\nsrc/a.rs:23 most: cyclomatic 22 > 20\n"),
            "{text}"
        );
        assert!(text.ends_with("[3 files analyzed, 0 of other languages; nothing left out]"), "{text}");
    });
}

#[test]
fn files_are_ranked_by_the_documented_score() {
    on_all(project, |server, _| {
        let answer = json_of(server, json!({ "project_path": ".", "toolchain": "rust", "top_files": 1 }));
        let top = &answer["top_files"];
        assert_eq!((&top["requested"], &top["returned"]), (&json!(1), &json!(1)));
        let first = &top["rankings"][0];
        assert_eq!((&first["rank"], &first["file"]), (&json!(1), &json!("src/a.rs")));
        assert_eq!((&first["function_count"], &first["max_cyclomatic"]), (&json!(2), &json!(22)));
        // 0.8 * 22 + 0.4 * 20.5 + 0.1 * 2
        assert_eq!((&first["avg_cognitive"], &first["total_score"]), (&json!(20.5), &json!(26.0)));
        assert!(first["halstead_effort"].as_f64().is_some_and(|effort| effort > 0.0), "{first}");
        let all = json_of(server, json!({ "project_path": ".", "toolchain": "rust", "top_files": 0 }));
        let files: Vec<&Value> =
            all["top_files"]["rankings"].as_array().expect("a list").iter().map(|one| &one["file"]).collect();
        assert_eq!(files, ["src/a.rs", "src/b c.rs"], "0 ranks all that have functions");
        let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust", "top_files": 5 }));
        assert!(text.contains("\nTop files (2 of 3):\n1. src/a.rs: score 26, functions 2,"), "{text}");
    });
}

#[test]
fn all_ranked_files_and_violations_are_told_page_by_page() {
    let folder = Folder::new();
    for number in 0..60 {
        put(&folder, &format!("src/a-file-with-a-long-name-{number:02}.rs"), branches("many", 20 + number));
    }
    let limited = serve(&folder, &["--answer-limit=1"]);
    let whole = serve(&folder, &["--answer-limit=0"]);
    let arguments = json!({ "project_path": ".", "toolchain": "rust", "top_files": 0 });
    let entries = |text: &str| {
        let is_entry = |line: &&str| line.contains("a-file-with");
        text.lines().filter(is_entry).map(str::to_owned).collect::<Vec<_>>()
    };
    let all = entries(&whole.ok(TOOL, arguments.clone()));
    let pages = follow(&limited, TOOL, arguments.clone());
    let joined: Vec<String> = pages.iter().flat_map(|page| entries(&page.text)).collect();
    assert_eq!((joined.len(), joined), (60 + 2 * 60, all));
    let mut json = arguments;
    json["format"] = json!("json");
    let (mut rankings, mut violations) = (Vec::new(), 0);
    for page in follow(&limited, TOOL, json) {
        let page: Value = serde_json::from_str(&page.text).expect("JSON, also where it is cut");
        let of_page = page["top_files"]["rankings"].as_array().expect("rankings");
        rankings.extend(of_page.iter().map(|one| one["rank"].as_u64().expect("a rank")));
        violations += page["violations"].as_array().expect("violations").len();
    }
    assert_eq!((rankings, violations), ((1..=60).collect(), 2 * 60));
}

#[test]
fn lines_count_as_the_server_says_but_in_sarif_from_1() {
    let folder = Folder::new();
    put(&folder, "a.rs", branches("most", 21));
    put(&folder, "b.rs", "// ä\nconst A: &str = \"ää\"; )\n");
    let server = serve(&folder, &["--line-base=0"]);
    let arguments = json!({ "project_path": ".", "toolchain": "rust" });
    let text = server.ok(TOOL, arguments.clone());
    assert!(text.contains("\na.rs:0 most: ") && text.contains("\nb.rs:1:23: syntax error"), "{text}");
    let json = json_of(&server, arguments);
    assert_eq!((&json["violations"][0]["line"], &json["violations"][0]["end_line"]), (&json!(0), &json!(22)));
    let sarif = json!({ "project_path": ".", "toolchain": "rust", "format": "sarif" });
    let sarif: Value = serde_json::from_str(&server.ok(TOOL, sarif)).expect("JSON");
    let run = &sarif["runs"][0];
    let place = |of: &Value| of["locations"][0]["physicalLocation"]["region"].clone();
    assert_eq!(place(&run["results"][0]), json!({ "startLine": 1, "endLine": 23 }));
    let notification = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(place(notification), json!({ "startLine": 2, "startColumn": 23 }));
    assert_eq!(run["columnKind"], "unicodeCodePoints");
}

#[test]
fn a_direct_method_gives_the_object_itself() {
    direct_on_both_with(&[SET], project, |server, _| {
        let arguments =
            json!({ "project_path": "./", "toolchain": "rust", "format": "json", "top_files": 5 });
        let result = server.direct(TOOL, arguments);
        assert_eq!(result["summary"]["files"], 3, "{result}");
        assert_eq!(result["violations"].as_array().map(Vec::len), Some(4), "{result}");
        assert_eq!(result["top_files"]["returned"], 2, "{result}");
        let text = server.direct(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
        assert!(text["content"].as_str().is_some_and(|text| text.starts_with("Complexity")), "{text}");
    });
}

/// What SARIF 2.1.0 requires of the members that are used.
fn sarif_schema() -> Value {
    let text =
        json!({ "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } } });
    let level = json!({ "enum": ["none", "note", "warning", "error"] });
    let region = json!({ "type": "object", "additionalProperties": false, "properties": {
        "startLine": { "type": "integer", "minimum": 1 }, "endLine": { "type": "integer", "minimum": 1 },
        "startColumn": { "type": "integer", "minimum": 1 } } });
    let artifact = json!({ "type": "object", "additionalProperties": false, "properties": {
        "uri": { "type": "string", "format": "uri-reference", "pattern": "^[!-~]+$" } } });
    let logical = json!({ "type": "object", "additionalProperties": false, "properties": {
        "fullyQualifiedName": { "type": "string" }, "kind": { "type": "string" } } });
    let location = json!({ "type": "object", "additionalProperties": false, "properties": {
        "physicalLocation": { "type": "object", "additionalProperties": false, "required": ["artifactLocation"],
            "properties": { "artifactLocation": artifact, "region": region } },
        "logicalLocations": { "type": "array", "uniqueItems": true, "items": logical } } });
    let locations = json!({ "type": "array", "items": location });
    let result = json!({ "type": "object", "additionalProperties": false, "required": ["message"], "properties": {
        "ruleId": { "type": "string" }, "ruleIndex": { "type": "integer", "minimum": -1 }, "level": level, "message": text,
        "locations": locations } });
    let rule = json!({ "type": "object", "additionalProperties": false, "required": ["id"], "properties": {
        "id": { "type": "string" }, "shortDescription": text,
        "defaultConfiguration": { "type": "object", "properties": { "level": level } } } });
    let notification = json!({ "type": "object", "additionalProperties": false, "required": ["message"], "properties": {
        "level": level, "message": text, "locations": locations } });
    let driver = json!({ "type": "object", "additionalProperties": false, "required": ["name"], "properties": {
        "name": { "type": "string" }, "semanticVersion": { "type": "string" },
        "rules": { "type": "array", "uniqueItems": true, "items": rule } } });
    let run = json!({ "type": "object", "additionalProperties": false, "required": ["tool"], "properties": {
        "tool": { "type": "object", "additionalProperties": false, "required": ["driver"], "properties": { "driver": driver } },
        "invocations": { "type": "array", "items": { "type": "object", "additionalProperties": false,
            "required": ["executionSuccessful"], "properties": { "executionSuccessful": { "type": "boolean" },
            "toolExecutionNotifications": { "type": "array", "items": notification } } } },
        "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
        "results": { "type": "array", "items": result } } });
    json!({ "type": "object", "additionalProperties": false, "required": ["$schema", "version", "runs"], "properties": {
        "$schema": { "enum": ["https://json.schemastore.org/sarif-2.1.0.json"] }, "version": { "enum": ["2.1.0"] },
        "runs": { "type": "array", "items": run } } })
}

#[test]
fn sarif_has_the_members_that_the_standard_requires() {
    let validator = validator_for(&sarif_schema()).expect("a schema");
    let fill = |folder: &Folder| {
        project(folder);
        put(folder, "broken.rs", "fn f( {\nfn g() { if a {} }\n");
        put(folder, "latin.rs", b"// caf\xe9\n");
    };
    on_all(fill, |server, _| {
        let arguments =
            json!({ "project_path": ".", "toolchain": "rust", "format": "sarif", "max_cyclomatic": 3 });
        let log: Value = serde_json::from_str(&server.ok(TOOL, arguments)).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&log).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{log}");
        let run = &log["runs"][0];
        let results = run["results"].as_array().expect("results");
        let few = results
            .iter()
            .find(|one| one["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "few");
        let few = few.unwrap_or_else(|| panic!("{log}"));
        let place = &few["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "src/b%20c.rs", "{few}");
        assert_eq!(place["region"], json!({ "startLine": 1, "endLine": 5 }), "{few}");
        for result in results {
            let rule =
                &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("a number") as usize];
            assert_eq!(rule["id"], result["ruleId"]);
        }
        let told = &run["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
    });
}

#[test]
fn a_limited_answer_says_what_was_shown_and_the_call_that_goes_on() {
    let folder = Folder::new();
    let functions: String = (0..500).map(|number| branches(&format!("function_{number}"), 2)).collect();
    put(&folder, "a.rs", functions);
    let server = serve(&folder, &["--answer-limit=8"]);
    for format in ["summary", "full", "json", "sarif"] {
        let mut arguments =
            json!({ "project_path": "a.rs", "toolchain": "rust", "format": format, "max_cyclomatic": 2 });
        let (mut names, mut calls) = (Vec::new(), 0);
        loop {
            let answer = server.tool(TOOL, arguments);
            assert!(answer.text.len() <= 8 << 10, "{format}: {}", answer.text.len());
            let before = names.len();
            let words = answer.text.split(|char: char| !char.is_alphanumeric() && char != '_');
            let mut here: Vec<String> =
                words.filter(|word| word.starts_with("function_")).map(str::to_owned).collect();
            here.dedup();
            names.extend(here);
            names.dedup();
            calls += 1;
            let truncated = &answer.result["_meta"]["file-editor/truncated"];
            if truncated.is_null() {
                break;
            }
            assert_eq!(truncated["shown"], names.len() - before, "{format}");
            assert_eq!(truncated["of"], 500 - before, "{format}");
            arguments = truncated["next"].clone();
        }
        let expected: Vec<String> = (0..500).map(|number| format!("function_{number}")).collect();
        assert!(calls > 2, "{format}: {calls}");
        assert_eq!(names, expected, "{format}");
    }
}

#[test]
fn full_tells_every_function_in_the_order_of_files_and_lines() {
    on_all(project, |server, _| {
        let text = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "rust", "format": "full" }));
        let found: Vec<_> =
            rows(&text).into_iter().map(|(file, first, _, name, ..)| (file, first, name)).collect();
        let row = |file: &str, first: u64, name: &str| (file.to_owned(), first, name.to_owned());
        let expected = [
            row("src/a.rs", 1, "many"),
            row("src/a.rs", 23, "most"),
            row("src/b c.rs", 1, "few"),
            row("src/b c.rs", 9, "S::m"),
        ];
        assert_eq!(found, expected, "{text}");
    });
}
