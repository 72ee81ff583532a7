//! Reads the head and the lines of one hunk.
//!
//! Knows both forms of patches, but no files.

use super::super::{Hunk, HunkLine, LineKind};
use super::Raw;

/// What a line that begins with `@@` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// See [`Hunk::old_start`].
    pub(super) old_start: Option<usize>,
    /// How many lines the old and the new side have, it says.
    pub(super) counts: Option<(usize, usize)>,
    /// See [`Hunk::headers`].
    pub(super) header: Option<String>,
}

/// Reads the line that begins a hunk. `None` if it is no such line.
pub(super) fn head(line: &str) -> Option<Head> {
    let rest = line.strip_prefix("@@").filter(|rest| !rest.starts_with('@'))?;
    if let Some((old_start, counts, rest)) = numbers(rest) {
        return Some(Head { old_start, counts: Some(counts), header: header(rest) });
    }
    // `@@ class Store @@` and `@@ ... @@` occur, too.
    let text = rest.trim_end();
    Some(Head { header: header(text.strip_suffix("@@").unwrap_or(text)), ..Head::default() })
}

fn header(text: &str) -> Option<String> {
    let text = text.strip_prefix(' ').unwrap_or(text).trim_end();
    (!matches!(text.trim_start(), "" | "..." | "…")).then(|| text.into())
}

/// `-1,2 +3,4 @@`: the start, the counts, and what follows. A number that is too large is none.
fn numbers(text: &str) -> Option<(Option<usize>, (usize, usize), &str)> {
    let (start, old, rest) = range(text.trim_start().strip_prefix('-')?)?;
    let (_, new, rest) = range(rest.trim_start().strip_prefix('+')?)?;
    let rest = rest.trim_start();
    // For no lines, the number is that of the line before.
    let start = start.map(|start| if old == Some(0) { start } else { start.saturating_sub(1) });
    Some((start, (old.unwrap_or(1), new.unwrap_or(1)), rest.strip_prefix("@@").unwrap_or(rest)))
}

fn range(text: &str) -> Option<(Option<usize>, Option<usize>, &str)> {
    let (start, rest) = number(text)?;
    let count = rest.strip_prefix(',').and_then(number);
    match count {
        // Lines beyond any file.
        Some((count, rest)) => Some((start, count.or(Some(usize::MAX)), rest)),
        None => Some((start, None, rest)),
    }
}

fn number(text: &str) -> Option<(Option<usize>, &str)> {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    (!digits.is_empty()).then(|| (digits.parse().ok(), rest))
}

/// A hunk whose lines are being read.
#[derive(Default, Clone)]
pub(super) struct Body {
    pub(super) hunk: Hunk,
    /// The last lines that are empty, without the blank of a context line. They may stand between hunks.
    bare: usize,
    /// How many lines of the patch each side has: a line of the patch with a lone `\r` is several lines of the file.
    old: usize,
    new: usize,
}

impl Body {
    pub(super) fn new(line: usize, head: Head) -> Body {
        let hunk = Hunk {
            line,
            old_start: head.old_start,
            headers: head.header.into_iter().collect(),
            ..Hunk::default()
        };
        Body { hunk, ..Body::default() }
    }

    /// Takes a line of the patch. False if it is none of a hunk.
    pub(super) fn push(&mut self, Raw { text: line, has_crlf }: Raw) -> bool {
        let hunk = &mut self.hunk;
        let (kind, text) = match line.as_bytes().first() {
            None => (LineKind::Context, ""),
            Some(b' ') => (LineKind::Context, &line[1..]),
            Some(b'-') => (LineKind::Remove, &line[1..]),
            Some(b'+') => (LineKind::Add, &line[1..]),
            Some(b'\\') if line.starts_with("\\ ") => {
                let last = hunk.lines.last().map(|last| last.kind);
                hunk.old_is_open |= matches!(last, Some(LineKind::Context | LineKind::Remove));
                hunk.new_is_open |= matches!(last, Some(LineKind::Context | LineKind::Add));
                return true;
            }
            Some(_) => return false,
        };
        let is_behind = self.bare > 0;
        self.bare = if line.is_empty() { self.bare + 1 } else { 0 };
        // A line that may stand between hunks says nothing of the one before it yet.
        let closes = |kind_of_other_side| !line.is_empty() && (is_behind || kind != kind_of_other_side);
        hunk.old_is_open &= !closes(LineKind::Add);
        hunk.new_is_open &= !closes(LineKind::Remove);
        self.old += usize::from(kind != LineKind::Add);
        self.new += usize::from(kind != LineKind::Remove);
        hunk.lines.extend(text.split('\r').map(|text| HunkLine { kind, text: text.into(), brk: "\r" }));
        if let Some(last) = hunk.lines.last_mut() {
            last.brk = if has_crlf { "\r\n" } else { "\n" };
        }
        true
    }

    /// The hunk. Empty lines at its end that no count includes are not its own.
    pub(super) fn finish(mut self, counts: Option<(usize, usize)>) -> Hunk {
        let is_counted = |body: &Body| counts.is_some_and(|(old, new)| body.old <= old && body.new <= new);
        while self.bare > 0 && !is_counted(&self) {
            self.hunk.lines.pop();
            (self.bare, self.old, self.new) = (self.bare - 1, self.old - 1, self.new - 1);
        }
        self.hunk
    }
}

/// Reads as many lines as the counts say. `None` if the lines are not so many. `is_end` says whether a hunk ends before a line
/// of the patch, whatever was counted. Returns the number of the line behind the hunk, too.
pub(super) fn counted(
    lines: &[Raw],
    mut body: Body,
    mut at: usize,
    counts: (usize, usize),
    is_end: impl Fn(usize) -> bool,
) -> Option<(Hunk, usize)> {
    while body.old < counts.0 || body.new < counts.1 {
        let line = lines.get(at).filter(|_| !is_end(at))?;
        if !body.push(*line) || body.old > counts.0 || body.new > counts.1 {
            return None;
        }
        at += 1;
    }
    while let Some(line) = lines.get(at).filter(|line| line.text.starts_with("\\ ")) {
        body.push(*line);
        at += 1;
    }
    // More lines of the hunk: the counts are too small.
    let next = (at..lines.len()).find(|&at| !lines[at].text.is_empty());
    let goes_on = next.is_some_and(|at| is_line(lines[at].text) && !is_end(at));
    (!goes_on && !body.hunk.lines.is_empty()).then(|| (body.finish(Some(counts)), at))
}

/// Whether a line of the patch looks like one of a hunk.
pub(super) fn is_line(text: &str) -> bool {
    text.starts_with([' ', '+', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_hunk_has_numbers_or_a_line_above_it_or_neither() {
        let read = |line: &str| {
            head(line).map(|head| (head.old_start, head.counts, head.header.unwrap_or_default()))
        };
        assert_eq!(read("@@ -3,4 +5,6 @@ fn a() {"), Some((Some(2), Some((4, 6)), "fn a() {".into())));
        assert_eq!(read("@@ -3 +5 @@"), Some((Some(2), Some((1, 1)), String::new())));
        assert_eq!(read("@@ -3,0 +4,2 @@"), Some((Some(3), Some((0, 2)), String::new())));
        assert_eq!(read("@@ -0,0 +1 @@"), Some((Some(0), Some((0, 1)), String::new())));
        assert_eq!(read("@@ -3,4 +5,6"), Some((Some(2), Some((4, 6)), String::new())));
        assert_eq!(read("@@ -99999999999999999999 +1 @@"), Some((None, Some((1, 1)), String::new())));
        for line in ["@@", "@@ @@", "@@ ... @@", "@@ … @@"] {
            assert_eq!(read(line), Some((None, None, String::new())), "{line}");
        }
        assert_eq!(read("@@ class Store"), Some((None, None, "class Store".into())));
        assert_eq!(read("@@     def get(self):"), Some((None, None, "    def get(self):".into())));
        assert_eq!(read("@@ class Store @@"), Some((None, None, "class Store".into())));
        assert_eq!(read("@@ - a list"), Some((None, None, "- a list".into())));
        assert_eq!((read("@@@ -1 -1 +1 @@@"), read("@ -1 +1 @"), read("")), (None, None, None));
    }
}
