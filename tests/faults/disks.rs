//! Full and read-only disks, and a limit on the size of files (contract 8): a clear error, nothing is lost, and edits work
//! again when there is room.
//!
//! A test that may not mount a file system says so and ends.

use serde_json::json;

use crate::support::{
    Direct, Folder, Http, Mcp, Mount, Stdio, append, command, each_transport, with_file_size_limit,
};

/// Runs `test` with a server on each transport, on a small file system that `options` describe.
fn on_small_disks(options: &str, test: impl Fn(&dyn Mcp, &dyn Direct, &Folder, &Mount) + Sync) {
    each_transport(|http| {
        let folder = Folder::new();
        let Some(mount) = Mount::at(folder.path(), options) else { return };
        if http {
            let server = Http::start(&folder, &[]);
            test(&server, &server, &folder, &mount);
        } else {
            let server = Stdio::start(&folder, &[]).ready();
            test(&server, &server, &folder, &mount);
        }
    });
}

#[test]
fn a_full_disk_refuses_edits_with_a_clear_error_loses_nothing_and_works_again_with_room() {
    not_under_wine!("the text of the error is that of the system");
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
        // Reads, listings and edits that fit succeed.
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
    not_under_wine!("the text of the error is that of the system");
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
fn a_limit_on_the_size_of_files_refuses_the_edit_and_does_not_kill_the_server() {
    not_under_wine!("the signal of the limit ends wine");
    for http in [false, true] {
        let folder = Folder::new();
        folder.write("small", "a\n");
        let transport = if http { "http" } else { "stdio" };
        let port: &[&str] = if http { &["--port=0"] } else { &[] };
        let limited = with_file_size_limit(&command(&folder, transport, port), "");
        let check = |server: &dyn Mcp| {
            let error = server.refused("edit_file", append("new", &"y".repeat(300_000)));
            assert!(error.starts_with("Error: Failed to write file: File too large"), "{error}");
            server.ok("edit_file", append("small", "b"));
            assert_eq!((folder.text("small"), folder.names()), ("a\nb\n".into(), vec!["small".into()]));
        };
        if http { check(&Http::run(limited)) } else { check(&Stdio::run(limited)) }
    }
}
