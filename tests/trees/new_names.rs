//! Names that nothing new gets: those that look like one that is there, those of globs, and those with blanks around them.

use serde_json::{Value, json};

use super::{on_all, outcome, put, serve, tree};
use crate::support::{Folder, Mcp, Stdio, on_both_with};

const UNSEEN: [char; 8] =
    ['\u{200b}', '\u{feff}', '\u{ad}', '\u{200e}', '\u{202e}', '\u{2066}', '\u{fe0f}', '\u{e0101}'];

fn sources(folder: &Folder) {
    put(folder, "src/a.rs", "fn a() {}\n");
    put(folder, "src/b.rs", "fn b() {}\n");
}

/// Calls that would make an entry at a path, of all sets that write.
fn writes(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({ "path": path, "content": "x" })),
        ("create_directory", json!({ "path": path })),
        ("copy_file", json!({ "source": "src/b.rs", "destination": path })),
        ("move_file", json!({ "source": "src/b.rs", "destination": path })),
        ("edit", json!({ "edits": [{ "path": path, "content": "x", "create_only": true }] })),
        ("edit", json!({ "edits": [{ "path": path, "append": "x" }] })),
        ("edit", json!({ "edits": [{ "path": "src/b.rs", "move_to": path }] })),
        ("edit", json!({ "edits": [{ "path": "src/b.rs", "copy_to": path }] })),
    ]
}

#[test]
fn a_name_that_differs_only_in_characters_that_are_not_seen_leads_to_the_one_that_is_there() {
    on_all(&[], sources, |server, folder| {
        for unseen in UNSEEN {
            for path in
                [format!("src/a{unseen}.rs"), format!("src/{unseen}a.rs"), format!("s{unseen}rc/a.rs")]
            {
                let read = outcome(server, "read_text_file", &json!({ "path": path }));
                assert_eq!(read, (false, folder.text("src/a.rs")), "{path:?}");
                server.ok("write_file", json!({ "path": path, "content": format!("written as {path}\n") }));
                assert_eq!(folder.text("src/a.rs"), format!("written as {path}\n"));
            }
            let new = format!("s{unseen}rc/new-{}.rs", u32::from(unseen));
            server.ok("write_file", json!({ "path": new, "content": "new\n" }));
            std::fs::remove_file(folder.path().join(format!("src/new-{}.rs", u32::from(unseen))))
                .expect("in src");
            let moved = json!({ "source": "src/b.rs", "destination": format!("src/a{unseen}.rs") });
            assert!(outcome(server, "move_file", &moved).1.contains("exists already"), "{unseen:?}");
        }
        assert_eq!(tree(folder.path()).keys().collect::<Vec<_>>(), ["src", "src/a.rs", "src/b.rs"]);
    });
}

#[test]
fn what_looks_alike_and_is_there_is_named_so_that_each_is_reached() {
    let folder = Folder::new();
    for (name, text) in [("a\u{200b}.rs", "one\n"), ("a\u{feff}.rs", "two\n")] {
        put(&folder, name, text);
    }
    let server = serve(&folder, &[]);
    for path in ["a\u{ad}.rs", "a.rs"] {
        let (_, text) = outcome(&server, "read_text_file", &json!({ "path": path }));
        let (_, names) = text.split_once("similar name: ").expect("names");
        let read = |name: &str| server.ok("read_text_file", json!({ "path": name }));
        let mut texts: Vec<String> = names.split(", ").map(read).collect();
        texts.sort();
        assert_eq!(texts, ["one\n", "two\n"], "{text}");
    }
    let (_, text) = outcome(&server, "write_file", &json!({ "path": "a\u{ad}.rs", "content": "x" }));
    assert!(text.contains(r"\xe2\x80\x8b"), "{text}");
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn a_name_in_ascii_is_not_made_beside_one_that_looks_like_it() {
    not_under_wine!("Windows has no such names, and says so");
    let folder = Folder::new();
    sources(&folder);
    for name in ["re\u{200b}port.txt", "dir\u{2060}/in.txt", "key\u{200b}.secret", "src/re\u{200b}port.txt"] {
        put(&folder, name, "there\n");
    }
    let server = Stdio::start(&folder, &["--tools=filesystem,agent.edit", "--exclude=*.secret"]).ready();
    let before = tree(folder.path());
    for path in ["report.txt", "dir/new.txt", "dir", "src/report.txt"] {
        for (tool, arguments) in writes(path) {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(
                is_error && text.contains("looks the same") && text.contains("\\\\x"),
                "{tool} {path}: {text}"
            );
            assert!(tree(folder.path()) == before, "{tool} {path} changed something");
        }
    }
    let (_, text) = outcome(&server, "write_file", &json!({ "path": "report.txt", "content": "x" }));
    let path = text.rsplit_once("its path is ").expect("a path").1.trim_end_matches('.');
    let path: String = serde_json::from_str(path).expect("JSON");
    server.ok("write_file", json!({ "path": path, "content": "written\n" }));
    assert_eq!(folder.text("re\u{200b}port.txt"), "written\n");
    // What is excluded is not told by a refusal.
    let (_, text) = outcome(&server, "write_file", &json!({ "path": "key.secret", "content": "x" }));
    assert!(!text.contains("looks the same"), "{text}");
    server.ok("write_file", json!({ "path": "report2.txt", "content": "x" }));
}

#[test]
fn a_glob_is_no_new_name_and_an_entry_of_such_a_name_stays_reachable() {
    not_under_wine!("Windows has no such names, and says so");
    let flags = ["--tools=filesystem,search.glob,agent.edit"];
    let folder = Folder::new();
    sources(&folder);
    for name in ["a?.py", "src/*.txt", "q?/f"] {
        put(&folder, name, "there\n");
    }
    let server = Stdio::start(&folder, &flags).ready();
    let before = tree(folder.path());
    for path in ["src/*", "b?.py", "*.tsx", "src/**/x.rs", "what?/new.rs", "src/a*.rs"] {
        for (tool, arguments) in writes(path) {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(is_error && text.contains("use glob"), "{tool} {path}: {text}");
            assert!(tree(folder.path()) == before, "{tool} {path} changed something");
        }
    }
    for path in ["a?.py", "src/*.txt"] {
        server.ok("write_file", json!({ "path": path, "content": "written\n" }));
        assert_eq!(folder.text(path), "written\n");
    }
    for path in ["q?/new.rs", "[slug].tsx", "{a,b}.rs", "(group)/page.tsx", "a!b", "src/[...rest].ts"] {
        server.ok("edit", json!({ "edits": [{ "path": path, "content": "new\n" }] }));
        assert_eq!(folder.text(path), "new\n", "{path}");
    }
    let alone = Stdio::start(&folder, &["--tools=filesystem.write_file"]).ready();
    let (_, text) = outcome(&alone, "write_file", &json!({ "path": "c*.rs", "content": "" }));
    assert!(text.contains("'*'") && !text.contains("use glob") && !text.contains("search_files"), "{text}");
}

#[test]
fn blanks_and_line_breaks_around_names_make_no_entry_and_the_one_that_is_meant_is_named() {
    not_under_wine!("Windows has no such names, and says so");
    let flags = ["--tools=filesystem,agent"];
    let folder = Folder::new();
    sources(&folder);
    let server = Stdio::start(&folder, &flags).ready();
    let before = tree(folder.path());
    for (path, meant) in [
        ("src/a.rs\n", "src/a.rs"),
        ("src/a.rs\r\n", "src/a.rs"),
        ("src/a.rs ", "src/a.rs"),
        ("\nsrc/a.rs", "src/a.rs"),
        ("src/ a.rs", "src/a.rs"),
        ("src /a.rs", "src/a.rs"),
        ("src/a.rs\t", "src/a.rs"),
    ] {
        for (tool, arguments) in writes(path) {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(is_error && text.contains(&format!("'{meant}'")), "{tool} {path:?}: {text}");
            assert!(tree(folder.path()) == before, "{tool} {path:?} changed something");
        }
        for tool in ["read_text_file", "get_file_info"] {
            let (is_error, text) = outcome(&server, tool, &json!({ "path": path }));
            assert!(is_error && text.contains(&format!("similar name: {meant}")), "{tool} {path:?}: {text}");
            assert!(!text.contains('\r') && text.lines().count() == 2, "{text:?}");
        }
    }
    let (_, text) = outcome(&server, "read_text_file", &json!({ "path": "./src/a.rs " }));
    assert!(text.ends_with("similar name: ./src/a.rs"), "each is named once: {text}");
    for path in ["src\n", "src ", " src"] {
        let (is_error, text) = outcome(&server, "list_directory", &json!({ "path": path }));
        assert!(is_error && text.contains("similar name: src"), "{path:?}: {text}");
    }
    for (path, meant) in
        [("new.rs ", "'new.rs'"), (" new/x", "'new/x'"), ("new /x", "'new/x'"), ("new.rs\u{a0}", "'new.rs'")]
    {
        for (tool, arguments) in writes(path) {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(is_error && text.contains(meant), "{tool} {path:?}: {text}");
        }
    }
    let (_, text) = outcome(&server, "write_file", &json!({ "path": "new\n", "content": "" }));
    assert!(text.contains("control characters"), "{text}");
    assert!(tree(folder.path()) == before);
}

#[test]
fn where_files_have_names_those_make_no_file_either() {
    let fill = |folder: &Folder| folder.write("a.rs", "one\n");
    on_both_with(&["--tools=lines,exact", "--names=any"], fill, |server, folder| {
        for name in ["*.rs", "b?.rs", "b.rs ", " b.rs"] {
            for (tool, arguments) in [
                ("edit_file", json!({ "name": name, "append": "x", "create_if_missing": true })),
                ("file_edit", json!({ "path": name, "edits": [{ "old_text": "", "new_text": "x" }] })),
            ] {
                let result = server.tool(tool, arguments);
                assert!(
                    result.is_error && result.text.starts_with("Error: Invalid filename format"),
                    "{name}: {}",
                    result.text
                );
            }
        }
        server.ok("edit_file", json!({ "name": "a\u{200b}.rs", "append": "two" }));
        assert_eq!((folder.names(), folder.text("a.rs")), (vec!["a.rs".to_owned()], "one\ntwo\n".into()));
    });
}

#[test]
fn a_folder_that_holds_what_must_stay_is_refused_with_the_reason_and_a_way() {
    let fill = |folder: &Folder| {
        put(folder, "sec/keep.secret", "s\n");
        put(folder, "sec/other.txt", "o\n");
    };
    on_all(&["--exclude=*.secret"], fill, |server, folder| {
        let before = tree(folder.path());
        for (tool, arguments) in [
            ("move_file", json!({ "source": "sec", "destination": "moved" })),
            ("delete_file", json!({ "path": "sec", "recursive": true })),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(is_error && text.starts_with("Error: Permission denied accessing 'sec'\n"), "{text}");
            for part in [
                "--exclude",
                "other entries in it can be moved or deleted",
                r#"list_directory {"path":"sec"}"#,
            ] {
                assert!(text.contains(part), "{tool}: {text}");
            }
            assert!(!text.contains("keep.secret") && tree(folder.path()) == before, "{tool}: {text}");
        }
        // As it says.
        server.ok("move_file", json!({ "source": "sec/other.txt", "destination": "other.txt" }));
    });
    let folder = Folder::new();
    fill(&folder);
    let server = Stdio::start(&folder, &["--tools=agent", "--exclude=*.secret"]).ready();
    for edit in [
        json!({ "path": "sec", "move_to": "x" }),
        json!({ "path": "sec", "delete": true, "recursive": true }),
    ] {
        let (is_error, text) = outcome(&server, "edit", &json!({ "edits": [edit] }));
        assert!(is_error && text.contains("other entries in it can be moved or deleted"), "{text}");
    }
}

#[test]
fn no_tree_is_made_of_the_home_of_a_user() {
    on_both_with(&["--tools=filesystem,agent"], sources, |server, folder| {
        let before = tree(folder.path());
        for (path, told) in
            [("~root/new.rs", "or '~' before them"), ("~root/src/new.rs", "Give 'src/new.rs'")]
        {
            for (tool, arguments) in writes(path) {
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error && text.contains(told), "{tool} {arguments}: {text}");
                assert_eq!(tree(folder.path()), before, "{tool} {arguments}");
            }
        }
        // A name alone is one like others, and so is what is there.
        server.ok("create_directory", json!({ "path": "~old" }));
        server.ok("write_file", json!({ "path": "~old/a", "content": "x" }));
    });
}

#[test]
fn no_tree_is_made_of_a_uri() {
    on_both_with(&["--tools=filesystem,agent"], sources, |server, folder| {
        let before = tree(folder.path());
        let served = folder.path().display().to_string();
        for path in [
            &format!("FILE://{served}/src/new.rs"),
            &format!("vscode://file{served}/src/new.rs"),
            "sandbox:/src/new.rs",
            "jar:file:/src/new.rs",
            "vscode-remote://src/new.rs",
        ] {
            for (tool, arguments) in writes(path) {
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error, "{tool} {arguments}: {text}");
                assert_eq!(tree(folder.path()), before, "{tool} {arguments}");
            }
        }
    });
}
