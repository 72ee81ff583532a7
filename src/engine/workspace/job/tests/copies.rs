//! Copies of folders.

use super::undo::{Dirs, change, start, undo};
use super::*;

#[test]
fn a_copy_of_a_folder_has_what_the_job_has_made_of_it_and_goes_as_a_whole() {
    use sys::testing::{MetadataExt, PermissionsExt, symlink};
    let dirs = Dirs::new(&start());
    let at = |path: &str| dirs.path().join(path);
    std::fs::set_permissions(at("d/x"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("x", at("d/l")).unwrap();
    let workspace = dirs.open();
    let before = dirs.tree();
    let ops = [
        Op::Append("d/x", "more\n"),
        Op::Content("d/new/n", "new\n"),
        Op::Move("a", "d/a"),
        Op::Delete("d/e", true),
        Op::Copy("d", "copies/of/d"),
        Op::Append("copies/of/d/x", "copy\n"),
    ];
    let done = change(&workspace, &ops).unwrap();
    let tree = dirs.tree();
    let texts =
        ["x", "new/n", "a", "l"].map(|name| tree.get(&format!("copies/of/d/{name}")).cloned().flatten());
    let expected = ["X\nmore\ncopy\n", "new\n", "A\n", "X\nmore\ncopy\n"].map(|text| Some(text.to_owned()));
    assert_eq!(texts, expected, "{tree:?}");
    assert_eq!(tree["d/x"].as_deref(), Some("X\nmore\n"));
    assert!(!tree.contains_key("copies/of/d/e"));
    assert_eq!(at("copies/of/d/x").metadata().unwrap().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read_link(at("copies/of/d/l")).unwrap(), Path::new("x"));
    let Some(Recorded::Change(number)) = done.recorded else { panic!("{:?}", done.recorded) };
    undo(&workspace, number).unwrap();
    assert_eq!(dirs.tree(), before);
}

#[test]
fn what_cannot_be_copied_refuses_the_whole_copy() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    std::fs::create_dir_all(dirs.path().join("d/e/.git")).unwrap();
    std::fs::write(dirs.path().join("d/e/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let before = dirs.tree();
    for ops in [[Op::Copy("d", "copy")], [Op::Copy("d", "d/e/d")], [Op::Copy("d", "a")]] {
        assert!(change(&workspace, &ops).is_err(), "{ops:?}");
        assert_eq!(dirs.tree(), before, "{ops:?}");
    }
}

#[test]
fn what_is_in_a_folder_by_a_move_before_that_folder_moved_is_copied_and_keeps_it_from_being_empty() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &tree(&[("f", "F\n"), ("d/x", "X\n")], &["d"]));
    let workspace = open(dir.path());
    run(&workspace, &[Op::Move("f", "d/f"), Op::Move("d", "e"), Op::Copy("e", "copy")]).unwrap();
    assert_eq!(on_disk(dir.path())["copy/f"].as_deref(), Some("F\n"));
    let ops = [
        Op::Delete("e/x", false),
        Op::Delete("copy", true),
        Op::Move("e/f", "n/f"),
        Op::Move("n", "m"),
        Op::Delete("m", false),
    ];
    assert!(run(&workspace, &ops).is_err());
    assert_eq!(on_disk(dir.path())["e/f"].as_deref(), Some("F\n"));
}
