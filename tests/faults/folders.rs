//! A served folder that is removed, moved away or unmounted (contract 8): a clear error, and the folder that is at the path
//! next is served.
//!
//! A test that needs a program that is not installed says so and ends.

use serde_json::json;

use crate::support::{
    Bindfs, Folder, Mcp, Mount, Stdio, append, lock, on_both, until, until_a_lock_is_waited_for,
};

/// Moves the folder away and makes another in its place, with the file `f` that holds `text`.
fn put_another_in_its_place(folder: &Folder, text: &str) {
    std::fs::rename(folder.path(), folder.outside("moved")).expect("the folder moved");
    std::fs::create_dir(folder.path()).expect("another made");
    folder.write("f", text);
}

#[test]
fn a_folder_that_is_removed_and_comes_back_is_served_again_by_every_tool() {
    on_both(|server, folder| {
        folder.write("f", "a\n");
        server.ok("read_file", json!({ "name": "f" }));
        for _ in 0..20 {
            std::fs::remove_dir_all(folder.path()).expect("the folder removed");
            for (tool, arguments) in [
                ("list_files", json!({})),
                ("read_file", json!({ "name": "f" })),
                ("edit_file", append("f", "b")),
                ("edit_file", append("new", "b")),
            ] {
                assert_eq!(
                    server.refused(tool, arguments),
                    "Error: Cannot access working directory",
                    "{tool}"
                );
            }
            assert!(!folder.path().exists());
            std::fs::create_dir(folder.path()).expect("the folder made");
            assert!(server.ok("list_files", json!({})).ends_with("Total files: 0"));
            assert!(server.ok("edit_file", append("f", "again")).ends_with("File created: true"));
            assert_eq!((folder.text("f"), folder.names()), ("again\n".into(), vec!["f".into()]));
        }
    });
}

#[test]
fn of_a_folder_that_was_moved_away_the_one_in_its_place_is_edited() {
    not_under_wine!("wine keeps the name of an open folder that is moved or removed");
    on_both(|server, folder| {
        folder.write("f", "old\n");
        server.ok("read_file", json!({ "name": "f" }));
        put_another_in_its_place(folder, "new\n");
        server.ok("edit_file", append("f", "edited"));
        server.ok("edit_file", append("g", "made"));
        assert_eq!(folder.text("f"), "new\nedited\n");
        assert_eq!(std::fs::read(folder.outside("moved").join("f")).expect("the file"), b"old\n");
        assert!(!folder.outside("moved").join("g").exists());
        assert!(server.ok("read_file", json!({ "name": "f" })).ends_with("new\nedited"));
        assert!(server.ok("list_files", json!({})).ends_with("Total files: 2"));
    });
}

#[test]
fn reads_move_to_the_folder_in_the_place_of_one_that_was_moved_away() {
    on_both(|server, folder| {
        folder.write("f", "old\n");
        server.ok("read_file", json!({ "name": "f" }));
        put_another_in_its_place(folder, "new\n");
        until("the new folder is read", || server.ok("read_file", json!({ "name": "f" })).ends_with("new"));
    });
}

#[test]
fn of_a_folder_that_was_moved_away_for_good_nothing_is_edited() {
    on_both(|server, folder| {
        folder.write("f", "old\n");
        server.ok("read_file", json!({ "name": "f" }));
        std::fs::rename(folder.path(), folder.outside("moved")).expect("the folder moved");
        for name in ["f", "new"] {
            let refused = server.refused("edit_file", append(name, "x"));
            assert_eq!(refused, "Error: Cannot access working directory");
        }
        assert_eq!(
            server.refused("read_file", json!({ "name": "f" })),
            "Error: Cannot access working directory"
        );
        assert_eq!(server.refused("list_files", json!({})), "Error: Cannot access working directory");
        let moved = std::fs::read_dir(folder.outside("moved")).expect("a folder");
        assert_eq!(moved.count(), 1);
        std::fs::rename(folder.outside("moved"), folder.path()).expect("the folder moved back");
        server.ok("edit_file", append("f", "again"));
        assert_eq!(folder.text("f"), "old\nagain\n");
    });
}

#[test]
fn an_edit_that_waits_while_its_folder_is_moved_away_changes_neither_folder() {
    not_under_wine!("wine keeps the name of an open folder that is moved or removed");
    let folder = Folder::new();
    folder.write("f", "old\n");
    let server = Stdio::start(&folder, &[]).ready();
    let held = lock(&folder, "f");
    std::thread::scope(|scope| {
        let edit = scope.spawn(|| server.refused("edit_file", append("f", "x")));
        until_a_lock_is_waited_for(server.pid());
        put_another_in_its_place(&folder, "new\n");
        drop(held);
        let text = "Error: File 'f' was changed by another program; read it again";
        assert_eq!(edit.join().expect("an answer"), text);
    });
    assert_eq!(folder.text("f"), "new\n");
    assert_eq!(std::fs::read(folder.outside("moved").join("f")).expect("the file"), b"old\n");
    server.ok("edit_file", append("f", "x"));
    assert_eq!(folder.text("f"), "new\nx\n");
}

#[test]
fn a_mount_that_died_is_left_and_the_next_one_in_its_place_is_served() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    let source = Bindfs::source(&folder, "a\n");
    let Some(mut first) = Bindfs::at(&folder, &source) else { return };
    let server = Stdio::start(&folder, &[]).ready();
    server.ok("edit_file", append("f", "b"));
    first.kill();
    for (tool, arguments) in
        [("read_file", json!({ "name": "f" })), ("edit_file", append("f", "c")), ("list_files", json!({}))]
    {
        assert_eq!(server.refused(tool, arguments), "Error: Cannot access working directory", "{tool}");
    }
    drop(first);
    let _second = Bindfs::at(&folder, &source).expect("mounted again");
    assert!(server.ok("read_file", json!({ "name": "f" })).ends_with("a\nb"));
    server.ok("edit_file", append("f", "c"));
    assert_eq!(std::fs::read(source.join("f")).expect("the file"), b"a\nb\nc\n");
    assert!(server.ok("list_files", json!({})).ends_with("Total files: 1"));
}

#[test]
fn a_folder_at_which_something_is_mounted_is_not_emptied() {
    not_under_wine!("mounts something in the tree");
    let folder = Folder::new();
    let (own, source) = (folder.path().join("own"), folder.outside("source"));
    [&own, &source].iter().for_each(|path| std::fs::create_dir(path).expect("a folder"));
    std::fs::write(source.join("f"), "text\n").expect("a file");
    let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
    // One of another device, and one that only the removal shows.
    for is_other_device in [true, false] {
        let mounted = if is_other_device { Mount::at(&own, "mode=755") } else { Mount::bind(&source, &own) };
        let Some(_mounted) = mounted else { return };
        std::fs::write(own.join("f"), "text\n").expect("a file");
        let refused = server.refused("delete_file", json!({ "path": "own", "recursive": true }));
        assert!(refused.contains("busy"), "{refused}");
        assert!(own.join("f").exists());
    }
}

#[test]
fn a_file_of_a_mount_that_died_is_not_taken_for_that_of_the_next_folder() {
    not_under_wine!("mounts something in the tree");
    let (folder, next) = (Folder::new(), Folder::new());
    let source = Bindfs::source(&folder, "first\n");
    next.write("f", "next\n");
    let Some(mut mount) = Bindfs::at(&folder, &source) else { return };
    let options = [&format!("--dir={}", next.path().display()), "--tools=filesystem"];
    let server = Stdio::start(&folder, &options).ready();
    server.ok("read_text_file", json!({ "path": "f" }));
    mount.kill();
    let edits = json!([{ "oldText": "next", "newText": "changed" }]);
    for (tool, arguments) in [
        ("read_text_file", json!({ "path": "f" })),
        ("edit_file", json!({ "path": "f", "edits": edits })),
        ("write_file", json!({ "path": "f", "content": "" })),
        ("delete_file", json!({ "path": "f" })),
    ] {
        // The folder is gone, or the file system not connected, as it comes.
        server.refused(tool, arguments);
    }
    assert_eq!(next.text("f"), "next\n");
    let own = next.path().join("f");
    assert_eq!(server.ok("read_text_file", json!({ "path": own })), "next\n");
}
