//! Usual slips in globs, types and patterns: what may be meant is told, with how much it finds.

use serde_json::json;

use super::touch;
use crate::support::{Folder, Mcp, Stdio};
use crate::trees::put;

fn tree() -> (Folder, Stdio) {
    let folder = Folder::new();
    for file in ["src/a.py", "src/b.py", "src/m.rs", "lib/c.py", "top.rs"] {
        put(&folder, file, "needle\n");
    }
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    (folder, server)
}

#[test]
fn a_glob_with_a_usual_slip_names_the_one_that_is_meant() {
    let (folder, server) = tree();
    let top = folder.path().canonicalize().expect("a path");
    for (glob, meant, files, first) in [
        (r"src\*.py", "src/*.py", 2, "src/a.py"),
        ("*.rs|*.py", "{*.rs,*.py}", 5, "lib/c.py"),
        (r".*\.py$", "**/*.py", 3, "lib/c.py"),
        (r"^src/.*\.(py|rs)$", "src/**/*.{py,rs}", 3, "src/a.py"),
        ("~/src/*.py", "src/*.py", 2, "src/a.py"),
        ("$HOME/src/*.py", "src/*.py", 2, "src/a.py"),
        ("\"*.py\"", "*.py", 3, "lib/c.py"),
    ] {
        let text = server.ok("glob", json!({ "pattern": glob }));
        let told = format!("[{files} files match with {}, such as {first}]", json!({ "pattern": meant }));
        assert!(text.contains(&told), "{glob}: {text}");
        let text = server.ok("grep", json!({ "pattern": "needle", "glob": glob }));
        let told = format!(
            "[With \"glob\": {}: {files} matching lines in {files} files, such as {first}]",
            json!(meant)
        );
        assert!(text.contains(&told), "{glob}: {text}");
        let text = server.ok("search_files", json!({ "path": ".", "pattern": glob }));
        let meant = if meant.contains('/') { meant.to_owned() } else { format!("**/{meant}") };
        let first = top.join(first);
        let told = format!(
            "[{files} paths match with {}, such as {}]",
            json!({ "pattern": meant }),
            first.display()
        );
        assert!(
            text.contains(&told) || text.contains(&told.replace(&*format!("{}/", top.display()), "")),
            "{glob}: {text}"
        );
    }
    for glob in ["src/a.py,top.rs", "src/a.py, top.rs"] {
        let text = server.ok("glob", json!({ "pattern": glob }));
        assert!(
            text.contains(r#"[2 files match with {"pattern":"{src/a.py,top.rs}"}, such as src/a.py]"#),
            "{text}"
        );
        let text = server.ok("grep", json!({ "pattern": "needle", "glob": glob }));
        assert!(text.contains("2 matching lines in 2 files"), "a list: {text}");
    }
    let text = server.ok("grep", json!({ "pattern": "needle", "glob": "src" }));
    assert!(text.contains(r#"[With "glob": "src/": 3 matching lines in 3 files, such as "#), "{text}");
}

#[test]
fn a_glob_of_a_folder_that_lies_elsewhere_or_with_a_slash_before_it_names_the_one_that_matches() {
    let folder = Folder::new();
    for file in ["pkg/lib/a.py", ".github/w.yml"] {
        put(&folder, file, "needle\n");
    }
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    for (glob, meant, first) in [
        ("lib/*.py", "**/lib/*.py", "pkg/lib/a.py"),
        ("/lib/*.py", "**/lib/*.py", "pkg/lib/a.py"),
        ("/.github/w.yml", ".github/w.yml", ".github/w.yml"),
    ] {
        let told = json!({ "pattern": meant }).to_string();
        let text = server.tool("glob", json!({ "pattern": glob })).text;
        let is_told = text.contains(&format!("[1 file matches with {told}, such as {first}]"));
        assert!(is_told || text.contains(&format!("Perhaps it is '{meant}' here.")), "{glob}: {text}");
        assert!(server.ok("glob", json!({ "pattern": meant })).contains(first), "{meant}");
        let text = server.ok("search_files", json!({ "path": ".", "pattern": glob }));
        assert!(text.contains(&format!("[1 path matches with {told}, such as ")), "{glob}: {text}");
        let text = server.ok("grep", json!({ "pattern": "needle", "glob": glob, "include_hidden": true }));
        let is_told = text.contains(&format!(
            "[With \"glob\": {}: 1 matching line in 1 file, such as {first}]",
            json!(meant)
        ));
        assert!(is_told || text.contains(&format!("{first}: 1")), "{glob}: {text}");
    }
}

#[test]
fn a_glob_in_the_path_of_a_folder_names_the_search_that_finds_the_files() {
    let (_folder, server) = tree();
    for tool in ["directory_tree", "list_directory", "list_directory_with_sizes"] {
        for (path, folder, pattern, found) in [
            ("src/*.py", "src", "*.py", "2 files match"),
            ("**/*.rs", ".", "**/*.rs", "2 files match"),
            ("lib/*", "lib", "*", "1 file matches"),
        ] {
            let text = server.refused(tool, json!({ "path": path }));
            let call = json!({ "path": folder, "pattern": pattern });
            assert!(text.contains(&format!("; {found} with search_files {call}")), "{tool}: {text}");
        }
    }
}

#[test]
fn a_type_that_is_an_extension_or_another_name_names_the_type() {
    let (_folder, server) = tree();
    for (name, near) in [("rs", "rust"), ("*.kt", "kotlin"), ("javascript", "js"), ("Rust", "rust")] {
        let text = server.refused("grep", json!({ "pattern": "needle", "type": name }));
        assert!(
            text.contains(&format!(
                "there is no type \"{name}\"; expected a type of ripgrep such as {near},"
            )),
            "{text}"
        );
    }
}

#[test]
fn a_page_with_more_to_come_does_not_say_that_nothing_is_left_out() {
    let (_folder, server) = tree();
    let call = json!({ "pattern": "needle", "output_mode": "content", "head_limit": 2 });
    let text = server.ok("grep", call);
    assert!(text.contains("searched so far") && !text.contains("nothing left out"), "{text}");
}

#[test]
fn one_entry_is_told_in_the_singular() {
    let folder = Folder::new();
    touch(&folder, &["a"]);
    let server = Stdio::start(&folder, &["--tools=search"]).ready();
    let text = server.ok("glob", json!({ "pattern": "a" }));
    assert_eq!(text, "a\n[1 file seen, 1 match; nothing left out]");
}

#[test]
fn the_argument_encoding_is_advised_against_only_where_it_was_given() {
    let folder = Folder::new();
    // Half of a surrogate pair behind the mark of UTF-16.
    folder.write("broken", b"\xff\xfe\x00\xd8a\x00");
    folder.write("latin", b"caf\xe9\n");
    let server = Stdio::start(&folder, &["--tools=search"]).ready();
    let told = "searched without \"encoding\"";
    for call in [json!({ "pattern": "zzz" }), json!({ "pattern": "zzz", "encoding": "utf-8" })] {
        let text = server.ok("grep", call);
        assert!(text.contains("1 file not valid text") && !text.contains(told), "{text}");
    }
    let text = server.ok("grep", json!({ "pattern": "zzz", "encoding": "shift_jis" }));
    assert!(text.contains(told), "{text}");
}

#[test]
fn what_is_said_of_a_glob_in_a_path_is_what_the_named_call_finds() {
    let folder = Folder::new();
    for path in ["src/a.rs", "src/b.rs", "src/.hidden.rs", "src/out/c.rs", "src/x.py", "src/lib/d.rs"] {
        put(&folder, path, "fn found() {}\n");
    }
    put(&folder, ".gitignore", "out/\n");
    folder.link("src/link.rs", "a.rs");
    let server = Stdio::start(&folder, &["--tools=search,filesystem"]).ready();
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "fn", "path": "src/**/*.rs" })),
        ("grep", json!({ "pattern": "fn", "path": "src/**/*.rs", "include_hidden": true })),
        ("grep", json!({ "pattern": "fn", "path": "src/**/*.rs", "include_ignored": true })),
        ("grep", json!({ "pattern": "fn", "path": "src/*", "type": "py" })),
        ("grep", json!({ "pattern": "fn", "path": "src/**/*.rs", "exclude": "b.rs" })),
        ("glob", json!({ "pattern": "*.rs", "path": "src/*" })),
        ("glob", json!({ "pattern": "*", "path": "src/**/*.rs" })),
        ("search_files", json!({ "pattern": "*.rs", "path": "src/*" })),
        ("search_files", json!({ "pattern": "x", "path": "src/*" })),
        ("search_files", json!({ "pattern": "x", "path": "src/*", "excludePatterns": ["out"] })),
        ("list_directory", json!({ "path": "src/*" })),
    ] {
        let text = server.refused(tool, arguments.clone());
        let (_, told) = text.split_once("; ").expect("a hint");
        let (number, call) = told.split_once(" with ").unwrap_or_else(|| panic!("{text}"));
        let number: usize = number.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
        let (tool, call) = match call.split_once(' ').filter(|(name, _)| *name == "search_files") {
            Some((name, call)) => (name, call),
            None => (tool, call),
        };
        let mended: serde_json::Value = serde_json::from_str(call).unwrap_or_else(|_| panic!("{text}"));
        let mut again = if tool == "list_directory" { json!({}) } else { arguments };
        if tool == "search_files" {
            again.as_object_mut().expect("arguments").remove("depth");
        }
        again.as_object_mut().expect("arguments").extend(mended.as_object().expect("arguments").clone());
        let found = server.ok(tool, again.clone());
        let paths = found.lines().filter(|line| !line.starts_with('[')).count();
        assert_eq!(paths, number, "{tool} {again}: {found} for {text}");
    }
}
