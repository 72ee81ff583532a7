//! Starts with too few descriptors, too little memory, or no threads: one clear line and exit code 1, or a server (SPEC 2).

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::{Ended, Folder, command, start_and_end, with_limit};

/// Asserts that the server was ready and ended with code 0, or ended with code 1 and one line. Returns whether it was
/// ready.
#[track_caller]
fn check(what: &str, ended: &Ended) -> bool {
    let Ended { code, stdout, stderr } = ended;
    assert_eq!(stdout, "", "{what}");
    assert!(!stderr.contains("panic") && !stderr.contains("memory allocation"), "{what}: {stderr}");
    if *code == Some(0) {
        assert!(stderr.contains(" ready "), "{what}: {stderr}");
        return true;
    }
    // A build that is not static (for the line coverage) may fail in the loader.
    if *code == Some(127) && stderr.contains("error while loading shared libraries") {
        return false;
    }
    assert_eq!((*code, stderr.lines().count()), (Some(1), 1), "{what}: {stderr}");
    assert!(stderr.starts_with("file-editor: cannot start: ") && stderr.ends_with('\n'), "{what}: {stderr}");
    assert!(stderr.contains("ulimit"), "the line does not name the limit: {stderr}");
    false
}

/// Starts both transports under each of these limits. Returns how many starts of each succeeded.
fn starts(limits: impl Iterator<Item = String> + Clone) -> [usize; 2] {
    let folder = Folder::new();
    let outcome = ["stdio", "http"].map(|transport| {
        let flags: &[&str] = if transport == "http" { &["--port=0"] } else { &[] };
        let server = command(&folder, transport, flags);
        let start = |limit: &String| {
            check(&format!("{transport}, {limit}"), &start_and_end(with_limit(&server, limit)))
        };
        limits.clone().filter(start).count()
    });
    assert_eq!(folder.names(), [""; 0]);
    outcome
}

#[test]
fn with_too_few_descriptors_a_start_ends_in_one_line() {
    const LIMITS: std::ops::RangeInclusive<u32> = 3..=40;
    for started in starts(LIMITS.map(|most| format!("-n {most}"))) {
        // Some starts succeed and some fail: the smallest number that is enough is in the range.
        assert!((1..LIMITS.count()).contains(&started), "{started}");
    }
}

#[test]
fn with_too_little_memory_a_start_ends_in_one_line() {
    // The smallest limit is one with which the program can be loaded.
    for started in starts((16..=256).step_by(8).map(|most| format!("-v {}", most * 1024))) {
        assert!((1..=30).contains(&started), "{started}");
    }
}

#[test]
fn without_a_thread_to_be_had_a_start_ends_in_one_line() {
    if !rustix::process::geteuid().is_root() {
        println!("not root: a user of its own cannot be had, threads are not limited");
        return;
    }
    let folder = Folder::new();
    // A user without other processes: the limit counts all processes of a user.
    let user = 1_000_000 + std::process::id();
    for transport in ["stdio", "http"] {
        let server = command(&folder, transport, &["--port=0", "--read-only"]);
        let copy = folder.outside("file-editor");
        let copied = Command::new("cp").arg(server.get_program()).arg(&copy).status().expect("cp");
        assert!(copied.success());
        let mut own = Command::new(&copy);
        own.args(server.get_args());
        // Shells differ in the name of this limit.
        let mut limited = with_limit(&own, "-p 1 2>/dev/null || ulimit -u 1");
        limited.uid(user).gid(user);
        if std::env::var_os("LLVM_PROFILE_FILE").is_some() {
            limited.env("LLVM_PROFILE_FILE", "/dev/null");
        }
        let ended = start_and_end(limited);
        assert!(!check(transport, &ended), "{transport}: the server starts without a thread");
    }
}
