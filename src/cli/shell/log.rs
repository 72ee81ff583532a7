//! `log` and `changes`: what was changed, for people and for programs.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::arguments::{Changes, Log};
use super::call::Place;
use super::{NOTHING, failed};
use crate::cli::Stop;
use crate::tools::timestamp;
use engine::{ChangeLog, ChangeNumber, Workspace};
use journal::{Change, Step};
use text::shown::shown_line;

/// How often `--follow` looks for new changes.
const AGAIN: Duration = Duration::from_millis(200);

/// Paths of one change that are told.
const TOLD_PATHS: usize = 3;

/// Units of an age: the least seconds, the seconds of one, and its name.
const AGES: [(u64, u64, &str); 4] =
    [(86_400, 86_400, "day"), (3_600, 3_600, "hour"), (60, 60, "minute"), (0, 1, "second")];

/// The arguments of `changes`: one change, or those since then; from the first that is kept, if the command line does not say.
pub(super) fn changes(wanted: &Changes) -> Value {
    let mut arguments = json!(wanted);
    arguments["diff"] = json!(!wanted.no_diff);
    match (&wanted.change, &wanted.since) {
        (Some(change), _) => arguments["change"] = json!(change),
        // A command has no session of its own.
        (None, None) => arguments["since"] = json!("c0"),
        _ => {}
    }
    arguments
}

/// `log`: a line a change.
pub(super) fn run(wanted: &Log, place: &Place, as_json: bool) -> Result<u8, Stop> {
    let unread = |error: io::Error| Stop::Wrong(format!("the journal cannot be read: {error}"));
    let no_journal = || Stop::Wrong("there is no journal (--journal=off): nothing is logged".into());
    let log = place.workspace.change_log().ok_or_else(no_journal)?;
    let numbers = log.numbers().map_err(unread)?;
    let first = numbers.len().saturating_sub(wanted.limit);
    let look = Look { is_terminal: io::stdout().is_terminal(), as_json, workspace: &place.workspace };
    let is_read = print_all(log, &numbers[first..], look).map_err(unread)?.is_some();
    if wanted.follow && is_read {
        follow(log, numbers.last().copied().unwrap_or(0), look).map_err(unread)?;
    }
    Ok(if numbers.is_empty() { NOTHING } else { 0 })
}

/// Prints changes behind `last` as they come, until nobody reads any more.
fn follow(log: &ChangeLog, mut last: ChangeNumber, look: Look) -> io::Result<()> {
    loop {
        std::thread::sleep(AGAIN);
        let new: Vec<ChangeNumber> = log.numbers()?.into_iter().filter(|number| *number > last).collect();
        last = new.last().copied().unwrap_or(last);
        if print_all(log, &new, look)?.is_none() {
            return Ok(());
        }
    }
}

/// How changes are told.
#[derive(Debug, Clone, Copy)]
struct Look<'w> {
    /// Times are ages, and ids have a colour.
    is_terminal: bool,
    as_json: bool,
    /// Knows how paths are told, and which are not.
    workspace: &'w Workspace,
}

/// Prints changes. `None`: nobody reads any more.
fn print_all(log: &ChangeLog, numbers: &[ChangeNumber], look: Look) -> io::Result<Option<()>> {
    let mut out = io::stdout().lock();
    for number in numbers {
        let Some(change) = log.read(*number)? else { continue };
        let line = if look.as_json {
            told_as_json(*number, &change, look.workspace).to_string()
        } else {
            told(*number, &change, look)
        };
        match writeln!(out, "{line}") {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
            Err(error) => {
                failed(&format!("cannot write to stdout: {error}"));
                return Ok(None);
            }
        }
    }
    out.flush().map(Some)
}

fn told(number: ChangeNumber, change: &Change, look: Look) -> String {
    let time =
        if look.is_terminal { age(change.time_ms) } else { timestamp((change.time_ms / 1_000) as i64) };
    let id = if look.is_terminal { format!("\u{1b}[33mc{number}\u{1b}[0m") } else { format!("c{number}") };
    let client = if change.author.client.is_empty() {
        "?".into()
    } else {
        shown_line(change.author.client.as_bytes())
    };
    let undoes = change.undoes.map_or(String::new(), |undone| format!(" of c{undone}"));
    let message = match shown_line(change.message.as_bytes()) {
        text if text.is_empty() => String::new(),
        text => format!(": {text}"),
    };
    let paths = paths(change, look.workspace);
    let more = paths.len().saturating_sub(TOLD_PATHS);
    let mut files = paths[..paths.len() - more].join(", ");
    if more > 0 {
        files.push_str(&format!(" and {more} more"));
    }
    format!("{id}  {time}  {client}  {}{undoes}  {files}{message}", change.tool)
}

fn told_as_json(number: ChangeNumber, change: &Change, workspace: &Workspace) -> Value {
    json!({
        "id": format!("c{number}"),
        "time": timestamp((change.time_ms / 1_000) as i64),
        "client": change.author.client,
        "session": change.author.session,
        "tool": change.tool,
        "message": change.message,
        "undoes": change.undoes.map(|undone| format!("c{undone}")),
        "undoable": change.not_undoable.is_empty(),
        "files": paths(change, workspace),
    })
}

/// The paths that a change has touched, each once: of what is served.
fn paths(change: &Change, workspace: &Workspace) -> Vec<String> {
    let files = change.files.iter().map(|file| &file.at);
    let steps = change.steps.iter().map(|step| match step {
        Step::Folder { at } | Step::New { at, .. } | Step::Link { at, .. } | Step::Deleted { at, .. } => at,
        Step::Moved { to, .. } => to,
    });
    let mut paths: Vec<String> = files.chain(steps).filter_map(|at| workspace.told_of(change, at)).collect();
    text::order::sort_by(&mut paths, Ord::cmp);
    paths.dedup();
    paths
}

/// How long ago a change was made.
fn age(time_ms: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    let seconds = now.saturating_sub(time_ms) / 1_000;
    let unit = AGES.iter().find(|(least, ..)| seconds >= *least);
    let (_, of_one, name) = unit.copied().unwrap_or(AGES[3]);
    let number = seconds / of_one;
    format!("{number} {name}{} ago", if number == 1 { "" } else { "s" })
}
