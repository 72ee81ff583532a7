//! File systems in user space, as those that several machines share: how often they are asked, and what they answer in the
//! moment of a change.

use serde_json::json;

use crate::support::{Bindfs, Folder, Mcp, Stdio, command, under_strace};

/// A folder with these files, behind such a file system.
fn behind_bindfs(names: &[&str]) -> Option<(Folder, Bindfs)> {
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
fn a_file_that_is_not_there_is_missing_without_further_looks() {
    let Some((folder, mount)) = behind_bindfs(&["f"]) else { return };
    let server = Stdio::start(&folder, &["--read-only"]).ready();
    let before = mount.asked().len();
    assert!(server.refused("read_file", json!({ "name": "gone" })).contains("not found"));
    let asked = mount.asked();
    let looks = asked[before..].iter().filter(|name| *name == "LOOKUP").count();
    assert!(looks <= 3, "{:?}", &asked[before..]);
}

#[test]
fn a_file_whose_state_is_not_told_is_counted_as_not_readable_and_never_taken_as_gone() {
    let folder = Folder::new();
    ["a.rs", "b.rs", "c.rs"].iter().for_each(|name| folder.write(name, "fn found() {}\n"));
    for error in ["EIO", "ESTALE", "EACCES"] {
        // Of each thread, all looks at this file.
        let inject = format!("inject=newfstatat:error={error}");
        let server = command(&folder, "stdio", &["--tools=lines,search,toolkit"]);
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
    }
}
