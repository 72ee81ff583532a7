//! `read_file`: a file, or a range of its lines (contract 4).

use serde::Serialize;
use serde_json::json;

use crate::tools::arguments::{Line, Request, StartLine, Takes, arguments};
use crate::tools::encoding_failure::likely_name;
use crate::tools::numbered::{Numbering, count_breaks, numbered};
use crate::tools::{Call, LineBase, Members, OutputKinds, ParseOptions, Reply, Tool};
use engine::{Excerpt, LineRange, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::lines::char_boundary;

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
        /// Name of the file{?list_files|, as list_files gives it}
        name: FilePath,
        /// First line, counted from {first}; -20: the last 20 lines
        start_line: Option<StartLine>,
        /// Last line, counted from {first}, included
        end_line: Option<Line>,
        /// Number the lines
        line_numbers: Option<bool>,
    }
}

impl Request for ReadArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let end = self.end_line.map(|line| line.0);
        let part = match self.start_line {
            None => Part::Range(LineRange { start: None, end }),
            Some(StartLine::At(start)) => Part::Range(LineRange { start: Some(start), end }),
            Some(StartLine::FromEnd(count)) if end.is_none() => Part::Last(count),
            Some(StartLine::FromEnd(_)) => {
                let problem =
                    "it excludes a negative start_line, which means the last lines; give one of them";
                return Err(Error::InvalidArguments { at: "end_line".into(), problem: problem.into() });
            }
        };
        let ReadArguments { name, line_numbers, .. } = self;
        let line_numbers = line_numbers.unwrap_or(false);
        Ok(Box::new(ReadFile { name, part, line_numbers, base: options.base, limit: options.limit.bytes }))
    }
}

/// What is read.
#[derive(Debug, Clone, Copy)]
enum Part {
    Range(LineRange),
    /// So many lines at the end.
    Last(u64),
}

/// Room for the first and the last line of an answer under a limit, in bytes, without the name in both.
const LAST_LINE: usize = 1_024;

/// A parsed call.
#[derive(Debug)]
struct ReadFile {
    name: FilePath,
    part: Part,
    line_numbers: bool,
    base: LineBase,
    /// The longest text of an answer in bytes, if there is a limit.
    limit: Option<usize>,
}

/// What an answer that was cut shows.
#[derive(Debug, Clone, Copy)]
struct Shown {
    /// Number of lines, at least 1.
    lines: usize,
    /// Bytes of the only line, if not all of it is shown.
    partial: Option<usize>,
    /// The text ends in the break of its last line.
    ends_in_break: bool,
}

impl Call for ReadFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.name)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let excerpt = match self.part {
            Part::Range(range) => workspace.read(&self.name, range, control)?,
            Part::Last(count) => workspace.read_last(&self.name, count, control)?,
        };
        self.reply(excerpt, wanted)
    }

    fn run_at_once(&self, workspace: &Workspace, wanted: OutputKinds) -> Option<Result<Reply>> {
        let excerpt = match self.part {
            Part::Range(range) => workspace.read_at_once(&self.name, range)?,
            Part::Last(count) => workspace.read_last_at_once(&self.name, count)?,
        };
        Some(excerpt.and_then(|excerpt| self.reply(excerpt, wanted)))
    }
}

impl ReadFile {
    fn reply(&self, mut excerpt: Excerpt, wanted: OutputKinds) -> Result<Reply> {
        // Programs get the whole range: only text for a model is limited.
        let room = self.limit.filter(|_| wanted.text).map(|limit| self.room(limit));
        let is_cut = room.is_some_and(|room| excerpt.cut(room));
        let mut shown = is_cut.then(|| Shown::of(excerpt.bytes()));
        let mut copy = None;
        if self.line_numbers && !excerpt.lines.is_empty() {
            let mut text = self.numbered(&excerpt, is_cut)?;
            shown = room.and_then(|room| Shown::cut(&mut text, room)).or(shown.map(Shown::without_break));
            copy = Some(text);
        }
        let head = if wanted.text { self.head(&excerpt, shown) } else { String::new() };
        let (after, meta) = shown.map(|shown| self.last_line(&excerpt, shown)).unwrap_or_default();
        let note = excerpt.likely().map(|likely| not_decoded(likely_name(likely)));
        let Some(copy) = copy else {
            let data = if wanted.data { self.data(&excerpt, None) } else { Members::default() };
            return Ok(Reply {
                text: head,
                data,
                excerpt: Some(excerpt),
                after,
                note,
                meta,
                ..Reply::default()
            });
        };
        if wanted.text {
            // The text is sent once, so there is no data beside it.
            return Ok(Reply { text: head + &copy + &after, note, meta, ..Reply::default() });
        }
        Ok(Reply { data: self.data(&excerpt, Some(&copy)), ..Reply::default() })
    }

    /// Bytes of an answer for lines: the rest is for its first and its last line, which hold the name.
    fn room(&self, limit: usize) -> usize {
        limit.saturating_sub((LAST_LINE + 2 * self.name.sent().len()).min(limit / 2)).max(16)
    }

    /// The lines with their numbers.
    fn numbered(&self, excerpt: &Excerpt, is_cut: bool) -> Result<String> {
        let changed = || Error::Changed { name: self.name.sent().into() };
        let text = String::from_utf8(excerpt.bytes().to_vec()).map_err(|_| changed())?;
        excerpt.check(self.name.sent())?;
        let first = excerpt.lines.start as u64 + self.base.first();
        Ok(numbered(&text, Numbering { first, goes_on: false, is_cut }))
    }

    fn is_whole(&self) -> bool {
        matches!(self.part, Part::Range(range) if range.is_whole())
    }

    /// The first line and an empty one.
    fn head(&self, excerpt: &Excerpt, shown: Option<Shown>) -> String {
        let (name, total) = (self.name.as_str(), excerpt.total);
        if self.is_whole() && shown.is_none() || excerpt.lines.is_empty() {
            return format!("File: {name} ({total} lines)\n\n");
        }
        let first = self.base.first() as usize;
        let start = excerpt.lines.start + first;
        let end = shown.map_or(excerpt.lines.end - 1 + first, |shown| start + shown.lines - 1);
        format!("File: {name} (lines {start}-{end} of {total} total)\n\n")
    }

    /// The last line of an answer that was cut, and what `_meta` says of it.
    fn last_line(&self, excerpt: &Excerpt, shown: Shown) -> (String, Members) {
        let (first, total) = (self.base.first() as usize, excerpt.total);
        let (start, of) = (excerpt.lines.start + first, excerpt.lines.len());
        let mut next = json!({ "name": self.name.sent(), "start_line": start + shown.lines });
        if let Part::Range(LineRange { end: Some(end), .. }) = self.part {
            next["end_line"] = json!(end.saturating_add(self.base.first()));
        }
        if self.line_numbers {
            next["line_numbers"] = json!(true);
        }
        // Nothing comes after a last line that is not complete.
        let next = (shown.lines < of).then_some(next);
        let what = match shown.partial {
            None => format!("lines {start}-{} of {total} total", start + shown.lines - 1),
            Some(bytes) => {
                format!("the first {bytes} bytes of line {start}, which is too long for an answer")
            }
        };
        let go_on = next.as_ref().map(|next| format!(" Go on with {} {next}", TOOL.name)).unwrap_or_default();
        let break_before = if shown.ends_in_break { "" } else { "\n" };
        let truncated = json!({ "shown": shown.lines, "of": of, "next": next });
        let meta = Members::default().with("file-editor/truncated", &truncated);
        (format!("{break_before}[Shown: {what}.{go_on}]"), meta)
    }

    /// `copy` is the text if no excerpt holds it.
    fn data(&self, excerpt: &Excerpt, copy: Option<&str>) -> Members {
        let asked = |line: u64| i64::try_from(line.saturating_add(self.base.first())).unwrap_or(i64::MAX);
        let range = match self.part {
            Part::Range(range) => {
                RangeRequested { start_line: range.start.map(asked), end_line: range.end.map(asked) }
            }
            Part::Last(count) => {
                let start = i64::try_from(count).map_or(i64::MIN, |count| -count);
                RangeRequested { start_line: Some(start), end_line: None }
            }
        };
        let range_requested = (!self.is_whole()).then_some(range);
        Members::default()
            .with_some("content", copy.as_ref())
            .with("total_lines", &excerpt.total)
            .with_some("likely_encoding", excerpt.likely().map(likely_name).as_ref())
            .with_some("range_requested", range_requested.as_ref())
    }
}

/// What is told of a text whose escape sequences say another encoding than UTF-8.
fn not_decoded(encoding: &str) -> String {
    format!("The text has escape sequences and is likely {encoding}, which {} does not decode.", TOOL.name)
}

impl Shown {
    /// Of an excerpt that was cut at the end of a line, or in its only line.
    fn of(bytes: &[u8]) -> Shown {
        let breaks = count_breaks(bytes);
        let partial = (breaks == 0).then_some(bytes.len());
        Shown { lines: breaks.max(1), partial, ends_in_break: breaks > 0 }
    }

    /// Cuts numbered lines to at most `room` bytes. `None` if they fit.
    fn cut(text: &mut String, room: usize) -> Option<Shown> {
        if text.len() <= room {
            return None;
        }
        let end = memchr::memrchr(b'\n', &text.as_bytes()[..=room]);
        text.truncate(end.unwrap_or_else(|| char_boundary(text.as_bytes(), room)));
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
        let number = text.find('\t').map_or(0, |tab| tab + 1);
        let partial = end.is_none().then(|| text.len() - number);
        Some(Shown { lines, partial, ends_in_break: false })
    }

    fn without_break(self) -> Shown {
        Shown { ends_in_break: false, ..self }
    }
}

/// The range as requested; omitted ends stay omitted.
#[derive(Serialize)]
struct RangeRequested {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<i64>,
}
