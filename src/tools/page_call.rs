//! A call of a tool that reads a text, as far as its answer is one page: `read_text_file`, `read_file` and `view`.
//!
//! Knows no arguments.

use serde_json::json;

use super::text_page::{TextForm, TextPage, WantedText, found_encoding, text_key};
use crate::tools::cursor::{Cursor, state_of};
use crate::tools::encoding_failure::{escapes, likely_name};
use crate::tools::filesystem::version_meta;
use crate::tools::{AnswerLimit, LineBase, Members, OutputKinds, Reply, wrong_cursor};
use engine::Workspace;
use folder::{Control, Error, FilePath, Result};

/// Maximum room for the last line of an answer that was cut, in bytes.
const LAST_LINE: usize = 1_024;

/// What is told behind a page of a file that has changed since the page before.
const HAS_CHANGED: &str = "\n[The file has changed since the cursor was made]";

/// A call for a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageCall<'c> {
    pub(super) path: &'c FilePath,
    pub(super) wanted: WantedText,
    /// Where an earlier page ends.
    pub(super) cursor: Option<&'c Cursor>,
    pub(super) base: LineBase,
    /// The longest text of an answer.
    pub(super) limit: AnswerLimit,
}

impl PageCall<'_> {
    /// The page as a tool's reply. Programs that take no text get all that is wanted, with the file's own breaks.
    pub(super) fn reply(
        &self,
        workspace: &Workspace,
        kinds: OutputKinds,
        control: &Control,
    ) -> Result<Reply> {
        let PageCall { path, wanted, cursor, base, limit } = *self;
        if let Some(cursor) = cursor {
            cursor.check(text_key(workspace, path, wanted.encoding, wanted.reader)?)?;
        }
        let limit = if kinds.text { limit } else { AnswerLimit { bytes: None, ..limit } };
        let whole = if cursor.is_some() { limit.without(HAS_CHANGED) } else { limit };
        let page = TextPage::read(workspace, path, wanted, base, whole, control);
        let mut page = page.map_err(|error| match switches::is_off("page-changed") {
            true => error,
            false => self.as_change(workspace, error),
        })?;
        // A text that fits comes whole; of any other, there is room for the last line.
        if let Some(limit) = limit.bytes.filter(|_| page.read.is_cut) {
            page.cut(limit.saturating_sub(room_for_last_line(path).min(limit / 2)));
        }
        let is_plain = matches!(wanted.form, TextForm::AsIs | TextForm::Lines);
        let copy = if is_plain && !(kinds.text && kinds.data) { None } else { Some(page.text()?) };
        let (after, truncated) = self.last_line(workspace, &page, page.ends_in_break(copy.as_deref()))?;
        let note = found_encoding(page.read.encoding, page.read.encoding_source);
        let found = note.as_ref().map(|_| page.read.encoding.name());
        let likely = page.read.likely();
        let notes = [note.or_else(|| likely.map(escapes)), page.other_lines()];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        let note = (!notes.is_empty()).then(|| notes.join("\n"));
        let likely = likely.map(likely_name);
        let meta = version_meta(&page.read.version)
            .with_some("file-editor/encoding", found.as_ref())
            .with_some("file-editor/likely_encoding", likely.as_ref())
            .with_some("file-editor/truncated", truncated.as_ref());
        let reply = Reply { note, meta, ..Reply::default() };
        // Where data stands beside the text, its schema says what is in it.
        let data = match kinds.text {
            true => Members::default(),
            false => Members::default()
                .with("version", &page.read.version.to_string())
                .with_some("encoding", found.as_ref())
                .with_some("likely_encoding", likely.as_ref()),
        };
        let Some(copy) = copy else {
            let (excerpt, keeps_breaks) = (Some(page.read.excerpt), wanted.form == TextForm::AsIs);
            return Ok(Reply { excerpt, keeps_breaks, after, data, ..reply });
        };
        let text = copy + &after;
        let data = if kinds.data { data.with("content", &text) } else { data };
        Ok(Reply { text, data, ..reply })
    }

    /// The error of a read behind a cursor. In a file that has changed since, the place may be inside of anything; in any
    /// other, a place that is not there was made up.
    fn as_change(&self, workspace: &Workspace, error: Error) -> Error {
        let Some(cursor) = self.cursor else { return error };
        let is_of_place = matches!(error, Error::StartPastEnd { .. } | Error::InvalidRange { .. });
        let is_of_text =
            matches!(error, Error::OtherEncoding { .. } | Error::NotText { .. } | Error::Undecodable { .. });
        if !is_of_place && !is_of_text {
            return error;
        }
        match workspace.stamp(self.path) {
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
        let has_changed = self.cursor.is_some_and(|cursor| cursor.state != page.state());
        let note = if has_changed { HAS_CHANGED } else { "" };
        if !page.read.is_cut {
            return Ok((note.into(), None));
        }
        let (next, shown, tool) = (page.next(workspace)?, page.shown(), self.wanted.reader.tool);
        let break_before = if ends_in_break { "" } else { "\n" };
        let text = format!("{break_before}[Shown: {shown}. Go on with {tool} {next}]{note}");
        let (shown, size) = (page.read.at.end - page.read.at.start, page.read.size);
        Ok((text, Some(json!({ "shown": shown, "of": size, "next": next }))))
    }
}

/// Bytes of the last line of an answer that was cut: it holds the path.
pub(super) fn room_for_last_line(path: &FilePath) -> usize {
    let escaped = |byte: u8| 1 + usize::from(matches!(byte, b'"' | b'\\'));
    LAST_LINE + path.sent().bytes().map(escaped).sum::<usize>()
}
