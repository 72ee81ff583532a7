//! What `--exclude` names does not exist for any tool; `.git` is never listed by a walk and never written (contract 12).

use serde_json::{Value, json};

use super::{make, on_all, outcome, put, serve, tree};
use crate::support::{Folder, Mcp, Mount, Stdio, direct_on_both_with, file_uri, on_both_with};

const EXCLUDES: [&str; 2] = ["--exclude=*.key", "--exclude=/private/"];

fn secrets(folder: &Folder) {
    put(folder, "open/a.txt", "a\n");
    put(folder, "open/in/server.key", "secret\n");
    put(folder, "private/p.txt", "secret\n");
    folder.link("to-key", "open/in/server.key");
    folder.link("to-private", "private");
}

#[test]
fn an_excluded_path_is_unseen_unreadable_and_uncreatable_through_links_too() {
    on_all(&EXCLUDES, secrets, |server, folder| {
        let before = tree(folder.path());
        let hidden = [
            "open/in/server.key",
            "private/p.txt",
            "private",
            "to-key",
            "to-private/p.txt",
            "to-private",
            "new.key",
            "private/new",
        ];
        for path in hidden {
            for (tool, arguments) in [
                ("read_text_file", json!({ "path": path })),
                ("read_media_file", json!({ "path": path })),
                ("get_file_info", json!({ "path": path })),
                ("list_directory", json!({ "path": path })),
                ("list_directory_with_sizes", json!({ "path": path })),
                ("directory_tree", json!({ "path": path })),
                ("search_files", json!({ "path": path, "pattern": "**" })),
                ("write_file", json!({ "path": path, "content": "x" })),
                ("edit_file", json!({ "path": path, "edits": [{ "oldText": "secret", "newText": "x" }] })),
                ("create_directory", json!({ "path": path })),
                ("move_file", json!({ "source": path, "destination": "open/moved" })),
                ("move_file", json!({ "source": "open/a.txt", "destination": path })),
                ("copy_file", json!({ "source": path, "destination": "open/copied" })),
                ("copy_file", json!({ "source": "open/a.txt", "destination": path })),
            ] {
                let (is_error, text) = outcome(server, tool, &arguments);
                assert!(is_error && !text.contains("secret"), "{tool} {arguments}: {text}");
            }
            let (_, text) = outcome(server, "read_multiple_files", &json!({ "paths": [path] }));
            assert!(text.contains("Error - ") && !text.contains("secret"), "{text}");
        }
        for (tool, arguments) in [
            ("list_directory", json!({ "path": ".", "depth": 9 })),
            ("list_directory_with_sizes", json!({ "path": "open/in" })),
            ("directory_tree", json!({ "path": ".", "include_ignored": true })),
            ("search_files", json!({ "path": ".", "pattern": "**" })),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(!is_error && !text.contains("server.key") && !text.contains("p.txt"), "{tool}: {text}");
        }
        for path in ["open", "open/in", "open/in/server.key", "private"] {
            let (is_error, text) =
                outcome(server, "delete_file", &json!({ "path": path, "recursive": true }));
            assert!(is_error, "{path}: {text}");
        }
        assert!(tree(folder.path()) == before, "something was changed");
    });
}

#[test]
fn a_move_of_a_folder_neither_uncovers_nor_creates_an_excluded_path() {
    let folder = Folder::new();
    put(&folder, "a/secret.txt", "secret\n");
    put(&folder, "b/secret.txt", "not excluded here\n");
    put(&folder, "c/in/x", "plain\n");
    let server = serve(&folder, &["--exclude=/a/secret.txt", "--exclude=/d/secret.txt"]);
    // Both would change what is excluded.
    for (source, destination) in [("a", "open"), ("b", "d")] {
        let moved = outcome(&server, "move_file", &json!({ "source": source, "destination": destination }));
        assert!(moved.0, "{moved:?}");
    }
    let read = outcome(&server, "read_text_file", &json!({ "path": "open/secret.txt" }));
    assert!(read.0 && !read.1.contains("secret\n"), "{read:?}");
    server.ok("move_file", json!({ "source": "c", "destination": "e" }));
    assert_eq!((folder.text("a/secret.txt"), folder.text("e/in/x")), ("secret\n".into(), "plain\n".into()));
}

#[test]
fn where_the_file_system_ignores_case_no_other_spelling_leads_to_an_excluded_path() {
    not_under_wine!(
        "mounts something in the tree, and wine does not tell under which name a folder of it lists a file"
    );
    let folder = Folder::new();
    let Some(_mount) = Mount::exfat(&folder) else { return };
    make(&folder, "case");
    assert!(folder.path().join("CASE").exists(), "it does not ignore case");
    put(&folder, "secret/key.txt", "classified\n");
    put(&folder, "open/Ärger.pem", "classified\n");
    put(&folder, "open/a.txt", "a\n");
    let flags = ["--exclude=secret/", "--exclude=*.pem", "--exclude=/never/"];
    let server = serve(&folder, &flags);
    let before = tree(folder.path());
    for path in [
        "SECRET",
        "Secret/key.txt",
        "secret/KEY.TXT",
        "SECRET/new.txt",
        "OPEN/ÄRGER.PEM",
        "open/ärger.pem",
        "open/NEW.Pem",
        "Never/x",
        "open/Secret/x",
    ] {
        for (tool, arguments) in [
            ("read_text_file", json!({ "path": path })),
            ("get_file_info", json!({ "path": path })),
            ("list_directory", json!({ "path": path })),
            ("directory_tree", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("edit_file", json!({ "path": path, "edits": [{ "oldText": "classified", "newText": "x" }] })),
            ("move_file", json!({ "source": path, "destination": "open/moved" })),
            ("move_file", json!({ "source": "open/a.txt", "destination": path })),
            ("copy_file", json!({ "source": "open/a.txt", "destination": path })),
            ("delete_file", json!({ "path": path, "recursive": true })),
        ] {
            let (is_error, text) = outcome(&server, tool, &arguments);
            assert!(is_error && !text.contains("classified"), "{tool} {arguments}: {text}");
        }
    }
    for path in ["NEVER", "Secret", "open/SECRET"] {
        for (tool, arguments) in [
            ("create_directory", json!({ "path": path })),
            ("move_file", json!({ "source": "case", "destination": path })),
        ] {
            assert!(outcome(&server, tool, &arguments).0, "{tool} {arguments}");
        }
    }
    assert!(tree(folder.path()) == before, "something was changed");
    // What is not excluded is served as before.
    assert_eq!(outcome(&server, "read_text_file", &json!({ "path": "open/a.txt" })), (false, "a\n".into()));
    server.ok("edit_file", json!({ "path": "open/a.txt", "edits": [{ "oldText": "a", "newText": "b" }] }));
    server.ok("create_directory", json!({ "path": "open/new" }));
    assert_eq!(folder.text("open/a.txt"), "b\n");
    // Only folders of this name are excluded. A new file of it would tell that there is none.
    server.refused("write_file", json!({ "path": "NEVER", "content": "x" }));
}

#[test]
fn where_case_counts_a_path_in_another_case_is_another_one_but_no_new_one() {
    not_under_wine!("a path in another case leads to nothing there");
    let folder = Folder::new();
    put(&folder, "SECRET/a.txt", "open\n");
    put(&folder, "secret/a.txt", "secret\n");
    put(&folder, "open/old.PEM", "open\n");
    let server = serve(&folder, &["--exclude=secret/", "--exclude=*.pem"]);
    let read = |path: &str| outcome(&server, "read_text_file", &json!({ "path": path }));
    assert_eq!(read("open/old.PEM"), (false, "open\n".into()));
    assert_eq!(read("SECRET/a.txt"), (false, "open\n".into()));
    assert!(read("secret/a.txt").0);
    server
        .ok("edit_file", json!({ "path": "SECRET/a.txt", "edits": [{ "oldText": "open", "newText": "x" }] }));
    server.ok("write_file", json!({ "path": "SECRET/b.txt", "content": "b\n" }));
    let before = tree(folder.path());
    for (tool, arguments) in [
        ("write_file", json!({ "path": "Secret/new", "content": "x" })),
        ("create_directory", json!({ "path": "Secret" })),
        ("write_file", json!({ "path": "open/new.Pem", "content": "x" })),
        ("copy_file", json!({ "source": "SECRET/a.txt", "destination": "open/new.Pem" })),
        ("move_file", json!({ "source": "SECRET/a.txt", "destination": "open/new.Pem" })),
    ] {
        assert!(outcome(&server, tool, &arguments).0, "{tool} {arguments}");
    }
    assert!(tree(folder.path()) == before, "something was created");
}

fn repository(folder: &Folder) {
    put(folder, "repo/.git/config", "[core]\n");
    put(folder, "repo/src/x", "x\n");
    put(folder, "other/.GIT/config", "[core]\n");
    folder.link("git-link", "repo/.git");
    folder.link("config-link", "repo/.git/config");
}

/// Calls that would write in a folder of git or take one away.
fn attacks() -> Vec<(&'static str, Value)> {
    let edits = json!([{ "oldText": "core", "newText": "x" }]);
    let mut calls = Vec::new();
    for path in [
        "repo/.git/config",
        "repo/.git/hooks",
        "other/.GIT/config",
        "git-link/config",
        "git-link/new",
        ".git/x",
        ".Git",
        "config-link",
    ] {
        calls.push(("write_file", json!({ "path": path, "content": "x" })));
        calls.push(("edit_file", json!({ "path": path, "edits": edits })));
        calls.push(("create_directory", json!({ "path": path })));
        calls.push(("move_file", json!({ "source": "repo/src/x", "destination": path })));
        calls.push(("copy_file", json!({ "source": "repo/src/x", "destination": path })));
        // A link may be moved itself.
        if path != "config-link" {
            calls.push(("move_file", json!({ "source": path, "destination": "taken" })));
        }
    }
    for path in ["repo/.git/config", "git-link/config", "other/.GIT/config", "repo/.git", "other/.GIT"] {
        calls.push(("delete_file", json!({ "path": path, "recursive": true })));
    }
    for path in ["repo", "other"] {
        calls.push(("delete_file", json!({ "path": path, "recursive": true })));
    }
    for name in [".git", ".GIT", "repo/src/.gIt", "new/.git"] {
        calls.push(("move_file", json!({ "source": "repo/src", "destination": name })));
        calls.push(("create_directory", json!({ "path": name })));
    }
    calls
}

#[test]
fn no_tool_writes_in_a_folder_of_git_in_any_spelling_or_takes_one_away() {
    on_all(&[], repository, |server, folder| {
        let before = tree(folder.path());
        for (tool, arguments) in attacks() {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(is_error, "{tool} {arguments}: {text}");
            assert!(tree(folder.path()) == before, "{tool} {arguments} changed something: {text}");
        }
    });
}

#[test]
fn a_link_into_a_folder_of_git_is_moved_itself_and_nothing_there_changes() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_all(&[], repository, |server, folder| {
        let before = tree(folder.path());
        for link in ["git-link", "config-link"] {
            server.ok("move_file", json!({ "source": link, "destination": "taken" }));
            server.ok("move_file", json!({ "source": "taken", "destination": link }));
            assert!(tree(folder.path()) == before, "{link}");
        }
    });
}

#[test]
fn a_folder_of_git_is_not_shown_by_walks_but_its_files_are_read_by_path_if_that_is_allowed() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    on_all(&["--allow-git"], repository, |server, _| {
        for (tool, arguments) in [
            ("list_directory", json!({ "path": ".", "depth": 9 })),
            ("list_directory", json!({ "path": "repo" })),
            ("list_directory_with_sizes", json!({ "path": "other" })),
            ("directory_tree", json!({ "path": ".", "include_ignored": true })),
            ("search_files", json!({ "path": ".", "pattern": "**/config" })),
        ] {
            let (is_error, text) = outcome(server, tool, &arguments);
            assert!(!is_error && !text.to_lowercase().contains(".git"), "{tool}: {text}");
        }
        // A call that names the folder itself gets what is in it.
        for path in ["repo/.git", "git-link", "other/.GIT"] {
            for (tool, shown) in [("list_directory", "[FILE] config"), ("directory_tree", "\"config\"")] {
                let (is_error, text) = outcome(server, tool, &json!({ "path": path }));
                assert!(!is_error && text.contains(shown), "{tool} {path}: {text}");
            }
            let (_, found) = outcome(server, "search_files", &json!({ "path": path, "pattern": "*" }));
            assert!(found.ends_with("/config"), "{found}");
        }
        for path in ["repo/.git/config", "git-link/config", "config-link", "other/.GIT/config"] {
            assert_eq!(
                outcome(server, "read_text_file", &json!({ "path": path })),
                (false, "[core]\n".into())
            );
        }
    });
}

#[test]
fn the_line_tools_write_no_folder_of_git_either() {
    let folder = Folder::new();
    repository(&folder);
    make(&folder, "empty");
    let before = tree(folder.path());
    let server = Stdio::start(&folder, &["--tools=lines,exact", "--names=paths"]);
    for name in [
        "repo/.git/config",
        "repo/.git/hooks/pre-commit",
        ".GIT/config",
        "git-link/new",
        "empty/.git/config",
        "config-link",
    ] {
        let (is_error, text) = outcome(&server, "edit_file", &json!({ "name": name, "append": "x" }));
        assert!(is_error, "{name}: {text}");
        let edits = json!([{ "old_text": "", "new_text": "x" }]);
        assert!(outcome(&server, "file_edit", &json!({ "path": name, "edits": edits })).0, "{name}");
    }
    assert!(tree(folder.path()) == before, "something was changed");
}

fn secrets_at_the_top(folder: &Folder) {
    put(folder, "a.txt", "a\n");
    put(folder, "top.key", "secret\n");
    put(folder, "not portable.key", "secret\n");
    put(folder, "private/p.txt", "secret\n");
    folder.link("to-key", "top.key");
    folder.link("to-private", "private/p.txt");
}

#[test]
fn the_line_tools_and_resources_show_nothing_that_is_excluded() {
    for names in ["--names=portable", "--names=any", "--names=paths"] {
        let flags = [&EXCLUDES[..], &["--tools=lines,exact", names]].concat();
        on_both_with(&flags, secrets_at_the_top, |server, folder| {
            let listed = server.ok("list_files", json!({}));
            assert!(listed.contains("a.txt") && listed.ends_with("Total files: 1"), "{names}: {listed}");
            let resources = server.rpc("resources/list", json!({})).to_string();
            let shown = ["key", "private", "secret"].iter().any(|word| resources.contains(word));
            assert!(resources.contains("a.txt") && !shown, "{names}: {resources}");
            for name in ["top.key", "to-key", "to-private"] {
                assert!(outcome(server, "read_file", &json!({ "name": name })).0, "{name}");
                assert!(outcome(server, "edit_file", &json!({ "name": name, "append": "x" })).0, "{name}");
                let uri = file_uri(&folder.path().join(name));
                let read = server.rpc("resources/read", json!({ "uri": uri }));
                assert!(read.get("error").is_some(), "{read}");
            }
            assert!(outcome(server, "edit_file", &json!({ "name": "new.key", "append": "x" })).0);
        });
        direct_on_both_with(&flags, secrets_at_the_top, |server, folder| {
            let listed = server.direct("list_files", json!({}));
            assert_eq!((&listed["total_count"], &listed["files"][0]["name"]), (&json!(1), &json!("a.txt")));
            let create = json!({ "name": "new.key", "append": "x", "create_if_missing": true });
            server.direct_error("edit_file", create);
            server.direct_error("read_file", json!({ "name": "to-key" }));
            assert!(!folder.names().contains(&"new.key".to_owned()));
        });
    }
}

#[test]
fn a_move_of_a_link_does_not_tell_whether_something_is_at_the_excluded_path_to_which_it_leads() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let fill = |folder: &Folder| {
        put(folder, "secret/exc-1", "secret\n");
        put(folder, "repo/.git/config", "[core]\n");
        for (name, target) in [
            ("exc-1", "../secret/exc-1"),
            ("exc-0", "../secret/exc-0"),
            ("git-1", "../repo/.git/config"),
            ("git-0", "../repo/.git/none"),
        ] {
            make(folder, "a");
            folder.link(&format!("a/{name}"), target);
        }
        make(folder, "b");
    };
    on_all(&["--exclude=secret"], fill, |server, folder| {
        let before = tree(folder.path());
        for (is_there, is_not) in [("exc-1", "exc-0"), ("git-1", "git-0")] {
            let moved = |name: &str| {
                let arguments = json!({ "source": format!("a/{name}"), "destination": format!("b/{name}") });
                let (is_error, text) = outcome(server, "move_file", &arguments);
                (is_error, text.replace(name, "name"))
            };
            assert_eq!(moved(is_there), moved(is_not));
        }
        assert!(tree(folder.path()) == before);
    });
}
