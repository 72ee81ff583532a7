//! Trees on a file system whose look-ups wait for another machine: strace delays the calls that look at files.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::put;
use crate::support::{Call, Folder, Mcp, Stdio, calls, command, under_strace, with_limit};

/// Folders in the tree, and files in each of them.
const FOLDERS: usize = 24;
const FILES: usize = 4;

fn fill(folder: &Folder) {
    for n in 0..FOLDERS {
        for file in 0..FILES {
            put(folder, &format!("d{n:02}/f{file}.rs"), format!("fn needle_{n}_{file}() {{}}\n"));
        }
        put(folder, &format!("t{n:02}.txt"), "one\ntwo\n");
    }
}

/// The answer to a call on `server`, for which `delayed` calls take 30 ms longer, and the most of them that waited at the
/// same time; `None` without strace.
fn slowly(
    folder: &Folder,
    server: &Command,
    tool: &str,
    arguments: Value,
    delayed: &str,
) -> Option<(String, usize)> {
    let trace = folder.outside("trace");
    let (only, delay) = (format!("trace={delayed}"), format!("inject={delayed}:delay_enter=30000"));
    let into = trace.to_str().expect("UTF-8");
    let command = under_strace(server, &["-o", into, "-e", &only, "-e", &delay])?;
    let server = Stdio::run(command).ready();
    let answer = server.tool(tool, arguments);
    assert!(!answer.is_error, "{}", answer.text);
    assert!(server.close().success());
    Some((answer.text, most_at_once(&trace)))
}

/// The largest number of calls that were under way at the same time.
fn most_at_once(trace: &Path) -> usize {
    let calls = calls(trace);
    let at_once =
        |one: &Call| calls.iter().filter(|call| call.began <= one.began && one.began < call.ended).count();
    calls.iter().map(at_once).max().unwrap_or(0)
}

/// A call has the same answer as without delays, and many of its look-ups wait at the same time.
#[track_caller]
fn check(folder: &Folder, flags: &[&str], tool: &str, arguments: Value, delayed: &str) {
    let server = command(folder, "stdio", flags);
    let Some((slow, at_once)) = slowly(folder, &server, tool, arguments.clone(), delayed) else { return };
    let usual = Stdio::start(folder, flags).tool(tool, arguments).text;
    assert_eq!(slow, usual, "{tool}");
    assert!(at_once >= 8, "{tool}: {at_once} at once");
}

const TREES: [&str; 1] = ["--tools=filesystem,search"];

#[test]
fn a_list_looks_at_several_files_at_once() {
    let folder = Folder::new();
    fill(&folder);
    check(&folder, &[], "list_files", json!({}), "newfstatat,statx");
}

#[test]
fn a_list_with_sizes_looks_at_several_entries_at_once() {
    let folder = Folder::new();
    fill(&folder);
    check(&folder, &TREES, "list_directory_with_sizes", json!({ "path": "." }), "newfstatat,statx");
}

#[test]
fn files_by_their_times_are_looked_at_several_at_once() {
    let folder = Folder::new();
    fill(&folder);
    check(&folder, &TREES, "glob", json!({ "pattern": "*.rs", "sort": "size" }), "newfstatat,statx");
}

#[test]
fn a_search_looks_at_several_files_at_once() {
    let folder = Folder::new();
    fill(&folder);
    let arguments = json!({ "pattern": "needle_[0-9]+_3", "output_mode": "content" });
    check(&folder, &TREES, "grep", arguments, "newfstatat,statx");
}

#[test]
fn under_a_limit_of_the_address_space_a_call_looks_at_few_files_at_once() {
    let folder = Folder::new();
    fill(&folder);
    let server = with_limit(&command(&folder, "stdio", &TREES), &format!("-v {}", 1_500 << 10));
    for (tool, arguments) in [
        ("grep", json!({ "pattern": "needle_[0-9]+_3", "output_mode": "content" })),
        ("glob", json!({ "pattern": "*.rs", "sort": "size" })),
    ] {
        // Each thread takes a part of the space, and a process that has none left is ended.
        let Some((_, at_once)) = slowly(&folder, &server, tool, arguments, "newfstatat,statx") else {
            return;
        };
        assert!((2..=5).contains(&at_once), "{tool}: {at_once} at once");
    }
}

#[test]
fn a_walk_reads_several_folders_at_once() {
    not_under_wine!("has system calls fail or wait with strace");
    let folder = Folder::new();
    fill(&folder);
    check(&folder, &TREES, "directory_tree", json!({ "path": "." }), "openat");
}

#[test]
#[cfg(feature = "toolkit")]
fn an_analysis_looks_at_several_files_at_once() {
    let folder = Folder::new();
    fill(&folder);
    let arguments = json!({ "project_path": ".", "toolchain": "rust" });
    check(&folder, &["--tools=toolkit"], "analyze_complexity", arguments, "newfstatat,statx");
}
