//! The load generator: sends requests over raw pipes and sockets, and measures the time of each answer.
//!
//! - `load time`: reads a job (`job.rs`) from stdin. Starts each run, sends one request and writes the first
//!   answer to a file. The next line of input names the runs whose answer is right; these are timed in turn.
//! - `load memory`: the memory of processes while idle, at their peak and later.
//! - `load floor <what> …`: a process that only moves the bytes (`floor.rs`) and gets requests like a server.
//! - `load delayed <folder> <mount> <microseconds>`: a file system whose every answer waits (`delayed.rs`).
//!
//! Knows nothing of MCP, tools or the servers: requests are lines, and answers are lengths.

mod delayed;
mod floor;
mod http;
mod job;
mod many;
mod memory;
mod rounds;
mod server;
mod stdio;
mod tree;

use std::io::{self, Write};
use std::process::ExitCode;

/// An error is a text for the table.
type Outcome<T> = Result<T, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["time"] => rounds::run(),
        ["memory"] => memory::run(),
        ["floor", ref what @ ..] => floor::run(what),
        ["delayed", folder, mount, microseconds] => delayed::run(folder, mount, microseconds),
        _ => Err("load time | load memory | load floor <what> … | load delayed <folder> <mount> <µs>".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("load: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Writes one line of JSON to the caller.
fn say(what: &impl serde::Serialize) -> Outcome<()> {
    let line = serde_json::to_string(what).map_err(|why| why.to_string())?;
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|why| why.to_string())
}

/// Reads the next line of JSON from the caller.
fn hear<T: serde::de::DeserializeOwned>() -> Outcome<T> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|why| why.to_string())?;
    serde_json::from_str(&line).map_err(|why| why.to_string())
}
