//! The text of a list under the answer limit (contract 11): entries are added while there is room and counted beyond.
//!
//! The last line says what was shown, of how much, and the call that goes on. So no tool counts bytes.

use std::fmt::Write;

use serde::Serialize;
use serde_json::json;

use super::balance::singular;
use super::{Members, OutputKinds, Reply};
use folder::Result;
use text::tokens::TokenCount;

/// The most estimated tokens of an answer that has a limit (contract 19).
pub(super) const MAX_TOKENS: usize = 24_000;

/// Room for the last line, in bytes.
const LAST_LINE: usize = 1_024;

/// Room for the words and numbers of that line.
const SHOWN_LINE: usize = 96;

/// The longest text of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerLimit {
    /// In bytes. `None`: there is no limit.
    pub bytes: Option<usize>,
    /// In estimated tokens, if there is a limit.
    pub tokens: usize,
}

impl From<Option<usize>> for AnswerLimit {
    /// That of the sets whose answers are limited in bytes.
    fn from(bytes: Option<usize>) -> AnswerLimit {
        AnswerLimit { bytes, tokens: MAX_TOKENS }
    }
}

impl AnswerLimit {
    /// What is left with `text` in the answer: at least three quarters.
    pub(super) fn without(self, text: &str) -> AnswerLimit {
        let bytes = self.bytes.map(|bytes| bytes - text.len().min(bytes / 4));
        AnswerLimit { bytes, tokens: self.tokens - tokens_of(text.as_bytes()).min(self.tokens / 4) }
    }

    /// The tokens for what was asked for, with `reserve` for other lines, at most a quarter of all.
    pub(super) fn tokens_without(self, reserve: usize) -> usize {
        self.tokens - reserve.min(self.tokens / 4)
    }
}

/// How much more fits into a text that grows: in bytes, and in estimated tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    limit: AnswerLimit,
    /// Bytes that are kept free.
    reserve: usize,
    /// Bytes of the text whose tokens are counted.
    counted: usize,
    tokens: TokenCount,
}

impl Room {
    /// For a text within `limit` of which `reserve` bytes are kept free, at most half of them.
    pub(super) fn new(limit: impl Into<AnswerLimit>, reserve: usize) -> Room {
        let limit = limit.into();
        let reserve = limit.bytes.map_or(0, |bytes| reserve.min(bytes / 2));
        Room { limit, reserve, counted: 0, tokens: TokenCount::default() }
    }

    /// Bytes that certainly fit behind the text. The text before what was added last must be the same as at the last call.
    pub(super) fn left(&mut self, text: &str) -> usize {
        let Some(most) = self.limit.bytes else { return usize::MAX };
        let bytes = most.saturating_sub(text.len() + self.reserve);
        // No byte is more than a token.
        if switches::is_off("answer-tokens") || text.len() + self.reserve + bytes <= self.limit.tokens {
            return bytes;
        }
        let tokens = self.limit.tokens_without(self.reserve);
        bytes.min(tokens.saturating_sub(self.tokens_of(text)))
    }

    /// Whether `bytes` more fit behind the text, whatever they are.
    pub(super) fn has(&mut self, text: &str, bytes: usize) -> bool {
        self.left(text) >= bytes
    }

    fn tokens_of(&mut self, text: &str) -> usize {
        if text.len() < self.counted {
            // It was cut.
            (self.counted, self.tokens) = (0, TokenCount::default());
        }
        self.tokens.push(&text.as_bytes()[self.counted..]);
        self.counted = text.len();
        self.tokens.tokens()
    }
}

/// The estimated tokens of a text.
pub(super) fn tokens_of(text: &[u8]) -> usize {
    let mut count = TokenCount::default();
    count.push(text);
    count.tokens()
}

/// The number of the first bytes of `text` that have at most so many estimated tokens, at a border of characters.
pub(super) fn within_tokens(text: &[u8], tokens: usize) -> usize {
    if text.len() <= tokens { text.len() } else { TokenCount::fitting(text, tokens) }
}

/// See the module.
#[derive(Debug)]
pub(super) struct LimitedText {
    text: String,
    limit: AnswerLimit,
    room: Room,
    /// Entries in the text.
    shown: u64,
    /// Entries that there are.
    total: u64,
    /// The most entries that are shown.
    most: u64,
    /// Why the entries were not counted to their end.
    stopped: Option<&'static str>,
    /// No call goes on.
    has_no_next: bool,
}

/// What `_meta` says of an answer that was cut.
#[derive(Debug, Serialize)]
struct Truncated<'n> {
    shown: u64,
    of: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'n serde_json::Value>,
    /// There may be more than `of`.
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
}

/// Whether these texts and the line of what was shown are together longer than an answer may be.
fn is_over(limit: AnswerLimit, texts: &[&str]) -> bool {
    let bytes: usize = texts.iter().map(|text| text.len()).sum::<usize>() + SHOWN_LINE;
    let tokens = || texts.iter().map(|text| tokens_of(text.as_bytes())).sum::<usize>() + SHOWN_LINE / 3;
    limit.bytes.is_some_and(|most| bytes > most || bytes > limit.tokens && tokens() > limit.tokens)
}

fn is_false(value: &bool) -> bool {
    !value
}

impl LimitedText {
    /// An empty text within `limit`.
    pub(super) fn new(limit: impl Into<AnswerLimit>) -> LimitedText {
        let limit = limit.into();
        let room = Room::new(limit, LAST_LINE);
        let (text, most) = (String::new(), u64::MAX);
        LimitedText { text, limit, room, shown: 0, total: 0, most, stopped: None, has_no_next: false }
    }

    /// Shows at most `most` entries.
    pub(super) fn at_most(self, most: u64) -> LimitedText {
        LimitedText { most, ..self }
    }

    /// Says that there may be more entries than were counted, and why.
    pub(super) fn stop(&mut self, why: &'static str) {
        self.stopped = Some(why);
    }

    /// The same where nothing was met, so that the call that goes on would be this one, which may end in the same way.
    pub(super) fn stop_at_once(&mut self, why: &'static str) {
        (self.stopped, self.has_no_next) = (Some(why), true);
    }

    /// Adds an entry of one line. Returns whether it is shown. The first one always is, so that each page goes on.
    pub(super) fn push_line(&mut self, line: &str) -> bool {
        // The cursor behind an entry holds its path.
        let has_room = self.total == 0 || self.has_room(line.len() + 1 + cursor_len(line.len()));
        let fits = has_room && !self.is_full() && self.shown < self.most;
        self.total += 1;
        if !fits {
            return false;
        }
        if self.shown > 0 {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self.shown += 1;
        true
    }

    /// Counts an entry whose text the caller has added with [`LimitedText::text_mut`].
    pub(super) fn count(&mut self, is_shown: bool) {
        self.total += 1;
        self.shown += u64::from(is_shown);
    }

    /// Counts entries whose text the caller has added.
    pub(super) fn count_shown(&mut self, number: u64) {
        self.total += number;
        self.shown += number;
    }

    /// Counts entries that are not shown.
    pub(super) fn count_more(&mut self, number: u64) {
        self.total += number;
    }

    /// Whether `bytes` more bytes are within the limit.
    pub(super) fn has_room(&mut self, bytes: usize) -> bool {
        self.room.has(&self.text, bytes)
    }

    /// Whether `bytes` are more than a quarter of the limit.
    pub(super) fn is_over_a_quarter(&self, bytes: usize) -> bool {
        self.limit.bytes.is_some_and(|limit| bytes > limit / 4)
    }

    /// Whether an entry was left out.
    pub(super) fn is_full(&self) -> bool {
        self.shown < self.total
    }

    /// The text, for entries of several lines.
    pub(super) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// Begins a line behind the text, if there is any.
    fn begin_line(&mut self) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    /// Number of entries in the text.
    pub(super) fn shown(&self) -> u64 {
        self.shown
    }

    /// Number of entries.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The reply. `next` makes the call that goes on, if there is one: the tool's name and its arguments. `note` is a further line.
    pub(super) fn reply<N: Into<Option<(&'static str, serde_json::Value)>>>(
        mut self,
        wanted: OutputKinds,
        unit: &str,
        next: impl FnOnce() -> Result<N>,
        note: Option<&str>,
    ) -> Result<Reply> {
        let mut meta = Members::default();
        if let Some(note) = note {
            self.begin_line();
            self.text.push_str(note);
        }
        if self.is_full() || self.stopped.is_some() {
            let next = if self.has_no_next { None } else { next()?.into() };
            let (shown, total, limit, stopped) = (self.shown, self.total, self.limit, self.stopped);
            let unit = if total == 1 { singular(unit) } else { unit.into() };
            let go_on = next.as_ref().map_or(String::new(), |(tool, arguments)| {
                let whole = format!(". Go on with {tool} {arguments}");
                match arguments.get("cursor") {
                    // Long patterns, say, which the client has.
                    Some(cursor) if is_over(limit, &[&self.text, &whole]) => {
                        format!(". Go on with {tool}, the same arguments and {}", json!({ "cursor": cursor }))
                    }
                    _ => whole,
                }
            });
            self.begin_line();
            let _ = match stopped {
                // A write to a String cannot fail.
                None => write!(self.text, "[Shown: {shown} of {total} {unit}{go_on}]"),
                Some(why) => write!(self.text, "[Shown: {shown} of at least {total} {unit}: {why}{go_on}]"),
            };
            let next = next.as_ref().map(|(_, arguments)| arguments);
            let truncated = Truncated { shown, of: total, next, partial: stopped.is_some() };
            meta = meta.with("file-editor/truncated", &truncated);
        }
        Ok(Reply { meta, is_nothing: self.total == 0, ..content(self.text, wanted) })
    }
}

/// Bytes of a cursor that holds a path of `len` bytes, without those that every cursor has.
pub(super) fn cursor_len(len: usize) -> usize {
    len.div_ceil(3) * 4
}

/// A reply whose data has the text as its only member.
pub(super) fn content(text: String, wanted: OutputKinds) -> Reply {
    let data = if wanted.data { Members::default().with("content", &text) } else { Members::default() };
    Reply { text, data, ..Reply::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: OutputKinds = OutputKinds { text: true, data: true };

    #[test]
    fn without_a_limit_all_is_shown() {
        let mut text = LimitedText::new(None);
        assert!((0..1_000).all(|_| text.push_line("entry")));
        let nothing_left = || -> Result<(&str, serde_json::Value)> { unreachable!("nothing is left") };
        let reply = text.reply(BOTH, "entries", nothing_left, None).unwrap();
        assert_eq!((reply.text.lines().count(), reply.meta.as_str()), (1_000, ""));
        assert!(reply.data.as_str().starts_with(r#""content":"entry\nentry"#));
    }

    #[test]
    fn what_does_not_fit_is_counted_and_the_call_that_goes_on_is_told() {
        let mut text = LimitedText::new(Some(2_000));
        let shown = (0..1_000).filter(|_| text.push_line("entry")).count();
        assert!(0 < shown && shown < 400 && text.is_full());
        let next = || Ok(("list", json!({ "cursor": "x" })));
        let reply = text.reply(BOTH, "entries", next, Some("Changed.")).unwrap();
        assert!(reply.text.len() <= 2_000, "{}", reply.text.len());
        let last = format!("[Shown: {shown} of 1000 entries. Go on with list {{\"cursor\":\"x\"}}]");
        assert!(reply.text.ends_with(&("Changed.\n".to_owned() + &last)), "{}", reply.text);
        let meta =
            format!(r#""file-editor/truncated":{{"shown":{shown},"of":1000,"next":{{"cursor":"x"}}}}"#);
        assert_eq!(reply.meta.as_str(), meta);
    }

    #[test]
    fn a_call_that_is_too_long_for_the_text_is_told_by_its_cursor() {
        let mut text = LimitedText::new(Some(1_000));
        while text.push_line("entry") {}
        let next = || Ok(("find", json!({ "pattern": "p".repeat(2_000), "cursor": "x" })));
        let reply = text.reply(BOTH, "matches", next, None).unwrap();
        assert!(reply.text.len() <= 1_000, "{}", reply.text.len());
        assert!(
            reply.text.ends_with(r#"Go on with find, the same arguments and {"cursor":"x"}]"#),
            "{}",
            reply.text
        );
        assert!(reply.meta.as_str().contains("pppp"), "{}", reply.meta.as_str());
    }

    #[test]
    fn a_list_that_was_not_counted_to_its_end_says_so_and_goes_on() {
        let mut text = LimitedText::new(None).at_most(2);
        assert_eq!((0..5).filter(|_| text.push_line("entry")).count(), 2);
        text.stop("the time was up");
        let reply = text.reply(BOTH, "files", || Ok(("find", json!({ "sort": "path" }))), None).unwrap();
        let last = "\n[Shown: 2 of at least 5 files: the time was up. Go on with find {\"sort\":\"path\"}]";
        assert!(reply.text.ends_with(last), "{}", reply.text);
        assert!(reply.meta.as_str().ends_with(r#""partial":true}"#), "{}", reply.meta.as_str());
    }

    #[test]
    fn a_part_of_a_list_that_no_call_goes_on_with_names_none() {
        let mut text = LimitedText::new(None);
        text.push_line("entry");
        text.stop("the time was up");
        let none: Option<(&str, serde_json::Value)> = None;
        let reply = text.reply(BOTH, "matches", || Ok(none), None).unwrap();
        assert_eq!(reply.text, "entry\n[Shown: 1 of at least 1 match: the time was up]");
        let meta = r#""file-editor/truncated":{"shown":1,"of":1,"partial":true}"#;
        assert_eq!(reply.meta.as_str(), meta);
    }

    #[test]
    fn a_list_ends_where_its_tokens_do() {
        let mut text = LimitedText::new(Some(1 << 20));
        let hex = "0f9a1c7be2".repeat(10);
        while text.push_line(&hex) {}
        let bytes = text.text_mut().len();
        let mut tokens = TokenCount::default();
        tokens.push(text.text_mut().as_bytes());
        assert!((20_000..=MAX_TOKENS).contains(&tokens.tokens()), "{bytes}: {}", tokens.tokens());
        let mut unlimited = LimitedText::new(None);
        assert!((0..2_000).all(|_| unlimited.push_line(&hex)));
        let mut room = Room::new(Some(60 << 10), 1_000);
        let words = "the words of a page ".repeat(2_900);
        assert!(room.has(&words, 1), "58 KB of words are few tokens");
        assert!(!room.has(&hex.repeat(500), 1) && room.has(&hex, 1), "a text that was cut is counted again");
    }

    #[test]
    fn an_entry_after_one_that_did_not_fit_is_not_shown() {
        let mut text = LimitedText::new(Some(2_000));
        assert!(text.push_line("a") && !text.push_line(&"b".repeat(3_000)) && !text.push_line("c"));
    }
}
