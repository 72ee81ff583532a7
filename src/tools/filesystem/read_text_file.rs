//! `read_text_file`, and its older name `read_file`: a text file, its beginning, its end, or a range of its lines.

use serde_json::json;

use super::{CONTENT, version_meta};
use crate::engine::{Control, Error, FilePath, LineRange, PartRead, Result, TextPart, Workspace};
use crate::tools::arguments::{Argument, Count, Line, Request, Takes, Value, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::numbered::{count_breaks, numbered, with_lf};
use crate::tools::{Call, LineBase, Members, OutputKinds, ParseOptions, Reply, Tool, wrong_cursor};

pub(crate) static TOOL: Tool = Tool {
    name: "read_text_file",
    title: "Read Text File",
    description: "Read a text file (UTF-8): all of it, the first lines (head), the last lines (tail), or a range (start_line to \
        end_line, or offset and limit; lines count from {first}, both ends included). A long text ends in a line that says \
        what was shown and the call that goes on. line_numbers: true puts the number and a tab before each line of a range. \
        Example: {\"path\":\"src/main.rs\",\"start_line\":{first},\"end_line\":99}",
    instructions: "",
    takes: Takes::of::<ReadArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

/// The older name. It is offered because clients of the reference server use it.
pub(crate) static DEPRECATED: Tool = Tool {
    name: "read_file",
    title: "Read File (Deprecated)",
    description: "The older name of read_text_file, with the same arguments.",
    ..TOOL
};

/// Maximum room for the last line of an answer that was cut, in bytes.
const LAST_LINE: usize = 1_024;

/// A number of lines. 0 counts as absent, as in the reference server.
#[derive(Debug, Clone, Copy)]
struct Lines(u64);

impl Argument for Lines {
    fn expected() -> String {
        Count::expected()
    }

    fn schema(out: &mut String) {
        out.push_str(r#""type":"integer","minimum":0"#);
    }

    fn read(value: &Value) -> Result<Lines> {
        match value.json() {
            "0" => Ok(Lines(0)),
            _ => Count::read(value).map(|count| Lines(count.0)),
        }
    }
}

arguments! {
    struct ReadArguments {
        /// Path of the file
        path: FilePath,
        /// Only the first lines: how many
        head: Option<Lines>,
        /// Only the last lines: how many
        tail: Option<Lines>,
        /// First line, counted from {first}
        start_line: Option<Line>,
        /// Last line, counted from {first}, included
        end_line: Option<Line>,
        /// First line, counted from {first}; another name of start_line
        offset: Option<Line>,
        /// Number of lines from there
        limit: Option<Count>,
        /// Whether each line of a range begins with its number and a tab
        line_numbers: bool = false,
        /// Where an earlier answer says that the text goes on
        cursor: Option<Cursor>,
    }
}

/// A parsed call.
#[derive(Debug)]
struct ReadTextFile {
    path: FilePath,
    part: TextPart,
    line_numbers: bool,
    /// The state of the file when the cursor was made.
    state: Option<u64>,
    base: LineBase,
    limit: Option<usize>,
}

impl Request for ReadArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let (part, state) = self.part()?;
        let ReadArguments { path, line_numbers, .. } = self;
        let (base, limit) = (options.base, options.limit);
        Ok(Box::new(ReadTextFile { path, part, line_numbers, state, base, limit }))
    }
}

impl ReadArguments {
    /// The part that is wanted, and the state in the cursor, if there is one.
    fn part(&self) -> Result<(TextPart, Option<u64>)> {
        let count = |lines: Option<Lines>| lines.map(|lines| lines.0).filter(|count| *count > 0);
        let start = self.start_line.or(self.offset).map(|line| line.0);
        let end = match (self.end_line, self.limit) {
            (None, Some(limit)) => Some(start.unwrap_or(0).saturating_add(limit.0 - 1)),
            (end, _) => end.map(|line| line.0),
        };
        let range = LineRange { start, end };
        let ways = [
            ("head", count(self.head).is_some()),
            ("tail", count(self.tail).is_some()),
            ("start_line, end_line, offset, limit", !range.is_whole()),
            ("cursor", self.cursor.is_some()),
        ];
        let given: Vec<&str> = ways.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
        if given.len() > 1 || self.start_line.is_some() && self.offset.is_some() {
            let problem = format!("they exclude each other; expected one of {}", given.join("; "));
            return Err(Error::InvalidArguments { at: given.join(" and "), problem });
        }
        if let Some(cursor) = &self.cursor {
            let byte = cursor.after.parse().ok().filter(|_| cursor.of == of(&self.path));
            return Ok((TextPart::From(byte.ok_or_else(wrong_cursor)?), Some(cursor.state)));
        }
        let part = match (count(self.head), count(self.tail)) {
            (Some(count), _) => TextPart::Head(count),
            (_, Some(count)) => TextPart::Tail(count),
            _ if range.is_whole() && !self.line_numbers => TextPart::Whole,
            _ => TextPart::Lines(range),
        };
        Ok((part, None))
    }
}

/// What a cursor into this file belongs to.
fn of(path: &FilePath) -> String {
    format!("{} {}", TOOL.name, path.as_str())
}

impl Call for ReadTextFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let limit = self.limit.map(|limit| limit.saturating_sub(LAST_LINE.min(limit / 2)).max(16));
        let read = workspace.read_part(&self.path, self.part, limit, control)?;
        let meta = version_meta(&read.version);
        let keeps_breaks = !matches!(self.part, TextPart::Lines(_) | TextPart::Tail(_));
        let copies = self.line_numbers || wanted.data || matches!(self.part, TextPart::Tail(_));
        // Copied lines end without a break.
        let ends_in_break = read.excerpt.bytes().last() == Some(&b'\n')
            && (keeps_breaks || !copies || matches!(self.part, TextPart::Tail(_)));
        let (after, meta) = self.last_line(&read, ends_in_break, meta);
        if !copies {
            return Ok(Reply { excerpt: Some(read.excerpt), keeps_breaks, after, meta, ..Reply::default() });
        }
        let text = self.copied(&read)? + &after;
        let data = if wanted.data { Members::default().with("content", &text) } else { Members::default() };
        Ok(Reply { text, data, meta, ..Reply::default() })
    }
}

impl ReadTextFile {
    /// The text as it is told.
    fn copied(&self, read: &PartRead) -> Result<String> {
        let changed = || Error::Changed { name: self.path.sent().into() };
        let text = String::from_utf8(read.excerpt.bytes().to_vec()).map_err(|_| changed())?;
        if !read.excerpt.unchanged() {
            return Err(changed());
        }
        Ok(match self.part {
            TextPart::Lines(_) => self.lines(&text, read),
            // The reference server tells the end of a file so.
            TextPart::Tail(_) if text.contains('\r') => text.replace("\r\n", "\n"),
            _ => text,
        })
    }

    /// Lines joined by `\n`, with their numbers if that is wanted.
    fn lines(&self, text: &str, read: &PartRead) -> String {
        if self.line_numbers {
            return numbered(text, read.first_line.unwrap_or(0) + self.base.first(), read.is_cut);
        }
        let text = with_lf(text);
        // A cut text ends in the break of its last line.
        let end = if read.is_cut { text.strip_suffix('\n').unwrap_or(&text).len() } else { text.len() };
        text[..end].to_owned()
    }

    /// The last line of an answer that was cut, or that continues a changed file.
    fn last_line(&self, read: &PartRead, ends_in_break: bool, meta: Members) -> (String, Members) {
        let mut text = String::new();
        let state = state(read);
        if self.state.is_some_and(|known| known != state) {
            text.push_str("\n[The file has changed since the cursor was made]");
        }
        if !read.is_cut {
            return (text, meta);
        }
        let bytes = read.excerpt.bytes();
        let lines = count_breaks(bytes) as u64;
        let next = match read.first_line {
            Some(first) if read.ends_a_line() && matches!(self.part, TextPart::Lines(_)) => {
                self.next_lines(first + lines)
            }
            _ => {
                let after = read.at.end.to_string();
                let cursor = Cursor { of: of(&self.path), after, state }.text();
                json!({ "path": self.path.sent(), "cursor": cursor })
            }
        };
        let shown = match (read.first_line, read.total_lines) {
            (Some(first), Some(total)) => {
                let first = first + self.base.first();
                let last = first + lines.max(1) - 1;
                format!("lines {first}-{last} of {total} lines")
            }
            _ => format!("bytes {}-{} of {} bytes", read.at.start, read.at.end, read.size),
        };
        let break_before = if ends_in_break { "" } else { "\n" };
        text = format!("{break_before}[Shown: {shown}. Go on with {} {next}]{text}", TOOL.name);
        let (shown, size) = (read.at.end - read.at.start, read.size);
        let truncated = json!({ "shown": shown, "of": size, "next": next });
        (text, meta.with("file-editor/truncated", &truncated))
    }

    /// The arguments of the call that goes on at this line.
    fn next_lines(&self, line: u64) -> serde_json::Value {
        let mut next = json!({ "path": self.path.sent(), "start_line": line + self.base.first() });
        if let TextPart::Lines(LineRange { end: Some(end), .. }) = self.part {
            next["end_line"] = json!(end.saturating_add(self.base.first()));
        }
        if self.line_numbers {
            next["line_numbers"] = json!(true);
        }
        next
    }
}

/// What a cursor keeps of the file's state.
fn state(read: &PartRead) -> u64 {
    let stamp = read.excerpt.stamp();
    stamp.mtime_ns as u64 ^ stamp.len.rotate_left(32)
}
