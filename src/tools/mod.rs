//! The table of tools for agents.
//!
//! A tool is one file here and one line in [`TOOLS`]. Tools know arguments, the workspace and their reports;
//! they know no ids, JSON-RPC, status codes or sockets. After parsing, line numbers are 0-based as in the
//! engine; [`LineBase`] is the number of an interface's first line.

mod arguments;
mod edit_file;
mod failure;
mod file_edit;
mod list_files;
mod members;
mod read_file;
mod timestamp;

use std::fmt::Debug;
use std::sync::Arc;

pub use arguments::{Arguments, MAX_DEPTH, depth_exceeds};
pub use failure::ErrorText;
pub use members::Members;
pub use timestamp::timestamp;

use crate::engine::{Control, Error, Excerpt, FilePath, FolderPaths, NamePolicy, Result, Workspace};

/// All tools, in the order in which they are listed.
pub static TOOLS: [&Tool; 4] = [&list_files::TOOL, &read_file::TOOL, &edit_file::TOOL, &file_edit::TOOL];

/// The number of an interface's first line (contract 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBase {
    /// MCP tools.
    Zero,
    /// REST and direct JSON-RPC methods.
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
    /// The served folders, to which absolute paths belong.
    pub folders: &'p FolderPaths,
    /// Whether an edit creates a missing file if the call does not say (contract 4: only in MCP).
    pub create_if_missing: bool,
}

/// What a reply must contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputKinds {
    /// The text for a model.
    pub text: bool,
    /// The data for a program.
    pub data: bool,
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
    /// The object `metadata` beside the content of an MCP result (contract 5), if the tool has one.
    pub metadata: Option<Members>,
    /// The error of a failed call whose reply the tool has written itself.
    pub failure: Option<Arc<Error>>,
}

/// One parsed call, ready to run.
pub trait Call: Send + Sync + Debug {
    /// The file it works on. Calls on one file run in the order in which they arrived.
    fn file(&self) -> Option<&FilePath>;

    /// The key that makes a second call with the same arguments within ten minutes the same call: it is carried out
    /// once, and both get the same reply.
    fn idempotency_key(&self) -> Option<&str> {
        None
    }

    /// Runs the call. May wait for disks and locks.
    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply>;

    /// Runs the call if it needs no waiting. Returns `None` if it might.
    fn run_at_once(&self, _: &Workspace, _: OutputKinds) -> Option<Result<Reply>> {
        None
    }
}

/// One tool as clients see it (contract 6.1).
#[derive(Debug)]
pub struct Tool {
    /// Its name in MCP, as a REST path and as a direct method.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The instructions for a model.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub input_schema: &'static str,
    /// JSON Schema of its data; `None` if it returns only text in MCP.
    pub output_schema: Option<&'static str>,
    /// Whether it changes files. Such a tool is not offered under `--read-only`.
    pub writes: bool,
    /// Whether it is also a REST path and a direct method (contract 6.2).
    pub direct: bool,
    /// Parses its arguments.
    pub parse: fn(&mut Arguments, ParseOptions) -> Result<Box<dyn Call>>,
}

impl Tool {
    /// Parses the JSON object `arguments`, and refuses unknown members.
    pub fn parse(&self, arguments: &str, dialect: ParseOptions) -> Result<Box<dyn Call>> {
        let mut arguments = Arguments::of(arguments)?;
        let call = (self.parse)(&mut arguments, dialect)?;
        arguments.finish()?;
        Ok(call)
    }
}

/// The tool with the name `name`.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

/// Maximum number of characters of a client's text in logs and errors; no name is longer.
const SHOWN: usize = 1_000;

/// A client's text, cut for errors and logs.
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// The file name in `arguments` that were refused, for logs and errors.
pub fn name_as_sent(arguments: &str) -> Option<String> {
    let mut arguments = Arguments::of(arguments).ok()?;
    let name = arguments.string("name").ok().flatten().or_else(|| arguments.string("path").ok().flatten());
    name.map(|name| shortened(&name))
}
