//! Several texts in one answer, which share its limit: `read_multiple_files`, and `read` of several files.
//!
//! Knows no arguments but the name `paths`.

use std::fmt::Write;
use std::time::Instant;

use serde_json::json;

use super::encoding_failure::{escapes, likely_name};
use super::limited::{content, tokens_of};
use super::text_page::{TextPage, WantedText, found_encoding};
use super::{AnswerLimit, ErrorText, Guide, Members, OutputKinds, Reply};
use engine::{TextPart, Workspace};
use folder::{Control, Error, FilePath, Result};
use text::encoding::Likely;

/// Room for the last line, in bytes. A path is not longer than 4,096.
const LAST_LINE: usize = 4_608;

/// Room for it in tokens: it names one path.
const TOKENS_OF_LAST_LINE: usize = 1_000;

/// The least that is shown of a file, in bytes, if it has so much. Rather fewer files are shown.
const MIN_SHARE: usize = 1_024;

/// Room for what is said of one file that was cut, in bytes.
const CUT_LINE: usize = 256;

/// Bytes of a token in texts that are shared out.
const BYTES_OF_TOKEN: usize = 4;

/// One file. Its path is parsed late, because a wrong one concerns only its own place in the answer.
#[derive(Debug)]
pub(super) struct WantedFile {
    /// Its path, and what is wanted of it, as it was sent.
    pub(super) sent: String,
    pub(super) path: Result<FilePath>,
    pub(super) wanted: WantedText,
    /// Its item in the call that goes on.
    pub(super) again: serde_json::Value,
}

/// How a tool tells several texts.
#[derive(Debug)]
pub(super) struct TextsForm {
    /// The tool that goes on with further files.
    pub(super) tool: &'static str,
    /// The tool that goes on behind a part of one file.
    pub(super) reader: &'static str,
    /// The line before a text, by the path as it was sent.
    pub(super) header: fn(&str) -> String,
    /// What stands between two files.
    pub(super) separator: &'static str,
    /// Whether a file may be given as an object with its own lines and encoding.
    pub(super) has_objects: bool,
}

/// A call for several texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextsCall<'c> {
    pub(super) files: &'c [WantedFile],
    pub(super) form: &'static TextsForm,
    /// Further arguments of the call, which the one that goes on has, too.
    pub(super) others: &'c serde_json::Map<String, serde_json::Value>,
    pub(super) guide: Guide,
    pub(super) limit: AnswerLimit,
}

/// The limits of the parts of one answer.
struct Shares {
    /// Of each file, in bytes.
    bytes: Vec<Option<usize>>,
    /// Bytes of this and all later files.
    left: Vec<usize>,
    /// The most bytes of the answer.
    room: Option<usize>,
    /// Every text is wanted whole.
    all: bool,
}

impl TextsCall<'_> {
    /// The texts as a tool's reply.
    pub(super) fn reply(
        &self,
        workspace: &Workspace,
        wanted: OutputKinds,
        control: &Control,
    ) -> Result<Reply> {
        let sizes = self.sizes(workspace);
        // Texts that fit come whole. Of any others, there is room for what is said of a cut.
        let needed = self.needs(&sizes);
        if let Some(room) = self.limit.bytes.filter(|limit| needed.is_some_and(|bytes| bytes <= *limit)) {
            let bytes = sizes.iter().map(|size| size.map(|size| size.clamp(1, room))).collect();
            let shares = Shares { bytes, left: Vec::new(), room: Some(room), all: true };
            if let Some(reply) = self.told(&shares, workspace, wanted, control)? {
                return Ok(reply);
            }
        }
        let bytes = self.shares(&sizes);
        let mut left: Vec<usize> = bytes.iter().map(|share| share.unwrap_or(0)).collect();
        (1..left.len()).rev().for_each(|at| left[at - 1] += left[at]);
        let shares = Shares { bytes, left, room: self.limit.bytes.map(room_in), all: false };
        Ok(self.told(&shares, workspace, wanted, control)?.unwrap_or_default())
    }

    /// The texts in an answer. `None` if all of them are wanted and do not fit.
    fn told(
        &self,
        shares: &Shares,
        workspace: &Workspace,
        wanted: OutputKinds,
        control: &Control,
    ) -> Result<Option<Reply>> {
        let arrived = Instant::now();
        let most = self.limit.tokens_without(TOKENS_OF_LAST_LINE);
        let (mut text, mut shown, mut tokens) = (String::new(), 0, 0);
        let (mut cut, mut versions) = (serde_json::Map::new(), serde_json::Map::new());
        let mut is_partial = false;
        for (number, file) in self.files.iter().enumerate() {
            control.progress(shown as u64, Some(self.files.len() as u64));
            let before = text.len();
            text.push_str(if shown == 0 { "" } else { self.form.separator });
            let (mut rest, mut version) = (None, None);
            let share = shares.of(number, self.limit, most.saturating_sub(tokens));
            // The error of one file is no error of the call, so its caller does not wait for a lost mount.
            let mut wait = workspace.mount_wait(arrived);
            let read = loop {
                match self.read(workspace, file, share, control) {
                    Err(error) if !switches::is_off("read-many-waits") && wait.again(&error, control) => {}
                    read => break read,
                }
            };
            match read.and_then(|page| Ok((self.push_file(&mut text, workspace, file, &page)?, page))) {
                Ok((next, page)) => {
                    rest = next;
                    version = Some(page.read.version.to_string());
                }
                Err(error @ (Error::TimedOut | Error::Cancelled)) => return Err(error),
                Err(error) => {
                    is_partial = true;
                    self.push_error(&mut text, file, &error);
                }
            }
            if shares.room.is_some() {
                tokens += tokens_of(&text.as_bytes()[before..]);
            }
            let is_over = shares.room.is_some_and(|room| text.len() > room || tokens > most);
            if shares.all && (is_over || rest.is_some()) {
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
        Ok(Some(Reply { meta, is_partial, ..content(text, wanted) }))
    }

    /// The sizes of the files in bytes; `None` of those that are not there.
    fn sizes(&self, workspace: &Workspace) -> Vec<Option<usize>> {
        let info = |file: &WantedFile| file.path.as_ref().ok().and_then(|path| workspace.info(path).ok());
        self.files.iter().map(|file| info(file).map(|info| info.size as usize)).collect()
    }

    /// Bytes of an answer with all of these texts, if they are there and UTF-8. What a part of a text takes is not known yet.
    fn needs(&self, sizes: &[Option<usize>]) -> Option<usize> {
        let around =
            |file: &WantedFile| (self.form.header)(&file.sent).len() + "\n".len() + self.form.separator.len();
        let needs = |(file, size): (&WantedFile, &Option<usize>)| match file.wanted.part {
            TextPart::Whole => *size,
            _ => size.map(|_| 0),
        };
        let texts: usize = self.files.iter().zip(sizes).map(needs).sum::<Option<usize>>()?;
        Some(texts + self.files.iter().map(around).sum::<usize>())
    }

    /// How many bytes of each file are shown. Small files are shown whole; the others share what is left.
    fn shares(&self, sizes: &[Option<usize>]) -> Vec<Option<usize>> {
        let Some(limit) = self.limit.bytes else { return vec![None; self.files.len()] };
        let limit = limit.min(self.limit.tokens.saturating_mul(BYTES_OF_TOKEN));
        let overhead: usize = self.files.iter().map(|file| 3 * file.sent.len() + CUT_LINE).sum();
        let room = room_in(limit);
        let mut left = room - overhead.min(room / 2);
        let mut sizes: Vec<(usize, usize)> =
            sizes.iter().enumerate().map(|(number, size)| (size.unwrap_or(0), number)).collect();
        text::order::sort_by(&mut sizes, Ord::cmp);
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
        file: &'f WantedFile,
        share: AnswerLimit,
        control: &Control,
    ) -> Result<TextPage<'f>> {
        let path = file.path.as_ref().map_err(wrong_path)?;
        TextPage::read(workspace, path, file.wanted, self.guide.base, share, control)
    }

    /// Adds the error of one file, in one line.
    fn push_error(&self, text: &mut String, file: &WantedFile, error: &Error) {
        let message = ErrorText::of(error, self.guide, 0).text().replace('\n', " ");
        let mut message = message.trim_start_matches("Error: ").to_owned();
        if let Error::OtherEncoding(other) = error
            && let Some(likely @ (Likely::Text { .. } | Likely::Damaged(_))) = other.likely
            && self.form.has_objects
        {
            let item = json!({ "path": file.sent, "encoding": likely_name(likely) });
            message.push_str(&format!(" In paths: {item}."));
        }
        // A write to a String cannot fail.
        let _ = write!(text, "{}: Error - {message}", file.sent);
    }

    /// Adds the line that says how many files are shown. Returns the arguments of the call for the others.
    fn last_line(&self, text: &mut String, shown: usize) -> serde_json::Value {
        if shown == self.files.len() {
            return serde_json::Value::Null;
        }
        let (total, next) = (self.files.len(), &self.files[shown].sent);
        // A write to a String cannot fail.
        let _ = write!(
            text,
            "{}[Shown: {shown} of {total} files. Go on with {} from {next}]",
            self.form.separator, self.form.tool
        );
        let mut next = self.others.clone();
        next.insert("paths".into(), self.files[shown..].iter().map(|file| file.again.clone()).collect());
        next.into()
    }

    /// Adds a file's path and text, or nothing if there is an error. Returns the arguments of the call for the rest of a text
    /// that is cut.
    fn push_file(
        &self,
        text: &mut String,
        workspace: &Workspace,
        file: &WantedFile,
        page: &TextPage,
    ) -> Result<Option<serde_json::Value>> {
        let part = page.text()?;
        // Without the tool that reads one file, the text goes on as an item of this one, where that is possible.
        let has_reader = self.guide.offered.has(self.form.reader);
        let next = match page.read.is_cut {
            true if has_reader => Some((self.form.reader, page.next(workspace)?)),
            true => page
                .next_lines()
                .filter(|_| self.form.has_objects)
                .map(|item| (self.form.tool, json!({ "paths": [item] }))),
            false => None,
        };
        text.push_str(&(self.form.header)(&file.sent));
        text.push_str(&part);
        if page.read.is_cut {
            let separator = if part.ends_with('\n') { "" } else { "\n" };
            let go_on = next.as_ref().map(|(tool, next)| format!(". Go on with {tool} {next}"));
            // A write to a String cannot fail.
            let _ = write!(text, "{separator}[Shown: {}{}]", page.shown(), go_on.unwrap_or_default());
        }
        let found = found_encoding(page.read.encoding, page.read.encoding_source);
        if let Some(found) = found.or_else(|| page.read.likely().map(escapes)) {
            let separator = if text.ends_with('\n') { "" } else { "\n" };
            let _ = write!(text, "{separator}[{found}]");
        }
        text.push('\n');
        Ok(page.read.is_cut.then(|| next.map_or(serde_json::Value::Null, |(_, next)| next)))
    }
}

/// The error of a path again, which was found when the arguments were parsed: its words do not depend on the file.
pub(super) fn wrong_path(error: &Error) -> Error {
    match error {
        Error::InvalidName { problem } => Error::InvalidName { problem: problem.clone() },
        Error::InvalidArguments { at, problem } => {
            Error::InvalidArguments { at: at.clone(), problem: problem.clone() }
        }
        Error::NegativeLine => Error::NegativeLine,
        _ => Error::InvalidArguments { at: "paths".into(), problem: "no path".into() },
    }
}

/// Bytes for the files in an answer of at most `limit` bytes.
fn room_in(limit: usize) -> usize {
    limit - LAST_LINE.min(limit / 2)
}

impl Shares {
    /// The limit of a file, where `tokens` are left for it and those behind it.
    fn of(&self, number: usize, limit: AnswerLimit, tokens: usize) -> AnswerLimit {
        let bytes = self.bytes[number];
        let own = bytes.unwrap_or(0) as u128 * tokens as u128;
        match self.left.get(number) {
            Some(&left) if left > 0 => {
                let share = (own / left as u128) as usize;
                AnswerLimit { bytes, tokens: share.max((limit.tokens / 8).min(tokens)) }
            }
            _ => AnswerLimit { bytes, ..limit },
        }
    }
}
