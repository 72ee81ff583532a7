//! Which indexes are kept from one request to the next.

use super::*;

#[test]
fn an_index_of_another_length_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a"), "1\n2\n3\n").unwrap();
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    let file = workspace
        .open_place(
            &workspace.find(&workspace.parse_path("a").unwrap(), &control()).unwrap().place,
            "a",
            &control(),
        )
        .unwrap()
        .unwrap();
    for other in ["", "1\n", "1\n2\n3\n4\n"] {
        let index = Arc::new(LineIndex::build(other.as_bytes()).unwrap());
        workspace.cache.put(file.stamp(), CachedText::Text(index));
        let excerpt = workspace.read(&name, LineRange::default(), &control()).unwrap();
        assert_eq!((excerpt.bytes(), excerpt.total), (&b"1\n2\n3"[..], 3), "{other:?}");
    }
}

#[test]
fn of_a_file_that_an_edit_replaced_nothing_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    let known = || {
        let place = workspace.find(&workspace.parse_path("a").unwrap(), &control()).unwrap().place;
        let file = workspace.open_place(&place, "a", &control()).unwrap().unwrap();
        move |workspace: &Workspace| workspace.cache.get(file.stamp()).is_some()
    };
    workspace.edit_lines(&name, &append("one"), true, &control()).unwrap();
    let first = known();
    if !workspace
        .folders
        .first()
        .folder()
        .unwrap()
        .file_system(sys::fs::stat(dir.path()).unwrap().st_dev)
        .unwrap()
        .shows_writers
    {
        // On this file system nothing is cached.
        return;
    }
    assert!(first(&workspace));
    workspace.edit_lines(&name, &append("two"), true, &control()).unwrap();
    assert!(!first(&workspace) && known()(&workspace));
}

/// Whether the cache has an entry for the file at `path` in its current state.
fn is_known(workspace: &Workspace, path: &Path) -> bool {
    workspace.cache.get(&FileStamp::of(&sys::fs::stat(path).unwrap())).is_some()
}

#[test]
fn what_is_found_is_kept_unless_a_write_could_go_unseen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    std::fs::write(&path, "text\n").unwrap();
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    let read = || {
        while FileStamp::of(&sys::fs::stat(&path).unwrap()).is_racy(std::time::SystemTime::now()) {}
        workspace.read(&name, LineRange::default(), &control()).unwrap();
        is_known(&workspace, &path)
    };
    let stat = sys::fs::stat(&path).unwrap();
    let system = workspace.folders.first().folder().unwrap().file_system(stat.st_dev).unwrap();
    assert_eq!(read(), system.shows_writers, "nobody has it open for writing");
    let log = std::fs::File::options().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut &log, b"more\n").unwrap();
    assert!(!read(), "it is open for writing, and a page is dirty");
    log.sync_all().unwrap();
    // Older kernels do not report dirty pages.
    let tells = system.shows_writers && folder::fs::writers::every_write_would_show(&log, system);
    assert_eq!(read(), tells, "it is open for writing, but nothing is written");
    drop(log);
    assert_eq!(read(), system.shows_writers);
}

#[test]
fn of_a_file_that_changed_a_moment_ago_nothing_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let workspace = open(dir.path());
    let name = workspace.parse_path("a").unwrap();
    std::fs::write(&path, "text\n").unwrap();
    // Repeats if the test was delayed.
    loop {
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut &file, b"more\n").unwrap();
        drop(file);
        let stamp = FileStamp::of(&sys::fs::stat(&path).unwrap());
        workspace.read(&name, LineRange::default(), &control()).unwrap();
        let known = is_known(&workspace, &path);
        if stamp.is_racy(std::time::SystemTime::now()) {
            return assert!(!known);
        }
    }
}
