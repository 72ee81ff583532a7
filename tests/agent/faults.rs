//! Faults of the system in the middle of a job: everything is as before, or as after it.

use serde_json::json;

use super::{edit, serve};
use crate::support::{Folder, Mcp, Stdio, command, with_injected};
use crate::trees::put;

#[test]
fn a_system_call_that_fails_at_any_moment_leaves_everything_as_before() {
    not_under_wine!("has system calls fail or wait with strace");
    for call in ["renameat", "renameat2", "linkat", "mkdirat", "fdatasync", "fsync", "unlinkat"] {
        for nth in 1..=9 {
            let folder = Folder::new();
            for name in ["a", "b", "d/c"] {
                put(&folder, name, "text\n");
            }
            let flags = ["--tools=agent"];
            let inject = format!("{call}:error=EIO:when={nth}");
            let Some(command) = with_injected(&command(&folder, "stdio", &flags), &inject) else { return };
            let server = Stdio::run(command);
            let texts = || ["a", "b", "d/c"].map(|name| folder.text(name));
            let edits = json!([
                { "path": "a", "old": "text", "new": "more text" },
                { "path": "b", "append": "more" },
                { "path": "d", "move_to": "e/d" },
                { "path": "e/d/c", "old": "text", "new": "more" },
                { "path": "new/f", "content": "new" },
            ]);
            let answer = server.tool("edit", json!({ "edits": edits }));
            if answer.is_error {
                assert_eq!(texts(), ["text\n"; 3], "{inject}: {}", answer.text);
                assert_eq!(folder.names(), ["a", "b", "d"], "{inject}: {}", answer.text);
            } else {
                assert_eq!(folder.text("e/d/c"), "more\n", "{inject}");
                assert_eq!(
                    (folder.text("new/f"), folder.text("b")),
                    ("new".into(), "text\nmore\n".into()),
                    "{inject}"
                );
            }
            // A hidden file that cannot be removed is one that the next change in its folder removes.
            if call != "unlinkat" {
                assert_eq!(folder.temporaries(), [""; 0], "{inject}: {}", answer.text);
            }
        }
    }
}

#[test]
fn jobs_of_two_servers_over_the_same_files_lose_nothing() {
    let folder = Folder::new();
    let names = ["a", "b", "c"];
    names.iter().for_each(|name| folder.write(name, ""));
    let servers = [serve(&folder, &["--sync=none"]), serve(&folder, &["--sync=none"])];
    std::thread::scope(|scope| {
        for (number, server) in servers.iter().enumerate() {
            scope.spawn(move || {
                for n in 0..30 {
                    let line = format!("{number}:{n}");
                    let mut edits: Vec<_> =
                        names.iter().map(|name| json!({ "path": name, "append": line })).collect();
                    edits.rotate_left((number + n) % 3);
                    edit(server, json!(edits));
                }
            });
        }
    });
    for name in names {
        let text = folder.text(name);
        for (number, n) in [(0, 0), (0, 29), (1, 0), (1, 29)] {
            assert!(text.lines().any(|line| line == format!("{number}:{n}")), "{name}: {text}");
        }
        assert_eq!(text.lines().count(), 60, "{name}");
    }
    // All or none: each file has the lines in the same order.
    assert!(names.iter().all(|name| folder.text(name) == folder.text("a")));
}
