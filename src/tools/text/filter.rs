//! The lines of a text that a call wants: a range, then a pattern, then no blank lines, then a number (contract 15).
//!
//! The lines come from the engine block by block. The answer is all that is held of them.

use serde_json::json;

use super::no_match::no_match;
use crate::tools::encoding_failure::{escapes, likely_name};
use crate::tools::filesystem::version_meta;
use crate::tools::numbered::count_breaks;
use crate::tools::page_call::room_for_last_line;
use crate::tools::pattern_text::{WaysOut, wrong};
use crate::tools::text_page::{Reader, found_encoding, with_likely_encoding};
use crate::tools::{LineBase, Members, OutputKinds, Reply};
use engine::{LineEnd, LineSink, LineSpan, LinesRead, Workspace};
use folder::{Control, Error, FilePath, Result};
use search::{LineMatcher, Pattern, PatternOptions, behind_break, line_end};
use text::encoding::{EncodingChoice, EncodingSource};
use text::lines::char_boundary;

/// Matching lines that are looked for at once.
const HITS: usize = 1_024;

/// Room for the words of the last line, in bytes, without the call that goes on.
const WORDS: usize = 160;

/// Shares of the time that the first look leaves for the second one, with less room.
const FIRST_LEAVES: u32 = 4;

/// What to send instead of a pattern that cannot be used.
const WAYS_OUT: WaysOut = WaysOut {
    not_linear: "match the part that is not in them",
    syntax: "escape the character with \\ to match it itself",
    line_break: "leave it out",
};

/// How lines are read and told.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineForm {
    /// Each line begins with its number.
    pub(super) numbers: bool,
    pub(super) encoding: EncodingChoice,
    pub(super) reader: Reader,
}

/// Which lines are wanted.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) span: LineSpan,
    pub(super) pattern: Option<String>,
    pub(super) skip_empty: bool,
    /// How many at most.
    pub(super) most: Option<u64>,
    pub(super) form: LineForm,
}

impl Filter {
    /// The lines as a tool's reply. Programs that take no text get all.
    pub(super) fn reply(
        &self,
        path: &FilePath,
        base: LineBase,
        limit: Option<usize>,
        workspace: &Workspace,
        kinds: OutputKinds,
        control: &Control,
    ) -> Result<Reply> {
        let pattern = self.pattern.as_deref().map(|text| Pattern::new(text, PatternOptions::default()));
        let pattern = pattern.transpose().map_err(|error| wrong(error, &WAYS_OUT))?;
        let limit = limit.filter(|_| kinds.text);
        let read = |pattern: Option<&Pattern>, wanted, room: Option<usize>, is_first, control: &Control| {
            let matcher = pattern.map(|pattern| LineMatcher::new(pattern, control));
            let leaves = if is_first { FIRST_LEAVES } else { 1 };
            let most = if room.is_none() { workspace.options().max_bytes as usize } else { usize::MAX };
            let mut lines = Lines {
                filter: self,
                base,
                matcher,
                control,
                leaves,
                wanted,
                room,
                most,
                is_first,
                has_taken: false,
                told: Told::default(),
            };
            let read = workspace.each_line(path, self.form.encoding, self.span, &mut lines, control);
            let read = read.map_err(|error| match error {
                Error::TooLarge { max, is_result, .. } => {
                    let size = workspace.stamp(path).map_or(max, |stamp| stamp.len);
                    Error::TooLarge { size, max, is_result }
                }
                error => with_likely_encoding(workspace, path, error, control),
            })?;
            Ok::<_, Error>((lines.told, read))
        };
        let (mut told, mut read_lines) = read(pattern.as_ref(), self.most, limit, true, control)?;
        // Lines that fit come whole. Of any others, there is room for the last line.
        let room = limit.map(|limit| limit.saturating_sub(room_for_last_line(path).min(limit / 2)));
        let is_over = |room: usize| told.is_full || told.rest.is_some() && told.text.len() > room;
        if room.is_some_and(is_over) {
            (told, read_lines) = read(pattern.as_ref(), self.most, room, false, control)?;
        }
        let LinesRead { version, encoding, encoding_source, likely } = read_lines;
        let Told { text, .. } = &told;
        let (last_line, truncated) = self.last_line(path, base, limit, &told, &read_lines);
        let text = [text, &*last_line].concat();
        let encoding_note = found_encoding(encoding, encoding_source);
        let found = encoding_note.as_ref().map(|_| encoding.name());
        let encoding_note = encoding_note.or_else(|| likely.map(escapes));
        let likely = likely.map(likely_name);
        let near = match &self.pattern {
            Some(pattern) if told.total == 0 && told.rest.is_none() => {
                // Of the lines, only the number is wanted.
                let count = |near: &Pattern, control: &Control| {
                    let counted = read(Some(near), None, Some(0), false, control);
                    counted.ok().filter(|(told, _)| told.rest.is_none()).map_or(0, |(told, _)| told.total)
                };
                let is_part = self.skip_empty || self.span != LineSpan::default();
                let size = workspace.stamp(path).map_or(u64::MAX, |stamp| stamp.len);
                Some(no_match(pattern, size, is_part, &count, control))
            }
            _ => None,
        };
        let notes: Vec<String> = encoding_note.into_iter().chain(near).collect();
        let note = (!notes.is_empty()).then(|| notes.join("\n"));
        let meta = version_meta(&version)
            .with_some("file-editor/encoding", found.as_ref())
            .with_some("file-editor/likely_encoding", likely.as_ref())
            .with_some("file-editor/truncated", truncated.as_ref());
        let data = Members::default().with("content", &text).with("version", &version.to_string());
        let data = data.with_some("encoding", found.as_ref()).with_some("likely_encoding", likely.as_ref());
        let data = if kinds.data { data } else { Members::default() };
        Ok(Reply { text, data, note, meta, ..Reply::default() })
    }

    /// The last line of an answer that was cut, and what `_meta` says of it.
    fn last_line(
        &self,
        path: &FilePath,
        base: LineBase,
        limit: Option<usize>,
        told: &Told,
        read: &LinesRead,
    ) -> (String, Option<serde_json::Value>) {
        let Told { text, shown, total, last, is_full, cut, rest } = told;
        if !is_full && rest.is_none() {
            return (String::new(), None);
        }
        let (tool, argument) = (self.form.reader.tool, self.form.reader.path);
        let line = last + base.first();
        let mut next = self.again(base, read);
        let rest_line = rest.map(|rest| rest + base.first());
        next["start_line"] = json!(rest_line.filter(|_| !is_full).unwrap_or(line + 1));
        if let Some(most) = self.most {
            next["max_lines"] = json!(most - shown);
        }
        let mut full = json!({ (argument): path.sent() });
        for (name, value) in next.as_object().into_iter().flatten() {
            full[name] = value.clone();
        }
        let mut go_on = format!("{tool} {full}");
        if limit.is_some_and(|limit| text.len() + go_on.len() + WORDS > limit) {
            // A long pattern or path, say, which the client has.
            next.as_object_mut()
                .into_iter()
                .for_each(|next| next.retain(|name, _| CHANGES.contains(&&**name)));
            go_on = format!("{tool}, the same arguments and {next}");
        }
        let whole = cut.map(|_| self.whole_line(path, line, read));
        let what = match (cut, &whole) {
            (Some(bytes), Some(whole)) => format!(
                "the first {bytes} bytes of line {line}, which is too long for an answer; see all of it with {tool} {whole}"
            ),
            _ => match rest_line {
                None => format!("{shown} of {total} lines, the last of them line {line}"),
                Some(rest) => format!("{shown} of at least {total} lines: the time was up at line {rest}"),
            },
        };
        let has_next = shown < total || rest.is_some();
        let go_on = if has_next { format!(". Go on with {go_on}") } else { String::new() };
        let next = has_next.then_some(full);
        let mut truncated = json!({ "shown": shown, "of": total, "next": next });
        if rest.is_some() {
            truncated["partial"] = json!(true);
        }
        if let Some(whole) = whole {
            truncated["cut"] = json!({ "line": line, "bytes": cut, "next": whole });
        }
        let before = if text.is_empty() { "" } else { "\n" };
        (format!("{before}[Shown: {what}{go_on}]"), Some(truncated))
    }

    /// The arguments of the call that reads all of this line.
    fn whole_line(&self, path: &FilePath, line: u64, read: &LinesRead) -> serde_json::Value {
        let mut whole = json!({ (self.form.reader.path): path.sent() });
        self.add_encoding(&mut whole, read);
        whole["start_line"] = json!(line);
        whole["end_line"] = json!(line);
        whole
    }

    /// The encoding for a further call. What was found for this one is kept.
    fn add_encoding(&self, arguments: &mut serde_json::Value, read: &LinesRead) {
        let encoding = match (self.form.encoding, read.encoding_source) {
            (EncodingChoice::Auto, source) if source != EncodingSource::Given => read.encoding.name(),
            (encoding, _) => encoding.name(),
        };
        if encoding != EncodingChoice::default().name() {
            arguments["encoding"] = json!(encoding);
        }
    }

    /// The arguments of the same call, but for its file and where it begins.
    fn again(&self, base: LineBase, read: &LinesRead) -> serde_json::Value {
        let mut again = json!({});
        self.add_encoding(&mut again, read);
        match self.span.end {
            Some(LineEnd::At(line)) => again["end_line"] = json!(line.saturating_add(base.first())),
            Some(LineEnd::FromEnd(count)) => {
                again["end_line"] = json!(-i64::try_from(count).unwrap_or(i64::MAX))
            }
            None => {}
        }
        if let Some(pattern) = &self.pattern {
            again["pattern"] = json!(pattern);
        }
        for (name, is_set) in [("skip_empty", self.skip_empty), ("line_numbers", self.form.numbers)] {
            if is_set {
                again[name] = json!(true);
            }
        }
        again
    }
}

/// The arguments that differ in the call that goes on.
const CHANGES: [&str; 2] = ["start_line", "max_lines"];

/// The answer so far.
#[derive(Debug, Default)]
struct Told {
    text: String,
    /// Lines in it.
    shown: u64,
    /// Lines that are wanted.
    total: u64,
    /// The 0-based number of the last line in it.
    last: u64,
    /// A line had no room.
    is_full: bool,
    /// Bytes of its only line, if not all of it is in it.
    cut: Option<usize>,
    /// The 0-based number of the first line that was not looked at, if the time was up.
    rest: Option<u64>,
}

/// Takes the lines of the range, and tells those that are wanted.
struct Lines<'f> {
    filter: &'f Filter,
    base: LineBase,
    matcher: Option<LineMatcher<'f>>,
    control: &'f Control,
    /// Shares of the time that it leaves for what comes behind it.
    leaves: u32,
    /// How many lines at most.
    wanted: Option<u64>,
    /// The longest text.
    room: Option<usize>,
    /// A longer one is an error.
    most: usize,
    /// Whether no more is read as soon as a line has no room, because all is read again with less room.
    is_first: bool,
    /// Lines were looked at.
    has_taken: bool,
    told: Told,
}

impl LineSink for Lines<'_> {
    fn begin(&mut self) {
        (self.told, self.has_taken) = (Told::default(), false);
    }

    fn take(&mut self, first: u64, lines: &str) -> Result<bool> {
        let Told { shown, total, last, is_full, cut, .. } = self.told;
        let before = (self.told.text.len(), shown, total, last, is_full, cut);
        let control = self.control;
        let taken = control
            .leaving_time(self.leaves, || control.check().and_then(|()| self.take_lines(first, lines)));
        match taken {
            // The lines before these are told, unless there are none.
            Err(Error::TimedOut) if self.has_taken => {
                let told = &mut self.told;
                told.text.truncate(before.0);
                (_, told.shown, told.total, told.last, told.is_full, told.cut) = before;
                told.rest = Some(first);
                Ok(false)
            }
            taken => {
                self.has_taken = true;
                taken
            }
        }
    }
}

impl Lines<'_> {
    fn take_lines(&mut self, first: u64, lines: &str) -> Result<bool> {
        if let Some(mut matcher) = self.matcher.take() {
            let taken = self.take_matches(&mut matcher, first, lines);
            self.matcher = Some(matcher);
            return taken;
        }
        let (bytes, mut at, mut number) = (lines.as_bytes(), 0, first);
        while at < bytes.len() {
            let end = line_end(bytes, at..bytes.len());
            if !self.push(number, &lines[at..end])? {
                return Ok(false);
            }
            (at, number) = (behind_break(bytes, end), number + 1);
        }
        Ok(true)
    }

    fn take_matches(&mut self, matcher: &mut LineMatcher, mut number: u64, lines: &str) -> Result<bool> {
        let (bytes, mut from, mut counted) = (lines.as_bytes(), 0, 0);
        loop {
            let (hits, _) = matcher.hits_behind(bytes, from, 0, HITS)?;
            for hit in &hits {
                number += count_breaks(&bytes[counted..hit.start]) as u64;
                (counted, from) = (hit.start, behind_break(bytes, hit.end));
                if !self.push(number, &lines[hit.start..hit.end])? {
                    return Ok(false);
                }
            }
            if hits.len() < HITS || from >= bytes.len() {
                return Ok(true);
            }
        }
    }

    /// Takes one line that matches. Returns whether more are wanted.
    fn push(&mut self, number: u64, line: &str) -> Result<bool> {
        if self.filter.skip_empty && line.trim().is_empty() {
            return Ok(true);
        }
        self.told.total += 1;
        if !self.told.is_full {
            self.tell(number, line);
        }
        let (size, max) = (self.told.text.len(), self.most);
        if size > max {
            return Err(Error::TooLarge { size: size as u64, max: max as u64, is_result: false });
        }
        let goes_on = !(self.is_first && self.told.is_full);
        Ok(goes_on && self.wanted.is_none_or(|wanted| self.told.total < wanted))
    }

    /// Adds a line to the text if there is room for it. Of the first one at least a part.
    fn tell(&mut self, number: u64, line: &str) {
        let told = &mut self.told;
        let (mut before, mut line) = (String::new(), line);
        if told.shown > 0 {
            before.push('\n');
        }
        if self.filter.form.numbers {
            before.push_str(itoa::Buffer::new().format(number + self.base.first()));
            before.push('\t');
        }
        if let Some(room) = self.room.filter(|room| told.text.len() + before.len() + line.len() > *room) {
            told.is_full = true;
            if told.shown > 0 {
                return;
            }
            line = &line[..char_boundary(line.as_bytes(), room.saturating_sub(before.len()))];
            told.cut = Some(line.len());
        }
        told.text.push_str(&before);
        told.text.push_str(line);
        (told.shown, told.last) = (told.shown + 1, number);
    }
}
