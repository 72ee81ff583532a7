//! The guarantees of the workspace, checked at every step of an operation.

use std::borrow::Cow;
use std::fs::File;
use std::time::Duration;
use sys::map::MAPS_FILES;
use sys::testing::{PermissionsExt, symlink};

use super::write::{NewContent, Stopped};
use super::*;
use crate::cache::CachedText;
use crate::list;
use folder::FileVersion;
use folder::fs::atomic::Replaces;
use folder::fs::failpoint;
use folder::fs::version::FileStamp;
use text::line_edit;
use text::line_edit::{LineEdit, LineEdits, Operation};
use text::lines::LineIndex;
use text::splice::{EditPlan, Splice};

mod caching;
mod crash;
mod create;
mod decoded;
mod each_line;
mod power_loss;
mod progress;
mod rights;

fn open(dir: &Path) -> Workspace {
    open_with(dir, Durability::Full)
}

fn open_with(dir: &Path, durability: Durability) -> Workspace {
    let options = WorkspaceOptions { durability, ..WorkspaceOptions::default() };
    Workspace::open(&[dir.into()], options).unwrap()
}

fn control() -> Control {
    Control::new(Duration::from_secs(60))
}

fn replace_line(line: u64, content: &str) -> LineEdits {
    let operation = Operation::Replace { content: content.into(), expect: None };
    LineEdits { edits: vec![LineEdit { line, end_line: None, operation }], append: None }
}

fn append(text: &str) -> LineEdits {
    LineEdits { edits: Vec::new(), append: Some(text.into()) }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn an_edit_through_a_link_replaces_what_the_link_points_at() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("sub/b.txt"), "old\n").unwrap();
    symlink("sub/b.txt", dir.path().join("a")).unwrap();
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    workspace.edit_lines(&name, &replace_line(0, "new"), false, &control()).unwrap();
    assert_eq!(std::fs::read(dir.path().join("sub/b.txt")).unwrap(), b"new\n");
    assert!(dir.path().join("a").is_symlink());
    assert_eq!(
        (names(dir.path()), names(&dir.path().join("sub"))),
        (vec!["a".into(), "sub".into()], vec!["b.txt".into()])
    );
}

#[test]
fn a_failure_behind_the_rename_is_told_as_such_whatever_is_written_to_the_old_file_meanwhile() {
    let mut in_place = 0;
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "old\n").unwrap();
        let mut old = File::options().append(true).open(dir.path().join("a")).unwrap();
        let workspace = open(dir.path());
        let name = workspace.parse_path("a").unwrap();
        let write = move || std::io::Write::write_all(&mut old, b"more\n").unwrap();
        let (mut edited, mut happened) = (None, false);
        failpoint::meddle_at(step, write, || {
            happened = failpoint::crash_at(step, || {
                edited = Some(workspace.edit_lines(&name, &replace_line(0, "new"), false, &control()));
            });
        });
        if !happened {
            break;
        }
        let failed = edited.unwrap().unwrap_err();
        if std::fs::read(dir.path().join("a")).unwrap() == b"new\n" {
            assert!(!matches!(failed, Error::Changed { .. }), "step {step}: {failed:?}");
            in_place += 1;
        }
    }
    assert!(in_place > 0);
}

#[test]
fn a_folder_that_was_made_again_is_cleared_of_leftovers_by_the_first_edit_in_it() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("folder");
    let left = dir.join(folder::fs::temporary::new_name());
    std::fs::create_dir(&dir).unwrap();
    let workspace = open(&dir);
    std::fs::remove_dir(&dir).unwrap();
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(&left, "left by the dead").unwrap();
    let name = workspace.parse_path("a").unwrap();
    workspace.edit_lines(&name, &append("x"), true, &control()).unwrap();
    assert_eq!(names(&dir), ["a"]);
}

#[test]
fn an_edit_that_was_called_off_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "old\n").unwrap();
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    let cancelled = control();
    assert!(cancelled.cancel());
    for control in [cancelled, Control::new(Duration::ZERO)] {
        let never = |event| panic!("not even beside it: {event:?}");
        failpoint::watch(never, || {
            let refused = workspace.edit_lines(&name, &append("x"), false, &control).unwrap_err();
            assert!(matches!(refused, Error::Cancelled | Error::TimedOut), "{refused:?}");
        });
    }
    assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"old\n");
    assert_eq!(names(dir.path()), ["a"]);
}

#[test]
fn an_edit_that_is_called_off_while_it_is_planned_writes_nothing_not_even_beside_the_file() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "old\n").unwrap();
    let workspace = open(dir.path());
    let (name, control) = (workspace.parse_path("a").unwrap(), control());
    failpoint::watch(
        |event| panic!("not even beside it: {event:?}"),
        || {
            let changed = workspace.change(&name, &ChangeOptions::default(), &control, |_, old| {
                control.cancel();
                let splice = Splice { at: 0..0, text: Cow::Borrowed(b"new\n") };
                Ok(EditPlan::new(vec![splice], old).map(|plan| (plan, ())))
            });
            assert!(matches!(changed, Err(Error::Cancelled)), "{changed:?}");
        },
    );
    assert_eq!(std::fs::read(dir.path().join("a")).unwrap(), b"old\n");
}

#[test]
fn a_folder_that_was_removed_and_made_again_is_served_again() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("folder");
    std::fs::create_dir(&dir).unwrap();
    let workspace = open(&dir);
    let name = workspace.parse_path("a").unwrap();
    std::fs::remove_dir(&dir).unwrap();
    assert!(matches!(workspace.list(false, &control()), Err(Error::FolderGone)));
    assert!(matches!(workspace.edit_lines(&name, &append("x"), true, &control()), Err(Error::FolderGone)));
    std::fs::create_dir(&dir).unwrap();
    workspace.edit_lines(&name, &append("x"), true, &control()).unwrap();
    assert_eq!(std::fs::read(dir.join("a")).unwrap(), b"x\n");
}

#[test]
fn a_read_after_an_edit_finds_the_index_that_the_edit_made() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    let text = "line\n".repeat(50_000);
    workspace.edit_lines(&name, &append(&text), true, &control()).unwrap();
    let range = LineRange { start: Some(49_999), end: None };
    // Some file systems do not report which bytes are in memory.
    if let Some(excerpt) = workspace.read_at_once(&name, range) {
        let excerpt = excerpt.unwrap();
        assert_eq!((excerpt.bytes(), excerpt.total), (&b"line"[..], 50_000));
    }
    std::fs::write(dir.path().join("a"), text.replace("line", "LINE")).unwrap();
    assert!(workspace.read_at_once(&name, range).is_none());
    let excerpt = workspace.read(&name, range, &control()).unwrap();
    assert_eq!(excerpt.bytes(), b"LINE");
}

#[test]
fn a_read_at_once_shows_the_file_that_has_the_name_now() {
    shows_the_file_that_has_the_name_now(|_| {});
}

#[test]
fn a_read_at_once_shows_it_also_while_the_file_of_the_last_read_stays_open() {
    shows_the_file_that_has_the_name_now(Workspace::keep_open);
}

fn shows_the_file_that_has_the_name_now(prepare: fn(&Workspace)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, "old\n").unwrap();
    let stamp = || FileStamp::of(&sys::fs::stat(&path).unwrap());
    let until_rested = || while stamp().is_racy(std::time::SystemTime::now()) {};
    let workspace = open(dir.path());
    prepare(&workspace);
    let name = workspace.parse_path("a").unwrap();
    let read = || workspace.read(&name, LineRange::default(), &control()).unwrap().bytes().to_vec();
    let read_at_once = || workspace.read_at_once(&name, LineRange::default());
    until_rested();
    if read_at_once().is_none() {
        // This file system does not report which bytes are in memory.
        return;
    }
    assert_eq!(read_at_once().unwrap().unwrap().bytes(), b"old");
    // In place, with the same length.
    std::fs::write(&path, "new\n").unwrap();
    assert_eq!(read(), b"new");
    until_rested();
    assert_eq!(read_at_once().unwrap().unwrap().bytes(), b"new");
    // Another file under the same name.
    std::fs::write(dir.path().join("b"), "two\n").unwrap();
    std::fs::rename(dir.path().join("b"), &path).unwrap();
    assert_eq!(read(), b"two");
    until_rested();
    assert!(read_at_once().unwrap().is_ok());
    std::fs::remove_file(&path).unwrap();
    assert!(read_at_once().is_none());
}

/// Lists the folder. Calls `meddle` each time after a file was looked up and before its lines are counted.
fn list_while_meddled_with(workspace: &Workspace, meddle: impl FnMut(usize) + Send) -> list::Listing {
    let folder = workspace.folders.first().folder().unwrap();
    let meddle = std::sync::Mutex::new((0, meddle));
    let count = |seen: &list::DirEntry| {
        let (times, meddle) = &mut *meddle.lock().unwrap();
        *times += 1;
        meddle(*times);
        workspace.count_lines(&folder, seen, &control())
    };
    let (options, excludes) = (list::ListOptions::default(), Excludes::default());
    let listed =
        list::ListedFolder { root: folder.handle(), directory: workspace.path(), excludes: &excludes };
    let names = list::names::names_in(listed, NamePolicy::Portable, options, &control()).unwrap();
    list::list(listed, names, options, count, |_| Ok(()), &control()).unwrap()
}

#[test]
fn a_listed_entry_is_of_one_state_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("a"), dir.path().join(".other"));
    std::fs::write(&path, "1\n2\n").unwrap();
    let workspace = open(dir.path());
    let listing = list_while_meddled_with(&workspace, |times| {
        if times == 1 {
            std::fs::write(&other, "one\ntwo\nthree\n").unwrap();
            std::fs::rename(&other, &path).unwrap();
        }
    });
    let entry = &listing.files[0];
    assert_eq!((entry.size, entry.lines, entry.changing), (14, Some(3), false));
    let listing = list_while_meddled_with(&workspace, |times| {
        if times == 1 {
            std::fs::remove_file(&path).unwrap();
            symlink("elsewhere", &path).unwrap();
        }
    });
    assert!(listing.files.is_empty(), "{listing:?}");
}

#[test]
fn a_file_that_changes_each_time_it_is_counted_is_listed_as_such() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "").unwrap();
    let workspace = open(dir.path());
    let grow = |times: usize| std::fs::write(dir.path().join("a"), "a\n".repeat(times)).unwrap();
    let listing = list_while_meddled_with(&workspace, grow);
    let entry = &listing.files[0];
    assert_eq!((entry.lines, entry.changing, listing.uncounted), (None, true, 0));
}

#[test]
fn a_workspace_that_is_read_only_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "old\n").unwrap();
    let options = open(dir.path()).options().clone();
    let workspace =
        Workspace::open(&[dir.path().into()], WorkspaceOptions { read_only: true, ..options }).unwrap();
    for name in ["a", "new"] {
        let name = workspace.parse_path(name).unwrap();
        let refused = workspace.edit_lines(&name, &append("x"), true, &control()).unwrap_err();
        assert!(matches!(refused, Error::PermissionDenied { .. }), "{refused:?}");
    }
    assert_eq!(
        (names(dir.path()), std::fs::read(dir.path().join("a")).unwrap()),
        (vec!["a".into()], b"old\n".into())
    );
}

/// Runs `plan` on the file `a`, as a dry run or not. Calls `meddle` each time after the file was read.
fn plan_while_meddled_with(
    workspace: &Workspace,
    dry: bool,
    mut meddle: impl FnMut(usize),
    plan: impl Fn(&[u8]) -> Result<LineEdits>,
) -> (Result<usize>, usize) {
    let name = workspace.parse_path("a").unwrap();
    let mut times = 0;
    let mut planned = |index: &LineIndex, old: &[u8]| {
        let edits = plan(old);
        times += 1;
        meddle(times);
        // A plan borrows its text.
        let planned = line_edit::plan(index, old, Box::leak(Box::new(edits?)))?;
        Ok(planned.map(|planned| (planned.plan, planned.total_lines)))
    };
    let outcome = match dry {
        true => workspace.dry_run(&name, &ChangeOptions::default(), &control(), &mut planned),
        false => workspace.change(&name, &ChangeOptions::default(), &control(), &mut planned),
    };
    (outcome.map(|changed| changed.report), times)
}

#[test]
fn a_refusal_and_a_dry_run_tell_of_a_state_that_the_file_had_when_they_were_planned() {
    for dry in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "old\n").unwrap();
        let workspace = open(dir.path());
        let meddle = |time| {
            if time == 1 {
                std::fs::write(&path, "new text\n").unwrap();
            }
        };
        let plan = |old: &[u8]| match old {
            b"old\n" => Err(Error::NegativeLine),
            _ => Ok(append("more")),
        };
        let (outcome, times) = plan_while_meddled_with(&workspace, dry, meddle, plan);
        assert_eq!((outcome.unwrap(), times), (2, 2), "dry: {dry}");
        // The result that nothing changes must also be true of the file as it is now.
        std::fs::write(&path, "old\n").unwrap();
        let plan = |old: &[u8]| Ok(if old == b"old\n" { append("") } else { append("more") });
        let (outcome, times) = plan_while_meddled_with(&workspace, dry, meddle, plan);
        assert_eq!((outcome.unwrap(), times), (2, 2), "dry: {dry}");
    }
}

#[test]
fn a_file_that_changes_each_time_that_it_is_read_is_given_up_on() {
    for dry in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "old\n").unwrap();
        let meddle = |time: usize| {
            assert!(time < 1_000, "it goes on for ever");
            std::fs::write(&path, "x".repeat(time + 10)).unwrap();
        };
        let plan = |_: &[u8]| Err(Error::NegativeLine);
        let (outcome, times) = plan_while_meddled_with(&open(dir.path()), dry, meddle, plan);
        assert!(matches!(outcome, Err(Error::Changed { .. })), "dry: {dry}: {outcome:?}");
        assert_eq!(times, ATTEMPTS);
    }
}

#[test]
fn an_edit_that_fails_because_the_file_is_cut_meanwhile_says_that_it_was_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    // A mapped file: bytes that were truncated can no longer be copied.
    std::fs::write(&path, "line\n".repeat(100_000)).unwrap();
    let meddle = |_| File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
    let (outcome, times) = plan_while_meddled_with(&open(dir.path()), false, meddle, |_| Ok(append("end")));
    assert!(matches!(outcome, Err(Error::Changed { .. })), "{outcome:?}");
    assert_eq!((times, names(dir.path())), (1, vec!["a".into()]));
}

#[test]
fn a_call_that_was_called_off_looks_for_no_near_paths() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("sub")).unwrap();
    std::fs::write(dir.path().join("sub/a.txt"), "x\n").unwrap();
    let options = WorkspaceOptions { names: NamePolicy::Paths, ..WorkspaceOptions::default() };
    let workspace = Workspace::open(&[dir.path().into()], options).unwrap();
    let path = workspace.parse_path("a.txt").unwrap();
    let near = |control: &Control| match workspace.info_or_near(&path, control) {
        Err(Error::NotFound(missing)) => missing.similar,
        found => panic!("{found:?}"),
    };
    assert_eq!(near(&control()), ["sub/a.txt"]);
    let cancelled = control();
    assert!(cancelled.cancel());
    assert_eq!(near(&cancelled), [""; 0]);
    assert_eq!(near(&Control::new(Duration::ZERO)), [""; 0]);
}

#[test]
fn bytes_that_the_system_failed_to_read_are_not_written_as_zeros() {
    if !MAPS_FILES {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let text = "a line of text\n".repeat(20_000);
    std::fs::write(dir.path().join("a"), &text).unwrap();
    let (workspace, control) = (open(dir.path()), control());
    let path = workspace.parse_path("a").unwrap();
    let found = || workspace.find(&path, &control).unwrap();
    let file = || workspace.open_place(&found().place, "a", &control).unwrap().unwrap();
    let view = file().view(0..text.len()).unwrap();
    let writer = File::options().write(true).open(dir.path().join("a")).unwrap();
    writer.set_len(0).unwrap();
    assert!(view.bytes().iter().all(|byte| *byte == 0));
    std::fs::write(dir.path().join("a"), &text).unwrap();
    // As if it had not changed, and the disk had failed.
    let view = view.of_file(file());
    let plan =
        EditPlan::new(vec![Splice { at: 0..1, text: b"A".as_slice().into() }], text.as_bytes()).unwrap();
    let content = NewContent {
        edit: &plan,
        old: Some(&view),
        versioned: false,
        makes_any_bytes: false,
        restores: false,
        any_size: false,
    };
    let written = workspace.write(&found(), &path, content, &Replaces::File(view.file()), &control);
    assert!(matches!(written, Err(Stopped::Refused(Error::ReadFailed { .. }))));
    assert!(std::fs::read_to_string(dir.path().join("a")).unwrap() == text);
}
