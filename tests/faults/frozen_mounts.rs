//! A file system that does not answer, as one that another machine serves: calls for it end in their time, and harm no others.

use std::io::{ErrorKind, Read, Write};

use serde_json::{Value, json};

use crate::support::{Bindfs, Folder, Http, Mcp, PATIENCE, Stdio, get, post_bytes, run_to_end, until};

/// A server of two folders: the first behind a file system in user space, the second on the disk. Both hold `f`.
fn start(flags: &[&str]) -> Option<(Folder, Folder, Bindfs, Http)> {
    let (shared, own) = (Folder::new(), Folder::new());
    let source = Bindfs::source(&shared, "shared\n");
    own.write("f", "own\n");
    let mount = Bindfs::with_options(&shared, &source, "attr_timeout=0,entry_timeout=0")?;
    let dir = format!("--dir={}", own.path().display());
    let server = Http::start(&shared, &[&[&dir, "--tools=filesystem", "--admin-port=0"], flags].concat());
    Some((shared, own, mount, server))
}

fn read(folder: &Folder) -> Value {
    json!({ "path": folder.path().join("f") })
}

/// The status of the server's health.
fn health(server: &Http) -> u16 {
    get(server.admin_port(), "/healthz").status
}

#[test]
fn many_calls_for_a_folder_that_does_not_answer_leave_the_others_alone() {
    let flags = ["--timeout=2", "--max-in-flight=60"];
    let Some((shared, own, mount, server)) = start(&flags) else { return };
    server.ok("read_text_file", read(&shared));
    mount.freeze();
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| server.refused("read_text_file", read(&shared)));
            }
        });
    }
    assert_eq!(server.ok("read_text_file", read(&own)), "own\n");
    let edits = json!([{ "oldText": "own", "newText": "changed" }]);
    server.ok("edit_file", json!({ "path": own.path().join("f"), "edits": edits }));
    mount.thaw();
    until("the folder is served again", || {
        let answer =
            server.request("tools/call", json!({ "name": "read_text_file", "arguments": read(&shared) }));
        answer["result"]["isError"] != json!(true)
    });
}

#[test]
fn a_server_whose_folder_does_not_answer_says_that_it_is_not_healthy_until_it_does() {
    let Some((shared, _own, mut mount, server)) = start(&["--timeout=2"]) else { return };
    assert_eq!(health(&server), 200);
    mount.freeze();
    until("a probe has waited too long", || health(&server) == 503);
    mount.thaw();
    until("the folder answers again", || health(&server) == 200);
    mount.kill();
    until("the mount is dead", || health(&server) == 503);
    drop(shared);
}

#[test]
fn a_server_whose_folder_is_not_mounted_any_more_says_that_it_is_not_healthy() {
    let Some((_shared, _own, mount, server)) = start(&[]) else { return };
    assert_eq!(health(&server), 200);
    // What lies below the mount is another folder.
    drop(mount);
    until("a probe has looked", || health(&server) == 503);
}

/// A folder with a file `own`, and in `m` a file system in user space with a file `f`, which asks for everything.
fn with_inner(mount_first: impl FnOnce(&Folder)) -> Option<(Folder, Bindfs)> {
    let folder = Folder::new();
    folder.write("own", "needle\n");
    let (source, inner) = (Bindfs::source(&folder, "needle\n"), folder.path().join("m"));
    std::fs::create_dir(&inner).expect("a folder");
    mount_first(&folder);
    let options = "attr_timeout=0,entry_timeout=0";
    let mount = Bindfs::mounted_at(&inner, &folder, &source, options)?;
    Some((folder, mount))
}

#[test]
fn what_is_mounted_in_the_tree_and_does_not_answer_is_not_asked() {
    let Some((folder, mount)) = with_inner(|_| {}) else { return };
    let flags = ["--tools=filesystem,search", "--admin-port=0", "--timeout=10"];
    let server = Http::start(&folder, &flags);
    server.ok("read_text_file", json!({ "path": "m/f" }));
    mount.freeze();
    until("a probe has waited too long", || health(&server) == 503);
    let found = server.ok("grep", json!({ "pattern": "needle" }));
    assert!(found.contains("own") && found.contains("1 matching line in 1 file"), "{found}");
    assert!(server.ok("directory_tree", json!({ "path": "." })).contains("own"));
    assert!(server.refused("read_text_file", json!({ "path": "missing" })).contains("not found"));
    // And what is asked for by its path ends at once.
    let refused = server.refused("read_text_file", json!({ "path": "m/f" }));
    assert!(refused.contains("Cannot access working directory"), "{refused}");
    mount.thaw();
    until("the mount answers again", || health(&server) == 200);
    server.ok("read_text_file", json!({ "path": "m/f" }));
}

#[test]
fn calls_that_wait_for_files_that_do_not_answer_leave_the_threads_for_answers() {
    let mut server = None;
    let start = |folder: &Folder| {
        let flags = ["--tools=filesystem", "--max-in-flight=20", "--timeout=1"];
        server = Some(Stdio::start(folder, &flags).ready());
    };
    // Mounted after the start, so the server does not watch it.
    let Some((_folder, mount)) = with_inner(start) else { return };
    let server = server.expect("a server");
    server.ok("read_text_file", json!({ "path": "m/f" }));
    mount.freeze();
    let read = |path: &str| {
        let call = json!({ "name": "read_text_file", "arguments": { "path": path } });
        server.request("tools/call", call)["result"]["content"][0]["text"].to_string()
    };
    let texts: Vec<String> = {
        let ask = |id| {
            let params = json!({ "name": "read_text_file", "arguments": { "path": format!("m/{id}") } });
            server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
            json!(id)
        };
        let ids: Vec<Value> = (1_000..1_140).map(ask).collect();
        ids.iter().map(|id| server.answer_to(id)["result"]["content"][0]["text"].to_string()).collect()
    };
    let full = texts.iter().filter(|text| text.contains("Too many calls wait for files")).count();
    assert!(full > 0 && full < texts.len(), "{texts:?}");
    mount.thaw();
    until("the threads are free again", || read("own").contains("needle"));
}

#[test]
fn searches_of_files_that_do_not_answer_leave_the_threads_to_others() {
    let mut server = None;
    let start = |folder: &Folder| {
        let flags = ["--tools=filesystem,search", "--max-in-flight=20", "--timeout=2"];
        server = Some(Http::start(folder, &flags));
    };
    // Mounted after the start, so the server does not watch it.
    let Some((_folder, mount)) = with_inner(start) else { return };
    let server = server.expect("a server");
    server.ok("read_text_file", json!({ "path": "m/f" }));
    mount.freeze();
    let search = || server.refused("grep", json!({ "pattern": "needle", "path": "m/f" }));
    std::thread::scope(|scope| {
        (0..140).for_each(|_| drop(scope.spawn(search)));
    });
    assert_eq!(server.ok("read_text_file", json!({ "path": "own" })), "needle\n");
    mount.thaw();
}

#[test]
fn a_long_answer_whose_file_is_not_read_any_more_ends() {
    let folder = Folder::new();
    let source = Bindfs::source(&folder, &"a line of text\n".repeat(4_000_000));
    let Some(mount) = Bindfs::with_options(&folder, &source, "attr_timeout=0,entry_timeout=0") else {
        return;
    };
    let server = Http::start(&folder, &["--timeout=2", "--max-file=100"]);
    let mut client = std::net::TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    client.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    client.write_all(&post_bytes("/read_file", "", br#"{"name":"f"}"#)).expect("sent");
    let mut received = vec![0; 1 << 16];
    client.read_exact(&mut received).expect("the beginning");
    mount.freeze();
    let ended = client.read_to_end(&mut received).map_err(|error| error.kind());
    assert_ne!(ended, Err(ErrorKind::WouldBlock), "the answer goes on for ever");
    assert!(!received.ends_with(b"0\r\n\r\n"), "the answer looks complete");
    mount.thaw();
}

#[test]
fn a_start_and_the_doctor_say_that_a_folder_does_not_answer() {
    let Some((shared, _own, mount, server)) = start(&[]) else { return };
    drop(server);
    mount.freeze();
    let dir = format!("--dir={}", shared.path().display());
    std::thread::scope(|scope| {
        let doctor = scope.spawn(|| run_to_end(&[&dir, "--doctor"]));
        let started = run_to_end(&[&dir]);
        let line = "cannot be used: its file system does not answer";
        assert!(started.stderr.contains(line) && started.code == Some(1), "{}", started.stderr);
        let doctor = doctor.join().expect("the doctor ends");
        assert!(
            doctor.stdout.contains("its file system does not answer") && doctor.code == Some(1),
            "{}",
            doctor.stdout
        );
        // What does not need the folder is checked nonetheless, and the folder not once more.
        let failed = doctor.stdout.lines().filter(|line| line.starts_with("failed ")).count();
        assert!(failed == 1 && doctor.stdout.contains("server: transport: "), "{}", doctor.stdout);
    });
    mount.thaw();
}
