//! A page of a text (contract 11): what it shows, how, and the arguments of the call that goes on behind it.
//!
//! Knows which bytes of a file an answer holds. The tools that read texts parse the arguments.

use serde_json::json;

use crate::tools::cursor::{Cursor, call_key, state_of};
use crate::tools::limited::within_tokens;
use crate::tools::numbered::{Numbering, count_breaks, fitting, numbered, with_lf};
use crate::tools::{AnswerLimit, LineBase};
use engine::{LineEnd, LineRange, LineSink, LineSpan, PartRead, TextPart, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::OtherEncoding;
use text::encoding::{Encoding, EncodingChoice, EncodingSource};

/// Tokens for the lines before and behind a page.
const LAST_LINES: usize = 1_000;

/// Tokens of the number of a line and what stands behind it.
const TOKENS_OF_NUMBER: usize = 3;

/// What an answer with first or last lines says of a text with a lone `\r`. The reference server counts them so.
const LONE_CR: &str = "Lines of head and tail end in \\n. This text has lines that end in \\r alone: start_line, end_line, offset, limit and \
    line_numbers count them";

/// What an answer with no last line but an empty one says. The reference server counts so.
const EMPTY_TAIL: &str = "The text ends in a line break, and tail counts the empty line behind it: for the last line of text, pass a tail \
    that is larger by 1";

/// The tool that goes on behind a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reader {
    /// Its name.
    pub(super) tool: &'static str,
    /// What cursors into its texts belong to: a name that readers of the same arguments share.
    pub(super) key: &'static str,
    /// Its argument for the path.
    pub(super) path: &'static str,
    /// Its argument for a range of lines, such as `"120-180"`. `None`: it has start_line and end_line.
    pub(super) lines: Option<&'static str>,
    /// Whether its error for bytes that are no UTF-8 tells their place, which takes one more pass over the file.
    pub(super) tells_place: bool,
}

/// How a text is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    /// Byte by byte.
    AsIs,
    /// Each CRLF as `\n`: so the reference server tells the end of a file.
    WithoutCrlf,
    /// As lines, joined by `\n`.
    Lines,
    /// As lines, each behind its number.
    Numbered,
}

/// A part of a text, and how it is told.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedText {
    pub(super) part: TextPart,
    pub(super) form: TextForm,
    pub(super) encoding: EncodingChoice,
    pub(super) reader: Reader,
}

impl WantedText {
    /// Reads where a text goes on, as a cursor keeps it.
    pub(super) fn at(position: &str, encoding: EncodingChoice, reader: Reader) -> Option<WantedText> {
        let mut words = position.split(' ');
        let (kind, byte) = (words.next()?, words.next()?.parse().ok()?);
        let number = words.next().map(|word| word.parse::<u64>().ok());
        let end = words.next().map(|word| word.parse::<u64>().ok());
        let lines = |start: u64, end| LineRange { start: Some(start), end };
        let (part, form) = match (kind, number, end) {
            ("text", None, None) => (TextPart::From { byte, pieces: None }, TextForm::AsIs),
            ("head", Some(Some(count)), None) => {
                (TextPart::From { byte, pieces: Some(count) }, TextForm::AsIs)
            }
            ("tail", None, None) => (TextPart::From { byte, pieces: None }, TextForm::WithoutCrlf),
            ("lines", Some(Some(first)), Some(end)) => {
                (TextPart::LinesFrom { range: lines(first, end), byte }, TextForm::Lines)
            }
            ("numbered", Some(Some(first)), Some(end)) => {
                (TextPart::LinesFrom { range: lines(first, end), byte }, TextForm::Numbered)
            }
            _ => return None,
        };
        Some(WantedText { part, form, encoding, reader })
    }

    /// The last line that is wanted, if the part is lines; `Some(None)`: the last of the file.
    fn last_line(&self) -> Option<Option<u64>> {
        match self.part {
            TextPart::Lines(range) | TextPart::LinesFrom { range, .. } => Some(range.end),
            TextPart::LastLines(_) => Some(None),
            _ => None,
        }
    }

    /// The part begins inside a line, or at least not at the beginning of what was wanted.
    fn goes_on(&self) -> bool {
        matches!(self.part, TextPart::LinesFrom { .. } | TextPart::From { .. })
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct TextPage<'p> {
    path: &'p FilePath,
    wanted: WantedText,
    base: LineBase,
    pub(super) read: PartRead,
}

impl<'p> TextPage<'p> {
    /// Reads as much of the part as is within `limit`.
    pub(super) fn read(
        workspace: &Workspace,
        path: &'p FilePath,
        wanted: WantedText,
        base: LineBase,
        limit: AnswerLimit,
        control: &Control,
    ) -> Result<TextPage<'p>> {
        let read = workspace.read_part(path, wanted.part, wanted.encoding, limit.bytes, control);
        let read = read.map_err(|error| {
            let tells_place = wanted.reader.tells_place;
            let error = if tells_place { with_place(workspace, path, error, control) } else { error };
            let error = with_likely_encoding(workspace, path, error, control);
            // Of what is likely UTF-8, the place says what to mend.
            let is_utf_8 = matches!(&error, Error::OtherEncoding(other) if other.likely.is_none());
            if is_utf_8 { with_place(workspace, path, error, control) } else { error }
        })?;
        let part = read.total_lines.map_or(wanted.part, |total| wanted.part.counted(total));
        let mut page = TextPage { path, wanted: WantedText { part, ..wanted }, base, read };
        if let Some(bytes) = limit.bytes {
            if wanted.form == TextForm::Numbered {
                page.cut(bytes);
            }
            page.cut_to_tokens(limit);
        }
        Ok(page)
    }

    /// Cuts the page to at most `limit` bytes of text, as the read does.
    pub(super) fn cut(&mut self, limit: usize) {
        let fits = match self.wanted.form {
            TextForm::Numbered => fitting(self.read.excerpt.bytes(), self.numbering(), limit),
            _ => limit,
        };
        if !switches::is_off("page-numbers") {
            self.read.cut(fits);
        }
    }

    /// Leaves out what would be more tokens than an answer may hold, from a line on if that is possible.
    fn cut_to_tokens(&mut self, limit: AnswerLimit) {
        let bytes = self.read.excerpt.bytes();
        let (most, least) = (limit.tokens_without(LAST_LINES), limit.tokens / 4);
        let mut fits = within_tokens(bytes, most);
        if self.wanted.form == TextForm::Numbered && fits > least {
            let numbers = TOKENS_OF_NUMBER * count_breaks(&bytes[..fits]);
            fits = within_tokens(bytes, most.saturating_sub(numbers).max(least));
        }
        if fits < bytes.len() {
            let line = memchr::memrchr(b'\n', &bytes[..fits]).map_or(fits, |at| at + 1);
            self.read.cut(line);
        }
    }

    /// A copy of the text as it is told.
    pub(super) fn text(&self) -> Result<String> {
        let excerpt = &self.read.excerpt;
        let text = excerpt.text(self.path.sent())?;
        Ok(match self.wanted.form {
            TextForm::WithoutCrlf if text.contains('\r') => text.replace("\r\n", "\n"),
            TextForm::AsIs | TextForm::WithoutCrlf => text,
            TextForm::Numbered if excerpt.lines.is_empty() => text,
            TextForm::Numbered => numbered(&text, self.numbering()),
            TextForm::Lines => {
                let text = with_lf(&text);
                // A cut text ends in the break of its last line.
                let end = if self.read.is_cut { text.strip_suffix('\n') } else { None };
                end.unwrap_or(&text).to_owned()
            }
        })
    }

    /// Whether the page, or its copy, ends in a line break as it is told.
    pub(super) fn ends_in_break(&self, copy: Option<&str>) -> bool {
        match (copy, self.wanted.form, self.read.excerpt.bytes().last()) {
            (Some(copy), ..) => copy.ends_with('\n'),
            (None, TextForm::Lines, last) => matches!(last, Some(b'\n' | b'\r')),
            (None, _, last) => last == Some(&b'\n'),
        }
    }

    fn numbering(&self) -> Numbering {
        let first = self.read.first_line.unwrap_or(0) + self.base.first();
        Numbering { first, goes_on: self.wanted.goes_on(), is_cut: self.read.is_cut }
    }

    /// Line breaks in the page.
    fn breaks(&self) -> u64 {
        count_breaks(self.read.excerpt.bytes()) as u64
    }

    /// What is told of first or last lines that are other ones than those that ranges count.
    pub(super) fn other_lines(&self) -> Option<String> {
        if matches!(self.wanted.part, TextPart::Tail(_)) && self.read.at.is_empty() && self.read.size > 0 {
            return Some(EMPTY_TAIL.to_owned());
        }
        let by_lf = matches!(self.wanted.part, TextPart::Head(_) | TextPart::Tail(_));
        let is_told = by_lf && has_lone_cr(self.read.excerpt.bytes()) && !switches::is_off("head-lone-cr");
        is_told.then(|| LONE_CR.to_owned())
    }

    /// The state of the file, as a cursor keeps it.
    pub(super) fn state(&self) -> u64 {
        state_of(self.read.excerpt.stamp())
    }

    /// What a page that was cut shows, and of how much.
    pub(super) fn shown(&self) -> String {
        let PartRead { at, size, first_line, total_lines, .. } = &self.read;
        match (first_line, total_lines) {
            (Some(first), Some(total)) if self.read.ends_a_line() && !self.wanted.goes_on() => {
                let first = first + self.base.first();
                format!("lines {first}-{} of {total} lines", first + self.breaks() - 1)
            }
            _ => format!("bytes {}-{} of {size} bytes", at.start, at.end),
        }
    }

    /// The arguments of the call that goes on behind a page that was cut: at a line, or with a cursor.
    pub(super) fn next(&self, workspace: &Workspace) -> Result<serde_json::Value> {
        let mut next = json!({ (self.wanted.reader.path): self.path.sent() });
        let encoding = self.next_encoding();
        if encoding != EncodingChoice::default() {
            next["encoding"] = json!(encoding.name());
        }
        match self.wanted.last_line() {
            Some(end) if self.read.ends_a_line() => {
                let line = self.read.first_line.unwrap_or(0) + self.breaks() + self.base.first();
                let end = end.map(|end| end.saturating_add(self.base.first()));
                if let Some(lines) = self.wanted.reader.lines {
                    let end = end.map_or(String::new(), |end| end.to_string());
                    next[lines] = json!(format!("{line}-{end}"));
                } else {
                    next["start_line"] = json!(line);
                    end.into_iter().for_each(|end| next["end_line"] = json!(end));
                }
            }
            _ => {
                let call = text_key(workspace, self.path, encoding, self.wanted.reader)?;
                next["cursor"] = json!(Cursor { call, after: self.position(), state: self.state() }.text());
            }
        }
        if self.wanted.form == TextForm::Numbered {
            next["line_numbers"] = json!(true);
        }
        Ok(next)
    }

    /// The lines behind a page that was cut, as an object with a path; `None` if it ends inside a line.
    pub(super) fn next_lines(&self) -> Option<serde_json::Value> {
        let first = self.read.first_line.filter(|_| self.read.ends_a_line() && !self.wanted.goes_on())?;
        let mut item =
            json!({ "path": self.path.sent(), "start_line": first + self.breaks() + self.base.first() });
        if let Some(Some(end)) = self.wanted.last_line() {
            item["end_line"] = json!(end.saturating_add(self.base.first()));
        }
        let encoding = self.next_encoding();
        if encoding != EncodingChoice::default() {
            item["encoding"] = json!(encoding.name());
        }
        Some(item)
    }

    /// The encoding for the next page. What was found for this one is kept.
    fn next_encoding(&self) -> EncodingChoice {
        match (self.wanted.encoding, self.read.encoding_source) {
            (EncodingChoice::Auto, source) if source != EncodingSource::Given => {
                EncodingChoice::Is(self.read.encoding)
            }
            (encoding, _) => encoding,
        }
    }

    /// Where the text goes on behind the page, as [`WantedText::at`] reads it.
    fn position(&self) -> String {
        let end = self.read.at.end;
        if let Some(last) = self.wanted.last_line() {
            let word = if self.wanted.form == TextForm::Numbered { "numbered" } else { "lines" };
            let last = last.map_or_else(|| "-".to_owned(), |last| last.to_string());
            return format!("{word} {end} {} {last}", self.read.first_line.unwrap_or(0) + self.breaks());
        }
        match self.wanted.part {
            TextPart::Head(count) | TextPart::From { pieces: Some(count), .. } => {
                let shown = memchr::memchr_iter(b'\n', self.read.excerpt.bytes()).count() as u64;
                format!("head {end} {}", count.saturating_sub(shown))
            }
            _ if self.wanted.form == TextForm::WithoutCrlf => format!("tail {end}"),
            _ => format!("text {end}"),
        }
    }
}

/// Whether a line of a text ends in a `\r` alone, unless its break may go on behind the text.
fn has_lone_cr(text: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', text).any(|at| text.get(at + 1).is_some_and(|next| *next != b'\n'))
}

/// What a cursor into the text of this file in this encoding belongs to.
pub(super) fn text_key(
    workspace: &Workspace,
    path: &FilePath,
    encoding: EncodingChoice,
    reader: Reader,
) -> Result<u64> {
    let encoding = if switches::is_off("encoding-cursor") || encoding == EncodingChoice::default() {
        ""
    } else {
        encoding.name()
    };
    call_key(workspace, reader.key, path, encoding)
}

/// What is told of an encoding that the server has found.
pub(super) fn found_encoding(encoding: Encoding, source: EncodingSource) -> Option<String> {
    let name = encoding.name();
    match source {
        EncodingSource::Given => None,
        EncodingSource::Mark => Some(format!("Encoding: {name} (by its byte order mark)")),
        EncodingSource::Guess => Some(format!("Encoding: {name} (guessed)")),
        EncodingSource::WeakGuess => Some(format!("Encoding: {name} (guessed, unsure)")),
    }
}

/// The error for a file that is not text in UTF-8, with the place of the first bytes that are none.
pub(super) fn with_place(workspace: &Workspace, path: &FilePath, error: Error, control: &Control) -> Error {
    struct Nothing;
    impl LineSink for Nothing {
        fn begin(&mut self) {}

        fn take(&mut self, _: u64, _: &str) -> Result<bool> {
            Ok(true)
        }
    }
    let error = match error {
        Error::InvalidUtf8 => error,
        Error::OtherEncoding(other) => {
            let OtherEncoding { name, error, likely } = *other;
            return OtherEncoding { name, error: with_place(workspace, path, error, control), likely }.into();
        }
        error => return error,
    };
    // No line is wanted, so none is too long.
    let span = LineSpan { start: Some(LineEnd::At(u64::MAX)), end: None };
    match workspace.each_line(path, EncodingChoice::default(), span, &mut Nothing, control) {
        Err(placed @ Error::Undecodable { .. }) => placed,
        _ => error,
    }
}

/// The error for a file that is not text in UTF-8, with its likely encoding.
pub(in crate::tools) fn with_likely_encoding(
    workspace: &Workspace,
    path: &FilePath,
    error: Error,
    control: &Control,
) -> Error {
    let is_of_utf_8 = match &error {
        Error::Undecodable { encoding, .. } => *encoding == Encoding::Utf8,
        error => matches!(error, Error::InvalidUtf8 | Error::NotText { .. }),
    };
    if !is_of_utf_8 {
        return error;
    }
    let likely = workspace.likely_encoding(path, control).unwrap_or(None);
    if likely.is_none() && matches!(error, Error::NotText { .. }) {
        return error;
    }
    OtherEncoding { name: path.sent().into(), error, likely }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: Reader =
        Reader { tool: "read", key: "read", path: "path", lines: None, tells_place: false };

    #[test]
    fn only_what_a_page_writes_is_a_position() {
        for position in ["text 5", "head 5 2", "tail 0", "lines 5 1 9", "lines 5 1 -", "numbered 5 1 -"] {
            assert!(WantedText::at(position, EncodingChoice::Auto, READER).is_some(), "{position}");
        }
        for position in [
            "",
            "5",
            "text",
            "text x",
            "text -1",
            "text 5 1",
            "head 5",
            "head 5 -",
            "lines 5 -",
            "lines 5 - 9",
            "file 5",
        ] {
            assert!(WantedText::at(position, EncodingChoice::Auto, READER).is_none(), "{position}");
        }
    }
}
