//! `log`, `changes` and `undo`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use super::{json, ok, project, run};
use crate::agent::serve;
use crate::support::{Mcp, bare_command};

#[test]
fn the_changes_of_servers_and_commands_are_in_one_log_and_any_of_them_can_be_taken_back() {
    let folder = project();
    let server = serve(&folder, &[]);
    server.ok(
        "edit",
        json!({ "path": "src/lib.rs", "old": "total", "new": "sum", "message": "a shorter name" }),
    );
    ok(&folder, &["replace", "three", "3"]);
    let log = ok(&folder, &["log"]);
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("c1  2") && lines[0].ends_with("edit  src/lib.rs: a shorter name"), "{log}");
    assert!(lines[1].contains(", command line (") && lines[1].ends_with("replace  notes.txt"), "{log}");
    assert_eq!(ok(&folder, &["log", "-n1"]), format!("{}\n", lines[1]));
    let told: Vec<_> = ok(&folder, &["log", "--json"]).lines().map(json).collect();
    assert_eq!((&told[0]["id"], &told[0]["files"]), (&json!("c1"), &json!(["src/lib.rs"])));
    // Without an id, the last one of a command line.
    assert!(ok(&folder, &["undo"]).starts_with("Undone: c2."));
    assert!(run(&folder, &["undo"]).err.contains("this session has made no change"));
    assert!(ok(&folder, &["undo", "1"]).starts_with("Undone: c1."));
    assert_eq!(folder.text("src/lib.rs"), "pub fn total() {}\n");
    assert!(ok(&folder, &["undo", "c4"]).starts_with("Undone: c4."));
    assert_eq!(folder.text("src/lib.rs"), "pub fn sum() {}\n");
}

#[test]
fn one_change_is_shown_with_what_has_become_of_its_files() {
    let folder = project();
    ok(&folder, &["replace", "total", "sum", "src"]);
    ok(&folder, &["replace", "three", "3"]);
    let shown = ok(&folder, &["changes", "c1"]);
    assert!(
        shown.contains("-pub fn total() {}\n+pub fn sum() {}\n") && !shown.contains("notes.txt"),
        "{shown}"
    );
    assert!(ok(&folder, &["changes", "--since=c1"]).contains("-three total\n+3 total\n"));
    let all = ok(&folder, &["changes", "--no-diff"]);
    assert!(all.starts_with("2 changes in 3 files\n") && !all.contains("+"), "{all}");
}

#[test]
fn a_log_that_is_followed_tells_changes_as_they_come() {
    let folder = project();
    let mut command = bare_command();
    command
        .args(["log", "--follow"])
        .current_dir(folder.path())
        .env("XDG_STATE_HOME", folder.outside("state"));
    let mut follower = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the command");
    let mut lines = BufReader::new(follower.stdout.take().expect("its output")).lines();
    for (number, text) in ["sum", "count"].iter().enumerate() {
        ok(&folder, &["replace", "total|sum", text, "src/lib.rs"]);
        let line = lines.next().expect("a line").expect("text");
        assert!(line.starts_with(&format!("c{}  ", number + 1)), "{line}");
    }
    follower.kill().expect("the command killed");
    follower.wait().expect("its end");
}

#[test]
fn the_log_names_no_path_that_is_excluded() {
    let folder = project();
    ok(&folder, &["replace", "total", "sum"]);
    let log = ok(&folder, &["log", "--exclude=notes.txt"]);
    assert!(
        log.contains("src/lib.rs") && log.contains("an excluded path") && !log.contains("notes"),
        "{log}"
    );
    let told = ok(&folder, &["log", "--json", "--exclude=notes.txt"]);
    assert!(told.contains("\"an excluded path\"") && !told.contains("notes"), "{told}");
}
