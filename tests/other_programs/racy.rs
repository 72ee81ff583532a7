//! Files that are written twice within one tick of the clock, and so look unchanged (contract 8): no answer rests on the old
//! bytes.
//!
//! On most file systems a newer kernel gives a write after a stat a time of its own, but not on a ramfs.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use serde_json::json;

use crate::support::{Folder, Mcp, Mount, Stdio, at_once};

/// Two texts of one length, the second with fewer lines.
const TEXTS: [&str; 2] = ["1\n2\n3\n4\n", "XXX\nYYY\n"];

/// Rounds in which a test looks for changes that cannot be seen, and how many are enough.
const ROUNDS: usize = 3_000;
const ENOUGH: usize = 30;

/// Does `first` to the file `f` and then writes the second text over it in place, until that could not be seen in the
/// file's state often enough. After each write, a read must give the new text.
fn written_again_unseen(folder: &Folder, mut first: impl FnMut(&Stdio)) {
    let server = Stdio::start(folder, &["--sync=none"]).ready();
    let path = folder.path().join("f");
    let state =
        || path.metadata().map(|meta| (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()));
    let mut unseen = 0;
    for _ in 0..ROUNDS {
        first(&server);
        let before = state().expect("the file");
        let file = File::options().write(true).open(&path).expect("the file");
        file.write_all_at(TEXTS[1].as_bytes(), 0).expect("written");
        // The time of change is the clock's alone.
        let after = state().expect("the file");
        unseen += usize::from((before.2, before.3) == (after.2, after.3));
        let read = server.ok("read_file", json!({ "name": "f" }));
        assert_eq!(read, "File: f (2 lines)\n\nXXX\nYYY");
        if unseen == ENOUGH {
            break;
        }
    }
    println!("{unseen} changes could not be seen");
}

/// Runs `test` on the system's folder for temporary files, and on a ramfs.
fn on_both_file_systems(test: impl Fn(&Folder) + Sync) {
    let on_ramfs = || {
        let folder = Folder::new();
        if let Some(_ramfs) = Mount::ramfs(folder.path()) {
            test(&folder);
        }
    };
    at_once(|| test(&Folder::new()), on_ramfs);
}

#[test]
fn a_file_that_is_written_read_and_written_within_one_tick_is_read_as_it_is() {
    on_both_file_systems(|folder| {
        written_again_unseen(folder, |server| {
            folder.write("f", TEXTS[0]);
            let read = server.ok("read_file", json!({ "name": "f" }));
            assert_eq!(read, "File: f (4 lines)\n\n1\n2\n3\n4");
        });
    });
}

#[test]
fn a_file_that_is_edited_and_written_in_place_within_one_tick_is_read_as_it_is() {
    on_both_file_systems(|folder| {
        written_again_unseen(folder, |server| {
            let _ = std::fs::remove_file(folder.path().join("f"));
            server.ok("edit_file", json!({ "name": "f", "append": TEXTS[0].trim_end() }));
        });
    });
}
