//! The commands for a shell (contract 23): the tools of the set `agent` from the command line.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Folder, bare_command};
use crate::trees::put;

mod changes;
mod grep;
mod served; // by a server of the folder
mod tools;

/// What a command printed, and its exit code.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs a command in a folder, with `input` on its standard input.
fn run_with(folder: &Folder, words: &[&str], input: &str) -> Ran {
    let mut command: Command = bare_command();
    command.args(words).current_dir(folder.path()).env("XDG_STATE_HOME", folder.outside("state"));
    ran(command, input)
}

/// Runs a command line with `input` on its standard input.
fn ran(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("the command");
    // It may not read what it is given.
    let _ = process.stdin.take().expect("its standard input").write_all(input.as_bytes());
    let ended = process.wait_with_output().expect("its output");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: ended.status.code().expect("an exit code"), out: text(ended.stdout), err: text(ended.stderr) }
}

fn run(folder: &Folder, words: &[&str]) -> Ran {
    run_with(folder, words, "")
}

/// What a command that succeeds prints.
fn ok(folder: &Folder, words: &[&str]) -> String {
    let ran = run(folder, words);
    assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    ran.out
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn project() -> Folder {
    let folder = Folder::new();
    put(&folder, "src/main.rs", "fn main() {\n    total();\n}\n");
    put(&folder, "src/lib.rs", "pub fn total() {}\n");
    put(&folder, "notes.txt", "one\ntwo\r\nthree total\n");
    folder
}
