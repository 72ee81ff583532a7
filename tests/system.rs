//! What the system does to a server at work (SPEC 8): full and read-only disks, a folder that goes, no descriptors, no
//! permission, strangers' locks, clocks. Each time: a clear error, nothing lost, and work again once the cause is gone.
//!
//! Where a test needs to mount a file system and may not, it says so and ends.

use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use serde_json::{Value, json};

use crate::errors_system::lock;
use crate::support::{
    Direct, Folder, Http, Mcp, Mount, PATIENCE, Stdio, command, on_both, on_both_as_nobody, on_both_with,
    until_a_lock_is_waited_for, with_descriptors,
};

fn append(name: &str, text: &str) -> Value {
    json!({ "name": name, "append": text })
}

/// Runs `test` with a server on each transport, on a small file system that `options` describe.
fn on_small_disks(options: &str, test: impl Fn(&dyn Mcp, &dyn Direct, &Folder, &Mount)) {
    for http in [false, true] {
        let folder = Folder::new();
        let Some(mount) = Mount::at(folder.path(), options) else { return };
        if http {
            let server = Http::start(&folder, &[]);
            test(&server, &server, &folder, &mount);
        } else {
            let server = Stdio::start(&folder, &[]).ready();
            test(&server, &server, &folder, &mount);
        }
    }
}

#[test]
fn a_full_disk_refuses_edits_with_a_clear_error_loses_nothing_and_works_again_with_room() {
    on_small_disks("size=1m,mode=755", |mcp, direct, folder, _| {
        folder.write("f", "line\n".repeat(20_000));
        folder.write("ballast", "x".repeat(700 * 1024));
        let before = folder.snapshot();
        for _ in 0..50 {
            for arguments in [append("f", &"more\n".repeat(50_000)), append("new", &"y".repeat(300_000))] {
                let error = mcp.refused("edit_file", arguments.clone());
                assert_eq!(error, "Error: Failed to write file: No space left on device (os error 28)");
                let error = direct.direct_error(
                    "edit_file",
                    json!({ "name": "new", "append": "y".repeat(300_000), "create_if_missing": true }),
                );
                assert_eq!((error.code, error.status.unwrap_or(500)), (-32001, 500));
            }
        }
        assert!(folder.snapshot() == before, "a refused edit changed something or left something behind");
        // Readers and listings, and edits that fit, are not harmed.
        assert!(mcp.ok("list_files", json!({})).contains("name: f, "));
        assert!(mcp.ok("read_file", json!({ "name": "f", "end_line": 0 })).ends_with("\n\nline"));
        folder.write("small", "a\n");
        mcp.ok("edit_file", append("small", "b"));
        std::fs::remove_file(folder.path().join("ballast")).expect("room made");
        mcp.ok("edit_file", append("f", &"more\n".repeat(50_000)));
        assert_eq!(folder.text("f"), "line\n".repeat(20_000) + &"more\n".repeat(50_000));
        assert_eq!(folder.names(), ["f", "small"]);
    });
}

#[test]
fn a_disk_without_room_for_one_more_file_refuses_edits_and_works_again_when_there_is() {
    on_small_disks("size=1m,nr_inodes=4,mode=755", |mcp, _, folder, _| {
        for name in ["f", "g", "h"] {
            folder.write(name, "a\n");
        }
        let before = folder.snapshot();
        for name in ["f", "new"] {
            let error = mcp.refused("edit_file", append(name, "b"));
            assert_eq!(error, "Error: Failed to write file: No space left on device (os error 28)");
        }
        assert!(folder.snapshot() == before);
        std::fs::remove_file(folder.path().join("h")).expect("room made");
        mcp.ok("edit_file", append("f", "b"));
        assert_eq!((folder.text("f"), folder.names()), ("a\nb\n".into(), vec!["f".into(), "g".into()]));
    });
}

#[test]
fn a_disk_that_becomes_read_only_refuses_edits_and_works_again_when_it_is_writable() {
    on_small_disks("size=1m,mode=755", |mcp, direct, folder, mount| {
        folder.write("f", "a\n");
        let before = folder.snapshot();
        mount.again("ro");
        for name in ["f", "new"] {
            let error = mcp.refused("edit_file", append(name, "b"));
            assert_eq!(error, format!("Error: Permission denied accessing '{name}'"));
        }
        let error = direct.direct_error("edit_file", append("f", "b"));
        assert_eq!((error.code, error.status.unwrap_or(403)), (-32001, 403));
        assert_eq!(mcp.ok("read_file", json!({ "name": "f" })), "File: f (1 lines)\n\na");
        assert!(mcp.ok("list_files", json!({})).ends_with("Total files: 1"));
        assert!(folder.snapshot() == before);
        mount.again("rw");
        mcp.ok("edit_file", append("f", "b"));
        assert_eq!(folder.text("f"), "a\nb\n");
    });
}

#[test]
fn a_folder_that_is_removed_and_comes_back_is_served_again_by_every_tool() {
    on_both(|server, folder| {
        folder.write("f", "a\n");
        server.ok("read_file", json!({ "name": "f" }));
        for _ in 0..20 {
            std::fs::remove_dir_all(folder.path()).expect("the folder removed");
            for (tool, arguments) in [
                ("list_files", json!({})),
                ("read_file", json!({ "name": "f" })),
                ("edit_file", append("f", "b")),
                ("edit_file", append("new", "b")),
            ] {
                assert_eq!(
                    server.refused(tool, arguments),
                    "Error: Cannot access working directory",
                    "{tool}"
                );
            }
            assert!(!folder.path().exists());
            std::fs::create_dir(folder.path()).expect("the folder made");
            assert!(server.ok("list_files", json!({})).ends_with("Total files: 0"));
            assert!(server.ok("edit_file", append("f", "again")).ends_with("File created: true"));
            assert_eq!((folder.text("f"), folder.names()), ("again\n".into(), vec!["f".into()]));
        }
    });
}

/// Makes `{folder}` another folder, with the file `f` that holds `text`. The old one stands beside it from now on.
fn put_another_in_its_place(folder: &Folder, text: &str) {
    std::fs::rename(folder.path(), folder.outside("moved")).expect("the folder moved");
    std::fs::create_dir(folder.path()).expect("another made");
    folder.write("f", text);
}

#[test]
fn of_a_folder_that_was_moved_away_the_one_in_its_place_is_edited() {
    on_both(|server, folder| {
        folder.write("f", "old\n");
        server.ok("read_file", json!({ "name": "f" }));
        put_another_in_its_place(folder, "new\n");
        server.ok("edit_file", append("f", "edited"));
        server.ok("edit_file", append("g", "made"));
        assert_eq!(folder.text("f"), "new\nedited\n");
        assert_eq!(std::fs::read(folder.outside("moved").join("f")).expect("the file"), b"old\n");
        assert!(!folder.outside("moved").join("g").exists());
        assert!(server.ok("read_file", json!({ "name": "f" })).ends_with("new\nedited"));
        assert!(server.ok("list_files", json!({})).ends_with("Total files: 2"));
    });
}

#[test]
fn reads_move_to_the_folder_in_the_place_of_one_that_was_moved_away() {
    on_both(|server, folder| {
        folder.write("f", "old\n");
        server.ok("read_file", json!({ "name": "f" }));
        put_another_in_its_place(folder, "new\n");
        let deadline = Instant::now() + PATIENCE;
        while !server.ok("read_file", json!({ "name": "f" })).ends_with("new") {
            assert!(Instant::now() < deadline, "the old folder is still read");
        }
    });
}

#[test]
fn of_a_folder_that_was_moved_away_for_good_nothing_is_edited() {
    on_both(|server, folder| {
        folder.write("f", "old\n");
        server.ok("read_file", json!({ "name": "f" }));
        std::fs::rename(folder.path(), folder.outside("moved")).expect("the folder moved");
        for name in ["f", "new"] {
            let refused = server.refused("edit_file", append(name, "x"));
            assert_eq!(refused, "Error: Cannot access working directory");
        }
        assert_eq!(
            server.refused("read_file", json!({ "name": "f" })),
            "Error: Cannot access working directory"
        );
        assert_eq!(server.refused("list_files", json!({})), "Error: Cannot access working directory");
        let moved = std::fs::read_dir(folder.outside("moved")).expect("a folder");
        assert_eq!(moved.count(), 1);
        std::fs::rename(folder.outside("moved"), folder.path()).expect("the folder moved back");
        server.ok("edit_file", append("f", "again"));
        assert_eq!(folder.text("f"), "old\nagain\n");
    });
}

#[test]
fn an_edit_that_waits_while_its_folder_is_moved_away_changes_neither_folder() {
    let folder = Folder::new();
    folder.write("f", "old\n");
    let server = Stdio::start(&folder, &[]).ready();
    let held = lock(&folder, "f");
    std::thread::scope(|scope| {
        let edit = scope.spawn(|| server.refused("edit_file", append("f", "x")));
        until_a_lock_is_waited_for(server.pid());
        put_another_in_its_place(&folder, "new\n");
        drop(held);
        let text = "Error: File 'f' was changed by another program; read it again";
        assert_eq!(edit.join().expect("an answer"), text);
    });
    assert_eq!(folder.text("f"), "new\n");
    assert_eq!(std::fs::read(folder.outside("moved").join("f")).expect("the file"), b"old\n");
    server.ok("edit_file", append("f", "x"));
    assert_eq!(folder.text("f"), "new\nx\n");
}

#[test]
fn a_mount_that_died_is_left_and_the_next_one_in_its_place_is_served() {
    let folder = Folder::new();
    let source = folder.outside("source");
    std::fs::create_dir(&source).expect("a folder");
    std::fs::write(source.join("f"), "a\n").expect("a file");
    // In the foreground, so that it can be killed.
    let bind = |folder: &Folder| {
        let mut bind = Command::new("bindfs");
        let mut bind = bind.arg("-f").arg(&source).arg(folder.path()).spawn().ok()?;
        while !folder.path().join("f").exists() {
            if bind.try_wait().is_ok_and(|ended| ended.is_some()) {
                return None;
            }
            std::thread::yield_now();
        }
        Some(bind)
    };
    let Some(mut first) = bind(&folder) else { return println!("SKIPPED: no bindfs here") };
    let server = Stdio::start(&folder, &[]).ready();
    server.ok("edit_file", append("f", "b"));
    first.kill().and_then(|()| first.wait()).expect("killed");
    for (tool, arguments) in
        [("read_file", json!({ "name": "f" })), ("edit_file", append("f", "c")), ("list_files", json!({}))]
    {
        assert_eq!(server.refused(tool, arguments), "Error: Cannot access working directory", "{tool}");
    }
    let unmounted = Command::new("umount").arg("-l").arg(folder.path()).status();
    assert!(unmounted.is_ok_and(|done| done.success()));
    let second = bind(&folder);
    let _mount = Mount::adopt(folder.path());
    assert!(server.ok("read_file", json!({ "name": "f" })).ends_with("a\nb"));
    server.ok("edit_file", append("f", "c"));
    assert_eq!(std::fs::read(source.join("f")).expect("the file"), b"a\nb\nc\n");
    assert!(server.ok("list_files", json!({})).ends_with("Total files: 1"));
    drop(server);
    second.expect("mounted again").kill().expect("killed");
}

#[test]
fn out_of_descriptors_a_server_refuses_clearly_and_works_again_when_there_are_some() {
    // So few that a handful of idle connections would take them all.
    let folder = Folder::new();
    folder.write("f", "line\n".repeat(100_000));
    let server = Http::run(with_descriptors(&command(&folder, "http", &["--port=0"]), 64));
    let mut first = server.connect();
    first.post("/list_files", &json!({}));
    // However many come, connections leave enough for files.
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
            assert!(list.text.ends_with("Total files: 3") || list.is_error, "{most}: {}", list.text);
            assert_eq!(folder.text("f").lines().count(), lines);
        }
        assert_eq!(folder.names(), ["f", "large", "link", "sub"]);
    }
}

#[test]
fn a_limit_on_the_size_of_files_refuses_the_edit_and_does_not_kill_the_server() {
    for http in [false, true] {
        let folder = Folder::new();
        folder.write("small", "a\n");
        let mut shell = Command::new("/bin/sh");
        // The signal that goes with the limit is at its default, which is to kill.
        let transport = if http { "http" } else { "stdio" };
        let port: &[&str] = if http { &["--port=0"] } else { &[] };
        let binary = command(&folder, transport, port);
        shell.arg("-c").arg("ulimit -f 64; LLVM_PROFILE_FILE=/dev/null exec \"$0\" \"$@\"");
        shell.arg(binary.get_program()).args(binary.get_args());
        let check = |server: &dyn Mcp| {
            let error = server.refused("edit_file", append("new", &"y".repeat(300_000)));
            assert!(error.starts_with("Error: Failed to write file: File too large"), "{error}");
            server.ok("edit_file", append("small", "b"));
            assert_eq!((folder.text("small"), folder.names()), ("a\nb\n".into(), vec!["small".into()]));
        };
        if http { check(&Http::run(shell)) } else { check(&Stdio::run(shell)) }
    }
}

#[test]
fn without_permission_each_tool_refuses_and_works_again_when_it_is_given_back() {
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
            let set_mode = |mode| {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
                std::fs::set_permissions(folder.path(), mode).expect("a mode set");
            };
            set_mode(0o555);
            denied("edit_file", "free");
            denied("edit_file", "new");
            assert_eq!(mcp.ok("read_file", json!({ "name": "free" })), "File: free (1 lines)\n\na");
            set_mode(0o755);
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
fn a_strangers_lock_ends_the_wait_at_the_timeout_and_holds_up_no_other_file_however_many_wait() {
    let folder = Folder::new();
    folder.write("locked", "a\n");
    folder.write("free", "line\n".repeat(50_000));
    let server = Http::start(&folder, &["--timeout=8", "--max-in-flight=8"]);
    let locked = lock(&folder, "locked");
    let start = Instant::now();
    // Many more than may be in work at once.
    let mut waiting: Vec<_> = (0..40).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        let body = append("locked", "x").to_string();
        connection.write(&crate::support::post_bytes("/edit_file", "", body.as_bytes()));
    }
    let mut other = server.connect();
    for n in 0..10 {
        let edit = json!({ "name": "free", "edits": [{ "line": 1, "operation": "replace", "content": format!("{n}") }] });
        assert_eq!(other.post("/edit_file", &edit).status, 200);
        assert_eq!(other.post("/list_files", &json!({})).status, 200);
        assert_eq!(other.post("/read_file", &json!({ "name": "free" })).status, 200);
    }
    let others = start.elapsed();
    assert!(others < Duration::from_secs(8), "others waited for a locked file: {others:?}");
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
    // A tmpfs keeps any time at all; elsewhere the system cuts it to what it can keep.
    let times: [i64; 9] =
        [i64::MIN, -62_135_596_801, -1, 0, 1, 4_102_444_800, 253_402_300_800, i64::MAX - 1, i64::MAX];
    let mount = Mutex::new(None);
    on_both_with(
        &[],
        |folder| *mount.lock().expect("no panic") = Mount::at(folder.path(), "size=1m,mode=755"),
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
                // Twice: what was remembered of the file must not outlive a change that keeps size and time.
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
