//! `kill -9` at random moments of edits: the file holds the old or the new bytes, and the next start removes what is left
//! over (contract 8). Crashes after each single step: the unit tests of `engine/workspace`.

use std::os::unix::fs::MetadataExt;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    Folder, Mcp, Moment, PATIENCE, Random, Stdio, append_call, as_nobody, call, command, threads, until,
};

const ROUNDS: usize = 200;

/// The whole file after the edit `version`: its first and its last line name the version; the lines between stay.
fn text(version: u64, body: &str) -> String {
    format!("version {version}\n{body}version {version}\n")
}

/// One edit that makes `version` of the file.
fn edit(version: u64, last_line: usize) -> Value {
    let replace =
        |line| json!({ "line": line, "operation": "replace", "content": format!("version {version}") });
    call(version, "edit_file", json!({ "name": "f", "edits": [replace(0), replace(last_line)] }))
}

fn version_in(text: &str) -> u64 {
    let first = text.lines().next().and_then(|line| line.strip_prefix("version "));
    first.and_then(|version| version.parse().ok()).unwrap_or_else(|| panic!("no version: {text:.60}"))
}

#[test]
fn a_server_killed_at_any_moment_leaves_the_old_file_or_the_new_one_and_the_next_start_cleans_up() {
    not_under_wine!(
        "what was set aside stays when the server is killed in that moment; tests/platforms/windows tries the rest"
    );
    let mut random = Random::new();
    // Below and above the size from which files are mapped.
    let bodies = ["some text\n".repeat(300), "some text\n".repeat(60_000)];
    let (mut killed_in_the_middle, mut done, mut cut_short) = (0, 0, 0);
    let folder = Folder::new();
    let mut version = 0;
    let mut moments = [Moment::within(6_000), Moment::within(40_000)];
    for round in 0..ROUNDS {
        let large = usize::from(round % 4 == 3);
        let (body, moment) = (&bodies[large], &mut moments[large]);
        let sync = if round % 2 == 0 { "--sync=full" } else { "--sync=none" };
        folder.write("f", text(version, body));
        let server = Stdio::start(&folder, &[sync]);
        server.request("ping", json!({}));
        assert_eq!(folder.temporaries(), [""; 0], "round {round}: leftovers outlived a start");
        let first = version;
        for _ in 0..20 {
            version += 1;
            server.send(&edit(version, body.len() / 10 + 1));
        }
        moment.wait(&mut random);
        server.signal(Signal::KILL);
        let answered = answered(&server, first);
        server.wait(PATIENCE);
        let found = folder.text("f");
        let now = version_in(&found);
        assert!(found == text(now, body), "round {round}: the file is not one of the versions");
        assert!(
            (answered..=version).contains(&now),
            "round {round}: version {now} on disk, {answered} was answered"
        );
        killed_in_the_middle += usize::from(!folder.temporaries().is_empty());
        if now == first {
            moment.was_early();
        } else if now == version {
            moment.was_late();
        }
        done += usize::from(now > first);
        cut_short += usize::from(now < version);
        version += 1;
    }
    println!("{killed_in_the_middle} of {ROUNDS} kills left a temporary file; {done} came after an edit");
    // Otherwise the kills came too early or too late to test anything.
    assert!(
        killed_in_the_middle >= 3 && done >= 10 && cut_short >= 10,
        "{killed_in_the_middle} {done} {cut_short}"
    );
    let server = Stdio::start(&folder, &[]);
    server.ok("edit_file", json!({ "name": "f", "append": "the kernel freed the lock" }));
    assert_eq!(folder.names(), ["f"]);
}

/// The last version that the server has answered with success, `first` if none; all answers are read.
fn answered(server: &Stdio, first: u64) -> u64 {
    server.close_stdin();
    let mut last = first;
    for line in server.rest_of_output() {
        // The last line may be cut by the kill; all others are whole.
        let Some(line) = line.strip_suffix('\n') else { continue };
        let answer: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:.200}"));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        last = answer["id"].as_u64().expect("an id");
    }
    last
}

#[test]
fn killed_while_it_creates_a_file_a_server_leaves_no_file_or_all_of_it() {
    let mut random = Random::new();
    let folder = Folder::new();
    let content = "a new line\n".repeat(20_000);
    let (mut created, mut missing) = (0, 0);
    let mut moment = Moment::within(4_000);
    for round in 0..60 {
        let server = Stdio::start(&folder, &["--sync=none"]);
        server.request("ping", json!({}));
        assert_eq!(folder.names(), [""; 0], "round {round}: leftovers outlived a start");
        server.send(&append_call(1, "f", &content));
        moment.wait(&mut random);
        server.signal(Signal::KILL);
        server.wait(PATIENCE);
        if folder.names().contains(&"f".to_owned()) {
            assert!(folder.text("f") == content, "round {round}: half a file");
            std::fs::remove_file(folder.path().join("f")).expect("the file removed");
            created += 1;
            moment.was_late();
        } else {
            missing += 1;
            moment.was_early();
        }
    }
    println!("{created} created, {missing} not");
    assert!(created > 0 && missing > 0, "{created} {missing}");
}

/// Whether there is a temporary file with content, which is locked. An empty one may not have its lock yet: a start may
/// remove it, and its writer makes another.
fn is_being_written(folder: &Folder) -> bool {
    let has_content = |name: &String| folder.path().join(name).metadata().is_ok_and(|file| file.len() > 0);
    folder.temporaries().iter().any(has_content)
}

#[test]
fn a_start_leaves_the_temporary_file_of_a_living_process_alone() {
    let folder = Folder::new();
    let body = "a line of text that is one of many\n".repeat(800_000);
    let working = Stdio::start(&folder, &["--max-size=100", "--timeout=60"]);
    working.request("ping", json!({}));
    // An edit that is stopped while its temporary file is there.
    let mut seen = false;
    for version in 1..=50 {
        folder.write("f", text(0, &body));
        let inode = || std::fs::metadata(folder.path().join("f")).expect("the file").ino();
        let before = inode();
        working.send(&edit(version, 800_001));
        while !is_being_written(&folder) && inode() == before {}
        working.signal(Signal::STOP);
        // A thread that is in a system call finishes it first, and that can be the rename.
        until("all threads of the process have stopped", || {
            threads(working.pid()).iter().all(|(_, state)| *state == 'T')
        });
        seen = is_being_written(&folder);
        if seen {
            let before = folder.names();
            let other = Stdio::start(&folder, &["--max-size=100"]);
            other.request("ping", json!({}));
            assert_eq!(folder.names(), before, "the temporary file of a living process was taken away");
        }
        working.signal(Signal::CONT);
        assert_eq!(working.answer_to(&json!(version))["result"]["isError"], false);
        assert!(folder.text("f") == text(version, &body));
        if seen {
            break;
        }
    }
    assert!(seen, "no edit was stopped in the middle");
    assert_eq!(folder.names(), ["f"]);
}

#[test]
fn what_only_looks_like_a_leftover_is_left_alone() {
    let folder = Folder::new();
    folder.write("f", "a\n");
    folder.write(".file-editor-tmp-0123456789abcdef", "left by a killed server");
    folder.write(".file-editor-tm", "another's");
    folder.fifo(".file-editor-tmp-fifo");
    folder.link(".file-editor-tmp-link", "f");
    std::fs::create_dir(folder.path().join(".file-editor-tmp-dir")).expect("a directory");
    let users =
        [".file-editor-tmp-0123456789ABCDEF", ".file-editor-tmp-0123456789abcdef0", ".file-editor-tmp-notes"];
    for name in users {
        folder.write(name, "a user's\n");
    }
    // Names as the server makes them, but of a file that is in another folder too, and of a FIFO.
    let (linked, fifo) = (".file-editor-tmp-00000000000000aa", ".file-editor-tmp-00000000000000bb");
    folder.write(linked, "a user's\n");
    std::fs::hard_link(folder.path().join(linked), folder.outside("linked")).expect("a hard link");
    folder.fifo(fifo);
    let before = folder.names();
    let read_only = Stdio::start(&folder, &["--read-only"]);
    read_only.request("ping", json!({}));
    assert_eq!(folder.names(), before, "--read-only changes nothing on disk");
    let server = Stdio::start(&folder, &[]);
    server.request("ping", json!({}));
    let left: Vec<_> =
        before.into_iter().filter(|name| name != ".file-editor-tmp-0123456789abcdef").collect();
    assert_eq!(folder.names(), left);
    // The server's own names are refused; a user's is a hidden name like any other.
    for name in [linked, fifo, ".file-editor-tmp-0123456789abcdef"] {
        assert_eq!(server.refused("read_file", json!({ "name": name })), "Error: Invalid filename format");
    }
    for name in users {
        server.ok("edit_file", json!({ "name": name, "append": "more" }));
        let read = server.ok("read_file", json!({ "name": name }));
        assert_eq!(read, format!("File: {name} (2 lines)\n\na user's\nmore"));
    }
    assert!(server.ok("list_files", json!({})).ends_with("Total files: 1"));
}

#[test]
fn a_file_of_another_user_is_not_a_leftover_whatever_its_name() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: only root can give files away");
        return;
    }
    let folder = Folder::new();
    folder.write(".file-editor-tmp-0123456789abcdef", "left by a killed server");
    let command = as_nobody(command(&folder, "stdio", &[]), &folder);
    folder.write(".file-editor-tmp-fedcba9876543210", "root's");
    folder.set_mode(".file-editor-tmp-fedcba9876543210", 0o666);
    Stdio::run(command).request("ping", json!({}));
    assert_eq!(folder.names(), [".file-editor-tmp-fedcba9876543210"]);
}
