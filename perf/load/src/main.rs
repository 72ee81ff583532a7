//! The load generator: asks servers over raw pipes and sockets, and says how long each answer took.
//!
//! - `load time`: a job on stdin (`job.rs`); every run of it is started, asked once, and its first answer is put into a
//!   file. The names of the runs whose outcome the caller found right come in on the next line; these are timed in turn.
//! - `load memory`: what processes hold while idle, at their peak and later.
//! - `load floor <what> …`: a process that only moves the bytes (`floor.rs`), to be asked like a server.
//!
//! It knows nothing of MCP, of tools or of who is measured: requests are lines and answers are lengths.

mod floor;
mod http;
mod job;
mod many;
mod memory;
mod rounds;
mod server;
mod stdio;

use std::io::{self, Write};
use std::process::ExitCode;

/// What went wrong, in words for the table.
type Outcome<T> = Result<T, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["time"] => rounds::run(),
        ["memory"] => memory::run(),
        ["floor", ref what @ ..] => floor::run(what),
        _ => Err("load time | load memory | load floor <what> …".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("load: {why}");
            ExitCode::FAILURE
        }
    }
}

/// One line of JSON to the caller.
fn say(what: &impl serde::Serialize) -> Outcome<()> {
    let line = serde_json::to_string(what).map_err(|why| why.to_string())?;
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|why| why.to_string())
}

/// The next line of JSON from the caller.
fn hear<T: serde::de::DeserializeOwned>() -> Outcome<T> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|why| why.to_string())?;
    serde_json::from_str(&line).map_err(|why| why.to_string())
}
