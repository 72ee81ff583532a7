//! Changes that are taken back, after others and beside other programs.

use std::collections::HashMap;

use super::*;
use folder::fs::atomic::Durability;

pub(super) struct Dirs {
    pub(super) served: tempfile::TempDir,
    journal: tempfile::TempDir,
}

impl Dirs {
    pub(super) fn new(start: &Tree) -> Dirs {
        let dirs = Dirs { served: tempfile::tempdir().unwrap(), journal: tempfile::tempdir().unwrap() };
        make(dirs.served.path(), start);
        dirs
    }

    pub(super) fn path(&self) -> &Path {
        self.served.path()
    }

    pub(super) fn open(&self) -> Workspace {
        Workspace::open(&[self.served.path().into()], self.options()).unwrap()
    }

    /// A server of these folders of the tree, without what is excluded.
    pub(super) fn open_at(&self, served: &[&str], excluded: &[&str]) -> Workspace {
        let served: Vec<_> = served.iter().map(|path| self.served.path().join(path)).collect();
        let excludes = folder::Excludes::new(excluded.iter().copied()).unwrap();
        Workspace::open(&served, WorkspaceOptions { excludes, ..self.options() }).unwrap()
    }

    /// A server that waits for no disk, with a journal of so many bytes.
    pub(super) fn open_fast(&self, bytes: u64) -> Workspace {
        let (journal, durability) = (Some((self.journal.path().join("journal"), bytes)), Durability::None);
        let options = WorkspaceOptions { journal, durability, ..self.options() };
        Workspace::open(&[self.served.path().into()], options).unwrap()
    }

    /// A server that flushes as `durability` says.
    pub(super) fn open_with(&self, durability: Durability) -> Workspace {
        let options = WorkspaceOptions { durability, ..self.options() };
        Workspace::open(&[self.served.path().into()], options).unwrap()
    }

    /// The folder in which the journal is.
    pub(super) fn journal_parent(&self) -> &Path {
        self.journal.path()
    }

    fn options(&self) -> WorkspaceOptions {
        let journal = Some((self.journal.path().join("journal"), 1 << 20));
        WorkspaceOptions { names: NamePolicy::Paths, journal, ..WorkspaceOptions::default() }
    }

    pub(super) fn tree(&self) -> Tree {
        on_disk(self.served.path())
    }
}

pub(super) fn author() -> journal::Author {
    journal::Author { client: "test".into(), session: "s".into() }
}

pub(super) fn recorded(done: JobDone<String>) -> ChangeNumber {
    match done.recorded {
        Some(Recorded::Change(number)) => number,
        other => panic!("{other:?}"),
    }
}

pub(super) fn change(workspace: &Workspace, ops: &[Op]) -> Result<JobDone<String>, JobError> {
    change_with(workspace, &mut operations(workspace, ops))
}

pub(super) fn change_with(
    workspace: &Workspace,
    operations: &mut [Operation],
) -> Result<JobDone<String>, JobError> {
    let author = author();
    let note = Some(JobNote { author: &author, tool: "edit", message: "", undoes: None });
    workspace.run_job(operations, JobOptions { dry_run: false, note }, &control(), described)
}

pub(super) fn undo(workspace: &Workspace, number: ChangeNumber) -> Result<JobDone<String>, JobError> {
    undo_at(workspace, number, None)
}

/// Takes back what a change did at a path or below.
pub(super) fn undo_at(
    workspace: &Workspace,
    number: ChangeNumber,
    within: Option<&str>,
) -> Result<JobDone<String>, JobError> {
    let author = author();
    let note = Some(JobNote { author: &author, tool: "undo", message: "", undoes: None });
    let path = within.map(|path| workspace.parse_path(path).unwrap());
    workspace.undo(number, path.as_ref(), None, JobOptions { dry_run: false, note }, &control(), described)
}

pub(super) fn problem(refused: Result<JobDone<String>, JobError>) -> String {
    match refused.map(|done| done.told).map_err(JobError::first) {
        Err(Error::InvalidArguments { at, problem }) => format!("{at}: {problem}"),
        other => panic!("{other:?}"),
    }
}

pub(super) fn start() -> Tree {
    tree(&[("a", "A\n"), ("d/x", "X\n"), ("d/e/z", "Z")], &["d", "d/e"])
}

#[test]
fn what_a_change_did_to_contents_and_names_is_taken_back_and_done_again() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let ops = [
        Op::Append("a", "more\n"),
        Op::Append("d/x", "more\n"),
        Op::Content("new/f", "new\n"),
        Op::Move("d", "moved"),
        Op::Delete("moved/e", true),
        Op::Copy("a", "copy"),
    ];
    let first = recorded(change(&workspace, &ops).unwrap());
    let after = dirs.tree();
    let second = recorded(undo(&workspace, first).unwrap());
    assert_eq!(dirs.tree(), start());
    assert!(problem(undo(&workspace, first)).contains(&format!("taken back already, by c{second}")));
    recorded(undo(&workspace, second).unwrap());
    assert_eq!(dirs.tree(), after);
    recorded(undo(&dirs.open(), first).unwrap());
    assert_eq!(dirs.tree(), start(), "by another server");
}

#[test]
fn modes_and_links_come_back_and_so_does_a_tree() {
    use sys::testing::{MetadataExt, PermissionsExt, symlink};
    let dirs = Dirs::new(&start());
    let at = |path: &str| dirs.served.path().join(path);
    let set_mode =
        |path: &str, mode| std::fs::set_permissions(at(path), PermissionsExt::from_mode(mode)).unwrap();
    set_mode("d/x", 0o777);
    set_mode("d/e", 0o700);
    symlink("x", at("d/l")).unwrap();
    std::fs::write(at("d/bytes"), b"\xff\0").unwrap();
    let workspace = dirs.open();
    let number = recorded(change(&workspace, &[Op::Delete("d", true)]).unwrap());
    assert_eq!(dirs.tree().len(), 1);
    undo(&workspace, number).unwrap();
    let mode = |path: &str| at(path).metadata().unwrap().mode() & 0o7777;
    assert_eq!((mode("d/x"), mode("d/e")), (0o777, 0o700));
    assert_eq!(std::fs::read_link(at("d/l")).unwrap(), Path::new("x"));
    assert_eq!(std::fs::read(at("d/bytes")).unwrap(), b"\xff\0");
}

#[test]
fn files_that_were_moved_or_changed_elsewhere_since_are_followed() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let dirs = Dirs::new(&tree(&[("a", lines), ("d/b", "B\n")], &["d"]));
    let workspace = dirs.open();
    let replace = |at: usize, text: &'static str| {
        let plan = move |_: &LineIndex, old: &[u8]| {
            let text = Cow::Borrowed(text.as_bytes());
            Ok(EditPlan::new(vec![Splice { at: at..at + 1, text }], old))
        };
        let path = workspace.parse_path("a").unwrap();
        let mut write = [Operation::Write { path, options: ChangeOptions::default(), plan: Box::new(plan) }];
        let author = author();
        let note = Some(JobNote { author: &author, tool: "edit", message: "", undoes: None });
        recorded(
            workspace
                .run_job(&mut write, JobOptions { dry_run: false, note }, &control(), described)
                .unwrap(),
        )
    };
    let first = replace(4, "three");
    replace(0, "one");
    change(&workspace, &[Op::Move("a", "e/a"), Op::Move("d", "e/d")]).unwrap();
    let other = dirs.served.path().join("e/a");
    std::fs::write(&other, std::fs::read_to_string(&other).unwrap().replace("9\n", "nine\n")).unwrap();
    undo(&workspace, first).unwrap();
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
}

#[test]
fn what_others_changed_in_the_same_lines_is_refused_with_both_sides() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first =
        recorded(change(&workspace, &[Op::Append("a", "one\n"), Op::Append("d/x", "one\n")]).unwrap());
    let second = recorded(change(&workspace, &[Op::Append("a", "two\n")]).unwrap());
    let told = problem(undo(&workspace, first));
    assert!(told.starts_with("a: ") && told.contains(&format!("since by c{second}")), "{told}");
    assert!(told.contains(r#"had put "one\n" in the place of nothing"#), "{told}");
    undo(&workspace, second).unwrap();
    std::fs::write(dirs.served.path().join("a"), "A\nONE\n").unwrap();
    let told = problem(undo(&workspace, first));
    assert!(told.contains("by another program") && told.contains(r#"is "ONE\n" now"#), "{told}");
    assert_eq!(dirs.tree()["d/x"].as_deref(), Some("X\none\n"), "all or nothing");
}

#[test]
fn a_new_file_that_others_wrote_to_stays_and_a_deleted_one_is_named() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Content("n", "new\n")]).unwrap());
    std::fs::write(dirs.served.path().join("n"), "theirs\n").unwrap();
    assert!(problem(undo(&workspace, first)).contains("so that it stays"));
    let second = recorded(change(&workspace, &[Op::Append("d/x", "more\n")]).unwrap());
    let third = recorded(change(&workspace, &[Op::Delete("d", true)]).unwrap());
    assert!(problem(undo(&workspace, second)).contains(&format!("deleted since, by c{third}")));
    undo(&workspace, third).unwrap();
    undo(&workspace, second).unwrap();
    assert_eq!(dirs.tree()["d/x"].as_deref(), Some("X\n"));
}

#[test]
fn a_file_and_then_its_folder_can_be_deleted_in_one_change() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let ops = [
        Op::Append("d/x", "x"),
        Op::Delete("d/x", false),
        Op::Delete("d/e/z", false),
        Op::Delete("d/e", false),
    ];
    let first = recorded(change(&workspace, &ops).unwrap());
    change(&workspace, &[Op::Content("d/y", ""), Op::Append("d/y", "x"), Op::Delete("d", true)]).unwrap();
    assert_eq!(dirs.tree(), tree(&[("a", "A\n")], &[]));
    undo(&workspace, first).unwrap();
    assert_eq!(dirs.tree(), start(), "with the folders that they are in");
}

#[test]
fn a_folder_that_the_change_made_goes_only_if_nothing_is_in_it() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Content("n/f", "new\n")]).unwrap());
    std::fs::write(dirs.served.path().join("n/other"), "theirs\n").unwrap();
    undo(&workspace, first).unwrap();
    assert_eq!(dirs.tree()["n/other"].as_deref(), Some("theirs\n"));
    assert!(!dirs.tree().contains_key("n/f"));
}

#[test]
fn files_over_the_limit_come_back_and_names_that_cannot_be_given_again_are_said_before() {
    let dirs = Dirs::new(&start());
    let large = dirs.served.path().join("large");
    std::fs::write(&large, vec![b'x'; 40 << 10]).unwrap();
    std::fs::write(dirs.served.path().join("d/what? * "), "x").unwrap();
    let options = WorkspaceOptions { max_bytes: 1 << 10, ..dirs.options() };
    let workspace = Workspace::open(&[dirs.served.path().into()], options).unwrap();
    let number = recorded(change(&workspace, &[Op::Delete("large", false), Op::Delete("d", true)]).unwrap());
    undo(&workspace, number).unwrap();
    assert_eq!(large.metadata().unwrap().len(), 40 << 10);
    assert_eq!(dirs.tree()["d/what? * "].as_deref(), Some("x"));
    std::fs::write(dirs.served.path().join("d/a\tb"), "x").unwrap();
    let done = change(&workspace, &[Op::Delete("d", true)]).unwrap();
    assert!(
        matches!(&done.recorded, Some(Recorded::NotUndoable(why)) if why.contains("no name that a new entry"))
    );
}

#[test]
fn a_later_change_that_is_not_kept_does_not_move_what_is_taken_back() {
    let dirs = Dirs::new(&tree(&[("a", "1\n2\n3\n4\n5\n"), ("large", &"x".repeat(1 << 20))], &[]));
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Content("a", "1\ntwo\nTWO\n3\n4\n5\n")]).unwrap());
    let ops = [Op::Content("a", "mine\nTWO\n3\n4\n5\n"), Op::Delete("large", false)];
    let done = change(&workspace, &ops).unwrap();
    assert!(matches!(done.recorded, Some(Recorded::NotUndoable(_))));
    assert!(undo(&workspace, first).is_err());
    assert_eq!(dirs.tree()["a"].as_deref(), Some("mine\nTWO\n3\n4\n5\n"));
}

#[test]
fn what_a_later_step_of_the_change_took_away_is_not_looked_for_in_later_changes() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Move("a", "e")]).unwrap());
    let second = recorded(change(&workspace, &[Op::Move("d/x", "a"), Op::Delete("a", false)]).unwrap());
    let after = dirs.tree();
    let undone = [second, first].map(|number| recorded(undo(&workspace, number).unwrap()));
    assert_eq!(dirs.tree(), start());
    undone.into_iter().rev().for_each(|number| _ = undo(&workspace, number).unwrap());
    assert_eq!(dirs.tree(), after);
}

#[test]
fn what_was_moved_and_deleted_in_one_change_that_was_taken_back_is_where_it_was_before() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let first = recorded(change(&workspace, &[Op::Append("d/e/z", "1\n")]).unwrap());
    let second = recorded(change(&workspace, &[Op::Move("d", "e"), Op::Delete("e", true)]).unwrap());
    [second, first].into_iter().for_each(|number| _ = undo(&workspace, number).unwrap());
    assert_eq!(dirs.tree(), start());
}

#[test]
fn a_folder_in_which_a_file_is_restored_and_moved_away_goes() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let number = recorded(change(&workspace, &[Op::Content("a", ""), Op::Move("a", "e/x")]).unwrap());
    undo(&workspace, number).unwrap();
    assert_eq!(dirs.tree(), start());
}

#[test]
fn a_change_that_is_too_large_for_the_journal_is_made_and_said_to_be() {
    let dirs = Dirs::new(&start());
    std::fs::write(dirs.served.path().join("large"), vec![b'x'; 1 << 20]).unwrap();
    let workspace = dirs.open();
    let done = change(&workspace, &[Op::Delete("large", false)]).unwrap();
    assert!(matches!(&done.recorded, Some(Recorded::NotUndoable(why)) if why.contains("--journal-size")));
    assert_eq!(dirs.tree(), start());
    let number = workspace.change_log().unwrap().numbers().unwrap()[0];
    assert!(problem(undo(&workspace, number)).contains("--journal-size"));
}

#[test]
fn what_was_deleted_again_and_taken_back_by_the_first_change_is_not_brought_back_twice() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let edited = recorded(change(&workspace, &[Op::Append("a", "more\n")]).unwrap());
    let deleted = recorded(change(&workspace, &[Op::Delete("a", false)]).unwrap());
    let first = recorded(undo(&workspace, deleted).unwrap());
    let again = recorded(undo(&workspace, first).unwrap());
    let last = recorded(undo(&workspace, deleted).unwrap());
    change(&workspace, &[Op::Move("a", "b")]).unwrap();
    let told = problem(undo(&workspace, again));
    assert!(told.contains(&format!("taken back already, by c{last}")), "{told}");
    assert!(!dirs.tree().contains_key("a"));
    undo(&workspace, edited).unwrap();
    assert_eq!(dirs.tree()["b"].as_deref(), Some("A\n"), "it is followed behind the deletions");
    undo(&workspace, edited).unwrap_err();
}

#[test]
fn a_file_that_came_back_into_a_folder_that_was_moved_meanwhile_is_followed() {
    let dirs = Dirs::new(&start());
    let workspace = dirs.open();
    let edited =
        ["d/x", "d/e/z"].map(|path| recorded(change(&workspace, &[Op::Append(path, "more\n")]).unwrap()));
    let deleted = recorded(change(&workspace, &[Op::Delete("d/x", false), Op::Delete("d/e", true)]).unwrap());
    change(&workspace, &[Op::Move("d", "n/d")]).unwrap();
    undo(&workspace, deleted).unwrap();
    change(&workspace, &[Op::Content("d/x", "X\nmore\n")]).unwrap();
    edited.into_iter().for_each(|number| _ = undo(&workspace, number).unwrap());
    let text = |path: &str| dirs.tree()[path].clone().unwrap();
    assert_eq!([text("n/d/x"), text("n/d/e/z")], ["X\n", "Z"]);
    assert_eq!(text("d/x"), "X\nmore\n", "another file that has its place");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Changes that are taken back one after the other, the last first, leave what was there before each; and done again, what was there
    /// after it.
    #[test]
    fn what_is_taken_back_was_never_there(
        jobs in proptest::collection::vec(proptest::collection::vec(any_op(), 1..4), 1..5),
    ) {
        let dirs = Dirs::new(&start());
        let workspace = dirs.open();
        let (mut trees, mut numbers) = (vec![start()], Vec::new());
        let mut not_undoable = HashMap::new();
        for ops in &jobs {
            match change(&workspace, ops).map(|done| done.recorded) {
                Ok(Some(Recorded::Change(number))) => numbers.push(number),
                Ok(Some(Recorded::NotUndoable(why) | Recorded::Unwritten(why))) => {
                    prop_assert!(why.contains("made or moved itself"), "{}", why);
                    not_undoable.insert(numbers.len(), why);
                    numbers.push(0);
                }
                Ok(None) | Err(JobError::Refused(_)) => continue,
                Err(JobError::Failed(error)) => prop_assert!(false, "{:?}", error),
            }
            trees.push(dirs.tree());
        }
        let first = not_undoable.keys().max().map_or(0, |last| last + 1);
        let mut undone = Vec::new();
        for number in (first..numbers.len()).rev() {
            let done = undo(&workspace, numbers[number]);
            prop_assert!(done.is_ok(), "{:?} {:?}", done.map(|done| done.told), jobs);
            undone.push(done.unwrap().recorded);
            prop_assert_eq!(&dirs.tree(), &trees[number], "{:?}", jobs);
        }
        for (number, again) in (first..numbers.len()).zip(undone.into_iter().rev()) {
            let Some(Recorded::Change(again)) = again else { continue };
            let done = undo(&workspace, again);
            prop_assert!(done.is_ok(), "{:?} {:?}", done.map(|done| done.told), jobs);
            prop_assert_eq!(&dirs.tree(), &trees[number + 1], "{:?}", jobs);
        }
    }
}

#[test]
fn a_folder_with_more_files_than_can_be_locked_comes_back_beside_other_servers() {
    let mut tree = start();
    (0..MOST_MAPPED + 60).for_each(|n| _ = tree.insert(format!("d/e/f{n}"), Some(format!("{n}\n"))));
    let dirs = Dirs::new(&tree);
    let workspace = dirs.open();
    let number = recorded(change(&workspace, &[Op::Delete("d", true)]).unwrap());
    let unlocked = std::rc::Rc::new(std::cell::Cell::new(0));
    for step in [1600, 1700, 1800, 1900] {
        let path = dirs.path().to_owned();
        let (other, seen) = (dirs.open(), unlocked.clone());
        let act = move || {
            let temporary = |path: &String| path.contains(".file-editor-tmp-");
            let before: Vec<String> = on_disk(&path).into_keys().filter(temporary).collect();
            seen.set(seen.get() + before.iter().filter(|path| path.ends_with("-unlocked")).count());
            other.list(false, &control()).unwrap();
            let mounts = folder::fs::mount_safety::MountSafety::default();
            folder::fs::leftovers::clear(sys::testing::open_folder(&path), &mounts);
            assert_eq!(on_disk(&path).into_keys().filter(temporary).count(), before.len());
        };
        let mut undone = None;
        assert!(failpoint::meddle_at(step, act, || undone = Some(undo(&workspace, number))));
        let again = recorded(undone.unwrap().unwrap());
        assert_eq!(dirs.tree(), tree, "step {step}");
        recorded(undo(&workspace, again).unwrap());
    }
    assert!(unlocked.get() > 0);
}
