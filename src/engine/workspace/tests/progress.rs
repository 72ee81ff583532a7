//! Long operations tell how far they are (contract 11).

use super::*;
use crate::ChangeOptions;
use folder::Progress;

const LEN: usize = 5 << 20;

fn large() -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "a line of\n".repeat(LEN / 10)).unwrap();
    let workspace = open_with(dir.path(), Durability::None);
    (dir, workspace)
}

#[test]
fn a_copy_tells_how_many_bytes_of_how_many_are_copied() {
    let (_dir, workspace) = large();
    let (control, options) = (control(), ChangeOptions::default());
    let path = |name| workspace.parse_path(name).unwrap();
    workspace.copy_file(&path("a"), &path("b"), &options, &control).unwrap();
    let len = LEN as u64;
    assert_eq!(control.progressed(), Progress { done: len, total: Some(len) });
}

#[test]
fn an_edit_tells_how_many_bytes_are_read_and_written() {
    let (_dir, workspace) = large();
    let control = control();
    let name = workspace.parse_path("a").unwrap();
    workspace.edit_lines(&name, &append("more\n"), false, &control).unwrap();
    let (told, total) = (control.progressed(), 2 * LEN as u64 + 5);
    assert_eq!(told.total, Some(total));
    assert!(told.done > LEN as u64 && told.done <= total, "{told:?}");
}

#[test]
fn a_version_by_the_content_tells_how_many_bytes_are_read() {
    let (_dir, workspace) = large();
    let control = control();
    let name = workspace.parse_path("a").unwrap();
    let place = workspace.find(&name, &control).unwrap().place;
    let file = workspace.open_place(&place, "a", &control).unwrap().unwrap();
    // The file is so new that its times do not tell a change.
    if workspace.version(&file, "a", &control).unwrap() == Some(FileVersion::of_stamp(file.stamp())) {
        return;
    }
    let len = LEN as u64;
    assert_eq!(control.progressed(), Progress { done: len, total: Some(len) });
}
