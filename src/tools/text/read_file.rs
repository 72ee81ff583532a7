//! `read_file`: a text file in any encoding, a range of its lines, or those of them that match (contract 15).
//!
//! What needs no look at each line is a page of the text; the other calls filter its lines.

use super::filter::{Filter, LineForm};
use crate::tools::arguments::{Natural, Request, StartLine, Takes, arguments};
use crate::tools::cursor::Cursor;
use crate::tools::page_call::PageCall;
use crate::tools::text_page::{Reader, TextForm, WantedText};
use crate::tools::{Call, LineBase, OutputKinds, ParseOptions, Reply, Tool, wrong_cursor};
use engine::{LineEnd, LineRange, LineSpan, TextPart, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::encoding::EncodingChoice;

pub(crate) static TOOL: Tool = Tool {
    name: READER.tool,
    title: "Read File",
    description: "Read a text file in any of the encodings listed: all of it, or the lines start_line to end_line (lines \
        count from {first}, both included; -20 is the 20th line before the end), of these those that match pattern, without \
        blank ones (skip_empty), at most max_lines. line_numbers: true puts the number in the file and a tab before each \
        line. A long answer ends in a line with the call that goes on. \
        Example: {\"filename\":\"src/main.rs\",\"start_line\":{first},\"end_line\":99}",
    instructions: "",
    takes: Takes::of::<ReadArguments>(),
    output_schema: None,
    writes: false,
    destructive: false,
    idempotent: true,
    direct: true,
};

/// What goes on behind a page of a text.
pub(super) const READER: Reader =
    Reader { tool: "read_file", key: "text", path: "filename", lines: None, tells_place: true };

arguments! {
    pub(super) struct ReadArguments {
        /// Path of the file
        filename: FilePath,
        /// First line, counted from {first}; -20: the last 20 lines
        start_line: Option<StartLine>,
        /// Last line, counted from {first}, included; -1: the last one
        end_line: Option<StartLine>,
        /// Encoding of the file, such as shift_jis or koi8-r; auto finds it
        encoding: EncodingChoice = "utf-8",
        /// Whether each line begins with its number and a tab
        line_numbers as "line_numbers" or "lineNumbers": bool = false,
        /// Whether lines of blanks only are left out
        skip_empty as "skip_empty" or "skipEmpty": bool = false,
        /// How many lines at most; 0: all
        max_lines as "max_lines" or "maxLines": Option<Natural>,
        /// Only lines that match this regular expression (Rust syntax)
        pattern: Option<String>,
        /// Where an earlier answer says that the text goes on
        cursor: Option<Cursor>,
    }
}

impl Request for ReadArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(self.into_read(options, READER)?))
    }
}

/// A parsed call.
#[derive(Debug)]
pub(super) struct ReadText {
    pub(super) path: FilePath,
    way: Way,
    pub(super) cursor: Option<Cursor>,
    /// The first of the other arguments that choose a part of the text.
    pub(super) chooses: Option<&'static str>,
    base: LineBase,
    limit: Option<usize>,
}

/// How the wanted part of a text is read.
#[derive(Debug)]
enum Way {
    /// As a page.
    Page(WantedText),
    /// Line by line.
    Filter(Filter),
}

impl ReadArguments {
    /// The call of `reader` with these arguments.
    pub(super) fn into_read(self, options: ParseOptions, reader: Reader) -> Result<ReadText> {
        let chooses = [
            ("start_line", self.start_line.is_some()),
            ("end_line", self.end_line.is_some()),
            ("skip_empty", self.skip_empty),
            ("max_lines", self.max_lines.is_some_and(|most| most.0 > 0)),
            ("pattern", self.pattern.is_some()),
        ];
        let chooses = chooses.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        if let (Some(name), Some(_)) = (chooses, &self.cursor) {
            let problem = format!("it holds the place where the text goes on; leave {name} out");
            return Err(Error::InvalidArguments { at: "cursor".into(), problem });
        }
        let (base, limit) = (options.base, options.limit.bytes);
        let way = self.way(reader);
        Ok(ReadText { path: self.filename, way, cursor: self.cursor, chooses, base, limit })
    }

    fn way(&self, reader: Reader) -> Way {
        let most = self.max_lines.map(|most| most.0).filter(|most| *most > 0);
        let part = match (self.start_line, self.end_line, most) {
            _ if self.pattern.is_some() || self.skip_empty => None,
            (Some(StartLine::FromEnd(count)), None, None) => Some(TextPart::LastLines(count)),
            (start @ Some(StartLine::FromEnd(_)), end, most)
            | (start, end @ Some(StartLine::FromEnd(_)), most) => {
                let span = LineSpan { start: start.map(line_end), end: end.map(line_end) };
                Some(TextPart::Span { span, most })
            }
            (start, end, most) => Some(TextPart::Lines(at_most(start.and_then(at), end.and_then(at), most))),
        };
        let (encoding, numbers) = (self.encoding, self.line_numbers);
        match part {
            Some(part) => {
                let is_whole = part == TextPart::Lines(LineRange::default());
                let (part, form) = match (is_whole, numbers) {
                    (true, false) => (TextPart::Whole, TextForm::AsIs),
                    (_, true) => (part, TextForm::Numbered),
                    (_, false) => (part, TextForm::Lines),
                };
                Way::Page(WantedText { part, form, encoding, reader })
            }
            None => Way::Filter(Filter {
                span: LineSpan { start: self.start_line.map(line_end), end: self.end_line.map(line_end) },
                pattern: self.pattern.clone(),
                skip_empty: self.skip_empty,
                most,
                form: LineForm { numbers, encoding, reader },
            }),
        }
    }
}

/// The line, if it is counted from the first one.
fn at(line: StartLine) -> Option<u64> {
    match line {
        StartLine::At(line) => Some(line),
        StartLine::FromEnd(_) => None,
    }
}

fn line_end(line: StartLine) -> LineEnd {
    match line {
        StartLine::At(line) => LineEnd::At(line),
        StartLine::FromEnd(count) => LineEnd::FromEnd(count),
    }
}

/// The range, at most so many lines of it.
fn at_most(start: Option<u64>, end: Option<u64>, most: Option<u64>) -> LineRange {
    let last = most.map(|most| start.unwrap_or(0).saturating_add(most - 1));
    LineRange { start, end: end.into_iter().chain(last).min() }
}

impl Call for ReadText {
    fn file(&self) -> Option<&FilePath> {
        Some(&self.path)
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let (path, base, limit, cursor) = (&self.path, self.base, self.limit, self.cursor.as_ref());
        match &self.way {
            Way::Page(text) => {
                let wanted_text = match cursor {
                    Some(cursor) => page_behind(cursor, *text)?,
                    None => *text,
                };
                PageCall { path, wanted: wanted_text, cursor, base, limit: limit.into() }
                    .reply(workspace, wanted, control)
            }
            Way::Filter(filter) => filter.reply(path, base, limit, workspace, wanted, control),
        }
    }
}

/// The text behind a cursor, in the form that the call asks for.
fn page_behind(cursor: &Cursor, asked: WantedText) -> Result<WantedText> {
    let wanted = WantedText::at(&cursor.after, asked.encoding, asked.reader).ok_or_else(wrong_cursor)?;
    let has_form = asked.form != TextForm::Numbered || wanted.form == TextForm::Numbered;
    if has_form { Ok(wanted) } else { Err(wrong_cursor()) }
}
