//! What an agent can ask for: the table of tools.
//!
//! A tool is one file here and one line in [`TOOLS`]. Tools know arguments, the workspace and what to report; they know
//! no ids, JSON-RPC, status codes or sockets. Line numbers are the engine's (0-based) once arguments are parsed; which
//! number an interface's first line has is said by [`LineBase`].

mod arguments;
mod edit_file;
mod failure;
mod file_edit;
mod list_files;
mod members;
mod read_file;
mod timestamp;

use std::fmt::Debug;

pub use arguments::{Arguments, MAX_DEPTH, depth_exceeds};
pub use failure::Failure;
pub use members::Members;
pub use timestamp::timestamp;

use crate::engine::{Control, Error, Excerpt, FileName, NamePolicy, Result, Workspace};

/// All tools, in the order in which they are listed.
pub static TOOLS: [&Tool; 4] = [&list_files::TOOL, &read_file::TOOL, &edit_file::TOOL, &file_edit::TOOL];

/// The number of an interface's first line (SPEC 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineBase {
    /// MCP tools.
    Zero,
    /// REST and direct JSON-RPC methods.
    One,
}

impl LineBase {
    /// The first line's number.
    pub fn first(self) -> u64 {
        match self {
            LineBase::Zero => 0,
            LineBase::One => 1,
        }
    }
}

/// How a call is to be understood.
#[derive(Debug, Clone, Copy)]
pub struct ParseOptions {
    /// The number of the first line.
    pub base: LineBase,
    /// Which names are admitted.
    pub names: NamePolicy,
    /// Whether an edit creates a missing file if the call does not say (SPEC 4: in MCP only).
    pub create_if_missing: bool,
}

/// What a reply must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputKinds {
    /// The text for a model.
    pub text: bool,
    /// The data for a program.
    pub data: bool,
}

/// What a call found or did.
#[derive(Debug, Default)]
pub struct Reply {
    /// The text for a model, to the letter of SPEC 6.1; an excerpt follows it.
    pub text: String,
    /// The data for a program (SPEC 6.2). An excerpt stands before it as the member `content`.
    pub data: Members,
    /// Lines of a file, still where they are.
    pub excerpt: Option<Excerpt>,
    /// The object `metadata` beside the content of an MCP result (SPEC 5), if the tool has one.
    pub metadata: Option<Members>,
    /// Why the call failed, if it did and the tool says more about it than its error does.
    pub failure: Option<Error>,
}

/// One parsed call, ready to run.
pub trait Call: Send + Sync + Debug {
    /// The file it works on: calls on one file are carried out in the order in which they came.
    fn file(&self) -> Option<&FileName>;

    /// Carries it out; may wait for disks and locks.
    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply>;

    /// Carries it out if that takes no waiting; nothing if it might.
    fn run_at_once(&self, _: &Workspace, _: OutputKinds) -> Option<Result<Reply>> {
        None
    }
}

/// One tool as clients see it (SPEC 6.1).
#[derive(Debug)]
pub struct Tool {
    /// Its name, in MCP, as a REST path and as a direct method.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What a model must know to use it well.
    pub description: &'static str,
    /// JSON Schema of its arguments.
    pub input_schema: &'static str,
    /// JSON Schema of its data; nothing if it gives only text in MCP.
    pub output_schema: Option<&'static str>,
    /// Whether it changes files: then it is not offered under `--read-only`.
    pub writes: bool,
    /// Whether it is a REST path and a direct method too (SPEC 6.2).
    pub direct: bool,
    /// Understands its arguments.
    pub parse: fn(&mut Arguments, ParseOptions) -> Result<Box<dyn Call>>,
}

impl Tool {
    /// Understands the JSON object `arguments`.
    pub fn parse(&self, arguments: &str, dialect: ParseOptions) -> Result<Box<dyn Call>> {
        let mut arguments = Arguments::of(arguments)?;
        let call = (self.parse)(&mut arguments, dialect)?;
        arguments.finish()?;
        Ok(call)
    }
}

/// The tool called `name`.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().copied().find(|tool| tool.name == name)
}

/// Characters of a client's own text that logs and errors repeat: more than any name has.
const SHOWN: usize = 1_000;

/// A client's own text, as far as it is repeated to it or logged.
pub fn shortened(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}

/// The file's name in `arguments` that were refused, for logs and errors.
pub fn name_as_sent(arguments: &str) -> Option<String> {
    let mut arguments = Arguments::of(arguments).ok()?;
    let name = arguments.string("name").ok().flatten().or_else(|| arguments.string("path").ok().flatten());
    name.map(|name| shortened(&name))
}
