//! Changes that are taken back in parts: each piece is done or taken back, whichever undo says so.

use super::undo::{Dirs, change, problem, recorded, start, undo, undo_at};
use super::*;

/// The text of a file.
fn text(dirs: &Dirs, path: &str) -> Option<String> {
    dirs.tree().get(path).cloned().flatten()
}

#[test]
fn what_is_left_of_a_change_that_was_taken_back_in_part_is_taken_back() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Append("a", "1\n"), Op::Append("d/x", "1\n")]).unwrap());
    let part = recorded(undo_at(&workspace, first, Some("a")).unwrap());
    let told = problem(undo_at(&workspace, first, Some("a")));
    assert!(
        told.contains(&format!(
            "what c{first} did at a is taken back already, by c{part}; `undo` of c{part}"
        )),
        "{told}"
    );
    undo(&workspace, first).unwrap();
    assert_eq!(dirs.tree(), start());
}

#[test]
fn a_deletion_that_was_taken_back_in_part_is_taken_back_once_however_often_that_was_done_again() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Delete("a", false), Op::Delete("d/x", false)]).unwrap());
    let part = recorded(undo_at(&workspace, first, Some("a")).unwrap());
    let again = recorded(undo(&workspace, part).unwrap());
    assert!(!dirs.tree().contains_key("a"));
    let back = recorded(undo(&workspace, again).unwrap());
    change(&workspace, &[Op::Move("a", "b")]).unwrap();
    let told = problem(undo(&workspace, again));
    assert!(told.contains(&format!("taken back already, by c{back}")), "{told}");
    undo(&workspace, first).unwrap();
    let whole = tree(&[("b", "A\n"), ("d/x", "X\n"), ("d/e/z", "Z")], &["d", "d/e"]);
    assert_eq!(dirs.tree(), whole, "the file that came back is not made a second time");
    problem(undo(&workspace, first));
    recorded(undo(&workspace, part).unwrap());
    assert_eq!((text(&dirs, "b"), text(&dirs, "d/x").as_deref()), (None, Some("X\n")), "only its own part");
}

#[test]
fn a_creation_that_was_done_again_in_part_is_taken_back_by_each_name_of_it() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first =
        recorded(change(&workspace, &[Op::Content("n/f", "1\n"), Op::Content("n/g", "2\n")]).unwrap());
    let after = dirs.tree();
    let all = recorded(undo(&workspace, first).unwrap());
    assert_eq!(dirs.tree(), start());
    let part = recorded(undo_at(&workspace, all, Some("n/f")).unwrap());
    assert_eq!((text(&dirs, "n/f").as_deref(), text(&dirs, "n/g")), (Some("1\n"), None));
    undo(&workspace, first).unwrap();
    assert_eq!(dirs.tree(), start(), "with the folder that was made again");
    let told = problem(undo(&workspace, part));
    assert!(told.contains("taken back already"), "{told}");
    undo(&workspace, all).unwrap();
    assert_eq!(dirs.tree(), after);
}

#[test]
fn one_file_of_a_deleted_folder_comes_back_alone_with_its_folders_and_goes_again() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Delete("d", true)]).unwrap());
    let gone = dirs.tree();
    let part = recorded(undo_at(&workspace, first, Some("d/e/z")).unwrap());
    assert_eq!(dirs.tree(), tree(&[("a", "A\n"), ("d/e/z", "Z")], &["d", "d/e"]));
    let again = recorded(undo(&workspace, part).unwrap());
    assert_eq!(dirs.tree(), gone);
    undo(&workspace, again).unwrap();
    change(&workspace, &[Op::Move("d/e", "e"), Op::Move("d", "e/d")]).unwrap();
    undo(&workspace, first).unwrap();
    let whole = tree(&[("a", "A\n"), ("e/d/x", "X\n"), ("e/z", "Z")], &["e", "e/d"]);
    assert_eq!(dirs.tree(), whole, "the rest comes back where its folder is");
}

#[test]
fn a_part_of_what_was_moved_twice_in_one_change_is_found_where_it_is() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let ops = [Op::Move("a", "b"), Op::Move("d/x", "d/y"), Op::Move("b", "c"), Op::Append("c", "more\n")];
    let first = recorded(change(&workspace, &ops).unwrap());
    let part = recorded(undo_at(&workspace, first, Some("d/y")).unwrap());
    assert_eq!(
        (text(&dirs, "d/x").as_deref(), text(&dirs, "c").as_deref()),
        (Some("X\n"), Some("A\nmore\n"))
    );
    undo(&workspace, first).unwrap();
    assert_eq!(dirs.tree(), start());
    undo(&workspace, part).unwrap();
    assert_eq!(text(&dirs, "d/y").as_deref(), Some("X\n"));
}

#[test]
fn a_path_at_which_a_change_did_nothing_is_refused_with_those_where_it_did() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Append("a", "1\n"), Op::Move("d", "n/d")]).unwrap());
    let told = problem(undo_at(&workspace, first, Some("other")));
    assert!(told.contains(&format!("c{first} changed nothing there; it changed a, n")), "{told}");
    let told = problem(undo_at(&workspace, first, Some("n/d/x")));
    assert!(told.contains("moved the folder n/d as a whole: give that path"), "{told}");
    change(&workspace, &[Op::Move("n/d", "m")]).unwrap();
    undo_at(&workspace, first, Some("m")).unwrap();
    assert_eq!(text(&dirs, "d/x").as_deref(), Some("X\n"), "by the path that it has now");
}

#[test]
fn a_link_that_another_program_replaced_by_a_file_stays() {
    let dirs = Dirs::new(&start());
    sys::testing::symlink("x", dirs.path().join("d/l")).unwrap();
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Copy("d", "copy")]).unwrap());
    let link = dirs.path().join("copy/l");
    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, "theirs\n").unwrap();
    let told = problem(undo(&workspace, first));
    assert!(told.contains("so that it stays"), "{told}");
    assert_eq!(text(&dirs, "copy/l").as_deref(), Some("theirs\n"));
}

#[test]
fn a_file_that_came_back_into_a_folder_that_was_moved_is_told_as_one_file() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let edited = recorded(change(&workspace, &[Op::Append("d/x", "more\n")]).unwrap());
    let deleted = recorded(change(&workspace, &[Op::Delete("d/x", false)]).unwrap());
    change(&workspace, &[Op::Move("d", "n")]).unwrap();
    let back = recorded(undo(&workspace, deleted).unwrap());
    let log = workspace.change_log().unwrap();
    let numbers = log.numbers().unwrap().into_iter();
    let changes: Vec<_> = numbers.map(|number| (number, log.read(number).unwrap().unwrap())).collect();
    let files = workspace.changed_files(&changes, &|_| true, false, None, &control()).unwrap();
    let file = files.iter().find(|file| file.path == "n/x").unwrap();
    assert_eq!((file.was.as_deref(), file.is_deleted), (Some("d/x"), false));
    assert_eq!(file.changes, [edited, deleted, back]);
    assert_eq!(file.contents, Some((b"X\n".to_vec(), b"X\nmore\n".to_vec())));
    assert!(files.iter().all(|file| !file.is_deleted), "{files:?}");
}

#[test]
fn one_undo_at_a_time_reads_what_is_done_and_writes_it_down() {
    let dirs = Dirs::new(&start());
    let (workspace, other) = (dirs.open(), dirs.open());
    let first = recorded(change(&workspace, &[Op::Delete("a", false)]).unwrap());
    let turn = other.change_log().unwrap().hold_undos(&control()).unwrap();
    let no_time = Control::new(Duration::ZERO);
    let refused = workspace.undo(first, None, None, JobOptions::default(), &no_time, described);
    assert!(matches!(refused, Err(JobError::Failed(Error::TimedOut))), "{refused:?}");
    drop(turn);
    undo(&workspace, first).unwrap();
    assert_eq!(dirs.tree(), start());
}
