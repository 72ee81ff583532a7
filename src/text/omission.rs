//! Finds lines that stand for text that they leave out, such as `# ... existing code ...`.
//!
//! Models write such lines instead of text that they do not want to repeat, in the text to find and in the text to put in. Pure; knows
//! no edits and no messages.

use self::dots::dots_for_lines;
use self::forms::{Dots, needed_dots};
use crate::encoding::Encoding;
use crate::{Stop, Stopped};

mod dots;
mod forms;

/// What a comment begins with, in many languages.
const COMMENTS: [&str; 9] = ["#", "//", "/*", "{/*", "<!--", "--", ";", "%", "*"];

/// Most different lines of a new text that are looked for in the file. A text with more of them that the file has is one about such
/// lines.
const LOOKED_FOR: usize = 16;

/// Bytes of a file between two looks whether the search goes on.
const WINDOW: usize = 1 << 20;

/// Whether a line is only dots, or a comment with dots that may speak of text left out.
pub(crate) fn is_placeholder(line: &str) -> bool {
    let Comment { inner, starts, is_comment, .. } = Comment::of(line);
    matches!(inner, "..." | "…") || is_comment && starts || is_omission(line)
}

/// The first line of `new_text` that says that text of the file is left out there, if `old`, the bytes of the file in this encoding, holds
/// no such line, with or without its dots: what it stands for would be lost. `replaced` is the text whose place the new one takes; `None`:
/// all of the file. A line of dots is one if it takes the place of lines of that.
pub fn omission<'t>(
    new_text: &'t str,
    replaced: Option<&str>,
    old: &[u8],
    encoding: Encoding,
    control: &dyn Stop,
) -> Result<Option<&'t str>, Stopped> {
    if old.is_empty() || switches::is_off("omission") {
        return Ok(None);
    }
    let mut lines: Vec<&str> = Vec::new();
    for line in new_text.lines().map(str::trim).filter(|line| is_omission(line)) {
        if lines.len() < LOOKED_FOR && !lines.contains(&line) {
            lines.push(line);
        }
    }
    for line in lines {
        if !holds(old, line, encoding, control)? && !holds(old, &undotted(line), encoding, control)? {
            return Ok(Some(line));
        }
    }
    // Only what replaces the whole file is worth a look at all of it.
    let whole = || if encoding == Encoding::Utf8 { simdutf8::basic::from_utf8(old).ok() } else { None };
    match replaced.or_else(whole).and_then(|replaced| dots_for_lines(new_text, replaced)) {
        Some(dots) if !holds(old, dots, encoding, control)? => Ok(Some(dots)),
        _ => Ok(None),
    }
}

/// What is wrong with a text whose lines begin with line numbers.
const NUMBERED: &str = "its lines begin with line numbers, which are no part of the file; leave them out. To number lines, write them to a new file";

/// What is wrong with a new text whose lines begin with line numbers as reads show them, if the text that it replaces has none.
pub fn numbered_problem(new_text: &str, replaced: &str) -> Option<&'static str> {
    let is_numbered = first_number(new_text).is_some();
    let has_none = !replaced.trim().is_empty() && !replaced.lines().any(|line| number(line).is_some());
    (is_numbered && has_none).then_some(NUMBERED)
}

/// The same for a text that is to be the whole file, and `old`, the bytes of the file: at least half of its lines are those that have
/// their numbers in the file, counted from 0 or 1. Any other text may be a table.
pub fn numbered_file(new_text: &str, old: &[u8]) -> Option<&'static str> {
    let first = first_number(new_text)?;
    let old = String::from_utf8_lossy(old);
    let lines: Vec<&str> = lines_of(old.trim_start_matches('\u{FEFF}')).collect();
    let texts = || lines_of(new_text).filter_map(|line| Some(number(line)?.1));
    let is_of_file = |base: u64| {
        let at = |nth: usize| usize::try_from(first.checked_sub(base)?).ok()?.checked_add(nth);
        let is_same = |(nth, text): &(usize, &str)| {
            at(*nth).and_then(|at| lines.get(at)).is_some_and(|line| line.trim_end() == text.trim_end())
        };
        2 * texts().enumerate().filter(is_same).count() >= texts().count()
    };
    (is_of_file(1) || is_of_file(0)).then_some(NUMBERED)
}

/// The number of the first line of a text whose lines begin with the numbers of lines as reads show them.
fn first_number(text: &str) -> Option<u64> {
    let mut numbers = lines_of(text).map(|line| Some(number(line)?.0));
    let (first, second) = (numbers.next()??, numbers.next()??);
    let mut expected = first.checked_add(2)?..;
    (first + 1 == second && numbers.all(|number| number == expected.next())).then_some(first)
}

/// The lines of a text with one kind of break, which a carriage return may still end.
fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator(if text.contains('\n') { '\n' } else { '\r' })
}

/// The number that a line begins with, and what follows.
fn number(line: &str) -> Option<(u64, &str)> {
    let (number, text) = line.trim_start().split_once(['\t', '→'])?;
    Some((number.parse().ok()?, text))
}

/// Whether a line of a new text may be one that [`omission`] finds.
pub fn has_omission(new_text: &str) -> bool {
    new_text.lines().map(str::trim).any(is_placeholder)
}

/// What is wrong with such a line of a new text, and what to do.
pub fn omission_problem(line: &str) -> String {
    let first: String = line.chars().take(200).collect();
    let before = match &*undotted(line) {
        "" => "another line there".into(),
        line => format!("`{line}`"),
    };
    format!(
        "its line `{first}` stands for text that is left out, but the file has no such line and would get it as it is; write that text \
         out, or change only the parts that differ, each by an edit of its own. To write this very line, write {before} first and put in \
         the dots by another call"
    )
}

/// The line without its dots.
fn undotted(line: &str) -> String {
    let line = line.replace("...", "").replace("..", "").replace('…', "");
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_omission(line: &str) -> bool {
    let Comment { inner, starts, ends, is_comment } = Comment::of(line);
    let dots = match (starts, ends) {
        (true, true) if is_comment => Dots::Around,
        // A star may be the mark of a list or of a line of a longer comment.
        (true, true) => Dots::Before,
        _ if !is_comment || line.starts_with('*') => return false,
        (true, false) => Dots::Before,
        (false, true) => Dots::AtOneEnd,
        (false, false) if is_bracketed(line) => Dots::AtOneEnd,
        (false, false) => return false,
    };
    let lower = inner.to_lowercase();
    let words = lower.split_whitespace().map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    needed_dots(&words).is_some_and(|needed| needed <= dots)
}

/// Whether all of a comment is in square brackets.
fn is_bracketed(line: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || matches!(c, '#' | '/' | ';' | '-' | '%');
    line.trim_start_matches(marks).starts_with('[') && line.ends_with(']')
}

fn holds(old: &[u8], line: &str, encoding: Encoding, control: &dyn Stop) -> Result<bool, Stopped> {
    let mut bytes = Vec::new();
    if encoding.encode(line, &mut bytes).is_err() || bytes.is_empty() {
        return Ok(false);
    }
    let finder = memchr::memmem::Finder::new(&bytes);
    for from in (0..old.len()).step_by(WINDOW) {
        control.check()?;
        let end = old.len().min(from + WINDOW + bytes.len());
        if finder.find_iter(&old[from..end]).any(|at| is_whole_line(old, from + at, bytes.len())) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a line of `text` has these bytes and blanks, and nothing else. In UTF-16, a half of a character may be 0.
fn is_whole_line(text: &[u8], at: usize, len: usize) -> bool {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0);
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
    ends(text[..at].iter().rev().find(|byte| !is_blank(byte)))
        && ends(text[at + len..].iter().find(|byte| !is_blank(byte)))
}

/// A line without the signs of a comment around it.
struct Comment<'l> {
    inner: &'l str,
    /// It starts, and ends, with dots.
    starts: bool,
    ends: bool,
    is_comment: bool,
}

impl Comment<'_> {
    fn of(line: &str) -> Comment<'_> {
        let inner = line.trim_start_matches(['#', '/', '*', '{', '<', '!', '-', ';', '%', '(', '[', ' ']);
        let inner = inner.trim_end_matches(['/', '*', '}', '-', '>', ')', ']', ' ']);
        let is_comment = COMMENTS.iter().any(|mark| line.starts_with(mark));
        // Two dots are enough in a comment, but for those of a path.
        let least = if is_comment { 2 } else { 3 };
        let are_dots = |dots: &str| dots.len() >= least || dots.contains('…');
        let rest = inner.trim_start_matches(['.', '…']);
        let head = inner.trim_end_matches(['.', '…']);
        Comment {
            inner,
            starts: are_dots(&inner[..inner.len() - rest.len()]) && !rest.starts_with(['/', '\\']),
            ends: are_dots(&inner[head.len()..]),
            is_comment,
        }
    }
}

#[cfg(test)]
mod tests;
