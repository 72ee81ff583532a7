//! Several served folders (contract 12): where a new entry goes, what may be taken away, and what holds while one of them is gone.

use serde_json::{Value, json};

use super::{make, outcome, put, serve, tree};
use crate::support::{Folder, Http, Mcp, Stdio, named};

/// Two served folders, and the flag that adds the second.
fn two(fill: impl Fn(&Folder, &Folder)) -> (Folder, Folder, String) {
    let (one, other) = (Folder::new(), Folder::new());
    fill(&one, &other);
    let second = format!("--dir={}", other.path().display());
    (one, other, second)
}

fn ok(server: &dyn Mcp, tool: &str, arguments: Value) -> String {
    let (is_error, text) = outcome(server, tool, &arguments);
    assert!(!is_error, "{tool} {arguments}: {text}");
    text
}

fn failed(server: &dyn Mcp, tool: &str, arguments: Value) -> String {
    let (is_error, text) = outcome(server, tool, &arguments);
    assert!(is_error, "{tool} {arguments}: {text}");
    text
}

#[test]
fn a_relative_destination_is_in_the_folder_of_the_source() {
    let (one, other, second) = two(|one, other| {
        put(one, "first", "1\n");
        put(other, "src/a.py", "a\n");
        put(other, "lib/x", "x\n");
    });
    let server = serve(&one, &[&second]);
    let answer = server.rpc(
        "tools/call",
        json!({ "name": "move_file", "arguments": { "source": "src/a.py", "destination": "src/b.py" } }),
    );
    let new = format!("[New: {}]", named(&other.path().join("src/b.py")));
    assert_eq!(answer["result"]["content"][1]["text"], json!(new), "{answer}");
    ok(&server, "move_file", json!({ "source": "lib", "destination": "lib2" }));
    ok(&server, "copy_file", json!({ "source": "lib2/x", "destination": "copied" }));
    let absolute = named(&other.path().join("lib2/x"));
    ok(&server, "copy_file", json!({ "source": absolute, "destination": "src/c.py" }));
    assert_eq!(tree(one.path()).into_keys().collect::<Vec<_>>(), ["first"]);
    let names = ["copied", "lib2", "lib2/x", "src", "src/b.py", "src/c.py"];
    assert_eq!(tree(other.path()).into_keys().collect::<Vec<_>>(), names);
    // Between the folders, by an absolute path.
    let into = named(&one.path().join("lib"));
    ok(&server, "move_file", json!({ "source": "lib2", "destination": into }));
    assert_eq!(one.text("lib/x"), "x\n");
}

#[test]
fn a_destination_that_any_folder_has_is_not_free() {
    let (one, other, second) = two(|one, other| {
        put(one, "taken", "1\n");
        put(other, "f", "f\n");
    });
    let server = serve(&one, &[&second]);
    for tool in ["move_file", "copy_file"] {
        let text = failed(&server, tool, json!({ "source": "f", "destination": "taken" }));
        assert!(text.starts_with("Error: 'taken' exists already"), "{text}");
    }
    assert_eq!((one.text("taken"), other.text("f")), ("1\n".into(), "f\n".into()));
}

#[test]
fn what_another_folder_has_at_a_destination_is_not_to_be_deleted_and_both_paths_are_named() {
    let (one, other, second) = two(|one, other| {
        put(one, "a.txt", "a\n");
        put(other, "b.txt", "b\n");
        make(other, "docs");
    });
    let server = serve(&one, &[&second]);
    let path = |folder: &Folder, name: &str| named(&folder.path().join(name));
    for tool in ["copy_file", "move_file"] {
        for name in ["docs", "b.txt"] {
            let text = failed(&server, tool, json!({ "source": "a.txt", "destination": name }));
            assert!(!text.contains("delete_file"), "{text}");
            let (there, beside) = (path(&other, name), path(&one, name));
            assert!(text.contains(&there) && text.contains(&json!(beside).to_string()), "{text}");
        }
    }
    ok(&server, "move_file", json!({ "source": "a.txt", "destination": path(&one, "b.txt") }));
    assert_eq!((one.text("b.txt"), other.text("b.txt")), ("a\n".into(), "b\n".into()));
    // What is in the way beside the source is named so that nothing else is deleted.
    put(&one, "c.txt", "c\n");
    let text = failed(&server, "move_file", json!({ "source": "c.txt", "destination": "b.txt" }));
    assert!(text.contains(&json!({ "path": path(&one, "b.txt") }).to_string()), "{text}");
}

#[test]
fn a_destination_in_a_folder_of_git_of_another_served_folder_is_refused_as_such() {
    let (one, _other, second) = two(|one, other| {
        put(one, "f", "f\n");
        put(other, "gg/HEAD", "ref: refs/heads/main\n");
        make(other, "gg/objects");
        make(other, "gg/refs");
    });
    let server = serve(&one, &[&second]);
    for path in ["gg/new", "gg", "gg/hooks/new", ".git/hooks/new"] {
        for tool in ["copy_file", "move_file"] {
            let text = failed(&server, tool, json!({ "source": "f", "destination": path }));
            assert!(text.contains("Nothing is written in a folder of git"), "{tool} {path}: {text}");
        }
        let text = failed(&server, "write_file", json!({ "path": path, "content": "" }));
        assert!(text.contains("Nothing is written in a folder of git"), "{path}: {text}");
    }
}

#[test]
fn a_file_in_the_first_folder_is_not_in_the_way_of_a_folder_in_the_next() {
    let (one, other, second) = two(|one, other| {
        put(one, "a", "a file\n");
        put(one, "f", "f\n");
        put(one, "p/q", "a file\n");
        make(other, "a");
        make(other, "p");
    });
    let server = serve(&one, &[&second]);
    ok(&server, "write_file", json!({ "path": "a/b.txt", "content": "b\n" }));
    ok(&server, "create_directory", json!({ "path": "a/c/d" }));
    assert_eq!((one.text("a"), other.text("a/b.txt")), ("a file\n".into(), "b\n".into()));
    assert!(other.path().join("a/c/d").is_dir());
    // Beside the source it is in the way: both are named.
    let text = failed(&server, "move_file", json!({ "source": "f", "destination": "a/f" }));
    let both = [named(&one.path().join("a")), named(&other.path().join("a"))];
    assert!(both.iter().all(|path| text.contains(path)), "{text}");
    // No folder of that path is anywhere.
    for (tool, arguments) in [
        ("write_file", json!({ "path": "p/q/r", "content": "" })),
        ("create_directory", json!({ "path": "p/q/r" })),
    ] {
        let text = failed(&server, tool, arguments);
        assert!(text.contains("'p/q' is a file, not a folder"), "{tool}: {text}");
    }
    assert!(!other.path().join("p/q").exists());
}

#[test]
fn the_line_on_several_folders_names_the_one_that_was_read() {
    not_under_wine!("its file system takes both spellings for one name");
    let (one, other, second) = two(|one, other| {
        put(one, "cafe\u{301}.txt", "1\n");
        put(other, "caf\u{e9}.txt", "2\n");
    });
    let server = serve(&one, &[&second]);
    for (sent, text, folder) in [("cafe\u{301}.txt", "1\n", &one), ("caf\u{e9}.txt", "2\n", &other)] {
        let arguments = json!({ "name": "read_text_file", "arguments": { "path": sent } });
        let content = &server.rpc("tools/call", arguments)["result"]["content"];
        assert_eq!(content[0]["text"], json!(text));
        let line = content[1]["text"].as_str().expect("a line").to_owned();
        assert!(line.contains(&format!("this is of {}", named(folder.path()))), "{line}");
    }
}

#[test]
fn a_call_that_looks_in_no_folder_does_not_name_one_that_is_gone() {
    let (one, other, second) = two(|_, _| {});
    let server = Stdio::start(&one, &["--tools=filesystem,search,toolkit.list_templates", &second]).ready();
    std::fs::rename(other.path(), other.outside("moved")).expect("a folder moved away");
    for (tool, arguments, looks) in [
        ("list_templates", json!({}), false),
        ("list_allowed_directories", json!({}), false),
        ("glob", json!({ "pattern": "**" }), true),
        ("list_directory", json!({ "path": "." }), true),
    ] {
        let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments })).to_string();
        assert_eq!(answer.contains("[Gone, and not looked in"), looks, "{tool}: {answer}");
    }
}

#[test]
fn the_missing_folder_of_a_destination_is_named_where_it_is_missing_and_where_it_is() {
    let (one, other, second) = two(|one, other| {
        make(one, "docs");
        put(other, "f", "f\n");
    });
    let server = serve(&one, &[&second]);
    let path = |folder: &Folder, name: &str| named(&folder.path().join(name));
    let text = failed(&server, "move_file", json!({ "source": "f", "destination": "docs/f" }));
    assert!(text.contains(&format!("There is no folder {}.", path(&other, "docs"))), "{text}");
    assert!(text.contains(&format!("There is {}: give an absolute path", path(&one, "docs"))), "{text}");
    let text = failed(&server, "write_file", json!({ "path": "none/f", "content": "" }));
    let both = format!("There is no folder {}, nor {}.", path(&one, "none"), path(&other, "none"));
    assert!(text.contains(&both) && text.contains("create_directory"), "{text}");
}

#[test]
fn a_new_entry_goes_where_its_folder_is_and_no_twin_of_it_is_made() {
    let (one, other, second) = two(|_, other| make(other, "src/deep"));
    let server = serve(&one, &[&second]);
    ok(&server, "create_directory", json!({ "path": "src/deep/new" }));
    ok(&server, "create_directory", json!({ "path": "src" }));
    let text = Stdio::start(&one, &["--tools=text", &second]).ready();
    ok(&text, "write_file", json!({ "filename": "src/deep/other/f", "content": "f\n" }));
    assert!(one.names().is_empty(), "{:?}", one.names());
    assert!(other.path().join("src/deep/new").is_dir() && other.path().join("src/deep/other/f").exists());
    ok(&server, "create_directory", json!({ "path": "top/new" }));
    assert!(one.path().join("top/new").is_dir(), "what is missing in all goes to the first");
}

#[test]
fn what_several_folders_have_is_taken_away_by_its_absolute_path_alone() {
    let fill = |folder: &Folder| {
        put(folder, "f", "f\n");
        put(folder, "d/x", "x\n");
    };
    let (one, other, second) = two(|one, other| [one, other].iter().for_each(|folder| fill(folder)));
    let flags = ["--tools=filesystem", second.as_str()];
    let (stdio, http) = (serve(&one, &[&second]), Http::start(&one, &flags));
    let before = (tree(one.path()), tree(other.path()));
    let path = |folder: &Folder, name: &str| named(&folder.path().join(name));
    for server in [&stdio as &dyn Mcp, &http] {
        for (tool, arguments, name) in [
            ("delete_file", json!({ "path": "f" }), "f"),
            ("delete_file", json!({ "path": "d", "recursive": true }), "d"),
            ("move_file", json!({ "source": "f", "destination": "g" }), "f"),
            ("move_file", json!({ "source": "d", "destination": "e" }), "d"),
        ] {
            let text = failed(server, tool, arguments);
            assert!(text.starts_with(&format!("Error: '{name}' is in several served folders")), "{text}");
            let paths = format!("{} or {}.", path(&one, name), path(&other, name));
            assert!(text.ends_with(&paths), "{text}");
        }
    }
    assert_eq!((tree(one.path()), tree(other.path())), before);
    ok(&stdio, "delete_file", json!({ "path": path(&other, "f") }));
    ok(&stdio, "delete_file", json!({ "path": "f" }));
    failed(&stdio, "delete_file", json!({ "path": "f" }));
}

#[test]
fn a_name_that_is_taken_for_the_same_in_another_folder_is_not_taken_away_by_its_relative_path() {
    let (one, other, second) = two(|one, other| {
        put(one, "e\u{301}.txt", "1\n");
        put(other, "\u{e9}.txt", "2\n");
    });
    let server = serve(&one, &[&second]);
    for sent in ["e\u{301}.txt", "\u{e9}.txt"] {
        for (tool, arguments) in [
            ("delete_file", json!({ "path": sent })),
            ("move_file", json!({ "source": sent, "destination": "g" })),
        ] {
            let text = failed(&server, tool, arguments);
            assert!(text.contains("is in several served folders"), "{tool} {sent:?}: {text}");
        }
    }
    assert_eq!((one.names().len(), other.names().len()), (1, 1));
}

#[test]
fn while_one_folder_is_gone_the_others_work_and_nothing_is_told_of_what_it_had() {
    for gone in [0, 1] {
        let folders = [Folder::new(), Folder::new()];
        for (folder, name) in folders.iter().zip(["a", "b"]) {
            put(folder, &format!("in/{name}"), "word\n");
        }
        let second = format!("--dir={}", folders[1].path().display());
        let server = Stdio::start(&folders[0], &["--tools=filesystem,search", &second]).ready();
        std::fs::rename(folders[gone].path(), folders[gone].outside("moved")).expect("a folder moved away");
        let (kept, there) = (&folders[1 - gone], ["b", "a"][gone]);
        let named_gone = named(folders[gone].path());
        let path = format!("in/{there}");
        let told = |tool: &str, arguments: Value| {
            let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
            assert_eq!(answer["result"]["isError"], json!(false), "{gone} {tool}: {answer}");
            let text = answer["result"]["content"].to_string();
            let line =
                json!(format!("[Gone, and not looked in: the served folder {named_gone}]")).to_string();
            assert!(text.contains(line.trim_matches('"')), "{tool}: {text}");
            text
        };
        assert!(told("read_text_file", json!({ "path": path })).contains("word"));
        let edits = json!([{ "oldText": "word", "newText": "words" }]);
        // Another file may have this path in the first folder.
        let sure = |path: &str| if gone == 0 { named(&kept.path().join(path)) } else { path.to_owned() };
        if gone == 0 {
            for (tool, arguments) in [
                ("edit_file", json!({ "path": path, "edits": edits })),
                ("write_file", json!({ "path": path, "content": "" })),
                ("delete_file", json!({ "path": path })),
                ("move_file", json!({ "source": path, "destination": "moved" })),
            ] {
                let text = failed(&server, tool, arguments);
                assert!(text.contains(&named_gone) && text.contains("absolute path"), "{tool}: {text}");
            }
            assert_eq!(kept.text(&path), "word\n");
        }
        ok(&server, "edit_file", json!({ "path": sure(&path), "edits": edits }));
        told("write_file", json!({ "path": "new", "content": "new\n" }));
        told("create_directory", json!({ "path": "made" }));
        told("copy_file", json!({ "source": "new", "destination": "made/copy" }));
        told("list_directory", json!({ "path": "in" }));
        assert!(told("grep", json!({ "pattern": "words" })).contains("1 folder that cannot be read"));
        told("glob", json!({ "pattern": "**" }));
        ok(&server, "delete_file", json!({ "path": sure("new") }));
        assert_eq!(kept.text(&path), "words\n");
        assert_eq!(kept.text("made/copy"), "new\n");
        // The first folder is not another one because it is gone.
        let (is_error, top) = outcome(&server, "list_directory", &json!({ "path": "." }));
        assert_eq!((is_error, top.contains(&named_gone)), (gone == 0, gone == 0), "{top}");
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": "none" })),
            ("get_file_info", json!({ "path": "none" })),
            ("edit_file", json!({ "path": "none", "edits": edits })),
            ("delete_file", json!({ "path": "none" })),
        ] {
            let text = failed(&server, tool, arguments);
            assert!(!text.contains("not found") && text.contains(&named_gone), "{tool}: {text}");
        }
        let absolute = json!({ "path": named(&kept.path().join(&path)) });
        assert_eq!(ok(&server, "read_text_file", absolute), "words\n");
        std::fs::rename(folders[gone].outside("moved"), folders[gone].path()).expect("it is back");
        assert!(failed(&server, "read_text_file", json!({ "path": "none" })).contains("not found"));
    }
}

#[test]
fn while_all_folders_are_gone_no_search_says_that_nothing_matches() {
    let (one, other, second) =
        two(|one, other| [one, other].iter().for_each(|folder| put(folder, "f", "word\n")));
    let server = Stdio::start(&one, &["--tools=filesystem,search", &second]).ready();
    for folder in [&one, &other] {
        std::fs::rename(folder.path(), folder.outside("moved")).expect("a folder moved away");
    }
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "word" })),
        ("glob", json!({ "pattern": "**" })),
        ("read_text_file", json!({ "path": "f" })),
        ("write_file", json!({ "path": "f", "content": "" })),
    ] {
        assert_eq!(failed(&server, tool, arguments), "Error: Cannot access working directory", "{tool}");
    }
}

#[test]
fn a_folder_that_has_the_names_as_sent_goes_before_one_that_has_others_like_them() {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}");
    let (one, other, second) = two(|one, other| {
        put(one, &format!("{composed}/new.txt"), "one\n");
        put(one, &format!("{composed}/sub/new.txt"), "one\n");
        put(other, &format!("{decomposed}/old.txt"), "old\n");
    });
    let server = serve(&one, &[&second]);
    let write = |path: &str| json!({ "path": path, "content": "two\n" });
    ok(&server, "write_file", write(&format!("{decomposed}/new.txt")));
    assert_eq!(one.text(&format!("{composed}/new.txt")), "one\n");
    assert_eq!(other.text(&format!("{decomposed}/new.txt")), "two\n");
    // Either may be meant.
    let text = failed(&server, "write_file", write(&format!("{decomposed}/sub/new.txt")));
    assert!(text.contains("Several entries may be meant"), "{text}");
    assert_eq!(one.text(&format!("{composed}/sub/new.txt")), "one\n");
    ok(&server, "read_text_file", json!({ "path": format!("{decomposed}/sub/new.txt") }));
}

#[test]
fn a_dot_is_all_served_folders_wherever_a_folder_is_searched_or_listed() {
    let (one, other, second) = two(|one, other| {
        put(one, "x.txt", "1\n");
        put(other, "x.txt", "2\n");
        put(other, "y.rs", "fn needle() {}\n");
    });
    let there = named(&other.path().join("y.rs"));
    let agent = Stdio::start(&one, &["--tools=agent", &second]).ready();
    let search = Stdio::start(&one, &["--tools=search", &second]).ready();
    for path in [".", "./", ""] {
        let with = |more: Value| {
            let mut arguments = json!({ "path": path });
            arguments
                .as_object_mut()
                .expect("an object")
                .extend(more.as_object().cloned().unwrap_or_default());
            arguments
        };
        let replaced = with(json!({ "pattern": "needle", "replacement": "N", "dry_run": true }));
        let calls: [(&dyn Mcp, &str, Value); 6] = [
            (&agent, "grep", with(json!({ "pattern": "needle" }))),
            (&agent, "replace", replaced),
            (&agent, "files", with(json!({ "pattern": "y.rs" }))),
            (&agent, "files", with(json!({}))),
            (&search, "grep", with(json!({ "pattern": "needle" }))),
            (&search, "glob", with(json!({ "pattern": "y.rs" }))),
        ];
        for (server, tool, arguments) in calls {
            let text = ok(server, tool, arguments);
            assert!(text.contains("y.rs"), "{tool} {path:?}: {text}");
        }
    }
    assert!(ok(&search, "grep", json!({ "pattern": "needle", "path": "." })).contains(&there));
    // One of them alone is named by its path.
    let alone = json!({ "pattern": "needle", "path": named(one.path()) });
    assert!(!ok(&search, "grep", alone).contains("y.rs"));
}

#[test]
fn a_path_like_a_missing_one_is_the_one_that_leads_there() {
    let (one, other, _) = two(|one, other| {
        put(one, "x.txt", "1\n");
        put(other, "b/x.txt", "2\n");
        put(other, "b/in/only.txt", "3\n");
    });
    let second = other.path().join("b");
    let server = serve(&one, &[&format!("--dir={}", second.display())]);
    let near = |path: &str| failed(&server, "read_text_file", json!({ "path": path }));
    let [first, last] = [one.path(), &second].map(|folder| named(&folder.join("x.txt")));
    // Both have it, so each is told by its absolute path, the one in the folder of that name first.
    let text = near("b/x.txt");
    assert!(text.ends_with(&format!("Files with a similar name: {last}, {first}")), "{text}");
    let text = near(&named(&second.join("z.txt")));
    assert!(!text.contains(": x.txt"), "{text}");
    let text = near("only.txt");
    assert!(text.ends_with("Files with a similar name: in/only.txt"), "{text}");
}
