//! The commands for a shell (contract 23): the tools of the set `agent` from the command line, without a server, on the same engine, locks
//! and journal.
//!
//! A command is a dialect of a tool: its flags are the tool's arguments, and its output is the tool's answer. Exit codes are those of
//! grep: 0; 1, nothing was found or nothing had to change; 2, an error.

mod arguments;
mod call;
mod grep;
mod grep_flags;
mod log;
mod output;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use serde_json::{Value, json};

use self::arguments::{Command, Shell};
use self::call::Place;
use super::Stop;

/// The first words of the command line that are commands. A folder of such a name is served as `./name`.
pub const COMMANDS: [&str; 8] = ["files", "grep", "read", "edit", "replace", "changes", "undo", "log"];

/// Exit code: nothing was found, or nothing had to change.
const NOTHING: u8 = 1;
/// Exit code: an error.
const ERROR: u8 = 2;

/// The commands with their flags, for completions and man pages.
pub fn commands() -> Vec<clap::Command> {
    Shell::command().get_subcommands().cloned().collect()
}

/// Whether a command line is that of a command.
pub fn is_command(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.nth(1).is_some_and(|word| COMMANDS.iter().any(|command| OsStr::new(command) == word))
}

/// Runs the command of a command line. Errors are printed.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match parse(arguments).and_then(carry_out) {
        Ok(code) => code,
        Err(Stop::Asked(answer)) => match super::printed(answer.print()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(line) => failed(&line),
        },
        Err(Stop::Wrong(line)) => failed(&line),
        // Only the server's flags ask for it.
        Err(Stop::Entry(_)) => ExitCode::from(ERROR),
    }
}

fn failed(line: &str) -> ExitCode {
    super::say_wrong(line);
    ExitCode::from(ERROR)
}

fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Shell, Stop> {
    let mut command = Shell::command();
    let matches = command.try_get_matches_from_mut(arguments).map_err(super::stop)?;
    Shell::from_arg_matches(&matches).map_err(super::stop)
}

fn carry_out(shell: Shell) -> Result<ExitCode, Stop> {
    let Shell { command, common } = shell;
    let place = Place::open(&common)?;
    let call = |tool, arguments: Value| place.call(tool, &arguments).map(|answer| answer.print(common.json));
    match command {
        Command::Files(files) => call("files", json!(files)),
        Command::Grep(flags) => grep::run(&flags, &place, common.json),
        Command::Read(read) => call("read", json!(read)),
        Command::Edit(edit) => {
            let arguments = call::with_input(json!(edit), &edit.input)?;
            call("edit", arguments)
        }
        Command::Replace(replace) => call("replace", json!(replace)),
        Command::Changes(changes) => log::changes(&changes, &place, common.json),
        Command::Undo(undo) => call("undo", json!(undo)),
        Command::Log(wanted) => log::run(&wanted, &place, common.json),
    }
}
