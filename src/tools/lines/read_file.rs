//! `read_file`: a file, or a range of its lines (contract 4).

use serde::Serialize;

use crate::engine::{Control, Excerpt, FilePath, LineRange, Result, Workspace};
use crate::tools::arguments::{Line, Request, Takes, arguments};
use crate::tools::{Call, LineBase, Members, OutputKinds, ParseOptions, Reply, Tool};

pub(crate) static TOOL: Tool = Tool {
    name: "read_file",
    title: "Read file",
    description: "Read a text file, or the lines start_line to end_line of it. Lines count from {first} and both ends are \
        included. Only start_line: to the end; only end_line: from the first line; an end_line past the end means the \
        last line. The first line of the answer says which lines these are and how many the file has; read a large file \
        in parts. A missing file is an error. Example: {\"name\":\"notes.txt\",\"start_line\":{first},\"end_line\":99}",
    instructions: "Use read_file to read a file or a range of its lines.",
    takes: Takes::of::<ReadArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

arguments! {
    struct ReadArguments {
        /// Name of the file, as list_files gives it
        name: FilePath,
        /// First line, counted from {first}
        start_line: Option<Line>,
        /// Last line, counted from {first}, included
        end_line: Option<Line>,
    }
}

impl Request for ReadArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let line = |line: Option<Line>| line.map(|line| line.0);
        let range = LineRange { start: line(self.start_line), end: line(self.end_line) };
        Ok(Box::new(ReadFile { name: self.name, range, base: options.base }))
    }
}

#[derive(Debug)]
struct ReadFile {
    name: FilePath,
    range: LineRange,
    base: LineBase,
}

impl Call for ReadFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.name)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        Ok(self.reply(workspace.read(&self.name, self.range, control)?, wanted))
    }

    fn run_at_once(&self, workspace: &Workspace, wanted: OutputKinds) -> Option<Result<Reply>> {
        let excerpt = workspace.read_at_once(&self.name, self.range)?;
        Some(excerpt.map(|excerpt| self.reply(excerpt, wanted)))
    }
}

impl ReadFile {
    fn reply(&self, excerpt: Excerpt, wanted: OutputKinds) -> Reply {
        let text = if wanted.text { self.text(&excerpt) } else { String::new() };
        let data = if wanted.data { self.data(&excerpt) } else { Members::default() };
        Reply { text, data, excerpt: Some(excerpt), ..Reply::default() }
    }

    fn text(&self, excerpt: &Excerpt) -> String {
        let (name, total) = (self.name.as_str(), excerpt.total);
        if self.range.is_whole() || excerpt.lines.is_empty() {
            return format!("File: {name} ({total} lines)\n\n");
        }
        let first = self.base.first() as usize;
        let (start, end) = (excerpt.lines.start + first, excerpt.lines.end - 1 + first);
        format!("File: {name} (lines {start}-{end} of {total} total)\n\n")
    }

    fn data(&self, excerpt: &Excerpt) -> Members {
        let asked = |line: Option<u64>| line.map(|line| line.saturating_add(self.base.first()));
        let range = RangeRequested { start_line: asked(self.range.start), end_line: asked(self.range.end) };
        let range_requested = (!self.range.is_whole()).then_some(range);
        Members::default()
            .with("total_lines", &excerpt.total)
            .with_some("range_requested", range_requested.as_ref())
    }
}

/// The range as requested; omitted ends stay omitted.
#[derive(Serialize)]
struct RangeRequested {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u64>,
}
