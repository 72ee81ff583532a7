//! The tools for agents.
//!
//! A tool is one file in the folder of its set, and one line in [`sets`]. Tools know arguments, the workspace and
//! their reports; they know no ids, JSON-RPC, status codes or sockets. After parsing, line numbers are 0-based as
//! in the engine; [`LineBase`] is the number of an interface's first line.

mod agent;
pub mod arguments;
mod balance;
mod command_failure;
mod cursor;
mod diff_text;
mod encoding_failure;
mod exact;
mod failure;
mod file_uri;
mod filesystem;
mod glob_list;
mod handles;
mod limited;
mod lines;
mod listing;
mod members;
mod memory;
mod near;
mod near_globs;
mod near_patterns;
mod numbered;
mod page_call;
mod pattern_text;
mod rewritten;
mod search;
pub mod sets;
mod text;
mod text_page;
mod texts_call;
mod timestamp;
#[cfg(feature = "toolkit")]
mod toolkit;
mod walking;
pub mod which_folder;

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;

pub use arguments::{MAX_DEPTH, Takes, depth_exceeds, name_as_sent};
pub use failure::{BUSY_SECONDS, ErrorText, Guide};
pub(crate) use file_uri::{file_uri, path_in};
pub use handles::Handles;
pub use limited::AnswerLimit;
pub use members::Members;
pub use search::printed::{Context, LineHead, PrintPath, PrintRequest, Printed, PrintedSearch, print_search};
pub use sets::{Offered, ToolNames};
pub use timestamp::timestamp;

use engine::{Excerpt, Workspace};
use folder::{Control, Error, FilePath, FolderPaths, NamePolicy, Result};
use journal::Author;

/// The number of an interface's first line (contract 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBase {
    /// MCP tools of the default set.
    Zero,
    /// REST and direct JSON-RPC methods, and MCP tools of other sets.
    One,
}

impl LineBase {
    /// The number of the first line.
    pub fn first(self) -> u64 {
        match self {
            LineBase::Zero => 0,
            LineBase::One => 1,
        }
    }
}

/// How to interpret the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub struct ParseOptions<'p> {
    /// The number of the first line.
    pub base: LineBase,
    /// Which names are allowed.
    pub names: NamePolicy,
    /// Whether the tool's set takes paths; if not, it takes names.
    pub paths: bool,
    /// The served folders, to which absolute paths belong.
    pub folders: &'p FolderPaths,
    /// The longest text of an answer (contract 11, 19).
    pub limit: AnswerLimit,
    /// Whether an edit creates a missing file if the call does not say (contract 4: only in MCP).
    pub create_if_missing: bool,
    /// The tools that the client is offered.
    pub offered: ToolNames,
    /// Who sent the call.
    pub author: &'p Arc<Author>,
    /// What calls can go on with.
    pub handles: &'p Arc<Handles>,
}

impl ParseOptions<'_> {
    /// Parses a path of the call.
    pub fn path(&self, text: &str) -> Result<FilePath> {
        let policy = if self.paths { NamePolicy::Paths } else { self.names };
        match policy {
            NamePolicy::Paths => FilePath::parse_sent(&path_in(text), policy, self.folders),
            policy => FilePath::parse(text, policy, self.folders),
        }
    }

    /// The folder or file of a search or a list. `None`: all served folders, which `.` means where several are served.
    pub fn folder_or_all(&self, path: Option<FilePath>) -> Option<FilePath> {
        let is_all = |path: &FilePath| path.is_top() && self.folders.folders().len() > 1;
        path.filter(|path| !is_all(path))
    }

    /// The folder or file of a search: this one, or the only served folder. `None`: all of several.
    pub fn path_or_all(&self, path: Option<FilePath>) -> Result<Option<FilePath>> {
        match self.folder_or_all(path) {
            None if self.folders.folders().len() == 1 => self.path(".").map(Some),
            path => Ok(path),
        }
    }

    /// What the text of an error of the call may refer to.
    pub fn guide(&self) -> Guide {
        Guide { base: self.base, offered: self.offered, paths: self.paths }
    }
}

/// What a reply must contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputKinds {
    /// The text for a model.
    pub text: bool,
    /// The data for a program.
    pub data: bool,
}

/// The JSON of an item of the content around a file's bytes, which are told as base64.
#[derive(Debug)]
pub struct MediaItem {
    /// Up to the base64.
    pub before: String,
    /// Behind it.
    pub after: String,
}

/// The result of a call.
#[derive(Debug, Default)]
pub struct Reply {
    /// The text for a model, exactly as in contract 6.1; an excerpt follows it.
    pub text: String,
    /// The data for a program (contract 6.2). An excerpt becomes its first member, `content`.
    pub data: Members,
    /// Lines of a file, not copied yet.
    pub excerpt: Option<Excerpt>,
    /// Whether the breaks of the excerpt stay as they are. Otherwise each is told as `\n`.
    pub keeps_breaks: bool,
    /// The text behind the excerpt.
    pub after: String,
    /// A text in an item of its own behind the text.
    pub note: Option<String>,
    /// Items of the content, as JSON, in place of the text: for media.
    pub items: Option<String>,
    /// An item of the content, in place of the text, whose data is the excerpt.
    pub media: Option<MediaItem>,
    /// The members of `_meta` of an MCP result.
    pub meta: Members,
    /// The object `metadata` beside the content of an MCP result (contract 5), if the tool has one.
    pub metadata: Option<Members>,
    /// The error of a failed call whose reply the tool has written itself.
    pub failure: Option<Arc<Error>>,
    /// Nothing was found, or nothing had to change: the exit code of a command says so.
    pub is_nothing: bool,
    /// A part of what was asked for failed, and the text says so: the exit code of a command does, too.
    pub is_partial: bool,
}

impl Reply {
    /// A copy, without the lines of a file.
    pub fn without_excerpt(&self) -> Reply {
        Reply {
            text: self.text.clone(),
            data: self.data.clone(),
            excerpt: None,
            keeps_breaks: self.keeps_breaks,
            after: self.after.clone(),
            note: self.note.clone(),
            items: self.items.clone(),
            media: None,
            meta: self.meta.clone(),
            metadata: self.metadata.clone(),
            failure: self.failure.clone(),
            is_nothing: self.is_nothing,
            is_partial: self.is_partial,
        }
    }

    /// Bytes of its texts and data, without the lines of a file.
    pub fn len_bytes(&self) -> usize {
        let members = [Some(&self.data), Some(&self.meta), self.metadata.as_ref()];
        let data: usize = members.into_iter().flatten().map(|members| members.as_str().len()).sum();
        let others = [self.note.as_ref(), self.items.as_ref()];
        let others: usize = others.into_iter().flatten().map(String::len).sum();
        self.text.len() + self.after.len() + others + data
    }
}

/// One parsed call, ready to run.
pub trait Call: Send + Sync {
    /// The file it works on. Calls on one file run in the order in which they arrived.
    fn file(&self) -> Option<&FilePath>;

    /// The key that makes a second call with the same arguments within ten minutes the same call: it is carried out
    /// once, and both get the same reply.
    fn idempotency_key(&self) -> Option<&str> {
        None
    }

    /// More files that it works on, in the same order.
    fn other_files(&self) -> Vec<&FilePath> {
        Vec::new()
    }

    /// The time of the command that the call runs, if it runs one: it takes the place of `--timeout`. Such a call waits for
    /// its turn among commands and holds up no other call.
    fn command_timeout(&self) -> Option<Duration> {
        None
    }

    /// How much memory the call may take, in MB, if it searches or analyses many files. Such a call waits for its turn among
    /// its like, so that all together stay within a bound, and calls that are soon over do not wait for it.
    fn memory(&self) -> usize {
        0
    }

    /// The only file or folder that it searches, if it is a search. One of a small file does not wait for those that may take long.
    fn searched(&self) -> Option<&FilePath> {
        None
    }

    /// A file or folder that it looks at without an order among calls, beside the one that it searches.
    fn looked_at(&self) -> Option<&FilePath> {
        None
    }

    /// Whether a link at the end of its path is what it works on, not what the link leads to.
    fn takes_links(&self) -> bool {
        false
    }

    /// Whether the reply is one text, whose beginning may be handed on before the call ends ([`Control::early`]).
    fn begins_early(&self) -> bool {
        false
    }

    /// Runs the call. May wait for disks and locks.
    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply>;

    /// Runs the call if it needs no waiting. Returns `None` if it might.
    fn run_at_once(&self, _: &Workspace, _: OutputKinds) -> Option<Result<Reply>> {
        None
    }
}

/// By its name alone: otherwise each type behind it would bring all its texts for programmers into the binary.
impl Debug for dyn Call {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str("Call")
    }
}

/// One tool as clients see it (contract 6.1).
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name in MCP, as a REST path and as a direct method.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The instructions for a model. `{first}` stands for the number of the first line, `{?tool+tool|text|other}` for a text if the client
    /// is offered these tools, and for the other one if not.
    pub description: &'static str,
    /// What a client should know of it before it lists the tools; may be empty.
    pub instructions: &'static str,
    /// Its arguments.
    pub takes: Takes,
    /// JSON Schema of its data; `None` if it returns only text in MCP.
    pub output_schema: Option<&'static str>,
    /// Whether it changes files. Such a tool is not offered under `--read-only`.
    pub writes: bool,
    /// Whether it can change or remove what was there.
    pub destructive: bool,
    /// Whether a repeated call changes nothing more.
    pub idempotent: bool,
    /// Whether it is also a REST path and a direct method (contract 6.2).
    pub direct: bool,
}

impl Tool {
    /// The instructions for a model, with lines counted from `base`, where these tools are offered.
    pub fn description(&self, base: LineBase, offered: ToolNames) -> String {
        with_first(&for_offered(self.description, offered), base)
    }

    /// The JSON Schema of its arguments, with lines counted from `base`, where these tools are offered.
    pub fn input_schema(&self, base: LineBase, offered: ToolNames) -> String {
        with_first(&for_offered(&self.takes.schema(), offered), base)
    }

    /// Parses the JSON text of its arguments, and refuses unknown members.
    pub fn parse(&self, arguments: &str, options: ParseOptions) -> Result<Box<dyn Call>> {
        self.takes.parse(arguments, options)
    }
}

/// The error for a cursor that belongs to another call.
fn wrong_cursor() -> Error {
    let problem =
        "it belongs to another call; expected the cursor of an earlier answer to the same arguments";
    Error::InvalidArguments { at: "cursor".into(), problem: problem.into() }
}

/// The error for the argument `at`, a glob that cannot be used.
fn wrong_pattern(at: impl Into<String>, problem: &impl std::fmt::Display) -> Error {
    Error::InvalidArguments { at: at.into(), problem: problem.to_string() }
}

/// A text for a model with what is said where these tools are offered.
fn for_offered(text: &str, offered: ToolNames) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, behind)) = rest.split_once("{?")
        && let Some((choice, after)) = behind.split_once('}')
    {
        let mut parts = choice.split('|');
        let (tools, with) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let has_all = tools.split('+').all(|tool| offered.has(tool));
        out.push_str(before);
        out.push_str(if has_all { with } else { parts.next().unwrap_or_default() });
        rest = after;
    }
    out + rest
}

/// A text for a model in which `{first}` is replaced by the number of the first line.
pub fn with_first(text: &str, base: LineBase) -> String {
    text.replace("{first}", itoa::Buffer::new().format(base.first()))
}

/// Maximum number of characters of a client's text in logs and errors; no name is longer.
const SHOWN: usize = 1_000;

/// A client's text, cut for errors and logs.
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
