//! At no step of a write may anybody do more with the temporary file than with the file in the end.

#![allow(clippy::print_stdout)] // Tests print what they skip.

use std::path::Path;

use super::*;
use folder::fs::{attributes, temporary};
use sys::testing::MetadataExt;

/// A folder whose default ACL gives rights to another user. Prints and returns `None` without ACLs.
fn open_to_a_friend() -> Option<tempfile::TempDir> {
    let dir = tempfile::tempdir().unwrap();
    if !attributes::open_to_a_friend(dir.path()) {
        println!("SKIPPED: no ACLs at {}", dir.path().display());
        return None;
    }
    Some(dir)
}

/// The mode and ACL of a file.
fn rights(path: &Path) -> (u32, Option<Vec<u8>>) {
    let file = File::open(path).unwrap();
    (path.metadata().unwrap().mode() & 0o777, sys::fs::access_acl(&file).unwrap())
}

/// Appends a line to the file `a`. Calls `look` with the path of the temporary file, if there is one,
/// after the `step`-th step. Returns whether that step was reached.
fn edit(dir: &Path, step: usize, look: impl Fn(&Path) + 'static) -> bool {
    let workspace = open(dir);
    let name = workspace.parse_path("a").unwrap();
    let folder = dir.to_owned();
    let meddle = move || {
        let entries = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let ours = |path: &Path| temporary::is_temporary(path.file_name().unwrap().as_encoded_bytes());
        entries.filter(|path| ours(path)).for_each(|path| look(&path));
    };
    failpoint::meddle_at(step, meddle, || {
        workspace.edit_lines(&name, &append("x"), true, &control()).unwrap();
    })
}

#[test]
fn at_no_step_may_anybody_do_more_with_the_temporary_than_with_the_old_file() {
    for step in 1.. {
        let Some(dir) = open_to_a_friend() else { return };
        let path = dir.path().join("a");
        std::fs::write(&path, "old\n").unwrap();
        sys::testing::remove_access_acl(&path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let old = rights(&path);
        assert_eq!(old, (0o640, None));
        let allowed = old.clone();
        let look = move |temporary: &Path| {
            let now = rights(temporary);
            assert!(now.0 & 0o077 == 0 || now == allowed, "step {step}: {now:?}");
        };
        let more = edit(dir.path(), step, look);
        assert_eq!(rights(&path), old);
        if !more {
            return assert!(step > 9, "{step}");
        }
    }
}

#[test]
fn at_no_step_may_anybody_do_more_with_a_new_file_than_in_the_end() {
    for step in 1.. {
        let Some(dir) = open_to_a_friend() else { return };
        std::fs::write(dir.path().join("by-open"), "").unwrap();
        let opened = rights(&dir.path().join("by-open"));
        assert_eq!(opened.0, 0o666, "the umask does not count");
        let allowed = opened.clone();
        let look = move |temporary: &Path| {
            let now = rights(temporary);
            assert!(now.0 & 0o077 == 0 || now == allowed, "step {step}: {now:?}");
        };
        let more = edit(dir.path(), step, look);
        assert_eq!(rights(&dir.path().join("a")), opened);
        if !more {
            return assert!(step > 8, "{step}");
        }
    }
}
