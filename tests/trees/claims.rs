//! Files and folders get new names where the file system knows neither a rename that refuses to replace nor hard links: nothing is
//! replaced, and nothing is left behind (contract 8).

use serde_json::json;

use super::{make, outcome, put, serve, tree};
use crate::support::{Folder, Mcp, Mount, Stdio, command, with_injected};

/// Creates, copies and moves, to free names and to those that something has.
fn check(server: &dyn Mcp, folder: &Folder) {
    make(folder, "taken-folder");
    put(folder, "taken", "");
    put(folder, "folder/in", "in\n");
    let ok = |tool, arguments| {
        let (is_error, text) = outcome(server, tool, &arguments);
        assert!(!is_error, "{tool} {arguments}: {text}");
    };
    ok("write_file", json!({ "path": "new", "content": "one\n" }));
    ok("write_file", json!({ "path": "new", "content": "two\n" }));
    ok("copy_file", json!({ "source": "new", "destination": "copied" }));
    ok("move_file", json!({ "source": "copied", "destination": "folder/moved" }));
    ok("move_file", json!({ "source": "folder", "destination": "moved-folder" }));
    let before = tree(folder.path());
    for source in ["new", "moved-folder"] {
        for destination in ["taken", "taken-folder", "moved-folder/in"] {
            let (is_error, text) =
                outcome(server, "move_file", &json!({ "source": source, "destination": destination }));
            assert!(is_error, "{source} {destination}: {text}");
        }
    }
    assert_eq!(tree(folder.path()), before);
    let held: Vec<(&str, Option<&[u8]>)> =
        before.iter().map(|(path, bytes)| (path.as_str(), bytes.as_deref())).collect();
    let expected: [(&str, Option<&[u8]>); 6] = [
        ("moved-folder", None),
        ("moved-folder/in", Some(b"in\n")),
        ("moved-folder/moved", Some(b"two\n")),
        ("new", Some(b"two\n")),
        ("taken", Some(b"")),
        ("taken-folder", None),
    ];
    assert_eq!(held, expected);
}

#[test]
fn on_exfat_in_user_space_files_are_made_copied_and_moved_and_replace_nothing() {
    let folder = Folder::new();
    let Some(_mount) = Mount::exfat(&folder) else { return };
    check(&serve(&folder, &[]), &folder);
}

#[test]
fn where_links_and_renames_that_replace_nothing_fail_files_are_made_copied_and_moved() {
    let folder = Folder::new();
    let command = command(&folder, "stdio", &[super::SET]);
    let Some(command) = with_injected(&command, "renameat2,linkat:error=EOPNOTSUPP") else { return };
    check(&Stdio::run(command).ready(), &folder);
}
