//! Which files a pattern matches, in which order, and all arguments.

use serde_json::{Value, json};

use super::{found, on_all, paths, serve, touch};
use crate::support::{Folder, Mcp, Stdio, named};
use crate::trees::put;

fn sources(folder: &Folder) {
    touch(
        folder,
        &[
            "main.rs",
            "src/lib.rs",
            "src/a/deep.rs",
            "src/a/x.ts",
            "src/y.tsx",
            "src/y.md",
            "docs/Read me.md",
            "docs/ä1.txt",
        ],
    );
}

#[test]
fn a_pattern_matches_paths_below_the_folder_and_one_without_a_slash_at_any_depth() {
    on_all(&[], sources, |server, folder| {
        let top = named(folder.path());
        for (pattern, expected) in [
            ("*.rs", &["main.rs", "src/a/deep.rs", "src/lib.rs"][..]),
            ("./*.rs", &["main.rs"]),
            ("**/*.rs", &["main.rs", "src/a/deep.rs", "src/lib.rs"]),
            ("src/*.rs", &["src/lib.rs"]),
            ("src/**/*.rs", &["src/a/deep.rs", "src/lib.rs"]),
            ("src/**", &["src/a/deep.rs", "src/a/x.ts", "src/lib.rs", "src/y.md", "src/y.tsx"]),
            ("src/a/", &["src/a/deep.rs", "src/a/x.ts"]),
            ("*.{ts,tsx}", &["src/a/x.ts", "src/y.tsx"]),
            ("{src,docs}/*.md", &["docs/Read me.md", "src/y.md"]),
            ("**/a/*", &["src/a/deep.rs", "src/a/x.ts"]),
            ("deep.rs", &["src/a/deep.rs"]),
            ("src/lib.rs", &["src/lib.rs"]),
            ("?1.txt", &["docs/ä1.txt"]),
            ("[a-m]*.rs", &["main.rs", "src/a/deep.rs", "src/lib.rs"]),
            ("!**/*.rs", &["docs/Read me.md", "docs/ä1.txt", "src/a/x.ts", "src/y.md", "src/y.tsx"]),
            ("docs/read*", &[]),
            (&format!("{top}/src/*.rs"), &["src/lib.rs"]),
            (&format!("{top}/**/deep.*"), &["src/a/deep.rs"]),
        ] {
            assert_eq!(found(server, json!({ "pattern": pattern })), expected, "{pattern}");
        }
        assert_eq!(
            found(server, json!({ "pattern": "*.rs", "path": "src" })),
            ["src/a/deep.rs", "src/lib.rs"]
        );
        assert_eq!(found(server, json!({ "pattern": "a/*.rs", "path": "./src/" })), ["src/a/deep.rs"]);
        let absolute = format!("{top}/src");
        assert_eq!(found(server, json!({ "pattern": "./*.rs", "path": absolute })), ["src/lib.rs"]);
        let both = json!({ "pattern": format!("{top}/src/a/*.rs"), "path": "src" });
        assert_eq!(found(server, both), ["src/a/deep.rs"]);
    });
}

#[test]
fn newest_first_is_the_default_and_ties_go_by_path() {
    let fill = |folder: &Folder| {
        for (path, len, time) in
            [("b", 5, 300), ("a", 1, 200), ("z/c", 9, 400), ("d", 5, 300), ("a-b", 0, 100), ("z.x", 0, 50)]
        {
            put(folder, path, "x".repeat(len));
            folder.set_modified(path, time);
        }
    };
    on_all(&[], fill, |server, _| {
        for (sort, expected) in [
            (Value::Null, ["z/c", "b", "d", "a", "a-b", "z.x"]),
            (json!("modified"), ["z/c", "b", "d", "a", "a-b", "z.x"]),
            (json!("size"), ["z/c", "b", "d", "a", "a-b", "z.x"]),
            (json!("path"), ["a", "a-b", "b", "d", "z.x", "z/c"]),
        ] {
            let text = server.ok("glob", json!({ "pattern": "**", "sort": sort }));
            assert_eq!(paths(&text), expected, "{sort}: {text}");
        }
    });
}

#[test]
fn other_names_of_arguments_and_numbers_as_text_are_taken() {
    let folder = Folder::new();
    sources(&folder);
    let server = serve(&folder, &[]);
    for arguments in [
        json!({ "pattern": "*.rs", "directory": "src/a" }),
        json!({ "glob_pattern": "*.rs", "file_path": "src/a", "sort_by": "path" }),
        json!({ "glob": "*.rs", "target_directory": "src/a", "head_limit": "5", "include_hidden": "true" }),
        json!("{\"pattern\":\"*.rs\",\"path\":\"src/a\",\"cursor\":null}"),
    ] {
        assert_eq!(found(&server, arguments.clone()), ["src/a/deep.rs"], "{arguments}");
    }
}

#[test]
fn wrong_arguments_say_what_is_expected() {
    let folder = Folder::new();
    sources(&folder);
    let server = serve(&folder, &[]);
    for (arguments, part) in [
        (json!({}), "pattern: it is missing"),
        (json!({ "pattern": "" }), "pattern: it is empty"),
        (json!({ "pattern": "*", "sort": "name" }), "expected one of modified, path, size"),
        (json!({ "pattern": "*", "limit": -1 }), "limit: "),
        (json!({ "pattern": "*", "cursor": "made up" }), "cursor: "),
        (json!({ "pattern": "*", "case": true }), "case: unknown property"),
        (json!({ "pattern": "../*" }), "Invalid filename format"),
        (json!({ "pattern": "/etc/*" }), "Invalid filename format"),
        (json!({ "pattern": "/**/*.rs" }), "Invalid filename format"),
        (json!({ "pattern": "*", "path": "../x" }), "Invalid filename format"),
        (json!({ "pattern": "*", "path": "missing" }), "'missing' not found"),
        (json!({ "pattern": "*", "path": "main.rs" }), "'main.rs' is a file, not a folder"),
        (
            json!({ "pattern": format!("{}/docs/*", named(folder.path())), "path": "src" }),
            "pattern: it is absolute",
        ),
    ] {
        let refused = server.tool("glob", arguments.clone());
        assert!(refused.is_error && refused.text.contains(part), "{arguments}: {}", refused.text);
    }
    let outside = server.tool("glob", json!({ "pattern": "/etc/*" })).text;
    assert!(outside.contains(&named(folder.path())), "{outside}");
}

#[test]
fn with_several_folders_all_are_searched_and_paths_are_absolute() {
    let (one, other) = (Folder::new(), Folder::new());
    sources(&one);
    touch(&other, &["src/other.rs", "only/x.rs"]);
    let server = serve(&one, &[&format!("--dir={}", other.path().display())]);
    let at = |folder: &Folder, path: &str| named(&folder.path().join(path));
    let sorted = |mut paths: Vec<String>| {
        paths.sort();
        paths
    };
    let expected = sorted(vec![at(&one, "src/lib.rs"), at(&other, "src/other.rs")]);
    assert_eq!(found(&server, json!({ "pattern": "src/*.rs" })), expected);
    let text = server.ok("glob", json!({ "pattern": "*.rs", "sort": "path" }));
    let shown = paths(&text);
    assert_eq!(shown.len(), 5, "{text}");
    assert!(shown.is_sorted(), "{text}");
    assert_eq!(found(&server, json!({ "pattern": "only/*" })), [at(&other, "only/x.rs")]);
    assert_eq!(found(&server, json!({ "pattern": "*", "path": "only" })), [at(&other, "only/x.rs")]);
    let absolute = format!("{}/**", named(other.path()));
    let expected = sorted(vec![at(&other, "src/other.rs"), at(&other, "only/x.rs")]);
    assert_eq!(found(&server, json!({ "pattern": absolute })), expected);
}

#[test]
fn the_paths_of_a_list_are_taken_by_the_other_tools() {
    let folder = Folder::new();
    sources(&folder);
    put(&folder, "src/lib.rs", "text\n");
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let path = found(&server, json!({ "pattern": "lib.rs" })).remove(0);
    assert_eq!(server.ok("read_text_file", json!({ "path": path })), "text\n");
}

#[test]
fn the_tool_only_reads_and_is_there_under_read_only_with_its_data_under_structured() {
    let folder = Folder::new();
    sources(&folder);
    let server = serve(&folder, &["--read-only", "--structured"]);
    server.begin("2025-06-18");
    let tools = server.rpc("tools/list", json!({}))["result"]["tools"].clone();
    let tools: Vec<&Value> = tools.as_array().expect("tools").iter().collect();
    let glob = tools.iter().find(|tool| tool["name"] == "glob").expect("glob");
    let hints = &glob["annotations"];
    assert_eq!((&hints["readOnlyHint"], &hints["idempotentHint"]), (&json!(true), &json!(true)));
    let result = server.tool("glob", json!({ "pattern": "*.md" }));
    assert_eq!(result.result["structuredContent"], json!({ "content": result.text }));
}
