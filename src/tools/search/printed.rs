//! What the command `grep` prints (contract 23): the lines that ripgrep prints to a pipe.
//!
//! Knows no command line and no streams: it writes to what it is given. The search is that of the tool `grep`.

mod events;
mod lines;
mod passages;

use std::io::{self, Write};
use std::path::Path;

use self::events::Events;
use self::lines::LinePrinter;
use super::grep::{Chosen, Globs, balance};
use crate::tools::pattern_text::{WaysOut, wrong};
use engine::{FoundFile, SearchOptions, SearchStop, Searched, Workspace};
use folder::{Control, Error, FilePath, Result};
use search::{LineMatcher, Pattern, PatternOptions};
use text::encoding::EncodingChoice;

/// What is printed of what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// Lines, with so many lines before and behind each.
    Lines(Context),
    /// Each match on a line of its own, with so many lines around.
    Matches(Context),
    /// Paths of files with matches.
    Paths,
    /// The number of lines of each file.
    LineCounts,
    /// The number of matches of each file.
    MatchCounts,
    /// JSON, an object a line, with so many lines around matches.
    Events(Context),
    /// Nothing: only whether there is a match.
    Nothing,
}

/// Lines around a match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context {
    /// Lines before it.
    pub before: usize,
    /// Lines behind it.
    pub after: usize,
}

/// What a line begins with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineHead {
    /// The path of its file.
    pub path: bool,
    /// Its number, from 1.
    pub number: bool,
    /// Paths stand on a line of their own, above the lines of their file.
    pub heading: bool,
}

/// A search by the command line.
#[derive(Debug)]
pub struct PrintRequest {
    /// The regular expression, or the text.
    pub pattern: String,
    /// How it is read.
    pub how: PatternOptions,
    /// Only files that one of these globs matches; `!` leaves out.
    pub globs: Vec<String>,
    /// Only files of these types.
    pub types: Vec<String>,
    /// Whether hidden files are searched.
    pub hidden: bool,
    /// Whether files that git ignores are searched.
    pub ignored: bool,
    /// Levels of folders below the path; none: all.
    pub depth: Option<usize>,
    /// The most lines of a file.
    pub most: Option<usize>,
    /// What the files are decoded from.
    pub encoding: EncodingChoice,
    /// What is printed.
    pub printed: Printed,
    /// What a line begins with.
    pub head: LineHead,
}

/// A file or folder to search.
#[derive(Debug)]
pub struct PrintPath {
    /// It.
    pub path: FilePath,
    /// What its paths are printed with: of a file its path, of a folder what stands before the paths of the files in it.
    pub shown: String,
    /// Whether it is a file.
    pub is_file: bool,
}

/// What searches have found.
#[derive(Debug, Default)]
pub struct PrintedSearch {
    /// Whether there was a match.
    pub is_found: bool,
    /// What was searched and what was left out of each path, as the tool `grep` says it.
    pub balances: Vec<String>,
    /// Why paths were not searched.
    pub failures: Vec<Error>,
}

/// What to give instead of a pattern that cannot be used.
const WAYS_OUT: WaysOut = WaysOut {
    not_linear: "search for the part that is not in them, with -C or a second command to see the rest",
    syntax: "escape the character with \\, or give -F to search for the text itself",
    line_break: "give -U",
};

/// Hits of one file that are kept at once.
const KEPT: usize = 1 << 20;

/// Searches paths, one after the other, and prints what is found.
///
/// # Errors
///
/// Those of the pattern and the globs; [`Error::WriteFailed`] with the error of `out`.
pub fn print_search(
    workspace: &Workspace,
    request: &PrintRequest,
    paths: &[PrintPath],
    out: &mut (dyn Write + Send),
    control: &Control,
) -> Result<PrintedSearch> {
    let pattern = Pattern::new(&request.pattern, request.how).map_err(|error| wrong(error, &WAYS_OUT))?;
    let chosen = Chosen::of(Globs(request.globs.clone()), Globs(request.types.clone())).files()?;
    let wants = |path: &Path, from_start: &Path, is_folder: bool| {
        let levels = from_start.components().count();
        request.depth.is_none_or(|most| levels < most + usize::from(!is_folder))
            && chosen.wants(path, from_start, is_folder)
    };
    let (mut printer, mut done) = (Printer::new(&pattern, request, control, out), PrintedSearch::default());
    for path in paths {
        let options = SearchOptions {
            path: Some(&path.path),
            only: None,
            wants: &wants,
            skip_ignored: !request.ignored,
            skip_hidden: !request.hidden,
            encoding: request.encoding,
            after: None,
            keep: request.kept_hits(),
        };
        let mut failure = None;
        let mut receiver = |file: FoundFile| {
            failure = printer.file(&file, path).err();
            failure.is_none() && request.printed != Printed::Nothing
        };
        match workspace.search(&pattern, options, &mut receiver, control) {
            Ok(searched) => done.add(searched, request),
            Err(error) => done.failures.push(error),
        }
        if let Some(source) = failure {
            return Err(Error::WriteFailed { source });
        }
    }
    printer.end().map_err(|source| Error::WriteFailed { source })?;
    Ok(done)
}

impl PrintedSearch {
    fn add(&mut self, mut searched: Searched, request: &PrintRequest) {
        self.is_found |= searched.counts.found > 0;
        // One match is all that was asked for.
        if request.printed == Printed::Nothing && searched.stop == Some(SearchStop::Enough) {
            searched.stop = None;
        }
        let hit = if request.how.multiline { "match" } else { "line" };
        self.balances.push(balance(&searched, Some(hit), [false; 2], true));
    }
}

impl PrintRequest {
    /// Hits of one file that are needed at once: those that count, and those that may stand in the lines behind them.
    fn kept_hits(&self) -> usize {
        let behind = match self.printed {
            Printed::Lines(context) | Printed::Matches(context) | Printed::Events(context) => context.after,
            Printed::MatchCounts => 0,
            Printed::Paths | Printed::LineCounts | Printed::Nothing => return 0,
        };
        self.most.map_or(KEPT, |most| most.saturating_add(behind).min(KEPT))
    }
}

/// Prints the files of a search, one after the other.
enum Printer<'p> {
    Lines(LinePrinter<'p>),
    Events(Events<'p>),
}

impl<'p> Printer<'p> {
    fn new(
        pattern: &'p Pattern,
        request: &'p PrintRequest,
        control: &'p Control,
        out: &'p mut (dyn Write + Send),
    ) -> Printer<'p> {
        let scan = LineMatcher::new(pattern, control);
        match request.printed {
            Printed::Events(context) => Printer::Events(Events::new(scan, request, context, out)),
            _ => Printer::Lines(LinePrinter::new(scan, request, out)),
        }
    }

    fn file(&mut self, file: &FoundFile, of: &PrintPath) -> io::Result<()> {
        // As the caller wrote the path, also where what lies below it is no text.
        let mut path = of.shown.as_bytes().to_vec();
        if !of.is_file {
            path.extend_from_slice(file.path.get(file.base..).unwrap_or_default());
        }
        match self {
            Printer::Lines(lines) => lines.file(file, &path),
            Printer::Events(events) => events.file(file, &path),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self {
            Printer::Lines(lines) => lines.end(),
            Printer::Events(events) => events.end(),
        }
    }
}
