//! Links, swapped entries, and what is no regular file.

use sys::testing::symlink;

use super::steps::open_directory;
use super::*;
use crate::fs::temporary;

fn root(dir: &tempfile::TempDir) -> Arc<OwnedFd> {
    Arc::new(sys::testing::open_folder(dir.path().join("root")))
}

/// Creates `outside.txt`, `root/a.txt`, `root/sub/b.txt`, and links given as (name in root, target).
fn tree(links: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir_all(root.join("sub/deep")).unwrap();
    std::fs::write(dir.path().join("outside.txt"), "secret").unwrap();
    std::fs::write(root.join("a.txt"), "a").unwrap();
    std::fs::write(root.join("sub/b.txt"), "b").unwrap();
    for (name, target) in links {
        symlink(target, root.join(name)).unwrap();
    }
    dir
}

fn find(root: &Arc<OwnedFd>, path: &Path) -> Result<ResolvedPath, ResolveError> {
    ResolvedPath::find_entry(root, path, LastLink::Follow).and_then(ResolvedPath::regular)
}

fn read(dir: &tempfile::TempDir, name: &str) -> Result<String, ResolveError> {
    let place = find(&root(dir), name.as_ref())?;
    let file = place.open()?.expect("opens");
    Ok(std::io::read_to_string(file.file()).unwrap())
}

#[test]
fn relative_links_that_stay_inside_are_followed() {
    let dir = tree(&[
        ("one", "a.txt"),
        ("two", "one"),
        ("down", "sub/b.txt"),
        ("dots", "./sub/../sub/./b.txt"),
        ("sub/up", "../a.txt"),
        ("via", "sub/up"),
        ("dirlink", "sub"),
        ("through", "dirlink/b.txt"),
    ]);
    for (name, text) in
        [("one", "a"), ("two", "a"), ("down", "b"), ("dots", "b"), ("via", "a"), ("through", "b")]
    {
        assert_eq!(read(&dir, name).as_deref(), Ok(text), "{name}");
    }
}

#[test]
fn links_that_leave_dangle_loop_or_are_absolute_are_refused() {
    let dir = tree(&[
        ("out", "../outside.txt"),
        ("sneaky", "sub/../../outside.txt"),
        ("back", "../root/a.txt"),
        ("beside", "../a.txt"),
        ("absolute", "/etc/hostname"),
        ("absolute_here", "/a.txt"),
        ("proc", "/proc/self/fd/0"),
        ("dangling", "nothing"),
        ("loop", "loop"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("chained", "out"),
        ("file_as_dir", "a.txt/"),
        ("to_dir", "sub"),
        ("dot", "."),
    ]);
    for name in [
        "out",
        "sneaky",
        "back",
        "beside",
        "absolute",
        "absolute_here",
        "proc",
        "dangling",
        "loop",
        "ping",
        "chained",
        "file_as_dir",
    ] {
        assert_eq!(read(&dir, name), Err(ResolveError::Forbidden), "{name}");
    }
    for folder in ["to_dir", "dot"] {
        assert!(
            matches!(read(&dir, folder), Err(ResolveError::Folder | ResolveError::Forbidden)),
            "{folder}"
        );
    }
}

#[test]
fn what_is_no_regular_file_is_refused_unopened() {
    let dir = tree(&[("fifo_link", "fifo")]);
    let fifo = dir.path().join("root/fifo");
    sys::fs::make_fifo(&fifo);
    let _socket = sys::testing::UnixListener::bind(dir.path().join("root/socket")).unwrap();
    for name in ["fifo", "fifo_link", "socket"] {
        assert_eq!(read(&dir, name), Err(ResolveError::Special), "{name}");
    }
    assert_eq!(read(&dir, "sub"), Err(ResolveError::Folder));
}

#[test]
fn a_link_to_a_temporary_file_of_ours_is_refused() {
    let temporary = temporary::new_name();
    let dir = tree(&[("link", temporary.to_str().unwrap()), ("other", ".file-editor-tmp-notes")]);
    for name in [temporary.as_os_str(), ".file-editor-tmp-notes".as_ref()] {
        std::fs::write(dir.path().join("root").join(name), "text").unwrap();
    }
    assert_eq!(read(&dir, "link"), Err(ResolveError::Forbidden));
    assert_eq!(read(&dir, "other").as_deref(), Ok("text"), "a user's file");
}

#[test]
fn a_fifo_swapped_in_for_a_file_is_neither_waited_for_nor_opened() {
    let dir = tree(&[]);
    let place = find(&root(&dir), "a.txt".as_ref()).unwrap();
    let path = dir.path().join("root/a.txt");
    std::fs::remove_file(&path).unwrap();
    sys::fs::make_fifo(&path);
    let (said, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || said.send(place.open().map(|file| file.is_none())));
    let none = heard.recv_timeout(std::time::Duration::from_secs(20)).expect("nobody waits for a writer");
    assert_eq!(none, Ok(true));
}

#[test]
fn a_folder_swapped_for_a_link_after_it_was_found_is_not_entered() {
    let dir = tree(&[("way_out", "..")]);
    let swapped = open_directory(root(&dir).as_fd(), "way_out".as_ref());
    assert_eq!(swapped.err(), Some(ResolveError::Moved));
    assert!(open_directory(root(&dir).as_fd(), "sub".as_ref()).is_ok());
}

#[test]
fn an_entry_swapped_after_it_was_found_is_not_opened() {
    let dir = tree(&[]);
    let place = find(&root(&dir), "a.txt".as_ref()).unwrap();
    std::fs::remove_file(dir.path().join("root/a.txt")).unwrap();
    symlink("../outside.txt", dir.path().join("root/a.txt")).unwrap();
    assert!(place.open().unwrap().is_none());
    assert!(find(&root(&dir), "none".as_ref()).unwrap().stat.is_none());
}
