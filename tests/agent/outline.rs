//! `outline`: what is defined where.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::serve;
use crate::support::{Folder, Mcp, Stdio, while_others};
use crate::trees::{next_of, put};

const STORE: &str = "\
/// A store.
pub struct Store {
    path: String,
}

impl Store {
    /// Gets one.
    #[inline]
    pub fn get(&self) -> usize {
        1
    }

    fn hidden(&self) {}
}

fn main() {}
";

fn project() -> Folder {
    let folder = Folder::new();
    put(&folder, "src/store.rs", STORE);
    put(
        &folder,
        "src/a.py",
        "class Store:\n    def get(self, key):\n        a = 1\n        return a\n\n\ndef top(): pass\n",
    );
    put(&folder, "README.md", "# One\n\nText.\n\n## Two\n\nMore.\n");
    put(&folder, "notes.txt", "x\n");
    put(&folder, ".gitignore", "out/\n");
    put(&folder, "out/made.rs", "fn made() {}\n");
    folder
}

fn outline(server: &Stdio, arguments: Value) -> String {
    server.ok("outline", arguments)
}

#[test]
fn definitions_are_told_by_file_with_their_lines_and_what_is_around_them() {
    let folder = project();
    let server = serve(&folder, &["--read-only"]);
    let all = "README.md\n1-7 # One\n  5-7 ## Two\n\
        src/a.py\n1-4 class Store\n  2-4 def get(self, key)\n7-7 def top()\n\
        src/store.rs\n2-4 pub struct Store\n6-14 impl Store\n  9-11 pub fn get(&self) -> usize\n  13-13 fn hidden(&self)\n16-16 fn main()\n\
        [3 files outlined; left out: 1 ignored folder, 1 hidden file, 1 file of another language]";
    assert_eq!(outline(&server, json!({})), all);
    assert_eq!(
        outline(&server, json!({ "path": "", "name": "", "kind": "", "limit": 0 })),
        all,
        "empty is absent"
    );
    let file = outline(&server, json!({ "path": "src/store.rs", "public": true }));
    assert_eq!(
        file,
        "src/store.rs\n2-4 pub struct Store\n6-14 impl Store\n  9-11 pub fn get(&self) -> usize"
    );
    assert_eq!(outline(&server, json!({ "path": "out/made.rs" })), "out/made.rs\n1-1 fn made()");
    let kinds = outline(&server, json!({ "pattern": "*.md", "kind": "heading" }));
    assert!(kinds.starts_with("README.md\n1-7 # One\n  5-7 ## Two\n[1 file outlined; left out: "), "{kinds}");
}

#[test]
fn a_name_is_found_wherever_it_is_defined() {
    let folder = project();
    let server = serve(&folder, &[]);
    let named = |name: &str| {
        outline(&server, json!({ "name": name })).rsplit_once("\n[").expect("a balance").0.to_owned()
    };
    let both = "src/a.py\n1-4 class Store\n  2-4 def get(self, key)\nsrc/store.rs\n6-14 impl Store\n  9-11 pub fn get(&self) -> usize";
    for name in ["get", "Store.get", "Store::get"] {
        assert_eq!(named(name), both, "{name}");
    }
    assert_eq!(named("hid"), "Nothing of that name is defined; near: hidden", "a part is no name");
    assert_eq!(named("Store"), "src/a.py\n1-4 class Store\nsrc/store.rs\n2-4 pub struct Store");
}

#[test]
fn the_longest_come_first_and_pages_are_together_the_whole() {
    let folder = project();
    let server = serve(&folder, &[]);
    let longest = outline(&server, json!({ "sort": "length", "kind": "Functions" }));
    let expected = [
        "3 src/a.py:2-4 def get(self, key) [in Store]",
        "3 src/store.rs:9-11 pub fn get(&self) -> usize [in Store]",
    ];
    assert_eq!(longest.lines().take(2).collect::<Vec<_>>(), expected, "{longest}");
    let by_name = outline(&server, json!({ "sort": "name", "path": "src/store.rs" }));
    let names = ["2-4 pub struct Store", "6-14 impl Store", "9-11 pub fn get(&self) -> usize [in Store]"];
    let names: Vec<String> = names.iter().map(|name| format!("src/store.rs:{name}")).collect();
    assert_eq!(by_name.lines().take(3).collect::<Vec<_>>(), names, "{by_name}");
    for sort in ["place", "length", "name"] {
        let numbers = |text: &str| -> Vec<String> {
            let is_entry = |line: &&str| line.contains('-') && !line.starts_with('[');
            text.lines().filter(is_entry).map(|line| line.trim().to_owned()).collect()
        };
        let whole = numbers(&outline(&server, json!({ "sort": sort })));
        let (mut pages, mut arguments) = (Vec::new(), json!({ "sort": sort, "limit": 2 }));
        loop {
            let page = server.tool("outline", arguments);
            // What is around a definition stands on each page.
            pages.extend(
                numbers(&page.text)
                    .into_iter()
                    .filter(|line| sort != "place" || !pages.contains(line))
                    .collect::<Vec<_>>(),
            );
            match next_of(&page) {
                Some(next) => arguments = next,
                None => break,
            }
        }
        assert_eq!(pages, whole, "{sort}");
    }
    let error = server.tool("outline", json!({ "cursor": "AAAAAAAA" }));
    assert!(error.is_error, "{}", error.text);
}

#[test]
fn a_file_that_has_changed_is_outlined_again() {
    let folder = project();
    let server = serve(&folder, &[]);
    assert!(outline(&server, json!({ "path": "src/a.py" })).contains("7-7 def top()"));
    put(&folder, "src/a.py", "\ndef other(): pass\n");
    assert_eq!(outline(&server, json!({ "path": "src/a.py" })), "src/a.py\n2-2 def other()");
    put(&folder, "src/a.py", "def other(): pass\ndef (:\n");
    assert!(
        outline(&server, json!({ "path": "src/a.py" }))
            .starts_with("src/a.py (syntax error in line 2)\n1-1 def other()")
    );
}

#[test]
fn hostile_files_are_named_and_the_others_are_outlined() {
    let folder = Folder::new();
    put(&folder, "good.rs", "fn good() {}\n");
    put(&folder, "binary.rs", "fn a() {}\0");
    put(&folder, "large.rs", "// x\n".repeat(300_000));
    put(&folder, "line.json", format!("{{\"a\": \"{}\"}}", "x".repeat(900_000)));
    put(&folder, "deep.json", format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)));
    put(&folder, "deep.rs", "mod a {".repeat(50_000));
    let server = serve(&folder, &["--timeout=300"]);
    let told = outline(&server, json!({}));
    for part in [
        "good.rs\n1-1 fn good()",
        "1-1 \"a\": \"xxx",
        "[binary.rs is not outlined: it is not valid UTF-8",
        "[large.rs is not outlined: it is over 1 MiB]",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(told.len() < 24_000, "{}", told.len());
    assert_eq!(outline(&server, json!({ "path": "good.rs" })), "good.rs\n1-1 fn good()");
    let error = server.tool("outline", json!({ "path": "none.txt" }));
    assert!(error.is_error, "{}", error.text);
    put(&folder, "a.txt", "x");
    let error = server.tool("outline", json!({ "path": "a.txt" }));
    assert!(error.is_error && error.text.contains("no language"), "{}", error.text);
}

/// A server whose program lies in a folder, with this program as its analyzer.
fn serve_with(folder: &Folder, analyzer: Option<&str>) -> Stdio {
    let place = folder.outside("alone");
    fs::create_dir_all(&place).expect("a folder");
    let program = place.join("file-editor");
    // By another process: one that has the copy open for writing could not start it.
    let done = Command::new("cp").arg(env!("CARGO_BIN_EXE_file-editor")).arg(&program).status();
    assert!(done.expect("cp").success());
    if let Some(script) = analyzer {
        let script = format!("printf '#!/bin/sh\\n%s\\n' '{script}' > \"$0\" && chmod 755 \"$0\"");
        let done = Command::new("sh").arg("-c").arg(script).arg(place.join("file-editor-analyzer")).status();
        assert!(done.expect("sh").success());
    }
    let mut command = Command::new(program);
    command
        .arg("--transport=stdio")
        .arg("--tools=agent")
        .arg("--journal=off")
        .arg("--dir")
        .arg(folder.path());
    Stdio::run(command).ready()
}

#[test]
#[cfg(unix)]
fn without_a_good_analyzer_the_call_says_so_and_all_else_works() {
    for (analyzer, part) in [
        (None, "file-editor-analyzer"),
        (Some("exit 3"), "it ended at once"),
        (Some("echo what is this program"), "it ended at once"),
    ] {
        let folder = project();
        let server = serve_with(&folder, analyzer);
        let told = server.tool("outline", json!({ "name": "get" }));
        assert!(told.is_error && told.text.contains(part), "{analyzer:?}: {}", told.text);
        assert!(server.ok("grep", json!({ "pattern": "fn main" })).contains("16: fn main"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn when_it_is_killed_the_next_call_works() {
    let folder = Folder::new();
    for number in 0..40 {
        put(&folder, &format!("{number}.rs"), "fn a() { b(1, 2); }\n".repeat(2_000 + number));
    }
    let server = serve(&folder, &["--timeout=300"]);
    let kill = || {
        let tasks = fs::read_dir(format!("/proc/{}/task", server.pid())).expect("its threads");
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            // After its greeting: one that dies before cannot be used at all.
            let is_ready = |child: &&str| {
                fs::read_to_string(format!("/proc/{child}/io"))
                    .is_ok_and(|told| !told.contains("\nwchar: 0\n"))
            };
            for child in children.split_whitespace().filter(is_ready) {
                // It may have ended by itself.
                let _ =
                    Command::new("kill").args(["-KILL", child]).stderr(std::process::Stdio::null()).status();
            }
        }
    };
    while_others(kill, || {
        let told = outline(&server, json!({ "limit": 1 }));
        assert!(told.contains("40 files outlined") || told.contains("the analyzer died of it"), "{told}");
    });
    assert!(outline(&server, json!({ "limit": 1 })).contains("[40 files outlined;"));
}
