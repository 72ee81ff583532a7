//! Changes whose answer a file system loses: it is not known whether they are made.

use serde_json::json;

use super::shared_mounts::behind_bindfs;
use crate::support::{Folder, Mcp, Stdio, command, under_strace};

#[test]
fn a_move_or_a_deletion_whose_answer_is_lost_says_so_and_is_not_made_again() {
    for (call, path, tool, arguments) in [
        ("renameat2", "f", "move_file", json!({ "source": "f", "destination": "g" })),
        ("unlinkat", "f", "delete_file", json!({ "path": "f" })),
    ] {
        for error in ["ECONNABORTED", "ETIMEDOUT", "ENOENT"] {
            let Some((folder, _mount)) = behind_bindfs(&["f"]) else { return };
            let inject = format!("inject={call}:error={error}");
            let server = command(&folder, "stdio", &["--tools=filesystem"]);
            let Some(server) = under_strace(&server, &["-o", "/dev/null", "-P", path, "-e", &inject]) else {
                return;
            };
            let server = Stdio::run(server);
            let mut arguments = arguments.clone();
            arguments["idempotency_key"] = json!("once");
            for _ in 0..2 {
                let refused = server.refused(tool, arguments.clone());
                assert!(refused.contains("it is not known whether"), "{tool} {error}: {refused}");
            }
            assert_eq!(folder.text("f"), "text\n");
        }
    }
}

#[test]
fn a_recursive_deletion_whose_first_answer_is_lost_says_so() {
    let Some((folder, _mount)) = behind_bindfs(&["f"]) else { return };
    std::fs::create_dir(folder.path().join("d")).expect("a folder");
    folder.write("d/inner", "text\n");
    let server = command(&folder, "stdio", &["--tools=filesystem"]);
    let faults = ["-o", "/dev/null", "-P", "inner", "-e", "inject=unlinkat:error=EIO"];
    let Some(server) = under_strace(&server, &faults) else { return };
    let refused = Stdio::run(server).refused("delete_file", json!({ "path": "d", "recursive": true }));
    assert!(refused.contains("it is not known whether"), "{refused}");
    assert_eq!(folder.text("d/inner"), "text\n");
}

#[test]
fn a_project_of_which_a_file_remains_says_so() {
    let folder = Folder::new();
    let server = command(&folder, "stdio", &["--tools=toolkit"]);
    // The second file cannot be put in place, and the first not be removed again.
    let faults = ["-e", "inject=renameat2:error=EIO:when=2", "-e", "inject=unlinkat:error=EIO"];
    let paths = ["-o", "/dev/null", "-P", "Makefile", "-P", "README.md"];
    let Some(server) = under_strace(&server, &[&paths[..], &faults[..]].concat()) else { return };
    let project = json!({
        "toolchain": "rust", "templates": ["makefile", "readme"], "parameters": { "project_name": "x" }, "write": true,
    });
    let refused = Stdio::run(server).refused("scaffold_project", project);
    assert!(refused.contains("could not be taken back"), "{refused}");
    assert_eq!(folder.names(), ["Makefile"]);
}

#[test]
fn a_file_that_is_moved_by_a_link_keeps_its_new_name_if_it_may_have_lost_the_old_one() {
    let Some((folder, _mount)) = behind_bindfs(&["f"]) else { return };
    let server = command(&folder, "stdio", &["--tools=filesystem"]);
    let faults = ["-e", "inject=renameat2:error=EINVAL", "-e", "inject=unlinkat:error=ENOTCONN"];
    let Some(server) = under_strace(&server, &[&["-o", "/dev/null", "-P", "f"], &faults[..]].concat()) else {
        return;
    };
    let refused = Stdio::run(server).refused("move_file", json!({ "source": "f", "destination": "g" }));
    assert!(refused.contains("it is not known whether"), "{refused}");
    assert_eq!((folder.text("f"), folder.text("g")), ("text\n".into(), "text\n".into()));
}
