//! `read_multiple_files`: several text files, or ranges of them, in one answer.

use std::fmt::Write;
use std::time::Instant;

use serde_json::json;

use super::CONTENT;
use super::read_text_file::READER;
use crate::tools::arguments::{Argument, Line, List, Request, Takes, Value, arguments, is_object};
use crate::tools::encoding_failure::escapes;
use crate::tools::limited::{MAX_TOKENS, content, within_tokens};
use crate::tools::text_page::{TextForm, TextPage, WantedText, found_encoding};
use crate::tools::{Call, ErrorText, Guide, Members, OutputKinds, ParseOptions, Reply, Tool};
use engine::{LineRange, TextPart, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::encoding::EncodingChoice;

/// Maximum number of files in one call.
const MAX_FILES: usize = 1_000;

/// What stands between two files.
const SEPARATOR: &str = "\n---\n";

/// Room for the last line, in bytes. A path is not longer than 4,096.
const LAST_LINE: usize = 4_608;

/// The least that is shown of a file, in bytes, if it has so much. Rather fewer files are shown.
const MIN_SHARE: usize = 1_024;

/// Room for what is said of one file that was cut, in bytes.
const CUT_LINE: usize = 256;

pub(crate) static TOOL: Tool = Tool {
    name: "read_multiple_files",
    title: "Read Multiple Files",
    description: "Read several text files at once. An item of paths is a path, or an object {\"path\",\"start_line\",\"end_line\",\"encoding\"} \
        for a range of lines (from {first}, both ends included) or another encoding than UTF-8. Each file's text follows its path; the error of one file \
        stands in its place. All texts share one limit, so long files may be cut; a line says how to go on. Example: \
        {\"paths\":[\"a.txt\",\"b.txt\"]}",
    instructions: "",
    takes: Takes::of::<MultipleArguments>(),
    output_schema: Some(CONTENT),
    writes: false,
    destructive: false,
    idempotent: true,
    direct: false,
};

arguments! {
    struct MultipleArguments {
        /// Paths of the files
        paths: List<Wanted, 1, MAX_FILES>,
    }
}

arguments! {
    struct Ranged {
        /// Path of the file
        path: String,
        /// First line, counted from {first}
        start_line: Option<Line>,
        /// Last line, counted from {first}, included
        end_line: Option<Line>,
        /// Encoding of the file, such as shift_jis or koi8-r; auto finds it
        encoding: EncodingChoice = "utf-8",
    }
}

/// One file. Its path is parsed late, because a wrong one concerns only its own place in the answer.
#[derive(Debug)]
struct Wanted {
    sent: String,
    path: Result<FilePath>,
    range: LineRange,
    encoding: EncodingChoice,
}

impl Argument for Wanted {
    fn expected() -> String {
        "a path, or an object with path, start_line, end_line and encoding".into()
    }

    fn schema(out: &mut String) {
        // Objects are taken too. Many clients take no schema of two types.
        String::schema(out);
    }

    fn read(value: &Value) -> Result<Wanted> {
        let (sent, range, encoding) = if is_object(value.json()) {
            let Ranged { path, start_line, end_line, encoding } = Ranged::read(value)?;
            let line = |line: Option<Line>| line.map(|line| line.0);
            (path, LineRange { start: line(start_line), end: line(end_line) }, encoding)
        } else {
            (value.string()?, LineRange::default(), EncodingChoice::default())
        };
        let path = value.options().path(&sent);
        Ok(Wanted { sent, path, range, encoding })
    }
}

#[derive(Debug)]
struct ReadMultipleFiles {
    files: Vec<Wanted>,
    guide: Guide,
    limit: Option<usize>,
}

impl Request for MultipleArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        let (guide, limit) = (options.guide(), options.limit);
        Ok(Box::new(ReadMultipleFiles { files: self.paths.0, guide, limit }))
    }
}

impl Call for ReadMultipleFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn other_files(&self) -> Vec<&FilePath> {
        self.files.iter().filter_map(|file| file.path.as_ref().ok()).collect()
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let sizes = self.sizes(workspace);
        // Texts that fit come whole. Of any others, there is room for what is said of a cut.
        if let Some(limit) =
            self.limit.filter(|limit| self.needs(&sizes).is_some_and(|bytes| bytes <= *limit))
        {
            let shares = sizes.iter().map(|size| size.map(|size| size.max(1))).collect();
            if let Some(reply) = self.told(shares, Some(limit), true, workspace, wanted, control)? {
                return Ok(reply);
            }
        }
        let shares = self.shares(&sizes);
        let reply = self.told(shares, self.limit.map(room_in), false, workspace, wanted, control)?;
        Ok(reply.unwrap_or_default())
    }
}

impl ReadMultipleFiles {
    /// The texts in an answer of at most `room` bytes. `None` if all of them are wanted and do not fit.
    fn told(
        &self,
        shares: Vec<Option<usize>>,
        room: Option<usize>,
        all: bool,
        workspace: &Workspace,
        wanted: OutputKinds,
        control: &Control,
    ) -> Result<Option<Reply>> {
        let arrived = Instant::now();
        let (mut text, mut shown) = (String::new(), 0);
        let (mut cut, mut versions) = (serde_json::Map::new(), serde_json::Map::new());
        for (file, share) in self.files.iter().zip(shares) {
            control.progress(shown as u64, Some(self.files.len() as u64));
            let before = text.len();
            text.push_str(if shown == 0 { "" } else { SEPARATOR });
            let (mut rest, mut version) = (None, None);
            // The error of one file is no error of the call, so its caller does not wait for a lost mount.
            let mut wait = workspace.mount_wait(arrived);
            let read = loop {
                match self.read(workspace, file, share, control) {
                    Err(error) if !switches::is_off("read-many-waits") && wait.again(&error, control) => {}
                    read => break read,
                }
            };
            match read.and_then(|page| Ok((push_file(&mut text, workspace, file, &page)?, page))) {
                Ok((next, page)) => {
                    rest = next;
                    version = Some(page.read.version.to_string());
                }
                Err(error @ (Error::TimedOut | Error::Cancelled)) => return Err(error),
                Err(error) => self.push_error(&mut text, file, &error),
            }
            let has_tokens =
                |text: &str| within_tokens(text.as_bytes(), MAX_TOKENS - LAST_LINE) == text.len();
            let is_over = room.is_some_and(|room| text.len() > room || !has_tokens(&text));
            if all && (is_over || rest.is_some()) {
                return Ok(None);
            }
            if shown > 0 && is_over {
                text.truncate(before);
                break;
            }
            shown += 1;
            cut.extend(rest.map(|next| (file.sent.clone(), next)));
            versions.extend(version.map(|version| (file.sent.clone(), json!(version))));
        }
        let mut meta = Members::default().with("file-editor/versions", &versions);
        if !cut.is_empty() || shown < self.files.len() {
            let next = self.last_line(&mut text, shown);
            let truncated = json!({ "shown": shown, "of": self.files.len(), "next": next, "cut": cut });
            meta = meta.with("file-editor/truncated", &truncated);
        }
        Ok(Some(Reply { meta, ..content(text, wanted) }))
    }

    /// The sizes of the files in bytes; `None` of those that are not there.
    fn sizes(&self, workspace: &Workspace) -> Vec<Option<usize>> {
        let info = |file: &Wanted| file.path.as_ref().ok().and_then(|path| workspace.info(path).ok());
        self.files.iter().map(|file| info(file).map(|info| info.size as usize)).collect()
    }

    /// Bytes of an answer with all of these texts, if they are there and UTF-8.
    fn needs(&self, sizes: &[Option<usize>]) -> Option<usize> {
        let around = |file: &Wanted| file.sent.len() + ":\n\n".len() + SEPARATOR.len();
        let texts: usize = sizes.iter().copied().sum::<Option<usize>>()?;
        Some(texts + self.files.iter().map(around).sum::<usize>())
    }

    /// How many bytes of each file are shown. Small files are shown whole; the others share what is left.
    fn shares(&self, sizes: &[Option<usize>]) -> Vec<Option<usize>> {
        let Some(limit) = self.limit else { return vec![None; self.files.len()] };
        let overhead: usize = self.files.iter().map(|file| 3 * file.sent.len() + CUT_LINE).sum();
        let room = room_in(limit);
        let mut left = room - overhead.min(room / 2);
        let mut sizes: Vec<(usize, usize)> =
            sizes.iter().enumerate().map(|(number, size)| (size.unwrap_or(0), number)).collect();
        sizes.sort_unstable();
        let mut shares = vec![None; self.files.len()];
        for (position, &(size, number)) in sizes.iter().enumerate() {
            let share = size.min(left / (sizes.len() - position));
            shares[number] = Some(share.max(MIN_SHARE.min(limit / 4)));
            left -= share.min(left);
        }
        shares
    }

    fn read<'f>(
        &self,
        workspace: &Workspace,
        file: &'f Wanted,
        share: Option<usize>,
        control: &Control,
    ) -> Result<TextPage<'f>> {
        let path = match &file.path {
            Ok(path) => path,
            // The error was found when the arguments were parsed; its words do not depend on the file.
            Err(Error::InvalidName { problem }) => {
                return Err(Error::InvalidName { problem: problem.clone() });
            }
            Err(_) => return Err(Error::InvalidArguments { at: "paths".into(), problem: "no path".into() }),
        };
        let (part, form) = match file.range.is_whole() {
            true => (TextPart::Whole, TextForm::AsIs),
            false => (TextPart::Lines(file.range), TextForm::Lines),
        };
        let wanted = WantedText { part, form, encoding: file.encoding, reader: READER };
        TextPage::read(workspace, path, wanted, self.guide.base, share, control)
    }

    /// Adds the error of one file, in one line.
    fn push_error(&self, text: &mut String, file: &Wanted, error: &Error) {
        let message = ErrorText::of(error, self.guide, 0).text().replace('\n', " ");
        let message = message.trim_start_matches("Error: ");
        // A write to a String cannot fail.
        let _ = write!(text, "{}: Error - {message}", file.sent);
    }

    /// Adds the line that says how many files are shown. Returns the arguments of the call for the others.
    fn last_line(&self, text: &mut String, shown: usize) -> serde_json::Value {
        if shown == self.files.len() {
            return serde_json::Value::Null;
        }
        let item = |file: &Wanted| {
            let mut item = json!({ "path": file.sent });
            let line = |line: u64| json!(line + self.guide.base.first());
            let LineRange { start, end } = file.range;
            start.into_iter().for_each(|start| item["start_line"] = line(start));
            end.into_iter().for_each(|end| item["end_line"] = line(end));
            if file.encoding != EncodingChoice::default() {
                item["encoding"] = json!(file.encoding.name());
            }
            if item.as_object().is_some_and(|item| item.len() == 1) { json!(file.sent) } else { item }
        };
        let (total, next) = (self.files.len(), &self.files[shown].sent);
        // A write to a String cannot fail.
        let _ = write!(
            text,
            "{SEPARATOR}[Shown: {shown} of {total} files. Go on with read_multiple_files from {next}]"
        );
        json!({ "paths": self.files[shown..].iter().map(item).collect::<Vec<_>>() })
    }
}

/// Bytes for the files in an answer of at most `limit` bytes.
fn room_in(limit: usize) -> usize {
    limit - LAST_LINE.min(limit / 2)
}

/// Adds a file's path and text, or nothing if there is an error. Returns the arguments of the call for the rest of a text
/// that is cut.
fn push_file(
    text: &mut String,
    workspace: &Workspace,
    file: &Wanted,
    page: &TextPage,
) -> Result<Option<serde_json::Value>> {
    let part = page.text()?;
    let next = page.read.is_cut.then(|| page.next(workspace)).transpose()?;
    for piece in [&*file.sent, ":\n", &part] {
        text.push_str(piece);
    }
    if let Some(next) = &next {
        let separator = if part.ends_with('\n') { "" } else { "\n" };
        // A write to a String cannot fail.
        let _ = write!(text, "{separator}[Shown: {}. Go on with {} {next}]", page.shown(), READER.tool);
    }
    let found = found_encoding(page.read.encoding, page.read.encoding_source);
    if let Some(found) = found.or_else(|| page.read.likely().map(escapes)) {
        let separator = if text.ends_with('\n') { "" } else { "\n" };
        let _ = write!(text, "{separator}[{found}]");
    }
    text.push('\n');
    Ok(next)
}
