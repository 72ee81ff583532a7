//! `expected_version`: a change is carried out only on the state that the client has seen (contract 12).

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{CWD, Timespec, Timestamps};
use serde_json::{Value, json};

use super::{SET, make, on_all, put, serve};
use crate::support::{Folder, Mcp, Mount, Stdio, command};

/// The version that a read tells.
fn version(server: &dyn Mcp, path: &str) -> String {
    let result = server.tool("read_text_file", json!({ "path": path }));
    assert!(!result.is_error, "{}", result.text);
    told(&result.result)
}

fn told(result: &Value) -> String {
    let version = result["_meta"]["file-editor/version"].as_str().unwrap_or_else(|| panic!("{result}"));
    assert!(version.len() <= 24, "{version}");
    version.to_owned()
}

/// The calls that change or take `path`, each with this version expected.
fn calls(path: &str, version: &str) -> [(&'static str, Value); 4] {
    let edits = json!([{ "oldText": "b", "newText": "c", "replaceAll": true }]);
    [
        ("write_file", json!({ "path": path, "content": "c", "expected_version": version })),
        ("edit_file", json!({ "path": path, "edits": edits, "expected_version": version })),
        ("move_file", json!({ "source": path, "destination": "moved", "expected_version": version })),
        ("delete_file", json!({ "path": path, "expected_version": version })),
    ]
}

/// Writes other bytes of the same length in place, and sets the old modification time.
fn rewrite_unseen(path: &Path, bytes: &str) {
    let before = path.metadata().expect("a file");
    std::fs::write(path, bytes).expect("written");
    let time = |sec, nsec| Timespec { tv_sec: sec, tv_nsec: nsec };
    let times = Timestamps {
        last_access: time(before.atime(), before.atime_nsec()),
        last_modification: time(before.mtime(), before.mtime_nsec()),
    };
    rustix::fs::utimensat(CWD, path, &times, rustix::fs::AtFlags::empty()).expect("a time set");
}

#[test]
fn a_version_that_matches_lets_each_change_happen_and_the_next_version_is_told() {
    on_all(
        &[],
        |folder| put(folder, "d/f", "bb\n"),
        |server, folder| {
            // A file that was just written gets another version once its times are certain.
            let both = || (version(server, "d/f"), version(server, "./d//f"));
            let first = (0..3).map(|_| both()).find(|(one, other)| one == other).expect("equal versions").0;
            let written = server
                .tool("write_file", json!({ "path": "d/f", "content": "b b\n", "expected_version": first }));
            let second = told(&written.result);
            assert!(!written.is_error && second != first && second == version(server, "d/f"), "{second}");
            let edits = json!([{ "oldText": "b b", "newText": "b" }]);
            let edited = server
                .tool("edit_file", json!({ "path": "d/f", "edits": edits, "expected_version": second }));
            let third = told(&edited.result);
            assert!(!edited.is_error && third == version(server, "d/f"));
            let edits = json!([{ "oldText": "b", "newText": "c" }]);
            let shown = server.tool("edit_file", json!({ "path": "d/f", "edits": edits, "dryRun": true }));
            assert_eq!(told(&shown.result), third);
            server.ok("move_file", json!({ "source": "d/f", "destination": "g", "expected_version": third }));
            server.ok("delete_file", json!({ "path": "g", "expected_version": version(server, "g") }));
            assert_eq!(folder.names(), ["d"]);
        },
    );
}

#[test]
fn after_another_programs_change_each_call_is_refused_and_the_new_version_shown() {
    on_all(
        &[],
        |folder| put(folder, "d/f", "aa\n"),
        |server, folder| {
            let old = version(server, "d/f");
            folder.write("d/f", "bb\n");
            let new = version(server, "d/f");
            assert_ne!(old, new);
            for (tool, arguments) in calls("d/f", &old) {
                let result = server.tool(tool, arguments);
                // A file that was just written gets another version once its times are certain.
                let shows = |version: &str| result.text.contains(version);
                assert!(
                    result.is_error && (shows(&new) || shows(&version(server, "d/f"))),
                    "{tool}: {}",
                    result.text
                );
                assert_eq!(
                    (folder.text("d/f"), folder.names()),
                    ("bb\n".into(), vec!["d".to_owned()]),
                    "{tool}"
                );
            }
            for (tool, arguments) in calls("none", &old) {
                assert!(server.tool(tool, arguments).is_error, "{tool}");
            }
            for (tool, arguments) in calls("d/f", "made-up") {
                let refused = server.refused(tool, arguments);
                assert!(refused.starts_with("Error: Invalid arguments: expected_version"), "{refused}");
            }
            assert_eq!((folder.text("d/f"), folder.names()), ("bb\n".into(), vec!["d".to_owned()]));
        },
    );
}

/// Another program writes right after the read, with the same length and the old time.
fn an_unseen_change_is_seen(server: &dyn Mcp, folder: &Folder) {
    for round in 0..200 {
        let (old, new) = if round % 2 == 0 { ("aaaa\n", "bbbb\n") } else { ("bbbb\n", "aaaa\n") };
        folder.write("f", old);
        let known = version(server, "f");
        rewrite_unseen(&folder.path().join("f"), new);
        let (tool, arguments) = calls("f", &known).into_iter().nth(round % 4).expect("a call");
        let result = server.tool(tool, arguments);
        assert!(result.is_error, "round {round}: {tool} overwrote what the client had not seen");
        assert_eq!(folder.text("f"), new, "round {round}");
    }
}

#[test]
fn a_change_within_one_tick_of_the_clock_and_with_the_old_time_is_seen() {
    let folder = Folder::new();
    an_unseen_change_is_seen(&serve(&folder, &["--sync=none"]), &folder);
}

#[test]
fn the_same_on_a_tmpfs() {
    let folder = Folder::new();
    let Some(_mount) = Mount::at(folder.path(), "mode=755") else { return };
    an_unseen_change_is_seen(&serve(&folder, &["--sync=none"]), &folder);
}

#[test]
fn a_version_told_after_a_write_does_not_fit_a_change_right_after_it() {
    let folder = Folder::new();
    let server = serve(&folder, &["--sync=none"]);
    for round in 0..200 {
        let written = server.tool("write_file", json!({ "path": "f", "content": "aaaa\n" }));
        let known = told(&written.result);
        rewrite_unseen(&folder.path().join("f"), "bbbb\n");
        let arguments = json!({ "path": "f", "content": "c", "expected_version": known });
        assert!(server.tool("write_file", arguments).is_error, "round {round}");
        assert_eq!(folder.text("f"), "bbbb\n", "round {round}");
    }
}

#[test]
fn a_version_is_the_same_for_another_server_of_the_folder() {
    let folder = Folder::new();
    put(&folder, "f", "b\n");
    folder.set_modified("f", 1_000_000_000);
    let one = serve(&folder, &[]);
    let known = version(&one, "f");
    let two = Stdio::run(command(&folder, "stdio", &[SET]));
    two.ok("write_file", json!({ "path": "f", "content": "c\n", "expected_version": known }));
    assert!(
        one.tool("write_file", json!({ "path": "f", "content": "d\n", "expected_version": known })).is_error
    );
    assert_eq!(folder.text("f"), "c\n");
}

#[test]
fn a_version_never_fits_a_folder_that_came_in_the_place_of_the_file() {
    let folder = Folder::new();
    put(&folder, "f", "b\n");
    let server = serve(&folder, &[]);
    let known = version(&server, "f");
    std::fs::remove_file(folder.path().join("f")).expect("removed");
    make(&folder, "f");
    for (tool, arguments) in calls("f", &known).into_iter().skip(2) {
        assert!(server.tool(tool, arguments).is_error, "{tool}");
    }
    assert!(folder.path().join("f").is_dir());
}

#[test]
fn a_call_that_failed_and_changed_nothing_can_be_sent_again_with_its_key() {
    on_all(
        &[],
        |folder| put(folder, "d/f", "a\n"),
        |server, folder| {
            let delete = |path: &str| json!({ "path": path, "idempotency_key": "once" });
            let refused = server.tool("delete_file", delete("d"));
            assert!(refused.is_error && refused.text.contains("recursive"), "{}", refused.text);
            server.ok("delete_file", json!({ "path": "d/f" }));
            server.ok("delete_file", delete("d"));
            assert_eq!(folder.names(), [] as [&str; 0]);
            // Now it was carried out.
            server.ok("delete_file", delete("d"));
            assert!(server.tool("delete_file", delete("e")).is_error);
        },
    );
}

#[test]
fn an_edit_that_changes_nothing_tells_the_version_that_a_read_tells() {
    not_under_wine!("nothing is known of the writers of a file there, so a large one has no version");
    on_all(
        &["--max-file=100"],
        |folder| put(folder, "large", &("first\n".to_owned() + &"a line of text\n".repeat(70 << 16))),
        |server, _| {
            let edits = json!([{ "oldText": "first", "newText": "first" }]);
            let edited = server.tool("edit_file", json!({ "path": "large", "edits": edits }));
            assert!(!edited.is_error, "{}", edited.text);
            let now = told(&edited.result);
            server.ok("write_file", json!({ "path": "large", "content": "", "expected_version": now }));
        },
    );
}
