//! Names composed in another way (NFC, NFD), and names as lists show them, lead to what exists; no write makes a twin that looks the same.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::{on_all, outcome, put, serve, tree};
use crate::support::{Folder, Mcp, Stdio, named, on_both_with};

/// `é` as one character, and as two.
const COMPOSED: &str = "caf\u{e9}";
const DECOMPOSED: &str = "cafe\u{301}";

fn decomposed(folder: &Folder) {
    put(folder, &format!("{DECOMPOSED}/{DECOMPOSED}.txt"), "one\n");
    put(folder, "other.txt", "other\n");
}

#[test]
fn a_name_composed_in_another_way_is_read_and_edited_and_gets_no_twin() {
    on_all(&[], decomposed, |server, folder| {
        let path = format!("{COMPOSED}/{COMPOSED}.txt");
        let real = format!("{DECOMPOSED}/{DECOMPOSED}.txt");
        let names = || tree(folder.path()).into_keys().collect::<Vec<_>>();
        let before = names();
        assert_eq!(outcome(server, "read_text_file", &json!({ "path": path })), (false, "one\n".into()));
        let edits = json!([{ "oldText": "one", "newText": "two" }]);
        for (tool, arguments) in [
            ("get_file_info", json!({ "path": path })),
            ("list_directory", json!({ "path": COMPOSED })),
            ("edit_file", json!({ "path": path, "edits": edits })),
            ("write_file", json!({ "path": path, "content": "three\n" })),
            ("create_directory", json!({ "path": COMPOSED })),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(!is_error, "{tool}: {text}");
        }
        assert_eq!((names(), folder.text(&real)), (before.clone(), "three\n".into()));
        for (tool, arguments) in [
            ("move_file", json!({ "source": "other.txt", "destination": path })),
            ("copy_file", json!({ "source": "other.txt", "destination": path })),
            ("move_file", json!({ "source": "other.txt", "destination": COMPOSED })),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(is_error && text.contains("exists already"), "{tool}: {text}");
        }
        // A new file goes into the folder that is there, not beside it.
        let new = json!({ "path": format!("{COMPOSED}/new.txt"), "content": "new\n" });
        assert!(!outcome(server, "write_file", &new).0);
        assert!(folder.holds(&format!("{DECOMPOSED}/new.txt"), "new\n"));
        assert!(!outcome(server, "delete_file", &json!({ "path": path })).0);
        assert!(names().iter().all(|name| !name.contains(COMPOSED)), "{:?}", names());
    });
}

#[test]
fn the_other_way_round_and_in_the_line_tools_too() {
    let fill = |folder: &Folder| folder.write(&format!("{COMPOSED}.txt"), "one\n");
    for names in ["--names=any", "--names=paths"] {
        on_both_with(&["--tools=lines,exact", names], fill, |server, folder| {
            let name = format!("{DECOMPOSED}.txt");
            assert!(server.ok("read_file", json!({ "name": name })).ends_with("one"));
            server.ok("edit_file", json!({ "name": name, "append": "two", "create_if_missing": true }));
            assert_eq!(folder.names(), [format!("{COMPOSED}.txt")]);
            assert_eq!(folder.text(&format!("{COMPOSED}.txt")), "one\ntwo\n");
        });
    }
}

#[test]
fn in_each_of_several_folders_a_new_file_goes_into_the_folder_of_another_spelling() {
    let (first, second) = (Folder::new(), Folder::new());
    decomposed(&second);
    let server = serve(&first, &[&format!("--dir={}", second.path().display())]);
    let path = second.path().join(COMPOSED).join("new.txt");
    let (is_error, text) = outcome(&server, "write_file", &json!({ "path": path, "content": "new\n" }));
    assert!(!is_error, "{text}");
    assert!(second.holds(&format!("{DECOMPOSED}/new.txt"), "new\n"));
}

#[test]
fn where_both_spellings_exist_each_is_its_own() {
    let folder = Folder::new();
    put(&folder, COMPOSED, "composed\n");
    put(&folder, DECOMPOSED, "decomposed\n");
    let server = serve(&folder, &[]);
    for (path, text) in [(COMPOSED, "composed\n"), (DECOMPOSED, "decomposed\n")] {
        assert_eq!(outcome(&server, "read_text_file", &json!({ "path": path })), (false, text.into()));
    }
}

#[test]
fn of_several_names_that_may_be_meant_none_is_taken_and_no_third_is_made() {
    let folder = Folder::new();
    let names = ["a\u{301}\u{323}.txt", "a\u{323}\u{301}.txt"];
    for name in names {
        put(&folder, name, "x\n");
    }
    let server = serve(&folder, &[]);
    let path = "\u{1ea1}\u{301}.txt";
    for (tool, arguments) in
        [("read_text_file", json!({ "path": path })), ("write_file", json!({ "path": path, "content": "y" }))]
    {
        let (is_error, text) = outcome(&server, tool, &arguments);
        assert!(is_error && names.iter().all(|name| text.contains(name)), "{tool}: {text}");
    }
    assert_eq!(folder.names().len(), 2);
}

#[test]
fn an_excluded_name_is_not_found_by_another_spelling() {
    let folder = Folder::new();
    put(&folder, &format!("{DECOMPOSED}/key"), "secret\n");
    for pattern in [COMPOSED, DECOMPOSED] {
        let server = serve(&folder, &[&format!("--exclude={pattern}/")]);
        let path = format!("{COMPOSED}/key");
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("get_file_info", json!({ "path": COMPOSED })),
        ] {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(is_error && !text.contains("secret"), "{pattern}: {tool}: {text}");
        }
    }
    assert_eq!(folder.text(&format!("{DECOMPOSED}/key")), "secret\n");
}

#[test]
fn a_name_is_taken_back_as_it_is_shown() {
    let folder = Folder::new();
    for name in [&b"caf\xe9.txt"[..], b"a\tb.txt"] {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), "found\n").expect("a file");
    }
    std::fs::create_dir(folder.path().join(OsStr::from_bytes(b"d\xff"))).expect("a folder");
    std::fs::write(folder.path().join(OsStr::from_bytes(b"d\xff/x")), "found\n").expect("a file");
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let mut shown = server.ok("glob", json!({ "pattern": "**" }));
    shown.push_str(&server.ok("grep", json!({ "pattern": "found", "output_mode": "files_with_matches" })));
    for path in [r"caf\xe9.txt", r"caf\xE9.txt", r"a\x09b.txt", r"d\xff/x", r"d\xFF/x"] {
        let as_shown = path.replace("xE9", "xe9").replace("xFF", "xff");
        assert!(shown.contains(&as_shown), "{path}: {shown}");
        assert!(server.ok("glob", json!({ "pattern": path })).starts_with(&as_shown), "{path}");
        assert_eq!(server.ok("read_text_file", json!({ "path": path })), "found\n", "{path}");
        assert!(
            server
                .ok("grep", json!({ "pattern": "found", "path": path, "output_mode": "count" }))
                .contains("1"),
            "{path}"
        );
        server.ok(
            "edit_file",
            json!({ "path": path, "edits": [{ "oldText": "found", "newText": "found" }], "dryRun": true }),
        );
    }
    // The name itself is a path, too.
    assert_eq!(server.ok("read_text_file", json!({ "path": "a\tb.txt" })), "found\n");
    for path in ["new\ttab", "new\nline", "caf\u{e9}\r/x"] {
        server.refused("write_file", json!({ "path": path, "content": "x" }));
        server.refused("create_directory", json!({ "path": path }));
        server.refused("copy_file", json!({ "source": "a\tb.txt", "destination": path }));
    }
    server.refused("write_file", json!({ "path": r"new\xe9", "content": "x" }));
    server.refused("write_file", json!({ "path": r"new\xE9", "content": "x" }));
    assert_eq!(folder.names().len(), 3);
}

#[test]
fn backslashes_that_part_names_before_what_reads_as_a_byte_lead_to_the_path_that_is_here() {
    let fill = |folder: &Folder| put(folder, "arch/x86/boot/main.c", "found\n");
    on_all(&[], fill, |server, folder| {
        for path in [
            r"arch\x86\boot\main.c",
            r"C:\src\linux\arch\x86\boot\main.c",
            r"/home/me/linux/arch\x86\boot\main.c",
        ] {
            for (tool, arguments) in [
                ("read_text_file", json!({ "path": path })),
                ("write_file", json!({ "path": path, "content": "x" })),
            ] {
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error && text.contains("arch/x86/boot/main.c"), "{tool} {path}: {text}");
            }
        }
        let new = json!({ "path": r"arch\x86\boot\new.c", "content": "x" });
        let (is_error, text) = outcome(server, "write_file", &new);
        assert!(is_error && text.contains("arch/x86/boot/new.c"), "{text}");
        assert!(tree(folder.path()).keys().all(|name| !name.contains('\\')));
    });
}

#[test]
fn a_name_with_line_breaks_is_one_line_of_every_list_and_is_taken_back_so() {
    let folder = Folder::new();
    let names = [&b"a\n[FILE] forged.txt"[..], b"b\r\n\x1b[2J", b"c\x0b\xc2\x85", b"d"];
    for name in names {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), "text\n").expect("a file");
    }
    let server = Stdio::start(&folder, &["--tools=filesystem,search,text.view"]).ready();
    let shown = [r"a\x0a[FILE] forged.txt", r"b\x0d\x0a\x1b[2J", r"c\x0b\xc2\x85", "d"];
    let top = format!("{}/", named(folder.path()));
    let here = json!({ "path": "." });
    for (tool, arguments, before) in [
        ("list_directory", here.clone(), "[FILE] "),
        ("list_directory_with_sizes", here, "[FILE] "),
        ("search_files", json!({ "path": ".", "pattern": "*" }), &*top),
        ("view", json!({ "filename": "." }), "[FILE] "),
        ("glob", json!({ "pattern": "*", "sort": "path" }), ""),
    ] {
        let text = server.ok(tool, arguments);
        let lines: Vec<&str> = text.lines().take(4).collect();
        for (line, shown) in lines.iter().zip(shown) {
            assert!(line.starts_with(&format!("{before}{shown}")), "{tool}: {text}");
        }
        assert!(!text.contains("\n[FILE] forged.txt") && !text.contains('\x1b'), "{tool}: {text}");
    }
    let tree: Value =
        serde_json::from_str(&server.ok("directory_tree", json!({ "path": "." }))).expect("JSON");
    for (path, entry) in shown.into_iter().zip(tree.as_array().expect("entries")) {
        assert_eq!(entry["name"], json!(path));
        assert_eq!(server.ok("read_text_file", json!({ "path": path })), "text\n", "{path}");
        let missing = server.tool("read_text_file", json!({ "path": format!("{path}x") })).text;
        assert!(!missing.contains("\n[FILE] forged"), "{missing}");
        assert!(
            server.ok("glob", json!({ "pattern": path.replace('[', "\\[") })).starts_with(path),
            "{path}"
        );
    }
}

#[test]
fn a_glob_finds_names_composed_in_another_way_and_names_as_lists_show_them() {
    let folder = Folder::new();
    put(&folder, &format!("{DECOMPOSED}/{DECOMPOSED}.txt"), "found\n");
    put(&folder, "u\u{308}.rs", "found\n");
    for name in [&b"raw\xe9.md"[..], b"ta\tb.md"] {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), "found\n").expect("a file");
    }
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    for (pattern, found) in [
        (format!("{COMPOSED}/*.txt"), format!("{DECOMPOSED}.txt")),
        (format!("**/{COMPOSED}.txt"), format!("{DECOMPOSED}.txt")),
        ("\u{fc}.*".into(), "u\u{308}.rs".into()),
        (r"**/raw\xe9.*".into(), r"raw\xe9.md".into()),
        (r"ta\x09b.md".into(), r"ta\x09b.md".into()),
    ] {
        let by_glob = server.ok("glob", json!({ "pattern": pattern }));
        assert!(by_glob.contains(&found) && by_glob.contains(" 1 match"), "{pattern}: {by_glob}");
        let by_name = server.ok("search_files", json!({ "path": ".", "pattern": pattern }));
        assert!(by_name.ends_with(&found), "{pattern}: {by_name}");
        let lines = server.ok("grep", json!({ "pattern": "found", "glob": pattern }));
        assert!(lines.contains(&format!("{found}: 1")), "{pattern}: {lines}");
        let others = server.ok("grep", json!({ "pattern": "found", "glob": format!("!{pattern}") }));
        assert!(!others.contains(&found) && others.contains(": 1"), "{pattern}: {others}");
        let tree = server.ok("directory_tree", json!({ "path": ".", "excludePatterns": [pattern] }));
        assert!(!tree.contains(&found.replace('\\', "\\\\")), "{pattern}: {tree}");
    }
}

/// A file with a tab in its name and one whose name is what lists show of it, and the path of each that means it alone.
const ALIKE: [(&[u8], &str); 2] = [(b"t\tb", r"\x74\x09\x62"), (br"t\x09b", r"t\x5cx09b")];

fn alike(folder: &Folder) {
    for (name, _) in ALIKE {
        for path in [name.to_vec(), [b"d\xff/", name].concat()] {
            let path = folder.path().join(OsStr::from_bytes(&path));
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, name).expect("a file");
        }
    }
}

#[test]
fn no_two_names_are_shown_alike_and_each_is_taken_back_as_it_is_shown() {
    let folder = Folder::new();
    std::fs::write(folder.path().join(r"literal\x41"), "found\n").expect("a file");
    std::fs::write(folder.path().join(OsStr::from_bytes(&[0xe9; 100])), "found\n").expect("a file");
    std::fs::create_dir(folder.path().join(OsStr::from_bytes(br"d\xff"))).expect("a folder");
    std::fs::write(folder.path().join(r"d\xff/x.rs"), "fn found() {}\n").expect("a file");
    let other = Folder::new();
    let dir = format!("--dir={}", other.path().display());
    for flags in [&[][..], &[&*dir]] {
        let tools = "--tools=filesystem,search,text.view";
        let server = Stdio::start(&folder, &[&[tools], flags].concat()).ready();
        let long = r"\xe9".repeat(100);
        let shown = [long.as_str(), r"d\x5cxff/x.rs", r"literal\x5cx41"];
        let walked = [
            server.ok("glob", json!({ "pattern": "**", "sort": "path" })),
            server.ok("grep", json!({ "pattern": "found", "output_mode": "files_with_matches" })),
            server.ok("search_files", json!({ "path": ".", "pattern": "**" })),
            server.ok("view", json!({ "filename": "." })),
        ];
        for text in &walked {
            assert!(shown.iter().all(|path| text.contains(path)), "{text}");
        }
        for path in shown {
            assert!(server.ok("read_text_file", json!({ "path": path })).contains("found"), "{path}");
        }
        // Below a folder that was given so, too.
        for path in [r"d\x5cxff", r"d\xff"] {
            let here = json!({ "path": path, "pattern": "**" });
            for tool in ["glob", "search_files"] {
                let text = server.ok(tool, here.clone());
                let line = text.lines().find(|line| line.ends_with("x.rs")).expect("the file");
                assert!(server.ok("read_text_file", json!({ "path": line })).contains("found"), "{line}");
            }
        }
        let found = server.ok("glob", json!({ "pattern": r"literal\x5cx41" }));
        assert!(found.contains(r"literal\x5cx41") && found.contains("1 match"), "{found}");
    }
}

#[test]
fn a_name_that_shows_another_one_is_refused_and_a_path_of_each_is_named() {
    on_all(&[], alike, |server, folder| {
        let before = tree(folder.path());
        for (path, before_it) in [(r"t\x09b", ""), (r"d\xff/t\x09b", r"d\xff/")] {
            for (tool, arguments) in [
                ("delete_file", json!({ "path": path })),
                ("read_text_file", json!({ "path": path })),
                ("write_file", json!({ "path": path, "content": "x" })),
                ("edit_file", json!({ "path": path, "edits": [{ "oldText": "t", "newText": "u" }] })),
                ("move_file", json!({ "source": path, "destination": "elsewhere" })),
                ("copy_file", json!({ "source": "t\tb", "destination": path })),
            ] {
                let (is_error, text) = outcome(server, tool, &arguments);
                let is_named = |(_, form): &(&[u8], &str)| {
                    text.contains(&json!(format!("{before_it}{form}")).to_string())
                };
                assert!(is_error && ALIKE.iter().all(is_named), "{tool} {path}: {text}");
            }
            assert!(tree(folder.path()) == before, "something was changed");
            for (name, form) in ALIKE {
                let path = format!("{before_it}{form}");
                let expected = (false, String::from_utf8_lossy(name).into_owned());
                assert_eq!(outcome(server, "read_text_file", &json!({ "path": path })), expected);
            }
        }
        let (is_error, text) = outcome(server, "delete_file", &json!({ "path": ALIKE[1].1 }));
        assert!(!is_error, "{text}");
        // Now only one may be meant.
        assert_eq!(outcome(server, "read_text_file", &json!({ "path": r"t\x09b" })), (false, "t\tb".into()));
    });
}

/// The paths that an error names in JSON, behind "give one of the paths" or "that you mean".
fn advised(text: &str) -> Vec<String> {
    let (_, named) = text.split_once("give one of the paths ").unwrap_or_else(|| panic!("no advice: {text}"));
    serde_json::from_str(&format!("[{}]", named.trim_end_matches('.')))
        .unwrap_or_else(|_| panic!("no JSON: {text}"))
}

#[test]
fn the_paths_that_are_named_for_such_names_lead_each_to_its_own() {
    not_under_wine!("names of files cannot hold tabs there");
    let (one, other) = (Folder::new(), Folder::new());
    let bytes = |folder: &Folder, path: &[u8]| {
        let path = folder.path().join(OsStr::from_bytes(path));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, format!("{}\n", folder.path().display())).expect("a file");
    };
    // One folder has the name, the other the entry that is shown so; and folders of such names.
    bytes(&one, br"t\x09b");
    bytes(&other, b"t\tb");
    for folder in [b"d\te".as_slice(), br"d\x09e"] {
        for name in [b"t\tb".as_slice(), br"t\x09b"] {
            bytes(&one, &[folder, b"/", name].concat());
        }
    }
    let second = format!("--dir={}", other.path().display());
    let server = serve(&one, &[&second]);
    let in_folder = |name: &str| format!(r"\x64\x09\x65/{name}");
    let above = (r"t\x09b".to_owned(), 2);
    for (sent, number) in [above, (in_folder(r"t\x09b"), 2), (r"d\x09e/t\x09b".into(), 4)] {
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": sent })),
            ("delete_file", json!({ "path": sent })),
            ("write_file", json!({ "path": sent, "content": "x" })),
        ] {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(is_error, "{tool} {sent}: {text}");
            let paths = advised(&text);
            assert_eq!(paths.len(), number, "{text}");
            for path in paths {
                let (is_error, text) = outcome(&server, "read_text_file", &json!({ "path": path }));
                assert!(!is_error, "{path}: {text}");
            }
        }
    }
    // A name with a tab in two folders: what is named is not what is refused.
    bytes(&one, b"u\tb");
    bytes(&one, br"u\x09b");
    bytes(&other, b"u\tb");
    let (is_error, text) = outcome(&server, "delete_file", &json!({ "path": "u\tb" }));
    assert!(is_error && text.contains("several served folders"), "{text}");
    for folder in [&one, &other] {
        let name = if std::ptr::eq(folder, &one) { r"\x75\x09\x62" } else { r"u\x09b" };
        let path = format!("{}/{name}", named(folder.path()));
        assert!(text.contains(&path), "{path}: {text}");
        let (is_error, text) = outcome(&server, "delete_file", &json!({ "path": path }));
        assert!(!is_error, "{path}: {text}");
    }
    assert_eq!(std::fs::read_dir(one.path()).expect("a folder").count(), 4);
}

#[test]
fn an_escape_leads_to_nothing_that_has_none_in_its_shown_name() {
    let folder = Folder::new();
    put(&folder, ".git/config", "secret\n");
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    for path in [r"\x2e\x67\x69\x74/config", r"\x2e\x2e/x", r"\x2e\x2e"] {
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
        ] {
            assert!(outcome(&server, tool, &arguments).0, "{tool} {path}");
        }
    }
    let text = server.tool("write_file", json!({ "path": "\u{e9}/\\x7f", "content": "x" })).text;
    assert!(text.contains("a new name has no \\xNN") && !text.contains("//"), "{text}");
}

#[test]
fn a_path_with_marks_of_a_text_around_it_names_the_file_and_makes_nothing() {
    on_all(
        &[],
        |folder| put(folder, "src/a.py", "one\n"),
        |server, folder| {
            let before = tree(folder.path());
            for sent in [
                "(src/a.py)",
                "[src/a.py]",
                "**src/a.py**",
                "“src/a.py”",
                "«src/a.py»",
                "{\"path\":\"src/a.py\"}",
                "[\"src/a.py\"]",
                "src/a.py::f",
                "src/a.py:abc",
                "src/a.py, README.md",
                "src/a.py:1-",
                "src/a.py#L",
                "src/a.py...",
            ] {
                for (tool, arguments) in [
                    ("write_file", json!({ "path": sent, "content": "two\n" })),
                    ("read_text_file", json!({ "path": sent })),
                    ("create_directory", json!({ "path": sent })),
                ] {
                    let (is_error, text) = outcome(server, tool, &arguments);
                    assert!(is_error && text.contains("src/a.py"), "{tool} {sent:?}: {text}");
                    let hint = text.lines().last().unwrap_or_default();
                    assert!(
                        hint.contains("'src/a.py'") || hint.ends_with(": src/a.py"),
                        "{tool} {sent:?}: {text}"
                    );
                }
            }
            for (sent, meant) in
                [("src:3", "'src'"), ("\"src\"/new.py", "'src/new.py'"), ("(src/new.py)", "'src/new.py'")]
            {
                let (is_error, text) = outcome(server, "write_file", &json!({ "path": sent, "content": "" }));
                assert!(
                    is_error && text.contains(meant) && !text.contains("create_directory"),
                    "{sent}: {text}"
                );
            }
            assert!(outcome(server, "create_directory", &json!({ "path": "src:3" })).0);
            let text = outcome(server, "list_directory", &json!({ "path": "src:3" })).1;
            assert!(text.contains("'src' is a folder") && !text.contains("read_text_file"), "{text}");
            assert_eq!(tree(folder.path()), before);
            // Names in brackets are usual ones.
            for sent in ["[slug]", "(group)", "@modal"] {
                assert!(!outcome(server, "create_directory", &json!({ "path": sent })).0, "{sent}");
            }
        },
    );
}
