//! The tool `exec`: what it answers, which processes it leaves, who may use it (contract 15).

mod access;
mod answers;
mod inherited;
mod processes;
mod turns;

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Folder, Http, Mcp, Stdio, each_transport, until_or};

/// The flags that offer exec. `search` is there for a tool that reads.
const FLAGS: &[&str] = &["--tools=search,text.exec", "--allow-exec"];

/// The token of the servers over HTTP.
const TOKEN: &str = "the-token-of-the-tests";

/// A server on stdio that offers exec.
fn stdio(folder: &Folder, flags: &[&str]) -> Stdio {
    Stdio::start(folder, &[FLAGS, flags].concat()).ready()
}

/// A server over HTTP that offers exec, with a client that has its token.
fn http(folder: &Folder, flags: &[&str]) -> Http {
    let file = folder.outside("token");
    std::fs::write(&file, TOKEN).expect("a token");
    let token = format!("--auth-token-file={}", file.display());
    let server = Http::start(folder, &[FLAGS, &[token.as_str()], flags].concat());
    server.add_header("Authorization", &format!("Bearer {TOKEN}"));
    server
}

/// Runs one test body over stdio and over HTTP, each with a server and a folder of its own.
fn on_both(flags: &[&str], test: impl Fn(&dyn Mcp, &Folder) + Sync) {
    each_transport(|is_http| {
        let folder = Folder::new();
        if is_http { test(&http(&folder, flags), &folder) } else { test(&stdio(&folder, flags), &folder) }
    });
}

/// The arguments of a call.
fn command(command: &str) -> Value {
    json!({ "command": command })
}

/// The text of a command that was run, without the line that tells its time.
#[track_caller]
fn run(server: &dyn Mcp, arguments: Value) -> String {
    let text = server.ok("exec", arguments);
    let (first, rest) = text.split_once('\n').expect("a second line");
    let (time, rest) = rest.split_once('\n').expect("a third line");
    let seconds = time.strip_prefix("Time: ").and_then(|time| time.strip_suffix(" s")).map(str::parse::<f64>);
    assert!(matches!(seconds, Some(Ok(_))), "{text}");
    format!("{first}\n{rest}")
}

/// Standard output of a command that succeeds and writes nothing to standard error.
#[track_caller]
fn stdout_of(server: &dyn Mcp, arguments: Value) -> String {
    let text = run(server, arguments);
    let stdout = text
        .strip_prefix("Exit code: 0\n\nstdout:\n")
        .and_then(|rest| rest.strip_suffix("\n\nstderr: empty"));
    stdout.unwrap_or_else(|| panic!("{text}")).to_owned()
}

/// The process whose number a command has written to a file.
fn process_in(folder: &Folder, name: &str) -> u32 {
    let path = folder.path().join(name);
    let mut process = None;
    until_or(
        || format!("no process in {name}"),
        || {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            process = text.strip_suffix('\n').and_then(|number| number.parse().ok());
            process.is_some()
        },
    );
    process.expect("a process")
}

/// Whether a process runs. One that has ended and was not waited for does not.
fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// Returns when none of these processes runs.
#[track_caller]
fn until_ended(processes: &[u32]) {
    until_or(
        || {
            format!(
                "{processes:?} run: {:?}",
                processes.iter().map(|process| runs(*process)).collect::<Vec<_>>()
            )
        },
        || processes.iter().all(|process| !runs(*process)),
    );
}

/// Ends a process that a test has left running on purpose.
fn kill(process: u32) {
    assert!(runs(process) && Path::new("/proc").exists(), "{process} runs");
    let process = rustix::process::Pid::from_raw(process as i32).expect("a process");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
}
