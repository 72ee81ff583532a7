//! `read_multiple_files`: several text files, or ranges of them, in one answer.

use std::fmt::Write;

use serde_json::json;

use super::CONTENT;
use crate::engine::{Control, Error, FilePath, LineRange, PartRead, Result, TextPart, Workspace};
use crate::tools::arguments::{Argument, Line, List, Request, Takes, Value, arguments, is_object};
use crate::tools::limited::content;
use crate::tools::numbered::{count_breaks, with_lf};
use crate::tools::{Call, ErrorText, LineBase, Members, OutputKinds, ParseOptions, Reply, Tool};

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
    description: "Read several text files at once. An item of paths is a path, or an object {\"path\",\"start_line\",\"end_line\"} \
        for a range of lines (from {first}, both ends included). Each file's text follows its path; the error of one file \
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
    }
}

/// One file. Its path is parsed late, because a wrong one concerns only its own place in the answer.
#[derive(Debug)]
struct Wanted {
    sent: String,
    path: Result<FilePath>,
    range: LineRange,
}

impl Argument for Wanted {
    fn expected() -> String {
        "a path, or an object with path, start_line and end_line".into()
    }

    fn schema(out: &mut String) {
        // Objects are taken too. Many clients take no schema of two types.
        String::schema(out);
    }

    fn read(value: &Value) -> Result<Wanted> {
        let (sent, range) = if is_object(value.json()) {
            let Ranged { path, start_line, end_line } = Ranged::read(value)?;
            let line = |line: Option<Line>| line.map(|line| line.0);
            (path, LineRange { start: line(start_line), end: line(end_line) })
        } else {
            (value.string()?, LineRange::default())
        };
        let path = value.options().path(&sent);
        Ok(Wanted { sent, path, range })
    }
}

#[derive(Debug)]
struct ReadMultipleFiles {
    files: Vec<Wanted>,
    base: LineBase,
    limit: Option<usize>,
}

impl Request for MultipleArguments {
    fn into_call(self, options: ParseOptions) -> Result<Box<dyn Call>> {
        Ok(Box::new(ReadMultipleFiles { files: self.paths.0, base: options.base, limit: options.limit }))
    }
}

impl Call for ReadMultipleFiles {
    fn file(&self) -> Option<&FilePath> {
        None
    }

    fn run(&self, workspace: &Workspace, wanted: OutputKinds, control: &Control) -> Result<Reply> {
        let shares = self.shares(workspace);
        let (mut text, mut cut, mut versions) = (String::new(), 0, serde_json::Map::new());
        let mut shown = 0;
        for (file, share) in self.files.iter().zip(shares) {
            control.progress(shown as u64, Some(self.files.len() as u64));
            let before = text.len();
            text.push_str(if shown == 0 { "" } else { SEPARATOR });
            let (mut is_cut, mut version) = (false, None);
            match self.read(workspace, file, share, control) {
                Ok((read, part)) => {
                    is_cut = self.push_file(&mut text, file, &read, &part);
                    version = Some(read.version.to_string());
                }
                Err(error @ (Error::TimedOut | Error::Cancelled)) => return Err(error),
                Err(error) => self.push_error(&mut text, file, &error),
            }
            let room = self.limit.map_or(usize::MAX, |limit| limit.saturating_sub(LAST_LINE));
            if shown > 0 && text.len() > room {
                text.truncate(before);
                break;
            }
            shown += 1;
            cut += usize::from(is_cut);
            version.into_iter().for_each(|version| drop(versions.insert(file.sent.clone(), json!(version))));
        }
        let mut meta = Members::default().with("file-editor/versions", &versions);
        if cut > 0 || shown < self.files.len() {
            let next = self.last_line(&mut text, shown);
            let truncated = json!({ "shown": shown - cut, "of": self.files.len(), "next": next });
            meta = meta.with("file-editor/truncated", &truncated);
        }
        Ok(Reply { meta, ..content(text, wanted) })
    }
}

impl ReadMultipleFiles {
    /// How many bytes of each file are shown. Small files are shown whole; the others share what is left.
    fn shares(&self, workspace: &Workspace) -> Vec<Option<usize>> {
        let Some(limit) = self.limit else { return vec![None; self.files.len()] };
        let overhead: usize = self.files.iter().map(|file| file.sent.len() + CUT_LINE + 8).sum();
        let mut left = limit.saturating_sub((LAST_LINE + overhead).min(limit / 2));
        let size = |file: &Wanted| {
            let info = file.path.as_ref().ok().and_then(|path| workspace.info(path).ok());
            info.map_or(0, |info| info.size as usize)
        };
        let mut sizes: Vec<(usize, usize)> =
            self.files.iter().map(size).enumerate().map(|(n, s)| (s, n)).collect();
        sizes.sort_unstable();
        let mut shares = vec![None; self.files.len()];
        for (position, &(size, number)) in sizes.iter().enumerate() {
            let share = size.min(left / (sizes.len() - position));
            shares[number] = Some(share.max(MIN_SHARE));
            left -= share.min(left);
        }
        shares
    }

    /// Reads a file, and copies its text.
    fn read(
        &self,
        workspace: &Workspace,
        file: &Wanted,
        share: Option<usize>,
        control: &Control,
    ) -> Result<(PartRead, String)> {
        let path = match &file.path {
            Ok(path) => path,
            // The error was found when the arguments were parsed; its words do not depend on the file.
            Err(Error::InvalidName { problem }) => {
                return Err(Error::InvalidName { problem: problem.clone() });
            }
            Err(_) => return Err(Error::InvalidArguments { at: "paths".into(), problem: "no path".into() }),
        };
        let part = if file.range.is_whole() { TextPart::Whole } else { TextPart::Lines(file.range) };
        let read = workspace.read_part(path, part, share, control)?;
        // Copied before it is asked whether the bytes were true: another program may write to a large file meanwhile.
        let text = String::from_utf8(read.excerpt.bytes().to_vec());
        match text {
            Ok(text) if read.excerpt.unchanged() => Ok((read, text)),
            _ => Err(changed(file)),
        }
    }

    /// Adds a file's text `part`. Returns whether it is cut.
    fn push_file(&self, text: &mut String, file: &Wanted, read: &PartRead, part: &str) -> bool {
        text.push_str(&file.sent);
        text.push_str(":\n");
        match file.range.is_whole() {
            true => text.push_str(part),
            false => text.push_str(&with_lf(part)),
        }
        if read.is_cut {
            self.push_cut(text, file, read);
        }
        text.push('\n');
        read.is_cut
    }

    /// Adds the error of one file, in one line.
    fn push_error(&self, text: &mut String, file: &Wanted, error: &Error) {
        let message = ErrorText::of(error, self.base, 0).text().replace('\n', " ");
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
            let line = |line: u64| json!(line + self.base.first());
            match file.range {
                LineRange { start: None, end: None } => return json!(file.sent),
                LineRange { start, end } => {
                    start.into_iter().for_each(|start| item["start_line"] = line(start));
                    end.into_iter().for_each(|end| item["end_line"] = line(end));
                }
            }
            item
        };
        let (total, next) = (self.files.len(), &self.files[shown].sent);
        // A write to a String cannot fail.
        let _ = write!(
            text,
            "{SEPARATOR}[Shown: {shown} of {total} files. Go on with read_multiple_files from {next}]"
        );
        json!({ "paths": self.files[shown..].iter().map(item).collect::<Vec<_>>() })
    }

    fn push_cut(&self, text: &mut String, file: &Wanted, read: &PartRead) {
        let next = json!({ "path": file.sent, "start_line": next_line(read) + self.base.first() });
        let separator = if text.ends_with('\n') { "" } else { "\n" };
        let (from, to, size) = (read.at.start, read.at.end, read.size);
        // A write to a String cannot fail.
        let _ =
            write!(text, "{separator}[Shown: bytes {from}-{to} of {size}. Go on with read_text_file {next}]");
    }
}

/// The first line that was not shown whole, 0-based.
fn next_line(read: &PartRead) -> u64 {
    read.first_line.unwrap_or(0) + count_breaks(read.excerpt.bytes()) as u64
}

fn changed(file: &Wanted) -> Error {
    Error::Changed { name: file.sent.clone() }
}
