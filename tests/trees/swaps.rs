//! A folder that another process swaps for a link out of the tree and back, while all tools work in it: nothing outside is
//! ever read, changed or created (contract 8, 12).

use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, RenameFlags};
use serde_json::{Value, json};

use super::{SET, make, put, tree};
use crate::support::{Folder, Mcp, Random, Stdio, command, while_others, with_injected};

/// `sub` is a link to the folder outside for a moment. It is never missing, as calls would create it then.
fn swap(path: &Path) {
    let (sub, aside) = (path.join("sub"), path.join("aside"));
    for _ in 0..2 {
        rustix::fs::renameat_with(CWD, &sub, CWD, &aside, RenameFlags::EXCHANGE).expect("exchanged");
    }
}

/// The next call, all of which work in `sub`.
fn call(random: &mut Random, n: u64) -> (&'static str, Value) {
    let edits = json!([{ "oldText": "inside", "newText": "inside" }]);
    match random.below(12) {
        0 | 1 => ("read_text_file", json!({ "path": "sub/f" })),
        2 => ("read_multiple_files", json!({ "paths": ["sub/f", "sub/in/g"] })),
        3 => ("list_directory", json!({ "path": "sub", "depth": 3 })),
        4 => ("search_files", json!({ "path": "sub", "pattern": "**" })),
        5 => ("get_file_info", json!({ "path": "sub/f" })),
        6 => ("write_file", json!({ "path": format!("sub/w{n}"), "content": "inside\n" })),
        7 => ("edit_file", json!({ "path": "sub/f", "edits": edits })),
        8 => ("create_directory", json!({ "path": format!("sub/d{n}/e") })),
        9 => ("copy_file", json!({ "source": "sub/f", "destination": format!("sub/c{n}") })),
        10 => (
            "move_file",
            json!({ "source": format!("sub/w{}", random.below(n + 1)), "destination": format!("sub/in/m{n}") }),
        ),
        _ => ("delete_file", json!({ "path": format!("sub/d{}", random.below(n + 1)), "recursive": true })),
    }
}

fn works_in_a_swapped_folder(calls: u64, server: impl FnOnce(&Folder) -> Option<Stdio>) {
    let folder = Folder::new();
    put(&folder, "sub/f", "inside\n");
    put(&folder, "sub/in/g", "inside\n");
    let outside = folder.outside("outside");
    std::fs::create_dir_all(outside.join("in")).expect("folders");
    for name in ["f", "in/g", "leaked-name"] {
        std::fs::write(outside.join(name), "the secret\n").expect("a file");
    }
    // What the calls may try to delete or to move.
    for n in 0..calls / 8 {
        std::fs::create_dir_all(outside.join(format!("d{n}/e"))).expect("folders");
        std::fs::write(outside.join(format!("w{n}")), "the secret\n").expect("a file");
    }
    make(&folder, "sub/d0");
    folder.link("aside", "../outside");
    let before = tree(&outside);
    let Some(server) = server(&folder) else { return };
    let (mut random, mut swaps, mut done, mut failed) = (Random::new(), 0_u64, 0, 0);
    while_others(
        || {
            swap(folder.path());
            swaps += 1;
        },
        || {
            for n in 0..calls {
                let (tool, arguments) = call(&mut random, n);
                let answer = server.rpc("tools/call", json!({ "name": tool, "arguments": arguments }));
                let text = answer.to_string();
                assert!(
                    !text.contains("the secret") && !text.contains("leaked-name"),
                    "{tool} {arguments}: {text}"
                );
                let is_error = answer["result"]["isError"] == json!(true);
                (done, failed) = (done + u64::from(!is_error), failed + u64::from(is_error));
            }
        },
    );
    println!("{calls} calls during {swaps} swaps: {done} done, {failed} refused");
    assert!(swaps > 100 && done > calls / 20 && failed > 0, "{swaps} {done} {failed}");
    assert!(tree(&outside) == before, "something outside was changed");
}

#[test]
fn no_tool_reads_or_changes_anything_outside_through_a_swapped_folder() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    works_in_a_swapped_folder(4_000, |folder| Some(Stdio::start(folder, &[SET, "--sync=none"]).ready()));
}

#[test]
fn nor_where_the_kernel_has_no_openat2() {
    not_under_wine!("wine shows links of this machine as what they lead to, and opens nothing through most");
    works_in_a_swapped_folder(800, |folder| {
        let command: Command = command(folder, "stdio", &[SET, "--sync=none"]);
        with_injected(&command, "openat2:error=ENOSYS").map(|command| Stdio::run(command).ready())
    });
}
