//! `read_text_file`, and its older name `read_file`: a text file, its beginning, its end, or a range of its lines.

use serde_json::json;

use super::text_page::{GOES_ON, TextForm, TextPage, WantedText, text_key};
use super::{CONTENT, version_meta};
use crate::engine::{Control, EncodingChoice, Error, FilePath, LineRange, Result, TextPart, Workspace};
use crate::tools::arguments::{Argument, Count, Line, Request, Takes, Value, arguments};
use crate::tools::cursor::{Cursor, state_of};
use crate::tools::{Call, LineBase, Members, OutputKinds, ParseOptions, Reply, Tool, wrong_cursor};

pub(crate) static TOOL: Tool = Tool {
    name: GOES_ON,
    title: "Read Text File",
    description: "Read a text file (UTF-8, or another encoding): all of it, the first lines (head), the last lines (tail), or a range (start_line to \
        end_line, or offset and limit; lines count from {first}, both ends included). A long text ends in a line that says \
        what was shown and the call that goes on. line_numbers: true puts the number and a tab before each line. \
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
        /// Whether each line begins with its number and a tab
        line_numbers: bool = false,
        /// Encoding of the file; auto finds it
        encoding: EncodingChoice = "utf-8",
        /// Where an earlier answer says that the text goes on
        cursor: Option<Cursor>,
    }
}

/// A parsed call.
#[derive(Debug)]
struct ReadTextFile {
    path: FilePath,
    wanted: WantedText,
    cursor: Option<Cursor>,
    base: LineBase,
    limit: Option<usize>,
}

impl Request for ReadArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let wanted = self.wanted()?;
        let ReadArguments { path, cursor, .. } = self;
        let (base, limit) = (options.base, options.limit);
        Ok(Box::new(ReadTextFile { path, wanted, cursor, base, limit }))
    }
}

impl ReadArguments {
    fn wanted(&self) -> Result<WantedText> {
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
            let wanted = WantedText::at(&cursor.after, self.encoding).ok_or_else(wrong_cursor)?;
            let numbers = !self.line_numbers || wanted.form == TextForm::Numbered;
            return if numbers { Ok(wanted) } else { Err(wrong_cursor()) };
        }
        let (part, form) = match (count(self.head), count(self.tail)) {
            (Some(count), _) if self.line_numbers => {
                let range = LineRange { start: None, end: Some(count - 1) };
                (TextPart::Lines(range), TextForm::Numbered)
            }
            (_, Some(count)) if self.line_numbers => (TextPart::LastLines(count), TextForm::Numbered),
            (Some(count), _) => (TextPart::Head(count), TextForm::AsIs),
            (_, Some(count)) => (TextPart::Tail(count), TextForm::WithoutCrlf),
            _ if self.line_numbers => (TextPart::Lines(range), TextForm::Numbered),
            _ if range.is_whole() => (TextPart::Whole, TextForm::AsIs),
            _ => (TextPart::Lines(range), TextForm::Lines),
        };
        Ok(WantedText { part, form, encoding: self.encoding })
    }
}

impl Call for ReadTextFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        if let Some(cursor) = &self.cursor {
            cursor.check(text_key(workspace, &self.path, self.wanted.encoding)?)?;
        }
        let limit = self.limit.map(|limit| limit.saturating_sub(self.room_for_last_line().min(limit / 2)));
        let page = TextPage::read(workspace, &self.path, self.wanted, self.base, limit, control);
        let page = page.map_err(|error| self.as_change(workspace, error))?;
        let form = self.wanted.form;
        let copies = !matches!(form, TextForm::AsIs | TextForm::Lines) || wanted.data;
        let copy = if copies { Some(page.text()?) } else { None };
        let ends_in_break = match (&copy, form, page.read.excerpt.bytes().last()) {
            (Some(copy), ..) => copy.ends_with('\n'),
            (None, TextForm::Lines, last) => matches!(last, Some(b'\n' | b'\r')),
            (None, _, last) => last == Some(&b'\n'),
        };
        let (after, truncated) = self.last_line(workspace, &page, ends_in_break)?;
        let note = page.found_encoding();
        let found = note.as_ref().map(|_| page.read.encoding.name());
        let meta = version_meta(&page.read.version)
            .with_some("file-editor/encoding", found.as_ref())
            .with_some("file-editor/truncated", truncated.as_ref());
        let Some(copy) = copy else {
            let (excerpt, keeps_breaks) = (Some(page.read.excerpt), form == TextForm::AsIs);
            return Ok(Reply { excerpt, keeps_breaks, after, note, meta, ..Reply::default() });
        };
        let text = copy + &after;
        let data = if wanted.data { Members::default().with("content", &text) } else { Members::default() };
        Ok(Reply { text, data, note, meta, ..Reply::default() })
    }
}

impl ReadTextFile {
    /// Bytes of the last line of an answer that was cut: it holds the path.
    fn room_for_last_line(&self) -> usize {
        let escaped = |byte: u8| 1 + usize::from(matches!(byte, b'"' | b'\\'));
        LAST_LINE + self.path.sent().bytes().map(escaped).sum::<usize>()
    }

    /// The error of a read behind a cursor. In a file that has changed since, the place may be inside of anything; in any
    /// other, a place that is not there was made up.
    fn as_change(&self, workspace: &Workspace, error: Error) -> Error {
        let Some(cursor) = &self.cursor else { return error };
        let is_of_place = matches!(error, Error::StartPastEnd { .. } | Error::InvalidRange { .. });
        let is_of_text =
            matches!(error, Error::OtherEncoding { .. } | Error::NotText { .. } | Error::Undecodable { .. });
        if !is_of_place && !is_of_text {
            return error;
        }
        match workspace.stamp(&self.path) {
            Ok(stamp) if state_of(&stamp) != cursor.state => Error::Changed { name: self.path.sent().into() },
            _ if is_of_place => wrong_cursor(),
            _ => error,
        }
    }

    /// The last line of an answer that was cut, or that continues a changed file, and what `_meta` says of a cut.
    fn last_line(
        &self,
        workspace: &Workspace,
        page: &TextPage,
        ends_in_break: bool,
    ) -> Result<(String, Option<serde_json::Value>)> {
        let has_changed = self.cursor.as_ref().is_some_and(|cursor| cursor.state != page.state());
        let note = if has_changed { "\n[The file has changed since the cursor was made]" } else { "" };
        if !page.read.is_cut {
            return Ok((note.into(), None));
        }
        let (next, shown) = (page.next(workspace)?, page.shown());
        let break_before = if ends_in_break { "" } else { "\n" };
        let text = format!("{break_before}[Shown: {shown}. Go on with {GOES_ON} {next}]{note}");
        let (shown, size) = (page.read.at.end - page.read.at.start, page.read.size);
        Ok((text, Some(json!({ "shown": shown, "of": size, "next": next }))))
    }
}
