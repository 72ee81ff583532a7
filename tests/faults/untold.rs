//! File systems that do not tell kinds or states of entries, or list what a look does not find.

use serde_json::json;

use super::shared_mounts::behind_bindfs;
use crate::support::{Bindfs, Direct, Folder, Mcp, Stdio, command, under_strace};

/// A folder behind a file system, with files in the folder `s`. With `told`, that one tells the kinds of its entries.
fn with_files_in_folders(told: bool) -> Option<(Folder, Bindfs)> {
    let folder = Folder::new();
    let source = Bindfs::source(&folder, "found\n");
    std::fs::create_dir_all(source.join("s/d")).expect("folders");
    for name in ["s/b.rs", "s/e.rs", "s/d/x.rs"] {
        std::fs::write(source.join(name), "found\n").expect("a file");
    }
    let list =
        format!("inject=getdents64:poke_exit=@arg2={}", without_kinds(&[".", "..", "b.rs", "d", "e.rs"]));
    let inside = source.join("s");
    let mount = match told {
        true => Bindfs::at(&folder, &source),
        false => Bindfs::faulty(&folder, &source, &["-P", inside.to_str().expect("UTF-8"), "-e", &list]),
    }?;
    Some((folder, mount))
}

/// What getdents64(2) gives for a folder with these names, of at most four bytes, that tells no kinds: in hexadecimal digits.
fn without_kinds(names: &[&str]) -> String {
    let entry = |(nth, name): (u64, &&str)| {
        let mut entry = [nth.to_le_bytes(), nth.to_le_bytes()].concat();
        entry.extend([24, 0, 0]);
        entry.extend(name.as_bytes());
        entry.resize(24, 0);
        entry
    };
    let list: Vec<u8> = (1..).zip(names).flat_map(entry).collect();
    list.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_file_whose_state_is_not_told_is_counted_as_not_readable_and_never_taken_as_gone() {
    let folder = Folder::new();
    ["a.rs", "b.rs", "c.rs"].iter().for_each(|name| folder.write(name, "fn found() {}\n"));
    for error in ["EIO", "ESTALE", "EACCES"] {
        // Of each thread, all looks at this file.
        let inject = format!("inject=newfstatat:error={error}");
        let server = command(&folder, "stdio", &["--tools=lines,search,toolkit,list_directory_with_sizes"]);
        let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", "b.rs", "-e", &inject]) else {
            return;
        };
        let server = Stdio::run(server);
        let found = server.ok("grep", json!({ "pattern": "found" }));
        assert!(
            found.contains("2 files searched") && found.contains("1 file that cannot be read"),
            "{found}"
        );
        let analysed = server.ok("analyze_complexity", json!({ "project_path": ".", "toolchain": "rust" }));
        assert!(analysed.contains("b.rs: not analyzed, it cannot be read"), "{error}: {analysed}");
        server.refused("list_files", json!({}));
        let sorted = server.ok("glob", json!({ "pattern": "*.rs", "sort": "size" }));
        assert!(
            sorted.contains("2 match") && sorted.contains("1 file that cannot be read"),
            "{error}: {sorted}"
        );
        let sizes = server.ok("list_directory_with_sizes", json!({ "path": "." }));
        assert!(sizes.contains("[Sizes not known and counted as 0 B: 1,"), "{error}: {sizes}");
    }
}

#[test]
fn what_cannot_be_looked_at_is_counted_where_the_file_system_does_not_tell_kinds() {
    for error in ["EIO", "ESTALE", "EACCES"] {
        let Some((folder, _mount)) = with_files_in_folders(false) else { return };
        let tools = "--tools=list_files,filesystem,search";
        let server = command(&folder, "stdio", &[tools, "--names=paths"]);
        let inject = format!("inject=newfstatat:error={error}");
        let faults = ["-o", "/dev/null", "-P", "b.rs", "-P", "d", "-e", &inject];
        let Some(server) = under_strace(&server, &faults) else { return };
        let server = Stdio::run(server);
        for (tool, arguments, told) in [
            ("grep", json!({ "pattern": "found" }), "e.rs"),
            ("glob", json!({ "pattern": "*.rs" }), "e.rs"),
            ("glob", json!({ "pattern": "*.rs", "sort": "path" }), "e.rs"),
            ("search_files", json!({ "path": ".", "pattern": "**/*.rs" }), "e.rs"),
            ("directory_tree", json!({ "path": "." }), "e.rs"),
            ("list_directory", json!({ "path": ".", "depth": 3 }), "[FILE] s/e.rs"),
            ("list_directory_with_sizes", json!({ "path": "s" }), "[FILE] e.rs"),
            ("list_files", json!({}), "Total files: 2"),
        ] {
            let answer = server.ok(tool, arguments);
            assert!(answer.contains("2 entries that cannot be read"), "{tool}, {error}: {answer}");
            assert!(answer.contains(told) && !answer.contains("special"), "{tool}, {error}: {answer}");
            assert!(!answer.contains("b.rs"), "{tool}, {error}: {answer}");
        }
    }
}

#[test]
fn what_may_be_an_excluded_folder_is_left_out_as_excluded() {
    let Some((folder, _mount)) = with_files_in_folders(false) else { return };
    let server = command(&folder, "stdio", &["--tools=search", "--exclude=d/"]);
    let faults = ["-o", "/dev/null", "-P", "d", "-e", "inject=newfstatat:error=EIO"];
    let Some(server) = under_strace(&server, &faults) else { return };
    let found = Stdio::run(server).ok("grep", json!({ "pattern": "found" }));
    assert!(found.contains("3 files searched") && found.contains("left out: 1 excluded]"), "{found}");
}

#[test]
fn a_list_of_a_tree_counts_files_that_cannot_be_looked_at() {
    for error in ["EIO", "ESTALE", "EACCES"] {
        let Some((folder, _mount)) = with_files_in_folders(true) else { return };
        let server = command(&folder, "stdio", &["--tools=list_files", "--names=paths"]);
        let inject = format!("inject=newfstatat:error={error}");
        let faults = ["-o", "/dev/null", "-P", "b.rs", "-P", "f", "-e", &inject];
        let Some(server) = under_strace(&server, &faults) else { return };
        let server = Stdio::run(server);
        let listed = server.ok("list_files", json!({}));
        assert!(
            listed.contains("Total files: 2\nNot shown: 2 entries that cannot be read"),
            "{error}: {listed}"
        );
        assert_eq!(server.direct("list_files", json!({}))["not_readable"], 2);
    }
}

#[test]
fn a_listed_name_that_is_not_found_is_looked_for_again() {
    for (call, is_told) in [("newfstatat", true), ("newfstatat", false), ("openat", true)] {
        let Some((folder, _mount)) = with_files_in_folders(is_told) else { return };
        // Of each thread.
        let inject = format!("inject={call}:error=ENOENT:when=1..2");
        for (tool, arguments, told) in [
            (
                "grep",
                json!({ "pattern": "found" }),
                "4 files searched, 4 matching lines in 4 files; nothing left",
            ),
            ("glob", json!({ "pattern": "*.rs" }), "4 files seen, 3 match; nothing left"),
            ("list_files", json!({}), "Total files: 4"),
            ("read_text_file", json!({ "path": "s/b.rs" }), "found"),
        ] {
            let server =
                command(&folder, "stdio", &["--tools=list_files,filesystem,search", "--names=paths"]);
            let faults = ["-o", "/dev/null", "-P", "b.rs", "-e", &inject];
            let Some(server) = under_strace(&server, &faults) else { return };
            let answer = Stdio::run(server).ok(tool, arguments);
            assert!(answer.contains(told), "{tool}, {call}, kinds are told: {is_told}: {answer}");
        }
    }
}

#[test]
fn a_file_that_is_listed_and_never_found_is_not_similar_to_itself() {
    let Some((folder, _mount)) = behind_bindfs(&["f", "log.txt"]) else { return };
    let server = command(&folder, "stdio", &["--tools=filesystem"]);
    let inject = "inject=newfstatat:error=ENOENT";
    let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", "log.txt", "-e", inject]) else {
        return;
    };
    let refused = Stdio::run(server).tool("read_text_file", json!({ "path": "log.txt" })).text;
    assert!(refused.contains("'log.txt' not found") && !refused.contains("similar"), "{refused}");
}
