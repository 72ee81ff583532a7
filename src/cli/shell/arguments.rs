//! The arguments of the commands for a shell. Those of a command that a tool carries out have the names of the tool's arguments, and become
//! its call as they are.
//!
//! Knows no files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand, ValueHint};
use serde::Serialize;

use super::grep_flags::GrepFlags;
use crate::cli::{Config, Stop};

/// Text files from a shell: find, read, change them, and take changes back.
#[derive(Debug, Parser)]
#[command(name = "file-editor", version, max_term_width = 100, disable_help_subcommand = true)]
pub(super) struct Shell {
    #[command(subcommand)]
    pub(super) command: Command,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What all commands take. All but the first two are flags of the server, with its words and bounds.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// The folder to work in, whose files have paths relative to it
    #[arg(long, global = true, value_name = "PATH", default_value = ".", value_hint = ValueHint::DirPath)]
    dir: OsString,
    /// Print one JSON object, for programs
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// The folder of the journal of changes, or off
    #[arg(long, global = true, value_name = "PATH", value_hint = ValueHint::DirPath)]
    journal: Option<OsString>,
    /// Paths that are not seen, read or changed, as a pattern of gitignore; may be given several times
    #[arg(long, global = true, value_name = "GLOB")]
    exclude: Vec<OsString>,
    /// Longest time, in seconds, 1-300
    #[arg(long, global = true, value_name = "SECONDS", default_value = "300")]
    timeout: OsString,
    /// full: a change is on the disk before the command ends; none: it survives a crash, but perhaps not a power loss
    #[arg(long, global = true, value_name = "WHEN", default_value = "full")]
    sync: OsString,
}

impl Common {
    /// The settings of a server that does the same.
    pub(super) fn config(&self) -> Result<Config, Stop> {
        Config::parse_from_args(self.as_of_server())
    }

    /// The same command in this folder, with this journal, whatever the process has as its own.
    #[cfg(unix)]
    pub(super) fn work_in(&mut self, folder: &Path, journal: &Path) {
        self.dir = folder.into();
        self.journal = Some(journal.into());
    }

    fn as_of_server(&self) -> Vec<OsString> {
        let flag = |name: &str, value: &OsString| {
            let mut flag = OsString::from(name);
            flag.push(value);
            flag
        };
        let mut flags = vec!["file-editor".into(), "--answer-tokens=0".into(), "--tools=agent".into()];
        flags.extend([
            flag("--dir=", &self.dir),
            flag("--timeout=", &self.timeout),
            flag("--sync=", &self.sync),
        ]);
        flags.extend(self.journal.iter().map(|journal| flag("--journal=", journal)));
        flags.extend(self.exclude.iter().map(|glob| flag("--exclude=", glob)));
        flags
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// The tree, one line a folder; with a pattern, the paths of files
    Files(Files),
    /// Lines that match a regular expression, as ripgrep prints them
    Grep(Box<GrepFlags>),
    /// Texts of files; a path may carry its lines, as in src/a.rs:120-180
    Read(Read),
    /// Changes files as a patch or JSON on standard input says: all of it, or nothing
    Edit(Edit),
    /// Replaces text in many files: all of it, or nothing
    Replace(Replace),
    /// What is defined where: first line, last line and signature
    Outline(Outline),
    /// What has changed, and who changed it
    Changes(Changes),
    /// Takes a change back; an undo, too
    Undo(Undo),
    /// The changes of all clients, the last ones last
    Log(Log),
}

impl Command {
    /// Where it reads its input from, if it has one.
    pub(super) fn input(&self) -> Option<&Path> {
        match self {
            Command::Edit(edit) => Some(&edit.input),
            _ => None,
        }
    }

    /// Whether it may change something.
    #[cfg(unix)]
    pub(super) fn writes(&self) -> bool {
        matches!(self, Command::Edit(_) | Command::Replace(_) | Command::Undo(_))
    }
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Outline {
    /// File or folder
    path: Option<String>,
    /// Only files that this glob matches
    #[arg(long, value_name = "GLOB")]
    pattern: Option<String>,
    /// Only definitions of this name, such as get or Store::get
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only definitions of this kind, such as function or class
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only what others may use
    #[arg(long)]
    public: bool,
    /// place, length or name
    #[arg(long, value_name = "ORDER")]
    sort: Option<String>,
    /// The most definitions
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Files {
    /// A glob, a name, or a folder's name
    pattern: Option<String>,
    /// Folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Levels of folders
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// path, modified or size
    #[arg(long, value_name = "ORDER")]
    sort: Option<String>,
    /// The most entries
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Also hidden files
    #[arg(long)]
    hidden: bool,
    /// Also what git ignores
    #[arg(long)]
    ignored: bool,
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Read {
    /// Files
    #[arg(required = true, value_name = "PATH[:LINES]")]
    paths: Vec<String>,
    /// Lines, such as 120-180 or 120-
    #[arg(long, value_name = "RANGE")]
    lines: Option<String>,
    /// A definition of the only file, such as Store::get
    #[arg(long, value_name = "NAME")]
    symbol: Option<String>,
    /// The last lines
    #[arg(long, value_name = "N")]
    tail: Option<u64>,
    /// Each line behind its number
    #[arg(short = 'n', long)]
    line_numbers: bool,
    /// The encoding of the files, or auto
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Edit {
    /// A file with the patch or JSON; - for standard input
    #[arg(default_value = "-", value_name = "FILE")]
    #[serde(skip)]
    pub(super) input: PathBuf,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
    /// Show a diff
    #[arg(long)]
    diff: bool,
    /// What it is for, kept with the change
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Replace {
    /// Regular expression
    pattern: String,
    /// The text in its place; $1 or ${name} for what a group matched
    replacement: String,
    /// Folder or file
    path: Option<String>,
    /// Only files that match; !GLOB leaves out. May be given several times
    #[arg(short, long, value_name = "GLOB")]
    glob: Vec<String>,
    /// Only files of this type, such as rust or py
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    r#type: Vec<String>,
    /// Pattern and replacement are text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Upper and lower case are the same
    #[arg(short, long)]
    ignore_case: bool,
    /// Whole words
    #[arg(short, long = "word-regexp")]
    word: bool,
    /// A match may span lines
    #[arg(short = 'U', long)]
    multiline: bool,
    /// The replacement follows the case of each match
    #[arg(long)]
    preserve_case: bool,
    /// The encoding of the files, where it cannot be told
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// Change nothing if there is another number of places
    #[arg(long, value_name = "N")]
    expected: Option<u64>,
    /// Only list the places
    #[arg(long)]
    dry_run: bool,
    /// What it is for, kept with the change
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Changes {
    /// A change such as 41 or c41, to see it alone
    #[serde(skip)]
    pub(super) change: Option<String>,
    /// From when on: a change (what came after it), a time (RFC 3339), an age such as 10m or 2h, or HEAD
    #[arg(long, conflicts_with = "change")]
    pub(super) since: Option<String>,
    /// Only this file or folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Without diffs
    #[arg(long)]
    #[serde(skip)]
    pub(super) no_diff: bool,
    /// Lines around each change in diffs
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<u64>,
}

#[derive(Debug, Args, Serialize)]
pub(super) struct Undo {
    /// The change, such as 41 or c41; the last one of the command line, if none is given
    change: Option<String>,
    /// Only this file or folder
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct Log {
    /// The most changes, the last ones
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(super) limit: usize,
    /// Go on with changes as they come
    #[arg(short, long)]
    pub(super) follow: bool,
}
