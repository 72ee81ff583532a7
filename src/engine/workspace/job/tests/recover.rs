//! What a server that died in the middle of a job leaves, the next one completes or takes back.

use std::cell::Cell;

use super::undo::{Dirs, author, change, start};
use super::*;

const JOBS: [&[Op]; 8] = [
    &[Op::Append("a", "1\n"), Op::Move("a", "b"), Op::Content("c", "2\n")],
    &[Op::Content("n", "1\n"), Op::Move("n", "new/n"), Op::Append("d/x", "2\n"), Op::Move("d/x", "y")],
    &[
        Op::Append("a", "more\n"),
        Op::Content("new/f", "new\n"),
        Op::Move("d", "moved"),
        Op::Append("moved/x", "more\n"),
    ],
    &[Op::Append("a", "more\n"), Op::Append("d/x", "more\n"), Op::Append("d/e/z", "more\n")],
    &[
        Op::Move("d", "moved/d"),
        Op::Content("d/new", "1\n"),
        Op::Append("moved/d/x", "2\n"),
        Op::Delete("a", false),
    ],
    &[Op::Delete("d/x", false), Op::Delete("d", true), Op::Copy("a", "d/x"), Op::Append("a", "3\n")],
    &[Op::Delete("d/e", true), Op::Move("d", "moved")],
    &[Op::Append("d/x", "1\n"), Op::Move("d/x", "y"), Op::Move("d", "moved"), Op::Delete("moved/e", true)],
];

pub(super) fn died_at(step: usize, dirs: &Dirs, ops: &[Op]) -> bool {
    let workspace = dirs.open();
    failpoint::crash_at(step, || _ = change(&workspace, ops))
}

pub(super) fn is_left_open(workspace: &Workspace) -> bool {
    !workspace.change_log().unwrap().left_open(|_| true).unwrap().is_empty()
}

/// The tree without temporary files, and the names of these.
pub(super) fn trees(dirs: &Dirs) -> (Tree, Vec<String>) {
    let is_temporary = |path: &String| path.contains(".file-editor-tmp-");
    let (left, tree): (Tree, Tree) = dirs.tree().into_iter().partition(|(path, _)| is_temporary(path));
    (tree, left.into_keys().collect())
}

#[test]
fn a_job_is_done_or_not_wherever_its_server_dies() {
    for ops in JOBS {
        let whole = {
            let dirs = Dirs::new(&start());
            change(&dirs.open(), ops).unwrap();
            dirs.tree()
        };
        let (mut step, mut done) = (1, 0);
        loop {
            let dirs = Dirs::new(&start());
            if !died_at(step, &dirs, ops) {
                break;
            }
            let next = dirs.open();
            let (tree, left) = trees(&dirs);
            done += usize::from(tree == whole);
            // In the first step, the journal itself fails, and the job goes on without it.
            if step > 1 {
                assert!(tree == start() || tree == whole, "step {step} of {ops:?}: {tree:?}");
                assert!(left.is_empty(), "step {step} of {ops:?}: {left:?}");
            }
            assert!(!is_left_open(&next), "step {step}");
            let last = next.change_log().unwrap().numbers().unwrap().last().copied();
            if let Some(last) = last {
                let undone = super::undo::undo(&next, last);
                assert!(undone.is_ok(), "step {step} of {ops:?}: {tree:?} {:?}", undone.err());
                assert_eq!(trees(&dirs).0, start(), "step {step}: a completed job can be taken back");
            }
            step += 1;
        }
        assert!(step > 4 && done > 0, "{step} {done}");
    }
}

#[test]
fn what_a_dead_server_has_hidden_is_left_to_the_repair_by_servers_without_its_journal() {
    // So large that its content is not in the journal.
    let mut start = start();
    start.insert("big".into(), Some("line\n".repeat(400_000)));
    let ops = [Op::Append("a", "1\n"), Op::Delete("big", false), Op::Delete("d/x", false)];
    let mut repaired = 0;
    for step in 2.. {
        let dirs = Dirs::new(&start);
        if !died_at(step, &dirs, &ops) {
            break;
        }
        let options = WorkspaceOptions { names: NamePolicy::Paths, ..WorkspaceOptions::default() };
        let other = Workspace::open(&[dirs.path().into()], options).unwrap();
        other.list(false, &control()).unwrap();
        repaired += usize::from(!dirs.tree().contains_key("big"));
        drop(dirs.open());
        let (tree, left) = trees(&dirs);
        let is_done = !tree.contains_key("big");
        assert_eq!(
            [tree["a"] == start["a"], tree.contains_key("d/x")],
            [!is_done; 2],
            "step {step}: {tree:?}"
        );
        assert!(is_done || tree == start, "step {step}");
        assert!(left.is_empty(), "step {step}: {left:?}");
    }
    assert!(repaired > 0);
}

#[test]
fn the_next_call_of_a_server_that_runs_repairs_too() {
    let ops = JOBS[3];
    let dirs = Dirs::new(&start());
    let running = dirs.open();
    // In the middle of the renames.
    let is_half_done = |step: &usize| {
        let dirs = Dirs::new(&start());
        let died = died_at(*step, &dirs, ops);
        assert!(died, "no step leaves a part");
        dirs.tree()["a"] != start()["a"]
    };
    let step = (1..).find(is_half_done).unwrap();
    assert!(died_at(step, &dirs, ops));
    change(&running, &[Op::Content("other", "1\n")]).unwrap();
    let (tree, left) = trees(&dirs);
    let changed = ["a", "d/x", "d/e/z"].iter().filter(|path| tree[**path] != start()[**path]).count();
    assert!([0, 3].contains(&changed) && left.is_empty(), "{tree:?} {left:?}");
}

/// A server of the folder `d` dies in the middle of the renames of a change of `x` and `e/z`.
fn died_in_folder() -> Dirs {
    for step in 1.. {
        let dirs = Dirs::new(&start());
        let below = dirs.open_at(&["d"], &[]);
        let ops = [Op::Append("x", "more\n"), Op::Append("e/z", "more\n")];
        assert!(failpoint::crash_at(step, || _ = change(&below, &ops)), "no step leaves a part");
        if dirs.tree()["d/x"] != start()["d/x"] {
            return dirs;
        }
    }
    unreachable!()
}

/// The number of the two files that are changed.
fn changed(dirs: &Dirs) -> usize {
    let (tree, start) = (dirs.tree(), start());
    ["d/x", "d/e/z"].iter().filter(|path| tree[**path] != start[**path]).count()
}

#[test]
fn a_server_whose_folders_hold_all_of_it_repairs_what_a_server_of_another_folder_left() {
    for served in [&[""][..], &["d"], &["new", "d"], &["d/e", ""]] {
        let dirs = died_in_folder();
        std::fs::create_dir(dirs.path().join("new")).unwrap();
        let next = dirs.open_at(served, &[]);
        assert!([0, 2].contains(&changed(&dirs)), "{served:?}");
        assert!(trees(&dirs).1.is_empty() && !is_left_open(&next), "{served:?}");
    }
}

#[test]
fn what_is_not_served_or_excluded_is_left_to_a_server_that_reaches_it() {
    for (served, excluded) in [(&["d/e"][..], &[][..]), (&["new"], &[]), (&[""], &["d/e"]), (&["d"], &["z"])]
    {
        let dirs = died_in_folder();
        std::fs::create_dir(dirs.path().join("new")).unwrap();
        let before = dirs.tree();
        drop(dirs.open_at(served, excluded));
        assert_eq!(dirs.tree(), before, "{served:?} without {excluded:?}");
        drop(dirs.open_at(&["d"], &[]));
        assert!([0, 2].contains(&changed(&dirs)) && trees(&dirs).1.is_empty(), "{served:?}");
    }
}

#[test]
fn a_call_that_only_reads_repairs_first_what_was_left_since_the_server_looked() {
    let dirs = Dirs::new(&start());
    let running = dirs.open();
    assert!(!running.may_have_to_repair());
    let ops = JOBS[3];
    let is_half_done = |step: &usize| {
        let dirs = Dirs::new(&start());
        died_at(*step, &dirs, ops) && dirs.tree()["a"] != start()["a"]
    };
    let step = (1..).find(is_half_done).unwrap();
    assert!(died_at(step, &dirs, ops));
    assert!(running.may_have_to_repair());
    running.repair();
    let (tree, left) = trees(&dirs);
    let changed = ["a", "d/x", "d/e/z"].iter().filter(|path| tree[**path] != start()[**path]).count();
    assert!([0, 3].contains(&changed) && left.is_empty(), "{tree:?} {left:?}");
}

#[test]
fn while_a_writer_lives_each_call_looks_whether_it_still_does() {
    let dirs = Dirs::new(&start());
    let (running, other) = (dirs.open(), dirs.open());
    let living = other.change_log().unwrap().begin(0).unwrap();
    assert!(running.may_have_to_repair());
    running.repair();
    assert!(running.may_have_to_repair());
    drop(living);
}

#[test]
fn what_others_write_after_a_crash_survives_the_repair() {
    let ops = JOBS[3];
    let mut step = 1;
    loop {
        let dirs = Dirs::new(&start());
        if !died_at(step, &dirs, ops) {
            break;
        }
        std::fs::write(dirs.served.path().join("a"), "theirs\n").unwrap();
        let _next = dirs.open();
        let (tree, _) = trees(&dirs);
        assert_eq!(tree["a"].as_deref(), Some("theirs\n"), "step {step}");
        let others = ["d/x", "d/e/z"].map(|path| tree[path] != start()[path]);
        assert!(others[0] == others[1], "step {step}: {tree:?}");
        step += 1;
    }
}

/// A folder in which a server has died in the middle of a change, when the tree was so.
pub(super) fn died_when(start: &Tree, ops: &[Op], is_there: impl Fn(&Tree) -> bool) -> Dirs {
    for step in 1.. {
        let dirs = Dirs::new(start);
        assert!(died_at(step, &dirs, ops), "no step leaves that");
        if is_there(&dirs.tree()) {
            return dirs;
        }
    }
    unreachable!()
}

#[test]
fn what_others_put_in_the_place_of_a_changed_file_is_kept_and_the_change_is_taken_out_of_it() {
    let mut start = start();
    start.insert("long".into(), Some("1\n2\n3\n4\n".into()));
    let is_new = |tree: &Tree, path: &str| tree[path] != start[path];
    let died_when = |ops: &[Op], is_there: &dyn Fn(&Tree) -> bool| died_when(&start, ops, is_there);
    let replace = |dirs: &Dirs, path: &str, text: &str| {
        let (new, place) = (dirs.path().join("theirs"), dirs.path().join(path));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, place).unwrap();
    };
    let read = |dirs: &Dirs, path: &str| std::fs::read_to_string(dirs.path().join(path)).unwrap();
    let ops = &[Op::Append("a", "more\n"), Op::Append("d/x", "more\n"), Op::Append("long", "more\n")];
    // The last file, before all of it is on the disk.
    let dirs = died_when(ops, &|tree| is_new(tree, "a") && is_new(tree, "d/x") && is_new(tree, "long"));
    let with_theirs = format!("theirs\n{}", read(&dirs, "long"));
    replace(&dirs, "long", &with_theirs);
    drop(dirs.open());
    let (tree, left) = trees(&dirs);
    assert_eq!((&tree["a"], &tree["d/x"]), (&start["a"], &start["d/x"]));
    assert_eq!(tree["long"].as_deref(), Some("theirs\n1\n2\n3\n4\n"));
    assert!(left.is_empty(), "{left:?}");
    // One that the server had not come to.
    let dirs = died_when(ops, &|tree| is_new(tree, "a") && !is_new(tree, "long"));
    replace(&dirs, "long", "theirs\n");
    drop(dirs.open());
    let tree = trees(&dirs).0;
    assert_eq!((&tree["a"], &tree["d/x"]), (&start["a"], &start["d/x"]));
    assert_eq!(tree["long"].as_deref(), Some("theirs\n"));
}

#[test]
fn a_change_of_which_another_program_does_the_rest_is_taken_back() {
    let ops = [Op::Append("a", "1\n"), Op::Delete("d/x", false)];
    let dirs = died_when(&start(), &ops, |tree| tree["a"] != start()["a"]);
    std::fs::remove_file(dirs.path().join("d/x")).unwrap();
    drop(dirs.open());
    assert_eq!(trees(&dirs).0["a"], start()["a"]);
}

/// Where Linux tells who waits for a lock.
const LOCKS: &str = "/proc/locks";

/// Whether somebody waits for the lock of a file.
fn is_waited_for(file: &std::fs::File) -> bool {
    use sys::testing::MetadataExt;
    let inode = format!(":{} ", file.metadata().unwrap().ino());
    let locks = std::fs::read_to_string(LOCKS).unwrap();
    locks.lines().any(|line| line.contains("-> FLOCK") && line.contains(&inode))
}

#[test]
fn a_repair_waits_for_the_file_that_another_server_writes() {
    if !Path::new(LOCKS).exists() {
        return;
    }
    let ops = JOBS[3];
    let is_changed = |step: &usize| {
        let dirs = Dirs::new(&start());
        died_at(*step, &dirs, ops) && dirs.tree()["a"] != start()["a"]
    };
    let step = (1..).find(is_changed).unwrap();
    let dirs = Dirs::new(&start());
    assert!(died_at(step, &dirs, ops));
    let at = |path: &str| dirs.served.path().join(path);
    let theirs = std::fs::File::open(at("a")).unwrap();
    assert!(sys::fs::try_lock_exclusive(&theirs).unwrap());
    std::thread::scope(|scope| {
        let repair = scope.spawn(|| dirs.open());
        while !is_waited_for(&theirs) {
            assert!(!repair.is_finished(), "it does not wait");
            std::thread::yield_now();
        }
        std::fs::write(at("theirs"), "theirs\n").unwrap();
        std::fs::rename(at("theirs"), at("a")).unwrap();
        drop(theirs);
        // It waits for a short time only: a later call does it then.
        repair.join().unwrap().recover();
    });
    let (tree, _) = trees(&dirs);
    assert_eq!(tree["a"].as_deref(), Some("theirs\n"));
    let changed = ["d/x", "d/e/z"].map(|path| tree[path] != start()[path]);
    assert_eq!(changed, [false; 2], "the rest is taken back: {tree:?}");
}

#[test]
fn what_a_server_leaves_half_done_while_another_one_waits_for_its_files_is_repaired_before_these_are_changed()
{
    let (ops, mine) = (JOBS[3], [Op::Content("a", "mine\n")]);
    let mut died = 0;
    for step in 2.. {
        let dirs = Dirs::new(&start());
        let waiting = dirs.open();
        let mut operations = operations(&waiting, &mine);
        let (is_first, ended) = (Cell::new(true), Cell::new(false));
        // Behind its look for what is left, and before its locks.
        let allow = || {
            if is_first.take() {
                ended.set(!died_at(step, &dirs, ops));
            }
            Ok(())
        };
        let author = author();
        let note = Some(JobNote { author: &author, tool: "edit", message: "", undoes: None });
        let options = JobOptions { dry_run: false, note };
        waiting.run_job_if(&mut operations, options, &control(), |_| (), allow).unwrap();
        if ended.get() {
            break;
        }
        let (tree, left) = trees(&dirs);
        let others = [tree["d/x"] == start()["d/x"], tree["d/e/z"] == start()["d/e/z"]];
        assert!(others[0] == others[1] && left.is_empty(), "step {step}: {tree:?} {left:?}");
        assert_eq!(tree["a"].as_deref(), Some("mine\n"), "step {step}");
        assert!(!is_left_open(&waiting), "step {step}");
        died += 1;
    }
    assert!(died > 3, "{died}");
}
