//! What could not be taken back of a job that died or failed, as another program was in the way: the journal has that, and no more.

use super::recover::{died_at, died_when, is_left_open, trees};
use super::undo::{Dirs, change, problem, recorded, start, undo, undo_at};
use super::*;
use journal::Change;

const EDITS: &[Op] = &[Op::Append("a", "1\n"), Op::Append("d/x", "1\n"), Op::Append("d/e/z", "1\n")];

/// The changes of the journal, with their numbers.
fn changes(workspace: &Workspace) -> Vec<(ChangeNumber, Change)> {
    let log = workspace.change_log().unwrap();
    let numbers = log.numbers().unwrap().into_iter();
    numbers.map(|number| (number, log.read(number).unwrap().unwrap())).collect()
}

/// The paths that `changes` tells.
fn told(workspace: &Workspace) -> Vec<String> {
    let files = workspace.changed_files(&changes(workspace), &|_| true, false, None, &control()).unwrap();
    files.into_iter().map(|file| file.path).collect()
}

fn last(workspace: &Workspace) -> ChangeNumber {
    changes(workspace).pop().unwrap().0
}

#[test]
fn of_a_dead_server_the_journal_has_only_what_another_program_changed_since() {
    let dirs = died_when(&start(), EDITS, |tree| tree["d/e/z"] != start()["d/e/z"]);
    let write = |text: &str| std::fs::write(dirs.path().join("a"), text).unwrap();
    write("theirs\n");
    let next = dirs.open();
    let (tree, left) = trees(&dirs);
    assert_eq!((&tree["d/x"], &tree["d/e/z"]), (&start()["d/x"], &start()["d/e/z"]));
    assert!(left.is_empty() && !is_left_open(&next), "{left:?}");
    assert_eq!(told(&next), ["a"]);
    let number = last(&next);
    let refused = problem(undo(&next, number));
    assert!(refused.contains("changed since by another program"), "{refused}");
    write("A\n1\n");
    undo(&next, number).unwrap();
    assert_eq!(dirs.tree(), start(), "when nothing is in the way, it can be undone");
}

#[test]
fn a_file_to_which_the_dead_server_had_not_come_is_no_part_of_its_change() {
    let is_half = |tree: &Tree| tree["a"] != start()["a"] && tree["d/e/z"] == start()["d/e/z"];
    for replaces in [false, true] {
        let dirs = died_when(&start(), EDITS, is_half);
        let (new, z) = (dirs.path().join("theirs"), dirs.path().join("d/e/z"));
        std::fs::write(if replaces { &new } else { &z }, "theirs\n").unwrap();
        if replaces {
            std::fs::rename(new, z).unwrap();
        }
        let next = dirs.open();
        assert_eq!(trees(&dirs).0["a"], start()["a"]);
        assert!(changes(&next).is_empty() && !is_left_open(&next), "{:?}", changes(&next));
    }
}

#[test]
fn of_an_undo_that_died_the_journal_has_only_what_is_left_of_it() {
    let mut met = 0;
    for step in 2.. {
        let dirs = Dirs::new(&start());
        let first = recorded(change(&dirs.open(), EDITS).unwrap());
        let changed = dirs.tree();
        let workspace = dirs.open();
        if !failpoint::crash_at(step, || _ = undo(&workspace, first)) {
            break;
        }
        drop(workspace);
        if dirs.tree()["d/e/z"] == changed["d/e/z"] || dirs.tree()["a"] == changed["a"] {
            continue;
        }
        std::fs::write(dirs.path().join("a"), "theirs\n").unwrap();
        let next = dirs.open();
        if trees(&dirs).0["d/x"] == start()["d/x"] {
            // All of it was on the disk.
            continue;
        }
        met += 1;
        assert_eq!(trees(&dirs).0["d/x"], changed["d/x"], "step {step}");
        let refused = problem(undo_at(&next, first, Some("a")));
        assert!(refused.contains("taken back already"), "{refused}");
        undo(&next, first).unwrap();
        assert_eq!(trees(&dirs).0["d/x"], start()["d/x"], "step {step}: the rest is undone later");
    }
    assert!(met > 0);
}

#[test]
fn of_a_call_that_failed_the_journal_has_only_what_could_not_be_taken_back() {
    let ops =
        [Op::Append("a", "1\n"), Op::Append("d/x", "1\n"), Op::Content("n/f", "1\n"), Op::Move("d/e", "m")];
    let mut met = 0;
    for step in 1.. {
        let dirs = Dirs::new(&start());
        let workspace = dirs.open();
        let (a, m) = (dirs.path().join("a"), dirs.path().join("m"));
        let meddle = move || {
            std::fs::write(&a, "theirs\n").unwrap();
            _ = std::fs::write(&m, "theirs\n");
        };
        let mut done = None;
        if !failpoint::meddle_at(step, meddle, || done = Some(change(&workspace, &ops))) {
            break;
        }
        let (tree, left) = trees(&dirs);
        assert_eq!(tree["a"].as_deref(), Some("theirs\n"), "step {step}");
        assert!(left.is_empty() && !is_left_open(&workspace), "step {step}: {left:?}");
        let Err(error) = done.unwrap() else { continue };
        assert_eq!((&tree["d/x"], tree.get("n")), (&start()["d/x"], None), "step {step}");
        let Some((number, left)) = changes(&workspace).pop() else { continue };
        met += 1;
        assert_eq!((left.files.len(), left.steps.len()), (1, 0), "step {step}: {left:?}");
        assert_eq!(told(&workspace), ["a"]);
        let error = format!("{:?}", error.first());
        assert!(error.contains(&format!("they are c{number}")), "{error}");
    }
    assert!(met > 0);
}

#[test]
fn a_deleted_folder_that_cannot_come_back_is_in_the_journal_and_comes_back_later() {
    let ops = [Op::Append("a", "1\n"), Op::Delete("d", true), Op::Content("n", "2\n")];
    let is_half = |tree: &Tree| !tree.contains_key("d") && !tree.contains_key("n");
    let dirs = died_when(&start(), &ops, is_half);
    // Another program makes the folder anew.
    std::fs::create_dir(dirs.path().join("d")).unwrap();
    let next = dirs.open();
    let (tree, left) = trees(&dirs);
    assert_eq!(tree["a"].as_deref(), Some("A\n"));
    assert!(left.is_empty(), "the journal has what was hidden: {left:?}");
    assert!(!is_left_open(&next));
    let number = last(&next);
    undo(&next, number).unwrap();
    assert_eq!(dirs.tree(), start());
}

#[test]
fn what_is_too_large_for_the_journal_stays_hidden_until_it_can_come_back() {
    let mut start = start();
    start.insert("big".into(), Some("line\n".repeat(400_000)));
    let ops = [Op::Append("a", "1\n"), Op::Delete("big", false), Op::Content("n", "2\n")];
    let is_half = |tree: &Tree| !tree.contains_key("big") && !tree.contains_key("n");
    let dirs = died_when(&start, &ops, is_half);
    let theirs = dirs.path().join("big");
    std::fs::write(&theirs, "theirs\n").unwrap();
    for _ in 0..2 {
        let next = dirs.open();
        let (tree, left) = trees(&dirs);
        assert_eq!((tree["a"].as_deref(), tree["big"].as_deref()), (Some("A\n"), Some("theirs\n")));
        assert!(left.len() == 1 && changes(&next).is_empty(), "{left:?}");
    }
    std::fs::remove_file(&theirs).unwrap();
    let next = dirs.open();
    assert_eq!(dirs.tree(), start);
    assert!(changes(&next).is_empty() && !is_left_open(&next));
}

#[test]
fn a_new_folder_into_which_others_have_put_something_is_no_conflict() {
    let ops = [Op::Content("n/f", "1\n"), Op::Move("d", "m")];
    let dirs = died_when(&start(), &ops, |tree| tree.contains_key("n/f") && tree.contains_key("d"));
    std::fs::write(dirs.path().join("n/theirs"), "theirs\n").unwrap();
    let next = dirs.open();
    let (mut tree, left) = trees(&dirs);
    assert_eq!(tree.remove("n/theirs").flatten().as_deref(), Some("theirs\n"));
    assert_eq!((tree.remove("n"), left.len()), (Some(None), 0));
    assert_eq!(tree, start());
    assert!(changes(&next).is_empty() && !is_left_open(&next));
}

#[test]
fn what_was_moved_out_of_a_folder_that_is_gone_stays_where_it_is() {
    let ops = [Op::Append("a", "1\n"), Op::Move("d/x", "y"), Op::Content("n", "2\n")];
    let is_half = |tree: &Tree| tree.contains_key("y") && !tree.contains_key("n");
    let dirs = died_when(&start(), &ops, is_half);
    std::fs::remove_dir_all(dirs.path().join("d")).unwrap();
    let next = dirs.open();
    assert_eq!(trees(&dirs).0, tree(&[("a", "A\n"), ("y", "X\n")], &[]));
    assert_eq!(told(&next), ["y"]);
}

#[test]
fn a_server_that_dies_while_it_writes_what_is_left_loses_nothing_of_it() {
    let ops = [Op::Append("a", "1\n"), Op::Delete("d", true), Op::Content("n", "2\n")];
    let is_half = |tree: &Tree| !tree.contains_key("d") && !tree.contains_key("n");
    for step in 1.. {
        let dirs = died_when(&start(), &ops, is_half);
        std::fs::create_dir(dirs.path().join("d")).unwrap();
        let has_died = failpoint::crash_at(step, || _ = dirs.open());
        let next = dirs.open();
        let (tree, left) = trees(&dirs);
        assert_eq!(tree["a"].as_deref(), Some("A\n"), "step {step}");
        assert!(left.is_empty() && !is_left_open(&next), "step {step}: {left:?}");
        let changes = changes(&next);
        assert!(changes.len() == 1 && changes[0].1.elements() == 1, "step {step}: {changes:?}");
        std::fs::remove_dir(dirs.path().join("d")).unwrap();
        undo(&next, changes[0].0).unwrap();
        assert_eq!(dirs.tree(), start(), "step {step}");
        if !has_died {
            assert!(step > 1);
            break;
        }
    }
    assert!(died_at(1, &Dirs::new(&start()), &ops));
}
