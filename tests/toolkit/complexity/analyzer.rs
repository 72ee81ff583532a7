//! The program that parses: what confines it, when it runs, and what happens without it and when it dies.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use analyzer_wire::{Language, Made, Wanted, read_answer, read_hello, write_text};
use serde_json::{Value, json};

use super::{TOOL, json_of, serve};
use crate::support::{Folder, Mcp, Stdio as Server, while_others};
use crate::trees::put;

const BRANCH: &str = "fn f(a: bool) { if a {} }\n";

/// The process numbers of a process's children.
fn children(of: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{of}/task")).expect("the threads of the server");
    let told = tasks.map(|task| fs::read_to_string(task.expect("a thread").path().join("children")));
    told.flat_map(|told| told.unwrap_or_default().split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// A server whose program lies alone in a folder.
fn serve_without_analyzer(folder: &Folder) -> Server {
    let copy = folder.outside("alone");
    fs::create_dir_all(&copy).expect("a folder");
    let copy = copy.join("file-editor");
    // By another process: one that has the copy open for writing could not start it.
    let done = Command::new("cp").arg(env!("CARGO_BIN_EXE_file-editor")).arg(&copy).status();
    assert!(done.expect("cp").success());
    let mut command = Command::new(copy);
    command.arg("--transport=stdio").arg("--tools=filesystem,toolkit").arg("--dir").arg(folder.path());
    Server::run(command).ready()
}

#[test]
fn its_process_opens_nothing_and_has_limits() {
    let mut analyzer = Command::new(env!("CARGO_BIN_EXE_file-editor-analyzer"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the analyzer");
    let (mut input, mut output) =
        (analyzer.stdin.take().expect("a pipe"), analyzer.stdout.take().expect("a pipe"));
    let hello = read_hello(&mut output).expect("a greeting");
    for by in ["memory limit", "seccomp"] {
        assert!(hello.confined_by.iter().any(|told| told == by), "{hello:?}");
    }
    write_text(Wanted::Figures, Language::Rust, BRANCH.as_bytes(), &mut input).expect("a text");
    let answer = read_answer(&mut output).expect("an answer");
    assert!(matches!(&answer, Ok(Made::Figures(report)) if report.max_cyclomatic() == 2), "{answer:?}");
    let told = |of: &str| fs::read_to_string(format!("/proc/{}/{of}", analyzer.id())).expect("/proc");
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(told("status").contains(line), "{}", told("status"));
    }
    let limits = told("limits");
    let limit = |name: &str| limits.lines().find(|line| line.starts_with(name)).expect("a limit").to_owned();
    assert!(limit("Max open files").contains(" 0 "), "{limits}");
    assert!(!limit("Max data size").contains("unlimited"), "{limits}");
    drop(input);
    assert!(analyzer.wait().expect("its end").success(), "it ends with its input");
}

#[test]
fn what_is_no_message_ends_it_and_harms_nothing() {
    for bytes in
        [&b"\xFF\0\x01\0\0\0x"[..], b"\0\xFF\x01\0\0\0x", b"\0\0\xFF\xFF\xFF\xFFx", b"\0\0\x05\0\0\0ab"]
    {
        let mut analyzer = Command::new(env!("CARGO_BIN_EXE_file-editor-analyzer"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the analyzer");
        analyzer.stdin.take().expect("a pipe").write_all(bytes).expect("bytes");
        assert_eq!(analyzer.wait().expect("its end").code(), Some(1), "{bytes:?}");
    }
}

#[test]
fn it_runs_only_while_texts_are_analysed() {
    let folder = Folder::new();
    put(&folder, "a.rs", BRANCH);
    let server = serve(&folder, &[]);
    assert_eq!(children(server.pid()), [""; 0], "before the first call");
    let answer = json_of(&server, json!({ "project_path": ".", "toolchain": "rust" }));
    assert_eq!(answer["summary"]["functions"], 1, "{answer}");
    assert_eq!(children(server.pid()), [""; 0], "after the call");
}

#[test]
fn when_it_is_killed_each_file_is_analysed_or_named_and_the_next_call_works() {
    let folder = Folder::new();
    for number in 0..40 {
        put(&folder, &format!("{number}.rs"), BRANCH.repeat(2_000 + number));
    }
    let server = serve(&folder, &[]);
    // After its greeting: one that dies before cannot be used at all.
    let is_ready = |child: &String| {
        fs::read_to_string(format!("/proc/{child}/io")).is_ok_and(|told| !told.contains("\nwchar: 0\n"))
    };
    let kill = || {
        for child in children(server.pid()).into_iter().filter(is_ready) {
            // It may have ended by itself.
            let _ = Command::new("kill").args(["-KILL", &child]).stderr(Stdio::null()).status();
        }
    };
    let all = json!({ "project_path": ".", "toolchain": "rust" });
    let count = |answer: &Value, name: &str| answer["summary"][name].as_u64().expect("a number");
    while_others(kill, || {
        for _ in 0..3 {
            let answer = json_of(&server, all.clone());
            assert_eq!(count(&answer, "files") + count(&answer, "files_not_analyzed"), 40, "{answer}");
            let reasons = answer["summary"]["not_analyzed"].to_string();
            assert!(count(&answer, "files_not_analyzed") == 0 || reasons.contains("crashes"), "{reasons}");
        }
    });
    let answer = json_of(&server, all);
    assert_eq!(count(&answer, "files"), 40, "a file that was not analysed is tried again: {answer}");
}

#[test]
fn without_it_the_tool_says_what_is_missing_and_all_else_works() {
    let folder = Folder::new();
    put(&folder, "a.rs", BRANCH);
    let server = serve_without_analyzer(&folder);
    let told = server.tool(TOOL, json!({ "project_path": ".", "toolchain": "rust" }));
    assert!(told.is_error, "{told:?}");
    let told = told.text;
    for part in ["file-editor-analyzer", "Every package of file-editor has it"] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(server.ok("read_text_file", json!({ "path": "a.rs" })), BRANCH);
    let nothing = server.ok(TOOL, json!({ "project_path": ".", "toolchain": "deno" }));
    assert!(nothing.contains("0 files analyzed"), "no file of the toolchain needs it: {nothing}");
}
