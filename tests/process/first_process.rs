//! A server that is the first process of a container: it takes the ends of orphans, and not those of its commands.

use std::process::Command;

use serde_json::json;

use crate::support::{Folder, Mcp, Stdio, command, until_or};

/// The children of a process, ended ones too.
fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn the_first_process_takes_the_ends_of_orphans() {
    not_under_wine!("is of the first process of a container");
    let folder = Folder::new();
    let binary = command(&folder, "stdio", &["--tools=text", "--allow-exec"]);
    let apart = ["-p", "-f", "--mount-proc", "--kill-child"];
    if !Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
        return println!("SKIPPED: processes cannot have numbers of their own here");
    }
    let mut unshare = Command::new("unshare");
    unshare.args(apart).arg(binary.get_program()).args(binary.get_args());
    let server = Stdio::run(unshare);
    server.wait_for_stderr(" ready ");
    let first = *children(server.pid()).first().expect("the server is a child");
    let orphan = Command::new("nsenter")
        .args(["-t", &first.to_string(), "-p", "-m", "sh", "-c", "sleep 0.5 & echo started"])
        .stdout(std::process::Stdio::null())
        .status();
    assert!(orphan.expect("nsenter").success());
    until_or(|| "no orphan came", || !children(first).is_empty());
    for code in 0..5 {
        let ended = server.tool("exec", json!({ "command": format!("exit {code}") }));
        assert!(ended.texts.concat().contains(&code.to_string()), "{:?}", ended.texts);
    }
    until_or(|| format!("{:?} are left", children(first)), || children(first).is_empty());
}
