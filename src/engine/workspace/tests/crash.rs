//! A crash, or another program's write, at each step of an edit.

use super::*;

/// Crashes an edit of `a` after each of its steps, and checks the files left. Returns the number of steps.
fn crash_everywhere(old: Option<&str>, edits: &LineEdits, new: &str) -> usize {
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        if let Some(old) = old {
            std::fs::write(&path, old).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        }
        let workspace = open(dir.path());
        let name = workspace.parse_path("a").unwrap();
        let crashed = failpoint::crash_at(step, || {
            let _ = workspace.edit_lines(&name, edits, true, &control());
        });
        drop(workspace);
        let found = std::fs::read_to_string(&path).ok();
        assert!(found.as_deref() == old || found.as_deref() == Some(new), "step {step}: {found:?}");
        let restarted = open(dir.path());
        let expected: &[&str] = if found.is_some() { &["a"] } else { &[] };
        assert_eq!(names(dir.path()), expected, "step {step}: no leftovers after the next start");
        assert_eq!(std::fs::read_to_string(&path).ok(), found);
        restarted.edit_lines(&name, &append("works"), true, &control()).unwrap();
        if !crashed {
            assert_eq!(found.as_deref(), Some(new));
            return step - 1;
        }
    }
    unreachable!("a write has an end")
}

#[test]
fn a_crash_after_any_step_of_an_edit_leaves_the_old_file_or_the_new_one() {
    let steps = crash_everywhere(Some("one\ntwo\n"), &replace_line(1, "TWO"), "one\nTWO\n");
    assert!(steps >= 7, "create, write, mode, time, flush, rename, flush of the folder: {steps}");
}

#[test]
fn a_crash_after_any_step_of_a_large_edit_leaves_the_old_file_or_the_new_one() {
    let old = "0123456789abcdef\n".repeat(200_000);
    let new = format!("{old}end\n");
    let steps = crash_everywhere(Some(&old), &append("end"), &new);
    assert!(steps >= 9, "{steps}");
}

#[test]
fn a_crash_after_any_step_of_a_creation_leaves_no_file_or_the_new_one() {
    let steps = crash_everywhere(None, &append("one"), "one\n");
    assert!(steps >= 7, "{steps}");
}

#[test]
fn a_program_that_writes_without_a_lock_at_any_step_is_never_hidden_by_the_index_of_the_edit() {
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "1\n2\n3\n4\n").unwrap();
        let workspace = open(dir.path());
        let name = workspace.parse_path("a").unwrap();
        let victim = path.clone();
        // The same length as the edited file, but fewer lines.
        let meddle = move || std::fs::write(victim, "XXX\nYY\n").unwrap();
        let happened = failpoint::meddle_at(at, meddle, || {
            let _ = workspace.edit_lines(&name, &replace_line(1, ""), false, &control());
        });
        if !happened {
            return assert!(at >= 7, "{at}");
        }
        let disk = std::fs::read_to_string(&path).unwrap();
        let read = workspace.read(&name, LineRange::default(), &control()).unwrap();
        assert_eq!(read.total, disk.lines().count(), "step {at}: {disk:?}");
        assert_eq!(read.bytes(), disk.trim_end_matches('\n').as_bytes(), "step {at}");
    }
}

#[test]
fn a_crash_after_any_step_of_an_edit_through_a_link_leaves_nothing_that_the_next_edit_there_does_not_clear() {
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("sub");
        std::fs::create_dir(&sub).unwrap();
        std::fs::write(sub.join("b.txt"), "old\n").unwrap();
        symlink("sub/b.txt", dir.path().join("a")).unwrap();
        let workspace = open(dir.path());
        let name = workspace.parse_path("a").unwrap();
        let crashed = failpoint::crash_at(step, || {
            let _ = workspace.edit_lines(&name, &replace_line(0, "new"), false, &control());
        });
        assert_eq!(
            names(dir.path()),
            ["a", "sub"],
            "step {step}: a rename from here might lead to another mount"
        );
        let found = std::fs::read_to_string(sub.join("b.txt")).unwrap();
        assert!(found == "old\n" || found == "new\n", "step {step}: {found:?}");
        open(dir.path()).edit_lines(&name, &append("works"), false, &control()).unwrap();
        assert_eq!(names(&sub), ["b.txt"], "step {step}");
        if !crashed {
            return assert!(step > 7, "{step}");
        }
    }
}
