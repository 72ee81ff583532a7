//! The walk beside a plain recursion of the standard library, and its rules one by one.

use std::fs;
use std::time::Duration;
use sys::testing::symlink;

use super::*;
use crate::path::MAX_COMPONENTS;

mod belief;
mod live;

fn control() -> Control {
    Control::new(Duration::from_secs(60))
}

fn options(order: WalkOrder) -> WalkOptions {
    WalkOptions { order, ..WalkOptions::default() }
}

/// The paths that a walk through `dir` meets, folders with a final `/`, and what it left out.
fn walked(dir: &Path, options: WalkOptions, excludes: &Excludes) -> (Vec<String>, LeftOut) {
    let control = control();
    let folder = sys::testing::open_folder(dir);
    let root = Arc::new(folder.try_clone().unwrap());
    let mut walk = Walk::new(&root, folder, Path::new(""), options, excludes, None, &control).unwrap();
    let (mut paths, mut open) = (Vec::new(), Vec::new());
    while let Some(step) = walk.next_step().unwrap() {
        let path = String::from_utf8_lossy(walk.path()).into_owned();
        match step {
            WalkStep::Entry(entry) => {
                assert_eq!(entry.level, path.split('/').count());
                let is_folder = entry.kind == EntryKind::Folder;
                if is_folder {
                    open.push((path.clone(), entry.level));
                }
                paths.push(path + if is_folder { "/" } else { "" });
            }
            // A folder that was not entered is not left.
            WalkStep::Leave(level) => {
                open.retain(|(_, of)| *of <= level);
                assert_eq!(open.pop(), Some((path, level)));
            }
        }
    }
    (paths, walk.left_out())
}

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["a", "a/b", "a.b", "empty", ".git/hooks", "a/.GIT", ".hidden"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    for file in ["a/x", "a/b/y", "a.b/z", "a.txt", "a0", ".git/config", "a/.GIT/x", ".hidden/f", "B"] {
        fs::write(dir.path().join(file), "").unwrap();
    }
    dir
}

#[test]
fn all_entries_come_in_order_without_the_folders_of_git() {
    let dir = tree();
    let (by_name, _) = walked(dir.path(), options(WalkOrder::Name), &Excludes::default());
    let expected = [
        ".hidden/",
        ".hidden/f",
        "B",
        "a/",
        "a/b/",
        "a/b/y",
        "a/x",
        "a.b/",
        "a.b/z",
        "a.txt",
        "a0",
        "empty/",
    ];
    assert_eq!(by_name, expected);
    let (by_path, left_out) = walked(dir.path(), options(WalkOrder::Path), &Excludes::default());
    let mut sorted = by_path.clone();
    sorted.sort();
    assert_eq!(by_path, sorted);
    assert_eq!((by_path.len(), left_out), (by_name.len(), LeftOut::default()));
}

#[test]
fn a_walk_goes_as_deep_as_it_is_told_and_skips_what_it_is_told() {
    let dir = tree();
    let shallow = WalkOptions { depth: 1, ..options(WalkOrder::Name) };
    let (paths, _) = walked(dir.path(), shallow, &Excludes::default());
    assert_eq!(paths, [".hidden/", "B", "a/", "a.b/", "a.txt", "a0", "empty/"]);
    let excludes = Excludes::new(["a/b", "*.txt", "/B", "empty/"]).unwrap();
    let (paths, left_out) = walked(dir.path(), options(WalkOrder::Name), &excludes);
    assert_eq!(paths, [".hidden/", ".hidden/f", "a/", "a/x", "a.b/", "a.b/z", "a0"]);
    assert_eq!(left_out.excluded, 4);
    let control = control();
    let folder = sys::testing::open_folder(dir.path());
    let root = Arc::new(folder.try_clone().unwrap());
    let none = Excludes::default();
    let mut walk =
        Walk::new(&root, folder, Path::new(""), options(WalkOrder::Name), &none, None, &control).unwrap();
    let mut met = 0;
    while let Some(step) = walk.next_step().unwrap() {
        met += usize::from(matches!(step, WalkStep::Entry(_)));
        walk.skip_folder();
    }
    assert_eq!(met, 7);
}

#[test]
fn links_are_met_but_never_entered() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "").unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    symlink("..", dir.path().join("sub/up")).unwrap();
    symlink(outside.path(), dir.path().join("out")).unwrap();
    let (paths, _) = walked(dir.path(), options(WalkOrder::Name), &Excludes::default());
    assert_eq!(paths, ["out", "sub/", "sub/up"]);
}

#[test]
fn a_folder_that_is_swapped_for_a_link_after_it_was_met_is_not_entered() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("sub/deep")).unwrap();
    let (control, none) = (control(), Excludes::default());
    let folder = sys::testing::open_folder(dir.path());
    let root = Arc::new(folder.try_clone().unwrap());
    let mut walk =
        Walk::new(&root, folder, Path::new(""), options(WalkOrder::Name), &none, None, &control).unwrap();
    assert!(matches!(
        walk.next_step().unwrap(),
        Some(WalkStep::Entry(WalkEntry { kind: EntryKind::Folder, .. }))
    ));
    fs::rename(dir.path().join("sub"), dir.path().join("moved")).unwrap();
    symlink("/", dir.path().join("sub")).unwrap();
    assert_eq!(walk.next_step().unwrap(), None);
}

#[test]
fn what_cannot_be_read_or_is_too_deep_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut deep = dir.path().to_owned();
    for _ in 0..300 {
        deep.push("d");
        fs::create_dir(&deep).unwrap();
    }
    let (paths, left_out) = walked(dir.path(), options(WalkOrder::Name), &Excludes::default());
    assert_eq!((paths.len(), left_out.too_deep), (MAX_COMPONENTS, 1));
}

#[test]
fn names_that_are_not_utf8_are_met_and_a_stopped_walk_ends() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(OsStr::from_bytes(b"caf\xe9")), "").unwrap();
    let (control, none) = (control(), Excludes::default());
    let folder = sys::testing::open_folder(dir.path());
    let root = Arc::new(folder.try_clone().unwrap());
    let mut walk =
        Walk::new(&root, folder, Path::new("x/y"), options(WalkOrder::Name), &none, None, &control).unwrap();
    assert!(walk.next_step().unwrap().is_some());
    assert_eq!((walk.path(), walk.name()), (&b"x/y/caf\xe9"[..], &b"caf\xe9"[..]));
    assert_eq!(walk.path_from_start(), b"caf\xe9");
    assert!(walk.stat().is_ok_and(|stat| stat.is_some_and(|stat| stat.st_size == 0)));
    control.cancel();
    assert!(matches!(walk.next_step(), Err(Error::Cancelled)));
}
