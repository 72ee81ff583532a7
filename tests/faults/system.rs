//! Few descriptors, missing permissions, locks of other programs, clocks (contract 8): a clear error, nothing is lost, and the
//! server works again when the cause is gone.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use serde_json::json;

use crate::support::{
    Direct, Folder, Http, Mcp, Mount, Stdio, append, command, lock, on_both_as_nobody, on_both_with,
    post_bytes, with_descriptors,
};

#[test]
fn out_of_descriptors_a_server_refuses_clearly_and_works_again_when_there_are_some() {
    // So few that idle connections could take them all.
    let folder = Folder::new();
    folder.write("f", "line\n".repeat(100_000));
    let server = Http::run(with_descriptors(&command(&folder, "http", &["--port=0"]), 64));
    let mut first = server.connect();
    first.post("/list_files", &json!({}));
    // Connections leave enough descriptors for files.
    let idle: Vec<_> = (0..100).map(|_| server.connect()).collect();
    for n in 0..20 {
        let edit = json!({ "name": "f", "edits": [{ "line": 1, "operation": "replace", "content": format!("{n}") }] });
        let answer = first.post("/edit_file", &edit);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let read = first.post("/read_file", &json!({ "name": "f", "end_line": 1 }));
        assert_eq!(read.json()["content"], json!(format!("{n}")));
        assert_eq!(first.post("/list_files", &json!({})).json()["total_count"], 1);
    }
    drop(idle);
    for _ in 0..20 {
        assert_eq!(server.post("/read_file", &json!({ "name": "f", "end_line": 1 })).status, 200);
    }
    assert_eq!(folder.names(), ["f"]);
}

#[test]
fn with_almost_no_descriptors_every_tool_answers_and_nothing_is_lost() {
    not_under_wine!("wine takes no descriptors below a limit");
    for most in 12..24 {
        let folder = Folder::new();
        folder.write("f", "a\n");
        folder.write("large", "line\n".repeat(50_000));
        std::fs::create_dir(folder.path().join("sub")).expect("a directory");
        std::fs::write(folder.path().join("sub/deep"), "deep\n").expect("a file");
        folder.link("link", "sub/../sub/../sub/deep");
        let server = Stdio::run(with_descriptors(&command(&folder, "stdio", &[]), most));
        let mut lines = 1;
        for _ in 0..10 {
            for name in ["f", "large", "link"] {
                let read = server.tool("read_file", json!({ "name": name }));
                assert!(!read.is_error || read.text.contains("Too many open files"), "{}", read.text);
            }
            let edit = server.tool("edit_file", append("f", "b"));
            assert!(!edit.is_error || edit.text.contains("Too many open files"), "{}", edit.text);
            lines += usize::from(!edit.is_error);
            let list = server.tool("list_files", json!({}));
            assert!(list.text.contains("Total files: 3\n") || list.is_error, "{most}: {}", list.text);
            assert_eq!(folder.text("f").lines().count(), lines);
        }
        assert_eq!(folder.names(), ["f", "large", "link", "sub"]);
    }
}

#[test]
fn without_permission_each_tool_refuses_and_works_again_when_it_is_given_back() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    on_both_as_nobody(
        &[],
        |folder| {
            for name in ["unreadable", "unwritable", "free"] {
                folder.write(name, "a\n");
            }
        },
        |mcp, _, folder| {
            folder.set_mode("unreadable", 0o000);
            folder.set_mode("unwritable", 0o444);
            let denied = |tool, name| {
                let arguments = if tool == "read_file" { json!({ "name": name }) } else { append(name, "b") };
                let expected = format!("Error: Permission denied accessing '{name}'");
                assert_eq!(mcp.refused(tool, arguments), expected);
            };
            let before = folder.snapshot();
            denied("read_file", "unreadable");
            denied("edit_file", "unreadable");
            denied("edit_file", "unwritable");
            mcp.ok("read_file", json!({ "name": "unwritable" }));
            let list = mcp.ok("list_files", json!({}));
            assert!(list.contains("name: unreadable, ") && list.contains("lines: -1"), "{list}");
            assert!(folder.snapshot() == before);
            // A folder that may be read but not written to.
            folder.set_own_mode(0o555);
            denied("edit_file", "free");
            denied("edit_file", "new");
            assert_eq!(mcp.ok("read_file", json!({ "name": "free" })), "File: free (1 lines)\n\na");
            folder.set_own_mode(0o755);
            for name in ["unreadable", "unwritable"] {
                folder.set_mode(name, 0o644);
            }
            for name in ["unreadable", "unwritable", "free"] {
                mcp.ok("edit_file", append(name, "b"));
                assert_eq!(folder.text(name), "a\nb\n");
            }
        },
    );
}

#[test]
fn a_lock_of_another_program_ends_the_wait_at_the_timeout_and_delays_no_other_file_however_many_wait() {
    let folder = Folder::new();
    folder.write("locked", "a\n");
    folder.write("free", "line\n".repeat(50_000));
    let server = Http::start(&folder, &["--timeout=4", "--max-in-flight=8"]);
    let locked = lock(&folder, "locked");
    let start = Instant::now();
    // More than may be in work at once.
    let mut waiting: Vec<_> = (0..40).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        let body = append("locked", "x").to_string();
        connection.write(&post_bytes("/edit_file", "", body.as_bytes()));
    }
    let mut other = server.connect();
    for n in 0..10 {
        let edit = json!({ "name": "free", "edits": [{ "line": 1, "operation": "replace", "content": format!("{n}") }] });
        assert_eq!(other.post("/edit_file", &edit).status, 200);
        assert_eq!(other.post("/list_files", &json!({})).status, 200);
        assert_eq!(other.post("/read_file", &json!({ "name": "free" })).status, 200);
    }
    let others = start.elapsed();
    assert!(others < Duration::from_secs(4), "others waited for a locked file: {others:?}");
    for connection in &mut waiting {
        let answer = connection.read();
        assert_eq!(answer.status, 409, "{}", answer.text());
        assert_eq!(answer.json()["error"]["message"], "File 'locked' is locked by another process");
    }
    drop(locked);
    server.direct("edit_file", append("locked", "b"));
    assert_eq!(folder.text("locked"), "a\nb\n");
}

#[test]
fn clocks_that_jump_and_files_from_the_past_and_the_future_change_no_answer() {
    // A tmpfs keeps every time; other file systems cut it to their range.
    let times: [i64; 9] =
        [i64::MIN, -62_135_596_801, -1, 0, 1, 4_102_444_800, 253_402_300_800, i64::MAX - 1, i64::MAX];
    let mounts = Mutex::new(Vec::new());
    on_both_with(
        &[],
        |folder| mounts.lock().expect("no panic").push(Mount::at(folder.path(), "size=1m,mode=755")),
        |server, folder| {
            let set = |name: &str, seconds| {
                let time = Timespec { tv_sec: seconds, tv_nsec: 0 };
                let times = Timestamps { last_access: time, last_modification: time };
                let _ = rustix::fs::utimensat(CWD, folder.path().join(name), &times, AtFlags::empty());
            };
            for (n, seconds) in times.into_iter().enumerate() {
                let name = format!("f{n}");
                folder.write(&name, "one\ntwo\n");
                set(&name, seconds);
                // What the server keeps of a file must not outlive a change that keeps size and time.
                for text in ["one\ntwo\n", "1\n\n\n\n\n\n\n", "a\nb\nc\nd\n"] {
                    folder.write(&name, text);
                    set(&name, seconds);
                    let lines = text.lines().count();
                    let read = server.ok("read_file", json!({ "name": name }));
                    assert_eq!(
                        read,
                        format!(
                            "File: {name} ({lines} lines)\n\n{}",
                            text.trim_end_matches('\n').to_owned()
                                + &"\n".repeat(if text.starts_with('1') { 6 } else { 0 })
                        )
                    );
                    let list = server.ok("list_files", json!({}));
                    assert!(list.contains(&format!("name: {name}, modified: ")), "{list}");
                    assert!(
                        list.lines().any(|line| line.starts_with(&format!("name: {name},"))
                            && line.ends_with(&format!("lines: {lines}"))),
                        "{list}"
                    );
                }
                server.ok("edit_file", append(&name, "end"));
                assert_eq!(folder.text(&name), "a\nb\nc\nd\nend\n");
            }
        },
    );
}
