//! Jobs against a naive model, beside other programs, and at the same time.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use folder::fs::failpoint;
use folder::{NamePolicy, Occupant};
use proptest::prelude::*;
use text::splice::Splice;

use super::*;
use crate::WorkspaceOptions;

mod chains;
mod copies;
mod disk;
mod left;
mod model;
mod overtaken;
mod parts;
mod power_loss;
mod recover;
mod undo;

fn open(dir: &Path) -> Workspace {
    let options = WorkspaceOptions { names: NamePolicy::Paths, ..WorkspaceOptions::default() };
    Workspace::open(&[dir.into()], options).unwrap()
}

fn control() -> Control {
    Control::new(Duration::from_secs(60))
}

/// One operation as a test writes it.
#[derive(Debug, Clone)]
enum Op {
    /// The whole content of a file, new or not.
    Content(&'static str, &'static str),
    /// Adds a text at the end of a file that exists.
    Append(&'static str, &'static str),
    Move(&'static str, &'static str),
    Copy(&'static str, &'static str),
    Delete(&'static str, bool),
}

fn operations<'o>(workspace: &Workspace, ops: &[Op]) -> Vec<Operation<'o>> {
    let path = |path: &str| workspace.parse_path(path).unwrap();
    let write = |at: &str, create, from_end: bool, text: &'static str| {
        let plan = move |_: &LineIndex, old: &[u8]| {
            let at = if from_end { old.len()..old.len() } else { 0..old.len() };
            Ok(EditPlan::new(vec![Splice { at, text: Cow::Borrowed(text.as_bytes()) }], old))
        };
        let options = ChangeOptions { create, ..ChangeOptions::default() };
        Operation::Write { path: path(at), options, plan: Box::new(plan) }
    };
    let operation = |op: &Op| match *op {
        Op::Content(at, text) => write(at, true, false, text),
        Op::Append(at, text) => write(at, false, true, text),
        Op::Move(at, to) => Operation::Move { path: path(at), to: path(to) },
        Op::Copy(at, to) => Operation::Copy { path: path(at), to: path(to) },
        Op::Delete(at, recursive) => {
            let only = if recursive { Deletion::Recursive } else { Deletion::Entry };
            Operation::Delete { path: path(at), only }
        }
    };
    ops.iter().map(operation).collect()
}

fn run(workspace: &Workspace, ops: &[Op]) -> Result<Vec<String>, JobError> {
    workspace
        .run_job(&mut operations(workspace, ops), JobOptions::default(), &control(), described)
        .map(|done| done.told)
}

fn described(change: JobChange) -> String {
    match change {
        JobChange::Content { path, is_new, old, plan } => {
            let mut text = Vec::new();
            plan.write_to(old, &mut text).unwrap();
            let is = if is_new { "new" } else { "changed" };
            format!("{is} {path}: {:?}", String::from_utf8_lossy(&text))
        }
        JobChange::Moved { from, to } => format!("moved {from} to {to}"),
        JobChange::Link { path, target } => format!("link {path} to {target}"),
        JobChange::Folder { path } => format!("folder {path}"),
        JobChange::Deleted { path } => format!("deleted {path}"),
    }
}

/// A tree: the text of each file, and `None` for each folder.
type Tree = BTreeMap<String, Option<String>>;

fn on_disk(dir: &Path) -> Tree {
    fn walk(dir: &Path, base: &str, tree: &mut Tree) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{base}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                walk(&entry.path(), &format!("{path}/"), tree);
                tree.insert(path, None);
            } else {
                tree.insert(path, Some(std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    let mut tree = Tree::new();
    walk(dir, "", &mut tree);
    tree
}

fn make(dir: &Path, tree: &Tree) {
    for (path, text) in tree {
        match text {
            None => std::fs::create_dir_all(dir.join(path)).unwrap(),
            Some(text) => {
                std::fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
                std::fs::write(dir.join(path), text).unwrap();
            }
        }
    }
}

fn tree(files: &[(&str, &str)], folders: &[&str]) -> Tree {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), Some((*text).to_owned())));
    files.chain(folders.iter().map(|path| ((*path).to_owned(), None))).collect()
}

/// The naive model of one operation. False: it is refused.
fn apply(tree: &mut Tree, op: &Op) -> bool {
    let is_within = |path: &str, folder: &str| path == folder || path.starts_with(&format!("{folder}/"));
    let make_parents = |tree: &mut Tree, path: &str| {
        for (end, _) in path.match_indices('/') {
            match tree.get(&path[..end]) {
                Some(Some(_)) => return false,
                Some(None) => {}
                None => _ = tree.insert(path[..end].to_owned(), None),
            }
        }
        true
    };
    match *op {
        Op::Content(at, text) => {
            let is_file = tree.get(at).is_none_or(Option::is_some);
            is_file && make_parents(tree, at) && {
                tree.insert(at.into(), Some(text.into()));
                true
            }
        }
        Op::Append(at, text) => match tree.get_mut(at) {
            Some(Some(old)) => {
                old.push_str(text);
                true
            }
            _ => false,
        },
        Op::Move(at, to) | Op::Copy(at, to) if at == to => tree.contains_key(at),
        Op::Move(at, to) => {
            if !tree.contains_key(at) || tree.contains_key(to) || is_within(to, at) || !make_parents(tree, to)
            {
                return false;
            }
            let moved: Vec<String> = tree.keys().filter(|path| is_within(path, at)).cloned().collect();
            for path in moved {
                let entry = tree.remove(&path).unwrap();
                tree.insert(format!("{to}{}", &path[at.len()..]), entry);
            }
            true
        }
        Op::Copy(at, to) => {
            if !tree.contains_key(at) || tree.contains_key(to) || is_within(to, at) || !make_parents(tree, to)
            {
                return false;
            }
            let copied = tree.clone().into_iter().filter(|(path, _)| is_within(path, at));
            tree.extend(copied.map(|(path, entry)| (format!("{to}{}", &path[at.len()..]), entry)));
            true
        }
        Op::Delete(at, recursive) => {
            let inside = tree.keys().filter(|path| is_within(path, at)).count();
            if inside == 0 || inside > 1 && !recursive {
                return false;
            }
            tree.retain(|path, _| !is_within(path, at));
            true
        }
    }
}

const PATHS: [&str; 9] = ["a", "b", "d", "d/x", "d/y", "d/e/z", "e", "e/x", "d/e"];

fn any_op() -> impl Strategy<Value = Op> {
    let path = || proptest::sample::select(&PATHS[..]);
    let text = || proptest::sample::select(&["", "1\n", "two\n", "drei"][..]);
    prop_oneof![
        3 => (path(), text()).prop_map(|(at, text)| Op::Content(at, text)),
        3 => (path(), text()).prop_map(|(at, text)| Op::Append(at, text)),
        3 => (path(), path()).prop_map(|(at, to)| Op::Move(at, to)),
        1 => (path(), path()).prop_map(|(at, to)| Op::Copy(at, to)),
        2 => (path(), any::<bool>()).prop_map(|(at, recursive)| Op::Delete(at, recursive)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Each job makes of a tree what the operations make of it one after the other, or refuses those that do not fit and changes nothing.
    #[test]
    fn a_job_does_what_its_operations_do_one_after_the_other_or_nothing(
        ops in proptest::collection::vec(any_op(), 1..7),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let start = tree(&[("a", "A\n"), ("d/x", "X\n"), ("d/e/z", "Z")], &["d", "d/e"]);
        make(dir.path(), &start);
        let workspace = open(dir.path());
        let (mut model, mut refused) = (start.clone(), Vec::new());
        for (number, op) in ops.iter().enumerate() {
            let before = model.clone();
            if !apply(&mut model, op) {
                model = before;
                refused.push(number);
            }
        }
        let dry = workspace.run_job(&mut operations(&workspace, &ops), JobOptions { dry_run: true, note: None }, &control(), described).map(|done| done.told);
        prop_assert_eq!(on_disk(dir.path()), start.clone(), "a dry run");
        let done = run(&workspace, &ops);
        let expected = if refused.is_empty() { model } else { start.clone() };
        // A folder that was made for what is gone again need not be made.
        let without_vain = |mut tree: Tree| {
            for path in tree.keys().rev().cloned().collect::<Vec<_>>() {
                let is_empty = !tree.keys().any(|other| other.starts_with(&format!("{path}/")));
                if tree[&path].is_none() && is_empty && !start.contains_key(&path) {
                    tree.remove(&path);
                }
            }
            tree
        };
        prop_assert_eq!(without_vain(on_disk(dir.path())), without_vain(expected), "{:?}", done);
        for outcome in [dry, done] {
            match outcome {
                Ok(_) => prop_assert!(refused.is_empty(), "{:?}", refused),
                Err(JobError::Refused(told)) => {
                    let numbers: Vec<usize> = told.iter().map(|(number, _)| *number).collect();
                    prop_assert_eq!(numbers, refused.clone(), "{:?}", told);
                }
                Err(JobError::Failed(error)) => prop_assert!(false, "{:?}", error),
            }
        }
    }
}

const JOB: [Op; 6] = [
    Op::Append("a", "more\n"),
    Op::Append("d/x", "more\n"),
    Op::Content("new/f", "new\n"),
    Op::Move("d", "moved"),
    Op::Append("moved/y", "more\n"),
    Op::Delete("e", true),
];

fn before_the_job() -> Tree {
    tree(&[("a", "A\n"), ("d/x", "X\n"), ("d/y", "Y\n"), ("e/z", "Z\n")], &["d", "e"])
}

fn after_the_job() -> Tree {
    let files = [("a", "A\nmore\n"), ("moved/x", "X\nmore\n"), ("moved/y", "Y\nmore\n"), ("new/f", "new\n")];
    tree(&files, &["moved", "new"])
}

#[test]
fn edits_moves_and_deletions_happen_together() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &before_the_job());
    let done = run(&open(dir.path()), &JOB).unwrap();
    assert_eq!(on_disk(dir.path()), after_the_job());
    let told = [
        r#"changed a: "A\nmore\n""#,
        r#"changed moved/x: "X\nmore\n""#,
        r#"changed moved/y: "Y\nmore\n""#,
        r#"new new/f: "new\n""#,
        "moved d to moved",
        "deleted e",
    ];
    assert_eq!(done, told);
}

/// What another program does at any step is kept, and the job is done completely or not at all.
fn at_each_step(act: fn(&Path), theirs: &str) {
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &before_the_job());
        let (workspace, path) = (open(dir.path()), dir.path().to_owned());
        let mut done = None;
        if !failpoint::meddle_at(step, move || act(&path), || done = Some(run(&workspace, &JOB))) {
            assert!(20 < step, "{step}");
            break;
        }
        let mut found = on_disk(dir.path());
        let kept = found.remove(theirs).is_some();
        let done = done.unwrap();
        let (mut before, mut after) = (before_the_job(), after_the_job());
        before.remove(theirs);
        after.remove(theirs);
        match &done {
            Ok(_) => assert_eq!(found, after, "step {step}"),
            Err(_) => assert_eq!(found, before, "step {step}: {done:?}"),
        }
        assert!(kept || done.is_ok(), "step {step}: {done:?}");
    }
}

#[test]
fn a_file_of_another_program_in_the_way_stops_the_job_and_stays() {
    at_each_step(|dir| std::fs::write(dir.join("moved"), "theirs").unwrap_or_default(), "moved");
    at_each_step(
        |dir| {
            let _ = std::fs::File::create_new(dir.join("new"));
        },
        "new",
    );
}

#[test]
fn a_file_that_another_program_writes_meanwhile_keeps_what_it_wrote() {
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &before_the_job());
        let (workspace, path) = (open(dir.path()), dir.path().join("a"));
        let act = move || {
            // Beside the file, as most programs save.
            std::fs::write(path.with_extension("saved"), "theirs\n").unwrap();
            std::fs::rename(path.with_extension("saved"), path).unwrap();
        };
        let mut done = None;
        if !failpoint::meddle_at(step, act, || done = Some(run(&workspace, &JOB))) {
            break;
        }
        let found = on_disk(dir.path());
        let text = found["a"].clone().unwrap();
        match done.unwrap() {
            // Their write came before the job, or after it.
            Ok(_) => assert!(["theirs\nmore\n", "theirs\n"].contains(&&*text), "step {step}: {text}"),
            Err(_) => assert_eq!(text, "theirs\n", "step {step}"),
        }
        assert!(!found.keys().any(|path| path.contains(".file-editor")), "step {step}: {found:?}");
    }
}

#[test]
fn jobs_over_the_same_files_in_any_order_wait_for_each_other() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &tree(&[("a", ""), ("b", ""), ("d/x", "")], &["d"]));
    let workspace = open(dir.path());
    let orders = [["a", "b", "d/x"], ["d/x", "b", "a"], ["b", "d/x", "a"], ["d/x", "a", "b"]];
    std::thread::scope(|scope| {
        for order in orders {
            let workspace = &workspace;
            scope.spawn(move || {
                for _ in 0..25 {
                    let ops: Vec<Op> = order.map(|path| Op::Append(path, "+")).into();
                    run(workspace, &ops).unwrap();
                }
            });
        }
    });
    let all = "+".repeat(100);
    assert_eq!(on_disk(dir.path()).into_values().flatten().collect::<Vec<_>>(), vec![all; 3]);
}

#[test]
fn every_operation_that_does_not_fit_is_told_and_a_folder_in_the_way_names_the_path_inside() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &before_the_job());
    let ops = [Op::Append("nothing", "x"), Op::Append("a", "x"), Op::Move("a", "d"), Op::Delete("d", false)];
    let Err(JobError::Refused(refused)) = run(&open(dir.path()), &ops) else { panic!("not refused") };
    let [(0, Error::NotFound { .. }), (2, Error::Exists { occupant, .. }), (3, Error::NotEmpty { .. })] =
        &refused[..]
    else {
        panic!("{refused:?}")
    };
    assert_eq!(**occupant, Occupant::Folder { inside: Some("d/a".into()), is_free: true });
    assert_eq!(on_disk(dir.path()), before_the_job());
}

#[test]
fn a_file_that_was_moved_out_of_a_deleted_folder_keeps_its_edit() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &before_the_job());
    let ops = [Op::Append("d/x", "more\n"), Op::Move("d/x", "y"), Op::Delete("d", true)];
    run(&open(dir.path()), &ops).unwrap();
    assert_eq!(std::fs::read_to_string(dir.path().join("y")).unwrap(), "X\nmore\n");
    assert!(!dir.path().join("d").exists());
}

#[test]
fn a_folder_whose_name_is_not_utf_8_is_used_by_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let name = <std::ffi::OsStr as sys::ffi::OsStrExt>::from_bytes(b"caf\xe9");
    std::fs::create_dir(dir.path().join(name)).unwrap();
    std::fs::write(dir.path().join(name).join("a"), "A\n").unwrap();
    let workspace = open(dir.path());
    run(&workspace, &[Op::Content("caf\\xe9/new", "new\n"), Op::Append("caf\\xe9/a", "more\n")]).unwrap();
    run(&workspace, &[Op::Move("caf\\xe9/a", "a"), Op::Move("caf\\xe9", "b")]).unwrap();
    let expected = tree(&[("a", "A\nmore\n"), ("b/new", "new\n")], &["b"]);
    assert_eq!(on_disk(dir.path()), expected);
}

#[test]
fn a_link_that_was_deleted_is_not_followed_any_more() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &before_the_job());
    sys::testing::symlink("a", dir.path().join("l")).unwrap();
    sys::testing::symlink("d", dir.path().join("ld")).unwrap();
    let workspace = open(dir.path());
    let ops = [
        Op::Delete("l", false),
        Op::Content("l", "new\n"),
        Op::Delete("ld", false),
        Op::Content("ld/x", "new\n"),
    ];
    run(&workspace, &ops).unwrap();
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!([read("a"), read("l"), read("d/x"), read("ld/x")], ["A\n", "new\n", "X\n", "new\n"]);
    sys::testing::symlink("../a", dir.path().join("d/l")).unwrap();
    let refused = run(&workspace, &[Op::Move("d", "s/d"), Op::Append("s/d/l", "more")]);
    assert!(matches!(&refused, Err(JobError::Refused(told)) if told.len() == 1), "{refused:?}");
}

#[test]
fn what_another_program_puts_into_a_folder_that_is_deleted_as_empty_stays() {
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &tree(&[("a", "A\n")], &["d"]));
        let (workspace, theirs) = (open(dir.path()), dir.path().join("d/theirs"));
        let ops = [Op::Append("a", "more\n"), Op::Delete("d", false)];
        let act = move || drop(std::fs::write(&theirs, "theirs"));
        let mut done = None;
        if !failpoint::meddle_at(step, act, || done = Some(run(&workspace, &ops))) {
            break;
        }
        let found = on_disk(dir.path());
        if found.contains_key("d") {
            assert_eq!(found, tree(&[("a", "A\n"), ("d/theirs", "theirs")], &["d"]), "step {step}: {done:?}");
            assert!(done.unwrap().is_err(), "step {step}");
        }
    }
}

#[test]
fn two_names_of_one_file_are_two_files_after_a_job_that_changes_both() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &before_the_job());
    std::fs::hard_link(dir.path().join("a"), dir.path().join("b")).unwrap();
    let started = std::time::Instant::now();
    run(&open(dir.path()), &[Op::Append("a", "1\n"), Op::Append("b", "2\n"), Op::Append("d/x", "3\n")])
        .unwrap();
    let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).unwrap();
    assert_eq!([read("a"), read("b")], ["A\n1\n", "A\n2\n"]);
    assert!(started.elapsed() < Duration::from_secs(30), "it does not wait for itself");
    assert!(!on_disk(dir.path()).keys().any(|path| path.contains(".file-editor")));
}

#[test]
fn a_job_beside_a_program_that_saves_once_is_done_at_the_next_attempt() {
    for step in 1..12 {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), &before_the_job());
        let (workspace, path) = (open(dir.path()), dir.path().join("d/x"));
        let act = move || std::fs::write(path, "theirs, and longer\n").unwrap();
        let ops = [Op::Append("a", "more\n"), Op::Append("d/x", "more\n")];
        let mut done = None;
        assert!(failpoint::meddle_at(step, act, || done = Some(run(&workspace, &ops))));
        let text = std::fs::read_to_string(dir.path().join("d/x")).unwrap();
        let expected = ["theirs, and longer\nmore\n", "theirs, and longer\n"];
        assert!(
            done.as_ref().unwrap().is_ok() && expected.contains(&&*text),
            "step {step}: {done:?}: {text}"
        );
    }
}

#[test]
fn what_is_excluded_in_a_folder_is_not_uncovered_by_a_move_to_where_a_file_was_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &tree(&[("a/key", "secret"), ("b", "B")], &["a"]));
    let excludes = folder::Excludes::new(["/a/key"]).unwrap();
    let options = WorkspaceOptions { names: NamePolicy::Paths, excludes, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&[dir.path().into()], options).unwrap();
    let refused = run(&workspace, &[Op::Delete("b", false), Op::Move("a", "b/a")]);
    assert!(matches!(&refused, Err(JobError::Refused(_))), "{refused:?}");
    assert!(dir.path().join("a/key").exists());
}
