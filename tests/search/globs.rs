//! One dialect of globs in `grep`, `glob` and `search_files`, and what is said where a glob means something else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{SET, found, serve};
use crate::support::{Folder, Mcp, Stdio, named};
use crate::trees::put;

const FILES: [&str; 12] = [
    "a.rs",
    "b.rs",
    "c.rs",
    "src/a.rs",
    "src/x/b.rs",
    "x/src/d.ts",
    "d1",
    "d2",
    "d4",
    "app/[slug]/page.tsx",
    "#n",
    "web/e.tsx",
];

fn tree() -> Folder {
    let folder = Folder::new();
    FILES.iter().for_each(|path| put(&folder, path, "needle\n"));
    folder
}

/// The paths that `grep` searches with these arguments.
fn searched(server: &dyn Mcp, mut arguments: Value) -> BTreeSet<String> {
    (arguments["pattern"], arguments["sort"]) = (json!("needle"), json!("path"));
    let text = server.ok("grep", arguments);
    text.lines().filter_map(|line| line.strip_suffix(": 1")).map(str::to_owned).collect()
}

#[test]
fn grep_and_glob_find_the_same_files_by_each_glob() {
    let folder = tree();
    let server = serve(&folder, &[]);
    // How many files are in folders that the glob names, of all that it does not match.
    let below = |pattern: &str| match pattern {
        "src" => 3,
        "{src,web}/*" => 1,
        _ => 0,
    };
    for (pattern, count) in [
        ("@(a|b).rs", 4),
        ("+(a|b).rs", 4),
        ("?(a).rs", 2),
        ("!(a|b).rs", 1),
        ("*.rs", 5),
        ("./*.rs", 3),
        ("src/*.rs", 1),
        ("src/**/*.rs", 2),
        ("src/", 3),
        ("./src/", 2),
        ("d{1..2}", 2),
        ("[!ab].rs", 1),
        ("*.{ts,tsx}", 3),
        ("{src,web}/*", 2),
        ("[[:lower:]].rs", 5),
        ("app/\\[slug\\]/*", 1),
        ("#n", 1),
        ("src", 0),
        ("**", 12),
    ] {
        let globbed: BTreeSet<String> = found(&server, json!({ "pattern": pattern })).into_iter().collect();
        assert_eq!(searched(&server, json!({ "glob": pattern })), globbed, "{pattern}");
        assert_eq!(globbed.len(), count, "{pattern}: {globbed:?}");
        let left = searched(&server, json!({ "exclude": pattern }));
        assert_eq!(left.len() + count + below(pattern), FILES.len(), "{pattern}: {left:?}");
        if !pattern.starts_with('!') {
            assert_eq!(searched(&server, json!({ "glob": format!("!{pattern}") })), left, "{pattern}");
        }
    }
}

#[test]
fn a_comma_behind_a_backslash_is_a_character_in_every_tool() {
    let folder = Folder::new();
    ["a,b.txt", "a", "b.txt"].iter().for_each(|path| put(&folder, path, "needle\n"));
    let server = serve(&folder, &[]);
    let globbed: BTreeSet<String> = found(&server, json!({ "pattern": r"a\,b.txt" })).into_iter().collect();
    assert_eq!(globbed, BTreeSet::from(["a,b.txt".to_owned()]));
    assert_eq!(searched(&server, json!({ "glob": r"a\,b.txt" })), globbed);
    assert_eq!(searched(&server, json!({ "exclude": r"a\,b.txt" })).len(), 2);
    let agent = Stdio::start(&folder, &["--tools=agent"]);
    let replaced = agent.ok(
        "replace",
        json!({ "pattern": "needle", "replacement": "pin", "glob": r"a\,b.txt", "dry_run": true }),
    );
    assert!(replaced.contains("a,b.txt") && replaced.contains("1 place in 1 file"), "{replaced}");
}

#[test]
fn an_absolute_glob_in_a_served_folder_is_taken_by_grep_and_named_by_search_files() {
    let folder = tree();
    let top = named(folder.path());
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let absolute = format!("{top}/src/*.rs");
    assert_eq!(searched(&server, json!({ "glob": absolute })), BTreeSet::from(["src/a.rs".to_owned()]));
    assert_eq!(searched(&server, json!({ "glob": format!("!{top}/**/*.rs"), "path": "src" })).len(), 0);
    let text = server.ok("search_files", json!({ "path": ".", "pattern": absolute }));
    let line = format!("[1 path matches with {}, such as src/a.rs]", json!({ "pattern": "src/*.rs" }));
    assert!(text.contains(&line), "{text}");
    let other = Folder::new();
    let dir = format!("--dir={}", other.path().display());
    let both = Stdio::start(&folder, &[SET, &dir]).ready();
    let refused = both.refused("grep", json!({ "pattern": "x", "glob": absolute }));
    assert!(refused.contains("several folders are served") && refused.contains("/src/*.rs"), "{refused}");
}

#[test]
fn what_a_glob_without_a_match_may_mean_is_counted_and_named() {
    let folder = tree();
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let with = |pattern: &str| format!("with {}", json!({ "pattern": pattern }));
    for (tool, pattern, told) in [
        (
            "glob",
            "app/[slug]/*",
            format!("[1 file matches {}, such as app/[slug]/page.tsx]", with("app/\\[slug\\]/*")),
        ),
        ("glob", "x/[s]rc/[slug]", String::new()),
        ("glob", "slu", String::new()),
        ("search_files", "app/[slug]/*", format!("[1 path matches {}, such as ", with("app/\\[slug\\]/*"))),
        ("search_files", "*.tsx", format!("[2 paths match {}, such as ", with("**/*.tsx"))),
        ("search_files", "./src/**", format!("[3 paths match {}, such as ", with("src/**"))),
        ("search_files", "src/*.RS", "[1 path matches if upper and lower case are the same, such as ".into()),
        ("search_files", "x/", format!("[2 paths match {}, such as ", with("x/**"))),
    ] {
        let text = server.ok(tool, json!({ "path": ".", "pattern": pattern }));
        assert!(text.starts_with("No "), "{text}");
        match told.is_empty() {
            true => assert!(!text.contains(" with "), "{tool} {pattern}: {text}"),
            false => assert!(text.contains(&told), "{tool} {pattern}: {text}"),
        }
    }
    let deep = Folder::new();
    put(&deep, "a/components/x", "");
    let text = serve(&deep, &[]).ok("glob", json!({ "pattern": "components" }));
    assert!(
        text.contains(&format!("[1 file matches {}, such as a/components/x]", with("**/components/**"))),
        "{text}"
    );
}

#[test]
fn search_files_says_that_it_looks_at_names_only() {
    let folder = tree();
    for (tools, told) in [
        ("filesystem", "\n[search_files looks at names only, not at what is in files]"),
        (
            "filesystem,search",
            "\n[search_files looks at names only, not at what is in files; grep searches what is in files]",
        ),
    ] {
        let server = Stdio::start(&folder, &[&format!("--tools={tools}")]).ready();
        let text = server.ok("search_files", json!({ "path": ".", "pattern": "needle" }));
        assert!(text.ends_with(told), "{text}");
        let excluded = json!({ "path": ".", "pattern": "*.tsx", "excludePatterns": ["web", "app"] });
        assert_eq!(
            server.ok("search_files", excluded),
            format!("No matches found{told}"),
            "what is left out is not near"
        );
    }
}

#[test]
fn the_globs_of_grep_may_mean_folders_and_brackets_that_stand_in_names() {
    let folder = tree();
    let server = serve(&folder, &[]);
    for (glob, told) in [
        ("src", "[With \"glob\": \"src/\": 3 matching lines in 3 files, such as src/a.rs]"),
        (
            "app/[slug]/*",
            "[With \"glob\": \"app/\\\\[slug\\\\]/*\": 1 matching line in 1 file, such as app/[slug]/page.tsx]",
        ),
    ] {
        let text = server.ok("grep", json!({ "pattern": "needle", "glob": glob }));
        assert!(text.starts_with("No matches found") && text.contains(told), "{glob}: {text}");
    }
    let text = server.ok("grep", json!({ "pattern": "nowhere", "glob": "src" }));
    assert!(text.contains("[With \"glob\": \"src/\": 3 files searched, without a match]"), "{text}");
}

#[test]
fn a_glob_in_path_is_answered_with_the_call_that_finds_its_files() {
    let folder = tree();
    let top = named(folder.path());
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let absolute = format!("{top}/src/*.rs");
    for (tool, path, pattern, instead) in [
        ("grep", "src/*.rs", "needle", json!({ "path": "src", "glob": "./*.rs" })),
        ("grep", "*.rs", "needle", json!({ "path": ".", "glob": "./*.rs" })),
        ("grep", "s*", "needle", json!({ "path": ".", "glob": "./s*/**" })),
        ("grep", &absolute, "needle", json!({ "path": format!("{top}/src"), "glob": "./*.rs" })),
        ("glob", "src/*.rs", "*.zig", json!({ "path": "src", "pattern": "./*.rs" })),
        ("glob", "s*", "*.rs", json!({ "path": ".", "pattern": "./s*/**/*.rs" })),
        ("search_files", "src/*.rs", "needle", json!({ "path": "src", "pattern": "*.rs" })),
        ("search_files", "*/x", "*", json!({ "path": ".", "pattern": "*/x/*" })),
    ] {
        let refused = server.refused(tool, json!({ "path": path, "pattern": pattern }));
        assert!(
            refused.starts_with("Error: Invalid arguments: path: it is a glob"),
            "{tool} {path}: {refused}"
        );
        assert!(refused.contains(&format!(" with {instead}")), "{tool} {path}: {refused}");
        let mut call = instead;
        call["pattern"].is_null().then(|| call["pattern"] = json!("needle"));
        assert!(!server.ok(tool, call).starts_with("No "), "{tool} {path}");
    }
    let missing = server.refused("grep", json!({ "path": "none/*.rs", "pattern": "x" }));
    assert!(missing.contains("not found"), "{missing}");
}
