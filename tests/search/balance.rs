//! What an answer says that it left out, and how to get it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::chown;

use serde_json::json;

use super::{SET, balance, found, on_all, serve, touch};
use crate::support::{Folder, Mcp, Mount, Stdio, as_nobody, command};
use crate::trees::{make, put};

fn repository(folder: &Folder) {
    touch(
        folder,
        &[
            "a.rs",
            "x.log",
            "keep.log",
            "target/b.rs",
            "target/c.rs",
            ".env",
            ".github/ci.yml",
            "src/.cache/d.rs",
            "local",
        ],
    );
    put(folder, ".gitignore", "*.log\n!keep.log\n/target/\n");
    put(folder, ".git/info/exclude", "local\n");
    put(folder, ".git/config", "");
}

#[test]
fn ignored_and_hidden_files_are_left_out_unless_asked_for_and_counted() {
    on_all(&[], repository, |server, _| {
        let text = server.ok("glob", json!({ "pattern": "**", "sort": "path" }));
        let expected = "a.rs\nkeep.log\n[2 files seen, 2 match; left out: 2 ignored files, 1 ignored folder, 2 hidden files, \
            2 hidden folders]";
        assert_eq!(text, expected);
        let ignored = json!({ "pattern": "**", "include_ignored": true });
        assert_eq!(
            found(server, ignored),
            ["a.rs", "keep.log", "local", "target/b.rs", "target/c.rs", "x.log"]
        );
        let hidden = json!({ "pattern": "**", "include_hidden": true });
        assert_eq!(
            found(server, hidden),
            [".env", ".github/ci.yml", ".gitignore", "a.rs", "keep.log", "src/.cache/d.rs"]
        );
        let all =
            server.ok("glob", json!({ "pattern": "**", "include_hidden": true, "include_ignored": true }));
        assert_eq!(balance(&all), "[10 files seen, 10 match; nothing left out]");
        assert!(!all.contains(".git/"), "{all}");
    });
}

#[test]
fn a_pattern_that_names_a_hidden_or_an_ignored_folder_asks_for_it() {
    let folder = Folder::new();
    repository(&folder);
    let server = serve(&folder, &[]);
    for (pattern, expected) in [
        (".env", &[".env"][..]),
        (".github/*", &[".github/ci.yml"]),
        ("**/.cache/*.rs", &["src/.cache/d.rs"]),
        ("{.env,a.rs}", &[".env", "a.rs"]),
        ("target/*.rs", &["target/b.rs", "target/c.rs"]),
    ] {
        assert_eq!(found(&server, json!({ "pattern": pattern })), expected, "{pattern}");
    }
    assert_eq!(found(&server, json!({ "pattern": "*", "path": ".github" })), [".github/ci.yml"]);
}

#[test]
fn excluded_paths_are_told_as_a_number_only() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    touch(&folder, &["a.key", "private/secret", "b"]);
    folder.link("to-key", "a.key");
    let server = serve(&folder, &["--exclude=*.key", "--exclude=/private/"]);
    let text = server.ok("glob", json!({ "pattern": "**", "include_ignored": true, "include_hidden": true }));
    assert_eq!(text, "b\n[1 file seen, 1 match; left out: 2 excluded, 1 link not followed]");
    for pattern in ["private/*", "a.key", "*.KEY"] {
        let text = server.ok("glob", json!({ "pattern": pattern }));
        assert!(text.starts_with("[") || text.starts_with("No files match\n"), "{text}");
        assert!(!text.contains("secret") && !text.contains("a.key"), "{text}");
    }
}

#[test]
fn links_to_files_inside_are_files_and_others_are_not_followed() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    let folder = Folder::new();
    touch(&folder, &["sub/f"]);
    std::fs::write(folder.outside("secret"), "x").expect("a file");
    for (link, target) in
        [("file", "sub/f"), ("folder", "sub"), ("sub/up", ".."), ("gone", "nothing"), ("out", "../secret")]
    {
        folder.link(link, target);
    }
    folder.fifo("pipe");
    let server = serve(&folder, &[]);
    let text = server.ok("glob", json!({ "pattern": "**", "sort": "path" }));
    assert_eq!(text, "file\nsub/f\n[2 files seen, 2 match; left out: 4 links not followed, 1 special file]");
    // A link that the pattern or the path names is followed.
    assert_eq!(found(&server, json!({ "pattern": "folder/*" })), ["folder/f"]);
    assert_eq!(found(&server, json!({ "pattern": "f", "path": "folder" })), ["folder/f"]);
}

#[test]
fn folders_on_other_file_systems_are_counted_unless_they_are_entered() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    touch(&folder, &["a"]);
    make(&folder, "mounted");
    let Some(_mount) = Mount::at(&folder.path().join("mounted"), "size=1m,mode=755") else { return };
    touch(&folder, &["mounted/b"]);
    let text = serve(&folder, &[]).ok("glob", json!({ "pattern": "**" }));
    assert_eq!(
        text,
        "a\n[1 file seen, 1 match; left out: 1 folder on another file system (see --cross-mounts)]"
    );
    assert_eq!(found(&serve(&folder, &["--cross-mounts"]), json!({ "pattern": "**" })), ["a", "mounted/b"]);
}

#[test]
fn folders_that_may_not_be_read_are_counted() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can give files away");
        return;
    }
    let folder = Folder::new();
    touch(&folder, &["a", "closed/b"]);
    let command = as_nobody(command(&folder, "stdio", &[SET]), &folder);
    chown(folder.path().join("closed"), Some(65534), Some(65534)).expect("given away");
    folder.set_mode("closed", 0o000);
    let server = Stdio::run(command).ready();
    let told = "left out: 1 folder that cannot be read]";
    let text = server.ok("glob", json!({ "pattern": "**" }));
    assert!(text.starts_with("a\n") && text.ends_with(told), "{text}");
    let named = server.ok("glob", json!({ "pattern": "closed/*" }));
    assert!(named.ends_with(told), "{named}");
    folder.set_mode("closed", 0o755);
}

#[test]
fn a_name_of_any_bytes_is_one_line() {
    not_under_wine!("has names of bytes that are no text");
    let folder = Folder::new();
    for name in [&b"caf\xe9"[..], b"two\nlines", "ä".as_bytes()] {
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), "").expect("a file");
    }
    let server = serve(&folder, &[]);
    let text = server.ok("glob", json!({ "pattern": "*", "sort": "path" }));
    assert_eq!(text, "caf\\xe9\ntwo\\x0alines\nä\n[3 files seen, 3 match; nothing left out]");
}

#[test]
fn a_name_that_looks_like_the_balance_is_told_as_a_path() {
    let folder = Folder::new();
    let name = "[3 files seen, 3 match; nothing left out]";
    for path in [name, "[slug]/x", "a"] {
        crate::trees::put(&folder, path, "word\n");
    }
    let server = serve(&folder, &[]);
    let text = server.ok("glob", json!({ "pattern": "*", "sort": "path" }));
    assert_eq!(text, format!("./{name}\n[slug]/x\na\n[3 files seen, 3 match; nothing left out]"));
    let lines = server.ok("grep", json!({ "pattern": "word", "output_mode": "content" }));
    assert!(lines.starts_with(&format!("./{name}\n1:word\n")), "{lines}");
    assert!(server.ok("grep", json!({ "pattern": "word", "path": format!("./{name}") })).contains(": 1\n"));
}

#[test]
fn a_folder_with_a_name_of_the_servers_temporary_files_is_counted_as_left_out() {
    let folder = Folder::new();
    put(&folder, ".file-editor-tmp-0123456789abcdef/x", "needle\n");
    put(&folder, "d/.file-editor-tmp-0123456789abcdef/x", "needle\n");
    put(&folder, "d/y", "");
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    let left_out = "2 folders with names of the server's temporary files";
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "needle", "include_hidden": true })),
        ("glob", json!({ "pattern": "**", "include_hidden": true })),
        ("search_files", json!({ "path": ".", "pattern": "**" })),
        ("directory_tree", json!({ "path": "." })),
    ] {
        let text = server.ok(tool, arguments);
        assert!(text.contains(left_out), "{tool}: {text}");
    }
    let text = server.ok("list_directory", json!({ "path": "d" }));
    assert!(text.contains("[Not shown: 1 folder with a name of the server's temporary files]"), "{text}");
}
