//! What is said where nothing matches.

use serde_json::json;

use super::{on_all, serve, touch};
use crate::support::{Folder, Mcp, Stdio, named};
use crate::trees::put;

fn tree(folder: &Folder) {
    touch(
        folder,
        &["src/Main.rs", "src/a/lib.rs", "docs/x.md", "build/out.bin", ".hidden/in.cfg", ".hidden/b.obj"],
    );
    put(folder, ".gitignore", "/build/\n*.obj\n");
}

#[test]
fn what_is_near_is_told_with_the_argument_that_finds_it() {
    not_under_wine!("has a limit of time that such a program does not keep");
    on_all(&[], tree, |server, _| {
        for (pattern, told) in [
            ("main.rs", "[1 file matches if upper and lower case are the same, such as src/Main.rs]"),
            ("*.RS", "[2 files match if upper and lower case are the same, such as src/Main.rs]"),
            ("SRC/main.*", "[1 file matches if upper and lower case are the same, such as src/Main.rs]"),
            ("*.bin", "[1 file matches with include_ignored: true, such as build/out.bin]"),
            ("*.cfg", "[1 file matches with include_hidden: true, such as .hidden/in.cfg]"),
            (
                "*.obj",
                "[1 file matches with include_ignored: true and include_hidden: true, such as .hidden/b.obj]",
            ),
            ("src/b/*.rs", "[There is no folder src/b]"),
            ("none/b/*.rs", "[There is no folder none]"),
            ("docs/x.md/*", "[docs/x.md is no folder]"),
            ("src", "[src is a folder; find the files in it with glob {\"pattern\":\"src/**\"}]"),
            ("src/a", "[src/a is a folder; find the files in it with glob {\"pattern\":\"src/a/**\"}]"),
        ] {
            let text = server.ok("glob", json!({ "pattern": pattern }));
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[..2], ["No files match", told], "{pattern}: {text}");
            assert!(lines.len() == 3 && lines[2].contains(" seen, 0 match"), "{text}");
        }
    });
}

#[test]
fn a_glob_of_grep_in_another_case_is_told_with_what_it_would_find() {
    not_under_wine!("has a limit of time that such a program does not keep");
    on_all(&[], tree, |server, folder| {
        put(folder, "src/Caps.py", "word\n");
        for (glob, told) in [
            ("caps.py", "1 matching line in 1 file, such as src/Caps.py]"),
            ("SRC/*", "1 matching line in 1 file, such as src/Caps.py]"),
            ("*.PY,!*.RS", "1 matching line in 1 file, such as src/Caps.py]"),
            ("*.MD", "1 file searched, without a match]"),
        ] {
            let text = server.ok("grep", json!({ "pattern": "word", "glob": glob }));
            let told = format!("\n[If upper and lower case of glob are the same: {told}");
            assert!(text.contains(&told), "{glob}: {text}");
        }
        for glob in ["*.zig", "src/*.py"] {
            let text = server.ok("grep", json!({ "pattern": "word", "glob": glob }));
            assert!(!text.contains("upper and lower case"), "{glob}: {text}");
        }
    });
}

#[test]
fn what_is_nowhere_is_told_as_such() {
    let folder = Folder::new();
    tree(&folder);
    let server = serve(&folder, &[]);
    let text =
        server.ok("glob", json!({ "pattern": "*.zig", "include_ignored": true, "include_hidden": true }));
    assert_eq!(text, "No files match\n[7 files seen, 0 match; nothing left out]");
}

#[test]
fn a_missing_path_is_told_with_a_list_of_the_nearest_folder_there_is() {
    let folder = Folder::new();
    tree(&folder);
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let top = named(folder.path());
    for (path, nearest) in [
        ("zzzz/b/c/d", "."),
        ("src/a/zzzz/b/c", "src/a"),
        ("docs/x.md/zzzz/b", "docs"),
        ("src/zzzz", "src"),
        (&format!("{top}/docs/zzzz/b"), &named(&folder.path().join("docs"))),
        (&format!("{top}/zzzz/b"), &top),
    ] {
        let list = json!({ "path": nearest });
        for (tool, arguments) in [
            ("grep", json!({ "pattern": "x", "path": path })),
            ("glob", json!({ "pattern": "*", "path": path })),
            ("read_text_file", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
        ] {
            let refused = server.tool(tool, arguments).text;
            assert!(
                refused.ends_with(&format!("Use list_directory {list} to see which files there are.")),
                "{tool}: {refused}"
            );
        }
        server.ok("list_directory", list);
    }
}
