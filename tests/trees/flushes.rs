//! Moves and deletes whose folder cannot be flushed: the error says whether the change is in place (contract 8, 13). A test
//! that needs a program that is not installed says so and ends.

use serde_json::json;

use super::{SET, put};
use crate::support::{Folder, Mcp, Stdio, as_nobody, command, with_injected};

#[test]
fn a_move_or_delete_whose_folder_cannot_be_flushed_says_that_it_is_in_place_but_may_not_last() {
    not_under_wine!("has system calls fail or wait with strace");
    // A file system that was made read-only after an error says so at the flush, and nothing was refused.
    for (fault, reason) in [("EIO", "Input/output error"), ("EROFS", "Read-only file system")] {
        let folder = Folder::new();
        put(&folder, "f", "f\n");
        put(&folder, "d/in/g", "g\n");
        let plain = command(&folder, "stdio", &[SET]);
        let Some(faulty) = with_injected(&plain, &format!("fsync:error={fault}")) else { return };
        let server = Stdio::run(faulty).ready();
        for (tool, arguments) in [
            ("move_file", json!({ "source": "f", "destination": "d/moved" })),
            ("delete_file", json!({ "path": "d/moved" })),
            ("delete_file", json!({ "path": "d", "recursive": true })),
            ("write_file", json!({ "path": "new", "content": "" })),
        ] {
            let refused = server.refused(tool, arguments);
            let in_place = refused.contains("(the change is in place, but may not survive a loss of power)");
            assert!(in_place && refused.contains(reason), "{tool}: {refused}");
        }
        assert_eq!(folder.names(), ["new"]);
    }
}

#[test]
fn in_a_folder_that_cannot_be_opened_for_the_flush_nothing_is_moved_or_deleted() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    put(&folder, "f", "f\n");
    put(&folder, "closed/g", "g\n");
    let server = Stdio::run(as_nobody(command(&folder, "stdio", &[SET]), &folder)).ready();
    // The server may write the file. In the folder, it may make and remove entries, but not read them.
    folder.set_mode("closed/g", 0o666);
    folder.set_mode("closed", 0o300);
    let calls = [
        ("move_file", json!({ "source": "f", "destination": "closed/f" })),
        ("move_file", json!({ "source": "closed/g", "destination": "g" })),
        ("delete_file", json!({ "path": "closed/g" })),
    ];
    for (tool, arguments) in calls {
        assert!(server.refused(tool, arguments).starts_with("Error: Permission denied accessing"), "{tool}");
        assert_eq!(folder.text("closed/g"), "g\n", "{tool}");
        assert_eq!(folder.names(), ["closed", "f"], "{tool}");
    }
    folder.set_mode("closed", 0o700);
    server.ok("move_file", json!({ "source": "closed/g", "destination": "g" }));
}

#[test]
fn a_recursive_delete_that_fails_at_the_folder_itself_says_how_much_it_removed() {
    not_under_wine!("has system calls fail or wait with strace");
    let folder = Folder::new();
    put(&folder, "d/f", "f\n");
    put(&folder, "d/in/g", "g\n");
    let plain = command(&folder, "stdio", &[SET]);
    // The first and the fifth removal are those of the folder itself.
    let Some(faulty) = with_injected(&plain, "unlinkat:error=EBUSY:when=5") else { return };
    let server = Stdio::run(faulty).ready();
    let refused = server.refused("delete_file", json!({ "path": "d", "recursive": true }));
    assert!(refused.contains("3 entries in 'd' were deleted before"), "{refused}");
    assert_eq!(folder.names(), ["d"]);
}

#[test]
fn a_folder_that_may_not_be_removed_is_not_emptied() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    put(&folder, "closed/d/f", "f\n");
    let server = Stdio::run(as_nobody(command(&folder, "stdio", &[SET]), &folder)).ready();
    folder.set_mode("closed", 0o555);
    let refused = server.refused("delete_file", json!({ "path": "closed/d", "recursive": true }));
    assert!(refused.starts_with("Error: Permission denied accessing"), "{refused}");
    assert_eq!(folder.text("closed/d/f"), "f\n");
    folder.set_mode("closed", 0o700);
}
