//! Every way out of the folder that was thought of, on every tool and every interface (SPEC 8). The plain cases are in
//! confine.rs; here the same names go to all doors at once, and what is tried is swapped while it is looked at.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

use crate::support::{Direct, Folder, Http, Mcp, Stdio, while_others};

const SECRET: &str = "the secret outside\n";

/// A server on each transport.
struct Doors {
    stdio: Stdio,
    http: Http,
}

impl Doors {
    fn open(folder: &Folder, flags: &[&str]) -> Doors {
        Doors { stdio: Stdio::start(folder, flags).ready(), http: Http::start(folder, flags) }
    }

    /// Everything that names a file, on every interface: what each said.
    fn all_answers(&self, name: &str) -> Vec<String> {
        let mut answers = Vec::new();
        let replace = |line| json!({ "name": name, "edits": [{ "line": line, "operation": "replace", "content": "x" }] });
        let append = json!({ "name": name, "append": "x", "create_if_missing": true });
        for server in [&self.stdio as &dyn Mcp, &self.http] {
            for (tool, arguments) in [
                ("read_file", json!({ "name": name })),
                ("read_file", json!({ "name": name, "start_line": 0, "end_line": 0 })),
                ("edit_file", append.clone()),
                ("edit_file", replace(0)),
                ("edit_file", json!({ "name": name, "create_if_missing": false })),
                ("file_edit", json!({ "path": name, "edits": [{ "old_text": "secret", "new_text": "x" }] })),
                ("file_edit", json!({ "path": name, "edits": [{ "old_text": "", "new_text": "x" }] })),
            ] {
                let call = json!({ "name": tool, "arguments": arguments });
                answers.push(refusal(&server.rpc("tools/call", call), tool, name));
            }
            let uri = json!({ "uri": format!("file:///{name}") });
            answers.push(refusal(&server.rpc("resources/read", uri), "resources/read", name));
        }
        for server in [&self.stdio as &dyn Direct, &self.http] {
            answers.push(server.direct_error("read_file", json!({ "name": name })).message);
            answers.push(server.direct_error("edit_file", append.clone()).message);
            answers.push(server.direct_error("edit_file", replace(1)).message);
        }
        answers
    }

    fn all_lists(&self) -> Vec<String> {
        let mut lists = Vec::new();
        for server in [&self.stdio as &dyn Mcp, &self.http] {
            lists.push(server.ok("list_files", json!({})));
            lists.push(server.rpc("resources/list", json!({})).to_string());
        }
        for server in [&self.stdio as &dyn Direct, &self.http] {
            lists.push(server.direct("list_files", json!({})).to_string());
        }
        lists
    }
}

/// The answer as text, which must be a refusal.
#[track_caller]
fn refusal(answer: &Value, tool: &str, name: &str) -> String {
    let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
    assert!(refused, "{tool} {name:?}: {answer}");
    answer.to_string()
}

/// None of these names may lead anywhere, and nothing may change inside or outside.
#[track_caller]
fn check_all_refused(folder: &Folder, doors: &Doors, names: &[&str]) {
    let before = (folder.snapshot(), outside(folder));
    for name in names {
        for answer in doors.all_answers(name) {
            assert!(!answer.contains("the secret"), "{name:?}: {answer}");
        }
        assert!((folder.snapshot(), outside(folder)) == before, "{name:?} changed something");
    }
    for list in doors.all_lists() {
        assert!(!list.contains("the secret"), "{list}");
    }
}

/// All that lies beside the folder: path, inode, bytes.
fn outside(folder: &Folder) -> Vec<(String, u64, Vec<u8>)> {
    fn walk(path: &Path, all: &mut Vec<(String, u64, Vec<u8>)>) {
        for entry in std::fs::read_dir(path).expect("a directory") {
            let path = entry.expect("an entry").path();
            let meta = path.symlink_metadata().expect("an entry");
            let bytes = if meta.is_file() { std::fs::read(&path).expect("a file") } else { Vec::new() };
            all.push((path.display().to_string(), meta.ino(), bytes));
            if meta.is_dir() && path.file_name().is_none_or(|name| name != "folder") {
                walk(&path, all);
            }
        }
    }
    let mut all = Vec::new();
    walk(&folder.outside(""), &mut all);
    all.sort();
    all
}

/// A folder with a secret beside it, also in siblings whose names begin like the folder's.
fn folder() -> Folder {
    let folder = Folder::new();
    for sibling in ["outside", "folder-other", "folder2"] {
        std::fs::create_dir(folder.outside(sibling)).expect("a directory");
        std::fs::write(folder.outside(sibling).join("secret"), SECRET).expect("a file");
    }
    std::fs::write(folder.outside("secret"), SECRET).expect("a file");
    folder
}

#[test]
fn links_out_of_the_folder_are_refused_by_every_tool_on_every_interface() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    folder.write("real", "inside\n");
    let descriptor = std::fs::File::open(folder.outside("secret")).expect("a file");
    let by_descriptor =
        format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&descriptor));
    let absolute = folder.outside("secret");
    let canonical = folder.path().join("real");
    let long = format!("{}real", "sub/../".repeat(500));
    let links: Vec<(&str, &str)> = vec![
        ("relative", "../secret"),
        ("deep", "sub/../../secret"),
        ("many-dots", "../../../../../../../../../../../../etc/passwd"),
        ("sibling", "../folder-other/secret"),
        ("sibling2", "../folder2/secret"),
        ("back", "../folder/real"),
        ("absolute", absolute.to_str().expect("UTF-8")),
        ("absolute-inside", canonical.to_str().expect("UTF-8")),
        ("descriptor", &by_descriptor),
        ("self-descriptor", "/proc/self/fd/0"),
        ("self-cwd", "/proc/self/cwd/real"),
        ("self-root", "/proc/self/root/etc/passwd"),
        ("standard-input", "/dev/stdin"),
        ("chained", "chained-2"),
        ("chained-2", "chained-3"),
        ("chained-3", "relative"),
        ("door", ".."),
        ("through-door", "door/secret"),
        ("through-door-back", "door/folder/real"),
        ("double-slash", "//etc/passwd"),
        ("dangling", "nowhere"),
        ("dangling-deep", "sub/nowhere"),
        ("dangling-out", "../nowhere"),
        ("loop", "loop"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("loop-through", "loop/real"),
        ("file-as-directory", "real/"),
        ("file-and-dot", "real/."),
        ("file-and-up", "real/../real"),
        ("to-directory", "sub"),
        ("itself", "."),
        ("too-many-steps-that-lead-nowhere", "sub/../none/../real"),
    ];
    for (name, target) in &links {
        folder.link(name, target);
    }
    folder.link("long-but-inside", &long);
    let doors = Doors::open(&folder, &["--tools=all"]);
    check_all_refused(&folder, &doors, &links.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for list in doors.all_lists() {
        for (name, _) in &links {
            assert!(
                !list.contains(&format!("name: {name},")) && !list.contains(&format!("\"{name}\"")),
                "{list}"
            );
        }
    }
    assert_eq!(
        doors.stdio.ok("read_file", json!({ "name": "long-but-inside" })),
        "File: long-but-inside (1 lines)\n\ninside"
    );
}

#[test]
fn names_that_are_paths_in_any_disguise_are_refused_by_every_tool_on_every_interface() {
    let folder = folder();
    folder.write("real", "inside\n");
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    std::fs::write(folder.path().join("sub/secret"), SECRET).expect("a file");
    let absolute = folder.outside("secret").display().to_string();
    let by_folder = format!("{}/../secret", folder.path().display());
    let sibling = format!("{}-other/secret", folder.path().display());
    let names = [
        "../secret",
        "..",
        ".",
        "",
        "/",
        "//",
        "./",
        "./..",
        "./../secret",
        "././../secret",
        "sub/secret",
        "./sub/secret",
        "sub/../../secret",
        "real/../../secret",
        "..\\secret",
        "..\0/secret",
        "../secret\0",
        "real\0",
        "real\0/../../secret",
        "%2e%2e/secret",
        "%2e%2e%2fsecret",
        "..%2fsecret",
        "..%5csecret",
        "%252e%252e%252fsecret",
        "..%c0%afsecret",
        "\u{2025}/secret",
        "\u{ff0e}\u{ff0e}\u{ff0f}secret",
        "..\u{2215}secret",
        "..\u{2044}secret",
        "....//secret",
        "..;/secret",
        "~/secret",
        "~root",
        "$HOME",
        "real\n",
        "real\r",
        "real/",
        " real",
        "C:\\secret",
        "C:secret",
        "\\\\host\\secret",
        "file:///etc/passwd",
        "real:stream",
        ".file-editor-tmp-0123456789abcdef",
        &absolute,
        &by_folder,
        &sibling,
        &"../".repeat(80),
        &"n".repeat(256),
        &"n".repeat(100_000),
    ];
    let doors = Doors::open(&folder, &["--tools=all"]);
    check_all_refused(&folder, &doors, &names);
    // Where any one component is a name, a component is still all that it is.
    let doors = Doors::open(&folder, &["--tools=all", "--names=any", "--read-only"]);
    for name in names.iter().filter(|name| !name.contains('%')) {
        for server in [&doors.stdio as &dyn Mcp, &doors.http] {
            let answer =
                server.rpc("tools/call", json!({ "name": "read_file", "arguments": { "name": name } }));
            let text = refusal(&answer, "read_file", name);
            assert!(!text.contains("the secret"), "{text}");
        }
    }
}

#[test]
fn resources_in_any_disguise_stay_in_the_folder() {
    let folder = folder();
    folder.write("real", "inside\n");
    let absolute = folder.outside("secret").display().to_string();
    let inside = folder.path().display().to_string();
    let uris = [
        format!("file://{absolute}"),
        format!("file://{inside}/../secret"),
        format!("file://{inside}/%2e%2e/secret"),
        format!("file://{inside}/%2E%2E%2Fsecret"),
        format!("file://{inside}/..%2fsecret"),
        format!("file://{inside}/%252e%252e%252fsecret"),
        format!("file://{inside}-other/secret"),
        format!("file://{inside}2/secret"),
        format!("file://{inside}/real%00"),
        format!("file://{inside}/real/"),
        format!("file://{inside}/./../folder2/secret"),
        format!("file://elsewhere{inside}/real"),
        format!("http://localhost{inside}/real"),
        format!("{inside}/../secret"),
        "file:///etc/passwd".into(),
        "file:///../secret".into(),
        "file:../secret".into(),
        "file://".into(),
        "../secret".into(),
        String::new(),
    ];
    let doors = Doors::open(&folder, &[]);
    for server in [&doors.stdio as &dyn Mcp, &doors.http] {
        for uri in &uris {
            let answer = server.rpc("resources/read", json!({ "uri": uri }));
            assert!(answer.get("error").is_some(), "{uri}: {answer}");
            assert!(!answer.to_string().contains("the secret"), "{uri}: {answer}");
        }
    }
}

#[test]
fn special_files_are_refused_at_once_by_every_tool_on_every_interface() {
    let folder = folder();
    let mut names = vec!["directory", "fifo", "socket", "to-fifo", "to-directory"];
    std::fs::create_dir(folder.path().join("directory")).expect("a directory");
    folder.fifo("fifo");
    folder.link("to-fifo", "fifo");
    folder.link("to-directory", "directory");
    let _socket =
        std::os::unix::net::UnixListener::bind(folder.path().join("socket")).expect("a socket bound");
    // `mem`, the terminal and a disk that nobody has: opened, some would block or do something.
    for (name, kind, device) in [
        ("null", FileType::CharacterDevice, (1, 3)),
        ("zero", FileType::CharacterDevice, (1, 5)),
        ("console", FileType::CharacterDevice, (5, 1)),
        ("disk", FileType::BlockDevice, (240, 0)),
    ] {
        let device = rustix::fs::makedev(device.0, device.1);
        let path = folder.path().join(name);
        match rustix::fs::mknodat(CWD, path, kind, Mode::from_raw_mode(0o666), device) {
            Ok(()) => names.push(name),
            Err(errno) => println!("skipped: no device {name} can be made here ({errno})"),
        }
    }
    let doors = Doors::open(&folder, &["--tools=all", "--timeout=5"]);
    check_all_refused(&folder, &doors, &names);
    for list in doors.all_lists() {
        assert!(names.iter().all(|name| !list.contains(&format!("{name},"))), "{list}");
    }
}

#[test]
fn an_edit_severs_a_hard_link_so_that_the_file_outside_stays_as_it_is() {
    let folder = folder();
    folder.write("inside", "one\n");
    std::fs::hard_link(folder.path().join("inside"), folder.path().join("twin")).expect("a hard link");
    std::fs::hard_link(folder.outside("secret"), folder.path().join("hard")).expect("a hard link");
    let doors = Doors::open(&folder, &["--tools=all"]);
    // A hard link is a file of the folder like any other: nobody can tell which of its names came first.
    assert_eq!(
        doors.stdio.ok("read_file", json!({ "name": "hard" })),
        "File: hard (1 lines)\n\nthe secret outside"
    );
    doors.stdio.ok("edit_file", json!({ "name": "hard", "append": "changed" }));
    assert_eq!(folder.text("hard"), format!("{SECRET}changed\n"));
    assert_eq!(std::fs::read_to_string(folder.outside("secret")).expect("the file"), SECRET);
    doors.http.direct("edit_file", json!({ "name": "twin", "append": "two" }));
    assert_eq!((folder.text("inside"), folder.text("twin")), ("one\n".into(), "one\ntwo\n".into()));
    assert_eq!(std::fs::metadata(folder.path().join("inside")).expect("the file").nlink(), 1);
    // An edit that changes nothing writes nothing, and severs nothing.
    std::fs::hard_link(folder.path().join("inside"), folder.path().join("again")).expect("a hard link");
    let same = json!([{ "line": 0, "operation": "replace", "content": "one" }]);
    doors.stdio.ok("edit_file", json!({ "name": "again", "edits": same }));
    assert_eq!(std::fs::metadata(folder.path().join("inside")).expect("the file").nlink(), 2);
}

#[test]
fn a_folder_given_as_a_link_is_served_as_what_the_link_meant_at_the_start() {
    let folder = folder();
    folder.write("f", "inside\n");
    folder.link("up", "../secret");
    folder.link("round", "../folder/f");
    let link = folder.outside("link-to-folder");
    std::os::unix::fs::symlink("folder", &link).expect("a link");
    let binary = crate::support::command(&folder, "stdio", &[]);
    let mut command = std::process::Command::new(binary.get_program());
    command.arg(format!("--dir={}", link.display())).arg("--transport=stdio");
    let server = Stdio::run(command);
    assert_eq!(server.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\ninside");
    for name in ["up", "round"] {
        let error = server.refused("read_file", json!({ "name": name }));
        assert_eq!(error, format!("Error: Permission denied accessing '{name}'"));
    }
    let listed = server.direct("list_files", json!({}));
    assert_eq!(listed["directory"], json!(folder.path()));
    // The link is turned elsewhere: the folder that is served stays the same.
    std::fs::remove_file(&link).expect("removed");
    std::os::unix::fs::symlink("outside", &link).expect("a link");
    server.ok("edit_file", json!({ "name": "f", "append": "more" }));
    assert_eq!(folder.text("f"), "inside\nmore\n");
    assert_eq!(server.refused("read_file", json!({ "name": "secret" })), "Error: File 'secret' not found");
}

/// Turns `f` into a file, a link outward, a directory that leads outward and a FIFO, as fast as it can.
fn swap(path: &Path, turn: usize) {
    let next = path.join(".next");
    let target = path.join("f");
    match turn % 5 {
        0 => std::fs::write(&next, "inside\n").expect("a file"),
        1 => std::os::unix::fs::symlink("../secret", &next).expect("a link"),
        2 => std::os::unix::fs::symlink("sub/../../secret", &next).expect("a link"),
        3 => std::os::unix::fs::symlink("real", &next).expect("a link"),
        _ => rustix::fs::mkfifoat(CWD, &next, Mode::from_raw_mode(0o666)).expect("a FIFO"),
    }
    std::fs::rename(&next, &target).expect("renamed");
    // The directory on the way of a link becomes a link itself.
    if turn.is_multiple_of(7) {
        let (sub, aside) = (path.join("sub"), path.join(".aside"));
        std::fs::rename(&sub, &aside).expect("renamed");
        std::os::unix::fs::symlink("..", &sub).expect("a link");
        std::fs::remove_file(&sub).expect("removed");
        std::fs::rename(&aside, &sub).expect("renamed");
    }
}

#[test]
fn a_file_swapped_for_links_and_fifos_during_100000_operations_never_leads_out() {
    const READS: usize = 100_000;
    const EDITS: usize = 2_000;
    let folder = folder();
    std::fs::create_dir(folder.path().join("sub")).expect("a directory");
    std::fs::write(folder.path().join("sub/secret"), "inside\n").expect("a file");
    folder.write("real", "inside\n");
    folder.write("f", "inside\n");
    folder.link("through", "sub/secret");
    let before = outside(&folder);
    let server = Stdio::start(&folder, &["--sync=none"]);
    let http = Http::start(&folder, &["--sync=none"]);
    let read = |name| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "read_file", "arguments": { "name": name } } });
    let reads = format!("{}\n{}\n", read("f"), read("through")).repeat(250);
    let turns = AtomicUsize::new(0);
    let (mut shown, mut denied) = (0, 0);
    let same = json!([{ "line": 0, "operation": "replace", "content": "edited inside" }]);
    while_others(
        || swap(folder.path(), turns.fetch_add(1, Ordering::Relaxed)),
        || {
            for round in 0..READS / 500 {
                server.send_raw(reads.as_bytes());
                for _ in 0..500 {
                    let line = server.recv_line();
                    assert!(!line.contains("the secret"), "{line}");
                    shown += usize::from(line.contains("inside"));
                    denied += usize::from(line.contains("Permission denied"));
                }
                for n in 0..EDITS / (READS / 500) {
                    let name = if (round + n) % 2 == 0 { "f" } else { "through" };
                    let answer = http.call("edit_file", json!({ "name": name, "edits": [{ "line": 1, "operation": "replace", "content": same[0]["content"] }] }));
                    assert!(!format!("{answer:?}").contains("the secret"));
                }
            }
        },
    );
    let turns = turns.into_inner();
    println!("{READS} reads and {EDITS} edits during {turns} swaps: {shown} shown, {denied} denied");
    assert!(turns > 1_000 && shown > 1_000 && denied > 1_000, "{turns} {shown} {denied}");
    assert!(before == outside(&folder), "something outside was changed");
    assert!(folder.names().iter().all(|name| !name.starts_with(".file-editor-tmp-")), "{:?}", folder.names());
}
