//! `files`: the tree in one line a folder, and paths by a pattern.

use serde_json::{Value, json};

use super::serve;
use crate::support::{Folder, Http, Mcp, Stdio, named};
use crate::trees::{make, next_of, put};

fn project() -> Folder {
    let folder = Folder::new();
    for path in
        ["src/engine/atomic.rs", "src/engine/lock.rs", "src/engine/walk/kind.rs", "src/main.rs", "README.md"]
    {
        put(&folder, path, "x\n");
    }
    put(&folder, ".gitignore", "target/\n");
    put(&folder, "target/out", "x\n");
    make(&folder, "empty");
    folder
}

fn files(server: &Stdio, arguments: Value) -> String {
    server.ok("files", arguments)
}

#[test]
fn the_tree_is_one_line_a_folder_level_by_level() {
    let folder = project();
    let server = serve(&folder, &["--read-only"]);
    assert_eq!(
        files(&server, json!({})),
        "./: README.md empty/ src/\nsrc/: engine/ main.rs\nsrc/engine/: atomic.rs lock.rs walk/\nsrc/engine/walk/: kind.rs\n\
         [9 entries; left out: 1 ignored folder, 1 hidden file; shown with {\"hidden\":true,\"ignored\":true}]"
    );
    assert_eq!(
        files(&server, json!({ "path": "src/engine/", "depth": 1 })),
        "src/engine/: atomic.rs lock.rs walk/\n[3 entries; nothing left out]"
    );
    let all = files(&server, json!({ "hidden": true, "ignored": true, "depth": 2 }));
    assert!(
        all.starts_with(
            "./: .gitignore README.md empty/ src/ target/\nsrc/: engine/ main.rs\ntarget/: out\n["
        ),
        "{all}"
    );
    assert_eq!(files(&server, json!({ "path": "empty" })), "No entries\n[0 entries; nothing left out]");
    let absolute = named(&folder.path().join("src"));
    assert!(files(&server, json!({ "path": absolute, "depth": 1 })).starts_with("src/: engine/ main.rs\n"));
}

#[test]
fn a_pattern_is_a_glob_a_name_or_the_name_of_a_folder() {
    let folder = project();
    let server = serve(&folder, &[]);
    let paths = |arguments: Value| -> Vec<String> {
        let text = files(&server, arguments);
        text.lines().filter(|line| !line.starts_with('[')).map(str::to_owned).collect()
    };
    let rust = ["src/engine/atomic.rs", "src/engine/lock.rs", "src/engine/walk/kind.rs", "src/main.rs"];
    assert_eq!(paths(json!({ "pattern": "*.rs" })), rust);
    assert_eq!(paths(json!({ "pattern": "src/**" })), rust);
    assert_eq!(paths(json!({ "pattern": "src" })), rust);
    assert_eq!(paths(json!({ "pattern": "engine" })), rust[..3]);
    assert_eq!(paths(json!({ "pattern": "src/engine/walk" })), rust[2..3]);
    assert_eq!(paths(json!({ "pattern": "walk", "path": "src" })), rust[2..3]);
    assert_eq!(paths(json!({ "pattern": "lock.rs" })), rust[1..2]);
    assert_eq!(paths(json!({ "pattern": "*.rs", "depth": 2 })), rust[3..]);
    assert_eq!(paths(json!({ "pattern": "target" })), ["No files match"]);
    assert_eq!(paths(json!({ "pattern": "target", "ignored": true })), ["target/out"]);
    assert_eq!(paths(json!({ "pattern": ".gitignore" })), [".gitignore"]);
    assert_eq!(paths(json!({ "pattern": "*", "path": "src/engine", "limit": 1 })), ["src/engine/atomic.rs"]);
}

#[test]
fn paths_come_in_the_order_that_is_asked_for() {
    let folder = Folder::new();
    for (number, (name, size)) in [("a", 3), ("b", 30), ("c", 20)].into_iter().enumerate() {
        put(&folder, name, "x".repeat(size));
        folder.set_modified(name, 1_000_000_000 + number as u64);
    }
    let server = serve(&folder, &[]);
    for (sort, order) in [("modified", "c\nb\na\n"), ("size", "b\nc\na\n")] {
        assert!(files(&server, json!({ "sort": sort })).starts_with(order), "{sort}");
        assert!(files(&server, json!({ "sort": sort, "pattern": "*" })).starts_with(order), "{sort}");
    }
    assert!(files(&server, json!({ "sort": "path" })).starts_with("./: a b c\n"));
    assert!(files(&server, json!({ "sort": "path", "pattern": "*" })).starts_with("a\nb\nc\n"));
}

/// The words of a line, quoted or not.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        if rest.starts_with('"') {
            let mut quoted = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            words.push(quoted.next().expect("a word").expect("a string"));
            rest = &rest[quoted.byte_offset()..];
            // A colon behind it belongs to the word.
            if let Some(behind) = rest.strip_prefix(':') {
                words.last_mut().expect("a word").push(':');
                rest = behind;
            }
        } else {
            let end = rest.find(' ').unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.trim_start_matches(' ');
    }
    words
}

/// The paths of all entries of a tree, as it tells them.
fn entries(tree: &str) -> Vec<String> {
    let lines = tree.lines().filter(|line| !line.starts_with('['));
    let of_line = |line: &str| {
        let words = words(line);
        let folder = words[0].strip_suffix(':').expect("a folder").trim_start_matches("./").to_owned();
        words[1..].iter().map(|name| format!("{folder}{name}")).collect::<Vec<_>>()
    };
    lines.flat_map(of_line).collect()
}

#[test]
#[cfg(unix)] // Windows has no such names
fn names_with_blanks_can_be_told_apart_and_taken_back() {
    not_under_wine!("has names that Windows has not");
    let folder = Folder::new();
    for path in ["a b/c d", "a b/q\"r", "a b/tab\tx", "a b/back\\slash", "a b/plain:", "a b/a\\x20b c"] {
        put(&folder, path, "text");
    }
    let server = serve(&folder, &[]);
    let paths = entries(&files(&server, json!({ "path": "a b" })));
    assert_eq!(paths.len(), 6, "{paths:?}");
    for path in paths {
        assert_eq!(server.ok("read", json!({ "path": path })), "text");
    }
}

#[test]
fn pages_of_a_tree_are_together_the_whole() {
    let folder = Folder::new();
    for number in 0..400 {
        put(&folder, &format!("folder-{:02}/inner {}/file-{number:04}.txt", number % 20, number % 3), "x");
    }
    let (server, whole) = (serve(&folder, &["--answer-tokens=2000"]), serve(&folder, &["--answer-tokens=0"]));
    assert!(files(&whole, json!({})).contains("[480 entries; nothing left out]"));
    for arguments in [json!({}), json!({ "limit": 7 }), json!({ "path": "folder-01", "limit": 3 })] {
        let (mut next, mut pages, mut paths) = (Some(arguments.clone()), 0, Vec::new());
        while let Some(arguments) = next {
            let page = server.tool("files", arguments);
            assert!(!page.is_error, "{}", page.text);
            paths.extend(entries(&page.text));
            next = next_of(&page);
            pages += 1;
        }
        let mut at_once = arguments.clone();
        at_once.as_object_mut().expect("an object").remove("limit");
        assert_eq!(paths, entries(&files(&whole, at_once)), "{arguments}");
        assert!(pages > 1, "{arguments}");
    }
}

#[test]
fn a_cursor_says_that_the_folder_has_changed_and_a_made_up_one_is_refused() {
    let folder = project();
    let server = serve(&folder, &[]);
    let page = server.tool("files", json!({ "path": "src", "limit": 1 }));
    let next = next_of(&page).expect("a further page");
    put(&folder, "src/new.rs", "x");
    let text = files(&server, next.clone());
    assert!(text.contains("[The folder has changed since the cursor was made]"), "{text}");
    let mut other = next;
    other["path"] = json!("src/engine");
    assert!(server.refused("files", other).contains("it belongs to another call"));
}

#[test]
fn a_path_that_is_no_folder_says_what_to_pass() {
    not_under_wine!("gives a path with a star, which no name has there");
    let folder = project();
    let server = serve(&folder, &[]);
    for (arguments, part) in [
        (json!({ "path": "src/main.rs" }), r#"If it is text, read it with read {"path":"src/main.rs"}"#),
        (json!({ "path": "src/*.rs" }), r#"{"path":"src","pattern":"./*.rs"}"#),
        (json!({ "path": "scr" }), "Files with a similar name: src"),
        (
            json!({ "path": "src/main.rs", "pattern": "*" }),
            r#"If it is text, read it with read {"path":"src/main.rs"}"#,
        ),
        (json!({ "depth": -1 }), "depth"),
        (json!({ "sort": "name" }), "one of modified, path, size"),
    ] {
        let answer = server.tool("files", arguments.clone());
        assert!(answer.is_error && answer.text.contains(part), "{arguments}: {}", answer.text);
    }
}

#[test]
fn several_folders_are_shown_with_absolute_paths() {
    not_under_wine!("compares absolute paths with slashes");
    let (one, other) = (project(), Folder::new());
    put(&other, "x/y", "");
    let second = format!("--dir={}", other.path().display());
    let server = serve(&one, &[&second]);
    let line = |folder: &Folder, rest: &str| format!("{}/{rest}\n", folder.path().display());
    let text = files(&server, json!({}));
    for line in [line(&one, "src/: engine/ main.rs"), line(&other, ": x/"), line(&other, "x/: y")] {
        assert!(text.contains(&line), "{line}: {text}");
    }
    let (mut next, mut paths) = (Some(json!({ "limit": 2 })), Vec::new());
    while let Some(arguments) = next {
        let page = server.tool("files", arguments);
        paths.extend(entries(&page.text));
        next = next_of(&page);
    }
    assert_eq!(paths, entries(&text));
}

#[test]
fn a_served_folder_that_is_gone_hides_no_other() {
    let (one, other) = (project(), Folder::new());
    let gone = other.path().join("gone");
    std::fs::create_dir(&gone).expect("a folder");
    let server = serve(&one, &[&format!("--dir={}", gone.display())]);
    std::fs::remove_dir(&gone).expect("removed");
    let result = server.tool("files", json!({}));
    let text = result.texts.join("\n");
    assert!(!result.is_error && text.contains(": engine/ main.rs"), "{text}");
    assert!(
        text.contains("1 folder that cannot be read") || text.contains("[Gone, and not looked in"),
        "{text}"
    );
}

#[test]
fn a_tree_over_http_is_the_same() {
    let folder = project();
    let server = Http::start(&folder, &["--tools=agent"]);
    server.begin("2025-06-18");
    for (tool, arguments) in [
        ("files", json!({})),
        ("files", json!({ "pattern": "src" })),
        ("grep", json!({ "pattern": "x" })),
        ("read", json!({ "paths": ["README.md", "src/main.rs:1"] })),
    ] {
        let over_stdio = serve(&folder, &[]).ok(tool, arguments.clone());
        assert_eq!(server.ok(tool, arguments.clone()), over_stdio, "{tool} {arguments}");
    }
}
