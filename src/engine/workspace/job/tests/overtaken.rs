//! What another program writes to an entry in the moment when a job deletes it: it is on the disk, or comes back with the undo.

use std::cell::Cell;
use std::io::Write;
use std::rc::Rc;

use super::undo::{Dirs, change, recorded, start, undo};
use super::*;

/// What another program does. Returns whether it could.
type Act = fn(&Path) -> std::io::Result<()>;

/// The content of the longer file of these tests.
const LONG: &str = "0123456789\n";

fn longer() -> Tree {
    let mut tree = start();
    tree.insert("d/long".into(), Some(LONG.into()));
    tree
}

fn append(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().append(true).open(path)?.write_all(b"theirs\n")
}

/// What programs do by the paths of entries, with what must be there then.
const ACTS: [(Act, &str, Option<&str>); 5] = [
    (|dir| append(&dir.join("d/x")), "d/x", Some("X\ntheirs\n")),
    (
        |dir| std::fs::OpenOptions::new().write(true).open(dir.join("d/long"))?.write_all(b"OTHER"),
        "d/long",
        Some("OTHER56789\n"),
    ),
    (|dir| std::fs::write(dir.join("d/e/new"), "new"), "d/e/new", Some("new")),
    (
        |dir| {
            std::fs::write(dir.join("d/theirs"), "other\n")?;
            std::fs::rename(dir.join("d/theirs"), dir.join("d/x"))
        },
        "d/x",
        Some("other\n"),
    ),
    (|dir| std::fs::create_dir(dir.join("d/e/folder")), "d/e/folder", None),
];

/// Runs a job of `ops` beside a program that acts right after the `step`-th step. `None`: there are fewer steps.
fn beside(
    dirs: &Dirs,
    ops: &[Op],
    step: usize,
    act: Act,
) -> Option<(bool, Result<JobDone<String>, JobError>)> {
    let (workspace, path) = (dirs.open(), dirs.path().to_owned());
    let (has_acted, acted) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
    let (seen, mut done) = (acted.clone(), None);
    let was_reached = failpoint::meddle_at(
        step,
        move || seen.set(act(&path).is_ok()),
        || done = Some(change(&workspace, ops)),
    );
    has_acted.set(acted.get());
    was_reached.then(|| (has_acted.get(), done.unwrap()))
}

#[test]
fn what_another_program_writes_into_a_folder_that_a_job_deletes_is_there_or_comes_back() {
    let mut refused = 0;
    for (act, path, content) in ACTS {
        for step in 1.. {
            let dirs = Dirs::new(&longer());
            let ops = [Op::Append("a", "more\n"), Op::Delete("d", true)];
            let Some((has_acted, done)) = beside(&dirs, &ops, step, act) else {
                assert!(step > 10, "{step}");
                break;
            };
            let mut expected = longer();
            if has_acted {
                expected.insert(path.into(), content.map(Into::into));
            }
            match done {
                Ok(done) => drop(undo(&dirs.open(), recorded(done)).unwrap()),
                Err(error) => {
                    assert!(matches!(error.first(), Error::Changed { name } if name.starts_with("d")));
                    refused += 1;
                }
            }
            assert_eq!(dirs.tree(), expected, "{path}, step {step}");
        }
    }
    assert!(refused >= ACTS.len(), "{refused}");
}

#[test]
fn what_another_program_appends_to_a_file_that_a_job_deletes_is_there_or_comes_back() {
    for step in 1.. {
        let dirs = Dirs::new(&start());
        let ops = [Op::Append("a", "more\n"), Op::Delete("d/x", false)];
        let Some((has_acted, done)) = beside(&dirs, &ops, step, |dir| append(&dir.join("d/x"))) else {
            break;
        };
        let mut expected = start();
        if has_acted {
            expected.insert("d/x".into(), Some("X\ntheirs\n".into()));
        }
        if let Ok(done) = done {
            undo(&dirs.open(), recorded(done)).unwrap();
        }
        assert_eq!(dirs.tree(), expected, "step {step}");
    }
}

#[test]
fn what_a_program_writes_to_an_open_file_is_kept_as_long_as_the_job_can_be_taken_back() {
    let steps =
        |ops: &[Op]| (1..).find(|step| beside(&Dirs::new(&start()), ops, *step, |_| Ok(())).is_none());
    for ops in [&[Op::Delete("d/x", false)][..], &[Op::Delete("d", true)]] {
        let steps = steps(ops).unwrap();
        assert!(steps > 3, "{steps}");
        for step in 1..steps {
            let dirs = Dirs::new(&start());
            let workspace = dirs.open();
            let mut open = std::fs::OpenOptions::new().append(true).open(dirs.path().join("d/x")).unwrap();
            let act = move || open.write_all(b"theirs\n").unwrap();
            let mut done = None;
            assert!(failpoint::meddle_at(step, act, || done = Some(change(&workspace, ops))));
            // Behind the last step, all that was hidden goes.
            let is_late = step == steps - 1;
            if let Ok(done) = done.unwrap() {
                undo(&dirs.open(), recorded(done)).unwrap();
            }
            let mut expected = start();
            if !is_late {
                expected.insert("d/x".into(), Some("X\ntheirs\n".into()));
            }
            assert_eq!(dirs.tree(), expected, "step {step} of {steps}: {ops:?}");
        }
    }
}

#[test]
fn what_another_program_writes_to_a_file_that_an_undo_removes_is_there_or_comes_back() {
    for step in 1.. {
        let dirs = Dirs::new(&start());
        let workspace = dirs.open();
        let made =
            recorded(change(&workspace, &[Op::Content("new/f", "1\n"), Op::Append("a", "2\n")]).unwrap());
        let (path, acted) = (dirs.path().join("new/f"), Rc::new(Cell::new(false)));
        let (seen, mut undone) = (acted.clone(), None);
        let act = move || seen.set(append(&path).is_ok());
        if !failpoint::meddle_at(step, act, || undone = Some(undo(&workspace, made))) {
            break;
        }
        let theirs = if acted.get() { "1\ntheirs\n" } else { "1\n" };
        if let Ok(done) = undone.unwrap() {
            undo(&workspace, recorded(done)).unwrap();
        }
        let tree = dirs.tree();
        assert_eq!(
            (tree["new/f"].as_deref(), tree["a"].as_deref()),
            (Some(theirs), Some("A\n2\n")),
            "step {step}"
        );
    }
}

#[test]
fn a_job_that_deletes_one_of_two_names_of_a_file_and_changes_the_other_is_done() {
    for first in ["a", "d/y"] {
        let dirs = Dirs::new(&start());
        std::fs::hard_link(dirs.path().join("a"), dirs.path().join("d/y")).unwrap();
        let (changed, deleted) = if first == "a" { ("a", "d/y") } else { ("d/y", "a") };
        let workspace = dirs.open();
        let done = change(&workspace, &[Op::Append(changed, "more\n"), Op::Delete(deleted, false)]).unwrap();
        undo(&workspace, recorded(done)).unwrap();
        let tree = dirs.tree();
        assert_eq!((tree["a"].as_deref(), tree["d/y"].as_deref()), (Some("A\n"), Some("A\n")));
        assert!(change(&workspace, &[Op::Append("a", "more\n"), Op::Delete("d", true)]).is_ok());
    }
}
