//! File systems in user space, as those that several machines share: how often they are asked, and what they answer in the
//! moment of a change.

use serde_json::json;

use crate::support::{Bindfs, Folder, Mcp, Stdio, command, under_strace};

/// A folder with these files, behind such a file system.
pub(super) fn behind_bindfs(names: &[&str]) -> Option<(Folder, Bindfs)> {
    let folder = Folder::new();
    let source = folder.outside("source");
    std::fs::create_dir(&source).expect("a folder");
    names.iter().for_each(|name| std::fs::write(source.join(name), "text\n").expect("a file"));
    let mount = Bindfs::at(&folder, &source)?;
    Some((folder, mount))
}

#[test]
fn a_small_read_waits_for_four_answers_of_the_file_system() {
    let Some((folder, mount)) = behind_bindfs(&["f", "new"]) else { return };
    let server = Stdio::start(&folder, &["--read-only"]).ready();
    server.ok("read_file", json!({ "name": "f" }));
    let before = mount.asked().len();
    server.ok("read_file", json!({ "name": "new" }));
    // The last one is the check that the file did not change during the read.
    assert_eq!(mount.asked()[before..], ["LOOKUP", "OPEN", "READ", "GETATTR"]);
    let before = mount.asked().len();
    server.ok("read_file", json!({ "name": "new" }));
    assert_eq!(mount.asked()[before..], ["OPEN", "READ", "GETATTR"]);
}

#[test]
fn a_file_that_is_not_found_though_it_is_there_is_looked_for_again() {
    for call in ["newfstatat", "openat"] {
        let Some((folder, _mount)) = behind_bindfs(&["f"]) else { return };
        // As JuiceFS answers in the moment in which another machine puts another file in its place. Only calls with the path `f`
        // are failed, the first one of each thread.
        let inject = format!("inject={call}:error=ENOENT:when=1");
        let server = command(&folder, "stdio", &[]);
        let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", "f", "-e", &inject]) else {
            return;
        };
        let server = Stdio::run(server);
        for (tool, arguments) in
            [("read_file", json!({ "name": "f" })), ("edit_file", json!({ "name": "f", "append": "more" }))]
        {
            let answer = server.request("tools/call", json!({ "name": tool, "arguments": arguments }));
            assert_ne!(answer["result"]["isError"], json!(true), "{call}: {answer}");
        }
        assert_eq!(folder.text("f"), "text\nmore\n");
    }
}

#[test]
fn a_read_of_several_files_waits_for_a_mount_that_is_lost_for_a_moment() {
    let Some((folder, _mount)) = behind_bindfs(&["e", "f", "g"]) else { return };
    let server = command(&folder, "stdio", &["--tools=filesystem"]);
    // The first three times, of each thread.
    let inject = "inject=openat:error=ENOTCONN:when=1..3";
    let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", "f", "-e", inject]) else { return };
    let server = Stdio::run(server);
    let read = server.ok("read_multiple_files", json!({ "paths": ["e", "f", "g"] }));
    assert_eq!(read.matches("text\n").count(), 3, "{read}");
}

#[test]
fn a_look_that_fails_within_a_change_is_no_change_of_another_program() {
    for (inner, call, looks) in [("d", "newfstatat", 6), ("d", "fstat", 4), ("", "newfstatat", 6)] {
        for look in 1..=looks {
            let folder = Folder::new();
            std::fs::create_dir(folder.path().join("d")).expect("a folder");
            folder.write("d/f", "text\n");
            // This look of each call at that folder, or at an entry of it.
            let inject = format!("inject={call}:error=ENOTCONN:when={look}");
            let looked_at = folder.path().join(inner);
            let faults = ["-o", "/dev/null", "-P", &looked_at.to_string_lossy(), "-e", &inject];
            let server = command(&folder, "stdio", &["--tools=filesystem,copy_file,delete_file"]);
            let Some(server) = under_strace(&server, &faults) else { return };
            let server = Stdio::run(server);
            server.ok(
                "edit_file",
                json!({ "path": "d/f", "edits": [{ "oldText": "text", "newText": "new" }] }),
            );
            server.ok("write_file", json!({ "path": "d/g", "content": "new\n" }));
            server.ok("copy_file", json!({ "source": "d/f", "destination": "d/h" }));
            server.ok("move_file", json!({ "source": "d/f", "destination": "d/i" }));
            server.ok("delete_file", json!({ "path": "d/g" }));
            assert_eq!([folder.text("d/h"), folder.text("d/i")], ["new\n", "new\n"], "{call} {look}");
        }
    }
}

#[test]
fn a_walk_in_which_the_file_system_is_lost_is_made_again_and_shows_all() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("d")).expect("a folder");
    folder.write("d/f", "text\n");
    for (tool, arguments, expected) in [
        ("directory_tree", json!({ "path": "." }), "\"f\""),
        ("grep", json!({ "pattern": "text" }), "1 file searched, 1 matching line in 1 file"),
    ] {
        // The folder cannot be entered, and then the served folder does not answer: it was opened twice to be read.
        let root = "inject=openat:error=ENOTCONN:when=3";
        let faults = [
            "-o",
            "/dev/null",
            "-P",
            "d",
            "-P",
            ".",
            "-e",
            "inject=openat2:error=ENOTCONN:when=1..2",
            "-e",
            root,
        ];
        let server = command(&folder, "stdio", &["--tools=filesystem,search"]);
        let Some(server) = under_strace(&server, &faults) else { return };
        let answer = Stdio::run(server).ok(tool, arguments);
        assert!(answer.contains(expected) && !answer.contains("cannot be read"), "{answer}");
    }
}

#[test]
fn looks_in_which_the_file_system_is_lost_are_made_again() {
    let folder = Folder::new();
    folder.write("f.rs", "text\n");
    for (tool, arguments, expected) in [
        ("list_directory_with_sizes", json!({ "path": "." }), "5 B"),
        ("glob", json!({ "pattern": "*.rs", "sort": "size" }), "f.rs"),
        ("grep", json!({ "pattern": "text" }), "1 file searched, 1 matching line in 1 file"),
    ] {
        // The state of the file is not told, and then the served folder does not answer: it was opened twice to be read.
        let faults =
            ["-e", "inject=newfstatat:error=ENOTCONN:when=1", "-e", "inject=openat:error=ENOTCONN:when=3"];
        let paths = ["-o", "/dev/null", "-P", "f.rs", "-P", "."];
        let server = command(&folder, "stdio", &["--tools=list_directory_with_sizes,search"]);
        let Some(server) = under_strace(&server, &[&paths[..], &faults[..]].concat()) else { return };
        let answer = Stdio::run(server).ok(tool, arguments);
        assert!(answer.contains(expected) && !answer.contains("cannot be read"), "{tool}: {answer}");
    }
}

#[test]
fn a_folder_that_cannot_be_read_for_a_moment_is_deleted_and_none_to_which_permission_is_denied() {
    for (error, is_refused) in [("ENOTCONN", false), ("EACCES", true)] {
        let folder = Folder::new();
        std::fs::create_dir_all(folder.path().join("d/inner")).expect("a folder");
        folder.write("d/inner/f", "text\n");
        let inject = format!("inject=openat:error={error}:when=1");
        let server = command(&folder, "stdio", &["--tools=filesystem"]);
        let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", "inner", "-e", &inject]) else {
            return;
        };
        let (server, delete) = (Stdio::run(server), json!({ "path": "d", "recursive": true }));
        match is_refused {
            true => assert!(server.refused("delete_file", delete).contains("Permission denied")),
            false => assert!(server.ok("delete_file", delete).contains("deleted")),
        }
        assert_eq!(folder.path().join("d").exists(), is_refused);
    }
}

/// The names in a folder after a write whose temporary name cannot be removed, and after another write. `None` without strace.
fn names_after_a_removal_that_fails() -> Option<[Vec<String>; 2]> {
    let folder = Folder::new();
    let faults = ["-e", "inject=renameat2:error=EINVAL", "-e", "inject=unlinkat:error=EIO:when=1"];
    let path = folder.path().to_string_lossy();
    let server = command(&folder, "stdio", &["--tools=filesystem", "--max-in-flight=1"]);
    let server = under_strace(&server, &[&["-o", "/dev/null", "-P", &path], &faults[..]].concat())?;
    let server = Stdio::run(server);
    server.ok("write_file", json!({ "path": "f", "content": "1\n" }));
    let first = folder.names();
    server.ok("write_file", json!({ "path": "g", "content": "2\n" }));
    Some([first, folder.names()])
}

#[test]
fn a_temporary_name_that_stays_behind_a_new_file_is_removed_by_the_next_edit() {
    // strace counts by thread. If another worker does the second write, its removal fails, too: then a new server is asked.
    for _ in 0..20 {
        let Some([first, second]) = names_after_a_removal_that_fails() else { return };
        assert_eq!(first.len(), 2, "the file has two names");
        if second == ["f", "g"] {
            return;
        }
    }
    panic!("the temporary name stays");
}

#[test]
fn a_file_that_is_not_there_is_missing_without_further_looks() {
    let Some((folder, mount)) = behind_bindfs(&["f"]) else { return };
    let server = Stdio::start(&folder, &["--read-only"]).ready();
    let before = mount.asked().len();
    assert!(server.refused("read_file", json!({ "name": "gone" })).contains("not found"));
    let asked = mount.asked();
    let looks = asked[before..].iter().filter(|name| *name == "LOOKUP").count();
    // One of them is at HEAD, which tells whether the folder is one of git's.
    assert!(looks <= 4, "{:?}", &asked[before..]);
}

#[test]
fn a_cursor_holds_where_the_file_system_is_mounted_at_another_path() {
    let source = Folder::new();
    std::fs::create_dir(source.path().join("in")).expect("a folder");
    (0..60).for_each(|n| source.write(&format!("in/a-rather-long-name-{n}"), "x"));
    source.write("f", "a line of text\n".repeat(200));
    let (here, there) = (Folder::new(), Folder::new());
    let Some(_mounts) = Bindfs::at(&here, source.path()).zip(Bindfs::at(&there, source.path())) else {
        return;
    };
    let options = ["--tools=filesystem", "--answer-limit=1"];
    let [one, other] = [&here, &there].map(|folder| Stdio::start(folder, &options).ready());
    for (tool, path) in [("read_text_file", "f"), ("list_directory", "in"), ("directory_tree", "in")] {
        let first = one.tool(tool, json!({ "path": path }));
        let mut next = first.result["_meta"]["file-editor/truncated"]["next"].clone();
        next["path"] = json!(path);
        let page = other.ok(tool, next.clone());
        assert_eq!(page, one.ok(tool, next), "{tool}");
        assert!(!page.contains("changed"), "{page}");
    }
}

#[test]
fn large_files_are_read_and_edited_where_the_file_system_maps_none() {
    let folder = Folder::new();
    let lines = "a line of text\n".repeat(30_000);
    let source = Bindfs::source(&folder, &(lines.clone() + "end\n"));
    let Some(_mount) = Bindfs::with_options(&folder, &source, "direct_io") else { return };
    let server = Stdio::start(&folder, &["--tools=filesystem,search"]).ready();
    assert_eq!(server.ok("read_text_file", json!({ "path": "f", "head": 1 })), "a line of text");
    assert!(server.ok("grep", json!({ "pattern": "of", "output_mode": "count" })).contains("30000"));
    let edits = json!([{ "oldText": "end", "newText": "END" }]);
    server.ok("edit_file", json!({ "path": "f", "edits": edits }));
    assert_eq!(folder.text("f"), lines + "END\n");
}

#[test]
fn a_file_that_another_machine_replaces_is_looked_for_again_and_may_still_be_written() {
    for (call, tool, arguments, expected) in [
        ("faccessat,faccessat2", "edit_file", json!({ "name": "f", "append": "more" }), "more"),
        ("openat", "grep", json!({ "pattern": "text" }), "1 file searched, 1 matching line in 1 file"),
    ] {
        let folder = Folder::new();
        folder.write("f", "text\n");
        let inject = format!("inject={call}:error=ESTALE:when=1");
        let server = command(&folder, "stdio", &["--tools=lines,search"]);
        let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", "f", "-e", &inject]) else {
            return;
        };
        let answer = Stdio::run(server).ok(tool, arguments);
        assert!(answer.contains(expected) || folder.text("f").contains(expected), "{call}: {answer}");
    }
}

#[test]
fn an_error_of_a_read_is_told_as_one_and_not_as_a_change() {
    for text in ["text\n".to_owned(), "a line of text\n".repeat(20_000)] {
        let folder = Folder::new();
        let source = Bindfs::source(&folder, &text);
        let file = source.join("f");
        let faults = ["-P", file.to_str().expect("UTF-8"), "-e", "inject=pread64:error=EIO"];
        let Some(_mount) = Bindfs::faulty(&folder, &source, &faults) else { return };
        let server = Stdio::start(&folder, &["--tools=filesystem"]).ready();
        let edits = json!([{ "oldText": "text", "newText": "new" }]);
        // At once, because each waits for the file system to come back.
        std::thread::scope(|scope| {
            for (tool, arguments) in [
                ("read_text_file", json!({ "path": "f" })),
                ("read_text_file", json!({ "path": "f", "tail": 1 })),
                ("read_multiple_files", json!({ "paths": ["f"] })),
                ("edit_file", json!({ "path": "f", "edits": edits })),
            ] {
                let (server, size) = (&server, text.len());
                scope.spawn(move || {
                    let answer = server.tool(tool, arguments).text;
                    let failed = "Failed to read file: Input/output error";
                    assert!(answer.contains(failed), "{tool}, {size} bytes: {answer}");
                });
            }
        });
    }
}

#[test]
fn a_write_that_is_refused_for_its_locks_makes_no_folders() {
    let folder = Folder::new();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let source = Bindfs::source(&folder, "text\n");
    let Some(mount) = Bindfs::mounted_at(&inner, &folder, &source, "subtype=sshfs") else { return };
    let server = Stdio::start(&folder, &["--tools=text,toolkit"]).ready();
    let project = json!({
        "toolchain": "rust", "templates": ["readme"], "parameters": { "project_name": "x" }, "write": true, "directory": "inner/new",
    });
    for (tool, arguments) in
        [("write_file", json!({ "path": "inner/new/f", "content": "new" })), ("scaffold_project", project)]
    {
        let refused = server.tool(tool, arguments).text;
        assert!(refused.contains("--unsafe-locks"), "{refused}");
    }
    assert!(!mount.asked().contains(&"MKDIR".to_owned()));
}
