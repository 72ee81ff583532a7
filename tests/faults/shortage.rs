//! Starts with too few descriptors, too little memory, or no threads: one clear line and exit code 1, or a server (contract 2).

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::json;

use crate::support::{
    Ended, Folder, Http, MB, Mcp, Stdio, call, command, post_bytes, start_and_end, until, with_limit,
};

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
    not_under_wine!("wine takes no descriptors below a limit");
    const LIMITS: std::ops::RangeInclusive<u32> = 3..=40;
    for started in starts(LIMITS.map(|most| format!("-n {most}"))) {
        // Some starts succeed and some fail: the smallest number that is enough is in the range.
        assert!((1..LIMITS.count()).contains(&started), "{started}");
    }
}

#[test]
fn with_too_little_memory_a_start_ends_in_one_line() {
    not_under_wine!("wine takes no descriptors below a limit");
    // The smallest limit is one with which the program can be loaded: builds for tests are large.
    let program = command(&Folder::new(), "stdio", &[]);
    let loaded = std::fs::metadata(program.get_program()).expect("a program").len() as usize / MB;
    for started in starts((24.max(loaded + 8)..=256).step_by(8).map(|most| format!("-v {}", most * 1024))) {
        assert_eq!(started, 0);
    }
    for started in starts((512..=5_120).step_by(512).map(|most| format!("-v {}", most * 1024))) {
        assert!((1..10).contains(&started), "{started}");
    }
}

#[test]
fn with_a_limit_of_memory_a_server_works_within_it_or_does_not_start() {
    let folder = Folder::new();
    folder.write("f", "start\n");
    folder.write("large", "some text in a line\n".repeat(400_000));
    // One search at a time: on a busy machine the last waits long.
    let flags = ["--tools=filesystem,search", "--sync=none", "--timeout=60"];
    let server = command(&folder, "stdio", &flags);
    let mut worked = 0;
    for most in [150, 300, 500, 800, 1_500, 2_500, 4_096] {
        let limited = || with_limit(&server, &format!("-v {}", most * 1024));
        if !check(&format!("{most} MB"), &start_and_end(limited())) {
            continue;
        }
        worked += 1;
        let server = Stdio::run(limited());
        let mut lines = String::new();
        for n in 0..100 {
            let request = match n % 5 {
                0 => call(n, "read_text_file", json!({ "path": "large", "head": 10 })),
                1 => call(n, "grep", json!({ "pattern": "t.xt", "output_mode": "count" })),
                2 => call(n, "write_file", json!({ "path": format!("new-{n}"), "content": "a line\n" })),
                3 => call(n, "directory_tree", json!({ "path": "." })),
                _ => call(n, "read_text_file", json!({ "path": "f" })),
            };
            lines += &format!("{request}\n");
        }
        server.send_raw(lines.as_bytes());
        for n in 0..100 {
            let answer = server.answer_to(&json!(n));
            assert_eq!(answer["result"]["isError"], false, "{most} MB: {answer}");
        }
    }
    assert!(worked >= 1);
}

#[test]
fn with_a_limit_of_memory_answers_that_nobody_reads_do_not_end_the_server() {
    let folder = Folder::new();
    folder.write("f", "a line\n");
    folder.write("large", "some text in a line\n".repeat(9 * MB / 20));
    let server = command(&folder, "http", &["--port=0"]);
    for most in [1_500, 2_000, 3_000] {
        let limited = || with_limit(&server, &format!("-v {}", most * 1024));
        if !check(&format!("{most} MB"), &start_and_end(limited())) {
            continue;
        }
        let server = Http::run(limited());
        let read = json!({ "name": "large" });
        let ask = |_| {
            let mut connection = server.connect();
            connection.write(&post_bytes("/read_file", "", read.to_string().as_bytes()));
            connection
        };
        let mut unread: Vec<_> = (0..250).map(ask).collect();
        // Nothing is read but the heads.
        let heads = unread.iter_mut().map(|connection| connection.head().expect("a head"));
        let busy = heads.filter(|head| (head.status, head.header("retry-after")) == (503, Some("5"))).count();
        assert!((1..250).contains(&busy), "{most} MB: {busy} are told to try again");
        assert_eq!(server.post("/read_file", &json!({ "name": "f" })).status, 200);
        drop(unread);
        until("there is memory again", || server.post("/read_file", &read).status == 200);
    }
}

/// The server's command, with a copy of its program that every user may run. `None` for a user who cannot become another
/// one.
fn for_every_user(folder: &Folder, transport: &str, flags: &[&str]) -> Option<Command> {
    if !rustix::process::geteuid().is_root() {
        println!("SKIPPED: not root, so the threads of a user cannot be limited");
        return None;
    }
    let server = command(folder, transport, flags);
    let copy = folder.outside("file-editor");
    let copied = Command::new("cp").arg(server.get_program()).arg(&copy).status().expect("cp");
    assert!(copied.success());
    let mut own = Command::new(&copy);
    own.args(server.get_args());
    Some(own)
}

/// Runs `command` as a user without other processes: the limit of threads counts all of a user.
fn as_a_user_of_its_own(command: &mut Command, nth: u32) {
    let user = 1_000_000 + 2 * std::process::id() + nth;
    command.uid(user).gid(user);
    if std::env::var_os("LLVM_PROFILE_FILE").is_some() {
        command.env("LLVM_PROFILE_FILE", "/dev/null");
    }
}

#[test]
fn without_another_thread_to_be_had_calls_are_answered_and_edits_done() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    folder.write("f", "start\n");
    for path in [folder.path(), &folder.path().join("f")] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).expect("open to all");
    }
    let Some(own) = for_every_user(&folder, "stdio", &["--sync=none"]) else { return };
    let with_threads = |most: u32| {
        let mut limited = with_limit(&own, &format!("-p {most} 2>/dev/null || ulimit -u {most}"));
        as_a_user_of_its_own(&mut limited, 1);
        limited
    };
    let starts = |most: &u32| check("stdio", &start_and_end(with_threads(*most)));
    // Just enough for the start.
    let most = (1..10).find(starts).expect("a start");
    let server = Stdio::run(with_threads(most));
    for n in 0..20 {
        let edited = server.ok("edit_file", json!({ "name": "f", "append": n.to_string() }));
        assert!(edited.contains(&format!("Total lines: {}", n + 2)), "{edited}");
        assert!(server.ok("list_files", json!({})).contains("name: f"));
    }
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.pid())).expect("a process").count();
    assert_eq!(threads, most as usize);
    assert_eq!(folder.text("f").lines().count(), 21);
}

#[test]
fn without_a_thread_to_be_had_a_start_ends_in_one_line() {
    not_under_wine!("the server runs as another user, to whom the folder of wine does not belong");
    let folder = Folder::new();
    for transport in ["stdio", "http"] {
        let Some(own) = for_every_user(&folder, transport, &["--port=0", "--read-only"]) else { return };
        // Shells differ in the name of this limit.
        let mut limited = with_limit(&own, "-p 1 2>/dev/null || ulimit -u 1");
        as_a_user_of_its_own(&mut limited, 0);
        let ended = start_and_end(limited);
        assert!(!check(transport, &ended), "{transport}: the server starts without a thread");
    }
}

#[test]
fn a_program_that_cannot_start_for_lack_of_descriptors_is_not_called_missing() {
    not_under_wine!("wine takes no descriptors below a limit");
    let folder = Folder::new();
    folder.write("a.py", "def f():\n    return 1\n");
    let own = command(&folder, "stdio", &["--tools=analyze_complexity"]);
    let mut blamed = 0;
    for most in 8..=30 {
        let limited = || with_limit(&own, &format!("-n {most}"));
        if start_and_end(limited()).code != Some(0) {
            continue;
        }
        let server = Stdio::run(limited()).ready();
        let result = server.tool("analyze_complexity", json!({ "project_path": ".", "toolchain": "python" }));
        assert!(!result.text.contains("must lie in the folder"), "{most}: {}", result.text);
        blamed += usize::from(result.text.contains("ulimit -n"));
    }
    assert!(blamed > 0, "no number of descriptors is too small for the program alone");
}
