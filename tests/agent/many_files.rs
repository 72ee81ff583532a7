//! Jobs over more files than the system lets the server have open.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::json;

use super::{id, serve};
use crate::support::{Folder, Mcp};
use crate::trees::put;

/// How many files the server may have open: 256 of them are spared for everything else.
const LIMIT: u64 = 300;
const FOLDERS: usize = 8;
const FILES: usize = 640;

#[test]
fn a_replace_in_more_files_than_may_be_open_is_carried_out_and_taken_back() {
    let folder = Folder::new();
    let path = |number: usize| format!("d{}/f{number}", number % FOLDERS);
    for number in 0..FILES {
        put(&folder, &path(number), format!("word {number}\n"));
    }
    let server = serve(&folder, &["--sync=none"]);
    let limit = Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) };
    let pid = i32::try_from(server.pid()).expect("a process id");
    prlimit(Pid::from_raw(pid), Resource::Nofile, limit).expect("a limit");
    let replace = json!({ "pattern": "word", "replacement": "text", "expected": FILES });
    let dry = server.ok("replace", json!({ "pattern": "word", "replacement": "text", "dry_run": true }));
    assert!(dry.contains(&format!("{FILES} places")), "{dry}");
    let change = id(&server.ok("replace", replace.clone()));
    let texts = |word: &str| {
        let is_so = |number: &usize| folder.text(&path(*number)) == format!("{word} {number}\n");
        (0..FILES).filter(is_so).count()
    };
    assert_eq!(texts("text"), FILES);
    server.ok("undo", json!({ "change": change }));
    assert_eq!(texts("word"), FILES);
    // A folder for each file needs a descriptor for each.
    for number in 0..LIMIT {
        put(&folder, &format!("many/d{number}/f"), "only\n");
    }
    let refused = server.tool("replace", json!({ "pattern": "only", "replacement": "x" }));
    assert!(refused.is_error && refused.text.contains("replace in parts"), "{}", refused.text);
    assert!(!folder.names().iter().any(|name| name.contains(".file-editor-tmp-")));
}

#[test]
fn a_folder_with_more_files_than_may_be_open_is_deleted_and_comes_back() {
    let folder = Folder::new();
    let path = |number: usize| format!("top/d{}/f{number}", number % FOLDERS);
    (0..FILES).for_each(|number| put(&folder, &path(number), format!("{number}\n")));
    let server = serve(&folder, &["--sync=none"]);
    let limit = Rlimit { current: Some(LIMIT), maximum: Some(LIMIT) };
    let pid = i32::try_from(server.pid()).expect("a process id");
    prlimit(Pid::from_raw(pid), Resource::Nofile, limit).expect("a limit");
    let change = id(&server.ok("edit", json!({ "path": "top", "delete": true, "recursive": true })));
    assert_eq!(folder.names(), [""; 0]);
    let undone = id(&server.ok("undo", json!({ "change": change })));
    assert!((0..FILES).all(|number| folder.text(&path(number)) == format!("{number}\n")));
    server.ok("undo", json!({ "change": undone }));
    assert_eq!(folder.names(), [""; 0]);
}
