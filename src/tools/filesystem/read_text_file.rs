//! `read_text_file`, and its older name `read_file`: a text file, its beginning, its end, or a range of its lines.

use super::CONTENT;
use crate::tools::arguments::{Count, Line, Natural, Request, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::page_call::PageCall;
use crate::tools::text_page::{Reader, TextForm, WantedText};
use crate::tools::{AnswerLimit, Call, LineBase, OutputKinds, ParseOptions, Reply, Tool, wrong_cursor};
use engine::{LineRange, TextPart, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::encoding::EncodingChoice;

pub(crate) static TOOL: Tool = Tool {
    name: READER.tool,
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
    description: "{?read_text_file|The older name of read_text_file, with the same arguments.|Read a text file, or a part of it.}",
    ..TOOL
};

/// What goes on behind every page of a text.
pub(super) const READER: Reader =
    Reader { tool: "read_text_file", key: "read_text_file", path: "path", lines: None, tells_place: false };

arguments! {
    struct ReadArguments {
        /// Path of the file
        path: FilePath,
        /// Only the first lines: how many
        head: Option<Natural>,
        /// Only the last lines: how many, with the empty one behind a last line break
        tail: Option<Natural>,
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
        /// Encoding of the file, such as shift_jis or koi8-r; auto finds it
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
    limit: AnswerLimit,
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
        let count = |lines: Option<Natural>| lines.map(|lines| lines.0).filter(|count| *count > 0);
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
            let wanted = WantedText::at(&cursor.after, self.encoding, READER).ok_or_else(wrong_cursor)?;
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
        Ok(WantedText { part, form, encoding: self.encoding, reader: READER })
    }
}

impl Call for ReadTextFile {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let (cursor, path) = (self.cursor.as_ref(), &self.path);
        let call = PageCall { path, wanted: self.wanted, cursor, base: self.base, limit: self.limit };
        call.reply(workspace, wanted, control)
    }
}
