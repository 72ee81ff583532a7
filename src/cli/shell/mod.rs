//! The commands for a shell (contract 23): the tools of the set `agent` from the command line, without a server, on the same engine, locks
//! and journal.
//!
//! A command is a dialect of a tool: its flags are the tool's arguments, and its output is the tool's answer. Exit codes are those of
//! grep: 0; 1, nothing was found or nothing had to change; 2, an error.

mod arguments;
#[cfg(unix)]
mod ask;
mod call;
mod grep;
mod grep_flags;
#[cfg(unix)]
mod listener;
mod log;
mod other_flags;
mod output;
#[cfg(unix)]
mod socket;

use std::ffi::{OsStr, OsString};
use std::io::{self, BufWriter};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{CommandFactory, FromArgMatches};
use serde_json::{Value, json};

use self::arguments::{Command, Shell};
use self::call::Place;
#[cfg(unix)]
pub use self::listener::Listener;
use self::output::{AT_ONCE, Streams};
use super::Stop;

/// The first words of the command line that are commands. A folder of such a name is served as `./name`.
pub const COMMANDS: [&str; 9] =
    ["files", "grep", "read", "edit", "replace", "outline", "changes", "undo", "log"];

/// What the journal says of the client of all commands.
const CLIENT: &str = concat!("file-editor ", env!("CARGO_PKG_VERSION"), ", command line");

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
    let words: Vec<OsString> = arguments.collect();
    let mut out = BufWriter::with_capacity(AT_ONCE, io::stdout());
    let mut err = io::stderr();
    let streams = Streams { out: &mut out, err: &mut err };
    match parse(words.clone()).and_then(|shell| answer(shell, words, streams)) {
        Ok(code) => ExitCode::from(code),
        Err(Stop::Asked(answer)) => match super::printed(answer.print()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(line) => ExitCode::from(failed(&line)),
        },
        Err(Stop::Wrong(line)) => ExitCode::from(failed(&line)),
        // Only the server's flags ask for it.
        Err(Stop::Entry(_)) => ExitCode::from(ERROR),
    }
}

fn failed(line: &str) -> u8 {
    super::say_wrong(line);
    ERROR
}

fn parse(words: Vec<OsString>) -> Result<Shell, Stop> {
    let mut command = Shell::command();
    let is_grep = words.get(1).is_some_and(|word| word == "grep");
    let refused = |error: clap::Error| match other_flags::refusal(&error).filter(|_| is_grep) {
        Some(line) => Stop::Wrong(line),
        None => super::stop(error),
    };
    let matches = command.try_get_matches_from_mut(words).map_err(refused)?;
    Shell::from_arg_matches(&matches).map_err(super::stop)
}

/// Carries a command out, by a server of its folder if there is one. Returns the exit code.
fn answer(shell: Shell, words: Vec<OsString>, streams: Streams) -> Result<u8, Stop> {
    let Shell { command, common } = shell;
    let input = command.input().map(call::read_input).transpose()?;
    let config = common.config()?;
    let client = client();
    #[cfg(unix)]
    let mut streams = streams;
    #[cfg(unix)]
    let heard = match ask::answer(&command, &config, (words, &input, &client), &mut streams)? {
        ask::Answered::With(code) => return Ok(code),
        ask::Answered::UpTo(heard) => heard,
    };
    #[cfg(not(unix))]
    let _ = words;
    let place = Place::open(&config, client)?;
    #[cfg(unix)]
    let mut out = heard.behind(streams.out);
    #[cfg(unix)]
    let streams = Streams { out: &mut out, err: streams.err };
    carry_out(command, &place, (common.json, input), streams)
}

/// Carries a command out in its place. Returns the exit code.
fn carry_out(
    command: Command,
    place: &Place,
    (as_json, input): (bool, Option<String>),
    mut streams: Streams,
) -> Result<u8, Stop> {
    let mut call = |tool, arguments: Value| {
        place.call(tool, &arguments).map(|answer| answer.print(as_json, &mut streams))
    };
    match command {
        Command::Files(files) => call("files", json!(files)),
        Command::Grep(flags) => grep::run(&flags, place, as_json, &mut streams),
        Command::Read(read) => call("read", json!(read)),
        Command::Edit(edit) => {
            call("edit", call::with_input(json!(edit), input.unwrap_or_default(), &edit.input)?)
        }
        Command::Replace(replace) => call("replace", json!(replace)),
        Command::Outline(outline) => call("outline", json!(outline)),
        Command::Changes(changes) => call("changes", log::changes(&changes)),
        Command::Undo(undo) => call("undo", json!(undo)),
        Command::Log(wanted) => log::run(&wanted, place, as_json),
    }
}

/// As whom the journal knows this command: no other one has its process at its time.
fn client() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{CLIENT} ({}.{})", std::process::id(), now.as_millis() % 1_000_000)
}
