//! Paths of other systems, of other trees and for shells: none creates a file, and the right path is named. `file://` URIs and `~` lead to
//! what they name, if that is in a served folder.

use serde_json::{Value, json};

use super::{on_all, outcome, put, serve, tree};
use crate::support::{Folder, Http, Mcp, Stdio, command, file_uri, on_both_with};

fn sources(folder: &Folder) {
    put(folder, "src/a.rs", "fn a() {}\n");
    put(folder, "m/sub/x.py", "x = 1\n");
    put(folder, "with blank/\u{e9}.txt", "blank\n");
}

fn writes(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({ "path": path, "content": "x" })),
        ("create_directory", json!({ "path": path })),
        ("copy_file", json!({ "source": "src/a.rs", "destination": path })),
        ("move_file", json!({ "source": "src/a.rs", "destination": path })),
    ]
}

#[test]
fn a_path_of_another_system_or_for_a_shell_creates_nothing_and_the_right_one_is_named() {
    on_all(&[], sources, |server, folder| {
        let before = tree(folder.path());
        for (path, meant) in [
            (r"m\sub\new.py", "m/sub/new.py"),
            (r"m\\sub\\new.py", "'m/sub/new.py'"),
            (r"src\a.rs", "src/a.rs"),
            (r"C:\Users\me\project\src\a.rs", "'src/a.rs'"),
            ("C:/project/src/new.rs", "'src/new.rs'"),
            ("c:/project/src/new.rs", "'src/new.rs'"),
            ("C:n.txt", "'n.txt'"),
            ("c:n.txt", "'n.txt'"),
            ("C:src/n.txt", "'src/n.txt'"),
            (r"C:src\n.txt", "'src/n.txt'"),
            ("file:n.txt", "'n.txt'"),
            (r"\\server\project\src\a.rs", "'src/a.rs'"),
            (r"\\?\C:\project\src\a.rs", "'src/a.rs'"),
            (r"\src\new.rs", "'src/new.rs'"),
            ("//server/project/src/a.rs", "'src/a.rs'"),
            ("$env:USERPROFILE/project/src/a.rs", "'src/a.rs'"),
            ("$HOME/project/src/a.rs", "'src/a.rs'"),
            ("${HOME}/src/a.rs", "'src/a.rs'"),
            (r"%USERPROFILE%\src\a.rs", "'src/a.rs'"),
            ("${workspaceFolder}/src/a.rs", "'src/a.rs'"),
            ("${workspaceFolder}/new.rs", "such as 'src/main.rs'"),
            ("${workspaceFolder}", "such as 'src/main.rs'"),
            ("$(pwd)/src/new.rs", "'src/new.rs'"),
            ("\"src/a.rs\"", "'src/a.rs'"),
            ("`src/a.rs`", "'src/a.rs'"),
            (" src/a.rs ", "'src/a.rs'"),
            ("src/a.rs:12", "'src/a.rs'"),
            ("src/a.rs:1-20", r#"read_text_file {"path":"src/a.rs","start_line":1,"end_line":20}"#),
            ("src/a.rs#L1", r#"read_text_file {"path":"src/a.rs","start_line":1,"end_line":1}"#),
            ("src/a.rs#L1-L3", r#"read_text_file {"path":"src/a.rs","start_line":1,"end_line":3}"#),
            ("@src/a.rs", "'src/a.rs'"),
            ("src/a.rs#1", r#"read_text_file {"path":"src/a.rs","start_line":1,"end_line":1}"#),
            ("src/a.rs:", "'src/a.rs'"),
            ("<src/a.rs>", "'src/a.rs'"),
            ("`src/a.rs`,", "'src/a.rs'"),
            ("`src/a.rs`:1", r#"read_text_file {"path":"src/a.rs","start_line":1,"end_line":1}"#),
            ("src/a.rs,", "'src/a.rs'"),
            ("~/project/src/a.rs", "'src/a.rs'"),
            ("~", "such as 'src/main.rs'"),
            ("$HOME/none/none.txt", "such as 'src/main.rs'"),
            ("src/new.py:12", "'src/new.py'"),
            ("src/new.py:12-14", "'src/new.py'"),
            ("new.py:12:3", "'new.py'"),
            ("none/new.py#L12", "'none/new.py'"),
            ("<path>", "such as 'src/main.rs'"),
            ("<path/to/file>", "such as 'src/main.rs'"),
            ("src/<name>.py", "such as 'src/main.rs'"),
            ("<new.py>", "'new.py'"),
            ("src%2Fn.py", "'src/n.py'"),
            ("none%2fn.py", "'none/n.py'"),
        ] {
            for (tool, arguments) in writes(path) {
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error && text.contains(meant), "{tool} {path}: {text}");
                assert!(tree(folder.path()) == before, "{tool} {path} changed something");
            }
        }
        for (path, meant) in
            [(r"m\sub\x.py", "m/sub/x.py"), (r"D:\src\a.rs", "src/a.rs"), ("$HOME/src/a.rs", "src/a.rs")]
        {
            let (is_error, text) = outcome(server, "read_text_file", &json!({ "path": path }));
            assert!(is_error && text.contains(&format!("similar name: {meant}")), "{path}: {text}");
        }
        for path in ["src/a.rs:1", "src/a.rs#L1"] {
            for (tool, arguments) in [
                ("read_text_file", json!({ "path": path })),
                ("edit_file", json!({ "path": path, "edits": [{ "oldText": "a", "newText": "b" }] })),
                ("get_file_info", json!({ "path": path })),
            ] {
                let (is_error, text) = outcome(server, tool, &arguments);
                let call = r#"read_text_file {"path":"src/a.rs","start_line":1,"end_line":1}"#;
                assert!(
                    is_error && text.contains("'src/a.rs' without line numbers") && text.contains(call),
                    "{path}: {text}"
                );
            }
        }
    });
}

#[test]
fn where_files_have_names_a_line_number_or_a_path_of_windows_makes_no_file_either() {
    let fill = |folder: &Folder| {
        folder.write("f.py", "one\ntwo\n");
        put(folder, "d/x", "");
    };
    on_both_with(&["--tools=lines,exact", "--names=any"], fill, |server, folder| {
        let before = folder.names();
        for (name, advice) in [
            (r"d\a", "it reads as 'd/a'"),
            ("f.py:2", r#"read_file {"name":"f.py","start_line":1,"end_line":1}"#),
            ("f.py#L1-L2", r#"read_file {"name":"f.py","start_line":0,"end_line":1}"#),
        ] {
            let created = json!([{ "old_text": "", "new_text": "x" }]);
            for (tool, arguments) in [
                ("edit_file", json!({ "name": name, "append": "x", "create_if_missing": true })),
                ("file_edit", json!({ "path": name, "edits": created })),
            ] {
                let result = server.tool(tool, arguments);
                assert!(result.is_error && result.text.contains(advice), "{tool} {name}: {}", result.text);
            }
            assert_eq!(folder.names(), before);
        }
        // Without such a folder or file it is a name like others.
        for name in [r"e\a", "g.py:2"] {
            server.ok("edit_file", json!({ "name": name, "append": "x", "create_if_missing": true }));
        }
    });
}

#[test]
fn an_existing_entry_of_such_a_name_stays_reachable() {
    let folder = Folder::new();
    let names = [r"a\b", "C:", "$HOME", "~/x", "<path>", "new.py:12", "src%2Fn.py"];
    for name in names {
        put(&folder, name, "literal\n");
    }
    let server = serve(&folder, &[]);
    for path in names.map(|name| if name == "~/x" { "./~/x" } else { name }) {
        assert_eq!(outcome(&server, "read_text_file", &json!({ "path": path })), (false, "literal\n".into()));
        server.ok("write_file", json!({ "path": path, "content": "written\n" }));
    }
    server.ok("write_file", json!({ "path": "./~/new", "content": "new\n" }));
    assert_eq!(folder.text("~/new"), "new\n");
    for path in [
        "$id.tsx",
        "~a",
        "50%",
        "a:b",
        "${name}.java",
        "@types",
        "none:12",
        "\"none\"",
        "Vec<T>.rs",
        "a%20b.py",
    ] {
        server.ok("write_file", json!({ "path": path, "content": "x" }));
    }
}

#[test]
fn no_way_is_advised_to_create_such_a_file_and_the_served_folder_is_told() {
    let folder = Folder::new();
    sources(&folder);
    let server = Stdio::start(&folder, &["--tools=text,filesystem.delete_file"]).ready();
    for path in [r"src\a.rs", "src/a.rs:12", "${workspaceFolder}/src/a.rs"] {
        let edit = json!({ "filename": path, "old_text": "a()", "new_text": "Q" });
        let (is_error, text) = outcome(&server, "edit_file", &edit);
        assert!(is_error && text.contains("src/a.rs") && !text.contains("all the same"), "{path}: {text}");
    }
    for path in ["", "."] {
        let write = json!({ "filename": path, "content": "a()" });
        let (is_error, text) = outcome(&server, "write_file", &write);
        assert!(is_error && text.contains("It is the served folder"), "{path:?}: {text}");
        let delete = json!({ "path": path, "recursive": true });
        let (is_error, text) = outcome(&server, "delete_file", &delete);
        assert!(is_error && text.contains("It is the served folder"), "{path:?}: {text}");
    }
    assert_eq!(folder.text("src/a.rs"), "fn a() {}\n");
}

#[test]
fn a_path_of_another_tree_is_refused_and_the_same_end_here_is_named() {
    on_all(&["--exclude=/hidden/"], sources, |server, folder| {
        put(folder, "hidden/b.rs", "x\n");
        let before = tree(folder.path());
        for (path, meant) in [
            ("/home/user/project/src/a.rs", "src/a.rs"),
            ("/srv/m/sub", "m/sub"),
            ("/x/src/new.rs", "src/new.rs"),
        ] {
            for (tool, arguments) in
                writes(path).into_iter().chain([("read_text_file", json!({ "path": path }))])
            {
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error && text.contains("in none of the served folders"), "{tool} {path}: {text}");
                assert!(text.contains(&format!("Perhaps it is '{meant}' here.")), "{tool} {path}: {text}");
            }
        }
        let (_, text) = outcome(server, "read_text_file", &json!({ "path": "/x/hidden/b.rs" }));
        assert!(!text.contains("Perhaps"), "{text}");
        let several =
            outcome(server, "read_multiple_files", &json!({ "paths": ["/x/src/a.rs", "src/a.rs"] })).1;
        assert!(
            several.contains("Perhaps it is 'src/a.rs' here.") && several.contains("fn a()"),
            "{several}"
        );
        assert!(tree(folder.path()) == before, "something was changed");
    });
}

#[test]
fn the_uri_of_a_file_in_a_served_folder_is_its_path() {
    on_all(&[], sources, |server, folder| {
        let uri = file_uri(&folder.path().join("src/a.rs"));
        assert_eq!(outcome(server, "read_text_file", &json!({ "path": uri })), (false, "fn a() {}\n".into()));
        let encoded = format!("{}/with%20blank/%C3%A9.txt", file_uri(folder.path()));
        assert_eq!(outcome(server, "read_text_file", &json!({ "path": encoded })), (false, "blank\n".into()));
        let new = file_uri(&folder.path().join("src/new.rs"));
        assert!(!outcome(server, "write_file", &json!({ "path": new, "content": "new\n" })).0);
        assert_eq!(folder.text("src/new.rs"), "new\n");
        let before = tree(folder.path());
        for outside in [
            "file:///etc/passwd",
            "file:///x/src/a.rs",
            "file://src/a.rs",
            "file:///%2e%2e/x",
            "http://host/x",
        ] {
            for (tool, arguments) in writes(outside) {
                assert!(outcome(server, tool, &arguments).0, "{tool} {outside}");
            }
        }
        assert!(tree(folder.path()) == before, "something was created");
    });
    on_both_with(&["--tools=lines,exact", "--names=paths"], sources, |server, folder| {
        let uri = file_uri(&folder.path().join("src/a.rs"));
        assert!(server.ok("read_file", json!({ "name": uri })).contains("fn a() {}"));
    });
}

#[test]
fn resources_are_read_from_each_served_folder() {
    let (one, two) = (Folder::new(), Folder::new());
    put(&one, "f", "one\n");
    put(&two, "f", "two\n");
    let dir = format!("--dir={}", two.path().display());
    let server = Stdio::start(&one, &["--tools=filesystem", "--names=paths", &dir]).ready();
    for (folder, text) in [(&one, "one\n"), (&two, "two\n")] {
        let read = server.rpc("resources/read", json!({ "uri": file_uri(&folder.path().join("f")) }));
        assert_eq!(read["result"]["contents"][0]["text"], text, "{read}");
    }
}

#[test]
fn a_tilde_is_the_home_of_the_user_if_that_is_in_a_served_folder() {
    let folder = Folder::new();
    sources(&folder);
    let run = |transport: &str, flags: &[&str]| {
        let mut command = command(&folder, transport, &[&["--tools=filesystem"], flags].concat());
        command.env("HOME", folder.path());
        command
    };
    let (stdio, http) = (Stdio::run(run("stdio", &[])).ready(), Http::run(run("http", &["--port=0"])));
    for server in [&stdio as &dyn Mcp, &http] {
        assert_eq!(server.ok("read_text_file", json!({ "path": "~/src/a.rs" })), "fn a() {}\n");
        assert!(server.ok("list_directory", json!({ "path": "~" })).contains("[DIR] src"));
        server.ok("write_file", json!({ "path": "~/new.txt", "content": "new\n" }));
        assert_eq!(folder.text("new.txt"), "new\n");
    }
    assert!(!folder.path().join("~").exists());
}
