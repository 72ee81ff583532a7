//! Commands that a server of their folder carries out, and what becomes of them when that server is odd, or ends in the middle.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::{Ran, project, ran};
use crate::support::{Folder, Mcp, Stdio, bare_command, command, until};
use crate::trees::put;

/// A server of the folder that answers commands, and logs that it does.
fn serve(folder: &Folder, flags: &[&str]) -> Stdio {
    let flags = [&["--tools=agent", "--log-level=debug"], flags].concat();
    let mut command = command(folder, "stdio", &flags);
    command.env("XDG_RUNTIME_DIR", folder.outside("run"));
    Stdio::run(command).ready()
}

/// Runs a command in a folder below, where a server may be asked.
fn run_in(folder: &Folder, below: &str, words: &[&str], input: &str) -> Ran {
    let mut command = bare_command();
    command.args(words).current_dir(folder.path().join(below));
    command.env("XDG_STATE_HOME", folder.outside("state")).env("XDG_RUNTIME_DIR", folder.outside("run"));
    ran(command, input)
}

fn run(folder: &Folder, words: &[&str]) -> Ran {
    run_in(folder, "", words, "")
}

/// The sockets of the servers of a folder.
fn sockets(folder: &Folder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.outside("run").join("file-editor")).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// Waits until a server has logged that it answers `count` commands, and returns whether it has logged no further one.
fn has_answered(server: &Stdio, count: usize) -> bool {
    let answered = || server.stderr().matches("command client=").count();
    until("the server logs the commands", || answered() >= count);
    answered() == count
}

/// In place of the socket of a server, one that passes its hello on, `heard` bytes of its answer, and nothing more.
fn ends_after(folder: &Folder, heard: usize) -> JoinHandle<()> {
    let [socket] = &sockets(folder)[..] else { panic!("one socket") };
    let real = folder.outside("real");
    fs::rename(socket, &real).expect("renamed");
    let listener = UnixListener::bind(socket).expect("a socket");
    std::thread::spawn(move || {
        let (mut command, _) = listener.accept().expect("a command");
        let mut server = UnixStream::connect(real).expect("the server");
        let mut len = [0; 8];
        server.read_exact(&mut len).expect("a length");
        let mut hello = vec![0; u64::from_le_bytes(len) as usize];
        server.read_exact(&mut hello).expect("a hello");
        command.write_all(&[&len[..], &hello].concat()).expect("passed on");
        command.read_exact(&mut len).expect("a length");
        let mut request = vec![0; u64::from_le_bytes(len) as usize];
        command.read_exact(&mut request).expect("a request");
        server.write_all(&[&len[..], &request].concat()).expect("passed on");
        let mut answer = Vec::new();
        server.read_to_end(&mut answer).expect("an answer");
        command.write_all(&answer[..heard.min(answer.len())]).expect("passed on");
    })
}

#[test]
fn a_command_that_a_server_answers_prints_what_it_prints_alone() {
    let (alone, folder) = (project(), project());
    let server = serve(&folder, &[]);
    let steps: [(&str, &[&str], &str); 12] = [
        ("", &["grep", "-n", "total"], ""),
        ("src", &["grep", "total"], ""),
        ("", &["grep", "nowhere"], ""),
        ("", &["grep", "("], ""),
        ("", &["grep", "--json", "total", "src/lib.rs"], ""),
        ("", &["files"], ""),
        ("src", &["files", "*.rs"], ""),
        ("", &["read", "notes.txt:2-3"], ""),
        ("", &["read", "--json", "none"], ""),
        ("", &["edit"], r#"{"path":"src/lib.rs","old":"total","new":"sum"}"#),
        ("src", &["replace", "total", "sum", "main.rs"], ""),
        ("", &["undo", "1"], ""),
    ];
    let count = steps.len();
    for (below, words, input) in steps {
        let ran = run_in(&folder, below, words, input);
        assert_eq!(ran, run_in(&alone, below, words, input), "{words:?}");
    }
    for file in ["src/main.rs", "src/lib.rs", "notes.txt"] {
        assert_eq!(folder.text(file), alone.text(file));
    }
    assert!(has_answered(&server, count), "{}", server.stderr());
    // What a command has changed is known to the server's client, and the other way round.
    assert!(server.ok("changes", json!({ "since": "c0" })).contains("command line"));
    let log = run(&folder, &["log"]).out;
    assert_eq!(log.lines().count(), 2, "that of src is in the journal of src, as without a server: {log}");
}

#[test]
fn a_command_with_other_options_than_the_server_is_seen_with_its_own() {
    let folder = project();
    let server = serve(&folder, &["--exclude=*.txt"]);
    assert!(run(&folder, &["grep", "-l", "total"]).out.contains("notes.txt"));
    assert!(!run(&folder, &["grep", "-l", "total", "--exclude=*.txt"]).out.contains("notes.txt"));
    assert!(!run(&folder, &["grep", "-l", "total", "--exclude=src"]).out.contains("src"));
    assert!(has_answered(&server, 3));
    // A folder that nobody serves.
    let other = project();
    let mut command = bare_command();
    command.args(["files"]).current_dir(other.path()).env("XDG_RUNTIME_DIR", folder.outside("run"));
    assert_eq!((ran(command, "").code, has_answered(&server, 3)), (0, true));
}

#[test]
fn what_others_write_is_seen_at_once() {
    let folder = project();
    let _server = serve(&folder, &[]);
    for number in 0..20 {
        put(&folder, "src/lib.rs", format!("pub fn version_{number}() {{}}\n"));
        let found = run(&folder, &["grep", "-o", r"version_\d+"]).out;
        assert_eq!(found, format!("src/lib.rs:version_{number}\n"));
    }
}

#[test]
fn a_change_of_a_server_that_ends_before_its_answer_is_not_made_again() {
    let folder = project();
    let server = serve(&folder, &[]);
    for (heard, old, new) in [(0, "total", "sum"), (9, "sum", "all")] {
        let relay = ends_after(&folder, heard);
        let ran = run(&folder, &["replace", old, &format!("{new} of {old}")]);
        relay.join().expect("ended");
        assert!(ran.code == 0 && ran.out.contains("The change is made (change c"), "{ran:?}");
        fs::rename(folder.outside("real"), &sockets(&folder)[0]).expect("the real one again");
    }
    assert_eq!(folder.text("src/lib.rs"), "pub fn all of sum of total() {}\n");
    assert_eq!(run(&folder, &["log"]).out.lines().count(), 2);
    assert!(has_answered(&server, 2));
}

#[test]
fn a_search_of_a_server_that_ends_in_the_middle_goes_on_where_it_stopped() {
    let folder = Folder::new();
    let line = |number: usize| format!("needle {number}\n");
    put(&folder, "f", (0..20_000).map(line).collect::<String>());
    let _server = serve(&folder, &[]);
    let relay = ends_after(&folder, 100_000);
    let ran = run(&folder, &["grep", "needle", "f"]);
    relay.join().expect("ended");
    assert_eq!(ran.code, 0);
    assert!(ran.out == folder.text("f"), "{} bytes", ran.out.len());
}

#[test]
fn a_server_that_is_dead_or_stopped_or_of_another_version_is_not_waited_for() {
    let folder = project();
    let server = serve(&folder, &[]);
    let expected = run(&folder, &["files"]);
    server.signal(Signal::STOP);
    assert_eq!(run(&folder, &["files"]), expected, "stopped");
    server.signal(Signal::CONT);
    let [socket] = &sockets(&folder)[..] else { panic!("one socket") };
    server.signal(Signal::KILL);
    server.wait(Duration::from_secs(60));
    assert_eq!(run(&folder, &["files"]), expected, "dead");
    assert!(!socket.exists(), "the socket of a dead server is removed");
    let listener = UnixListener::bind(socket).expect("a socket");
    let other = std::thread::spawn(move || {
        let (mut command, _) = listener.accept().expect("a command");
        let hello = br#"{"version":"0.0.1","protocol":1,"folder":"/"}"#;
        let message = [&(hello.len() as u64).to_le_bytes()[..], hello].concat();
        command.write_all(&message).expect("a hello");
        let mut rest = Vec::new();
        let _ = command.read_to_end(&mut rest);
        rest
    });
    assert_eq!(run(&folder, &["files"]), expected, "another version");
    assert_eq!(other.join().expect("ended"), b"", "it is told nothing");
}

#[test]
fn sockets_are_for_their_user_alone_and_go_with_their_server() {
    let folder = project();
    let server = serve(&folder, &[]);
    let [socket] = &sockets(&folder)[..] else { panic!("one socket") };
    let run_folder = socket.parent().expect("a folder");
    assert_eq!(fs::metadata(run_folder).expect("there").permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(socket).expect("there").permissions().mode() & 0o777, 0o600);
    // A folder into which others may write is not used.
    fs::set_permissions(run_folder, fs::Permissions::from_mode(0o777)).expect("a mode");
    assert_eq!((run(&folder, &["files"]).code, has_answered(&server, 0)), (0, true));
    fs::set_permissions(run_folder, fs::Permissions::from_mode(0o700)).expect("a mode");
    assert_eq!((run(&folder, &["files"]).code, has_answered(&server, 1)), (0, true));
    server.terminate(Duration::from_secs(60));
    assert_eq!(sockets(&folder), [] as [PathBuf; 0]);
}

#[test]
fn a_server_without_the_tools_of_the_commands_has_no_socket() {
    let folder = project();
    let mut command = command(&folder, "stdio", &["--tools=filesystem"]);
    command.env("XDG_RUNTIME_DIR", folder.outside("run"));
    let _server = Stdio::run(command).ready();
    assert_eq!(sockets(&folder), [] as [PathBuf; 0]);
}
